/* SPDX-License-Identifier: GPL-3.0-or-later */
/* partition.c - what a partition's record must have. */
#include "partitions/partition.h"

const size_t nb_partition_texts[] = {0};

const char *nb_partition_lacks(const nb_component *component)
{
    return !((const nb_partition *)component)->divide ? "the function divide" : NULL;
}
