/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flops.c - see study.h: the multiplications of a forward pass */
#include "studies/error/study.h"

#include "cores/core.h"
#include "kernels/kernel.h"

#include <math.h>

double nb_forward_multiplications(nb_factors_kind factors, const nb_choice *choice, int n, int d, int m)
{
    const nb_core *core = (const nb_core *)choice->component;
    double row = (double)n * d;
    if (!core || !core->cost) return NAN;
    nb_core_cost x = nb_core_cost_of(choice, n, m);
    double middle = nb_core_traits(choice) & NB_CORE_IDENTITY ? 0 : 2.0 * m * m * d; /* A, and X (B V) */
    if (factors == NB_KERNEL_RIDGE) middle = nb_interpolation_multiplications(n, d, m);
    return 4 * row * m + middle + x.multiplications + (x.rows + x.kept) * row;
}

bool nb_forward_is_linear(nb_factors_kind factors, const nb_choice *kernel)
{
    return factors != NB_CUR || !((const nb_kernel *)kernel->component)->stochastic;
}

static void multiplications(sqlite3_context *c, int count, sqlite3_value **arguments)
{
    nb_ctx *ctx = nb_ctx_new();
    nb_choice core;
    const char *text = (const char *)sqlite3_value_text(arguments[0]);
    nb_status status = ctx && text ? nb_choice_parse(&nb_cores, text, &core, ctx) : NB_ENOMEM;
    double x = status == NB_OK
                   ? nb_forward_multiplications(NB_NYSTROMFORMER, &core, sqlite3_value_int(arguments[1]),
                                                sqlite3_value_int(arguments[2]), sqlite3_value_int(arguments[3]))
                   : NAN;
    (void)count;
    nb_ctx_free(ctx);
    if (status == NB_ENOMEM)
        sqlite3_result_error_nomem(c);
    else if (!isnan(x)) /* the core is in this program and tells */
        sqlite3_result_double(c, x);
}

nb_status nb_flops_add_functions(sqlite3 *db, nb_ctx *ctx)
{
    NB_REQUIRE(ctx,
               sqlite3_create_function(db, "multiplications", 4, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                       NULL, multiplications, NULL, NULL) == SQLITE_OK,
               NB_ENOMEM, "the function multiplications: %s", sqlite3_errmsg(db));
    return NB_OK;
}
