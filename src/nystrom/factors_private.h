/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factors_private.h - the factors from inside: for the library alone. */
#ifndef NB_FACTORS_PRIVATE_H
#define NB_FACTORS_PRIVATE_H

#include "nystrom/factors.h"
#include "nystrom/interpolation.h"
#include "nystrom/watch.h"

typedef struct {           /* what a core has said of its X; texts are the factors' ctx's */
    double cutoff;         /* NaN: it acts on no singular value alone */
    const char *diverged;  /* why X is not finite; NULL: nothing is known */
    double residual_limit; /* infinity: none */
    nb_rounding rounding;
} nb_notes;

struct nb_factors {
    int m;
    double *a;                      /* A, m x m */
    bool no_middle;                 /* A and X are I, in place of none: there is nothing to tell of them */
    nb_interpolation interpolation; /* of kernel_ridge; else no bias and no noise */

    nb_ctx *ctx;     /* owns what is cached */
    double reused_s; /* seconds to add to a core's time, for what was computed already, less what only `notes` needed */
    nb_notes notes;
    bool unremarked;  /* nobody asks for the cut-off, so no SVD is made for it */
    double batch_one; /* the largest |A|_1 of the heads that are computed together; 0: there is this one */
    int seen;         /* rows of S that were asked for since nb_factors_begin */
    bool keep_rows;   /* those rows are returned exactly, and F X B elsewhere */

    /* Set by the engine, see exact_rows.h; without it there is only A. */
    int n; /* tokens */
    const nb_ranges *ranges;
    nb_status (*make_rows)(const nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx);
    const void *offer;

    /* Kept for all cores. */
    nb_factors_spectrum spectrum;
    double svd_s;
    double norm_one, norm_infinity;
    nb_exact_rows rows;
    double rows_s;
    struct nb_iterate *iterates;
    nb_watch *watch; /* is told what is kept from now on, or NULL */
};

/* Why a row has diverged whose |I - A X|_F is above its residual_limit. */
extern const char nb_diverged_by_rounding[];

/* Before a core is called: clears what was noted, reused and seen. */
void nb_factors_begin(nb_factors *factors);

#endif
