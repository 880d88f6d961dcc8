# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# shellcheck disable=SC2154  # audit sets what these functions read
# What the options of an audit are, and which stages each is handed to: all of them that run. An option with a value ends
# in '='. `stage:--other=` is that stage's own name for it; `stage:` alone is one that audit tells the stage in its own words.
declare -A stages_of=(
    # what is asked
    [--checkpoint=]='scope-cut'
    [--from-run-start]='scope-cut'
    [--key=]='scope-cut scope-declare'
    [--repeats]='scope-cut'
    [--coverage=]='scope-cut scope-declare'
    [--job=]='scope-cut'
    [--sink=]='scope-cut'
    [--topic=]='log-look'
    [--group=]='log-look'
    [--range=]='scope-declare'
    [--since=]='log-look'
    [--until=]='log-look'
    [--from-offsets=]='scope-declare'
    [--to-offsets=]='scope-declare'
    [--isolation=]='scope-declare'
    [--from=]='scope-declare'
    [--zone=]='scope-declare'
    [--columns=]='scope-declare'
    [--except=]='scope-declare'
    [--final]='scope-declare'
    [--key-memory=]='ref-seal'
    [--filled=]='scope-declare'
    [--database=]='scope-cut table-look scope-declare'
    [--table=]='scope-cut table-look scope-declare'
    [--topic-id=]='scope-declare'
    [--cluster-id=]='scope-declare'
    [--server-uuid=]='scope-declare'
    [--server-version=]='scope-declare'
    [--table-uuid=]='scope-declare'
    # the broker
    [--bootstrap=]='log-look kafka-read log-again'
    [--timeout-ms=]='log-look kafka-read log-again'
    [-X]='log-look kafka-read log-again'
    [-E]='log-look kafka-read log-again'
    [-F]='log-look kafka-read log-again'
    [--account]='kafka-read'
    [--aborted]='kafka-read'
    [--run-start-offset=]='kafka-read'
    [--stable-wait-s=]='kafka-read'
    [--deadline-s=]='kafka-read'
    [--max-records=]='kafka-read'
    [--max-bytes=]='kafka-read'
    # the reference
    [--payload=]='ref-run'
    [--unreadable=]='ref-run ref-jq'
    [--no-strict]='ref-run: ref-jq:'
    [--reference-name=]='ref-seal'
    [--reference-version=]='ref-seal'
    [--reference-config=]='ref-seal'
    # the server
    [--url=]='table-look ch-read'
    [--user=]='table-look ch-read'
    [--password-env=]='table-look ch-read'
    [--password-file=]='table-look ch-read'
    [--cacert=]='table-look ch-read'
    [--client-cert=]='table-look ch-read'
    [--client-key=]='table-look ch-read'
    [--connect-timeout-ms=]='table-look ch-read'
    [--query-timeout-ms=]='table-look ch-read'
    [--max-rows-per-query=]='ch-read'
    [--keys-per-query=]='ch-read'
    [--keys-only]='ch-read'
    [--max-table-rows=]='ch-read'
    [--settle-ms=]='ch-read'
    [--max-replica-delay-s=]='ch-read'
    [--format=]='ch-read'
    [--expired=]='ch-read'
    # the comparison and the answer
    [--profile=]='bundle-check verdict'
    [--expected-out=]='scope-cut ref-bind'
    [--memory=]='rows-diff'
    [--scratch=]='bundle-check ref-seal ch-read rows-diff'
    [--list=]='rows-diff verdict:--show='
    [--offsets=]='rows-diff'
    [--json]='verdict'
    [--report=]='verdict'
    [--mode=]='scope-cut scope-declare ref-seal ref-bind rows-diff verdict'
    [--max-line=]='bundle-check scope-cut log-look table-look scope-declare ref-run ref-jq ref-seal ref-bind ch-read log-again rows-diff verdict'
)

# Whether an argument is an option of a stage, as it stands in the table.
known() { # argument
    local name=${1%%=*}
    [[ $1 == --?* && -n ${stages_of[$name${1:${#name}:1}]:-} ]]
}

usage() {
    cat <<'EOF'
usage: audit --bundle=DIR --key=COLUMN[,COLUMN] --url=URL [REFERENCE] [options]
       audit --topic=TOPIC --bootstrap=HOST:PORT --range=[TOPIC/]P:FROM-TO|ALL --table=DATABASE.TABLE --key=COLUMN[,COLUMN]
             --url=URL REFERENCE [options]
Decide whether the table holds exactly what a checkpoint of the bundle, or a declared range of the topic, owed it.
REFERENCE is --reference=FILE, or --bootstrap=HOST:PORT [--unreadable=skip] [--no-strict] [options] and --jq=FILE or
             [--payload=text|json|raw|base64] -- PROGRAM [ARGUMENT...]
  --out=DIR               keep every stage's output in DIR
  --scope-out=FILE        write the scope document to FILE too
The options of the stages; each goes to all of them that take it, and their pages say what it means:
EOF
    local option
    for option in "${!stages_of[@]}"; do printf '  %-23s %s\n' "$option" "${stages_of[$option]//:*/}"; done | sort
    echo 'exit: 0 passed, 1 failed, 2 refused, 3 not decided'
}

# Each stage's arguments, quoted as the shell reads them: what the audit says itself, and then what was given.
declare -A args=()
arguments() {
    local stage called=${program[0]:-$rules}
    for stage in "${stages[@]#?-}"; do args[$stage]=''; done
    say scope-cut "${document:+--out=$document}"
    say scope-declare "${document:+--out=$document}"
    say kafka-read --scope="$document"
    say ref-run "$strict"
    say ref-jq "${rules:+--rules-file=$rules}" "$strict"
    say ref-seal --scope="$document" --out="$reference" --reference-name="${called##*/}" --reference-version=unknown
    say ref-bind --reference="$reference"
    # Where two stages would write one file, it is the reference that says what is expected.
    ! runs ref-bind || stages_of[--expected-out=]=ref-bind
    hand "${given[@]}"
}

say() { # stage, argument…; empty ones are none
    local arg
    ! runs "$1" || for arg in "${@:2}"; do args[$1]+="${arg:+ ${arg@Q}}"; done
}

hand() { # option…: each to the stages that take it and run
    local option name word stage of handed own
    for option; do
        case $option in --*=*) name=${option%%=*}= ;; --*) name=$option ;; *) name=${option:0:2} ;; esac
        of='' handed=''
        for word in ${stages_of[$name]}; do
            stage=${word%%:*} of+="${of:+, }${word%%:*}"
            runs "$stage" || continue
            handed=1
            case $word in
                *:) own='' ;;
                *:*) own=${word#*:}${option#*=} ;;
                *) own=$option ;;
            esac
            say "$stage" "$own"
        done
        [ -n "$handed" ] || die "${name%=} is an option of $of: no stage of $form"
    done
}
