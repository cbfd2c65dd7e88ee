/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_rows.c - some rows I of S returned exactly, and F X B elsewhere, with another core's X.
 *
 * A method that computes exact rows may as well return them: the baseline of every core that looks at them (`fitted`,
 * `chosen`, which have keep_rows=true for the same). |I| n d for the rows
 * and as much for their product with V, beside what X costs. The result has rank m + |I| at
 * most, so neither floor_rank nor error_subspace bounds its error. */
#include "cores/core.h"

#include "components/registry.h"

#include <math.h>

typedef struct {
    const nb_choice *of;
    int rows;
} exact_rows_options;

static const nb_option options[] = {
    NB_COMPONENT(exact_rows_options, of, "iterative", &nb_cores, "the core that computes X for the other rows"),
    NB_INT_OR(
        exact_rows_options, rows, "auto", "auto", 1, 1 << 20,
        "number of exact rows of S, at most n, including those that `of` looks at; auto: only those, or 4 m if it "
        "looks at none"),
    NB_OPTION_END};

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const exact_rows_options *o = opts;
    nb_exact_rows rows;
    int wanted = o->rows, seen;
    NB_TRY(ctx, ((const nb_core *)o->of->component)->compute(factors, o->of->options, x, ctx));
    seen = nb_factors_seen(factors);
    if (wanted == NB_AUTO) wanted = seen > 0 ? seen : 4 * nb_factors_m(factors);
    if (wanted > seen) NB_TRY(ctx, nb_factors_rows(factors, wanted, &rows, ctx));
    nb_factors_keep_rows(factors, true);
    return NB_OK;
}

static unsigned traits_of(const void *opts)
{
    const exact_rows_options *o = opts;
    return (nb_core_traits(o->of) & (NB_CORE_ORACLE | NB_CORE_ELSEWHERE)) | NB_CORE_RANDOM;
}

static const char *refusal(const nb_factors *factors, const void *opts)
{
    const exact_rows_options *o = opts;
    const nb_core *of = (const nb_core *)o->of->component;
    return of->refusal ? of->refusal(factors, o->of->options) : NULL;
}

static nb_core_cost cost(const void *opts, int n, int m)
{
    const exact_rows_options *o = opts;
    nb_core_cost all = nb_core_cost_of(o->of, n, m);
    int wanted = o->rows != NB_AUTO ? o->rows : all.rows > 0 ? all.rows : 4 * m;
    if (wanted > n) wanted = n;
    if (wanted > all.rows) all.rows = wanted;
    all.kept = all.rows;
    return all;
}

static const char *const references[] = {"none: the rows of S themselves, as a baseline", NULL};

const nb_core nb_core_exact_rows = {
    .component = {"exact_rows", "some rows of S exactly, and F X B with another core's X elsewhere", references,
                  options, sizeof(exact_rows_options)},
    .traits = NB_CORE_RANDOM,
    .traits_of = traits_of,
    .compute = compute,
    .cost = cost,
    .refusal = refusal,
    .explanation = "The rows are random in each trial, the same that fitted and chosen look at.\n"
                   "error, and all else that is measured of F X B, is then measured of the matrix with\n"
                   "those rows; error_core is empty, and error may be below error_subspace and floor_rank,\n"
                   "which bound F X B alone.",
};
