/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.h - what is behind a nysbench_attention, for a program that has its layer as a whole. */
#ifndef NB_API_ATTENTION_H
#define NB_API_ATTENTION_H

#include "api/handle.h"
#include "attentions/attention.h"

struct nysbench_attention {
    nysbench *own; /* its memory, which lives as long as it does, and its message */
    nb_choice choice;
    nb_attending attending;
    nb_passed passed;
};

/* The attention of a spec, checked as far as it can be without a layer. */
nb_status nb_attention_choose(const nysbench *handle, const char *spec, nb_choice *attention, nb_ctx *ctx);

/* One pass. NB_ENUMERIC where the outputs are not finite. */
nysbench_status nb_attention_pass(nysbench_attention *attention, const nb_layer *layer, nb_scalar *out);

#endif
