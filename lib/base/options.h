/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options: a program's command line as one table. Each entry says how an option
 * is named, what its value may be and where it goes, and what the help says of
 * it; opt_read reads the arguments by it and prints the help from it. Options
 * that several programs have are entries of a family (STREAM_OPTIONS, …), so
 * that their names, bounds and words are the same in all.
 *
 * A table lives as long as the call; texts that it stores are those of argv.
 */
#ifndef OWED_BASE_OPTIONS_H
#define OWED_BASE_OPTIONS_H

#include "base/base.h"

enum opt_kind {
    OPT_KIND_END,
    OPT_KIND_FLAG,
    OPT_KIND_TEXT,
    OPT_KIND_NAME,
    OPT_KIND_U64,
    OPT_KIND_I64,
    OPT_KIND_SIZE,
    OPT_KIND_WORD,
    OPT_KIND_LIST,
    OPT_KIND_NAMES,
    OPT_KIND_TAKE,
    OPT_KIND_MAYBE,
    OPT_KIND_OPERAND,
    OPT_KIND_OPERANDS,
    OPT_KIND_COMMAND,
    OPT_KIND_USAGE,
    OPT_KIND_EXIT
};

/* What was given more than once, in order; each text is a copy. */
struct opt_list {
    const char **at; /* a NULL behind the last; NULL itself where there is none */
    size_t n;
};
void opt_list_add(struct opt_list *l, const char *p, size_t n);
bool opt_list_has(const struct opt_list *l, const char *s);
void opt_list_free(struct opt_list *l);

/* Takes an option's value, which is NULL where it may lack and does. */
typedef int opt_take(const char *value, void *ctx, struct err *err);

struct opt {
    enum opt_kind kind;
    const char *name;  /* "key"; "b,bootstrap" with its letter; "X" a letter alone */
    const char *value; /* what the help calls its value; of a word, the ones that there are: "native|rowbinary" */
    union {
        bool *flag;
        const char **text;
        uint64_t *u64;
        int64_t *i64;
        unsigned *word;
        struct opt_list *list;
        char ***command;
        void *ctx;
    } to;
    uint64_t min, max;
    opt_take *take;
    const char *help; /* '\n' breaks the line */
};

/* clang-format off */
#define OPT_FLAG(NAME, TO, HELP) {.kind = OPT_KIND_FLAG, .name = NAME, .to.flag = TO, .help = HELP}
#define OPT_TEXT(NAME, VALUE, TO, HELP) {.kind = OPT_KIND_TEXT, .name = NAME, .value = VALUE, .to.text = TO, .help = HELP}
/* A text that stands in a stream, or names something: UTF-8, and not empty. */
#define OPT_NAME(NAME, VALUE, TO, HELP) {.kind = OPT_KIND_NAME, .name = NAME, .value = VALUE, .to.text = TO, .help = HELP}
/* A whole number from MIN to MAX; of a size, K, M and G may follow it. */
#define OPT_U64(NAME, TO, MIN, MAX, HELP) \
    {.kind = OPT_KIND_U64, .name = NAME, .value = "N", .to.u64 = TO, .min = MIN, .max = MAX, .help = HELP}
#define OPT_I64(NAME, TO, MIN, MAX, HELP) \
    {.kind = OPT_KIND_I64, .name = NAME, .value = "N", .to.i64 = TO, .min = MIN, .max = MAX, .help = HELP}
#define OPT_SIZE(NAME, TO, MIN, MAX, HELP) \
    {.kind = OPT_KIND_SIZE, .name = NAME, .value = "SIZE", .to.u64 = TO, .min = MIN, .max = MAX, .help = HELP}
/* One of the words; which of them, from 0. */
#define OPT_WORD(NAME, WORDS, TO, HELP) {.kind = OPT_KIND_WORD, .name = NAME, .value = WORDS, .to.word = TO, .help = HELP}
/* Each value is added; of names, which are UTF-8, several may stand in one value, with commas between them. */
#define OPT_LIST(NAME, VALUE, TO, HELP) {.kind = OPT_KIND_LIST, .name = NAME, .value = VALUE, .to.list = TO, .help = HELP}
#define OPT_NAMES(NAME, VALUE, TO, HELP) {.kind = OPT_KIND_NAMES, .name = NAME, .value = VALUE, .to.list = TO, .help = HELP}
#define OPT_TAKE(NAME, VALUE, TAKE, CTX, HELP) \
    {.kind = OPT_KIND_TAKE, .name = NAME, .value = VALUE, .take = TAKE, .to.ctx = CTX, .help = HELP}
/* The same with a value that may lack: it stands behind '=' or not at all. */
#define OPT_MAYBE(NAME, VALUE, TAKE, CTX, HELP) \
    {.kind = OPT_KIND_MAYBE, .name = NAME, .value = VALUE, .take = TAKE, .to.ctx = CTX, .help = HELP}
/* What stands without an option: one argument; any number; or, from the first of them on, all the rest. A program without
 * such an entry takes none. */
#define OPT_OPERAND(TO) {.kind = OPT_KIND_OPERAND, .to.text = TO}
#define OPT_OPERANDS(TO) {.kind = OPT_KIND_OPERANDS, .to.list = TO}
#define OPT_COMMAND(TO) {.kind = OPT_KIND_COMMAND, .to.command = TO}
/* Of every program that writes files under names. */
#define MODE_OPTION \
    OPT_TAKE("mode", "OCTAL", take_mode, NULL, "permissions of files written (0600); directories: x where there is r")
/* The help's first and last lines. */
#define OPT_USAGE(LINES) {.kind = OPT_KIND_USAGE, .help = "usage: " LINES "\n"}
#define OPT_EXIT(LINES) {.kind = OPT_KIND_EXIT, .help = "exit: " LINES "\n"}
#define OPT_END {.kind = OPT_KIND_END}
/* clang-format on */

opt_take take_mode;

/*
 * Read the whole command line. Options and operands stand in any order; `--` ends the options; a value stands behind
 * '=', in the next argument where that does not begin with '-' (but for "-" itself), or right behind a letter. Names
 * are given in full: a script with a short form would break once an option of that beginning is added. Given again, a
 * value takes the place of the one before, but of lists and of what a program takes itself.
 *
 * 0; 1 where --help or --version was answered, with *status as the exit status; -1 with *err, which shows nothing
 * behind an unknown option's '='. The first error is kept and reading goes on to the end, so that what else was given
 * (an operand, --first) is known then too.
 */
int opt_read(int argc, char **argv, const struct opt *table, int *status, struct err *err);

#endif
