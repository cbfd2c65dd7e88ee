/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measured.c - see measured.h. A call of the program that has added rows is a column of one table. */
#include "html/measured.h"

#include "base/files.h"
#include "html/html.h"
#include "report/facts.h"
#include "run/run_folder.h"

#include <string.h>

enum { MOST_CALLS = 5, SHORT = 12 }; /* columns of the table, the last calls; letters of a digest */

static const struct {
    const char *key, *name;
} rows[] = {{"started", "started"},
            {"rows", "rows"},
            {"nysbench", "nysbench"},
            {"build", "build"},
            {"executable", "executable, SHA-256"},
            {"compiler", "compiler"},
            {"arithmetic", "arithmetic"},
            {"host", "host"},
            {"cpu", "processor"},
            {"cpus_usable", "usable CPUs"},
            {"load", "load before it began"},
            {"memory_mib", "memory, MiB"},
            {"system", "system"},
            {"jobs", "workers"},
            {"blas_threads", "BLAS threads each"},
            {"blas", "BLAS"},
            {"lapack", "LAPACK"},
            {"gsl", "GSL"},
            {"gnuplot", "gnuplot"}};

/* The manifests that rows of the plan hang on; *count of them. */
static nb_status read_calls(nb_store *store, const json_t ***calls, int *count, nb_ctx *ctx)
{
    json_t *list, *facts;
    size_t i;
    NB_TRY(ctx, nb_facts_read(store, &list, ctx));
    NB_NEED(*calls, nb_alloc(ctx, json_array_size(list) + 1, sizeof **calls));
    *count = 0;
    json_array_foreach(list, i, facts)
    {
        if (json_integer_value(json_object_get(facts, "rows")) > 0) (*calls)[(*count)++] = facts;
    }
    return NB_OK;
}

static void add_fact(nb_page *page, const json_t *call, const char *key)
{
    const json_t *value = json_object_get(call, key);
    if (strcmp(key, "executable") == 0)
        nb_page_cell(page, "%.*s", SHORT, nb_fact(call, key));
    else if (json_is_integer(value))
        nb_page_cell(page, "%lld", (long long)json_integer_value(value));
    else
        nb_page_cell(page, "%s", nb_fact(call, key));
}

static void add_calls(nb_page *page, int count, const json_t *const *calls)
{
    int from = count > MOST_CALLS ? count - MOST_CALLS : 0;
    if (from > 0) nb_page_paragraph(page, "%d calls of the program have added rows; the last %d:", count, MOST_CALLS);
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, " ");
    for (int c = from; c < count; c++)
        nb_page_column(page, NB_PAGE_PROSE, count == 1 ? "as measured" : "call %d", c + 1);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        nb_page_row(page);
        nb_page_cell(page, "%s", rows[r].name);
        for (int c = from; c < count; c++) add_fact(page, calls[c], rows[r].key);
    }
}

static nb_status add_command(nb_page *page, const json_t *call, nb_ctx *ctx)
{
    const char *line;
    NB_TRY(ctx, nb_fact_command(json_object_get(call, "arguments"), &line, ctx));
    nb_page_paragraph(page, "The command, from the folder that it was given in, with the same build:");
    nb_page_verbatim(page, line);
    return NB_OK;
}

static void add_files(nb_page *page, const json_t *call)
{
    size_t i;
    const json_t *file, *files = json_object_get(call, "files");
    if (json_array_size(files) == 0) return;
    nb_page_heading(page, NB_PAGE_FOLDED, "Files that the rows are made from: %d", (int)json_array_size(files));
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "file");
    nb_page_column(page, NB_PAGE_NUMBER, "bytes");
    nb_page_column(page, NB_PAGE_WORD, "SHA-256");
    json_array_foreach(files, i, file)
    {
        nb_page_row(page);
        nb_page_cell(page, "%s", nb_fact(file, "path"));
        nb_page_cell(page, "%lld", (long long)json_integer_value(json_object_get(file, "bytes")));
        nb_page_cell(page, "%s", nb_fact(file, "sha256"));
    }
}

/* The experiment as it was run: the run's file, or what the last call kept of it. */
static nb_status add_config(nb_page *page, const char *folder, const json_t *call, nb_ctx *ctx)
{
    const char *path, *text = call ? nb_fact(call, "config") : "";
    NB_TRY(ctx, nb_run_path(folder, NB_CONFIG_FILE, &path, ctx));
    if (nb_is_file(path)) NB_TRY(ctx, nb_read_file(path, &text, ctx));
    if (!*text) return NB_OK;
    nb_page_heading(page, NB_PAGE_FOLDED, "The experiment, with every value written out");
    nb_page_verbatim(page, text);
    return NB_OK;
}

nb_status nb_measured_show(nb_page *page, const char *folder, nb_store *store, nb_ctx *ctx)
{
    const json_t **calls;
    int count;
    NB_TRY(ctx, read_calls(store, &calls, &count, ctx));
    if (count == 0)
        nb_page_paragraph(page, "No row has been measured yet.");
    else {
        add_calls(page, count, calls);
        NB_TRY(ctx, add_command(page, calls[count - 1], ctx));
        add_files(page, calls[count - 1]);
    }
    return add_config(page, folder, count > 0 ? calls[count - 1] : NULL, ctx);
}

nb_status nb_measured_day(nb_store *store, const char **day, nb_ctx *ctx)
{
    const json_t **calls;
    int count;
    NB_TRY(ctx, read_calls(store, &calls, &count, ctx));
    const char *started = count > 0 ? nb_fact(calls[0], "started") : "";
    NB_NEED(*day, nb_format(ctx, "%.*s", (int)strcspn(started, "T"), started));
    return NB_OK;
}
