/* iterative.c - Nystromformer's iterative pseudo-inverse.
 *
 *     X <- X (13 I - A X (15 I - A X (7 I - A X))) / 4
 *
 * from X = A' / (|A|_1 |A|_inf) (paper) or A' / |A|_1 (exact; the same for a
 * matrix whose rows sum to 1). On each singular value s of A it is the scalar
 * map p <- p (13 - p (15 - p (7 - p))) / 4 of p = s x, from p0 = s^2 / c, where
 * x is the singular value of X and c the start's divisor. Small p grows 13/4 a
 * step, so k steps are a soft cut-off near s = sqrt(c) 3.25^(-k/2) rather than
 * an inverse. Third order close to p = 1. 4 products of m x m a step. */
#include "cores/core.h"

#include "linalg/linalg.h"

#include <string.h>

typedef struct {
    int steps, start;
} iterative_options;

enum { PAPER, EXACT };
static const char *const starts[] = {"paper", "exact", NULL};

static const nb_option options[] = {
    NB_INT(iterative_options, steps, "6", 0, 10000, "iterations"),
    NB_ENUM(iterative_options, start, "paper", starts, "A' divided by |A|_1 |A|_inf (paper) or by |A|_1 (exact)"),
    NB_OPTION_END};

/* out <- alpha I - a b, all m x m. */
static void shifted_product(int m, double alpha, const double *a, const double *b, double *out)
{
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, -1, a, m, b, m, 0, out, m);
    for (int i = 0; i < m; i++) out[i + i * m] += alpha;
}

static void start(int m, const double *a, int kind, double *x)
{
    double divisor = nb_norm_one(m, m, a);
    if (kind == PAPER) divisor *= nb_norm_infinity(m, m, a);
    nb_transpose(m, m, a, x);
    for (int i = 0; i < m * m && divisor > 0; i++) x[i] /= divisor;
}

static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const iterative_options *o = opts;
    int m = factors->m;
    size_t square = (size_t)m * (size_t)m;
    double *ax, *inner, *outer;
    NB_NEED(ax, nb_alloc_reals(ctx, square, 3));
    inner = ax + square;
    outer = inner + square;
    start(m, factors->a, o->start, x);
    for (int step = 0; step < o->steps; step++) {
        nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, factors->a, m, x, m, 0, ax, m);
        for (size_t i = 0; i < square; i++) inner[i] = -ax[i];
        for (int i = 0; i < m; i++) inner[i + i * m] += 7;
        shifted_product(m, 15, ax, inner, outer);
        shifted_product(m, 13, ax, outer, inner);
        memcpy(outer, x, square * sizeof *outer);
        nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 0.25, outer, m, inner, m, 0, x, m);
    }
    return NB_OK;
}

static const char *const references[] = {
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902, eq. 11",
    "Razavi, Kerayechian, Gachpazan & Shateyi, A new iterative method for finding approximate inverses of complex matrices, Abstr. Appl. Anal. 2014", NULL};

const nb_core nb_core_iterative = {
    .component = {"iterative", "Nystromformer's iteration towards the pseudo-inverse of A", references, options,
                  sizeof(iterative_options)},
    .compute = compute,
};
