/* SPDX-License-Identifier: GPL-3.0-or-later */
/* project.h - M = Q_F' S Q_B and the subspace part of all pairs by one product a stripe. */
#ifndef NB_PROJECT_H
#define NB_PROJECT_H

#include "nystrom/batch.h"

/* Of all views, in this precision where S has no factors. */
nb_status nb_batch_project(nb_batch *batch, nb_precision precision, nb_ctx *ctx);

/* Once more, in double, for the views that are `todo`. */
nb_status nb_batch_project_again(nb_batch *batch, nb_ctx *ctx);

#endif
