/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shorten.c - see shorten.h */
#include "base/shorten.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the start of a text that is too long, "..." and at most `tail` columns of its end. */
static nb_status shorten(const char *text, int columns, int tail, const char **made, nb_ctx *ctx)
{
    *made = text;
    if (nb_text_columns(text) <= columns) return NB_OK;
    NB_NEED(*made,
            nb_format(ctx, "%.*s...%s", (int)nb_text_start(text, columns - 3 - tail), text, nb_text_end(text, tail)));
    return NB_OK;
}

/* Sorts the values and keeps each once; returns how many are left. */
static int sort_distinct(const char **texts, int count)
{
    int kept = 0;
    qsort(texts, (size_t)count, sizeof *texts, nb_text_compare);
    for (int i = 0; i < count; i++)
        if (kept == 0 || strcmp(texts[kept - 1], texts[i]) != 0) texts[kept++] = texts[i];
    return kept;
}

/* Finds whether texts that differ still do when they are shortened. */
static nb_status still_differ(int count, const char *const *texts, int columns, int tail, bool *differ, nb_ctx *ctx)
{
    const char **made;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(made, nb_alloc(ctx, (size_t)count + 1, sizeof *made));
    for (int i = 0; i < count; i++) NB_TRY(ctx, shorten(texts[i], columns, tail, &made[i], ctx));
    *differ = sort_distinct(made, count) == count;
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* The least number of columns from *columns on, and the part of them that is kept of the ends, with which distinct
 * texts still differ. */
static nb_status find_cut(int count, const char *const *distinct, int *columns, int *tail, nb_ctx *ctx)
{
    int longest = 0;
    for (int i = 0; i < count; i++)
        if (nb_text_columns(distinct[i]) > longest) longest = nb_text_columns(distinct[i]);
    for (; *columns < longest; ++*columns) {
        const int rest = *columns - 3, tails[] = {rest / 2, 0, 3 * rest / 4};
        for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
            bool differ;
            NB_TRY(ctx, still_differ(count, distinct, *columns, *tail = tails[i], &differ, ctx));
            if (differ) return NB_OK;
        }
    }
    return NB_OK;
}

nb_status nb_shorten_texts(int count, const char **texts, int columns, nb_ctx *ctx)
{
    const char **distinct;
    int tail = 0;
    NB_NEED(distinct, nb_alloc(ctx, (size_t)count + 1, sizeof *distinct));
    memcpy(distinct, texts, (size_t)count * sizeof *texts);
    NB_TRY(ctx, find_cut(sort_distinct(distinct, count), distinct, &columns, &tail, ctx));
    for (int i = 0; i < count; i++) NB_TRY(ctx, shorten(texts[i], columns, tail, &texts[i], ctx));
    return NB_OK;
}
