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
 * n (k + 2m) d + n (near keys) (d + dv) multiplications more. All kinds have the same draws.
 *
 * near=equal chooses for each head from none, a window and both (without top=0) by 16 of the exact rows, before there
 * are landmarks (layers/kernel_ridge_kind.h). With a window it has the most landmarks that cost no more than m and k
 * without near keys, and with both the most beside as many exact rows as with a window: n (k + m)(d + dv), and 3 m d
 * for each sampled key; with near keys n m d + (near keys of all queries, strongest ones twice)(d + dv) more, and n k d
 * for both.
 *
 * near=auto fits a head without and with near keys (both; a window, if top=0) and has the fit with the lesser error at
 * the exact queries, each left out; where these differ little, k random queries decide with them. With a tolerance a
 * head is fitted with near keys only where the exact rows give these more than a fifth of their weight, or where its
 * relative error without them is above it, as estimated at up to 32 queries: half of them are those of the largest
 * q_i'(k_i - mean k), which look most at themselves; the others are random, for all the rest. With a limit, a head
 * whose error e is above it then is exact at (1 - limit^2/e^2) n queries, those farthest from the nearest centre.
 *
 * Steps 2 to 4 are in layers/kernel_ridge_fit.c. */
#include "attentions/attention.h"

#include "layers/exact_attention.h"
#include "layers/kernel_ridge_kind.h"
#include "layers/near.h"
#include "linalg/kmeans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const samplings[] = {[NB_SAMPLE_BY_RECEIVED] = "received", [NB_SAMPLE_UNIFORM] = "uniform", NULL};
static const char *const nears[] = {[NB_NEAR_NONE] = "none",
                                    [NB_NEAR_WINDOW] = "window",
                                    [NB_NEAR_TOP] = "top",
                                    [NB_NEAR_BOTH] = "both",
                                    [NB_NEAR_AUTO] = "auto",
                                    [NB_NEAR_EQUAL] = "equal",
                                    NULL};

static const nb_option options[] = {
    NB_INT(nb_kernel_ridge_options, landmarks, "192", 1, 1 << 15,
           "key landmarks, m; at most the keys that are sampled"),
    NB_INT_OR(nb_kernel_ridge_options, rows, "auto", "auto", 1, 1 << 15,
              "exact queries, k; at most the queries that are sampled; auto: 5/12 of the landmarks"),
    NB_INT_OR(nb_kernel_ridge_options, queries, "auto", "auto", 1, 1 << 30,
              "queries drawn, whose centres are the exact ones; auto: 64/5 times the rows, at most n"),
    NB_INT_OR(nb_kernel_ridge_options, keys, "auto", "auto", 1, 1 << 30,
              "keys sampled, whose centres are the landmarks; auto: 32/3 times the landmarks, at most n"),
    NB_ENUM(nb_kernel_ridge_options, init, "plusplus", nb_kmeans_inits, "first centres of both, see kmeans"),
    NB_INT_FOR(nb_kernel_ridge_options, batches, "init", "plusplus", "6", 0, 1000,
               "draws of these, each of several centres at a time; 0: one by one"),
    NB_ENUM(nb_kernel_ridge_options, sampling, "received", samplings,
            "of keys, in proportion to the mean of 1/n and the attention received, or all alike"),
    NB_BOOL(nb_kernel_ridge_options, weighted, "true", "cluster keys with the attention received as their weight"),
    NB_BOOL(nb_kernel_ridge_options, counts, "true", "add the logarithm of a cluster's number of keys to its logits"),
    NB_BOOL(nb_kernel_ridge_options, mass, "true",
            "correct these logits so that clusters receive what their keys receive from the exact queries"),
    NB_BOOL(nb_kernel_ridge_options, prior, "true",
            "regress what the clusters' mean values leave of the exact outputs"),
    NB_BOOL(nb_kernel_ridge_options, normalised, "true", "divide each feature's kernel by its mean over the queries"),
    NB_REAL_OR(nb_kernel_ridge_options, ridge, "loo", "loo", 1e-8, 1e6,
               "the penalty, over the kernel's mean diagonal; loo: leave-one-out chooses it"),
    NB_INT_FOR(nb_kernel_ridge_options, ridges, "ridge", "loo", "4", 1, NB_MOST_RIDGES,
               "how many it chooses among: 10^-1, 10^-2 ... 10^-ridges"),
    NB_OPTION_FIELD(
        nb_kernel_ridge_options, near, NB_OPTION_ENUM, int, "none",
        "keys to which a query attends itself: those in a window around it, the top keys, which its "
        "cluster's exact row gives most, or both; landmarks stand for the others; equal: none, window or both "
        "for each head, with as many fewer landmarks as cost the same; auto: both or none, "
        "whatever leaves a head the lesser error at exact queries, or as `tolerance` says",
        .choices = nears, .newer = true),
    NB_OPTION_FIELD(
        nb_kernel_ridge_options, window, NB_OPTION_INT, int, "auto",
        "keys around a query, besides its own, that are near: half of them, rounded down, on each side of its "
        "block of 32 queries; on a grid, the largest square of them; auto: 32",
        .lo = 0, .hi = NB_UNLIMITED, .word = "auto", .newer = true),
    NB_OPTION_FIELD(
        nb_kernel_ridge_options, top, NB_OPTION_INT, int, "auto",
        "keys of a cluster of queries that are near; at most n; auto: 32; 0: near=equal and auto choose from "
        "none and window",
        .lo = 0, .hi = 1 << 30, .word = "auto", .newer = true),
    NB_OPTION_FIELD(
        nb_kernel_ridge_options, grid, NB_OPTION_INT, int, "none",
        "columns of an image whose patches are the last tokens, row by row: the window is around blocks of 8 x "
        "8 patches; auto: of the largest square; none: tokens are a row",
        .lo = 2, .hi = 1 << 20, .word = "none", .second = "auto", .newer = true),
    NB_OPTION_FIELD(
        nb_kernel_ridge_options, tolerance, NB_OPTION_REAL, double, "0",
        "relative error, estimated at up to 32 queries, up to which near=auto leaves a head without near keys, unless "
        "its exact queries give these more than a fifth of their weight; 0: both kinds are fitted and compared",
        .lo = 0, .hi = 10, .newer = true),
    NB_OPTION_FIELD(
        nb_kernel_ridge_options, limit, NB_OPTION_REAL, double, "0",
        "with a tolerance, the relative error, estimated as there, above which a head has exact queries too, those "
        "farthest from the centres: as many as leave the limit, if all queries have the same error; 0: none",
        .lo = 0, .hi = 10, .newer = true),
    NB_OPTION_END};

