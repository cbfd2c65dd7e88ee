/* SPDX-License-Identifier: GPL-3.0-or-later */
/* run_folder.h - the folder of one run, and what lies in it. */
#ifndef NB_RUN_FOLDER_H
#define NB_RUN_FOLDER_H

#include "base/ctx.h"
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
#define NB_SHARDS_FOLDER "shards" /* of folders of runs, I-of-N */

/* folder/name, without a second slash. */
nb_status nb_run_path(const char *folder, const char *name, const char **path, nb_ctx *ctx);

/* NB_EINVAL if the folder, which need not exist, has too long a path for a run. */
nb_status nb_run_check_folder(const char *folder, nb_ctx *ctx);

/* folder/shards/I-of-N */
nb_status nb_run_shard_folder(const char *folder, nb_shard shard, const char **path, nb_ctx *ctx);

/* The shards that have a folder there, by count and then index, and which they are. */
nb_status nb_run_shards(const char *folder, int *count, nb_shard **shards, nb_ctx *ctx);

bool nb_run_exists(const char *folder, nb_ctx *ctx); /* whether it holds a run; an unfinished store does not count */

/* For the message that a folder holds no run: the first of its folders that holds one, or "". */
const char *nb_run_hint(const char *folder, nb_ctx *ctx);

/* The study of the run in a folder is known after it: if need be from the plug-ins that its config names. */
nb_status nb_run_load_study(const char *folder, nb_ctx *ctx);

/* The labels that the folder's config gives to components; NB_EINVAL where one has two, or two have one. */
nb_status nb_run_labels(const char *folder, const nb_study *study, const nb_given_labels **labels, nb_ctx *ctx);

/* All rows of the run in a folder, with these labels; NB_EIO if it holds none. */
nb_status nb_run_load(const char *folder, nb_store *store, nb_row_list *rows, nb_ctx *ctx);

/* What the others are compared with; NULL if the folder has no config, or nothing is compared. */
nb_status nb_run_baseline(const char *folder, const char **canonical, nb_ctx *ctx);

/* The text of a key of its config; NULL if the folder has no config, it lacks the key, or has no text there. */
nb_status nb_run_setting(const char *folder, const char *key, const char **text, nb_ctx *ctx);

/* The figures that its config names, in its order; NULL-terminated. */
nb_status nb_run_plots(const char *folder, const char ***names, nb_ctx *ctx);

/* The claims of its config, whose plug-ins are loaded; none if the folder has no config, or an older one. */
nb_status nb_run_claims(const char *folder, const nb_study *study, int *count, nb_claim **claims, nb_ctx *ctx);

/* Writes folder/name; see nb_write_file. */
nb_status nb_run_write(const char *folder, const char *name,
                       nb_status (*print)(FILE *out, const void *what, nb_ctx *ctx), const void *what, nb_ctx *ctx);
nb_status nb_run_write_text(const char *folder, const char *name, const char *text, nb_ctx *ctx);

#endif
