/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame.c - columns are copied out of the rows when they are first asked for; rows are grouped by
 * refining a partition column by column, each step a hash table from (group, value) to group. */
#include "report/frame.h"

#include "base/texts.h"
#include "report/relation.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct nb_frame_column {
    const char *name;
    nb_column_type type;
    size_t offset;      /* in a row, unless it is derived */
    const void *values; /* const char *, int, long long or double, by row; NULL: not copied yet */
    bool coded;
    nb_codes codes;
    struct nb_frame_column *next;
} nb_frame_column;

typedef struct summed { /* see nb_frame_once */
    nb_frame_maker *make;
    const void *out;
    struct summed *next;
} summed;

struct nb_frame_made { /* shared by copies of the frame */
    nb_frame_column *columns;
    summed *once;
};

/* What a frame has made lives as long as the frame, whatever is released meanwhile. */
nb_status nb_frame_make(nb_frame *f, const nb_column *columns, const void *rows, size_t size, int count, nb_ctx *ctx)
{
    *f = (nb_frame){.columns = columns, .rows = rows, .size = size, .count = count};
    NB_NEED(f->memory, nb_ctx_child(ctx));
    NB_NEED(f->made, nb_alloc(f->memory, 1, sizeof *f->made));
    return NB_OK;
}

nb_status nb_frame_of(nb_frame *f, const nb_row_list *rows, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_frame_make(f, rows->columns, rows->bytes, rows->row_size, rows->count, ctx));
    f->labels = rows->labels;
    return NB_OK;
}

nb_status nb_frame_view(const nb_frame *f, nb_frame *view, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_frame_make(view, f->columns, f->rows, f->size, f->count, ctx));
    view->whole = f;
    view->labels = f->labels;
    view->relation = f->relation;
    return NB_OK;
}

const void *nb_frame_row(const nb_frame *f, int row)
{
    return (const char *)f->rows + (size_t)row * f->size;
}

static size_t size_of(nb_column_type type)
{
    static const size_t sizes[] = {[NB_COLUMN_TEXT] = sizeof(const char *),
                                   [NB_COLUMN_INT] = sizeof(int),
                                   [NB_COLUMN_SEED] = sizeof(long long),
                                   [NB_COLUMN_REAL] = sizeof(double)};
    return sizes[type];
}

static nb_status add_column(const nb_frame *f, nb_frame_column column, nb_frame_column **out)
{
    NB_NEED(*out, nb_alloc(f->memory, 1, sizeof **out));
    column.next = f->made->columns;
    **out = column;
    f->made->columns = *out;
    return NB_OK;
}

/* Of a view, its frame's, unless it is derived. */
static nb_status find(const nb_frame *f, const char *name, nb_frame_column **column, nb_ctx *ctx)
{
    for (nb_frame_column *c = f->made->columns; c; c = c->next)
        if (strcmp(c->name, name) == 0) {
            *column = c;
            return NB_OK;
        }
    if (f->whole) return find(f->whole, name, column, ctx);
    const nb_column *source = nb_column_find(f->columns, name);
    NB_REQUIRE(ctx, source, NB_EBUG, "rows have no column '%s'", name);
    return add_column(f, (nb_frame_column){.name = source->name, .type = source->type, .offset = source->offset},
                      column);
}

static const void *value_at(const nb_frame *f, const nb_frame_column *c, int row)
{
    return c->values ? (const char *)c->values + (size_t)row * size_of(c->type)
                     : (const char *)nb_frame_row(f, row) + c->offset;
}

static nb_status copy_values(const nb_frame *f, nb_frame_column *c)
{
    const size_t size = size_of(c->type);
    char *values;
    while (f->whole) f = f->whole;
    NB_NEED(values, nb_alloc_unset(f->memory, (size_t)f->count + 1, size));
    for (int i = 0; i < f->count; i++) memcpy(values + (size_t)i * size, value_at(f, c, i), size);
    c->values = values;
    return NB_OK;
}

static nb_status values_of(const nb_frame *f, const char *name, nb_column_type type, const void **values, nb_ctx *ctx)
{
    nb_frame_column *column;
    NB_TRY(ctx, find(f, name, &column, ctx));
    NB_REQUIRE(ctx, column->type == type, NB_EBUG, "column '%s' has values of another type", name);
    if (!column->values) NB_TRY(ctx, copy_values(f, column));
    *values = column->values;
    return NB_OK;
}

nb_status nb_frame_reals(const nb_frame *f, const char *name, const double **values, nb_ctx *ctx)
{
    const void *all;
    NB_TRY(ctx, values_of(f, name, NB_COLUMN_REAL, &all, ctx));
    *values = all;
    return NB_OK;
}

