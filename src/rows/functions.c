/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions.c - see functions.h. An aggregate gathers the numbers of its rows and makes its result of them at the end;
 * of an estimate or a test each of its parts is a function. */
#include "rows/functions.h"

#include "rows/refusal.h"
#include "statistics/agreement.h"
#include "statistics/friedman.h"
#include "statistics/line.h"
#include "statistics/estimate.h"
#include "statistics/ranks.h"
#include "statistics/noise.h"
#include "base/builder.h"
#include "base/fields.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

/* A function as SQLite calls it; not all look at how many arguments they have. */
#define NB_FUNCTION(name) \
    static void name(sqlite3_context *c, __attribute__((unused)) int count, sqlite3_value **arguments)

typedef struct { /* the rows of a group: `width` numbers each, NaN for NULL */
    int count, room, width;
    double *values;
    double share; /* of a quantile */
    bool failed;
} gathered;

/* NaN of NULL. */
static double number_of(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? NAN : sqlite3_value_double(value);
}

static const char list_kind[8] = "nb_list1"; /* before the values of a list */

typedef double number_fn(gathered *g); /* of the rows of a group, at least one */
typedef nb_status result_fn(gathered *g, sqlite3_context *c, nb_ctx *ctx);
typedef nb_status estimate_fn(gathered *g, nb_estimate *e, nb_ctx *ctx);

typedef struct { /* a function of SQL, which is given to its C as user data */
    const char *name;
    int arguments;
    void (*scalar)(sqlite3_context *c, int count, sqlite3_value **arguments);
    void (*step)(sqlite3_context *c, int count, sqlite3_value **arguments);
    bool all;          /* rows whose first argument is NULL count too */
    number_fn *number; /* what an aggregate has at its end is one of these */
    result_fn *result;
    void (*end)(sqlite3_context *c);
    estimate_fn *estimate; /* of which the result is a part */
    size_t part;           /* where the result stands, a double, in what is estimated or tested */
} function;

/* 0, and the function fails, where it is no list. */
static int list_size(sqlite3_context *c, sqlite3_value *list)
{
    int bytes = sqlite3_value_bytes(list) - (int)sizeof list_kind;
    if (bytes >= 0 && memcmp(sqlite3_value_blob(list), list_kind, sizeof list_kind) == 0)
        return bytes / (int)sizeof(double);
    sqlite3_result_error(c, "expected a number, or a list, as list() makes", -1);
    return 0;
}

/* Makes room for so many rows more. */
static bool make_room(gathered *g, int width, int more)
{
    if (g->count + more > g->room) {
        int room = g->room ? 2 * g->room : 16;
        if (room < g->count + more) room = g->count + more;
        double *values = realloc(g->values, (size_t)room * (size_t)width * sizeof *values);
        if (!values) g->failed = true;
        if (!values) return false;
        g->values = values;
        g->room = room;
    }
    g->width = width;
    return true;
}

/* A row whose first argument is NULL is left out unless the aggregate counts it. */
NB_FUNCTION(gather)
{
    const function *f = sqlite3_user_data(c);
    gathered *g = sqlite3_aggregate_context(c, sizeof *g);
    if (!g || g->failed || (!f->all && sqlite3_value_type(arguments[0]) == SQLITE_NULL)) return;
    if (!make_room(g, count, 1)) return;
    for (int i = 0; i < count; i++) g->values[(size_t)g->count * (size_t)count + (size_t)i] = number_of(arguments[i]);
    g->count++;
}

/* Gathers values, of a list all of them. A second argument is the share. */
NB_FUNCTION(gather_values)
{
    gathered *g = sqlite3_aggregate_context(c, sizeof *g);
    int type = sqlite3_value_type(arguments[0]), size = type == SQLITE_BLOB ? list_size(c, arguments[0]) : 1;
    if (!g || g->failed || type == SQLITE_NULL || size == 0 || !make_room(g, 1, size)) return;
    if (count > 1) g->share = number_of(arguments[1]);
    if (!(g->share >= 0 && g->share <= 1)) sqlite3_result_error(c, "quantile: expected a share from 0 to 1", -1);
    if (type == SQLITE_BLOB)
        memcpy(g->values + g->count, (const char *)sqlite3_value_blob(arguments[0]) + sizeof list_kind,
               (size_t)size * sizeof *g->values);
    else
        g->values[g->count] = number_of(arguments[0]);
    g->count += size;
}

