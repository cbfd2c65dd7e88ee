/* SPDX-License-Identifier: GPL-3.0-or-later */
/* numbers.c - strtoll and strtod (in the C locale, which the program never leaves), behind a look at the characters. */
#include "base/numbers.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
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

/* What is too small for a double is 0, or nearly. */
bool nb_parse_real(const char *text, double lo, double hi, double *number)
{
    char *end;
    if (!*text || text[strspn(text, "0123456789.eE+-")]) return false;
    double found = strtod(text, &end);
    if (*end || !isfinite(found) || found < lo || found > hi) return false;
    *number = found;
    return true;
}
