/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - the record and the common functions of commands. A file NAME.c of src/commands that ends with NB_COMMAND,
 * the record nb_command_NAME, is the command. */
#ifndef NB_COMMAND_H
#define NB_COMMAND_H

#include "base/ctx.h"
#include "base/mistakes.h"
#include "components/registry.h"
#include "show/cells.h"
#include "show/grid_page.h"
#include "rows/relation.h"

#include <popt.h>
#include <stdio.h>

enum { NB_EXIT_OK = 0, NB_EXIT_FAILED = 1, NB_EXIT_USAGE = 2, NB_EXIT_INTERRUPTED = 130 };

typedef struct nb_command_line nb_command_line;

/* If `run` fails, the ctx's error is printed, and the exit status is as the line's `stage` says; else it is the line's
 * `exit`. */
typedef struct {
    const char *name, *arguments, *summary;
    nb_status (*run)(nb_command_line *line, nb_ctx *ctx);
    bool computes; /* it calls BLAS, at least sometimes, or says how BLAS computes here */
    int place;     /* group and order in --help; 0: not listed, since programs call it */
} nb_command;

/* Groups of --help. A command's place is its group's and more. */
enum { NB_BEGIN_HERE = 100, NB_LOOK_AT_RUN = 200, NB_YOUR_OWN = 300, NB_MORE = 400 };

/* The record of the command whose function is `run`. */
#define NB_COMMAND(name, arguments, summary, computes, place) \
    const nb_command nb_command_##name = {#name, arguments, summary, run, computes, place}

/* All commands, by name; the Makefile finds their files. NULL-terminated. */
extern const nb_command *const nb_commands[];

/* Returns the command of that name; NULL: there is none. */
const nb_command *nb_command_named(const char *name);

/* Runs the command with its arguments, of which argv[0] is its name; prints what fails. Returns the exit status. */
int nb_run_command(const nb_command *command, int argc, const char **argv, nb_ctx *ctx);

/* Options with a text, several or none; and those whose values nb_parse_command reads. text NULL: not given, and
 * `value` is the default. */
typedef struct {
    char *text;
    long long min, max, value;
} nb_whole_value;
typedef struct {
    char *text;
    double min, max, value;
} nb_real_value;
typedef struct {
    char *text;
    const char *const *words; /* those allowed; NULL-terminated */
    int value;                /* index */
} nb_word_value;
enum { NB_TAKES_WHOLE = 256, NB_TAKES_REAL, NB_TAKES_WORD, NB_TAKES_PATIENCE, NB_TAKES_OUTPUT, NB_TAKES_PLUGINS };
typedef enum {
    NB_FORMAT_TABLE,
    NB_FORMAT_CSV,
    NB_FORMAT_JSON,
    NB_FORMAT_MARKDOWN,
    NB_FORMAT_LATEX,
    NB_FORMAT_HTML
} nb_output_format; /* nb_format_is_page tells most commands enough; one that treats a format apart asks for that */

/* A failure is one of these, by when it comes, unless it is the machine's (NB_EHOST), which is NB_EXIT_FAILED. */
typedef enum {
    NB_BEGINS, /* a mistake in the call: NB_EXIT_USAGE */
    NB_ASKS,   /* that for an NB_EINVAL, else NB_EXIT_FAILED */
    NB_WORKS   /* NB_EXIT_FAILED */
} nb_command_stage;

struct nb_command_line {
    const nb_command *command;
    int argc;
    const char **argv;
    const char **arguments; /* those that are no options; NULL-terminated */
    const char **plugins;   /* of the option --plugin */
    int programs;           /* of the option --programs: not 0 if it is given */
    nb_word_value format;   /* of the option --format: an nb_output_format */
    nb_command_stage stage;
    int exit;
    bool show_usage;                   /* behind the error */
    const struct poptOption **options; /* gets the options of a command, which then does nothing; NULL: it is run */
    bool ended;                        /* after --help nothing is to be done, and no error to be told */
};

