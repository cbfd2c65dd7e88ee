/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - see summary.h */
#include "studies/forward/summary.h"

#include "components/registry.h"
#include "report/labels.h"
#include "report/statistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAMILY "family"

static bool is_ok(const void *row, const void *what)
{
    (void)what;
    return strcmp(((const nb_row *)row)->status, "ok") == 0;
}

static const nb_forward_row *row_of(const nb_forward_summary *s, int row)
{
    return nb_frame_row(&s->frame, row);
}

/* An option that sets n: of a drawn problem `n`, of a window `max_n`. */
static bool sets_n(const nb_option *o)
{
    size_t length = strlen(o->key);
    return o->type == NB_OPTION_INT &&
           (strcmp(o->key, "n") == 0 || (length > 2 && strcmp(o->key + length - 2, "_n") == 0));
}

/* A choice with some of its options at their defaults, or the text itself where it cannot be read here, as of a
 * plug-in that is not loaded. */
static nb_status label_without(const nb_registry *registry, const char *text, bool (*leaves)(const nb_option *o),
                               const char *key, const char **label, nb_ctx *ctx)
{
    nb_choice choice;
    void *copy;
    *label = text;
    if (nb_choice_parse(registry, text, &choice, ctx) != NB_OK) {
        nb_error_clear(ctx);
        return NB_OK;
    }
    size_t size = choice.component->options_size;
    NB_NEED(copy, nb_alloc(ctx, size + 1, 1));
    if (size > 0) memcpy(copy, choice.options, size);
    choice.options = copy;
    for (const nb_option *o = choice.component->options; o->key; o++)
        if (o->initial && (leaves ? leaves(o) : key && strcmp(o->key, key) == 0)) nb_option_set(o, o->initial, copy);
    NB_TRY(ctx, nb_choice_describe(&choice, ctx));
    *label = choice.label;
    return NB_OK;
}

/* `whole`: with all of a model's name, else up to its first blank. */
static nb_status family_of(const nb_forward_row *r, bool whole, const char **family, nb_ctx *ctx)
{
    const char *data = r->model;
    if (!data)
        NB_TRY(ctx, label_without(&nb_problems, r->problem, sets_n, NULL, &data, ctx));
    else if (!whole)
        NB_TRY(ctx, nb_label_stratum(r->model, &data, ctx));
    NB_NEED(*family, nb_format(ctx, "%s, %d head%s", data, r->heads, r->heads == 1 ? "" : "s"));
    if (r->measures.key_heads < r->heads)
        NB_NEED(*family, nb_format(ctx, "%s, %g of K and V", *family, r->measures.key_heads));
    NB_NEED(*family, nb_format(ctx, "%s, d = %d", *family, r->d));
    if (r->measures.dv != r->d) NB_NEED(*family, nb_format(ctx, "%s, dv = %g", *family, r->measures.dv));
    if (r->measures.causal > 0) NB_NEED(*family, nb_format(ctx, "%s, causal", *family));
    if (strcmp(r->cold, "true") == 0) NB_NEED(*family, nb_format(ctx, "%s, cold caches", *family));
    return NB_OK;
}

/* Families by all of their names; the short ones are shown where they differ too. */
static nb_status find_families(nb_forward_summary *s, nb_selection ok, nb_ctx *ctx)
{
    int *of, *first;
    const char **labels;
    bool differ = true;
    NB_NEED(of, nb_alloc(ctx, (size_t)s->frame.count + 1, sizeof *of));
    NB_NEED(first, nb_alloc(ctx, (size_t)ok.count + 1, sizeof *first));
    NB_NEED(s->families, nb_alloc(ctx, (size_t)ok.count + 1, sizeof *s->families));
    NB_NEED(labels, nb_alloc(ctx, (size_t)ok.count + 1, sizeof *labels));
    for (int i = 0; i < ok.count; i++) {
        const char *family;
        int f = 0;
        NB_TRY(ctx, family_of(row_of(s, ok.at[i]), true, &family, ctx));
        while (f < s->family_count && strcmp(s->families[f], family) != 0) f++;
        if (f == s->family_count) first[f] = ok.at[i], s->families[s->family_count++] = family;
        of[ok.at[i]] = f;
    }
    for (int f = 0; f < s->family_count; f++) {
        NB_TRY(ctx, family_of(row_of(s, first[f]), false, &labels[f], ctx));
        for (int g = 0; g < f; g++) differ = differ && strcmp(labels[f], labels[g]) != 0;
    }
    if (differ) s->families = labels;
    return nb_frame_derive(&s->frame, FAMILY, of, ctx);
}

static nb_status find_baselines(nb_forward_summary *s, nb_ctx *ctx)
{
    for (int v = 0; v < s->attentions.count && s->baseline_count < NB_FORWARD_BASELINES; v++) {
        nb_choice choice;
        if (nb_choice_parse(&nb_attentions, row_of(s, s->attentions.first[v])->attention, &choice, ctx) != NB_OK)
            nb_error_clear(ctx);
        else if (nb_attention_traits(&choice) & NB_ATTENTION_EXACT)
            s->baselines[s->baseline_count++] = v;
    }
    return NB_OK;
}

