/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given_picks.c - picks from arrays of the caller */
#include "api/handle.h"

#include "linalg/vector.h"

#include <string.h>

nb_status nb_given_tokens(const char *name, bool groups, int m, int n, const int64_t *from, nb_picks *picks,
                          nb_ctx *ctx)
{
    int *to, count = groups ? n : m, most = groups ? m : n;
    NB_NEED(to, groups ? nb_picks_groups(picks, m, n) : nb_picks_tokens(picks, m));
    for (int i = 0; i < count; i++) {
        NB_REQUIRE(ctx, from[i] >= 0 && from[i] < most, NB_EINVAL, "%s: %s %d is %s %lld, allowed are 0 to %d", name,
                   groups ? "token" : "landmark", i, groups ? "of group" : "token", (long long)from[i], most - 1);
        to[i] = (int)from[i];
    }
    return nb_picks_check(picks, n, m, ctx);
}

nb_status nb_given_points(const char *name, int m, int d, const double *from, nb_picks *picks, nb_ctx *ctx)
{
    double *points;
    size_t count = (size_t)m * (size_t)d;
    NB_REQUIRE(ctx, from, NB_EINVAL, "%s is NULL: points need an array for each side", name);
    NB_REQUIRE(ctx, nb_all_finite(count, from), NB_ENUMERIC, "%s: NaN or Inf", name);
    NB_NEED(points, nb_picks_points(picks, d, m));
    memcpy(points, from, count * sizeof *points);
    return NB_OK;
}
