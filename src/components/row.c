/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row.c - see row.h */
#include "components/row.h"

#include "base/numbers.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

const char *const nb_row_statuses[] = {"ok", "skipped", "diverged", "failed", "timeout", "crashed", "planned", NULL};

const char *nb_row_status_of(const char *text)
{
    int index = nb_text_index(text, nb_row_statuses);
    return index < 0 ? NULL : nb_row_statuses[index];
}

bool nb_row_is_well(const nb_row *row)
{
    return strcmp(row->status, "ok") == 0 || strcmp(row->status, "skipped") == 0;
}

bool nb_row_same(const nb_column *columns, const void *a, const void *b)
{
    for (const nb_column *c = columns; c->name; c++)
        if (c->identity && !nb_column_same(c, a, b)) return false;
    return true;
}

nb_row *nb_row_at(const nb_row_list *rows, int index)
{
    return (nb_row *)(void *)(rows->bytes + (size_t)index * rows->row_size);
}

const nb_column *nb_column_find(const nb_column *columns, const char *name)
{
    for (const nb_column *c = columns; c->name; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

int nb_column_count(const nb_column *columns)
{
    int count = 0;
    while (columns[count].name) count++;
    return count;
}

bool nb_column_is_measured(const nb_column *c)
{
    return (c->type == NB_COLUMN_REAL && !c->identity) || c->told || strcmp(c->name, "reason") == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool nb_real_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool nb_column_same(const nb_column *c, const void *a, const void *b)
{
    const void *x = (const char *)a + c->offset, *y = (const char *)b + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: return same_text(*(const char *const *)x, *(const char *const *)y);
    case NB_COLUMN_INT: return *(const int *)x == *(const int *)y;
    case NB_COLUMN_SEED: return *(const long long *)x == *(const long long *)y;
    case NB_COLUMN_REAL: return nb_real_same(*(const double *)x, *(const double *)y);
    }
    return false;
}

const char *nb_column_text(const nb_column *c, const void *row, nb_ctx *ctx)
{
    const void *x = (const char *)row + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: return *(const char *const *)x ? *(const char *const *)x : "nothing";
    case NB_COLUMN_INT: return nb_format(ctx, "%d", *(const int *)x);
    case NB_COLUMN_SEED: return nb_format(ctx, "%lld", *(const long long *)x);
    case NB_COLUMN_REAL: return isnan(*(const double *)x) ? "nothing" : nb_real_copy(ctx, *(const double *)x);
    }
    return NULL;
}

const char *nb_given_label_of(const nb_given_labels *labels, const nb_registry *registry, const char *canonical)
{
    for (int i = 0; labels && i < labels->count; i++)
        if (labels->items[i].registry == registry && strcmp(labels->items[i].canonical, canonical) == 0)
            return labels->items[i].label;
    return NULL;
}

nb_status nb_given_labels_add(nb_given_labels *labels, const nb_registry *registry, const nb_choices *choices,
                              nb_ctx *ctx)
{
    nb_choices united = {.count = 0};
    for (int i = 0; i < choices->count; i++) {
        const nb_choice *one = &choices->items[i];
        if (nb_choices_find(&united, one) < 0) NB_TRY(ctx, nb_choices_append(&united, *one, ctx));
        NB_TRY(ctx, nb_choices_label(&united, one, ctx));
    }
    for (int i = 0; i < united.count; i++) {
        const nb_choice *one = &united.items[i];
        if (!one->given || nb_given_label_of(labels, registry, one->canonical)) continue;
        NB_GROW(ctx, labels->items, labels->count, labels->capacity);
        labels->items[labels->count++] = (nb_given_label){registry, one->canonical, one->given};
    }
    return NB_OK;
}
