/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_lines.c - a line is the rows of one head and source that agree in all settings but the claim's own column, with
 * one point for each value of that, the mean over trials.
 *
 *     measure    a line of one point: its value
 *     slope      least squares of log metric on the log of the column
 *     correlate  Spearman's coefficient, Pearson's of the midranks
 *
 * What the T trials have in common over sources is found of the lines' pseudo-values, T x - (T - 1) x_(-t), where
 * x_(-t) is the line's value without trial t: of what is linear in the trials, as a mean, trial t's own (Tukey's
 * jackknife). */
#include "report/claim_units_private.h"

#include "report/draws.h"
#include "statistics/agreement.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 32 };
static const char source_column[] = "source of the row";

typedef struct {
    const nb_frame *frame;
    const nb_claim *claim;
    nb_replicates replicates;
    const double *metric[2], *noise[2]; /* noise: NULL where it is not known */
    const bool *in[2];                  /* by row: whether the series has it */
    const int *trial;                   /* by row */
    nb_codes values;                    /* of the claim's own column; one for all where it has none */
    double *sum[2];                     /* by value, as the next two; 0 between lines */
    int *count[2];
    bool *later[2]; /* rows of another trial than 0, which then stands for itself alone */
    bool *there[2]; /* rows at all */
    double *x, *y;  /* points */
    bool *mine;     /* by trial: whether the line has it */
    int item_count;
    nb_head_value *items; /* by line */
    nb_crossed crossed;
    nb_claim_units *units;
    nb_ctx *ctx;
} liner;

static bool among(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0) return true;
    return false;
}

static bool in_series(const nb_claim *claim, const char *column)
{
    for (int s = 0; s < claim->series_count; s++)
        for (int i = 0; i < claim->series[s].where.count; i++)
            if (strcmp(claim->series[s].where.items[i].column, column) == 0) return true;
    return false;
}

/* What the rows of a line agree in. */
static nb_status name_settings(const liner *l, const char **names)
{
    static const char *const data[] = {"problem", "head", "trial", NULL};
    const nb_claim *c = l->claim;
    int count = 0;
    names[count++] = "problem";
    names[count++] = "head";
    names[count++] = source_column;
    if (c->form == NB_CLAIM_SLOPE && nb_frame_has(l->frame, NB_BUILD)) names[count++] = NB_BUILD;
    for (const nb_column *column = l->frame->columns; column->name; column++) {
        bool own = c->column && strcmp(column->name, c->column) == 0;
        if (!column->identity || column->type == NB_COLUMN_SEED || own || among(column->name, data) ||
            among(column->name, (const char *const *)c->confounded) || in_series(c, column->name))
            continue;
        NB_REQUIRE(l->ctx, count < MOST_COLUMNS, NB_EBUG, "rows have more columns of identity than %d", MOST_COLUMNS);
        names[count++] = column->name;
    }
    return NB_OK;
}

/* Of a mean of values, 0 is as good a value as any; a logarithm or a rank of rounding noise says nothing. */
static bool is_noise(const liner *l, int series, int row)
{
    bool mean = l->claim->form == NB_CLAIM_MEASURE && l->claim->statistic != NB_CLAIM_GEOMETRIC_MEAN;
    return !mean && l->noise[series] && l->metric[series][row] <= l->noise[series][row];
}

/* The value of a row on the scale that is averaged; NaN: it has none, or none that counts. */
static double value_of(const liner *l, int series, int row)
{
    const nb_claim *c = l->claim;
    bool ok = strcmp(((const nb_row *)nb_frame_row(l->frame, row))->status, "ok") == 0;
    bool logs = c->form == NB_CLAIM_SLOPE || (c->form == NB_CLAIM_MEASURE && c->statistic == NB_CLAIM_GEOMETRIC_MEAN);
    double x = l->metric[series][row];
    return !ok || is_noise(l, series, row) ? NAN : logs ? log(x) : x;
}

