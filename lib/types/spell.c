/* SPDX-License-Identifier: Apache-2.0 */
/* types: the plain spelling of a type, as the server would print it. */
#include <string.h>

#include "types/internal.h"

/* What is no text has its bytes as escapes, so that the spelling is text and reads as the same type. */
static void quote(struct buf *out, char q, const struct type_word *w)
{
    bool text = utf8_valid(w->p, w->n) && !memchr(w->p, '\0', w->n);
    buf_addc(out, q);
    for (size_t i = 0; i < w->n; i++) {
        if (!text) {
            buf_printf(out, "\\x%02x", (unsigned char)w->p[i]);
            continue;
        }
        if (w->p[i] == q || w->p[i] == '\\')
            buf_addc(out, '\\');
        buf_addc(out, w->p[i]);
    }
    buf_addc(out, q);
}

static void spell_names(const struct type *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_words; i++) {
        buf_adds(out, i > 0 ? ", " : "");
        quote(out, '\'', &t->words[i]);
        buf_printf(out, " = %d", t->words[i].number);
    }
}

static void spell_inner(const struct type *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_of; i++) {
        buf_adds(out, i > 0 ? ", " : "");
        if (t->n_words > 0) {
            quote(out, '`', &t->words[i]);
            buf_addc(out, ' ');
        }
        type_spell(&t->of[i], out);
    }
}

static void spell_args(const struct type *t, enum family_args args, struct buf *out)
{
    switch (args) {
    case ARGS_PS: buf_printf(out, "(%u, %u)", t->precision, t->scale); break;
    case ARGS_DT64:
    case ARGS_TIME64: buf_printf(out, "(%u)", t->scale); break;
    case ARGS_BYTES: buf_printf(out, "(%u)", t->bits / 8); break;
    case ARGS_NAMES:
        buf_addc(out, '(');
        spell_names(t, out);
        buf_addc(out, ')');
        break;
    case ARGS_TEXT:
        if (t->n_words > 0)
            buf_printf(out, "(%s)", t->words[0].p);
        break;
    case ARGS_ONE:
    case ARGS_ANY:
    case ARGS_TWO:
    case ARGS_NAMED:
        buf_addc(out, '(');
        spell_inner(t, out);
        buf_addc(out, ')');
        break;
    default: break;
    }
}

void type_spell(const struct type *t, struct buf *out)
{
    const struct family *f = family_of(t);
    buf_adds(out, t->nullable ? "Nullable(" : "");
    buf_adds(out, f ? f->name : t->name);
    if (f)
        spell_args(t, f->args, out);
    buf_adds(out, t->nullable ? ")" : "");
}
