/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot.c - see gnuplot.h */
#include "base/gnuplot.h"

#include "base/numbers.h"
#include "base/process.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "gnuplot"

#define LIMIT "NYSBENCH_PLOT_TIMEOUT"

/* Reads the limit from the environment. Returns false if it is no number of seconds, which nb_gnuplots_new refuses. */
static bool read_limit(double *seconds)
{
    const char *given = getenv(LIMIT);
    *seconds = 120;
    return !given || nb_parse_real(given, 1e-3, 1e6, seconds);
}

bool nb_gnuplot_version(const char **line, nb_ctx *ctx)
{
    char *words[] = {(char[]){NAME}, (char[]){"--version"}, NULL};
    const char *said;
    char *first = NULL;
    double limit_s;
    read_limit(&limit_s);
    if (nb_capture(words, NULL, fmin(30, limit_s), &said, ctx) == NB_OK) first = nb_strdup(ctx, said);
    if (first) first[strcspn(first, "\n")] = '\0';
    nb_error_clear(ctx);
    *line = nb_clean(ctx, first, "");
    return *line;
}

typedef struct {
    pid_t pid;
    int said;     /* its standard error */
    double end_s; /* when it has to be done */
    const char *script;
} running;

struct nb_gnuplots {
    int most, count;
    double limit_s;     /* of each */
    running *first;     /* those that run, in the order of their start */
    char **environment; /* of each */
    nb_ctx *ctx;        /* that `first` is of, the names and the environment */
};

/* Keeps what a program needs to start, and a cache of fonts, and nothing else: GNUTERM can break figures,
 * configurations of fonts, which HOME leads to, can change them, and gnuplot warns without a UTF-8 locale. */
static nb_status make_environment(char ***all, nb_ctx *ctx)
{
    static const char *const kept[] = {"PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TMPDIR", "XDG_CACHE_HOME"};
    enum { KEPT = sizeof kept / sizeof *kept };
    const char *home = getenv("HOME");
    char **next;
    NB_NEED(*all, nb_alloc(ctx, KEPT + 3, sizeof **all));
    next = *all;
    for (int i = 0; i < KEPT; i++)
        if (getenv(kept[i])) NB_NEED(*next++, nb_format(ctx, "%s=%s", kept[i], getenv(kept[i])));
    if (home && !getenv("XDG_CACHE_HOME")) NB_NEED(*next++, nb_format(ctx, "XDG_CACHE_HOME=%s/.cache", home));
    NB_NEED(*next++, nb_strdup(ctx, "HOME=/nonexistent"));
    NB_NEED(*next, nb_strdup(ctx, "LC_ALL=C.UTF-8"));
    return NB_OK;
}

nb_status nb_gnuplots_new(int most, nb_gnuplots **all, nb_ctx *ctx)
{
    nb_gnuplots *new;
    double limit_s;
    *all = NULL;
    if (most == 0) return NB_OK;
    NB_REQUIRE(ctx, read_limit(&limit_s), NB_EINVAL, LIMIT ": '%s' is not a number of seconds from 0.001 to 1000000",
               getenv(LIMIT));
    NB_NEED(new, nb_alloc(ctx, 1, sizeof *new));
    NB_NEED(new->ctx, nb_ctx_child(ctx));
    NB_NEED(new->first, nb_alloc(new->ctx, (size_t)most, sizeof *new->first));
    NB_TRY(ctx, make_environment(&new->environment, new->ctx));
    new->most = most;
    new->limit_s = limit_s;
    *all = new;
    return NB_OK;
}

/* Copies what arrives there to standard error, until its end or until end_s. */
static void pass_on(int from, double end_s)
{
    char text[4096];
    while (nb_awake_s() < end_s && nb_poll_until(&(struct pollfd){.fd = from, .events = POLLIN}, 1, end_s)) {
        ssize_t got = read(from, text, sizeof text);
        if (got == 0 || (got < 0 && errno != EINTR)) return;
        if (got > 0) fwrite(text, 1, (size_t)got, stderr);
    }
}

static nb_status await_first(nb_gnuplots *all, nb_ctx *ctx)
{
    const running first = all->first[0];
    nb_ending ending;
    const char *why;
    memmove(all->first, all->first + 1, (size_t)--all->count * sizeof *all->first);
    pass_on(first.said, first.end_s);
    nb_status status = nb_process_await(first.pid, fmax(first.end_s - nb_awake_s(), 0), &ending, ctx);
    close(first.said);
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_program_ending(NAME, &ending, all->limit_s, &why, ctx));
    NB_REQUIRE(ctx, !*why, NB_EIO, "gnuplot failed on %s: %s", first.script, why);
    return NB_OK;
}

nb_status nb_gnuplots_start(nb_gnuplots *all, const char *folder, const char *script, nb_ctx *ctx)
{
    char *words[] = {(char[]){NAME}, (char[]){"-d"}, NULL, NULL};
    if (all->count == all->most) NB_TRY(ctx, await_first(all, ctx));
    running *new = &all->first[all->count];
    NB_NEED(words[2], nb_strdup(ctx, script));
    NB_NEED(new->script, nb_format(all->ctx, "%s/%s", folder, script));
    nb_process program = {
        .words = words, .folder = folder, .environment = all->environment, .pipes = {[STDERR_FILENO] = &new->said}};
    NB_TRY(ctx, nb_process_spawn(&program, &new->pid, ctx));
    new->end_s = nb_awake_s() + all->limit_s;
    all->count++;
    return NB_OK;
}

nb_status nb_gnuplots_wait(nb_gnuplots *all, nb_ctx *ctx)
{
    nb_status status = NB_OK;
    while (all && all->count > 0) {
        nb_status ended = await_first(all, ctx);
        if (status == NB_OK) status = ended;
    }
    return status;
}
