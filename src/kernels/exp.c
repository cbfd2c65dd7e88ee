/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exp.c - k(x, y) = exp(x.y / temperature): softmax without its denominator.
 *
 * Entries are not scaled, so a score above 340 is refused: the sum of the squares
 * of n^2 entries would overflow. Under a causal mask the entries of later keys
 * are 0. */
#include "kernels/kernel.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>

typedef struct {
    double temperature;
} exp_options;

static const nb_option options[] = {NB_REAL_OR(exp_options, temperature, "auto", "auto", 1e-9, 1e9,
                                               "what the scores q.k are divided by; auto: sqrt(d)"),
                                    NB_OPTION_END};

static const double highest = 340;

static nb_status fill(const nb_tile *t, const void *opts, double *out, nb_ctx *ctx)
{
    const exp_options *o = opts;
    double temperature = isnan(o->temperature) ? sqrt(t->d) : o->temperature;
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, t->keys, t->queries, t->d, 1 / temperature, t->k, t->d, t->q, t->d, 0, out, t->ld);
    for (int i = 0; i < t->queries; i++) {
        double *row = out + (size_t)i * (size_t)t->ld;
        int seen = t->causal && t->positions[i] + 1 < t->keys ? t->positions[i] + 1 : t->keys;
        double largest = nb_largest((size_t)seen, row), sum = nb_exp_sum((size_t)seen, row, 0);
        NB_REQUIRE(
            ctx, largest <= highest && isfinite(sum), NB_ENUMERIC,
            "exp: query %d has a score of %.4g, allowed are at most %g: take a higher temperature than %g, or softmax",
            t->positions ? t->positions[i] : i, largest, highest, temperature);
        for (int j = seen; j < t->keys; j++) row[j] = 0;
    }
    return NB_OK;
}

static const char *const references[] = {
    "Choromanski et al., Rethinking attention with Performers, ICLR 2021 (the softmax kernel)",
    "Xiong et al., Nystromformer, AAAI 2021", NULL};

const nb_kernel nb_kernel_exp = {
    .component = {"exp", "exponential of the scaled scores, rows not normalised", references, options,
                  sizeof(exp_options)},
    .fill = fill,
};
