/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contrast.c - see contrast.h */
#include "report/contrast.h"

#include "report/draws.h"
#include "report/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 32 };

typedef struct { /* one pair of rows */
    int setting, source, head, stratum, trial, instance;
    bool a_ok, b_ok, a_skipped, b_skipped, tie, noise, draws;
    bool one_has_seen; /* rows that it is judged on, and the other has not */
    double value, variance;
} pair;

typedef struct {
    const nb_frame *frame;
    const nb_contrast_terms *terms;
    const nb_column *metric, *noise, *se, *unseen;
    nb_contrasts *out;
    nb_pivot pivot;
    const bool *draws; /* by row */
    int *setting;      /* by instance */
    pair *pairs;       /* room for one an instance */
    int *unpaired;
    int room;
    nb_ctx *ctx;
} maker;

static bool among(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

/* What identifies a row apart from the data that it is measured on. */
static bool is_of_method(const nb_column *c)
{
    static const char *const data[] = {"problem", "head", "trial", NULL};
    return c->identity && c->type != NB_COLUMN_SEED && !among(c->name, data);
}

static nb_status find_metric(maker *m)
{
    const nb_column *columns = m->frame->columns, *by = nb_column_find(columns, m->terms->by);
    NB_REQUIRE(m->ctx, by && is_of_method(by), NB_EINVAL, "rows cannot be compared by '%s': it is not part of a method",
               m->terms->by);
    const nb_column *pool = m->terms->pool ? nb_column_find(columns, m->terms->pool) : NULL;
    NB_REQUIRE(m->ctx, !m->terms->pool || (pool && is_of_method(pool)), NB_EINVAL,
               "'%s' cannot be pooled: heads and trials are averaged by themselves", m->terms->pool);
    m->metric = nb_column_find(columns, m->terms->metric);
    NB_REQUIRE(m->ctx, m->metric && m->metric->type == NB_COLUMN_REAL, NB_EINVAL, "'%s' is not a measured column",
               m->terms->metric);
    if (m->metric->noise) m->noise = nb_column_find(columns, m->metric->noise);
    if (m->metric->se) m->se = nb_column_find(columns, m->metric->se);
    if (m->metric->unseen) m->unseen = nb_column_find(columns, m->metric->unseen);
    return NB_OK;
}

static double real_of(const maker *m, const nb_column *column, int row)
{
    return column ? *(const double *)((const char *)nb_frame_row(m->frame, row) + column->offset) : NAN;
}

static bool is_ok(const maker *m, int row)
{
    return strcmp(((const nb_row *)nb_frame_row(m->frame, row))->status, "ok") == 0 &&
           !isnan(real_of(m, m->metric, row));
}

static bool is_skipped(const maker *m, int row)
{
    return strcmp(((const nb_row *)nb_frame_row(m->frame, row))->status, "skipped") == 0;
}

/* Names of what a setting is, and of what pairs of rows agree in beside the trial. */
static nb_status find_keys(maker *m, const char **settings, const char **keys)
{
    const nb_contrast_terms *t = m->terms;
    int setting_count = 0, key_count = 0;
    keys[key_count++] = "problem";
    keys[key_count++] = "head";
    for (const nb_column *c = m->frame->columns; c->name; c++) {
        if (!is_of_method(c) || strcmp(c->name, t->by) == 0 || among(c->name, t->confounded)) continue;
        NB_REQUIRE(m->ctx, key_count < MOST_COLUMNS - 2, NB_EBUG, "rows have more columns of identity than %d",
                   MOST_COLUMNS);
        keys[key_count++] = c->name;
        if (!t->pool || strcmp(c->name, t->pool) != 0) settings[setting_count++] = c->name;
    }
    if (nb_frame_has(m->frame, NB_BUILD) && !among(NB_BUILD, t->confounded)) keys[key_count++] = NB_BUILD;
    return NB_OK;
}

/* With columns confounded, a method may have several rows where one is wanted. */
static nb_status check_single(const maker *m, const char *const *keys)
{
    const char *all[MOST_COLUMNS + 2] = {m->terms->by, "trial"}, *list = "";
    nb_selection rows;
    nb_groups groups;
    if (!m->terms->confounded || !*m->terms->confounded) return NB_OK;
    for (int i = 0; keys[i]; i++) all[i + 2] = keys[i];
    NB_TRY(m->ctx, nb_frame_all(m->frame, &rows, m->ctx));
    NB_TRY(m->ctx, nb_frame_group(m->frame, rows, all, &groups, m->ctx));
    for (const char *const *c = m->terms->confounded; *c; c++)
        NB_NEED(list, nb_format(m->ctx, "%s%s%s", list, *list ? ", " : "", *c));
    NB_REQUIRE(m->ctx, groups.count == m->frame->count, NB_EINVAL,
               "a %s has several rows that differ only in what is named as confounded (%s): select one of them",
               m->terms->by, list);
    return NB_OK;
}

static nb_status find_settings(maker *m, const char *const *settings)
{
    nb_selection rows;
    NB_TRY(m->ctx, nb_frame_all(m->frame, &rows, m->ctx));
    NB_TRY(m->ctx, nb_frame_group(m->frame, rows, settings, &m->out->settings, m->ctx));
    NB_NEED(m->setting, nb_alloc(m->ctx, (size_t)m->pivot.count + 1, sizeof *m->setting));
    for (int i = 0; i < m->pivot.count; i++) m->setting[i] = m->out->settings.of[m->pivot.any[i]];
    return NB_OK;
}

/* a against b: two that differ by no more than rounding are the same, and no error counts as less than its rounding. */
static nb_status measure(const maker *m, int a, int b, pair *p)
{
    double x = real_of(m, m->metric, a), y = real_of(m, m->metric, b);
    double noise_x = fmax(real_of(m, m->noise, a), 0), noise_y = fmax(real_of(m, m->noise, b), 0);
    double se_x = fmax(real_of(m, m->se, a), 0), se_y = fmax(real_of(m, m->se, b), 0);
    p->noise = !m->terms->equal_noise && m->noise && x <= noise_x && y <= noise_y;
    p->tie = x == y || fabs(x - y) <= noise_x + noise_y;
    if (m->terms->difference) {
        p->value = p->tie ? 0 : x - y;
        p->variance = se_x * se_x + se_y * se_y;
        return NB_OK;
    }
    NB_REQUIRE(m->ctx, x >= 0 && y >= 0, NB_EINVAL,
               "%s has values below 0, such as %.3g: these have no ratio, only a difference", m->metric->name,
               fmin(x, y));
    p->value = p->tie ? 0 : log(fmax(x, noise_x) / fmax(y, noise_y));
    if (x > 0 && y > 0) p->variance = (se_x / x) * (se_x / x) + (se_y / y) * (se_y / y);
    return NB_OK;
}

static bool has_seen(const maker *m, int row)
{
    return m->unseen && !(real_of(m, m->unseen, row) == real_of(m, m->metric, row));
}

static int compare_pairs(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    if (x->setting != y->setting) return x->setting < y->setting ? -1 : 1;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return (x->instance > y->instance) - (x->instance < y->instance);
}

/* The pairs of a value, sorted. */
static nb_status find_pairs(maker *m, int value, int *count)
{
    const nb_replicates *r = &m->out->replicates;
    *count = 0;
    for (int i = 0; i < m->pivot.count; i++) {
        const int *rows = m->pivot.rows + (size_t)i * (size_t)m->pivot.width;
        int a = rows[value], b = rows[m->terms->baseline];
        m->unpaired[value] += a >= 0 && b < 0;
        if (a < 0 || b < 0) continue;
        int any = m->pivot.any[i];
        pair p = {.setting = m->setting[i],
                  .source = r->source[any],
                  .stratum = r->stratum[any],
                  .head = r->head[any],
                  .trial = m->pivot.repetition[i],
                  .instance = i,
                  .a_ok = is_ok(m, a),
                  .b_ok = is_ok(m, b),
                  .draws = (m->draws[a] || m->draws[b]) && !r->generated[r->stratum[any]],
                  .a_skipped = is_skipped(m, a),
                  .b_skipped = is_skipped(m, b)};
        if (p.a_ok && p.b_ok) {
            NB_TRY(m->ctx, measure(m, a, b, &p));
            p.one_has_seen = has_seen(m, a) != has_seen(m, b);
        }
        m->pairs[(*count)++] = p;
    }
    qsort(m->pairs, (size_t)*count, sizeof *m->pairs, compare_pairs);
    return NB_OK;
}

static bool is_pair(const pair *p)
{
    return p->a_ok && p->b_ok && !p->noise;
}

static void count(nb_pair_counts *c, const pair *p)
{
    c->pairs += is_pair(p);
    c->ties += is_pair(p) && p->tie;
    c->noise += p->noise;
    c->missing += !p->a_ok && p->b_ok;
    c->missing_baseline += p->a_ok && !p->b_ok;
    c->skipped += p->a_skipped && p->b_ok;
    c->skipped_baseline += p->a_ok && p->b_skipped;
    c->neither += !p->a_ok && !p->b_ok;
}

/* What a pair without a result counts as: the largest difference seen, against whoever has none. */
static double worst(const pair *pairs, int first, int end)
{
    double most = 0;
    for (int i = first; i < end; i++)
        if (is_pair(&pairs[i]) && isfinite(pairs[i].value)) most = fmax(most, fabs(pairs[i].value));
    return most;
}

/* The mean of the pairs of each head; pairs first ... end - 1 are of one setting. */
static nb_status add_units(const maker *m, nb_contrast *c, int first, int end)
{
    const nb_column *metric = nb_column_find(m->frame->columns, m->terms->metric);
    double most = m->terms->failures == NB_FAILURES_WORST ? worst(m->pairs, first, end) : 0;
    if (metric && metric->more) most = -most;
    NB_NEED(c->units, nb_alloc(m->ctx, (size_t)(end - first), sizeof *c->units));
    NB_NEED(c->heads, nb_alloc(m->ctx, (size_t)(end - first), sizeof *c->heads));
    NB_NEED(c->counts, nb_alloc(m->ctx, (size_t)m->out->replicates.strata + 1, sizeof *c->counts));
    for (int i = first, next; i < end; i = next) {
        const pair *p = &m->pairs[i];
        nb_unit_value unit = {.stratum = p->stratum, .source = p->source};
        int used = 0;
        for (next = i; next < end && m->pairs[next].source == p->source && m->pairs[next].head == p->head; next++) {
            const pair *here = &m->pairs[next];
            count(&c->counts[here->stratum], here);
            count(&c->counts[m->out->replicates.strata], here);
            bool both = is_pair(here), one = here->a_ok != here->b_ok;
            if (!both && !(one && m->terms->failures == NB_FAILURES_WORST)) continue;
            unit.value += both ? here->value : here->a_ok ? -most : most;
            unit.variance += here->variance;
            used++;
        }
        if (used == 0) continue;
        unit.value /= used;
        unit.variance /= (double)used * used;
        c->heads[c->unit_count] = p->head;
        c->units[c->unit_count++] = unit;
    }
    return NB_OK;
}

/* Pairs first ... end - 1 are of one setting. */
static nb_status find_common(const maker *m, nb_contrast *c, int first, int end)
{
    nb_crossed_value *values;
    int strata = m->out->replicates.strata, *heads;
    NB_NEED(c->common, nb_alloc(m->ctx, (size_t)strata + 1, sizeof *c->common));
    NB_NEED(values, nb_alloc(m->ctx, (size_t)(end - first) + 1, sizeof *values));
    NB_NEED(heads, nb_alloc(m->ctx, (size_t)(end - first) + 1, sizeof *heads));
    NB_NEED(c->draws, nb_alloc(m->ctx, (size_t)strata + 1, sizeof *c->draws));
    for (int i = first; i < end; i++) {
        const pair *p = &m->pairs[i];
        if (!is_pair(p) || !isfinite(p->value)) continue;
        c->draws[p->stratum] |= p->draws;
        c->draws[strata] |= p->draws;
        heads[c->crossed_count] = p->head;
        values[c->crossed_count++] = (nb_crossed_value){p->stratum, p->source, p->trial, p->value};
    }
    c->crossed = values;
    c->crossed_heads = heads;
    return nb_crossed_errors(c->crossed_count, values, strata, c->common, m->ctx);
}

static bool one_has_seen(const maker *m, int first, int end)
{
    bool any = false;
    for (int i = first; i < end; i++) any = any || m->pairs[i].one_has_seen;
    return any && !among(NB_ROWS_SEEN, m->terms->confounded);
}

static nb_status add_contrasts(maker *m, int value, int count)
{
    nb_contrasts *out = m->out;
    for (int i = 0, next; i < count; i = next) {
        for (next = i; next < count && m->pairs[next].setting == m->pairs[i].setting; next++) continue;
        NB_GROW(m->ctx, out->items, out->count, m->room);
        nb_contrast *c = &out->items[out->count++];
        *c = (nb_contrast){.value = value, .setting = m->pairs[i].setting};
        NB_TRY(m->ctx, add_units(m, c, i, next));
        NB_TRY(m->ctx, find_common(m, c, i, next));
        if (!one_has_seen(m, i, next)) continue;
        c->unit_count = 0;
        NB_NEED(c->refusal,
                nb_format(m->ctx,
                          "only one of it and the baseline has looked at rows of S that both are judged on: "
                          "compare %s, or name %s as confounded",
                          m->metric->unseen, NB_ROWS_SEEN));
    }
    return NB_OK;
}

/* In what a row of the value and a row of the baseline differ, of those with the least of it; the same data. */
static nb_status find_difference(const maker *m, int row, const char **names)
{
    const char *columns[MOST_COLUMNS + 1] = {NULL};
    int count = 0, least = MOST_COLUMNS + 1;
    nb_codes codes[MOST_COLUMNS], values = m->out->values;
    for (const nb_column *c = m->frame->columns; c->name && count < MOST_COLUMNS - 1; c++)
        if (is_of_method(c) && strcmp(c->name, m->terms->by) != 0) columns[count++] = c->name;
    if (nb_frame_has(m->frame, NB_BUILD)) columns[count++] = NB_BUILD;
    for (int i = 0; i < count; i++) NB_TRY(m->ctx, nb_frame_codes(m->frame, columns[i], &codes[i], m->ctx));
    *names = NULL;
    for (int b = 0; b < m->frame->count; b++) {
        int differ = 0;
        const char *list = "";
        if (values.of[b] != m->terms->baseline || m->out->replicates.head[b] != m->out->replicates.head[row]) continue;
        for (int i = 0; i < count; i++) differ += codes[i].of[b] != codes[i].of[row];
        if (differ >= least) continue;
        least = differ;
        for (int i = 0; i < count; i++)
            if (codes[i].of[b] != codes[i].of[row])
                NB_NEED(list, nb_format(m->ctx, "%s%s%s", list, *list ? " and " : "", columns[i]));
        *names = list;
    }
    return NB_OK;
}

/* Of a value that has no pair at all. */
static nb_status add_refusal(maker *m, int value)
{
    const char *names;
    int row = m->out->values.first[value];
    NB_TRY(m->ctx, find_difference(m, row, &names));
    NB_GROW(m->ctx, m->out->items, m->out->count, m->room);
    nb_contrast *c = &m->out->items[m->out->count++];
    *c = (nb_contrast){.value = value, .setting = m->out->settings.of[row]};
    NB_NEED(c->counts, nb_alloc(m->ctx, (size_t)m->out->replicates.strata + 1, sizeof *c->counts));
    NB_NEED(c->common, nb_alloc(m->ctx, (size_t)m->out->replicates.strata + 1, sizeof *c->common));
    NB_NEED(c->draws, nb_alloc(m->ctx, (size_t)m->out->replicates.strata + 1, sizeof *c->draws));
    if (names)
        NB_NEED(c->refusal,
                nb_format(m->ctx, "it differs from the baseline in %s too, which is not named as confounded", names));
    else
        NB_NEED(c->refusal, nb_strdup(m->ctx, "the baseline has no row on the same head"));
    return NB_OK;
}

nb_status nb_contrasts_make(const nb_frame *f, const nb_contrast_terms *terms, nb_contrasts *out, nb_ctx *ctx)
{
    maker m = {.frame = f, .terms = terms, .out = out, .ctx = ctx};
    const char **settings, *keys[MOST_COLUMNS + 1] = {NULL};
    nb_selection rows;
    *out = (nb_contrasts){.count = 0};
    NB_TRY(ctx, find_metric(&m));
    NB_NEED(settings, nb_alloc(ctx, MOST_COLUMNS + 1, sizeof *settings));
    NB_TRY(ctx, find_keys(&m, settings, keys));
    NB_TRY(ctx, check_single(&m, keys));
    NB_TRY(ctx, nb_frame_codes(f, terms->by, &out->values, ctx));
    NB_TRY(ctx, nb_replicates_find(f, &out->replicates, ctx));
    NB_TRY(ctx, nb_draws_find(f, &m.draws, ctx));
    NB_TRY(ctx, nb_frame_all(f, &rows, ctx));
    NB_TRY(ctx, nb_frame_pivot(f, rows, keys, "trial", terms->by, &m.pivot, ctx));
    NB_TRY(ctx, find_settings(&m, settings));
    NB_NEED(m.pairs, nb_alloc(ctx, (size_t)m.pivot.count + 1, sizeof *m.pairs));
    NB_NEED(m.unpaired, nb_alloc(ctx, (size_t)out->values.count + 1, sizeof *m.unpaired));
    out->setting_columns = settings;
    out->unpaired = m.unpaired;
    for (int v = 0; v < out->values.count && terms->baseline >= 0; v++) {
        int count;
        if (v == terms->baseline) continue;
        NB_TRY(ctx, find_pairs(&m, v, &count));
        NB_TRY(ctx, count > 0 ? add_contrasts(&m, v, count) : add_refusal(&m, v));
    }
    return NB_OK;
}
