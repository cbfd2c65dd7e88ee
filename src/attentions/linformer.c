/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linformer.c - softmax(Q'K~/sqrt d) over m projected keys and values, K~ = K E and V~ = V E for an E (n x m) that all
 * heads share.
 *
 * n m (2 d + 2 dv) multiplications a head where E is Gaussian; means of segments take n m (d + dv) and hardly more. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <gsl/gsl_randist.h>
#include <math.h>

enum { RANDOM, POOLED };
static const char *const projections[] = {[RANDOM] = "random", [POOLED] = "pooled", NULL};

typedef struct {
    int landmarks, projection;
} linformer_options;

static const nb_option options[] = {
    NB_INT(linformer_options, landmarks, "256", 1, 1 << 30, "projected keys, the paper's k; at most n"),
    NB_ENUM(linformer_options, projection, "random", projections,
            "random: independent entries N(0, 1/k), as in the paper's proof, the same in every pass; pooled: means of "
            "k segments of n/k tokens"),
    NB_OPTION_END};

typedef struct {
    nb_scalar *k, *v;    /* d x m and dv x m for each key head */
    nb_scalar *e;        /* n x m; pooled: NULL */
    gsl_rng *rng;        /* pooled: NULL */
    nb_softmax *softmax; /* one for each thread */
} linformer_state;

typedef struct {
    nb_pass *pass;
    const linformer_state *state;
    int m;
} work;

enum { COLUMNS = 64 }; /* projected keys of a task */

static void draw_projection(const nb_pass *pass, int m)
{
    linformer_state *state = pass->state;
    size_t size = (size_t)pass->layer->shape.n * (size_t)m;
    nb_stream stream = pass->stream;
    stream.role = "projection";
    stream.m = m;
    nb_random_seed(state->rng, &stream);
    for (size_t i = 0; i < size; i++) state->e[i] = (nb_scalar)(gsl_ran_gaussian_ziggurat(state->rng, 1) / sqrt(m));
}

/* Columns first ... of x E for x (d x n). */
static void project(const work *w, int d, const nb_scalar *x, int first, int count, nb_scalar *out)
{
    int n = w->pass->layer->shape.n;
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, d, count, n, 1, x, d, w->state->e + (size_t)first * (size_t)n, n, 0, out, d);
}

/* Means of segments first ... of the columns of x. */
static void pool(const work *w, int d, const nb_scalar *x, int first, int count, nb_scalar *out)
{
    int64_t n = w->pass->layer->shape.n;
    nb_count_multiplications((double)count * d);
    for (int j = 0; j < count; j++) {
        int64_t at = (first + j) * n / w->m, end = (first + j + 1) * n / w->m;
        nb_scalar *mean = out + (size_t)j * (size_t)d;
        for (int l = 0; l < d; l++) mean[l] = 0;
        for (int64_t i = at; i < end; i++) nb_scalar_add((size_t)d, 1, x + (size_t)i * (size_t)d, mean);
        nb_scalar_scale((size_t)d, 1 / (nb_scalar)(end - at), mean);
    }
}

