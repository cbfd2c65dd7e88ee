/* SPDX-License-Identifier: GPL-3.0-or-later */
/* standings_view.h - standings as tables and figures show them: those of one scope and stratum side by side. */
#ifndef NB_STANDINGS_VIEW_H
#define NB_STANDINGS_VIEW_H

#include "report/grid.h"
#include "report/scopes.h"
#include "report/standings.h"

/* Of tests by ranks and signs, for people. */
#define NB_TESTS_CAVEAT \
    "The tests do not cover the luck of a trial's draws, which is the same for all sources; the intervals of " \
    "'nysbench compare' do."

typedef struct {
    nb_standing_terms terms;
    const char *along; /* an INT column: the standings of a block differ in it */
    nb_standings standings;
    nb_scopes scopes;
    nb_ctx *ctx;
} nb_standings_view;

/* `named`: see nb_scopes_find. Without rows there is no scope. */
nb_status nb_standings_view_make(nb_relation *relation, const nb_standing_terms *terms, const char *along,
                                 const char *named, nb_standings_view *view, nb_ctx *ctx);

typedef struct {
    int scope, stratum;
    const char *stratum_label;
    int count; /* of standings, ascending along the column */
    const nb_ranking **items;
    const int *along; /* by item */
} nb_standings_block;

/* By scope; of each first over strata. */
nb_status nb_standings_view_blocks(const nb_standings_view *view, int *count, nb_standings_block **blocks);

const char *nb_standing_label(const nb_standings_view *view, const nb_ranking *standing, int method);
int nb_standing_place(const nb_ranking *standing, int code); /* of a method; -1: it is not planned there */

/* A grid for programs, of the columns of a setting, `model`, and these, which end with NULL. */
nb_status nb_standings_grid(const nb_standings_view *view, const char *const *columns, nb_grid *grid);
/* Cells: those of the setting and the model; a method as it stands in a row, and its label. */
nb_status nb_standing_add_setting(nb_grid *grid, const nb_standings_view *view, const nb_ranking *standing);
nb_status nb_standing_add_method(nb_grid *grid, const nb_standings_view *view, const nb_ranking *standing, int method);

/* The name of a group: a ... z, aa, ab, ...; of those from the first to the last: "a", "ab", "a-d"; ""
 * for first < 0. */
nb_status nb_standing_letters(int first, int last, const char **letters, nb_ctx *ctx);

/* Why there is no test; NULL: there is one. */
nb_status nb_standing_untested(const nb_ranking *standing, const char **why, nb_ctx *ctx);

#endif
