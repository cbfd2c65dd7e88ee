/* SPDX-License-Identifier: GPL-3.0-or-later */
/* default_seed.h - the seed of an experiment, a request or a command that names none, as a number and as a text. */
#ifndef NB_DEFAULT_SEED_H
#define NB_DEFAULT_SEED_H

#define NB_DEFAULT_SEED 20260101
#define NB_QUOTED_NUMBER(number) #number
#define NB_TEXT_OF_NUMBER(number) NB_QUOTED_NUMBER(number)
#define NB_DEFAULT_SEED_TEXT NB_TEXT_OF_NUMBER(NB_DEFAULT_SEED)

#endif
