/* TEMPLATE.c - X = scale A' / |A|_F^2, one step of gradient descent on |I - A X|, O(m^2):
 * say here what it computes, the formula, the cost, the source.
 *
 * `nysbench new core NAME` copies this file. In src/cores/ it is all that is needed: the
 * build finds it, `nysbench list` names it, and `make test` runs the conformance test on
 * it. Elsewhere it becomes a plug-in, see src/components/plugin.h. The record's name and its symbol,
 * nb_core_NAME, must equal the file's stem. */
#include "cores/core.h"

typedef struct {
    double scale;
} template_options;

static const nb_option options[] = {NB_REAL(template_options, scale, "1", 1e-6, 1e6, "length of the step"),
                                    NB_OPTION_END};

/* A (m x m) and x are column-major. factors.h gives A's SVD and exact rows of
 * S; memory from nb_alloc(ctx, ...) is freed after the call. */
static nb_status compute(nb_factors *factors, const void *opts, double *x, nb_ctx *ctx)
{
    const template_options *o = opts;
    const double *a = nb_factors_a(factors);
    int m = nb_factors_m(factors);
    double squares = 0;
    (void)ctx;
    for (int i = 0; i < m * m; i++) squares += a[i] * a[i];
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) x[i + j * m] = squares > 0 ? o->scale * a[j + i * m] / squares : 0;
    return NB_OK;
}

static const char *const references[] = {"Author, Title, where and when", NULL};

const nb_core nb_core_TEMPLATE = {
    .component = {"TEMPLATE", "one line for the list", references, options, sizeof(template_options)},
    .traits = NB_CORE_FILTER, /* NB_CORE_RANDOM where it looks at rows of S, NB_CORE_ORACLE at all of S */
    .compute = compute,
};

NB_PLUGIN({"core", &nb_core_TEMPLATE.component}); /* elsewhere; in src/cores/ it says nothing */
