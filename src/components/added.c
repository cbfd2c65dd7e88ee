/* SPDX-License-Identifier: GPL-3.0-or-later */
/* added.c - a table of functions, the same for all threads of the process. */
#include "components/added.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_mutex_t lock;
    int count, last; /* functions there are; the number given last */
    nb_added *items; /* in the order of their numbers */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

void nb_added_lock(void)
{
    pthread_mutex_lock(&table.lock);
}

void nb_added_unlock(void)
{
    pthread_mutex_unlock(&table.lock);
}

/* The place of a number, or the number of functions. */
static int place_of(int id)
{
    int i = 0;
    while (i < table.count && table.items[i].id != id) i++;
    return i;
}

static nb_status put(const nb_added *added, int *id, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, table.last < INT_MAX, NB_EINVAL, "%d functions have been added, and there is no number left",
               table.last);
    nb_added *items = realloc(table.items, ((size_t)table.count + 1) * sizeof *items);
    char *name = items ? strdup(added->name) : NULL;
    if (items) table.items = items;
    NB_REQUIRE(ctx, name, NB_ENOMEM, "out of memory: a function");
    items[table.count] = *added;
    items[table.count].name = name;
    items[table.count++].id = *id = ++table.last;
    return NB_OK;
}

nb_status nb_added_put(const nb_added *added, int *id, nb_ctx *ctx)
{
    nb_added_lock();
    nb_status status = put(added, id, ctx);
    nb_added_unlock();
    return status;
}

/* added->name: NULL when out of memory. */
static bool find(const nb_registry *kind, int id, nb_added *added, nb_ctx *ctx)
{
    int i = place_of(id);
    if (i == table.count || table.items[i].kind != kind) return false;
    *added = table.items[i];
    added->name = nb_strdup(ctx, added->name);
    return true;
}

nb_status nb_added_find(const nb_registry *kind, int id, nb_added *added, nb_ctx *ctx)
{
    nb_added_lock();
    bool found = find(kind, id, added, ctx);
    nb_added_unlock();
    NB_REQUIRE(ctx, found, NB_EINVAL,
               "%s(id=%d): there is no such %s here: only a program that has added it, with nysbench_add_%s, can use "
               "it, until it removes it",
               nb_added_component(kind)->name, id, kind->kind, kind->kind);
    return added->name ? NB_OK : NB_ENOMEM;
}

bool nb_added_deterministic(const nb_registry *kind, int id)
{
    nb_added_lock();
    int i = place_of(id);
    bool deterministic = i < table.count && table.items[i].kind == kind && table.items[i].deterministic;
    nb_added_unlock();
    return deterministic;
}

static bool take_out(int id)
{
    int i = place_of(id);
    if (i == table.count) return false;
    free((char *)table.items[i].name);
    memmove(table.items + i, table.items + i + 1, (size_t)(--table.count - i) * sizeof *table.items);
    return true;
}

bool nb_added_remove(int id)
{
    nb_added_lock();
    bool found = take_out(id);
    nb_added_unlock();
    return found;
}

const nb_component *nb_added_component(const nb_registry *kind)
{
    const nb_entry *e = kind->entries;
    while (!nb_component_of_caller(e->component)) e++;
    return e->component;
}
