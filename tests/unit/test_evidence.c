/* SPDX-License-Identifier: Apache-2.0 */
/* What a job leaves: markers and the restore rule, snapshots, captures, interval evidence, barriers, redaction. */
#include "evidence/tally.h"
#include "evidence/barrier.h"
#include "evidence/capture.h"
#include "evidence/interval.h"
#include "evidence/line.h"
#include "evidence/manifest.h"
#include "evidence/marker.h"
#include "evidence/places.h"
#include "evidence/sidecar.h"
#include "evidence/snapshot.h"
#include "evidence/trace.h"
#include "json/json.h"
#include "json/redact.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char root[64];
static struct arena arena;
static struct err err;

static int setup(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/owed-evidence-XXXXXX");
    arena = (struct arena)ARENA_INIT;
    err = (struct err)ERR_INIT;
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "chmod -R u+rwx %s && rm -rf %s", root, root);
    arena_free(&arena);
    return system(command);
}

static void put(const char *rel, const char *text)
{
    struct buf path = BUF_INIT;
    path_join(&path, root, rel);
    char *slash = strrchr(path.p, '/');
    *slash = '\0';
    assert_int_equal(dir_make(path.p, &err), 0);
    *slash = '/';
    assert_int_equal(file_publish(path.p, text, strlen(text), &err), 0);
    buf_free(&path);
}

static int open_root(void)
{
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

/* ---- markers ---- */

static void ids_are_whole_names(void **state)
{
    (void)state;
    uint64_t id;
    assert_true(evidence_name_id("COMPLETED-12", "COMPLETED-", "", &id) && id == 12);
    assert_true(evidence_name_id("epoch-7.cap", "epoch-", ".cap", &id) && id == 7);
    static const char *const none[] = {
        "COMPLETED-",    "COMPLETED-12.tmp", ".COMPLETED-12.tmp-44", "COMPLETED-+12",
        "COMPLETED-012", "COMPLETED-12 ",    "xCOMPLETED-12",        "COMPLETED-99999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(evidence_name_id(none[i], "COMPLETED-", "", &id));
    assert_true(evidence_job_ok("a.B-1_"));
    assert_false(evidence_job_ok("..") || evidence_job_ok("a/b") || evidence_job_ok("") || evidence_job_ok("a\nb"));
}

static void marker_comes_back(void **state)
{
    (void)state;
    uint64_t subtasks[] = {0, 1, 10};
    struct marker m = {.job = "1", .checkpoint = 12, .generation = 1, .subtasks = subtasks, .n_subtasks = 3}, got;
    assert_int_equal(marker_write(root, MARKER_COMPLETED, &m, &err), 0);
    assert_int_equal(marker_write(root, MARKER_COMPLETED, &m, &err), -1); /* never written over */
    struct buf path = BUF_INIT, text = BUF_INIT;
    path_join(&path, root, "_jobs/1/COMPLETED-12");
    assert_int_equal(file_read(path.p, 4096, &text, &err), 0);
    assert_string_equal(buf_str(&text), "job=1\ncheckpoint=12\ngeneration=1\nsubtasks=0,1,10\n");
    assert_int_equal(marker_parse(text.p, text.len, "m", &arena, &got, &err), 0);
    assert_int_equal(got.n_subtasks, 3);
    assert_true(got.subtasks[2] == 10 && got.checkpoint == 12 && got.generation == 1 && !got.state_root);
    buf_free(&path);
    buf_free(&text);
}

static void marker_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "job=1\ncheckpoint=12\ngeneration=1\nsubtasks=0,1",
                                      "job=1\ngeneration=1\nsubtasks=0\n",
                                      "job=1\ncheckpoint=12\ncheckpoint=12\ngeneration=1\nsubtasks=0\n",
                                      "job=1\ncheckpoint=x\ngeneration=1\nsubtasks=0\n",
                                      "job=1\ncheckpoint=12\ngeneration=1\nsubtasks=\n",
                                      "job=1\ncheckpoint=12\ngeneration=1\nsubtasks=0,0\n",
                                      "job=../1\ncheckpoint=12\ngeneration=1\nsubtasks=0\n",
                                      "job=1\ncheckpoint=12\ngeneration=1\nsubtasks=0\nnonsense\n",
                                      "job=1\ncheckpoint=12\ngeneration=1\nsubtasks=0,\n"};
    struct marker m;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(marker_parse(bad[i], strlen(bad[i]), "m", &arena, &m, &err), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
    }
    const char *more = "job=1\nfuture=x\ncheckpoint=12\ngeneration=2\nsubtasks=3,1\nstate_root=/s\n";
    assert_int_equal(marker_parse(more, strlen(more), "m", &arena, &m, &err), 0);
    assert_true(m.subtasks[0] == 1 && m.subtasks[1] == 3);
    assert_string_equal(m.state_root, "/s");
    struct restored r;
    const char *back = "job=1\ncheckpoint=5\nnext=5\n";
    assert_int_equal(restored_parse(back, strlen(back), "r", &arena, &r, &err), -1);
}

