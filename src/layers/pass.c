/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pass.c - the parts of a pass, timed. */
#include "layers/pass.h"

#include "base/clock.h"

#include <stddef.h>

const char *const nb_part_names[] = {[NB_PART_LANDMARKS] = "landmarks",
                                     [NB_PART_CORE] = "core",
                                     [NB_PART_B] = "B",
                                     [NB_PART_F] = "F",
                                     [NB_PART_OUTPUT] = "output",
                                     NULL};

void nb_pass_part(nb_pass *pass, nb_part part)
{
    double now_s = nb_clock_s();
    pass->part_s[part] += now_s - pass->last_s;
    pass->last_s = now_s;
}
