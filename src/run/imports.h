/* SPDX-License-Identifier: GPL-3.0-or-later */
/* imports.h - finds the files that a Python script imports from its own folder. */
#ifndef NB_IMPORTS_H
#define NB_IMPORTS_H

#include "base/texts.h"

/* Adds the paths of the script and of the Python files in its folder that it and they import, each once, in the order
 * in which they are met: NAME.py for a module, all *.py of the folder NAME for a package. It reads lines that begin
 * with `import` or `from`, also within functions; an import that is made in another way is not seen. NB_EIO if a file
 * cannot be read. */
nb_status nb_imports_find(nb_texts *files, const char *script, nb_ctx *ctx);

#endif
