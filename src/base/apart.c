/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.c - through a pipe come the function's status and message, and behind them the parcel. */
#include "base/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PIPE = 3, MAGIC = 0x6e797370 };

typedef struct {
    uint32_t magic;
    int32_t status;
    char message[sizeof((nb_return *)NULL)->message];
} verdict;

struct nb_parcel {
    nb_ctx *ctx;
    bool sends;       /* the child's: to the pipe */
    const char *next; /* the parent's: what has come and was not taken */
    size_t left;
    nb_status status; /* NB_EBUG if something is missing */
};

void nb_parcel_move(nb_parcel *p, void *bytes, size_t count)
{
    if (p->status != NB_OK || count == 0) return;
    if (!p->sends) {
        if (count > p->left) p->status = NB_EBUG;
        if (count > p->left) return;
        memcpy(bytes, p->next, count);
        p->next += count;
        p->left -= count;
    }
    for (const char *at = bytes; p->sends && count > 0;) {
        ssize_t written = write(PIPE, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) _exit(NB_NOT_STARTED);
        at += written;
        count -= (size_t)written;
    }
}

void *nb_parcel_array(nb_parcel *p, void *array, size_t count, size_t size)
{
    size_t bytes = 0;
    char there = array != NULL;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    nb_parcel_move(p, &there, sizeof there);
    if (p->sends && there) nb_parcel_move(p, array, bytes);
    if (p->sends) return array;
    if (there && bytes > p->left) p->status = NB_EBUG;
    if (!there || p->status != NB_OK) return NULL;
    void *copy = nb_alloc_unset(p->ctx, bytes, 1);
    if (copy)
        nb_parcel_move(p, copy, bytes);
    else
        p->status = NB_ENOMEM;
    return copy;
}

const char *nb_parcel_text(nb_parcel *p, const char *text)
{
    size_t bytes = p->sends && text ? strlen(text) + 1 : 0;
    union {
        const char *in;
        char *out;
    } moved = {.in = text};
    nb_parcel_move(p, &bytes, sizeof bytes);
    moved.out = nb_parcel_array(p, moved.out, bytes, 1);
    if (!p->sends && moved.out && bytes > 0) moved.out[bytes - 1] = '\0';
    return bytes > 0 ? moved.in : NULL;
}

const char *const *nb_parcel_texts(nb_parcel *p, const char *const *texts)
{
    unsigned count = 0;
    union {
        const char *const *in;
        void *array;
        const char **out;
    } moved = {.in = texts};
    while (p->sends && texts && texts[count]) count++;
    nb_parcel_move(p, &count, sizeof count);
    moved.array = nb_parcel_array(p, moved.array, (size_t)count + 1, sizeof *texts);
    for (unsigned i = 0; moved.in && i < count; i++) {
        const char *text = nb_parcel_text(p, moved.in[i]);
        if (!p->sends) moved.out[i] = text;
    }
    if (!p->sends && moved.in) moved.out[count] = NULL;
    return moved.in;
}

/* In the child. */
static _Noreturn void go(const nb_errand *errand, int fd, nb_ctx *ctx)
{
    nb_parcel parcel = {.ctx = ctx, .sends = true};
    verdict v = {.magic = MAGIC};
    if (dup2(fd, PIPE) != PIPE) _exit(NB_NOT_STARTED);
    closefrom(PIPE + 1);
    fcntl(PIPE, F_SETFD, FD_CLOEXEC);
    if (errand->quiet) dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    nb_ctx_isolate(ctx, 0); /* it is, by being here */
    v.status = (int32_t)errand->act(errand->self, ctx);
    snprintf(v.message, sizeof v.message, "%s", nb_error_message(ctx));
    nb_parcel_move(&parcel, &v, sizeof v);
    if (errand->move) errand->move(errand->self, &parcel);
    nb_parcel_move(&parcel, errand->answer, errand->bytes);
    fflush(stdout);
    _exit(0);
}

/* Unpacks what the child has said, if it has ended by itself. back->how tells whether it could be read. */
static nb_status open_parcel(const nb_errand *errand, const nb_said *said, nb_return *back, nb_ctx *ctx)
{
    verdict v;
    nb_parcel parcel = {.ctx = ctx, .next = said->bytes, .left = said->count};
    if (said->count == 0 || back->ending.how != 0) return NB_OK;
    back->how = NB_GARBLED;
    nb_parcel_move(&parcel, &v, sizeof v);
    if (parcel.status != NB_OK || v.magic != MAGIC || (unsigned)v.status >= NB_STATUS_COUNT) return NB_OK;
    back->status = (nb_status)v.status;
    v.message[sizeof v.message - 1] = '\0';
    memcpy(back->message, v.message, sizeof v.message);
    if (errand->move) errand->move(errand->self, &parcel);
    nb_parcel_move(&parcel, errand->answer, errand->bytes);
    if (parcel.status == NB_OK && parcel.left == 0) back->how = NB_RETURNED;
    return parcel.status == NB_ENOMEM ? NB_ENOMEM : NB_OK;
}

/* Waits for the child's end: a second where it has closed the pipe, not at all where it is late or says too much. */
static nb_status take_back(const nb_errand *errand, pid_t pid, int fd, nb_return *back, nb_ctx *ctx)
{
    nb_said said = {.closed = false};
    size_t most = errand->most > 0 ? errand->most : NB_MOST_HEARD;
    double end_s = nb_awake_s() + errand->limit_s;
    nb_ctx *own = nb_ctx_child(ctx);
    nb_status status = own ? nb_process_hear(pid, fd, errand->limit_s, most, &said, own) : NB_ENOMEM;
    bool late = nb_awake_s() >= end_s;
    back->ending = nb_process_end(pid, status == NB_OK && said.closed ? 1 : 0, !said.closed);
    back->how = !back->ending.timed_out ? NB_ENDED : said.closed ? NB_CLOSED : late ? NB_ENDED : NB_GARBLED;
    if (status == NB_OK && !back->ending.timed_out) status = open_parcel(errand, &said, back, ctx);
    if (own) nb_ctx_release(own, 0);
    return status;
}

nb_status nb_errand_run(const nb_errand *errand, nb_return *back, nb_ctx *ctx)
{
    int ends[2];
    pid_t pid;
    *back = (nb_return){.status = NB_EBUG};
    NB_REQUIRE(ctx, pipe2(ends, O_CLOEXEC) == 0, NB_EHOST, "a pipe cannot be made: %s", strerror(errno));
    fflush(NULL); /* the child must not write what is buffered */
    nb_status status = nb_process_fork(&pid, ctx);
    if (status == NB_OK && pid == 0) go(errand, ends[1], ctx);
    close(ends[1]);
    if (status == NB_OK) status = take_back(errand, pid, ends[0], back, ctx);
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
