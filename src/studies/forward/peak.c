/* SPDX-License-Identifier: GPL-3.0-or-later */
/* peak.c - VmHWM, the most that was resident, begins anew when 5 is written to /proc/self/clear_refs. What malloc
 * keeps of earlier work is given back before, so that it does not serve the new one unseen. */
#include "studies/forward/methods.h"

#include "base/apart.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LIMIT_S 1e6 /* the run has its own */

typedef struct {
    nb_status (*act)(void *self, nb_ctx *ctx);
    void *self;
    double bytes;
} measured;

/* Bytes behind a key of /proc/self/status; NaN: it is not there. */
static double status_of(const char *key)
{
    char line[256];
    double kib = NAN;
    size_t length = strlen(key);
    FILE *in = fopen("/proc/self/status", "r");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, key, length) == 0 && sscanf(line + length, ":%lf", &kib) == 1) break;
    if (in) fclose(in);
    return 1024 * kib;
}

static bool begin_anew(void)
{
    FILE *out = fopen("/proc/self/clear_refs", "w");
    bool written = out && fputs("5", out) >= 0;
    if (out) written = fclose(out) == 0 && written;
    return written;
}

/* In the child. */
static nb_status measure(void *self, nb_ctx *ctx)
{
    measured *m = self;
    malloc_trim(0);
    double before = begin_anew() ? status_of("VmRSS") : NAN;
    NB_TRY(ctx, m->act(m->self, ctx));
    m->bytes = status_of("VmHWM") - before;
    return NB_OK;
}

nb_status nb_peak_of(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double *bytes, nb_ctx *ctx)
{
    measured m = {.act = act, .self = self, .bytes = NAN};
    nb_status status = nb_apart(measure, &m, LIMIT_S, &m.bytes, sizeof m.bytes, ctx);
    *bytes = status == NB_OK ? m.bytes : NAN;
    return status;
}
