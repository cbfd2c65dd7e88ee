/* SPDX-License-Identifier: GPL-3.0-or-later */
/* function.h - what the functions that C gives to SQL (functions.c, estimates.c) have in common. */
#ifndef NB_ROWS_FUNCTION_H
#define NB_ROWS_FUNCTION_H

#include <math.h>
#include <sqlite3.h>

enum { NB_FUNCTION_FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

/* A function as SQLite calls it; not all look at how many arguments they have. */
#define NB_FUNCTION(name) \
    static void name(sqlite3_context *c, __attribute__((unused)) int count, sqlite3_value **arguments)

/* NaN of NULL. */
static inline double nb_value_real(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? NAN : sqlite3_value_double(value);
}

#endif