static void scan_takes_markers_only(void **state)
{
    (void)state;
    struct markers m;
    int fd = open_root();
    assert_int_equal(markers_scan(fd, "1", &arena, &m, &err), 0);
    assert_int_equal(m.n_completed, 0);
    put("_jobs/1/COMPLETED-9", "x");
    put("_jobs/1/COMPLETED-10", "x");
    put("_jobs/1/.COMPLETED-11.tmp-3", "x");
    put("_jobs/1/COMPLETED-12.tmp", "x");
    put("_jobs/1/CONFIRMED-9", "x");
    struct restored r = {"1", 9, 12};
    assert_int_equal(restored_write(root, &r, &err), 0);
    assert_int_equal(markers_scan(fd, "1", &arena, &m, &err), 0);
    assert_true(m.n_completed == 2 && m.completed[0] == 9 && m.completed[1] == 10 && m.n_confirmed == 1);
    assert_true(m.has_restored && m.restored.next == 12 && markers_have(&m, MARKER_COMPLETED, 10));
    assert_false(markers_have(&m, MARKER_CONFIRMED, 10));
    struct buf path = BUF_INIT;
    path_join(&path, root, "_jobs/1/COMPLETED-13");
    assert_int_equal(symlink("COMPLETED-9", path.p), 0);
    assert_int_equal(markers_scan(fd, "1", &arena, &m, &err), -1);
    assert_non_null(strstr(err.text, "COMPLETED-13"));
    buf_free(&path);
    close(fd);
}

static void restore_rule(void **state)
{
    (void)state;
    uint64_t choice;
    const uint64_t ids[] = {8, 9, 10, 11};
    const struct restored r9 = {"1", 9, 12}, r0 = {"1", 0, 12}, late = {"1", 9, 10};
    assert_false(restore_choice(ids, 0, NULL, &choice));
    assert_true(restore_choice(ids, 4, NULL, &choice) && choice == 11);
    assert_true(restore_choice(ids, 4, &r9, &choice) && choice == 9);
    assert_true(restore_choice(ids, 4, &late, &choice) && choice == 11);
    assert_false(restore_choice(ids, 4, &r0, &choice));
    const uint64_t after[] = {9, 10, 11, 12};
    assert_true(restore_choice(after, 4, &r9, &choice) && choice == 12);
    assert_true(restored_passes_over(&r9, 10) && !restored_passes_over(&r9, 9) && !restored_passes_over(&r9, 12));
}

static void greatest_of_everything(void **state)
{
    (void)state;
    struct buf ckpt = BUF_INIT, cap = BUF_INIT;
    path_join(&ckpt, root, "ckpt");
    path_join(&cap, root, "capture");
    uint64_t g = 77;
    assert_int_equal(evidence_greatest_id(ckpt.p, cap.p, "1", &g, &err), 0);
    assert_int_equal(g, 0);
    const struct {
        const char *file;
        uint64_t then;
    } step[] = {{"ckpt/_jobs/1/COMPLETED-3", 3},
                {"ckpt/_jobs/2/COMPLETED-99", 3},
                {"ckpt/_state/1/v1/0/checkpoint-4.snap", 4},
                {"ckpt/_state/1/v1/1/changelog-5.snap", 5},
                {"ckpt/_state/1/v1/1/start-6.snap", 6},
                {"ckpt/_state/1/v1/x.cp-90/CURRENT", 6},
                {"capture/op-2/subtask-0/epoch-7.cap", 7},
                {"capture/op-3/subtask-1/epoch-9.sink.json", 9},
                {"capture/op-3/subtask-1/final.cap", 9},
                {"capture/op-x/subtask-1/epoch-50.cap", 9},
                {"capture/notes", 9},
                {"ckpt/_state/1/v1/0.cp-11/CURRENT", 11},
                {"ckpt/_state/1/v1/0.cp-12", 12}};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        put(step[i].file, "x");
        assert_int_equal(evidence_greatest_id(ckpt.p, cap.p, "1", &g, &err), 0);
        assert_int_equal(g, step[i].then);
    }
    struct restored r = {"1", 3, 21};
    assert_int_equal(restored_write(ckpt.p, &r, &err), 0);
    assert_int_equal(evidence_greatest_id(ckpt.p, NULL, "1", &g, &err), 0);
    assert_int_equal(g, 20);
    buf_free(&ckpt);
    buf_free(&cap);
}

/* ---- snapshots ---- */

static struct snapshot sample(void)
{
    static struct position at[] = {{0, 100}, {2, INT64_MAX}}, max[] = {{0, -5}};
    static uint64_t declared[] = {0, 2};
    return (struct snapshot){.job = "1",
                             .operator_id = "1",
                             .kind = "kafka-source",
                             .subtask = 1,
                             .checkpoint = 12,
                             .log = {"orders", "cl", NULL},
                             .isolation = "read_committed",
                             .positions = at,
                             .n_positions = 2,
                             .declared = declared,
                             .n_declared = 2,
                             .partition_max = max,
                             .n_partition_max = 1};
}

static void snapshot_comes_back(void **state)
{
    (void)state;
    struct snapshot s = sample(), got;
    struct left entry;
    struct buf rel = BUF_INIT, path = BUF_INIT;
    evidence_path_snapshot(&rel, "1", 1, 1, 12);
    assert_int_equal(snapshot_write(root, rel.p, &s, &arena, &entry, &err), 0);
    assert_string_equal(entry.file, "_state/1/v1/1/checkpoint-12.snap");
    int fd = open_root();
    assert_int_equal(snapshot_read(fd, rel.p, &arena, &got, &err), 0);
    assert_true(got.n_positions == 2 && got.positions[1].value == INT64_MAX && !got.has_watermark && !got.is_start);
    assert_null(got.log.topic_id);
    s.is_start = s.has_watermark = true;
    s.watermark = -500;
    s.first_epoch = 13;
    s.restored_from = 10;
    s.attempt = "a1";
    evidence_path_start(&rel, "1", 1, 1, 13);
    assert_int_equal(snapshot_write(root, rel.p, &s, &arena, NULL, &err), 0);
    assert_int_equal(snapshot_read(fd, rel.p, &arena, &got, &err), 0);
    assert_true(got.is_start && got.first_epoch == 13 && got.restored_from == 10 && got.watermark == -500);
    /* One byte of the snapshot turned: the sidecar tells. */
    path_join(&path, root, rel.p);
    int file = open(path.p, O_RDWR);
    assert_int_equal(pwrite(file, "X", 1, 20), 1);
    close(file);
    assert_int_equal(snapshot_read(fd, rel.p, &arena, &got, &err), -1);
    assert_non_null(strstr(err.text, "CRC32C"));
    close(fd);
    buf_free(&rel);
    buf_free(&path);
}

