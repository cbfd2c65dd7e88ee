/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clock.h - wall-clock and CPU seconds, whose differences are durations. */
#ifndef NB_CLOCK_H
#define NB_CLOCK_H

#include <time.h>

static inline double nb_clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* CPU seconds of this process, independent of the machine's other load. */
static inline double nb_work_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
