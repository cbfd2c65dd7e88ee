/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.c - see labels.h */
#include "report/labels.h"

#include "base/texts.h"
#include "components/registry.h"
#include "components/study.h"
#include "strategies/strategy.h"

#include <string.h>

static nb_status find_oracle(const nb_registry *registry, const char *text, bool *oracle, nb_ctx *ctx)
{
    nb_choice choice;
    *oracle = false;
    if (registry != &nb_strategies) return NB_OK;
    nb_status status = nb_choice_parse(registry, text, &choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    *oracle = status == NB_OK && nb_strategy_traits(&choice) & NB_ORACLE;
    return NB_OK;
}

/* Adds the word to the label of a strategy that is an oracle. */
static nb_status mark_oracle(const nb_registry *registry, const char *text, const char **label, nb_ctx *ctx)
{
    bool oracle;
    NB_TRY(ctx, find_oracle(registry, text, &oracle, ctx));
    if (oracle) NB_NEED(*label, nb_format(ctx, "%s" NB_ORACLE_MARK, *label));
    return NB_OK;
}

/* Prints a value that is no component. */
static nb_status value_text(const nb_frame *f, const char *name, int row, const char **out, nb_ctx *ctx)
{
    const nb_column *column = nb_column_find(f->columns, name);
    const char *field = (const char *)nb_frame_row(f, row) + (column ? column->offset : 0);
    NB_REQUIRE(ctx, column, NB_EBUG, "rows have no column '%s'", name);
    switch (column->type) {
    case NB_COLUMN_TEXT: {
        const char *text = *(const char *const *)field;
        NB_NEED(*out, nb_strdup(ctx, text ? text : ""));
        break;
    }
    case NB_COLUMN_INT: NB_NEED(*out, nb_format(ctx, "%d", *(const int *)field)); break;
    case NB_COLUMN_SEED: NB_NEED(*out, nb_format(ctx, "%lld", *(const long long *)field)); break;
    case NB_COLUMN_REAL: NB_NEED(*out, nb_format(ctx, "%.4g", *(const double *)field)); break;
    }
    return NB_OK;
}

typedef struct {
    const char *const **of; /* by column, and code of its value; NULL: not a column of components */
} component_labels;

static nb_status label_components(const nb_frame *f, void *out, nb_ctx *ctx)
{
    component_labels *all = out;
    NB_NEED(all->of, nb_alloc(ctx, (size_t)nb_column_count(f->columns) + 1, sizeof *all->of));
    for (int c = 0; f->columns[c].name; c++)
        if (nb_column_registry(f->columns, f->columns[c].name))
            NB_TRY(ctx, nb_labels_of_values(f, f->columns[c].name, &all->of[c], ctx));
    return NB_OK;
}

nb_status nb_label_of(const nb_frame *f, const char *column, int row, const char **text, nb_ctx *ctx)
{
    component_labels all;
    nb_codes codes;
    if (!nb_column_registry(f->columns, column)) return value_text(f, column, row, text, ctx);
    NB_TRY(ctx, nb_frame_once(f, label_components, sizeof all, &all));
    NB_TRY(ctx, nb_frame_codes(f, column, &codes, ctx));
    *text = all.of[nb_column_find(f->columns, column) - f->columns][codes.of[row]];
    return NB_OK;
}

nb_status nb_label_is_oracle(const nb_frame *f, const char *column, int row, bool *oracle, nb_ctx *ctx)
{
    const char *const *texts;
    *oracle = false;
    if (nb_column_find(f->columns, column)->type != NB_COLUMN_TEXT) return NB_OK;
    NB_TRY(ctx, nb_frame_texts(f, column, &texts, ctx));
    return texts[row] ? find_oracle(nb_column_registry(f->columns, column), texts[row], oracle, ctx) : NB_OK;
}

/* twins[i] <- whether another text has the label of texts[i]; *any: whether one is. */
static nb_status find_twins(int count, const char *const *texts, const char *const *labels, bool *twins, bool *any,
                            nb_ctx *ctx)
{
    nb_texts distinct;
    int *of, *first; /* by text its label's number; by that the first text that has the label */
    bool *shared;
    *any = false;
    nb_texts_init(&distinct, ctx);
    NB_NEED(of, nb_alloc(ctx, (size_t)count + 1, sizeof *of));
    NB_NEED(first, nb_alloc(ctx, (size_t)count + 1, sizeof *first));
    NB_NEED(shared, nb_alloc(ctx, (size_t)count + 1, sizeof *shared));
    for (int i = 0; i < count; i++) {
        int known = distinct.count;
        NB_TRY(ctx, nb_texts_number(&distinct, labels[i], &of[i]));
        if (of[i] == known) first[known] = i;
        shared[of[i]] = shared[of[i]] || strcmp(texts[first[of[i]]], texts[i]) != 0;
    }
    for (int i = 0; i < count; i++) *any |= twins[i] = shared[of[i]];
    return NB_OK;
}

/* With so many last parts of paths; the text itself where its component is gone. */
static nb_status label_deep(const nb_registry *registry, const char *text, int parts, const char **label, nb_ctx *ctx)
{
    nb_choice choice;
    nb_status status = nb_choice_parse(registry, text, &choice, ctx);
    if (status == NB_OK) status = nb_choice_label(&choice, parts, label, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    return NB_OK;
}

nb_status nb_labels_apart(const nb_registry *registry, const nb_given_labels *given, int count,
                          const char *const *texts, const char **labels, nb_ctx *ctx)
{
    enum { DEEPEST = 32 };
    bool *twins, any = true;
    NB_NEED(twins, nb_alloc(ctx, (size_t)count + 1, sizeof *twins));
    for (int i = 0; i < count; i++) {
        nb_choice choice;
        labels[i] = nb_given_label_of(given, registry, texts[i]);
        if (labels[i]) continue;
        nb_status status = nb_choice_parse(registry, texts[i], &choice, ctx);
        if (status == NB_ENOMEM) return status;
        nb_error_clear(ctx);
        labels[i] = status == NB_OK ? choice.label : texts[i];
    }
    for (int parts = 2; any && parts <= DEEPEST; parts++) {
        NB_TRY(ctx, find_twins(count, texts, labels, twins, &any, ctx));
        for (int i = 0; i < count; i++)
            if (twins[i] && !nb_given_label_of(given, registry, texts[i]))
                NB_TRY(ctx, label_deep(registry, texts[i], parts, &labels[i], ctx));
    }
    NB_TRY(ctx, find_twins(count, texts, labels, twins, &any, ctx));
    for (int i = 0; i < count; i++)
        if (twins[i] && !nb_given_label_of(given, registry, texts[i])) labels[i] = texts[i];
    return NB_OK;
}

/* Of a column without components, each value's own. */
nb_status nb_labels_of_values(const nb_frame *f, const char *column, const char *const **all, nb_ctx *ctx)
{
    const nb_registry *registry = nb_column_registry(f->columns, column);
    const char **labels, **texts;
    const char *const *by_row;
    nb_codes codes;
    NB_TRY(ctx, nb_frame_codes(f, column, &codes, ctx));
    NB_NEED(labels, nb_alloc(ctx, (size_t)codes.count + 1, sizeof *labels));
    *all = labels;
    for (int v = 0; v < codes.count && !registry; v++)
        NB_TRY(ctx, nb_label_of(f, column, codes.first[v], &labels[v], ctx));
    if (!registry) return NB_OK;
    NB_NEED(texts, nb_alloc(ctx, (size_t)codes.count + 1, sizeof *texts));
    NB_TRY(ctx, nb_frame_texts(f, column, &by_row, ctx));
    for (int v = 0; v < codes.count; v++) texts[v] = by_row[codes.first[v]] ? by_row[codes.first[v]] : "";
    NB_TRY(ctx, nb_labels_apart(registry, f->labels, codes.count, texts, labels, ctx));
    for (int v = 0; v < codes.count; v++) NB_TRY(ctx, mark_oracle(registry, texts[v], &labels[v], ctx));
    return NB_OK;
}

/* Counts the characters at the beginning of a name that suffice, if nothing else begins so. */
static int short_length(const char *name)
{
    size_t length = strcspn(name, " ");
    return (int)(*name == '(' || memchr(name, '(', length) ? strlen(name) : length);
}

nb_status nb_label_stratum(const char *name, const char **out, nb_ctx *ctx)
{
    NB_NEED(*out, nb_format(ctx, "%.*s", short_length(name), name));
    return NB_OK;
}
