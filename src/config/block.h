/* SPDX-License-Identifier: GPL-3.0-or-later */
/* block.h - which scenes and cells a block of an experiment holds. */
#ifndef NB_BLOCK_H
#define NB_BLOCK_H

#include "run/plan.h"

/* Factors without a middle have the one core that is the identity, all others the others. */
bool nb_core_fits(nb_factors_kind factors, const nb_choice *core);

/* The pairing that a config's word stands for with this strategy. */
nb_pairing nb_pairing_named(const char *name, const nb_choice *strategy);

/* scene NULL: whether it holds the cell with any. */
bool nb_config_block_holds(const nb_config *config, const nb_config_block *block, const nb_planned_scene *scene,
                           const nb_cell *cell);

#endif
