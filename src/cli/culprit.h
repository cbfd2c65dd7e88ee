/* SPDX-License-Identifier: GPL-3.0-or-later */
/* culprit.h - which plug-in ended the program, where it runs in the program's own process: `run` has workers for
 * that, and goes on without them. */
#ifndef NB_CULPRIT_H
#define NB_CULPRIT_H

/* From here on, a plug-in that crashes is named before the signal ends the program, and one that calls exit() is named
 * and makes that a failure. */
void nb_culprit_watch(void);
void nb_culprit_forget(void);

#endif
