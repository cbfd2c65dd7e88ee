/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multiple.c - see multiple.h */
#include "statistics/multiple.h"

double nb_joint_confidence(double confidence, int family)
{
    return family > 1 ? 1 - (1 - confidence) / family : confidence;
}
