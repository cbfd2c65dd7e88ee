/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list.c - nysbench list [KIND] */
#include "cli/command.h"

#include "components/registry.h"

#include <stdio.h>
#include <string.h>

static void list(const nb_registry *registry)
{
    for (const nb_entry *e = registry->entries; e->component; e++)
        printf("  %-16s %s\n", e->component->name, e->component->summary);
}

static bool means(const nb_registry *registry, const char *kind)
{
    return strcmp(registry->kind, kind) == 0 || strcmp(registry->plural, kind) == 0;
}

/* Of one kind, or (NULL) of all. */
static bool list_all(const nb_registry *const *registries, const char *kind)
{
    bool found = false;
    for (int i = 0; registries[i]; i++) {
        if (kind && !means(registries[i], kind)) continue;
        if (!kind) printf("%s%s:\n", i || registries == nb_outputs ? "\n" : "", registries[i]->plural);
        list(registries[i]);
        found = true;
    }
    return found;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    const char **plugins = NULL;
    struct poptOption options[] = {NB_HELP_OPTION, NB_PLUGIN_OPTION(plugins), POPT_TABLEEND};
    const char **arguments, *kinds[16] = {NULL};
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){0, 1, &arguments}, ctx), count = 0;
    nb_status status = nb_command_plugins(plugins, ctx);
    if (code != NB_GO_ON) return code;
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    bool found = list_all(nb_registries, arguments[0]);
    found = list_all(nb_outputs, arguments[0]) || found;
    for (int i = 0; nb_registries[i]; i++) kinds[count++] = nb_registries[i]->plural;
    for (int i = 0; nb_outputs[i]; i++) kinds[count++] = nb_outputs[i]->plural;
    if (found) return NB_EXIT_OK;
    const char *hint = nb_hint(arguments[0], kinds, ctx);
    nb_print_error("list: no kind '%s'%s", arguments[0], hint ? hint : "");
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
