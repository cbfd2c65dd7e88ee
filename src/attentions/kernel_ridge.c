/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge.c - exact outputs at k queries, interpolated to all others by kernel ridge regression on softmax
 * features of m key landmarks, over a prior from clusters of keys. Of each head:
 *
 * 1. Rows. Some queries are drawn and clustered by k-means++ and one Lloyd iteration: centres C, sizes w (mean 1).
 *    R = softmax(C K'/sqrt d), O = R V; attention received r = w'R/k.
 * 2. Sample. Keys by systematic sampling with inclusion probability pi_j = min(1, c (r_j/2 + 1/(2n))).
 * 3. Landmarks. k-means++ and two Lloyd iterations of these keys with weights p_j = n r_j/pi_j: centres L. Of cluster
 *    c, b_c = ln(sum of 1/pi_j), and the prior Y0_c is the mean of V with weights p. Features of a query are
 *    f(q) = softmax(q'L/sqrt d + b); F has those of C as columns. Once, b_c += ln(r's share in c / (F w)_c).
 * 4. Ridge. With D = diag(1/(F w)), M = F'DF + lambda t diag(1/w), t the weighted mean of the diagonal of F'DF, and
 *    T = O - F'Y0, the output of a query is f(q)'(Y0 + D F M^-1 T). Of 0.1, 0.01 ... leave-one-out chooses lambda: row
 *    i is off by (M^-1 T)_i/(M^-1)_ii where it is left out.
 *
 * (k + m) n (d + dv) multiplications a head, and what does not depend on n.
 *
 * With near keys N(i) of each query i (near.h) the landmarks stand for the others alone:
 *
 * 1. A centre has the place of the token nearest to it. R loses the near keys of its own query in r.
 * 2. A landmark's keys are all that are nearest to it, of all n; n_c(i) of these are not near to query i. With
 *    Z(i) = sum over c of n_c(i) e^(q_i'L_c/sqrt d + b_c) + sum over N(i) of e^(q_i'k_j/sqrt d),
 *    f_c(i) = n_c(i) e^(q_i'L_c/sqrt d + b_c)/Z(i), and the output of the near keys is
 *    N_i = sum over N(i) of e^(q_i'k_j/sqrt d) v_j/Z(i). b begins at 0 and is corrected twice, by the attention that
 *    the exact rows give to a landmark's keys where these are not near.
 * 3. T = O - N - F'Y0, and the output of a query is N_i + f(i)'(Y0 + D F M^-1 T).
 *
 * n (k + 2m) d + n (near keys) (d + dv) multiplications more. near=auto takes the landmarks of near=window, fits each
 * kind of near keys and has the one that leave-one-out finds best. */
#include "attentions/attention.h"

#include "base/clock.h"
#include "layers/exact.h"
#include "layers/near.h"
#include "linalg/kernel_ridge.h"
#include "linalg/kmeans.h"
#include "linalg/vector.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RIDGES = 8 };

typedef struct {
    int landmarks, rows, queries, keys, init, batches, sampling, weighted, counts, mass, prior, normalised, ridges;
    int near, window, top, grid;
    double ridge;
} kernel_ridge_options;

enum { BY_RECEIVED, UNIFORM };
static const char *const samplings[] = {[BY_RECEIVED] = "received", [UNIFORM] = "uniform", NULL};

enum { NEAR_NONE, NEAR_WINDOW, NEAR_TOP, NEAR_BOTH, NEAR_AUTO, NEAR_KINDS = NEAR_AUTO };
static const char *const nears[] = {[NEAR_NONE] = "none", [NEAR_WINDOW] = "window", [NEAR_TOP] = "top",
                                    [NEAR_BOTH] = "both", [NEAR_AUTO] = "auto",     NULL};

static const nb_option options[] = {
    NB_INT(kernel_ridge_options, landmarks, "192", 1, 1 << 15, "key landmarks, m; at most the keys that are sampled"),
    NB_INT_OR(kernel_ridge_options, rows, "auto", "auto", 1, 1 << 15,
              "exact queries, k; at most the queries that are sampled; auto: 5/12 of the landmarks"),
    NB_INT_OR(kernel_ridge_options, queries, "auto", "auto", 1, 1 << 30,
              "queries drawn, whose centres are the exact ones; auto: 64/5 times the rows, at most n"),
    NB_INT_OR(kernel_ridge_options, keys, "auto", "auto", 1, 1 << 30,
              "keys sampled, whose centres are the landmarks; auto: 32/3 times the landmarks, at most n"),
    NB_ENUM(kernel_ridge_options, init, "plusplus", nb_kmeans_inits, "first centres of both, see kmeans"),
    NB_INT_FOR(kernel_ridge_options, batches, "init", "plusplus", "6", 0, 1000,
               "draws of these, each of several centres at a time; 0: one by one"),
    NB_ENUM(kernel_ridge_options, sampling, "received", samplings,
            "of keys, in proportion to the mean of 1/n and the attention received, or all alike"),
    NB_BOOL(kernel_ridge_options, weighted, "true", "cluster keys with the attention received as their weight"),
    NB_BOOL(kernel_ridge_options, counts, "true", "add the logarithm of a cluster's number of keys to its logits"),
    NB_BOOL(kernel_ridge_options, mass, "true",
            "correct these logits so that clusters receive what their keys receive from the exact queries"),
    NB_BOOL(kernel_ridge_options, prior, "true", "regress what the clusters' mean values leave of the exact outputs"),
    NB_BOOL(kernel_ridge_options, normalised, "true", "divide each feature's kernel by its mean over the queries"),
    NB_REAL_OR(kernel_ridge_options, ridge, "loo", "loo", 1e-8, 1e6,
               "the penalty, over the kernel's mean diagonal; loo: leave-one-out chooses it"),
    NB_INT_FOR(kernel_ridge_options, ridges, "ridge", "loo", "4", 1, MOST_RIDGES,
               "how many it chooses among: 10^-1, 10^-2 ... 10^-ridges"),
    NB_OPTION_FIELD(kernel_ridge_options, near, NB_OPTION_ENUM, int, "none",
                    "keys to which a query attends itself: those in a window around it, the top keys, which its "
                    "cluster's exact row gives most, or both; landmarks stand for the others; auto: for each head the "
                    "kind that leave-one-out finds best",
                    .choices = nears, .newer = true),
    NB_OPTION_FIELD(
        kernel_ridge_options, window, NB_OPTION_INT, int, "auto",
        "keys around a query, besides its own, that are near: half of them, rounded down, on each side of its "
        "block of 32 queries; on a grid, the largest square of them; auto: 32",
        .lo = 0, .hi = NB_UNLIMITED, .word = "auto", .newer = true),
    NB_OPTION_FIELD(kernel_ridge_options, top, NB_OPTION_INT, int, "auto",
                    "keys of a cluster of queries that are near; at most n; auto: 32", .lo = 1, .hi = 1 << 30,
                    .word = "auto", .newer = true),
    NB_OPTION_FIELD(
        kernel_ridge_options, grid, NB_OPTION_INT, int, "none",
        "columns of an image whose patches are the last tokens, row by row: the window is around blocks of 8 x "
        "8 patches; auto: of the largest square; none: tokens are a row",
        .lo = 2, .hi = 1 << 20, .word = "none", .second = "auto", .newer = true),
    NB_OPTION_END};

enum { GROUPS = 96 }; /* exact queries of a task, at most */
enum { USUAL_NEAR = 32, MOST_BEFORE = 8 };
static const double least_received = 1e-9, feature_floor = 1e-4, least_far = 1e-12, kind_tie = 0.05;

/* These sizes follow from options and shape. */
typedef struct {
    const kernel_ridge_options *o;
    const nb_layer_shape *shape;
    int k, m, queries, keys, ridges, groups;
    bool with_near;
    int kinds;             /* of near keys that a head chooses from; 1: there is no choice */
    int top;               /* 0: none */
    nb_neighbourhood near; /* whether there is a window, and the blocks */
} plan;

/* A head's. */
typedef struct {
    nb_scalar *centres, *outputs; /* d x k; dv x k */
    nb_scalar *received;          /* n x groups of rows x kinds: weighted sums of a group's rows of S */
    nb_scalar *landmarks,
        *values;    /* d x m; behind it (dv + 1) x m: e^b_c times what a query gets of cluster c, and e^b_c */
    double *weight; /* k */
    /* These are used with near keys alone. */
    int *tokens;              /* k: those nearest to the centres, for a window */
    int *strongest;           /* top x k */
    int *group, *counts;      /* n, m: each key's landmark, and how many keys each has */
    int *owner, *order;       /* n: each query's nearest centre; the queries by these */
    nb_scalar *bias;          /* m; the values are then dv x m */
    nb_scalar *largest, *sum; /* n */
    int kind;                 /* of near keys */
    double select_s;
    bool diverged;
    nb_status status;
    char reason[200];
} head_state;

/* A thread's. */
typedef struct {
    nb_scalar *rows; /* n x GROUPS */
    nb_scalar *out;  /* (dv + 1) x NB_BLOCK_QUERIES */
    nb_softmax softmax;
    nb_near_room near; /* in their place */
    size_t *strongest; /* top */
} room;

typedef struct {
    head_state *heads;
    room *rooms;
} kernel_ridge_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const kernel_ridge_state *state;
} work;

/* Returns how many points are sampled for so many centres. */
static int sample_size(int asked, double each, int centres, int n)
{
    return (int)fmin(asked == NB_AUTO ? ceil(each * centres) : asked, n);
}

static bool has_window(int kind)
{
    return kind == NEAR_WINDOW || kind == NEAR_BOTH || kind == NEAR_AUTO;
}

static bool has_top(int kind)
{
    return kind == NEAR_TOP || kind == NEAR_BOTH || kind == NEAR_AUTO;
}

/* The plan of a head with this kind of near keys. */
static plan plan_with(const plan *of, int kind)
{
    plan p = *of;
    p.near.window = has_window(kind);
    if (!has_top(kind)) p.top = 0;
    return p;
}

/* Tokens of a square image, or 0, and those before it. */
static int square_side(int n)
{
    int side = (int)sqrt(n);
    while (side * side > n) side--;
    while ((side + 1) * (side + 1) <= n) side++;
    return n - side * side <= MOST_BEFORE ? side : 0;
}

static void plan_near(const kernel_ridge_options *o, int n, plan *p)
{
    int window = o->window == NB_AUTO ? USUAL_NEAR : o->window;
    p->with_near = o->near != NEAR_NONE;
    p->kinds = o->near == NEAR_AUTO ? NEAR_KINDS : 1;
    if (has_top(o->near)) p->top = nb_lesser(o->top == NB_AUTO ? USUAL_NEAR : o->top, n);
    p->near = (nb_neighbourhood){.n = n, .window = has_window(o->near)};
    p->near.reach = nb_lesser(window / 2, n);
    if (o->grid == NB_AUTO) return;
    p->near.columns = o->grid == NB_SECOND ? square_side(n) : o->grid;
    if (p->near.columns == 0) return; /* refused */
    p->near.rows = n / p->near.columns;
    p->near.before = o->grid == NB_SECOND ? n - p->near.columns * p->near.columns : n % p->near.columns;
    if (o->grid == NB_SECOND) p->near.rows = p->near.columns;
    p->near.reach = nb_lesser((int)((sqrt(window + 1.0) - 1) / 2), n);
}

static plan plan_of(const void *opts, const nb_layer_shape *s)
{
    const kernel_ridge_options *o = opts;
    plan p = {.o = o, .shape = s, .m = o->landmarks, .k = o->rows};
    if (o->rows == NB_AUTO) p.k = (int)ceil(5 * o->landmarks / 12.0);
    p.queries = sample_size(o->queries, 64 / 5.0, p.k, s->n);
    p.keys = sample_size(o->keys, 32 / 3.0, p.m, s->n);
    p.ridges = isnan(o->ridge) ? o->ridges : 1;
    p.groups = nb_blocks(p.k, GROUPS);
    plan_near(o, s->n, &p);
    return p;
}

/* Every head's draws are the same, so that they do not depend on its place. */
static nb_status seed(const work *w, const char *role, int m, gsl_rng **rng, nb_ctx *ctx)
{
    nb_stream stream = w->pass->stream;
    stream.role = role;
    stream.m = m;
    NB_TRY(ctx, nb_random_new(rng, ctx));
    nb_random_seed(*rng, &stream);
    return NB_OK;
}

static nb_status gather(int d, const nb_scalar *x, int count, const int *from, double **out, nb_ctx *ctx)
{
    NB_NEED(*out, nb_alloc_raw(ctx, (size_t)d * (size_t)count));
    for (int i = 0; i < count; i++)
        nb_scalar_to_double((size_t)d, x + (size_t)from[i] * (size_t)d, *out + (size_t)i * (size_t)d);
    return NB_OK;
}

static nb_status choose_rows(const work *w, const nb_scalar *q, head_state *h, nb_ctx *ctx)
{
    const plan *p = &w->plan;
    nb_kmeans_how how = {.init = p->o->init, .batches = p->o->batches, .restarts = 1, .iterations = 1};
    int n = p->shape->n, d = p->shape->d, *all, *drawn;
    nb_clusters clusters;
    gsl_rng *rng;
    double *x;
    NB_NEED(all, nb_alloc(ctx, (size_t)n, sizeof *all));
    NB_NEED(drawn, nb_alloc(ctx, (size_t)p->queries, sizeof *drawn));
    NB_TRY(ctx, seed(w, "queries", p->k, &rng, ctx));
    for (int i = 0; i < n; i++) all[i] = i;
    gsl_ran_choose(rng, drawn, (size_t)p->queries, all, (size_t)n, sizeof *all);
    NB_TRY(ctx, gather(d, q, p->queries, drawn, &x, ctx));
    NB_TRY(ctx, nb_kmeans(d, p->queries, x, p->k, &how, rng, &clusters, ctx));
    nb_scalar_of((size_t)d * (size_t)p->k, clusters.centres, h->centres);
    if (p->near.window) {
        NB_TRY(ctx, nb_clusters_nearest(&clusters, h->tokens, ctx));
        for (int i = 0; i < p->k; i++) h->tokens[i] = drawn[h->tokens[i]];
    }
    for (int i = 0; i < p->k; i++) h->weight[i] = (double)clusters.size[i] * p->k / p->queries;
    return NB_OK;
}

typedef nb_status head_part(const work *w, const nb_layer_head *points, head_state *h, room *r, nb_ctx *ctx);

/* One of a head's parts, in the thread's memory; what fails is told later, and ends the head's. */
static void run_part(const work *w, int head, int thread, head_part *part)
{
    if (w->state->heads[head].status != NB_OK) return;
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    nb_mark mark = nb_ctx_mark(ctx);
    head_state *h = &w->state->heads[head];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    h->status = part(w, &points, h, &w->state->rooms[thread], ctx);
    if (h->status != NB_OK) {
        snprintf(h->reason, sizeof h->reason, "%s", nb_error_message(ctx));
        nb_error_clear(ctx);
    }
    nb_ctx_release(ctx, mark);
}

static nb_status find_rows(const work *w, const nb_layer_head *points, head_state *h, room *r, nb_ctx *ctx)
{
    (void)r;
    return choose_rows(w, points->q, h, ctx);
}

static void group_queries(void *self, int head, int thread)
{
    run_part(self, head, thread, find_rows);
}

static int block_of(const plan *p, const head_state *h, int i)
{
    return p->near.window ? nb_near_block_of(&p->near, h->tokens[i]) : 0;
}

static nb_scalar *received_of(const plan *p, const head_state *h, int kind, int group)
{
    return h->received + (size_t)(kind * p->groups + group) * (size_t)p->shape->n;
}

static void find_strongest(const plan *p, head_state *h, int i, const nb_scalar *row, room *r)
{
    int *strongest = h->strongest + (size_t)i * (size_t)p->top;
    nb_scalar_largest_indices((size_t)p->top, (size_t)p->shape->n, row, r->strongest);
    for (int j = 0; j < p->top; j++) strongest[j] = (int)r->strongest[j];
}

/* Sets the near keys of row i of R to 0. */
static void leave_near(const plan *p, const head_state *h, int i, nb_scalar *row, room *r)
{
    const int *strongest = h->strongest + (size_t)i * (size_t)p->top;
    int keys = nb_near_keys(&p->near, block_of(p, h, i), r->near.keys);
    for (int j = 0; j < p->top; j++) row[strongest[j]] = 0;
    for (int j = 0; j < keys; j++) row[r->near.keys[j]] = 0;
}

/* Adds what keys that are not near receive from row i of R, for each kind of near keys. */
static void add_received(const plan *p, head_state *h, int group, int i, const nb_scalar *row, room *r)
{
    size_t n = (size_t)p->shape->n;
    nb_scalar *rest = r->rows + n * GROUPS;
    if (p->top > 0) find_strongest(p, h, i, row, r);
    for (int kind = 0; kind < p->kinds; kind++) {
        plan its = plan_with(p, p->kinds > 1 ? kind : p->o->near);
        if (p->with_near) {
            memcpy(rest, row, n * sizeof *rest);
            leave_near(&its, h, i, rest, r);
        }
        nb_scalar_add(n, (nb_scalar)h->weight[i], p->with_near ? rest : row, received_of(p, h, kind, group));
    }
}

/* Some rows of R, the outputs at them, and what keys receive from them. */
static void attend_rows(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    const nb_layer_shape *s = p->shape;
    int head = task / p->groups, group = task % p->groups, first = group * p->k / p->groups,
        count = (group + 1) * p->k / p->groups - first;
    size_t n = (size_t)s->n, at = (size_t)first;
    head_state *h = &w->state->heads[head];
    if (h->status != NB_OK) return;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    nb_scalar *rows = w->state->rooms[thread].rows;
    nb_exact_weights(s, count, h->centres + at * (size_t)s->d, points.k, rows);
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, count, s->n, 1, points.v, s->dv, rows, s->n, 0,
                   h->outputs + at * (size_t)s->dv, s->dv);
    nb_count_multiplications((double)count * s->n);
    for (int kind = 0; kind < p->kinds; kind++) memset(received_of(p, h, kind, group), 0, n * sizeof *rows);
    for (int i = 0; i < count; i++)
        add_received(p, h, group, first + i, rows + (size_t)i * n, &w->state->rooms[thread]);
}

/* The small systems of a head, in double precision. */
typedef struct {
    const plan *p;
    const head_state *head;
    double *received, far;      /* n: r; near keys: divided by its sum */
    int *kept;                  /* keys: that are sampled */
    double *inverse, *weight;   /* keys: 1/pi, p */
    nb_clusters clusters;       /* of these keys */
    double *bias, *mean;        /* m: b, F w */
    double *values;             /* dv x m: Y0, then what is regressed is added */
    double *softmax, *features; /* m x k: of L'C, F */
    double *beside, *share;     /* k: weight of the near keys beside these, and its part of the sum */
    double *outputs;            /* dv x k: mean value of the near keys, weighted */
    double *residuals, *dual;   /* k x dv: T, M^-1 T */
    double *gram, *inverted;    /* k x k: F'DF, M^-1 */
    double error;               /* of the exact outputs, each left out, squared */
} middle;

static nb_status middle_new(const plan *p, const head_state *h, middle *x, nb_ctx *ctx)
{
    size_t n = (size_t)p->shape->n, dv = (size_t)p->shape->dv, k = (size_t)p->k, m = (size_t)p->m,
           keys = (size_t)p->keys;
    *x = (middle){.p = p, .head = h};
    NB_NEED(x->received, nb_alloc_reals(ctx, n, 1));
    NB_NEED(x->kept, nb_alloc(ctx, keys, sizeof *x->kept));
    NB_NEED(x->inverse, nb_alloc_raw(ctx, 2 * keys));
    x->weight = x->inverse + keys;
    NB_NEED(x->bias, nb_alloc_reals(ctx, 2 + dv, m));
    x->mean = x->bias + m;
    x->values = x->mean + m;
    NB_NEED(x->softmax, nb_alloc_raw(ctx, 2 * m * k));
    x->features = x->softmax + m * k;
    NB_NEED(x->beside, nb_alloc_reals(ctx, 2 + dv, k));
    x->share = x->beside + k;
    x->outputs = x->share + k;
    NB_NEED(x->residuals, nb_alloc_raw(ctx, 2 * k * dv));
    x->dual = x->residuals + k * dv;
    NB_NEED(x->gram, nb_alloc_raw(ctx, 2 * k * k));
    x->inverted = x->gram + k * k;
    return NB_OK;
}

/* pi (n) <- min(1, c share) with the sum `count`, from the shares. */
static void find_inclusion(int n, int count, double *pi)
{
    for (bool more = true; more;) {
        double rest = 0;
        int full = 0;
        for (int j = 0; j < n; j++) {
            if (pi[j] > 1) pi[j] = 1;
            if (pi[j] < 1) rest += pi[j];
            full += pi[j] == 1;
        }
        double factor = (count - full) / rest;
        more = false;
        for (int j = 0; j < n; j++) {
            if (pi[j] < 1) pi[j] *= factor;
            more = more || pi[j] > 1;
        }
    }
}

/* The keys at which the running sum of pi passes u, u + 1 ..., as many as are asked for. */
static void sample(int n, int count, const double *pi, double u, int *kept)
{
    double sum = 0;
    for (int j = 0, taken = 0; taken < count; j++) {
        sum += pi[j];
        if (sum > u + taken || n - j == count - taken) kept[taken++] = j;
    }
}

/* Divides what keys that are not near receive by their sum, *far. */
static void normalise(size_t n, double *received, double *far)
{
    *far = 0;
    for (size_t j = 0; j < n; j++) *far += received[j] += least_far;
    nb_scale(n, 1 / *far, received);
}

/* Averages over the rows of R what keys receive beside this kind of near keys. */
static void find_received(middle *x, int kind)
{
    const plan *p = x->p;
    int n = p->shape->n;
    for (int j = 0; j < n; j++) {
        x->received[j] = 0;
        for (int g = 0; g < p->groups; g++)
            x->received[j] += (double)received_of(p, x->head, p->kinds > 1 ? kind : 0, g)[j] / p->k;
    }
    if (p->with_near) normalise((size_t)n, x->received, &x->far);
}

/* Keys by what they receive, and their weights. */
static nb_status sample_keys(middle *x, gsl_rng *rng, nb_ctx *ctx)
{
    const plan *p = x->p;
    size_t n = (size_t)p->shape->n;
    double *pi;
    NB_NEED(pi, nb_alloc_raw(ctx, n));
    for (size_t j = 0; j < n; j++) {
        double share = p->o->sampling == UNIFORM ? 1.0 / p->shape->n : x->received[j] / 2 + 0.5 / p->shape->n;
        pi[j] = p->keys < p->shape->n ? p->keys * share : 1;
    }
    if (p->keys < p->shape->n) find_inclusion(p->shape->n, p->keys, pi);
    sample(p->shape->n, p->keys, pi, gsl_rng_uniform(rng), x->kept);
    for (int i = 0; i < p->keys; i++) {
        double weight = p->o->weighted ? fmax(p->shape->n * x->received[x->kept[i]], least_received) : 1;
        x->inverse[i] = 1 / pi[x->kept[i]];
        x->weight[i] = weight * x->inverse[i];
    }
    return NB_OK;
}

static nb_status place_landmarks(const work *w, const nb_scalar *k, head_state *h, middle *x, nb_ctx *ctx)
{
    const plan *p = x->p;
    nb_kmeans_how how = {
        .init = p->o->init, .batches = p->o->batches, .restarts = 1, .iterations = 2, .weights = x->weight};
    double *keys;
    gsl_rng *rng;
    NB_TRY(ctx, seed(w, "keys", p->m, &rng, ctx));
    NB_TRY(ctx, sample_keys(x, rng, ctx));
    NB_TRY(ctx, gather(p->shape->d, k, p->keys, x->kept, &keys, ctx));
    NB_TRY(ctx, nb_kmeans(p->shape->d, p->keys, keys, p->m, &how, rng, &x->clusters, ctx));
    nb_scalar_of((size_t)p->shape->d * (size_t)p->m, x->clusters.centres, h->landmarks);
    return NB_OK;
}

/* Finds b, what the clusters' keys receive (m), and Y0. */
static nb_status find_prior(const nb_scalar *v, middle *x, double **mass, nb_ctx *ctx)
{
    const plan *p = x->p;
    size_t dv = (size_t)p->shape->dv, m = (size_t)p->m;
    double *weight, *value, total = 0;
    NB_NEED(weight, nb_alloc_reals(ctx, m, 1));
    NB_NEED(value, nb_alloc_raw(ctx, dv));
    NB_NEED(*mass, nb_alloc_reals(ctx, m, 1));
    memset(x->bias, 0, m * sizeof *x->bias);
    memset(x->values, 0, m * dv * sizeof *x->values);
    for (int i = 0; i < p->keys; i++) {
        int c = x->clusters.group[i], key = x->kept[i];
        double received = x->received[key] * x->inverse[i];
        x->bias[c] += x->inverse[i];
        (*mass)[c] += received;
        total += received;
        weight[c] += x->weight[i];
        nb_scalar_to_double(dv, v + (size_t)key * dv, value);
        nb_add_scaled(dv, x->weight[i], value, x->values + (size_t)c * dv);
    }
    for (size_t j = 0; p->with_near && j < m; j++) (*mass)[j] = 0;
    for (int j = 0; p->with_near && j < p->shape->n; j++) (*mass)[x->head->group[j]] += x->received[j];
    if (p->with_near) total = 1 / x->far;
    for (size_t c = 0; c < m; c++) {
        x->bias[c] = p->o->counts && !p->with_near ? log(x->bias[c]) : 0;
        (*mass)[c] /= total;
        nb_scale(dv, p->o->prior ? 1 / weight[c] : 0, x->values + c * dv);
    }
    return NB_OK;
}

static int corrections(const plan *p)
{
    return !p->o->mass ? 0 : p->with_near ? 2 : 1;
}

static nb_far far_of(const plan *p, const head_state *h)
{
    return (nb_far){.m = p->m,
                    .landmarks = h->landmarks,
                    .values = h->values,
                    .bias = h->bias,
                    .group = h->group,
                    .counts = h->counts,
                    .top = p->top,
                    .k = p->k,
                    .owner = h->owner,
                    .strongest = h->strongest,
                    .order = h->order};
}

/* Finds F and F w from b. */
static void find_features(middle *x)
{
    int k = x->p->k, m = x->p->m;
    memcpy(x->features, x->softmax, (size_t)m * (size_t)k * sizeof *x->features);
    if (x->p->with_near) memcpy(x->share, x->beside, (size_t)k * sizeof *x->share);
    nb_reweigh(m, k, x->bias, x->features, x->p->with_near ? x->share : NULL);
    nb_gemv(NB_PLAIN, m, k, 1.0 / k, x->features, m, x->head->weight, 0, x->mean);
}

/* Weighs landmarks and near keys for exact query i by one softmax: `logits` (m), those of its landmarks, become f
 * without b; x->beside[i] is the weight of the near keys, with f 1 in all, and column i of x->outputs their output. */
static nb_status weigh_near(middle *x, const nb_layer_head *points, int i, double *logits, const double *q,
                            nb_near_room *r, nb_ctx *ctx)
{
    const plan *p = x->p;
    nb_far far = far_of(p, x->head);
    size_t dv = (size_t)p->shape->dv, m = (size_t)p->m;
    nb_mark mark = nb_ctx_mark(ctx);
    int count = nb_near_list(&p->near, &far, block_of(p, x->head, i), i, r);
    double *keys, *values, *weights, largest = -INFINITY, *output = x->outputs + (size_t)i * dv, all, near;
    NB_TRY(ctx, gather(p->shape->d, points->k, count, r->keys, &keys, ctx));
    NB_TRY(ctx, gather(p->shape->dv, points->v, count, r->keys, &values, ctx));
    NB_NEED(weights, nb_alloc_reals(ctx, (size_t)count, 1));
    if (count > 0) nb_gemv(NB_TRANSPOSED, p->shape->d, count, 1 / sqrt(p->shape->d), keys, p->shape->d, q, 0, weights);
    for (size_t c = 0; c < m; c++) logits[c] = r->left[c] > 0 ? logits[c] + log(r->left[c]) : -INFINITY;
    largest = nb_largest(m, logits);
    if (count > 0) largest = fmax(largest, nb_largest((size_t)count, weights));
    near = count > 0 ? nb_exp_sum((size_t)count, weights, largest) : 0;
    all = near + nb_exp_sum(m, logits, largest);
    nb_scale(m, 1 / all, logits);
    x->beside[i] = near / all;
    if (near > 0) nb_gemv(NB_PLAIN, p->shape->dv, count, 1 / near, values, p->shape->dv, weights, 0, output);
    nb_near_forget(r, count);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status make_features(const nb_layer_head *points, const head_state *h, const double *mass, middle *x, room *r,
                               nb_ctx *ctx)
{
    const plan *p = x->p;
    size_t d = (size_t)p->shape->d, m = (size_t)p->m, k = (size_t)p->k;
    double *landmarks, *centres;
    NB_NEED(landmarks, nb_alloc_raw(ctx, d * m));
    NB_NEED(centres, nb_alloc_raw(ctx, d * k));
    nb_scalar_to_double(d * m, h->landmarks, landmarks);
    nb_scalar_to_double(d * k, h->centres, centres);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, p->m, p->k, p->shape->d, 1 / sqrt(p->shape->d), landmarks, p->shape->d, centres,
            p->shape->d, 0, x->softmax, p->m);
    for (int i = 0; p->with_near && i < p->k; i++)
        NB_TRY(ctx, weigh_near(x, points, i, x->softmax + (size_t)i * m, centres + (size_t)i * d, &r->near, ctx));
    for (size_t i = 0; !p->with_near && i < k; i++)
        nb_scale(m, 1 / nb_exp_sum(m, x->softmax + i * m, nb_largest(m, x->softmax + i * m)), x->softmax + i * m);
    find_features(x);
    for (int i = 0; i < corrections(p); i++) {
        nb_correct_bias(p->m, mass, x->mean, x->bias);
        find_features(x);
    }
    return NB_OK;
}

/* Makes T = O - F'Y0, and F <- sqrt(D) F with F'DF. */
static nb_status make_kernel(middle *x, nb_ctx *ctx)
{
    const plan *p = x->p;
    int dv = p->shape->dv, k = p->k, m = p->m;
    double *rest;
    NB_NEED(rest, nb_alloc_raw(ctx, (size_t)dv * (size_t)k));
    nb_scalar_to_double((size_t)dv * (size_t)k, x->head->outputs, rest);
    for (int i = 0; p->with_near && i < k; i++)
        nb_add_scaled((size_t)dv, -x->share[i], x->outputs + (size_t)i * (size_t)dv, rest + (size_t)i * (size_t)dv);
    nb_gemm(NB_PLAIN, NB_PLAIN, dv, k, m, -1, x->values, dv, x->features, m, 1, rest, dv);
    nb_transpose(dv, k, rest, x->residuals);
    for (int c = 0; c < m; c++) x->mean[c] = p->o->normalised ? 1 / sqrt(fmax(x->mean[c], feature_floor / m)) : 1;
    for (size_t i = 0; i < (size_t)k; i++)
        for (size_t c = 0; c < (size_t)m; c++) x->features[i * (size_t)m + c] *= x->mean[c];
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, k, k, m, 1, x->features, m, x->features, m, 0, x->gram, k);
    return NB_OK;
}

