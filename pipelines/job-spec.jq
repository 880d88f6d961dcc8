# What is wrong with a job's spec, in one line; nothing where it will do. Input: every document of the file, in an array.
# No value is repeated, since one may be a password that was put where none is taken. A checkpoint.interval_ms of 0 means none by
# the clock, but where SIGUSR1 asks kafka-tail for one.

def text: if type != "string" then "is no text" elif . == "" then "is empty"
    elif test("[\u0000-\u001f\u007f]") then "holds a control character" else empty end;
def program: if type != "string" then "is no text" elif test("\u0000") then "holds a NUL" else empty end;
def count: if type != "number" or . < 0 or . != floor or . >= 9007199254740992 then "is no whole number" else empty end;
def job_id: text // (if test("^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$") then empty
    else "is no job id (1 to 64 letters, digits, '.', '_' or '-', no '.' first)" end);
def uid: text // (if . == "source" or . == "sink" then "is the name of another operator" else empty end);
def url: text // (if contains("@") then "holds an @: name the user in sink.user, and where the password is in sink.password_env or sink.password_file"
    else empty end);
def units: if type != "object" then "is no object" else first(to_entries[] | (.key | text | "names a column that " + .), (.value | text | "holds a unit that " + .)) end;

def names: if type != "array" then "is no list" else first(.[] | text | "names a column that " + .) end;
def objects: if type != "array" then "is no list" elif length == 0 then "is empty"
    else first(.[] | select(type != "object") | "holds what is no object") end;

# One object: its members by the rule that each must meet; null is as absent.
def members($at; $rules; $needed):
    if type != "object" then "\($at // "it") is no object"
    else
        (keys_unsorted - ($rules | keys) | select(length > 0) | "\($at | if . then . + "." else "" end)\(.[0] | tojson) is no member of a spec"),
        ($needed[] as $n | select(.[$n] == null) | "the spec does not name its \($at | if . then . + "." else "" end)\($n)"),
        (to_entries[] | select(.value != null and $rules[.key] != null) | . as $m
            | (if $rules[.key] == "text" then .value | text elif $rules[.key] == "program" then .value | program
               elif $rules[.key] == "count" then .value | count elif $rules[.key] == "job" then .value | job_id
               elif $rules[.key] == "uid" then .value | uid
               elif $rules[.key] == "url" then .value | url elif $rules[.key] == "units" then .value | units
               elif $rules[.key] == "names" then .value | names elif $rules[.key] == "objects" then .value | objects else empty end)
            | "\($at | if . then . + "." else "" end)\($m.key) \(.)")
    end;

def parts: {
    source: [{bootstrap: "text", topic: "text", isolation: "text", time_field: "text", watermark_lag_ms: "count", idle_ms: "count",
              properties_file: "text"}, ["bootstrap", "topic"]],
    sink: [{url: "url", user: "text", password_env: "text", password_file: "text", cacert: "text", client_cert: "text", client_key: "text", database: "text", table: "text",
            from: "units", batch_rows: "count", batch_ms: "count"}, ["url", "database", "table"]],
    checkpoint: [{interval_ms: "count", retain: "count"}, []]};

# Operators by type: their members, those they need, and whether they take a source's records.
def operators: {
    map: [{type: "text", uid: "uid", program: "program", program_file: "text", numbers: "text"}, [], true],
    window: [{type: "text", uid: "uid", size_ms: "count", allowed_lateness_ms: "count", partition_by: "names", aggregates: "objects"},
             ["size_ms", "aggregates"], false]};
def operator($i): "operators[\($i)]" as $at
    | if type != "object" then "\($at) is no object"
    elif operators[.type // "" | tostring] == null then "\($at).type is no operator that is known here (\(operators | keys | join(", ")))"
    else operators[.type] as $known | first(
        members($at; $known[0]; $known[1]),
        (select(.type == "map" and ((.program == null) == (.program_file == null))) | "\($at): a map names one of program and program_file"),
        (select($i == 0 and ($known[2] | not)) | "\($at): a \(.type) takes rows, and a source gives records: put a map before it"))
    end;

if length != 1 then "it holds \(length) documents, not one"
else .[0] | first(
    members(null; {job: "job", name: "text", capture_records: "count", source: "", operators: "", sink: "", checkpoint: ""};
        ["job", "source", "operators", "sink"]),
    (parts as $parts | ($parts | keys_unsorted[]) as $part | select(.[$part] != null) | .[$part] | members($part; $parts[$part][0]; $parts[$part][1])),
    (.operators | if type != "array" then "operators is no list" elif length == 0 then "operators names none" else empty end),
    (.operators | to_entries[] | .key as $i | .value | operator($i)))
end
