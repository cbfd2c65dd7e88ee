/* cost.c - n^2 work for S, once a unit or, where a batch does not hold them all,
 * more often; n m for each factor pair. */
#include "experiment/cost.h"

static const double SECONDS_AN_ENTRY = 20e-9, SECONDS_AN_ENTRY_AND_COLUMN = 0.15e-9;

nb_cost nb_cost_of(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_planned_scene *scene = &plan->scenes[plan->rows[unit->first].scene];
    double n = scene->n, columns = 0;
    for (int i = unit->first; i < unit->end; i++)
        if (!pending || pending[i]) columns += plan->cells[plan->rows[i].cell].m;
    return (nb_cost){.seconds = n * n * (SECONDS_AN_ENTRY + SECONDS_AN_ENTRY_AND_COLUMN * columns),
                     .bytes = 8 * n * (4 * scene->d + 2 * columns)};
}
