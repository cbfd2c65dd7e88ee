/* SPDX-License-Identifier: GPL-3.0-or-later */
/* describe.c - nysbench describe [KIND/]NAME: the options and sources of a component, a column, a figure or a table;
 * --markdown: all columns or components, as docs/columns.md and docs/components.md. */
#include "commands/command.h"

#include "api/kinds.h"
#include "base/text.h"
#include "commands/program.h"
#include "components/study.h"

#include <ctype.h>
#include <string.h>

/* Text in a Markdown table or paragraph, on one line, and nothing in it markup. A line that begins with two blanks and
 * a dash is an item of a list. */
static void print_escaped(const char *text)
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
        if (*text == '\n') text += strspn(text + 1, " "); /* what the line is set in by */
    }
}

static void put_cells(const char *const cells[])
{
    for (int i = 0; cells[i]; i++) {
        fputs(i ? " | " : "| ", stdout);
        print_escaped(cells[i]);
    }
    puts(" |");
}

static nb_status put_component(const nb_registry *registry, const nb_component *c, nb_ctx *ctx)
{
    const char *explanation = nb_explanation_of(registry, c);
    printf("\n### %s\n\n", c->name);
    print_escaped(c->summary);
    puts(".\n");
    if (explanation) {
        print_escaped(explanation);
        puts("\n");
    }
    if (c->options->key) puts("| option | may be | default | is |\n|---|---|---|---|");
    for (const nb_option *o = c->options; o->key; o++) {
        const char *allowed = nb_option_allowed(o, true, ctx), *name = nb_format(ctx, "`%s`", o->key);
        const char *initial = o->initial ? nb_format(ctx, "`%s`", o->initial) : "must be given";
        if (!allowed || !name || !initial) return NB_ENOMEM;
        put_cells((const char *[]){name, allowed, initial, o->help, NULL});
    }
    puts(c->options->key ? "\nReferences:\n" : "No options.\n\nReferences:\n");
    for (int i = 0; c->references[i]; i++) {
        fputs("* ", stdout);
        print_escaped(c->references[i]);
        puts("");
    }
    return NB_OK;
}

static nb_status put_components(nb_ctx *ctx)
{
    puts("# Components\n\nMade by `make docs` from the program (`nysbench describe --markdown components`): do not "
         "edit.\n"
         "`nysbench describe NAME` shows one of them. [method.md](method.md) explains how they fit together. All take\n"
         "`" NB_LABEL_OPTION "=TEXT` as well, [" NB_LABEL_HELP "](config.md#labels).");
    for (int i = 0; nb_registries[i]; i++) {
        const char *kinds = nb_registries[i]->plural;
        printf("\n## %c%s\n", toupper((unsigned char)kinds[0]), kinds + 1);
        for (const nb_entry *e = nb_registries[i]->entries; e->component; e++)
            NB_TRY(ctx, put_component(nb_registries[i], e->component, ctx));
    }
    return NB_OK;
}

static nb_status put_study(const nb_study *study, nb_ctx *ctx)
{
    const nb_column *columns;
    NB_TRY(ctx, nb_columns_with_labels(study->columns, &columns, ctx));
    printf("\n## Study %s\n\n| column | kind | meaning |\n|---|---|---|\n", study->component.name);
    for (const nb_column *c = columns; c->name; c++) {
        const char *kind = c->identity ? "identifying" : c->time ? "time" : c->measure ? "measure" : "";
        const char *name = nb_format(ctx, "`%s`", c->name);
        const char *asked = c->named ? ", if named" : c->wanted ? ", on request" : "";
        kind = nb_format(ctx, "%s%s%s%s", kind, asked, c->whole ? ", all rows" : "", c->more ? ", more is better" : "");
        if (!name || !kind) return NB_ENOMEM;
        put_cells((const char *[]){name, kind, c->help, NULL});
    }
    return NB_OK;
}

static nb_status put_columns(nb_ctx *ctx)
{
    puts("# Columns\n\nMade by `make docs` from the program (`nysbench describe --markdown columns`): do not edit.\n"
         "`nysbench describe COLUMN` shows one of them. [method.md](method.md#what-the-columns-say) explains how to "
         "read them.\n\n"
         "* identifying: part of what identifies a row. time: differs from run to run. measure: may be named by "
         "`metrics`.\n"
         "* on request: measured where `metrics` is `all` or names the column.\n"
         "* if named: measured only where `metrics` names the column, as in `metrics: [all, error]`.\n"
         "* all rows: needs all rows of S, and is empty with `rows: sample(k)`.\n"
         "* more is better: for the verdicts and wins of [`compare`](comparing.md), where less of any other is better, "
         "whatever it means.");
    for (const nb_entry *e = nb_studies.entries; e->component; e++)
        NB_TRY(ctx, put_study((const nb_study *)e->component, ctx));
    return NB_OK;
}

static nb_status markdown(const char *what, nb_ctx *ctx)
{
    const char *const parts[] = {"columns", "components", NULL}, *hint;
    int part = nb_text_index(what, parts);
    if (part >= 0) return (part ? put_components : put_columns)(ctx);
    NB_NEED(hint, nb_hint(what, parts, ctx));
    NB_FAIL(ctx, NB_EINVAL, "describe: --markdown: '%s' is neither columns nor components%s", what, hint);
}

/* `name`: NAME or KIND/NAME. */
static nb_status describe(const char *name, nb_ctx *ctx)
{
    nysbench *handle;
    nb_host host = {.seen = NULL};
    const char *text, *slash = strchr(name, '/'), *kind = NULL;
    if (slash) NB_NEED(kind, nb_format(ctx, "%.*s", (int)(slash - name), name));
    NB_TRY(ctx, nb_program_handle(&handle, &host, ctx));
    NB_REQUIRE(ctx, nysbench_describe(handle, kind, slash ? slash + 1 : name, &text) == NYSBENCH_OK, NB_EINVAL,
               "describe: %s", nysbench_message(handle));
    fputs(text, stdout);
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    int as_markdown = 0;
    const struct poptOption options[] = {
        NB_PLUGIN_OPTION(line),
        NB_FLAG_OPTION("markdown", '\0', as_markdown, "Print all columns or all components, as NAME says, as Markdown"),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    return (as_markdown ? markdown : describe)(line->arguments[0], ctx);
}

NB_COMMAND(describe, "NAME",
           "Explain a component, column, figure or table.\n\n"
           "Of several things with one name the first is explained; partition/kmeans is the\n"
           "partition",
           false, NB_YOUR_OWN + 20);
