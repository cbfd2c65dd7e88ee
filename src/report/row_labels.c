/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_labels.c - see row_labels.h */
#include "report/row_labels.h"

#include "base/texts.h"
#include "components/study.h"
#include "report/labels.h"

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
