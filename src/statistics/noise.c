/* SPDX-License-Identifier: GPL-3.0-or-later */
/* noise.c - see noise.h */
#include "statistics/noise.h"

#include <math.h>

bool nb_is_noise(double value, double noise)
{
    return fabs(value) <= noise;
}

double nb_at_least_noise(double value, double noise)
{
    return fmax(value, fmax(noise, 0));
}

nb_pair_value nb_noisy_compare(nb_noisy a, nb_noisy b, bool difference)
{
    double x = a.value, y = b.value, noise_x = fmax(a.noise, 0), noise_y = fmax(b.noise, 0);
    double se_x = fmax(a.se, 0), se_y = fmax(b.se, 0);
    nb_pair_value v = {.noise = nb_is_noise(x, a.noise) && nb_is_noise(y, b.noise),
                       .tie = x == y || fabs(x - y) <= noise_x + noise_y,
                       .ratio = NAN,
                       .value = NAN};
    if (isnan(x) || isnan(y) || (!difference && (x < 0 || y < 0))) return v;
    if (difference) {
        v.value = v.tie ? 0 : x - y;
        v.variance = se_x * se_x + se_y * se_y;
    } else {
        v.ratio = v.tie ? 1 : nb_at_least_noise(x, a.noise) / nb_at_least_noise(y, b.noise);
        v.value = log(v.ratio);
        if (x > 0 && y > 0) v.variance = (se_x / x) * (se_x / x) + (se_y / y) * (se_y / y);
    }
    return v;
}
