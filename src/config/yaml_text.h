/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml_text.h - writes text as YAML. */
#ifndef NB_YAML_TEXT_H
#define NB_YAML_TEXT_H

#include <stdio.h>

/* Prints UTF-8 text as a double-quoted scalar on one line that reads back as the same text. */
void nb_yaml_print_quoted(FILE *out, const char *text);

#endif
