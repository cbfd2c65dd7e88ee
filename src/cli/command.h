/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - what every command is and does. One file of src/commands is one: NAME.c ends with the record
 * nb_command_NAME. */
#ifndef NB_COMMAND_H
#define NB_COMMAND_H

#include "base/ctx.h"
#include "base/mistakes.h"

#include <popt.h>

enum { NB_EXIT_OK = 0, NB_EXIT_FAILED = 1, NB_EXIT_USAGE = 2, NB_EXIT_INTERRUPTED = 130 };

typedef struct nb_command {
    const char *name, *arguments, *summary;
    int (*run)(const struct nb_command *command, int argc, const char **argv,
               nb_ctx *ctx); /* argv[0]: the command's name */
    bool computes;           /* it calls BLAS, some of the time at least */
    int place;               /* in the list of --help: the smaller first; 0: it is not there, since programs call it */
} nb_command;

/* All of them, by name: the Makefile finds the files of src/commands. NULL-terminated. */
extern const nb_command *const nb_commands[];

enum { NB_GO_ON = -1 };

typedef struct {         /* what is left of a command line without its options */
    int min, max;        /* how many there may be */
    const char ***given; /* is filled; NULL-terminated */
} nb_arguments;

/* Parses the options into the table's variables, whose texts live as long as
 * ctx's memory, and gives what is left.
 * Returns NB_GO_ON, or the status to exit with: after --help, or a usage error. */
int nb_command_parse(const nb_command *command, int argc, const char **argv, struct poptOption *options,
                     nb_arguments arguments, nb_ctx *ctx);

/* A copy of the command's table of options, which ends with neither a long nor a short name; nothing is run. */
nb_status nb_command_options(const nb_command *command, const struct poptOption **options, nb_ctx *ctx);

/* The whole number that is an option's value; if text is NULL it was not given and *number stays. Returns NB_GO_ON,
 * or the status after a usage error. */
int nb_command_number(const nb_command *command, const char *option, const char *text, int min, int max, int *number);

/* The same of a larger one. */
int nb_command_integer(const nb_command *command, const char *option, const char *text, long long min, long long max,
                       long long *number);

/* The same of a number. */
int nb_command_real(const nb_command *command, const char *option, const char *text, double min, double max,
                    double *number);

/* Takes over the texts of an option that may be repeated (popt's; NULL: not given). */
nb_status nb_command_own(const char **texts, nb_ctx *ctx);

/* The names of all that --help lists, NULL-terminated; ctx's. */
nb_status nb_command_names(const char *const **names, nb_ctx *ctx);

/* --plugin, which may be repeated: loads each. The texts are taken over. */
#define NB_PLUGIN_OPTION(files) \
    { \
        "plugin", '\0', POPT_ARG_ARGV, &(files), 0, "Load the components of a shared object; may be repeated", \
            "FILE.so" \
    }
nb_status nb_command_plugins(const char **files, nb_ctx *ctx);

/* "nysbench: error: ..." on standard error. */
void nb_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* "nysbench: warning: ..." */
void nb_print_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* That figures need gnuplot, how to get it, and what draws them then: the run's 'nysbench plot', or (NULL) the same
 * command. */
void nb_warn_without_gnuplot(const char *run);
/* The ctx's error in that form; returns the status to exit with: NB_EXIT_FAILED for an NB_EHOST, whatever is given. */
int nb_print_failure(const nb_ctx *ctx, int exit_status);
/* NB_GO_ON if the folder holds a run; else prints an error and returns NB_EXIT_USAGE. */
int nb_command_check_run(const char *folder, nb_ctx *ctx);
/* The same where the folder of the file of an option -o is there. */
int nb_command_check_output(const nb_command *command, const char *path, nb_ctx *ctx);
int nb_print_mistakes(const nb_mistakes *mistakes); /* NB_EXIT_USAGE */

/* The --help option, first in every table; its value is handled by nb_command_parse. */
#define NB_HELP_OPTION \
    { \
        "help", 'h', POPT_ARG_NONE, NULL, 'h', "Show this help and exit", NULL \
    }

#endif
