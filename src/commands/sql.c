/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql.c - nysbench sql RUN... [QUERY]: the rows are asked with SQL. */
#include "commands/format.h"

#include "base/text.h"
#include "report/query.h"
#include "run/run_folder.h"

#include <stdio.h>
#include <string.h>

static nb_status ask(int count, const char *const *folders, const char *query, nb_output_format format, nb_ctx *ctx)
{
    nb_store **stores;
    const nb_given_labels *labels = NULL;
    nb_relation *relation;
    nb_grid answer;
    NB_NEED(stores, nb_alloc(ctx, (size_t)count, sizeof *stores));
    for (int i = count - 1; i >= 0; i--) {
        NB_NEED(stores[i], nb_alloc(ctx, 1, sizeof **stores));
        NB_TRY(ctx, nb_run_open(folders[i], stores[i], &labels, ctx));
    }
    NB_TRY(ctx, nb_relation_gather(&relation, count, stores, folders, labels, ctx));
    NB_TRY(ctx, nb_run_baseline(folders[0], &relation->baseline, ctx));
    NB_TRY(ctx,
           query ? nb_relation_ask_freely(relation, query, &answer, ctx) : nb_relation_views(relation, &answer, ctx));
    return nb_format_table(&answer, false, format);
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    enum { MOST = 64 };
    const char *query = NULL;
    int count = 0;
    nb_word_value format = NB_FORMAT_VALUE;
    const char **plugins = NULL, **arguments;
    const struct poptOption options[] = {NB_FORMAT_OPTION(format), NB_PLUGIN_OPTION(plugins), POPT_TABLEEND};
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, MOST, &arguments, 0}, ctx);
    if (code != NB_GO_ON) return code;
    count = nb_text_count(arguments);
    if (count > 1 && strpbrk(arguments[count - 1], " \n\t")) query = arguments[--count];
    for (int i = 0; i < count && code == NB_GO_ON; i++) code = nb_command_check_run(arguments[i], ctx);
    if (code != NB_GO_ON) return code;
    return nb_command_end(ask(count, arguments, query, (nb_output_format)format.value, ctx), ctx);
}

NB_COMMAND(sql, "RUN... [QUERY]", "Ask the rows of runs with SQL", true, NB_LOOK_AT_RUN + 70);
