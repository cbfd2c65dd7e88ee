/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairs.c - see pairs.h */
#include "report/pairs.h"

#include <stdlib.h>

typedef struct nb_row_entry {
    int group, repetition, row;
} entry;

nb_status nb_row_pairs_make(const nb_frame *f, const char *const *by, const char *repetition, nb_row_pairs *p,
                            nb_ctx *ctx)
{
    nb_selection all;
    nb_groups groups;
    *p = (nb_row_pairs){.ctx = ctx};
    NB_TRY(ctx, nb_frame_all(f, &all, ctx));
    NB_TRY(ctx, nb_frame_group(f, all, by, &groups, ctx));
    p->of = groups.of;
    return nb_frame_ints(f, repetition, &p->repetition, ctx);
}

static int compare_entries(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->repetition != b->repetition) return a->repetition < b->repetition ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void sort(const nb_row_pairs *p, nb_selection rows, entry *out)
{
    for (int i = 0; i < rows.count; i++) out[i] = (entry){p->of[rows.at[i]], p->repetition[rows.at[i]], rows.at[i]};
    qsort(out, (size_t)rows.count, sizeof *out, compare_entries);
}

static int group_end(const entry *e, int first, int end)
{
    int i = first;
    while (i < end && e[i].group == e[first].group) i++;
    return i;
}

/* Whether it has repetition 0 alone. */
static bool stands_for_all(const entry *e, int first, int end)
{
    return end - first == 1 && e[first].repetition == 0;
}

static void match(nb_row_pairs *p, const entry *a, int a_count, const entry *b, int b_count)
{
    bool a_once = stands_for_all(a, 0, a_count), b_once = stands_for_all(b, 0, b_count);
    for (int i = 0, k = 0; i < a_count && k < b_count;) {
        int order = a_once || b_once ? 0 : (a[i].repetition > b[k].repetition) - (a[i].repetition < b[k].repetition);
        if (order == 0) p->pairs[p->count++] = (nb_row_pair){a[i].row, b[k].row};
        bool a_on = b_once || (order <= 0 && !a_once), b_on = (a_once && !b_once) || (order >= 0 && !b_once);
        i += a_on;
        k += b_on;
    }
}

static nb_status make_room(nb_row_pairs *p, int count)
{
    if (count <= p->room) return NB_OK;
    p->room = 2 * count;
    NB_NEED(p->pairs, nb_alloc(p->ctx, (size_t)p->room, sizeof *p->pairs));
    NB_NEED(p->sorted, nb_alloc(p->ctx, (size_t)p->room, sizeof *p->sorted));
    return NB_OK;
}

nb_status nb_row_pairs_find(nb_row_pairs *p, nb_selection a, nb_selection b)
{
    p->count = 0;
    NB_TRY(p->ctx, make_room(p, a.count + b.count + 1));
    entry *x = p->sorted, *y = x + a.count;
    sort(p, a, x);
    sort(p, b, y);
    for (int i = 0, k = 0; i < a.count && k < b.count;) {
        int i_end = group_end(x, i, a.count), k_end = group_end(y, k, b.count), order = x[i].group - y[k].group;
        if (order == 0) match(p, x + i, i_end - i, y + k, k_end - k);
        if (order <= 0) i = i_end;
        if (order >= 0) k = k_end;
    }
    return NB_OK;
}

/* The repetitions of each group as instances, and where a group's begin. */
static nb_status find_instances(const nb_groups *groups, const int *repetition, nb_pivot *p, int **begin, nb_ctx *ctx)
{
    int *group, *of, *any, total = groups->first[groups->count];
    entry *sorted;
    NB_NEED(*begin, nb_alloc(ctx, (size_t)groups->count + 1, sizeof **begin));
    NB_NEED(group, nb_alloc(ctx, (size_t)total + 1, sizeof *group));
    NB_NEED(of, nb_alloc(ctx, (size_t)total + 1, sizeof *of));
    NB_NEED(any, nb_alloc(ctx, (size_t)total + 1, sizeof *any));
    NB_NEED(sorted, nb_alloc(ctx, (size_t)total + 1, sizeof *sorted));
    for (int i = 0; i < total; i++)
        sorted[i] = (entry){groups->of[groups->rows[i]], repetition[groups->rows[i]], groups->rows[i]};
    qsort(sorted, (size_t)total, sizeof *sorted, compare_entries);
    for (int i = 0; i < total; i++) {
        const entry *e = &sorted[i];
        if (i > 0 && e->group == e[-1].group && e->repetition == e[-1].repetition) continue;
        if (i == 0 || e->group != e[-1].group) (*begin)[e->group] = p->count;
        group[p->count] = e->group;
        of[p->count] = e->repetition;
        any[p->count++] = e->row;
    }
    (*begin)[groups->count] = p->count;
    p->group = group;
    p->repetition = of;
    p->any = any;
    return NB_OK;
}

/* The instance of a row, by bisection. */
static int instance_of(const nb_pivot *p, const int *begin, int group, int repetition)
{
    int low = begin[group], high = begin[group + 1];
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (p->repetition[middle] > repetition)
            high = middle;
        else
            low = middle;
    }
    return low;
}

/* What repetition 0 alone has stands in all instances of its group. */
static void spread(const nb_pivot *p, const int *begin, int groups, int *rows)
{
    const size_t width = (size_t)p->width;
    for (int g = 0; g < groups; g++)
        for (size_t v = 0; v < width; v++) {
            size_t first = (size_t)begin[g], end = (size_t)begin[g + 1];
            int alone = p->repetition[first] == 0 ? rows[first * width + v] : -1;
            for (size_t i = first + 1; i < end; i++)
                if (rows[i * width + v] >= 0) alone = -1;
            for (size_t i = first + 1; i < end && alone >= 0; i++) rows[i * width + v] = alone;
        }
}

nb_status nb_frame_pivot(const nb_frame *f, nb_selection from, const char *const *by, const char *repetition,
                         const char *column, nb_pivot *p, nb_ctx *ctx)
{
    nb_groups groups;
    nb_codes codes;
    const int *of;
    int *begin, *rows;
    *p = (nb_pivot){.count = 0};
    NB_TRY(ctx, nb_frame_group(f, from, by, &groups, ctx));
    NB_TRY(ctx, nb_frame_codes(f, column, &codes, ctx));
    NB_TRY(ctx, nb_frame_ints(f, repetition, &of, ctx));
    NB_TRY(ctx, find_instances(&groups, of, p, &begin, ctx));
    p->width = codes.count;
    size_t cells = (size_t)p->count * (size_t)p->width;
    NB_NEED(rows, nb_alloc(ctx, cells + 1, sizeof *rows));
    for (size_t i = 0; i < cells; i++) rows[i] = -1;
    for (int i = 0; i < from.count; i++) {
        int row = from.at[i];
        size_t at = (size_t)instance_of(p, begin, groups.of[row], of[row]) * (size_t)p->width;
        rows[at + (size_t)codes.of[row]] = row;
    }
    spread(p, begin, groups.count, rows);
    p->rows = rows;
    return NB_OK;
}
