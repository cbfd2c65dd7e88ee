/* SPDX-License-Identifier: GPL-3.0-or-later */
/* output.c - see output.h */
#include "components/output.h"

#include <string.h>

nb_status nb_output_names(const nb_registry *registry, const char *study, const char *const **names, nb_ctx *ctx)
{
    size_t count = 0;
    const char **all;
    for (const nb_entry *e = registry->entries; e->component; e++) count++;
    NB_NEED(all, nb_alloc(ctx, count + 1, sizeof *all));
    count = 0;
    for (const nb_entry *e = registry->entries; e->component; e++)
        if (strcmp(((const nb_output *)e->component)->study, study) == 0) all[count++] = e->component->name;
    *names = all;
    return NB_OK;
}