static void crc32c_is_castagnoli(void **state)
{
    (void)state;
    assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(crc32c(crc32c(0, "1234", 4), "56789", 5), 0xe3069283u);
}

/* ---- captures ---- */

#define EVENT "{\"type\":\"event\",\"at\":\"t/0/1\",\"ts\":null,\"values\":{}}"
#define MARK "{\"type\":\"watermark\",\"ts\":5}"

static int read_whole(const char *rel, struct capture_reader *r)
{
    struct buf path = BUF_INIT;
    path_join(&path, root, rel);
    int fd = open(path.p, O_RDONLY);
    assert_true(fd >= 0);
    const char *p;
    size_t n;
    bool data;
    int rc = capture_read_open(r, fd, rel, &err);
    if (rc == 0)
        while ((rc = capture_read_next(r, &p, &n, &data, &err)) == 1)
            ;
    close(fd);
    buf_free(&path);
    return rc;
}

static void capture_comes_back(void **state)
{
    (void)state;
    struct capture_writer w;
    struct capture_reader r;
    struct left entry;
    char sha[SHA256_HEX + 1];
    uint64_t bytes;
    capture_open(&w, root, "1", "3", 0, "a1", 0);
    capture_data(&w, EVENT, strlen(EVENT));
    capture_control(&w, MARK, strlen(MARK));
    capture_data(&w, EVENT, strlen(EVENT));
    assert_int_equal(capture_end(&w, 12, &arena, &entry, &err), 0);
    assert_true(entry.seen == 2 && entry.stored == 2 && !entry.truncated);
    assert_string_equal(entry.file, "op-3/subtask-0/epoch-12.cap");
    assert_int_equal(entry.bytes, CAPTURE_HEADER + 2 * (strlen(EVENT) + 1) + strlen(MARK) + 1);
    assert_int_equal(read_whole(entry.file, &r), 0);
    assert_true(r.h.epoch == 12 && r.h.seen == 2 && r.data == 2 && r.control == 1);
    capture_read_digest(&r, &bytes, sha);
    assert_string_equal(sha, entry.sha256);
    assert_int_equal(bytes, entry.bytes);
    capture_read_close(&r);
    /* An interval without a line has its file all the same. */
    assert_int_equal(capture_end(&w, 13, &arena, &entry, &err), 0);
    assert_int_equal(entry.seen, 0);
    assert_int_equal(read_whole(entry.file, &r), 0);
    capture_read_close(&r);
    assert_int_equal(capture_final(&w, 13, &err), 0);
    assert_int_equal(read_whole("op-3/subtask-0/final.cap", &r), 0);
    assert_int_equal(r.h.epoch, 14);
    capture_read_close(&r);
    capture_close(&w);
}

static void capture_is_bounded(void **state)
{
    (void)state;
    struct capture_writer w;
    struct capture_reader r;
    struct left entry;
    capture_open(&w, root, "1", "3", 0, "a1", 2);
    for (int i = 0; i < 5; i++)
        capture_data(&w, EVENT, strlen(EVENT));
    assert_int_equal(capture_end(&w, 1, &arena, &entry, &err), 0);
    assert_true(entry.seen == 5 && entry.stored == 2 && entry.truncated);
    assert_int_equal(read_whole(entry.file, &r), 0);
    assert_true(r.h.truncated && r.data == 2);
    capture_read_close(&r);
    for (int i = 0; i < 9; i++)
        capture_control(&w, MARK, strlen(MARK));
    assert_int_equal(capture_end(&w, 2, &arena, &entry, &err), 0);
    assert_true(entry.seen == 0 && entry.truncated);
    assert_int_equal(capture_end(&w, 3, &arena, &entry, &err), 0); /* the next interval begins whole */
    assert_false(entry.truncated);
    capture_close(&w);
}

static void capture_write_failure_disarms(void **state)
{
    (void)state;
    struct capture_writer w;
    struct left entry;
    put("op-3/subtask-0", "a file is in the way");
    capture_open(&w, root, "1", "3", 0, "a1", 0);
    capture_data(&w, EVENT, strlen(EVENT));
    assert_int_equal(capture_end(&w, 1, &arena, &entry, &err), -1);
    assert_non_null(strstr(err.text, "subtask-0"));
    struct buf path = BUF_INIT;
    path_join(&path, root, "op-3/subtask-0");
    assert_int_equal(unlink(path.p), 0);
    capture_data(&w, EVENT, strlen(EVENT));
    assert_int_equal(capture_end(&w, 2, &arena, &entry, &err), 0);
    assert_int_equal(entry.seen, 1);
    capture_close(&w);
    buf_free(&path);
}

