/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gemm.h - a matrix product in single precision, shared by the threads of a team, which shows what this machine can
 * do. */
#ifndef NB_FORWARD_GEMM_H
#define NB_FORWARD_GEMM_H

#include "layers/team.h"
#include "studies/forward/rounds.h"

enum { NB_GEMM_SIZE = 1024 };

typedef struct nb_forward_gemm nb_forward_gemm;

nb_status nb_forward_gemm_new(nb_team *team, gsl_rng *rng, nb_forward_gemm **gemm, nb_ctx *ctx);
nb_contestant nb_forward_gemm_contestant(nb_forward_gemm *gemm);
double nb_forward_gemm_flops(void); /* flops of one product */

#endif
