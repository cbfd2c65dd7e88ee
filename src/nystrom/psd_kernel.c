/* SPDX-License-Identifier: GPL-3.0-or-later */
/* psd_kernel.c - the kernels, entry by entry: not by |x|^2 - 2 x.y + |y|^2, whose cancellation would make equal points
 * differ. K is symmetric to the last bit. */
#include "nystrom/psd_kernel.h"

#include "linalg/distances.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <math.h>

const char *const nb_similarity_names[] = {
    [NB_EXP] = "exp", [NB_GAUSS] = "gauss", [NB_GRAM] = "gram", [NB_SIMILARITY_COUNT] = NULL};

static const double *point(const nb_similarity *k, int i)
{
    return k->x + (size_t)i * (size_t)k->d;
}

static double product(const nb_similarity *k, int i, int j)
{
    return nb_dot((size_t)k->d, point(k, i), point(k, j));
}

nb_status nb_similarity_init(nb_similarity *k, nb_similarity_kind kind, double bandwidth, int n, int d, const double *x,
                             nb_ctx *ctx)
{
    *k = (nb_similarity){.kind = kind, .n = n, .d = d, .x = x, .bandwidth = bandwidth};
    if (kind == NB_GAUSS && isnan(bandwidth)) NB_TRY(ctx, nb_median_distance(d, n, x, n, x, &k->bandwidth, ctx));
    if (kind == NB_EXP) nb_count_multiplications((double)n * d);
    for (int i = 0; i < n && kind == NB_EXP; i++) k->shift = fmax(k->shift, product(k, i, i) / sqrt(d));
    return NB_OK;
}

/* Returns the exponent, or of gram the entry. */
static double entry(const nb_similarity *k, int i, int j)
{
    if (k->kind == NB_GRAM) return product(k, i, j);
    if (k->kind == NB_EXP) return product(k, i, j) / sqrt(k->d);
    double distance = sqrt(nb_squared_distance((size_t)k->d, point(k, i), point(k, j))) / k->bandwidth;
    return -distance * distance / 2;
}

void nb_similarity_some(const nb_similarity *k, int j, int count, const int *tokens, double *out)
{
    nb_count_multiplications((double)count * k->d);
    for (int i = 0; i < count; i++) out[i] = entry(k, tokens ? tokens[i] : i, j);
    if (k->kind != NB_GRAM) nb_exp_sum((size_t)count, out, k->shift);
}

void nb_similarity_column(const void *k, int j, double *out)
{
    nb_similarity_some(k, j, ((const nb_similarity *)k)->n, NULL, out);
}

void nb_similarity_diagonal(const nb_similarity *k, double *out)
{
    nb_count_multiplications((double)k->n * k->d);
    for (int i = 0; i < k->n; i++) out[i] = entry(k, i, i);
    if (k->kind != NB_GRAM) nb_exp_sum((size_t)k->n, out, k->shift);
}

void nb_similarity_matrix(const nb_similarity *k, double *out)
{
    for (int j = 0; j < k->n; j++) nb_similarity_some(k, j, k->n, NULL, out + (size_t)j * (size_t)k->n);
}
