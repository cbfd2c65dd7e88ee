/* SPDX-License-Identifier: GPL-3.0-or-later */
/* product.h - which scenes and methods a block of an experiment holds. */
#ifndef NB_PRODUCT_H
#define NB_PRODUCT_H

#include "run/plan.h"

/* scene NULL: whether it holds the method with any. */
bool nb_block_holds(const nb_config *config, const nb_config_block *block, const nb_planned_scene *scene,
                    const nb_method *method);

#endif
