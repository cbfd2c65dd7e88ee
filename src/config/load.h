/* SPDX-License-Identifier: GPL-3.0-or-later */
/* load.h - from a file to a config. */
#ifndef NB_CONFIG_LOAD_H
#define NB_CONFIG_LOAD_H

#include "config/config.h"

typedef struct {
    const char *key, *value; /* value: YAML */
} nb_override;

/* Reads the file and the overrides, which hold in all blocks. All mistakes are collected, each with its place; the
 * config is to be used only if there is none. NB_EIO if the file cannot be read. */
nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx);

/* What takes long to check, once all else is right: components that are not ready, such as a program that is not there.
 * `source` is where mistakes are said to be. */
nb_status nb_config_check_ready(const nb_config *config, const char *source, nb_mistakes *mistakes);

#endif
