/* SPDX-License-Identifier: GPL-3.0-or-later */
/* python_file.h - commands that leave functions of a Python file to the package. */
#ifndef NB_PYTHON_FILE_H
#define NB_PYTHON_FILE_H

#include "base/ctx.h"

#include <stdbool.h>

/* True for FILE.py and FILE.py:NAME. */
bool nb_is_python_file(const char *what);

/* Lets any Python import the package of a checkout, if this is one's program. */
nb_status nb_show_package(nb_ctx *ctx);

/* Becomes a Python, python3 or $NYSBENCH_PYTHON, that calls a function of python/nysbench/_commands.py with these words
 * (NULL-terminated), the first of which is the file, and ends with what it returns. Returns if it cannot be started. */
nb_status nb_become_python(const char *function, const char *const *words, nb_ctx *ctx);

#endif
