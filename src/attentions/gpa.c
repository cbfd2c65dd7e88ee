/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpa.c - Geometric Progressive Attention: attention from the log2(n) tokens nearest to k-means centroids of the
 * queries, which are kept for many passes. Passes are those of `nystrom` (layers/landmark_pass.h). */
#include "attentions/attention.h"

#include "layers/landmark_pass.h"

static const nb_option options[] = {
    NB_LANDMARK_OPTIONS("kmeans(iterations=10, snap=nearest)", "log2", "iterative", "queries", "50"), NB_OPTION_END};

static const char *const references[] = {
    "On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX",
    NULL};

const nb_attention nb_attention_gpa = {
    .component = {"gpa", "Geometric Progressive Attention: few geometric landmarks, kept for many passes", references,
                  options, sizeof(nb_landmark_options)},
    .traits_of = nb_landmark_traits,
    .size = "landmarks",
    .size_of = nb_landmark_size,
    .passes_per_choice = nb_landmark_passes_per_choice,
    .check = nb_landmark_check,
    .refusal = nb_landmark_refusal,
    .cost = nb_landmark_cost,
    .open = nb_landmark_open,
    .forward = nb_landmark_forward,
    .explanation =
        "The paper says: k = floor(log2 n) landmarks, the tokens nearest to the centroids of a k-means of the queries\n"
        "(Lloyd, at most 10 iterations), a Nystrom factorization with a pseudo-inverse, landmarks recomputed every 50\n"
        "passes in training and cached in inference. It leaves open, and is read here as:\n"
        "  - which keys are landmarks: those of the same tokens (pairing=queries)\n"
        "  - the factors of the softmax matrix: Nystromformer's (factors=nystromformer)\n"
        "  - the pseudo-inverse: Nystromformer's six steps (core=iterative), which is in its favour: to invert\n"
        "    all singular values (core=svd(rcond=machine)) may amplify small ones beyond use\n"
        "  - what is cached from one input for the next: where the landmarks are (keep=points); keep=tokens keeps\n"
        "    which tokens they are\n"
        "  - what `progressive` means: nothing in the paper says.\n"
        "GPA-Fresh is refresh=1.",
};
