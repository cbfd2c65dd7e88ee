/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmark_files.h - writes a run's landmarks to files, for others to recompute. */
#ifndef NB_LANDMARK_FILES_H
#define NB_LANDMARK_FILES_H

#include "base/ctx.h"

/* Reads the run's resolved config, makes every instance and picks its landmarks again, bit for bit, and writes into
 * `out`:
 *   instance-I/q.npy, k.npy, v.npy  (n, d) float64
 *   instance-I/P-queries.npy, P-keys.npy  token indices (m) int64, or points (m, d) float64
 *   index.csv: instance, causal, then the columns that name the picks, P, and status and reason
 * Picks that fail are listed with their reason and without P; *failed counts them. Rows that a run skips are left
 * out. */
nb_status nb_export_landmarks(const char *run_folder, const char *out, int *failed, nb_ctx *ctx);

#endif
