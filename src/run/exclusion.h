/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exclusion.h - finds which of a config's rules match a row, as bits: a rule is bit r % 64 of word r / 64. */
#ifndef NB_EXCLUSION_H
#define NB_EXCLUSION_H

#include "base/texts.h"
#include "run/plan.h"

#include <stdint.h>

/* Keys of rules: an nb_rule_number, or NB_RULE_NUMBERS and an nb_rule_text, or NB_RULE_AXES and an axis. */
enum { NB_RULE_AXES = NB_RULE_NUMBERS + NB_RULE_TEXTS, NB_RULE_KEYS = NB_RULE_AXES + NB_MOST_AXES };

typedef struct {
    const nb_config *config;
    int words;
    uint64_t *row;                       /* rules that match the row of the last nb_exclusion_match */
    uint64_t *blocks;                    /* by block, `words` of each: rules that hold in it */
    uint64_t **with_value[NB_RULE_KEYS]; /* by value: rules that match it; NULL until the value is met */
    int room[NB_RULE_KEYS];
    int key_count, keys[NB_RULE_KEYS]; /* the keys that rules name */
    nb_texts texts;                    /* of a key of texts, the value is the number of its text */
    nb_ctx *ctx;                       /* owns all memory */
} nb_exclusion;

/* Prepares the rules; `blocks` is their number, at least 1. */
nb_status nb_exclusion_init(nb_exclusion *x, const nb_config *config, int blocks, nb_ctx *ctx);

/* Finds the rules that match a row, in a few operations for each word and key. */
nb_status nb_exclusion_match(nb_exclusion *x, const nb_planned_scene *scene, const nb_method *method, int trial);

/* True if a rule removes the matched row from a block. */
bool nb_exclusion_removes(const nb_exclusion *x, int block);

#endif
