/* SPDX-License-Identifier: GPL-3.0-or-later */
/* board.c - nysbench board RESULT.json...: the results of a suite as one page. */
#include "commands/command.h"

#include "base/files.h"
#include "base/text.h"
#include "suite/board.h"

#include <string.h>

static nb_status make(const char *list, const char *const *paths, nb_board *board, nb_ctx *ctx)
{
    int count = nb_text_count(paths);
    nb_suite *suite;
    nb_suite_result *results;
    NB_NEED(suite, nb_alloc(ctx, 1, sizeof *suite));
    NB_NEED(results, nb_alloc(ctx, (size_t)count, sizeof *results));
    if (!list) NB_TRY(ctx, nb_suite_small_list(&list, ctx));
    NB_TRY(ctx, nb_suite_read(list, false, suite, ctx));
    for (int i = 0; i < count; i++) NB_TRY(ctx, nb_suite_check(suite, paths[i], &results[i], ctx));
    return nb_board_make(suite, count, results, paths, board, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    char *output = NULL, *list = NULL;
    nb_board board;
    const struct poptOption options[] = {
        NB_TEXT_OPTION("output", 'o', output, "Where to write it (default: board.html); -: standard output",
                       "FILE.html"),
        NB_TEXT_OPTION("list", '\0', list,
                       "The heads that the results are of (default: the small list that comes with the program)",
                       "FILE.json"),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    const char *path = output ? output : "board.html";
    bool aside = strcmp(path, "-") == 0;
    NB_REQUIRE(ctx, aside || nb_text_ends(path, ".html"), NB_EINVAL,
               "board: --output %s: expected a name that ends with .html, or -", path);
    if (!aside) NB_TRY(ctx, nb_check_output(line->command, "output", path, ctx));
    NB_TRY(ctx, make(list, line->arguments, &board, ctx));
    line->stage = NB_WORKS;
    if (aside) return nb_board_print(stdout, &board, ctx);
    NB_TRY(ctx, nb_write_file(path, nb_board_print, &board, ctx));
    puts(path);
    return NB_OK;
}

NB_COMMAND(board, "RESULT.json...", "Write one HTML page that ranks the results of a suite", false, NB_YOUR_OWN + 36);
