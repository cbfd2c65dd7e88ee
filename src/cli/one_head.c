/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.c - from options to a request. */
#include "cli/one_head.h"

#include <stdlib.h>

static nb_status own(char *text, nb_ctx *ctx)
{
    return text ? nb_defer(ctx, free, text) : NB_OK;
}

nb_status nb_one_head_own(const nb_one_head_texts *t, nb_ctx *ctx)
{
    char *const texts[] = {t->head, t->kernel, t->causal,  t->strategy, t->landmarks,
                           t->seed, t->trial,  t->pairing, t->factors,  t->metrics};
    nb_status status = nb_command_own(t->cores, ctx);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (own(texts[i], ctx) != NB_OK) status = NB_ENOMEM;
    return status;
}

void nb_one_head_request(const nb_one_head_texts *t, nysbench_request *request, nb_host *host)
{
    nysbench_request_init(request);
    request->file = t->head;
    request->kernel = t->kernel;
    request->strategy = t->strategy;
    request->pairing = t->pairing;
    request->factors = t->factors;
    request->metrics = t->metrics;
    request->cores = t->cores;
    host->seed = t->seed;
    host->trial = t->trial;
    host->landmarks = t->landmarks;
    host->causal = t->causal;
}
