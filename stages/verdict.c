/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict: the end of a stream. Reads every line, decides the checks that the
 * run required, and writes the report: text for a person, or JSON.
 *
 * Exit: 2 a refusal; else 1 a required check failed; else 3 one is unavailable,
 * unsupported or unfinished, or nothing was required; else 0.
 */
#include "report/view.h"
#include "stream/stream.h"

#include <unistd.h>

struct options {
    enum profile profile;
    bool json;
    const char *report;
    uint64_t show, max_line;
};

/* Of several the one that requires most: each holds those before it. */
static int take_profile(const char *value, void *ctx, struct err *err)
{
    enum profile p, *most = ctx;
    if (profile_parse(value, &p, err) != 0)
        return -1;
    *most = p > *most ? p : *most;
    return 0;
}

static int read_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    const struct opt table[] = {
        OPT_USAGE("verdict [options] <stream\n"
                  "Decide a stream's required checks and report the answer."),
        OPT_TAKE("profile", "integrity|consistency|replay|full", take_profile, &o->profile,
                 "require what the profile needs, besides what the stream requires"),
        OPT_FLAG("json", &o->json, "the report as JSON on standard output, in place of the text"),
        OPT_TEXT("report", "FILE", &o->report, "the report as JSON in FILE too"),
        OPT_U64("show", &o->show, 0, 100000, "findings shown a relation in the text (20)"),
        MODE_OPTION,
        STREAM_OPTIONS(&o->max_line),
        OPT_EXIT("0 every required check passed, 1 one failed, 2 refused, 3 not everything could be checked"),
        OPT_END};
    return opt_read(argc, argv, table, status, err);
}

/* Everything that came, until it ends or breaks; why it broke stays in the report. */
static void gather(struct stream_in *in, struct report *r)
{
    struct stream_line line;
    int rc;
    while ((rc = stream_next(in, &line, &r->input)) > 0)
        if (report_line(r, &line, &r->input) != 0)
            break;
    report_imply(r, in->stages);
    if (r->input.kind == ERR_REFUSED)
        r->unread = in->lines.line_no;
    r->ended = rc == 0;
    if (rc == 0) {
        r->input = (struct err)ERR_INIT;
        report_whole(r, in->shard, &r->input);
    }
    if (r->input.kind != ERR_NONE)
        msg_error("%s", r->input.text);
}

static int publish(const struct report *r, const struct options *o, struct err *err)
{
    struct buf json = BUF_INIT, text = BUF_INIT;
    struct view v;
    int rc = 0;
    view_make(&v, r);
    report_json(&v, &json);
    if (o->report)
        rc = file_publish(o->report, json.p, json.len, err);
    if (!o->json)
        report_text(&v, o->show, &text);
    const struct buf *shown = o->json ? &json : &text;
    struct err failure = ERR_INIT;
    if (fd_write_all(STDOUT_FILENO, shown->p, shown->len, "standard output", &failure) != 0 ||
        (close(STDOUT_FILENO) != 0 && err_sys(&failure, "cannot write standard output") != 0)) {
        if (rc == 0)
            *err = failure;
        rc = -1;
    }
    buf_free(&json);
    buf_free(&text);
    view_free(&v);
    return rc;
}

int main(int argc, char **argv)
{
    msg_init(argv[0]);
    struct options o = {.show = 20, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = read_options(argc, argv, &o, &status, &err);
    if (rc > 0)
        return status;
    if (rc < 0) {
        msg_error("%s", err.text);
        return err_exit(&err);
    }
    struct stream_in in;
    struct report r;
    report_init(&r);
    r.profile = o.profile;
    stream_in_init(&in, STDIN_FILENO, "stdin", o.max_line);
    progress_output_waits();
    gather(&in, &r);
    progress_clear();
    report_decide(&r);
    status = r.exit;
    if (publish(&r, &o, &err) != 0) {
        msg_error("%s", err.text);
        /* An answer that did not get out is no answer, whatever it was. */
        status = status == OWED_REFUSED ? status : OWED_TROUBLE;
    }
    stream_in_free(&in);
    report_free(&r);
    return status;
}
