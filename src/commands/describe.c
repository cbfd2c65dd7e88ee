/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.c - nysbench describe NAME: the options and sources of a component, a column, a figure or a table;
 * --markdown: all columns or components, as docs/columns.md and docs/components.md. */
#include "cli/command.h"

#include "attentions/attention.h"
#include "components/registry.h"
#include "cores/core.h"
#include "studies/error/study.h"
#include "kernels/kernel.h"
#include "base/text.h"
#include "components/study.h"
#include "strategies/strategy.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *range(const nb_option *o, nb_ctx *ctx)
{
    const char *text = "";
    switch (o->type) {
    case NB_OPTION_INT:
    case NB_OPTION_REAL:
        return nb_format(ctx, "%s %.10g ... %.10g%s%s%s%s", o->type == NB_OPTION_INT ? "integer" : "number", o->lo,
                         o->hi, o->word ? " or " : "", o->word ? o->word : "", o->second ? " or " : "",
                         o->second ? o->second : "");
    case NB_OPTION_BOOL: return "true or false";
    case NB_OPTION_STRING: return "text";
    case NB_OPTION_ENUM:
        for (int i = 0; text && o->choices[i]; i++)
            text = nb_format(ctx, "%s%s%s", text, i ? " | " : "", o->choices[i]);
        return text;
    case NB_OPTION_SPEC:
        return nb_format(ctx, "%s %s with its options", nb_article(o->registry->kind), o->registry->kind);
    }
    return NULL;
}

static const char *explanation_of(const nb_registry *registry, const nb_component *c)
{
    if (registry == &nb_strategies) return ((const nb_strategy *)c)->explanation;
    if (registry == &nb_attentions) return ((const nb_attention *)c)->explanation;
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
               o->initial ? o->initial : "none: it must be given");
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
    for (const nb_entry *e = nb_studies.entries; e->component; e++)
        for (const nb_column *c = ((const nb_study *)e->component)->columns; c->name && count < 255; c++)
            names[count++] = c->name;
    const char *hint = nb_hint(name, names, ctx);
    nb_print_error("describe: no component or column '%s'%s", name, hint ? hint : "");
    return NB_EXIT_USAGE;
}

/* Of all studies; how many there are. */
static int describe_columns(const char *name)
{
    int found = 0;
    for (const nb_entry *e = nb_studies.entries; e->component; e++) {
        const nb_column *column = nb_column_find(((const nb_study *)e->component)->columns, name);
        if (!column) continue;
        if (nb_studies.entries[1].component)
            printf("%s (column of %s): %s\n", column->name, e->component->name, column->help);
        else
            printf("%s (column): %s\n", column->name, column->help);
        found++;
    }
    return found;
}

/* Text in a Markdown table or paragraph, on one line, and nothing in it markup. A line that begins with two blanks and
 * a dash is an item of a list. */
static void put(const char *text)
{
    static const char item[] = "\n  - ";
    for (bool listed = false; *text; text++) {
        if (strncmp(text, item, strlen(item)) == 0) {
            fputs(listed ? "\n* " : "\n\n* ", stdout);
            text += strlen(item), listed = true;
        } else if (listed && *text == '\n' && text[1] != ' ') {
            fputs("\n\n", stdout);
            text++, listed = false;
        }
        if (strchr("|*<\\", *text)) putchar('\\');
        putchar(*text == '\n' ? ' ' : *text);
    }
}

static void put_cells(const char *const cells[])
{
    for (int i = 0; cells[i]; i++) {
        fputs(i ? " | " : "| ", stdout);
        put(cells[i]);
    }
    puts(" |");
}

static nb_status put_component(const nb_registry *registry, const nb_component *c, nb_ctx *ctx)
{
    const char *explanation = explanation_of(registry, c);
    printf("\n### %s\n\n", c->name);
    put(c->summary);
    puts(".\n");
    if (explanation) {
        put(explanation);
        puts("\n");
    }
    if (c->options->key) puts("| option | may be | default | is |\n|---|---|---|---|");
    for (const nb_option *o = c->options; o->key; o++) {
        const char *allowed = range(o, ctx), *name = nb_format(ctx, "`%s`", o->key);
        const char *initial = o->initial ? nb_format(ctx, "`%s`", o->initial) : "must be given";
        if (!allowed || !name || !initial) return NB_ENOMEM;
        put_cells((const char *[]){name, allowed, initial, o->help, NULL});
    }
    puts(c->options->key ? "\nReferences:\n" : "No options.\n\nReferences:\n");
    for (int i = 0; c->references[i]; i++) {
        fputs("* ", stdout);
        put(c->references[i]);
        puts("");
    }
    return NB_OK;
}

