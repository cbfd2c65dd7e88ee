/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reload.h - an experiment without a command line: from a file, or from the folder of its run. */
#ifndef NB_RELOAD_H
#define NB_RELOAD_H

#include "run/plan.h"

/* The experiment that a run's folder holds, and its plan. */
nb_status nb_experiment_of_run(const char *run_folder, nb_config *config, nb_plan *plan, nb_ctx *ctx);
/* The same for what is to be made from its files again: NB_EINVAL where one of them holds something else
 * than when the run's rows were measured on it. */
nb_status nb_experiment_again(const char *run_folder, nb_config *config, nb_plan *plan, nb_ctx *ctx);
/* The experiment of a config's file, and its plan. */
nb_status nb_experiment_of_file(const char *path, nb_config *config, nb_plan *plan, nb_ctx *ctx);

#endif
