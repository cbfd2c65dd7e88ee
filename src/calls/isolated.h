/* SPDX-License-Identifier: GPL-3.0-or-later */
/* isolated.h - calls of strategies and cores. Where the context isolates (ctx.h), a call that is a plug-in's, or that
 * leads to one through an option, runs in a child process: whatever it does is done to a copy, and only what it returns
 * comes back. */
#ifndef NB_ISOLATED_H
#define NB_ISOLATED_H

#include "base/apart.h"
#include "components/component.h"
#include "nystrom/scene.h"

typedef struct {
    const nb_choice *of;
    const char *doing; /* "the core", for messages */
    nb_scene *scene;   /* what it may ask; NULL: nothing */
    void *self;
    nb_status (*act)(void *self, nb_ctx *ctx);   /* makes the call */
    void (*move)(void *self, nb_parcel *parcel); /* what act sets in `self` */
    size_t bytes;                                /* of the arrays that `move` moves, at most */
} nb_isolated;

/* Returns the status of act; NB_ECRASHED or NB_ELATE if the child did not come back. A child that may have been killed
 * from outside is tried once more. What it has asked of the scene at great cost is computed here before the next one,
 * so that it is computed twice at most. */
nb_status nb_isolated_call(const nb_isolated *call, nb_ctx *ctx);

#endif
