/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factors_record.h - the struct behind nb_factors, for the library alone. */
#ifndef NB_FACTORS_RECORD_H
#define NB_FACTORS_RECORD_H

#include "base/random.h"
#include "nystrom/factors.h"
#include "nystrom/interpolation.h"

typedef struct {           /* a core's remarks on its X; the factors' ctx owns the texts */
    double cutoff;         /* NaN: X does not act on single singular values */
    const char *diverged;  /* why X is not finite; NULL: unknown */
    double residual_limit; /* infinity: none */
    nb_rounding rounding;
} nb_notes;

struct nb_factors {
    int m;
    double *a;                      /* A, m x m */
    bool no_middle;                 /* there is no middle: A and X stand as I, and have no measures */
    nb_interpolation interpolation; /* for kernel_ridge; else without bias and noise */

    nb_ctx *ctx;      /* owns what is cached */
    nb_stream stream; /* of the core that computes X; component NULL: there is none */
    double reused_s;  /* seconds to add to a core's time for cached results, less those that are none of its work */
    nb_notes notes;
    bool unremarked;  /* the cut-off is not wanted, so no SVD is computed for it */
    double batch_one; /* largest |A|_1 of the heads computed together; 0: this head alone */
    int seen;         /* rows of S read since nb_factors_begin */
    bool keep_rows;   /* those rows are returned exactly, with F X B elsewhere */

    /* Set by the engine (exact_rows.h); without it there is only A. */
    int n; /* tokens */
    const nb_ranges *ranges;
    nb_status (*make_rows)(const nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx);
    nb_status (*form)(const nb_factors *factors, nb_outer_factors *outer, nb_ctx *ctx);
    const char *no_form; /* why F and B are not formed; NULL: they can be */
    const void *offer;

    /* Cached for all cores. */
    nb_factors_spectrum spectrum;
    double svd_s;
    double norm_one, norm_infinity;
    nb_exact_rows rows;
    double rows_s;
    struct nb_iterate *iterates;
};

/* The reason of a row that diverged since |I - A X|_F is above residual_limit. */
extern const char nb_diverged_by_rounding[];

/* Call before a core: clears what was noted, reused and read. */
void nb_factors_begin(nb_factors *factors);

#endif
