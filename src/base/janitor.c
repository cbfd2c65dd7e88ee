/* SPDX-License-Identifier: GPL-3.0-or-later */
/* janitor.c - the orphan reaper reads from a pipe whose other end is open only in the program and its guards.
 *
 * 1. A message on the pipe means that the program ended normally; EOF means that the program and all its guards were
 *    killed.
 * 2. On EOF it kills all processes that carry the program's mark, and removes its temporary folders. Marks are
 *    NYSBENCH_RUN in the environment, which every started program inherits, and a mapping of that name in memory, which
 *    a forked copy of the process inherits that starts none.
 *
 * It is a grandchild in a session of its own, so that killing the program's children or its group does not kill it. Its
 * parent only waits for it, and starts another if it was killed. If the parent was killed, the janitor takes its place,
 * and starts another. */
#include "base/janitor.h"

#include "base/numbers.h"
#include "base/pidfd.h"
#include "base/scratch_root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "nysbench-end"

/* The process's own. */
static struct {
    pid_t pid;   /* its parent's; 0: there is none */
    int line[2]; /* the pipe; both ends are kept, for the next one */
    bool marked;
} janitor;

/* True if that file of a process holds the text. */
static bool holds(const char *pid, const char *name, const char *text)
{
    char path[64], *line = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    FILE *in = fopen(path, "re");
    while (in && !found && getdelim(&line, &room, strcmp(name, "environ") == 0 ? '\0' : '\n', in) > 0)
        found = strstr(line, text);
    free(line);
    if (in) fclose(in);
    return found;
}

/* Kills all marked processes; returns how many there were. */
static int kill_marked(const char *token)
{
    int found = 0;
    DIR *all = opendir("/proc");
    for (struct dirent *e; all && (e = readdir(all));) {
        pid_t pid;
        if (!nb_parse_int(e->d_name, 1, INT_MAX, &pid) || pid == getpid() || pid == getppid() ||
            (!holds(e->d_name, "environ", token) && !holds(e->d_name, "maps", token)))
            continue;
        found += kill(pid, SIGKILL) == 0;
    }
    if (all) closedir(all);
    return found;
}

static void wake(int number)
{
    (void)number;
}

/* Until the pipe ends, or there is a word in it. Where somebody else has its other end, the program's
 * end counts, and a while for its guards. False where the parent was killed before. */
static bool wait_for_end(struct pollfd ends[2], pid_t parent)
{
    enum { PATIENCE_MS = 15000 };
    sigset_t hangup;
    int ready = -1;
    sigfillset(&hangup);
    sigdelset(&hangup, SIGHUP);
    while (ready < 0 && getppid() == parent) ready = ppoll(ends, 2, NULL, &hangup);
    if (ready < 0) return false;
    if (!ends[0].revents) poll(ends, 1, PATIENCE_MS);
    return true;
}

/* The life of the janitor. Returns where its parent was killed. */
static void live(pid_t program, pid_t parent)
{
    enum { ROUNDS = 2000, QUIET = 5, PAUSE_US = 10000 }; /* what begins another program has no mark for a moment */
    struct sigaction action = {.sa_handler = wake};
    struct pollfd ends[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = nb_pidfd_open(program), .events = POLLIN}};
    sigaction(SIGHUP, &action, NULL);
    prctl(PR_SET_PDEATHSIG, SIGHUP);
    bool ended = wait_for_end(ends, parent);
    closefrom(STDIN_FILENO + 1);
    if (!ended) return;
    if (ends[0].revents & POLLIN) _exit(EXIT_SUCCESS); /* the word stays, for any other janitor */
    for (int i = 0, quiet = 0; i < ROUNDS && quiet < QUIET; i++) {
        quiet = kill_marked(nb_scratch_token()) > 0 ? 0 : quiet + 1;
        usleep(PAUSE_US);
    }
    nb_scratch_remove(0);
    _exit(EXIT_SUCCESS);
}

/* In the child; all signals are blocked, here and in the janitor. The pipe is its only file. */
static _Noreturn void begin(pid_t program)
{
    enum { TRIES = 100, PAUSE_US = 1000 };
    int how = 1;
    setsid();
    prctl(PR_SET_NAME, NAME);
    closefrom(dup2(janitor.line[0], STDIN_FILENO) + 1);
    for (int i = 0; i < TRIES && how != 0; i++) {
        pid_t self = getpid(), pid = fork();
        if (pid == 0) {
            setsid();
            live(program, self);
            continue;
        }
        if (pid < 0) usleep(PAUSE_US);
        while (pid > 0 && waitpid(pid, &how, 0) < 0 && errno == EINTR) {
        }
    }
    _exit(how == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Marks all processes that are forked or started from now on. */
static nb_status mark(nb_ctx *ctx)
{
    NB_TRY(ctx, nb_scratch_name(ctx));
    int file = memfd_create(nb_scratch_token(), MFD_CLOEXEC);
    void *page = file >= 0 ? mmap(NULL, 1, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    int reason = errno;
    if (file >= 0) close(file);
    NB_REQUIRE(ctx, page != MAP_FAILED && setenv(NB_JANITOR_MARK, nb_scratch_token(), 1) == 0, NB_EHOST,
               "processes cannot be marked: %s", strerror(reason));
    NB_REQUIRE(ctx, pipe2(janitor.line, O_CLOEXEC) == 0, NB_EHOST, "a pipe cannot be made: %s", strerror(errno));
    janitor.marked = true;
    return NB_OK;
}

nb_status nb_janitor_start(nb_ctx *ctx)
{
    sigset_t all, before;
    pid_t program = getpid();
    if (janitor.pid && waitpid(janitor.pid, NULL, WNOHANG) == 0) return NB_OK;
    janitor.pid = 0;
    if (!janitor.marked) NB_TRY(ctx, mark(ctx));
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t pid = fork();
    int reason = errno;
    if (pid == 0) begin(program);
    sigprocmask(SIG_SETMASK, &before, NULL);
    NB_REQUIRE(ctx, pid > 0, NB_EHOST, "a process cannot be started: %s", strerror(reason));
    janitor.pid = pid;
    return NB_OK;
}

int nb_janitor_line(void)
{
    return janitor.pid ? janitor.line[1] : -1;
}

void nb_janitor_forget(void)
{
    if (janitor.marked) close(janitor.line[0]);
    if (janitor.marked) close(janitor.line[1]);
    janitor.pid = 0;
    janitor.marked = false;
}

bool nb_janitor_is(pid_t pid)
{
    char number[16];
    snprintf(number, sizeof number, "%d", (int)pid);
    return pid == janitor.pid || (janitor.pid && holds(number, "comm", NAME));
}

void nb_janitor_end(void)
{
    bool told = janitor.pid && write(janitor.line[1], "!", 1) == 1;
    while (told && waitpid(janitor.pid, NULL, 0) < 0 && errno == EINTR) {
    }
    nb_janitor_forget();
}
