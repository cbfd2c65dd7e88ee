/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wildcat.c - WildCat: softmax over a coreset of the keys, drawn by randomly pivoted Cholesky, with weights by which
 * the coreset's kernel functions stand for those of all keys. Of each head:
 *
 * 1. Keys, from their mean, are scaled: x = k / tau, tau^2 = R_K / R_Q b / (2 W(b / (2 rho))). R_K and R_Q are the
 *    norms of the longest key and query, b = sqrt d ln n / (R_K R_Q) + 2, rho^2 = 1 + 2 / W(2 / e^2), and W is
 *    Lambert's function: the temperature at which the paper's bound is least.
 * 2. Up to `keys` of them, C, are the pivots of randomly pivoted Cholesky of exp(x.y / sqrt d) (linalg/cholesky.h).
 * 3. Weights w (|C| x n) are K_CC^-1 K_C; with K ~ L L' they are L_C'^-1 L'.
 * 4. Every query's output is e (w V) / e (w 1), e = exp(q'k_c / sqrt d), each coordinate within the range that the
 *    values have; from 0 where e w 1 is not above 1e-20 of the sum of e.
 *
 * n keys (d + keys / 2 + dv) multiplications a head, and n keys (d + dv) for the softmax. */
#include "attentions/attention.h"

#include "layers/softmax.h"
#include "linalg/cholesky.h"
#include "linalg/vector.h"
#include "nystrom/psd_kernel.h"

#include <gsl/gsl_sf_lambert.h>
#include <math.h>
#include <string.h>

typedef struct {
    int keys;
} wildcat_options;

static const nb_option options[] = {NB_INT(wildcat_options, keys, "128", 1, 1 << 20, "of the coreset"), NB_OPTION_END};

static const nb_scalar least_sum = (nb_scalar)1e-20;

/* These stand for the keys and values of a query head. */
typedef struct {
    int count;             /* of the coreset: fewer than `keys` at the numerical rank */
    nb_scalar *k, *v;      /* d x keys; (dv + 1) x keys: w V, and below it w 1 */
    nb_scalar *low, *high; /* dv: of the values */
    nb_status status;
} coreset;

/* A thread's. */
typedef struct {
    nb_scalar *out; /* (dv + 1) x NB_BLOCK_QUERIES */
    nb_softmax softmax;
    gsl_rng *rng;
} room;

typedef struct {
    coreset *heads;
    room *rooms;
} wildcat_state;

typedef struct {
    const wildcat_options *o;
    nb_pass *pass;
    const wildcat_state *state;
} work;

static double longest(int d, int n, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < (size_t)n; i++) most = fmax(most, nb_sum_of_squares((size_t)d, x + i * (size_t)d));
    nb_count_multiplications((double)n * d);
    return sqrt(most);
}

/* Returns tau, by the norms of the longest key and query; 1 if one of them is 0. */
static double temperature_of(int d, int n, double keys, double queries)
{
    double rho = sqrt(1 + 2 / gsl_sf_lambert_W0(2 * exp(-2)));
    if (!(keys > 0) || !(queries > 0)) return 1;
    double b = sqrt(d) * log(n) / (keys * queries) + 2;
    return sqrt(keys / queries * b / (2 * gsl_sf_lambert_W0(b / (2 * rho))));
}

/* Step 2: the pivots, in the order in which they were drawn. */
static nb_status draw_pivots(const nb_similarity *kernel, int most, gsl_rng *rng, nb_cholesky *c, int *pivots,
                             nb_ctx *ctx)
{
    int n = kernel->n;
    double *diagonal;
    NB_NEED(diagonal, nb_alloc_reals(ctx, (size_t)n, 1));
    nb_similarity_diagonal(kernel, diagonal);
    NB_TRY(ctx, nb_cholesky_init(c, n, most, diagonal, nb_similarity_column, kernel, ctx));
    while (c->rank < most && nb_sum((size_t)n, c->residual) > 0) {
        pivots[c->rank] = nb_draw(rng, n, c->residual);
        nb_cholesky_eliminate(c, pivots[c->rank]);
    }
    return NB_OK;
}