nb_status nb_frame_ints(const nb_frame *f, const char *name, const int **values, nb_ctx *ctx)
{
    const void *all;
    NB_TRY(ctx, values_of(f, name, NB_COLUMN_INT, &all, ctx));
    *values = all;
    return NB_OK;
}

nb_status nb_frame_texts(const nb_frame *f, const char *name, const char *const **values, nb_ctx *ctx)
{
    const void *all;
    NB_TRY(ctx, values_of(f, name, NB_COLUMN_TEXT, &all, ctx));
    *values = all;
    return NB_OK;
}

bool nb_frame_has(const nb_frame *f, const char *name)
{
    for (const nb_frame_column *c = f->made->columns; c; c = c->next)
        if (strcmp(c->name, name) == 0) return true;
    return f->whole ? nb_frame_has(f->whole, name) : nb_column_find(f->columns, name) != NULL;
}

nb_status nb_frame_derive(nb_frame *f, const char *name, const int *values, nb_ctx *ctx)
{
    nb_frame_column *column;
    int *copy;
    for (column = f->made->columns; column; column = column->next)
        NB_REQUIRE(ctx, strcmp(column->name, name) != 0, NB_EBUG, "there is a column '%s' already", name);
    NB_NEED(copy, nb_alloc(f->memory, (size_t)f->count + 1, sizeof *copy));
    if (f->count > 0) memcpy(copy, values, (size_t)f->count * sizeof *copy);
    NB_NEED(name, nb_strdup(f->memory, name));
    return add_column(f, (nb_frame_column){.name = name, .type = NB_COLUMN_INT, .values = copy}, &column);
}

static uint64_t hash_real(double x)
{
    uint64_t bits;
    x = isnan(x) ? NAN : x + 0.0; /* all NaN are one value, and -0 is 0 */
    memcpy(&bits, &x, sizeof bits);
    return nb_hash_bits(bits);
}

static uint64_t hash_of(nb_column_type type, const void *value)
{
    switch (type) {
    case NB_COLUMN_TEXT: {
        const char *text = *(const char *const *)value;
        return nb_hash_text(text ? text : "");
    }
    case NB_COLUMN_INT: return nb_hash_bits((uint64_t) * (const int *)value);
    case NB_COLUMN_SEED: return nb_hash_bits((uint64_t) * (const long long *)value);
    case NB_COLUMN_REAL: return hash_real(*(const double *)value);
    }
    return 0;
}

/* Slots of a table for so many keys, a power of two that is at most half full; -1: empty. */
static nb_status slots_for(int keys, int **slots, uint64_t *mask, nb_ctx *ctx)
{
    size_t size = 16;
    while (size < 2 * (size_t)keys) size *= 2;
    NB_NEED(*slots, nb_alloc(ctx, size, sizeof **slots));
    memset(*slots, -1, size * sizeof **slots);
    *mask = size - 1;
    return NB_OK;
}

/* With the table of the values in memory that is released at once. */
static nb_status code(const nb_frame *f, nb_frame_column *c, int *of, nb_ctx *ctx)
{
    const nb_column of_type = {.type = c->type};
    int *slots, *first, *kept, count = 0;
    uint64_t mask;
    NB_NEED(first, nb_alloc(ctx, (size_t)f->count + 1, sizeof *first));
    NB_TRY(ctx, slots_for(f->count, &slots, &mask, ctx));
    for (int i = 0; i < f->count; i++) {
        const void *value = value_at(f, c, i);
        uint64_t at = hash_of(c->type, value) & mask;
        while (slots[at] >= 0 && !nb_column_same(&of_type, value_at(f, c, first[slots[at]]), value))
            at = (at + 1) & mask;
        if (slots[at] < 0) first[slots[at] = count++] = i;
        of[i] = slots[at];
    }
    NB_NEED(kept, nb_alloc(f->memory, (size_t)count + 1, sizeof *kept));
    memcpy(kept, first, (size_t)count * sizeof *kept);
    c->codes = (nb_codes){count, of, kept};
    c->coded = true;
    return NB_OK;
}

static bool is_own(const nb_frame *f, const nb_frame_column *column)
{
    const nb_frame_column *c = f->made->columns;
    while (c && c != column) c = c->next;
    return c;
}

