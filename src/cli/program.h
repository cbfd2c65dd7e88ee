/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h - the program as a user of the library that it is built on. */
#ifndef NB_PROGRAM_H
#define NB_PROGRAM_H

#include "api/handle.h"

/* A handle that ends with ctx's memory. `host`, which must outlive it, is set to the program's. */
nb_status nb_program_handle(nysbench **handle, nb_host *host, nb_ctx *ctx);

/* Prints the warning of the handle's last call, if it has one. */
void nb_program_warn(const nysbench *handle);

/* From here on, what components print goes to standard error, so that the command's answer stays whole, and one that
 * ends the program is named (culprit.h); returns what nb_program_output is given to end that. */
int nb_program_aside(void);
void nb_program_output(int aside);

#endif
