/* SPDX-License-Identifier: Apache-2.0 */
/* An operator by its op.json, and whether it can be replayed: judged by what would be built, and before it is built. */
#include "json/redact.h"
#include "ops/ops.h"
#include "replay/internal.h"
#include "replay/options.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OP_JSON_MAX ((size_t)17 << 20)
#define REPLAY_COMPILE_S 60 /* processor time of building one operator */

void outcome_set(struct replay *p, struct outcome *o, enum replay_outcome is, const struct cause *cause,
                 const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    *o = (struct outcome){is, cause ? *cause : CAUSE_INIT, arena_strndup(&p->a, buf_str(&text), text.len)};
    buf_free(&text);
}

void outcome_err(struct replay *p, struct outcome *o, enum replay_outcome is, enum code code, const struct err *err)
{
    struct cause cause = code_of_err(err, code);
    outcome_set(p, o, is, &cause, "%s", err->text);
}

bool replay_is_sink(const char *kind)
{
    size_t n = strlen(kind), tail = strlen("-sink");
    return n >= tail && strcmp(kind + n - tail, "-sink") == 0;
}

/* A parameter that was taken out is not the one that the job ran with. */
static const char *redacted_in(const struct json *v)
{
    for (const struct json *at = json_first(v); at; at = json_next(v, at)) {
        const struct json *value = v->type == JSON_OBJECT ? json_value(at) : at;
        const char *inside = json_is(value, REDACTED) && v->type == JSON_OBJECT ? at->str : redacted_in(value);
        if (inside)
            return inside;
    }
    return NULL;
}

static bool reaches_outside(const char *kind)
{
    return strstr(kind, "lookup") || strstr(kind, "predict");
}

/* libjq ends its process on some programs: what cannot be compiled ends a process of its own. */
static int try_open(struct replay *p, struct replay_operator *o, struct err *err)
{
    struct err *said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (said == MAP_FAILED)
        return err_sys(err, "no memory to compile '%s'", o->path);
    struct op *op = NULL;
    int status = 0;
    pid_t here = getpid(), pid = fork();
    if (pid == 0) {
        replay_child(p, here, REPLAY_COMPILE_S);
        _exit(op_open(&op, o->spec.kind, o->parameters, said) == 0 ? 0 : 1);
    }
    if (pid > 0)
        replay_wait(p, pid, &status);
    *err = *said;
    munmap(said, sizeof *said);
    if (pid < 0)
        return err_sys(err, "cannot start a process to compile '%s'", o->path);
    if (status == 0)
        return 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == OWED_TROUBLE)
        replay_no_memory(p, o->path, &o->judged);
    else if (WIFSIGNALED(status))
        err_set(err, ERR_REFUSED, "'%s': the operator cannot be built: it ended its process with signal %d", o->path,
                WTERMSIG(status));
    return -1;
}

/* Opened once, and each replay has a copy of its own as it was then. */
static void judge(struct replay *p, struct replay_operator *o)
{
    const char *kind = o->spec.kind, *redacted = redacted_in(o->parameters);
    struct err err = ERR_INIT;
    if (reaches_outside(kind))
        outcome_set(p, &o->judged, REPLAY_UNSUPPORTED,
                    BECAUSE(CODE_OPERATOR_OUTSIDE, {"operator", o->spec.operator_id}),
                    "an operator of the type '%.100s' asks other systems about its records", kind);
    else if (!op_kind_known(kind))
        outcome_set(p, &o->judged, REPLAY_UNSUPPORTED,
                    BECAUSE(CODE_OPERATOR_UNKNOWN, {"operator", o->spec.operator_id}),
                    "this build has no operator of the type '%.100s'", kind);
    else if (redacted)
        outcome_set(p, &o->judged, REPLAY_UNAVAILABLE,
                    BECAUSE(CODE_OPERATOR_REDACTED, {"operator", o->spec.operator_id}),
                    "'%s': its parameter '%.100s' was taken out as a credential", o->path, redacted);
    else if ((try_open(p, o, &err) != 0 || op_open(&o->op, kind, o->parameters, &err) != 0) &&
             o->judged.is == REPLAY_PASSED)
        outcome_set(p, &o->judged, REPLAY_UNAVAILABLE,
                    BECAUSE(CODE_OPERATOR_MALFORMED, {"operator", o->spec.operator_id}), "'%s': %s", o->path, err.text);
}

