/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql.c - nysbench sql RUN... [QUERY]: the rows are asked with SQL. */
#include "commands/command.h"

#include "base/text.h"
#include "show/cells.h"
#include "show/query.h"
#include "rows/open.h"
#include "rows/views.h"
#include "run/run_folder.h"

#include <string.h>
#include <unistd.h>

typedef struct { /* rows on their way to standard output */
    const nb_cells_writer *writer;
    long long count;
} printing;

static nb_status print_row(void *self, const nb_grid *row)
{
    printing *p = self;
    return nb_grid_write_rows(stdout, p->writer, row, p->count++, row->ctx);
}

static nb_status print_answer(int count, const char *const *folders, const char *query, nb_output_format format,
                              nb_ctx *ctx)
{
    nb_store **stores;
    const nb_given_labels *labels = NULL;
    const char *baseline;
    nb_relation *relation;
    nb_grid answer;
    bool page = nb_format_is_page(format); /* which needs all rows to lay them out */
    printing p = {.writer = nb_format_grid_writer(format)};
    NB_NEED(stores, nb_alloc(ctx, (size_t)count, sizeof *stores));
    for (int i = count - 1; i >= 0; i--) {
        NB_NEED(stores[i], nb_alloc(ctx, 1, sizeof **stores));
        NB_TRY(ctx, nb_run_open(folders[i], stores[i], &labels, ctx));
        NB_TRY(ctx, nb_warn_of_builds(stores[i], ctx));
    }
    NB_TRY(ctx, nb_relation_gather(&relation, count, stores, folders, labels, ctx));
    NB_TRY(ctx, nb_run_baseline(folders[0], &baseline, ctx));
    NB_TRY(ctx, nb_relation_take_baseline(relation, baseline, ctx));
    if (query)
        NB_TRY(ctx, nb_relation_ask_freely(relation, query, &answer, page ? NULL : print_row, &p, ctx));
    else
        NB_TRY(ctx, nb_relation_views(relation, &answer, ctx));
    if (page || !query) return nb_format_table(&answer, false, format);
    p.writer->end(stdout, p.count);
    return NB_OK;
}

/* The last of several arguments is a query if it has a blank. */
static nb_status find_query(const nb_command_line *line, int *count, const char **query, nb_ctx *ctx)
{
    const char *last;
    *query = NULL;
    *count = nb_text_count(line->arguments);
    if (*count < 2) return NB_OK;
    last = line->arguments[*count - 1];
    if (strpbrk(last, " \n\t")) {
        *query = last;
        --*count;
        return NB_OK;
    }
    NB_REQUIRE(ctx, access(last, F_OK) == 0, NB_EINVAL,
               "sql: '%s' is neither a folder nor a query, which has a blank, such as 'SELECT count(*) FROM run'",
               last);
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    const char *query;
    int count;
    const struct poptOption options[] = {NB_FORMAT_OPTION(line), NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    NB_TRY(ctx, find_query(line, &count, &query, ctx));
    for (int i = 0; i < count; i++) NB_TRY(ctx, nb_check_run(line->arguments[i], ctx));
    line->stage = NB_ASKS;
    return print_answer(count, line->arguments, query, (nb_output_format)line->format.value, ctx);
}

NB_COMMAND(sql, "RUN... [QUERY]", "Ask the rows of runs with SQL", true, NB_LOOK_AT_RUN + 70);
