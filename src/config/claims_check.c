/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_check.c - what a claim compares is looked for among the config's values, before anything runs. */
#include "config/keys.h"

#include <string.h>

typedef struct {
    const nb_config *config;
    nb_condition_reader conditions;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} checker;

/* *index <- the one value of the column that the text means; -1: no list has it, though rows may, or it means several,
 * which is told here. */
static nb_status find_value(const checker *k, const nb_candidates *among, const char *what, const nb_named_value *value,
                            int *index)
{
    nb_status status = nb_candidates_pick(among, value->text, index, k->ctx);
    if (status != NB_EINVAL) return status;
    const char *message;
    NB_NEED(message, nb_format(k->ctx, "claims: %s: %s", what, nb_error_message(k->ctx)));
    nb_error_clear(k->ctx);
    return nb_mistakes_add(k->mistakes, value->place, "%s", message);
}

/* Each means one value of the column, and no two of them the same. */
static nb_status check_values(checker *k, const nb_claim *c)
{
    const nb_candidates *among;
    int *means;
    const char *what = nb_claim_key(c);
    if (c->value_count == 0) return NB_OK;
    NB_TRY(k->ctx, nb_condition_candidates(&k->conditions, c->column, &among));
    NB_NEED(means, nb_alloc(k->ctx, (size_t)c->value_count, sizeof *means));
    for (int i = 0; i < c->value_count; i++) {
        const nb_named_value *value = &c->values[i];
        NB_TRY(k->ctx, find_value(k, among, what, value, &means[i]));
        for (int j = 0; j < i; j++)
            if (means[i] >= 0 && means[i] == means[j])
                NB_TRY(k->ctx, nb_mistakes_add(k->mistakes, value->place, "claims: %s: '%s' and '%s' are the same %s",
                                               what, c->values[j].text, value->text, c->column));
    }
    return NB_OK;
}

static nb_status check_metric(const checker *k, const nb_named_value *metric)
{
    const nb_column *column = metric->text ? nb_column_find(k->config->study->columns, metric->text) : NULL;
    if (!column || !column->wanted || (column->wanted & k->config->wanted)) return NB_OK;
    return nb_mistakes_add(k->mistakes, metric->place, "claims: metric: '%s' is not among the config's metrics",
                           metric->text);
}

nb_status nb_claims_check(const nb_config *config, nb_mistakes *mistakes)
{
    checker k = {.config = config,
                 .conditions = {.study = config->study, .config = config, .mistakes = mistakes},
                 .mistakes = mistakes,
                 .ctx = mistakes->ctx};
    for (int i = 0; i < config->claim_count; i++) {
        const nb_claim *c = &config->claims[i];
        for (int s = 0; s < c->series_count; s++) NB_TRY(k.ctx, check_metric(&k, &c->series[s].metric));
        if (config->block_count > 0) NB_TRY(k.ctx, check_values(&k, c));
    }
    return NB_OK;
}