/* Chooses the ridge and computes M^-1 T. */
static nb_status choose_ridge(middle *x, nb_ctx *ctx)
{
    const kernel_ridge_options *o = x->p->o;
    double penalties[MOST_RIDGES];
    for (int i = 0; i < x->p->ridges; i++) penalties[i] = isnan(o->ridge) ? pow(10, -i - 1) : o->ridge;
    return nb_kernel_ridge(x->p->k, x->gram, x->head->weight, x->p->shape->dv, x->residuals, x->p->ridges, penalties,
                           x->inverted, x->dual, &x->error, ctx);
}

/* Makes Y0 + D F M^-1 T. Without near keys, times e^b, and e^b, which divides what they sum to. */
static nb_status make_values(head_state *h, middle *x, nb_ctx *ctx)
{
    int dv = x->p->shape->dv, k = x->p->k, m = x->p->m, each = x->p->with_near ? dv : dv + 1;
    double *added, largest = nb_largest((size_t)m, x->bias);
    NB_NEED(added, nb_alloc_raw(ctx, (size_t)dv * (size_t)m));
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, dv, m, k, 1, x->dual, k, x->features, m, 0, added, dv);
    for (int c = 0; c < m; c++) {
        nb_scalar *to = h->values + (size_t)c * (size_t)each;
        size_t from = (size_t)c * (size_t)dv;
        double factor = x->p->with_near ? 1 : exp(x->bias[c] - largest);
        for (int l = 0; l < dv; l++)
            to[l] = (nb_scalar)(factor * (x->values[from + (size_t)l] + x->mean[c] * added[from + (size_t)l]));
        if (x->p->with_near)
            h->bias[c] = (nb_scalar)x->bias[c];
        else
            to[dv] = (nb_scalar)factor;
    }
    return NB_OK;
}

