/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c - see program.h */
#include "commands/program.h"

#include "calls/called.h"
#include "components/plugin.h"
#include "base/fields.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void free_handle(void *handle)
{
    nysbench_free(handle);
}

nb_status nb_program_handle(nysbench **handle, nb_host *host, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, nysbench_new(handle) == NYSBENCH_OK, NB_ENOMEM, "out of memory: a handle");
    host->processes = true;
    (*handle)->host = host;
    return nb_defer(ctx, free_handle, *handle);
}

const char *const nb_causal_words[] = {"true", "false", "auto", NULL};

int nb_causal_of(const nb_word_value *causal)
{
    static const int values[] = {1, 0, -1};
    return values[causal->value];
}

void nb_head_request_init(nb_head_request *asked)
{
    *asked = (nb_head_request){.landmarks = {.min = 1, .max = INT_MAX},
                               .seed = {.max = INT64_MAX},
                               .trial = {.max = INT_MAX},
                               .causal = {.words = nb_causal_words}};
    nysbench_request_init(&asked->request);
}

nb_status nb_head_request_finish(nb_head_request *asked, nb_ctx *ctx)
{
    nysbench_request *r = &asked->request;
    NB_REQUIRE(ctx, r->file, NB_EINVAL, "--head is missing");
    if (asked->landmarks.text) r->landmarks = (int)asked->landmarks.value;
    if (asked->seed.text) r->seed = asked->seed.value;
    if (asked->trial.text) r->trial = (int)asked->trial.value;
    if (asked->causal.text) r->causal = nb_causal_of(&asked->causal);
    return NB_OK;
}

/* Returns the option that fills in a field of a request. */
static const char *option_of(const char *field)
{
    static const char *const options[][2] = {{"by_model", "by-model"}, {"cores", "core"},  {"file", "head"},
                                             {"folder", "out"},        {"path", "output"}, {"plugins", "plugin"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(field, options[i][0]) == 0) return options[i][1];
    return field;
}

void nb_program_spell(void)
{
    static const nb_spelling as_options = {option_of, "--", " ", "", "--set ", "nysbench "};
    const char *caller = getenv("NYSBENCH_CALLER");
    if (!caller || strcmp(caller, "python") != 0) nb_spell_as(&as_options);
}

nb_status nb_program_take(nysbench_status status, const nysbench *handle, nb_ctx *ctx)
{
    const char *field = handle->field, *message = nysbench_message(handle);
    if (status == NYSBENCH_OK) return NB_OK;
    nb_error_copy(ctx, handle->ctx);
    if (field && strncmp(message, field, strlen(field)) == 0)
        nb_error_reword(ctx, "%s%s", nb_field(ctx, field, NULL), message + strlen(field));
    return status == NYSBENCH_EINVAL ? NB_EINVAL : nb_error_status(handle->ctx);
}

nb_status nb_program_end(nb_command_line *line, const nysbench *handle, nysbench_status status, int aside, nb_ctx *ctx)
{
    nb_program_output(aside);
    if (*nysbench_warning(handle)) nb_print_warning("%s", nysbench_warning(handle));
    line->stage = handle->at_work ? NB_WORKS : NB_BEGINS;
    return nb_program_take(status, handle, ctx);
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASHES = sizeof crashes / sizeof *crashes };

static struct sigaction before[CRASHES];
static pid_t watched; /* children of the process are their parents' concern */

/* Uses only write(), since a signal handler may call little. False: no plug-in is being called. */
static bool name_culprit(const char *what, const char *which)
{
    const nb_component *culprit = nb_called();
    if (getpid() != watched || !culprit) return false;
    const char *texts[] = {"nysbench: error: ", nb_plugin_of(culprit), ": ", culprit->name, " ", what, which, "\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (write(STDERR_FILENO, texts[i], strlen(texts[i])) < 0) _exit(NB_EXIT_FAILED);
    return true;
}

static void forget_culprits(void)
{
    for (int i = 0; i < CRASHES; i++) sigaction(crashes[i], &before[i], NULL);
    watched = 0;
}

static void crashed(int number)
{
    name_culprit("was killed by a signal: ", sigdescr_np(number));
    forget_culprits();
    raise(number);
}

static void exited(void)
{
    if (!name_culprit("ended the program", "")) return;
    fflush(stdout); /* what the plug-in has printed */
    _exit(NB_EXIT_FAILED);
}

/* From here on, names a plug-in that crashes before the signal ends the program, and one that calls exit(), which
 * becomes a failure. */
static void watch_culprits(void)
{
    static char stack[1 << 14]; /* for the handler: a recursion without end leaves none */
    static bool known;
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
    watched = getpid();
    known = known || atexit(exited) == 0;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (int i = 0; i < CRASHES; i++) sigaction(crashes[i], &action, &before[i]);
}

int nb_program_aside(void)
{
    bool broken = fflush(stdout) != 0 || ferror(stdout); /* which stays to be told */
    int aside = broken ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (aside >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    watch_culprits();
    return aside;
}

void nb_program_output(int aside)
{
    forget_culprits();
    if (aside < 0) return;
    fflush(stdout);
    clearerr(stdout); /* what a component printed and nobody could read is no failure of the command */
    dup2(aside, STDOUT_FILENO);
    close(aside);
}
