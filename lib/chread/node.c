/* SPDX-License-Identifier: Apache-2.0 */
/* The decoders' plan of a column: its type as a tree, and the parts of it in Native. */
#include <stdlib.h>
#include <string.h>

#include "chread/decode.h"

static size_t add_part(struct parts *parts, enum part_kind kind, size_t outer, size_t width)
{
    parts->at = xrealloc(parts->at, (parts->n + 1) * sizeof *parts->at);
    parts->at[parts->n] = (struct part){.kind = kind, .of = outer, .width = width};
    return parts->n++;
}

void node_prefixes(struct parts *parts, const struct type *t)
{
    if (t->kind == TYPE_JSON)
        add_part(parts, PART_PREFIX, SIZE_MAX, 8);
    for (size_t i = 0; i < t->n_of; i++)
        node_prefixes(parts, &t->of[i]);
}

static void build_inner(struct node *node, struct parts *parts, const struct type *t, size_t outer)
{
    node->n_of = t->n_of;
    node->of = xcalloc(t->n_of + 1, sizeof *node->of);
    for (size_t i = 0; i < t->n_of; i++)
        node_build(&node->of[i], parts, &t->of[i], outer);
}

void node_build(struct node *node, struct parts *parts, const struct type *t, size_t outer)
{
    *node = (struct node){.type = t, .nullable = t->nullable, .put = cells_put_of(t), .width = t->bits / 8};
    if (t->nullable)
        node->nulls = add_part(parts, PART_NULLS, outer, 1);
    if (t->kind == TYPE_TUPLE) {
        node->kind = NODE_TUPLE;
        if (t->n_of == 0)
            add_part(parts, PART_EMPTY, outer, 1);
        build_inner(node, parts, t, outer);
    } else if (!node->put) {
        node->kind = NODE_ARRAY;
        node->values = add_part(parts, PART_ENDS, outer, 8);
        build_inner(node, parts, t, node->values);
    } else if (node->width == 0) {
        node->kind = NODE_TEXT;
        node->values = add_part(parts, PART_TEXTS, outer, 0);
    } else {
        node->kind = NODE_FIXED;
        node->values = add_part(parts, PART_FIXED, outer, node->width);
    }
}

void node_free(struct node *node)
{
    for (size_t i = 0; i < node->n_of; i++)
        node_free(&node->of[i]);
    free(node->of);
}

void node_transpose(struct buf *out, const size_t *starts, size_t n_rows, size_t n_columns)
{
    struct buf now = BUF_INIT;
    size_t n = n_rows * n_columns, begin = n > 0 ? starts[0] : out->len;
    for (size_t c = 0; c < n_columns; c++) {
        buf_adds(&now, c > 0 ? ",[" : "[");
        for (size_t r = 0; r < n_rows; r++) {
            size_t i = r * n_columns + c, end = i + 1 < n ? starts[i + 1] - 1 : out->len;
            if (r > 0)
                buf_addc(&now, ',');
            buf_add(&now, out->p + starts[i], end - starts[i]);
        }
        buf_addc(&now, ']');
    }
    out->len = begin;
    buf_add(out, now.p, now.len);
    buf_free(&now);
}
