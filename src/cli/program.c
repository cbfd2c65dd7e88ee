/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c - see program.h */
#include "cli/program.h"

#include "cli/command.h"

static void free_handle(void *handle)
{
    nysbench_free(handle);
}

nb_status nb_program_handle(nysbench **handle, nb_host *host, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, nysbench_new(handle) == NYSBENCH_OK, NB_ENOMEM, "out of memory: a handle");
    *host = (nb_host){.prefix = "--", .processes = true};
    (*handle)->host = host;
    return nb_defer(ctx, free_handle, *handle);
}

void nb_program_warn(const nysbench *handle)
{
    if (*nysbench_warning(handle)) nb_print_warning("%s", nysbench_warning(handle));
}
