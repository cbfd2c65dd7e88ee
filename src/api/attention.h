/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attention.h - the struct behind a nysbench_attention, for callers that have the whole layer as an nb_layer. */
#ifndef NB_API_ATTENTION_H
#define NB_API_ATTENTION_H

#include "api/handle.h"
#include "attentions/attention.h"

struct nysbench_attention {
    nysbench *own; /* memory and message of its own, which may outlive the handle */
    nb_choice choice;
    nb_attending attending;
    nb_passed passed;
};

/* Reads the spec of an attention and checks what can be checked without a layer. */
nb_status nb_attention_choose(const nysbench *handle, const char *spec, nb_choice *attention, nb_ctx *ctx);

/* Runs one forward pass. NB_ENUMERIC if the outputs are not finite. */
nysbench_status nb_attention_pass(nysbench_attention *attention, const nb_layer *layer, nb_scalar *out);

#endif
