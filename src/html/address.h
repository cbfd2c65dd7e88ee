/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address.h - where a file lies as seen from another, as a page may say it. */
#ifndef NB_ADDRESS_H
#define NB_ADDRESS_H

#include "base/ctx.h"

/* *address <- the way from a folder to a file, both of which exist: "../results/a%20run/plots/error.svg". What has a
 * meaning in an address or in Markdown is encoded. */
nb_status nb_address_of(const char *folder, const char *path, const char **address, nb_ctx *ctx);

#endif
