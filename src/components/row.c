/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row.c - see row.h */
#include "components/row.h"

#include <string.h>

const char *const nb_row_statuses[] = {"ok", "skipped", "diverged", "failed", "timeout", "crashed", "planned", NULL};

const char *nb_row_status_of(const char *text)
{
    const char *const *status = nb_row_statuses;
    while (*status && strcmp(*status, text) != 0) status++;
    return *status;
}

bool nb_row_is_well(const nb_row *row)
{
    return strcmp(row->status, "ok") == 0 || strcmp(row->status, "skipped") == 0;
}

bool nb_row_same(const nb_column *columns, const void *a, const void *b)
{
    for (const nb_column *c = columns; c->name; c++)
        if (c->identity && !nb_column_same(c, a, b)) return false;
    return true;
}

nb_row *nb_row_at(const nb_row_list *rows, int index)
{
    return (nb_row *)(void *)(rows->bytes + (size_t)index * rows->row_size);
}
