/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measure.c - nysbench measure: the rows that a run would have for one head and one
 * choice of landmarks, a strategy's or anybody's from files. */
#include "commands/program.h"

#include "base/builder.h"
#include "nystrom/picks_file.h"
#include "show/cells.h"
#include "config/labels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One file of tokens serves both sides. */
static nb_status read_files(void *self, const nb_problem_shape *shape, nb_given *g, nb_ctx *ctx)
{
    const char *const *files = self, *query_file = files[0], *key_file = files[1];
    const char *first = query_file ? query_file : key_file, *second = query_file ? key_file : NULL;
    NB_REQUIRE(ctx, !query_file || !key_file || strcmp(query_file, "-") != 0 || strcmp(key_file, "-") != 0, NB_EINVAL,
               "--query-landmarks and --key-landmarks cannot both be standard input");
    NB_TRY(ctx, nb_picks_load_sides(first, second, 0, shape->d, shape->n, &g->queries, &g->keys, ctx));
    NB_NEED(g->name, nb_format(ctx, "given(queries=%s, keys=%s)", query_file ? query_file : key_file,
                               key_file ? key_file : query_file));
    return NB_OK;
}

static const char *const shown[] = {"error",         "error_subspace", "error_core",  "floor_rank",
                                    "baseline_mean", "output_error",   "core_cutoff", "error_noise"};
enum { SHOWN = sizeof shown / sizeof *shown };

static void begin(nb_page *page, const nb_error_row *r)
{
    nb_page_prose(page, NB_PAGE_SHARED, "%s head %d, n = %d, d = %d, %s", r->problem, r->head, r->n, r->d, r->kernel);
    nb_page_prose(page, NB_PAGE_SHARED, "%s, m = %d, pairing %s, factors %s", r->strategy, r->landmarks, r->pairing,
                  r->factors);
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_WORD | NB_PAGE_LABEL, "core");
    nb_page_column(page, NB_PAGE_WORD, "status");
    for (int i = 0; i < SHOWN; i++) nb_page_column(page, NB_PAGE_NUMBER, "%s", shown[i]);
}

static void add_line(nb_page *page, const nb_error_row *r)
{
    nb_page_row(page);
    nb_page_cell(page, "%s", r->core);
    nb_page_cell(page, "%s", r->status);
    for (int i = 0; i < SHOWN; i++) {
        const nb_column *column = nb_column_find(nb_error_columns, shown[i]);
        nb_page_number(page, "%.6g", *(const double *)((const char *)r + column->offset));
    }
}

