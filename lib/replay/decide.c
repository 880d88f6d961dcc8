/* SPDX-License-Identifier: Apache-2.0 */
/* The run: every selected epoch once, in order, and what its three checks come to. */
#include "replay/internal.h"

#include <stdlib.h>
#include <string.h>

#define NAMED 5 /* epochs that a reason names; the rest is counted */

enum status replay_conclude(const struct replay_counts *c)
{
    if (c->of[REPLAY_FAILED] > 0)
        return STATUS_FAILED;
    if (c->selected > 0 && c->of[REPLAY_PASSED] == c->selected)
        return STATUS_PASSED;
    if (c->of[REPLAY_UNAVAILABLE] > 0 || c->omitted > 0 || c->selected == 0)
        return STATUS_UNAVAILABLE;
    return STATUS_UNSUPPORTED;
}

/* What decides a status, among the epochs. */
static enum replay_outcome deciding(enum status s)
{
    return s == STATUS_FAILED        ? REPLAY_FAILED
           : s == STATUS_UNAVAILABLE ? REPLAY_UNAVAILABLE
           : s == STATUS_UNSUPPORTED ? REPLAY_UNSUPPORTED
                                     : REPLAY_PASSED;
}

/* One check's epochs while they come. */
struct tally {
    struct replay_answer *to;
    struct outcome *all; /* by epoch */
};

static void count(struct tally *t, size_t i, const struct outcome *o)
{
    t->all[i] = *o;
    t->to->counts.of[o->is]++;
}

static void say(struct buf *out, uint64_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct buf *out, uint64_t n, const char *fmt, ...)
{
    va_list ap;
    if (n >= NAMED)
        return;
    va_start(ap, fmt);
    buf_adds(out, out->len ? "; " : "");
    buf_vprintf(out, fmt, ap);
    va_end(ap);
}

/* Epochs of one reason are said once, by the first of them. */
static void say_epochs(const struct replay *p, const struct tally *t, enum replay_outcome is)
{
    struct replay_answer *to = t->to;
    struct {
        size_t first;
        uint64_t more;
    } why[NAMED];
    uint64_t left = 0;
    size_t n = 0;
    for (size_t i = 0; i < p->n_epochs - to->counts.omitted; i++) {
        size_t k = 0;
        if (t->all[i].is != is)
            continue;
        while (k < n && strcmp(t->all[why[k].first].why, t->all[i].why) != 0)
            k++;
        if (k < n) {
            why[k].more++;
        } else if (n < NAMED) {
            why[n].first = i;
            why[n++].more = 0;
        } else {
            left++;
        }
    }
    for (size_t k = 0; k < n; k++) {
        const struct replay_epoch *e = &p->epochs[why[k].first];
        if (k == 0)
            to->cause = t->all[why[k].first].cause;
        buf_printf(&to->reason, "%soperator %s, subtask %" PRIu64 ", epoch %" PRIu64, k ? "; " : "", e->operator_id,
                   e->subtask, e->epoch);
        if (why[k].more > 0)
            buf_printf(&to->reason, " and %" PRIu64 " more", why[k].more);
        buf_printf(&to->reason, ": %s", t->all[why[k].first].why);
    }
    if (left > 0)
        buf_printf(&to->reason, "; and %" PRIu64 " epochs more", left);
}

static void say_omitted(const struct replay *p, struct replay_answer *to)
{
    uint64_t omitted = to->counts.omitted, n = 0;
    if (omitted == 0)
        return;
    if (to->reason.len == 0)
        to->cause = *BECAUSE(CODE_REPLAYS_OMITTED, {"option", "--max-replays"},
                             {"epochs", FACT_NUMBER(to->counts.selected)});
    buf_printf(&to->reason, "%s%" PRIu64 " epochs are past --max-replays=%" PRIu64 " and were not replayed: ",
               to->reason.len ? "; " : "", omitted, p->r->max);
    for (size_t i = p->n_epochs - omitted; i < p->n_epochs && n < NAMED; i++, n++)
        buf_printf(&to->reason, "%soperator %s, subtask %" PRIu64 ", epoch %" PRIu64, n ? ", " : "",
                   p->epochs[i].operator_id, p->epochs[i].subtask, p->epochs[i].epoch);
    if (omitted > n)
        buf_printf(&to->reason, " and %" PRIu64 " more", omitted - n);
}

