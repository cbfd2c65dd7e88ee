/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guard.h - checks that a plug-in has changed nothing it should not: the process's surroundings, and the memory that
 * it is given to read. Components of the tree are not checked, and cost nothing. */
#ifndef NB_GUARD_H
#define NB_GUARD_H

#include "base/surroundings.h"
#include "components/component.h"
#include "nystrom/factors.h"
#include "nystrom/scene.h"
#include "nystrom/watch.h"

enum { NB_GUARD_SPANS = 128 }; /* a scene has some 20, and 6 for each set of singular triplets */

typedef struct {
    const char *name;
    const void *bytes;
    size_t count;
    uint64_t sum;
} nb_span;

typedef struct {
    nb_watch watch; /* first: of the scene or the factors, which tell what they keep meanwhile */
    bool on;        /* the component is from outside */
    const char *name;
    const nb_component *outer; /* what is called already */
    nb_scene *scene;
    nb_factors *factors;
    nb_surroundings before;
    int count;
    bool full; /* more than `spans` can hold was to be looked at */
    nb_span spans[NB_GUARD_SPANS];
    void *closed; /* pages that may not be written to for now; NULL: none */
    size_t closed_bytes;
} nb_guard;

/* Before a call of the component; what there is of the scene and the factors must be the same after it. Either may
 * be NULL. A large S is made read-only instead: writing to it is a SIGSEGV. */
void nb_guard_begin(nb_guard *guard, const nb_choice *component, nb_scene *scene, nb_factors *factors);

/* The same for whatever component. */
void nb_guard_start(nb_guard *guard, const nb_choice *component, nb_scene *scene, nb_factors *factors);

/* More that must be the same after it, under the name that an error gives it. */
void nb_guard_add(nb_guard *guard, const char *name, const void *bytes, size_t count);

/* The component that is between a guard's begin and its end, in whatever thread; NULL: none that is guarded. */
const nb_component *nb_guard_inside(void);

/* After it: `status`, the call's, with an error that names the component if it gave none; or NB_EBUG with
 * "changed ..." in place of its error, and then the ctx is spoilt (ctx.h). */
nb_status nb_guard_end(nb_guard *guard, nb_status status, nb_ctx *ctx);

#endif
