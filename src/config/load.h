/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.h - loads an experiment's file into a config. */
#ifndef NB_CONFIG_LOAD_H
#define NB_CONFIG_LOAD_H

#include "config/config.h"

typedef struct {
    const char *key, *value; /* value: YAML */
} nb_override;

/* Reads the file and the overrides, which apply to all blocks. Collects all mistakes with their places; use the config
 * only if there is none. NB_EIO if the file cannot be read. */
nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx);

/* Runs the slow checks once all else is right: whether components are ready, such as that a program exists. Mistakes
 * name `source` as their place. */
nb_status nb_config_check_ready(const nb_config *config, const char *source, nb_mistakes *mistakes);

#endif
