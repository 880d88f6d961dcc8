/* SPDX-License-Identifier: Apache-2.0 */
/* The command line read by a program's table, and the help printed from it. */
#include "base/options.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_MAX 27 /* an option that is longer with its value has its help on the next line */

void opt_list_add(struct opt_list *l, const char *p, size_t n)
{
    l->at = xrealloc(l->at, (l->n + 2) * sizeof *l->at);
    l->at[l->n++] = xstrndup(p, n);
    l->at[l->n] = NULL;
}

bool opt_list_has(const struct opt_list *l, const char *s)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->at[i], s) == 0)
            return true;
    return false;
}

void opt_list_free(struct opt_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free((char *)l->at[i]);
    free(l->at);
    *l = (struct opt_list){NULL, 0};
}

/* ---- the table ---- */

static bool is_option(const struct opt *o)
{
    return o->name != NULL;
}

static bool has_letter(const struct opt *o)
{
    return o->name[1] == '\0' || o->name[1] == ',';
}

/* "" for a letter alone. */
static const char *long_name(const struct opt *o)
{
    return !has_letter(o) ? o->name : o->name[1] == ',' ? o->name + 2 : "";
}

static const struct opt *find_long(const struct opt *table, const char *name, size_t n)
{
    for (const struct opt *o = table; n > 0 && o->kind != OPT_KIND_END; o++)
        if (is_option(o) && strlen(long_name(o)) == n && memcmp(long_name(o), name, n) == 0)
            return o;
    return NULL;
}

/* A name that is none, as far as it is shown: what is no plain name may be a secret, and so may what stands behind a
 * secret's word, but for what some option is called. */
static int no_such(const struct opt *table, const char *name, struct err *err)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-"), known = secret_word(name, n);
    for (const struct opt *o = table; known > 0 && o->kind != OPT_KIND_END; o++) {
        size_t same = 0;
        while (is_option(o) && same < n && long_name(o)[same] == name[same])
            same++;
        known = same > known ? same : known;
    }
    bool cut = known > 0 && (known < n || (name[n] && name[n] != '='));
    return err_set(err, ERR_REFUSED, "'--%.*s%s': no such option (try --help)", (int)(known ? known : n), name,
                   cut ? "..." : "");
}

static const struct opt *find_letter(const struct opt *table, char letter)
{
    for (const struct opt *o = table; o->kind != OPT_KIND_END; o++)
        if (is_option(o) && has_letter(o) && o->name[0] == letter)
            return o;
    return NULL;
}

static const struct opt *find_operand(const struct opt *table)
{
    for (const struct opt *o = table; o->kind != OPT_KIND_END; o++)
        if (o->kind == OPT_KIND_OPERAND || o->kind == OPT_KIND_OPERANDS || o->kind == OPT_KIND_COMMAND)
            return o;
    return NULL;
}

/* ---- the help ---- */

static void put_head(struct buf *out, const struct opt *o, bool letters)
{
    const char *name = long_name(o);
    bool optional = o->kind == OPT_KIND_MAYBE;
    if (has_letter(o))
        buf_printf(out, "  -%c%s", o->name[0], *name ? ", " : "");
    else
        buf_adds(out, letters ? "      " : "  ");
    if (*name)
        buf_printf(out, "--%s", name);
    if (o->value)
        buf_printf(out, "%s%s%s%s", optional ? "[" : "", *name ? "=" : " ", o->value, optional ? "]" : "");
}

static void put_option(struct buf *out, const struct opt *o, bool letters, size_t column)
{
    size_t start = out->len;
    put_head(out, o, letters);
    size_t head = out->len - start;
    if (head + 2 > column) {
        buf_addc(out, '\n');
        head = 0;
    }
    for (const char *line = o->help, *end;; line = end + 1, head = 0) {
        end = strchrnul(line, '\n');
        buf_printf(out, "%*s%.*s\n", (int)(column - head), "", (int)(end - line), line);
        if (!*end)
            return;
    }
}

