/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger of a sink's INSERTs: its entries written and read, and the token of one. */
#include "evidence/ledger.h"
#include "evidence/fields.h"

#include <stdlib.h>
#include <string.h>

static const char *const resend_names[] = {"none", "deduplicated", "may_duplicate"};

const char *resend_name(enum resend r)
{
    return resend_names[r];
}

bool ledger_may_lack(const struct ledger_entry *e)
{
    return e->in_doubt && e->attempts > 1 && (!e->recorded || (e->restarted && e->tokens < 2));
}

void ledger_add(struct ledger *l, const struct ledger_entry *e)
{
    if (l->n == l->cap) {
        l->cap = l->cap * 2 + 16;
        l->at = xrealloc(l->at, l->cap * sizeof *l->at);
    }
    l->at[l->n++] = *e;
}

void ledger_free(struct ledger *l)
{
    free(l->at);
    *l = LEDGER_INIT;
}

void ledger_token(const struct ledger_batch *b, struct buf *out)
{
    char content[SHA256_HEX + 1], all[SHA256_HEX + 1];
    struct buf text = BUF_INIT;
    sha256_of(b->body->p, b->body->len, content);
    /* Lines, since none of the parts but the range can hold a line break, and the range stands last. */
    buf_printf(&text, "%s\n%s\n%" PRIu64 "\n%s\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "\n%" PRIu64 "\n%s\n", b->job,
               b->operator_id, b->subtask, b->attempt, b->after, b->sequence, b->first, b->rows, content);
    range_put(b->range, &text);
    sha256_of(text.p, text.len, all);
    buf_reset(out);
    buf_printf(out, "owed-%s-%" PRIu64 "-%" PRIu64 "-%" PRIu64 "-%.40s", b->job, b->subtask, b->after, b->sequence,
               all);
    buf_free(&text);
}

void ledger_put(struct json_w *w, const struct ledger_entry *l, size_t n)
{
    jw_arr(w, "ledger");
    for (size_t i = 0; i < n; i++) {
        jw_obj(w, NULL);
        jw_str(w, "token", l[i].token);
        jw_u64(w, "first", l[i].first);
        jw_u64(w, "rows", l[i].rows);
        jw_u64(w, "blocks", l[i].blocks);
        jw_u64(w, "attempts", l[i].attempts);
        jw_bool(w, "in_doubt", l[i].in_doubt);
        jw_str(w, "resend", resend_name(l[i].resend));
        if (l[i].recorded) {
            jw_u64(w, "tokens", l[i].tokens);
            jw_u64(w, "cut", l[i].cut);
            jw_u64(w, "errors", l[i].errors);
            jw_bool(w, "restarted", l[i].restarted);
        }
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static int resend_parse(const struct json *v, const char *where, struct arena *a, enum resend *out, struct err *err)
{
    const char *name;
    if (json_need_str(v, "resend", a, &name, where, err) != 0)
        return -1;
    for (unsigned i = 0; i < sizeof resend_names / sizeof *resend_names; i++) {
        if (strcmp(resend_names[i], name) == 0) {
            *out = (enum resend)i;
            return 0;
        }
    }
    return err_set(err, ERR_REFUSED, "%s.resend: '%.40s' is not known here", where, name);
}

/* What evidence has of each resend, all of it or nothing. */
static int resends_parse(const struct json *v, const char *where, struct ledger_entry *out, struct err *err)
{
    out->recorded = json_get(v, "tokens") || json_get(v, "cut") || json_get(v, "errors") || json_get(v, "restarted");
    if (!out->recorded)
        return 0;
    if (json_need_u64(v, "tokens", &out->tokens, where, err) != 0 ||
        json_need_u64(v, "cut", &out->cut, where, err) != 0 ||
        json_need_u64(v, "errors", &out->errors, where, err) != 0 ||
        json_need_bool(v, "restarted", &out->restarted, where, err) != 0)
        return -1;
    return 0;
}

static int entry_parse(const struct json *v, const char *where, struct arena *a, struct ledger_entry *out,
                       struct err *err)
{
    *out = (struct ledger_entry){0};
    if (json_need_str(v, "token", a, &out->token, where, err) != 0 ||
        json_need_u64(v, "first", &out->first, where, err) != 0 ||
        json_need_u64(v, "rows", &out->rows, where, err) != 0 ||
        json_need_u64(v, "blocks", &out->blocks, where, err) != 0 ||
        json_need_u64(v, "attempts", &out->attempts, where, err) != 0 ||
        json_need_bool(v, "in_doubt", &out->in_doubt, where, err) != 0 ||
        resend_parse(v, where, a, &out->resend, err) != 0 || resends_parse(v, where, out, err) != 0)
        return -1;
    if (out->first + out->rows < out->first)
        return err_set(err, ERR_REFUSED, "%s: its range of rows overflows", where);
    return 0;
}

int ledger_parse(const struct json *doc, const char *where, struct arena *a, struct ledger_entry **out, size_t *n,
                 struct err *err)
{
    struct json *l;
    if (json_need(doc, "ledger", JSON_ARRAY, &l, where, err) != 0)
        return -1;
    *out = arena_alloc(a, (l->len + 1) * sizeof **out);
    const struct json *item = json_first(l);
    for (size_t i = 0; i < l->len; i++, item = json_next(l, item)) {
        char place[300];
        snprintf(place, sizeof place, "%.200s.ledger[%zu]", where, i);
        if (entry_parse(item, place, a, &(*out)[i], err) != 0)
            return -1;
    }
    *n = l->len;
    return 0;
}
