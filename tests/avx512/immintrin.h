/* SPDX-License-Identifier: GPL-3.0-or-later */
/* immintrin.h - in the compiler's place for sources with code for AVX-512: SIMDe does with AVX2 what its intrinsics do,
 * and no function is compiled for another CPU than the file is. */
#ifndef NB_AVX512_IMMINTRIN_H
#define NB_AVX512_IMMINTRIN_H

#include_next <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#define target(...) /* of __attribute__ */

#endif
