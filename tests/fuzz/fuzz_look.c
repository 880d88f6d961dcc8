/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the audit reads of system tables, look by look: the settings, twice the server, the definition, the columns and
 * the mutations, and the replica where the table is replicated, twice the parts; each answer has its length before it
 * in one byte. What is taken of them is judged, observed and described, and the observation is read back as what was
 * looked at.
 */
#include "chread/session.h"
#include "json/json.h"
#include "json/redact.h"
#include "stream/observation.h"
#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 40 /* rows of an answer */

static void insist(bool ok)
{
    if (!ok)
        abort();
}

struct input {
    const uint8_t *p;
    size_t n;
};

/* The next answer's rows; -1 where it has none such. */
static int next(struct input *in, size_t columns, uint64_t most, struct texts *t)
{
    struct chread_why why;
    struct buf b = BUF_INIT;
    size_t n = in->n > 0 ? in->p[0] : 0;
    *t = (struct texts)TEXTS_INIT;
    if (in->n > 0)
        in->p++, in->n--;
    n = n < in->n ? n : in->n;
    buf_add(&b, in->p, n);
    in->p += n;
    in->n -= n;
    struct texts counted = TEXTS_INIT;
    insist(session_take(&b, UINT64_MAX, columns, most, &counted, "it", &why) == -1 && counted.n <= most);
    int rc = session_take(&b, counted.n, columns, most, t, "it", &why);
    texts_free(&counted);
    buf_free(&b);
    return rc;
}

static const struct chread_expect expect = {.database = "d`b", .table = "t\xff"};

/* The tables under a Merge, as they are asked for. */
static int look_under(struct input *in, struct chread_table *t, struct chread_why *why)
{
    struct arena a = ARENA_INIT;
    struct engine e;
    int rc = 0;
    engine_parse(t->engine, t->engine_full, &a, &e);
    for (enum under_what i = UNDER_TABLES; e.kind == ENGINE_MERGE && i <= UNDER_MUTATIONS && rc == 0; i++) {
        struct buf sql = BUF_INIT;
        struct texts x;
        rc = next(in, under_ask(&sql, i, &e, &expect), MOST, &x);
        if (rc == 0 && i == UNDER_MUTATIONS) { /* in place of the Merge's own */
            free(t->mutations);
            t->mutations = NULL;
        }
        if (rc == 0)
            rc = under_take(i, &x, t, why);
        texts_free(&x);
        buf_free(&sql);
    }
    arena_free(&a);
    return rc;
}

static int look(struct input *in, struct chread_table *t, struct chread_why *why)
{
    struct texts server, definition, columns, mutations;
    int rc = next(in, 5, 1, &server);
    rc |= next(in, 6, 1, &definition);
    rc |= next(in, 3, MOST, &columns);
    bool merge = rc == 0 && definition.n == 1 && strcmp(definition.rows[0][1], "Merge") == 0;
    if (!merge)
        rc |= next(in, 4, MOST, &mutations);
    else
        mutations = (struct texts)TEXTS_INIT;
    *t = (struct chread_table)CHREAD_TABLE_INIT;
    if (rc == 0 && table_take_server(&server, t, why) == 0 &&
        table_take_definition(&definition, &expect, t, why) == 0 && table_take_mutations(&mutations, t, why) == 0) {
        rc = table_take_columns(&columns, t, why);
        t->dedup_window = table_window(t->engine_full, chread_replicated(t));
        if (rc == 0 && chread_replicated(t)) {
            struct texts replica;
            rc = next(in, replica_asked(), 1, &replica) != 0 || replica_take(&replica, t, why) != 0 ? -1 : 0;
            texts_free(&replica);
        }
    } else {
        rc = -1;
    }
    if (rc == 0 && merge)
        rc = look_under(in, t, why);
    if (rc == 0 && !t->dedup_window)
        t->dedup_window = xstrdup("");
    struct texts *const all[] = {&server, &definition, &columns, &mutations};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        texts_free(all[i]);
    return rc;
}