/* Parses --help and the options into the table's variables, whose texts live as long as ctx's memory, reads words and
 * numbers, loads plug-ins, and collects the arguments, of which the first `runs` must be folders of runs. */
nb_status nb_parse_command(nb_command_line *line, const struct poptOption *options, int runs, nb_ctx *ctx);

/* Copies the command's table of options, which ends with one without a name; runs nothing. */
nb_status nb_command_options(const nb_command *command, const struct poptOption **options, nb_ctx *ctx);

/* Puts its arguments in braces, so that the macros below need no lines of their own for these. */
#define NB_BRACED(...) \
    { \
        __VA_ARGS__ \
    }
#define NB_TEXT_OPTION(name, letter, text, help, shown) \
    NB_BRACED(name, letter, POPT_ARG_STRING, &(text), 0, help, shown)
/* May be repeated. */
#define NB_LIST_OPTION(name, letter, texts, help, shown) \
    NB_BRACED(name, letter, POPT_ARG_ARGV, &(texts), 0, help, shown)
#define NB_FLAG_OPTION(name, letter, flag, help) NB_BRACED(name, letter, POPT_ARG_NONE, &(flag), 0, help, NULL)
#define NB_VALUE_OPTION(name, letter, value, takes, help, shown) \
    NB_BRACED(name, letter, POPT_ARG_STRING, &(value), takes, help, shown)
#define NB_WHOLE_OPTION(name, letter, value, help, shown) \
    NB_VALUE_OPTION(name, letter, (value).text, NB_TAKES_WHOLE, help, shown)
#define NB_REAL_OPTION(name, letter, value, help, shown) \
    NB_VALUE_OPTION(name, letter, (value).text, NB_TAKES_REAL, help, shown)
/* Seconds; plug-ins have as many when they are loaded. */
#define NB_PATIENCE_OPTION(name, letter, value, help) \
    NB_VALUE_OPTION(name, letter, (value).text, NB_TAKES_PATIENCE, help, "SECONDS")
/* The folder of the file is checked. */
#define NB_OUTPUT_OPTION(path, help) NB_VALUE_OPTION("out", 'o', path, NB_TAKES_OUTPUT, help, "FILE.npy")
#define NB_WORD_OPTION(name, letter, value, help, shown) \
    NB_VALUE_OPTION(name, letter, (value).text, NB_TAKES_WORD, help, shown)
/* May be repeated: the components are loaded. */
#define NB_PLUGIN_OPTION(line) \
    NB_BRACED("plugin", '\0', POPT_ARG_ARGV, &(line)->plugins, NB_TAKES_PLUGINS, \
              "Load the components of a shared object; may be repeated", "FILE.so")

/* For commands that read results, and compute something again. */
#define NB_PROGRAMS_OPTION(line) \
    NB_FLAG_OPTION("programs", '\0', (line)->programs, \
                   "Start the programs that the run's config names, where they are needed: they are code")

/* Conditions on rows: see rows/where.h. */
#define NB_WHERE_OPTION(where) \
    NB_LIST_OPTION( \
        "where", 'w', where, \
        "Only rows with this value in a column; of a component its name, a spec or its label; may be repeated", \
        "COLUMN=VALUE")

#define NB_FORMAT_OPTION(line) \
    NB_WORD_OPTION("format", 'f', (line)->format, "Print a table (default), csv, json, markdown, latex or html", \
                   "table|csv|json|markdown|latex|html")

/* Reads such a number, whose bounds depend on other options. */
nb_status nb_command_real(nb_command_line *line, const char *option, nb_real_value *number, nb_ctx *ctx);

