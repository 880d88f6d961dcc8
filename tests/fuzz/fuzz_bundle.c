/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz the whole reader of bundles: the input is the manifest of a directory whose files are good, opened and put
 * through every check, as bundle-check does. What is refused says so; what is not leaves checks that end, and a file
 * that a check rests on is one that the manifest lists.
 */
#include "bundle/bundle.h"
#include "evidence/sidecar.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static char root[64];

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static void clean(void)
{
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *rel, const void *p, size_t n)
{
    struct buf path = BUF_INIT;
    path_join(&path, root, rel);
    char *slash = strrchr(path.p, '/');
    *slash = '\0';
    if (dir_make(path.p, NULL) != 0)
        abort();
    *slash = '/';
    int fd = open(path.p, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || fd_write_all(fd, p, n, rel, NULL) != 0 || close(fd) != 0)
        abort();
    buf_free(&path);
}

static void put_text(const char *rel, const char *text)
{
    put(rel, text, strlen(text));
}

#define STATE(subtask, checkpoint, more) \
    "{\"format\":\"owed-state\",\"version\":1,\"job\":\"1\",\"operator\":\"1\",\"kind\":\"kafka-source\",\"subtask\":" subtask \
    ",\"checkpoint\":" checkpoint ",\"log\":{\"topic\":\"t\",\"cluster_id\":\"c\",\"topic_id\":null},\"isolation\":" \
    "\"read_committed\",\"positions\":[],\"declared\":[0],\"watermark\":null,\"partition_max\":[]" more "}\n"
#define BELOW "checkpoint/_state/1/v1/"

static void put_state(const char *rel, uint64_t checkpoint, const char *text)
{
    struct buf meta = BUF_INIT, path = BUF_INIT;
    put_text(rel, text);
    sidecar_put(&meta, checkpoint, text, strlen(text));
    buf_printf(&path, "%s.meta", rel);
    put(buf_str(&path), meta.p, meta.len);
    buf_free(&meta);
    buf_free(&path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char changelog[] =
        "{\"format\":\"owed-changelog\",\"version\":1,\"job\":\"1\",\"operator\":\"1\",\"kind\":\"kafka-source\",\"subtask\":1,"
        "\"checkpoint\":7,\"materializations\":[],\"changes\":2}\n{\"put\":\"declared\",\"value\":[1]}\n{\"delete\":\"declared\"}\n";
    (void)argc;
    (void)argv;
    snprintf(root, sizeof root, "%s/owed-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(root))
        abort();
    atexit(clean);
    put_text("checkpoint/_jobs/1/COMPLETED-6", "job=1\ncheckpoint=6\ngeneration=1\nsubtasks=0,1\n");
    put_text("checkpoint/_jobs/1/COMPLETED-7", "job=1\ncheckpoint=7\ngeneration=1\nsubtasks=0,1\n");
    put_text("checkpoint/_jobs/1/RESTORED", "job=1\ncheckpoint=4\nnext=6\n");
    put_state(BELOW "0/checkpoint-7.snap", 7, STATE("0", "7", ""));
    put_state(BELOW "0/checkpoint-6.snap", 6, STATE("0", "6", ""));
    put_state(BELOW "0/start-6.snap", 5,
              STATE("0", "5", ",\"run\":{\"first_epoch\":6,\"restored_from\":4,\"attempt\":\"a\"}"));
    put_text(BELOW "1/changelog-7.snap", changelog);
    put_text(BELOW "1.cp-6/CURRENT", "MANIFEST-000001\n");
    put_text("capture/op-3/subtask-0/epoch-7.cap", "x\n");
    put_text("job/manifest.json", "{}\n");
    put_text("traces/a.ndjson", "");
    return 0;
}

static void hold(const struct bundle *b, struct bundle_finding *f)
{
    for (size_t i = 0; i < f->used.n && f->failed.total == 0; i++) {
        const char *path = f->used.path[i];
        bool is_dir = strstr(path, ".cp-") != NULL;
        if (strcmp(path, "manifest.json") != 0 && !is_dir && !bundle_find(&b->m, path))
            abort();
    }
    bundle_finding_free(f);
    bundle_finding_init(f);
}

static void check(struct bundle *b)
{
    struct bundle_verified v;
    struct bundle_finding f;
    struct err err = ERR_INIT;
    bundle_finding_init(&f);
    bundle_check_manifest(b, &f);
    hold(b, &f);
    bundle_check_completeness(b, &f);
    hold(b, &f);
    if (bundle_verify(b, true, &v, NULL, &err) != 0)
        abort();
    /* bundle-check goes no further over files that are not the manifest's; nothing may break where it did. */
    bundle_verified_free(&v);
    bundle_check_marker(b, &f);
    if (f.failed.total == 0 && f.unavailable.total == 0)
        hold(b, &f);
    bundle_finding_free(&f);
    bundle_finding_init(&f);
    bundle_check_restore_rule(b, &f);
    hold(b, &f);
    bundle_check_participants(b, &f);
    if (f.unavailable.total == 0)
        hold(b, &f);
    bundle_finding_free(&f);
    bundle_finding_init(&f);
    bundle_check_state(b, NULL, NULL, &f);
    hold(b, &f);
    bundle_finding_free(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bundle b;
    struct err err = ERR_INIT;
    put("manifest.json", data, size);
    if (bundle_open(&b, root, &err) == 0)
        check(&b);
    else if (err.kind != ERR_REFUSED || err.text[0] == '\0')
        abort();
    bundle_close(&b);
    return 0;
}