static void capture_cut_short(void **state)
{
    (void)state;
    struct capture_writer w;
    struct capture_reader r;
    struct left entry;
    capture_open(&w, root, "1", "3", 0, "a1", 0);
    for (int i = 0; i < 3; i++)
        capture_data(&w, EVENT, strlen(EVENT));
    assert_int_equal(capture_end(&w, 1, &arena, &entry, &err), 0);
    capture_close(&w);
    struct buf path = BUF_INIT;
    path_join(&path, root, entry.file);
    /* At every byte: never whole. */
    for (off_t size = (off_t)entry.bytes - 1; size >= 0; size -= 7) {
        assert_int_equal(truncate(path.p, size), 0);
        assert_int_equal(read_whole(entry.file, &r), -1);
        capture_read_close(&r);
    }
    buf_free(&path);
}

/* ---- interval evidence ---- */

static struct interval interval_sample(void)
{
    static struct ledger_entry ledger[] = {
        {"t1", 0, 50, 1, 1, false, RESEND_NONE, .recorded = true, .tokens = 1},
        {"t2.2", 50, 50, 2, 4, true, RESEND_MAY_DUPLICATE, true, 2, .cut = 2, .errors = 1, .restarted = true}};
    return (struct interval){
        .job = "1",
        .operator_id = "3",
        .attempt = "a1",
        .subtask = 0,
        .epoch = 12,
        .previous = 11,
        .destination = {.endpoint = "http://u:p@h:8123",
                        .server_uuid = "s",
                        .server_version = "26.5",
                        .database = "shop",
                        .table = "orders",
                        .table_uuid = "t",
                        .engine = "MergeTree",
                        .engine_full = "MergeTree ORDER BY k",
                        .create_table_query = "CREATE TABLE t (`password` String) SETTINGS x = 'http://a:b@c/'",
                        .columns = "[{\"name\":\"k\",\"type\":\"Int64\"}]"},
        .ledger = ledger,
        .n_ledger = 2};
}

/* Evidence of before has nothing of how an INSERT was sent again: what is not there is not recorded, and not none. */
static void older_ledgers_are_read(void **state)
{
    (void)state;
    struct interval iv = interval_sample(), got;
    struct buf text = BUF_INIT;
    struct ledger_entry older[] = {iv.ledger[0], iv.ledger[1]};
    older[0].recorded = older[1].recorded = false;
    iv.ledger = older;
    interval_set_capture(&iv, NULL, 100);
    interval_put(&text, &iv);
    assert_null(strstr(buf_str(&text), "restarted"));
    assert_int_equal(interval_parse(text.p, text.len, "iv", &arena, &got, &err), 0);
    assert_false(got.ledger[0].recorded);
    assert_false(got.ledger[1].recorded);
    assert_false(ledger_may_lack(&got.ledger[0]));
    assert_true(ledger_may_lack(&got.ledger[1]));
    assert_false(ledger_may_lack(&interval_sample().ledger[1])); /* a fresh token after the restart */
    struct ledger_entry kept = interval_sample().ledger[1];
    kept.tokens = 1;
    assert_true(ledger_may_lack(&kept));
    kept.restarted = false;
    assert_false(ledger_may_lack(&kept));
    static const char part[] = "{\"ledger\":[{\"token\":\"t\",\"first\":0,\"rows\":1,\"blocks\":1,\"attempts\":1,"
                               "\"in_doubt\":false,\"resend\":\"none\",\"tokens\":1,\"cut\":0,\"errors\":0}]}";
    struct json *doc = json_parse_named(part, sizeof part - 1, &arena, "iv", &err);
    struct ledger_entry *entries;
    size_t n;
    assert_int_equal(ledger_parse(doc, "iv", &arena, &entries, &n, &err), -1);
    assert_string_equal(err.text, "iv.ledger[0].restarted: missing");
    buf_free(&text);
}

/* The stream's interval lines are written again as they were read. */
static void interval_lines_are_read(void **state)
{
    (void)state;
    static const char *const all[] = {
        "{\"type\":\"interval\",\"operator\":\"3\",\"subtask\":1,\"epoch\":12,\"previous\":11,\"attempt\":\"a1\",\"capture\":"
        "{\"outcome\":\"disarmed\",\"seen\":4},\"watermark\":null,\"ledger\":[{\"token\":\"t\",\"first\":0,\"rows\":4,\"blocks\":1,"
        "\"attempts\":1,\"in_doubt\":false,\"resend\":\"none\"}]}",
        "{\"type\":\"interval\",\"operator\":\"1\",\"subtask\":0,\"from\":null,\"to\":{\"log\":{\"topic\":\"t\",\"cluster_id\":\"c\","
        "\"topic_id\":null},\"positions\":[{\"partition\":0,\"offset\":7},{\"partition\":2,\"offset\":-1}]}}",
        "{\"type\":\"interval\",\"operator\":\"3\",\"subtask\":1,\"epoch\":12,\"previous\":11,\"attempt\":\"a1\",\"capture\":"
        "{\"outcome\":\"disarmed\",\"seen\":4},\"watermark\":7,\"ledger\":[],\"destination\":{\"endpoint\":\"http://h:1\","
        "\"server_uuid\":\"u\",\"server_version\":\"26.5.1.1\",\"server_host\":\"h\",\"database\":\"d\",\"table\":\"t\",\"table_uuid\":"
        "\"v\",\"engine\":\"MergeTree\",\"engine_full\":\"MergeTree ORDER BY a\",\"create_table_query\":\"CREATE\",\"partition_key\":\"\","
        "\"dedup_window\":\"0\",\"async_insert\":\"0\",\"wait_for_async_insert\":\"1\",\"columns\":[{\"name\":\"a\",\"type\":\"Int64\"}]}}",
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct stream_line line = {.p = all[i], .n = strlen(all[i]), .line_no = 3};
        struct interval_line got;
        struct stream_out out = {.fd = -1};
        assert_int_equal(stream_interval(&line, &arena, &got, &err), 0);
        assert_int_equal(got.source, i == 1);
        assert_int_equal(got.has_destination, i == 2);
        if (got.source)
            stream_put_interval_stands(&out, &got);
        else
            stream_put_interval(&out, &got.iv);
        assert_int_equal(out.block.len, line.n + 1);
        assert_memory_equal(out.block.p, all[i], line.n);
        stream_out_free(&out);
    }
}

