/* SPDX-License-Identifier: GPL-3.0-or-later */
/* given_labels.h - the labels that a config gives to components, by their canonical texts in rows. */
#ifndef NB_GIVEN_LABELS_H
#define NB_GIVEN_LABELS_H

#include "components/component.h"

typedef struct {
    const nb_registry *registry;
    const char *canonical, *label;
} nb_given_label;

typedef struct {
    int count, capacity;
    nb_given_label *items;
} nb_given_labels;

/* Adds the given labels of the choices, each once. NB_EINVAL as nb_choices_label. */
nb_status nb_given_labels_add(nb_given_labels *labels, const nb_registry *registry, const nb_choices *choices,
                              nb_ctx *ctx);

/* Returns the label; NULL if none is given or `labels` is NULL. */
const char *nb_given_label_of(const nb_given_labels *labels, const nb_registry *registry, const char *canonical);

#endif
