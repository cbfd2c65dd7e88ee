/* SPDX-License-Identifier: GPL-3.0-or-later */
/* texts.c - see texts.h */
#include "base/texts.h"

#include <string.h>

/* FNV-1a, mixed as in splitmix64. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
    return hash ^ (hash >> 31);
}

void nb_texts_init(nb_texts *t, nb_ctx *ctx)
{
    *t = (nb_texts){.ctx = ctx};
}

/* Returns the slot of the text's number, or the slot where it belongs. */
static size_t find_slot(const nb_texts *t, const char *text, uint64_t hash)
{
    size_t at = hash & (t->slot_count - 1);
    while (t->slots[at] >= 0 && (t->hashes[t->slots[at]] != hash || strcmp(t->items[t->slots[at]], text) != 0))
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

/* Twice as many slots, a power of two. */
static nb_status grow(nb_texts *t)
{
    t->slot_count = t->slot_count ? 2 * t->slot_count : 64;
    NB_NEED(t->slots, nb_alloc_unset(t->ctx, t->slot_count, sizeof *t->slots));
    memset(t->slots, -1, t->slot_count * sizeof *t->slots);
    for (int i = 0; i < t->count; i++) t->slots[find_slot(t, t->items[i], t->hashes[i])] = i;
    return NB_OK;
}

nb_status nb_texts_number(nb_texts *t, const char *text, int *number)
{
    uint64_t hash = hash_of(text);
    if (2 * (size_t)t->count >= t->slot_count) NB_TRY(t->ctx, grow(t));
    size_t slot = find_slot(t, text, hash);
    if (t->slots[slot] < 0) {
        NB_GROW(t->ctx, t->items, t->count, t->room);
        NB_GROW(t->ctx, t->hashes, t->count, t->hash_room);
        NB_NEED(t->items[t->count], nb_strdup(t->ctx, text));
        t->hashes[t->count] = hash;
        t->slots[slot] = t->count++;
    }
    *number = t->slots[slot];
    return NB_OK;
}

int nb_texts_find(const nb_texts *t, const char *text)
{
    return t->count > 0 ? t->slots[find_slot(t, text, hash_of(text))] : -1;
}