static bool same_reason(const nb_error_row *a, const nb_error_row *b)
{
    return b->reason && strcmp(a->status, b->status) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* A reason of several rows stands once, with their cores if not all have it. */
static nb_status add_reason(nb_page *page, const nb_error_row *list, int rows, int first, nb_ctx *ctx)
{
    const nb_error_row *r = &list[first];
    nb_string cores = NB_NO_TEXT;
    int count = 1;
    for (int i = 0; i < first; i++)
        if (same_reason(r, &list[i])) return NB_OK;
    NB_TRY(ctx, nb_append(&cores, ctx, "%s", r->core));
    for (int i = first + 1; i < rows; i++) {
        if (!same_reason(r, &list[i])) continue;
        NB_TRY(ctx, nb_append(&cores, ctx, ", %s", list[i].core));
        count++;
    }
    bool all = count == rows;
    nb_page_prose(page, NB_PAGE_REMARK, "%s%s%s: %s", all ? "" : cores.text, all ? "" : ": ", r->status, r->reason);
    return NB_OK;
}

/* *labelled <- the rows with labels in the place of components' texts. */
static nb_status label_rows(nb_row_list rows, nb_error_row **labelled, nb_ctx *ctx)
{
    static const nb_given_labels none = {.count = 0};
    nb_row_labels labels;
    rows.labels = &none;
    NB_TRY(ctx, nb_row_labels_make(&rows, &labels, ctx));
    NB_NEED(*labelled, nb_alloc(ctx, (size_t)rows.count + 1, sizeof **labelled));
    if (rows.count > 0) memcpy(*labelled, rows.bytes, (size_t)rows.count * rows.row_size);
    for (int i = 0; i < rows.count; i++)
        for (int c = labels.own; labels.columns[c].name; c++)
            *(const char **)(void *)((char *)&(*labelled)[i] + labels.columns[c].offset) =
                nb_row_labels_at(&labels, c, nb_row_at(&rows, i));
    return NB_OK;
}

static nb_status print_rows(nysbench *handle, int rows, nb_output_format format, nb_ctx *ctx)
{
    const nb_row_list list = {
        .count = rows, .columns = nb_error_columns, .row_size = sizeof *handle->rows, .bytes = (char *)handle->rows};
    nb_page page;
    nb_error_row *labelled;
    if (format == NB_FORMAT_CSV) return nb_rows_print_csv(stdout, &list, ctx);
    if (!nb_format_is_page(format)) return nb_rows_print_json(stdout, &list, ctx);
    NB_TRY(ctx, label_rows(list, &labelled, ctx));
    nb_page_make(&page, ctx);
    if (rows > 0) begin(&page, &labelled[0]);
    for (int i = 0; i < rows; i++) add_line(&page, &labelled[i]);
    for (int i = 0; i < rows; i++)
        if (labelled[i].reason) NB_TRY(ctx, add_reason(&page, labelled, rows, i, ctx));
    return nb_format_page(&page, format);
}

/* If all rows are skipped, the call has asked for something impossible. */
static nb_status print_measures(nb_command_line *line, nysbench *handle, int rows, bool lines, nb_ctx *ctx)
{
    const char *text;
    int failures = 0, skipped = 0;
    for (int i = 0; i < rows; i++) {
        failures += !nb_row_is_well((const nb_row *)&handle->rows[i]);
        skipped += strcmp(handle->rows[i].status, "skipped") == 0;
    }
    line->exit = skipped == rows ? NB_EXIT_USAGE : failures ? NB_EXIT_FAILED : NB_EXIT_OK;
    if (!lines) return print_rows(handle, rows, (nb_output_format)line->format.value, ctx);
    for (int i = 0; i < rows; i++) { /* one object a line */
        NB_TRY(ctx, nb_program_take(nysbench_row_json(handle, i, &text), handle, ctx));
        puts(text);
    }
    return NB_OK;
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_head_request asked;
    nysbench_request *request = &asked.request;
    nysbench *handle;
    int rows, lines = 0;
    char *files[2] = {NULL, NULL};
    nb_host host = {.self = files};
    const struct poptOption options[] = {
        NB_ONE_HEAD_OPTIONS(asked, line),
        NB_TEXT_OPTION("query-landmarks", '\0', files[0],
                       "Instead of a strategy: tokens, integers (m), or points, floats (m, d); '-' is standard input",
                       "FILE.npy"),
        NB_TEXT_OPTION("key-landmarks", '\0', files[1], "The same for the keys; one file of tokens serves both sides",
                       "FILE.npy"),
        NB_TEXT_OPTION("factors", '\0', request->factors, "nystromformer (default), cur, nocore or kernel_ridge", "F"),
        NB_LIST_OPTION("core", 'c', request->cores,
                       "How X is computed; may be repeated (default: every core that needs no option)", "SPEC"),
        NB_TEXT_OPTION("metrics", '\0', request->metrics, "Columns, separated by commas (default: all)", "LIST"),
        NB_FORMAT_OPTION(line),
        NB_FLAG_OPTION("json", 'j', lines, "One JSON object for each core, a line each"),
        POPT_TABLEEND};
    nb_head_request_init(&asked);
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    if (files[0] || files[1]) host.seen = read_files;
    NB_REQUIRE(ctx, !host.seen || !(request->strategy || asked.landmarks.text || request->pairing), NB_EINVAL,
               "measure: --strategy, --landmarks and --pairing, or landmark files, not both");
    NB_TRY(ctx, nb_head_request_finish(&asked, ctx));
    NB_TRY(ctx, nb_program_handle(&handle, &host, ctx));
    int aside = nb_program_aside();
    NB_TRY(ctx, nb_program_end(line, handle, nysbench_measure(handle, request, &rows), aside, ctx));
    return print_measures(line, handle, rows, lines, ctx);
}

NB_COMMAND(measure, "--head FILE ...", "Measure one choice of landmarks on one head", true, NB_YOUR_OWN + 50);
