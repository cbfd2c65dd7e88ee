/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keys.h - the keys that hold for the whole experiment: those of every study, and the settings
 * of the one at hand. */
#ifndef NB_KEYS_OF_CONFIG_H
#define NB_KEYS_OF_CONFIG_H

#include "config/config.h"
#include "config/yaml.h"

typedef struct {
    const char *path; /* of the file */
    nb_config *config;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} nb_config_loader;

enum { NB_MOST_KEYS = 32 };

typedef struct nb_config_key {
    const char *name;
    nb_status (*initial)(const nb_config_loader *l, const struct nb_config_key *key,
                         const char **yaml); /* NULL: `fixed` */
    const char *fixed;                       /* YAML */
    nb_status (*read)(const nb_config_loader *l, const struct nb_config_key *key, nb_yaml value);
    const nb_option *option; /* of the study; NULL: every study has the key */
    bool late;               /* read after the blocks' values, of which it names some */
} nb_config_key;

/* Reads the two keys that decide which other keys there are. */
nb_status nb_config_read_plugins(const nb_config_loader *l, nb_yaml value);
nb_status nb_config_read_study(const nb_config_loader *l, nb_yaml value);

/* All of them in the order in which they are read, the late ones last. Returns how many there are. */
int nb_config_keys(const nb_study *study, nb_config_key keys[NB_MOST_KEYS]);

#endif
