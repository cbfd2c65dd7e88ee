/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.h - the option --format, and printing in the format that it names. */
#ifndef NB_CLI_FORMAT_H
#define NB_CLI_FORMAT_H

#include "cli/command.h"
#include "report/grid.h"

typedef enum { NB_FORMAT_TABLE, NB_FORMAT_CSV, NB_FORMAT_JSON, NB_FORMAT_MARKDOWN, NB_FORMAT_LATEX } nb_output_format;

#define NB_FORMAT_OPTION(text) \
    { \
        "format", 'f', POPT_ARG_STRING, &(text), 0, "Print a table (default), csv, json, markdown or latex", \
            "table|csv|json|markdown|latex" \
    }

/* True if the format is for people: then a page is printed, else a grid. */
bool nb_format_is_page(nb_output_format format);

/* Parses the option's text, and takes ownership of it; NULL: *format stays. Returns `code`, the result of parsing the
 * command line, unless that is NB_GO_ON and the text is a usage error. */
int nb_command_format(const nb_command *command, int code, char *text, nb_output_format *format, nb_ctx *ctx);

/* Print to standard output. A table has the width of COLUMNS if that is set, else of the terminal, else any. Its
 * headings are bold on a terminal, unless NO_COLOR is set or TERM is dumb. */
nb_status nb_format_page(const nb_page *page, nb_output_format format, nb_ctx *ctx);
nb_status nb_format_grid(const nb_grid *grid, nb_output_format format, nb_ctx *ctx);

/* Prints a grid in any format; `plain`: a table without headings. */
nb_status nb_format_table(const nb_grid *grid, bool plain, nb_output_format format, nb_ctx *ctx);

#endif