enum { GROUPS = 96, CHOOSING = 16 }; /* exact queries of a task, and of those from which a kind is chosen, at most */
enum { USUAL_NEAR = 32, TOLERANT_PROBES = 32 };

/* A thread's. */
typedef struct {
    nb_scalar *rows; /* n x GROUPS; where a kind is chosen from them, twice */
    nb_scalar *out;  /* (dv + 1) x NB_BLOCK_QUERIES */
    nb_softmax softmax;
    nb_near_room near; /* in their place */
    size_t *strongest; /* top */
} room;

typedef struct {
    nb_kernel_ridge_head *heads;
    room *rooms;
} kernel_ridge_state;

/* The kinds that heads may be of; with near=equal each head is of one of several. */
typedef struct {
    int count;
    nb_kernel_ridge_plan kinds[NB_KERNEL_RIDGE_KINDS];
    nb_kernel_ridge_plan most; /* with the most of everything, for which memory is there */
} plans;

typedef struct {
    plans plans;
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
    return kind == NB_NEAR_WINDOW || kind == NB_NEAR_BOTH || kind == NB_NEAR_AUTO || kind == NB_NEAR_EQUAL;
}

static bool has_top(int kind)
{
    return kind == NB_NEAR_TOP || kind == NB_NEAR_BOTH || kind == NB_NEAR_AUTO || kind == NB_NEAR_EQUAL;
}

static void plan_near(const nb_kernel_ridge_options *o, int n, nb_kernel_ridge_plan *p)
{
    int window = o->window == NB_AUTO ? USUAL_NEAR : o->window;
    p->with_near = o->near != NB_NEAR_NONE;
    p->plain = !p->with_near || o->near == NB_NEAR_AUTO || o->near == NB_NEAR_EQUAL;
    if (o->near == NB_NEAR_AUTO) p->probes = o->tolerance > 0 ? nb_lesser(p->k, TOLERANT_PROBES) : p->k;
    if (has_top(o->near)) p->top = nb_lesser(o->top == NB_AUTO ? USUAL_NEAR : o->top, n);
    p->with_tokens = has_window(o->near);
    p->near = (nb_neighbourhood){.n = n, .window = has_window(o->near)};
    p->near.reach = nb_lesser(window / 2, n);
    if (o->grid == NB_AUTO) return;
    p->near.columns = o->grid == NB_SECOND ? nb_square_side(n) : o->grid;
    if (p->near.columns == 0) return; /* refused */
    p->near.rows = n / p->near.columns;
    p->near.before = o->grid == NB_SECOND ? n - p->near.columns * p->near.columns : n % p->near.columns;
    if (o->grid == NB_SECOND) p->near.rows = p->near.columns;
    p->near.reach = nb_lesser((int)((sqrt(window + 1.0) - 1) / 2), n);
}

