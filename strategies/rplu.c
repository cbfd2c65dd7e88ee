/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rplu.c - randomly pivoted LU of S, queries and keys together, an oracle.
 *
 * A pivot (i, j) is drawn with a probability proportional to the squared entry of the
 * Schur complement R, first S itself: the row by its sum of squares, then the entry
 * in it. i becomes a query landmark, j a key landmark, and R loses the product of
 * column j and row i over R_ij. O(n^2) a pivot, and a copy of S. When |R|_F is
 * at most 10 eps n |S|_F, at the numerical rank, the rest of both is drawn uniformly,
 * and the row says so. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    int n;
    double *rows;    /* n x n: column i is row i of R */
    double *squares; /* n: of the rows */
    double *row;     /* n: the pivot's */
    double *column;  /* n: the pivot's, over the pivot; or squares of a row */
} complement;

static nb_status complement_init(complement *r, nb_scene *scene, nb_ctx *ctx)
{
    const double *s;
    size_t n = (size_t)nb_scene_head(scene)->n;
    *r = (complement){.n = nb_scene_head(scene)->n};
    NB_NEED(r->rows, nb_alloc_raw(ctx, n * n));
    NB_NEED(r->squares, nb_alloc_reals(ctx, n, 1));
    NB_NEED(r->row, nb_alloc_reals(ctx, n, 1));
    NB_NEED(r->column, nb_alloc_reals(ctx, n, 1));
    NB_TRY(ctx, nb_scene_rows(scene, &s, ctx));
    memcpy(r->rows, s, n * n * sizeof *s);
    for (size_t i = 0; i < n; i++) r->squares[i] = nb_sum_of_squares(n, r->rows + i * n);
    return NB_OK;
}

static void draw_pivot(const complement *r, gsl_rng *rng, int *query, int *key)
{
    size_t n = (size_t)r->n;
    *query = nb_draw(rng, r->n, r->squares);
    const double *row = r->rows + (size_t)*query * n;
    for (size_t j = 0; j < n; j++) r->column[j] = row[j] * row[j];
    *key = nb_draw(rng, r->n, r->column);
}

static void eliminate(complement *r, int query, int key)
{
    size_t n = (size_t)r->n;
    memcpy(r->row, r->rows + (size_t)query * n, n * sizeof *r->row);
    for (size_t i = 0; i < n; i++) r->column[i] = r->rows[i * n + (size_t)key] / r->row[key];
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, r->n, r->n, 1, -1, r->row, r->n, r->column, r->n, 1, r->rows, r->n);
    memset(r->rows + (size_t)query * n, 0, n * sizeof *r->rows);
    for (size_t i = 0; i < n; i++) {
        r->rows[i * n + (size_t)key] = 0;
        r->squares[i] = nb_sum_of_squares(n, r->rows + i * n);
    }
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *options,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    gsl_rng *rng = nb_ctx_rng(ctx);
    size_t n = (size_t)queries->n;
    complement r;
    (void)options;
    NB_TRY(ctx, complement_init(&r, queries->scene, ctx));
    NB_TRY(ctx, nb_picks_begin(of_queries, m));
    NB_TRY(ctx, nb_picks_begin(of_keys, m));
    double rounding = pow(10 * DBL_EPSILON * r.n, 2) * nb_sum(n, r.squares);
    while (of_queries->count < m && nb_sum(n, r.squares) > rounding) {
        int query, key;
        draw_pivot(&r, rng, &query, &key);
        eliminate(&r, query, key);
        nb_picks_add(of_keys, key);
        nb_picks_add(of_queries, query);
    }
    NB_TRY(ctx, nb_picks_rest(of_queries, queries->n, "S", rng, ctx));
    return nb_picks_rest(of_keys, keys->n, "S", rng, ctx);
}

static const char *refusal(const nb_points *points, int m, const void *options)
{
    (void)m;
    (void)options;
    return points->n > NB_DENSE ? "rplu needs S whole: at most 4096 tokens" : NULL;
}

static const char *const references[] = {"Gilles & Wilber, randomly pivoted LU, 2026, arXiv:2601.22344", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_strategy nb_strategy_rplu = {
    .component = {"rplu", "pivots of randomly pivoted LU of S, queries and keys together (oracle)", references, options,
                  0},
    .traits = NB_RANDOM | NB_NESTED | NB_ORACLE | NB_SQUARE,
    .pairing = NB_BOTH,
    .pick_both = pick_both,
    .refusal = refusal,
};
