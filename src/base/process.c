/* process.c - fork, and waiting with a limit by way of a pidfd (Linux 5.3): it can be
 * polled, and leaves the child a zombie whose number nobody else can get until its
 * whole group has been killed. */
#include "base/process.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx)
{
    pid_t parent = getpid();
    sigset_t none;
    sigemptyset(&none);
    *pid = fork();
    NB_REQUIRE(ctx, *pid >= 0, NB_EIO, "a process cannot be started: %s", strerror(errno));
    if (*pid > 0) {
        setpgid(*pid, *pid); /* as the child does: whoever is first */
        return NB_OK;
    }
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(127);
    return NB_OK;
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
