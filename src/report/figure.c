/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figure.c - see figure.h */
#include "report/figure.h"

#include "report/relation.h"

#include <stdio.h>

nb_status nb_figure_choose_m(const nb_relation *relation, int *m, nb_ctx *ctx)
{
    const char *all = "";
    nb_answer a;
    NB_TRY(ctx,
           nb_relation_ask(relation, "SELECT DISTINCT landmarks FROM key ORDER BY landmarks", NULL, &a, NULL, ctx));
    if (a.count > 0 && *m == 0) *m = (int)nb_answer_at(&a, (a.count - 1) / 2, 0)->integer;
    for (int i = 0; i < a.count; i++) {
        long long landmarks = nb_answer_at(&a, i, 0)->integer;
        if (landmarks == *m) return NB_OK;
        NB_NEED(all, nb_format(ctx, "%s%s%lld", all, i ? ", " : "", landmarks));
    }
    NB_REQUIRE(ctx, a.count == 0, NB_EINVAL, "--m %d: the run has no such number of landmarks; it has %s", *m, all);
    return NB_OK;
}

nb_status nb_figure_is_offered(const nb_figure *figure, const nb_relation *relation, bool *offered, nb_ctx *ctx)
{
    nb_answer values;
    *offered = !figure->again;
    if (!figure->compares) return NB_OK;
    NB_TRY(ctx, nb_relation_values(relation, figure->compares, &values, ctx));
    *offered = *offered && values.count > 1;
    return NB_OK;
}

void nb_figure_warn(const char *name)
{
    fprintf(stderr, "nysbench: warning: plot %s: the run has no rows that it draws\n", name);
}
