/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measures.h - the measures of one method. All start as NaN: not measured. */
#ifndef NB_MEASURES_H
#define NB_MEASURES_H

typedef struct {
    double error;                 /* |S - F X B|_F / |S|_F */
    double error_subspace;        /* the least that any core reaches, relative to |S|_F */
    double error_core;            /* |Q_F' S Q_B - R_F X R_B'|_F / |S|_F: error^2 = error_subspace^2 + error_core^2 */
    double error_unseen;          /* |S_U - F_U X B|_F / |S_U|_F, U the rows of S that the core has not read */
    double error_unseen_subspace; /* its least over all X, for the rows U */
    double error_unseen_core;     /* error_unseen^2 = error_unseen_subspace^2 + error_unseen_core^2 */
    double error_se;              /* standard error of `error` if rows are sampled */
    double floor_rank;            /* error of the best matrix of rank m */
    double floor_accuracy;        /* floor_rank is too large by at most this */
    double baseline_mean;         /* error of the constant matrix whose entries are S's mean, 1/n if rows sum to 1 */
    double output_error;          /* |(S - F X B) V|_F / |S V|_F */
    double output_error_se;       /* standard error of output_error if rows are sampled */
    double spectral_error;        /* |S - F X B|_2 / |S|_2 */
    double spectral_accuracy;     /* relative accuracy of spectral_error, from the Lanczos iteration */
    double cosine;                /* <S, F X B> / (|S|_F |F X B|_F) */
    double mse;                   /* |S - F X B|_F^2 / n^2 */
    double entropy_difference;    /* |mean row entropy of S - that of F X B|, -sum p ln(p + 1e-9) over p > 0 */
    /* max_i |sum_j (F X B)_ij - 1|, if rows of S sum to 1: 0 for nystromformer with X = A^-1, but not for cur. */
    double rowsum_deviation;
    double negative_fraction;  /* fraction of the n^2 entries of F X B below - error_noise |S| (in double precision) */
    double negative_mass;      /* sum of |negative entries| / n, where a row of S has mass 1 if its rows sum to 1 */
    double core_residual;      /* |I - A X|_F */
    double core_cutoff;        /* relative singular value of A that X inverts by half */
    double landmark_rank;      /* singular values of A above eps m s_1 */
    double landmark_condition; /* s_1 / s_m of A */
    double select_s, core_s;   /* time of the strategy, and of the core with everything that it needs */
    double forward_s;          /* time of the rest of a forward pass with these landmarks and X */
    double exact_s;            /* time of exact attention on the head */
    double flops;              /* of the forward pass: landmarks, factors, X, and the products with V */
    double error_noise;        /* rounding error of the product, of X (nb_x_noise) and of M */
    double error_subspace_noise; /* that of error_subspace (nb_subspace_noise) */
} nb_measures;

/* Costly metrics, which a request asks for. The others come with every row: one product of 2 n^2 m flops a factor pair
 * and O(m^3 + n m) a method. */
enum {
    NB_WANT_OUTPUT = 1 << 0, /* output_error: 2 n^2 d flops a scene, 6 n m d a factor pair */
    /* spectral_error: 10 to 100 passes over S for all methods together, each 4 n^2 flops a method */
    NB_WANT_SPECTRAL = 1 << 1,
    NB_WANT_ENTRIES = 1 << 2, /* negative_*: 2 n^2 m flops a method and a look at n^2 entries */
    NB_WANT_ENTROPY = 1 << 3, /* entropy_difference: the same, with n^2 logarithms */
    NB_WANT_ALL = (1 << 4) - 1
};

void nb_measures_clear(nb_measures *measures);

#endif
