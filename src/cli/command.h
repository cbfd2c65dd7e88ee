/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - the record and the common functions of commands. Each file src/commands/NAME.c is a command and ends with
 * the record nb_command_NAME. */
#ifndef NB_COMMAND_H
#define NB_COMMAND_H

#include "base/ctx.h"
#include "base/mistakes.h"

#include <popt.h>

enum { NB_EXIT_OK = 0, NB_EXIT_FAILED = 1, NB_EXIT_USAGE = 2, NB_EXIT_INTERRUPTED = 130 };

typedef struct nb_command {
    const char *name, *arguments, *summary;
    int (*run)(const struct nb_command *command, int argc, const char **argv,
               nb_ctx *ctx); /* argv[0] is the command's name */
    bool computes;           /* it calls BLAS, at least sometimes */
    int place;               /* group and order in --help; 0: not listed, since programs call it */
} nb_command;

/* Groups of --help. A command's place is its group's and more. */
enum { NB_BEGIN_HERE = 100, NB_LOOK_AT_RUN = 200, NB_YOUR_OWN = 300, NB_MORE = 400 };

/* All commands, by name; the Makefile finds the files of src/commands. NULL-terminated. */
extern const nb_command *const nb_commands[];

enum { NB_GO_ON = -1 };

typedef struct {         /* the arguments of a command line, without its options */
    int min, max;        /* allowed number */
    const char ***given; /* gets the arguments; NULL-terminated */
} nb_arguments;

/* Parses the options into the table's variables, whose texts live as long as ctx's memory, and collects the arguments.
 * Returns NB_GO_ON, or the exit status after --help or a usage error. */
int nb_command_parse(const nb_command *command, int argc, const char **argv, struct poptOption *options,
                     nb_arguments arguments, nb_ctx *ctx);

/* Copies the command's table of options, whose last entry has neither a long nor a short name; runs nothing. */
nb_status nb_command_options(const nb_command *command, const struct poptOption **options, nb_ctx *ctx);

/* Parses an option's value as a whole number; if text is NULL, the option was not given and *number stays. Returns
 * NB_GO_ON, or the exit status after a usage error. */
int nb_command_number(const nb_command *command, const char *option, const char *text, int min, int max, int *number);

/* The same for larger numbers. */
int nb_command_integer(const nb_command *command, const char *option, const char *text, long long min, long long max,
                       long long *number);

/* The same for real numbers. */
int nb_command_real(const nb_command *command, const char *option, const char *text, double min, double max,
                    double *number);

/* Takes ownership of the texts of an option that may be repeated (popt's; NULL: not given). */
nb_status nb_command_own(const char **texts, nb_ctx *ctx);

/* Lists the names of all commands in --help, NULL-terminated; ctx owns them. */
nb_status nb_command_names(const char *const **names, nb_ctx *ctx);

/* The option --plugin, which may be repeated. nb_command_plugins loads each and takes ownership of the texts. */
#define NB_PLUGIN_OPTION(files) \
    { \
        "plugin", '\0', POPT_ARG_ARGV, &(files), 0, "Load the components of a shared object; may be repeated", \
            "FILE.so" \
    }
nb_status nb_command_plugins(const char **files, nb_ctx *ctx);

/* Prints "nysbench: error: ..." on standard error. */
void nb_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Prints "nysbench: warning: ..." on standard error. */
void nb_print_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Warns that figures need gnuplot, and says how to install it and what draws them then: 'nysbench plot' of the run, or
 * (NULL) the same command. */
void nb_warn_without_gnuplot(const char *run);
/* Prints the ctx's error in that form; returns the exit status: NB_EXIT_FAILED for an NB_EHOST, else exit_status. */
int nb_print_failure(const nb_ctx *ctx, int exit_status);
/* Returns NB_GO_ON if the folder holds a run; else prints an error and returns NB_EXIT_USAGE. */
int nb_command_check_run(const char *folder, nb_ctx *ctx);
/* Returns the same, for whether the folder of the file of an option -o exists. */
int nb_command_check_output(const nb_command *command, const char *path, nb_ctx *ctx);
int nb_print_mistakes(const nb_mistakes *mistakes); /* returns NB_EXIT_USAGE */

/* The option --help, first in every table; nb_command_parse handles it. */
#define NB_HELP_OPTION \
    { \
        "help", 'h', POPT_ARG_NONE, NULL, 'h', "Show this help and exit", NULL \
    }

#endif
