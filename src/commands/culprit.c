/* SPDX-License-Identifier: GPL-3.0-or-later */
/* culprit.c - handlers of signals and of exit() that look at what is called. */
#include "commands/program.h"

#include "calls/called.h"
#include "commands/command.h"
#include "components/plugin.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
enum { CRASHES = sizeof crashes / sizeof *crashes };

static struct sigaction before[CRASHES];
static pid_t watched; /* children of the process are their parents' concern */

static void tell(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(NB_EXIT_FAILED);
}

/* Uses only write(), since a signal handler may call little. False: no plug-in is being called. */
static bool name_culprit(const char *what, const char *which)
{
    const nb_component *culprit = nb_called();
    if (getpid() != watched || !culprit) return false;
    const char *plugin = nb_plugin_of(culprit);
    const char *texts[] = {"nysbench: error: ", plugin, ": ", culprit->name, " ", what, which, "\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) tell(texts[i]);
    return true;
}

static void crashed(int number)
{
    name_culprit("was killed by a signal: ", sigdescr_np(number));
    nb_culprit_forget();
    raise(number);
}

static void exited(void)
{
    if (!name_culprit("ended the program", "")) return;
    fflush(stdout); /* what the plug-in has printed */
    _exit(NB_EXIT_FAILED);
}

void nb_culprit_watch(void)
{
    static char stack[1 << 14]; /* for the handler: a recursion without end leaves none */
    static bool known;
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK};
    watched = getpid();
    known = known || atexit(exited) == 0;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (int i = 0; i < CRASHES; i++) sigaction(crashes[i], &action, &before[i]);
}

void nb_culprit_forget(void)
{
    for (int i = 0; i < CRASHES; i++) sigaction(crashes[i], &before[i], NULL);
    watched = 0;
}
