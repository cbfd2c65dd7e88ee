/* TEMPLATE.c - the m tokens of largest norm, O(nd + nm): say here what it computes,
 * the formula, the cost, the source.
 *
 * `nysbench new strategy NAME` copies this file. In strategies/ it is all that is needed:
 * the build finds it, `nysbench list` names it, and `make test` runs the conformance test
 * on it. Elsewhere it becomes a plug-in, see src/components/plugin.h. The record's name and its
 * symbol, nb_strategy_NAME, must equal the file's stem. */
#include "strategy.h"

#include <gsl/gsl_sort.h>

typedef struct {
    int smallest;
} template_options;

static const nb_option options[] = {
    NB_BOOL(template_options, smallest, "false", "take the tokens of smallest norm instead"), NB_OPTION_END};

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const template_options *o = opts;
    double *norm;
    size_t *order;
    int *tokens;
    NB_NEED(norm, nb_alloc_reals(ctx, (size_t)points->n, 1)); /* zeroed, and freed after the call */
    NB_NEED(order, nb_alloc(ctx, (size_t)m, sizeof *order));
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    nb_count_multiplications((double)points->n * points->d); /* of this loop, for the column flops */
    for (int i = 0; i < points->n; i++)
        for (int l = 0; l < points->d; l++) norm[i] += points->x[i * points->d + l] * points->x[i * points->d + l];
    if (o->smallest)
        gsl_sort_smallest_index(order, (size_t)m, norm, 1, (size_t)points->n);
    else
        gsl_sort_largest_index(order, (size_t)m, norm, 1, (size_t)points->n);
    for (int j = 0; j < m; j++) tokens[j] = (int)order[j];
    return NB_OK;
}

static const char *const references[] = {"Author, Title, where and when", NULL};

const nb_strategy nb_strategy_TEMPLATE = {
    .component = {"TEMPLATE", "one line for the list", references, options, sizeof(template_options)},
    .traits = 0, /* NB_RANDOM, NB_NESTED (then nb_picks_begin and nb_picks_add), NB_ORACLE, NB_SQUARE, NB_EIGEN */
    .pairing = NB_JOINT,
    .pick = pick,
};

NB_PLUGIN({"strategy", &nb_strategy_TEMPLATE.component}); /* elsewhere; in strategies/ it says nothing */
