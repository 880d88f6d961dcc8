/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multiset against a model that compares every row with every other: random rows
 * of all sides, each set also with little memory, with an 8-bit hash and without
 * threads of its own, whose lines must be the same to the byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cells/cells.h"
#include "multiset/multiset.h"
#include "base/hash.h"
#include "multiset/internal.h"
#include "rounds.h"

/* ---- random rows ---- */

static uint64_t seed;

static unsigned roll(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % n;
}

struct row {
    unsigned side;
    struct again again;
    char *cells;
    char key[200];
    char at[64]; /* or empty */
    unsigned partition;
    uint64_t offset, n;
    unsigned fate;
};

#define COLUMNS 3
#define MAX_ROWS 400

struct set {
    struct row row[MAX_ROWS];
    size_t n;
    bool key[COLUMNS];
    char excluded[8][200];
    size_t excluded_n;
    struct multiset_asked asked;
};

static const char *const cells[] = {"\"1\"",
                                    "\"2\"",
                                    "\"12\"",
                                    "\"a\"",
                                    "null",
                                    "\"\"",
                                    "\"x\\\"],\\\\\"",
                                    "{\"b64\":\"/w==\"}",
                                    "{\"unfit\":\"1.5\"}",
                                    "\"\\u0000\""};

static void make_row(struct set *s, struct row *r, unsigned keys, unsigned values)
{
    const char *cell[COLUMNS];
    r->key[0] = '\0';
    for (size_t c = 0; c < COLUMNS; c++) {
        cell[c] = cells[roll(s->key[c] ? keys : values)];
        if (s->key[c]) {
            strcat(r->key, r->key[0] ? "," : "");
            strcat(r->key, cell[c]);
        }
    }
    char text[200];
    snprintf(text, sizeof text, "[%s,%s,%s]", cell[0], cell[1], cell[2]);
    r->cells = strdup(text);
}

static void make_set(struct set *s, uint64_t from)
{
    seed = from * 0x9e3779b97f4a7c15u + 1;
    memset(s, 0, sizeof *s);
    unsigned mask = 1 + roll(7), keys = 1 + roll(10), values = 1 + roll(4);
    for (size_t c = 0; c < COLUMNS; c++)
        s->key[c] = mask >> c & 1;
    s->asked.reference = roll(2);
    s->asked.repeats = roll(2);
    s->asked.reference_keys = roll(2);
    size_t n = 1 + roll(roll(4) ? 60 : MAX_ROWS / 4 - 1);
    uint64_t offset[3] = {0};
    for (size_t i = 0; i < n; i++) {
        struct row *r = &s->row[s->n++];
        make_row(s, r, keys, values);
        r->side = roll(s->asked.reference ? 2 : 1);
        if (r->side == SIDE_CAPTURED && !roll(3))
            r->again = (struct again){roll(3), roll(3), roll(2)};
        if (roll(8) == 0)
            continue;
        r->partition = roll(3);
        r->offset = offset[r->partition];
        offset[r->partition] += 1 + roll(3);
        r->n = roll(6) ? 0 : 1 + roll(2);
        snprintf(r->at, sizeof r->at, r->n ? "t.%u/%u/%" PRIu64 "#%" PRIu64 : "t.%u/%u/%" PRIu64, r->partition % 2,
                 r->partition, r->offset, r->n);
    }
    /* The destination: most of what is owed, some twice, some changed, some else; the reads mostly agree. */
    unsigned lose = 1 + roll(6), differ = roll(3) ? 0 : 20;
    for (size_t i = 0; i < n; i++) {
        unsigned copies = roll(lose) == 0 ? roll(3) : 1;
        for (unsigned k = 0; k < copies && s->n + 2 < MAX_ROWS; k++) {
            struct row found = s->row[i], *one = &s->row[s->n], *two = one + 1;
            if (roll(5) == 0)
                make_row(s, &found, keys, values);
            else
                found.cells = strdup(found.cells);
            found.at[0] = '\0';
            found.again = (struct again){0};
            *one = *two = found;
            one->side = SIDE_READ1;
            two->side = SIDE_READ2;
            two->cells = strdup(found.cells);
            s->n += 2;
            if (differ && roll(differ) == 0)
                free(s->row[--s->n].cells);
        }
    }
    for (size_t r = 0; r < RELATION_TYPES; r++)
        s->asked.relation[r] = (r == RELATION_DELIVERY || r == RELATION_COVERAGE || s->asked.reference) && roll(4);
    if (roll(3) == 0)
        for (s->excluded_n = 0; s->excluded_n < 1 + roll(3); s->excluded_n++)
            strcpy(s->excluded[s->excluded_n], s->row[roll((unsigned)s->n)].key);
}

static void free_set(struct set *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->row[i].cells);
}

/* ---- the model ---- */

static uint64_t copies(const struct set *s, unsigned side, const char *row)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->row[i].side == side && strcmp(s->row[i].cells, row) == 0;
    return n;
}

