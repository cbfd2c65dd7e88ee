/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.c - fork and vfork, and waiting with a limit by way of a pidfd (Linux 5.3), which leaves the child a zombie
 * whose number nobody else can get until its whole group has been killed.
 *
 * 1. A child leads a session of its own, and the kernel kills it when its parent ends (PR_SET_PDEATHSIG).
 * 2. This process and its children are subreapers (PR_SET_CHILD_SUBREAPER): what loses its parent, as a daemon does
 *    that forks twice, becomes a child of the next of them above it. A daemon therefore stays below the program that
 *    started it, as long as that lives.
 * 3. When a child has ended, all children that this process has not started itself came from that one, and are killed,
 *    until there are none.
 * 4. A wait is made of slices. One that takes much longer than it should means that this process was stopped, and its
 *    time does not count (nb_awake_s). A child that is stopped alone, for some seconds, is continued. */
#include "base/process.h"

#include "base/clock.h"
#include "base/numbers.h"
#include "base/scratch.h"

#include <assert.h>
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
#include <sys/wait.h>

/* The process's own, as its children are. */
static struct {
    struct child {
        pid_t pid;
        double stopped_s; /* when it was first seen stopped, by nb_clock_s; 0: it was not */
    } * children;         /* that it has started, and not waited for */
    int count, room;
    bool adopts;   /* it is a subreaper */
    double lost_s; /* seconds in which it was stopped itself, as far as waits have shown */
} family;

static void remember(pid_t pid)
{
    family.children[family.count++] = (struct child){.pid = pid};
}

static void forget(pid_t pid)
{
    for (int i = 0; i < family.count; i++)
        if (family.children[i].pid == pid) family.children[i--] = family.children[--family.count];
}

static nb_status make_room(nb_ctx *ctx)
{
    if (family.count < family.room) return NB_OK;
    int room = family.room ? 2 * family.room : 16;
    struct child *children = realloc(family.children, (size_t)room * sizeof *children);
    NB_REQUIRE(ctx, children, NB_EHOST, "out of memory: a process");
    family.children = children;
    family.room = room;
    return NB_OK;
}

/* In a child, which may share its parent's memory: it writes to its own frames alone. */
static void settle(pid_t parent)
{
    sigset_t none;
    sigemptyset(&none);
    setsid();
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(NB_NOT_STARTED);
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

/* Kills a child unless this process has started it; returns whether it did. */
static int kill_stray(pid_t pid)
{
    for (int i = 0; i < family.count; i++)
        if (family.children[i].pid == pid) return 0;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, WNOHANG);
    return 1;
}

/* Kills those among the children of one thread; -1: the kernel does not list them (CONFIG_PROC_CHILDREN). */
static int kill_strays_of(const char *thread)
{
    char path[64];
    pid_t pid;
    int found = 0;
    snprintf(path, sizeof path, "/proc/self/task/%.20s/children", thread);
    FILE *list = fopen(path, "re");
    if (!list) return -1;
    while (fscanf(list, "%d", &pid) == 1) found += kill_stray(pid);
    fclose(list);
    return found;
}

/* Kills those among all processes of the machine, which takes 25 ms for 1,000 of them. */
static int kill_strays_of_all(void)
{
    int found = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *e; all && (e = readdir(all));) {
        pid_t pid;
        if (nb_parse_int(e->d_name, 1, INT_MAX, &pid) && parent_of(e->d_name) == getpid()) found += kill_stray(pid);
    }
    if (all) closedir(all);
    return found;
}

/* Kills the children of this process that it has not started, which must be its own to kill: it is a subreaper. Returns
 * how many there were. */
static int kill_strays(void)
{
    int found = 0, of_thread = 0;
    assert(family.adopts);
    DIR *threads = opendir("/proc/self/task");
    for (struct dirent *e; threads && of_thread >= 0 && (e = readdir(threads));) {
        if (*e->d_name == '.') continue;
        of_thread = kill_strays_of(e->d_name);
        found += of_thread;
    }
    if (threads) closedir(threads);
    return threads && of_thread >= 0 ? found : kill_strays_of_all();
}

