/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lanes.h - points side by side, a lane of SIMD each: entry l of all of them at x[l * lanes]. */
#ifndef NB_LANES_H
#define NB_LANES_H

/* to (lanes x d) <- the first `count` <= lanes columns of `from` (d x count); further lanes are 0. */
void nb_pack_lanes(int lanes, int d, int count, const float *from, float *to);

/* to (d x count) <- lanes of `from`, times their factors. */
void nb_unpack_lanes(int lanes, int d, int count, const float *from, const float *factor, float *to);

#endif
