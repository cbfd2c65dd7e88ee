/* SPDX-License-Identifier: GPL-3.0-or-later */
/* texts.h - each of many texts once, by a hash table: they are numbered in order of appearance. */
#ifndef NB_TEXTS_H
#define NB_TEXTS_H

#include "base/ctx.h"

#include <stdint.h>

typedef struct {
    int count;
    const char **items; /* by number: copies */

    /* Private. */
    nb_ctx *ctx;
    int room;
    uint64_t *hashes; /* by number */
    int hash_room;
    int *slots; /* numbers, -1: empty; at most half of them are full */
    size_t slot_count;
} nb_texts;

void nb_texts_init(nb_texts *texts, nb_ctx *ctx); /* whose memory all is */

/* The text's number; a new one is added. */
nb_status nb_texts_number(nb_texts *texts, const char *text, int *number);

int nb_texts_find(const nb_texts *texts, const char *text); /* its number; -1: it has none */

uint64_t nb_hash_text(const char *text);
uint64_t nb_hash_bits(uint64_t bits);

#endif