static void give(sqlite3_context *c, double x)
{
    if (isnan(x))
        sqlite3_result_null(c);
    else
        sqlite3_result_double(c, x);
}

/* The part of a struct that the function's result is. */
static void give_part(sqlite3_context *c, const void *parts)
{
    const function *f = sqlite3_user_data(c);
    double x;
    memcpy(&x, (const char *)parts + f->part, sizeof x);
    give(c, x);
}

/* A list of so many of the numbers whose bytes these are, each `step` numbers behind the last. */
static void give_list(sqlite3_context *c, size_t count, const void *numbers, size_t step, bool only_finite)
{
    char *bytes = sqlite3_malloc64(sizeof list_kind + count * sizeof(double));
    size_t size = sizeof list_kind;
    if (!bytes) {
        sqlite3_result_error_nomem(c);
        return;
    }
    memcpy(bytes, list_kind, sizeof list_kind);
    for (size_t i = 0; i < count; i++) {
        double x;
        memcpy(&x, (const char *)numbers + i * step * sizeof x, sizeof x);
        memcpy(bytes + size, &x, sizeof x);
        if (!only_finite || isfinite(x)) size += sizeof x;
    }
    sqlite3_result_blob64(c, bytes, size, sqlite3_free);
}

/* The result of a group's numbers; NULL of none. */
static void finish(sqlite3_context *c)
{
    const function *f = sqlite3_user_data(c);
    gathered *g = sqlite3_aggregate_context(c, 0);
    if (g && g->count > 0 && !g->failed && f->number) {
        give(c, f->number(g));
    } else if (g && (g->count > 0 || g->failed)) {
        nb_ctx *ctx = g->failed ? NULL : nb_ctx_new();
        if (!ctx)
            sqlite3_result_error_nomem(c);
        else if (f->result(g, c, ctx) != NB_OK)
            sqlite3_result_error(c, nb_error_message(ctx), -1);
        nb_ctx_free(ctx);
    }
    if (g) free(g->values);
}

/* The first argument of each row, ascending, in place. */
static void sort_first(gathered *g)
{
    for (int i = 1; i < g->count; i++) g->values[i] = g->values[(size_t)i * (size_t)g->width];
    gsl_sort(g->values, 1, (size_t)g->count);
}

/* Computes gsl_stats_quantile_from_sorted_data without sorting all values. */
static double quantile_of(double *values, size_t count, double share)
{
    double place = share * (double)(count - 1);
    size_t below = (size_t)place;
    double low = gsl_stats_select(values, 1, count, below), part = place - (double)below;
    /* at part 0 the next one does not count, which may be infinite */
    return part == 0 ? low : (1 - part) * low + part * gsl_stats_select(values, 1, count, below + 1);
}

static double median(gathered *g)
{
    return quantile_of(g->values, (size_t)g->count, 0.5);
}

static double quantile(gathered *g)
{
    return quantile_of(g->values, (size_t)g->count, g->share);
}

static nb_status list(gathered *g, sqlite3_context *c, nb_ctx *ctx)
{
    (void)ctx;
    give_list(c, (size_t)g->count, g->values, 1, false);
    return NB_OK;
}

NB_FUNCTION(size)
{
    sqlite3_result_int(c, sqlite3_value_type(arguments[0]) == SQLITE_NULL ? 0 : list_size(c, arguments[0]));
}

/* Returns x, repeated so many times. */
NB_FUNCTION(repeated)
{
    int times = sqlite3_value_int(arguments[1]);
    double x = number_of(arguments[0]);
    if (!isnan(x) && times > 0) give_list(c, (size_t)times, &x, 0, false);
}