static void check_why(const struct chread_why *why)
{
    insist(why->reason[0] != '\0' && utf8_valid(why->reason, strlen(why->reason)) && why->cause.code != CODE_NONE);
}

/* A TTL that is read is of nothing but a name, a unit and a number, and reads the same where they stand alone. */
static void judge_ttl(const struct chread_table *t)
{
    struct arena a = ARENA_INIT;
    struct buf text = BUF_INIT;
    struct ttl ttl, again;
    chread_ttl(t, &a, &ttl);
    if (ttl.kind == TTL_DELETES) {
        insist(*ttl.column != '\0');
        buf_adds(&text, "MergeTree ORDER BY a TTL ");
        http_quote_ident(&text, ttl.column, strlen(ttl.column));
        if (ttl.interval)
            buf_printf(&text, " + %s", ttl.interval);
        definition_ttl(buf_str(&text), &a, &again);
        insist(again.kind == TTL_DELETES && strcmp(again.column, ttl.column) == 0 && !again.interval == !ttl.interval);
        insist(!ttl.interval ||
               (strcmp(again.interval, ttl.interval) == 0 &&
                ttl.interval[strspn(ttl.interval, "toIntervalSecondMinuteHourDayWeekMonthQuarterYear(-0123456789)")] ==
                    '\0'));
    }
    buf_free(&text);
    arena_free(&a);
}

static void judge(const struct chread_table *t)
{
    static char id[] = "a", s[] = "s";
    struct column at[] = {{.name = id, .name_len = 1}, {.name = s, .name_len = 1}};
    struct columns cols = {.at = at, .n = 2};
    struct chread_why why;
    judge_ttl(t);
    insist(type_parse("UInt8", 5, &at[0].type, NULL) == 0 && type_parse("String", 6, &at[1].type, NULL) == 0);
    at[0].key = true;
    struct arena a = ARENA_INIT;
    struct engine e;
    engine_parse(t->engine, t->engine_full, &a, &e);
    struct chread_expect expects[] = {{.database = "d", .table = "t"},
                                      {.database = "d", .table = "t", .every_row = true},
                                      {.database = "d", .table = "t", .every_row = true, .final = &e}};
    for (size_t i = 0; i < sizeof expects / sizeof *expects; i++)
        if (chread_form(t, &expects[i], &cols, &why) != 0)
            check_why(&why);
        else
            insist((i > 0 && engine_shows_rows(&e) && (e.kind != ENGINE_MERGE || t->n_under > 0)) ||
                   strcmp(t->engine, "MergeTree") == 0);
    engine_within_key(t->partition_key, &cols);
    arena_free(&a);
    type_free(&at[0].type);
    type_free(&at[1].type);
}

static void parts(struct input *in, struct chread_parts *p)
{
    struct texts x;
    struct chread_why why;
    *p = (struct chread_parts)CHREAD_PARTS_INIT;
    if (next(in, 3, MOST, &x) == 0 && parts_take(&x, p, &why) != 0)
        check_why(&why);
    texts_free(&x);
}

/* ---- the observation ---- */

static bool same_text(const char *seen, const char *was)
{
    return !utf8_valid(was, strlen(was)) || strcmp(seen, was) == 0;
}

/* What looks like a credential is masked. */
static bool same_redacted(const char *seen, const char *was)
{
    struct buf b = BUF_INIT;
    redact_text(&b, was, strlen(was));
    bool same = same_text(seen, buf_str(&b));
    buf_free(&b);
    return same;
}