/* Sets the landmarks of a plan, and the exact rows where these are as asked for, with what follows. */
static void resize(nb_kernel_ridge_plan *p, int m, int rows)
{
    const nb_kernel_ridge_options *o = p->o;
    p->m = m;
    p->k = rows == NB_AUTO ? (int)ceil(5 * m / 12.0) : rows;
    p->keys = sample_size(o->keys, 32 / 3.0, m, p->shape->n);
    p->groups = nb_blocks(p->k, GROUPS);
}

static nb_kernel_ridge_plan plan_of(const nb_kernel_ridge_options *o, const nb_layer_shape *s)
{
    nb_kernel_ridge_plan p = {.o = o, .shape = s};
    resize(&p, o->landmarks, o->rows);
    p.queries = sample_size(o->queries, 64 / 5.0, p.k, s->n);
    p.ridges = isnan(o->ridge) ? o->ridges : 1;
    plan_near(o, s->n, &p);
    return p;
}

typedef nb_status head_part(const work *w, const nb_layer_head *points, nb_kernel_ridge_head *h, room *r, nb_ctx *ctx);

/* One of a head's parts, in the thread's memory; what fails is told later, and ends the head's. */
static void run_part(const work *w, int head, int thread, head_part *part)
{
    if (w->state->heads[head].status != NB_OK) return;
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_kernel_ridge_head *h = &w->state->heads[head];
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    h->status = part(w, &points, h, &w->state->rooms[thread], ctx);
    if (h->status != NB_OK) {
        snprintf(h->reason, sizeof h->reason, "%s", nb_error_message(ctx));
        nb_error_clear(ctx);
    }
    nb_ctx_release(ctx, mark);
}

static nb_status find_rows(const work *w, const nb_layer_head *points, nb_kernel_ridge_head *h, room *r, nb_ctx *ctx)
{
    (void)r;
    return nb_kernel_ridge_choose_rows(w->plans.kinds, &w->pass->stream, points->q, h, ctx);
}

static void group_queries(void *self, int head, int thread)
{
    run_part(self, head, thread, find_rows);
}

/* Returns the plan of a head, once its kind is chosen. */
static const nb_kernel_ridge_plan *plan_of_head(const work *w, const nb_kernel_ridge_head *h)
{
    return &w->plans.kinds[h->kind];
}

/* Adds what keys receive from row i of R, and what they receive where they are not near. */
static void add_received(const nb_kernel_ridge_plan *p, nb_kernel_ridge_head *h, int group, int i, nb_scalar *row,
                         room *r)
{
    size_t n = (size_t)p->shape->n, top = (size_t)p->top;
    nb_scalar weight = (nb_scalar)h->weight[i];
    if (p->plain) nb_scalar_add(n, weight, row, nb_kernel_ridge_received(p, h, false, group));
    if (!p->with_near) return;
    int *strongest = h->strongest + (size_t)i * top;
    if (top > 0) nb_scalar_largest_indices(top, n, row, r->strongest);
    for (size_t j = 0; j < top; j++) strongest[j] = (int)r->strongest[j];
    /* R_ij = 0 for the near keys j */
    int keys = nb_near_keys(&p->near, nb_kernel_ridge_block(p, h, i), r->near.keys);
    for (size_t j = 0; j < top; j++) row[strongest[j]] = 0;
    for (int j = 0; j < keys; j++) row[r->near.keys[j]] = 0;
    nb_scalar_add(n, weight, row, nb_kernel_ridge_received(p, h, true, group));
}

/* Computes rows of R from `first` on, and the outputs at them. */
static void find_outputs(const nb_kernel_ridge_plan *p, const nb_layer_head *points, int first, int count,
                         nb_kernel_ridge_head *h, nb_scalar *rows)
{
    const nb_layer_shape *s = p->shape;
    size_t at = (size_t)first;
    /* R = softmax(C K'/sqrt d) */
    nb_exact_weights(s, count, h->centres + at * (size_t)s->d, points->k, rows);
    /* O = R V */
    nb_scalar_gemm(NB_PLAIN, NB_PLAIN, s->dv, count, s->n, 1, points->v, s->dv, rows, s->n, 0,
                   h->outputs + at * (size_t)s->dv, s->dv);
}

