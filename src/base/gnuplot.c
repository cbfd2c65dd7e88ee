/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gnuplot.c - see gnuplot.h */
#include "base/gnuplot.h"

#include "base/capture.h"
#include "base/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double limit_s(void)
{
    const char *given = getenv("NYSBENCH_PLOT_TIMEOUT");
    double seconds = 120;
    if (given) nb_parse_real(given, 1e-3, 1e6, &seconds);
    return seconds;
}

bool nb_gnuplot_version(const char **line, nb_ctx *ctx)
{
    char *words[] = {(char[]){"gnuplot"}, (char[]){"--version"}, NULL};
    const char *said;
    char *first = NULL;
    if (nb_capture(words, NULL, fmin(30, limit_s()), &said, ctx) == NB_OK) first = nb_strdup(ctx, said);
    if (first) first[strcspn(first, "\n")] = '\0';
    nb_error_clear(ctx);
    *line = nb_clean(ctx, first, "");
    return *line;
}

nb_status nb_gnuplot_run(const char *folder, const char *script, nb_ctx *ctx)
{
    char *words[] = {(char[]){"gnuplot"}, (char[]){"-d"}, NULL, NULL};
    const char *said;
    NB_NEED(words[2], nb_strdup(ctx, script));
    if (nb_capture(words, folder, limit_s(), &said, ctx) == NB_OK) return NB_OK;
    NB_NEED(said, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, NB_EIO, "gnuplot failed on %s/%s: %s", folder, script, said);
}
