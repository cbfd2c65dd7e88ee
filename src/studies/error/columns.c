/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c - the columns of the error study's rows, in the order of the CSV. */
#include "studies/error/study.h"

#define TEXT(field, ...) NB_COLUMN_TEXT_OF(nb_error_row, field, __VA_ARGS__)
#define REAL(field, ...) NB_COLUMN_MEASURE_OF(nb_error_row, measures, field, __VA_ARGS__)

const nb_column nb_error_columns[] = {
    NB_COLUMN_EXPERIMENT(nb_error_row),
    NB_COLUMN_PROBLEM(nb_error_row),
    NB_COLUMN_HEAD(nb_error_row),
    TEXT(kernel, .identity = true, .help = "the matrix S that is reconstructed, with all options"),
    NB_COLUMN_TRIAL(nb_error_row),
    NB_COLUMNS_OF_HEAD(nb_error_row),
    TEXT(strategy, .identity = true, .help = "how the landmarks were picked, with all options"),
    NB_COLUMN_INT_OF(nb_error_row, landmarks, .identity = true, .help = "m, the number of landmarks"),
    TEXT(pairing, .identity = true,
         .help = "whose points the strategy looked at: independent, queries, keys, joint ([q; k] of "
                 "each token), shared, shared_queries, shared_keys (the same points serve both sides), "
                 "or both (Q and K together); always queries for a kernel of one set of points"),
    TEXT(factors, .identity = true,
         .help = "what F, A, B are: nystromformer (kernel of landmarks), cur (columns and rows of S) "
                 "nocore (F B of nystromformer, no middle) or kernel_ridge (exact rows, interpolated)"),
    TEXT(core, .identity = true, .help = "how X, the middle of F X B, was computed, with all options"),
    TEXT(rows, .identity = true, .help = "rows of S that were measured: all, or sample(k), k random ones"),
    TEXT(engine, .identity = true,
         .help = "how it was measured: streamed (one pass over S for all methods) or direct (S and FXB "
                 "formed)"),
    TEXT(precision, .identity = true, .help = "double, or mixed (single where the result is large enough)"),
    NB_COLUMN_STATUS(nb_error_row),
    NB_COLUMN_REASON(nb_error_row),
    REAL(error, .noise = "error_noise", .se = "error_se", .unseen = "error_unseen", .trivial = "baseline_mean",
         .help = "|S - FXB|_F / |S|_F; if the core keeps rows of S (keep_rows, exact_rows), these replace "
                 "those of FXB, here and in all other measures of FXB"),
    REAL(error_se, .help = "standard error of error, where rows are sampled, by the jackknife; too small where a "
                           "few rows that the sample misses make up the error"),
    REAL(error_subspace, .noise = "error_subspace_noise", .whole = true,
         .help = "the least error that any core reaches with these landmarks, relative to |S|_F"),
    REAL(error_core, .noise = "error_noise", .whole = true,
         .help = "the core's part, relative to |S|_F: error_subspace^2 + error_core^2 = error^2; empty "
                 "where the core keeps rows of S, since the result is then not of the form F X B"),
    REAL(error_unseen, .noise = "error_noise",
         .help = "|S - FXB|_F / |S|_F over the rows of S (the sampled ones, where rows are sampled) "
                 "that neither the core nor, unless it is an oracle, the strategy has looked at; equal "
                 "to error if they looked at none, empty if the core looked at all, as oracles do, or "
                 "keeps fewer rows than the strategy has looked at"),
    REAL(error_unseen_subspace, .noise = "error_subspace_noise", .whole = true,
         .help = "the least error_unseen that any core reaches with these landmarks; if there are fewer such rows "
                 "than landmarks, any F fits them, and only the part outside the rows "
                 "of B is left"),
    REAL(error_unseen_core, .noise = "error_noise", .whole = true,
         .help = "the core's part of error_unseen: error_unseen_subspace^2 + error_unseen_core^2 = "
                 "error_unseen^2"),
    REAL(floor_rank, .whole = true, .help = "error of the best matrix of rank m (Eckart-Young)"),
    REAL(floor_accuracy, .whole = true, .help = "floor_rank is off by at most this"),
    REAL(baseline_mean, .help = "error of the constant matrix that is the mean of S (1/n where rows sum to 1); the "
                                "zero matrix has 1"),
    REAL(output_error, .se = "output_error_se", .wanted = NB_WANT_OUTPUT, .help = "|(S - FXB) V|_F / |S V|_F"),
    REAL(output_error_se, .wanted = NB_WANT_OUTPUT, .help = "standard error of output_error, where rows are sampled"),
    REAL(spectral_error, .whole = true, .wanted = NB_WANT_SPECTRAL,
         .help = "|S - FXB|_2 / |S|_2, largest singular values"),
    REAL(spectral_accuracy, .whole = true, .wanted = NB_WANT_SPECTRAL,
         .help = "spectral_error is within this relative distance of a singular value, in practice the "
                 "largest, apart from error_noise; empty where LAPACK computed it"),
    REAL(cosine, .whole = true, .more = true, .help = "cosine similarity of S and FXB as vectors of n^2 entries"),
    REAL(mse, .help = "mean squared difference of the n^2 entries"),
    REAL(entropy_difference, .whole = true, .wanted = NB_WANT_ENTROPY,
         .help = "difference of the mean row entropies -sum p ln(p + 1e-9) of S and FXB in nats, "
                 "absolute; entries p <= 0 count as 0; empty for a kernel whose rows are not "
                 "distributions"),
    REAL(rowsum_deviation, .whole = true,
         .help = "max over rows of |row sum of FXB - 1|; with nystromformer factors it is 0 for X = A^-1, so it shows "
                 "what X leaves out; with cur it says nothing about X, since rows of F A^-1 B need "
                 "not sum to 1; empty for a kernel whose rows do not"),
    REAL(negative_fraction, .whole = true, .wanted = NB_WANT_ENTRIES,
         .help = "share of the n^2 entries of FXB that are negative by more than rounding: below -eps "
                 "(|F| |X| |B| + |FX| |A| |XB|), Frobenius norms"),
    REAL(negative_mass, .whole = true, .wanted = NB_WANT_ENTRIES,
         .help = "sum of |entries| of FXB that are negative by more than rounding, mean over rows: a "
                 "share of the row where rows of S sum to 1"),
    REAL(core_residual, .help = "|I - A X|_F; empty where there is no A, like core_cutoff, landmark_rank and "
                                "landmark_condition"),
    REAL(core_cutoff, .help = "singular value of A, relative to the largest, that the core inverts by half (in exact "
                              "arithmetic), or the smallest that it inverts; empty if the core does not act "
                              "on each singular value by itself"),
    REAL(landmark_rank, .integer = true, .help = "singular values of A above eps m times the largest"),
    REAL(landmark_condition, .help = "largest over smallest singular value of A"),
    REAL(select_s, .time = true,
         .help = "seconds for the strategy alone, including all that an oracle computes from S"),
    REAL(core_s, .time = true, .help = "seconds for the core alone, including the SVD of A where it is used"),
    REAL(forward_s, .time = true,
         .help =
             "seconds of CPU time for what is neither the strategy nor X in a forward pass of this head with m "
             "landmarks: F, A, B and F (X (B V)), without a mask, timed with the first m queries and keys as "
             "landmarks, of F and B on rows with 2^16 entries each, 64 rows at least, and scaled; select_s + core_s + "
             "forward_s is the time of the method, beside exact_s; empty for cur of a kernel whose rows sum to 1, "
             "and under a mask"),
    REAL(exact_s, .time = true,
         .help = "seconds of CPU time for exact attention on this head: S formed row by row and "
                 "multiplied by V, 2 n^2 d multiplications, half under a mask; timed on rows "
                 "with 2^18 entries and scaled"),
    REAL(flops,
         .help =
             "floating-point operations of a forward pass of this head, 2 for each multiplication: those that the "
             "strategy did, by formula for products, loops and decompositions; 4 n m d for F, B and F (X (B V)), d "
             "also of V, and 2 m^2 d for A and X (B V); X, and n d for each row of S that the core looks at, and for "
             "each that it keeps; beside 4 n^2 d of exact attention. No exponentials, comparisons, random numbers and "
             "masks. Empty where the strategy is an oracle, a plug-in or works elsewhere (command), where the core "
             "does not tell what X takes, and for cur of a kernel whose rows sum to 1, whose F needs all of S"),
    REAL(error_noise, .help =
                          "rounding error to expect in error: eps (|F| |X| |B| + |FX| |A| |XB|) / |S| in "
                          "Frobenius norms, from the product and from X, in the precision in which the core computes "
                          "X; more where X cuts between nearly equal singular values of A or an iteration amplifies "
                          "rounding; plus that of M; 1e-6 of the error where it was measured in single precision"),
    REAL(error_subspace_noise, .whole = true,
         .help =
             "rounding error to expect in error_subspace: eps (|F| |F^+ S P| + |P' S B^+| |B|) / |S| in Frobenius "
             "norms, P and P' the projectors onto the ranges of B' and F, from the directions that rounding F and B "
             "turns; with n eps for eps where F or B has singular values below that; plus that of M; 1e-6 of "
             "error_subspace where it was measured in single precision"),
    NB_COLUMN_SEED_OF(nb_error_row),
    {.name = NULL}};
