/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.c - see sink.h. */
#include "run/sink.h"

nb_status nb_sink_ignore(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    return NB_OK;
}

bool nb_sink_never_stop(void *self)
{
    (void)self;
    return false;
}
