/* SPDX-License-Identifier: GPL-3.0-or-later */
/* line.h - a straight line through points: least squares. */
#ifndef NB_LINE_H
#define NB_LINE_H

typedef struct {
    int count;        /* points */
    double slope, se; /* NaN where the points do not determine them: 2 of different x, and 3 for se */
    double low, high; /* t interval of the slope at the confidence asked for, with count - 2 degrees of freedom */
} nb_line;

/* Of y against x: slope sum (x - mean x) y / sum (x - mean x)^2. On logarithms it is the exponent of a power law. */
nb_line nb_line_fit(int count, const double *x, const double *y, double confidence);

/* Where two lines meet that go from (x, a0) to (next_x, a1) and from (x, b0) to (next_x, b1): a value from x to
 * next_x; NaN where they do not cross there. An end where both are equal counts as a crossing. */
double nb_line_crossing(double x, double next_x, double a0, double a1, double b0, double b1);

#endif
