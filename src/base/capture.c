/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.c - a pipe that is polled, so that a program that hangs is noticed. */
#include "base/capture.h"

#include "base/clock.h"
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static nb_status listen_to(pid_t pid, int fd, double limit_s, nb_said *said, nb_ending *ending, nb_ctx *ctx)
{
    double end_s = nb_clock_s() + limit_s;
    nb_status status = nb_process_hear(pid, fd, limit_s, said, ctx);
    nb_status ended = nb_process_await(pid, status == NB_OK ? fmax(end_s - nb_clock_s(), 0) : 0, ending, ctx);
    return status == NB_OK ? ended : status;
}

nb_status nb_capture(char *const *words, const char *folder, double limit_s, const char **output, nb_ctx *ctx)
{
    int ends[2];
    pid_t pid;
    nb_said said;
    nb_ending ending;
    const char *text;
    NB_REQUIRE(ctx, pipe2(ends, O_CLOEXEC) == 0, NB_EIO, "a pipe cannot be made: %s", strerror(errno));
    nb_process program = {.words = words, .folder = folder, .out = ends[1]};
    nb_status status = nb_process_spawn(&program, &pid, ctx);
    close(ends[1]);
    if (status == NB_OK) status = listen_to(pid, ends[0], limit_s, &said, &ending, ctx);
    close(ends[0]);
    NB_TRY(ctx, status);
    NB_TRY(ctx, nb_program_ending(words[0], &ending, limit_s, &text, ctx));
    NB_REQUIRE(ctx, !*text, NB_EIO, "%s", text);
    *output = said.bytes;
    return NB_OK;
}
