/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multiple.h - corrects for many tests at once, for what compare, claims and the stars of tables say. */
#ifndef NB_MULTIPLE_H
#define NB_MULTIPLE_H

/* Returns the confidence of each of `family` intervals that hold together at `confidence` (Bonferroni): all of them
 * cover with that probability at least, however they depend on each other. */
double nb_joint_confidence(double confidence, int family);

#endif