static uint64_t key_copies(const struct set *s, unsigned side, const char *key)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->row[i].side == side && strcmp(s->row[i].key, key) == 0;
    return n;
}

static bool first_of_its_kind(const struct set *s, size_t i, bool by_key)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(by_key ? s->row[j].key : s->row[j].cells, by_key ? s->row[i].key : s->row[i].cells) == 0)
            return false;
    return true;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The distinct rows of a key, in byte order. */
static size_t rows_of(struct set *s, const char *key, char **out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->row[i].key, key) == 0 && first_of_its_kind(s, i, false))
            out[n++] = s->row[i].cells;
    qsort(out, n, sizeof(*out), by_text);
    return n;
}

struct model {
    struct set *s;
    enum relation r;
    unsigned owed, found;
    char *line[4 * MAX_ROWS]; /* findings: each begins with what orders it */
    size_t lines;
    uint64_t resent, replayed, unexplained, kept;
    uint64_t keys, kind_rows[KIND_TYPES], kind_keys[KIND_TYPES], ambiguous, excluded, owed_rows, found_rows;
};

/* The last `n` of the copies before the last `skip` ones have this fate; the place of the first. Copies without a place
 * count as the last. */
static const char *mark(struct model *m, const char *row, uint64_t skip, uint64_t n, unsigned fate)
{
    const char *at = "";
    for (size_t i = 0; i < m->s->n; i++) {
        const struct row *r = &m->s->row[i];
        if (r->side == m->owed && !r->at[0] && strcmp(r->cells, row) == 0)
            *(skip ? &skip : n ? &n : &(uint64_t){1}) -= 1;
    }
    for (size_t i = m->s->n; i-- > 0;) {
        struct row *r = &m->s->row[i];
        if (r->side != m->owed || !r->at[0] || strcmp(r->cells, row) != 0)
            continue;
        if (skip > 0) {
            skip--;
        } else if (n > 0) {
            n--;
            r->fate = fate;
            at = r->at;
        }
    }
    return at;
}

static void found(struct model *m, enum finding_kind kind, unsigned read, const char *key, const char *owed,
                  const char *got, uint64_t n, const char *at, const char *explained)
{
    char *line;
    uint64_t oc = owed ? copies(m->s, m->owed, owed) : 0, fc = copies(m->s, m->found, got ? got : owed);
    assert_true(asprintf(&line, "%d\x01%s\x01%s\x01%s\x01%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %s", (int)kind, key,
                         owed ? owed : "", got ? got : "", read, oc, fc, n, at, explained) > 0);
    m->line[m->lines++] = line;
    m->kind_rows[kind] += n;
}

/* What explains n surplus copies of a row, or (n 0) that it is missing; the text lives until the next call. */
static const char *why(struct model *m, const char *row, uint64_t n)
{
    static char text[80];
    uint64_t resent = 0, replayed = 0;
    bool kept = false;
    for (size_t i = 0; i < m->s->n && m->r != RELATION_TRANSFORMATION; i++) {
        if (strcmp(m->s->row[i].cells, row) != 0)
            continue;
        resent += m->s->row[i].again.resent;
        replayed += m->s->row[i].again.replayed;
        kept |= m->s->row[i].again.kept;
    }
    resent = resent < n ? resent : n;
    replayed = replayed < n - resent ? replayed : n - resent;
    m->resent += resent;
    m->replayed += replayed;
    m->unexplained += n - resent - replayed;
    snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64 " %d", resent, replayed, n == 0 && kept);
    return text;
}

static void model_key(struct model *m, const char *key, unsigned read)
{
    char *row[MAX_ROWS];
    size_t n = rows_of(m->s, key, row);
    uint64_t owed[MAX_ROWS], got[MAX_ROWS], changed[MAX_ROWS] = {0}, before[KIND_TYPES];
    memcpy(before, m->kind_rows, sizeof before);
    for (size_t i = 0; i < n; i++) {
        owed[i] = copies(m->s, m->owed, row[i]);
        got[i] = copies(m->s, m->found, row[i]);
        if (read < 2) {
            m->owed_rows += owed[i];
            m->found_rows += got[i];
        }
        if (owed[i] && got[i] > owed[i]) {
            uint64_t more = got[i] - owed[i], touched = more < owed[i] ? more : owed[i];
            const char *at = read < 2 ? mark(m, row[i], 0, touched, FATE_DUPLICATED) : "";
            found(m, KIND_DUPLICATED, read, key, row[i], NULL, more, at, why(m, row[i], more));
        }
        uint64_t same = owed[i] < got[i] ? owed[i] : got[i];
        got[i] = owed[i] ? 0 : got[i];
        owed[i] -= same;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t left = owed[i];
        for (size_t j = 0; j < n; j++) {
            uint64_t pair = left < got[j] ? left : got[j];
            if (pair == 0)
                continue;
            changed[i] += pair;
            left -= pair;
            got[j] -= pair;
        }
        owed[i] = left;
    }
    /* Again, to name them: the places need to know how many are missing in all. */
    for (size_t j = 0; j < n; j++)
        got[j] = copies(m->s, m->owed, row[j]) ? 0 : copies(m->s, m->found, row[j]);
    for (size_t i = 0; i < n; i++) {
        const char *gone = read < 2 && owed[i] ? mark(m, row[i], 0, owed[i], FATE_MISSING) : "";
        const char *at = read < 2 && changed[i] ? mark(m, row[i], owed[i], changed[i], FATE_CHANGED) : "";
        for (size_t j = 0; j < n && changed[i]; j++) {
            uint64_t pair = changed[i] < got[j] ? changed[i] : got[j];
            if (pair == 0)
                continue;
            found(m, KIND_CHANGED, read, key, row[i], row[j], pair, at, "0 0 0");
            changed[i] -= pair;
            got[j] -= pair;
        }
        if (owed[i]) {
            const char *kept = why(m, row[i], 0);
            m->kept += kept[strlen(kept) - 1] == '1' ? owed[i] : 0;
            found(m, KIND_MISSING, read, key, row[i], NULL, owed[i], gone, kept);
        }
    }
    for (size_t j = 0; j < n; j++)
        if (got[j])
            found(m, KIND_UNEXPECTED, read, key, NULL, row[j], got[j], "", "0 0 0");
    for (size_t k = 0; k < KIND_TYPES; k++)
        m->kind_keys[k] += m->kind_rows[k] > before[k];
}