/* Sorted; infinite if any is, NaN of both infinities. */
static double mean(gathered *g)
{
    sort_first(g);
    double ends = g->values[0] + g->values[g->count - 1];
    return isfinite(g->values[0]) && isfinite(g->values[g->count - 1]) ? gsl_stats_mean(g->values, 1, (size_t)g->count)
                                                                       : ends;
}

static double sd(gathered *g)
{
    sort_first(g);
    return g->count > 1 ? gsl_stats_sd(g->values, 1, (size_t)g->count) : NAN;
}

static double geomean(gathered *g)
{
    for (int i = 0; i < g->count; i++) g->values[i] = log(g->values[i]);
    return exp(mean(g));
}

/* Compares by these columns, whose list ends with -1. */
static int by_columns(const void *a, const void *b, void *columns)
{
    const double *x = a, *y = b;
    for (const int *c = columns; *c >= 0; c++)
        if (x[*c] != y[*c]) return x[*c] < y[*c] ? -1 : 1;
    return 0;
}

static void sort_rows(gathered *g, int *columns)
{
    qsort_r(g->values, (size_t)g->count, (size_t)g->width * sizeof *g->values, by_columns, columns);
}

/* x, source: the interval of the median, by order statistics of the sources' own medians */
static nb_status estimate_median(gathered *g, nb_estimate *e, nb_ctx *ctx)
{
    double *medians;
    NB_NEED(medians, nb_alloc_reals(ctx, (size_t)g->count, 1));
    sort_rows(g, (int[]){1, 0, -1});
    for (int i = 0, end; i < g->count; i = end) {
        for (end = i; end < g->count && g->values[2 * end + 1] == g->values[2 * i + 1];) end++;
        medians[e->sources++] = nb_midpoint(g->values[2 * ((i + end - 1) / 2)], g->values[2 * ((i + end) / 2)]);
    }
    gsl_sort(medians, 1, (size_t)e->sources);
    nb_median_interval(e->sources, medians, 0.95, &e->low, &e->high);
    return NB_OK;
}

/* Takes x and a source; estimates the mean with the sources' means as units. */
static nb_status estimate_mean(gathered *g, nb_estimate *e, nb_ctx *ctx)
{
    nb_unit_value *units;
    nb_estimate estimates[2];
    NB_NEED(units, nb_alloc(ctx, (size_t)g->count, sizeof *units));
    for (int i = 0; i < g->count; i++)
        units[i] = (nb_unit_value){.source = (int)g->values[2 * i + 1], .value = g->values[2 * i]};
    const nb_estimate_terms terms = {.confidence = 0.95, .mean_alone = true};
    NB_TRY(ctx, nb_estimate_units(g->count, units, 1, &terms, estimates, ctx));
    *e = estimates[0];
    return NB_OK;
}

/* Rows of two or more numbers, none NULL, by the first two; *x, *y: these. */
static nb_status sort_pairs(gathered *g, double **x, double **y, nb_ctx *ctx)
{
    size_t width = (size_t)g->width;
    int kept = 0;
    for (int i = 0; i < g->count; i++) {
        const double *row = g->values + (size_t)i * width;
        bool whole = true;
        for (size_t k = 0; k < width; k++) whole = whole && !isnan(row[k]);
        if (whole) memmove(g->values + (size_t)kept++ * width, row, width * sizeof *row);
    }
    g->count = kept;
    sort_rows(g, (int[]){0, 1, -1});
    NB_NEED(*x, nb_alloc_reals(ctx, (size_t)kept + 1, 2));
    *y = *x + kept + 1;
    for (int i = 0; i < kept; i++) (*x)[i] = g->values[(size_t)i * width], (*y)[i] = g->values[(size_t)i * width + 1];
    return NB_OK;
}

static nb_status estimate_spearman(gathered *g, nb_estimate *e, nb_ctx *ctx)
{
    double *x, *y;
    nb_agreement rho;
    NB_TRY(ctx, sort_pairs(g, &x, &y, ctx));
    NB_TRY(ctx, nb_spearman(g->count, x, y, &rho, ctx));
    e->mean = rho.value;
    return NB_OK;
}

