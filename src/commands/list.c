/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c - nysbench list [KIND]: for people a heading and a table for each kind, for programs all in one. */
#include "commands/command.h"

#include "api/kinds.h"

static void begin_table(nb_page *page)
{
    nb_page_table(page);
    nb_page_headless(page);
    nb_page_column(page, NB_PAGE_LABEL, "name");
    nb_page_column(page, NB_PAGE_PROSE, "summary");
}

static nb_status add(const nb_registry *kind, nb_page *page, nb_grid *grid, nb_ctx *ctx)
{
    begin_table(page);
    for (const nb_entry *e = kind->entries; e->component; e++) {
        if (nb_component_of_caller(e->component)) continue;
        nb_page_row(page);
        nb_page_cell(page, "%s", e->component->name);
        nb_page_cell(page, "%s", e->component->summary);
        NB_TRY(ctx, nb_grid_text(grid, kind->kind));
        NB_TRY(ctx, nb_grid_text(grid, e->component->name));
        NB_TRY(ctx, nb_grid_text(grid, e->component->summary));
    }
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    static const char *const heads[] = {"kind", "name", "summary", NULL};
    const struct poptOption options[] = {NB_FORMAT_OPTION(line), NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    const nb_registry *kind;
    nb_page page;
    nb_grid grid;
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    nb_page_make(&page, ctx);
    NB_TRY(ctx, nb_grid_make(&grid, heads, ctx));
    if (line->arguments[0]) {
        NB_TRY(ctx, nb_kind_find(line->arguments[0], &kind, ctx));
        NB_TRY(ctx, add(kind, &page, &grid, ctx));
    }
    for (int i = 0; !line->arguments[0] && nb_kind_at(i); i++) {
        nb_page_heading(&page, 2, "%s:", nb_kind_at(i)->plural);
        NB_TRY(ctx, add(nb_kind_at(i), &page, &grid, ctx));
    }
    nb_output_format format = (nb_output_format)line->format.value;
    return nb_format_is_page(format) ? nb_format_page(&page, format) : nb_format_grid(&grid, format);
}

NB_COMMAND(list, "[KIND]", "List components, figures and tables", false, NB_YOUR_OWN + 10);
