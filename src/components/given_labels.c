/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given_labels.c - see given_labels.h */
#include "components/given_labels.h"

#include <string.h>

const char *nb_given_label_of(const nb_given_labels *labels, const nb_registry *registry, const char *canonical)
{
    for (int i = 0; labels && i < labels->count; i++)
        if (labels->items[i].registry == registry && strcmp(labels->items[i].canonical, canonical) == 0)
            return labels->items[i].label;
    return NULL;
}

nb_status nb_given_labels_add(nb_given_labels *labels, const nb_registry *registry, const nb_choices *choices,
                              nb_ctx *ctx)
{
    nb_choices united = {.count = 0};
    for (int i = 0; i < choices->count; i++) {
        const nb_choice *one = &choices->items[i];
        if (nb_choices_find(&united, one) < 0) NB_TRY(ctx, nb_choices_append(&united, *one, ctx));
        NB_TRY(ctx, nb_choices_label(&united, one, ctx));
    }
    for (int i = 0; i < united.count; i++) {
        const nb_choice *one = &united.items[i];
        if (!one->given || nb_given_label_of(labels, registry, one->canonical)) continue;
        NB_GROW(ctx, labels->items, labels->count, labels->capacity);
        labels->items[labels->count++] = (nb_given_label){registry, one->canonical, one->given};
    }
    return NB_OK;
}
