/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claim_units.c - see claim_units.h. What is no contrast is made line by line: a line is the rows of one head and
 * source that agree in all settings but the claim's own column, with one point for each value of that, the mean over
 * trials.
 * measure: a line of one point, its value; slope: least squares of log metric on the log of the column; correlate:
 * Spearman's coefficient, Pearson's of the midranks. */
#include "report/claim_units.h"

#include "components/study.h"
#include "report/where.h"
#include "statistics/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 32 };

/* What cannot be asked of these rows is the reason why there is no answer. */
static nb_status excuse(nb_status status, const char **why, nb_ctx *ctx)
{
    if (status != NB_EINVAL) return status;
    NB_NEED(*why, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

nb_status nb_claim_rows(const nb_frame *f, const nb_claim_where *where, nb_selection from, nb_selection *rows,
                        const char **why, nb_ctx *ctx)
{
    *rows = from;
    *why = NULL;
    for (int i = 0; i < where->count && !*why; i++) {
        const nb_claim_condition *c = &where->items[i];
        bool *means;
        NB_NEED(means, nb_alloc(ctx, (size_t)f->count + 1, sizeof *means));
        for (int v = 0; v < c->count && !*why; v++)
            NB_TRY(ctx, excuse(nb_where_values(f, c->column, c->values[v].text, means, ctx), why, ctx));
        NB_TRY(ctx, nb_frame_where(f, *rows, c->column, means, rows, ctx));
    }
    if (rows->count == 0 && !*why) *why = "the run has no such rows";
    return NB_OK;
}

/* The one value of a column that a text means. */
static nb_status find_value(const nb_frame *f, const char *column, const char *text, int *value, const char **why,
                            nb_ctx *ctx)
{
    bool *means;
    nb_codes codes;
    int count = 0;
    NB_NEED(means, nb_alloc(ctx, (size_t)f->count + 1, sizeof *means));
    NB_TRY(ctx, excuse(nb_where_values(f, column, text, means, ctx), why, ctx));
    if (*why) return NB_OK;
    NB_TRY(ctx, nb_frame_codes(f, column, &codes, ctx));
    for (int v = 0; v < codes.count; v++)
        if (means[v] && count++ == 0) *value = v;
    if (count > 1) NB_NEED(*why, nb_format(ctx, "'%s' means %d values of %s", text, count, column));
    return NB_OK;
}

static int compare_units(const void *a, const void *b)
{
    const nb_unit_value *x = a, *y = b;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* The mean of the units first ... end - 1; of +inf and -inf together it is 0, neither. */
static nb_unit_value mean_of(const nb_unit_value *units, int first, int end)
{
    nb_unit_value mean = units[first];
    mean.value = mean.variance = 0;
    for (int i = first; i < end; i++) {
        mean.value += units[i].value / (end - first);
        mean.variance += units[i].variance / ((double)(end - first) * (end - first));
    }
    if (isnan(mean.value)) mean.value = 0;
    return mean;
}

/* One unit for each head and source: by sorting, so that the order of the settings does not matter. */
static void unite(nb_claim_units *u)
{
    int count = 0;
    for (int i = 0; i < u->count; i++) u->infinite += !isfinite(u->units[i].value);
    qsort(u->units, (size_t)u->count, sizeof *u->units, compare_units);
    for (int i = 0, next; i < u->count; i = next) {
        for (next = i; next < u->count && u->units[next].source == u->units[i].source; next++)
            if (u->units[next].head != u->units[i].head) break;
        u->units[count++] = mean_of(u->units, i, next);
    }
    u->count = count;
}

/* The settings' units of one value of the compared column, and their pairs. Where failures count as the worst, a pair
 * with one result counts as found. */
static nb_status add_contrasts(const nb_contrasts *c, int value, nb_failures failures, nb_claim_units *u, nb_ctx *ctx)
{
    int total = 0, all = c->replicates.strata;
    for (int i = 0; i < c->count; i++) total += c->items[i].value == value ? c->items[i].unit_count : 0;
    NB_NEED(u->units, nb_alloc(ctx, (size_t)total + 1, sizeof *u->units));
    for (int i = 0; i < c->count; i++) {
        const nb_contrast *x = &c->items[i];
        if (x->value != value) continue;
        int single = x->counts[all].missing + x->counts[all].missing_baseline;
        if (x->refusal) u->why = x->refusal;
        if (x->unit_count > 0) memcpy(u->units + u->count, x->units, (size_t)x->unit_count * sizeof *u->units);
        u->count += x->unit_count;
        u->found += x->counts[all].pairs + (failures == NB_FAILURES_WORST ? single : 0);
        u->missing += x->counts[all].neither + (failures == NB_FAILURES_WORST ? 0 : single);
    }
    unite(u);
    return NB_OK;
}

/* A against B, in a frame of their rows alone. */
static nb_status contrast(const nb_frame *f, const nb_claim *claim, int a, int b, nb_claim_units *u, nb_ctx *ctx)
{
    nb_contrasts contrasts, reverse;
    nb_contrast_terms terms = {.by = claim->column,
                               .metric = claim->series[0].metric.text,
                               .difference = claim->expectation == NB_EXPECT_DIFFERENCE ||
                                             claim->expectation == NB_EXPECT_EQUAL_DIFFERENCE,
                               .confounded = (const char *const *)claim->confounded,
                               .failures = claim->failures == NB_CLAIM_WORST ? NB_FAILURES_WORST : NB_FAILURES_DROP};
    terms.baseline = b;
    NB_TRY(ctx, excuse(nb_contrasts_make(f, &terms, &contrasts, ctx), &u->why, ctx));
    if (u->why) return NB_OK;
    terms.baseline = a;
    NB_TRY(ctx, nb_contrasts_make(f, &terms, &reverse, ctx));
    NB_TRY(ctx, add_contrasts(&contrasts, a, terms.failures, u, ctx));
    u->missing += contrasts.unpaired[a] + reverse.unpaired[b];
    u->strata = contrasts.replicates.strata;
    u->names = contrasts.replicates.names;
    return NB_OK;
}

static nb_status compare(const nb_frame *f, const nb_claim *claim, int pair, nb_claim_units *u, nb_ctx *ctx)
{
    int value[2] = {0};
    nb_selection rows;
    nb_codes codes;
    nb_frame both;
    bool *wanted;
    for (int i = 0; i < 2 && !u->why; i++)
        NB_TRY(ctx, find_value(f, claim->column, claim->values[pair + i].text, &value[i], &u->why, ctx));
    if (u->why) return NB_OK;
    NB_TRY(ctx, nb_frame_codes(f, claim->column, &codes, ctx));
    NB_NEED(wanted, nb_alloc(ctx, (size_t)codes.count + 1, sizeof *wanted));
    wanted[value[0]] = wanted[value[1]] = true;
    NB_TRY(ctx, nb_frame_all(f, &rows, ctx));
    NB_TRY(ctx, nb_frame_where(f, rows, claim->column, wanted, &rows, ctx));
    NB_TRY(ctx, nb_frame_take(f, rows, &both, ctx));
    for (int i = 0; i < 2; i++)
        NB_TRY(ctx, find_value(&both, claim->column, claim->values[pair + i].text, &value[i], &u->why, ctx));
    if (value[0] == value[1]) u->why = "both are the same";
    return u->why ? NB_OK : contrast(&both, claim, value[0], value[1], u, ctx);
}

typedef struct {
    const nb_frame *frame;
    const nb_claim *claim;
    nb_replicates replicates;
    const double *metric[2];
    const bool *in[2];      /* by row: whether the series has it */
    nb_codes values;        /* of the claim's own column; one for all where it has none */
    double *sum[2], *x, *y; /* by value */
    int *count[2];
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
    names[count++] = "source of the row";
    if (c->form == NB_CLAIM_SLOPE && nb_frame_has(l->frame, NB_BUILD)) names[count++] = NB_BUILD;
    for (const nb_column *column = l->frame->columns; column->name; column++) {
        bool own = c->column && strcmp(column->name, c->column) == 0;
        if (!column->identity || column->type == NB_COLUMN_SEED || own || among(column->name, data) ||
            among(column->name, (const char *const *)c->confounded) || in_series(c, column->name))
            continue;
        NB_REQUIRE(l->ctx, count < MOST_COLUMNS - 1, NB_EBUG, "rows have more columns of identity than %d",
                   MOST_COLUMNS);
        names[count++] = column->name;
    }
    return NB_OK;
}

/* The value of a row on the scale that is averaged; NaN: it has none. */
static nb_status value_of(const liner *l, int series, int row, double *value)
{
    const nb_claim *c = l->claim;
    double x = l->metric[series][row];
    bool ok = strcmp(((const nb_row *)nb_frame_row(l->frame, row))->status, "ok") == 0 && !isnan(x);
    bool logs = c->form == NB_CLAIM_SLOPE || (c->form == NB_CLAIM_MEASURE && c->statistic == NB_CLAIM_GEOMETRIC_MEAN);
    *value = !ok ? NAN : logs ? log(x) : x;
    if (ok && logs && x < 0 && !l->units->why)
        NB_NEED(l->units->why, nb_format(l->ctx, "%s has values below 0, such as %.3g, which have no logarithm",
                                         c->series[series].metric.text, x));
    return NB_OK;
}

/* Sums of a line's rows by value; the rows that lack a result are missing. */
static nb_status add_rows(const liner *l, nb_selection rows)
{
    for (int i = 0; i < rows.count; i++)
        for (int s = 0; s < l->claim->series_count; s++) {
            int row = rows.at[i], v = l->values.of[row];
            double value;
            if (!l->in[s][row]) continue;
            NB_TRY(l->ctx, value_of(l, s, row, &value));
            l->units->found += !isnan(value);
            l->units->missing += isnan(value);
            if (isnan(value)) continue;
            l->sum[s][v] += value;
            l->count[s][v]++;
        }
    return NB_OK;
}

/* The points of a line, and its values made empty again for the next; y: the second series, or what it goes with. */
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

/* Sums of squares and products about the means. */
static void moments(int n, const double *x, const double *y, double *xx, double *xy, double *yy)
{
    double x_mean = 0, y_mean = 0;
    for (int i = 0; i < n; i++) {
        x_mean += x[i] / n;
        y_mean += y[i] / n;
    }
    *xx = *xy = *yy = 0;
    for (int i = 0; i < n; i++) {
        *xx += (x[i] - x_mean) * (x[i] - x_mean);
        *xy += (x[i] - x_mean) * (y[i] - y_mean);
        *yy += (y[i] - y_mean) * (y[i] - y_mean);
    }
}

static bool all_equal(int n, const double *x)
{
    for (int i = 1; i < n; i++)
        if (x[i] != x[0]) return false;
    return true;
}

/* NaN: the line is too short, or level where it must not be. */
static nb_status measure_line(const liner *l, int n, double *value)
{
    double xx, xy, yy, *ranks[2];
    *value = NAN;
    if (l->claim->form == NB_CLAIM_MEASURE) {
        if (n > 0) *value = l->x[0];
        return NB_OK;
    }
    if (l->claim->form == NB_CLAIM_SLOPE) {
        if (n < 2 || all_equal(n, l->y)) return NB_OK;
        for (int i = 0; i < n && !isinf(*value); i++)
            if (isinf(l->x[i])) *value = l->x[i]; /* log 0: the slope is not finite, whatever its sign */
        if (isinf(*value)) return NB_OK;
        moments(n, l->y, l->x, &xx, &xy, &yy);
        *value = xy / xx;
        return NB_OK;
    }
    if (n < 3 || all_equal(n, l->x) || all_equal(n, l->y)) return NB_OK;
    nb_mark mark = nb_ctx_mark(l->ctx);
    for (int s = 0; s < 2; s++) {
        NB_NEED(ranks[s], nb_alloc_reals(l->ctx, (size_t)n, 1));
        NB_TRY(l->ctx, nb_midranks(n, s ? l->y : l->x, ranks[s], l->ctx));
    }
    moments(n, ranks[0], ranks[1], &xx, &xy, &yy);
    nb_ctx_release(l->ctx, mark);
    *value = xy / sqrt(xx * yy);
    return NB_OK;
}

static nb_status find_rows(liner *l)
{
    nb_selection all, rows;
    bool *in;
    NB_TRY(l->ctx, nb_frame_all(l->frame, &all, l->ctx));
    for (int s = 0; s < l->claim->series_count && !l->units->why; s++) {
        NB_TRY(l->ctx, nb_frame_reals(l->frame, l->claim->series[s].metric.text, &l->metric[s], l->ctx));
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
    size_t size = (size_t)l->frame->count + 1;
    if (l->claim->column) {
        NB_TRY(l->ctx, nb_frame_codes(l->frame, l->claim->column, &l->values, l->ctx));
    } else {
        NB_NEED(of, nb_alloc(l->ctx, size, sizeof *of));
        l->values = (nb_codes){1, of, &none};
    }
    for (int s = 0; s < 2; s++) {
        NB_NEED(l->sum[s], nb_alloc_reals(l->ctx, (size_t)l->values.count + 1, 1));
        NB_NEED(l->count[s], nb_alloc(l->ctx, (size_t)l->values.count + 1, sizeof *l->count[s]));
    }
    NB_NEED(l->x, nb_alloc_reals(l->ctx, (size_t)l->values.count + 1, 1));
    NB_NEED(l->y, nb_alloc_reals(l->ctx, (size_t)l->values.count + 1, 1));
    return NB_OK;
}

/* A line that says nothing counts as missing beside those that do: *silent. */
static nb_status add_lines(const liner *l, const nb_groups *lines, int *silent)
{
    nb_claim_units *u = l->units;
    NB_NEED(u->units, nb_alloc(l->ctx, (size_t)lines->count + 1, sizeof *u->units));
    for (int g = 0; g < lines->count; g++) {
        nb_selection rows = nb_group_rows(lines, g);
        int row = rows.at[0];
        double value;
        NB_TRY(l->ctx, add_rows(l, rows));
        NB_TRY(l->ctx, measure_line(l, take_points(l, rows), &value));
        *silent += isnan(value);
        if (isnan(value)) continue;
        u->units[u->count++] = (nb_unit_value){.stratum = l->replicates.stratum[row],
                                               .source = l->replicates.source[row],
                                               .head = l->replicates.head[row],
                                               .value = value};
    }
    return NB_OK;
}

static nb_status line_up(const nb_frame *f, const nb_claim *claim, nb_claim_units *u, nb_ctx *ctx)
{
    liner l = {.frame = f, .claim = claim, .units = u, .ctx = ctx};
    const char *names[MOST_COLUMNS + 1] = {NULL};
    nb_frame view;
    nb_selection all;
    nb_groups lines;
    int silent = 0;
    NB_TRY(ctx, nb_replicates_find(f, &l.replicates, ctx));
    u->strata = l.replicates.strata;
    u->names = l.replicates.names;
    NB_TRY(ctx, find_rows(&l));
    if (u->why) return NB_OK;
    NB_TRY(ctx, make_room(&l));
    NB_TRY(ctx, name_settings(&l, names));
    NB_TRY(ctx, nb_frame_view(f, &view, ctx));
    NB_TRY(ctx, nb_frame_derive(&view, "source of the row", l.replicates.source, ctx));
    NB_TRY(ctx, nb_frame_all(f, &all, ctx));
    NB_TRY(ctx, nb_frame_group(&view, all, names, &lines, ctx));
    NB_TRY(ctx, add_lines(&l, &lines, &silent));
    if (u->count == 0 && claim->form == NB_CLAIM_SLOPE && !u->why)
        NB_NEED(u->why, nb_format(ctx, "no head has results at two values of %s", claim->column));
    if (u->count == 0 && claim->form == NB_CLAIM_CORRELATE && !u->why)
        NB_NEED(u->why, nb_format(ctx, "no head has both metrics at three values of %s, where nothing else differs",
                                  claim->column));
    if ((double)silent * u->found > (double)u->missing * u->count) { /* a larger share of the lines than of the rows */
        u->missing = silent;
        u->found = u->count;
    }
    unite(u);
    return NB_OK;
}

nb_status nb_claim_units_make(const nb_frame *f, const nb_claim *claim, int pair, nb_claim_units *u, nb_ctx *ctx)
{
    bool pairs = claim->form == NB_CLAIM_COMPARE || claim->form == NB_CLAIM_ORDER;
    *u = (nb_claim_units){.count = 0};
    return pairs ? compare(f, claim, pair, u, ctx) : line_up(f, claim, u, ctx);
}