static nb_status estimate_slope(gathered *g, nb_estimate *e, nb_ctx *ctx)
{
    double *x, *y;
    NB_TRY(ctx, sort_pairs(g, &x, &y, ctx));
    nb_line line = nb_line_fit(g->count, x, y, 0.95);
    *e = (nb_estimate){.mean = line.slope, .low = line.low, .high = line.high};
    return NB_OK;
}

static nb_status estimate(gathered *g, sqlite3_context *c, nb_ctx *ctx)
{
    const function *f = sqlite3_user_data(c);
    nb_estimate e = {.low = NAN, .high = NAN};
    NB_TRY(ctx, f->estimate(g, &e, ctx));
    give_part(c, &e);
    return NB_OK;
}

/* x, a, b: by x, which differ */
static double crossing(gathered *g)
{
    sort_rows(g, (int[]){0, -1});
    for (int i = g->count - 1; i >= 0; i--) {
        const double *v = g->values + 3 * i, *next = v + 3;
        if (v[1] < v[2]) continue;
        if (i + 1 == g->count) return NAN;
        return exp(nb_line_crossing(log(v[0]), log(next[0]), log(v[1]), log(next[1]), log(v[2]), log(next[2])));
    }
    return g->count > 0 ? g->values[0] : NAN;
}

/* rank, source, method: as many methods in each source, NULL of too few */
static nb_status friedman(gathered *g, sqlite3_context *c, nb_ctx *ctx)
{
    double *table, *means;
    int methods = 1;
    nb_friedman f;
    NB_NEED(table, nb_alloc_reals(ctx, (size_t)g->count, 1));
    NB_NEED(means, nb_alloc_reals(ctx, (size_t)g->count, 1));
    sort_rows(g, (int[]){1, 2, -1});
    for (int i = 0; i < g->count; i++) table[i] = g->values[3 * i];
    while (methods < g->count && g->values[3 * methods + 1] == g->values[1]) methods++;
    NB_REQUIRE(ctx, g->count % methods == 0, NB_EINVAL, "friedman: expected a rank of each method in each source");
    if (g->count / methods < NB_LEAST_SOURCES) return NB_OK;
    NB_TRY(ctx, nb_friedman_test(g->count / methods, methods, table, means, &f, ctx));
    give_part(c, &f);
    return NB_OK;
}

typedef struct { /* texts with their places */
    int count, room;
    struct {
        char *text;
        double place;
    } * items;
    bool failed;
} gathered_texts;

NB_FUNCTION(gather_text)
{
    gathered_texts *g = sqlite3_aggregate_context(c, sizeof *g);
    const char *text = (const char *)sqlite3_value_text(arguments[0]);
    if (!g || g->failed || !text) return;
    if (g->count == g->room) {
        int room = g->room ? 2 * g->room : 16;
        void *items = realloc(g->items, (size_t)room * sizeof *g->items);
        if (items) g->items = items, g->room = room;
        g->failed = !items;
    }
    char *copy = g->failed ? NULL : sqlite3_mprintf("%s", text);
    g->failed = !copy;
    int at = g->count; /* ascending by place, then text */
    for (; copy && at > 0; at--) {
        double place = number_of(arguments[1]);
        if (g->items[at - 1].place < place ||
            (g->items[at - 1].place == place && strcmp(g->items[at - 1].text, copy) <= 0))
            break;
        g->items[at] = g->items[at - 1];
    }
    if (!copy) return;
    g->items[at].text = copy;
    g->items[at].place = number_of(arguments[1]);
    g->count++;
}

static void listed_end(sqlite3_context *c)
{
    gathered_texts *g = sqlite3_aggregate_context(c, 0);
    nb_ctx *ctx = g && !g->failed ? nb_ctx_new() : NULL;
    const char **texts = ctx ? nb_alloc(ctx, (size_t)g->count + 1, sizeof *texts) : NULL;
    for (int i = 0; texts && i < g->count; i++) texts[i] = g->items[i].text;
    const char *list = texts ? nb_list_some(ctx, g->count, texts) : "";
    if (texts && nb_error_status(ctx) == NB_OK)
        sqlite3_result_text(c, list, -1, SQLITE_TRANSIENT);
    else if (g)
        sqlite3_result_error_nomem(c);
    nb_ctx_free(ctx);
    for (int i = 0; g && i < g->count; i++) sqlite3_free(g->items[i].text);
    if (g) free(g->items);
}

