/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of neutral settings. */
#include "stream/neutral.h"

#include <string.h>

const struct neutral_setting neutral_settings[] = {
    /* So that even the first statement is not cut or widened by a profile. */
    {"readonly", "2", true},
    {"limit", "0", true},
    {"offset", "0", true},
    {"result_overflow_mode", "throw", true},
    {"read_overflow_mode", "throw", true},
    {"read_overflow_mode_leaf", "throw", true},
    {"timeout_overflow_mode", "throw", true},
    {"set_overflow_mode", "throw", true},
    {"additional_table_filters", "{}", true},
    {"additional_result_filter", "", true},
    {"use_query_cache", "0", true},
    {"apply_deleted_mask", "1", true},
    {"apply_mutations_on_fly", "0", true},
    {"final", "0", true},
    {"extremes", "0", true},
    {"apply_patch_parts", "1", false},
    {"allow_experimental_query_deduplication", "0", false},
    {"use_query_condition_cache", "0", false},
    {"enable_parallel_replicas", "0", false},
    {"parallel_replicas_count", "0", false},
    {"parallel_replica_offset", "0", false},
    {"do_not_merge_across_partitions_select_final", "0", false},
    /* What shows a stale row under FINAL: a part or a granule left out before the last row is known. */
    {"enable_automatic_decision_for_merging_across_partitions_for_final", "0", false},
    {"defer_partition_pruning_after_final", "1", false},
    {"optimize_move_to_prewhere_if_final", "0", false},
    {"use_skip_indexes_if_final_exact_mode", "1", false},
    {"query_plan_optimize_lazy_final", "0", false},
    {"partial_result_on_first_cancel", "0", false},
    /* A constraint that is assumed and a projection are not the rows themselves. */
    {"optimize_using_constraints", "0", false},
    {"convert_query_to_cnf", "0", false},
    {"optimize_append_index", "0", false},
    {"optimize_substitute_columns", "0", false},
    {"optimize_use_projections", "0", false},
    /* What an index says of a part is not its rows: of a conversion that wraps it passes some over. */
    {"use_skip_indexes", "0", false},
    /* A column without a zone of its own is in the server's, and so is what it is held against. */
    {"session_timezone", "", false},
    /* A set that breaks at a bound, or holds a NULL, matches other rows than those of its keys. */
    {"max_rows_in_set", "0", false},
    {"max_bytes_in_set", "0", false},
    {"transform_null_in", "0", false},
    {"rewrite_in_to_join", "0", false},
    {"use_index_for_in_with_subqueries", "1", false},
    {"use_index_for_in_with_subqueries_max_values", "0", false},
    {"output_format_native_encode_types_in_binary_format", "0", false},
    {"http_write_exception_in_output_format", "0", false},
};
const size_t neutral_settings_n = sizeof neutral_settings / sizeof *neutral_settings;

/* Of the spellings the one that keeps more apart, or else the plainest: nan and inf are no null, / has no escape. */
const struct neutral_setting json_settings[] = {
    {"output_format_native_write_json_as_string", "1", false},
    {"output_format_binary_write_json_as_string", "1", false},
    {"output_format_json_quote_64bit_integers", "0", false},
    {"output_format_json_quote_64bit_floats", "0", false},
    {"output_format_json_quote_decimals", "0", false},
    {"output_format_json_quote_denormals", "1", false},
    {"output_format_json_escape_forward_slashes", "0", false},
    {"output_format_json_named_tuples_as_objects", "1", false},
    {"output_format_json_skip_null_value_in_named_tuples", "0", false},
    {"output_format_json_map_as_array_of_tuples", "0", false},
    {"output_format_json_validate_utf8", "0", false},
    {"output_format_decimal_trailing_zeros", "0", false},
    {"output_format_float_precision", "0", false},
    {"date_time_output_format", "simple", false},
    {"date_time_64_output_format_cut_trailing_zeros_align_to_groups_of_thousands", "0", false},
    {"interval_output_format", "numeric", false},
};
const size_t json_settings_n = sizeof json_settings / sizeof *json_settings;

const char *json_as_text(const char *format)
{
    return json_settings[strcmp(format, "native") == 0 ? 0 : 1].name;
}

static const char *value_of(const struct neutral_setting *all, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(all[i].name, name) == 0)
            return all[i].value;
    return NULL;
}

const char *neutral_value(const char *name)
{
    const char *value = value_of(neutral_settings, neutral_settings_n, name);
    if (!value)
        value = value_of(json_settings, json_settings_n, name);
    if (value)
        return value;
    /* A server may list what is no setting's name, and then it has no place in a statement or a line. */
    bool named = name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
    return named && strstr(name, "overflow_mode") ? "throw" : NULL;
}
