/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_output.h - which rows have exact outputs, in the studies that replace attentions. */
#ifndef NB_EXACT_OUTPUT_H
#define NB_EXACT_OUTPUT_H

/* SQL, of the view `run` of a study with the columns attention and output_error: the row's attention is exact by its
 * traits, or its output is but for rounding, of which exact attention in single precision has some 1e-6. So a function
 * or a program that computes exact attention counts too. */
#define NB_EXACT_OUTPUT_SQL \
    "(output_error <= 1e-5 OR attention_id IN (SELECT id FROM component WHERE kind = 'attention' AND exact))"

#endif
