/* SPDX-License-Identifier: GPL-3.0-or-later */
/* board.h - results of one suite as one HTML page that needs nothing else: for each track a table, best first, whose
 * entries unfold, and their curves of error. */
#ifndef NB_BOARD_H
#define NB_BOARD_H

#include "suite/suite.h"

/* A method in a track. Estimates are over sources; errors are log2. */
typedef struct {
    const nb_suite_result *result;
    bool counted; /* else it has times alone */
    nb_estimate number, shares[NB_SUITE_SHARES], errors[NB_SUITE_SHARES], damage;
    double nine_in_ten, time;
} nb_board_entry;

typedef struct {
    int count, counted;      /* entries; the first of them that have a number */
    nb_board_entry *entries; /* by number, the largest first; equal ones by label */
    nb_estimate baseline[NB_SUITE_SHARES];
    const char *device; /* that all times are of; NULL: there are none, or of several */
} nb_board_track;

typedef struct {
    const nb_suite *suite;
    int count;
    const nb_suite_result *results;
    nb_board_track *tracks;
} nb_board;

/* NB_EINVAL for two results of one method; `paths`: their files. */
nb_status nb_board_make(const nb_suite *suite, int count, const nb_suite_result *results, const char *const *paths,
                        nb_board *board, nb_ctx *ctx);
/* For nb_write_file; `board`: an nb_board. */
nb_status nb_board_print(FILE *out, const void *board, nb_ctx *ctx);

/* Parts of it. What an entry unfolds to: */
nb_status nb_board_make_details(nb_page *page, const nb_board_entry *entry, int track, nb_ctx *ctx);
/* The identifier of an entry's element is "TRACK-PLACE". */
void nb_board_print_curves(FILE *out, const nb_board *board, int track);
/* A number with its interval, of all in a track, drawn on one line. */
void nb_board_print_whisker(FILE *out, const nb_board_track *track, const nb_estimate *number);

#endif
