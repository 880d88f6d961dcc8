/* SPDX-License-Identifier: Apache-2.0 */
/* options: a command line read by a table; what is refused and how it is named; the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"

struct given {
    bool flag, first;
    const char *text, *name, *operand, *taken;
    uint64_t u64, size;
    int64_t i64;
    unsigned word, takes;
    struct opt_list list, names, rest;
    char **command;
};

static int take(const char *value, void *ctx, struct err *err)
{
    struct given *g = ctx;
    g->taken = value;
    g->takes++;
    return value && strcmp(value, "bad") == 0 ? err_set(err, ERR_REFUSED, "--take: bad") : 0;
}

static struct err error;
static int status;

/* Read the words of a line, split at spaces, by a table whose last entry takes the operands. */
static int read_by(struct given *g, struct opt operands, const char *line)
{
    static char text[1000], *argv[64];
    int argc = 0;
    const struct opt table[] = {OPT_USAGE("p [options]"),
                                OPT_FLAG("flag", &g->flag, "a flag"),
                                OPT_FLAG("first", &g->first, "two\nlines"),
                                OPT_TEXT("b,text", "FILE", &g->text, "a text"),
                                OPT_NAME("name", "NAME", &g->name, "a name"),
                                OPT_U64("n,u64", &g->u64, 1, 10, "a number"),
                                OPT_I64("i64", &g->i64, 0, 10, "another"),
                                OPT_SIZE("size", &g->size, 1024, 1 << 20, "a size"),
                                OPT_WORD("word", "red|green|any-other", &g->word, "a word"),
                                OPT_LIST("list", "X", &g->list, "a list"),
                                OPT_NAMES("names", "X,...", &g->names, "names"),
                                OPT_TAKE("X", "NAME=VALUE", take, g, "a letter alone"),
                                OPT_MAYBE("maybe", "text", take, g, "a value that may lack"),
                                operands,
                                OPT_EXIT("0 done"),
                                OPT_END};
    snprintf(text, sizeof text, "%s", line);
    argv[argc++] = text; /* as good a name as any */
    for (char *word, *rest = text; (word = strsep(&rest, " "));)
        argv[argc++] = word;
    argv[argc] = NULL;
    error = ERR_INIT;
    status = -1;
    return opt_read(argc, argv, table, &status, &error);
}

static int read_line(struct given *g, const char *line)
{
    return read_by(g, (struct opt)OPT_OPERAND(&g->operand), line);
}

static void given_free(struct given *g)
{
    opt_list_free(&g->list);
    opt_list_free(&g->names);
    opt_list_free(&g->rest);
    *g = (struct given){0};
}

static void test_values(void **state)
{
    (void)state;
    struct given g = {0};
    assert_int_equal(read_line(&g, "--flag --text=a=b --u64 7 --i64=3 --size=4K --word green file --name n"), 0);
    assert_true(g.flag);
    assert_string_equal(g.text, "a=b");
    assert_string_equal(g.name, "n");
    assert_int_equal(g.u64, 7);
    assert_int_equal(g.i64, 3);
    assert_int_equal(g.size, 4096);
    assert_int_equal(g.word, 1);
    assert_string_equal(g.operand, "file");
    given_free(&g);
    assert_int_equal(read_line(&g, "-b file -n7 -Xa=b --text="), 0);
    assert_string_equal(g.text, ""); /* given again, it takes the place of the one before */
    assert_int_equal(g.u64, 7);
    assert_string_equal(g.taken, "a=b");
    assert_null(g.operand);
    given_free(&g);
    assert_int_equal(read_line(&g, "--list=a,b --list c --names=a,b --names c"), 0);
    assert_int_equal(g.list.n, 2);
    assert_string_equal(g.list.at[0], "a,b");
    assert_int_equal(g.names.n, 3);
    assert_string_equal(g.names.at[1], "b");
    assert_null(g.names.at[3]);
    assert_true(opt_list_has(&g.names, "c"));
    assert_false(opt_list_has(&g.list, "a"));
    given_free(&g);
}

static void test_maybe(void **state)
{
    (void)state;
    struct given g = {.taken = "untouched"};
    assert_int_equal(read_line(&g, "--maybe file"), 0);
    assert_null(g.taken);
    assert_string_equal(g.operand, "file");
    assert_int_equal(read_line(&g, "--maybe=text"), 0);
    assert_string_equal(g.taken, "text");
    given_free(&g);
}

static void test_operands(void **state)
{
    (void)state;
    struct given g = {0};
    assert_int_equal(read_line(&g, "--flag -- --text"), 0);
    assert_string_equal(g.operand, "--text");
    given_free(&g);
    assert_int_equal(read_line(&g, "-"), 0);
    assert_string_equal(g.operand, "-");
    given_free(&g);
    assert_int_equal(read_line(&g, "one two=secret"), -1);
    assert_non_null(strstr(error.text, "'two'"));
    given_free(&g);
    assert_int_equal(read_by(&g, (struct opt)OPT_OPERANDS(&g.rest), "a --flag b"), 0);
    assert_int_equal(g.rest.n, 2);
    assert_true(g.flag);
    given_free(&g);
    assert_int_equal(read_by(&g, (struct opt)OPT_COMMAND(&g.command), "--flag -- cat --flag -x"), 0);
    assert_string_equal(g.command[0], "cat");
    assert_string_equal(g.command[2], "-x");
    assert_null(g.command[3]);
    given_free(&g);
    assert_int_equal(read_by(&g, (struct opt)OPT_COMMAND(&g.command), "cat --first"), 0);
    assert_false(g.first);
    given_free(&g);
    assert_int_equal(read_by(&g, (struct opt)OPT_FLAG("other", &g.flag, "no operands"), "a"), -1);
    given_free(&g);
}

