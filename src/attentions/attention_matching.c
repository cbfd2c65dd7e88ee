/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention_matching.c - Attention Matching: a few of the keys stand for all, with a bias and a value each that are
 * fitted to exact outputs. Of each head:
 *
 * 1. Exact logits z_ij, weights and outputs y_i of some queries i, drawn without replacement: the reference queries.
 * 2. The keys c with the largest sum of squared weights stay.
 * 3. w minimises the sum over i of (sum_c w_c exp(z_ic) - sum_j exp(z_ij))^2, each i divided by its largest exp(z_ij):
 *    least squares, kept within exp(-3) ... exp(3), and two steps of projected gradient descent from there.
 * 4. u minimises the sum over i of |sum_c x_ic u_c - y_i|^2, x_i = softmax over c of z_ic + ln w_c.
 * 5. Every query's output is the softmax over c of q'k_c/sqrt d + ln w_c, times u.
 *
 * (queries + keys) n (d + dv) multiplications a head, and two singular value decompositions, queries x keys. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

typedef struct {
    int keys, queries;
    double rcond;
} matching_options;

static const nb_option options[] = {
    NB_INT(matching_options, keys, "64", 1, 1 << 20, "keys that stay"),
    NB_INT_OR(matching_options, queries, "auto", "auto", 1, 1 << 20,
              "reference queries, at most n; auto: four times as many as keys, or n"),
    NB_REAL(matching_options, rcond, "1e-06", 0, 1,
            "singular values up to rcond times the largest count as 0 in least squares"),
    NB_OPTION_END};

enum { GROUP = 32, STEPS = 2 }; /* rows of S at a time; of gradient descent */
static const double most_bias = 3;

typedef struct {
    const nb_layer_shape *shape;
    int keys, queries;
    double rcond;
} plan;

/* The keys and values that stand for a head's own. */
typedef struct {
    nb_scalar *k, *v, *bias; /* d x keys, dv x keys, NB_BLOCK_QUERIES x keys: the same for each query */
    nb_status status;
    bool diverged;
} head_state;

/* A thread's. */
typedef struct {
    nb_scalar *q, *rows;        /* d x queries; n x GROUP: exact rows of S */
    nb_scalar *outputs;         /* dv x queries: y */
    nb_scalar *z;               /* keys x queries */
    nb_scalar *score;           /* n */
    double *squares;            /* n */
    double *largest, *sum;      /* queries: of logits; of exp(logit - largest) */
    int *drawn, *tokens, *kept; /* queries; n: 0, 1 ...; keys */
    size_t *order;              /* keys */
    nb_softmax softmax;
    gsl_rng *rng;
} room;

typedef struct {
    head_state *heads;
    room *rooms;
} matching_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const matching_state *state;
} work;

static plan plan_of(const matching_options *o, const nb_layer_shape *s)
{
    int queries = o->queries == NB_AUTO ? 4 * o->keys : o->queries;
    return (plan){.shape = s, .keys = o->keys, .queries = nb_lesser(queries, s->n), .rcond = o->rcond};
}

/* Step 1, some queries at a time, and the sums of squared weights. */
static void find_weights(const plan *p, const nb_layer_head *h, const room *r)
{
    int n = p->shape->n, d = p->shape->d, dv = p->shape->dv;
    memset(r->squares, 0, (size_t)n * sizeof *r->squares);
    nb_scalar_gather(d, h->q, p->queries, r->drawn, r->q);
    for (int at = 0; at < p->queries; at += GROUP) {
        int count = nb_lesser(p->queries - at, GROUP);
        /* z_ij = q_i'k_j/sqrt d: a column of n for each i */
        nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, n, count, d, 1 / sqrt(d), h->k, d, r->q + (size_t)at * (size_t)d, d, 0,
                       r->rows, n);
        /* Weights exp(z_ij - largest_i)/sum_i in their place; the squares are summed over i */
        for (int i = 0; i < count; i++) {
            nb_scalar *row = r->rows + (size_t)i * (size_t)n, largest = nb_scalar_largest((size_t)n, row);
            nb_scalar sum = nb_scalar_exp_sum((size_t)n, row, largest);
            nb_scalar_scale((size_t)n, 1 / sum, row);
            for (int j = 0; j < n; j++) r->squares[j] += (double)row[j] * (double)row[j];
            r->largest[at + i] = (double)largest;
            r->sum[at + i] = (double)sum;
        }
        /* y_i */
        nb_scalar_gemm(NB_PLAIN, NB_PLAIN, dv, count, n, 1, h->v, dv, r->rows, n, 0,
                       r->outputs + (size_t)at * (size_t)dv, dv);
    }
    nb_count_multiplications(2.0 * p->queries * n);
}

