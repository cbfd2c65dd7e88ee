/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.c - how strategies rank by their error, source by source. */
#include "report/ranks_print.h"
#include "report/table.h"

static nb_status make(nb_relation *relation, const nb_table_form *form, nb_ctx *ctx)
{
    static const nb_standing_terms terms = {.by = "strategy", .metric = "error"};
    nb_standings_view view;
    NB_TRY(ctx, nb_standings_view_make(relation, &terms, "landmarks", "core", &view, ctx));
    return form->grid ? nb_ranks_fill(form->grid, &view) : nb_ranks_show(form->page, &view);
}

static const char *const references[] = {
    "J. Demsar, Statistical comparisons of classifiers over multiple data sets, J. Mach. Learn. Res. 7, 2006",
    "M. Friedman, The use of ranks to avoid the assumption of normality, J. Am. Stat. Assoc. 32, 1937", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_ranks = {
    .component = {"ranks", "mean rank of each strategy over sources, with the tests of Friedman and Nemenyi",
                  references, options, 0},
    .study = "error",
    .make = make,
};
