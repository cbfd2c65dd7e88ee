/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rpcholesky.c - randomly pivoted Cholesky of a kernel K of the points themselves (nystrom/psd_kernel.h).
 *
 * 1. `block` tokens are drawn, independently, with probabilities proportional to their residuals, the diagonal of
 *    K - L L' (clipped at 0 and at rounding: linalg/cholesky.h).
 * 2. One after the other they become pivots, in the residual of the block's own tokens. Those that the block's pivots
 *    before explain, such as repeated ones, are dropped. With accelerated = true a token is also rejected, with the
 *    probability by which its residual has fallen since it was drawn: then pivots are distributed as with block = 1.
 * 3. The block's pivots are eliminated from all n tokens, by one product.
 *
 * O(n m (d + m) + m b (d + m)) for blocks of b, if none is rejected. Blocks are drawn whole whatever m is, so picks are
 * nested. When all residuals are 0, the rest is drawn uniformly, and the row says so. */
#include "strategy.h"

#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "nystrom/psd_kernel.h"

typedef struct {
    int of, block, accelerated;
    double bandwidth;
} rpcholesky_options;

static const nb_option options[] = {
    NB_ENUM(rpcholesky_options, of, "exp", nb_similarity_names,
            "kernel of the points: exp(x.y/sqrt d), gauss or gram (x.y)"),
    NB_INT(rpcholesky_options, block, "1", 1, 4096, "number of pivots drawn from the same residuals"),
    NB_REAL_OR(rpcholesky_options, bandwidth, "median", "median", 1e-100, 1e100,
               "for of=gauss: h in exp(-|x-y|^2/(2h^2)); median: the median distance"),
    NB_OPTION_FIELD(rpcholesky_options, accelerated, NB_OPTION_BOOL, int, "false",
                    "reject pivots of a block so that all have the probabilities of block=1", .newer = true),
    NB_OPTION_END};

/* Tokens that were drawn from the same residuals. */
typedef struct {
    const nb_cholesky *whole;
    const nb_similarity *kernel;
    int size, *tokens;
    double *rows;        /* of L, most x size; scratch of the elimination */
    int pivots, *chosen; /* those that became pivots */
    nb_cholesky own;     /* of the residual K - L L' at the block's tokens, by their places in the block */
} block;

/* Column j of the residual at the block's tokens. */
static void residual_column(const void *self, int j, double *column)
{
    const block *b = self;
    int rank = b->whole->rank;
    nb_similarity_some(b->kernel, b->tokens[j], b->size, b->tokens, column);
    nb_gemv(NB_TRANSPOSED, rank, b->size, -1, b->rows, rank > 0 ? rank : 1, b->rows + (size_t)j * (size_t)rank, 1,
            column);
}

static nb_status open_block(block *b, int size, int m, const nb_cholesky *whole, const nb_similarity *kernel,
                            nb_ctx *ctx)
{
    double *none;
    *b = (block){.whole = whole, .kernel = kernel, .size = size};
    NB_NEED(b->tokens, nb_alloc(ctx, (size_t)size, sizeof *b->tokens));
    NB_NEED(b->chosen, nb_alloc(ctx, (size_t)(size < m ? size : m), sizeof *b->chosen));
    NB_NEED(b->rows, nb_alloc_reals(ctx, (size_t)m, (size_t)size));
    NB_NEED(none, nb_alloc(ctx, (size_t)size, sizeof *none));
    return nb_cholesky_init(&b->own, size, size < m ? size : m, none, residual_column, b, ctx);
}

static void draw_block(block *b, gsl_rng *rng)
{
    const nb_cholesky *whole = b->whole;
    for (int i = 0; i < b->size; i++) b->tokens[i] = nb_draw(rng, whole->n, whole->residual);
    nb_cholesky_rows(whole, b->size, b->tokens, b->rows);
    for (int i = 0; i < b->size; i++) {
        b->own.residual[i] = whole->residual[b->tokens[i]];
        b->own.rounding[i] = whole->rounding[b->tokens[i]];
    }
    b->own.rank = b->pivots = 0;
}

static void choose_pivots(block *b, int m, bool accelerated, nb_picks *picks, gsl_rng *rng)
{
    for (int i = 0; i < b->size && picks->count < m; i++) {
        int token = b->tokens[i];
        double share = accelerated ? gsl_rng_uniform(rng) : 0;
        if (!(b->own.residual[i] > share * b->whole->residual[token])) continue;
        b->chosen[b->pivots++] = token;
        nb_picks_add(picks, token);
        if (i + 1 < b->size && picks->count < m) nb_cholesky_eliminate(&b->own, i);
    }
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const rpcholesky_options *o = opts;
    int n = points->n;
    double *diagonal;
    nb_similarity kernel;
    nb_cholesky c;
    block b;
    NB_NEED(diagonal, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_TRY(ctx, nb_similarity_init(&kernel, (nb_similarity_kind)o->of, o->bandwidth, n, points->d, points->x, ctx));
    nb_similarity_diagonal(&kernel, diagonal);
    NB_TRY(ctx, nb_cholesky_init(&c, n, m, diagonal, nb_similarity_column, &kernel, ctx));
    NB_TRY(ctx, open_block(&b, o->block, m, &c, &kernel, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    while (picks->count < m && nb_sum((size_t)n, c.residual) > 0) {
        draw_block(&b, nb_ctx_rng(ctx));
        choose_pivots(&b, m, o->accelerated, picks, nb_ctx_rng(ctx));
        if (picks->count < m) nb_cholesky_eliminate_block(&c, b.pivots, b.chosen, b.rows);
    }
    return nb_picks_rest(picks, n, nb_similarity_names[o->of], nb_ctx_rng(ctx), ctx);
}

static const char *const references[] = {
    "Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, Comm. Pure Appl. Math. 78, 2025, arXiv:2207.06503",
    "Epperly, Tropp & Webber, Embrace rejection: kernel matrix approximation by accelerated randomly pivoted Cholesky, "
    "2024, arXiv:2410.03969 (accelerated)",
    NULL};

const nb_strategy nb_strategy_rpcholesky = {
    .component = {"rpcholesky", "pivots of randomly pivoted Cholesky of a kernel of the points", references, options,
                  sizeof(rpcholesky_options)},
    .traits = NB_RANDOM | NB_NESTED,
    .pairing = NB_JOINT,
    .pick = pick,
};
