/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nystrom.c - attention from landmarks, F (X (B V)), with any strategy and any core: layers/landmark_pass.h. */
#include "attentions/attention.h"

#include "layers/landmark_pass.h"

static const nb_option options[] = {NB_LANDMARK_OPTIONS("segment_means", "64", "iterative", "own", "1"), NB_OPTION_END};

static const char *const references[] = {
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902",
    "Williams & Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000", NULL};

const nb_attention nb_attention_nystrom = {
    .component = {"nystrom", "attention from landmarks, F (X (B V))", references, options, sizeof(nb_landmark_options)},
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
        "Nystromformer is nystrom(strategy=segment_means, core=iterative(steps=6, start=batch)): its code divides the\n"
        "start of the iteration by the largest column sum over all heads and inputs of a batch, so an output depends\n"
        "on its batch; start=paper and start=exact do so head by head.\n"
        "Landmarks and X are computed in double precision, all else in single. core=fitted needs no X.",
};