static void conclude(const struct replay *p, struct arena *a, const struct tally *t)
{
    struct replay_answer *to = t->to;
    to->status = replay_conclude(&to->counts);
    if (to->counts.selected == 0) {
        to->cause = *BECAUSE(p->b->m.has_captures ? CODE_EPOCHS_NOT_COLLECTED : CODE_CAPTURES_NOT_COLLECTED);
        buf_adds(&to->reason, "no captured epoch is selected");
    } else if (to->status != STATUS_PASSED) {
        say_epochs(p, t, deciding(to->status));
        if (to->status == STATUS_UNAVAILABLE)
            say_omitted(p, to);
    }
    to->evidence = arena_alloc(a, (p->n_epochs + 1) * sizeof *to->evidence);
    size_t n = 0;
    for (size_t i = 0; i < p->n_epochs - to->counts.omitted && n < 200; i++)
        if (to->status == STATUS_PASSED || t->all[i].is == deciding(to->status))
            to->evidence[n++] = arena_strndup(a, p->epochs[i].path, strlen(p->epochs[i].path));
    to->evidence[n] = NULL;
}

void replay_answer_one(const struct replay *p, const struct outcome *o, struct arena *a, struct replay_answer *to)
{
    struct outcome is = *o;
    struct tally t = {to, &is};
    *to = (struct replay_answer){.counts = {.selected = 1}};
    count(&t, 0, o);
    if (p->n_epochs == 1) {
        conclude(p, a, &t);
        return;
    }
    to->status = replay_conclude(&to->counts);
    to->cause = o->cause;
    buf_adds(&to->reason, o->why);
}

/* ---- an expectation ---- */

static bool one_operator(const struct replay *p)
{
    for (size_t i = 1; i < p->n_epochs; i++)
        if (strcmp(p->epochs[i].operator_id, p->epochs[0].operator_id) != 0)
            return false;
    return true;
}

/* An epoch whose events the restored run processed again counts there, and not here. */
static bool passed_over(const struct replay *p, const struct replay_epoch *e)
{
    return p->markers.has_restored && restored_passes_over(&p->markers.restored, e->epoch);
}

static void expect(struct replay *p, struct expectation *x, struct replay_answers *out)
{
    struct replay_answer *to = &out->expected;
    uint64_t counted = to->counts.of[REPLAY_PASSED];
    bool whole = to->counts.selected > 0 && counted == to->counts.selected;
    struct outcome o;
    if (p->restored_unread) /* which epochs it passed over is then not known */
        outcome_set(p, &o, REPLAY_UNAVAILABLE, BECAUSE(CODE_START_UNKNOWN),
                    "the bundle's RESTORED cannot be read, or is of another job: which epochs came again is not known");
    else
        o = expectation_decide(x, p, whole);
    struct buf passed = BUF_INIT;
    for (size_t i = 0, n = 0; i < p->n_epochs; i++)
        if (passed_over(p, &p->epochs[i]))
            say(&passed, n++,
                "epoch %" PRIu64 " of subtask %" PRIu64
                " is left out: a restore passed over it, and its events came again",
                p->epochs[i].epoch, p->epochs[i].subtask);
    if (o.is == REPLAY_FAILED) {
        to->status = STATUS_FAILED;
    } else if (to->status == STATUS_PASSED && o.is != REPLAY_PASSED) {
        to->status = STATUS_UNAVAILABLE;
    }
    if (o.is == REPLAY_FAILED || (to->status == STATUS_UNAVAILABLE && to->reason.len == 0)) {
        buf_reset(&to->reason);
        buf_adds(&to->reason, o.why ? o.why : "");
        to->cause = o.cause;
    }
    if (passed.len > 0)
        buf_printf(&to->reason, "%s%s", to->reason.len ? "; " : "", buf_str(&passed));
    buf_free(&passed);
}

/* ---- the run ---- */

static struct outcome interrupted(struct replay *p)
{
    struct outcome o;
    outcome_set(p, &o, REPLAY_UNAVAILABLE, BECAUSE(CODE_INTERRUPTED), "interrupted before this epoch");
    return o;
}