static void read_back(const struct stream_line *line, const struct chread *c, const struct chread_table *t)
{
    struct arena a = ARENA_INIT;
    struct observation o;
    insist(stream_observation(line, &a, &o, NULL) == 0);
    insist(o.n_columns == t->n_columns && o.n_mutations == t->n_mutations && o.n_settings == c->n_settings + 2);
    insist(same_text(o.server_uuid, t->server_uuid) && same_text(o.engine, t->engine));
    insist(o.n_tables == t->n_under);
    for (size_t i = 0; i < t->n_under; i++)
        insist(same_text(o.tables[i].table, t->under[i].name) &&
               same_text(o.tables[i].table_uuid, t->under[i].look.table_uuid));
    for (size_t i = 0; i < t->n_columns; i++)
        insist(same_text(o.columns[i].name, t->columns[i].name) && same_text(o.columns[i].type, t->columns[i].type));
    for (size_t i = 0; i < t->n_mutations; i++)
        insist(same_redacted(o.mutations[i].command, t->mutations[i].command) &&
               o.mutations[i].done == t->mutations[i].done);
    insist(o.has_replica == (chread_replicated(t) && t->replica.shown));
    insist(!o.has_replica ||
           (same_text(o.replica.name, t->replica.name) && same_text(o.replica.path, t->replica.path) &&
            o.replica.before.log_pointer == t->replica.state.log_pointer));
    arena_free(&a);
}

static void observe(const struct chread *c, const struct chread_table *first, const struct chread_table *last,
                    const struct chread_reads *reads)
{
    static int fd = -1;
    struct chread_unstable u = CHREAD_UNSTABLE_INIT;
    struct stream_out out;
    struct stream_in in;
    struct stream_line line;
    if (fd < 0)
        fd = scratch_open(NULL, NULL);
    insist(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    chread_find_unstable(c, first, last, &u);
    stream_begin(&out, fd, NULL);
    chread_observe(&out, c, &expect, first, last, reads, &u, u.n == 0);
    insist(stream_flush(&out) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    stream_in_init(&in, fd, "look", 1 << 20);
    insist(stream_next(&in, &line, NULL) == 1 && line.type == LINE_OBSERVATION);
    struct chread_table seen = *first;
    seen.mutations = last->mutations;
    seen.n_mutations = last->n_mutations;
    read_back(&line, c, &seen);
    stream_in_free(&in);
    stream_out_free(&out);
    chread_unstable_free(&u);
}

static void describe(const struct chread *c, const struct chread_table *t)
{
    struct buf b = BUF_INIT;
    buf_adds(&b, "{\"type\":\"table\"");
    chread_describe(&b, c, &expect, t, NULL);
    buf_addc(&b, '}');
    insist(json_valid(b.p, b.len, NULL) && !memchr(b.p, '\n', b.len));
    buf_free(&b);
}

static void two_looks(struct chread *c, struct input in)
{
    struct chread_table first, last;
    struct chread_parts before, after;
    struct chread_why why = {.cause = {.code = CODE_NONE}};
    struct buf differs = BUF_INIT;
    struct chread_reads reads = {.n = 2, .table_whole = true};
    bool looked = look(&in, &first, &why) == 0;
    looked = look(&in, &last, &why) == 0 && looked;
    parts(&in, &before);
    parts(&in, &after);
    insist(chread_parts_same(&before, &before, &differs));
    reads.parts_same = chread_parts_same(&before, &after, &differs);
    insist(!reads.parts_same || (before.n == after.n && before.rows == after.rows));
    if (looked) {
        buf_reset(&differs);
        insist(chread_same(&first, &first, &differs) && differs.len == 0);
        judge(&first);
        describe(c, &first);
        observe(c, &first, &last, &reads);
    }
    buf_free(&differs);
    chread_parts_free(&before);
    chread_parts_free(&after);
    chread_table_free(&first);
    chread_table_free(&last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct http *http;
    struct http_options url = HTTP_OPTIONS_INIT;
    url.url = "http://127.0.0.1:1";
    struct chread_options o = {.http = url, .keys_per_query = 100};
    if (!http)
        http = http_open(&url, NULL);
    struct chread c = {.http = http, .o = &o};
    struct input in = {data, size};
    struct texts settings;
    if (next(&in, 2, MOST, &settings) == 0) {
        session_take_settings(&c, &settings);
        insist(c.limits.elements <= 50000);
    }
    texts_free(&settings);
    two_looks(&c, in);
    c.http = NULL;
    chread_close(&c);
    return 0;
}
