/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gram.c - k(x, y) = x.y on one set of points: S = Q Q' or K K', of rank d.
 *
 * The linear kernel, symmetric and positive semidefinite. S is its own factors'
 * product, so nothing of size n^2 need be formed. */
#include "kernels/kernel.h"

#include "linalg/linalg.h"

typedef struct {
    int of;
} gram_options;

enum { QUERIES, KEYS };
static const char *const sets[] = {"queries", "keys", NULL};

static const nb_option options[] = {
    NB_ENUM(gram_options, of, "queries", sets, "the points whose Gram matrix is taken; they serve both sides"),
    NB_OPTION_END};

static double *points(const nb_head *head, const void *opts)
{
    const gram_options *o = opts;
    return o->of == QUERIES ? head->q : head->k;
}

static nb_low_rank low_rank(const nb_head *head, const void *opts)
{
    double *x = points(head, opts);
    return (nb_low_rank){.rank = head->d, .x = x, .y = x};
}

static nb_status fill(const nb_tile *t, const void *opts, double *out, nb_ctx *ctx)
{
    (void)opts;
    NB_REQUIRE(ctx, !t->causal, NB_EINVAL, "gram: a tile with a causal mask");
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, t->keys, t->queries, t->d, 1, t->k, t->d, t->q, t->d, 0, out, t->ld);
    return NB_OK;
}

static const char *const references[] = {
    "Drineas & Mahoney, On the Nystrom method for approximating a Gram matrix, JMLR 6, 2005", NULL};

const nb_kernel nb_kernel_gram = {
    .component = {"gram", "inner products of one set of points with itself", references, options, sizeof(gram_options)},
    .causal_refusal = "a Gram matrix is of one set of points, and has no causal mask: set causal=false",
    .points = points,
    .low_rank = low_rank,
    .fill = fill,
    .explanation =
        "S has rank at most d, so floor_rank is 0 from m = d on. With X = A+, svd(rcond=machine), so is the error,\n"
        "by construction and apart from rounding, if the landmarks span what the points span. Compare strategies at\n"
        "m < d; with another core, such as six steps, all that is left at m >= d is the core's part.",
};
