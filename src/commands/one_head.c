/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.c - from options to a request. */
#include "commands/one_head.h"

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
