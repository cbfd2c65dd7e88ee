/* SPDX-License-Identifier: GPL-3.0-or-later */
/* orthogonal.c - each next token is the one whose largest |cosine| to those there
 * is smallest, the lowest index among equals; the first is drawn uniformly.
 * O(nmd).
 *
 * A zero vector has no direction: such tokens come last. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>

typedef struct {
    int n, d;
    double *unit;    /* d x n: the tokens' directions */
    double *largest; /* n: |cosine| to those taken; INFINITY for a zero vector */
    double *weight;  /* n: 1, and 0 for a zero vector */
    bool *taken;     /* n */
} work;

static nb_status work_init(work *w, const nb_points *p, nb_ctx *ctx)
{
    size_t n = (size_t)p->n, d = (size_t)p->d;
    *w = (work){.n = p->n, .d = p->d};
    NB_NEED(w->unit, nb_alloc_reals(ctx, d, n));
    NB_NEED(w->largest, nb_alloc_reals(ctx, n, 1));
    NB_NEED(w->weight, nb_alloc_reals(ctx, n, 1));
    NB_NEED(w->taken, nb_alloc(ctx, n, sizeof *w->taken));
    nb_normalise_columns(p->d, p->n, p->x, w->unit);
    nb_count_multiplications((double)p->n * p->d);
    for (size_t i = 0; i < n; i++) {
        w->weight[i] = nb_sum_of_squares(d, w->unit + i * d) > 0;
        if (w->weight[i] == 0) w->largest[i] = INFINITY;
    }
    return NB_OK;
}

static void add_landmark(work *w, int token)
{
    size_t d = (size_t)w->d;
    nb_count_multiplications((double)w->n * w->d);
    w->taken[token] = true;
    for (size_t i = 0; i < (size_t)w->n; i++)
        w->largest[i] = fmax(w->largest[i], fabs(nb_dot(d, w->unit + i * d, w->unit + (size_t)token * d)));
}

static int find_next(const work *w)
{
    int best = -1;
    for (int i = 0; i < w->n; i++)
        if (!w->taken[i] && (best < 0 || w->largest[i] < w->largest[best])) best = i;
    return best;
}

static nb_status pick(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx)
{
    work w;
    (void)options;
    NB_TRY(ctx, work_init(&w, points, ctx));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    for (int j = 0; j < m; j++) {
        int token = j == 0 ? nb_draw(nb_ctx_rng(ctx), w.n, w.weight) : find_next(&w);
        nb_picks_add(picks, token);
        add_landmark(&w, token);
    }
    return NB_OK;
}

static const char *const references[] = {
    "Patrick et al., Keeping your eye on the ball: trajectory attention in video transformers (Orthoformer), NeurIPS "
    "2021, arXiv:2106.05392",
    NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_strategy nb_strategy_orthogonal = {
    .component = {"orthogonal", "tokens most orthogonal to those picked so far (Orthoformer)", references, options, 0},
    .traits = NB_RANDOM | NB_NESTED,
    .pairing = NB_JOINT,
    .pick = pick,
};