static void token_is_of_everything(void **state)
{
    (void)state;
    struct buf one = {(char *)(uintptr_t) "abc", 3, 0}, two = {(char *)(uintptr_t) "abd", 3, 0};
    struct range from = RANGE_INIT, other_from = RANGE_INIT;
    struct buf first = BUF_INIT, t = BUF_INIT;
    range_add(&from, "orders/0/1");
    range_add(&from, "orders/0/3");
    range_add(&other_from, "orders/0/1");
    range_add(&other_from, "orders/0/4");
    const struct ledger_batch base = {"1", "3", "a1", 0, 7, 12, 0, 3, &one, &from};
    struct ledger_batch other[] = {base, base, base, base, base, base, base, base, base};
    other[0].job = "2";
    other[1].operator_id = "4";
    other[2].attempt = "a2";
    other[3].subtask = 1;
    other[4].sequence = 8;
    other[5].after = 13;
    other[6].first = 3;
    other[7].body = &two;
    other[8].range = &other_from;
    ledger_token(&base, &first);
    ledger_token(&base, &t);
    assert_string_equal(buf_str(&first), buf_str(&t));
    assert_true(first.len > 32 && first.len < 200);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        ledger_token(&other[i], &t);
        assert_string_not_equal(buf_str(&first), buf_str(&t));
    }
    range_free(&from);
    range_free(&other_from);
    buf_free(&first);
    buf_free(&t);
}

/* Rows enter the ledger by the batch, under tokens that never come again; the next interval begins with nothing. */
static void tally_goes_from_barrier_to_barrier(void **state)
{
    (void)state;
    struct tally a = TALLY_INIT;
    struct buf body = {(char *)(uintptr_t) "abc", 3, 0}, t1 = BUF_INIT, t2 = BUF_INIT;
    a.job = "1", a.operator_id = "3", a.attempt = "a1";
    tally_row(&a, "orders/0/1");
    tally_row(&a, NULL);
    tally_token(&a, 2, &body, &t1);
    tally_enter(&a, (struct ledger_entry){.token = buf_str(&t1), .rows = 2, .blocks = 1, .attempts = 1});
    tally_row(&a, "orders/0/2");
    tally_token(&a, 1, &body, &t2);
    assert_string_not_equal(buf_str(&t1), buf_str(&t2));
    tally_enter(&a, (struct ledger_entry){.token = buf_str(&t2), .rows = 1, .blocks = 1, .attempts = 1});
    struct barrier b = {.job = "1", .attempt = "a1", .checkpoint = 4, .previous = 0}, wrong = b;
    struct interval iv = tally_interval(&a, &b);
    assert_true(iv.epoch == 4 && iv.n_ledger == 2 && iv.seen == 3 && iv.outcome == CAPTURE_DISARMED);
    assert_true(iv.ledger[0].first == 0 && iv.ledger[1].first == 2);
    assert_string_equal(iv.ledger[1].token, buf_str(&t2));
    wrong.attempt = "a2";
    assert_int_equal(tally_follows(&a, &wrong, &err), -1);
    assert_string_equal(err.text, "barrier 4 is of job 1, attempt a2, not of job 1, attempt a1");
    assert_int_equal(tally_follows(&a, &b, &err), 0);
    tally_next(&a, 4);
    assert_true(a.seen == 0 && a.ledger.n == 0 && a.sequence == 2);
    assert_int_equal(tally_follows(&a, &b, &err), -1);
    assert_string_equal(err.text, "barrier 4 says that it follows 0, and the last one here was 4");
    tally_free(&a);
    buf_free(&t1);
    buf_free(&t2);
}

static void interval_comes_back(void **state)
{
    (void)state;
    struct interval iv = interval_sample(), got;
    char sha[SHA256_HEX + 1];
    sha256_of("", 0, sha);
    struct left capture = {"3", 0, LEFT_CAPTURE, "op-3/subtask-0/epoch-12.cap", 700, sha, 100, 100, false}, entry;
    interval_set_capture(&iv, &capture, 100);
    assert_int_equal(iv.outcome, CAPTURE_WRITTEN);
    assert_int_equal(interval_write(root, &iv, &arena, &entry, &err), 0);
    struct buf path = BUF_INIT, text = BUF_INIT;
    path_join(&path, root, "op-3/subtask-0/epoch-12.sink.json");
    assert_int_equal(file_read(path.p, 1 << 20, &text, &err), 0);
    assert_int_equal(interval_parse(text.p, text.len, "iv", &arena, &got, &err), 0);
    assert_true(got.seen == 100 && got.n_ledger == 2 && got.ledger[1].resend == RESEND_MAY_DUPLICATE &&
                got.ledger[1].first == 50);
    assert_true(got.ledger[0].recorded && got.ledger[0].tokens == 1 && !got.ledger[0].restarted);
    assert_true(got.ledger[1].recorded && got.ledger[1].tokens == 2 && got.ledger[1].cut == 2 &&
                got.ledger[1].errors == 1 && got.ledger[1].restarted);
    assert_string_equal(got.file, "epoch-12.cap");
    assert_string_equal(got.destination.endpoint, "http://<redacted>@h:8123");
    assert_string_equal(got.destination.create_table_query,
                        "CREATE TABLE t (`password` String) SETTINGS x = 'http://<redacted>@c/'");
    interval_set_capture(&iv, &capture, 99);
    assert_int_equal(iv.outcome, CAPTURE_DISARMED);
    interval_set_capture(&iv, NULL, 5);
    buf_reset(&text);
    interval_put(&text, &iv);
    assert_null(strstr(buf_str(&text), "sha256"));
    assert_int_equal(interval_parse(text.p, text.len, "iv", &arena, &got, &err), 0);
    assert_true(got.outcome == CAPTURE_DISARMED && got.seen == 5 && !got.file);
    buf_free(&path);
    buf_free(&text);
}

