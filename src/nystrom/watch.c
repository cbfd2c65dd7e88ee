/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.c - tells listeners, from the innermost outwards. */
#include "nystrom/watch.h"

void nb_watch_tell(nb_watch *watch)
{
    for (; watch; watch = watch->outer) watch->kept(watch);
}