static nb_status choose_kind(const work *w, const nb_layer_head *points, nb_kernel_ridge_head *h, room *r, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = w->plans.kinds;
    if (p->first == 0) return NB_OK; /* heads are of one kind */
    find_outputs(p, points, 0, p->first, h, r->rows);
    return nb_kernel_ridge_choose_kind(w->plans.count, p, points, r->rows, r->rows + (size_t)p->shape->n * GROUPS, h,
                                       ctx);
}

static void choose_head_kind(void *self, int head, int thread)
{
    run_part(self, head, thread, choose_kind);
}

/* Computes some rows of R, the outputs at them, and what keys receive from them, but for those from which the head's
 * kind was chosen. */
static void attend_rows(void *self, int task, int thread)
{
    const work *w = self;
    int each = w->plans.kinds->groups, head = task / each, group = task % each, first;
    nb_kernel_ridge_head *h = &w->state->heads[head];
    const nb_kernel_ridge_plan *p = plan_of_head(w, h);
    size_t n = (size_t)p->shape->n;
    if (h->status != NB_OK || group >= p->groups || (group == 0 && p->first > 0)) return;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, NULL, head);
    nb_scalar *rows = w->state->rooms[thread].rows;
    int count = nb_kernel_ridge_group(p, group, &first);
    find_outputs(p, &points, first, count, h, rows);
    nb_count_multiplications((double)count * p->shape->n);
    /* This group's part of w'R */
    for (int far = !p->plain; far <= p->with_near; far++)
        memset(nb_kernel_ridge_received(p, h, far, group), 0, n * sizeof *rows);
    for (int i = 0; i < count; i++)
        add_received(p, h, group, first + i, rows + (size_t)i * n, &w->state->rooms[thread]);
}

static nb_status interpolate(const work *w, const nb_layer_head *points, nb_kernel_ridge_head *h, room *r, nb_ctx *ctx)
{
    return nb_kernel_ridge_fit(plan_of_head(w, h), &w->pass->stream, points, h, &r->near, ctx);
}

static void interpolate_head(void *self, int head, int thread)
{
    run_part(self, head, thread, interpolate);
}

/* The blocks of a head's queries, at most. */
static int answer_blocks(const nb_kernel_ridge_plan *p)
{
    return nb_greater(p->plain ? nb_blocks(p->shape->n, NB_BLOCK_QUERIES) : 1,
                      p->with_near ? nb_near_blocks(&p->near) : 1);
}

static void answer_plainly(const nb_kernel_ridge_plan *p, const nb_kernel_ridge_head *h, const nb_layer_head *points,
                           int block, room *r)
{
    int first = block * NB_BLOCK_QUERIES, count = nb_lesser(p->shape->n - first, NB_BLOCK_QUERIES);
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv;
    if (count <= 0) return;
    /* Sums of e^(q'L_c/sqrt d) times a landmark's value and e^b_c */
    nb_softmax_begin(&r->softmax, count, points->q + (size_t)first * d, r->out);
    nb_softmax_add(&r->softmax, p->m, h->landmarks, h->values, NULL);
    nb_softmax_store(&r->softmax);
    nb_count_multiplications((double)count * p->shape->dv);
    /* The one over the other: f(q)'(Y0 + D F M^-1 T) */
    for (size_t i = 0; i < (size_t)count; i++) {
        const nb_scalar *from = r->out + i * (dv + 1);
        nb_scalar *to = points->out + ((size_t)first + i) * dv;
        memcpy(to, from, dv * sizeof *to);
        nb_scalar_scale(dv, 1 / from[dv], to);
    }
}

static void answer(void *self, int task, int thread)
{
    const work *w = self;
    int each = answer_blocks(&w->plans.most), head = task / each, block = task % each;
    const nb_kernel_ridge_head *h = &w->state->heads[head];
    const nb_kernel_ridge_plan *p = plan_of_head(w, h);
    if (h->status != NB_OK) return;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    room *r = &w->state->rooms[thread];
    if (h->diverged) {
        for (size_t i = 0; block == 0 && i < (size_t)p->shape->n * (size_t)p->shape->dv; i++) points.out[i] = NAN;
    } else if (!h->near) {
        answer_plainly(p, h, &points, block, r);
    } else if (block < nb_near_blocks(&p->near)) {
        nb_far far = nb_kernel_ridge_far(p, h);
        nb_near_answer(&p->near, &far, &points, block, h->largest, h->sum, &r->near);
    }
}