static bool reads_differ(struct set *s, const char *key)
{
    char *row[MAX_ROWS];
    size_t n = rows_of(s, key, row);
    for (size_t i = 0; i < n; i++)
        if (copies(s, SIDE_READ1, row[i]) != copies(s, SIDE_READ2, row[i]))
            return true;
    return false;
}

static bool key_in_scope(const struct model *m, const char *key)
{
    uint64_t n = key_copies(m->s, SIDE_CAPTURED, key);
    if (m->r == RELATION_REFERENCE_DESTINATION && m->s->asked.reference_keys)
        n = 0;
    if (m->r == RELATION_TRANSFORMATION || m->r == RELATION_REFERENCE_DESTINATION)
        n += key_copies(m->s, SIDE_REFERENCE, key);
    if (m->r == RELATION_COVERAGE)
        n = key_copies(m->s, m->owed, key) + key_copies(m->s, SIDE_READ1, key) + key_copies(m->s, SIDE_READ2, key);
    return n > 0;
}

static bool key_ambiguous(const struct model *m, const char *key)
{
    char *row[MAX_ROWS];
    size_t n = rows_of(m->s, key, row), different = 0;
    for (size_t i = 0; i < n; i++)
        different += copies(m->s, SIDE_CAPTURED, row[i]) > 0;
    return m->owed == SIDE_CAPTURED && (m->s->asked.repeats ? different : key_copies(m->s, SIDE_CAPTURED, key)) > 1;
}

static void model_relation(struct model *m, struct set *s, enum relation r)
{
    memset(m, 0, sizeof *m);
    m->s = s;
    m->r = r;
    m->owed = r == RELATION_DELIVERY || (r == RELATION_COVERAGE && !s->asked.reference) ? SIDE_CAPTURED
                                                                                        : SIDE_REFERENCE;
    for (size_t i = 0; i < s->n; i++)
        s->row[i].fate = FATE_FINE;
    for (size_t i = 0; i < s->n; i++) {
        const char *key = s->row[i].key;
        if (!first_of_its_kind(s, i, true) || !key_in_scope(m, key))
            continue;
        bool out = false;
        for (size_t k = 0; k < s->excluded_n && m->owed == SIDE_REFERENCE; k++)
            out = out || strcmp(s->excluded[k], key) == 0;
        if (out) {
            m->excluded++;
        } else if (key_ambiguous(m, key)) {
            m->ambiguous++;
        } else {
            m->keys++;
            m->found = r == RELATION_TRANSFORMATION ? SIDE_CAPTURED : SIDE_READ1;
            model_key(m, key, r == RELATION_TRANSFORMATION ? 0 : 1);
            if (r != RELATION_TRANSFORMATION && reads_differ(s, key)) {
                m->found = SIDE_READ2;
                model_key(m, key, 2);
            }
        }
    }
    qsort(m->line, m->lines, sizeof(*m->line), by_text);
}

/* ---- holding the two against each other ---- */

static const char *text_of(struct multiset_text t, char *to)
{
    memcpy(to, t.p ? t.p : "", t.n);
    to[t.n] = '\0';
    return to;
}

/* Some records have no time, and those of a partition are in no order. */
static struct stream_ts ts_of(uint64_t partition, uint64_t offset)
{
    if ((offset * 7 + partition) % 5 == 0)
        return (struct stream_ts){.has = false};
    return (struct stream_ts){true, offset % 11 == 3 ? 0 : 1796000000000 + offset * 37 % 1000};
}

static void same_ts(struct stream_ts got, struct stream_ts want)
{
    assert_int_equal(got.has, want.has);
    assert_true(!got.has || got.ms == want.ms);
}

