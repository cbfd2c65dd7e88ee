/* SPDX-License-Identifier: GPL-3.0-or-later */
/* added.h - functions that a program which uses the library has added to this process, in the place of components: the
 * component `callback` of their kind calls them. Any thread may call these. */
#ifndef NB_ADDED_H
#define NB_ADDED_H

#include "components/component.h"

typedef void nb_any_function(void);

typedef struct {
    int id; /* from 1; never used again */
    const nb_registry *kind;
    const char *name; /* its random draws depend on it */
    bool deterministic;
    nb_any_function *act;      /* what the component calls, of the type that its kind's callback.h has */
    nb_any_function *function; /* the program's, for `act` */
    void *user;                /* for `function` */
} nb_added;

/* Adds a function with a copy of its name. *id: its number. */
nb_status nb_added_put(const nb_added *added, int *id, nb_ctx *ctx);

/* NB_EINVAL if there is none of that kind and number; ctx owns the name. */
nb_status nb_added_find(const nb_registry *kind, int id, nb_added *added, nb_ctx *ctx);

/* True if there is one that is deterministic. */
bool nb_added_deterministic(const nb_registry *kind, int id);

/* False if there is none of that number, of any kind. */
bool nb_added_remove(int id);

/* Returns the component of a kind that calls such functions. */
const nb_component *nb_added_component(const nb_registry *kind);

/* Call these before a fork, and after it in both processes. */
void nb_added_lock(void);
void nb_added_unlock(void);

/* The options of a component that calls such a function. */
typedef struct {
    int id;
} nb_added_options;
#define NB_ADDED_OPTIONS \
    NB_OPTION_FIELD(nb_added_options, id, NB_OPTION_INT, int, NULL, "the number of the function", .lo = 1, \
                    .hi = INT_MAX, .of_caller = true), \
        NB_OPTION_END

#endif
