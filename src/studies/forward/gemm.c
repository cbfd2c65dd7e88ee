/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gemm.c - C = A B, 1024 x 1024, blocks of C's columns as tasks. */
#include "studies/forward/methods.h"

#include "data/synthetic.h"
#include "linalg/scalar.h"

enum { COLUMNS = 128, N = NB_GEMM_SIZE };

typedef struct {
    nb_team *team;
    nb_scalar *a, *b, *c; /* N x N */
    volatile nb_scalar seen;
} product;

static void multiply(void *self, int task, int thread)
{
    const product *g = self;
    size_t first = (size_t)task * COLUMNS * N;
    (void)thread;
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, N, COLUMNS, N, 1, g->a, N, g->b + first, N, 0, g->c + first, N);
}

static nb_status pass(void *self, nb_ctx *ctx)
{
    product *g = self;
    (void)ctx;
    nb_team_run(g->team, N / COLUMNS, multiply, g);
    return NB_OK;
}

static nb_status end(void *self, nb_ctx *ctx)
{
    product *g = self;
    (void)ctx;
    g->seen = nb_scalar_sum((size_t)N * N, g->c);
    return NB_OK;
}

nb_status nb_forward_gemm(nb_team *team, gsl_rng *rng, nb_contestant *contestant, nb_ctx *ctx)
{
    size_t count = (size_t)N * N;
    product *g;
    double *x;
    NB_NEED(g, nb_alloc(ctx, 1, sizeof *g));
    g->team = team;
    NB_NEED(g->a, nb_alloc_scalars(ctx, count));
    NB_NEED(g->b, nb_alloc_scalars(ctx, count));
    NB_NEED(g->c, nb_alloc_scalars(ctx, count));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(x, nb_alloc_raw(ctx, count));
    nb_draw_normals(rng, count, 1, x);
    nb_scalar_of(count, x, g->a);
    nb_draw_normals(rng, count, 1, x);
    nb_scalar_of(count, x, g->b);
    nb_ctx_release(ctx, mark);
    *contestant = (nb_contestant){.self = g, .pass = pass, .end = end};
    return NB_OK;
}
