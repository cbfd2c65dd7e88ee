/* SPDX-License-Identifier: GPL-3.0-or-later */
/* added.c - a list of functions, the same for all threads of the process. */
#include "components/added.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry entry;
struct entry {
    nb_added added;
    entry *next; /* added before this one */
    char name[];
};

static struct {
    pthread_mutex_t lock;
    entry *last;
    int last_id; /* the number given last */
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

void nb_added_lock(void)
{
    pthread_mutex_lock(&list.lock);
}

void nb_added_unlock(void)
{
    pthread_mutex_unlock(&list.lock);
}

/* Returns what points at the entry of a number, or at the end. */
static entry **place_of(int id)
{
    entry **at = &list.last;
    while (*at && (*at)->added.id != id) at = &(*at)->next;
    return at;
}

/* Returns the entry of that kind; NULL: there is none. */
static const entry *find(const nb_registry *kind, int id)
{
    const entry *e = *place_of(id);
    return e && e->added.kind == kind ? e : NULL;
}

nb_status nb_added_put(const nb_added *added, int *id, nb_ctx *ctx)
{
    size_t length = strlen(added->name);
    entry *e = malloc(sizeof *e + length + 1);
    NB_REQUIRE(ctx, e, NB_ENOMEM, "out of memory: a function");
    e->added = *added;
    e->added.name = memcpy(e->name, added->name, length + 1);
    nb_added_lock();
    *id = e->added.id = ++list.last_id;
    e->next = list.last;
    list.last = e;
    nb_added_unlock();
    return NB_OK;
}

nb_status nb_added_find(const nb_registry *kind, int id, nb_added *added, nb_ctx *ctx)
{
    const char *name = NULL;
    nb_added_lock();
    const entry *e = find(kind, id);
    if (e) {
        *added = e->added;
        added->name = name = nb_strdup(ctx, e->name);
    }
    nb_added_unlock();
    NB_REQUIRE(ctx, e, NB_EINVAL,
               "%s(id=%d): there is no such %s here: only a program that has added it, with nysbench_add_%s, can use "
               "it, until it removes it",
               nb_added_component(kind)->name, id, kind->kind, kind->kind);
    return name ? NB_OK : NB_ENOMEM;
}

bool nb_added_deterministic(const nb_registry *kind, int id)
{
    nb_added_lock();
    const entry *e = find(kind, id);
    bool deterministic = e && e->added.deterministic;
    nb_added_unlock();
    return deterministic;
}

bool nb_added_remove(int id)
{
    nb_added_lock();
    entry **at = place_of(id), *e = *at;
    bool found = e;
    if (found) *at = e->next;
    nb_added_unlock();
    free(e);
    return found;
}

const nb_component *nb_added_component(const nb_registry *kind)
{
    const nb_entry *e = kind->entries;
    while (!nb_component_of_caller(e->component)) e++;
    return e->component;
}