/* ---- barriers ---- */

static void barrier_comes_back(void **state)
{
    (void)state;
    char sha[SHA256_HEX + 1];
    sha256_of("x", 1, sha);
    struct barrier b = {.job = "1", .checkpoint = 12, .previous = 0, .attempt = "a1"}, got, other;
    struct left snap = {"1", 1, LEFT_SNAPSHOT, "_state/1/v1/1/checkpoint-12.snap", 3, sha, 0, 0, false};
    struct left cap = {"3", 0, LEFT_CAPTURE, "op-3/subtask-0/epoch-12.cap", 3, sha, 7, 5, true};
    struct buf line = BUF_INIT;
    barrier_add(&b, &arena, &snap);
    barrier_add(&b, &arena, &cap);
    barrier_put(&line, &b);
    assert_int_equal(barrier_parse(line.p, line.len, "b", &arena, &got, &err), 0);
    assert_true(got.n_left == 2 && got.left[1].seen == 7 && got.left[1].truncated);
    assert_non_null(barrier_find(&got, "3", 0, LEFT_CAPTURE));
    assert_null(barrier_find(&got, "3", 1, LEFT_CAPTURE));
    snap.subtask = 0;
    other = got;
    other.n_left = 0;
    barrier_add(&other, &arena, &snap);
    assert_int_equal(barrier_join(&got, &other, &arena, &err), 0);
    uint64_t *subtasks;
    size_t n;
    barrier_participants(&got, &arena, &subtasks, &n);
    assert_true(n == 2 && subtasks[0] == 0 && subtasks[1] == 1);
    other.checkpoint = 13;
    assert_int_equal(barrier_join(&got, &other, &arena, &err), -1);
    buf_free(&line);
}

/* ---- credentials ---- */

static void redaction(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } t[] = {
        {"{\"password\":\"x\",\"key\":[\"k\"]}", "{\"password\":\"<redacted>\",\"key\":[\"k\"]}"},
        {"{\"a\":[{\"sasl.jaas.config\":{\"u\":1}}]}", "{\"a\":[{\"sasl.jaas.config\":\"<redacted>\"}]}"},
        {"{\"API-Key\":\"k\",\"primary_key\":\"id\",\"Secret\":null}",
         "{\"API-Key\":\"<redacted>\",\"primary_key\":\"id\",\"Secret\":null}"},
        {"{\"url\":\"https://bob:hunter2@h:8443/x?a=b@c\"}", "{\"url\":\"https://<redacted>@h:8443/x?a=b@c\"}"},
        {"\"http://h/?user=u&password=p&x=1\"", "\"http://h/?user=u&password=<redacted>&x=1\""},
        {"\"SETTINGS password = 'a\\\\'b', n = 1\"", "\"SETTINGS password = '<redacted>', n = 1\""},
        {"{\"accessKey\":1,\"pass-word\":1,\"db_pass\":1,\"basic.auth.user.info\":1,\"key_columns\":1,\"bypass\":1,\"author\":1}",
         "{\"accessKey\":\"<redacted>\",\"pass-word\":\"<redacted>\",\"db_pass\":\"<redacted>\",\"basic.auth.user.info\":\"<redacted>\",\"key_columns\":1,"
         "\"bypass\":1,\"author\":1}"},
        {"[{\"name\":\"password\",\"value\":\"x\"},{\"value\":\"x\",\"key\":\"sasl.password\"},{\"name\":\"password\",\"type\":\"String\"}]",
         "[{\"name\":\"password\",\"value\":\"<redacted>\"},{\"value\":\"<redacted>\",\"key\":\"sasl.password\"},{\"name\":\"password\",\"type\":\"String\"}]"},
        {"[\"--password\",\"x\",\"y\",\"--token=x\",\"y\",\"password\",\"id\"]",
         "[\"--password\",\"<redacted>\",\"y\",\"--token=<redacted>\",\"y\",\"password\",\"id\"]"},
        {"\"Authorization: Bearer a b\"", "\"Authorization: <redacted>\""},
        {"\"A=x;AccountKey=k==;B=y IDENTIFIED WITH plaintext_password BY 'x'\"",
         "\"A=x;AccountKey=<redacted>;B=y IDENTIFIED WITH plaintext_password BY '<redacted>'\""},
        {"\"SETTINGS password = 'a''b', n = 'c' PASSWORD '''d'\"",
         "\"SETTINGS password = '<redacted>', n = 'c' PASSWORD '<redacted>'\""},
        {"\"S3('https://b/x)?sig=a&b', 'AKIA', 'it''s', f(1), 'c') COMMENT 'd'\"",
         "\"S3('https://b/x)?sig=<redacted>&b', '<redacted>', '<redacted>', f(1), '<redacted>') COMMENT 'd'\""},
        {"\"SELECT 'a' FROM remote('h', mysql('i', 'j'), 'k') WHERE b = 'c'\"",
         "\"SELECT 'a' FROM remote('h', mysql('i', '<redacted>'), '<redacted>') WHERE b = 'c'\""},
        {"\"MySQL ('h:3306', 'open\"", "\"MySQL ('h:3306', '<redacted>'\""},
        {"\"mys3('a', 'b'), `s3` ('c', 'd')\"", "\"mys3('a', 'b'), `s3` ('c', 'd')\""},
        {"\"k -----BEGIN RSA PRIVATE KEY-----\\nx\"", "\"k <redacted>\""},
        {"{\"n\":9007199254740993}", "{\"n\":9007199254740993}"}};
    for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
        struct buf out = BUF_INIT;
        redact_put(&out, json_parse_named(t[i].in, strlen(t[i].in), &arena, "t", &err));
        assert_string_equal(buf_str(&out), t[i].out);
        buf_free(&out);
    }
}