/* Step 3: x->v <- w [V 1]. */
static nb_status weigh_values(const nb_cholesky *c, const int *pivots, const nb_head *h, const coreset *x, nb_ctx *ctx)
{
    int n = c->n, r = c->rank, dv = h->dv;
    double *upper, *sums; /* L_C', r x r; L' [V 1], r x (dv + 1) */
    NB_NEED(upper, nb_alloc_reals(ctx, (size_t)r, (size_t)r));
    NB_NEED(sums, nb_alloc_reals(ctx, (size_t)r, (size_t)dv + 1));
    nb_cholesky_rows(c, r, pivots, upper);
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, r, dv, n, 1, c->factor, n, h->v, dv, 0, sums, r);
    for (int i = 0; i < r; i++) sums[i + dv * r] = nb_sum((size_t)n, c->factor + (size_t)i * (size_t)n);
    nb_solve_upper(NB_PLAIN, r, dv + 1, upper, sums);
    for (int i = 0; i < r; i++)
        for (int l = 0; l <= dv; l++) x->v[l + i * (dv + 1)] = (nb_scalar)sums[i + l * r];
    return NB_OK;
}

static void find_ranges(const nb_layer_shape *s, const nb_scalar *v, const coreset *x)
{
    size_t dv = (size_t)s->dv;
    memcpy(x->low, v, dv * sizeof *v);
    memcpy(x->high, v, dv * sizeof *v);
    for (size_t i = 1; i < (size_t)s->n; i++)
        for (size_t l = 0; l < dv; l++) {
            x->low[l] = v[i * dv + l] < x->low[l] ? v[i * dv + l] : x->low[l];
            x->high[l] = v[i * dv + l] > x->high[l] ? v[i * dv + l] : x->high[l];
        }
}

static nb_status compress(const work *w, int head, gsl_rng *rng, coreset *x, nb_ctx *ctx)
{
    const nb_layer_shape *s = w->pass->shape;
    int n = s->n, d = s->d, *pivots;
    double *mean;
    nb_head h;
    nb_similarity kernel;
    nb_cholesky c;
    NB_TRY(ctx, nb_layer_head_double(w->pass->layer, head, &h, ctx));
    NB_NEED(mean, nb_alloc_reals(ctx, (size_t)d, 1));
    NB_NEED(pivots, nb_alloc(ctx, (size_t)w->o->keys, sizeof *pivots));
    /* K less its mean, by the temperature */
    for (size_t i = 0; i < (size_t)n; i++) nb_add((size_t)d, h.k + i * (size_t)d, mean);
    nb_scale((size_t)d, -1.0 / n, mean);
    for (size_t i = 0; i < (size_t)n; i++) nb_add((size_t)d, mean, h.k + i * (size_t)d);
    nb_count_multiplications(d);
    nb_scale((size_t)n * (size_t)d, 1 / temperature_of(d, n, longest(d, n, h.k), longest(d, n, h.q)), h.k);
    nb_count_multiplications((double)n * d);
    NB_TRY(ctx, nb_similarity_init(&kernel, NB_EXP, NAN, n, d, h.k, ctx));
    NB_TRY(ctx, draw_pivots(&kernel, w->o->keys, rng, &c, pivots, ctx));
    x->count = c.rank;
    nb_scalar_gather(d, nb_layer_head_of(w->pass->layer, NULL, head).k, x->count, pivots, x->k);
    return weigh_values(&c, pivots, &h, x, ctx);
}

/* Every head's draws are the same, so that they do not depend on its place. */
static void compress_head(void *self, int task, int thread)
{
    const work *w = self;
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    coreset *x = &w->state->heads[task];
    room *r = &w->state->rooms[thread];
    nb_stream stream = w->pass->stream;
    stream.role = "keys";
    nb_random_seed(r->rng, &stream);
    find_ranges(w->pass->shape, nb_layer_head_of(w->pass->layer, NULL, task).v, x);
    x->count = 0;
    x->status = compress(w, task, r->rng, x, ctx);
    nb_error_clear(ctx);
    nb_ctx_release(ctx, 0);
}

/* out (dv) <- sums (dv + 1) by their last one, within the values' range. */
static void divide(const coreset *x, size_t dv, const nb_scalar *sums, nb_scalar *out)
{
    nb_scalar factor = sums[dv] > least_sum ? 1 / sums[dv] : 0;
    for (size_t l = 0; l < dv; l++) {
        nb_scalar y = factor * sums[l];
        out[l] = y < x->low[l] ? x->low[l] : y > x->high[l] ? x->high[l] : y;
    }
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->pass->shape;
    int blocks = nb_blocks(s->n, NB_BLOCK_QUERIES), at = task % blocks * NB_BLOCK_QUERIES;
    int count = nb_lesser(s->n - at, NB_BLOCK_QUERIES);
    size_t dv = (size_t)s->dv;
    const coreset *x = &w->state->heads[task / blocks];
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / blocks);
    room *r = &w->state->rooms[thread];
    nb_scalar *out = h.out + (size_t)at * dv;
    if (x->status != NB_OK) {
        for (size_t i = 0; i < (size_t)count * dv; i++) out[i] = NAN;
        return;
    }
    nb_softmax_begin(&r->softmax, count, h.q + (size_t)at * (size_t)s->d, r->out);
    nb_softmax_add(&r->softmax, x->count, x->k, x->v, NULL);
    nb_softmax_end(&r->softmax, NULL);
    for (size_t i = 0; i < (size_t)count; i++) divide(x, dv, r->out + i * (dv + 1), out + i * dv);
    nb_count_multiplications((double)count * s->dv);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    return nb_keys_refusal(((const wildcat_options *)opts)->keys, s, why, ctx);
}