static void hold_findings(const struct model *m, const struct multiset_relation *of)
{
    char line[1000], a[300], b[300], c[300];
    assert_int_equal(of->sum.listed, m->lines);
    for (size_t i = 0; i < of->sum.listed; i++) {
        const struct multiset_finding *f = &of->findings[i];
        snprintf(line, sizeof line, "%d\x01%s\x01%s\x01%s\x01%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %s %u %u %d",
                 (int)f->kind, text_of(f->key, a), text_of(f->owed, b), text_of(f->found, c), f->read, f->owed_copies,
                 f->found_copies, f->rows, f->at ? f->at : "", f->explained.resent, f->explained.replayed,
                 f->explained.kept);
        assert_string_equal(line, m->line[i]);
        struct stream_place at;
        if (f->at)
            assert_true(stream_place_split(f->at, strlen(f->at), &at));
        same_ts(f->ts, f->at ? ts_of(at.partition, at.offset) : (struct stream_ts){.has = false});
    }
}

static void hold_runs(const struct model *m, const struct multiset_relation *of)
{
    static const unsigned kind[] = {
        [FATE_MISSING] = KIND_MISSING, [FATE_CHANGED] = KIND_CHANGED, [FATE_DUPLICATED] = KIND_DUPLICATED};
    size_t next = 0;
    static const unsigned order[] = {0, 2, 1}; /* t.0/0, t.0/2, t.1/1 */
    for (size_t k = 0; k < 3; k++) {
        struct summary_run run = {.rows = 0};
        unsigned fate = FATE_FINE;
        for (size_t i = 0; i <= m->s->n; i++) {
            const struct row *r = &m->s->row[i];
            bool end = i == m->s->n;
            if (!end && (r->side != m->owed || !r->at[0] || r->partition != order[k]))
                continue;
            if (fate != FATE_FINE && (end || r->fate != fate)) {
                assert_true(next < of->sum.runs_listed);
                const struct summary_run *got = &of->sum.runs[next++];
                assert_int_equal(got->kind, kind[fate]);
                assert_int_equal(got->partition, order[k]);
                assert_int_equal(got->first, run.first);
                assert_int_equal(got->last, run.last);
                assert_int_equal(got->rows, run.rows);
                same_ts(got->oldest, run.oldest);
                same_ts(got->newest, run.newest);
            }
            if (end)
                break;
            run = r->fate == fate ? run : (struct summary_run){.first = r->offset};
            fate = r->fate;
            run.last = r->offset;
            run.rows++;
            ts_widen(&run.oldest, &run.newest, ts_of(r->partition, r->offset));
        }
    }
    assert_int_equal(next, of->sum.runs_listed);
    assert_int_equal(next, of->sum.runs_total);
}

/* Backwards from the end of each partition, as far as rows are missing. */
static void hold_tail(const struct model *m, const struct multiset_relation *of)
{
    static const unsigned order[] = {0, 2, 1};
    struct multiset_tail tail = {.whole = false};
    for (size_t k = 0; k < 3; k++) {
        uint64_t rows = 0, first = 0, last = 0;
        bool whole = true;
        for (size_t i = m->s->n; i-- > 0;) {
            const struct row *r = &m->s->row[i];
            if (r->side != m->owed || !r->at[0] || r->partition != order[k])
                continue;
            whole = whole && r->fate == FATE_MISSING;
            if (r->fate != FATE_MISSING)
                break;
            first = r->offset;
            last = rows++ ? last : r->offset;
        }
        if (rows == 0)
            continue;
        if (tail.partitions++ == 0) {
            assert_int_equal(of->tail.first.partition, order[k]);
            assert_int_equal(of->tail.first.first, first);
            assert_int_equal(of->tail.first.last, last);
            assert_int_equal(of->tail.first.rows, rows);
            assert_int_equal(of->tail.whole, whole);
        }
        tail.rows += rows;
    }
    assert_int_equal(of->tail.rows, tail.rows);
    assert_int_equal(of->tail.partitions, tail.partitions);
}

static void hold(struct set *s, const struct multiset_result *res)
{
    static struct model m;
    for (size_t r = 0; r < RELATION_TYPES; r++) {
        if (!s->asked.relation[r])
            continue;
        const struct multiset_relation *of = &res->of[r];
        model_relation(&m, s, (enum relation)r);
        hold_findings(&m, of);
        hold_runs(&m, of);
        hold_tail(&m, of);
        assert_int_equal(of->sum.keys, m.keys);
        assert_int_equal(of->sum.resent, m.resent);
        assert_int_equal(of->sum.replayed, m.replayed);
        assert_int_equal(of->sum.unexplained, m.unexplained);
        assert_int_equal(of->sum.kept, m.kept);
        assert_int_equal(of->sum.owed_rows, m.owed_rows);
        assert_int_equal(of->sum.found_rows, m.found_rows);
        assert_int_equal(of->sum.ambiguous_keys, m.ambiguous);
        assert_int_equal(of->sum.excluded_keys, m.excluded);
        assert_memory_equal(of->sum.kind_rows, m.kind_rows, sizeof m.kind_rows);
        assert_memory_equal(of->sum.kind_keys, m.kind_keys, sizeof m.kind_keys);
        for (size_t i = 0; i < m.lines; i++)
            free(m.line[i]);
    }
}