static nb_status put_components(nb_ctx *ctx)
{
    nb_status status = NB_OK;
    puts("# Components\n\nMade by `make docs` from the program (`nysbench describe --markdown components`): do not "
         "edit.\n"
         "`nysbench describe NAME` shows one of them. [method.md](method.md) explains how they fit together.");
    for (int i = 0; nb_registries[i] && status == NB_OK; i++) {
        const char *kinds = nb_registries[i]->plural;
        printf("\n## %c%s\n", toupper((unsigned char)kinds[0]), kinds + 1);
        for (const nb_entry *e = nb_registries[i]->entries; e->component && status == NB_OK; e++)
            status = put_component(nb_registries[i], e->component, ctx);
    }
    return status;
}

static nb_status put_study(const nb_study *study, nb_ctx *ctx)
{
    printf("\n## Study %s\n\n| column | kind | meaning |\n|---|---|---|\n", study->component.name);
    for (const nb_column *c = study->columns; c->name; c++) {
        const char *kind = c->identity ? "identifying" : c->time ? "time" : c->measure ? "measure" : "";
        const char *name = nb_format(ctx, "`%s`", c->name);
        kind = nb_format(ctx, "%s%s%s", kind, c->wanted ? ", on request" : "", c->whole ? ", all rows" : "");
        if (!name || !kind) return NB_ENOMEM;
        put_cells((const char *[]){name, kind, c->help, NULL});
    }
    return NB_OK;
}

static nb_status put_columns(nb_ctx *ctx)
{
    nb_status status = NB_OK;
    puts("# Columns\n\nMade by `make docs` from the program (`nysbench describe --markdown columns`): do not edit.\n"
         "`nysbench describe COLUMN` shows one of them. [method.md](method.md#what-the-columns-say) explains how to "
         "read them.\n\n"
         "* identifying: part of what identifies a row. time: differs from run to run. measure: may be named by "
         "`metrics`.\n"
         "* on request: measured where `metrics` is `all` or names the column.\n"
         "* all rows: needs all rows of S, and is empty with `rows: sample(k)`.");
    for (const nb_entry *e = nb_studies.entries; e->component && status == NB_OK; e++)
        status = put_study((const nb_study *)e->component, ctx);
    return status;
}

static int markdown(const char *what, nb_ctx *ctx)
{
    const char *const parts[] = {"columns", "components", NULL};
    if (strcmp(what, "columns") == 0)
        return put_columns(ctx) == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_USAGE);
    if (strcmp(what, "components") == 0)
        return put_components(ctx) == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, NB_EXIT_USAGE);
    const char *hint = nb_hint(what, parts, ctx);
    nb_print_error("describe: --markdown: '%s' is neither columns nor components%s", what, hint ? hint : "");
    return NB_EXIT_USAGE;
}

static int describe_all(const nb_registry *const *registries, const char *name, int found, nb_ctx *ctx)
{
    for (int i = 0; registries[i]; i++) {
        const nb_component *c = nb_registry_find(registries[i], name);
        if (!c) continue;
        if (found++) putchar('\n');
        describe(registries[i], c, ctx);
    }
    return found;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    const char **plugins = NULL;
    int as_markdown = 0;
    struct poptOption options[] = {NB_HELP_OPTION,
                                   NB_PLUGIN_OPTION(plugins),
                                   {"markdown", '\0', POPT_ARG_NONE, &as_markdown, 0,
                                    "Print all columns or all components, as NAME says, as Markdown", NULL},
                                   POPT_TABLEEND};
    const char **arguments;
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, 1, &arguments}, ctx);
    nb_status status = nb_command_plugins(plugins, ctx);
    if (code != NB_GO_ON) return code;
    if (status != NB_OK) return nb_print_failure(ctx, NB_EXIT_USAGE);
    if (as_markdown) return markdown(arguments[0], ctx);
    int found = describe_columns(arguments[0]);
    found = describe_all(nb_registries, arguments[0], found, ctx);
    found = describe_all(nb_outputs, arguments[0], found, ctx);
    return found ? NB_EXIT_OK : unknown(arguments[0], ctx);
}

const nb_command nb_command_describe = {
    "describe", "NAME", "Explain a component with its options and sources, a column, a figure or a table",
    run,        false,  100};
