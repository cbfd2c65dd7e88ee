/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_files.c - see sql_files.h */
#include "run/sql_files.h"

#include <string.h>

const char *nb_sql_text(const char *name)
{
    const nb_sql_file *f = nb_sql_files;
    while (f->study && (*f->study || strcmp(f->name, name) != 0)) f++;
    return f->text;
}
