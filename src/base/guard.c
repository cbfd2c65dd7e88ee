/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.c - both processes share a page, in which the child says what it is doing. */
#include "base/guard.h"

#include "base/process.h"
#include "base/text.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

typedef struct {
    atomic_bool done;
    atomic_uint call; /* grows with each call; odd while it lasts */
    char doing[4096]; /* "mine.so: calling its cost" */
} shared_page;

static struct {
    shared_page *page;
    pid_t child; /* whose calls count; 0: there is none */
    int depth;   /* of calls: a function may call what calls another one */
} guard;

static const int asking[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { ASKING = sizeof asking / sizeof *asking };

static shared_page *page_here(void)
{
    return guard.child && getpid() == guard.child ? guard.page : NULL;
}

void nb_guard_call(const char *file, const char *function)
{
    shared_page *page = page_here();
    if (!page || guard.depth++ > 0) return;
    snprintf(page->doing, sizeof page->doing, "%s: calling its %s", file, function);
    atomic_fetch_add(&page->call, 1);
}

void nb_guard_return(void)
{
    shared_page *page = page_here();
    if (page && --guard.depth == 0) atomic_fetch_add(&page->call, 1);
}

void nb_guard_end(void)
{
    shared_page *page = page_here();
    if (page) atomic_store(&page->done, true);
}

static bool asks(int number)
{
    int i = 0;
    while (i < ASKING && asking[i] != number) i++;
    return i < ASKING || number == SIGPIPE;
}

/* Ends this process as the child has ended. */
static _Noreturn void end_likewise(const shared_page *page, nb_ending ending, const char *file, double limit_s,
                                   nb_ctx *ctx)
{
    char what[sizeof page->doing + 256];
    const char *reason;
    int how = ending.how;
    nb_process_finish();
    if (!ending.timed_out && WIFEXITED(how) && atomic_load(&page->done)) _exit(WEXITSTATUS(how));
    if (!ending.timed_out && WIFSIGNALED(how) && asks(WTERMSIG(how))) {
        sigset_t number;
        sigemptyset(&number);
        sigaddset(&number, WTERMSIG(how));
        signal(WTERMSIG(how), SIG_DFL);
        sigprocmask(SIG_UNBLOCK, &number, NULL);
        raise(WTERMSIG(how));
    }
    nb_text_clean(atomic_load(&page->call) % 2 ? page->doing : file, "", what, sizeof what);
    bool told = nb_ending_text(&ending, limit_s, &reason, ctx) == NB_OK;
    fprintf(stderr, "nysbench: error: %s: %s\n", what, told && *reason ? reason : "it ended the program");
    _exit(EXIT_FAILURE);
}

static bool has_ended(pid_t child)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

/* Counts slices of a call that lasts, since none pass while the processes are stopped. */
static _Noreturn void watch(pid_t child, const shared_page *page, const sigset_t *heard, const char *file, nb_ctx *ctx)
{
    enum { SLICE_MS = 200 };
    double limit_s = nb_ctx_patience(ctx), called_s = 0;
    unsigned seen = 0;
    while (!has_ended(child) && called_s <= limit_s) {
        int number = sigtimedwait(heard, NULL, &(struct timespec){.tv_nsec = SLICE_MS * 1000000L});
        unsigned call = atomic_load(&page->call);
        if (number > 0 && number != SIGCHLD) kill(child, number);
        if (call != seen || call % 2 == 0)
            called_s = 0;
        else if (number < 0)
            called_s += 1e-3 * SLICE_MS;
        seen = call;
    }
    end_likewise(page, nb_process_end(child, 0, false), file, limit_s, ctx);
}

nb_status nb_guard_begin(const char *file, nb_ctx *ctx)
{
    sigset_t heard, before;
    pid_t child;
    if (guard.child) return NB_OK;
    void *page = mmap(NULL, sizeof *guard.page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NB_REQUIRE(ctx, page != MAP_FAILED, NB_ENOMEM, "out of memory: a page for what is called");
    sigemptyset(&heard);
    sigaddset(&heard, SIGCHLD);
    for (int i = 0; i < ASKING; i++) sigaddset(&heard, asking[i]);
    sigprocmask(SIG_BLOCK, &heard, &before);
    fflush(NULL); /* the child must not write what is buffered here */
    nb_status status = nb_process_fork(&child, ctx);
    if (status == NB_OK && child > 0) watch(child, page, &heard, file, ctx);
    sigprocmask(SIG_SETMASK, &before, NULL);
    NB_TRY(ctx, status);
    guard.page = page;
    guard.child = getpid();
    signal(SIGXFSZ, SIG_IGN); /* as in main */
    signal(SIGPIPE, SIG_IGN);
    NB_REQUIRE(ctx, madvise(page, sizeof *guard.page, MADV_DONTFORK) == 0, NB_EHOST,
               "a page cannot be kept from other processes");
    return NB_OK;
}