/* A program is what runs: it stands as it is, and nothing else beside it does. */
static void a_program_is_not_redacted(void **state)
{
    (void)state;
    static const char in
        [] =
            "{\"token\":\"x\",\"program\":\"{token: .token, url: \\\"http://a:b@h\\\"}\",\"note\":\"http://a:b@h\",\"p\":[{\"program\":{\"program\":\"token=x\",\"password\":1}}]}",
      out[] =
          "{\"token\":\"<redacted>\",\"program\":\"{token: .token, url: \\\"http://a:b@h\\\"}\",\"note\":\"http://<redacted>@h\","
          "\"p\":[{\"program\":{\"program\":\"token=x\",\"password\":\"<redacted>\"}}]}";
    struct buf text = BUF_INIT;
    redact_operators(&text, json_parse_named(in, strlen(in), &arena, "t", &err));
    assert_string_equal(buf_str(&text), out);
    buf_reset(&text);
    redact_put(&text, json_parse_named(in, strlen(in), &arena, "t", &err));
    assert_string_not_equal(buf_str(&text), out);
    buf_free(&text);
}

static void op_spec_is_redacted(void **state)
{
    (void)state;
    struct op_spec op = {"1",       "3",
                         "ch-sink", "clickhouse-sink",
                         "sink",    "{\"url\":\"http://a:b@h\",\"password\":\"hunter2\"}"},
                   got;
    assert_int_equal(op_spec_write(root, 0, &op, &err), 0);
    struct buf path = BUF_INIT, text = BUF_INIT;
    path_join(&path, root, "op-3/subtask-0/op.json");
    assert_int_equal(file_read(path.p, 4096, &text, &err), 0);
    assert_null(strstr(buf_str(&text), "hunter2"));
    assert_int_equal(op_spec_parse(text.p, text.len, "op", &arena, &got, &err), 0);
    assert_string_equal(got.parameters, "{\"url\":\"http://<redacted>@h\",\"password\":\"<redacted>\"}");
    op.parameters = "{\"program\":\"{token: .token}\"}";
    assert_int_equal(op_spec_write(root, 0, &op, &err), 0);
    buf_reset(&text);
    assert_int_equal(file_read(path.p, 4096, &text, &err), 0);
    assert_int_equal(op_spec_parse(text.p, text.len, "op", &arena, &got, &err), 0);
    assert_string_equal(got.parameters, op.parameters);
    buf_free(&path);
    buf_free(&text);
}

/* ---- traces ---- */

#define TRACE_HEAD "\"job\":\"1\",\"attempt\":\"1-a\",\"process\":\"kafka-tail\",\"event\":"
#define TRACE_OPENED_LINE \
    "{\"seq\":1," TRACE_HEAD "\"opened\",\"format\":\"owed-trace\",\"version\":1,\"armed\":true }\n"

static int parse_trace(const char *text, struct trace_file *out)
{
    return trace_parse(text, strlen(text), "t", &arena, out, &err);
}

static bool same_event(const struct trace_event *x, const struct trace_event *y)
{
    return x->kind == y->kind && x->ok == y->ok && x->fresh == y->fresh && x->confirmation == y->confirmation &&
           x->checkpoint == y->checkpoint && x->previous == y->previous && x->participant == y->participant &&
           x->rows == y->rows && x->run == y->run && x->first == y->first && x->generation == y->generation &&
           x->parallel == y->parallel && x->status == y->status;
}

