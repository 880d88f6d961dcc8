/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one table of codes. Whatever is refused, stopped or did not pass carries
 * one: a stable word for its cause, which programs may decide by. What a person
 * does about it belongs to the code, with the facts at hand filled in. The page
 * owed-codes(7) is this table (man/codes writes it).
 *
 * An entry: X(ID, "word", what it means, what usually caused it, what to do).
 * In the last, {name|words} is the fact of that name, or the words where it is
 * not at hand.
 */
#ifndef OWED_STREAM_CODES_H
#define OWED_STREAM_CODES_H

#include "base/base.h"

/* clang-format off */
#define CODE_TABLE(X) \
    /* ---- programs and files ---- */ \
    X(USAGE, "usage", \
      "an argument is missing, unknown, or holds what it cannot", \
      "a misspelled option, or two that do not go together", \
      "correct {option|the argument that the reason names}, as --help has it, and run again") \
    X(INPUT_MALFORMED, "input-malformed", \
      "a file that was named is not of the form that is read there", \
      "another file was meant, or it was edited by hand", \
      "correct {file|the file that the reason names} at the place that the reason gives, or name the one that was meant") \
    X(FILE_MISSING, "file-missing", \
      "a file or directory that was named is not there", \
      "a wrong path, or it was removed meanwhile", \
      "name one that is there") \
    X(FILE_EXISTS, "file-exists", \
      "something stands where a result is to be written", \
      "an earlier run wrote to the same place", \
      "name a new place, or move away what stands at {path|it}") \
    X(FILE_CHANGED, "file-changed", \
      "a file changed or vanished while it was read", \
      "something still writes to it", \
      "stop what writes to it, then run again") \
    X(NOT_PERMITTED, "not-permitted", \
      "the operating system does not let this user do it", \
      "the file's owner or mode, or a sandbox", \
      "run as a user who may, or change the mode of what the reason names") \
    X(SPACE_FULL, "space-full", \
      "no space is left where something is written", \
      "a full disk or quota; rows past --memory are kept in a scratch file", \
      "free space there, or name another place ({option|--scratch, or the option for the output})") \
    X(IO_FAILED, "io-failed", \
      "the operating system failed an operation on a file, a pipe or a process", \
      "a failing disk, a limit of the process, or a reader that went away", \
      "remove what the reason names, then run again") \
    X(BOUND_PASSED, "bound-passed", \
      "something is larger than a stated bound", \
      "the bound's default, where a run is larger than most", \
      "raise {option|the bound that the reason names}, or ask for less at a time") \
    X(TIME_PASSED, "time-passed", \
      "something took longer than it may", \
      "a slow or busy service, or a bound that is too short for the amount", \
      "raise {option|the time that the reason names}, or find out what takes so long") \
    X(INTERRUPTED, "interrupted", \
      "a signal ended the work before its end", \
      "a person, a supervisor or a time limit stopped it", \
      "run it again, to its end") \
    /* ---- the stream ---- */ \
    X(STREAM_UNFINISHED, "stream-unfinished", \
      "the input ended, or is counted otherwise, before its end line held", \
      "a stage before died, or its saved output was cut", \
      "find on its standard error why the stage before ended, run that one again, and keep its whole output") \
    X(STREAM_FOREIGN, "stream-foreign", \
      "the input is no owed-stream of a version that is known here", \
      "another program's output, a second stream behind the first, or a newer release", \
      "give the whole output of one stage, of the same release") \
    X(LINE_MALFORMED, "line-malformed", \
      "a line is not of the form that owed-stream(5) gives its type", \
      "the stream was edited, or written by another release", \
      "correct line {line|that the reason names}, or make the stream anew with stages of one release") \
    X(LINE_UNEXPECTED, "line-unexpected", \
      "a line has no place here: a second one of its type, one too early, or one that this stage itself writes", \
      "two streams were put together, or the stages stand in another order", \
      "put the stages in the order of owed(7), each once") \
    X(BUNDLE_LINE_MISSING, "bundle-line-missing", \
      "the stream names no bundle, and no argument does", \
      "the stage that names the bundle is not in the pipe", \
      "name the bundle's directory, or put bundle-check before") \
    X(SCOPE_LINE_MISSING, "scope-line-missing", \
      "the stream does not say what is to be compared", \
      "the stage that writes the scope is not in the pipe", \
      "put scope-cut or scope-declare before") \
    X(NOTHING_OWED, "nothing-owed", \
      "no stage said which rows are owed, so no key is known", \
      "a declared scope without a reference", \
      "put ref-bind with the reference before") \
    X(SIDE_NOT_WHOLE, "side-not-whole", \
      "a side of the comparison is not there whole, so that nothing can be said of its missing rows", \
      "the stage that writes the side reported why", \
      "do what the check of the stage that writes {side|that side} asks for; this one follows from it") \
    X(CHECK_NOT_PASSED, "check-not-passed", \
      "an earlier check did not pass, and this one rests on it", \
      "what the earlier check reports", \
      "do what {check|the earlier check} asks for; this one follows from it") \
    X(RUN_STOPPED, "run-stopped", \
      "a stage stopped before this check could be made", \
      "what the stop reports", \
      "remove what the stop reports; this follows from it") \
    X(CHECK_NOT_MADE, "check-not-made", \
      "a check that is needed was made by no stage", \
      "the stage that makes it is not in the pipe", \
      "put the stage that makes {check|the check} in the pipe; owed(7) lists who makes which") \
    X(NOTHING_REQUIRED, "nothing-required", \
      "no stage said which checks this run needs, so that none can decide", \
      "a stream of checks alone, or one without its first stage", \
      "give verdict a --profile, or the whole stream of a run") \
    X(EVIDENCE_LACKING, "evidence-lacking", \
      "a line that a passed check rests on is not in the stream", \
      "lines were taken out, or the output of one stage was left out", \
      "run the pipe again, and give verdict the whole stream") \
    X(EVIDENCE_CONTRADICTS, "evidence-contradicts", \
      "lines of the stream contradict a check that passed", \
      "the stream was edited, or put together from several runs", \
      "run the pipe again, and give verdict the whole stream of that one run") \
    X(SHARDS_APART, "shards-apart", \
      "the stream is one shard of several", \
      "verdict was given a shard's own stream", \
      "give verdict the stream in which all shards were joined") \
    /* ---- the bundle ---- */ \
    X(BUNDLE_MISSING, "bundle-missing", \
      "no bundle is there: no such directory, or no manifest.json in it", \
      "a wrong path, or a collection that did not end", \
      "name a bundle's directory, the one that holds manifest.json") \
    X(MANIFEST_MALFORMED, "manifest-malformed", \
      "the bundle's manifest is not of the form of owed-bundle(5)", \
      "the bundle was changed, or written by another program or release", \
      "take the bundle as it was collected, or collect it again") \
    X(BUNDLE_UNSAFE, "bundle-unsafe", \
      "a path of the bundle is a link, or no regular file where one must be", \
      "the bundle was unpacked with links, or somebody made it to lead a reader astray", \
      "do not use this bundle; take it as it was collected, or collect it again") \
    X(BUNDLE_OTHER, "bundle-other", \
      "the bundle is not the one that the stream is about", \
      "it was collected again, or another one was named, since the stream was begun", \
      "begin the stream again with the bundle that is meant") \
    X(MANIFEST_CONTRADICTS, "manifest-contradicts", \
      "the manifest's statements contradict one another", \
      "the manifest was edited", \
      "do not use this bundle; collect again from the job's directories") \
    X(ARTIFACT_MISSING, "artifact-missing", \
      "a file that the manifest lists is not there", \
      "the bundle was copied in part", \
      "copy the bundle again, whole, or collect it again") \
    X(ARTIFACT_CHANGED, "artifact-changed", \
      "a file is not what the manifest lists: another size, digest or kind, or it cannot be read", \
      "it was damaged or edited after it was collected", \
      "do not use this bundle; copy it again, whole, or collect it again") \
    X(ARTIFACT_UNLISTED, "artifact-unlisted", \
      "the bundle holds what its manifest does not list, and it is no evidence", \
      "something was put into the directory", \
      "remove what the reason names, or copy the bundle again") \
    X(ARTIFACT_NOT_LISTED, "artifact-not-listed", \
      "the manifest does not list a file that it claims, or that the checkpoint needs", \
      "the collection was cut short, or the manifest edited", \
      "collect the bundle again") \
    X(MARKER_MISSING, "marker-missing", \
      "the bundle does not hold the checkpoint's completion marker", \
      "the collection was cut short, or the manifest edited", \
      "collect the bundle again") \
    X(MARKER_MALFORMED, "marker-malformed", \
      "a marker is not of the form that ckpt-mark writes", \
      "it was damaged or edited in the job's directory", \
      "choose a checkpoint whose marker is whole; nothing can be said of this one") \
    X(MARKER_OTHER, "marker-other", \
      "the marker is not of this job, checkpoint, generation or set of participants", \
      "files of two jobs or runs were put together", \
      "collect the bundle again from the directories of one job") \
    X(RESTORE_RULE_DIFFERS, "restore-rule-differs", \
      "the restore rule, computed over the bundle's markers, does not choose what the manifest records", \
      "markers were added or removed after the choice", \
      "do not use this bundle; collect again from the job's directories") \
    X(RESTORE_RULE_UNKNOWN, "restore-rule-unknown", \
      "nothing says whether the job's sinks need commit confirmation, so that the rule is not known", \
      "the bundle was collected without --ha-dir from a job that ran", \
      "collect with --ha-dir while the job runs, or with --commit-confirmation") \
    X(PARTICIPANT_MISSING, "participant-missing", \
      "a participant of the checkpoint has no checkpoint of its own in the bundle", \
      "its files were removed by the job's retention, or not collected", \
      "collect with --include-state, or choose a later checkpoint whose state is still kept") \
    X(STATE_REMOTE, "state-remote", \
      "the state lies in an object store, and a bundle holds local files", \
      "the job's state root is an address of a store", \
      "check that state where it lies; nothing of it can be checked here") \
    X(STATE_NOT_COLLECTED, "state-not-collected", \
      "the bundle does not hold the state that is needed", \
      "it was collected without --include-state, or the job's retention had removed it", \
      "collect with --include-state while the job still keeps it") \
    X(STATE_MALFORMED, "state-malformed", \
      "a snapshot or a sidecar is not of its form, or they do not fit each other", \
      "a write that was cut, or a damaged disk", \
      "choose another checkpoint; a restart from this one would fail the same way") \
    X(STATE_OTHER, "state-other", \
      "a state file says that it is of another job, subtask or checkpoint than its place", \
      "files of two jobs or runs were put together", \
      "collect the bundle again from the directories of one job") \
    X(STATE_UNREADABLE, "state-unreadable", \
      "the state is of a form that this program does not read, or past its bounds", \
      "another engine or release wrote it", \
      "check with a newer bundle-check; a state of RocksDB needs one built with make WITH_ROCKSDB=1") \
    X(STATE_UNREAD, "state-unread", \
      "the copy of a state could not be opened or read here", \
      "no space or no right in the scratch directory", \
      "name a scratch directory with room with --scratch, then check again") \
    /* ---- traces ---- */ \
    X(TRACES_NOT_COLLECTED, "traces-not-collected", \
      "the bundle holds no traces of its job's processes", \
      "it was collected without --trace-dir, or the job kept none", \
      "run the job's stages with --trace-dir from its first attempt on, and collect with bundle-pack --trace-dir") \
    X(TRACE_MALFORMED, "trace-malformed", \
      "a trace is not of the form of owed-trace(5): a line that does not parse, a number left out, or lines of two processes", \
      "it was damaged or edited, or two processes wrote to one file", \
      "do not rest on these traces; find out who else wrote in the job's trace directory") \
    X(TRACE_CUT, "trace-cut", \
      "the last line of a trace has no end", \
      "it was copied while it was written, or the machine died within the write", \
      "collect again; where the job has ended, the trace stays cut and the check stays open") \
    X(TRACES_LACKING, "traces-lacking", \
      "the traces are not the whole story: one that is needed is not there or lacks events", \
      "a trace that could not be written, as on a full disk, was left out, or was removed from the directory", \
      "collect all traces of the job, those of {process|the process that the reason names} among them; one that lacks events cannot be made whole") \
    X(PROTOCOL_VIOLATED, "protocol-violated", \
      "what the job's processes say they did is no behaviour of the checkpoint protocol", \
      "a fault of the job, two attempts that ran side by side, or traces that were edited", \
      "do not restart from these checkpoints before the event that the reason names is understood; report it with the bundle") \
    X(PROTOCOL_UNSUPPORTED, "protocol-unsupported", \
      "the traces are of a job that the protocol's model does not describe", \
      "a job that was rescaled, traced from a later attempt on, or of a stage that the model does not know", \
      "see trace-check(1), LIMITS: trace a job of that shape from its first attempt on") \
    /* ---- collecting ---- */ \
    X(EVIDENCE_MOVED, "evidence-moved", \
      "the job's files changed while they were collected", \
      "the job runs, and its retention removes what it no longer needs", \
      "collect again, or stop the job first") \
    X(CHECKPOINT_NOT_COMPLETED, "checkpoint-not-completed", \
      "the checkpoint that is asked for did not complete, or none did", \
      "the job was stopped before, or another number was meant", \
      "choose one that completed: {completed|the COMPLETED- files in the job's directory name them}") \
    X(EVIDENCE_MALFORMED, "evidence-malformed", \
      "a file of the job's evidence is not of its form, or is of another job", \
      "a directory of another job was named, or the file was damaged", \
      "name the directories of this job; a damaged file cannot be repaired, so choose a checkpoint that does not need it") \
    /* ---- replay ---- */ \
    X(OPERATOR_MISSING, "operator-missing", \
      "the bundle does not describe an operator whose epochs were captured", \
      "its op.json was not collected, or the recorder could not write it", \
      "collect again with --include-captures while the job's capture directory has the operator's op.json") \
    X(OPERATOR_MALFORMED, "operator-malformed", \
      "an operator's description is not one that the job can have run with", \
      "op.json was edited, or written by another release", \
      "correct the operator's op.json where it was collected from, and collect again") \
    X(OPERATOR_REDACTED, "operator-redacted", \
      "a parameter of an operator was taken out as a credential, so that it is not the operator that ran", \
      "a parameter whose name is a secret's", \
      "give the job's operator {operator|that the reason names} no parameter of such a name; this incident's epochs of it cannot be replayed") \
    X(OPERATOR_OUTSIDE, "operator-outside", \
      "an operator asks other systems about its records, and verification asks nobody", \
      "a lookup or a model in the job", \
      "leave operator {operator|that the reason names} out with --op: its epochs are not replayed here") \
    X(OPERATOR_UNKNOWN, "operator-unknown", \
      "this build has no operator of that type", \
      "an operator of a plugin or of a newer release", \
      "replay with the release that ran the job, or leave operator {operator|that the reason names} out with --op") \
    X(REPLAY_STOPPED, "replay-stopped", \
      "a replay stopped at a record that the job's own run let pass", \
      "the job ran with another program, or another release, than its op.json says", \
      "hold the operator's op.json against what was deployed; what it computed is not what this bundle describes") \
    X(REPLAY_DIFFERS, "replay-differs", \
      "two replays of one epoch from one start gave different rows", \
      "the operator is not a function of its input: a clock, a random number, an order that it leaves open", \
      "find in the operator what the first row that parts depends on") \
    X(OUTPUT_DIFFERS, "output-differs", \
      "a replay gave other rows than the job's run handed on", \
      "the job ran with another program than its op.json says, or its state or capture was changed", \
      "hold the operator's op.json and the deployed program against each other, from the row that the reason names") \
    X(OUTPUT_NOT_RECORDED, "output-not-recorded", \
      "what an operator handed on stands in no capture as one stream", \
      "it feeds the sink or several operators, or runs more than once", \
      "ask for other checks of operator {operator|that the reason names}: --expected holds its rows against a computation of your own") \
    X(EXPECTATION_DIFFERS, "expectation-differs", \
      "the replayed rows are not those that were expected", \
      "the operator, or the expectation, computes something else", \
      "look at the row that the reason names in both") \
    X(REPLAY_PARTIAL, "replay-partial", \
      "expected rows are lacking, and not all that could have given them was replayed", \
      "epochs that were not collected, omitted or cannot be replayed", \
      "do what the checks of the other epochs ask for, or narrow --epoch and the expectation to what is whole") \
    X(GOLDEN_DIFFERS, "golden-differs", \
      "a regression case's epoch gives other rows than it did when it was frozen", \
      "an operator was changed, on purpose or not", \
      "find the change from the row that the reason names; where it is meant, freeze the epoch again from its bundle") \
    X(CASE_DAMAGED, "case-damaged", \
      "a regression case is not what it says of itself, so that nothing of it is believed", \
      "a file was edited, lost or added, or a newer release wrote it", \
      "take the case from where it was kept, or freeze the epoch again from its bundle") \
    X(REPLAYS_OMITTED, "replays-omitted", \
      "more epochs are selected than a run replays", \
      "a bundle of many epochs", \
      "raise {option|--max-replays} to {epochs|the number of epochs}, or narrow --op, --subtask and --epoch") \
    /* ---- the scope of a checkpoint ---- */ \
    X(SINK_UNKNOWN, "sink-unknown", \
      "which sink the scope is of is not settled by the arguments", \
      "the job has several sinks, or none as named", \
      "name one with --sink: {sinks|the reason lists them}") \
    X(CAPTURES_NOT_COLLECTED, "captures-not-collected", \
      "the bundle was collected without the sink's captures", \
      "bundle-pack ran without --include-captures", \
      "collect with --include-captures while the job's capture directory is there") \
    X(EPOCHS_NOT_COLLECTED, "epochs-not-collected", \
      "an interval of the scope, or one after it that is needed, was left out of the bundle by its selection", \
      "bundle-pack ran with --epochs that begin too late or end too early, or with --operator", \
      "collect with --epochs that reach from the scope's first interval to the last one needed") \
    X(INTERVAL_MISSING, "interval-missing", \
      "an interval of the scope has no evidence, and the bundle's selection did not leave it out", \
      "the sink could not write it, or it was removed from the job's directory", \
      "choose a checkpoint whose intervals are recorded; epoch {epoch|of this interval} cannot be recovered") \
    X(INTERVAL_MALFORMED, "interval-malformed", \
      "an interval's evidence is not of its form, or contradicts itself", \
      "it was damaged or edited", \
      "choose a checkpoint whose scope leaves this interval out; it cannot be recovered") \
    X(INTERVAL_OTHER, "interval-other", \
      "an interval's evidence is of another job, sink, subtask or epoch than its place", \
      "files of two jobs were put together", \
      "collect the bundle again from the directories of one job") \
    X(INTERVALS_APART, "intervals-apart", \
      "the intervals do not follow one another from the scope's start to its end", \
      "evidence of one subtask is missing or of another run", \
      "choose a checkpoint of one run whose intervals are all recorded") \
    X(CAPTURE_MISSING, "capture-missing", \
      "a capture that an interval's evidence names is not in the bundle", \
      "the recorder's file was removed, or left out by a bound of the collection", \
      "collect with --include-captures and larger --max-bytes and --max-files while the capture is there") \
    X(CAPTURE_CHANGED, "capture-changed", \
      "a capture is not the file that the interval's evidence speaks of", \
      "it was written again by a later run, or damaged", \
      "choose a checkpoint whose captures are those of its intervals") \
    X(CAPTURE_DISARMED, "capture-disarmed", \
      "the recorder was not armed, so that the interval's rows were not kept", \
      "cap-tee does not stand before the sink, or could not write", \
      "put cap-tee before the sink, with room to write, and choose a later checkpoint") \
    X(CAPTURE_TRUNCATED, "capture-truncated", \
      "the recorder kept only a part of the interval's rows", \
      "the interval had more rows or bytes than the recorder may keep", \
      "raise the recorder's bound (cap-tee --capture-records) and choose a later checkpoint; this interval cannot be recovered") \
    X(CAPTURE_MALFORMED, "capture-malformed", \
      "a capture is not of its form, or holds what the sink did not write", \
      "it was damaged, or written by another program", \
      "choose a checkpoint whose captures are whole") \
    X(LEDGER_DIFFERS, "ledger-differs", \
      "the acknowledged INSERTs are not the interval's rows, one range after another", \
      "the sink was stopped within the interval, or its evidence was edited", \
      "choose a checkpoint whose scope leaves this interval out") \
    X(RESTORE_DISCARDED, "restore-discarded", \
      "the checkpoint or interval is of a run that a restore discarded", \
      "the job was restored from an earlier checkpoint", \
      "choose a checkpoint of the run that followed the restore") \
    X(RUNS_MIXED, "runs-mixed", \
      "the scope reaches over several attempts or destinations", \
      "the job was started again, or its sink pointed elsewhere, within the scope", \
      "choose a checkpoint whose scope lies within one attempt") \
    X(POSITIONS_MISSING, "positions-missing", \
      "a partition has no position at an end of the scope", \
      "the bundle lacks the source's state, or partitions were added", \
      "collect with --include-state while the state is kept; a scope across added partitions needs a later checkpoint") \
    X(POSITIONS_CONTRADICT, "positions-contradict", \
      "the source's positions contradict one another: backwards, twice, or of different logs or operators", \
      "files of two runs were put together", \
      "collect the bundle again from the directories of one job") \
    X(EVIDENCE_DIFFERS, "evidence-differs", \
      "two pieces of the job's evidence do not say the same of one thing", \
      "files of two jobs or runs were put together, or one was edited", \
      "look at {what|what the reason names} in {one|the first} and in {other|the second}, and collect the bundle again from the directories of one job") \
    X(ROWS_ELSEWHERE, "rows-elsewhere", \
      "captured rows say that they are of records outside of the scope's logs and ranges, or out of their order", \
      "captures and snapshots of two runs were put together, or one was edited", \
      "collect the bundle again from the directories of one job; the first such row is of {at|the place that the reason names}") \
    X(INSERT_ASYNCHRONOUS, "insert-asynchronous", \
      "the sink's INSERTs were not synchronous, or nothing shows that they were, so that an acknowledgement is no write", \
      "another sink than ch-sink, or a profile with async_insert", \
      "run the job with async_insert=0 and wait_for_async_insert=1, and choose a checkpoint of that run") \
    X(LEFT_OUT_BY_BOUND, "left-out-by-bound", \
      "a bound of the collection left a file out of the bundle that is needed", \
      "bundle-pack took what the checkpoint needs first, and its bound left no room for the rest", \
      "collect again with a larger {bound|--max-bytes or --max-files}") \
    X(START_UNKNOWN, "start-unknown", \
      "with what state the run began is not shown, or shown in two ways", \
      "files of two runs were put together, or RESTORED is of another run", \
      "collect the bundle again from the directories of one job") \
    X(JOB_UNKNOWN, "job-unknown", \
      "nothing in the bundle says what the job is made of, or what says it is of another job", \
      "neither --ha-dir nor the operators' op.json was collected", \
      "collect with --ha-dir while the job runs, or with all of its operators' captures") \
    X(JOB_UNSUPPORTED, "job-unsupported", \
      "the job is of a shape whose rows cannot be held against a table row by row", \
      "an operator that keeps state across records, or several sources", \
      "see scope-cut(1), LIMITS: audit a job of one Kafka source and record-wise operators") \
    X(COLUMN_UNKNOWN, "column-unknown", \
      "a row has a field that is no column of the table or of the scope", \
      "the map or the reference's program names one that the table lacks, or the sink's column list changed within the scope", \
      "correct what gives {column|the field}, or the table; of captured rows, choose a checkpoint whose scope lies after the change") \
    X(ZONE_MISSING, "zone-missing", \
      "an owed time has no zone, and nothing says which one is meant", \
      "ISO text without Z or an offset, for a column whose type names no zone", \
      "say the zone of such times with scope-declare --zone, or let the rules write them with theirs") \
    X(SCOPE_EMPTY, "scope-empty", \
      "no row is owed, which establishes nothing", \
      "the scope is too narrow, or its key selects nothing", \
      "widen the scope to one that holds rows") \
    X(EMPTY, "empty", \
      "nothing is owed and nothing was received, over a range that was read whole", \
      "no record of the range becomes a row", \
      "nothing is wrong that this could show; ask with --coverage=complete-table whether the table is empty, or choose a checkpoint whose intervals hold rows") \
    X(KEY_REPEATS, "key-repeats", \
      "the captured rows hold a key twice, so that which of them the table should hold is not known", \
      "the columns of --key do not identify a row, or the job writes equal rows", \
      "choose a --key that names one row of the scope, or say with scope-cut --repeats that equal rows are meant") \
    X(KEY_UNSUPPORTED, "key-unsupported", \
      "a key column is of a type that cannot be a key", \
      "a column was named that is Nullable, a time, a floating point number, or of a type without cells", \
      "choose a --key of scalar columns, no float and not Nullable, instead of {column|this one}") \
    X(COLUMN_TYPE_UNSUPPORTED, "column-type-unsupported", \
      "a column is of a type that has no cells, so that its values cannot be compared", \
      "the type is none of those of owed-stream(5)", \
      "where the scope is declared, leave {column|the column that the reason names} out, with --except; else audit a table whose columns all have cells") \
    X(JSON_NOT_DECLARED, "json-not-declared", \
      "a column holds JSON, which a server does not keep as it was written and which is compared as the text that it prints, on the operator's word alone", \
      "scope-declare was not told to take the column so", \
      "say scope-declare --from={column|COLUMN}:json-text, with rules that give the server's text; or leave {column|the column} out, with --except") \
    /* ---- a table taken whole ---- */ \
    X(RUN_START_NOT_SHOWN, "run-start-not-shown", \
      "the bundle does not show how the run began, so that what the table held before is not known", \
      "it was collected without --include-state, or does not reach back to the run's start", \
      "collect with --include-state and --epochs from the run's first on") \
    X(TABLE_OF_SEVERAL_RUNS, "table-of-several-runs", \
      "the table may hold rows of another run than the scope's", \
      "the run began with state, or the job was restored after the checkpoint", \
      "audit by the scope's keys (without --coverage=complete-table), or a table that one run alone wrote") \
    X(SINK_NOT_QUIET, "sink-not-quiet", \
      "the sink wrote rows after the checkpoint, which the scope does not own", \
      "the job ran on", \
      "choose the last checkpoint before the sink was quiet, or stop the job with --stop-at-end first") \
    X(SINK_QUIET_NOT_SHOWN, "sink-quiet-not-shown", \
      "the bundle does not show the sink quiet for two barriers after the checkpoint", \
      "the checkpoint is the last one, or the job went on", \
      "let the job end with --stop-at-end, which closes with two empty barriers, and collect again") \
    /* ---- the server and the table ---- */ \
    X(SERVER_UNREACHABLE, "server-unreachable", \
      "no connection to the ClickHouse server came about, or it broke before anything was sent", \
      "a wrong URL, a server that is down, a firewall, or a certificate that is not trusted", \
      "check that the server at the URL answers from this machine, then run again") \
    X(ANSWER_BROKEN, "answer-broken", \
      "an answer broke off, is none of ClickHouse's, or its end is not proven", \
      "a proxy in between, or a server that was stopped while it answered", \
      "connect to the server itself, without a proxy, and read again while it stays up") \
    X(ANSWER_LATE, "answer-late", \
      "the server gave no whole answer within the time that it may take", \
      "a busy server, or too many keys a query", \
      "raise --query-timeout-ms, or ask for fewer keys a query (--keys-per-query)") \
    X(CONNECTION_NOT_KEPT, "connection-not-kept", \
      "every statement came over a new connection, so that it cannot be told whose answers they are", \
      "a proxy or load balancer before several servers", \
      "connect to one server itself") \
    X(LOGIN_REFUSED, "login-refused", \
      "the server or broker does not accept the user, the password or the certificate", \
      "a wrong or expired password, or the wrong user", \
      "give the right user and password ({option|--user with --password-env or --password-file})") \
    X(SETTINGS_NOT_ALLOWED, "settings-not-allowed", \
      "the user may not send the settings that make a read safe", \
      "the user's profile has readonly=1", \
      "read as a user whose profile may send settings (readonly=2)") \
    X(SETTING_FIXED, "setting-fixed", \
      "the user's profile fixes a setting, or bounds it, to something else than this program sends with each statement", \
      "a managed server's profile, with a constraint on the setting", \
      "give {option|the option that sends it} as the profile has it ({setting|the reason names the setting}), or read as a user whose profile leaves it free") \
    X(NOT_GRANTED, "not-granted", \
      "the user lacks a right", \
      "a user made for another purpose", \
      "grant {grant|SELECT on the table, system.tables, system.columns and system.mutations, and of a replicated table system.replicas}, then run again") \
    X(SERVER_BOUND, "server-bound", \
      "the server gave up because of a bound of its own or of this program's", \
      "the user's profile limits memory, time or rows", \
      "raise the bound that the server names (--max-rows-per-query is this program's), or ask for fewer keys a query (--keys-per-query)") \
    X(SERVER_FAILED, "server-failed", \
      "the server answered with an error of its own", \
      "what its text says", \
      "look up ClickHouse's error {error|code} in the server's log, and remove its cause") \
    X(SERVER_OTHER, "server-other", \
      "the server or the table is not the one that the evidence names", \
      "another server behind the name, or the table was dropped and made again", \
      "connect to the server and table that the scope names; a table made again cannot be audited by the old scope") \
    X(SERVER_UNSUPPORTED, "server-unsupported", \
      "the server's line is not supported, or it cannot be told from another", \
      "a ClickHouse before 24.3", \
      "see ch-read(1), LIMITS: read a server of line 24.3 or later") \
    X(TABLE_MISSING, "table-missing", \
      "the server shows this user no such table", \
      "another database or name, or a user who may not see it", \
      "name the table that is there, or grant this user SELECT on {table|it}") \
    X(REPLICA_NOT_SHOWN, "replica-not-shown", \
      "the table is replicated, and system.replicas shows this user nothing of the replica, so that nobody knows what it lacks", \
      "a user who may not see the table there, or a server without a coordination service", \
      "grant this user SELECT on system.replicas and SHOW TABLES on {table|the table}, or ask another replica, from table-look on") \
    X(REPLICA_READ_ONLY, "replica-read-only", \
      "the replica that was asked is read-only, and takes nothing of what others were given", \
      "a lost session with ZooKeeper or Keeper, a server that is starting, or metadata that is missing there", \
      "ask another replica than {replica|this one}, from table-look on, or wait until system.replicas shows is_readonly 0") \
    X(REPLICA_EXPIRED, "replica-expired", \
      "the replica that was asked has no session with ZooKeeper or Keeper, so that what it lacks is not known", \
      "a network or service that is down, or a server that is starting or overloaded", \
      "ask another replica than {replica|this one}, from table-look on, or wait until its session is back") \
    X(REPLICA_BEHIND, "replica-behind", \
      "the replica that was asked has not done all that the table's log holds: rows may be missing from it alone", \
      "writes or merges at that time, a replica that was down, or fetches that fail", \
      "wait until system.replicas shows of {replica|this replica} queue_size 0 and log_pointer past log_max_index, or ask another one, from table-look on; a delay alone may be allowed by --max-replica-delay-s") \
    X(REPLICA_OTHER, "replica-other", \
      "the table that answers is another replica of the one that the scope names", \
      "another server's address, or a load balancer before several", \
      "connect to replica {replica|that the scope names}, or declare the scope with table-look at the one that answers") \
    X(ENGINE_UNSUPPORTED, "engine-unsupported", \
      "the table's engine is none whose rows a read shows as they were written", \
      "an engine that replaces, sums or forwards rows, or a database that is not Atomic", \
      "see ch-read(1), LIMITS: audit a plain MergeTree in an Atomic database") \
    X(FINAL_UNSUPPORTED, "final-unsupported", \
      "a read with FINAL would be a guess: which row of a key is the last cannot be told as the audit tells it", \
      "another --key than the table's sorting key, a version that the rules do not give, or an engine that is not the scope's", \
      "name the sorting key's columns with --key, let the rules give the engine's columns, or leave out --final and compare every row") \
    X(KEYS_UNDETERMINED, "keys-undetermined", \
      "several rows of a key have its highest version and differ, so that which of them FINAL shows is chance", \
      "a version that is not unique: a time in seconds, or one record's version written twice", \
      "repair the rows of the keys that the stream names as undetermined, or write them again under a higher version") \
    X(ROWS_MERGED, "rows-merged", \
      "rows are missing from a table whose engine makes one row of several of a key", \
      "a merge took the older versions away, as it does at any time", \
      "declare the scope with --final, which compares the last row of each key") \
    X(TABLE_EXPIRES, "table-expires", \
      "the table has a TTL of another form than a column plus a constant, by which rows or values vanish on their own", \
      "a TTL of a column, with WHERE or GROUP BY, or of an expression", \
      "see ch-read(1), LIMITS: audit a table without TTL; a row that is gone cannot be told from one that never came") \
    X(TTL_COLUMN_LEFT_OUT, "ttl-column-left-out", \
      "the column that the table's TTL goes by is not compared, so that which owed rows have expired cannot be told", \
      "a column that the rules do not give, or that --columns or --except leaves out", \
      "let the rules give {column|the TTL's column}, and declare the scope with it") \
    X(COLUMN_MISSING, "column-missing", \
      "a column of the scope is not in the table any more", \
      "it was dropped or renamed", \
      "declare or cut a scope of the columns that the table has, or restore column {column|as it was}") \
    X(COLUMN_TYPE_CHANGED, "column-type-changed", \
      "a column has another type than the scope's (LowCardinality and the time zone are of the type), or the table computes it", \
      "the table was altered after the scope was made", \
      "make the scope again from the table as it is, or restore the type of {column|the column}") \
    X(DEFINITION_CHANGED, "definition-changed", \
      "the server or the table changed while it was read", \
      "an ALTER, a restart or a failover at that time", \
      "read again when nobody alters the table") \
    X(MUTATION_RUNNING, "mutation-running", \
      "a mutation of the table ran or began while it was read", \
      "an ALTER TABLE … UPDATE or DELETE", \
      "wait until mutation {mutation|that the reason names} is done (system.mutations), then read again") \
    X(PARTS_CHANGED, "parts-changed", \
      "the table's parts changed while it was read whole", \
      "an INSERT, or a merge in the background", \
      "read again when nothing writes to the table, or raise --settle-ms") \
    X(READS_DIFFER, "reads-differ", \
      "two reads of the table gave different rows", \
      "something writes to the table", \
      "read again when nothing writes to the table, or raise --settle-ms") \
    X(TABLE_NOT_READ_WHOLE, "table-not-read-whole", \
      "the keys were read, and not the table whole, so that other rows of it are not known", \
      "--max-table-rows was not given", \
      "make the scope with --coverage=complete-table and read the table with --max-table-rows") \
    X(LOG_NOT_LOOKED_AT, "log-not-looked-at", \
      "whether the ranges were all that the log held, before the table was read and after it, is not known", \
      "no log-look before the scope, or no log-look --again behind ch-read", \
      "look at {topic|the topic} with log-look before scope-declare, and with log-look --again behind ch-read") \
    X(LOG_NOT_FROM_START, "log-not-from-start", \
      "a log or a range does not begin at offset 0, so that what lay before it may have left rows of the table", \
      "retention took the log's beginning, or the ranges were declared from later on", \
      "ask for the ranges' keys, without --coverage=complete-table, or declare {partition|each partition} from 0 while the log still has it") \
    X(LOG_WENT_ON, "log-went-on", \
      "a log did not end where its range does, before the table was read or after it, so that rows may be of other offsets", \
      "producers that still write, or a range that leaves out what the log holds", \
      "stop what writes to {partition|the topic}, declare it with --range=ALL, and read again") \
    X(TABLE_TOO_LARGE, "table-too-large", \
      "the table holds more rows than it may to be read whole", \
      "it holds more than this run wrote, or the bound is short", \
      "raise --max-table-rows above {rows|its number of rows}, where so many are expected") \
    X(ROWS_HIDDEN, "rows-hidden", \
      "something hides rows of the table from this user", \
      "a row policy", \
      "read as a user from whom no row policy hides rows") \
    X(STATEMENT_TOO_LONG, "statement-too-long", \
      "a single key does not fit into a statement", \
      "the user's max_query_size", \
      "raise max_query_size for this user above {bytes|its present value}") \
    X(READ_BEFORE_OWED, "read-before-owed", \
      "the table was read before the last owed row had come, so its key was not looked for", \
      "ch-read stands before a stage that writes owed rows", \
      "put ch-read after every stage that writes owed rows") \
    /* ---- comparing ---- */ \
    X(ROWS_MISSING, "rows-missing", \
      "rows that are owed are not there", \
      "a lost INSERT, a filter, or rows deleted from the table", \
      "look at the findings from their first offset on, find why those rows are not there, and write them again") \
    X(TOKEN_OUTLIVED_ROWS, "token-outlived-rows", \
      "all rows that are missing are of INSERTs that were sent again under the token that they had, and nothing shows that the server ran on meanwhile", \
      "a server that was killed kept the token of rows that it lost, and dropped the resend while it acknowledged it", \
      "write these rows again, from the first offset of the findings on, under new tokens: under their own the server drops them; a sink of this release sends a fresh token after a restart") \
    X(ROWS_CHANGED, "rows-changed", \
      "a key is there with other values than those owed", \
      "a converter that changes values, or an update of the table", \
      "compare the columns that the findings name, and correct what changes them") \
    X(ROWS_DUPLICATED, "rows-duplicated", \
      "rows that are owed are there more often than owed", \
      "an INSERT that was sent again, or a replay after a restore", \
      "remove the surplus copies that the findings list; a finding says where a resend or a replay explains one") \
    X(KEY_NAMES_SEVERAL, "key-names-several", \
      "rows stand in the table beside what their keys owe, and the ranges are not all that the log holds", \
      "a key that stands in offsets outside the ranges too: an update, or a key that repeats", \
      "before the table is repaired, declare the whole log (--range=ALL), or take a --key that names one row: the record's topic, partition and offset as columns (owed(7))") \
    X(ROWS_ABORTED, "rows-aborted", \
      "the table holds rows whose records were aborted, and which no committed record owes", \
      "a consumer that reads uncommitted records, or a sink that wrote before the transaction was committed", \
      "set isolation.level=read_committed for what reads the topic (Kafka Connect: consumer.override.isolation.level), and remove the rows that the findings name") \
    X(ROWS_NOT_DELETED, "rows-not-deleted", \
      "the table holds rows whose key was deleted, and which no later record owes", \
      "a sink that drops tombstones, or whose deletions wait for a merge or a mutation", \
      "find out what the writer does with a deletion; once it was applied, read again") \
    X(ROWS_UNEXPECTED, "rows-unexpected", \
      "rows are there that nothing owes", \
      "another writer, or records that the reference skips", \
      "find who wrote the keys that the findings list, and remove what does not belong there") \
    X(ROWS_DELETED, "rows-deleted", \
      "rows that are owed are not there, and a mutation that deletes rows of the table is done", \
      "somebody deleted them after they had landed", \
      "look at the command of mutation {mutation|that the reason names}, of {created|the time that it names}, in the observation: rows that it deleted had landed, and are to be written again only where that was not meant; where it spares them, look at the findings from their first offset on, wait until the writer is through, and read again") \
    X(ROWS_EXPIRED, "rows-expired", \
      "owed rows are older than the table's TTL keeps them, and their keys are left out: a merge may take such rows away at any time", \
      "ranges that reach further back than the TTL", \
      "ask about ranges whose rows the table still keeps (--since), or say with --expired=ignore that rows past the TTL are of no matter") \
    X(ROWS_EXPIRED_IN_PART, "rows-expired-in-part", \
      "keys owe rows that have expired and rows that have not, and are left out whole", \
      "a key that names several rows, or sides that owe a key other times", \
      "take a --key that names one row, or ask about ranges whose rows the table still keeps (--since)") \
    X(BATCH_UNFIT, "batch-unfit", \
      "rows that follow one another are not there, and one of them has a value that its column cannot hold", \
      "the server refused an INSERT whole because of one row, and the writer dropped the batch", \
      "correct the record at {at|the place that the reason names}, or its column, or let the writer leave such a row out; then write the whole stretch again") \
    X(ROWS_UNFIT, "rows-unfit", \
      "the rows that are not there have values that their columns cannot hold", \
      "a value out of range, a fraction past the scale, or NULL where there is none", \
      "correct the records, or alter the columns to types that hold the values that the findings show, and write these rows again") \
    X(ROWS_UNDER_OTHER_KEY, "rows-under-another-key", \
      "the values of rows that are not there stand under a key next to their own", \
      "a writer whose numbers go through a double (past 2^53 it changes them), or that cuts a time or a text", \
      "correct how the writer makes the key ({key|the owed one} came to {other|another}), remove the rows under the other keys, and write these rows again") \
    X(NONE_LANDED, "none-landed", \
      "nothing of what is owed is in the table", \
      "the writer writes to another table or server, or has not begun; or the table was emptied", \
      "check that the writer runs and that this is the table and the server that it writes to, and whether anybody emptied it; where it has only begun, wait and read again") \
    X(ROWS_LATE, "rows-late", \
      "all that is missing is the newest of its partition", \
      "the rows may not have landed yet when the table was read; no consumer group was looked at, which would say", \
      "name the writer's consumer group to log-look with --group (Kafka Connect's is connect-NAME; Spark commits none, its checkpoint says) and audit again: it tells rows that nobody has read yet from rows that will not come") \
    X(ROWS_PASSED_OVER, "rows-passed-over", \
      "rows are not there although the consumer group has committed past their records", \
      "a consumer that commits before it writes, drops what it cannot write, or lost a batch when it ended", \
      "waiting brings none of them: find in the logs of group {group|the consumer} what became of the records from {at|the first finding} on, and write them again (rows-diff --offsets lists them)") \
    X(ROWS_NOT_CONSUMED, "rows-not-consumed", \
      "the consumer group, which has members, had not come to the records of the rows that are not there", \
      "a consumer that lags behind", \
      "wait until group {group|the consumer} has committed past the findings, and audit again; where its lag does not shrink, find what holds it up") \
    X(CONSUMER_STOPPED, "consumer-stopped", \
      "the consumer group had not come to the records of the rows that are not there, and has no member", \
      "a consumer that is down, or one that was assigned its partitions, which makes it no member", \
      "start the consumer of group {group|that the reason names}, wait until it has committed past the findings, and audit again") \
    X(KEYS_LEFT_OUT, "keys-left-out", \
      "keys are left out of the comparison, and the answer needs them", \
      "a reference that does not decide every key", \
      "make a reference that decides all keys, or ask about selected keys alone") \
    /* ---- the log ---- */ \
    X(BROKER_UNREACHABLE, "broker-unreachable", \
      "no broker answered, or a partition had no leader, in the time that it may take", \
      "a wrong address, a cluster that is down, or a listener that names another host", \
      "check that the brokers and the addresses that they advertise answer from this machine, then run again") \
    X(BROKER_FAILED, "broker-failed", \
      "the broker answered with an error, or with less than was asked for", \
      "what its text says", \
      "remove what the broker's error names, then run again") \
    X(TOPIC_MISSING, "topic-missing", \
      "the cluster has no such topic, or no such partition of it", \
      "a misspelled name, another cluster, or a topic that was deleted", \
      "name the topic and the cluster that hold the records; what was deleted with {topic|the topic} is gone") \
    X(TOPIC_NOT_GRANTED, "topic-not-granted", \
      "the user may not read or describe the topic", \
      "a missing ACL", \
      "grant READ, DESCRIBE and DESCRIBE_CONFIGS on topic {topic|that the reason names}") \
    X(GROUP_NOT_GRANTED, "group-not-granted", \
      "the user may not describe the consumer group", \
      "a missing ACL", \
      "grant DESCRIBE on group {group|that the reason names}") \
    X(GROUP_NOT_READY, "group-not-ready", \
      "the broker that keeps the group's offsets was still being chosen, or still read them, when the time was over", \
      "a cluster that has just started or lost a broker, or a first group on a new one", \
      "wait until the brokers have settled, then look again") \
    X(TOPIC_RECREATED, "topic-recreated", \
      "the topic of this name is not the one that was read before: its id is another", \
      "it was deleted and made again", \
      "audit by what was kept of the old topic; the new one's offsets are of other records") \
    X(TOPIC_ID_UNKNOWN, "topic-id-unknown", \
      "the broker or the library tells no topic id, so that a topic made again cannot be told", \
      "brokers before 2.8, or librdkafka before 2.3", \
      "read from newer brokers with a newer librdkafka, or declare the scope without a topic id") \
    X(CLUSTER_OTHER, "cluster-other", \
      "the cluster that answers is not the one that the scope names", \
      "another cluster's address, or a mirror", \
      "connect to the cluster that the scope names") \
    X(TOPIC_COMPACTED, "topic-compacted", \
      "the topic is compacted, so that what a range held cannot be told from what is left of it", \
      "cleanup.policy holds compact", \
      "audit a topic with cleanup.policy=delete alone; what compaction removed from {topic|this one} is gone") \
    X(PARTITIONS_CHANGED, "partitions-changed", \
      "the topic has another number of partitions than when the read began", \
      "partitions were added meanwhile", \
      "start again, so that the new partitions are read too") \
    X(RANGE_EXPIRED, "range-expired", \
      "the log's start has passed the range's start: the records are gone", \
      "retention", \
      "audit a range that is still held whole, from offset {offset|the log's start} of {partition|the partition} on, and raise the retention") \
    X(LOG_EMPTY, "log-empty", \
      "the log holds no record, which establishes nothing", \
      "another topic or cluster than the one that was meant, or a producer that has not begun", \
      "name the topic that holds the records, or wait for the first of them") \
    X(LOG_EXPIRED, "log-expired", \
      "every record of the log is gone, which establishes nothing", \
      "retention, or records that were deleted", \
      "audit while the records are held, and raise the retention") \
    X(RANGE_BEYOND, "range-beyond", \
      "the log ends before the range does", \
      "offsets of another topic, or a log that was truncated after a failover", \
      "correct the range of {partition|the partition}: its log ends at {offset|an earlier offset}") \
    X(TRANSACTION_OPEN, "transaction-open", \
      "an open transaction holds back the records below the range's end", \
      "a producer that neither commits nor aborts", \
      "end the transaction (kafka-transactions.sh finds its producer), or wait for its timeout with a longer --stable-wait-s") \
    X(MORE_GAPS, "more-gaps-than-transactions", \
      "offsets without a record are more than transactions can have ended, so that records were removed from the log", \
      "the topic was compacted, whatever its cleanup.policy says now, or records were deleted from its middle", \
      "audit a range of {partition|the partition} that was never compacted: from {offset|the offset that the reason names} on, records are gone") \
    X(LOG_CHANGED, "log-changed", \
      "the log changed while it was read", \
      "a truncation, or records that vanished between two reads", \
      "run again; where it comes again, look for an unclean leader election in the brokers' logs") \
    X(READ_TIMED_OUT, "read-timed-out", \
      "the range was not read to its end in the time that it may take", \
      "a slow network, or a deadline that is short for the amount", \
      "raise {option|--deadline-s or --timeout-ms}, or read fewer partitions at a time") \
    /* ---- the reference ---- */ \
    X(REFERENCE_MALFORMED, "reference-malformed", \
      "the file is no reference as its writer finished it", \
      "it was cut, edited, or another file was named", \
      "name the file that ref-seal wrote, whole, or make the reference again") \
    X(REFERENCE_OTHER, "reference-other", \
      "the reference was made for another scope", \
      "the scope was cut or declared again after the reference was made", \
      "make the reference for this scope ({field|the reason names what differs})") \
    X(REFERENCE_NOT_WHOLE, "reference-not-whole", \
      "the reference says of itself that it is not whole, without a code", \
      "what its reasons say", \
      "remove what its reasons name, and make the reference again") \
    X(REFERENCE_UNPROVEN, "reference-unproven", \
      "no account says that every record of the scope went into the reference, or the accounts do not add up", \
      "kafka-read or the program's stage is not in the reference's pipe, or lines were left out", \
      "make the reference with kafka-read, ref-run and ref-seal in one pipe") \
    X(RECORDS_UNREADABLE, "records-unreadable", \
      "records of the range could not be read, so that what they owe is not known", \
      "a message that was cut, or a topic that is not JSON, such as schema-framed Avro", \
      "look at {at|the records that the reason names}: if they are no JSON, decode {payload|payload or payload_b64} in the program (--payload=base64); if they owe nothing, say --unreadable=skip; else have them sent again") \
    X(PROGRAM_NOT_RUN, "program-not-run", \
      "the program could not be started", \
      "a misspelled name, or a file that may not be executed", \
      "name a program that can be run: {program|the reason names it}") \
    X(PROGRAM_FAILED, "program-failed", \
      "the program ended badly, or did not read or answer every record", \
      "a fault of the program, or of one record", \
      "find on its standard error where {program|it} ended, correct it, and run again") \
    X(PROGRAM_ANSWER, "program-answer", \
      "the program wrote what is no row, or not in the form that it must have", \
      "output meant for a person, or several objects a line", \
      "make {program|the program} write one JSON object a line, as ref-run(1) has it") \
    /* ---- the job ---- */ \
    X(MAP_MALFORMED, "map-malformed", \
      "the map program does not compile, or reaches outside the record", \
      "a fault in the program's text", \
      "correct the program at the place that the reason names") \
    X(RECORD_NOT_MAPPED, "record-not-mapped", \
      "the map program failed on a record, or a number in it has no exact double", \
      "a record of another form, or digits past what a double holds", \
      "correct the map program, or declare numbers: text, and run the job again; the record is {at|the one that the reason names}") \
    X(WINDOW_MALFORMED, "window-malformed", \
      "the window's parameters are none that a window has", \
      "a member that is missing or misspelled, or two columns of one name", \
      "correct the parameters at the place that the reason names, as row-window(1) has them") \
    X(EVENT_WITHOUT_TIME, "event-without-time", \
      "a row came to the window without a time, so that no window is its own", \
      "a record without the source's time field, or a time field that is no whole number", \
      "repair the record, or filter such records before the window, and run the job again; it is {at|the one that the reason names}") \
    X(EVENT_NOT_WINDOWED, "event-not-windowed", \
      "a row has no value that the window can group or sum", \
      "a column that the map leaves out, a number with more digits than the sum's scale, or a key that is a list or a fraction", \
      "correct the map or the window's parameters, and run the job again; the row is {at|the one that the reason names}") \
    X(SUM_OVERFLOW, "sum-overflow", \
      "a sum left the 128 bits that it is kept in; it is never wrapped or rounded", \
      "values out of all proportion, or a scale that is too great", \
      "lower the sum's scale or its window, and run the job again from the start; the row is {at|the one that the reason names}") \
    X(VALUE_NOT_STORABLE, "value-not-storable", \
      "a row of the job does not fit the table's columns exactly", \
      "a value out of range, a fraction past the scale, or NULL where there is none", \
      "repair the record, the map or the column, and run the job again") \
    X(INSERT_NOT_POSSIBLE, "insert-not-possible", \
      "the table cannot take the sink's rows", \
      "a column that is missing, computed or of a type that is not written", \
      "correct the table or the sink's columns, and run the job again") \
    X(LANES_APART, "lanes-apart", \
      "the lanes do not carry the same barriers", \
      "lanes of different runs were joined, or one ended early", \
      "start the job again from its last completed checkpoint, with all lanes of one run")

enum code {
    CODE_NONE,
#define X(id, word, means, cause, next) CODE_##id,
    CODE_TABLE(X)
#undef X
    CODES
};
/* clang-format on */
const char *code_word(enum code c);         /* "" for CODE_NONE */
enum code code_of(const char *p, size_t n); /* CODES for any other word; CODE_NONE for none */
const char *code_means(enum code c);
const char *code_usually(enum code c);
/* True for what only follows from what an earlier stage reports. */
bool code_follows(enum code c);
/* Append what to do, with the cause's facts filled in. Nothing for a cause without a code. */
void code_next(const struct cause *cause, struct buf *out);
/* The cause of an error: its own code, else the one of its errno, else the one of its kind where refused does not fit
 * that. refused: what this place makes of input that it refuses, and of what nothing else is known of. */
struct cause code_of_err(const struct err *err, enum code refused);

#endif
