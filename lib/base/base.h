/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base: what every module stands on. Errors and exit codes, growable
 * buffers, arenas, files, SHA-256, time and messages; options.h has the command line.
 *
 * Ownership: a struct initialised by its _INIT value owns what it grows and is
 * released by its _free function; pointers into it live until it is next
 * changed. Library functions return 0 on success and -1 with *err set on
 * failure, and never print; only stages print, through msg_*.
 */
#ifndef OWED_BASE_H
#define OWED_BASE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define OWED_VERSION "0.1.0"

/* ---- exit codes (STREAM.md, rule 6) ---- */

enum owed_exit {
    OWED_OK = 0,      /* done; every check of this program passed */
    OWED_FAILED = 1,  /* a check failed */
    OWED_REFUSED = 2, /* bad usage, or input outside the contract */
    OWED_TROUBLE = 3  /* could not be decided: I/O, memory, broker, server, unfinished, unsupported */
};

/* ---- errors ---- */

enum err_kind {
    ERR_NONE = 0,
    ERR_REFUSED, /* the input is outside the contract: exit 2 */
    ERR_TROUBLE, /* the world failed: I/O, server, bound: exit 3 */
    ERR_CHANGED, /* a file changed or vanished while it was used */
    ERR_MISSING, /* something named is not there */
    ERR_BOUND,   /* a stated bound was passed */
    ERR_TIMEOUT  /* a stated time was passed */
};

/* What went wrong, for programs and for the next action: a code, whose table stands above this module (stream/codes.h;
 * 0: none), and facts, texts by name such as a partition, a count or an option. */
struct fact {
    const char *name, *value;
};
struct cause {
    unsigned code;
    unsigned len;   /* of text */
    char text[440]; /* name, NUL, value, NUL, and so on; a fact that does not fit is left out */
};
#define CAUSE_INIT ((struct cause){.code = 0})
#define CAUSE_FACTS 4

/* The cause of a code with its facts: BECAUSE(CODE_TOPIC_COMPACTED, {"topic", name}). It lives to the end of the block.
 * A value of NULL is no fact. */
#define BECAUSE(code_, ...) \
    cause_of(&(struct cause){.code = 0}, (code_), (const struct fact[CAUSE_FACTS + 1]){__VA_ARGS__})
const struct cause *cause_of(struct cause *room, unsigned code, const struct fact *facts);
/* A number as the value of a fact, decimal. */
#define FACT_NUMBER(n) fact_number((char[24]){0}, (n))
const char *fact_number(char room[24], uint64_t n);
void cause_add(struct cause *c, const char *name, const char *value);
const char *cause_fact(const struct cause *c, const char *name); /* its value, or NULL */
/* The next fact after the one named at (NULL: the first), or NULL; *value is its value. */
const char *cause_next(const struct cause *c, const char *at, const char **value);

struct err {
    enum err_kind kind;
    int sys; /* errno, where a system call failed; else 0 */
    struct cause cause;
    char text[1000];
};
#define ERR_INIT ((struct err){.kind = ERR_NONE})

/* As ERR_INIT, without clearing what is behind the ends: for a path that every row takes. */
void err_reset(struct err *err);
/* Set *err (which may be NULL) and return -1, so that `return err_set(...)` is one line. The text is
 * lower case, without a full stop, names the place, and holds no credential. It has no code. */
