/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pictures.h - the figures of a run, as files, and where they lie as seen from a page. */
#ifndef NB_PICTURES_H
#define NB_PICTURES_H

#include "components/study.h"
#include "report/relation.h"

typedef struct {
    const char *path;    /* of the SVG file */
    const char *caption; /* what it shows */
    int rank;            /* private: by which they are in order */
} nb_picture;

typedef struct {
    int count;
    nb_picture *items;
    bool undrawn; /* one is missing, and gnuplot is */
} nb_pictures;

/* All SVG files among the run's figures: those that the run's config names first, in its order, then those of the study
 * that have a place, the others of the study, and others, by name. What the run's config names, or a figure whose data
 * are there, is drawn if it has no such file, where gnuplot is installed. */
nb_status nb_pictures_find(const char *run, nb_relation *relation, nb_pictures *pictures, nb_ctx *ctx);

/* *address <- the way from a folder to a file, both of which exist: "../results/a%20run/plots/error.svg". What has a
 * meaning in an address or in Markdown is encoded. */
nb_status nb_address_of(const char *folder, const char *path, const char **address, nb_ctx *ctx);

#endif