/* Loops of a head beside products, its inverses and what k-means does. */
static double loop_work(const plan *p)
{
    double n = p->shape->n, dv = p->shape->dv, k = p->k, m = p->m, keys = p->keys;
    return 2 * k + n + keys * (4 + dv) + m * (3 + 3 * dv) + (2 + corrections(p)) * m * k + p->ridges * 3 * k * dv +
           (p->with_near ? k * dv : 0);
}

/* group (n) <- the nearest of the centres (d x count) of each point. */
static nb_status assign(const plan *p, const nb_scalar *points, int count, const nb_scalar *centres, int *group,
                        nb_ctx *ctx)
{
    enum { AT_ONCE = 1024 };
    size_t d = (size_t)p->shape->d;
    nb_mark mark = nb_ctx_mark(ctx);
    double *x, *c;
    NB_NEED(c, nb_alloc_raw(ctx, d * (size_t)count));
    NB_NEED(x, nb_alloc_raw(ctx, d * AT_ONCE));
    nb_scalar_to_double(d * (size_t)count, centres, c);
    for (int first = 0; first < p->shape->n; first += AT_ONCE) {
        int some = nb_lesser(AT_ONCE, p->shape->n - first);
        nb_scalar_to_double(d * (size_t)some, points + (size_t)first * d, x);
        NB_TRY(ctx, nb_nearest_centres(p->shape->d, some, x, count, c, group + first, ctx));
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Puts the queries in the order of their clusters. */
static nb_status order_queries(const plan *p, head_state *h, nb_ctx *ctx)
{
    int n = p->shape->n, *next;
    NB_NEED(next, nb_alloc(ctx, (size_t)p->k + 1, sizeof *next));
    for (int i = 0; i < n; i++) next[h->owner[i] + 1]++;
    for (int g = 0; g < p->k; g++) next[g + 1] += next[g];
    for (int i = 0; i < n; i++) h->order[next[h->owner[i]]++] = i;
    return NB_OK;
}

static nb_status find_groups(const plan *p, const nb_layer_head *points, head_state *h, nb_ctx *ctx)
{
    NB_TRY(ctx, assign(p, points->k, p->m, h->landmarks, h->group, ctx));
    memset(h->counts, 0, (size_t)p->m * sizeof *h->counts);
    for (int j = 0; j < p->shape->n; j++) h->counts[h->group[j]]++;
    if (p->top == 0) return NB_OK;
    NB_TRY(ctx, assign(p, points->q, p->k, h->centres, h->owner, ctx));
    return order_queries(p, h, ctx);
}

static nb_status fit(const nb_layer_head *points, head_state *h, middle *x, room *r, nb_ctx *ctx)
{
    double *mass;
    NB_TRY(ctx, find_prior(points->v, x, &mass, ctx));
    NB_TRY(ctx, make_features(points, h, mass, x, r, ctx));
    NB_TRY(ctx, make_kernel(x, ctx));
    return choose_ridge(x, ctx);
}

/* Sets h->kind to the kind of near keys with the least error where each exact output is left out. The landmarks at hand
 * serve all kinds. Near ties go to the first of the order; the last has its keys from the rows that are left out. */
static nb_status choose_kind(const work *w, const nb_layer_head *points, plan *own, head_state *h, middle *x, room *r,
                             nb_ctx *ctx)
{
    static const int order[NEAR_KINDS] = {NEAR_NONE, NEAR_WINDOW, NEAR_BOTH, NEAR_TOP};
    double error[NEAR_KINDS], least = INFINITY;
    for (int kind = 0; kind < NEAR_KINDS; kind++) {
        *own = plan_with(&w->plan, kind);
        find_received(x, kind);
        NB_TRY(ctx, fit(points, h, x, r, ctx));
        error[kind] = sqrt(x->error);
        least = fmin(least, error[kind]);
    }
    for (int i = NEAR_KINDS - 1; i >= 0; i--)
        if (error[order[i]] <= (1 + kind_tie) * least) h->kind = order[i];
    *own = plan_with(&w->plan, h->kind);
    find_received(x, h->kind);
    return NB_OK;
}

static nb_status interpolate(const work *w, const nb_layer_head *points, head_state *h, room *r, nb_ctx *ctx)
{
    double start_s = nb_clock_s();
    middle x;
    h->select_s = 0;
    h->diverged = !nb_scalars_finite((size_t)w->plan.k * (size_t)w->plan.shape->dv, h->outputs);
    if (h->diverged) { /* the outputs become NaN whatever these are */
        memset(h->landmarks, 0,
               (size_t)(w->plan.shape->d + w->plan.shape->dv + 1) * (size_t)w->plan.m * sizeof *h->landmarks);
        return NB_OK;
    }
    plan own = w->plan;
    bool chosen = own.kinds > 1;
    h->kind = chosen ? NEAR_WINDOW : own.o->near;
    NB_TRY(ctx, middle_new(&own, h, &x, ctx));
    find_received(&x, h->kind);
    NB_TRY(ctx, place_landmarks(w, points->k, h, &x, ctx));
    if (own.with_near) NB_TRY(ctx, find_groups(&own, points, h, ctx));
    h->select_s = nb_clock_s() - start_s;
    if (chosen) NB_TRY(ctx, choose_kind(w, points, &own, h, &x, r, ctx));
    NB_TRY(ctx, fit(points, h, &x, r, ctx));
    NB_TRY(ctx, make_values(h, &x, ctx));
    nb_count_multiplications(loop_work(&w->plan));
    return NB_OK;
}

static void interpolate_head(void *self, int head, int thread)
{
    run_part(self, head, thread, interpolate);
}

static void answer(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->plan.shape;
    int each = nb_blocks(s->n, NB_BLOCK_QUERIES), head = task / each, first = task % each * NB_BLOCK_QUERIES,
        count = nb_lesser(s->n - first, NB_BLOCK_QUERIES);
    size_t dv = (size_t)s->dv;
    const head_state *h = &w->state->heads[head];
    if (h->status != NB_OK) return;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    room *r = &w->state->rooms[thread];
    nb_softmax_begin(&r->softmax, count, points.q + (size_t)first * (size_t)s->d, r->out);
    nb_softmax_add(&r->softmax, w->plan.m, h->landmarks, h->values, NULL);
    nb_softmax_store(&r->softmax);
    nb_count_multiplications((double)count * s->dv);
    for (size_t i = 0; i < (size_t)count; i++) {
        const nb_scalar *from = r->out + i * (dv + 1);
        nb_scalar *to = points.out + ((size_t)first + i) * dv;
        memcpy(to, from, dv * sizeof *to);
        nb_scalar_scale(dv, h->diverged ? NAN : 1 / from[dv], to);
    }
}

static void answer_near(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    int each = nb_near_blocks(&p->near), head = task / each;
    const head_state *h = &w->state->heads[head];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    if (h->status != NB_OK) return;
    if (h->diverged) {
        int queries[NB_NEAR_QUERIES], count = nb_near_queries(&p->near, task % each, queries);
        for (int i = 0; i < count; i++)
            for (int l = 0; l < p->shape->dv; l++)
                points.out[(size_t)queries[i] * (size_t)p->shape->dv + (size_t)l] = NAN;
        return;
    }
    plan own = plan_with(p, h->kind);
    nb_far far = far_of(&own, h);
    nb_near_answer(&own.near, &far, &points, task % each, h->largest, h->sum, &w->state->rooms[thread].near);
}

static void answer_strongest(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    int n = p->shape->n, each = nb_blocks(n, NB_BLOCK_QUERIES), head = task / each,
        first = task % each * NB_BLOCK_QUERIES;
    const head_state *h = &w->state->heads[head];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    nb_far far = far_of(p, h);
    if (h->status != NB_OK || h->diverged || !has_top(h->kind)) return;
    nb_near_add_strongest(&far, &points, first, nb_lesser(n - first, NB_BLOCK_QUERIES), h->largest, h->sum,
                          &w->state->rooms[thread].near);
}

/* Refuses options that contradict the kind of near keys. */
static nb_status check(const void *opts, nb_ctx *ctx)
{
    const kernel_ridge_options *o = opts;
    bool window = has_window(o->near), top = has_top(o->near);
    NB_REQUIRE(ctx, window || o->window == NB_AUTO, NB_EINVAL,
               "kernel_ridge(near=%s, window=%d): near=window, both and auto have a window", nears[o->near], o->window);
    NB_REQUIRE(ctx, window || o->grid == NB_AUTO, NB_EINVAL,
               "kernel_ridge(near=%s, grid): near=window, both and auto have a window, which a grid shapes",
               nears[o->near]);
    NB_REQUIRE(ctx, top || o->top == NB_AUTO, NB_EINVAL,
               "kernel_ridge(near=%s, top=%d): near=top, both and auto have top keys", nears[o->near], o->top);
    NB_REQUIRE(ctx, o->near == NEAR_NONE || o->counts, NB_EINVAL,
               "kernel_ridge(near=%s, counts=false): near keys are taken out of the counts; leave one of them",
               nears[o->near]);
    return NB_OK;
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    if (p.k > p.queries)
        NB_NEED(*why, nb_format(ctx, "rows = %d, and %d of n = %d queries are sampled", p.k, p.queries, s->n));
    else if (p.m > p.keys)
        NB_NEED(*why, nb_format(ctx, "landmarks = %d, and %d of n = %d keys are sampled", p.m, p.keys, s->n));
    else if (p.o->grid == NB_SECOND && p.near.columns == 0)
        NB_NEED(*why, nb_format(ctx, "grid = auto, and n = %d is not a square and up to %d tokens before it", s->n,
                                MOST_BEFORE));
    else if (p.near.columns > s->n)
        NB_NEED(*why, nb_format(ctx, "grid = %d columns, and there are %d tokens", p.near.columns, s->n));
    return NB_OK;
}

/* Scalars of a head, and of a thread beside its softmax. */
static double head_scalars(const plan *p)
{
    double n = p->shape->n, d = p->shape->d, dv = p->shape->dv;
    return (d + dv) * p->k + n * p->groups * p->kinds + (d + dv + 1) * p->m + (p->top > 0 ? 2 * n : 0);
}

static double head_integers(const plan *p)
{
    double n = p->shape->n;
    return p->with_near ? p->k + n + p->m + (p->top > 0 ? (double)p->top * p->k + 2 * n : 0) : 0;
}

static double room_scalars(const plan *p)
{
    return (double)p->shape->n * (GROUPS + (p->with_near ? 1 : 0)) +
           (p->with_near ? 0 : (p->shape->dv + 1.0) * NB_BLOCK_QUERIES);
}

/* Counts the bytes of a thread's softmax. */
static double softmax_bytes(const plan *p)
{
    const nb_layer_shape *s = p->shape;
    if (p->with_near) return nb_near_room_bytes(&p->near, s, p->m, p->top) + p->top * (double)sizeof(size_t);
    return nb_softmax_bytes(s->d, s->dv + 1, nb_lesser(p->m, NB_TILE_KEYS)) - sizeof(nb_softmax);
}

static nb_status open_room(const plan *p, room *r, nb_ctx *ctx)
{
    const nb_layer_shape *s = p->shape;
    NB_NEED(r->rows, nb_alloc_scalars(ctx, (size_t)room_scalars(p)));
    r->out = r->rows + (size_t)s->n * GROUPS;
    if (!p->with_near) return nb_softmax_new(s->d, s->dv + 1, nb_lesser(p->m, NB_TILE_KEYS), &r->softmax, ctx);
    if (p->top > 0) NB_NEED(r->strongest, nb_alloc(ctx, (size_t)p->top, sizeof *r->strongest));
    return nb_near_room_new(&p->near, s, p->m, p->top, &r->near, ctx);
}

static nb_status open_near(const plan *p, head_state *h, nb_ctx *ctx)
{
    size_t n = (size_t)p->shape->n, k = (size_t)p->k, m = (size_t)p->m;
    h->bias = h->values + (size_t)p->shape->dv * m;
    h->largest = h->received + n * (size_t)(p->groups * p->kinds);
    h->sum = h->largest + (p->top > 0 ? n : 0);
    NB_NEED(h->tokens, nb_alloc(ctx, (size_t)head_integers(p), sizeof *h->tokens));
    h->counts = h->tokens + k;
    h->group = h->counts + m;
    h->owner = h->group + n;
    h->order = h->owner + (p->top > 0 ? n : 0);
    h->strongest = h->order + (p->top > 0 ? n : 0);
    return NB_OK;
}

static nb_status open_head(const plan *p, head_state *h, nb_ctx *ctx)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, k = (size_t)p->k, m = (size_t)p->m;
    NB_NEED(h->centres, nb_alloc_scalars(ctx, (size_t)head_scalars(p)));
    h->outputs = h->centres + d * k;
    h->landmarks = h->outputs + dv * k;
    h->values = h->landmarks + d * m;
    h->received = h->values + (dv + 1) * m;
    NB_NEED(h->weight, nb_alloc_raw(ctx, k));
    if (p->with_near) NB_TRY(ctx, open_near(p, h, ctx));
    return NB_OK;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    kernel_ridge_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->heads, nb_alloc(ctx, (size_t)nb_layer_heads(s), sizeof *state->heads));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int h = 0; h < nb_layer_heads(s); h++) NB_TRY(ctx, open_head(&p, &state->heads[h], ctx));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    enum { GROUP, ROWS, INTERPOLATE, ANSWER, STRONGEST, STAGES };
    int heads = nb_layer_heads(s);
    work w = {.plan = plan_of(opts, s), .pass = pass, .state = pass->state};
    nb_stage stages[STAGES] = {[GROUP] = {.per_head = 1, .task = group_queries},
                               [ROWS] = {.per_head = w.plan.groups, .task = attend_rows},
                               [INTERPOLATE] = {.per_head = 1, .task = interpolate_head},
                               [ANSWER] = {.per_head = nb_blocks(s->n, NB_BLOCK_QUERIES), .task = answer},
                               [STRONGEST] = {.per_head = nb_blocks(s->n, NB_BLOCK_QUERIES), .task = answer_strongest}};
    double select_s = 0;
    if (w.plan.with_near) stages[ANSWER] = (nb_stage){.per_head = nb_near_blocks(&w.plan.near), .task = answer_near};
    for (int i = 0; i < heads; i++) w.state->heads[i].status = NB_OK;
    NB_TRY(ctx, nb_team_run_stages(pass->team, heads, w.plan.top > 0 ? STAGES : STRONGEST, stages, &w, ctx));
    for (int i = 0; i < heads; i++) {
        const head_state *h = &w.state->heads[i];
        NB_REQUIRE(ctx, h->status == NB_OK, h->status, "head %d: %s", i, h->reason);
        select_s += h->select_s;
        if (h->diverged) pass->diverged = "the outputs at the exact queries are not finite";
    }
    nb_pass_parts(pass, (double[NB_PART_COUNT]){[NB_PART_LANDMARKS] = stages[GROUP].busy_s + select_s,
                                                [NB_PART_B] = stages[ROWS].busy_s,
                                                [NB_PART_CORE] = stages[INTERPOLATE].busy_s - select_s,
                                                [NB_PART_F] = stages[ANSWER].busy_s + stages[STRONGEST].busy_s});
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double n = s->n, d = s->d, dv = s->dv, k = p.k, m = p.m, heads = nb_layer_heads(s);
    double rows = nb_softmax_work(k, n, d, dv) + k * n, output = nb_softmax_work(n, m, d, dv + 1) + n * dv;
    if (p.with_near) output = nb_near_work(&p.near, s, p.m, p.top) + n * d * (m + (p.top > 0 ? k : 0));
    double products = m * k * (d + 1 + corrections(&p) + 2 * dv + k) + p.ridges * k * k * dv;
    double inverses = p.ridges * floor(0.5 * k * k * k + 0.5);
    return (nb_attention_cost){
        .multiplications = p.kinds > 1 ? NAN : heads * (rows + products + inverses + loop_work(&p) + output),
        .bytes = sizeof(kernel_ridge_state) +
                 threads * (sizeof(room) + room_scalars(&p) * sizeof(nb_scalar) + softmax_bytes(&p)) +
                 heads * (sizeof(head_state) + head_scalars(&p) * sizeof(nb_scalar) + k * sizeof(double) +
                          head_integers(&p) * sizeof(int))};
}

