/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c - the columns of the effect study's rows, in the order of the CSV. */
#include "studies/effect/study.h"

#include "studies/exact_output.h"

#define TEXT(field, ...) NB_COLUMN_TEXT_OF(nb_effect_row, field, __VA_ARGS__)
#define TOLD(field, ...) NB_COLUMN_MEASURE_OF(nb_effect_row, result.told, field, __VA_ARGS__)
#define EXACT .exact = NB_EXACT_OUTPUT
#define LOCAL(field, ...) NB_COLUMN_MEASURE_OF(nb_effect_row, result.local, field, __VA_ARGS__)
#define ERROR(field, ...) LOCAL(field, .wanted = NB_EFFECT_WANT_ERROR, __VA_ARGS__)

const nb_column nb_effect_columns[] = {
    NB_COLUMN_EXPERIMENT(nb_effect_row),
    NB_COLUMN_PROBLEM(nb_effect_row),
    NB_COLUMN_INT_OF(nb_effect_row, head, .identity = true,
                     .help =
                         "number of the first head of these layers for this source, among the problem's heads, from 0"),
    TEXT(attention, .identity = true, .help = "what the attention of the layers is replaced by, with all options"),
    NB_COLUMN_TRIAL(nb_effect_row),
    TEXT(strategy, .help = "how its landmarks are picked; empty: it has no F, X, B"),
    TEXT(core, .help = "how X is computed; empty: it has no F, X, B"),
    NB_COLUMN_INT_OF(nb_effect_row, landmarks,
                     .help = "landmarks, features or clusters that stand for the rest; 0: none"),
    NB_COLUMN_INT_OF(nb_effect_row, heads, .help = "heads of these layers together"),
    NB_COLUMN_N(nb_effect_row),
    NB_COLUMN_D(nb_effect_row),
    TEXT(model, .help = "the model, as its program names it"),
    TEXT(layer, .help = "the layers whose attention is replaced: all, half (every other one from 0 on), or the number "
                        "of one"),
    TEXT(source, .help = "the text, image or recording that the model is given, as its program names it"),
    NB_COLUMN_STATUS(nb_effect_row),
    NB_COLUMN_REASON(nb_effect_row),
    TOLD(model_error, EXACT, .help = "|H - H_exact|_F / |H_exact|_F, H the model's last hidden states"),
    TOLD(embedding_distance, EXACT,
         .help = "1 - cosine of the source's embedding with its exact one; empty where the model "
                 "makes none"),
    TOLD(rank_agreement, .more = true,
         .help = "Spearman's correlation, over the corpus, between the similarities to the new and to "
                 "the exact embedding; empty where there is no corpus"),
    TOLD(top10_overlap, .more = true,
         .help = "of the ten corpus documents nearest to the exact embedding, the share also among the "
                 "ten nearest to the new one; empty where there is no corpus"),
    TOLD(perplexity_ratio, .help = "perplexity of the source over the exact one; empty where the model predicts no "
                                   "tokens"),
    TOLD(kl, EXACT,
         .help = "mean over tokens of the Kullback-Leibler divergence of the prediction of the next token from the "
                 "exact one, in nats; empty where the model predicts no tokens"),
    TOLD(task_error, .help =
                         "share of what the model's task asks for that it gets wrong, such as words of a transcript; "
                         "empty where it has no task"),
    TOLD(layer_error, EXACT,
         .help = "within the changed pass, mean over the layers of |O - O_exact|_F / |O_exact|_F, O_exact "
                 "exact attention of the same q, k, v"),
    ERROR(error, .help = "|S - F X B|_F / |S|_F, of the heads of the exact pass: mean over all heads of the layers; "
                         "empty where the attention has no F, X, B"),
    ERROR(error_subspace,
          .help = "the least error that any X reaches: mean over the same heads; empty where error is empty"),
    ERROR(error_core, .help = "what the core adds, mean over the same heads; in each error^2 = error_subspace^2 + "
                              "error_core^2; empty where error is empty"),
    LOCAL(output_error, EXACT, .wanted = NB_EFFECT_WANT_OUTPUT,
          .help =
              "|O - O_exact|_F / |O_exact|_F of the heads of the exact pass, for any attention: mean over all heads "
              "of the layers"),
    {.name = "effect_s",
     .type = NB_COLUMN_REAL,
     .offset = offsetof(nb_effect_row, result.effect_s),
     .time = true,
     .help = "seconds for this answer of the model's program"},
    NB_COLUMN_SEED_OF(nb_effect_row),
    {.name = NULL}};

const char *const nb_effect_names[] = {"model_error",   "embedding_distance", "rank_agreement",
                                       "top10_overlap", "perplexity_ratio",   "kl",
                                       "task_error",    "layer_error",        NULL};
