/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.h - checks that a plug-in has changed neither the process's surroundings nor the memory that it is given to
 * read. Components of the tree are not checked, and cost nothing. */
#ifndef NB_GUARD_H
#define NB_GUARD_H

#include "base/surroundings.h"
#include "components/component.h"
#include "nystrom/factors.h"
#include "nystrom/scene.h"
#include "nystrom/watch.h"

enum { NB_GUARD_SPANS = 128 }; /* a scene has about 20, and 6 for each set of singular triplets */

typedef struct {
    const char *name;
    const void *bytes;
    size_t count;
    uint64_t sum;
} nb_span;

typedef struct {
    nb_watch watch; /* must be first; called when the scene or the factors store more meanwhile */
    bool on;        /* the component is a plug-in's */
    const char *name;
    const nb_component *outer; /* the enclosing guarded call's component */
    nb_scene *scene;
    nb_factors *factors;
    nb_surroundings before;
    int count;
    bool full; /* there was no room in `spans` for everything */
    nb_span spans[NB_GUARD_SPANS];
    void *closed; /* pages made read-only for now; NULL: none */
    size_t closed_bytes;
} nb_guard;

/* Call before the component: records the scene and the factors, which must not change until nb_guard_end. Either may be
 * NULL. A large S is made read-only instead, so writing to it raises SIGSEGV. */
void nb_guard_begin(nb_guard *guard, const nb_choice *component, nb_scene *scene, nb_factors *factors);

/* The same for any component, also of the tree. */
void nb_guard_start(nb_guard *guard, const nb_choice *component, nb_scene *scene, nb_factors *factors);

/* Adds memory that must not change, with its name for an error message. */
void nb_guard_add(nb_guard *guard, const char *name, const void *bytes, size_t count);

/* Returns the component between nb_guard_begin and nb_guard_end, in any thread; NULL: none is guarded. */
const nb_component *nb_guard_inside(void);

/* Call after the component with its `status`. Returns that, with an error that names the component if it gave none; or
 * NB_EBUG with "changed ..." in place of its error, and then the ctx is spoilt (ctx.h). */
nb_status nb_guard_end(nb_guard *guard, nb_status status, nb_ctx *ctx);

#endif
