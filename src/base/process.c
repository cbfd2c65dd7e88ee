/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.c - fork and vfork, and waiting with a limit by way of a pidfd (Linux 5.3): it can be
 * polled, and leaves the child a zombie whose number nobody else can get until its
 * whole group has been killed.
 *
 * A process that this program forks has a guard between itself and the program: program - guard -
 * child - whatever that starts. The guard is a subreaper (PR_SET_CHILD_SUBREAPER): what loses its parent,
 * as a daemon does that forks twice, becomes the guard's child, so that "all that came
 * from the child" is, once the child has ended, "all children that I have", until
 * there is none. It does nothing but wait: for the child's end, or for SIGHUP, which the
 * program sends, or the kernel when the program dies. A guard that is killed takes its child along
 * (PR_SET_PDEATHSIG); what is left is then the program's, a subreaper too. Where both are
 * killed, it is the janitor's (janitor.h). */
#include "base/process.h"

#include "base/clock.h"
#include "base/janitor.h"
#include "base/numbers.h"
#include "base/pidfd.h"
#include "base/scratch_root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process's own, as its children are. */
static struct {
    pid_t *guards; /* that run */
    int count, room;
    bool guarded; /* this process has a guard */
    bool adopts;  /* it is a subreaper */
} family;

static bool is_guard(pid_t pid)
{
    int i = 0;
    while (i < family.count && family.guards[i] != pid) i++;
    return i < family.count;
}

static void forget_guard(pid_t pid)
{
    for (int i = 0; i < family.count; i++)
        if (family.guards[i] == pid) family.guards[i--] = family.guards[--family.count];
}

static nb_status make_room(nb_ctx *ctx)
{
    if (family.count < family.room) return NB_OK;
    int room = family.room ? 2 * family.room : 16;
    pid_t *guards = realloc(family.guards, (size_t)room * sizeof *guards);
    NB_REQUIRE(ctx, guards, NB_ENOMEM, "out of memory: a process");
    family.guards = guards;
    family.room = room;
    return NB_OK;
}

/* A system that is short of processes for a moment is given one. */
static pid_t fork_patiently(void)
{
    enum { TRIES = 10, PAUSE_US = 50000 };
    pid_t pid = fork();
    for (int i = 1; i < TRIES && pid < 0 && (errno == EAGAIN || errno == ENOMEM); i++) {
        usleep(PAUSE_US);
        pid = fork();
    }
    return pid;
}

/* In a child: it ends when that parent does. */
static void settle(pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(127);
}

static pid_t parent_of(const char *pid)
{
    char path[64], text[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0) close(file);
    text[count > 0 ? count : 0] = '\0';
    const char *name_end = strrchr(text, ')'); /* "PID (NAME) STATE PARENT ..." */
    return name_end && sscanf(name_end + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Kills the children of this process that are no guards; how many there were. */
static int kill_strays(void)
{
    int found = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *e; all && (e = readdir(all));) {
        pid_t pid;
        if (!nb_parse_int(e->d_name, 1, INT_MAX, &pid) || is_guard(pid) || parent_of(e->d_name) != getpid() ||
            nb_janitor_is(pid))
            continue;
        found++;
        kill(pid, SIGKILL);
        waitpid(pid, NULL, WNOHANG);
    }
    if (all) closedir(all);
    return found;
}

/* Until none is found several times: whose parent was killed is the next to be found, and
 * /proc is read while it changes. What cannot be killed stays. */
static void end_strays(void)
{
    enum { ROUNDS = 5000, QUIET = 3, PAUSE_US = 1000 };
    for (int i = 0, quiet = 0; i < ROUNDS && quiet < QUIET; i++) {
        quiet = kill_strays() > 0 ? 0 : quiet + 1;
        usleep(PAUSE_US);
    }
}

/* The same if there is no guard: waitpid tells when no child is left. */
static void end_children(void)
{
    enum { TRIES = 3 };
    for (int i = 0; i < TRIES && (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD); i++) end_strays();
}

/* As the child did, without a dump of the guard's memory. */
static _Noreturn void end_like(int how)
{
    struct rlimit none = {0, 0};
    sigset_t one;
    if (WIFSIGNALED(how) && setrlimit(RLIMIT_CORE, &none) == 0) {
        sigemptyset(&one);
        sigaddset(&one, WTERMSIG(how));
        raise(WTERMSIG(how));
        sigprocmask(SIG_UNBLOCK, &one, NULL);
    }
    _exit(WIFEXITED(how) ? WEXITSTATUS(how) : 127);
}

/* Returns whether the child has ended; other children that have are no zombies any more. */
static bool child_ended(pid_t child, int *how)
{
    int end;
    for (pid_t pid; (pid = waitpid(-1, &end, WNOHANG)) > 0;) {
        if (pid != child) continue;
        *how = end;
        return true;
    }
    return false;
}

/* The life of a guard; all signals are blocked. */
static _Noreturn void guard(pid_t parent, pid_t child)
{
    sigset_t awaited;
    int how = 0;
    closefrom(dup2(nb_janitor_line(), 0) + 1); /* nobody else is to wait for the end of a pipe because of a guard */
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGHUP);
    while (!child_ended(child, &how)) {
        if (sigwaitinfo(&awaited, NULL) != SIGHUP) continue;
        kill(child, SIGKILL);
        while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
        }
        break;
    }
    end_children();
    nb_scratch_remove(getppid() == parent ? getpid() : 0);
    end_like(how);
}