static bool has_children(void)
{
    siginfo_t any;
    return waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Until none is left: whose parent was killed is the next to be found. What cannot be killed stays. */
static void end_strays(void)
{
    enum { ROUNDS = 5000, PAUSE_US = 1000 };
    for (int i = 0; family.adopts && i < ROUNDS && has_children(); i++) {
        if (kill_strays() == 0 && family.count > 0) return;
        usleep(PAUSE_US);
    }
}

/* Whether a failed fork is worth another attempt: a system that is short of processes for a moment is given one. */
static bool is_short(int attempts)
{
    enum { MOST = 10, PAUSE_US = 50000 };
    if (attempts == MOST || (errno != EAGAIN && errno != ENOMEM)) return false;
    usleep(PAUSE_US);
    return true;
}

nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx)
{
    sigset_t all, before;
    pid_t parent = getpid();
    NB_TRY(ctx, make_room(ctx));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    for (int i = 1; (*pid = fork()) < 0 && is_short(i); i++) {
    }
    int reason = errno;
    if (*pid == 0) {
        family.count = 0;
        family.adopts = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
        nb_scratch_forget();
        settle(parent);
        return NB_OK;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    NB_REQUIRE(ctx, *pid > 0, NB_EHOST, "a process cannot be started: %s", strerror(reason));
    remember(*pid);
    return NB_OK;
}

void nb_process_begin(void)
{
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, nobody can be waited for */
    family.adopts = !has_children() && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

void nb_process_finish(void)
{
    while (family.count > 0) nb_process_end(family.children[0].pid, 0, false);
    end_strays();
    nb_scratch_finish();
    free(family.children);
    family.children = NULL;
    family.room = 0;
}

enum { STREAMS = STDERR_FILENO + 1 };

typedef struct { /* the ends of a pipe; -1: there is none */
    int its, ours;
} stream;

static void close_end(int end)
{
    if (end >= 0) close(end);
}

/* Makes the pipes that the program wants. On failure none is left. */
static nb_status open_streams(const nb_process *p, stream streams[STREAMS], nb_ctx *ctx)
{
    int reason = 0;
    for (int i = 0; i < STREAMS; i++) {
        int ends[2] = {-1, -1};
        if (p->pipes[i] && reason == 0 && pipe2(ends, O_CLOEXEC) != 0) reason = errno;
        streams[i] = i == STDIN_FILENO ? (stream){ends[0], ends[1]} : (stream){ends[1], ends[0]};
    }
    for (int i = 0; i < STREAMS && reason != 0; i++) {
        close_end(streams[i].its);
        close_end(streams[i].ours);
    }
    NB_REQUIRE(ctx, reason == 0, NB_EHOST, "a pipe cannot be made: %s", strerror(reason));
    return NB_OK;
}

/* In the child, which may share its parent's memory: it writes to its own frames alone. */
static _Noreturn void become(const nb_process *p, char *const *environment, const stream *streams)
{
    if (p->folder && chdir(p->folder) != 0) _exit(NB_NOT_STARTED);
    for (int i = 0; i < STREAMS; i++) {
        int its = streams[i].its;
        if (i == STDERR_FILENO && p->log)
            its = open(p->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        else if (its < 0)
            its = i == STDERR_FILENO ? i : open("/dev/null", O_RDWR);
        if (dup2(its, i) < 0) _exit(NB_NOT_STARTED);
    }
    closefrom(STDERR_FILENO + 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* which exec keeps */
    execvpe(p->words[0], p->words, environment);
    if (p->log) dprintf(STDERR_FILENO, "%s: cannot be started: %s", p->words[0], strerror(errno));
    _exit(NB_NOT_STARTED);
}

/* The program's own, or this process's with the program's variable. */
static nb_status environment_of(const nb_process *p, char *const **out, nb_ctx *ctx)
{
    size_t count = 0, kept = 0, name = p->variable ? strcspn(p->variable, "=") + 1 : 0; /* with its '=' */
    char **all;
    *out = p->environment;
    if (*out) return NB_OK;
    while (environ[count]) count++;
    NB_NEED(all, nb_alloc(ctx, count + 2, sizeof *all));
    *out = all;
    for (size_t i = 0; i < count; i++)
        if (!p->variable || strncmp(environ[i], p->variable, name) != 0) all[kept++] = environ[i];
    if (p->variable) NB_NEED(all[kept], nb_strdup(ctx, p->variable));
    return NB_OK;
}

/* vfork: no page table is copied, which for a large process costs more than many a program. As in posix_spawn, which
 * cannot ask for PR_SET_PDEATHSIG, no handler of the parent's may run in between. */
nb_status nb_process_spawn(const nb_process *program, pid_t *pid, nb_ctx *ctx)
{
    sigset_t all, before;
    char *const *environment;
    stream streams[STREAMS];
    pid_t child, parent = getpid();
    NB_TRY(ctx, make_room(ctx));
    NB_TRY(ctx, environment_of(program, &environment, ctx));
    NB_TRY(ctx, open_streams(program, streams, ctx));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    for (int i = 1; (child = vfork()) < 0 && is_short(i); i++) { /* *pid is the parent's to write */
    }
    if (child == 0) {
        /* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): what follows writes to frames of its own, as in posix_spawn */
        settle(parent);
        become(program, environment, streams);
    }
    int reason = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    *pid = child;
    for (int i = 0; i < STREAMS; i++) {
        close_end(streams[i].its);
        if (child < 0) close_end(streams[i].ours);
        if (program->pipes[i]) *program->pipes[i] = streams[i].ours;
    }
    NB_REQUIRE(ctx, child > 0, NB_EHOST, "a process cannot be started: %s", strerror(reason));
    remember(child);
    return NB_OK;
}

double nb_awake_s(void)
{
    return nb_clock_s() - family.lost_s;
}

/* A child that has stopped for some seconds in which this process had not will not go on by itself. */
static void continue_stopped(struct child *c)
{
    static const double PATIENCE_S = 5;
    siginfo_t info = {.si_pid = 0};
    bool stopped = waitid(P_PID, (id_t)c->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) == 0 && info.si_pid == c->pid;
    if (!stopped || c->stopped_s == 0)
        c->stopped_s = stopped ? nb_awake_s() : 0;
    else if (nb_awake_s() - c->stopped_s > PATIENCE_S && kill(-c->pid, SIGCONT) == 0)
        c->stopped_s = 0;
}

bool nb_note_wait(double begun_s, double planned_s)
{
    static const double MARGIN_S = 1;
    double late_s = nb_clock_s() - begun_s - planned_s;
    bool was_stopped = late_s > MARGIN_S;
    if (was_stopped) family.lost_s += late_s;
    for (int i = 0; i < family.count; i++) continue_stopped(&family.children[i]);
    return was_stopped;
}

bool nb_poll_until(struct pollfd *polled, int count, double end_s)
{
    for (;;) {
        double begun_s = nb_clock_s(), wait_s = fmin(fmax(end_s - nb_awake_s(), 0), NB_SLICE_S);
        int ready = poll(polled, (nfds_t)count, (int)ceil(wait_s * 1e3)), reason = errno;
        nb_note_wait(begun_s, wait_s);
        if (ready > 0) return true;
        if (ready == 0 ? end_s <= nb_awake_s() : reason != EINTR) return false;
    }
}

/* True if it has ended within that time. */
static bool ended(int pidfd, double limit_s)
{
    return nb_poll_until(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, nb_awake_s() + limit_s);
}

static nb_status grow(nb_said *said, nb_ctx *ctx)
{
    char *larger;
    if (said->count + 1 < said->room) return NB_OK;
    NB_NEED(larger, nb_alloc(ctx, said->room, 2));
    said->bytes = memcpy(larger, said->bytes, said->count);
    said->room *= 2;
    return NB_OK;
}

nb_status nb_process_hear(pid_t pid, int pipe, double limit_s, size_t most, nb_said *said, nb_ctx *ctx)
{
    enum { FIRST_BYTES = 4096 };
    struct pollfd polled[] = {{.fd = pipe, .events = POLLIN}, {.fd = nb_pidfd_open(pid), .events = POLLIN}};
    double end_s = nb_awake_s() + limit_s;
    *said = (nb_said){.room = FIRST_BYTES};
    said->bytes = nb_alloc(ctx, FIRST_BYTES, 1);
    nb_status status = said->bytes ? NB_OK : NB_ENOMEM;
    while (status == NB_OK && said->count <= most && nb_awake_s() < end_s && nb_poll_until(polled, 2, end_s)) {
        if (!polled[0].revents && poll(polled, 1, 0) <= 0) break; /* it may have written in between */
        ssize_t got = read(pipe, said->bytes + said->count, said->room - said->count - 1);
        said->closed = got == 0;
        if (got == 0 || (got < 0 && errno != EINTR)) break;
        if (got > 0) said->count += (size_t)got;
        status = grow(said, ctx);
    }
    if (polled[1].fd >= 0) close(polled[1].fd);
    return status;
}

void nb_process_kill(pid_t pid)
{
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
}

static nb_ending end_by(pid_t pid, int pidfd, double patience_s, bool ask)
{
    nb_ending ending = {.timed_out = pidfd < 0 || !ended(pidfd, patience_s)};
    if (ending.timed_out && ask) kill(-pid, SIGTERM);
    if (ending.timed_out && ask && pidfd >= 0) ended(pidfd, 1);
    nb_process_kill(pid);
    while (waitpid(pid, &ending.how, 0) < 0 && errno == EINTR) {
    }
    forget(pid);
    end_strays();
    if (pidfd >= 0) close(pidfd);
    return ending;
}

nb_ending nb_process_end(pid_t pid, double patience_s, bool ask)
{
    return end_by(pid, nb_pidfd_open(pid), patience_s, ask);
}

nb_status nb_process_await(pid_t pid, double timeout_s, nb_ending *ending, nb_ctx *ctx)
{
    int pidfd = nb_pidfd_open(pid), reason = errno;
    *ending = end_by(pid, pidfd, timeout_s, true);
    NB_REQUIRE(ctx, pidfd >= 0, NB_EHOST, "a process cannot be waited for: %s", strerror(reason));
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

nb_status nb_ending_sentence(const char *what, const nb_ending *ending, double timeout_s, const char **text,
                             nb_ctx *ctx)
{
    int how = ending->how;
    bool deaf = ending->timed_out && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
    if (!ending->timed_out && WIFEXITED(how))
        NB_NEED(*text, nb_format(ctx, "%s ended the process, with exit status %d", what, WEXITSTATUS(how)));
    else
        NB_TRY(ctx, nb_ending_text(ending, timeout_s, text, ctx));
    if (ending->timed_out || WIFSIGNALED(how))
        NB_NEED(*text, nb_format(ctx, "%s was %s%s", what, *text, deaf ? ", and did not end at SIGTERM" : ""));
    return NB_OK;
}

bool nb_ended_from_outside(const nb_ending *ending)
{
    int number = WIFSIGNALED(ending->how) ? WTERMSIG(ending->how) : 0;
    return !ending->timed_out && (number == SIGKILL || number == SIGTERM || number == SIGINT || number == SIGHUP);
}

nb_status nb_capture(char *const *words, const char *folder, double limit_s, const char **output, nb_ctx *ctx)
{
    int from;
    pid_t pid;
    nb_said said;
    nb_ending ending;
    const char *text;
    nb_process program = {.words = words, .folder = folder, .pipes = {[STDOUT_FILENO] = &from}};
    NB_TRY(ctx, nb_process_spawn(&program, &pid, ctx));
    double end_s = nb_awake_s() + limit_s;
    nb_status heard = nb_process_hear(pid, from, limit_s, NB_MOST_HEARD, &said, ctx);
    nb_status ended = nb_process_await(pid, heard == NB_OK ? fmax(end_s - nb_awake_s(), 0) : 0, &ending, ctx);
    close(from);
    NB_TRY(ctx, heard);
    NB_TRY(ctx, ended);
    NB_TRY(ctx, nb_program_ending(words[0], &ending, limit_s, &text, ctx));
    NB_REQUIRE(ctx, !*text, NB_EIO, "%s", text);
    *output = said.bytes;
    return NB_OK;
}
