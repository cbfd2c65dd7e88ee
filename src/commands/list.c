/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c - nysbench list [KIND] */
#include "cli/command.h"

#include "api/kinds.h"
#include "cli/program.h"

#include <stdio.h>

static nysbench_status list(nysbench *handle, const char *kind)
{
    const char *const *names, *summary;
    nysbench_status status = nysbench_names(handle, kind, &names);
    for (int i = 0; status == NYSBENCH_OK && names[i]; i++) {
        status = nysbench_summary(handle, kind, names[i], &summary);
        if (status == NYSBENCH_OK) printf("  %-16s %s\n", names[i], summary);
    }
    return status;
}

static nysbench_status list_all(nysbench *handle)
{
    const nb_registry *kind;
    nysbench_status status = NYSBENCH_OK;
    for (int i = 0; status == NYSBENCH_OK && (kind = nb_kind_at(i)); i++) {
        printf("%s%s:\n", i ? "\n" : "", kind->plural);
        status = list(handle, kind->kind);
    }
    return status;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    const char **plugins = NULL;
    struct poptOption options[] = {NB_HELP_OPTION, NB_PLUGIN_OPTION(plugins), POPT_TABLEEND};
    const char **arguments;
    nysbench *handle;
    nb_host host;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){0, 1, &arguments}, ctx);
    nb_status status = nb_command_plugins(plugins, ctx);
    if (code != NB_GO_ON) return code;
    if (status == NB_OK) status = nb_program_handle(&handle, &host, ctx);
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    if ((arguments[0] ? list(handle, arguments[0]) : list_all(handle)) == NYSBENCH_OK) return NB_EXIT_OK;
    nb_print_error("list: %s", nysbench_message(handle));
    return NB_EXIT_USAGE;
}

const nb_command nb_command_list = {
    "list",
    "[KIND]",
    "List the components: problems, kernels, strategies, cores, partitions, attentions; and the figures "
    "and tables of a run",
    run,
    false,
    90};
