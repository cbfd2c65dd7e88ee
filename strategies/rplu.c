/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rplu.c - randomly pivoted LU of S, queries and keys together, an oracle unless it looks at some rows alone.
 *
 * A pivot (i, j) is drawn with a probability proportional to the squared entry of the
 * Schur complement R, first S itself: the row by its sum of squares, then the entry
 * in it. i becomes a query landmark, j a key landmark, and R loses the product of
 * column j and row i over R_ij. O(n^2) a pivot, and a copy of S. When |R|_F is
 * at most 10 eps n |S|_F, at the numerical rank, the rest of both is drawn uniformly,
 * and the row says so.
 *
 * rows = k: R is first k rows of S, those of sampled tokens, among which all queries are picked: O(k n) a pivot, and
 * k n d for the entries. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct {
    int rows, sample;
} rplu_options;

static const nb_option options[] = {NB_ORACLE_ROWS_OPTIONS(rplu_options), NB_OPTION_END};

typedef struct {
    int n, k;
    double *rows;      /* n x k: column i is row i of R */
    const int *tokens; /* k: whose rows these are; NULL: all */
    double *squares;   /* k: of the rows */
    double *row;       /* n: the pivot's */
    double *column;    /* n: the first k are the pivot's, over the pivot; or squares of a row */
} complement;

static nb_status complement_init(complement *r, const nb_points *queries, int rows, int m, nb_ctx *ctx)
{
    nb_row_sample some;
    const double *s;
    size_t n = (size_t)queries->n, k;
    *r = (complement){.n = queries->n, .k = nb_rows_of(rows, m, queries->n)};
    k = (size_t)r->k;
    NB_NEED(r->rows, nb_alloc_raw(ctx, n * k));
    NB_NEED(r->squares, nb_alloc_reals(ctx, k, 1));
    NB_NEED(r->row, nb_alloc_reals(ctx, n, 1));
    NB_NEED(r->column, nb_alloc_reals(ctx, n, 1));
    if (rows == NB_ALL_ROWS) {
        NB_TRY(ctx, nb_scene_rows(queries->scene, &s, ctx));
    } else {
        NB_TRY(ctx, nb_strategy_sample(queries, NB_SAMPLED_TOKENS, r->k, &some, ctx));
        s = some.rows;
        r->tokens = some.tokens;
    }
    memcpy(r->rows, s, n * k * sizeof *s);
    nb_count_multiplications((double)r->n * r->k);
    for (size_t i = 0; i < k; i++) r->squares[i] = nb_sum_of_squares(n, r->rows + i * n);
    return NB_OK;
}

static void draw_pivot(const complement *r, gsl_rng *rng, int *query, int *key)
{
    size_t n = (size_t)r->n;
    *query = nb_draw(rng, r->k, r->squares);
    const double *row = r->rows + (size_t)*query * n;
    nb_count_multiplications(r->n);
    for (size_t j = 0; j < n; j++) r->column[j] = row[j] * row[j];
    *key = nb_draw(rng, r->n, r->column);
}

static void eliminate(complement *r, int query, int key)
{
    size_t n = (size_t)r->n, k = (size_t)r->k;
    nb_count_multiplications((r->n + 1.0) * r->k); /* of the divisions, and of the squares below */
    memcpy(r->row, r->rows + (size_t)query * n, n * sizeof *r->row);
    /* R_:j / R_ij */
    for (size_t i = 0; i < k; i++) r->column[i] = r->rows[i * n + (size_t)key] / r->row[key];
    /* R <- R - R_:j R_i: / R_ij */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, r->n, r->k, 1, -1, r->row, r->n, r->column, r->k, 1, r->rows, r->n);
    /* row i and column j, which rounding leaves near 0, are 0 */
    memset(r->rows + (size_t)query * n, 0, n * sizeof *r->rows);
    for (size_t i = 0; i < k; i++) {
        r->rows[i * n + (size_t)key] = 0;
        r->squares[i] = nb_sum_of_squares(n, r->rows + i * n);
    }
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    const rplu_options *o = opts;
    gsl_rng *rng = nb_ctx_rng(ctx);
    complement r;
    NB_TRY(ctx, complement_init(&r, queries, o->rows, m, ctx));
    NB_TRY(ctx, nb_picks_begin(of_queries, m));
    NB_TRY(ctx, nb_picks_begin(of_keys, m));
    double rounding = pow(10 * DBL_EPSILON * r.n, 2) * nb_sum((size_t)r.k, r.squares);
    while (of_queries->count < m && nb_sum((size_t)r.k, r.squares) > rounding) {
        int query, key;
        draw_pivot(&r, rng, &query, &key);
        eliminate(&r, query, key);
        nb_picks_add(of_keys, key);
        nb_picks_add(of_queries, query);
    }
    const char *what = r.k < r.n ? "what was sampled of S" : "S";
    NB_TRY(ctx, nb_picks_rest(of_queries, r.k, what, rng, ctx));
    for (int j = 0; r.tokens && j < m; j++) of_queries->tokens[j] = r.tokens[of_queries->tokens[j]];
    return nb_picks_rest(of_keys, keys->n, what, rng, ctx);
}

static unsigned traits_of(const void *opts)
{
    const rplu_options *o = opts;
    return nb_traits_with_rows(NB_RANDOM | NB_NESTED | NB_ORACLE | NB_SQUARE, o->rows);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const rplu_options *o = opts;
    if (o->sample == NB_CENTRES) return "rplu picks among the tokens whose rows it sees: a centre of queries is none";
    if (nb_rows_of(o->rows, m, points->n) < m) return "rplu picks among the tokens whose rows it sees: rows is below m";
    if (o->rows == NB_ALL_ROWS && points->n > NB_DENSE)
        return "rplu needs S whole: at most 4096 tokens; or take rows=auto";
    return nb_rows_refusal(points, o->rows, o->sample, m);
}

static const char *const references[] = {"Gilles & Wilber, randomly pivoted LU, 2026, arXiv:2601.22344", NULL};

const nb_strategy nb_strategy_rplu = {
    .component = {"rplu", "pivots of randomly pivoted LU of S, queries and keys together (oracle, or by sampled rows)",
                  references, options, sizeof(rplu_options)},
    .traits = NB_RANDOM | NB_NESTED | NB_ORACLE | NB_SQUARE,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .refusal = refusal,
};
