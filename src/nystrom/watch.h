/* SPDX-License-Identifier: GPL-3.0-or-later */
/* watch.h - a listener that is told when a scene or factors cache something. */
#ifndef NB_WATCH_H
#define NB_WATCH_H

typedef struct nb_watch nb_watch;
struct nb_watch {
    void (*kept)(nb_watch *watch); /* called when something was just cached and nothing has read it yet */
    nb_watch *outer;               /* the previous listener, which is told too; NULL: none */
};

/* Calls `watch` and its outer ones; NULL: none. */
void nb_watch_tell(nb_watch *watch);

#endif