/* What has no result, for the claim as a whole; and which values and trials the line has. */
static nb_status look_through(const liner *l, nb_selection rows)
{
    for (int i = 0; i < rows.count; i++)
        for (int s = 0; s < l->claim->series_count; s++) {
            int row = rows.at[i];
            double value = value_of(l, s, row), x = l->metric[s][row];
            if (!l->in[s][row]) continue;
            if (isnan(value) && x < 0 && !is_noise(l, s, row) && !l->units->why)
                NB_NEED(l->units->why, nb_format(l->ctx, "%s has values below 0, such as %.3g, which have no logarithm",
                                                 l->claim->series[s].metric.text, x));
            l->units->found += !isnan(value);
            l->units->noise += isnan(value) && is_noise(l, s, row);
            l->units->missing += isnan(value) && !is_noise(l, s, row);
            l->there[s][l->values.of[row]] = true;
            if (l->trial[row] > 0) l->later[s][l->values.of[row]] = true;
        }
    return NB_OK;
}

/* Sums by value over the trials but one; -1: over all. */
static void add_up(const liner *l, nb_selection rows, int without)
{
    for (int i = 0; i < rows.count; i++)
        for (int s = 0; s < l->claim->series_count; s++) {
            int row = rows.at[i], v = l->values.of[row];
            bool left_out = l->trial[row] == without && l->later[s][v];
            double value = value_of(l, s, row);
            if (!l->in[s][row] || isnan(value) || left_out) continue;
            l->sum[s][v] += value;
            l->count[s][v]++;
        }
}

/* The points of a line in x and y, and the sums made 0 again; y: the second series, or what the first goes with. */
static int take_points(const liner *l, nb_selection rows)
{
    int count = 0;
    bool two = l->claim->series_count == 2;
    for (int i = 0; i < rows.count; i++) {
        int row = rows.at[i], v = l->values.of[row];
        if (l->count[0][v] > 0 && (!two || l->count[1][v] > 0)) {
            l->x[count] = l->sum[0][v] / l->count[0][v];
            if (two) l->y[count] = l->sum[1][v] / l->count[1][v];
            if (l->claim->form == NB_CLAIM_SLOPE) {
                const nb_column *column = nb_column_find(l->frame->columns, l->claim->column);
                l->y[count] = log(*(const int *)((const char *)nb_frame_row(l->frame, row) + column->offset));
            }
            count++;
        }
        for (int s = 0; s < 2; s++) l->sum[s][v] = l->count[s][v] = 0;
    }
    return count;
}

static bool all_equal(int n, const double *x)
{
    for (int i = 1; i < n; i++)
        if (x[i] != x[0]) return false;
    return true;
}

/* Of x against y; where a value is 0, and its logarithm infinite, the slope is that, whatever its sign. */
static double slope_of(const liner *l, int n)
{
    double level, slope, covariances[3], squares;
    if (n < 2 || all_equal(n, l->y)) return NAN;
    for (int i = 0; i < n; i++)
        if (isinf(l->x[i]) || isinf(l->y[i])) return INFINITY;
    gsl_fit_linear(l->y, 1, l->x, 1, (size_t)n, &level, &slope, covariances, covariances + 1, covariances + 2,
                   &squares);
    return slope;
}

static nb_status rank_correlation(const liner *l, int n, double *value)
{
    nb_agreement rho;
    if (n < 3) return NB_OK;
    NB_TRY(l->ctx, nb_spearman(n, l->x, l->y, &rho, l->ctx));
    *value = rho.value;
    return NB_OK;
}

/* NaN: the line is too short, or level where it must not be. */
static nb_status measure_line(const liner *l, nb_selection rows, int without, double *value)
{
    add_up(l, rows, without);
    int n = take_points(l, rows);
    *value = NAN;
    if (l->claim->form == NB_CLAIM_CORRELATE) return rank_correlation(l, n, value);
    if (l->claim->form == NB_CLAIM_SLOPE)
        *value = slope_of(l, n);
    else if (n > 0)
        *value = l->x[0];
    return NB_OK;
}

