/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - the record and the common functions of commands. A file NAME.c of src/commands that ends with NB_COMMAND,
 * the record nb_command_NAME, is the command. */
#ifndef NB_COMMAND_H
#define NB_COMMAND_H

#include "base/ctx.h"
#include "base/mistakes.h"
#include "components/registry.h"

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

/* The record of the command whose function is `run`. */
#define NB_COMMAND(name, arguments, summary, computes, place) \
    const nb_command nb_command_##name = {#name, arguments, summary, run, computes, place}

/* All commands, by name; the Makefile finds their files. NULL-terminated. */
extern const nb_command *const nb_commands[];

enum { NB_GO_ON = -1 };

typedef struct {         /* the arguments of a command line, without its options */
    int min, max;        /* allowed number */
    const char ***given; /* gets the arguments; NULL-terminated */
    int runs;            /* that many, the first, are folders of runs, and are checked */
} nb_arguments;

/* Parses --help and the options into the table's variables, whose texts live as long as ctx's memory, reads words and
 * numbers, loads plug-ins, and collects the arguments. Returns NB_GO_ON, or the exit status after --help or an
 * error. */
int nb_command_parse(const nb_command *command, int argc, const char **argv, const struct poptOption *options,
                     nb_arguments arguments, nb_ctx *ctx);

/* Copies the command's table of options, whose last entry has neither a long nor a short name; runs nothing. */
nb_status nb_command_options(const nb_command *command, const struct poptOption **options, nb_ctx *ctx);

/* Options with a text, several or none; and those whose values nb_command_parse reads. text NULL: not given, and
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
#define NB_PLUGIN_OPTION(files) \
    NB_BRACED("plugin", '\0', POPT_ARG_ARGV, &(files), NB_TAKES_PLUGINS, \
              "Load the components of a shared object; may be repeated", "FILE.so")

/* Reads such a number, whose bounds depend on other options; as nb_command_parse does, and returns as it. */
int nb_command_real(const nb_command *command, const char *option, nb_real_value *number);

/* Lists the names of all commands in --help, NULL-terminated; ctx owns them. */
nb_status nb_command_names(const char *const **names, nb_ctx *ctx);

/* Prints "nysbench: error: ..." on standard error. Returns NB_EXIT_USAGE. */
int nb_print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Finds a component; returns NB_GO_ON, or the exit status after an error that names what is near. */
int nb_command_find(const nb_command *command, const nb_registry *registry, const char *name,
                    const nb_component **found, nb_ctx *ctx);
/* Prints "nysbench: warning: ..." on standard error. */
void nb_print_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Warns that figures need gnuplot, and says how to install it and what draws them then: 'nysbench plot' of the run, or
 * (NULL) the same command. */
void nb_warn_without_gnuplot(const char *run);
/* Prints the ctx's error in that form; returns the exit status: NB_EXIT_FAILED for an NB_EHOST, else exit_status. */
int nb_print_failure(const nb_ctx *ctx, int exit_status);
/* Returns NB_GO_ON if the folder holds a run; else prints an error and returns NB_EXIT_USAGE. */
int nb_command_check_run(const char *folder, nb_ctx *ctx);
/* Returns the same, for whether the folder of the file of an option -o exists; nb_command_parse calls it for
 * NB_TAKES_OUTPUT. */
int nb_command_check_output(const nb_command *command, const char *path, nb_ctx *ctx);
/* Returns NB_EXIT_OK; or prints the ctx's error and returns NB_EXIT_USAGE for an NB_EINVAL, else NB_EXIT_FAILED. */
int nb_command_end(nb_status status, const nb_ctx *ctx);
int nb_print_mistakes(const nb_mistakes *mistakes); /* returns NB_EXIT_USAGE */

#endif
