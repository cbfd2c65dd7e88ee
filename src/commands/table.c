/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c - nysbench table RUN [TABLE]...: it finds them in the registry, and shows each by show/table.h, or as a grid
 * for programs by show/query.h. */
#include "commands/command.h"

#include "base/builder.h"
#include "base/fields.h"
#include "components/study.h"
#include "rows/refusal.h"
#include "show/query.h"
#include "show/table.h"

#include <string.h>

typedef struct {
    nb_output_format format;
    const char *const *confounded; /* NULL: nothing */
    nb_relation *relation;
} wish;

/* A table on a page, or as a grid; *empty: the rows have nothing for it. */
static nb_status make_page(const nb_table *table, const wish *w, nb_page *page, nb_grid *grid, bool *empty, nb_ctx *ctx)
{
    bool shown = nb_format_is_page(w->format);
    nb_page_make(page, ctx);
    page->name = table->component.name;
    NB_TRY(ctx,
           shown ? nb_table_show(page, table, w->relation, ctx) : nb_query_fill(w->relation, table->sql, grid, ctx));
    *empty = shown ? page->count == 0 : grid->count == 0;
    return NB_OK;
}

/* Adds the tables of that place to a list, as far as the rows have something for them. */
static nb_status list_place(const char *study, const wish *w, int place, nb_grid *all, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        bool any;
        if (strcmp(table->study, study) != 0 || table->place != place) continue;
        NB_TRY(ctx, nb_query_has_rows(w->relation, table->sql, &any, ctx));
        if (!any) continue;
        NB_TRY(ctx, nb_grid_text(all, e->component->name));
        NB_TRY(ctx, nb_grid_text(all, e->component->summary));
    }
    return NB_OK;
}

/* The tables of the rows, and what each is, as a table; what a report shows first stands first. */
static nb_status list(const char *study, const wish *w, nb_ctx *ctx)
{
    static const char *const heads[] = {"table", "summary", NULL};
    nb_grid all;
    NB_TRY(ctx, nb_grid_make(&all, heads, ctx));
    for (int place = 1; place <= nb_tables_last(); place++) NB_TRY(ctx, list_place(study, w, place, &all, ctx));
    NB_TRY(ctx, list_place(study, w, 0, &all, ctx));
    all.labels = 1;
    return nb_format_table(&all, true, w->format);
}

static nb_status print_table(const nb_table *table, const wish *w, nb_ctx *ctx)
{
    nb_page page;
    nb_grid grid = {.count = 0};
    bool empty;
    NB_TRY(ctx, make_page(table, w, &page, &grid, &empty, ctx));
    if (empty) nb_print_warning("table %s: the run has no rows for it", table->component.name);
    return nb_format_is_page(w->format) ? nb_format_page(&page, w->format) : nb_format_grid(&grid, w->format);
}

/* Says above the tables what those that compare rows confound. */
static nb_status tell_confounded(const wish *w, nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    nb_page page;
    for (const char *const *c = w->confounded; c && *c; c++) NB_TRY(ctx, nb_append_item(&all, ", ", ctx, "%s", *c));
    if (!*all.text || !nb_format_is_page(w->format)) return NB_OK;
    nb_page_make(&page, ctx);
    nb_page_prose(&page, NB_PAGE_SHARED, "CONFOUNDED: rows that are compared may differ in %s too", all.text);
    NB_TRY(ctx, nb_format_page(&page, w->format));
    fputc('\n', stdout);
    return NB_OK;
}

static nb_status tables(const char *folder, const char *const *names, const char *const *where, wish w, nb_ctx *ctx)
{
    const char *experiment;
    nb_page page;
    NB_TRY(ctx, nb_command_rows(folder, &w.relation, &experiment, ctx));
    w.relation->confounded = w.confounded;
    NB_TRY(ctx, nb_command_keep(w.relation, where, ctx));
    const nb_study *study = w.relation->study;
    if (!names[0]) return list(study->component.name, &w, ctx);
    NB_TRY(ctx, tell_confounded(&w, ctx));
    for (int i = 0; names[i]; i++) {
        const nb_table *table = (const nb_table *)nb_registry_find(&nb_tables, names[i]);
        NB_REQUIRE(ctx, strcmp(table->study, study->component.name) == 0, NB_EINVAL,
                   "table: %s is a table of the study %s; the run is of %s", names[i], table->study,
                   study->component.name);
        if (i > 0) fputc('\n', stdout);
        NB_TRY(ctx, print_table(table, &w, ctx));
    }
    if (!nb_format_is_page(w.format)) return NB_OK;
    /* Below the tables: which methods have no result, and why */
    nb_page_make(&page, ctx);
    NB_TRY(ctx, nb_query_tell(w.relation, nb_sql_text("run_facts.without"), &page, ctx));
    if (page.count == 0) return NB_OK;
    fputc('\n', stdout);
    return nb_format_page(&page, w.format);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    const char **where = NULL, **confounded = NULL;
    const struct poptOption options[] = {
        NB_FORMAT_OPTION(line), NB_WHERE_OPTION(where),
        NB_LIST_OPTION("confounded", '\0', confounded,
                       "Compare even rows that differ in " NB_ROWS_SEEN " or " NB_BUILD "; may be repeated", "WORD"),
        NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 1, ctx));
    const char *const *names = line->arguments + 1;
    const wish w = {.format = (nb_output_format)line->format.value, .confounded = confounded};
    const nb_component *found;
    for (const char *const *c = confounded; c && *c; c++)
        NB_REQUIRE(ctx, strcmp(*c, NB_ROWS_SEEN) == 0 || strcmp(*c, NB_BUILD) == 0, NB_EINVAL,
                   "table: %s: expected %s or %s", nb_spell_option(ctx, "confounded", *c), NB_ROWS_SEEN, NB_BUILD);
    NB_REQUIRE(ctx, w.format != NB_FORMAT_JSON || !names[0] || !names[1], NB_EINVAL,
               "table: --format json takes one NAME at a time: '%s' is one too many", names[1]);
    for (int i = 0; names[i]; i++) NB_TRY(ctx, nb_command_find(line->command, &nb_tables, names[i], &found, ctx));
    line->stage = NB_ASKS;
    return tables(line->arguments[0], names, where, w, ctx);
}

NB_COMMAND(table, "RUN [TABLE]...", "Print tables of a run; without TABLE, list them", false, NB_LOOK_AT_RUN + 20);