static void answer_strongest(void *self, int task, int thread)
{
    const work *w = self;
    int n = w->plans.most.shape->n, each = nb_blocks(n, NB_BLOCK_QUERIES), head = task / each,
        first = task % each * NB_BLOCK_QUERIES;
    const nb_kernel_ridge_head *h = &w->state->heads[head];
    const nb_kernel_ridge_plan *p = plan_of_head(w, h);
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    nb_far far = nb_kernel_ridge_far(p, h);
    if (h->status != NB_OK || h->diverged || !h->near || p->top == 0) return;
    nb_near_add_strongest(&far, &points, first, nb_lesser(n - first, NB_BLOCK_QUERIES), h->largest, h->sum,
                          &w->state->rooms[thread].near);
}

/* Computes some of the queries that are exact, whatever is interpolated there. */
static void answer_exactly(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->plans.most.shape;
    int each = nb_blocks(s->n, NB_BLOCK_QUERIES), head = task / each, first = task % each * NB_BLOCK_QUERIES;
    const nb_kernel_ridge_head *h = &w->state->heads[head];
    if (h->status != NB_OK || first >= h->exact) return;
    nb_layer_head points = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    nb_near_room *r = &w->state->rooms[thread].near;
    int count = nb_lesser(h->exact - first, NB_BLOCK_QUERIES);
    size_t dv = (size_t)s->dv;
    nb_scalar_gather(s->d, points.q, count, h->exactly + first, r->q);
    nb_softmax_begin(&r->softmax, count, r->q, r->out);
    nb_softmax_add(&r->softmax, s->n, points.k, points.v, NULL);
    nb_softmax_end(&r->softmax, NULL);
    for (int i = 0; i < count; i++)
        memcpy(points.out + (size_t)h->exactly[first + i] * dv, r->out + (size_t)i * dv, dv * sizeof *points.out);
}

static double rows_work(const nb_kernel_ridge_plan *p)
{
    double n = p->shape->n;
    return nb_softmax_work(p->k, n, p->shape->d, p->shape->dv) + p->k * n;
}

/* Returns the multiplications of a head behind its exact rows. */
static double head_work(const nb_kernel_ridge_plan *p, bool near)
{
    const nb_layer_shape *s = p->shape;
    bool tolerant = p->o->tolerance > 0, both = p->probes > 0 && !tolerant;
    double n = s->n, d = s->d, m = p->m, k = p->k, values = m * k * s->dv;
    double groups = near || both ? n * m * d : 0,
           probes = tolerant && !near ? nb_softmax_work(p->probes, n, d, s->dv) : 0;
    double fits = nb_kernel_ridge_fit_work(p, near) + nb_kernel_ridge_loop_work(p, near);
    double answer = near ? nb_near_work(&p->near, s, p->m, p->top) + (p->top > 0 ? n * k * d : 0)
                         : nb_softmax_work(n, m, d, s->dv + 1) + n * s->dv;
    if (both) fits += nb_kernel_ridge_fit_work(p, !near) + nb_kernel_ridge_loop_work(p, !near);
    return groups + probes + fits + values + answer;
}

/* Returns what near=equal compares, about the multiplications of a head: those of all queries and keys, and three
 * passes over the sampled keys. A strongest key, which is copied for each cluster of queries, counts twice. */
static double price(const nb_kernel_ridge_plan *p)
{
    const nb_layer_shape *s = p->shape;
    double n = s->n, d = s->d, each = d + s->dv, far = n * (p->k + p->m) * each + 3.0 * p->keys * p->m * d;
    if (!p->with_near) return far;
    return far + n * p->m * d + (nb_near_pairs(&p->near) + 2 * n * p->top) * each + (p->top > 0 ? n * p->k * d : 0);
}

/* Gives a plan the most landmarks that are no more than it has and cost no more than `most`, maybe none. */
static void afford(double most, int rows, nb_kernel_ridge_plan *p)
{
    int few = 0, many = p->m + 1;
    while (many - few > 1) {
        int m = few + (many - few) / 2;
        resize(p, m, rows);
        *(price(p) > most ? &many : &few) = m;
    }
    resize(p, few, rows);
}

