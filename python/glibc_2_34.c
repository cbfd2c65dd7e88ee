/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glibc_2_34.c - for the wheel: what its static libraries take from glibc and glibc has had only since 2.35 or 2.36. */
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

/* Of GSL; with the bits of glibc 2.35. */
double hypot(double x, double y)
{
    return nb_hypotenuse(x, y);
}

/* Expat salts its hash tables with it. */
void arc4random_buf(void *bytes, size_t count)
{
    unsigned char *next = bytes;
    while (count > 0) {
        ssize_t got = getrandom(next, count, 0);
        if (got <= 0) continue;
        next += got;
        count -= (size_t)got;
    }
}
