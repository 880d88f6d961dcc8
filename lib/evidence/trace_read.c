/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a protocol trace. */
#include "evidence/trace.h"
#include "evidence/places.h"
#include "evidence/trace_members.h"
#include "json/json.h"

#include <string.h>

/* What every line holds. */
struct head {
    const char *job, *attempt, *process, *event;
    uint64_t seq;
};

static int head_of(const struct json *doc, struct arena *a, const char *at, struct head *h, struct err *err)
{
    if (doc->type != JSON_OBJECT)
        return err_set(err, ERR_REFUSED, "%s: no object", at);
    return json_need_u64(doc, "seq", &h->seq, at, err) != 0 || json_need_str(doc, "job", a, &h->job, at, err) != 0 ||
                   json_need_str(doc, "attempt", a, &h->attempt, at, err) != 0 ||
                   json_need_str(doc, "process", a, &h->process, at, err) != 0 ||
                   json_need_str(doc, "event", a, &h->event, at, err) != 0
               ? -1
               : 0;
}

static int opened(const struct json *doc, const struct head *h, struct arena *line, struct arena *a, const char *at,
                  struct trace_file *out, struct err *err)
{
    const char *format;
    uint64_t version;
    if (strcmp(h->event, trace_kind_name(TRACE_OPENED)) != 0)
        return err_set(err, ERR_REFUSED, "%s: the first event is '%.60s', not opened", at, h->event);
    if (json_need_str(doc, "format", line, &format, at, err) != 0 ||
        json_need_u64(doc, "version", &version, at, err) != 0 ||
        json_need_bool(doc, "armed", &out->armed, at, err) != 0)
        return -1;
    if (strcmp(format, TRACE_FORMAT) != 0 || version != 1)
        return err_set(err, ERR_REFUSED, "%s: '%.60s' version %" PRIu64 " is no trace that is known here", at, format,
                       version);
    if (!evidence_job_ok(h->job))
        return err_set(err, ERR_REFUSED, "%s: '%.60s' is no job id", at, h->job);
    out->job = arena_strndup(a, h->job, strlen(h->job));
    out->attempt = arena_strndup(a, h->attempt, strlen(h->attempt));
    out->process = arena_strndup(a, h->process, strlen(h->process));
    return 0;
}

static int event_of(const struct json *doc, const struct head *h, const char *at, struct trace_event *e,
                    struct err *err)
{
    *e = (struct trace_event){.kind = trace_kind_of(h->event)};
    if (e->kind == TRACE_KINDS || e->kind == TRACE_OPENED)
        return err_set(err, ERR_REFUSED, "%s: '%.60s' is no event that can stand here", at, h->event);
    int rc = 0;
    for (const struct trace_member *m = trace_members[e->kind]; rc == 0 && m->name; m++) {
        char *to = (char *)e + m->offset;
        rc = m->is_bool ? json_need_bool(doc, m->name, (bool *)to, at, err)
                        : json_need_u64(doc, m->name, (uint64_t *)(void *)to, at, err);
    }
    return rc;
}

static int line_of(const char *p, size_t n, uint64_t number, const char *where, struct arena *line, struct arena *a,
                   struct trace_file *out, struct err *err)
{
    char at[300];
    struct head h;
    snprintf(at, sizeof at, "%.200s: line %" PRIu64, where, number);
    struct json *doc = json_parse_named(p, n, line, at, err);
    if (!doc || head_of(doc, line, at, &h, err) != 0)
        return -1;
    if (h.seq != number)
        return err_set(err, ERR_REFUSED, "%s: its number is %" PRIu64 ", not %" PRIu64, at, h.seq, number);
    if (number == 1)
        return opened(doc, &h, line, a, at, out, err);
    if (strcmp(h.job, out->job) != 0 || strcmp(h.attempt, out->attempt) != 0 || strcmp(h.process, out->process) != 0)
        return err_set(err, ERR_REFUSED,
                       "%s: of process '%.60s', attempt '%.60s' of job '%.64s', not of the first line's", at, h.process,
                       h.attempt, h.job);
    if (out->n > 0 && out->events[out->n - 1].kind == TRACE_ENDED)
        return err_set(err, ERR_REFUSED, "%s: behind the process's end", at);
    return event_of(doc, &h, at, &out->events[out->n++], err);
}

int trace_parse(const char *p, size_t n, const char *where, struct arena *a, struct trace_file *out, struct err *err)
{
    *out = (struct trace_file){0};
    size_t lines = 0;
    for (const char *q = p; (q = memchr(q, '\n', (size_t)(p + n - q))); q++)
        lines++;
    out->cut = n > 0 && p[n - 1] != '\n';
    out->events = arena_alloc(a, (lines + 1) * sizeof *out->events);
    struct arena line = ARENA_INIT;
    int rc = 0;
    for (uint64_t i = 1; rc == 0 && i <= lines; i++) {
        const char *end = memchr(p, '\n', n);
        rc = line_of(p, (size_t)(end - p), i, where, &line, a, out, err);
        n -= (size_t)(end - p) + 1;
        p = end + 1;
        arena_reset(&line);
    }
    arena_free(&line);
    return rc;
}
