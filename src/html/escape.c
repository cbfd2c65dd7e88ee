/* SPDX-License-Identifier: GPL-3.0-or-later */
/* escape.c - see escape.h */
#include "html/escape.h"

void nb_escape_character(FILE *out, char c)
{
    switch (c) {
    case '&': fputs("&amp;", out); break;
    case '<': fputs("&lt;", out); break;
    case '>': fputs("&gt;", out); break;
    case '"': fputs("&quot;", out); break;
    default: fputc(c, out);
    }
}

void nb_escape_print(FILE *out, const char *text)
{
    for (; *text; text++) nb_escape_character(out, *text);
}
