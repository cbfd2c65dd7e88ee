/* SPDX-License-Identifier: GPL-3.0-or-later */
/* project.h - computes M = Q_F' S Q_B and the subspace part of all pairs by one product a stripe. */
#ifndef NB_PROJECT_H
#define NB_PROJECT_H

#include "nystrom/batch.h"

/* Projects all views; `precision` applies unless S has factors. */
nb_status nb_batch_project(nb_batch *batch, nb_precision precision, nb_ctx *ctx);

/* Projects the views that are `todo` again, in double. */
nb_status nb_batch_project_again(nb_batch *batch, nb_ctx *ctx);

#endif
