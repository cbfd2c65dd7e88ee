/* SPDX-License-Identifier: GPL-3.0-or-later */
/* problem.c - what a problem's record must have. */
#include "problems/problem.h"

const size_t nb_problem_texts[] = {0};

const char *nb_problem_lacks(const nb_component *component)
{
    const nb_problem *p = (const nb_problem *)component;
    return !p->shape ? "the function shape" : !p->make ? "the function make" : NULL;
}