/* Returns the finite values of a list. */
NB_FUNCTION(only_finite)
{
    double x = number_of(arguments[0]);
    if (sqlite3_value_type(arguments[0]) != SQLITE_BLOB) {
        give(c, isfinite(x) ? x : NAN);
        return;
    }
    int size = list_size(c, arguments[0]);
    if (size > 0)
        give_list(c, (size_t)size, (const char *)sqlite3_value_blob(arguments[0]) + sizeof list_kind, 1, true);
}

NB_FUNCTION(ln)
{
    give(c, log(number_of(arguments[0])));
}

NB_FUNCTION(power_of_e)
{
    give(c, exp(number_of(arguments[0])));
}

/* Takes a, b, noise_a, noise_b. */
static nb_pair_value compare(sqlite3_value **arguments)
{
    const nb_noisy x = {number_of(arguments[0]), number_of(arguments[2]), NAN};
    const nb_noisy y = {number_of(arguments[1]), number_of(arguments[3]), NAN};
    return nb_noisy_compare(x, y, false);
}

NB_FUNCTION(is_noise)
{
    double x = number_of(arguments[0]);
    if (!isnan(x)) sqlite3_result_int(c, nb_is_noise(x, number_of(arguments[1])));
}

NB_FUNCTION(at_least_noise)
{
    double x = number_of(arguments[0]);
    if (!isnan(x)) sqlite3_result_double(c, nb_at_least_noise(x, number_of(arguments[1])));
}

NB_FUNCTION(pair_noise)
{
    sqlite3_result_int(c, compare(arguments).noise);
}

NB_FUNCTION(pair_ratio)
{
    const nb_pair_value v = compare(arguments);
    give(c, v.noise ? NAN : v.ratio);
}

/* Returns how many sources a verdict about others takes. */
NB_FUNCTION(least_sources)
{
    (void)count, (void)arguments;
    sqlite3_result_int(c, NB_LEAST_SOURCES);
}

/* Takes the numbers of sources and methods; returns the critical difference of mean ranks. */
NB_FUNCTION(nemenyi)
{
    int sources = sqlite3_value_int(arguments[0]);
    if (sources >= NB_LEAST_SOURCES) give(c, nb_nemenyi_difference(sources, sqlite3_value_int(arguments[1]), 0.05));
}

