/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arrays.h - a head in the caller's memory as a problem. */
#ifndef NB_ARRAYS_H
#define NB_ARRAYS_H

#include "api/nysbench.h"
#include "components/component.h"

/* Makes a problem of the request's q, k and v, which are not copied. NB_EINVAL or NB_ENUMERIC names the array. */
nb_status nb_arrays_choice(const nysbench_request *request, nb_choice *problem, nb_ctx *ctx);

#endif
