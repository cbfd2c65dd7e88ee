/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c - nysbench list [KIND] */
#include "commands/command.h"

#include "api/kinds.h"

typedef struct {
    nb_output_format format;
    nb_page page; /* for people: a heading and a table for each kind */
    nb_grid grid; /* for programs: all in one */
    nb_ctx *ctx;
} listing;

static nb_status add_line(listing *l, const char *kind, const char *name, const char *summary)
{
    if (!nb_format_is_page(l->format)) {
        NB_TRY(l->ctx, nb_grid_text(&l->grid, kind));
        NB_TRY(l->ctx, nb_grid_text(&l->grid, name));
        return nb_grid_text(&l->grid, summary);
    }
    nb_page_row(&l->page);
    nb_page_cell(&l->page, "%s", name);
    nb_page_cell(&l->page, "%s", summary);
    return NB_OK;
}

static nb_status list(listing *l, const nb_registry *kind, bool headed)
{
    const char *const *names;
    NB_TRY(l->ctx, nb_registry_names(kind, &names, l->ctx));
    if (headed) nb_page_heading(&l->page, 2, "%s:", kind->plural);
    nb_page_table(&l->page);
    nb_page_headless(&l->page);
    nb_page_column(&l->page, NB_PAGE_LABEL, "name");
    nb_page_column(&l->page, NB_PAGE_PROSE, "summary");
    for (; *names; names++) NB_TRY(l->ctx, add_line(l, kind->kind, *names, nb_registry_find(kind, *names)->summary));
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    static const char *const heads[] = {"kind", "name", "summary", NULL};
    const nb_registry *registry, *only = NULL;
    listing l = {.ctx = ctx};
    const struct poptOption options[] = {NB_FORMAT_OPTION(line), NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    l.format = (nb_output_format)line->format.value;
    nb_page_make(&l.page, ctx);
    NB_TRY(ctx, nb_grid_make(&l.grid, heads, ctx));
    if (line->arguments[0]) NB_TRY(ctx, nb_kind_find(line->arguments[0], &only, ctx));
    for (int i = 0; (registry = nb_kind_at(i)); i++)
        if (!only || registry == only) NB_TRY(ctx, list(&l, registry, !only));
    return nb_format_is_page(l.format) ? nb_format_page(&l.page, l.format) : nb_format_grid(&l.grid, l.format);
}

NB_COMMAND(list, "[KIND]", "List components, figures and tables", false, NB_YOUR_OWN + 10);
