/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c - nysbench COMMAND ... */
#include "commands/command.h"
#include "commands/program.h"
#include "base/guard.h"
#include "base/process.h"
#include "base/server.h"
#include "base/version.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "linalg/blas.h"

#include <fcntl.h>
#include <gsl/gsl_errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CALL = 24 }; /* the width of a name with its arguments */

static void print_command(FILE *out, const nb_command *c)
{
    char call[80];
    int length = snprintf(call, sizeof call, "%s %s", c->name, c->arguments);
    if (length > CALL) fprintf(out, "  %s\n", call);
    fprintf(out, "  %-*s %.*s\n", CALL, length > CALL ? "" : call, (int)strcspn(c->summary, ".\n"), c->summary);
}

static void print_help(FILE *out)
{
    static const struct {
        int begin;
        const char *title;
    } groups[] = {{NB_BEGIN_HERE, "Begin here"},
                  {NB_LOOK_AT_RUN, "Look at a run"},
                  {NB_YOUR_OWN, "Components, and your own"},
                  {NB_MORE, "More"},
                  {INT_MAX, NULL}};
    fputs("Usage: nysbench COMMAND ...\n\nMeasures how far Nystroem approximations of attention are from exact "
          "attention.\n",
          out);
    const nb_command *c = nb_command_next(NULL);
    for (int g = 0; groups[g].title; g++) {
        fprintf(out, "\n%s:\n", groups[g].title);
        for (; c && c->place < groups[g + 1].begin; c = nb_command_next(c)) print_command(out, c);
    }
    fputs("\n'nysbench COMMAND --help' lists a command's options, 'nysbench help COMMAND'\n"
          "explains it. 'nysbench help nysbench' has the variables of the environment.\n",
          out);
}

static const char greeting[] = "nysbench measures which tokens can stand for the rest in your model's attention.\n"
                               "\n"
                               "  nysbench demo                   See it work: a small experiment, a few seconds\n"
                               "  nysbench new experiment NAME    Write an experiment, each key explained\n"
                               "  nysbench run EXPERIMENT.yaml    Measure it\n"
                               "  nysbench compare RUN            Which method is better, and how surely\n"
                               "\n"
                               "All commands: nysbench --help. The manual: nysbench help.\n";

static int unknown(const char *name, nb_ctx *ctx)
{
    const char *names[64] = {NULL}, *hint;
    int count = 0;
    for (int i = 0; nb_commands[i] && count < 63; i++)
        if (nb_commands[i]->place > 0) names[count++] = nb_commands[i]->name;
    hint = nb_hint(name, names, ctx);
    nb_print_error("no command '%s'%s", name, hint ? hint : "");
    return NB_EXIT_USAGE;
}

static int fail(const nb_ctx *ctx)
{
    nb_print_failure(ctx);
    return nb_error_status(ctx) == NB_EHOST ? NB_EXIT_FAILED : NB_EXIT_USAGE;
}

static int dispatch(const nb_command *command, int argc, char **argv, nb_ctx *ctx)
{
    if (argc < 2) {
        fputs(greeting, stdout);
        return NB_EXIT_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return NB_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("nysbench %s\n", NB_VERSION);
        return NB_EXIT_OK;
    }
    if (command && command->computes && nb_blas_take_memory(ctx) != NB_OK) return fail(ctx);
    return command ? nb_run_command(command, argc - 1, (const char **)argv + 1, ctx) : unknown(argv[1], ctx);
}

/* The Makefile starts the program to find this out. */
static nb_status check_components(nb_ctx *ctx)
{
    for (int i = 0; nb_registries[i]; i++) NB_TRY(ctx, nb_registry_check(nb_registries[i], ctx));
    for (int i = 0; nb_outputs[i]; i++) NB_TRY(ctx, nb_registry_check(nb_outputs[i], ctx));
    return NB_OK;
}

/* A stream that is closed would become the next file that is opened, a lock or the store. What is written to a
 * closed one is lost, which is an error if it is the output. */
static void open_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) _exit(NB_EXIT_FAILED);
}

/* The reader of the output has gone: ends as every filter does. */
static void end_with_the_reader(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    struct stat info;
    if (fstat(STDOUT_FILENO, &info) != 0 || !S_ISFIFO(info.st_mode) || poll(&out, 1, 0) < 0 || !(out.revents & POLLERR))
        return;
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
}

int main(int argc, char **argv)
{
    open_streams();
    nb_ctx *ctx = nb_ctx_new();
    if (!ctx) {
        nb_print_error("out of memory");
        return NB_EXIT_FAILED;
    }
    gsl_set_error_handler_off();
    nb_program_spell();
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* nobody asks for its count of bytes, which each allocation locks */
    signal(SIGXFSZ, SIG_IGN);                   /* a file that may not grow further is an error like a full disk */
    signal(SIGPIPE, SIG_IGN);                   /* the run goes on if nobody reads the progress */
    mallopt(M_MMAP_MAX, 0);                     /* keeps the pages of work spaces that come and go */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    nb_process_begin();
    const nb_command *command = argc > 1 ? nb_command_named(argv[1]) : NULL;
    /* A command that computes nothing does without BLAS, whose start may take another one of the program. */
    bool without_blas = command && !command->computes && !nb_blas_memory_is_limited();
    if (without_blas) nb_blas_end_threads();
    bool ready = check_components(ctx) == NB_OK && (without_blas || nb_blas_start(argv, ctx) == NB_OK);
    int code = ready ? dispatch(command, argc, argv, ctx) : fail(ctx);
    nb_servers_end();
    nb_ctx_free(ctx);
    nb_process_finish();
    if (fflush(stdout) != 0 || ferror(stdout)) {
        end_with_the_reader();
        nb_print_error("standard output cannot be written");
        if (code == NB_EXIT_OK) code = NB_EXIT_FAILED;
    }
    nb_guard_end();
    if (*nb_plugins_loaded()) _exit(code); /* without their destructors */
    return code;
}
