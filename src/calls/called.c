/* SPDX-License-Identifier: GPL-3.0-or-later */
/* called.c - see called.h */
#include "calls/called.h"

#include "components/plugin.h"

static _Atomic(const nb_component *) inside;

const nb_component *nb_called(void)
{
    return inside;
}

nb_status nb_called_begin(const nb_choice *component, const nb_component **outer, nb_ctx *ctx)
{
    *outer = inside;
    if (nb_plugin_of(component->component)) inside = component->component;
    nb_status status = nb_plugin_open(component, ctx);
    if (status != NB_OK) inside = *outer;
    return status;
}

nb_status nb_called_end(const nb_component *outer, const nb_choice *component, nb_status status, nb_ctx *ctx)
{
    bool outside = nb_plugin_of(component->component);
    if (outside) inside = outer;
    if (status != NB_OK && !*nb_error_message(ctx))
        nb_error_set(ctx, status, __FILE__, __LINE__, "%s failed without a message: %s", component->component->name,
                     nb_status_name(status));
    return outside && status == NB_EHOST ? NB_EIO : status;
}
