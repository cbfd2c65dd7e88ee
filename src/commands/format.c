/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.c - prints pages and grids in the format of --format: see command.h */
#include "commands/command.h"

#include "base/numbers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *const nb_format_names[] = {"table", "csv", "json", "markdown", "latex", "html", NULL};

bool nb_format_is_page(nb_output_format format)
{
    return format != NB_FORMAT_CSV && format != NB_FORMAT_JSON;
}

int nb_terminal_columns(int file)
{
    enum { MOST = 100000 };
    const char *told = getenv("COLUMNS");
    struct winsize size;
    int columns;
    if (told && nb_parse_int(told, 1, MOST, &columns)) return columns;
    return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int nb_format_width(void)
{
    enum { LEAST = 20 };
    int columns = nb_terminal_columns(STDOUT_FILENO);
    return columns < LEAST ? 0 : columns;
}

bool nb_is_screen(int file)
{
    const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(file) && !(none && *none) && terminal && strcmp(terminal, "dumb") != 0;
}

nb_status nb_format_page(const nb_page *page, nb_output_format format)
{
    nb_page_form form = format == NB_FORMAT_MARKDOWN  ? NB_PAGE_MARKDOWN
                        : format == NB_FORMAT_LATEX   ? NB_PAGE_LATEX
                        : format == NB_FORMAT_HTML    ? NB_PAGE_HTML
                        : nb_is_screen(STDOUT_FILENO) ? NB_PAGE_TERMINAL
                                                      : NB_PAGE_TEXT;
    return nb_page_print(stdout, page, form, nb_format_width());
}

const nb_cells_writer *nb_format_grid_writer(nb_output_format format)
{
    return format == NB_FORMAT_JSON ? &nb_json_writer : &nb_csv_writer;
}

nb_status nb_format_grid(const nb_grid *grid, nb_output_format format)
{
    return nb_grid_write(stdout, nb_format_grid_writer(format), grid, grid->ctx);
}

nb_status nb_format_table(const nb_grid *grid, bool plain, nb_output_format format)
{
    nb_page page;
    if (!nb_format_is_page(format)) return nb_format_grid(grid, format);
    nb_page_make(&page, grid->ctx);
    nb_grid_show(grid, &page);
    if (plain) nb_page_headless(&page);
    return nb_format_page(&page, format);
}
