/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.h - reads the key `claims` of an experiment. */
#ifndef NB_CLAIMS_OF_CONFIG_H
#define NB_CLAIMS_OF_CONFIG_H

#include "config/config.h"
#include "config/yaml.h"

/* Reads a list of claims about rows of that study. An invalid claim has text == NULL, and only its valid members are
 * set. `look_up`: paths are also searched beside the file (lookup.h). */
nb_status nb_claims_read(nb_yaml value, const nb_study *study, bool look_up, int *count, nb_claim **claims,
                         nb_mistakes *mistakes);

/* Reports metrics that the config does not measure and, if its blocks and shapes are known, values that its experiment
 * does not have. */
nb_status nb_claims_check(const nb_config *config, nb_mistakes *mistakes);

#endif