static plans plans_of(const void *opts, const nb_layer_shape *s)
{
    const nb_kernel_ridge_options *o = opts;
    nb_kernel_ridge_plan asked = plan_of(o, s);
    plans all = {.count = 1, .most = asked};
    nb_kernel_ridge_plan *none = all.kinds, *window = none + 1, *both = window + 1;
    *none = asked;
    if (o->near != NB_NEAR_EQUAL) return all;
    none->with_near = false;
    none->top = 0;
    /* With near keys, as many rows as a window's landmarks have. */
    *window = *both = asked;
    window->plain = both->plain = false;
    window->top = 0;
    afford(price(none), o->rows, window);
    afford(price(none), window->k, both);
    all.count = window->m == 0 ? 1 : asked.top == 0 || both->m == 0 ? 2 : 3;
    if (all.count == 1) {
        none->with_tokens = false;
        all.most = *none;
        return all;
    }
    for (int i = 0; i < all.count; i++) {
        nb_kernel_ridge_plan *p = &all.kinds[i];
        p->near_rows = window->k;
        p->first = nb_lesser(window->k, CHOOSING);
        p->groups = 1 + nb_blocks(p->k - p->first, GROUPS);
    }
    /* Until one is chosen each kind has what keys receive. */
    all.most = asked;
    all.most.first = none->first;
    all.most.near_rows = none->near_rows;
    all.most.groups = nb_greater(none->groups, 2);
    return all;
}

/* Refuses options that contradict the kind of near keys. */
static nb_status check(const void *opts, nb_ctx *ctx)
{
    const nb_kernel_ridge_options *o = opts;
    bool window = has_window(o->near), top = has_top(o->near);
    NB_REQUIRE(ctx, window || o->window == NB_AUTO, NB_EINVAL,
               "kernel_ridge(near=%s, window=%d): near=window, both, equal and auto have a window", nears[o->near],
               o->window);
    NB_REQUIRE(ctx, window || o->grid == NB_AUTO, NB_EINVAL,
               "kernel_ridge(near=%s, grid): near=window, both, equal and auto have a window, which a grid shapes",
               nears[o->near]);
    NB_REQUIRE(ctx, top || o->top == NB_AUTO, NB_EINVAL,
               "kernel_ridge(near=%s, top=%d): near=top, both, equal and auto have top keys", nears[o->near], o->top);
    NB_REQUIRE(ctx, o->top != 0 || o->near == NB_NEAR_AUTO || o->near == NB_NEAR_EQUAL, NB_EINVAL,
               "kernel_ridge(near=%s, top=0): near=equal and auto alone can do without top keys", nears[o->near]);
    NB_REQUIRE(ctx, o->tolerance == 0 || o->near == NB_NEAR_AUTO, NB_EINVAL,
               "kernel_ridge(near=%s, tolerance=%g): near=auto alone has a tolerance", nears[o->near], o->tolerance);
    NB_REQUIRE(ctx, o->limit == 0 || o->tolerance > 0, NB_EINVAL,
               "kernel_ridge(limit=%g): there is a limit with a tolerance alone, such as near=auto, tolerance=%g",
               o->limit, o->limit);
    NB_REQUIRE(ctx, o->near == NB_NEAR_NONE || o->counts, NB_EINVAL,
               "kernel_ridge(near=%s, counts=false): near keys are taken out of the counts; leave one of them",
               nears[o->near]);
    return NB_OK;
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    const nb_kernel_ridge_options *o = opts;
    nb_kernel_ridge_plan p = plan_of(o, s);
    if (p.k > p.queries)
        NB_NEED(*why, nb_format(ctx, "rows = %d, and %d of n = %d queries are sampled", p.k, p.queries, s->n));
    else if (p.m > p.keys)
        NB_NEED(*why, nb_format(ctx, "landmarks = %d, and %d of n = %d keys are sampled", p.m, p.keys, s->n));
    else if (o->grid == NB_SECOND && p.near.columns == 0)
        NB_NEED(*why, nb_format(ctx, "grid = auto, and n = %d is not a square and up to %d tokens before it", s->n,
                                NB_MOST_BEFORE));
    else if (p.near.columns > s->n)
        NB_NEED(*why, nb_format(ctx, "grid = %d columns, and there are %d tokens", p.near.columns, s->n));
    return NB_OK;
}

/* Counts the scalars of nb_kernel_ridge_received. */
static double received_scalars(const nb_kernel_ridge_plan *p)
{
    return (double)p->shape->n * p->groups * (p->plain + p->with_near);
}

