/* TEMPLATE.c - k(q, k) = (shift + q.k / d)^2: say here what it computes, the formula, what
 * rounding does to it, the source.
 *
 * `nysbench new kernel NAME` copies this file. In src/kernels/ it is all that is needed:
 * the build finds it, `nysbench list` names it, and `make test` runs the conformance test
 * on it. Elsewhere it becomes a plug-in, see src/components/plugin.h. The record's name and its
 * symbol, nb_kernel_NAME, must equal the file's stem. */
#include "kernels/kernel.h"

typedef struct {
    double shift;
} template_options;

static const nb_option options[] = {
    NB_REAL(template_options, shift, "1", 0, 1e6, "what is added to the mean of the products"), NB_OPTION_END};

/* Column i of `out` is the row of query i; under a mask later keys have 0. */
static nb_status fill(const nb_tile *t, const void *opts, double *out, nb_ctx *ctx)
{
    const template_options *o = opts;
    (void)ctx;
    for (int i = 0; i < t->queries; i++) {
        const double *q = t->q + (size_t)i * (size_t)t->d;
        double *row = out + (size_t)i * (size_t)t->ld;
        for (int j = 0; j < t->keys; j++) {
            const double *k = t->k + (size_t)j * (size_t)t->d;
            double sum = 0;
            for (int l = 0; l < t->d; l++) sum += q[l] * k[l];
            row[j] = t->causal && j > t->positions[i] ? 0 : (o->shift + sum / t->d) * (o->shift + sum / t->d);
        }
    }
    return NB_OK;
}

static const char *const references[] = {"Author, Title, where and when", NULL};

const nb_kernel nb_kernel_TEMPLATE = {
    .component = {"TEMPLATE", "one line for the list", references, options, sizeof(template_options)},
    .stochastic = false, /* true: its rows are >= 0 and sum to 1 */
    .fill = fill,
};

NB_PLUGIN({"kernel", &nb_kernel_TEMPLATE.component}); /* elsewhere; in src/kernels/ it says nothing */