nb_status nb_frame_codes(const nb_frame *f, const char *name, nb_codes *codes, nb_ctx *ctx)
{
    nb_frame_column *column;
    NB_TRY(ctx, find(f, name, &column, ctx));
    if (!column->coded) {
        int *of;
        while (f->whole && !is_own(f, column)) f = f->whole;
        NB_NEED(of, nb_alloc(f->memory, (size_t)f->count + 1, sizeof *of));
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = code(f, column, of, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    *codes = column->codes;
    return NB_OK;
}

nb_status nb_frame_once(const nb_frame *f, nb_frame_maker *make, size_t size, void *out)
{
    summed *s = f->made->once;
    while (s && s->make != make) s = s->next;
    if (!s) {
        void *made;
        nb_ctx *own; /* the frame's is for its columns, whatever is released meanwhile */
        NB_NEED(s, nb_alloc(f->memory, 1, sizeof *s));
        NB_NEED(made, nb_alloc(f->memory, 1, size));
        NB_NEED(own, nb_ctx_child(f->memory));
        NB_TRY(own, make(f, made, own));
        *s = (summed){make, made, f->made->once};
        f->made->once = s;
    }
    memcpy(out, s->out, size);
    return NB_OK;
}

nb_status nb_frame_all(const nb_frame *f, nb_selection *rows, nb_ctx *ctx)
{
    int *at;
    NB_NEED(at, nb_alloc(ctx, (size_t)f->count + 1, sizeof *at));
    for (int i = 0; i < f->count; i++) at[i] = i;
    *rows = (nb_selection){f->count, at};
    return NB_OK;
}

nb_status nb_frame_select(const nb_frame *f, nb_selection from, bool (*keep)(const void *row, const void *what),
                          const void *what, nb_selection *rows, nb_ctx *ctx)
{
    int *at, count = 0;
    NB_NEED(at, nb_alloc(ctx, (size_t)from.count + 1, sizeof *at));
    for (int i = 0; i < from.count; i++)
        if (keep(nb_frame_row(f, from.at[i]), what)) at[count++] = from.at[i];
    *rows = (nb_selection){count, at};
    return NB_OK;
}

nb_status nb_frame_where(const nb_frame *f, nb_selection from, const char *name, const bool *wanted, nb_selection *rows,
                         nb_ctx *ctx)
{
    nb_codes codes;
    int *at, count = 0;
    NB_TRY(ctx, nb_frame_codes(f, name, &codes, ctx));
    NB_NEED(at, nb_alloc(ctx, (size_t)from.count + 1, sizeof *at));
    for (int i = 0; i < from.count; i++)
        if (wanted[codes.of[from.at[i]]]) at[count++] = from.at[i];
    *rows = (nb_selection){count, at};
    return NB_OK;
}

nb_status nb_frame_where_text(const nb_frame *f, nb_selection from, const char *name, const char *value,
                              nb_selection *rows, nb_ctx *ctx)
{
    const char *const *texts;
    nb_codes codes;
    bool *wanted;
    NB_TRY(ctx, nb_frame_texts(f, name, &texts, ctx));
    NB_TRY(ctx, nb_frame_codes(f, name, &codes, ctx));
    NB_NEED(wanted, nb_alloc(ctx, (size_t)codes.count + 1, sizeof *wanted));
    for (int v = 0; v < codes.count; v++) {
        const char *text = texts[codes.first[v]];
        wanted[v] = text && strcmp(text, value) == 0;
    }
    return nb_frame_where(f, from, name, wanted, rows, ctx);
}

static nb_status take_derived(nb_frame *taken, const nb_frame_column *column, nb_selection rows, nb_ctx *ctx)
{
    int *values;
    NB_NEED(values, nb_alloc(ctx, (size_t)rows.count + 1, sizeof *values));
    for (int i = 0; i < rows.count; i++) values[i] = ((const int *)column->values)[rows.at[i]];
    return nb_frame_derive(taken, column->name, values, ctx);
}

nb_status nb_frame_take(const nb_frame *f, nb_selection rows, nb_frame *taken, nb_ctx *ctx)
{
    char *copy;
    NB_NEED(copy, nb_alloc(ctx, (size_t)rows.count + 1, f->size));
    for (int i = 0; i < rows.count; i++) memcpy(copy + (size_t)i * f->size, nb_frame_row(f, rows.at[i]), f->size);
    const nb_frame_column *derived = f->made->columns;
    const nb_given_labels *labels = f->labels;
    struct nb_relation *relation = f->relation;
    NB_TRY(ctx, nb_frame_make(taken, f->columns, copy, f->size, rows.count, ctx)); /* which may be f itself */
    taken->labels = labels;
    taken->relation = relation;
    for (; derived; derived = derived->next)
        if (!nb_column_find(taken->columns, derived->name)) NB_TRY(ctx, take_derived(taken, derived, rows, ctx));
    return NB_OK;
}

nb_status nb_frame_of_relation(nb_relation *r, nb_frame *f, nb_ctx *ctx)
{
    static const char sql[] =
        "SELECT place FROM (SELECT rowid AS id, row_number() OVER (ORDER BY position) - 1 AS place "
        "FROM main.results WHERE position IS NOT NULL) JOIN key USING (id) ORDER BY place";
    nb_answer a;
    nb_row_list rows;
    int *at;
    NB_TRY(ctx, nb_relation_ask(r, sql, NULL, &a, NULL, ctx));
    NB_TRY(ctx, nb_store_rows(nb_relation_store(r), &rows, ctx));
    rows.labels = nb_relation_labels(r);
    NB_TRY(ctx, nb_frame_of(f, &rows, ctx));
    f->relation = r;
    NB_NEED(at, nb_alloc(ctx, (size_t)a.count + 1, sizeof *at));
    for (int i = 0; i < a.count; i++) at[i] = (int)nb_answer_at(&a, i, 0)->integer;
    return nb_frame_take(f, (nb_selection){a.count, at}, f, ctx);
}

/* As refine, by a table of all pairs of a group and a code. */
static nb_status refine_by_table(nb_selection from, const nb_codes *codes, int *of, int *count, nb_ctx *ctx)
{
    size_t size = (size_t)*count * (size_t)codes->count;
    int *number, found = 0;
    NB_NEED(number, nb_alloc_unset(ctx, size + 1, sizeof *number));
    memset(number, -1, size * sizeof *number);
    for (int i = 0; i < from.count; i++) {
        int row = from.at[i], *n = &number[(size_t)of[row] * (size_t)codes->count + (size_t)codes->of[row]];
        if (*n < 0) *n = found++;
        of[row] = *n;
    }
    *count = found;
    return NB_OK;
}

/* Divides each group by the codes; groups stay numbered in order of appearance. */
static nb_status refine(nb_selection from, const nb_codes *codes, int *of, int *count, nb_ctx *ctx)
{
    int *slots, *group, *value, found = 0;
    uint64_t mask;
    if (codes->count == 1) return NB_OK;
    if ((long long)*count * codes->count <= 2LL * from.count) return refine_by_table(from, codes, of, count, ctx);
    NB_TRY(ctx, slots_for(from.count, &slots, &mask, ctx));
    NB_NEED(group, nb_alloc(ctx, (size_t)from.count + 1, sizeof *group));
    NB_NEED(value, nb_alloc(ctx, (size_t)from.count + 1, sizeof *value));
    for (int i = 0; i < from.count; i++) {
        int g = of[from.at[i]], v = codes->of[from.at[i]];
        uint64_t at = nb_hash_bits(((uint64_t)g << 32) ^ (uint64_t)v) & mask;
        while (slots[at] >= 0 && (group[slots[at]] != g || value[slots[at]] != v)) at = (at + 1) & mask;
        if (slots[at] < 0) {
            slots[at] = found++;
            group[slots[at]] = g;
            value[slots[at]] = v;
        }
        of[from.at[i]] = slots[at];
    }
    *count = found;
    return NB_OK;
}

/* The rows of each group, by counting. */
static nb_status gather(nb_selection from, const int *of, int count, nb_groups *groups, nb_ctx *ctx)
{
    int *first, *rows;
    NB_NEED(first, nb_alloc(ctx, (size_t)count + 2, sizeof *first)); /* group g begins at first[g + 1] */
    NB_NEED(rows, nb_alloc(ctx, (size_t)from.count + 1, sizeof *rows));
    for (int i = 0; i < from.count; i++) first[of[from.at[i]] + 2]++;
    for (int g = 0; g < count; g++) first[g + 2] += first[g + 1];
    for (int i = 0; i < from.count; i++) rows[first[of[from.at[i]] + 1]++] = from.at[i];
    *groups = (nb_groups){count, of, first, rows}; /* in the end each group's first stands at its own number */
    return NB_OK;
}

nb_status nb_frame_group(const nb_frame *f, nb_selection from, const char *const *by, nb_groups *groups, nb_ctx *ctx)
{
    int *of, count = from.count > 0;
    NB_NEED(of, nb_alloc(ctx, (size_t)f->count + 1, sizeof *of));
    for (int i = 0; i < f->count; i++) of[i] = -1;
    for (int i = 0; i < from.count; i++) of[from.at[i]] = 0;
    for (; *by; by++) {
        nb_codes codes;
        NB_TRY(ctx, nb_frame_codes(f, *by, &codes, ctx));
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = refine(from, &codes, of, &count, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return gather(from, of, count, groups, ctx);
}

nb_selection nb_group_rows(const nb_groups *groups, int group)
{
    int first = groups->first[group];
    return (nb_selection){groups->first[group + 1] - first, groups->rows + first};
}
