/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_output.h - which rows have exact outputs, in the studies that replace attentions. */
#ifndef NB_EXACT_OUTPUT_H
#define NB_EXACT_OUTPUT_H

/* The condition (forward/exact_output.sql), of the view `run` of a study with columns attention and output_error. */
#define NB_EXACT_OUTPUT "exact_output.is_exact"

/* An output is exact but for rounding if its error is no more than this: exact attention in single precision has some
 * 1e-6. The condition asks a function for it, which such a study adds. */
static const double nb_exact_output_error = 1e-5;
#define NB_EXACT_OUTPUT_FUNCTION "exact_output_error"

#endif
