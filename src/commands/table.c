/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.c - nysbench table RUN [TABLE]... */
#include "cli/command.h"

#include "components/registry.h"
#include "components/study.h"
#include "report/builds.h"
#include "run/run_folder.h"
#include "report/table.h"
#include "report/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As text, which is the caller's to free. */
static nb_status make(const nb_table *table, const nb_frame *frame, const nb_table_form *form, char **text, nb_ctx *ctx)
{
    size_t length;
    FILE *out = open_memstream(text, &length);
    NB_REQUIRE(ctx, out, NB_ENOMEM, "table %s: out of memory", table->component.name);
    nb_status status = table->print(out, frame, form, ctx);
    bool whole = fclose(out) == 0;
    if (status == NB_OK && whole) return NB_OK;
    free(*text);
    NB_TRY(ctx, status);
    NB_FAIL(ctx, NB_ENOMEM, "table %s: out of memory", table->component.name);
}

/* The tables of the rows, and what each is. Whether it is there is known when it is made. */
static nb_status list(const char *study, const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        char *text;
        if (strcmp(table->study, study) != 0) continue;
        NB_TRY(ctx, make(table, frame, form, &text, ctx));
        if (*text) printf("  %-16s %s\n", e->component->name, e->component->summary);
        free(text);
    }
    return NB_OK;
}

/* Without the empty line that sets a table apart where a run prints several. */
static nb_status print(const nb_table *table, const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx)
{
    char *text;
    NB_TRY(ctx, make(table, frame, form, &text, ctx));
    fputs(text + (*text == '\n'), stdout);
    if (!*text) nb_print_warning("table %s: the run has no rows for it", table->component.name);
    free(text);
    return NB_OK;
}

static nb_status tables(const char *folder, const char *const *names, const char *const *where, nb_table_form form,
                        nb_ctx *ctx)
{
    nb_store store;
    nb_row_list rows;
    nb_frame frame;
    NB_TRY(ctx, nb_run_load(folder, &store, &rows, ctx));
    NB_TRY(ctx, nb_frame_of(&frame, &rows, ctx));
    NB_TRY(ctx, nb_builds_print(stderr, "nysbench: warning: ", "; 'nysbench info RUN' shows more", &store, ctx));
    NB_TRY(ctx, nb_where(&frame, where, &frame, ctx));
    NB_REQUIRE(ctx, frame.count > 0, NB_EIO, "%s: the run has no rows", folder);
    NB_TRY(ctx, nb_run_baseline(folder, &form.baseline, ctx));
    const nb_study *study = nb_study_of(rows.columns);
    NB_REQUIRE(ctx, study, NB_EBUG, "%s: its study is not known", folder);
    if (!names[0]) return list(study->component.name, &frame, &form, ctx);
    for (int i = 0; names[i]; i++) {
        const nb_table *table = (const nb_table *)nb_registry_find(&nb_tables, names[i]);
        NB_REQUIRE(ctx, strcmp(table->study, study->component.name) == 0, NB_EINVAL,
                   "table: %s is a table of the study %s; the run is of %s", names[i], table->study,
                   study->component.name);
        if (i > 0) fputc('\n', stdout);
        NB_TRY(ctx, print(table, &frame, &form, ctx));
    }
    return NB_OK;
}

static int check_names(const char *const *names, nb_ctx *ctx)
{
    const char *const *all;
    for (int i = 0; names[i]; i++) {
        if (nb_registry_find(&nb_tables, names[i])) continue;
        if (nb_registry_names(&nb_tables, &all, ctx) != NB_OK) return nb_print_failure(ctx, NB_EXIT_FAILED);
        const char *hint = nb_hint(names[i], all, ctx);
        nb_print_error("table: no table '%s'%s", names[i], hint ? hint : "");
        return NB_EXIT_USAGE;
    }
    return NB_GO_ON;
}

static int run(const nb_command *command, int argc, const char **argv, nb_ctx *ctx)
{
    enum { MOST = 64 };
    char *format = NULL;
    const char **plugins = NULL, **where = NULL, **arguments;
    struct poptOption options[] = {
        NB_HELP_OPTION,
        {"format", 'f', POPT_ARG_STRING, &format, 0, "text (default) or csv", "FORMAT"},
        {"where", 'w', POPT_ARG_ARGV, &where, 0,
         "Only rows with this value in a column; for a component its name or a spec; may be repeated", "COLUMN=VALUE"},
        NB_PLUGIN_OPTION(plugins),
        POPT_TABLEEND};
    int code = nb_command_parse(command, argc, argv, options, (nb_arguments){1, MOST, &arguments}, ctx);
    nb_status status = nb_command_plugins(plugins, ctx);
    if (status == NB_OK) status = nb_command_own(where, ctx);
    if (format && status == NB_OK) status = nb_defer(ctx, free, format);
    if (code != NB_GO_ON) return code;
    bool csv = format && strcmp(format, "csv") == 0;
    if (format && !csv && strcmp(format, "text") != 0) {
        nb_print_error("table: --format %s is unknown; allowed: text, csv", format);
        return NB_EXIT_USAGE;
    }
    code = check_names(arguments + 1, ctx);
    if (code == NB_GO_ON) code = nb_command_check_run(arguments[0], ctx);
    if (code != NB_GO_ON) return code;
    if (status == NB_OK) status = tables(arguments[0], arguments + 1, where, (nb_table_form){.csv = csv}, ctx);
    return status == NB_OK ? NB_EXIT_OK : nb_print_failure(ctx, status == NB_EINVAL ? NB_EXIT_USAGE : NB_EXIT_FAILED);
}

const nb_command nb_command_table = {"table",
                                     "RUN [TABLE]...",
                                     "Print tables of a run: those named, or, without a TABLE, the list of tables",
                                     run,
                                     false,
                                     65};
