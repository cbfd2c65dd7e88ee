/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c - nysbench list [KIND] */
#include "commands/command.h"

#include "api/kinds.h"
#include "commands/program.h"

typedef struct {
    nysbench *handle;
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

static void begin(listing *l, const char *heading)
{
    if (*heading) nb_page_heading(&l->page, 2, "%s", heading);
    nb_page_table(&l->page);
    nb_page_headless(&l->page);
    nb_page_column(&l->page, NB_PAGE_LABEL, "name");
    nb_page_column(&l->page, NB_PAGE_PROSE, "summary");
}

static nb_status list(listing *l, const char *kind, const char *heading)
{
    const char *const *names, *summary;
    nysbench_status status = nysbench_names(l->handle, kind, &names);
    if (status == NYSBENCH_OK) begin(l, heading);
    for (int i = 0; status == NYSBENCH_OK && names[i]; i++) {
        status = nysbench_summary(l->handle, kind, names[i], &summary);
        if (status == NYSBENCH_OK) NB_TRY(l->ctx, add_line(l, kind, names[i], summary));
    }
    NB_REQUIRE(l->ctx, status == NYSBENCH_OK, NB_EINVAL, "list: %s", nysbench_message(l->handle));
    return NB_OK;
}

static nb_status list_all(listing *l)
{
    const nb_registry *kind;
    for (int i = 0; (kind = nb_kind_at(i)); i++) {
        const char *heading;
        NB_NEED(heading, nb_format(l->ctx, "%s:", kind->plural));
        NB_TRY(l->ctx, list(l, kind->kind, heading));
    }
    return NB_OK;
}

/* NB_EINVAL if there is no such kind. */
static nb_status print(listing *l, const char *kind)
{
    static const char *const heads[] = {"kind", "name", "summary", NULL};
    const nb_registry *registry;
    nb_page_make(&l->page, l->ctx);
    NB_TRY(l->ctx, nb_grid_make(&l->grid, heads, l->ctx));
    if (kind) NB_TRY(l->ctx, nb_kind_find(kind, &registry, l->ctx));
    NB_TRY(l->ctx, kind ? list(l, registry->kind, "") : list_all(l));
    return nb_format_is_page(l->format) ? nb_format_page(&l->page, l->format) : nb_format_grid(&l->grid, l->format);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    listing l = {.ctx = ctx};
    const struct poptOption options[] = {NB_FORMAT_OPTION(line), NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    nb_host host = {.prefix = NULL};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    l.format = (nb_output_format)line->format.value;
    NB_TRY(ctx, nb_program_handle(&l.handle, &host, ctx));
    return print(&l, line->arguments[0]);
}

NB_COMMAND(list, "[KIND]", "List components, figures and tables", false, NB_YOUR_OWN + 10);