/* x (cols x columns) <- of what minimises |a x - y| the least, a rows x cols. *norm: a's largest singular value. */
static nb_status solve_least_squares(int rows, int cols, const double *a, double rcond, int columns, const double *y,
                                     double *x, double *norm, nb_ctx *ctx)
{
    int rank = nb_lesser(rows, cols);
    double *u, *s, *vt, *p;
    NB_NEED(u, nb_alloc_reals(ctx, (size_t)rows, (size_t)rank));
    NB_NEED(s, nb_alloc_reals(ctx, (size_t)rank, 1));
    NB_NEED(vt, nb_alloc_reals(ctx, (size_t)rank, (size_t)cols));
    NB_NEED(p, nb_alloc_reals(ctx, (size_t)rank, (size_t)columns));
    NB_TRY(ctx, nb_svd(rows, cols, a, u, s, vt, ctx));
    /* With a = U diag(s) V': x = V diag(1/s) U'y, 1/s = 0 for s up to rcond s_1 */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, rank, columns, rows, 1, u, rows, y, rows, 0, p, rank);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rank; i++) p[i + j * rank] = s[i] > rcond * s[0] ? p[i + j * rank] / s[i] : 0;
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, cols, columns, rank, 1, vt, rank, p, rank, 0, x, cols);
    *norm = s[0];
    return NB_OK;
}

static void clamp_weights(int count, double *w)
{
    for (int c = 0; c < count; c++) w[c] = fmin(fmax(w[c], exp(-most_bias)), exp(most_bias));
}

/* bias (keys) <- ln w of step 3. a: queries x keys, is set. */
static nb_status fit_bias(const plan *p, const room *r, double *a, double *bias, nb_ctx *ctx)
{
    int rows = p->queries, cols = p->keys;
    double *rest, *gradient, norm;
    NB_NEED(rest, nb_alloc_reals(ctx, (size_t)rows, 1));
    NB_NEED(gradient, nb_alloc_reals(ctx, (size_t)cols, 1));
    /* w minimises |a w - sum|: a_ic = exp(z_ic - largest_i), sum_i = sum_j exp(z_ij - largest_i) */
    for (int i = 0; i < rows; i++)
        for (int c = 0; c < cols; c++) a[i + c * rows] = exp((double)r->z[c + i * cols] - r->largest[i]);
    NB_TRY(ctx, solve_least_squares(rows, cols, a, p->rcond, 1, r->sum, bias, &norm, ctx));
    clamp_weights(cols, bias);
    /* w <- w - a'(a w - sum)/|a|_2^2, kept within the bounds */
    for (int step = 0; step < STEPS && norm > 0; step++) {
        memcpy(rest, r->sum, (size_t)rows * sizeof *rest);
        nb_gemv(NB_PLAIN, rows, cols, 1, a, rows, bias, -1, rest);
        nb_gemv(NB_TRANSPOSED, rows, cols, 1 / (norm * norm), a, rows, rest, 0, gradient);
        for (int c = 0; c < cols; c++) bias[c] -= gradient[c];
        clamp_weights(cols, bias);
    }
    for (int c = 0; c < cols; c++) bias[c] = log(bias[c]);
    return NB_OK;
}

