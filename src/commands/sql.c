/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql.c - nysbench sql RUN [QUERY]: the rows are asked with SQL. */
#include "cli/format.h"

#include "report/query.h"
#include "run/run_folder.h"

#include <signal.h>
#include <stdio.h>

static sqlite3 *asked; /* what an interrupt ends */

static void interrupt(int number)
{
    (void)number;
    sqlite3_interrupt(asked);
}

static nb_status ask(const char *folder, const char *query, nb_output_format format, nb_ctx *ctx)
{
    nb_store store;
    const nb_given_labels *labels;
    nb_relation *relation;
    nb_answer answer;
    nb_grid grid;
    NB_TRY(ctx, nb_run_open(folder, &store, &labels, ctx));
    NB_TRY(ctx, nb_relation_open(&relation, &store, labels, ctx));
    asked = nb_relation_database(relation);
    signal(SIGINT, interrupt);
    NB_TRY(ctx,
           query ? nb_relation_ask_freely(relation, query, &answer, ctx) : nb_relation_views(relation, &answer, ctx));
    NB_TRY(ctx, nb_answer_grid(&answer, "", !nb_format_is_page(format), &grid, ctx));
    return nb_format_table(&grid, false, format, ctx);
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    char *text = NULL;
    nb_output_format format = NB_FORMAT_TABLE;
    const char **plugins = NULL, **arguments;
    struct poptOption options[] = {NB_HELP_OPTION, NB_FORMAT_OPTION(text), NB_PLUGIN_OPTION(plugins), POPT_TABLEEND};
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, 2, &arguments}, ctx);
    nb_status status = nb_command_plugins(plugins, ctx);
    code = nb_command_format(command, code, text, &format, ctx);
    if (code == NB_GO_ON) code = nb_command_check_run(arguments[0], ctx);
    if (code != NB_GO_ON) return code;
    if (status == NB_OK) status = ask(arguments[0], arguments[1], format, ctx);
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, status == NB_EINVAL ? NB_EXIT_USAGE : NB_EXIT_FAILED);
}

const nb_command nb_command_sql = {"sql", "RUN [QUERY]", "Ask the rows of a run with SQL", run, true, 72};
