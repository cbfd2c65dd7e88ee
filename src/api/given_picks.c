/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given_picks.c - see given_picks.h */
#include "api/given_picks.h"

#include "linalg/vector.h"

#include <string.h>

nb_status nb_given_tokens(const char *name, int m, int n, const int64_t *from, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int i = 0; i < m; i++) {
        NB_REQUIRE(ctx, from[i] >= 0 && from[i] < n, NB_EINVAL, "%s: landmark %d is token %lld, allowed are 0 to %d",
                   name, i, (long long)from[i], n - 1);
        tokens[i] = (int)from[i];
    }
    return nb_picks_check(picks, n, m, ctx);
}

nb_status nb_given_groups(const char *name, int m, int n, const int64_t *from, nb_picks *picks, nb_ctx *ctx)
{
    int *groups;
    NB_NEED(groups, nb_picks_groups(picks, m, n));
    for (int i = 0; i < n; i++) {
        NB_REQUIRE(ctx, from[i] >= 0 && from[i] < m, NB_EINVAL, "%s: token %d is of group %lld, allowed are 0 to %d",
                   name, i, (long long)from[i], m - 1);
        groups[i] = (int)from[i];
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
