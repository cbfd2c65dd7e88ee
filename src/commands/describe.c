/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.c - nysbench describe NAME: a component's options and sources, a column, a figure, a table. */
#include "commands/command.h"

#include "components/registry.h"
#include "cores/core.h"
#include "studies/error/row.h"
#include "kernels/kernel.h"
#include "strategies/strategy.h"

#include <stdio.h>

static const char *range(const nb_option *o, nb_ctx *ctx)
{
    const char *text = "";
    switch (o->type) {
    case NB_OPTION_INT:
    case NB_OPTION_REAL:
        return nb_format(ctx, "%s %.10g ... %.10g%s%s", o->type == NB_OPTION_INT ? "integer" : "number", o->lo, o->hi,
                         o->word ? " or " : "", o->word ? o->word : "");
    case NB_OPTION_BOOL: return "true or false";
    case NB_OPTION_STRING: return "text";
    case NB_OPTION_ENUM:
        for (int i = 0; text && o->choices[i]; i++)
            text = nb_format(ctx, "%s%s%s", text, i ? " | " : "", o->choices[i]);
        return text;
    case NB_OPTION_SPEC: return nb_format(ctx, "a %s with its options", o->registry->kind);
    }
    return NULL;
}

static const char *explanation_of(const nb_registry *registry, const nb_component *c)
{
    if (registry == &nb_strategies) return ((const nb_strategy *)c)->explanation;
    if (registry == &nb_kernels) return ((const nb_kernel *)c)->explanation;
    return registry == &nb_cores ? ((const nb_core *)c)->explanation : NULL;
}

/* Whether it has figures or tables, which have no options. */
static bool is_output(const nb_registry *registry)
{
    return registry == &nb_figures || registry == &nb_tables;
}

static void describe(const nb_registry *registry, const nb_component *c, nb_ctx *ctx)
{
    const char *explanation = explanation_of(registry, c);
    printf("%s (%s): %s\n", c->name, registry->kind, c->summary);
    if (explanation) printf("\n%s\n", explanation);
    if (!is_output(registry)) printf("\noptions:%s\n", c->options->key ? "" : " none");
    for (const nb_option *o = c->options; o->key; o++) {
        const char *allowed = range(o, ctx);
        printf("  %-12s %s\n  %-12s %s; default: %s\n", o->key, o->help, "", allowed ? allowed : "?",
               o->initial ? o->initial : "none, must be given");
    }
    printf("\nreferences:\n");
    for (int i = 0; c->references[i]; i++) printf("  %s\n", c->references[i]);
}

static int add_names(const nb_registry *const *registries, const char **names, int count, int most)
{
    for (int i = 0; registries[i]; i++)
        for (const nb_entry *e = registries[i]->entries; e->component && count < most; e++)
            names[count++] = e->component->name;
    return count;
}

static int unknown(const char *name, nb_ctx *ctx)
{
    const char *names[256] = {NULL};
    int count = add_names(nb_registries, names, 0, 255);
    count = add_names(nb_outputs, names, count, 255);
    for (const nb_column *c = nb_columns; c->name && count < 255; c++) names[count++] = c->name;
    const char *hint = nb_hint(name, names, ctx);
    nb_print_error("describe: no component or column '%s'%s", name, hint ? hint : "");
    return NB_EXIT_USAGE;
}

static int describe_all(const nb_registry *const *registries, const char *name, int found, nb_ctx *ctx)
{
    for (int i = 0; registries[i]; i++) {
        const nb_component *c = nb_registry_find(registries[i], name);
        if (!c) continue;
        if (found++) fputc('\n', stdout);
        describe(registries[i], c, ctx);
    }
    return found;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    const char **plugins = NULL;
    struct poptOption options[] = {NB_HELP_OPTION, NB_PLUGIN_OPTION(plugins), POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, 1, 1, &arguments, ctx);
    nb_status status = nb_command_plugins(plugins, ctx);
    if (code != NB_GO_ON) return code;
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    const nb_column *column = nb_column_find(nb_columns, arguments[0]);
    int found = describe_all(nb_registries, arguments[0], 0, ctx);
    if (column) printf("%s%s (column): %s\n", found++ ? "\n" : "", column->name, column->help);
    found = describe_all(nb_outputs, arguments[0], found, ctx);
    return found ? NB_EXIT_OK : unknown(arguments[0], ctx);
}

const nb_command nb_command_describe = {
    "describe", "NAME", "Explain a component with its options and sources, a column, a figure or a table", run, false};