/* By row: the times of the baselines on the same layer in the same trial. */
static nb_status find_beside(const nb_forward_summary *s, nb_selection ok, double (*beside)[NB_FORWARD_BASELINES],
                             nb_ctx *ctx)
{
    static const char *const keys[] = {"problem", "head", "heads", "threads", "trial", "cold", NULL};
    nb_groups groups;
    NB_TRY(ctx, nb_frame_group(&s->frame, ok, keys, &groups, ctx));
    for (int g = 0; g < groups.count; g++) {
        nb_selection rows = nb_group_rows(&groups, g);
        double of[NB_FORWARD_BASELINES] = {NAN, NAN, NAN, NAN};
        for (int i = 0; i < rows.count; i++)
            for (int b = 0; b < s->baseline_count; b++)
                if (s->attentions.of[rows.at[i]] == s->baselines[b])
                    of[b] = row_of(s, rows.at[i])->measures.amortized_s;
        for (int i = 0; i < rows.count; i++) memcpy(beside[rows.at[i]], of, sizeof of);
    }
    return NB_OK;
}

typedef struct {
    const nb_forward_summary *s;
    nb_selection rows;
    double *values; /* room for all rows */
} gathering;

static double median_of(const gathering *g, size_t offset)
{
    int count = g->rows.count;
    for (int i = 0; i < count; i++)
        g->values[i] = *(const double *)((const char *)row_of(g->s, g->rows.at[i]) + offset);
    return nb_median_of(g->values, &count);
}

/* Of what a row's latency has of it. */
static double share_of(const gathering *g, size_t offset)
{
    int count = g->rows.count;
    for (int i = 0; i < count; i++) {
        const nb_forward_row *row = row_of(g->s, g->rows.at[i]);
        g->values[i] = *(const double *)((const char *)row + offset) / row->measures.latency_s;
    }
    return nb_median_of(g->values, &count);
}

#define SHARE(g, field) share_of(&(g), offsetof(nb_forward_row, measures.field))
#define MEDIAN(g, field) median_of(&(g), offsetof(nb_forward_row, measures.field))

static double median_speedup(const gathering *g, double (*beside)[NB_FORWARD_BASELINES], int baseline)
{
    int count = g->rows.count;
    for (int i = 0; i < count; i++)
        g->values[i] = beside[g->rows.at[i]][baseline] / row_of(g->s, g->rows.at[i])->measures.amortized_s;
    return nb_median_of(g->values, &count);
}

static nb_forward_cell cell_of(const gathering *g, double (*beside)[NB_FORWARD_BASELINES], const int *family)
{
    int first = g->rows.at[0];
    const nb_forward_row *row = row_of(g->s, first);
    nb_forward_cell c = {
        .family = family[first],
        .threads = row->threads,
        .n = row->n,
        .attention = g->s->attentions.of[first],
        .rows = g->rows,
        .latency_s = MEDIAN(*g, latency_s),
        .low_s = NAN,
        .high_s = NAN,
        .time_s = MEDIAN(*g, amortized_s),
        .fresh_s = MEDIAN(*g, fresh_s),
        .first_s = MEDIAN(*g, first_s),
        .workspace = MEDIAN(*g, workspace_bytes),
        .peak = MEDIAN(*g, peak_bytes),
        .error = MEDIAN(*g, output_error),
        .baseline_mean = MEDIAN(*g, baseline_mean),
        .landmarks = MEDIAN(*g, landmarks),
        .share = {SHARE(*g, select_s), SHARE(*g, core_s), SHARE(*g, b_s), SHARE(*g, f_s), SHARE(*g, output_s)}};
    for (int i = 0; i < g->rows.count; i++) {
        const nb_forward *m = &row_of(g->s, g->rows.at[i])->measures;
        c.low_s = fmin(c.low_s, isnan(m->latency_low_s) ? m->latency_s : m->latency_low_s);
        c.high_s = fmax(c.high_s, isnan(m->latency_high_s) ? m->latency_s : m->latency_high_s);
    }
    if (g->rows.count == 1 && isnan(row->measures.latency_low_s)) c.low_s = c.high_s = NAN;
    for (int b = 0; b < NB_FORWARD_BASELINES; b++)
        c.speedup[b] = b < g->s->baseline_count ? median_speedup(g, beside, b) : NAN;
    return c;
}

static int compare_cells(const void *left, const void *right)
{
    const nb_forward_cell *a = left, *b = right;
    const int order[] = {a->family - b->family, a->threads - b->threads, a->n - b->n, a->attention - b->attention};
    for (int i = 0; i < 4; i++)
        if (order[i]) return order[i];
    return 0;
}

