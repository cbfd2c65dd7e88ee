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
#include <string.h>
#include <unistd.h>

enum { FIRST_BYTES = 16384, MOST_BYTES = 1 << 28 };

typedef struct {
    char *text; /* zeros behind `bytes` */
    int bytes, room;
} buffer;

/* Until its end, or until that moment. */
static nb_status read_all(int fd, double end_s, buffer *b, nb_ctx *ctx)
{
    for (double left_s = end_s - nb_clock_s(); left_s > 0 && b->bytes < MOST_BYTES; left_s = end_s - nb_clock_s()) {
        NB_GROW(ctx, b->text, b->bytes + 1, b->room); /* with room for an end */
        struct pollfd in = {.fd = fd, .events = POLLIN};
        if (poll(&in, 1, (int)ceil(fmin(left_s, 1e3) * 1e3)) <= 0) continue;
        ssize_t got = read(fd, b->text + b->bytes, (size_t)(b->room - b->bytes - 1));
        if (got == 0 || (got < 0 && errno != EINTR)) break;
        if (got > 0) b->bytes += (int)got;
    }
    return NB_OK;
}

static nb_status listen_to(pid_t pid, int fd, double limit_s, buffer *said, nb_ending *ending, nb_ctx *ctx)
{
    double end_s = nb_clock_s() + limit_s;
    nb_status status = read_all(fd, end_s, said, ctx);
    nb_status ended = nb_process_await(pid, status == NB_OK ? fmax(end_s - nb_clock_s(), 0) : 0, ending, ctx);
    return status == NB_OK ? ended : status;
}

nb_status nb_capture(char *const *words, const char *folder, double limit_s, const char **output, nb_ctx *ctx)
{
    int ends[2];
    pid_t pid;
    buffer said = {.room = FIRST_BYTES};
    nb_ending ending;
    const char *text;
    NB_NEED(said.text, nb_alloc(ctx, FIRST_BYTES, 1));
    NB_REQUIRE(ctx, pipe2(ends, O_CLOEXEC) == 0, NB_EIO, "a pipe cannot be made: %s", strerror(errno));
    nb_process program = {.words = words, .folder = folder, .out = ends[1], .outlives = true};
    nb_status status = nb_process_spawn(&program, &pid, ctx);
    close(ends[1]);
    if (status == NB_OK) status = listen_to(pid, ends[0], limit_s, &said, &ending, ctx);
    close(ends[0]);
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_program_ending(words[0], &ending, limit_s, &text, ctx));
    NB_REQUIRE(ctx, !*text, NB_EIO, "%s", text);
    *output = said.text;
    return NB_OK;
}
