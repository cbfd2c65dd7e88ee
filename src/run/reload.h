/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reload.h - loads an experiment without a command line: from a file, or from the folder of its run. */
#ifndef NB_RELOAD_H
#define NB_RELOAD_H

#include "run/plan.h"

/* Loads the experiment in a run's folder, and its plan. */
nb_status nb_experiment_of_run(const char *run_folder, nb_config *config, nb_plan *plan, nb_ctx *ctx);
/* The same, for computing from its files again: NB_EINVAL if one has changed since the run measured its rows. */
nb_status nb_experiment_again(const char *run_folder, nb_config *config, nb_plan *plan, nb_ctx *ctx);
/* Loads the experiment of a config's file, and its plan. */
nb_status nb_experiment_of_file(const char *path, nb_config *config, nb_plan *plan, nb_ctx *ctx);

#endif
