/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.h - the option --format, and printing in the format that it names. */
#ifndef NB_CLI_FORMAT_H
#define NB_CLI_FORMAT_H

#include "commands/command.h"
#include "report/grid.h"

typedef enum { NB_FORMAT_TABLE, NB_FORMAT_CSV, NB_FORMAT_JSON, NB_FORMAT_MARKDOWN, NB_FORMAT_LATEX } nb_output_format;

extern const char *const nb_format_names[]; /* by nb_output_format; NULL-terminated */
#define NB_FORMAT_VALUE NB_BRACED(.words = nb_format_names)
#define NB_FORMAT_OPTION(format) \
    NB_WORD_OPTION("format", 'f', format, "Print a table (default), csv, json, markdown or latex", \
                   "table|csv|json|markdown|latex")

/* True if the format is for people: then a page is printed, else a grid. */
bool nb_format_is_page(nb_output_format format);

/* Returns the columns of a terminal: COLUMNS of the environment, else what the terminal behind the file says; 0:
 * neither does. */
int nb_terminal_columns(int file);

/* Returns how wide standard output is: COLUMNS of the environment if that is set, else the terminal; 0: any. */
int nb_format_width(void);

/* Print to standard output, in its width. Headings of tables are bold on a terminal, unless NO_COLOR is set or TERM is
 * dumb. */
nb_status nb_format_page(const nb_page *page, nb_output_format format);
nb_status nb_format_grid(const nb_grid *grid, nb_output_format format);

/* Prints a grid in any format; `plain`: a table without headings. */
nb_status nb_format_table(const nb_grid *grid, bool plain, nb_output_format format);

#endif