/* name, value or NULL; see fields.h */
NB_FUNCTION(field)
{
    nb_ctx *ctx = nb_ctx_new();
    const char *name = (const char *)sqlite3_value_text(arguments[0]);
    const char *value = (const char *)sqlite3_value_text(arguments[1]);
    if (ctx && name)
        sqlite3_result_text(c, nb_field(ctx, name, value), -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(c);
    nb_ctx_free(ctx);
}

/* refusal or NULL, and what the two are called; see refusal.h */
NB_FUNCTION(refusal_told)
{
    const char *refusal = (const char *)sqlite3_value_text(arguments[0]);
    const char *it = (const char *)sqlite3_value_text(arguments[1]);
    const char *other = (const char *)sqlite3_value_text(arguments[2]);
    if (!refusal || !it || !other) return;
    nb_ctx *ctx = nb_ctx_new();
    const char *told = ctx ? nb_refusal_tell(refusal, it, other, ctx) : NULL;
    if (told)
        sqlite3_result_text(c, told, -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(c);
    nb_ctx_free(ctx);
}

NB_FUNCTION(call)
{
    nb_ctx *ctx = nb_ctx_new();
    const char *name = (const char *)sqlite3_value_text(arguments[0]);
    if (ctx && name)
        sqlite3_result_text(c, nb_call(ctx, name), -1, SQLITE_TRANSIENT);
    else
        sqlite3_result_error_nomem(c);
    nb_ctx_free(ctx);
}

#define PART(type, member) .part = offsetof(type, member)

static const function functions[] = {
    {"field", 2, .scalar = field},
    {"call", 1, .scalar = call},
    {"refusal_told", 3, .scalar = refusal_told},
    {"median", 1, .step = gather_values, .number = median},
    {"quantile", 2, .step = gather_values, .number = quantile},
    {"list", 1, .step = gather_values, .result = list},
    {"size", 1, .scalar = size},
    {"repeated", 2, .scalar = repeated},
    {"mean", 1, .step = gather_values, .number = mean},
    {"sd", 1, .step = gather_values, .number = sd},
    {"geomean", 1, .step = gather_values, .number = geomean},
    {"crossing", 3, .step = gather, .number = crossing},
    {"median_low", 2, .step = gather, .result = estimate, .estimate = estimate_median, PART(nb_estimate, low)},
    {"median_high", 2, .step = gather, .result = estimate, .estimate = estimate_median, PART(nb_estimate, high)},
    {"mean_of_sources", 2, .step = gather, .result = estimate, .estimate = estimate_mean, PART(nb_estimate, mean)},
    {"mean_low", 2, .step = gather, .result = estimate, .estimate = estimate_mean, PART(nb_estimate, low)},
    {"mean_high", 2, .step = gather, .result = estimate, .estimate = estimate_mean, PART(nb_estimate, high)},
    {"slope", 2, .step = gather, .result = estimate, .estimate = estimate_slope, PART(nb_estimate, mean)},
    {"slope_low", 2, .step = gather, .result = estimate, .estimate = estimate_slope, PART(nb_estimate, low)},
    {"slope_high", 2, .step = gather, .result = estimate, .estimate = estimate_slope, PART(nb_estimate, high)},
    {"spearman", 2, .step = gather, .result = estimate, .estimate = estimate_spearman, PART(nb_estimate, mean)},
    {"friedman_chi2", 3, .step = gather, .result = friedman, PART(nb_friedman, chi2)},
    {"friedman_p", 3, .step = gather, .result = friedman, PART(nb_friedman, p)},
    {"friedman_f", 3, .step = gather, .result = friedman, PART(nb_friedman, f)},
    {"friedman_f_p", 3, .step = gather, .result = friedman, PART(nb_friedman, f_p)},
    {"friedman_w", 3, .step = gather, .result = friedman, PART(nb_friedman, w)},
    {"listed", 2, .step = gather_text, .end = listed_end},
    {"nemenyi", 2, .scalar = nemenyi},
    {"least_sources", 0, .scalar = least_sources},
    {"is_noise", 2, .scalar = is_noise},
    {"at_least_noise", 2, .scalar = at_least_noise},
    {"pair_noise", 4, .scalar = pair_noise},
    {"pair_ratio", 4, .scalar = pair_ratio},
    {"finite", 1, .scalar = only_finite},
    {"ln", 1, .scalar = ln},
    {"exp", 1, .scalar = power_of_e}};

static int add(sqlite3 *db, const function *f)
{
    void *self = (void *)(uintptr_t)f;
    return sqlite3_create_function_v2(db, f->name, f->arguments, FLAGS, self, f->scalar, f->step,
                                      f->end    ? f->end
                                      : f->step ? finish
                                                : NULL,
                                      NULL);
}

nb_status nb_functions_add(sqlite3 *db, nb_ctx *ctx)
{
    for (const function *f = functions; f < functions + sizeof functions / sizeof *functions; f++)
        NB_REQUIRE(ctx, add(db, f) == SQLITE_OK, NB_ENOMEM, "the function %s: %s", f->name, sqlite3_errmsg(db));
    return NB_OK;
}

NB_FUNCTION(constant)
{
    (void)arguments;
    sqlite3_result_double(c, *(const double *)sqlite3_user_data(c));
}

nb_status nb_function_add_constant(sqlite3 *db, const char *name, const double *value, nb_ctx *ctx)
{
    void *self = (void *)(uintptr_t)value;
    NB_REQUIRE(ctx, sqlite3_create_function(db, name, 0, FLAGS, self, constant, NULL, NULL) == SQLITE_OK, NB_ENOMEM,
               "the function %s: %s", name, sqlite3_errmsg(db));
    return NB_OK;
}
