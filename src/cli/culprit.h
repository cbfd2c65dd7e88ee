/* SPDX-License-Identifier: GPL-3.0-or-later */
/* culprit.h - names the plug-in that ended the program, if it runs in the program's own process (`run` has workers, and
 * survives them). */
#ifndef NB_CULPRIT_H
#define NB_CULPRIT_H

/* From now on, names a plug-in that crashes before the signal ends the program, and one that calls exit(), which
 * becomes a failure. */
void nb_culprit_watch(void);
void nb_culprit_forget(void);

#endif