/* The line's pseudo-values, by trial. */
static nb_status cross(liner *l, nb_selection rows, nb_crossed_value whole)
{
    int trials = 0;
    for (int t = 0; t < l->crossed.trials; t++) l->mine[t] = false;
    for (int i = 0; i < rows.count; i++)
        for (int s = 0; s < l->claim->series_count; s++) {
            bool counts = l->in[s][rows.at[i]] && l->later[s][l->values.of[rows.at[i]]];
            trials += counts && !l->mine[l->trial[rows.at[i]]];
            l->mine[l->trial[rows.at[i]]] |= counts;
        }
    if (!isfinite(whole.value)) return NB_OK;
    if (trials == 0) return nb_crossed_add_alone(&l->crossed, whole, l->ctx);
    for (int t = 0; t < l->crossed.trials && trials > 1; t++) {
        nb_crossed_value one = whole;
        double without;
        if (!l->mine[t]) continue;
        NB_TRY(l->ctx, measure_line(l, rows, t, &without));
        one.trial = t;
        one.value = trials * whole.value - (trials - 1) * without;
        if (isfinite(one.value)) NB_TRY(l->ctx, nb_crossed_add(&l->crossed, one, l->ctx));
    }
    return NB_OK;
}

/* Whether the line has rows at as many values as it takes; and what is known of it made false again. A strategy of
 * another pairing than all others, say, makes no line with them. */
static bool was_planned(const liner *l, nb_selection rows)
{
    int values = 0, least = l->claim->form == NB_CLAIM_CORRELATE ? 3 : l->claim->form == NB_CLAIM_SLOPE ? 2 : 1;
    for (int i = 0; i < rows.count; i++) {
        int v = l->values.of[rows.at[i]];
        values += l->there[0][v] && (l->there[1][v] || l->claim->series_count < 2);
        for (int s = 0; s < 2; s++) l->there[s][v] = l->later[s][v] = false;
    }
    return values >= least;
}

/* A line that says nothing, and not because of rounding, counts as missing beside those that do: *silent. */
static nb_status add_lines(liner *l, const nb_groups *lines, int *silent)
{
    nb_claim_units *u = l->units;
    NB_NEED(l->items, nb_alloc(l->ctx, (size_t)lines->count + 1, sizeof *l->items));
    for (int g = 0; g < lines->count; g++) {
        nb_selection rows = nb_group_rows(lines, g);
        int row = rows.at[0], stratum = l->replicates.stratum[row], source = l->replicates.source[row];
        int noise = u->noise;
        double value;
        NB_TRY(l->ctx, look_through(l, rows));
        NB_TRY(l->ctx, measure_line(l, rows, -1, &value));
        bool none = isnan(value) && u->noise == noise;
        if (!isnan(value)) {
            const nb_unit_value unit = {.stratum = stratum, .source = source, .value = value};
            l->items[l->item_count++] = (nb_head_value){unit, l->replicates.head[row]};
            NB_TRY(l->ctx, cross(l, rows, (nb_crossed_value){stratum, source, 0, value}));
        }
        *silent += was_planned(l, rows) && none;
    }
    return NB_OK;
}

static nb_status find_rows(liner *l)
{
    nb_selection all, rows;
    bool *in;
    NB_TRY(l->ctx, nb_frame_ints(l->frame, "trial", &l->trial, l->ctx));
    NB_TRY(l->ctx, nb_frame_all(l->frame, &all, l->ctx));
    for (int s = 0; s < l->claim->series_count && !l->units->why; s++) {
        const char *name = l->claim->series[s].metric.text, *noise = nb_column_find(l->frame->columns, name)->noise;
        NB_TRY(l->ctx, nb_frame_reals(l->frame, name, &l->metric[s], l->ctx));
        if (noise) NB_TRY(l->ctx, nb_frame_reals(l->frame, noise, &l->noise[s], l->ctx));
        NB_TRY(l->ctx, nb_claim_rows(l->frame, &l->claim->series[s].where, all, &rows, &l->units->why, l->ctx));
        NB_NEED(in, nb_alloc(l->ctx, (size_t)l->frame->count + 1, sizeof *in));
        for (int i = 0; i < rows.count; i++) in[rows.at[i]] = true;
        l->in[s] = in;
    }
    return NB_OK;
}

