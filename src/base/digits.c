/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digits.c - x = f 2^e with an integer f below 2^53. Its first 17 digits are those of x 10^k = f 5^k / 2^(-e-k), with
 * the k that puts it between 10^16 and 10^17: for k = 0 ... 32 the product is below 2^128, so that it is exact, and so
 * is its rounding, of ties to even. strfromd does the others, from 10^17 and below 10^-16. */
#include "base/digits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 17, MOST_TEN = 32, MOST_FIVE = 27 };
static const uint64_t least = 10000000000000000u; /* that has 17 digits */

__extension__ typedef unsigned __int128 wide;

static const uint64_t fives[MOST_FIVE + 1] = {1u,
                                              5u,
                                              25u,
                                              125u,
                                              625u,
                                              3125u,
                                              15625u,
                                              78125u,
                                              390625u,
                                              1953125u,
                                              9765625u,
                                              48828125u,
                                              244140625u,
                                              1220703125u,
                                              6103515625u,
                                              30517578125u,
                                              152587890625u,
                                              762939453125u,
                                              3814697265625u,
                                              19073486328125u,
                                              95367431640625u,
                                              476837158203125u,
                                              2384185791015625u,
                                              11920928955078125u,
                                              59604644775390625u,
                                              298023223876953125u,
                                              1490116119384765625u,
                                              7450580596923828125u};

/* *digits <- f 2^e 10^k, rounded: false where it has no 17 digits before the point. */
static bool scale(uint64_t f, int e, int k, uint64_t *digits)
{
    int shift = -e - k;
    wide product = (wide)f * fives[k < MOST_FIVE ? k : MOST_FIVE];
    if (k > MOST_FIVE) product *= fives[k - MOST_FIVE];
    if (shift < 1 || shift > 127) return false;
    wide whole = product >> shift, rest = product - (whole << shift), half = (wide)1 << (shift - 1);
    if (whole < least || whole >= 10 * (wide)least) return false;
    *digits = (uint64_t)whole + (rest > half || (rest == half && whole % 2 == 1));
    return true;
}

/* x > 0 is digits 10^(exponent - 16); false where that is not to be had by integers of 128 bits. */
static bool find_digits(double x, uint64_t *digits, int *exponent)
{
    int e;
    uint64_t f = (uint64_t)ldexp(frexp(x, &e), 53);
    for (int ten = (int)floor((e - 1) * M_LN2 / M_LN10), end = ten + 2; ten < end; ten++) {
        int k = DIGITS - 1 - ten;
        if (k < 0 || k > MOST_TEN || !scale(f, e - 53, k, digits)) continue;
        bool carried = *digits == 10 * least;
        if (carried) *digits = least;
        *exponent = ten + carried;
        return true;
    }
    return false;
}

static char *print_exponent(int exponent, char *out)
{
    int size = abs(exponent);
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    *out++ = (char)('0' + size / 10);
    *out++ = (char)('0' + size % 10);
    return out;
}

/* As %g: zeros in the end are left out, and the point with them. */
static void print(uint64_t digits, int exponent, char *out)
{
    char all[DIGITS];
    int count = DIGITS, point = 1; /* digits before it */
    for (int i = DIGITS - 1; i >= 0; i--, digits /= 10) all[i] = (char)('0' + digits % 10);
    while (count > 1 && all[count - 1] == '0') count--;
    bool plain = exponent >= -4 && exponent < DIGITS;
    if (plain && exponent < 0) {
        memcpy(out, "0.000", (size_t)(1 - exponent));
        out += 1 - exponent;
        point = count;
    } else if (plain) {
        point = exponent + 1;
    }
    for (int i = 0; i < count || i < point; i++) {
        if (i == point) *out++ = '.';
        *out++ = i < count ? all[i] : '0';
    }
    if (!plain) out = print_exponent(exponent, out);
    *out = '\0';
}

void nb_digits(double x, char text[NB_DIGITS])
{
    uint64_t digits;
    int exponent;
    bool negative = signbit(x);
    if (isfinite(x) && x != 0 && find_digits(fabs(x), &digits, &exponent)) {
        if (negative) *text = '-';
        print(digits, exponent, text + negative);
    } else {
        strfromd(text, NB_DIGITS, "%.17g", x);
    }
}