nb_status nb_forward_summary_make(const nb_frame *frame, nb_forward_summary *s, nb_ctx *ctx)
{
    static const char *const keys[] = {FAMILY, "threads", "n", "attention", NULL};
    nb_selection all, ok;
    nb_groups groups;
    const int *family;
    double(*beside)[NB_FORWARD_BASELINES];
    gathering g = {.s = s};
    *s = (nb_forward_summary){.family_count = 0};
    NB_TRY(ctx, nb_frame_view(frame, &s->frame, ctx));
    NB_TRY(ctx, nb_frame_all(&s->frame, &all, ctx));
    NB_TRY(ctx, nb_frame_select(&s->frame, all, is_ok, NULL, &ok, ctx));
    NB_TRY(ctx, nb_frame_codes(&s->frame, "attention", &s->attentions, ctx));
    NB_TRY(ctx, nb_labels_of_values(&s->frame, "attention", &s->labels, ctx));
    NB_TRY(ctx, find_families(s, ok, ctx));
    NB_TRY(ctx, find_baselines(s, ctx));
    NB_NEED(beside, nb_alloc(ctx, (size_t)frame->count + 1, sizeof *beside));
    NB_TRY(ctx, find_beside(s, ok, beside, ctx));
    NB_TRY(ctx, nb_frame_group(&s->frame, ok, keys, &groups, ctx));
    NB_TRY(ctx, nb_frame_ints(&s->frame, FAMILY, &family, ctx));
    NB_NEED(s->cells, nb_alloc(ctx, (size_t)groups.count + 1, sizeof *s->cells));
    NB_NEED(g.values, nb_alloc_reals(ctx, (size_t)frame->count + 1, 1));
    for (int i = 0; i < groups.count; i++) {
        g.rows = nb_group_rows(&groups, i);
        s->cells[s->cell_count++] = cell_of(&g, beside, family);
    }
    if (s->cell_count > 0) qsort(s->cells, (size_t)s->cell_count, sizeof *s->cells, compare_cells);
    return NB_OK;
}

int nb_forward_next_family(const nb_forward_summary *s, int first)
{
    int i = first + 1;
    while (i < s->cell_count && s->cells[i].family == s->cells[first].family &&
           s->cells[i].threads == s->cells[first].threads)
        i++;
    return i;
}

int nb_forward_next_n(const nb_forward_summary *s, int first)
{
    int i = first + 1, end = nb_forward_next_family(s, first);
    while (i < end && s->cells[i].n == s->cells[first].n) i++;
    return i;
}

int nb_forward_of_attention(const nb_forward_summary *s, int first, int end, int attention, int *which)
{
    int count = 0;
    for (int i = first; i < end; i++)
        if (s->cells[i].attention == attention) which[count++] = i;
    return count;
}

/* Exact outputs in single precision differ by rounding alone. */
static double error_above_rounding(const nb_forward_cell *c)
{
    return fmax(c->error, 1e-5);
}

bool nb_forward_is_on_front(const nb_forward_summary *s, int cell)
{
    const nb_forward_cell *c = &s->cells[cell];
    double error = error_above_rounding(c);
    for (int i = 0; i < s->cell_count; i++) {
        const nb_forward_cell *o = &s->cells[i];
        if (o->family != c->family || o->threads != c->threads || o->n != c->n) continue;
        double other = error_above_rounding(o);
        if (isnan(o->error) || o->time_s > c->time_s || other > error) continue;
        if (o->time_s < c->time_s || other < error) return false;
    }
    return !isnan(c->error);
}

const char *nb_forward_name(const nb_forward_summary *s, int attention, bool csv)
{
    return csv ? row_of(s, s->attentions.first[attention])->attention : s->labels[attention];
}

nb_status nb_forward_add_keys(const nb_forward_summary *s, const nb_forward_cell *cell, nb_grid *grid, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_grid_text(grid, s->families[cell->family]));
    NB_TRY(ctx, nb_grid_int(grid, cell->threads));
    NB_TRY(ctx, nb_grid_int(grid, cell->n));
    return nb_grid_text(grid, nb_forward_name(s, cell->attention, grid->exact));
}

nb_status nb_forward_find_curves(const nb_forward_summary *s, nb_forward_curves *out, nb_ctx *ctx)
{
    *out = (nb_forward_curves){.count = 0};
    NB_NEED(out->of, nb_alloc(ctx, (size_t)s->attentions.count + 1, sizeof *out->of));
    NB_NEED(out->labels, nb_alloc(ctx, (size_t)s->attentions.count + 1, sizeof *out->labels));
    for (int v = 0; v < s->attentions.count; v++) {
        const char *text = row_of(s, s->attentions.first[v])->attention, *label = text;
        char *name;
        NB_NEED(name, nb_strdup(ctx, text));
        name[strcspn(name, "(")] = 0;
        const nb_attention *a = (const nb_attention *)nb_registry_find(&nb_attentions, name);
        if (a) NB_TRY(ctx, label_without(&nb_attentions, text, NULL, a->size, &label, ctx));
        int c = 0;
        while (c < out->count && strcmp(out->labels[c], label) != 0) c++;
        if (c == out->count) out->labels[out->count++] = label;
        out->of[v] = c;
    }
    return NB_OK;
}