/* Scalars of a head, and of a thread beside its softmax. */
static double head_scalars(const nb_kernel_ridge_plan *p)
{
    double n = p->shape->n, d = p->shape->d, dv = p->shape->dv;
    return (d + dv) * (p->k + p->probes) + received_scalars(p) + (d + dv + 1) * p->m + (p->top > 0 ? 2 * n : 0);
}

static double head_integers(const nb_kernel_ridge_plan *p)
{
    double n = p->shape->n;
    if (!p->with_near) return 0;
    return p->k + 2 * p->probes + n + p->m + (p->top > 0 ? (double)p->top * p->k + 2 * n : 0) +
           (p->o->limit > 0 ? n : 0);
}

static double room_scalars(const nb_kernel_ridge_plan *p)
{
    return (double)p->shape->n * GROUPS * (p->first > 0 ? 2 : 1) +
           (p->plain ? (p->shape->dv + 1.0) * NB_BLOCK_QUERIES : 0);
}

/* Counts the bytes of a thread's softmax. */
static double softmax_bytes(const nb_kernel_ridge_plan *p)
{
    const nb_layer_shape *s = p->shape;
    double near = p->with_near ? nb_near_room_bytes(&p->near, s, p->m, p->top) + p->top * (double)sizeof(size_t) : 0;
    if (!p->plain) return near;
    return near + nb_softmax_bytes(s->d, s->dv + 1, nb_tile_of(p->m)) - sizeof(nb_softmax);
}

static nb_status open_room(const nb_kernel_ridge_plan *p, room *r, nb_ctx *ctx)
{
    const nb_layer_shape *s = p->shape;
    NB_NEED(r->rows, nb_alloc_scalars(ctx, (size_t)room_scalars(p)));
    r->out = r->rows + (size_t)s->n * GROUPS * (p->first > 0 ? 2 : 1);
    if (p->plain) NB_TRY(ctx, nb_softmax_new(s->d, s->dv + 1, nb_tile_of(p->m), &r->softmax, ctx));
    if (p->top > 0) NB_NEED(r->strongest, nb_alloc(ctx, (size_t)p->top, sizeof *r->strongest));
    return p->with_near ? nb_near_room_new(&p->near, s, p->m, p->top, &r->near, ctx) : NB_OK;
}

static nb_status open_near(const nb_kernel_ridge_plan *p, nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    size_t n = (size_t)p->shape->n, rows = (size_t)(p->k + p->probes), m = (size_t)p->m;
    h->bias = h->values + (size_t)p->shape->dv * m;
    h->largest = h->received + (size_t)received_scalars(p);
    h->sum = h->largest + (p->top > 0 ? n : 0);
    NB_NEED(h->tokens, nb_alloc(ctx, (size_t)head_integers(p), sizeof *h->tokens));
    h->probe_owner = h->tokens + rows;
    h->counts = h->probe_owner + p->probes;
    h->group = h->counts + m;
    h->owner = h->group + n;
    h->order = h->owner + (p->top > 0 ? n : 0);
    h->strongest = h->order + (p->top > 0 ? n : 0);
    h->exactly = h->strongest + (size_t)p->top * (size_t)p->k;
    return NB_OK;
}

static nb_status open_head(const nb_kernel_ridge_plan *p, nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, rows = (size_t)(p->k + p->probes), m = (size_t)p->m;
    NB_NEED(h->centres, nb_alloc_scalars(ctx, (size_t)head_scalars(p)));
    h->outputs = h->centres + d * rows;
    h->landmarks = h->outputs + dv * rows;
    h->values = h->landmarks + d * m;
    h->received = h->values + (dv + 1) * m;
    NB_NEED(h->weight, nb_alloc_raw(ctx, (size_t)(p->k + p->near_rows)));
    if (p->with_near) NB_TRY(ctx, open_near(p, h, ctx));
    return NB_OK;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    nb_kernel_ridge_plan p = plans_of(opts, s).most;
    kernel_ridge_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->heads, nb_alloc(ctx, (size_t)nb_layer_heads(s), sizeof *state->heads));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int h = 0; h < nb_layer_heads(s); h++) NB_TRY(ctx, open_head(&p, &state->heads[h], ctx));
    for (int i = 0; i < threads; i++) NB_TRY(ctx, open_room(&p, &state->rooms[i], ctx));
    *out = state;
    return NB_OK;
}

extern const nb_attention nb_attention_kernel_ridge;

