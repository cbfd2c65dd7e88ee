/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kernel.c - what a kernel's record must have, and which kernel is the standard. */
#include "kernels/kernel.h"

#include "components/registry.h"

const size_t nb_kernel_texts[] = {offsetof(nb_kernel, causal_refusal), offsetof(nb_kernel, explanation), 0};

const char *nb_kernel_lacks(const nb_component *component)
{
    const nb_kernel *k = (const nb_kernel *)component;
    if (k->standard) return "standard = false: the program has its standard kernel";
    return !k->fill ? "the function fill" : NULL;
}

const char *nb_standard_kernel(void)
{
    const nb_entry *e = nb_kernels.entries;
    while (!((const nb_kernel *)e->component)->standard) e++; /* there is one, see the conformance test */
    return e->component->name;
}
