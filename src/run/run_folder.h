/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_folder.h - the folder of one run, and its files. What knows a run by its folder alone opens its store here; what
 * has the experiment, as to measure or to merge, by run/store.h. */
#ifndef NB_RUN_FOLDER_H
#define NB_RUN_FOLDER_H

#include "base/ctx.h"
#include "run/plan.h"
#include "run/shard.h"
#include "run/store.h"

#include <stdio.h>

#define NB_STORE_FILE "results.sqlite"
#define NB_CSV_FILE "rows.csv"
#define NB_CONFIG_FILE "resolved.yaml"
#define NB_MANIFEST_FILE "manifest.json"
#define NB_FAILURES_FILE "failures.txt"
#define NB_CLAIMS_FILE "claims.csv"
#define NB_PLOTS_FOLDER "plots"
#define NB_SHARDS_FOLDER "shards" /* holds the runs of shards, I-of-N */

/* Joins folder/name without a double slash. */
nb_status nb_run_path(const char *folder, const char *name, const char **path, nb_ctx *ctx);

/* NB_EINVAL if the path of the folder, which need not exist, is too long for a run. */
nb_status nb_run_check_folder(const char *folder, nb_ctx *ctx);

/* folder/shards/I-of-N */
nb_status nb_run_shard_folder(const char *folder, nb_shard shard, const char **path, nb_ctx *ctx);

/* Lists the shards that have a folder there, by count and then index. */
nb_status nb_run_shards(const char *folder, int *count, nb_shard **shards, nb_ctx *ctx);

bool nb_run_exists(const char *folder, nb_ctx *ctx); /* true if it holds a run; an unfinished store does not count */

/* Returns the first of a folder's folders that holds a run, or "", for the message that the folder holds none. */
const char *nb_run_hint(const char *folder, nb_ctx *ctx);

/* Reads the labels that the folder's config gives to components; NB_EINVAL if one has two, or two have the same. */
nb_status nb_run_labels(const char *folder, const nb_study *study, const nb_given_labels **labels, nb_ctx *ctx);

/* A folder may be anybody's, so none of these functions loads a plug-in that its config names. What a plug-in has that
 * is needed, and is not loaded, is an error that says so. */

/* Opens the store of the run in a folder for reading; NB_EIO if there is none. */
nb_status nb_run_store(const char *folder, nb_store *store, nb_ctx *ctx);

/* The same, and reads the labels that the folder's config gives to components. */
nb_status nb_run_open(const char *folder, nb_store *store, const nb_given_labels **labels, nb_ctx *ctx);

/* Reads all rows of the run in a folder, with these labels; NB_EIO if there is none. */
nb_status nb_run_load(const char *folder, nb_store *store, nb_row_list *rows, nb_ctx *ctx);

/* Reads the baseline; NULL if the folder has no config or the experiment no baseline. */
nb_status nb_run_baseline(const char *folder, const char **canonical, nb_ctx *ctx);

/* Reads the text of a key of its config; NULL if there is no config or no text under the key. */
nb_status nb_run_setting(const char *folder, const char *key, const char **text, nb_ctx *ctx);

/* Reads the figures that its config names, in its order; NULL-terminated. */
nb_status nb_run_plots(const char *folder, const char ***names, nb_ctx *ctx);

/* Reads the claims of its config; none if there is no config, or an older one. */
nb_status nb_run_claims(const char *folder, const nb_study *study, int *count, nb_claim **claims, nb_ctx *ctx);

/* Writes folder/name as nb_write_file does; without `print`, removes the file if it is there. */
nb_status nb_run_write(const char *folder, const char *name,
                       nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what, nb_ctx *ctx);
nb_status nb_run_write_text(const char *folder, const char *name, const char *text, nb_ctx *ctx);

/* Loads the experiment in a run's folder, and its plan. Without `programs`, NB_EINVAL if a problem is a program, which
 * planning would start. */
nb_status nb_experiment_of_run(const char *run_folder, bool programs, nb_config *config, nb_plan *plan, nb_ctx *ctx);
/* The same, for computing from its files again: NB_EINVAL if one has changed since the run measured its rows, and,
 * without `programs`, also if a strategy is a program, or names one, or with `cores` a core. */
nb_status nb_experiment_again(const char *run_folder, bool programs, bool cores, nb_config *config, nb_plan *plan,
                              nb_ctx *ctx);

#endif