/* Draws are the same whatever keys are near. */
static nb_status find_stream(const nb_kernel_ridge_options *o, nb_pass *pass, nb_ctx *ctx)
{
    nb_kernel_ridge_options plain = *o;
    plain.near = NB_NEAR_NONE;
    plain.window = plain.top = plain.grid = NB_AUTO;
    plain.tolerance = plain.limit = 0;
    nb_choice choice = {.component = &nb_attention_kernel_ridge.component, .options = &plain};
    NB_TRY(ctx, nb_choice_describe(&choice, ctx));
    pass->stream.component = choice.canonical;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    enum { GROUP, CHOOSE, ROWS, INTERPOLATE, ANSWER, STAGES = 7 };
    int heads = nb_layer_heads(s), blocks = nb_blocks(s->n, NB_BLOCK_QUERIES), count = ANSWER + 1;
    NB_TRY(ctx, find_stream(opts, pass, ctx));
    work w = {.plans = plans_of(opts, s), .pass = pass, .state = pass->state};
    const nb_kernel_ridge_plan *most = &w.plans.most;
    nb_stage stages[STAGES] = {[GROUP] = {.per_head = 1, .task = group_queries},
                               [CHOOSE] = {.per_head = 1, .task = choose_head_kind},
                               [ROWS] = {.per_head = w.plans.kinds->groups, .task = attend_rows},
                               [INTERPOLATE] = {.per_head = 1, .task = interpolate_head},
                               [ANSWER] = {.per_head = answer_blocks(most), .task = answer}};
    /* Near keys and exact answers are stages of their own, of blocks of queries. */
    if (most->top > 0) stages[count++] = (nb_stage){.per_head = blocks, .task = answer_strongest};
    if (most->o->limit > 0) stages[count++] = (nb_stage){.per_head = blocks, .task = answer_exactly};
    double select_s = 0, answer_s = 0;
    for (int i = 0; i < heads; i++) w.state->heads[i].status = NB_OK, w.state->heads[i].kind = 0;
    NB_TRY(ctx, nb_team_run_stages(pass->team, heads, count, stages, &w, ctx));
    for (int i = 0; i < heads; i++) {
        const nb_kernel_ridge_head *h = &w.state->heads[i];
        NB_REQUIRE(ctx, h->status == NB_OK, h->status, "head %d: %s", i, h->reason);
        select_s += h->select_s;
        if (h->diverged) pass->diverged = "the outputs at the exact queries are not finite";
    }
    /* Choosing landmarks is measured within the stage that interpolates. */
    for (int i = ANSWER; i < count; i++) answer_s += stages[i].busy_s;
    nb_pass_parts(pass, (double[NB_PART_COUNT]){[NB_PART_LANDMARKS] = stages[GROUP].busy_s + select_s,
                                                [NB_PART_B] = stages[CHOOSE].busy_s + stages[ROWS].busy_s,
                                                [NB_PART_CORE] = stages[INTERPOLATE].busy_s - select_s,
                                                [NB_PART_F] = answer_s});
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const plans all = plans_of(opts, s);
    const nb_kernel_ridge_plan *p = &all.most;
    double heads = nb_layer_heads(s), least = INFINITY,
           choice = p->first > 0 ? nb_kernel_ridge_kind_work(all.count, all.kinds) : 0;
    for (int i = 0; i < all.count; i++) {
        const nb_kernel_ridge_plan *kind = &all.kinds[i];
        if (kind->plain) least = fmin(least, rows_work(kind) + head_work(kind, false));
        if (kind->with_near) least = fmin(least, rows_work(kind) + head_work(kind, true));
    }
    return (nb_attention_cost){
        .multiplications = heads * (choice + least),
        .bytes = sizeof(kernel_ridge_state) +
                 threads * (sizeof(room) + room_scalars(p) * sizeof(nb_scalar) + softmax_bytes(p)) +
                 heads * (sizeof(nb_kernel_ridge_head) + head_scalars(p) * sizeof(nb_scalar) +
                          (double)(p->k + p->near_rows) * sizeof(double) + head_integers(p) * sizeof(int))};
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
                  options, sizeof(nb_kernel_ridge_options)},
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
        "are counted, but are not in the cost that is predicted; near=equal and auto have that of the cheapest kind,\n"
        "and of no exact queries that a limit may add.\n"
        "With near keys (near=window, top or both) each query attends to these exactly, and landmarks stand for the\n"
        "others alone. A head that looks near, as most do in text and speech, needs them; where heads look far they\n"
        "cost more than they win. near=equal chooses for each head, by leave-one-out errors of 16 exact rows with all\n"
        "keys as landmarks, and pays for near keys with landmarks; near=auto pays for them with time.",
};