static const char *const references[] = {
    "Saunders, Gammerman & Vovk, Ridge regression learning algorithm in dual variables, ICML 1998",
    "Allen, The relationship between variable selection and data augmentation and a method for prediction, "
    "Technometrics 16, 1974 (leave-one-out)",
    "Vyas, Katharopoulos & Fleuret, Fast transformers with clustered attention, NeurIPS 2020, arXiv:2007.04825 (exact "
    "rows at centres of queries)",
    "Chen, Zeng, Ji & Yang, Sketching as a tool for understanding and accelerating self-attention for long sequences, "
    "NAACL 2022, arXiv:2112.05359 (Skeinformer: keys sampled by what exact rows give them)",
    NULL};

const nb_attention nb_attention_kernel_ridge = {
    .component = {"kernel_ridge", "exact outputs at some queries, interpolated by kernel ridge regression", references,
                  options, sizeof(kernel_ridge_options)},
    .traits = NB_ATTENTION_RANDOM,
    .size = "landmarks",
    .check = check,
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Outputs at a few queries, the centres of clusters, are computed exactly; those of all queries are\n"
        "interpolated by ridge regression. Its features are softmax weights of key landmarks, and its prior mean is\n"
        "attention to clusters of keys. Leave-one-out chooses the ridge of each head. init, sampling, weighted,\n"
        "counts, mass, prior and normalised each switch off one part, for an ablation. With as many landmarks as keys\n"
        "it is exact. Every pass clusters anew, from the same draws for all heads. The multiplications of clustering\n"
        "are counted, but are not in the cost that is predicted.\n"
        "With near keys (near=window, top or both) each query attends to these exactly, and landmarks stand for the\n"
        "others alone. A head that looks near, as most do in text and speech, needs them; where heads look far they\n"
        "cost more than they win.",
};