/* In the guard, and back in its child alone. */
static void become_guard(pid_t parent)
{
    pid_t self = getpid();
    setsid();
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    family.count = 0;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || prctl(PR_SET_PDEATHSIG, SIGHUP) != 0 || getppid() != parent)
        _exit(127);
    pid_t child = fork_patiently();
    if (child < 0) _exit(126);
    if (child > 0) guard(parent, child);
    nb_janitor_forget();
    family.guarded = true;
    family.adopts = false;
    nb_scratch_own(self);
    settle(self);
}

nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx)
{
    sigset_t all, before;
    pid_t parent = getpid();
    NB_TRY(ctx, make_room(ctx));
    NB_TRY(ctx, nb_process_watch(ctx));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    *pid = fork_patiently();
    int reason = errno;
    if (*pid == 0) {
        become_guard(parent);
        return NB_OK;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    NB_REQUIRE(ctx, *pid > 0, NB_EHOST, "a process cannot be started: %s", strerror(reason));
    family.guards[family.count++] = *pid;
    return NB_OK;
}

nb_status nb_process_watch(nb_ctx *ctx)
{
    return family.guarded ? NB_OK : nb_janitor_start(ctx);
}

void nb_process_begin(void)
{
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, nobody can be waited for */
    family.adopts = waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

void nb_process_finish(void)
{
    for (int i = 0; i < family.count; i++) nb_process_kill(family.guards[i]);
    while (family.count > 0) nb_process_end(family.guards[0], 10, false);
    nb_scratch_remove(0); /* before the janitor goes: who kills this process now finds nothing left */
    nb_janitor_end();
    if (family.adopts) end_children();
    nb_scratch_remove(0);
    free(family.guards);
    family.guards = NULL;
    family.room = 0;
}

/* In the child, which may share its parent's memory: it writes to its own frames alone. */
static _Noreturn void become(const nb_process *p, char *const *environment)
{
    int nothing = open("/dev/null", O_RDWR), said = p->err ? p->err : STDERR_FILENO;
    if (p->folder && chdir(p->folder) != 0) _exit(NB_NOT_STARTED);
    if (p->log) said = open(p->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (dup2(p->in ? p->in : nothing, STDIN_FILENO) < 0 || dup2(p->out ? p->out : nothing, STDOUT_FILENO) < 0 ||
        dup2(said, STDERR_FILENO) < 0)
        _exit(NB_NOT_STARTED);
    closefrom(STDERR_FILENO + 1);
    execvpe(p->words[0], p->words, environment);
    if (p->log) dprintf(STDERR_FILENO, "%s: cannot be started: %s", p->words[0], strerror(errno));
    _exit(NB_NOT_STARTED);
}

/* True if an entry of the environment, NAME=VALUE, has the name of that one. */
static bool same_name(const char *entry, const char *variable)
{
    return strncmp(entry, variable, strcspn(variable, "=") + 1) == 0;
}

/* The program's own, or this process's with the program's variable. */
static nb_status environment_of(const nb_process *p, char *const **out, nb_ctx *ctx)
{
    size_t count = 0, kept = 0;
    char **all;
    *out = p->environment;
    if (*out) return NB_OK;
    while (environ[count]) count++;
    NB_NEED(all, nb_alloc(ctx, count + 2, sizeof *all));
    *out = all;
    for (size_t i = 0; i < count; i++) {
        if (p->variable && same_name(environ[i], p->variable)) continue;
        if (p->outlives && same_name(environ[i], NB_JANITOR_MARK "=")) continue;
        all[kept++] = environ[i];
    }
    if (p->variable) NB_NEED(all[kept], nb_strdup(ctx, p->variable));
    return NB_OK;
}

/* vfork, if there is a guard already: no page table is copied, which for a large process costs more than many a
 * program. As in posix_spawn, which cannot ask for PR_SET_PDEATHSIG, no handler of the parent's may run in between. */
nb_status nb_process_spawn(const nb_process *program, pid_t *pid, nb_ctx *ctx)
{
    sigset_t all, before;
    char *const *environment;
    pid_t parent = getpid();
    NB_TRY(ctx, nb_process_watch(ctx)); /* the mark is in the environment from then on */
    NB_TRY(ctx, environment_of(program, &environment, ctx));
    if (!family.guarded) {
        NB_TRY(ctx, nb_process_fork(pid, ctx));
        if (*pid == 0) become(program, environment);
        return NB_OK;
    }
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = vfork(); /* *pid is the parent's to write */
    if (child == 0) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): what follows writes to frames of its own, as in posix_spawn */
        setpgid(0, 0);
        settle(parent);
        become(program, environment);
    }
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *pid = child;
    NB_REQUIRE(ctx, child >= 0, NB_EHOST, "a process cannot be started: %s", strerror(reason));
    return NB_OK;
}

/* True if it has ended within that time. */
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

void nb_process_kill(pid_t pid)
{
    kill(pid, SIGHUP);
}

/* Its leader, a zombie perhaps, keeps the session's number from being given away.
 * Twice, for what was started in between. */
static void kill_session(pid_t leader)
{
    for (int round = 0; round < 2; round++) {
        DIR *all = opendir("/proc");
        for (struct dirent *e; all && (e = readdir(all));) {
            pid_t pid;
            if (nb_parse_int(e->d_name, 1, INT_MAX, &pid) && getsid(pid) == leader) kill(pid, SIGKILL);
        }
        if (all) closedir(all);
    }
}

/* A guard does it. If it does not, being dead perhaps, its work is done here. */
static int put_to_end(pid_t pid, int pidfd)
{
    enum { CLEANING_S = 10 };
    siginfo_t end = {.si_pid = 0};
    int how = 0;
    bool guarded = is_guard(pid);
    if (guarded) nb_process_kill(pid);
    if (guarded && pidfd >= 0) ended(pidfd, CLEANING_S);
    kill(-pid, SIGKILL);
    bool killed =
        waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) == 0 && end.si_code != CLD_EXITED && end.si_status == SIGKILL;
    if (guarded && killed) kill_session(pid);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR) {
    }
    forget_guard(pid);
    if (guarded && killed && family.adopts) end_strays();
    if (guarded && killed) nb_scratch_remove(pid);
    return how;
}

