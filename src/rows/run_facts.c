/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_facts.c - see run_facts.h */
#include "rows/run_facts.h"

#include "rows/statement.h"

nb_status nb_relation_experiment(const nb_relation *r, const char **name, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, nb_sql_ask(r, "run_facts.experiment", NB_GIVEN(NB_GIVE_PIECE("rows", r->rows)), &a, ctx));
    *name = a.count > 0 ? nb_grid_at(&a, 0, 0)->text : NULL;
    return NB_OK;
}

nb_status nb_relation_unfinished(const nb_relation *r, const char **text, nb_ctx *ctx)
{
    return nb_relation_text(r, nb_sql_text("run_facts.unfinished"), text, ctx);
}

nb_status nb_relation_strata(const nb_relation *r, nb_grid *strata, nb_ctx *ctx)
{
    return nb_sql_ask(r, "run_facts.strata", NULL, strata, ctx);
}

nb_status nb_relation_seed(const nb_relation *r, long long *seed, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, nb_sql_ask(r, "run_facts.seed", NULL, &a, ctx));
    NB_REQUIRE(ctx, a.count > 0, NB_EIO, "the run has no rows");
    *seed = nb_grid_at(&a, 0, 0)->integer;
    return NB_OK;
}

nb_status nb_relation_sizes(const nb_relation *r, int most, nb_grid *sizes, nb_ctx *ctx)
{
    return nb_sql_ask(r, "run_facts.sizes", NB_GIVEN(NB_GIVE_INT("most", most)), sizes, ctx);
}
