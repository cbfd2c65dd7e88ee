/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpqr.c - column-pivoted QR of S for the keys, of S' for the queries, an oracle unless it looks at some rows alone.
 *
 * linalg/pivoting.h has the factorization. S is read once a pivot: O(n^2). joint: the pivot token has the largest sum
 * of the squared residuals of its row and its column; shared: the largest of all rows and columns is next. When all
 * are 0, at the numerical rank, the lowest tokens that are left follow, and the row says so.
 *
 * rows = k: the keys are the columns of k rows of S, each times the root of its weight, the queries the rows of the
 * kernel at k keys: O(k n) a pivot, and k n d for the entries. joint and shared add what is left of each of the two in
 * shares of its own squares, as their sums differ. */
#include "strategy.h"

#include "linalg/pivoting.h"
#include "linalg/vector.h"

#include <string.h>

typedef struct {
    int rows, sample;
} cpqr_options;

static const nb_option options[] = {NB_ORACLE_ROWS_OPTIONS(cpqr_options), NB_OPTION_END};

typedef struct {
    nb_pivoting p; /* a column for each key, or for each query */
    double share;  /* what a residual counts */
    double *total; /* n: where the residuals are added up */
} side;

static nb_status side_init(side *s, const nb_sight *sight, bool keys, int m, double *total, nb_ctx *ctx)
{
    *s = (side){.share = 1, .total = total};
    NB_TRY(ctx, nb_pivoting_init(&s->p, sight->k, sight->n, keys ? sight->rows : sight->columns, keys, m, ctx));
    double sum = nb_sum((size_t)sight->n, s->p.residual);
    if (sight->k < sight->n && sum > 0) s->share = 1 / sum;
    return NB_OK;
}

static void add_shares(const side *s)
{
    nb_count_multiplications(s->p.columns);
    for (int j = 0; j < s->p.columns; j++) s->total[j] += s->share * s->p.residual[j];
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const cpqr_options *o = opts;
    side s[2];
    nb_sight sight;
    int sides = 0, n = points->n;
    double *total;
    NB_NEED(total, nb_alloc_reals(ctx, (size_t)n, 1));
    nb_scores of = nb_scores_of(points, total);
    NB_TRY(ctx, nb_strategy_look(points, o->rows, o->sample, m, &sight, ctx));
    if (of.keys) NB_TRY(ctx, side_init(&s[sides++], &sight, true, m, of.keys, ctx));
    if (of.queries) NB_TRY(ctx, side_init(&s[sides++], &sight, false, m, of.queries, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    while (picks->count < m) {
        memset(total, 0, (size_t)n * sizeof *total);
        for (int i = 0; i < sides; i++) add_shares(&s[i]);
        /* the largest squared residual, or sum of shares of them */
        int pivot = (int)nb_largest_index((size_t)n, total);
        if (!(total[pivot] > 0)) break;
        nb_picks_add(picks, pivot);
        for (int i = 0; i < sides && picks->count < m; i++) {
            int own = pivot - (int)(s[i].total - total); /* shared: it may be of the other side */
            if (own >= 0 && own < s[i].p.columns) nb_pivoting_eliminate(&s[i].p, own);
        }
    }
    return nb_picks_rest(picks, n, sight.k < sight.n ? "what was sampled of S" : "S", NULL, ctx);
}

static unsigned traits_of(const void *opts)
{
    const cpqr_options *o = opts;
    return nb_traits_with_rows(NB_NESTED | NB_ORACLE | NB_SQUARE, o->rows);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const cpqr_options *o = opts;
    return o->rows == NB_ALL_ROWS && nb_scene_head(points->scene)->n > NB_DENSE
               ? "cpqr needs S whole: at most 4096 tokens; or take rows=auto"
               : nb_rows_refusal(points, o->rows, o->sample, m);
}

static const char *const references[] = {
    "Businger & Golub, Linear least squares solutions by Householder transformations, Numer. Math. 7, 1965",
    "Drmac & Bujanovic, On the failure of rank-revealing QR factorization software, ACM TOMS 35, 2008",
    "Cortinovis & Kressner, Low-rank approximation in the Frobenius norm by column and row subset selection, SIMAX 41, "
    "2020, arXiv:1908.06059",
    NULL};

const nb_strategy nb_strategy_cpqr = {
    .component = {"cpqr", "pivots of column-pivoted QR of S for keys, of S' for queries (oracle, or by sampled rows)",
                  references, options, sizeof(cpqr_options)},
    .traits = NB_NESTED | NB_ORACLE | NB_SQUARE,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .refusal = refusal,
};