static void put_help(struct buf *out, const struct opt *table)
{
    struct buf head = BUF_INIT;
    bool letters = false, closed = false;
    size_t widest = 0;
    for (const struct opt *o = table; o->kind != OPT_KIND_END; o++)
        letters = letters || (is_option(o) && has_letter(o));
    for (const struct opt *o = table; o->kind != OPT_KIND_END; o++) {
        buf_reset(&head);
        if (is_option(o))
            put_head(&head, o, letters);
        if (head.len <= HEAD_MAX && head.len > widest)
            widest = head.len;
    }
    for (const struct opt *o = table;; o++) {
        if (!closed && (o->kind == OPT_KIND_EXIT || o->kind == OPT_KIND_END)) {
            buf_printf(out, "  %s--help, --version\n", letters ? "    " : "");
            closed = true;
        }
        if (o->kind == OPT_KIND_END)
            break;
        if (is_option(o))
            put_option(out, o, letters, widest + 2);
        else if (o->help)
            buf_adds(out, o->help);
    }
    buf_free(&head);
}

static int print_out(const struct buf *text)
{
    struct err err = ERR_INIT;
    if (fd_write_all(1, text->p, text->len, "standard output", &err) == 0)
        return OWED_OK;
    msg_error("%s", err.text);
    return OWED_TROUBLE;
}

static int answer(bool help, const struct opt *table)
{
    struct buf text = BUF_INIT;
    if (help)
        put_help(&text, table);
    else
        buf_printf(&text, "%s %s\n", msg_program(), OWED_VERSION);
    int status = print_out(&text);
    buf_free(&text);
    return status;
}

/* ---- values ---- */

static int set_word(const struct opt *o, const char *shown, const char *value, struct err *err)
{
    unsigned which = 0;
    size_t len = strlen(value);
    for (const char *word = o->value;; which++) {
        size_t n = strcspn(word, "|");
        if (n == len && memcmp(word, value, n) == 0) {
            *o->to.word = which;
            return 0;
        }
        if (!word[n])
            return err_set(err, ERR_REFUSED, "%s: '%s' is not one of %s", shown, value, o->value);
        word += n + 1;
    }
}

static int check_name(const char *shown, const char *value, struct err *err)
{
    if (!*value)
        return err_set(err, ERR_REFUSED, "%s: its value is empty", shown);
    return utf8_valid(value, strlen(value)) ? 0 : err_set(err, ERR_REFUSED, "%s: '%s' is not UTF-8", shown, value);
}

static int add_names(const struct opt *o, const char *shown, const char *value, struct err *err)
{
    if (check_name(shown, value, err) != 0)
        return -1;
    for (const char *p = value;; p++) {
        size_t n = strcspn(p, ",");
        if (n == 0)
            return err_set(err, ERR_REFUSED, "%s: '%s' holds an empty name", shown, value);
        opt_list_add(o->to.list, p, n);
        p += n;
        if (!*p)
            return 0;
    }
}

static int set(const struct opt *o, const char *value, struct err *err)
{
    char shown[64];
    const char *name = long_name(o);
    if (*name)
        snprintf(shown, sizeof shown, "--%s", name);
    else
        snprintf(shown, sizeof shown, "-%c", o->name[0]);
    switch (o->kind) {
    case OPT_KIND_FLAG: *o->to.flag = true; return 0;
    case OPT_KIND_TEXT: *o->to.text = value; return 0;
    case OPT_KIND_NAME: *o->to.text = value; return check_name(shown, value, err);
    case OPT_KIND_U64: return parse_u64(value, o->min, o->max, o->to.u64, shown, err);
    case OPT_KIND_I64: return parse_i64(value, (int64_t)o->min, (int64_t)o->max, o->to.i64, shown, err);
    case OPT_KIND_SIZE: return parse_size(value, o->min, o->max, o->to.u64, shown, err);
    case OPT_KIND_WORD: return set_word(o, shown, value, err);
    case OPT_KIND_LIST: opt_list_add(o->to.list, value, strlen(value)); return 0;
    case OPT_KIND_NAMES: return add_names(o, shown, value, err);
    default: return o->take(value, o->to.ctx, err);
    }
}

/* ---- the arguments ---- */

struct reader {
    const struct opt *table;
    char **argv;
    int argc, at; /* at: the next argument */
    struct err *err;
    bool asked_help, asked_version;
};

/* The next argument where it is a value: what begins with '-' is the next option, this one's value having been
 * forgotten. */
