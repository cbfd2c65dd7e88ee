/* process.c - fork and vfork, and waiting with a limit by way of a pidfd (Linux 5.3): it can be
 * polled, and leaves the child a zombie whose number nobody else can get until its
 * whole group has been killed. */
#include "base/process.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child. */
static void settle(pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(127);
}

/* In the parent. The group is there when this returns: whoever is first makes it. */
static nb_status started(pid_t pid, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, pid >= 0, NB_EIO, "a process cannot be started: %s", strerror(errno));
    setpgid(pid, pid);
    return NB_OK;
}

nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx)
{
    pid_t parent = getpid();
    *pid = fork();
    if (*pid != 0) return started(*pid, ctx);
    settle(parent);
    return NB_OK;
}

/* In the child, which shares its parent's memory: it writes to its own frames alone. */
static _Noreturn void become(char *const *words, const char *folder, const char *log, char *const *environment, pid_t parent)
{
    settle(parent);
    int nothing = open("/dev/null", O_RDWR), said = chdir(folder) == 0 ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0) _exit(126);
    closefrom(STDERR_FILENO + 1);
    execvpe(words[0], words, environment);
    dprintf(STDERR_FILENO, "%s: cannot be started: %s", words[0], strerror(errno));
    _exit(127);
}

/* This process's, with that variable, NAME=VALUE. */
static nb_status environment_with(const char *variable, char ***out, nb_ctx *ctx)
{
    size_t count = 0, kept = 0, name = strcspn(variable, "=") + 1;
    while (environ[count]) count++;
    NB_NEED(*out, nb_alloc(ctx, count + 2, sizeof **out));
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], variable, name) != 0) (*out)[kept++] = environ[i];
    NB_NEED((*out)[kept], nb_strdup(ctx, variable));
    return NB_OK;
}

/* vfork: no page table is copied, which for a large process costs more than many a
 * program. As in posix_spawn, which cannot ask for PR_SET_PDEATHSIG, no handler of the
 * parent's may run in between. */
nb_status nb_process_spawn(char *const *words, const char *folder, const char *log, const char *variable, pid_t *pid, nb_ctx *ctx)
{
    sigset_t all, before;
    char **environment;
    pid_t parent = getpid();
    NB_TRY(ctx, environment_with(variable, &environment, ctx));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    *pid = vfork();
    if (*pid == 0) become(words, folder, log, environment, parent);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return started(*pid, ctx);
}

/* Whether it has ended within that time. */
static bool ended(int pidfd, double limit_s)
{
    struct pollfd child = {.fd = pidfd, .events = POLLIN};
    double end_s = nb_clock_s() + limit_s, left_s = limit_s;
    while (left_s > 0) {
        int ready = poll(&child, 1, (int)fmin(ceil(left_s * 1e3), 1e6));
        if (ready > 0) return true;
        if (ready < 0 && errno != EINTR) return false;
        left_s = end_s - nb_clock_s();
    }
    return poll(&child, 1, 0) > 0;
}

nb_status nb_process_await(pid_t pid, double timeout_s, nb_ending *ending, nb_ctx *ctx)
{
    int pidfd = pidfd_open(pid, 0), reason = errno;
    *ending = (nb_ending){.timed_out = pidfd >= 0 && !ended(pidfd, timeout_s)};
    if (ending->timed_out) {
        kill(-pid, SIGTERM);
        ended(pidfd, 1);
    }
    kill(-pid, SIGKILL);
    while (waitpid(pid, &ending->how, 0) < 0 && errno == EINTR) {}
    if (pidfd >= 0) close(pidfd);
    NB_REQUIRE(ctx, pidfd >= 0, NB_EIO, "process %d cannot be waited for: %s", (int)pid, strerror(reason));
    return NB_OK;
}

/* Its leader, a zombie perhaps, keeps the session's number from being given away.
 * Twice, for what was started in between. */
static void kill_session(pid_t leader)
{
    for (int round = 0; round < 2; round++) {
        DIR *all = opendir("/proc");
        for (struct dirent *e; all && (e = readdir(all));) {
            pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
            if (pid > 0 && getsid(pid) == leader) kill(pid, SIGKILL);
        }
        if (all) closedir(all);
    }
}

nb_ending nb_process_end(pid_t pid, double patience_s, bool ask)
{
    nb_ending ending = {.how = 0};
    int pidfd = pidfd_open(pid, 0);
    ending.timed_out = pidfd < 0 || !ended(pidfd, patience_s);
    if (ending.timed_out && ask) {
        kill(-pid, SIGTERM);
        if (pidfd >= 0) ended(pidfd, 1);
    }
    kill(pid, SIGKILL);
    kill_session(pid);
    while (waitpid(pid, &ending.how, 0) < 0 && errno == EINTR) {}
    if (pidfd >= 0) close(pidfd);
    return ending;
}

nb_status nb_ending_text(const nb_ending *ending, double timeout_s, const char **text, nb_ctx *ctx)
{
    int how = ending->how;
    *text = "";
    if (ending->timed_out)
        NB_NEED(*text, nb_format(ctx, "not done after %g s", timeout_s));
    else if (WIFSIGNALED(how))
        NB_NEED(*text, nb_format(ctx, "killed by signal %d (%s)", WTERMSIG(how), strsignal(WTERMSIG(how))));
    else if (WEXITSTATUS(how) != 0)
        NB_NEED(*text, nb_format(ctx, "exit status %d", WEXITSTATUS(how)));
    return NB_OK;
}
