/* SPDX-License-Identifier: GPL-3.0-or-later */
/* column.c - see column.h */
#include "components/column.h"

#include <math.h>
#include <string.h>

const nb_column *nb_column_find(const nb_column *columns, const char *name)
{
    for (const nb_column *c = columns; c->name; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

int nb_column_count(const nb_column *columns)
{
    int count = 0;
    while (columns[count].name) count++;
    return count;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_real(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool nb_column_same(const nb_column *c, const void *a, const void *b)
{
    const void *x = (const char *)a + c->offset, *y = (const char *)b + c->offset;
    switch (c->type) {
    case NB_COLUMN_TEXT: return same_text(*(const char *const *)x, *(const char *const *)y);
    case NB_COLUMN_INT: return *(const int *)x == *(const int *)y;
    case NB_COLUMN_SEED: return *(const long long *)x == *(const long long *)y;
    case NB_COLUMN_REAL: return same_real(*(const double *)x, *(const double *)y);
    }
    return false;
}
