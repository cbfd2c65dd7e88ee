/* SPDX-License-Identifier: GPL-3.0-or-later */
/* numerals.c - see numerals.h */
#include "base/numerals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nb_digits nb_shown(const char *format, double x)
{
    nb_digits shown;
    strfromd(shown.text, sizeof shown.text, format, x);
    if (strtod(shown.text, NULL) == 0) strfromd(shown.text, sizeof shown.text, format, 0); /* without a sign */
    return shown;
}

nb_digits nb_numeral(double x)
{
    nb_digits shown = nb_shown("%.3g", x);
    if (!isfinite(x)) strcpy(shown.text, isnan(x) ? "-" : x > 0 ? "infinite" : "-infinite");
    return shown;
}

nb_digits nb_brief(double x)
{
    nb_digits shown;
    snprintf(shown.text, sizeof shown.text, x >= 1000 ? "%.1e" : "%.3g", x);
    return shown;
}

/* Returns whether the text lies where x does: below, at or above the edge. */
static bool tells(const char *text, double x, double edge)
{
    double shown = strtod(text, NULL);
    return (x < edge) == (shown < edge) && (x > edge) == (shown > edge);
}

nb_digits nb_bound(const char *format, double x, double edge, double other)
{
    enum { DECIMALS = 17 };
    nb_digits shown;
    strfromd(shown.text, sizeof shown.text, format, x);
    for (int d = 4; d <= DECIMALS && !(tells(shown.text, x, edge) && tells(shown.text, x, other)); d++)
        snprintf(shown.text, sizeof shown.text, "%.*f", d, x);
    return shown;
}

nb_digits nb_ratio_bound(const char *format, double x)
{
    return nb_bound(format, x, 1, NAN);
}

const char *nb_plural(double count)
{
    return count == 1 ? "" : "s";
}
