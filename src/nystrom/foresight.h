/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foresight.h - what whoever makes a scene knows of the questions to come. To be said
 * before the first of them. */
#ifndef NB_FORESIGHT_H
#define NB_FORESIGHT_H

#include "nystrom/scene.h"

/* S is formed, also where the kernel gives factors of it. */
void nb_scene_form_whole(nb_scene *scene);

/* What to take along in the first pass over S; anything else costs a pass of its own. */
enum { NB_SCENE_OUTPUT = 1 << 0, NB_SCENE_ENTROPY = 1 << 1 };
void nb_scene_take_along(nb_scene *scene, unsigned what);

#endif
