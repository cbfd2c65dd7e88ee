/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel_ridge_fit.c - see kernel_ridge_fit.h; the steps and symbols are those of attentions/kernel_ridge.c. */
#include "layers/kernel_ridge_fit.h"

#include "base/clock.h"
#include "linalg/kernel_ridge.h"
#include "linalg/kmeans.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

static const double least_received = 1e-9, feature_floor = 1e-4, least_far = 1e-12, clearly = 1.5, near_tie = 1.1,
                    much_near = 0.2;

/* Every head's draws are the same, so that they do not depend on its place. */
static nb_status seed(const nb_stream *of, const char *role, int m, gsl_rng **rng, nb_ctx *ctx)
{
    nb_stream stream = *of;
    stream.role = role;
    stream.m = m;
    NB_TRY(ctx, nb_random_new(rng, ctx));
    nb_random_seed(*rng, &stream);
    return NB_OK;
}

static nb_status gather(int d, const nb_scalar *x, int count, const int *from, double **out, nb_ctx *ctx)
{
    NB_NEED(*out, nb_alloc_raw(ctx, (size_t)d * (size_t)count));
    nb_scalar_gather_to_double(d, x, count, from, *out);
    return NB_OK;
}

/* group (n) <- the nearest of `count` centres of each point. */
static nb_status assign(const nb_kernel_ridge_plan *p, const nb_scalar *points, int n, const nb_scalar *centres,
                        int count, int *group, nb_ctx *ctx)
{
    size_t size = (size_t)p->shape->d * (size_t)count;
    nb_mark mark = nb_ctx_mark(ctx);
    double *c;
    NB_NEED(c, nb_alloc_raw(ctx, size));
    nb_scalar_to_double(size, centres, c);
    NB_TRY(ctx, nb_nearest_centres(p->shape->d, n, points, count, c, group, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Weighs the near_rows' centres by the drawn queries that are nearest to each of them, one at least. */
static nb_status weigh_near_rows(const nb_kernel_ridge_plan *p, const nb_scalar *q, const int *drawn,
                                 nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    double *weight = h->weight + p->k, sum;
    int k = p->near_rows, *group;
    nb_scalar *x;
    NB_NEED(x, nb_alloc_scalars(ctx, (size_t)p->shape->d * (size_t)p->queries));
    NB_NEED(group, nb_alloc(ctx, (size_t)p->queries, sizeof *group));
    nb_scalar_gather(p->shape->d, q, p->queries, drawn, x);
    NB_TRY(ctx, assign(p, x, p->queries, h->centres, k, group, ctx));
    memset(weight, 0, (size_t)k * sizeof *weight);
    for (int i = 0; i < p->queries; i++) weight[group[i]]++;
    sum = 0;
    for (int i = 0; i < k; i++) sum += weight[i] = fmax(weight[i], 1);
    nb_scale((size_t)k, k / sum, weight);
    return NB_OK;
}

/* Puts `count` of the entries of order (k) before the others, spread evenly over them. */
static void spread(int k, int count, int *order, int *room)
{
    int taken = 0, rest = count;
    for (int i = 0; i < k; i++) room[taken < count && i == taken * k / count ? taken++ : rest++] = order[i];
    memcpy(order, room, (size_t)k * sizeof *order);
}

/* Takes centres, weights and tokens over from clusters of the drawn queries. */
static nb_status take_centres(const nb_kernel_ridge_plan *p, const nb_scalar *q, const int *drawn,
                              const nb_clusters *clusters, nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    size_t d = (size_t)p->shape->d;
    int k = p->k, *nearest, *order;
    NB_NEED(nearest, nb_alloc(ctx, (size_t)k, sizeof *nearest));
    NB_NEED(order, nb_alloc(ctx, 2 * (size_t)k, sizeof *order));
    for (int i = 0; i < k; i++) order[i] = i;
    spread(k, p->near_rows, order, order + k);
    spread(p->near_rows, p->first, order, order + k);
    if (p->with_tokens) NB_TRY(ctx, nb_clusters_nearest(clusters, nearest, ctx));
    for (int i = 0; i < k; i++) {
        int c = order[i];
        nb_scalar_of(d, clusters->centres + (size_t)c * d, h->centres + (size_t)i * d);
        /* w: their sizes, of mean 1. */
        h->weight[i] = (double)clusters->size[c] * k / p->queries;
        if (p->with_tokens) h->tokens[i] = drawn[nearest[c]];
    }
    return p->first > 0 ? weigh_near_rows(p, q, drawn, h, ctx) : NB_OK;
}

nb_status nb_kernel_ridge_choose_rows(const nb_kernel_ridge_plan *p, const nb_stream *stream, const nb_scalar *q,
                                      nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    nb_kmeans_how how = {.init = p->o->init, .batches = p->o->batches, .restarts = 1, .iterations = 1};
    int n = p->shape->n, d = p->shape->d, *all, *drawn;
    nb_clusters clusters;
    gsl_rng *rng;
    double *x;
    NB_NEED(all, nb_alloc(ctx, (size_t)n, sizeof *all));
    NB_NEED(drawn, nb_alloc(ctx, (size_t)p->queries, sizeof *drawn));
    NB_TRY(ctx, seed(stream, "queries", p->k, &rng, ctx));
    for (int i = 0; i < n; i++) all[i] = i;
    /* The centres C of a draw of queries. */
    gsl_ran_choose(rng, drawn, (size_t)p->queries, all, (size_t)n, sizeof *all);
    NB_TRY(ctx, gather(d, q, p->queries, drawn, &x, ctx));
    NB_TRY(ctx, nb_kmeans(d, p->queries, x, p->k, &how, rng, &clusters, ctx));
    NB_TRY(ctx, take_centres(p, q, drawn, &clusters, h, ctx));
    if (p->probes > 0)
        gsl_ran_choose(rng, h->tokens + p->k, (size_t)p->probes, drawn, (size_t)p->queries, sizeof *drawn);
    return NB_OK;
}

int nb_kernel_ridge_group(const nb_kernel_ridge_plan *p, int group, int *first)
{
    int before = p->first > 0, k = p->k - p->first, groups = p->groups - before, i = group - before;
    *first = i < 0 ? 0 : p->first + i * k / groups;
    return i < 0 ? p->first : p->first + (i + 1) * k / groups - *first;
}

int nb_kernel_ridge_block(const nb_kernel_ridge_plan *p, const nb_kernel_ridge_head *h, int i)
{
    return p->near.window ? nb_near_block_of(&p->near, h->tokens[i]) : 0;
}

nb_scalar *nb_kernel_ridge_received(const nb_kernel_ridge_plan *p, const nb_kernel_ridge_head *h, bool far, int group)
{
    return h->received + (size_t)((far && p->plain) * p->groups + group) * (size_t)p->shape->n;
}

/* The small systems of a head, in double precision. */
typedef struct {
    const nb_kernel_ridge_plan *p;
    const nb_kernel_ridge_head *head;
    bool near;                  /* with near keys */
    double *received, far;      /* n: r; with near keys, of those that are not near, divided by its sum */
    nb_scalar *landmarks;       /* d x m */
    int *kept;                  /* keys: that are sampled */
    double *inverse, *weight;   /* keys: 1/pi, p */
    nb_clusters clusters;       /* of these keys */
    double *bias, *mean;        /* m: b, F w */
    double *values;             /* dv x m: Y0, then what is regressed is added */
    double *softmax, *features; /* m x (k + probes): of L'C, F */
    double *beside, *share;     /* k + probes: weight of the near keys beside these, and its part of the sum */
    double *outputs;            /* dv x (k + probes): mean value of the near keys, weighted */
    double *residuals, *dual;   /* k x dv: T, M^-1 T */
    double *gram, *inverted;    /* k x k: F'DF, M^-1 */
    double error;               /* of the exact outputs, each left out, squared */
} head_system;

static nb_status system_new(const nb_kernel_ridge_plan *p, const nb_kernel_ridge_head *h, bool near, head_system *x,
                            nb_ctx *ctx)
{
    size_t n = (size_t)p->shape->n, dv = (size_t)p->shape->dv, k = (size_t)p->k, m = (size_t)p->m,
           keys = (size_t)p->keys, rows = (size_t)(p->k + p->probes);
    *x = (head_system){.p = p, .head = h, .near = near};
    NB_NEED(x->received, nb_alloc_reals(ctx, n, 1));
    NB_NEED(x->kept, nb_alloc(ctx, keys, sizeof *x->kept));
    NB_NEED(x->inverse, nb_alloc_raw(ctx, 2 * keys));
    x->weight = x->inverse + keys;
    NB_NEED(x->landmarks, nb_alloc_scalars(ctx, (size_t)p->shape->d * m));
    NB_NEED(x->bias, nb_alloc_reals(ctx, 2 + dv, m));
    x->mean = x->bias + m;
    x->values = x->mean + m;
    NB_NEED(x->softmax, nb_alloc_raw(ctx, 2 * m * rows));
    x->features = x->softmax + m * rows;
    NB_NEED(x->beside, nb_alloc_reals(ctx, 2 + dv, rows));
    x->share = x->beside + rows;
    x->outputs = x->share + rows;
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
        /* Those above 1 stay at 1 and the others are scaled to the rest of the count, until none is above 1 */
        double rest = 0;
        int full = 0;
        for (int j = 0; j < n; j++) {
            pi[j] = pi[j] > 1 ? 1 : pi[j];
            rest += pi[j] < 1 ? pi[j] : 0;
            full += pi[j] == 1;
        }
        double factor = (count - full) / rest;
        more = false;
        for (int j = 0; j < n; j++) {
            pi[j] *= pi[j] < 1 ? factor : 1;
            more |= pi[j] > 1;
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

/* Averages over the rows of R what keys receive; with near keys, what they receive where they are not near. */
static void find_received(head_system *x)
{
    const nb_kernel_ridge_plan *p = x->p;
    int n = p->shape->n;
    for (int j = 0; j < n; j++) {
        x->received[j] = 0;
        for (int g = 0; g < p->groups; g++)
            x->received[j] += (double)nb_kernel_ridge_received(p, x->head, x->near, g)[j] / p->k;
    }
    if (!x->near) return;
    /* They are divided by their sum, x->far */
    x->far = 0;
    for (int j = 0; j < n; j++) x->far += x->received[j] += least_far;
    nb_scale((size_t)n, 1 / x->far, x->received);
}

/* Draws keys by what they receive, and finds their weights. */
static nb_status sample_keys(head_system *x, gsl_rng *rng, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    size_t n = (size_t)p->shape->n;
    double *pi;
    NB_NEED(pi, nb_alloc_raw(ctx, n));
    /* pi_j = min(1, c (r_j/2 + 1/(2n))), which sum to the number of keys. */
    for (size_t j = 0; j < n; j++) {
        double share = p->o->sampling == NB_SAMPLE_UNIFORM ? 1.0 / p->shape->n : x->received[j] / 2 + 0.5 / p->shape->n;
        pi[j] = p->keys < p->shape->n ? p->keys * share : 1;
    }
    if (p->keys < p->shape->n) find_inclusion(p->shape->n, p->keys, pi);
    sample(p->shape->n, p->keys, pi, gsl_rng_uniform(rng), x->kept);
    /* 1/pi_j, and p_j = n r_j/pi_j. */
    for (int i = 0; i < p->keys; i++) {
        double weight = p->o->weighted ? fmax(p->shape->n * x->received[x->kept[i]], least_received) : 1;
        x->inverse[i] = 1 / pi[x->kept[i]];
        x->weight[i] = weight * x->inverse[i];
    }
    return NB_OK;
}

static nb_status place_landmarks(const nb_stream *stream, const nb_scalar *k, head_system *x, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    nb_kmeans_how how = {
        .init = p->o->init, .batches = p->o->batches, .restarts = 1, .iterations = 2, .weights = x->weight};
    double *keys;
    gsl_rng *rng;
    NB_TRY(ctx, seed(stream, "keys", p->m, &rng, ctx));
    NB_TRY(ctx, sample_keys(x, rng, ctx));
    NB_TRY(ctx, gather(p->shape->d, k, p->keys, x->kept, &keys, ctx));
    NB_TRY(ctx, nb_kmeans(p->shape->d, p->keys, keys, p->m, &how, rng, &x->clusters, ctx));
    nb_scalar_of((size_t)p->shape->d * (size_t)p->m, x->clusters.centres, x->landmarks);
    return NB_OK;
}

/* Finds b, the share of r that each cluster's keys receive (mass, m), and Y0. */
static nb_status find_prior(const nb_scalar *v, head_system *x, double **mass, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    size_t dv = (size_t)p->shape->dv, m = (size_t)p->m;
    double *weight, total = 0;
    NB_NEED(weight, nb_alloc_reals(ctx, m, 1));
    NB_NEED(*mass, nb_alloc_reals(ctx, m, 1));
    memset(x->bias, 0, m * sizeof *x->bias);
    memset(x->values, 0, m * dv * sizeof *x->values);
    /* Of the sampled keys of each cluster: sums of 1/pi, r/pi, p and p v. */
    for (int i = 0; i < p->keys; i++) {
        int c = x->clusters.group[i], key = x->kept[i];
        double received = x->received[key] * x->inverse[i];
        x->bias[c] += x->inverse[i];
        (*mass)[c] += received;
        total += received;
        weight[c] += x->weight[i];
        nb_scalar_add_to_double(dv, x->weight[i], v + (size_t)key * dv, x->values + (size_t)c * dv);
    }
    /* With near keys all keys have a cluster, and r is summed over them all. */
    for (size_t j = 0; x->near && j < m; j++) (*mass)[j] = 0;
    for (int j = 0; x->near && j < p->shape->n; j++) (*mass)[x->head->group[j]] += x->received[j];
    if (x->near) total = 1 / x->far;
    /* b_c = ln(sum of 1/pi), r's share in c, and Y0_c = (sum of p v)/(sum of p). */
    for (size_t c = 0; c < m; c++) {
        x->bias[c] = p->o->counts && !x->near ? log(x->bias[c]) : 0;
        (*mass)[c] /= total;
        nb_scale(dv, p->o->prior ? 1 / weight[c] : 0, x->values + c * dv);
    }
    return NB_OK;
}

/* How often b is corrected. */
static int corrections(const nb_kernel_ridge_plan *p, bool near)
{
    return !p->o->mass ? 0 : near ? 2 : 1;
}

nb_far nb_kernel_ridge_far(const nb_kernel_ridge_plan *p, const nb_kernel_ridge_head *h)
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

/* Finds F and F w from b, or the features of the probes. */
static void find_features(head_system *x, bool probes)
{
    int k = x->p->k, m = x->p->m, first = probes ? k : 0, count = probes ? x->p->probes : k;
    double *features = x->features + (size_t)m * (size_t)first, *share = x->share + first;
    memcpy(features, x->softmax + (size_t)m * (size_t)first, (size_t)m * (size_t)count * sizeof *features);
    if (x->near) memcpy(share, x->beside + first, (size_t)count * sizeof *share);
    nb_reweigh(m, count, x->bias, features, x->near ? share : NULL);
    if (!probes) nb_gemv(NB_PLAIN, m, k, 1.0 / k, features, m, x->head->weight, 0, x->mean);
}

/* Weighs landmarks and near keys for exact query i by one softmax; its strongest keys are those of exact query `owner`.
 * `logits` (m), those of its landmarks, become f without b; x->beside[i] is the weight of the near keys, with f 1 in
 * all, and column i of x->outputs their output. */
static nb_status weigh_near(head_system *x, const nb_layer_head *points, int i, int owner, double *logits,
                            const double *q, nb_near_room *r, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    nb_far far = nb_kernel_ridge_far(p, x->head);
    size_t dv = (size_t)p->shape->dv, m = (size_t)p->m;
    nb_mark mark = nb_ctx_mark(ctx);
    int count = nb_near_list(&p->near, &far, nb_kernel_ridge_block(p, x->head, i), owner, r);
    double *keys, *values, *weights, largest = -INFINITY, *output = x->outputs + (size_t)i * dv, all, near;
    NB_TRY(ctx, gather(p->shape->d, points->k, count, r->keys, &keys, ctx));
    NB_TRY(ctx, gather(p->shape->dv, points->v, count, r->keys, &values, ctx));
    NB_NEED(weights, nb_alloc_reals(ctx, (size_t)count, 1));
    if (count > 0) nb_gemv(NB_TRANSPOSED, p->shape->d, count, 1 / sqrt(p->shape->d), keys, p->shape->d, q, 0, weights);
    /* q'L_c/sqrt d + ln n_c(i) beside q'k_j/sqrt d */
    for (size_t c = 0; c < m; c++) logits[c] = r->left[c] > 0 ? logits[c] + log(r->left[c]) : -INFINITY;
    largest = nb_largest(m, logits);
    if (count > 0) largest = fmax(largest, nb_largest((size_t)count, weights));
    /* Z(i) without b, of which the near keys have `near`. */
    near = count > 0 ? nb_exp_sum((size_t)count, weights, largest) : 0;
    all = near + nb_exp_sum(m, logits, largest);
    nb_scale(m, 1 / all, logits);
    x->beside[i] = near / all;
    /* Their output, N_i Z(i)/near; a weight whose inverse overflows adds nothing. */
    if (near >= DBL_MIN) nb_gemv(NB_PLAIN, p->shape->dv, count, 1 / near, values, p->shape->dv, weights, 0, output);
    nb_near_forget(r, count);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Finds the softmax over the landmarks, with near keys over these too, for `count` exact queries from `first` on. */
static nb_status find_softmax(const nb_layer_head *points, const nb_kernel_ridge_head *h, int first, int count,
                              head_system *x, nb_near_room *near, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    size_t d = (size_t)p->shape->d, m = (size_t)p->m;
    double *landmarks, *queries, *softmax = x->softmax + m * (size_t)first;
    NB_NEED(landmarks, nb_alloc_raw(ctx, d * m));
    NB_NEED(queries, nb_alloc_raw(ctx, d * (size_t)count));
    /* L'C/sqrt d */
    nb_scalar_to_double(d * m, x->landmarks, landmarks);
    nb_scalar_to_double(d * (size_t)count, h->centres + d * (size_t)first, queries);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, p->m, count, p->shape->d, 1 / sqrt(p->shape->d), landmarks, p->shape->d, queries,
            p->shape->d, 0, softmax, p->m);
    for (int i = 0; x->near && i < count; i++)
        NB_TRY(ctx, weigh_near(x, points, first + i, first < p->k ? i : h->probe_owner[i], softmax + (size_t)i * m,
                               queries + (size_t)i * d, near, ctx));
    for (size_t i = 0; !x->near && i < (size_t)count; i++)
        nb_scale(m, 1 / nb_exp_sum(m, softmax + i * m, nb_largest(m, softmax + i * m)), softmax + i * m);
    return NB_OK;
}

static nb_status make_features(const nb_layer_head *points, const nb_kernel_ridge_head *h, const double *mass,
                               head_system *x, nb_near_room *near, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    NB_TRY(ctx, find_softmax(points, h, 0, p->k, x, near, ctx));
    /* F and F w from b, then b_c += ln(r's share in c/(F w)_c). */
    find_features(x, false);
    for (int i = 0; i < corrections(p, x->near); i++) {
        nb_correct_bias(p->m, mass, x->mean, x->bias);
        find_features(x, false);
    }
    return NB_OK;
}

/* rest (dv x count) <- O - N - F'Y0 of exact queries from `first` on, and their features times sqrt(D). */
static void leave_prior(head_system *x, int first, int count, double *rest)
{
    const nb_kernel_ridge_plan *p = x->p;
    int dv = p->shape->dv, m = p->m;
    size_t at = (size_t)first * (size_t)dv;
    double *features = x->features + (size_t)m * (size_t)first;
    nb_scalar_to_double((size_t)dv * (size_t)count, x->head->outputs + at, rest);
    for (int i = 0; x->near && i < count; i++)
        nb_add_scaled((size_t)dv, -x->share[first + i], x->outputs + at + (size_t)i * (size_t)dv,
                      rest + (size_t)i * (size_t)dv);
    nb_gemm(NB_PLAIN, NB_PLAIN, dv, count, m, -1, x->values, dv, features, m, 1, rest, dv);
    for (size_t i = 0; i < (size_t)count; i++)
        for (size_t c = 0; c < (size_t)m; c++) features[i * (size_t)m + c] *= x->mean[c];
}

/* Makes T = O - N - F'Y0, and F <- sqrt(D) F with F'DF. */
static nb_status make_kernel(head_system *x, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    int dv = p->shape->dv, k = p->k, m = p->m;
    double *rest;
    NB_NEED(rest, nb_alloc_raw(ctx, (size_t)dv * (size_t)k));
    /* D = diag(1/(F w)) */
    for (int c = 0; c < m; c++) x->mean[c] = p->o->normalised ? 1 / sqrt(fmax(x->mean[c], feature_floor / m)) : 1;
    leave_prior(x, 0, k, rest);
    nb_transpose(dv, k, rest, x->residuals);
    /* F'DF */
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, k, k, m, 1, x->features, m, x->features, m, 0, x->gram, k);
    return NB_OK;
}

/* Chooses the ridge and computes M^-1 T. */
static nb_status choose_ridge(head_system *x, nb_ctx *ctx)
{
    const nb_kernel_ridge_options *o = x->p->o;
    double penalties[NB_MOST_RIDGES];
    for (int i = 0; i < x->p->ridges; i++) penalties[i] = isnan(o->ridge) ? pow(10, -i - 1) : o->ridge;
    return nb_kernel_ridge(x->p->k, x->gram, x->head->weight, x->p->shape->dv, x->residuals, x->p->ridges, penalties,
                           x->inverted, x->dual, &x->error, ctx);
}

/* Makes Y0 + D F M^-1 T. Without near keys, times e^b, and e^b, which divides what they sum to. */
static nb_status make_values(nb_kernel_ridge_head *h, head_system *x, nb_ctx *ctx)
{
    int dv = x->p->shape->dv, k = x->p->k, m = x->p->m, each = x->near ? dv : dv + 1;
    double *added, largest = nb_largest((size_t)m, x->bias);
    NB_NEED(added, nb_alloc_raw(ctx, (size_t)dv * (size_t)m));
    /* sqrt(D) F M^-1 T, transposed */
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, dv, m, k, 1, x->dual, k, x->features, m, 0, added, dv);
    /* Y0 + D F M^-1 T, and e^b over its largest, which cancels. */
    for (int c = 0; c < m; c++) {
        nb_scalar *to = h->values + (size_t)c * (size_t)each;
        size_t from = (size_t)c * (size_t)dv;
        double factor = x->near ? 1 : exp(x->bias[c] - largest);
        for (int l = 0; l < dv; l++)
            to[l] = (nb_scalar)(factor * (x->values[from + (size_t)l] + x->mean[c] * added[from + (size_t)l]));
        if (x->near)
            h->bias[c] = (nb_scalar)x->bias[c];
        else
            to[dv] = (nb_scalar)factor;
    }
    return NB_OK;
}

double nb_kernel_ridge_fit_work(const nb_kernel_ridge_plan *p, bool near)
{
    double d = p->shape->d, dv = p->shape->dv, k = p->k, m = p->m;
    return m * k * (d + 1 + corrections(p, near) + dv + k) + p->ridges * (k * k * dv + floor(0.5 * k * k * k + 0.5));
}

double nb_kernel_ridge_loop_work(const nb_kernel_ridge_plan *p, bool near)
{
    double n = p->shape->n, dv = p->shape->dv, k = p->k, m = p->m, keys = p->keys;
    return 2 * k + n + keys * (4 + dv) + m * (3 + 3 * dv) + (2 + corrections(p, near)) * m * k +
           p->ridges * 3 * k * dv + (near ? k * dv : 0);
}

/* Finds the landmark of each key. */
static nb_status group_keys(const head_system *x, const nb_scalar *k, nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    NB_TRY(ctx, assign(p, k, p->shape->n, x->landmarks, p->m, h->group, ctx));
    memset(h->counts, 0, (size_t)p->m * sizeof *h->counts);
    for (int j = 0; j < p->shape->n; j++) h->counts[h->group[j]]++;
    return NB_OK;
}

/* Finds the nearest centre of each query, and puts the queries in the order of these. */
static nb_status group_queries(const nb_kernel_ridge_plan *p, const nb_scalar *q, nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    int n = p->shape->n, *next;
    double start_s = nb_clock_s();
    NB_TRY(ctx, assign(p, q, n, h->centres, p->k, h->owner, ctx));
    NB_NEED(next, nb_alloc(ctx, (size_t)p->k + 1, sizeof *next));
    for (int i = 0; i < n; i++) next[h->owner[i] + 1]++;
    for (int g = 0; g < p->k; g++) next[g + 1] += next[g];
    for (int i = 0; i < n; i++) h->order[next[h->owner[i]]++] = i;
    h->select_s += nb_clock_s() - start_s;
    return NB_OK;
}

/* Places the landmarks of a head with or without near keys, and fits their values. */
static nb_status fit(const nb_kernel_ridge_plan *p, const nb_stream *stream, const nb_layer_head *points,
                     bool with_near, nb_kernel_ridge_head *h, head_system *x, nb_near_room *near, nb_ctx *ctx)
{
    double start_s = nb_clock_s(), *mass;
    NB_TRY(ctx, system_new(p, h, with_near, x, ctx));
    find_received(x);
    NB_TRY(ctx, place_landmarks(stream, points->k, x, ctx));
    if (with_near) NB_TRY(ctx, group_keys(x, points->k, h, ctx));
    h->select_s += nb_clock_s() - start_s;
    NB_TRY(ctx, find_prior(points->v, x, &mass, ctx));
    NB_TRY(ctx, make_features(points, h, mass, x, near, ctx));
    NB_TRY(ctx, make_kernel(x, ctx));
    nb_count_multiplications(nb_kernel_ridge_loop_work(p, with_near));
    return choose_ridge(x, ctx);
}

/* Computes the exact outputs at the probes. */
static nb_status attend_probes(const nb_kernel_ridge_plan *p, const nb_layer_head *points, nb_kernel_ridge_head *h,
                               nb_softmax *softmax, nb_ctx *ctx)
{
    size_t d = (size_t)p->shape->d, dv = (size_t)p->shape->dv, k = (size_t)p->k;
    nb_scalar *q = h->centres + d * k, *out = h->outputs + dv * k;
    nb_scalar_gather(p->shape->d, points->q, p->probes, h->tokens + k, q);
    for (int i = 0; i < p->probes; i += NB_BLOCK_QUERIES) {
        nb_softmax_begin(softmax, nb_lesser(p->probes - i, NB_BLOCK_QUERIES), q + (size_t)i * d, out + (size_t)i * dv);
        nb_softmax_add(softmax, p->shape->n, points->k, points->v, NULL);
        nb_softmax_end(softmax, NULL);
    }
    return assign(p, q, p->probes, h->centres, p->k, h->probe_owner, ctx);
}

/* *rest (dv x probes) <- what the fit at hand leaves of the exact outputs at the probes. */
static nb_status leave_fit(const nb_layer_head *points, const nb_kernel_ridge_head *h, head_system *x,
                           nb_near_room *near, double **rest, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    int dv = p->shape->dv, k = p->k, m = p->m, probes = p->probes;
    double *cross;
    NB_NEED(*rest, nb_alloc_raw(ctx, (size_t)dv * (size_t)probes));
    NB_NEED(cross, nb_alloc_raw(ctx, (size_t)k * (size_t)probes));
    NB_TRY(ctx, find_softmax(points, h, k, probes, x, near, ctx));
    find_features(x, true);
    /* O - N - f'(Y0 + D F M^-1 T) */
    leave_prior(x, k, probes, *rest);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, k, probes, m, 1, x->features, m, x->features + (size_t)m * (size_t)k, m, 0, cross,
            k);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, dv, probes, k, -1, x->dual, k, cross, k, 1, *rest, dv);
    return NB_OK;
}

/* Sets h->near where the fit with near keys, x[1], leaves a lesser error than that without, x[0], or one that is hardly
 * greater. What leave-one-out does not tell clearly the probes decide with it: by the geometric mean of both errors. */
static nb_status choose_near(const nb_layer_head *points, nb_kernel_ridge_head *h, head_system *x, nb_near_room *near,
                             nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    double error[2] = {x[0].error, x[1].error}, *rest;
    size_t count = (size_t)p->shape->dv * (size_t)p->probes;
    if (fmax(error[0], error[1]) < clearly * clearly * fmin(error[0], error[1])) {
        NB_TRY(ctx, attend_probes(p, points, h, &near->softmax, ctx));
        for (int i = 0; i < 2; i++) {
            NB_TRY(ctx, leave_fit(points, h, &x[i], near, &rest, ctx));
            error[i] = sqrt(error[i]) * sqrt(nb_dot(count, rest, rest));
        }
    }
    h->near = error[1] <= near_tie * near_tie * error[0];
    return NB_OK;
}

/* How many probes are not random, but the queries that look most at themselves. */
static int sharp_probes(const nb_kernel_ridge_plan *p)
{
    return p->probes / 2;
}

/* These probes: the largest q_i'(k_i - mean k). */
static nb_status find_sharpest(const nb_kernel_ridge_plan *p, const nb_layer_head *points, nb_kernel_ridge_head *h,
                               nb_ctx *ctx)
{
    size_t n = (size_t)p->shape->n, d = (size_t)p->shape->d, count = (size_t)sharp_probes(p), *sharpest;
    nb_scalar *mean, *score;
    double *sum, *square;
    NB_NEED(sum, nb_alloc_reals(ctx, d, 2));
    square = sum + d;
    NB_NEED(mean, nb_alloc_scalars(ctx, d + n));
    score = mean + d;
    NB_NEED(sharpest, nb_alloc(ctx, count + 1, sizeof *sharpest));
    for (size_t j = 0; j < n; j++) nb_scalar_add_moments(d, points->k + j * d, sum, square);
    nb_scale(d, 1 / (double)n, sum);
    nb_scalar_of(d, sum, mean);
    for (size_t i = 0; i < n; i++)
        score[i] = nb_scalar_dot(d, points->q + i * d, points->k + i * d) - nb_scalar_dot(d, points->q + i * d, mean);
    nb_count_multiplications(3.0 * p->shape->n * p->shape->d);
    nb_scalar_largest_indices(count, n, score, sharpest);
    for (size_t i = 0; i < count; i++) h->tokens[(size_t)p->k + i] = (int)sharpest[i];
    return NB_OK;
}

/* Returns the sum of x (dv x probes), squared, over all queries, of which the random probes stand for those that are
 * not sharp. */
static double sum_over_queries(const nb_kernel_ridge_plan *p, const double *x)
{
    int sharp = sharp_probes(p);
    size_t at = (size_t)sharp * (size_t)p->shape->dv, rest = (size_t)(p->probes - sharp) * (size_t)p->shape->dv;
    return nb_dot(at, x, x) + (double)(p->shape->n - sharp) / (p->probes - sharp) * nb_dot(rest, x + at, x + at);
}

/* *square <- the squared relative error of the fit at hand, as the probes estimate it. */
static nb_status estimate_error(const nb_layer_head *points, const nb_kernel_ridge_head *h, head_system *x,
                                nb_near_room *near, double *square, nb_ctx *ctx)
{
    const nb_kernel_ridge_plan *p = x->p;
    size_t dv = (size_t)p->shape->dv, count = dv * (size_t)p->probes;
    double *exact, *rest;
    NB_NEED(exact, nb_alloc_raw(ctx, count));
    NB_TRY(ctx, leave_fit(points, h, x, near, &rest, ctx));
    nb_scalar_to_double(count, h->outputs + dv * (size_t)p->k, exact);
    double left = sum_over_queries(p, rest);
    *square = left > 0 ? left / sum_over_queries(p, exact) : left;
    return NB_OK;
}

/* Lists the queries that are farthest from their nearest centre: as many as leave the squared error `square` at the
 * limit, if all queries have the same. */
static nb_status list_exact(const nb_kernel_ridge_plan *p, const nb_layer_head *points, double square,
                            nb_kernel_ridge_head *h, nb_ctx *ctx)
{
    size_t n = (size_t)p->shape->n, d = (size_t)p->shape->d, count, *farthest;
    double left = pow(p->o->limit, 2) / square; /* of the squared error */
    nb_scalar *distance;
    h->exact = !(left > 0) ? p->shape->n : left < 1 ? (int)ceil(p->shape->n * (1 - left)) : 0;
    if (h->exact == 0) return NB_OK;
    count = (size_t)h->exact;
    NB_NEED(farthest, nb_alloc(ctx, count, sizeof *farthest));
    NB_NEED(distance, nb_alloc_scalars(ctx, n));
    NB_TRY(ctx, assign(p, points->q, p->shape->n, h->centres, p->k, h->exactly, ctx));
    for (size_t i = 0; i < n; i++) {
        const nb_scalar *q = points->q + i * d, *centre = h->centres + (size_t)h->exactly[i] * d;
        double sum = 0;
        for (size_t l = 0; l < d; l++) sum += pow((double)q[l] - (double)centre[l], 2);
        distance[i] = (nb_scalar)sum;
    }
    nb_count_multiplications((double)n * (double)d);
    nb_scalar_largest_indices(count, n, distance, farthest);
    for (size_t i = 0; i < count; i++) h->exactly[i] = (int)farthest[i];
    return NB_OK;
}

/* Returns how much of their weight the exact queries give to near keys. */
static double near_weight(const nb_kernel_ridge_plan *p, const nb_kernel_ridge_head *h)
{
    double far = 0;
    for (int g = 0; g < p->groups; g++)
        for (int j = 0; j < p->shape->n; j++) far += (double)nb_kernel_ridge_received(p, h, true, g)[j];
    return 1 - far / p->k;
}

/* Fits a head without near keys, and with them where that leaves a relative error above the tolerance; with them at
 * once where the exact queries give them much weight. What is above the limit then is left to exact queries. */
static nb_status fit_to_tolerance(const nb_kernel_ridge_plan *p, const nb_stream *stream, const nb_layer_head *points,
                                  nb_kernel_ridge_head *h, head_system *x, nb_near_room *near, nb_ctx *ctx)
{
    double square = INFINITY;
    h->near = near_weight(p, h) > much_near;
    if (!h->near || p->o->limit > 0) {
        NB_TRY(ctx, find_sharpest(p, points, h, ctx));
        NB_TRY(ctx, attend_probes(p, points, h, &near->softmax, ctx));
    }
    if (!h->near) {
        NB_TRY(ctx, fit(p, stream, points, false, h, &x[0], near, ctx));
        NB_TRY(ctx, estimate_error(points, h, &x[0], near, &square, ctx));
        h->near = !(square <= pow(p->o->tolerance, 2));
    }
    if (h->near) NB_TRY(ctx, fit(p, stream, points, true, h, &x[1], near, ctx));
    if (p->o->limit == 0) return NB_OK;
    if (h->near) NB_TRY(ctx, estimate_error(points, h, &x[1], near, &square, ctx));
    return list_exact(p, points, square, h, ctx);
}

/* Fits the kinds that a head may have, x[0] without and x[1] with near keys, and sets h->near. */
static nb_status fit_kinds(const nb_kernel_ridge_plan *p, const nb_stream *stream, const nb_layer_head *points,
                           nb_kernel_ridge_head *h, head_system *x, nb_near_room *near, nb_ctx *ctx)
{
    bool choice = p->probes > 0;
    h->near = p->with_near;
    if (choice && p->o->tolerance > 0) return fit_to_tolerance(p, stream, points, h, x, near, ctx);
    if (choice || !p->with_near) NB_TRY(ctx, fit(p, stream, points, false, h, &x[0], near, ctx));
    if (p->with_near) NB_TRY(ctx, fit(p, stream, points, true, h, &x[1], near, ctx));
    return choice ? choose_near(points, h, x, near, ctx) : NB_OK;
}

nb_status nb_kernel_ridge_fit(const nb_kernel_ridge_plan *p, const nb_stream *stream, const nb_layer_head *points,
                              nb_kernel_ridge_head *h, nb_near_room *near, nb_ctx *ctx)
{
    head_system x[2];
    h->select_s = 0;
    h->exact = 0;
    h->diverged = !nb_scalars_finite((size_t)p->k * (size_t)p->shape->dv, h->outputs);
    if (h->diverged) return NB_OK;
    NB_TRY(ctx, fit_kinds(p, stream, points, h, x, near, ctx));
    memcpy(h->landmarks, x[h->near].landmarks, (size_t)p->shape->d * (size_t)p->m * sizeof *h->landmarks);
    NB_TRY(ctx, make_values(h, &x[h->near], ctx));
    return h->near && p->top > 0 ? group_queries(p, points->q, h, ctx) : NB_OK;
}
