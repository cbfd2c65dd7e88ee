/* SPDX-License-Identifier: GPL-3.0-or-later */
/* version.h - version numbers of the program, its stores and its plug-ins, and what each of them meant. CHANGELOG.md
 * has the rest. */
#ifndef NB_VERSION_H
#define NB_VERSION_H

/* The program's, as semver.org has it; the Makefile reads it here. Before 1.0.0 a new minor number may change what
 * configs, options and columns mean.
 *     0.1.0  strategies, cores, kernels and problems; runs, shards and Slurm; tables and figures; plug-ins
 *     0.2.0  not released yet */
#define NB_VERSION "0.2.0"

/* A store's (SQLite's user_version): one that is newer, or older than the oldest, is refused. It grows when tables or
 * columns change.
 *     1  rows by their position in the plan
 *     2  columns rows, engine, precision, and standard errors of sampled rows
 *     3  column core_cutoff
 *     4  manifests: each row has a build, an executable and digests of its files
 *     5  columns of rows unseen: error_unseen, error_unseen_subspace, error_unseen_core
 *     6  the study's name; 5 is read as one of the standard study
 *     7  columns flops and forward_s; rows of 5 and 6 have none, and are continued
 *     8  columns model, layer and source; rows of before get theirs when the run is continued
 *     9  column error_subspace_noise; rows of before have none */
enum { NB_STORE_FORMAT = 9, NB_STORE_OLDEST = 5 };

/* A plug-in's, of what the installed headers say: another one is refused. It grows when a record, a struct or a
 * function in them changes.
 *     1  strategies, compiled with the program only
 *     2  a strategy picks for both sides at once; shared objects
 *     3  a core may carry an explanation
 *     4  NB_FILE: options that name files, whose digests rows keep
 *     5  factors->notes in the place of a core's cutoff()
 *     6  rows of S that a core has looked at (seen, keep_rows), and traits that depend on its options
 *     7  the scene and the factors by functions alone; a strategy has no number of its own; a core may tell its cost
 *     8  a strategy may look at some rows of S; an option may have two words and be newer than published rows
 *     9  rows have a model, a layer and a source; so has the shape of a problem
 *     10 a head may have no keys, and then the shape of its problem says so; axes of real numbers; partitions
 *     11 attentions; a problem says which heads make a layer; studies of layers, and such that run alone
 *     12 a study may set columns of planned rows; a problem may have its heads checked as they are made
 *     13 a strategy may let another one pick among some tokens, and picks may say why there are none; a study adds its
 *        tables to a page
 *     14 the scene records which rows of S a strategy reads; a strategy refuses what another refuses (NB_EREFUSED); a
 *        core says in which precision it computes
 *     15 a study says which method the values of a block mean (settle), and adds functions to SQL
 *     16 a core may be fitted to exact outputs in a forward pass
 *     17 an attention may take tokens piece by piece, and says whether its causal form looks ahead
 *     18 a strategy may tell its multiplications; a study's cost has a fixed part, and no speeds;
 *        a core may work elsewhere and from F and B, draw from a seed, and say whether it is ready;
 *        a layer says which coordinates of v guide an attention's choices; a column may be measured only if named
 *     19 an attention may work elsewhere, time itself and say whether it is ready; measuring may set a text of a row;
 *        an experiment of a study that times may measure no time
 *     20 a study is an nb_full_study: what it measures, what the config asks, how it runs, how it is shown
 *     21 the full text of a choice is a function's
 *     22 a column does not say that it may be infinite
 *     23 an attention's keep is passes_per_choice, a study's beside error_metric
 *     24 a study's figures are of what the config asks of it */
enum { NB_ABI = 24 };

#endif
