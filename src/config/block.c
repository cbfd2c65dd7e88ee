/* SPDX-License-Identifier: GPL-3.0-or-later */
/* block.c - a block holds what stands on one line of each of its groups: a group
 * is the lists that advance together, mostly one alone. */
#include "config/block.h"

#include "cores/core.h"

#include <string.h>

bool nb_core_fits(nb_factors_kind factors, const nb_choice *core)
{
    bool identity = ((const nb_core *)core->component)->traits & NB_CORE_IDENTITY;
    return identity == (factors == NB_NOCORE);
}

/* A strategy that picks for both sides at once has no other pairing. */
nb_pairing nb_pairing_named(const char *name, const nb_choice *strategy)
{
    if (!((const nb_strategy *)strategy->component)->pick) return NB_BOTH;
    for (int i = 0; nb_pairing_names[i]; i++)
        if (strcmp(nb_pairing_names[i], name) == 0) return (nb_pairing)i;
    return ((const nb_strategy *)strategy->component)->pairing; /* "default": the config has checked the rest */
}

/* Two specs may give the same head: a file's heads, and its head 0. */
static bool same_problem(const nb_config *c, int index, const nb_planned_scene *scene)
{
    const nb_choice *problem = &c->problems.items[index];
    int head = scene->head - c->shapes[index].first;
    return head >= 0 && head < c->shapes[index].count &&
           (problem == scene->problem || strcmp(problem->canonical, scene->problem->canonical) == 0);
}

static bool same_pairing(const nb_config *c, int index, const nb_planned_scene *scene, const nb_cell *cell)
{
    nb_pairing named = nb_pairing_named(c->pairings[index], cell->strategy);
    if (!scene) return named == cell->pairing;
    return nb_pairing_under(scene->kernel, cell->strategy, named) ==
           nb_pairing_under(scene->kernel, cell->strategy, cell->pairing);
}

static bool matches(const nb_config *c, nb_axis axis, int index, const nb_planned_scene *scene, const nb_cell *cell)
{
    switch (axis) {
    case NB_AXIS_PROBLEM: return !scene || same_problem(c, index, scene);
    case NB_AXIS_KERNEL: return !scene || scene->kernel == &c->kernels.items[index];
    case NB_AXIS_STRATEGY: return cell->strategy == &c->strategies.items[index];
    case NB_AXIS_PAIRING: return same_pairing(c, index, scene, cell);
    case NB_AXIS_LANDMARKS: return cell->m == c->landmarks[index];
    case NB_AXIS_FACTORS: return strcmp(nb_factors_names[cell->factors], c->factors[index]) == 0;
    case NB_AXIS_CORE:
        return cell->factors == NB_NOCORE ||
               cell->core == &c->cores.items[index]; /* the identity, whatever is listed */
    case NB_AXES: break;
    }
    return false;
}

/* Whether the list stands alone and no other block has another one, so that there
 * is nothing to look for. */
static bool holds_all(const nb_config *c, const nb_config_block *b, nb_axis first)
{
    for (nb_axis axis = first + 1; axis < NB_AXES; axis++)
        if (b->group[axis] == first) return false;
    return c->block_count == 1;
}

static bool group_holds(const nb_config *c, const nb_config_block *b, nb_axis first, const nb_planned_scene *scene,
                        const nb_cell *cell)
{
    for (int i = 0; i < b->count[first]; i++) {
        bool all = true;
        for (nb_axis axis = first; axis < NB_AXES && all; axis++)
            if (b->group[axis] == first) all = matches(c, axis, b->values[axis][i], scene, cell);
        if (all) return true;
    }
    return false;
}

bool nb_config_block_holds(const nb_config *config, const nb_config_block *block, const nb_planned_scene *scene,
                           const nb_cell *cell)
{
    for (nb_axis axis = NB_AXIS_PROBLEM; axis < NB_AXES; axis++)
        if (block->group[axis] == axis && !holds_all(config, block, axis) &&
            !group_holds(config, block, axis, scene, cell))
            return false;
    return true;
}
