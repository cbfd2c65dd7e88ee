/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.c - the child's answer comes through a pipe, which takes it whole. */
#include "base/apart.h"

#include "base/process.h"
#include "base/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    nb_status status;
    char message[1024];
} verdict;

/* In the child. */
static _Noreturn void tell(int fd, nb_status (*act)(void *self, nb_ctx *ctx), void *self, const void *answer,
                           size_t bytes, nb_ctx *ctx)
{
    verdict v = {.status = NB_OK};
    const char *changed = NULL;
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nothing, STDOUT_FILENO);
    nb_surroundings before = nb_surroundings_now();
    v.status = act(self, ctx);
    nb_surroundings now = nb_surroundings_now();
    snprintf(v.message, sizeof v.message, "%s", nb_error_message(ctx));
    if (v.status == NB_OK && (changed = nb_surroundings_text(nb_surroundings_changed(&before, &now), ctx)) &&
        *changed) {
        v.status = NB_EBUG;
        snprintf(v.message, sizeof v.message, "changed %s", changed);
    }
    _exit(write(fd, &v, sizeof v) == sizeof v && write(fd, answer, bytes) == (ssize_t)bytes ? 0 : 1);
}

nb_status nb_apart(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double limit_s, void *answer, size_t bytes,
                   nb_ctx *ctx)
{
    int ends[2];
    pid_t pid;
    verdict v;
    nb_ending ending;
    const char *end = "";
    NB_REQUIRE(ctx, pipe2(ends, O_CLOEXEC) == 0, NB_EIO, "a pipe cannot be made: %s", strerror(errno));
    nb_status status = nb_process_fork(&pid, ctx);
    if (status == NB_OK && pid == 0) tell(ends[1], act, self, answer, bytes, ctx);
    close(ends[1]);
    if (status == NB_OK) status = nb_process_await(pid, limit_s, &ending, ctx);
    bool told =
        status == NB_OK && read(ends[0], &v, sizeof v) == sizeof v && read(ends[0], answer, bytes) == (ssize_t)bytes;
    close(ends[0]);
    NB_TRY(ctx, status);
    if (!told) NB_TRY(ctx, nb_ending_text(&ending, limit_s, &end, ctx));
    NB_REQUIRE(ctx, told, NB_EBUG, "%s", *end ? end : "it ended the program");
    if (v.status != NB_OK) nb_error_set(ctx, v.status, __FILE__, __LINE__, "%s", v.message);
    return v.status;
}

nb_status nb_apart_named(nb_status (*act)(void *self, nb_ctx *ctx), void *self, void *answer, size_t bytes,
                         const char *name, const char *what, nb_ctx *ctx)
{
    const char *reason;
    nb_status status = nb_apart(act, self, nb_ctx_patience(ctx), answer, bytes, ctx);
    if (status != NB_EBUG) return status;
    NB_NEED(reason, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, status, "%s: %s: %s", name, what, reason);
}
