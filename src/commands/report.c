/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.c - nysbench report RUN...: a page to send to somebody, and the same as Markdown. */
#include "commands/command.h"

#include "base/fields.h"
#include "base/files.h"
#include "base/text.h"
#include "show/report.h"
#include "run/run_folder.h"

#include <limits.h>
#include <string.h>

typedef enum { BOTH = -1, HTML, MARKDOWN } kind;

static const char *const formats[] = {"html", "markdown", NULL}, *const endings[] = {
                                                                     [HTML] = ".html", [MARKDOWN] = ".md"};

/* *output <- where the report goes; "-": standard output. */
static nb_status find_output(const nb_command *command, const char *given, const char *const *runs, kind wanted,
                             const char **output, nb_ctx *ctx)
{
    const char *ending = endings[wanted == MARKDOWN ? MARKDOWN : HTML];
    *output = given;
    NB_REQUIRE(ctx, given || !runs[1], NB_EINVAL,
               "report: %s is missing: a report of several runs has no folder of its own", nb_field(ctx, "path", NULL));
    if (!given) return nb_run_path(runs[0], wanted == MARKDOWN ? "report.md" : "report.html", output, ctx);
    if (strcmp(given, "-") == 0) return NB_OK;
    NB_REQUIRE(ctx, nb_text_ends(given, ending), NB_EINVAL, "report: %s: expected a name that ends with %s, or -",
               nb_field(ctx, "path", given), ending);
    return nb_check_output(command, "path", given, ctx);
}

static nb_status write_one(const nb_report *report, kind as, const char *path, nb_ctx *ctx)
{
    nb_status (*print)(FILE *, const void *, nb_ctx *) = as == HTML ? nb_report_print_html : nb_report_print_markdown;
    if (strcmp(path, "-") == 0) return print(stdout, report, ctx);
    NB_TRY(ctx, nb_write_file(path, print, report, ctx));
    puts(path);
    return NB_OK;
}

static nb_status write_all(const nb_report *report, kind wanted, const char *output, nb_ctx *ctx)
{
    const char *beside;
    if (wanted != BOTH) return write_one(report, wanted, output, ctx);
    NB_TRY(ctx, write_one(report, HTML, output, ctx));
    if (strcmp(output, "-") == 0) return NB_OK;
    NB_NEED(beside, nb_format(ctx, "%.*s%s", (int)(strlen(output) - strlen(endings[HTML])), output, endings[MARKDOWN]));
    return write_one(report, MARKDOWN, beside, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_word_value format = {.words = formats, .value = BOTH};
    char *output = NULL;
    const char *path, *place;
    nb_report report;
    const struct poptOption options[] = {
        NB_TEXT_OPTION(
            "output", 'o', output,
            "Where to write it, with FILE.md beside it (default: report.html in the run's folder); -: standard output",
            "FILE.html"),
        NB_WORD_OPTION("format", 'f', format, "Write only html, or only markdown, for a README or a pull request",
                       "html|markdown"),
        NB_PLUGIN_OPTION(line), POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, INT_MAX, ctx));
    NB_TRY(ctx, find_output(line->command, output, line->arguments, (kind)format.value, &path, ctx));
    line->stage = NB_WORKS;
    NB_TRY(ctx, nb_folder_of(path, &place, ctx));
    NB_TRY(ctx, nb_report_make(nb_text_count(line->arguments), line->arguments, place, &report, ctx));
    if (report.undrawn) nb_warn_without_gnuplot(NULL);
    return write_all(&report, (kind)format.value, path, ctx);
}

NB_COMMAND(report, "RUN...", "Write one HTML page about runs, to send", false, NB_LOOK_AT_RUN + 40);
