/* calibration.h - how fast this machine is, and how long strategies take, from a
 * try of at most two seconds. */
#ifndef NB_CALIBRATION_H
#define NB_CALIBRATION_H

#include "experiment/cost.h"

/* Seconds here for one of the reference machine: a small product and some
 * exponentials, a few hundredths of a second. */
nb_status nb_calibrate_machine(double *machine, nb_ctx *ctx);

/* Lets the strategy of each cell pick a few landmarks of a few hundred random
 * points, in a process of their own that ends after limit_s; what it prints is
 * lost. times[i] is of cells[i]; seconds are NaN where there was no time, or it
 * refused, failed or crashed, and what it had had where that was not enough. `scene` is one of the plan's: its kernel, d and n
 * are taken. */
nb_status nb_calibrate_picks(const nb_plan *plan, int scene, int count, const nb_cell *const *cells, double limit_s,
                             nb_pick_time *times, nb_ctx *ctx);

#endif
