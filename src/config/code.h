/* SPDX-License-Identifier: GPL-3.0-or-later */
/* code.h - what a config or a spec names that is code, for those who want to know before it runs. */
#ifndef NB_CODE_H
#define NB_CODE_H

#include "config/config.h"

/* Lists the plug-ins and programs that a config with these overrides names, each once: "plug-in mine.so", "program
 * python3 mine.py". NULL-terminated. Nothing of it is loaded or looked for. A file that is no YAML names none. */
nb_status nb_config_code(const char *path, int override_count, const nb_override *overrides, const char *const **names,
                         nb_ctx *ctx);

/* Lists the programs that a spec names. */
nb_status nb_spec_code(const char *spec, const char *const **names, nb_ctx *ctx);

#endif
