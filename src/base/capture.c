/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.c - a pipe that is polled, so that a program that hangs is noticed. */
#include "base/capture.h"

#include "base/clock.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 28 };

typedef struct {
    char *text; /* malloc's */
    size_t bytes, room;
} buffer;

/* Space for more, and an end; false where there is none. */
static bool grow(buffer *b)
{
    if (b->room - b->bytes > 4096) return true;
    if (b->room >= MOST_BYTES) return false;
    size_t room = b->room ? 2 * b->room : 16384;
    char *text = realloc(b->text, room);
    if (!text) return false;
    *b = (buffer){text, b->bytes, room};
    return true;
}

/* Until its end, or until that moment. */
static void read_all(int fd, double end_s, buffer *b)
{
    for (double left_s = end_s - nb_clock_s(); left_s > 0 && grow(b); left_s = end_s - nb_clock_s()) {
        struct pollfd in = {.fd = fd, .events = POLLIN};
        if (poll(&in, 1, (int)ceil(fmin(left_s, 1e3) * 1e3)) <= 0) continue;
        ssize_t got = read(fd, b->text + b->bytes, b->room - b->bytes - 1);
        if (got == 0 || (got < 0 && errno != EINTR)) return;
        if (got > 0) b->bytes += (size_t)got;
    }
}

static nb_status listen_to(pid_t pid, int fd, double limit_s, buffer *said, nb_ending *ending, nb_ctx *ctx)
{
    double end_s = nb_clock_s() + limit_s;
    read_all(fd, end_s, said);
    return nb_process_await(pid, fmax(end_s - nb_clock_s(), 0), ending, ctx);
}

nb_status nb_capture(char *const *words, const char *folder, double limit_s, const char **output, nb_ctx *ctx)
{
    int ends[2];
    pid_t pid;
    buffer said = {NULL, 0, 0};
    nb_ending ending;
    const char *text;
    NB_REQUIRE(ctx, pipe2(ends, O_CLOEXEC) == 0, NB_EIO, "a pipe cannot be made: %s", strerror(errno));
    nb_program program = {.words = words, .folder = folder, .out = ends[1], .outlives = true};
    nb_status status = nb_process_spawn(&program, &pid, ctx);
    close(ends[1]);
    if (status == NB_OK) status = listen_to(pid, ends[0], limit_s, &said, &ending, ctx);
    close(ends[0]);
    if (said.text) {
        said.text[said.bytes] = '\0';
        if (nb_defer(ctx, free, said.text) != NB_OK) return NB_ENOMEM;
    }
    NB_TRY(ctx, status);
    NB_REQUIRE(ctx, ending.timed_out || !WIFEXITED(ending.how) || WEXITSTATUS(ending.how) != NB_NOT_STARTED, NB_EIO,
               "%s cannot be started: is it installed, and in PATH?", words[0]);
    NB_TRY(ctx, nb_ending_text(&ending, limit_s, &text, ctx));
    NB_REQUIRE(ctx, !*text, NB_EIO, "%s: %s", words[0], text);
    *output = said.text ? said.text : "";
    return NB_OK;
}
