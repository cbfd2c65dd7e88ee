/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glibc_2_34.c - for the wheel: what its static libraries take from glibc and glibc has had only since 2.35. */
#include "linalg/linalg.h"

#include <math.h>

/* Of GSL; with the bits of glibc 2.35. */
double hypot(double x, double y)
{
    return nb_hypotenuse(x, y);
}
