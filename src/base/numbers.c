/* SPDX-License-Identifier: GPL-3.0-or-later */
/* numbers.c - strtoll and strtod (in the C locale, which the program never leaves), after a check of the characters. */
#include "base/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *nb_integer_at(const char *text, long long lo, long long hi, long long *number)
{
    char *end;
    if (!isdigit((unsigned char)text[*text == '-' || *text == '+'])) return NULL;
    errno = 0;
    long long found = strtoll(text, &end, 10);
    if (errno || found < lo || found > hi) return NULL;
    *number = found;
    return end;
}

bool nb_parse_integer(const char *text, long long lo, long long hi, long long *number)
{
    long long found;
    const char *end = nb_integer_at(text, lo, hi, &found);
    if (!end || *end) return false;
    *number = found;
    return true;
}

bool nb_parse_int(const char *text, int lo, int hi, int *number)
{
    long long found;
    if (!nb_parse_integer(text, lo, hi, &found)) return false;
    *number = (int)found;
    return true;
}

/* A number too small for a double becomes 0, or nearly 0. */
bool nb_parse_real(const char *text, double lo, double hi, double *number)
{
    char *end;
    if (!*text || text[strspn(text, "0123456789.eE+-")]) return false;
    double found = strtod(text, &end);
    if (*end || !isfinite(found) || found < lo || found > hi) return false;
    *number = found;
    return true;
}

void nb_real_text(double x, char *text)
{
    if (x == rint(x) && fabs(x) < 1e6) {
        snprintf(text, NB_REAL_TEXT, "%.0f", x);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, NB_REAL_TEXT, "%.*g", digits, x);
        if (strtod(text, NULL) == x) return;
    }
}

char *nb_real_copy(nb_ctx *ctx, double x)
{
    char text[NB_REAL_TEXT];
    nb_real_text(x, text);
    return nb_strdup(ctx, text);
}
