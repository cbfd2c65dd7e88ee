/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flops.c - see flops.h */
#include "studies/error/flops.h"

#include "cores/core.h"
#include "kernels/kernel.h"

#include <math.h>

double nb_forward_multiplications(const nb_choice *choice, int n, int d, int m)
{
    const nb_core *core = (const nb_core *)choice->component;
    double row = (double)n * d;
    if (!core || !core->cost) return NAN;
    nb_core_cost x = core->cost(choice->options, n, m);
    double middle = nb_core_traits(choice) & NB_CORE_IDENTITY ? 0 : 2.0 * m * m * d; /* A, and X (B V) */
    return 4 * row * m + middle + x.multiplications + (x.rows + x.kept) * row;
}

double nb_exact_multiplications(int n, int d)
{
    return 2.0 * n * n * d;
}

bool nb_forward_is_linear(nb_factors_kind factors, const nb_choice *kernel)
{
    return factors != NB_CUR || !((const nb_kernel *)kernel->component)->stochastic;
}

double nb_flops_of_exact(const nb_error_row *row)
{
    return row->measures.flops / (2 * nb_exact_multiplications(row->n, row->d));
}

double nb_time_of_exact(const nb_error_row *row)
{
    const nb_measures *m = &row->measures;
    return (m->select_s + m->core_s + m->forward_s) / m->exact_s;
}
