/* SPDX-License-Identifier: GPL-3.0-or-later */
/* texts.h - string interning by a hash table: equal strings get the same number, in order of first appearance. */
#ifndef NB_TEXTS_H
#define NB_TEXTS_H

#include "base/ctx.h"

#include <stdint.h>

typedef struct {
    int count;
    const char **items; /* copies, by number */

    /* Private. */
    nb_ctx *ctx;
    int room;
    uint64_t *hashes; /* by number */
    int hash_room;
    int *slots; /* numbers, -1: empty; at most half are full */
    size_t slot_count;
} nb_texts;

void nb_texts_init(nb_texts *texts, nb_ctx *ctx); /* ctx owns the memory */

/* Sets *number to the text's number, and adds the text if it is new. */
nb_status nb_texts_number(nb_texts *texts, const char *text, int *number);

int nb_texts_find(const nb_texts *texts, const char *text); /* its number, or -1 */

#endif
