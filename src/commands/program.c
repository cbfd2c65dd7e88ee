/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c - see program.h */
#include "commands/program.h"

#include "commands/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void free_handle(void *handle)
{
    nysbench_free(handle);
}

nb_status nb_program_handle(nysbench **handle, nb_host *host, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, nysbench_new(handle) == NYSBENCH_OK, NB_ENOMEM, "out of memory: a handle");
    host->prefix = "--";
    host->processes = true;
    (*handle)->host = host;
    return nb_defer(ctx, free_handle, *handle);
}

void nb_program_warn(const nysbench *handle)
{
    if (*nysbench_warning(handle)) nb_print_warning("%s", nysbench_warning(handle));
}

int nb_program_aside(void)
{
    bool broken = fflush(stdout) != 0 || ferror(stdout); /* which stays to be told */
    int aside = broken ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (aside >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    nb_culprit_watch();
    return aside;
}

void nb_program_output(int aside)
{
    nb_culprit_forget();
    if (aside < 0) return;
    fflush(stdout);
    clearerr(stdout); /* what a component printed and nobody could read is no failure of the command */
    dup2(aside, STDOUT_FILENO);
    close(aside);
}