/* x->v <- u of step 4. a: queries x keys, is set. */
static nb_status fit_values(const plan *p, const room *r, const double *bias, double *a, const head_state *x,
                            nb_ctx *ctx)
{
    int rows = p->queries, cols = p->keys, dv = p->shape->dv;
    double *y, *u, norm;
    NB_NEED(y, nb_alloc_reals(ctx, (size_t)rows, (size_t)dv));
    NB_NEED(u, nb_alloc_reals(ctx, (size_t)cols, (size_t)dv));
    /* Row i of a: x_i, the softmax over c of z_ic + ln w_c; of y: y_i */
    for (int i = 0; i < rows; i++) {
        double largest = -INFINITY, sum = 0;
        for (int c = 0; c < cols; c++) largest = fmax(largest, (double)r->z[c + i * cols] + bias[c]);
        for (int c = 0; c < cols; c++) sum += a[i + c * rows] = exp((double)r->z[c + i * cols] + bias[c] - largest);
        for (int c = 0; c < cols; c++) a[i + c * rows] /= sum;
        for (int l = 0; l < dv; l++) y[i + l * rows] = (double)r->outputs[l + i * dv];
    }
    NB_TRY(ctx, solve_least_squares(rows, cols, a, p->rcond, dv, y, u, &norm, ctx));
    for (int c = 0; c < cols; c++) {
        for (int l = 0; l < dv; l++) x->v[l + c * dv] = (nb_scalar)u[c + l * cols];
        for (int i = 0; i < NB_BLOCK_QUERIES; i++) x->bias[c * NB_BLOCK_QUERIES + i] = (nb_scalar)bias[c];
    }
    return NB_OK;
}

static nb_status fit(const plan *p, const room *r, const head_state *x, nb_ctx *ctx)
{
    double *a, *bias;
    NB_NEED(a, nb_alloc_reals(ctx, (size_t)p->queries, (size_t)p->keys));
    NB_NEED(bias, nb_alloc_reals(ctx, (size_t)p->keys, 1));
    NB_TRY(ctx, fit_bias(p, r, a, bias, ctx));
    return fit_values(p, r, bias, a, x, ctx);
}

/* Every head's draws are the same, so that they do not depend on its place. */
static void fit_head(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    int n = p->shape->n, d = p->shape->d;
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    nb_layer_head h = nb_layer_head_of(w->pass->layer, NULL, task);
    room *r = &w->state->rooms[thread];
    head_state *x = &w->state->heads[task];
    nb_stream stream = w->pass->stream;
    stream.role = "queries";
    nb_random_seed(r->rng, &stream);
    gsl_ran_choose(r->rng, r->drawn, (size_t)p->queries, r->tokens, (size_t)n, sizeof *r->tokens);
    find_weights(p, &h, r);
    /* Step 2, and the logits of the reference queries for these keys */
    nb_scalar_of((size_t)n, r->squares, r->score);
    nb_scalar_largest_indices((size_t)p->keys, (size_t)n, r->score, r->order);
    for (int c = 0; c < p->keys; c++) r->kept[c] = (int)r->order[c];
    nb_scalar_gather(d, h.k, p->keys, r->kept, x->k);
    nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, p->keys, p->queries, d, 1 / sqrt(d), x->k, d, r->q, d, 0, r->z, p->keys);
    /* Steps 3 and 4 */
    x->diverged = !nb_scalars_finite((size_t)p->queries * (size_t)p->shape->dv, r->outputs) ||
                  !nb_scalars_finite((size_t)p->queries * (size_t)p->keys, r->z);
    x->status = x->diverged ? NB_OK : fit(p, r, x, ctx);
    nb_error_clear(ctx);
    nb_ctx_release(ctx, 0);
}

static void answer(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->plan.shape;
    int blocks = nb_blocks(s->n, NB_BLOCK_QUERIES), at = task % blocks * NB_BLOCK_QUERIES;
    int count = nb_lesser(s->n - at, NB_BLOCK_QUERIES);
    const head_state *x = &w->state->heads[task / blocks];
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / blocks);
    nb_softmax *softmax = &w->state->rooms[thread].softmax;
    nb_scalar *out = h.out + (size_t)at * (size_t)s->dv;
    nb_mask mask = {.bias = x->bias, .bias_stride = NB_BLOCK_QUERIES};
    if (x->diverged || x->status != NB_OK) {
        for (int i = 0; i < count * s->dv; i++) out[i] = NAN;
        return;
    }
    nb_softmax_begin(softmax, count, h.q + (size_t)at * (size_t)s->d, out);
    nb_softmax_add(softmax, w->plan.keys, x->k, x->v, &mask);
    nb_softmax_end(softmax, NULL);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    return nb_keys_refusal(((const matching_options *)opts)->keys, s, why, ctx);
}

static size_t head_scalars(const plan *p)
{
    return (size_t)p->keys * ((size_t)p->shape->d + (size_t)p->shape->dv + NB_BLOCK_QUERIES);
}

