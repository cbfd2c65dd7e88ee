/* cost.h - what a unit of work costs, foreseen from the plan alone: the same on
 * every machine, so that shards need no word between them. */
#ifndef NB_COST_H
#define NB_COST_H

#include "experiment/units.h"

typedef struct {
    double seconds; /* of one worker with one BLAS thread, on a reference machine */
    double bytes;   /* most that it holds at a time */
} nb_cost;

/* Of the unit's pending rows; pending NULL: of all. */
nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending);

#endif
