/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chosen.c - the pseudo-inverse that does best on some exact rows I of S: of all
 * cut-offs of the SVD, 0 to 40 iterations, or 61 values of Tikhonov's lambda, the one
 * of least |S_I - F_I X B|; of those within 1e-9 of it, whose order is rounding's, the first, that is, the fewest
 * singular values or steps, or the largest lambda. 2 |I| n (d + m) flops for the rows, and each candidate
 * costs O(m^3 + |I| m^2). */
#include "cores/core.h"

#include "linalg/linalg.h"
#include "nystrom/factors_record.h"
#include "nystrom/iteration.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    int of, rows, keep_rows;
} chosen_options;

enum { OF_SVD, OF_ITERATIVE, OF_TIKHONOV };
static const char *const families[] = {"svd", "iterative", "tikhonov", NULL};

static const nb_option options[] = {
    NB_ENUM(chosen_options, of, "svd", families, "the family of cores to choose from"),
    NB_INT(chosen_options, rows, "128", 1, 1 << 20, "number of exact rows of S, at most n"),
    NB_BOOL(chosen_options, keep_rows, "false", NB_KEEP_ROWS_HELP), NB_OPTION_END};

static const nb_iteration iteration = {.name = "chosen", NB_NYSTROMFORMER};

static int candidates(int of, const nb_factors_spectrum *s, int m)
{
    int rank = 0;
    if (of == OF_ITERATIVE) return 41;
    if (of == OF_TIKHONOV) return 61;
    while (rank < m && s->values[rank] > DBL_EPSILON * m * s->values[0]) rank++;
    return rank;
}

typedef struct {
    int of;
    const nb_factors_spectrum *s; /* NULL: not of A's singular values */
    nb_exact_rows rows;           /* to judge by */
} family;

static nb_status candidate(nb_factors *f, const family *among, int number, double *x, nb_ctx *ctx)
{
    const nb_factors_spectrum *s = among->s;
    int of = among->of;
    double *filter, lambda = pow(10, -number / 4.0);
    if (of == OF_ITERATIVE)
        return nb_iterate(f, &iteration, &(nb_iterating){.start = NB_START_PAPER, .steps = number}, x, ctx);
    NB_NEED(filter, nb_alloc_reals(ctx, (size_t)f->m, 1));
    for (int j = 0; j < f->m && s->values[j] > 0; j++) {
        double share = s->values[j] / s->values[0];
        if (of == OF_TIKHONOV) filter[j] = share / (share * share + lambda) / s->values[0];
        if (of == OF_SVD && j <= number) filter[j] = 1 / s->values[j];
    }
    f->notes.cutoff =
        of == OF_TIKHONOV ? sqrt(lambda) : nb_factors_kept_cutoff(s, f->m, number + 1, DBL_EPSILON * f->m);
    return nb_factors_filter(f, filter, x, ctx);
}

/* |S_I Q_B - F_I X R_B'|; rows are columns here: target - R_B X' f. */
static nb_status distance(const nb_exact_rows *rows, int m, const double *x, double *norm, nb_ctx *ctx)
{
    size_t count = (size_t)rows->rank_b * (size_t)rows->k;
    double *middle, *rest;
    NB_NEED(middle, nb_alloc_raw(ctx, (size_t)rows->rank_b * (size_t)m));
    NB_NEED(rest, nb_alloc_raw(ctx, count));
    memcpy(rest, rows->target, count * sizeof *rest);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, rows->rank_b, m, m, 1, rows->r_b, rows->rank_b, x, m, 0, middle, rows->rank_b);
    nb_gemm(NB_PLAIN, NB_PLAIN, rows->rank_b, rows->k, m, -1, middle, rows->rank_b, rows->f, m, 1, rest, rows->rank_b);
    *norm = nb_frobenius(count, rest);
    return NB_OK;
}

static nb_status try_one(nb_factors *f, const family *among, int number, double *x, double *norm, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = candidate(f, among, number, x, ctx);
    if (status == NB_OK) status = distance(&among->rows, f->m, x, norm, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}

/* Returns the first of the numbers that is within 1e-9 of the least, or -1 if none is finite. */
static int first_least(int count, const double *norms)
{
    double least = INFINITY;
    for (int i = 0; i < count; i++) least = fmin(least, norms[i]);
    for (int i = 0; i < count; i++)
        if (isfinite(least) && norms[i] <= least * (1 + 1e-9)) return i;
    return -1;
}

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const chosen_options *o = opts;
    size_t square = (size_t)factors->m * (size_t)factors->m;
    family among = {.of = o->of};
    nb_notes notes = factors->notes;
    double *tried, *norms;
    int kept = -1;
    if (o->of != OF_ITERATIVE) NB_TRY(ctx, nb_factors_svd(factors, &among.s, ctx));
    NB_TRY(ctx, nb_factors_rows(factors, o->rows, &among.rows, ctx));
    factors->keep_rows = o->keep_rows;
    double reused_s = factors->reused_s;
    int count = candidates(o->of, among.s, factors->m);
    NB_NEED(tried, nb_alloc_raw(ctx, square));
    NB_NEED(norms, nb_alloc_raw(ctx, (size_t)count + 1));
    memset(x, 0, square * sizeof *x);
    for (int i = 0; i < count; i++) {
        NB_TRY(ctx, try_one(factors, &among, i, tried, &norms[i], ctx));
        if (first_least(i + 1, norms) != i) continue;
        kept = i;
        notes = factors->notes;
        memcpy(x, tried, square * sizeof *x);
    }
    int best =
        first_least(count, norms); /* later than what is kept, where the norms fell by less than 1e-9 at a time */
    if (best != kept) {
        NB_TRY(ctx, try_one(factors, &among, best, x, &norms[best], ctx));
        notes = factors->notes;
    }
    factors->notes = notes;
    factors->reused_s = reused_s; /* work that the candidates share among themselves counts once */
    return NB_OK;
}

static const char *const references[] = {
    "Stone, Cross-validatory choice and assessment of statistical predictions, J. R. Stat. Soc. B 36, 1974",
    "Hansen, Rank-Deficient and Discrete Ill-Posed Problems, SIAM 1998, ch. 7 (choice of the regularisation parameter)",
    NULL};

const nb_core nb_core_chosen = {
    .component = {"chosen", "the cut-off, step count or lambda that does best on some exact rows of S", references,
                  options, sizeof(chosen_options)},
    .traits = NB_CORE_RANDOM,
    .compute = compute,
};
