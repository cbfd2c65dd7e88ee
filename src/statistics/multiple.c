/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multiple.c - see multiple.h */
#include "statistics/multiple.h"

#include <gsl/gsl_sort.h>
#include <math.h>

double nb_joint_confidence(double confidence, int family)
{
    return family > 1 ? 1 - (1 - confidence) / family : confidence;
}

double nb_holm_next(nb_holm_steps *s, double p)
{
    s->largest = fmax(s->largest, fmin(1, s->left * p));
    s->left--;
    return s->largest;
}

nb_status nb_holm(int n, const double *p, double *adjusted, nb_ctx *ctx)
{
    double *kept;
    size_t *order, count = 0;
    int *at;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(kept, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(at, nb_alloc(ctx, (size_t)n, sizeof *at));
    NB_NEED(order, nb_alloc(ctx, (size_t)n, sizeof *order));
    for (int i = 0; i < n; i++) {
        adjusted[i] = NAN;
        if (isnan(p[i])) continue;
        at[count] = i;
        kept[count++] = p[i];
    }
    gsl_sort_index(order, kept, 1, count);
    nb_holm_steps steps = {.left = (int)count};
    for (size_t j = 0; j < count; j++) adjusted[at[order[j]]] = nb_holm_next(&steps, kept[order[j]]);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}
