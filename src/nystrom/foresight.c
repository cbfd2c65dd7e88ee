/* SPDX-License-Identifier: GPL-3.0-or-later */
/* foresight.c - told to the scene. */
#include "nystrom/foresight.h"

#include "nystrom/scene_private.h"

void nb_scene_form_whole(nb_scene *scene)
{
    scene->factors.rank = 0;
}

void nb_scene_take_along(nb_scene *scene, unsigned what)
{
    scene->along |= what;
}
