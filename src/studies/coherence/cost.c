/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - multiplications and bytes of a unit, from the operations of measure.c and runner.c: an SVD of a x b takes
 * some 10 a b min(a, b) multiplications for the values, 20 with the vectors. */
#include "run/prediction.h"
#include "studies/coherence/study.h"

#include <math.h>

/* How many of a large product a multiplication counts, with matrices as small as these; what a unit takes at least. */
static const double SMALL = 12, LEAST = 1e6;
enum { ITERATIONS = 30 }; /* of a partition that looks at the points: k-means on real heads */

/* Errors from random tokens, for one k. */
static double draws(double r, double k)
{
    return NB_COHERENCE_DRAWS * (4 * r * r * k + 8 * r * k * k);
}

/* A partition and what is measured of it, whatever tau is. */
static double clustering(double n, double d, double k)
{
    double r = fmin(n, d);
    return ITERATIONS * n * k * d + 10 * n * d * fmin(n / k, d) + n * k * d + 4 * r * r * k + 8 * r * k * k;
}

static bool starts(const nb_plan *plan, int first, int row, unsigned axes)
{
    if (row == first || plan->rows[row].trial != plan->rows[row - 1].trial) return true;
    for (int axis = 0; axes >> axis; axis++)
        if ((axes >> axis & 1) && nb_plan_value(plan, row, axis) != nb_plan_value(plan, row - 1, axis)) return true;
    return false;
}

nb_cost nb_coherence_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_planned_scene *s = &plan->scenes[plan->rows[unit->first].scene];
    const unsigned k_alone = 1u << NB_COHERENCE_CLUSTERS, both = k_alone | 1u << NB_COHERENCE_PARTITION;
    double n = s->n, d = s->d, r = fmin(n, d), work = 0;
    for (int i = unit->first; i < unit->end; i++) {
        double k = nb_plan_value(plan, i, NB_COHERENCE_CLUSTERS);
        if ((pending && !pending[i]) || k > r) continue;
        if (work == 0) work = 20 * n * d * r; /* an SVD with vectors */
        if (starts(plan, unit->first, i, k_alone)) work += draws(r, k);
        if (starts(plan, unit->first, i, both)) work += clustering(n, d, k);
        work += n;
    }
    return (nb_cost){.multiplications = SMALL * work + LEAST, .bytes = 32e6 + 8 * (6 * n * d + 8 * r * r)};
}
