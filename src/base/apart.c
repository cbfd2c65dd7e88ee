/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.c - a frame comes through a pipe: the function's status and message, what it moves, and its answer. */
#include "base/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIPE = 3 };

typedef struct {
    const nb_errand *errand;
    nb_return *back;
} delivery;

/* The body of the only frame. */
static void move_return(void *self, nb_parcel *parcel)
{
    const delivery *d = self;
    nb_parcel_move(parcel, &d->back->status, sizeof d->back->status);
    nb_parcel_move(parcel, d->back->message, sizeof d->back->message);
    if (d->errand->move) d->errand->move(d->errand->self, parcel);
    nb_parcel_move(parcel, d->errand->answer, d->errand->bytes);
}

static void write_all(void *to, const void *bytes, size_t count)
{
    (void)to;
    for (const char *at = bytes; count > 0;) {
        ssize_t written = write(PIPE, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) _exit(NB_NOT_STARTED);
        at += written;
        count -= (size_t)written;
    }
}

/* In the child. */
static _Noreturn void run_child(const nb_errand *errand, int fd, nb_ctx *ctx)
{
    nb_return back = {.how = NB_RETURNED};
    const nb_frame frame = {.self = &(delivery){errand, &back}, .move = move_return};
    if (dup2(fd, PIPE) != PIPE) _exit(NB_NOT_STARTED);
    closefrom(PIPE + 1);
    fcntl(PIPE, F_SETFD, FD_CLOEXEC);
    if (errand->quiet) dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    nb_ctx_isolate(ctx, 0); /* it is, by being here */
    nb_ctx_on_wait(ctx, NULL, NULL);
    back.status = errand->act(errand->self, ctx);
    snprintf(back.message, sizeof back.message, "%s", nb_error_message(ctx));
    nb_frame_send(&frame, nb_frame_size(&frame), write_all, NULL);
    fflush(stdout);
    _exit(0);
}

/* Reads what the child has said, if it has ended by itself. back->how tells whether that was a frame and nothing
 * else. */
static nb_status read_return(const nb_errand *errand, const nb_said *said, nb_return *back, nb_ctx *ctx)
{
    size_t size;
    nb_frame frame = {.self = &(delivery){errand, back}, .move = move_return};
    if (said->count == 0 || back->ending.how != 0) return NB_OK;
    back->how = NB_GARBLED;
    NB_TRY(ctx, nb_frame_read(&frame, said->bytes, said->count, &size, ctx));
    back->message[sizeof back->message - 1] = '\0';
    if (size == said->count && (unsigned)back->status < NB_STATUS_COUNT) back->how = NB_RETURNED;
    return NB_OK;
}

/* Waits for the child's end: a second where it has closed the pipe, not at all where it is late or says too much. */
static nb_status await_return(const nb_errand *errand, pid_t pid, int fd, nb_return *back, nb_ctx *ctx)
{
    nb_said said = {.closed = false};
    size_t most = errand->most > 0 ? errand->most : NB_MOST_HEARD;
    double end_s = nb_awake_s() + errand->limit_s;
    nb_ctx *own = nb_ctx_child(ctx);
    nb_status status = own ? nb_process_hear(pid, fd, errand->limit_s, most, &said, own) : NB_ENOMEM;
    bool late = nb_awake_s() >= end_s;
    back->ending = nb_process_end(pid, status == NB_OK && said.closed ? 1 : 0, !said.closed);
    back->how = !back->ending.timed_out ? NB_ENDED : said.closed ? NB_CLOSED : late ? NB_ENDED : NB_GARBLED;
    if (status == NB_OK && !back->ending.timed_out) status = read_return(errand, &said, back, ctx);
    if (own) nb_ctx_release(own, 0);
    return status;
}

nb_status nb_errand_run(const nb_errand *errand, nb_return *back, nb_ctx *ctx)
{
    int ends[2];
    pid_t pid;
    *back = (nb_return){.status = NB_EBUG};
    NB_REQUIRE(ctx, pipe2(ends, O_CLOEXEC) == 0, NB_EHOST, "a pipe cannot be made: %s", strerror(errno));
    nb_ctx_wait(ctx);
    fflush(NULL); /* the child must not write what is buffered */
    nb_status status = nb_process_fork(&pid, ctx);
    if (status == NB_OK && pid == 0) run_child(errand, ends[1], ctx);
    close(ends[1]);
    if (status == NB_OK) status = await_return(errand, pid, ends[0], back, ctx);
    close(ends[0]);
    return status;
}

nb_status nb_errand_do(const nb_errand *errand, nb_ctx *ctx)
{
    nb_return back;
    const char *end = "";
    NB_TRY(ctx, nb_errand_run(errand, &back, ctx));
    if (back.how != NB_RETURNED) NB_TRY(ctx, nb_ending_text(&back.ending, errand->limit_s, &end, ctx));
    NB_REQUIRE(ctx, back.how == NB_RETURNED, NB_EBUG, "%s", *end ? end : "it ended the program");
    if (back.status != NB_OK) nb_error_set(ctx, back.status, __FILE__, __LINE__, "%s", back.message);
    return back.status;
}

nb_status nb_apart(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double limit_s, void *answer, size_t bytes,
                   nb_ctx *ctx)
{
    return nb_errand_do(
        &(nb_errand){.self = self, .act = act, .limit_s = limit_s, .answer = answer, .bytes = bytes, .quiet = true},
        ctx);
}