static size_t room_scalars(const plan *p)
{
    size_t queries = (size_t)p->queries, each = (size_t)p->shape->d + (size_t)p->shape->dv + (size_t)p->keys;
    return queries * each + (size_t)p->shape->n * (GROUP + 1);
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    const nb_layer_shape *s = p->shape;
    size_t n = (size_t)s->n, queries = (size_t)p->queries, keys = (size_t)p->keys;
    NB_NEED(r->q, nb_alloc_scalars(ctx, room_scalars(p)));
    r->outputs = r->q + queries * (size_t)s->d;
    r->z = r->outputs + queries * (size_t)s->dv;
    r->rows = r->z + queries * keys;
    r->score = r->rows + n * GROUP;
    NB_NEED(r->squares, nb_alloc_raw(ctx, n + 2 * queries));
    r->largest = r->squares + n;
    r->sum = r->largest + queries;
    NB_NEED(r->drawn, nb_alloc(ctx, queries + n + keys, sizeof *r->drawn));
    r->tokens = r->drawn + queries;
    r->kept = r->tokens + n;
    for (int i = 0; i < s->n; i++) r->tokens[i] = i;
    NB_NEED(r->order, nb_alloc(ctx, keys, sizeof *r->order));
    NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(p->keys), &r->softmax, ctx));
    return nb_random_new(&r->rng, ctx);
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    int heads = nb_layer_heads(s);
    matching_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->heads, nb_alloc(ctx, (size_t)heads, sizeof *state->heads));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < heads; i++) {
        head_state *x = &state->heads[i];
        NB_NEED(x->k, nb_alloc_scalars(ctx, head_scalars(&p)));
        x->v = x->k + (size_t)p.keys * (size_t)s->d;
        x->bias = x->v + (size_t)p.keys * (size_t)s->dv;
    }
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.plan = plan_of(opts, s), .pass = pass, .state = pass->state};
    nb_stage stages[] = {{.per_head = 1, .task = fit_head},
                         {.per_head = nb_blocks(s->n, NB_BLOCK_QUERIES), .task = answer}};
    NB_TRY(ctx, nb_team_run_stages(pass->team, nb_layer_heads(s), 2, stages, &w, ctx));
    for (int i = 0; i < nb_layer_heads(s); i++) {
        const head_state *x = &w.state->heads[i];
        NB_REQUIRE(ctx, x->status == NB_OK, x->status, "head %d: least squares failed", i);
        if (x->diverged) pass->diverged = "the outputs of the reference queries are not finite";
    }
    nb_pass_parts(pass, (double[NB_PART_COUNT]){[NB_PART_CORE] = stages[0].busy_s, [NB_PART_F] = stages[1].busy_s});
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double n = s->n, d = s->d, dv = s->dv, queries = p.queries, keys = p.keys, heads = nb_layer_heads(s);
    double each = sizeof(room) + sizeof(nb_scalar) * (double)room_scalars(&p) + sizeof(double) * (n + 2 * queries) +
                  sizeof(int) * (queries + n + keys) + sizeof(size_t) * keys +
                  nb_softmax_bytes(s->d, s->dv, nb_tile_of(p.keys)) - sizeof(nb_softmax);
    return (nb_attention_cost){.multiplications =
                                   heads * (queries * (n * (d + dv + 2) + keys * d) + nb_softmax_work(n, keys, d, dv)),
                               .bytes = sizeof(matching_state) + threads * each +
                                        heads * (sizeof(head_state) + sizeof(nb_scalar) * (double)head_scalars(&p))};
}

static const char *const references[] = {
    "Zweiger, Fu, Guo & Kim, Fast KV compaction via attention matching, 2026, arXiv:2602.16284", NULL};

const nb_attention nb_attention_attention_matching = {
    .component = {"attention_matching",
                  "softmax over a few keys, with biases and values fitted to exact outputs (Attention Matching)",
                  references, options, sizeof(matching_options)},
    .traits = NB_ATTENTION_RANDOM,
    .size = "keys",
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "The paper compacts the cache of a prompt for later queries; here the layer's own queries are both reference\n"
        "and asked. Keys stay by highest attention (root mean square), and biases, bounds and values are found as in\n"
        "the authors' settings for that; their choice of keys by matching pursuit is not here. Each query head has\n"
        "keys of its own, where the paper's are those of a key head.",
};
