/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c - the columns of the coherence study's rows, in the order of the CSV. */
#include "studies/coherence/study.h"

#define TEXT(field, ...) NB_COLUMN_TEXT_OF(nb_coherence_row, field, __VA_ARGS__)
#define REAL(field, ...) NB_COLUMN_MEASURE_OF(nb_coherence_row, measures, field, __VA_ARGS__)
#define YES(field, ...) REAL(field, .integer = true, __VA_ARGS__)

const nb_column nb_coherence_columns[] = {
    NB_COLUMN_EXPERIMENT(nb_coherence_row),
    NB_COLUMN_PROBLEM(nb_coherence_row),
    NB_COLUMN_HEAD(nb_coherence_row),
    TEXT(side, .identity = true, .help = "whose points Q stands for here: queries or keys"),
    NB_COLUMN_TRIAL(nb_coherence_row),
    NB_COLUMNS_OF_HEAD(nb_coherence_row),
    NB_COLUMN_INT_OF(nb_coherence_row, clusters, .identity = true,
                     .help = "k: the clusters that the partition is asked for, and the singular vectors that leverage "
                             "is of"),
    TEXT(partition, .identity = true, .help = "how the tokens were divided into clusters, with all options"),
    NB_COLUMN_OF(nb_coherence_row, tau, NB_COLUMN_REAL, .identity = true,
                 .help =
                     "a cluster's local rank is the number of its singular values above tau times the largest of Q"),
    NB_COLUMN_STATUS(nb_coherence_row),
    NB_COLUMN_REASON(nb_coherence_row),
    REAL(mu, .help = "coherence: n/k times the largest leverage score, from 1 to n/k; the leverage l_i of a token is "
                     "the squared length of its row of U, the first k left singular vectors of Q"),
    REAL(mu_block,
         .help = "block-coherence: the largest, over clusters, of size / local rank times the largest leverage score; "
                 "infinite where a cluster has local rank 0, as the definition has it"),
    REAL(mu_block_finite, .help = "the same without the clusters of local rank 0; empty where all are"),
    YES(rankless_clusters, .help = "clusters of local rank 0"),
    REAL(alpha_over_mu, .help = "mu_block / mu: the paper's alpha / mu, with the least alpha"),
    REAL(reduction, .more = true, .help = "1 - mu_block / mu; -inf where mu_block is infinite"),
    REAL(local_rank_mean, .help = "mean local rank of the clusters"),
    YES(local_rank_least, .help = "least local rank of the clusters"),
    YES(largest_cluster, .help = "tokens of the largest cluster"),
    YES(lemma1_sizes, .help = "1 where no cluster has more than 2n/k tokens, the first condition of Lemma 1"),
    YES(lemma1_mean_rank, .help = "1 where local_rank_mean is at least k/2, its second condition as stated"),
    YES(lemma1_least_rank, .help = "1 where local_rank_least is at least k/2, the condition that its proof uses"),
    YES(lemma1, .help =
                    "1 where the inequality (4) of Lemma 1 holds for alpha = mu_block, the partition at hand taken for "
                    "the best: mu_block <= 4 alpha/k mu, which then says mu >= k/4, whatever the partition; empty "
                    "where mu_block is infinite"),
    YES(lemma1_proof, .help = "1 where the inequality (9) holds, at which its proof arrives: mu_block <= 4/k mu"),
    REAL(leverage_at_centroids,
         .help = "sum of the leverage scores of the tokens nearest to the means of the clusters, each another one"),
    REAL(leverage_of_maxima, .help = "sum over the clusters of the largest leverage score"),
    REAL(leverage_at_random, .help = "what as many tokens as there are clusters have together in the mean, drawn "
                                     "uniformly: k/n each"),
    REAL(spectral_gap, .help = "s_k / s_1, singular values of Q"),
    REAL(bound_leverage, .help =
                             "what Theorem 1 bounds leverage_at_centroids by from below, with gamma = 1 and without "
                             "its last term: spectral_gap^2 / 2 times leverage_of_maxima"),
    REAL(best_rank2, .help = "|K - K_k|_F^2 / |K|_F^2 for K = QQ' and its best approximation of rank k"),
    REAL(error_geometric2, .help =
                               "the same for the Nystrom approximation of K from the tokens nearest to the means of "
                               "the clusters, with an exact inverse"),
    REAL(bound_geometric,
         .help =
             "what Theorem 2 bounds error_geometric2 by, with gamma = 1, its best case, and alpha = mu_block: "
             "(|K - K_k|^2 + 32 alpha s_1^2/s_k^2 (s_{k+1}^2 + ... )) / |K|^2. The units are wrong: the second term "
             "has s^2 where the first has s^4, so half of Q has 4 times the second. Above 1 it says nothing: 0 has "
             "error 1"),
    REAL(error_uniform2, .help =
                             "the same error from k tokens drawn uniformly, mean over 10 draws: the same in all rows "
                             "of a head, trial and k"),
    REAL(bound_uniform, .help = "what Theorem 2 bounds error_uniform2 by: (|K - K_k|^2 + 4 mu/k (s_{k+1}^2 + ... )) / "
                                "|K|^2, with the same wrong units"),
    REAL(divide_s, .time = true, .help = "seconds for the partition"),
    NB_COLUMN_SEED_OF(nb_coherence_row),
    {.name = NULL}};