/* The result's lines, as bytes. */
static struct buf lines_of(const struct multiset_result *res, const bool *asked)
{
    struct columns columns = COLUMNS_INIT;
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    static const char names[] =
        "[{\"name\":\"a\",\"type\":\"String\"},{\"name\":\"b\",\"type\":\"String\"},{\"name\":\"c\",\"type\":\"String\"}]";
    assert_int_equal(
        columns_parse(json_parse_named(names, sizeof names - 1, &arena, "names", &err), false, &columns, &err), 0);
    int fd = memfd_create("lines", 0);
    struct stream_out out;
    stream_begin(&out, fd, NULL);
    for (size_t r = 0; r < RELATION_TYPES; r++)
        if (asked[r])
            multiset_put(&out, (enum relation)r, &res->of[r], &columns, res->differ_keys > 0, false);
    stream_flush(&out);
    struct buf text = BUF_INIT;
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(file_read_fd(fd, "lines", (size_t)1 << 30, &text, &err), 0);
    close(fd);
    stream_out_free(&out);
    columns_free(&columns);
    arena_free(&arena);
    return text;
}

static struct multiset *fill(const struct set *s, const struct multiset_config *config)
{
    struct multiset *m = multiset_new(config);
    struct err err = ERR_INIT;
    uint32_t ends[COLUMNS];
    for (size_t i = 0; i < s->excluded_n; i++)
        multiset_exclude(m, s->excluded[i], strlen(s->excluded[i]));
    for (size_t i = 0; i < s->n; i++) {
        const struct row *r = &s->row[i];
        struct multiset_row row = {.cells = r->cells, .len = strlen(r->cells), .ends = ends, .again = r->again};
        row_ends(row.cells, row.len, COLUMNS, ends);
        if (r->at[0]) {
            row.at = r->at;
            row.at_len = strlen(r->at);
            row.ts = ts_of(r->partition, r->offset);
        }
        assert_int_equal(multiset_add(m, (enum side)r->side, &row, &err), 0);
    }
    return m;
}

static struct buf compare_one(struct set *s, struct multiset_config config, bool model, bool *on_disk)
{
    struct multiset_result res;
    struct err err = ERR_INIT;
    config.columns = COLUMNS;
    config.key = s->key;
    struct multiset *m = fill(s, &config);
    if (multiset_compare(m, &s->asked, &res, &err) != 0)
        fail_msg("%s", err.text);
    if (model)
        hold(s, &res);
    *on_disk = *on_disk || res.on_disk;
    struct buf text = lines_of(&res, s->asked.relation);
    multiset_free(m);
    return text;
}

static void same_as_the_model(void **state)
{
    (void)state;
    static struct set s;
    bool memory = false, disk = false;
    const struct multiset_config plain = {.memory = 1 << 20, .list = 5000};
    for (uint64_t i = 1; i <= rounds(400); i++) {
        make_set(&s, i);
        struct buf first = compare_one(&s, plain, true, &memory);
        for (unsigned v = 1; v < 8; v++) {
            struct multiset_config c = plain;
            c.thread = v & 1;
            c.hash_bits = v & 2 ? 8 : 0;
            c.memory = v & 4 ? (42 + i % 4 * 8) << 10 : c.memory;
            struct buf other = compare_one(&s, c, v == 4, v & 4 ? &disk : &memory);
            assert_int_equal(first.len, other.len);
            assert_memory_equal(first.p, other.p, first.len);
            buf_free(&other);
        }
        buf_free(&first);
        free_set(&s);
    }
    assert_false(memory);
    assert_true(disk);
}

/* A short list is the same findings whatever the order of the table, and shares itself among the kinds. */
static void short_lists(void **state)
{
    (void)state;
    static struct set s;
    bool disk = false;
    for (uint64_t i = 1; i <= rounds(100); i++) {
        make_set(&s, i);
        struct multiset_config c = {.memory = 1 << 20, .list = 1 + i % 7};
        struct buf a = compare_one(&s, c, false, &disk);
        c.memory = 42 << 10;
        c.hash_bits = 8;
        struct buf b = compare_one(&s, c, false, &disk);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.p, b.p, a.len);
        buf_free(&a);
        buf_free(&b);
        free_set(&s);
    }
    assert_true(disk);
}

static void add_text(struct multiset *m, enum side side, const char *cells_text, const char *at)
{
    struct err err = ERR_INIT;
    uint32_t ends[2];
    struct multiset_row row = {
        .cells = cells_text, .len = strlen(cells_text), .ends = ends, .at = at, .at_len = at ? strlen(at) : 0};
    row_ends(cells_text, row.len, 2, ends);
    if (multiset_add(m, side, &row, &err) != 0)
        fail_msg("%s", err.text);
}

