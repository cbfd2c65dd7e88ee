/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cpu.h - tells which instructions may be used here, by code written by hand and by loops that gcc widens. */
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

/* NB_WIDTHS: a function is compiled for each width of SIMD, and the CPU's widest is taken. ThreadSanitizer has not
 * begun yet when gcc's program chooses a clone. */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__ && !defined __SANITIZE_THREAD__
#define NB_CLONED
#define NB_WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define NB_WIDTHS
#endif

#endif