static size_t head_scalars(const wildcat_options *o, const nb_layer_shape *s)
{
    return (size_t)o->keys * ((size_t)s->d + (size_t)s->dv + 1) + 2 * (size_t)s->dv;
}

static size_t room_scalars(const nb_layer_shape *s)
{
    return ((size_t)s->dv + 1) * NB_BLOCK_QUERIES;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    const wildcat_options *o = opts;
    int heads = nb_layer_heads(s);
    wildcat_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->heads, nb_alloc(ctx, (size_t)heads, sizeof *state->heads));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < heads; i++) {
        coreset *x = &state->heads[i];
        NB_NEED(x->k, nb_alloc_scalars(ctx, head_scalars(o, s)));
        x->v = x->k + (size_t)o->keys * (size_t)s->d;
        x->low = x->v + (size_t)o->keys * ((size_t)s->dv + 1);
        x->high = x->low + s->dv;
    }
    for (int i = 0; i < threads; i++) {
        room *r = &state->rooms[i];
        NB_NEED(r->out, nb_alloc_scalars(ctx, room_scalars(s)));
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv + 1, nb_tile_of(o->keys), &r->softmax, ctx));
        NB_TRY(ctx, nb_random_new(&r->rng, ctx));
    }
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.o = opts, .pass = pass, .state = pass->state};
    nb_stage stages[] = {{.per_head = 1, .task = compress_head},
                         {.per_head = nb_blocks(s->n, NB_BLOCK_QUERIES), .task = attend}};
    NB_TRY(ctx, nb_team_run_stages(pass->team, nb_layer_heads(s), 2, stages, &w, ctx));
    for (int i = 0; i < nb_layer_heads(s); i++) {
        nb_status status = w.state->heads[i].status;
        NB_REQUIRE(ctx, status == NB_OK || status == NB_ENUMERIC, status, "head %d: the coreset was not drawn", i);
        if (status == NB_ENUMERIC) pass->diverged = "the kernel of the keys is not finite";
    }
    nb_pass_parts(pass,
                  (double[NB_PART_COUNT]){[NB_PART_LANDMARKS] = stages[0].busy_s, [NB_PART_F] = stages[1].busy_s});
    return NB_OK;
}

/* If the coreset is full. */
static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const wildcat_options *o = opts;
    double n = s->n, d = s->d, dv = s->dv, keys = o->keys, heads = nb_layer_heads(s);
    double coreset_work = n * d * (keys + 5) + d + n * keys * ((keys - 1) / 2 + 2 + dv) + (dv + 1) * keys * keys / 2;
    return (nb_attention_cost){
        .multiplications = heads * (coreset_work + nb_softmax_work(n, keys, d, dv + 1) + n * dv),
        .bytes = sizeof(wildcat_state) + heads * (sizeof(coreset) + sizeof(nb_scalar) * (double)head_scalars(o, s)) +
                 threads * (sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(s) +
                            nb_softmax_bytes(s->d, s->dv + 1, nb_tile_of(o->keys)) - sizeof(nb_softmax))};
}

static const char *const references[] = {
    "Schroeder & Mackey, WildCat: near-linear attention in theory and practice, 2026, arXiv:2602.10056",
    "Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky, Comm. Pure Appl. Math. 78, 2025, arXiv:2207.06503",
    NULL};

const nb_attention nb_attention_wildcat = {
    .component = {"wildcat", "softmax over a weighted coreset of keys, drawn by pivoted Cholesky (WildCat)", references,
                  options, sizeof(wildcat_options)},
    .traits = NB_ATTENTION_RANDOM,
    .size = "keys",
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "As in the authors' code, in one bin: keys from their mean, the temperature of the paper's bound (newer\n"
        "versions of the code have a constant in its place), outputs kept within the range of the values. The coreset\n"
        "and its weights are computed in double precision, there in single. Where the keys' kernel is of lower rank\n"
        "to rounding, the coreset is smaller.",
};
