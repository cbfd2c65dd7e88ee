/* SPDX-License-Identifier: GPL-3.0-or-later */
/* elsewhere.h - refuses components that start processes, since the library starts none, and functions that are not
 * there. */
#ifndef NB_ELSEWHERE_H
#define NB_ELSEWHERE_H

#include "components/component.h"

/* NB_EINVAL if a component, or one within its options, works in another process. */
nb_status nb_refuse_elsewhere(const nb_choice *component, nb_ctx *ctx);

#endif
