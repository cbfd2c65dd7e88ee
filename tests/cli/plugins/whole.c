/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks for whatever the installed headers offer to strategies and cores, and finds it as they say. */
#include "cores/core.h"
#include "strategy.h"

#include <math.h>

typedef struct {
    const nb_choice *start;
} whole_options;

static const char *const references[] = {"none: a test", NULL};
static const nb_option strategy_options[] = {
    NB_COMPONENT(whole_options, start, "uniform", &nb_strategies, "where the queries come from"), NB_OPTION_END};

/* The start's queries, and the keys of the largest column sums of S. */
static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const whole_options *o = opts;
    const double *of_rows, *of_columns, *rows;
    const nb_spectrum *s;
    int n = nb_scene_head(queries->scene)->n;
    nb_picks start, ignored;
    int *tokens;
    double norm, sum = 0;
    NB_REQUIRE(ctx, keys->side == NB_SIDE_KEYS && nb_scene_kernel_choice(keys->scene), NB_EINVAL, "no keys");
    NB_TRY(ctx, nb_strategy_start(o->start, queries, m, &start, &ignored, ctx));
    NB_REQUIRE(ctx, start.kind == NB_TOKENS, NB_EINVAL, "the start picks no tokens");
    NB_NEED(tokens, nb_picks_tokens(of_queries, m));
    for (int j = 0; j < m; j++) tokens[j] = start.tokens[j];
    NB_TRY(ctx, nb_scene_rows(queries->scene, &rows, ctx));
    NB_TRY(ctx, nb_scene_norm(queries->scene, &norm, ctx));
    NB_TRY(ctx, nb_scene_sums(queries->scene, &of_rows, &of_columns, ctx));
    NB_TRY(ctx, nb_scene_singular_vectors(queries->scene, n, &s, ctx));
    for (int i = 0; i < n * n; i++) sum += rows[i] * rows[i];
    NB_REQUIRE(ctx,
               fabs(sqrt(sum) / norm - 1) < 1e-12 && s->values[0] <= norm * (1 + 1e-12) && fabs(of_rows[0] - 1) < 1e-12,
               NB_EINVAL, "S is not what is said of it");
    return nb_picks_by_score(of_keys, n, m, of_columns, false, ctx);
}

/* Cut at a thousandth, from 20 landmarks on not finite. */
static nb_status compute(nb_factors *f, const void *o, double *x, nb_ctx *ctx)
{
    const nb_factors_spectrum *s;
    nb_exact_rows rows;
    double *filter, one, infinity;
    int m = nb_factors_m(f);
    (void)o;
    NB_TRY(ctx, nb_factors_svd(f, &s, ctx));
    nb_factors_norms(f, &one, &infinity);
    NB_REQUIRE(ctx, s->values[0] <= sqrt(one * infinity) * (1 + 1e-12) && nb_factors_a(f), NB_EINVAL, "not A's norms");
    NB_TRY(ctx, nb_factors_rows(f, 2 * m, &rows, ctx));
    NB_REQUIRE(ctx, nb_factors_seen(f) == rows.k && rows.k <= nb_factors_n(f) && nb_factors_ranges(f), NB_EINVAL,
               "not the rows that were asked for");
    NB_NEED(filter, nb_alloc_reals(ctx, (size_t)m, 1));
    for (int j = 0; j < m && s->values[j] > 1e-3 * s->values[0]; j++) filter[j] = 1 / s->values[j];
    nb_factors_keep_rows(f, true);
    nb_factors_note_cutoff(f, 1e-3);
    nb_factors_note_residual_limit(f, 1e9);
    NB_TRY(ctx, nb_factors_filter(f, filter, x, ctx));
    if (m < 20) return NB_OK;
    x[0] = NAN;
    return nb_factors_note_diverged(f, "too many landmarks for an example", ctx);
}

static const nb_strategy whole = {
    .component = {"whole", "asks for all that there is of S", references, strategy_options, sizeof(whole_options)},
    .traits = NB_RANDOM | NB_ORACLE | NB_SQUARE | NB_EIGEN,
    .pairing = NB_BOTH,
    .pick_both = pick_both};
static const nb_option none[] = {NB_OPTION_END};
static const nb_core cut = {.component = {"cut", "cuts at a thousandth of the largest", references, none, 0},
                            .traits = NB_CORE_FILTER | NB_CORE_RANDOM | NB_CORE_ORACLE,
                            .compute = compute};
NB_PLUGIN({"strategy", &whole.component}, {"core", &cut.component});
