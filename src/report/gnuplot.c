/* gnuplot.c - the external program. */
#include "report/gnuplot.h"

#include "base/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void nb_gnuplot_string(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', out);
        fputc(iscntrl((unsigned char)*text) ? ' ' : *text, out);
    }
    fputc('\'', out);
}

nb_status nb_gnuplot_copy(const char *folder, const char *name, nb_ctx *ctx)
{
    const char *from, *to;
    NB_TRY(ctx, nb_shared_file("plots", name, &from, ctx));
    NB_NEED(to, nb_format(ctx, "%s/%s", folder, name));
    return nb_copy_file(from, to, ctx);
}

/* Runs gnuplot with these arguments in the folder; its exit status, or -1 where
 * it could not be started. */
static int spawn_gnuplot(const char *folder, const char *argument, bool quiet)
{
    char *argv[] = {(char[]){"gnuplot"}, NULL, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status = -1;
    char copy[512];
    snprintf(copy, sizeof copy, "%s", argument);
    argv[1] = copy;
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    if (folder) posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (quiet) {
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    }
    int code = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) return -1;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool nb_gnuplot_found(void)
{
    return spawn_gnuplot(NULL, "--version", true) == 0;
}

nb_status nb_gnuplot_run(const char *folder, const char *script, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, spawn_gnuplot(folder, script, false) == 0, NB_EIO, "gnuplot failed on %s/%s", folder, script);
    return NB_OK;
}