static const bool first_is_key[2] = {true, false};
static const struct multiset_asked delivery = {.relation[RELATION_DELIVERY] = true, .repeats = true};

/* Long rows in little memory: files are cut again, and nothing is lost. */
static void files_cut_again(void **state)
{
    (void)state;
    struct multiset_config c = {.columns = 2, .key = first_is_key, .memory = 192 << 10, .list = 3, .thread = true};
    struct multiset *m = multiset_new(&c);
    char *text = xmalloc(4000), at[40];
    for (unsigned side = 0; side < SIDES; side++) {
        for (unsigned i = 0; i < 9000 && side != SIDE_REFERENCE; i++) {
            if (side >= SIDE_READ1 && i >= 5000 && i < 5010)
                continue;
            snprintf(text, 4000, "[\"%u\",\"%02000u\"]", i, i);
            snprintf(at, sizeof at, "t/%u/%u", i & 1, i);
            add_text(m, (enum side)side, text, side == 0 ? at : NULL);
        }
    }
    struct multiset_result res;
    struct err err = ERR_INIT;
    if (multiset_compare(m, &delivery, &res, &err) != 0)
        fail_msg("%s", err.text);
    const struct multiset_relation *of = &res.of[RELATION_DELIVERY];
    assert_true(res.on_disk);
    assert_int_equal(of->sum.keys, 9000);
    assert_int_equal(of->sum.kind_rows[KIND_MISSING], 10);
    assert_int_equal(
        of->sum.kind_rows[KIND_UNEXPECTED] + of->sum.kind_rows[KIND_CHANGED] + of->sum.kind_rows[KIND_DUPLICATED], 0);
    assert_int_equal(of->sum.runs_total, 2);
    assert_int_equal(of->sum.runs[0].rows, 5);
    assert_int_equal(of->sum.listed, 3);
    assert_string_equal(of->findings[0].at, "t/0/5000");
    multiset_free(m);
    free(text);
}

/* The delivery lines of 600 rows, those of one worker long; a stretch of 50 is missing, of both workers. */
static struct buf uneven(unsigned worker, uint64_t memory, bool thread, bool *on_disk)
{
    struct multiset_config c = {.columns = 2, .key = first_is_key, .memory = memory, .list = 100, .thread = thread};
    const struct key_form form = {.columns = 2, .last = 1, .prefix = 1};
    struct multiset *m = multiset_new(&c);
    char text[3000], at[40], key[20];
    for (unsigned side = 0; side < SIDES; side++) {
        for (unsigned i = 0; i < 600 && side != SIDE_REFERENCE; i++) {
            if (side >= SIDE_READ1 && i >= 100 && i < 150)
                continue;
            int n = snprintf(key, sizeof key, "\"%u\"", i);
            bool in_worker = (key_hash(&form, key, (size_t)n) >> WORKER_BIT & 1) == worker;
            snprintf(text, sizeof text, "[%s,\"%0*u\"]", key, in_worker ? 2000 : 5, i);
            snprintf(at, sizeof at, "t/0/%u", i);
            add_text(m, (enum side)side, text, side == 0 ? at : NULL);
        }
    }
    struct multiset_result res;
    struct err err = ERR_INIT;
    if (multiset_compare(m, &delivery, &res, &err) != 0)
        fail_msg("%s", err.text);
    const struct multiset_relation *of = &res.of[RELATION_DELIVERY];
    assert_int_equal(of->sum.kind_rows[KIND_MISSING], 50);
    assert_int_equal(of->sum.runs_total, 1);
    assert_int_equal(of->sum.runs[0].first, 100);
    assert_int_equal(of->sum.runs[0].rows, 50);
    *on_disk = res.on_disk;
    struct buf lines = lines_of(&res, delivery.relation);
    multiset_free(m);
    return lines;
}

/* One worker goes to files while the other stays in memory: the lines are those of memory alone. */
static void one_worker_on_disk(void **state)
{
    (void)state;
    bool on_disk;
    for (unsigned worker = 0; worker < 2; worker++) {
        struct buf memory = uneven(worker, 64 << 20, true, &on_disk);
        assert_false(on_disk);
        for (int thread = 0; thread < 2; thread++) {
            struct buf disk = uneven(worker, 256 << 10, thread, &on_disk);
            assert_true(on_disk);
            assert_int_equal(memory.len, disk.len);
            assert_memory_equal(memory.p, disk.p, memory.len);
            buf_free(&disk);
        }
        buf_free(&memory);
    }
}

