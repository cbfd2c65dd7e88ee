/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.h - the program as a user of its own library. */
#ifndef NB_PROGRAM_H
#define NB_PROGRAM_H

#include "api/handle.h"

/* Makes a handle that is freed with ctx's memory, of the program as its host, which may have more set and must outlive
 * it. */
nb_status nb_program_handle(nysbench **handle, nb_host *host, nb_ctx *ctx);

/* Prints the warning of the handle's last call, if it has one. */
void nb_program_warn(const nysbench *handle);

/* From now on, sends the output of components to standard error, so that only the command's answer is on standard
 * output, and names a component that ends the program. Returns a value for nb_program_output, which ends that. */
int nb_program_aside(void);
void nb_program_output(int aside);

/* From now on, names a plug-in that crashes before the signal ends the program, and one that calls exit(), which
 * becomes a failure. */
void nb_culprit_watch(void);
void nb_culprit_forget(void);

#endif
