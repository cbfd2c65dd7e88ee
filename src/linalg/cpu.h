/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpu.h - tells which SIMD instructions this CPU can run, for code written by hand. */
#ifndef NB_CPU_H
#define NB_CPU_H

#include <stdbool.h>

#if defined __x86_64__

static inline bool nb_cpu_has_avx512(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f");
}

/* True if the CPU has AVX2 and FMA. */
static inline bool nb_cpu_has_avx2(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

#endif

#endif
