/* SPDX-License-Identifier: GPL-3.0-or-later */
/* results.c - see results.h */
#include "show/results.h"

#include "base/files.h"
#include "show/compare_print.h"
#include "show/figure.h"
#include "rows/relation.h"
#include "show/table.h"
#include "run/run_folder.h"

#include <string.h>

/* True where not one line of a comparison has a ratio, since all that is compared is exact but for rounding. */
static bool is_idle(const nb_comparison *c)
{
    for (int i = 0; i < c->count; i++)
        if (c->by_error || c->items[i].verdict != NB_EXACT) return false;
    return true;
}

/* Leaves nothing but the page in memory. */
nb_status nb_results_tell(const nb_results *results, nb_page *page, nb_ctx *ctx)
{
    nb_relation *relation = results->relation;
    nb_comparison usual;
    nb_ctx *own;
    NB_NEED(own, nb_ctx_child(ctx));
    NB_TRY(ctx, nb_tables_write(results->folder, relation, own));
    if (page) NB_TRY(ctx, nb_compare_methods(relation, 0, NULL, &usual, own));
    if (page && is_idle(&usual)) NB_TRY(ctx, nb_tables_show(page, 1, relation, own));
    if (page && !is_idle(&usual)) NB_TRY(ctx, nb_compare_show(page, &usual, &(nb_compare_view){false, false}, own));
    nb_ctx_release(own, 0);
    return NB_OK;
}

/* True unless the figures are the study's usual ones, which it may have no rows for. */
static bool figures_asked(const nb_config *c)
{
    for (int i = 0; i < c->origins.count; i++)
        if (strcmp(c->origins.items[i].key, "plots") == 0) return strcmp(c->origins.items[i].text, "default") != 0;
    return true;
}

/* Those of the config, and those that were drawn of earlier rows, except those that repeat a part of the run. */
nb_status nb_results_draw(const nb_results *results, nb_ctx *ctx)
{
    const nb_config *c = results->plan->config;
    const char *study = c->study->component.name;
    nb_drawing drawing = {.run = results->folder,
                          .experiment = c->name,
                          .plan = results->plan,
                          .relation = results->relation,
                          .gnuplots = results->gnuplots};
    NB_TRY(ctx, nb_run_path(results->folder, NB_PLOTS_FOLDER, &drawing.folder, ctx));
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        const nb_figure *figure = (const nb_figure *)e->component;
        const char *name = e->component->name, *before;
        bool wanted = false;
        int figures;
        if (strcmp(figure->study, study) != 0) continue;
        for (int i = 0; i < c->plot_count; i++) wanted = wanted || strcmp(c->plots[i], name) == 0;
        NB_NEED(before, nb_format(ctx, "%s/%s.csv", drawing.folder, name));
        if (!wanted && (figure->again || !nb_is_file(before))) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_graph_draw(figure, &drawing, &figures, ctx));
        nb_ctx_release(ctx, mark);
        if (figures == 0 && figures_asked(c)) nb_figure_warn(name);
    }
    return NB_OK;
}