/* A key with very many rows, and a row with very many copies. */
static void heavy_keys(void **state)
{
    (void)state;
    struct multiset_config c = {.columns = 2, .key = first_is_key, .memory = 64 << 20, .list = 3, .thread = true};
    struct multiset *m = multiset_new(&c);
    char text[100];
    add_text(m, SIDE_CAPTURED, "[\"k\",\"same\"]", NULL);
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(text, sizeof text, "[\"k\",\"%u\"]", i);
        add_text(m, SIDE_READ1, text, NULL);
        add_text(m, SIDE_READ2, text, NULL);
        add_text(m, SIDE_READ1, "[\"k\",\"same\"]", NULL);
        add_text(m, SIDE_READ2, "[\"k\",\"same\"]", NULL);
    }
    struct multiset_result res;
    struct err err = ERR_INIT;
    assert_int_equal(multiset_compare(m, &delivery, &res, &err), 0);
    const struct multiset_relation *of = &res.of[RELATION_DELIVERY];
    assert_int_equal(of->sum.kind_rows[KIND_DUPLICATED], 99999);
    assert_int_equal(of->sum.kind_rows[KIND_UNEXPECTED], 100000);
    assert_int_equal(res.differ_keys, 0);
    multiset_free(m);
}

/* The hashes of a keyed hash are its authors'. */
static void keyed_hash(void **state)
{
    (void)state;
    static const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
    static const char text[] = "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16";
    assert_true(siphash(key, text, 0) == 0x726fdb47dd0e0e31);
    assert_true(siphash(key, text, 8) == 0x93f5f5799a932462);
    assert_true(siphash(key, text, 15) == 0xa129ca6149be45e5);
}

/* Who makes the rows does not know the seeds of the process that reads them, nor of the next one. */
static void seeded(void **state)
{
    (void)state;
    struct key_form a = {0}, b = {0}, fixed = {0};
    key_form_seed(&a, 0);
    key_form_seed(&b, 0);
    key_form_seed(&fixed, 7);
    assert_memory_not_equal(a.seed, b.seed, sizeof a.seed);
    for (size_t i = 0; i < sizeof a.seed / sizeof *a.seed; i++) {
        assert_true(a.seed[i] != 0 && a.seed[i] != b.seed[i]);
        assert_true(fixed.seed[i] == 7);
    }
}

/* Keys, and rows of one key, of which half have one hash: found by another one, in memory and on disk, and no file of
 * them stays whole because of it. */
static void colliding(void **state)
{
    (void)state;
    static const bool second_is_key[] = {false, true};
    for (int v = 0; v < 6; v++) {
        struct multiset_config c = {.columns = 2, .key = v % 3 == 1 ? second_is_key : first_is_key, .list = 3};
        c.hash_bits = 1;
        c.seed = 7;
        c.memory = v < 3 ? 64 << 20 : 3 << 20;
        struct multiset *m = multiset_new(&c);
        char text[300];
        for (unsigned i = 0; i < 40000; i++) {
            snprintf(text, sizeof text, "[\"%u\",\"%0200u\"]", v % 3 == 2 ? i / 400 : i, i);
            add_text(m, SIDE_REFERENCE, text, NULL);
            for (enum side read = SIDE_READ1; read <= SIDE_READ2 && i != 17; read++)
                add_text(m, read, text, NULL);
        }
        static const struct multiset_asked asked = {.relation[RELATION_REFERENCE_DESTINATION] = true,
                                                    .reference = true};
        struct multiset_result res;
        struct err err = ERR_INIT;
        assert_int_equal(multiset_compare(m, &asked, &res, &err), 0);
        assert_int_equal(res.on_disk, v >= 3);
        assert_int_equal(res.of[RELATION_REFERENCE_DESTINATION].sum.owed_rows, 40000);
        assert_int_equal(res.of[RELATION_REFERENCE_DESTINATION].sum.kind_rows[KIND_MISSING], 1);
        assert_int_equal(res.of[RELATION_REFERENCE_DESTINATION].sum.kind_rows[KIND_UNEXPECTED], 0);
        multiset_free(m);
    }
}

/* One key that no cut by key makes smaller is an error, not an answer. */
static void one_key_too_large(void **state)
{
    (void)state;
    struct multiset_config c = {.columns = 2, .key = first_is_key, .memory = 128 << 10, .list = 3};
    struct multiset *m = multiset_new(&c);
    char *text = xmalloc(2000);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(text, 2000, "[\"k\",\"%0900u\"]", i);
        add_text(m, SIDE_READ1, text, NULL);
    }
    struct multiset_result res;
    struct err err = ERR_INIT;
    assert_int_equal(multiset_compare(m, &delivery, &res, &err), -1);
    assert_int_equal(err.kind, ERR_BOUND);
    multiset_free(m);
    free(text);
}

static void no_scratch(void **state)
{
    (void)state;
    for (int thread = 0; thread < 2; thread++) {
        struct multiset_config c = {
            .columns = 2, .key = first_is_key, .memory = 64 << 10, .scratch = "/nowhere/at/all", .thread = thread};
        struct multiset *m = multiset_new(&c);
        struct multiset_result res;
        struct err err = ERR_INIT;
        char text[600];
        uint32_t ends[2];
        int rc = 0;
        for (unsigned i = 0; i < 100000 && rc == 0; i++) {
            snprintf(text, sizeof text, "[\"%u\",\"%0500u\"]", i, i);
            row_ends(text, strlen(text), 2, ends);
            rc = multiset_add(m, SIDE_READ1, &(struct multiset_row){.cells = text, .len = strlen(text), .ends = ends},
                              &err);
        }
        assert_int_equal(rc, -1);
        assert_non_null(strstr(err.text, "/nowhere/at/all"));
        assert_int_equal(multiset_compare(m, &delivery, &res, &err), -1);
        multiset_free(m);
    }
}

