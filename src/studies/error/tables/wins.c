/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wins.c - strategies against each other: on how many sources one has the lesser error. */
#include "report/wins_print.h"
#include "report/table.h"

static nb_status make(nb_relation *relation, const nb_table_form *form, nb_ctx *ctx)
{
    static const nb_standing_terms terms = {.by = "strategy", .metric = "error"};
    nb_standings_view view;
    NB_TRY(ctx, nb_standings_view_make(relation, &terms, "landmarks", "core", &view, ctx));
    return form->grid ? nb_wins_fill(form->grid, &view) : nb_wins_show(form->page, &view);
}

static const char *const references[] = {
    "S. Holm, A simple sequentially rejective multiple test procedure, Scand. J. Stat. 6, 1979", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_table nb_table_wins = {
    .component = {"wins", "strategies against each other: on how many sources one has the lesser error", references,
                  options, 0},
    .study = "error",
    .make = make,
};
