/* SPDX-License-Identifier: GPL-3.0-or-later */
/* distances.c - the median distance, the usual bandwidth of a Gaussian kernel. */
#include "linalg/distances.h"

#include "linalg/vector.h"
#include "linalg/work.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { MOST = 512 };

static size_t spaced(size_t index, size_t count, size_t of)
{
    return index * of / count;
}

static nb_status median_distance(size_t d, size_t n, const double *x, size_t m, const double *y, double *median,
                                 nb_ctx *ctx)
{
    size_t rows = n < MOST ? n : MOST, columns = m < MOST ? m : MOST, count = 0;
    double *distance;
    NB_NEED(distance, nb_alloc_reals(ctx, rows, columns));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            if (x != y || i != j)
                distance[count++] =
                    sqrt(nb_squared_distance(d, x + spaced(i, rows, n) * d, y + spaced(j, columns, m) * d));
    nb_count_multiplications((double)count * (double)d);
    *median = count ? gsl_stats_median(distance, 1, count) : 0; /* by selection, in O(count) */
    if (!(*median > 0)) *median = 1;
    return NB_OK;
}

nb_status nb_median_distance(int d, int n, const double *x, int m, const double *y, double *median, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = median_distance((size_t)d, (size_t)n, x, (size_t)m, y, median, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