static void places(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "t",
                                      "t/0",
                                      "t/0/",
                                      "t/0/x",
                                      "/0/1",
                                      "t//1",
                                      "t/00/1",
                                      "t/0/01",
                                      "t/0/1#",
                                      "t/0/1#0",
                                      "t/0/#1",
                                      "t/-1/1",
                                      "t/0/-1",
                                      "t u/0/1",
                                      "t/0/99999999999999999999",
                                      "t/0/9223372036854775808",
                                      "t/2147483648/1",
                                      "a/t/0/1",
                                      "#1",
                                      "0/1"};
    struct err err = ERR_INIT;
    struct places p;
    const struct stream_ts none = {.has = false};
    places_init(&p, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (places_add(&p, bad[i], strlen(bad[i]), none, &err) == 0)
            fail_msg("'%s' was taken for a place", bad[i]);
    static const char *const good[] = {"t/0/0", "t/0/9223372036854775807#2", "A.b_c-9/2147483647/5", "t/0/4"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(places_add(&p, good[i], strlen(good[i]), none, &err), 0);
    assert_true(p.at[0].unordered);
    assert_false(p.at[1].unordered);
    places_free(&p);
}

/* A place costs what it did where its record's time is not known, and two or three bytes more where one record follows
 * another; what was written comes back. */
static void times_of_places(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    size_t bytes[3];
    for (unsigned kind = 0; kind < 3; kind++) {
        static const uint64_t at_ends[] = {0, TS_MAX, 0, 1796000000123, TS_MAX - 1};
        struct places p;
        struct places_reader r;
        struct place at;
        char text[40];
        places_init(&p, 1);
        for (uint64_t i = 0; i < 1000; i++) {
            struct stream_ts ts = {kind == 1 || (kind == 2 && i % 3),
                                   kind == 1 ? 1796000000000 + i * 5 : at_ends[i % 5]};
            int n = snprintf(text, sizeof text, "t/%" PRIu64 "/%" PRIu64, i % 2, i);
            assert_int_equal(places_add(&p, text, (size_t)n, ts, &err), 0);
        }
        bytes[kind] = p.log.held.len;
        places_read(&r, &p);
        for (uint64_t i = 0; i < 1000; i++) {
            assert_int_equal(places_next(&r, &at, &err), 1);
            assert_true(at.partition == i % 2 && at.offset == i && at.n == 0);
            assert_int_equal(at.ts.has, kind == 1 || (kind == 2 && i % 3));
            assert_true(!at.ts.has || at.ts.ms == (kind == 1 ? 1796000000000 + i * 5 : at_ends[i % 5]));
        }
        assert_int_equal(places_next(&r, &at, &err), 0);
        places_reader_free(&r);
        places_free(&p);
    }
    assert_int_equal(bytes[0], 3000);
    assert_true(bytes[1] < 4020);
}

/* Rows out of offset order have no runs, and that is said. */
static void unordered(void **state)
{
    (void)state;
    struct multiset_config c = {.columns = 2, .key = first_is_key, .memory = 1 << 20, .list = 10};
    struct multiset *m = multiset_new(&c);
    add_text(m, SIDE_CAPTURED, "[\"1\",\"x\"]", "t/0/5");
    add_text(m, SIDE_CAPTURED, "[\"2\",\"x\"]", "t/0/4");
    add_text(m, SIDE_CAPTURED, "[\"3\",\"x\"]", "t/1/4");
    struct multiset_result res;
    struct err err = ERR_INIT;
    assert_int_equal(multiset_compare(m, &delivery, &res, &err), 0);
    const struct multiset_relation *of = &res.of[RELATION_DELIVERY];
    assert_int_equal(of->sum.kind_rows[KIND_MISSING], 3);
    assert_int_equal(of->sum.runs_total, 1);
    assert_int_equal(of->sum.unordered_n, 1);
    assert_string_equal(of->sum.unordered[0], "t/0");
    assert_string_equal(of->findings[1].at, "t/0/4");
    multiset_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_as_the_model),
        cmocka_unit_test(short_lists),
        cmocka_unit_test(files_cut_again),
        cmocka_unit_test(heavy_keys),
        cmocka_unit_test(keyed_hash),
        cmocka_unit_test(colliding),
        cmocka_unit_test(seeded),
        cmocka_unit_test(one_key_too_large),
        cmocka_unit_test(no_scratch),
        cmocka_unit_test(places),
        cmocka_unit_test(unordered),
        cmocka_unit_test(times_of_places),
        cmocka_unit_test(one_worker_on_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
