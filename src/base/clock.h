/* clock.h - seconds since some moment, for differences. */
#ifndef NB_CLOCK_H
#define NB_CLOCK_H

#include <time.h>

static inline double nb_clock_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
