/* provenance.h - what made a result: the program, the machine, the libraries. */
#ifndef NB_PROVENANCE_H
#define NB_PROVENANCE_H

#include "experiment/workers.h"

#include <jansson.h>

/* One JSON object of texts and numbers, in the order in which `info` prints
 * them; owned by ctx. */
nb_status nb_provenance(bool gnuplot, json_t **facts, nb_ctx *ctx);

/* The manifest of a run: those facts, when, the command, how it was spread, and the resolved config. */
nb_status nb_manifest_text(int argc, const char **argv, const char *config, bool gnuplot, nb_workers workers,
                           const char **text, nb_ctx *ctx);

#endif
