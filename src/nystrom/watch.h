/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h - a listener that is told what a scene or the factors keep for later. */
#ifndef NB_WATCH_H
#define NB_WATCH_H

typedef struct nb_watch nb_watch;
struct nb_watch {
    void (*kept)(nb_watch *watch); /* something was just kept, and nothing has read it yet */
    nb_watch *outer;               /* the previous listener, which is told too; NULL: none */
};

/* `watch` and those around it; NULL: nobody. */
void nb_watch_tell(nb_watch *watch);

#endif
