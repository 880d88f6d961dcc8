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

#include <getopt.h>
#include <unistd.h>

static const char help[] =
    "usage: verdict [--profile=PROFILE] [--json] [--report=FILE] [--list=N] <stream\n"
    "Decide a stream's required checks and report the answer.\n"
    "  --profile=integrity|consistency|replay|full   require what the profile needs, besides what the stream requires\n"
    "  --json            the report as JSON on standard output, in place of the text\n"
    "  --report=FILE     the report as JSON in FILE too\n"
    "  --list=N          findings shown a relation in the text (20)\n"
    "  --max-line=SIZE   longest line accepted (64M)\n"
    "  --help, --version\n"
    "exit: 0 every required check passed, 1 one failed, 2 refused, 3 not everything could be checked\n";

enum { OPT_PROFILE = 256, OPT_JSON, OPT_REPORT, OPT_LIST, OPT_MAX_LINE };

static const struct option longopts[] = {
    {"profile", required_argument, NULL, OPT_PROFILE},
    {"json", no_argument, NULL, OPT_JSON},
    {"report", required_argument, NULL, OPT_REPORT},
    {"list", required_argument, NULL, OPT_LIST},
    {"max-line", required_argument, NULL, OPT_MAX_LINE},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

struct options {
    enum profile profile;
    bool json;
    const char *report;
    uint64_t list, max_line;
};

/* Of several the one that requires most: each holds those before it. */
static int add_profile(const char *s, enum profile *most, struct err *err)
{
    enum profile p;
    if (profile_parse(s, &p, err) != 0)
        return -1;
    *most = p > *most ? p : *most;
    return 0;
}

static int parse_options(int argc, char **argv, struct options *o, int *status, struct err *err)
{
    int c, rc = 0;
    while (rc == 0 && (c = getopt_long(argc, argv, "hV", longopts, NULL)) != -1) {
        switch (c) {
        case OPT_PROFILE: rc = add_profile(optarg, &o->profile, err); break;
        case OPT_JSON: o->json = true; break;
        case OPT_REPORT: o->report = optarg; break;
        case OPT_LIST: rc = parse_u64(optarg, 0, UINT32_MAX, &o->list, "--list", err); break;
        case OPT_MAX_LINE: rc = parse_size(optarg, 1024, (uint64_t)1 << 40, &o->max_line, "--max-line", err); break;
        case 'h': *status = msg_help(help); return 1;
        case 'V': *status = msg_version(); return 1;
        default: return opt_refused(argv, optind - 1, err);
        }
    }
    if (rc == 0 && optind < argc)
        return opt_refused(argv, optind, err);
    return rc;
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
    if (rc == 0) {
        r->input = (struct err)ERR_INIT;
        report_whole(r, in->stages, in->shard, &r->input);
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
        report_text(&v, o->list, &text);
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
    struct options o = {.list = 20, .max_line = STREAM_MAX_LINE};
    struct err err = ERR_INIT;
    int status = 0;
    int rc = parse_options(argc, argv, &o, &status, &err);
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
    gather(&in, &r);
    report_decide(&r, in.stages);
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