static void trace_comes_back(void **state)
{
    (void)state;
    static const struct trace_event written[] = {{.kind = TRACE_PLANNED,
                                                  .run = 2,
                                                  .fresh = true,
                                                  .checkpoint = UINT64_MAX,
                                                  .first = 1,
                                                  .generation = 3,
                                                  .parallel = 4,
                                                  .confirmation = true},
                                                 {.kind = TRACE_REDEPLOYED, .checkpoint = 5, .first = 6},
                                                 {.kind = TRACE_RESTORED, .checkpoint = 5, .first = 6, .ok = true},
                                                 {.kind = TRACE_STATE, .checkpoint = 6, .participant = 1},
                                                 {.kind = TRACE_BARRIER, .checkpoint = 6, .previous = 5},
                                                 {.kind = TRACE_ACKNOWLEDGED, .checkpoint = 6, .rows = 7},
                                                 {.kind = TRACE_EVIDENCE, .checkpoint = 6, .ok = true},
                                                 {.kind = TRACE_PASSED, .checkpoint = 6},
                                                 {.kind = TRACE_COMPLETED, .checkpoint = 6},
                                                 {.kind = TRACE_CONFIRMED, .checkpoint = 6},
                                                 {.kind = TRACE_ENDED, .status = 3}};
    size_t n = sizeof written / sizeof *written;
    struct trace t;
    struct trace_file f;
    struct buf path = BUF_INIT, text = BUF_INIT;
    path_join(&path, root, "traces");
    assert_int_equal(trace_open(&t, path.p, "j", "1-a", "ch-sink", "3", 1, &err), 0);
    for (size_t i = 0; i + 1 < n; i++)
        trace_put(&t, &written[i]);
    assert_int_equal(trace_close(&t, 3, &err), 0);
    path_join(&path, root, "traces/ch-sink-3-1-1-a.ndjson");
    assert_int_equal(file_read(path.p, 1 << 20, &text, &err), 0);
    assert_int_equal(trace_parse(text.p, text.len, "t", &arena, &f, &err), 0);
    assert_string_equal(f.process, "ch-sink-3-1");
    assert_string_equal(f.job, "j");
    assert_string_equal(f.attempt, "1-a");
    assert_true(f.armed);
    assert_false(f.cut);
    assert_int_equal(f.n, n);
    for (size_t i = 0; i < n; i++)
        assert_true(same_event(&f.events[i], &written[i]));
    buf_free(&path);
    buf_free(&text);
}

static void trace_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "\n",
        "[]\n",
        "{\"seq\":1," TRACE_HEAD "\"passed\",\"checkpoint\":1}\n",
        "{\"seq\":2," TRACE_HEAD "\"opened\",\"format\":\"owed-trace\",\"version\":1,\"armed\":true }\n",
        "{\"seq\":1," TRACE_HEAD "\"opened\",\"format\":\"owed-trace\",\"version\":2,\"armed\":true }\n",
        "{\"seq\":1," TRACE_HEAD "\"opened\",\"format\":\"other\",\"version\":1,\"armed\":true }\n",
        TRACE_OPENED_LINE TRACE_OPENED_LINE,
        TRACE_OPENED_LINE "{\"seq\":3," TRACE_HEAD "\"passed\",\"checkpoint\":1}\n",
        TRACE_OPENED_LINE "{\"seq\":2," TRACE_HEAD "\"passed\"}\n",
        TRACE_OPENED_LINE "{\"seq\":2," TRACE_HEAD "\"passed\",\"checkpoint\":-1}\n",
        TRACE_OPENED_LINE "{\"seq\":2," TRACE_HEAD "\"evidence\",\"checkpoint\":1,\"ok\":1}\n",
        TRACE_OPENED_LINE "{\"seq\":2," TRACE_HEAD "\"sent\",\"checkpoint\":1}\n",
        TRACE_OPENED_LINE "{\"seq\":2," TRACE_HEAD
                          "\"opened\",\"format\":\"owed-trace\",\"version\":1,\"armed\":true }\n",
        TRACE_OPENED_LINE
        "{\"seq\":2,\"job\":\"1\",\"attempt\":\"1-b\",\"process\":\"kafka-tail\",\"event\":\"passed\",\"checkpoint\":1}\n",
        TRACE_OPENED_LINE
        "{\"seq\":2,\"job\":\"2\",\"attempt\":\"1-a\",\"process\":\"kafka-tail\",\"event\":\"passed\",\"checkpoint\":1}\n",
        TRACE_OPENED_LINE
        "{\"seq\":2,\"job\":\"1\",\"attempt\":\"1-a\",\"process\":\"x\",\"event\":\"passed\",\"checkpoint\":1}\n",
        TRACE_OPENED_LINE "{\"seq\":2," TRACE_HEAD "\"ended\",\"status\":0}\n{\"seq\":3," TRACE_HEAD
                          "\"passed\",\"checkpoint\":1}\n"};
    struct trace_file f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err = (struct err)ERR_INIT;
        assert_int_equal(parse_trace(bad[i], &f), -1);
        assert_int_equal(err.kind, ERR_REFUSED);
    }
}

static void trace_cut_is_no_fault(void **state)
{
    (void)state;
    struct trace_file f;
    assert_int_equal(parse_trace(TRACE_OPENED_LINE "{\"seq\":2," TRACE_HEAD "\"passed\",\"check", &f), 0);
    assert_true(f.cut);
    assert_int_equal(f.n, 0);
    assert_int_equal(parse_trace("{\"seq\":1,", &f), 0);
    assert_true(f.cut);
    assert_null(f.job);
    assert_int_equal(parse_trace(TRACE_OPENED_LINE, &f), 0);
    assert_false(f.cut);
    assert_int_equal(parse_trace("", &f), 0);
    assert_false(f.cut);
    assert_null(f.job);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(ids_are_whole_names),
                                       T(marker_comes_back),
                                       T(marker_refuses),
                                       T(scan_takes_markers_only),
                                       T(restore_rule),
                                       T(greatest_of_everything),
                                       T(snapshot_comes_back),
                                       T(crc32c_is_castagnoli),
                                       T(capture_comes_back),
                                       T(capture_is_bounded),
                                       T(capture_write_failure_disarms),
                                       T(capture_cut_short),
                                       T(interval_comes_back),
                                       T(older_ledgers_are_read),
                                       T(token_is_of_everything),
                                       T(interval_lines_are_read),
                                       T(tally_goes_from_barrier_to_barrier),
                                       T(barrier_comes_back),
                                       T(redaction),
                                       T(a_program_is_not_redacted),
                                       T(op_spec_is_redacted),
                                       T(trace_comes_back),
                                       T(trace_refuses),
                                       T(trace_cut_is_no_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
