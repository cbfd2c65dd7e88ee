/* SPDX-License-Identifier: GPL-3.0-or-later */
/* called.h - which component of a plug-in is being called in this process, so that its end can name it. */
#ifndef NB_CALLED_H
#define NB_CALLED_H

#include "components/component.h"

/* Call before and after a component. The first loads its plug-in into this process (nb_plugin_open). The second gets
 * the status of the call and returns it, with a message that names the component if it failed without one; a plug-in's
 * NB_EHOST becomes NB_EIO, since only the program knows what it lacks. */
nb_status nb_called_begin(const nb_choice *component, const nb_component **outer, nb_ctx *ctx);
nb_status nb_called_end(const nb_component *outer, const nb_choice *component, nb_status status, nb_ctx *ctx);

/* Returns that component, in any thread; NULL: none is called. */
const nb_component *nb_called(void);

#endif
