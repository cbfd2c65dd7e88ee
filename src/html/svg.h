/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg.h - a figure's SVG as a part of a page: nothing in it is believed. */
#ifndef NB_SVG_H
#define NB_SVG_H

#include "base/ctx.h"

typedef struct { /* the colours that figures have, 0xRRGGBB, each once */
    int count, room;
    int *items;
} nb_svg_colours;

/* *svg <- the figure of a file as one <svg> element, whose name for those who do not see it is `label`. Only elements
 * and attributes that draw are let through; a reference leads to the figure itself; ids begin with `prefix`, so that
 * several figures fit into one page. A colour becomes the CSS variable --cRRGGBB and is added to `colours`. NB_EIO with
 * file and line for what is no XML, or is not let through. */
nb_status nb_svg_read(const char *path, const char *prefix, const char *label, nb_svg_colours *colours,
                      const char **svg, nb_ctx *ctx);

/* What a colour becomes on a dark page: a grey is turned over, another made as light as reading takes. */
int nb_svg_dark(int colour);

#endif