static nb_status make_room(liner *l)
{
    static const int none;
    int *of;
    if (l->claim->column) {
        NB_TRY(l->ctx, nb_frame_codes(l->frame, l->claim->column, &l->values, l->ctx));
    } else {
        NB_NEED(of, nb_alloc(l->ctx, (size_t)l->frame->count + 1, sizeof *of));
        l->values = (nb_codes){1, of, &none};
    }
    size_t size = (size_t)l->values.count + 1;
    for (int s = 0; s < 2; s++) {
        NB_NEED(l->sum[s], nb_alloc_reals(l->ctx, size, 1));
        NB_NEED(l->count[s], nb_alloc(l->ctx, size, sizeof *l->count[s]));
        NB_NEED(l->later[s], nb_alloc(l->ctx, size, sizeof *l->later[s]));
        NB_NEED(l->there[s], nb_alloc(l->ctx, size, sizeof *l->there[s]));
    }
    NB_NEED(l->x, nb_alloc_reals(l->ctx, size, 1));
    NB_NEED(l->y, nb_alloc_reals(l->ctx, size, 1));
    for (int i = 0; i < l->frame->count; i++)
        if (l->trial[i] >= l->crossed.trials) l->crossed.trials = l->trial[i] + 1;
    NB_NEED(l->mine, nb_alloc(l->ctx, (size_t)l->crossed.trials + 1, sizeof *l->mine));
    NB_NEED(l->crossed.drawn, nb_alloc(l->ctx, (size_t)l->crossed.trials + 1, sizeof *l->crossed.drawn));
    for (int i = 0; i < l->frame->count; i++) l->crossed.drawn[l->trial[i]] = true;
    return NB_OK;
}

static nb_status find_lines(const liner *l, nb_groups *lines)
{
    const char *names[MOST_COLUMNS + 1] = {NULL};
    nb_frame view;
    nb_selection all;
    NB_TRY(l->ctx, name_settings(l, names));
    NB_TRY(l->ctx, nb_frame_view(l->frame, &view, l->ctx));
    NB_TRY(l->ctx, nb_frame_derive(&view, source_column, l->replicates.source, l->ctx));
    NB_TRY(l->ctx, nb_frame_all(l->frame, &all, l->ctx));
    return nb_frame_group(&view, all, names, lines, l->ctx);
}

static nb_status tell_short(const liner *l)
{
    nb_claim_units *u = l->units;
    if (l->item_count > 0 || u->why || u->found == 0)
        return NB_OK; /* else no row has a result, which is told as such */
    if (l->claim->form == NB_CLAIM_SLOPE)
        NB_NEED(u->why, nb_format(l->ctx, "no head has results at two values of %s", l->claim->column));
    if (l->claim->form == NB_CLAIM_CORRELATE)
        NB_NEED(u->why, nb_format(l->ctx, "no head has both metrics at three values of %s, where nothing else differs",
                                  l->claim->column));
    return NB_OK;
}

/* Tells by stratum, then over all, whether any row that counts is drawn. */
static nb_status find_draws(const liner *l, bool **draws)
{
    const nb_replicates *r = &l->replicates;
    const bool *of_row;
    NB_TRY(l->ctx, nb_draws_find(l->frame, &of_row, l->ctx));
    NB_NEED(*draws, nb_alloc(l->ctx, (size_t)r->strata + 1, sizeof **draws));
    for (int i = 0; i < l->frame->count; i++)
        if (of_row[i] && !r->generated[r->stratum[i]] && (l->in[0][i] || (l->in[1] && l->in[1][i])))
            (*draws)[r->stratum[i]] = (*draws)[r->strata] = true;
    return NB_OK;
}

nb_status nb_claim_lines(const nb_frame *f, const nb_claim *claim, nb_claim_units *u, nb_ctx *ctx)
{
    liner l = {.frame = f, .claim = claim, .units = u, .ctx = ctx};
    nb_groups lines;
    bool *draws;
    int silent = 0;
    NB_TRY(ctx, nb_replicates_find(f, &l.replicates, ctx));
    u->strata = l.replicates.strata;
    u->names = l.replicates.names;
    u->labels = l.replicates.labels;
    NB_TRY(ctx, find_rows(&l));
    if (u->why) return NB_OK;
    NB_TRY(ctx, make_room(&l));
    NB_TRY(ctx, find_lines(&l, &lines));
    NB_TRY(ctx, add_lines(&l, &lines, &silent));
    NB_TRY(ctx, tell_short(&l));
    if ((double)silent * u->found >
        (double)u->missing * l.item_count) { /* a larger share of the lines than of the rows */
        u->missing = silent;
        u->found = l.item_count;
    }
    NB_TRY(ctx, nb_claim_unite(l.item_count, l.items, u, ctx));
    NB_TRY(ctx, find_draws(&l, &draws));
    return nb_claim_find_common(u, &l.crossed, draws, ctx);
}
