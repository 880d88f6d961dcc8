/* SPDX-License-Identifier: Apache-2.0 */
/* What a run requires, and the line that says so. */
#include "stream/require.h"

#include "stream/stream.h"

#include <string.h>

static const char *const profiles[] = {[REQUIRE_INTEGRITY] = "integrity",
                                       [REQUIRE_CONSISTENCY] = "consistency",
                                       [REQUIRE_REPLAY] = "replay",
                                       [REQUIRE_FULL] = "full"};

int profile_parse(const char *s, enum profile *out, struct err *err)
{
    for (size_t i = REQUIRE_INTEGRITY; i <= REQUIRE_FULL; i++)
        if (strcmp(profiles[i], s) == 0) {
            *out = (enum profile)i;
            return 0;
        }
    return err_set(err, ERR_REFUSED, "--profile: '%s' is none of integrity, consistency, replay, full", s);
}

static bool binds_reference(const struct json *stages)
{
    for (const struct json *item = json_first(stages); item; item = json_next(stages, item))
        if (json_is(json_get(item, "name"), "ref-bind"))
            return true;
    return false;
}

/* Stages that look at a bundle's evidence alone, whose stream asks whether that is consistent (STREAM.md, rule 5). */
static bool evidence_alone(const struct json *stages)
{
    static const char *const names[] = {"bundle-check", "epoch-replay", "trace-check"};
    bool all = json_first(stages) != NULL;
    for (const struct json *item = json_first(stages); all && item; item = json_next(stages, item)) {
        all = false;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            all = all || json_is(json_get(item, "name"), names[k]);
    }
    return all;
}

void require_checks(const struct run_known *known, bool required[CHECK_NAMES])
{
    enum profile profile = known->profile;
    if (profile == REQUIRE_NONE && !known->scope && !known->rows && evidence_alone(known->stages))
        profile = REQUIRE_CONSISTENCY;
    bool bundle = known->scope && !known->declared;
    /* Without captured rows a reference is all that can tell what is owed: no verdict may pass that has none. */
    bool reference = known->reference || binds_reference(known->stages) || (known->scope && known->declared);
    const struct {
        enum check_name check;
        bool needed;
    } rules[] = {
        {CHECK_BUNDLE_MANIFEST, bundle || profile >= REQUIRE_INTEGRITY},
        {CHECK_BUNDLE_ARTIFACTS, bundle || profile >= REQUIRE_INTEGRITY},
        {CHECK_BUNDLE_COMPLETENESS, bundle || profile >= REQUIRE_INTEGRITY},
        {CHECK_CHECKPOINT_MARKER, profile >= REQUIRE_CONSISTENCY},
        {CHECK_CHECKPOINT_RESTORE_RULE, profile >= REQUIRE_CONSISTENCY},
        {CHECK_CHECKPOINT_PARTICIPANTS, profile >= REQUIRE_CONSISTENCY},
        {CHECK_STATE_DECODE, profile >= REQUIRE_CONSISTENCY},
        {CHECK_REPLAY_DETERMINISM, profile >= REQUIRE_REPLAY || known->golden},
        {CHECK_REPLAY_RECORDED_OUTPUT, profile >= REQUIRE_REPLAY},
        {CHECK_REPLAY_EXPECTED_OUTPUT, known->expected},
        {CHECK_REPLAY_GOLDEN_OUTPUT, known->golden},
        {CHECK_PROTOCOL_TRACE_STRUCTURE, profile >= REQUIRE_FULL},
        {CHECK_PROTOCOL_CONFORMANCE, profile >= REQUIRE_FULL},
        {CHECK_RECONCILE_SCOPE, known->scope},
        {CHECK_RECONCILE_DESTINATION, known->scope},
        {CHECK_RECONCILE_ROWS, bundle},
        {CHECK_REFERENCE_SCOPE, reference},
        {CHECK_REFERENCE_DESTINATION, reference},
        /* What a sink received is known of a bundle alone. */
        {CHECK_REFERENCE_CAPTURE, reference && !known->declared},
        {CHECK_DESTINATION_COVERAGE, known->scope && known->complete_table},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        required[rules[i].check] |= rules[i].needed;
}

int stream_require(const struct stream_line *line, bool required[CHECK_NAMES], struct err *err)
{
    static const char *const known[] = {"type", "checks", NULL};
    struct arena arena = ARENA_INIT;
    struct json *doc = stream_doc(line, &arena, err), *list = NULL;
    int rc = doc ? 0 : -1;
    if (doc && (json_only(doc, known, "require", err) != 0 ||
                json_need(doc, "checks", JSON_ARRAY, &list, "require", err) != 0))
        rc = stream_misfit(line, err);
    for (const struct json *v = json_first(list); v && rc == 0; v = json_next(list, v)) {
        enum check_name c = v->type == JSON_STRING ? check_name_of(v->str, v->len) : CHECK_NAMES;
        if (c == CHECK_NAMES) {
            err_set(err, ERR_REFUSED, "require names a check that is not known here");
            rc = stream_misfit(line, err);
        } else if (required) {
            required[c] = true;
        }
    }
    arena_free(&arena);
    return rc;
}

void stream_put_require(struct stream_out *out, const struct run_known *known)
{
    bool required[CHECK_NAMES] = {false}, any = false;
    struct buf *b = stream_build(out, LINE_REQUIRE);
    require_checks(known, required);
    buf_adds(b, ",\"checks\":[");
    for (size_t i = 0; i < CHECK_NAMES; i++) {
        if (!required[i])
            continue;
        buf_printf(b, "%s\"%s\"", any ? "," : "", check_name_text((enum check_name)i));
        any = true;
    }
    buf_addc(b, ']');
    stream_put_built(out, LINE_REQUIRE);
}
