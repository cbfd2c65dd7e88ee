/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h - somebody who is told what a scene or the factors keep for later. */
#ifndef NB_WATCH_H
#define NB_WATCH_H

typedef struct nb_watch nb_watch;
struct nb_watch {
    void (*kept)(nb_watch *watch); /* something was, a moment ago: nobody has been given it yet */
    nb_watch *outer;               /* who was there before, and is told too; NULL: nobody */
};

/* `watch` and those around it; NULL: nobody. */
void nb_watch_tell(nb_watch *watch);

#endif
