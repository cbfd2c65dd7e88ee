/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_study.h - what the config asks of a study. */
#ifndef NB_CONFIG_STUDY_H
#define NB_CONFIG_STUDY_H

#include "components/study.h"
#include "config/config.h"

typedef struct nb_key_values nb_key_values; /* config/keys.h */

/* Functions may be NULL: there is nothing to do. */
typedef struct {
    nb_study study;

    /* What `plots` may name, for a study outside the tree; a config without it draws the first. Ends with NULL. NULL:
     * the figures in the tree that name the study. */
    const char *const *figures;

    /* True if an experiment of an exclusive study measures no time, so that others may run beside it; NULL: none. */
    bool (*untimed)(const nb_config *config);

    /* Interprets a setting's text, which is stored in `settings` already. */
    nb_status (*read_setting)(const nb_option *option, void *settings, nb_place place, nb_mistakes *mistakes);
    /* Reports keys of a block that contradict each other; `keys` are by axis, then trials and zip. */
    nb_status (*check_block)(const nb_key_values *const *keys, nb_mistakes *mistakes);
    /* Adds values that follow from others; called after each block. */
    nb_status (*complete)(nb_config *config, nb_ctx *ctx);
    /* Reports contradictions in the whole config. */
    nb_status (*check)(const nb_config *config, nb_place place, nb_mistakes *mistakes);
    const nb_choice *(*default_baseline)(const nb_config *config);
} nb_config_study;

static inline const nb_config_study *nb_config_study_of(const nb_study *study)
{
    return (const nb_config_study *)study;
}

/* Whether nothing may run beside an experiment of the study. */
bool nb_study_alone(const nb_study *study, const nb_config *config);

#endif