/* Print "nysbench: error: ..." and "nysbench: warning: ..." on standard error. */
#define nb_print_error(...) nb_print_message("error", __VA_ARGS__)
#define nb_print_warning(...) nb_print_message("warning", __VA_ARGS__)
/* Says, before any of it is loaded or started, which code a command runs; of no names (NULL-terminated) nothing. */
nb_status nb_announce_code(const char *const *names, nb_ctx *ctx);
void nb_print_message(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the ctx's error in that form. */
void nb_print_failure(const nb_ctx *ctx);
/* Finds a component; NB_EINVAL names what is near. */
nb_status nb_command_find(const nb_command *command, const nb_registry *registry, const char *name,
                          const nb_component **found, nb_ctx *ctx);
/* Warns that figures need gnuplot, and says how to install it and what draws them then: 'nysbench plot' of the run, or
 * (NULL) the same command. */
void nb_warn_without_gnuplot(const char *run);
/* NB_EINVAL unless the folder holds a run. */
nb_status nb_check_run(const char *folder, nb_ctx *ctx);
/* Warns of rows that several builds have measured, before numbers of these are shown that may mix them. compare and
 * report need no warning: pairs are of one build (rows/pairs.sql), and the report has it among its caveats. */
nb_status nb_warn_of_builds(nb_store *store, nb_ctx *ctx);
/* Opens the rows of a run with its labels and its baseline, and finds their experiment, for tables, figures and the
 * suite; NB_EIO if there are none. Warns of several builds. What needs no such warning calls nb_run_open and
 * nb_relation_open itself. */
nb_status nb_command_rows(const char *folder, nb_relation **relation, const char **experiment, nb_ctx *ctx);
/* Keeps only the rows that meet the conditions of NB_WHERE_OPTION; NULL: none are given. */
nb_status nb_command_keep(nb_relation *relation, const char *const *where, nb_ctx *ctx);
/* NB_EINVAL unless the folder of the file of that option exists. */
nb_status nb_check_output(const nb_command *command, const char *option, const char *path, nb_ctx *ctx);

/* Printing in the format of --format. */

extern const char *const nb_format_names[]; /* by nb_output_format; NULL-terminated */

/* True if the format is for people: then a page is printed, else a grid. */
bool nb_format_is_page(nb_output_format format);

/* Returns the columns of a terminal: COLUMNS of the environment, else what the terminal behind the file says; 0:
 * neither does. */
int nb_terminal_columns(int file);

/* Returns how wide standard output is: COLUMNS of the environment if that is set, else the terminal; 0: any. */
int nb_format_width(void);

/* True if the file is a terminal that can redraw lines: NO_COLOR is not set and TERM is not dumb. */
bool nb_is_screen(int file);

/* Print to standard output, in its width. Headings of tables are bold on a terminal, unless NO_COLOR is set or TERM is
 * dumb. */
nb_status nb_format_page(const nb_page *page, nb_output_format format);
nb_status nb_format_grid(const nb_grid *grid, nb_output_format format);
const nb_cells_writer *nb_format_grid_writer(nb_output_format format); /* of one for programs */

/* Prints a grid in any format; `plain`: a table without headings. */
nb_status nb_format_table(const nb_grid *grid, bool plain, nb_output_format format);

/* The manual: a page for the program, one for each command, made from its options and docs/commands.md, and one for
 * each other document of docs/. src/make/manual.c renders them when the program is built. */

/* A page's name and summary. A document is named after its file, without the ending unless a command has that name. */
typedef struct {
    const char *name, *summary;
    const nb_command *command; /* NULL: a document, or the program */
    const char *path;          /* path of the document; NULL: a command, or the program */
    bool word;                 /* of the glossary; the summary is its meaning */
} nb_topic;

/* Lists all pages: the program, the commands in the order of --help, the documents by name. */
nb_status nb_manual_topics(nb_topic **topics, int *count, nb_ctx *ctx);

/* Finds the topic of a name in any case, with or without .md. NULL: there is none. */
const nb_topic *nb_manual_find(const nb_topic *topics, int count, const char *name);

/* Looks a word up, in any case, in the glossary of the page "method". */
nb_status nb_manual_word(const char *word, nb_topic *topic, bool *found, nb_ctx *ctx);

/* Prints the page as text of that many columns. */
nb_status nb_manual_print(const nb_topic *topic, int width, FILE *out, nb_ctx *ctx);

/* Returns the command after `before`, or the first if that is NULL, in the order of --help; NULL: there are no more. */
const nb_command *nb_command_next(const nb_command *before);

#endif
