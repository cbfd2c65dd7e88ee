/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given_picks.h - reads picks from arrays of the caller's; `name` is the array's for messages. */
#ifndef NB_GIVEN_PICKS_H
#define NB_GIVEN_PICKS_H

#include "nystrom/picks.h"

/* m of n tokens. NB_EINVAL if they break the rules of picks.h. */
nb_status nb_given_tokens(const char *name, int m, int n, const int64_t *from, nb_picks *picks, nb_ctx *ctx);

/* The groups of n tokens, likewise. */
nb_status nb_given_groups(const char *name, int m, int n, const int64_t *from, nb_picks *picks, nb_ctx *ctx);

/* m x d by rows. NB_ENUMERIC if one is not finite. */
nb_status nb_given_points(const char *name, int m, int d, const double *from, nb_picks *picks, nb_ctx *ctx);

#endif