void replay_judge(struct replay *p, struct replay_operator *o)
{
    if (!o->parameters || o->seen)
        return;
    uint64_t *alike = map_at(&p->by_text, o->text, strlen(o->text), 0);
    if (*alike == 0) {
        judge(p, o);
        o->next_opened = p->opened;
        p->opened = o;
        *alike = (uint64_t)(uintptr_t)o;
    }
    const struct replay_operator *first = (const struct replay_operator *)(uintptr_t)*alike;
    o->judged = first->judged;
    o->op = first->op;
    o->seen = true;
}

/* ---- op.json ---- */

static int read_spec(struct replay *p, struct replay_operator *o, const char *operator_id, struct err *err)
{
    static const char none[] = "{}";
    if (op_spec_parse(o->text, strlen(o->text), o->path, &p->a, &o->spec, err) != 0)
        return -1;
    if (strcmp(o->spec.job, p->b->m.job) != 0 || strcmp(o->spec.operator_id, operator_id) != 0)
        return err_set(err, ERR_REFUSED, "'%s' describes operator %s of job '%s'", o->path, o->spec.operator_id,
                       o->spec.job);
    const char *parameters = o->spec.parameters ? o->spec.parameters : none;
    o->parameters = json_parse_named(parameters, strlen(parameters), &p->a, o->path, err);
    return o->parameters ? 0 : -1;
}

static struct replay_operator *operator_read(struct replay *p, const char *path, const char *operator_id)
{
    struct replay_operator *o = arena_zalloc(&p->a, sizeof *o);
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    o->path = path;
    if (bundle_read(p->b, path, OP_JSON_MAX, &text, &err) != 0) {
        if (err.kind == ERR_MISSING)
            err.cause = *BECAUSE(CODE_OPERATOR_MISSING);
        outcome_err(p, &o->judged, REPLAY_UNAVAILABLE, CODE_OPERATOR_MALFORMED, &err);
    } else {
        o->text = arena_strndup(&p->a, text.p ? text.p : "", text.len);
        if (read_spec(p, o, operator_id, &err) != 0)
            outcome_err(p, &o->judged, REPLAY_UNAVAILABLE, CODE_OPERATOR_MALFORMED, &err);
    }
    buf_free(&text);
    return o;
}

struct replay_operator *replay_operator(struct replay *p, const char *operator_id, uint64_t subtask)
{
    struct buf path = BUF_INIT, rel = BUF_INIT;
    path_join(&path, "capture", evidence_path_op(&rel, operator_id, subtask));
    buf_adds(&path, "/op.json");
    const uint64_t *known = map_find(&p->by_path, buf_str(&path), path.len);
    struct replay_operator *o = known ? (struct replay_operator *)(uintptr_t)*known : NULL;
    if (!o) {
        const char *own = arena_strndup(&p->a, path.p, path.len);
        o = operator_read(p, own, operator_id);
        map_add(&p->by_path, own, path.len, (uint64_t)(uintptr_t)o);
    }
    buf_free(&path);
    buf_free(&rel);
    return o;
}

void replay_operators_free(struct replay *p)
{
    for (struct replay_operator *o = p->opened; o; o = o->next_opened)
        op_close(o->op);
    map_free(&p->by_path);
    map_free(&p->by_text);
}

int replay_op_check(const char *op, struct err *err)
{
    if (!op || evidence_operator_ok(op))
        return 0;
    return err_set(err, ERR_REFUSED, "--op=%s: an operator's id, a decimal number, is needed", op);
}

bool replay_same_parameters(const struct json *a, const struct json *b)
{
    struct buf x = BUF_INIT, y = BUF_INIT;
    if (a)
        json_canonical(&x, a);
    if (b)
        json_canonical(&y, b);
    bool same = a && b && buf_is(&x, y.p, y.len);
    buf_free(&x);
    buf_free(&y);
    return same;
}