static const char *next_value(struct reader *r)
{
    const char *next = r->at < r->argc ? r->argv[r->at] : NULL;
    if (!next || (next[0] == '-' && next[1]))
        return NULL;
    r->at++;
    return next;
}

static int read_long(struct reader *r, const char *arg)
{
    const char *name = arg + 2, *end = strchrnul(name, '='), *value = *end ? end + 1 : NULL;
    int n = (int)(end - name);
    if (strcmp(name, "help") == 0 || strcmp(name, "version") == 0) {
        *(*name == 'h' ? &r->asked_help : &r->asked_version) = true;
        return 0;
    }
    const struct opt *o = find_long(r->table, name, (size_t)n);
    if (!o && value && ((n == 4 && memcmp(name, "help", 4) == 0) || (n == 7 && memcmp(name, "version", 7) == 0)))
        return err_set(r->err, ERR_REFUSED, "'--%.*s' takes no value (try --help)", n, name);
    if (!o)
        return no_such(r->table, name, r->err);
    if (value && o->kind == OPT_KIND_FLAG)
        return err_set(r->err, ERR_REFUSED, "'--%.*s' takes no value (try --help)", n, name);
    if (!value && o->kind != OPT_KIND_FLAG && o->kind != OPT_KIND_MAYBE && !(value = next_value(r)))
        return err_set(r->err, ERR_REFUSED, "'--%.*s': its value is missing (try --help)", n, name);
    return set(o, value, r->err);
}

/* One letter with its value, or several that take none. */
static int read_letters(struct reader *r, const char *arg)
{
    for (const char *p = arg + 1; *p; p++) {
        const struct opt *o = find_letter(r->table, *p);
        if (!o && (*p == 'h' || *p == 'V')) {
            *(*p == 'h' ? &r->asked_help : &r->asked_version) = true;
            return 0;
        }
        if (!o)
            return err_set(r->err, ERR_REFUSED, "'-%c': no such option (try --help)", *p);
        const char *value = NULL;
        if (o->kind != OPT_KIND_FLAG && !(value = p[1] ? p + 1 : next_value(r)))
            return err_set(r->err, ERR_REFUSED, "'-%c': its value is missing (try --help)", *p);
        if (set(o, value, r->err) != 0)
            return -1;
        if (value)
            return 0;
    }
    return 0;
}

/* An address may hold a password: what is no plain word is named by its place. */
static int unexpected(struct reader *r, const char *arg)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-";
    size_t n = strcspn(arg, "=");
    if (strspn(arg, plain) >= n)
        return err_set(r->err, ERR_REFUSED, "'%.*s': no such argument is expected (try --help)", (int)n, arg);
    return err_set(r->err, ERR_REFUSED, "argument %d: no such argument is expected (try --help)", r->at - 1);
}

static int read_operand(struct reader *r, char *arg)
{
    const struct opt *o = find_operand(r->table);
    if (!o || (o->kind == OPT_KIND_OPERAND && *o->to.text))
        return unexpected(r, arg);
    if (o->kind == OPT_KIND_OPERAND) {
        *o->to.text = arg;
    } else if (o->kind == OPT_KIND_OPERANDS) {
        opt_list_add(o->to.list, arg, strlen(arg));
    } else {
        *o->to.command = r->argv + r->at - 1;
        r->at = r->argc;
    }
    return 0;
}

int opt_read(int argc, char **argv, const struct opt *table, int *status, struct err *err)
{
    struct err further = ERR_INIT; /* errors after the first */
    struct reader r = {.table = table, .argv = argv, .argc = argc, .at = 1, .err = err};
    bool options = true, failed = false;
    while (r.at < argc) {
        char *arg = argv[r.at++];
        int rc = 0;
        if (!options || arg[0] != '-' || !arg[1])
            rc = read_operand(&r, arg);
        else if (strcmp(arg, "--") == 0)
            options = false;
        else
            rc = arg[1] == '-' ? read_long(&r, arg) : read_letters(&r, arg);
        if (rc != 0) {
            failed = true;
            r.err = &further;
        } else if (!failed && (r.asked_help || r.asked_version)) {
            *status = answer(r.asked_help, table);
            return 1;
        }
    }
    return failed ? -1 : 0;
}
