/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - counts multiplications where they are done, by formula: once for each product, decomposition or loop, so
 * that counting takes no time.
 *
 * A product of m x k and k x n counts m n k; a loop counts one for each term of its sums; a division counts as one. A
 * decomposition counts half of the flops (additions and multiplications) given by Golub & Van Loan, Matrix
 * Computations, 4th ed. 2013: the function says which. Additions, comparisons, exponentials and random numbers count
 * nothing. */
#ifndef NB_WORK_H
#define NB_WORK_H

#include <stdint.h>

/* Adds `count` multiplications, rounded to a whole number. Strategies call it for their own loops. */
void nb_count_multiplications(double count);

/* Returns this thread's multiplications so far; use differences, which do not depend on what was counted before. */
uint64_t nb_multiplications(void);

#endif
