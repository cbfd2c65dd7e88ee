/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config_study.c - see config_study.h */
#include "config/config_study.h"

bool nb_study_alone(const nb_study *study, const nb_config *config)
{
    const nb_config_study *s = nb_config_study_of(study);
    return study->exclusive && !(s->untimed && s->untimed(config));
}
