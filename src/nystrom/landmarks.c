/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landmarks.c - the first of a nested strategy's landmarks. */
#include "nystrom/landmarks.h"

#include <stddef.h>

const char *nb_landmarks_note(const nb_landmarks *l, int m)
{
    if (l->queries.note && m > l->queries.note_from) return l->queries.note;
    return l->keys.note && m > l->keys.note_from ? l->keys.note : NULL;
}

nb_landmarks nb_landmarks_first(const nb_landmarks *all, int m)
{
    nb_landmarks out = *all;
    if (all->refusal) return out;
    out.queries.m = out.keys.m = m;
    if (all->selected_s) out.select_s = all->selected_s[m - 1];
    if (all->multiplied) out.multiplications = all->multiplied[m - 1];
    out.note = nb_landmarks_note(all, m);
    return out;
}
