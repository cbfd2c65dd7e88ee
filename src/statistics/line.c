/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.c - with xx = sum (x - mean x)^2, xy = sum (x - mean x) (y - mean y), and rest the sum of the squared residuals
 * y - mean y - slope (x - mean x): slope = xy / xx, se^2 = rest / (count - 2) / xx. */
#include "statistics/line.h"

#include "statistics/intervals.h"

#include <math.h>

static double mean_of(int count, const double *x)
{
    double sum = 0;
    for (int i = 0; i < count; i++) sum += x[i];
    return sum / count;
}

nb_line nb_line_fit(int count, const double *x, const double *y, double confidence)
{
    nb_line line = {.count = count, .slope = NAN, .se = NAN, .low = NAN, .high = NAN};
    if (count < 2) return line;
    double x_mean = mean_of(count, x), y_mean = mean_of(count, y), xx = 0, xy = 0, rest = 0;
    for (int i = 0; i < count; i++) {
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
    }
    if (!(xx > 0)) return line;
    line.slope = xy / xx;
    for (int i = 0; i < count; i++) rest += pow(y[i] - y_mean - line.slope * (x[i] - x_mean), 2);
    if (count < 3) return line;
    line.se = sqrt(rest / (count - 2) / xx);
    nb_interval interval = nb_t_interval(line.slope, line.se, count - 2, confidence);
    line.low = interval.low;
    line.high = interval.high;
    return line;
}

double nb_line_crossing(double x, double next_x, double a0, double a1, double b0, double b1)
{
    double before = a0 - b0, after = a1 - b1;
    if (before == 0) return x;
    if (after == 0) return next_x;
    return (before < 0) == (after < 0) || isnan(before) || isnan(after) ? NAN
                                                                        : x + (next_x - x) * before / (before - after);
}
