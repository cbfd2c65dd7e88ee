/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.h - runs another program and captures its output. */
#ifndef NB_CAPTURE_H
#define NB_CAPTURE_H

#include "base/ctx.h"

/* Runs words[0], looked up in PATH if it has no '/', in that folder (NULL: the current one), without a shell and with
 * an empty standard input. Captures its standard output, at most 256 MiB; standard error is ours. NB_EIO if it cannot
 * be started, does not end within limit_s, or ends with a status other than 0. */
nb_status nb_capture(char *const *words, const char *folder, double limit_s, const char **output, nb_ctx *ctx);

#endif
