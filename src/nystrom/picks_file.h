/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picks_file.h - reads and writes landmarks as .npy files: integers of shape (m,) are tokens, floats of shape (m, d)
 * are points. */
#ifndef NB_PICKS_FILE_H
#define NB_PICKS_FILE_H

#include "nystrom/picks.h"

/* Writes tokens as int64, the means of groups and points as float64. x (d x n): the points that were picked from; "-"
 * is standard output. */
nb_status nb_picks_save(const char *path, const nb_picks *picks, int d, int n, const double *x, nb_ctx *ctx);

/* Reads m landmarks of n tokens (m = 0: as many as there are) into picks, whose ctx is set; "-" is standard input. d =
 * 0: only tokens that serve both sides, no points. NB_EIO or NB_EINVAL, with the file's name, if they break the rules
 * of picks.h. */
nb_status nb_picks_load(const char *path, int m, int d, int n, nb_picks *picks, nb_ctx *ctx);

/* Reads groups: integers of shape (n,), the group of each token, from 0 to m - 1. */
nb_status nb_picks_load_groups(const char *path, int m, int n, nb_picks *picks, nb_ctx *ctx);

/* Reads the landmarks of both sides, the queries' first; they must agree in number and kind. second = NULL: the first
 * file's tokens serve both sides, which then share their arrays. */
nb_status nb_picks_load_sides(const char *first, const char *second, int m, int d, int n, nb_picks *of_queries,
                              nb_picks *of_keys, nb_ctx *ctx);

#endif
