/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.h - the option --format, and what is printed in the format that it names. */
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

/* Whether the format is for people: a page is printed, not a grid. */
bool nb_format_is_page(nb_output_format format);

/* The option's text, which is taken over; NULL: *format stays. `code` is what parsing returned: so is it unless it is
 * NB_GO_ON and the text a usage error. */
int nb_command_format(const nb_command *command, int code, char *text, nb_output_format *format, nb_ctx *ctx);

/* To standard output. A table has the width of the terminal, or of COLUMNS if that is set; where it is neither, any. It
 * has headings in bold on a terminal, unless NO_COLOR is set or TERM is dumb. */
nb_status nb_format_page(const nb_page *page, nb_output_format format, nb_ctx *ctx);
nb_status nb_format_grid(const nb_grid *grid, nb_output_format format, nb_ctx *ctx);

/* A grid of any format; `plain`: as a table without heads. */
nb_status nb_format_table(const nb_grid *grid, bool plain, nb_output_format format, nb_ctx *ctx);

#endif