static void project_keys(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    int each = nb_blocks(w->m, COLUMNS), side = task % 2, first = task / 2 % each * COLUMNS;
    int d = side ? s->dv : s->d, count = nb_lesser(w->m - first, COLUMNS);
    size_t head = (size_t)(task / 2 / each), own = (size_t)d * (size_t)s->n;
    const nb_scalar *x = (side ? w->pass->layer->v : w->pass->layer->k) + head * own;
    nb_scalar *out = (side ? w->state->v : w->state->k) + (head * (size_t)w->m + (size_t)first) * (size_t)d;
    (void)thread;
    (w->state->e ? project : pool)(w, d, x, first, count, out);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    int each = nb_blocks(s->n, NB_BLOCK_QUERIES), first = task % each * NB_BLOCK_QUERIES;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / each);
    size_t projected = (size_t)nb_layer_key_head(s, task / each) * (size_t)w->m;
    nb_softmax *softmax = &w->state->softmax[thread];
    nb_softmax_begin(softmax, nb_lesser(s->n - first, NB_BLOCK_QUERIES), h.q + (size_t)first * (size_t)s->d,
                     h.out + (size_t)first * (size_t)s->dv);
    nb_softmax_add(softmax, w->m, w->state->k + projected * (size_t)s->d, w->state->v + projected * (size_t)s->dv,
                   NULL);
    nb_softmax_end(softmax, NULL);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    const linformer_options *o = opts;
    if (o->landmarks > s->n)
        NB_NEED(*why, nb_format(ctx, "%d projected keys of n = %d tokens are more than the keys", o->landmarks, s->n));
    return NB_OK;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    const linformer_options *o = opts;
    size_t m = (size_t)o->landmarks, columns = (size_t)s->batch * (size_t)s->key_heads * m;
    int tile = nb_tile_of(o->landmarks);
    linformer_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->k, nb_alloc_scalars(ctx, columns * (size_t)s->d));
    NB_NEED(state->v, nb_alloc_scalars(ctx, columns * (size_t)s->dv));
    NB_NEED(state->softmax, nb_alloc(ctx, (size_t)threads, sizeof *state->softmax));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, nb_softmax_new(s->d, s->dv, tile, &state->softmax[i], ctx));
    *out = state;
    if (o->projection == POOLED) return NB_OK;
    NB_NEED(state->e, nb_alloc_scalars(ctx, (size_t)s->n * m));
    return nb_random_new(&state->rng, ctx);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const linformer_options *o = opts;
    const nb_layer_shape *s = &pass->layer->shape;
    work w = {.pass = pass, .state = pass->state, .m = o->landmarks};
    (void)ctx;
    if (w.state->e && pass->index == 0) draw_projection(pass, w.m);
    nb_pass_part(pass, NB_PART_LANDMARKS);
    nb_team_run(pass->team, nb_layer_key_heads(s) * nb_blocks(w.m, COLUMNS) * 2, project_keys, &w);
    nb_pass_part(pass, NB_PART_B);
    nb_team_run(pass->team, nb_layer_heads(s) * nb_blocks(s->n, NB_BLOCK_QUERIES), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const linformer_options *o = opts;
    double m = o->landmarks, n = s->n, columns = (double)s->batch * s->key_heads * m * (s->d + s->dv);
    bool random = o->projection == RANDOM;
    return (nb_attention_cost){.multiplications =
                                   columns * (random ? n : 1) + nb_layer_heads(s) * nb_softmax_work(n, m, s->d, s->dv),
                               .bytes = sizeof(linformer_state) + sizeof(nb_scalar) * (columns + (random ? n * m : 0)) +
                                        threads * nb_softmax_bytes(s->d, s->dv, nb_tile_of(o->landmarks))};
}

static unsigned traits_of(const void *opts)
{
    const linformer_options *o = opts;
    return NB_ATTENTION_UNTRAINED | (o->projection == RANDOM ? NB_ATTENTION_RANDOM : 0);
}

static int passes_per_choice(const void *opts)
{
    const linformer_options *o = opts;
    return o->projection == RANDOM ? INT_MAX : 1;
}

static const char *const references[] = {
    "Wang, Li, Khabsa, Fang & Ma, Linformer: self-attention with linear complexity, 2020, arXiv:2006.04768", NULL};

const nb_attention nb_attention_linformer = {
    .component = {"linformer", "softmax over keys and values that are projected along the sequence", references,
                  options, sizeof(linformer_options)},
    .traits = NB_ATTENTION_UNTRAINED | NB_ATTENTION_RANDOM,
    .traits_of = traits_of,
    .size = "landmarks",
    .passes_per_choice = passes_per_choice,
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Linformer trains its projections with the model; here they are drawn, or means of segments. Keys and values\n"
        "have the same one, and all heads and inputs (the paper's headwise and key-value sharing). With as many\n"
        "segments as tokens pooled is exact attention; random is not for any number, since the softmax is taken of\n"
        "projected keys.",
};