int err_set(struct err *err, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same with a cause. */
int err_fail(struct err *err, enum err_kind kind, const struct cause *cause, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Give an error that has no code this one. Returns -1. */
int err_cause(struct err *err, const struct cause *cause);
/* As err_set, with ": " and the text of errno appended; ENOENT keeps the kind ERR_MISSING. */
int err_sys(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Put "prefix: " before the text that *err holds. Returns -1. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The exit status that a stage gives for an error of this kind: ERR_REFUSED 2, else 3. */
int err_exit(const struct err *err);

/* ---- messages (standard error) ---- */

/* Remember the program's name for messages: the last component of argv0. Makes sure that no standard descriptor is
 * closed, and that nobody else reads what is written (mode_keep). */
void msg_init(const char *argv0);
const char *msg_program(void);
/* `prog: text` on standard error, bytes that are not printable masked as \xNN. */
void msg_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Each line of a note, the same. */
struct buf;
void msg_note(const struct buf *note);
/* Append len bytes to out; what drives a terminal, turns the direction of text, breaks a line or is not seen is masked
 * as \xNN. */
void msg_mask(struct buf *out, const char *p, size_t len);

/* ---- memory ---- */

/* Say that there is none, and _exit(OWED_TROUBLE). */
_Noreturn void out_of_memory(void);
/* As malloc and realloc, but never NULL: without memory they do that. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);

/* A growable byte string. p is NULL while cap is 0; after buf_str it ends in a NUL that len does not count. */
struct buf {
    char *p;
    size_t len, cap;
};
#define BUF_INIT ((struct buf){NULL, 0, 0})

void buf_reserve(struct buf *b, size_t more); /* room for `more` bytes past len */
void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
void buf_addu64(struct buf *b, uint64_t v); /* decimal */
void buf_addi64(struct buf *b, int64_t v);
const char *buf_str(struct buf *b); /* NUL-terminated view, valid until b changes */
void buf_reset(struct buf *b);      /* len = 0, memory kept */
void buf_free(struct buf *b);
bool buf_is(const struct buf *b, const char *p, size_t n);

/* Memory that is given back all at once. Blocks are kept over a reset, so a loop reuses them. */
struct arena_block;
struct arena {
    struct arena_block *first, *current;
};
#define ARENA_INIT ((struct arena){NULL, NULL})

void *arena_alloc(struct arena *a, size_t n); /* aligned for any type, not cleared */
void *arena_zalloc(struct arena *a, size_t n);
/* As realloc of an allocation of had bytes (NULL and 0: a new one): in its place where that can be. */
void *arena_resize(struct arena *a, void *p, size_t had, size_t n);
char *arena_strndup(struct arena *a, const char *p, size_t n); /* NUL added */
void arena_reset(struct arena *a);
void arena_free(struct arena *a);

/* ---- numbers and names from options and files ---- */

/* Whole text as decimal in [min, max]; no sign, space or suffix. what names it in the error. */
int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out, const char *what, struct err *err);
int parse_i64(const char *s, int64_t min, int64_t max, int64_t *out, const char *what, struct err *err);
/* As parse_u64 with an optional K, M, G (powers of 1024). */
int parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *out, const char *what, struct err *err);
/* Length-counted form: true when p[0..n) is a decimal without leading zero that fits. */
bool scan_u64(const char *p, size_t n, uint64_t *out);
bool scan_i64(const char *p, size_t n, int64_t *out);

/* Behind the first word in a name that says that it is a secret's (password, api_key, …), or 0: there is none. The one
 * list of such words. */
size_t secret_word(const char *name, size_t n);
/* ERR_REFUSED: the environment has no variable of that name, which is shown only where it looks like one: it may be the
 * secret itself, as the name of a file may. Returns -1. */
int env_missing(const char *name, struct err *err);
/* A secret from the environment variable `env`, or from the file `file` (its first line); exactly one of
 * the two is not NULL, or both are NULL and *out is left NULL. *out is malloc'd. The error never shows it. */
int secret_read(const char *env, const char *file, char **out, struct err *err);

/* ---- files ---- */

/* Whole contents into out (appended). Refuses a directory and anything past max bytes (ERR_BOUND). */
int file_read(const char *path, size_t max, struct buf *out, struct err *err);
int file_read_fd(int fd, const char *name, size_t max, struct buf *out, struct err *err);
/* Write n bytes, whatever write(2) takes at a time. */
int fd_write_all(int fd, const void *p, size_t n, const char *name, struct err *err);
/* Append 16 hex digits that nobody can foresee, so that nothing waits under a temporary name for whoever makes it. */
void temp_suffix(struct buf *out);
/* Publish bytes under path: written beside it under a temporary name, synced, renamed, directory synced.
 * The temporary name is ".<name>.tmp-" and what nobody can foresee. Nothing is left under either name on failure. */
int file_publish(const char *path, const void *p, size_t n, struct err *err);
/* As file_publish, and refuse when path exists. */
int file_publish_new(const char *path, const void *p, size_t n, struct err *err);
/* The same for a file too large to hold: written in blocks to a file without a name beside path (with file_publish's
 * temporary name where the file system has no such files), and published by file_commit. After any failure, and at any
 * time, file_drop leaves nothing. Anything at path that is no regular file is refused. */
struct file_out {
    char *path, *dir, *tmp;
    int fd;
    bool named; /* something stands under tmp */
    struct buf held;
};
int file_begin(struct file_out *f, const char *path, struct err *err);
/* ERR_REFUSED where out, which is to be written, is the very file that is read as in. A NULL is no file. */
int file_apart(const char *out, const char *in, struct err *err);
int file_add(struct file_out *f, const void *p, size_t n, struct err *err);
int file_commit(struct file_out *f, struct err *err); /* frees f in every case */
void file_drop(struct file_out *f);
int dir_sync(const char *path, struct err *err);
int dir_make(const char *path, struct err *err); /* with parents; an existing directory is fine */
/* Files that are written from now on are 0600 and directories 0700, whatever the user's mask is; msg_init does it.
 * Before a program of the user's is run, its mask is given back. */
void mode_keep(void);
void mode_give_back(void);
/* Open a file beneath the directory rootfd, following no link on any component (openat2 where the kernel
 * has it, component by component elsewhere). path must be plain and relative. Returns the descriptor or -1:
 * ERR_REFUSED for a link (sys ELOOP) or a path that is not plain, ERR_MISSING where it is not there. */
int open_beneath(int rootfd, const char *path, int flags, struct err *err);
/* True when path is relative with no empty, "." or ".." component, no backslash, no NUL in n bytes, at most 4095. */
bool path_is_plain(const char *path, size_t n);
/* An unnamed scratch file in dir (NULL: $TMPDIR is not used, /var/tmp is). O_TMPFILE, or unlinked at once. */
int scratch_open(const char *dir, struct err *err);
/* path = dir "/" name, into out (reset first). Returns buf_str. */
const char *path_join(struct buf *out, const char *dir, const char *name);

/* ---- SHA-256 (OpenSSL) ---- */

#define SHA256_HEX 64
struct sha256 {
    void *ctx;
};
void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *p, size_t n);
void sha256_hex(struct sha256 *s, char out[SHA256_HEX + 1]); /* lower-case hex; ends and frees s */
void sha256_take(struct sha256 *s,
                 char out[SHA256_HEX + 1]); /* the same, and begin anew in s: cheaper for many small files */
