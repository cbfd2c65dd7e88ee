/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel.c - what a kernel's record must have. */
#include "kernels/kernel.h"

const char *nb_kernel_lacks(const nb_component *component)
{
    const nb_kernel *k = (const nb_kernel *)component;
    if (k->standard) return "standard = false: the program has its standard kernel";
    return !k->fill ? "the function fill" : NULL;
}
