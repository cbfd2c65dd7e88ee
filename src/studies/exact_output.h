/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_output.h - which rows have exact outputs, in the studies that replace attentions. */
#ifndef NB_EXACT_OUTPUT_H
#define NB_EXACT_OUTPUT_H

/* An output is exact but for rounding if its error is no more than this: exact attention in single precision has some
 * 1e-6. */
#define NB_EXACT_OUTPUT_ERROR 1e-5

#define NB_EXACT_SQL_SPELLED(error) \
    "(output_error <= " #error " OR attention_id IN (SELECT id FROM component WHERE kind = 'attention' AND exact))"
#define NB_EXACT_SQL(error) NB_EXACT_SQL_SPELLED(error)

/* SQL, of the view `run` of a study with the columns attention and output_error: the row's attention is exact by its
 * traits, or its output is but for rounding. So a function or a program that computes exact attention counts too. */
#define NB_EXACT_OUTPUT_SQL NB_EXACT_SQL(NB_EXACT_OUTPUT_ERROR)

#endif