void sha256_free(struct sha256 *s);         /* of one that sha256_hex did not end */
void sha256_of(const void *p, size_t n, char out[SHA256_HEX + 1]);
bool sha256_is_hex(const char *p, size_t n); /* 64 lower-case hex digits */
/* Hash what is left to read of fd. *bytes (may be NULL) is how many there were. */
int sha256_fd(int fd, const char *name, char out[SHA256_HEX + 1], uint64_t *bytes, struct err *err);

/* ---- time ---- */

int64_t time_now_ms(void);                  /* wall clock, ms since the epoch */
int64_t time_mono_ms(void);                 /* monotonic */
void time_iso_ms(int64_t ms, char out[32]); /* 2026-11-29T20:18:39.123Z */
/* YYYY-MM-DDThh:mm[:ss[.f]] with up to three digits of fraction and Z or +hh:mm, from 1970 on. */
bool time_parse_ms(const char *s, int64_t *ms);
void sleep_ms(int64_t ms);

/* ---- progress (progress.c): a line on a terminal, for work that takes longer than two seconds ---- */

enum progress_unit { PROGRESS_RECORDS, PROGRESS_EVENTS, PROGRESS_ROWS, PROGRESS_BYTES, PROGRESS_UNITS };
/* So many more have come, or gone. From any thread. */
void progress_count(enum progress_unit unit, uint64_t n);
/* How much of the whole is done: with it the line has a share, and the time that is left. */
void progress_share(uint64_t done, uint64_t of);
/* The same by how far fd, where it is a file, has been read. */
void progress_file(int fd);
/* Another part of the work begins, with counts and a share of its own. */
void progress_next(void);
/* Nothing is written to standard output before progress_clear, so that it may be the same terminal. */
void progress_output_waits(void);
/* Take the line away; whatever else writes to the terminal does so first, as msg_error does. */
void progress_clear(void);

/* ---- child processes ---- */

/* One child with pipes at its standard input and output; its standard error is ours. It leads a process group of its
 * own, which is killed with child_end, when a signal ends this program (HUP, INT, QUIT, TERM, PIPE), and the child
 * itself whatever ends this program. One at a time. */
struct child {
    pid_t pid;    /* 0: none */
    pid_t warden; /* of its group, which it ends once this program is gone */
    int in;       /* what it reads; not blocking; -1 once closed */
    int out;      /* what it writes; not blocking */
    int unread;   /* the far end of in: held, so that a child that stops reading is no SIGPIPE and what it left can be
                     counted */
    int life;     /* our end of what the warden waits on */
    int status;   /* of wait(2), after child_end */
};
#define CHILD_INIT ((struct child){0, 0, -1, -1, -1, -1, 0})

/* Start argv[0], found by PATH, without a shell. ERR_REFUSED where it cannot be run, with its name and nothing of its
 * arguments. */
int child_start(struct child *c, char *const *argv, struct err *err);
void child_close_in(struct child *c);
size_t child_unread(const struct child *c); /* bytes that were written to in and nobody read */
bool child_ended(const struct child *c);    /* true once it has ended; child_end then gives its own status */
/* Kill the group, wait for the child, close the pipes. */
void child_end(struct child *c);

/* ---- base64 (RFC 4648, padded, no spare bits) ---- */

void base64_add(struct buf *out, const void *p, size_t n);
/* Append the decoded bytes; false (out unchanged) where the text is not canonical base64. */
bool base64_decode(struct buf *out, const char *p, size_t n);

/* ---- bytes ---- */

/* True when p[0..n) is valid UTF-8 (no surrogates, no overlong form, at most U+10FFFF). */
bool utf8_valid(const char *p, size_t n);

#endif
