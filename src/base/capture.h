/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capture.h - what another program says. */
#ifndef NB_CAPTURE_H
#define NB_CAPTURE_H

#include "base/ctx.h"

/* Runs words[0], looked for in PATH where it has no '/', in that folder (NULL: the present one),
 * without a shell and with nothing to read, and gives its standard output (256 MiB at most); its standard error is
 * ours. NB_EIO where it cannot be started, does not end within limit_s, or ends with a status but 0. */
nb_status nb_capture(char *const *words, const char *folder, double limit_s, const char **output, nb_ctx *ctx);

#endif