static int one_epoch(struct replay *p, size_t i, struct tally t[3], struct expectation *x, struct err *err)
{
    struct replayed r;
    struct replay_epoch *e = &p->epochs[i];
    replay_drive(p, e, &r);
    struct outcome given = r.is;
    count(&t[0], i, &r.is);
    /* What was not replayed whole, or not twice alike, gave no rows to hold against others. */
    if (given.is == REPLAY_FAILED)
        outcome_set(p, &given, REPLAY_UNAVAILABLE,
                    BECAUSE(CODE_CHECK_NOT_PASSED, {"check", check_name_text(CHECK_REPLAY_DETERMINISM)}), "%s",
                    r.is.why);
    struct outcome recorded = given.is == REPLAY_PASSED ? replay_recorded(p, e, &r) : given;
    count(&t[1], i, &recorded);
    int rc = 0;
    if (x && given.is == REPLAY_PASSED && !passed_over(p, e))
        rc = expectation_add(x, r.out[0], err);
    count(&t[2], i, &given);
    replayed_free(&r);
    return rc;
}

static int run(struct replay *p, struct tally t[3], struct expectation *x, struct err *err)
{
    size_t within = p->n_epochs < p->r->max ? p->n_epochs : (size_t)p->r->max;
    int rc = 0;
    for (int k = 0; k < 3; k++) {
        t[k].all = arena_zalloc(&p->a, (p->n_epochs + 1) * sizeof *t[k].all);
        t[k].to->counts.selected = p->n_epochs;
        t[k].to->counts.omitted = p->n_epochs - within;
    }
    for (size_t i = 0; i < within && rc == 0; i++) {
        if (replay_stopped(p)) {
            struct outcome o = interrupted(p);
            for (int k = 0; k < 3; k++)
                count(&t[k], i, &o);
        } else {
            rc = one_epoch(p, i, t, x, err);
        }
    }
    return rc;
}

int replay_bundle(const struct bundle *b, const struct replay_request *r, const volatile int *stop,
                  struct replay_answers *out, struct err *err)
{
    struct replay p = {.b = b, .r = r, .stop = stop, .a = ARENA_INIT};
    struct expectation *x = NULL;
    *out = (struct replay_answers){.arena = ARENA_INIT};
    struct tally t[3] = {{&out->determinism, NULL}, {&out->recorded, NULL}, {&out->expected, NULL}};
    replay_restores(&p);
    replay_select(&p);
    int rc = 0;
    if (r->expected && !one_operator(&p))
        rc = err_fail(err, ERR_REFUSED, BECAUSE(CODE_USAGE, {"option", "--op"}),
                      "--expected is of one operator's rows, and epochs of several are selected: name one with --op");
    if (rc == 0 && r->expected)
        rc = expectation_open(&x, &p, err);
    if (rc == 0)
        rc = run(&p, t, x, err);
    for (int k = 0; k < 3 && rc == 0; k++)
        conclude(&p, &out->arena, &t[k]);
    if (rc == 0 && x)
        expect(&p, x, out);
    expectation_close(x);
    replay_operators_free(&p);
    arena_free(&p.a);
    return rc;
}

void replay_answer_free(struct replay_answer *a)
{
    buf_free(&a->reason);
}

void replay_answers_free(struct replay_answers *a)
{
    replay_answer_free(&a->determinism);
    replay_answer_free(&a->recorded);
    replay_answer_free(&a->expected);
    arena_free(&a->arena);
}

/* ---- the lines ---- */

void replay_put_answer(struct stream_out *out, enum check_name name, const struct replay_answer *a)
{
    const struct replay_counts *c = &a->counts;
    struct buf counts = BUF_INIT, reason = BUF_INIT;
    buf_printf(&counts,
               "{\"selected\":%" PRIu64 ",\"checked\":%" PRIu64 ",\"passed\":%" PRIu64 ",\"failed\":%" PRIu64
               ",\"unavailable\":%" PRIu64 ",\"unsupported\":%" PRIu64 ",\"omitted\":%" PRIu64 "}",
               c->selected, c->selected - c->omitted, c->of[REPLAY_PASSED], c->of[REPLAY_FAILED],
               c->of[REPLAY_UNAVAILABLE], c->of[REPLAY_UNSUPPORTED], c->omitted);
    buf_add(&reason, a->reason.p, a->reason.len);
    stream_put_check(out, name, a->status, &a->cause, buf_str(&reason), a->evidence, buf_str(&counts));
    buf_free(&counts);
    buf_free(&reason);
}

void replay_put(struct stream_out *out, const struct replay_answers *a, bool expected)
{
    replay_put_answer(out, CHECK_REPLAY_DETERMINISM, &a->determinism);
    replay_put_answer(out, CHECK_REPLAY_RECORDED_OUTPUT, &a->recorded);
    if (expected)
        replay_put_answer(out, CHECK_REPLAY_EXPECTED_OUTPUT, &a->expected);
}
