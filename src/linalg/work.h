/* SPDX-License-Identifier: GPL-3.0-or-later */
/* work.h - the multiplications that are done, counted where they are done: by formula, once for each product,
 * decomposition or loop, so that counting takes no time.
 *
 * A product of m x k and k x n counts m n k, a loop one for each term of its sums; a division counts as one too.
 * Decompositions count half of the flops that Golub & Van Loan, Matrix Computations, 4th ed. 2013, have for them,
 * additions and multiplications: the function that does one says which. Additions, comparisons, exponentials and
 * random numbers count nothing. */
#ifndef NB_WORK_H
#define NB_WORK_H

#include <stdint.h>

/* So many were done, rounded to a whole number. Strategies call it too, for loops of their own. */
void nb_count_multiplications(double count);

/* Those of this thread so far: differences of it mean something, and are the same whatever was counted before. */
uint64_t nb_multiplications(void);

#endif