nb_status nb_process_await(pid_t pid, double timeout_s, nb_ending *ending, nb_ctx *ctx)
{
    int pidfd = nb_pidfd_open(pid), reason = errno;
    *ending = (nb_ending){.timed_out = pidfd >= 0 && !ended(pidfd, timeout_s)};
    if (ending->timed_out) {
        kill(-pid, SIGTERM);
        ended(pidfd, 1);
    }
    ending->how = put_to_end(pid, pidfd);
    if (pidfd >= 0) close(pidfd);
    NB_REQUIRE(ctx, pidfd >= 0, NB_EHOST, "a process cannot be waited for: %s", strerror(reason));
    return NB_OK;
}

nb_ending nb_process_end(pid_t pid, double patience_s, bool ask)
{
    nb_ending ending = {.how = 0};
    int pidfd = nb_pidfd_open(pid);
    ending.timed_out = pidfd < 0 || !ended(pidfd, patience_s);
    if (ending.timed_out && ask) {
        kill(-pid, SIGTERM);
        if (pidfd >= 0) ended(pidfd, 1);
    }
    ending.how = put_to_end(pid, pidfd);
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

nb_status nb_program_ending(const char *program, const nb_ending *ending, double timeout_s, const char **text,
                            nb_ctx *ctx)
{
    const char *how;
    NB_TRY(ctx, nb_ending_text(ending, timeout_s, &how, ctx));
    *text = how;
    if (!ending->timed_out && WIFEXITED(ending->how) && WEXITSTATUS(ending->how) == NB_NOT_STARTED)
        NB_NEED(*text, nb_format(ctx, "%s cannot be started: is it installed, and in PATH?", program));
    else if (*how)
        NB_NEED(*text, nb_format(ctx, "%s: %s", program, how));
    return NB_OK;
}
