/* SPDX-License-Identifier: GPL-3.0-or-later */
/* identity.c - X = I, the product F B without a middle.
 *
 * The one core of the factors `nocore` and `kernel_ridge`, whatever an experiment's cores are, and of no others. Under
 * softmax the rows of F and of B of `nocore` sum to 1, so those of F B do, and none of its entries is negative. */
#include "cores/core.h"

static nb_status compute(nb_factors *factors, const void *options, double *x, nb_ctx *ctx)
{
    size_t m = (size_t)nb_factors_m(factors);
    (void)options;
    (void)ctx;
    for (size_t i = 0; i < m * m; i++) x[i] = i % (m + 1) == 0;
    return NB_OK;
}

static nb_core_cost cost(const void *options, int n, int m)
{
    (void)options;
    (void)n;
    (void)m;
    return (nb_core_cost){.multiplications = 0};
}

static const char *const references[] = {
    "Patrick et al., Keeping your eye on the ball: trajectory attention in video transformers (Orthoformer), NeurIPS "
    "2021, arXiv:2106.05392",
    "Han et al., Agent attention: on the integration of softmax and linear attention, ECCV 2024, arXiv:2312.08874",
    NULL};

static const nb_option options[] = {NB_OPTION_END};

const nb_core nb_core_identity = {
    .component = {"identity", "X = I, no middle: the core of factors nocore and kernel_ridge", references, options, 0},
    .traits = NB_CORE_IDENTITY,
    .compute = compute,
    .cost = cost,
    .explanation =
        "The factors nocore and kernel_ridge are planned once, with this core, whatever cores the experiment lists;\n"
        "no other factors are planned with it. There is no A: its rank, its condition and core_residual are empty.\n"
        "error_core is what the missing middle adds to the least error that any middle reaches.",
};