/* A line, and what the error names. */
static void test_refusals(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"--nope=secret", "'--nope': no such option"},
        {"--nope secret", "'--nope': no such option"},
        {"-Z", "'-Z': no such option"},
        {"-Zsecret", "'-Z': no such option"},
        {"--fla", "'--fla': no such option"}, /* unambiguous, and no name */
        {"--wor=green", "'--wor': no such option"},
        {"--=secret", "'--': no such option"},
        {"--b=secret", "'--b': no such option"},
        {"--X=secret", "'--': no such option"},
        {"--text:secret", "'--text': no such option"},
        {"--passwordHunter2", "'--password...': no such option"},
        {"--passwordhunter2", "'--password...': no such option"},
        {"--api-keyhunter2", "'--api-key...': no such option"},
        {"--password=hunter2", "'--password': no such option"},
        {"--help=secret", "'--help' takes no value"},
        {"-flag", "'-f': no such option"},
        {"--flag=secret", "'--flag' takes no value"},
        {"--text", "'--text': its value is missing"},
        {"--text --flag", "'--text': its value is missing"},
        {"--text -b file", "'--text': its value is missing"},
        {"--text --", "'--text': its value is missing"},
        {"-b", "'-b': its value is missing"},
        {"-b --flag", "'-b': its value is missing"},
        {"--u64=0", "--u64: '0' is not a whole number from 1 to 10"},
        {"--u64=11", "--u64: '11'"},
        {"--u64=-1", "--u64: '-1'"},
        {"--u64=", "--u64: ''"},
        {"-nx", "--u64: 'x'"},
        {"--i64=11", "--i64: '11'"},
        {"--i64=-1", "--i64: '-1'"},
        {"--size=1", "--size: '1'"},
        {"--size=2M", "--size: '2M'"},
        {"--word=gree", "--word: 'gree' is not one of red|green|any-other"},
        {"--word=red|green", "--word: 'red|green'"},
        {"--word=", "--word: ''"},
        {"--name=", "--name: its value is empty"},
        {"--name=\xff", "--name: '\xff' is not UTF-8"},
        {"--names=", "--names: its value is empty"},
        {"--names=a,,b", "--names: 'a,,b' holds an empty name"},
        {"--names=a,", "--names: 'a,' holds an empty name"},
        {"-X bad", "--take: bad"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct given g = {0};
        if (read_line(&g, bad[i][0]) != -1 || error.kind != ERR_REFUSED || !strstr(error.text, bad[i][1]) ||
            strstr(error.text, "secret"))
            fail_msg("%s: %s", bad[i][0], error.text);
        given_free(&g);
    }
}

/* The first error is kept, and what stands behind it is known all the same: a program that was given a file, or
 * --first, reads no input. */
static void test_reads_to_the_end(void **state)
{
    (void)state;
    struct given g = {0};
    assert_int_equal(read_line(&g, "--u64=0 --nope --word=x --first file"), -1);
    assert_non_null(strstr(error.text, "--u64: '0'"));
    assert_true(g.first);
    assert_string_equal(g.operand, "file");
    given_free(&g);
    assert_int_equal(read_line(&g, "--text event_id --nope"), -1); /* the value is no operand */
    assert_null(g.operand);
    assert_string_equal(g.text, "event_id");
    given_free(&g);
    assert_int_equal(read_line(&g, "--nope -- --first"), -1); /* behind --, it is no option */
    assert_false(g.first);
    assert_string_equal(g.operand, "--first");
    given_free(&g);
    assert_int_equal(read_line(&g, "--text --first"), -1); /* a value that was forgotten takes no option away */
    assert_true(g.first);
    given_free(&g);
    assert_int_equal(read_line(&g, "--nope --help"), -1);
    assert_int_equal(status, -1); /* nothing was answered */
    given_free(&g);
}

/* What opt_read writes on standard output. */
static void answered(const char *line, char *out, size_t size)
{
    struct given g = {0};
    int ends[2], saved = dup(STDOUT_FILENO);
    fflush(stdout);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[1]);
    int rc = read_line(&g, line);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    ssize_t n = read(ends[0], out, size - 1);
    close(ends[0]);
    assert_true(n >= 0);
    out[n] = '\0';
    assert_int_equal(rc, 1);
    assert_int_equal(status, OWED_OK);
    given_free(&g);
}

static void test_help(void **state)
{
    (void)state;
    char out[4000];
    answered("--help", out, sizeof out);
    assert_string_equal(out, "usage: p [options]\n"
                             "      --flag          a flag\n"
                             "      --first         two\n"
                             "                      lines\n"
                             "  -b, --text=FILE     a text\n"
                             "      --name=NAME     a name\n"
                             "  -n, --u64=N         a number\n"
                             "      --i64=N         another\n"
                             "      --size=SIZE     a size\n"
                             "      --word=red|green|any-other\n"
                             "                      a word\n"
                             "      --list=X        a list\n"
                             "      --names=X,...   names\n"
                             "  -X NAME=VALUE       a letter alone\n"
                             "      --maybe[=text]  a value that may lack\n"
                             "      --help, --version\n"
                             "exit: 0 done\n");
    answered("-Vh", out, sizeof out);
    assert_non_null(strstr(out, OWED_VERSION));
    answered("file --version --nope", out, sizeof out);
    assert_non_null(strstr(out, OWED_VERSION));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_maybe), cmocka_unit_test(test_operands),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_help),  cmocka_unit_test(test_reads_to_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
