/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookup.h - where the files are that a config names: in the current folder; beside the
 * config; for the config of a run's folder, where the run had them, by its manifest; or, if it is
 * one of experiments/, with the program.
 *
 * A file beside the config is named by its path to there from then on, as if the config
 * said so: rows, resolved config and shards agree. One that is found by the manifest, and holds
 * what it held, or with the program, is read there, but keeps the name that the run's rows have. */
#ifndef NB_LOOKUP_H
#define NB_LOOKUP_H

#include "components/component.h"

/* All files of a component that the file `config` names, in any of its options. NB_EIO if the manifest's file
 * has other contents; a file found nowhere is reported when it is read. */
nb_status nb_lookup_choice(nb_choice *choice, const char *config, nb_ctx *ctx);

/* The same of options that belong to no choice; *changed: some have another text now. */
nb_status nb_lookup_options(const nb_component *component, void *options, const char *config, bool *changed,
                            nb_ctx *ctx);

/* Lists the files of heads in place of each pattern or folder that stands for them, in the options of the spec that may
 * have one; `config` NULL: the spec is not from a file. *listed: there was one. NB_EIO where none matches. */
nb_status nb_lookup_files(const nb_registry *registry, nb_spec *spec, const char *config, bool *listed, nb_ctx *ctx);

/* As nb_choice_parts_read, with that list. */
nb_status nb_lookup_parts(const nb_registry *registry, const char *text, nb_place place, const char *config, int *count,
                          nb_choice_part **parts, bool *listed, nb_mistakes *mistakes, nb_ctx *ctx);

/* One path; *found is it or where it was found. */
nb_status nb_lookup_path(const char *path, const char *config, const char **found, nb_ctx *ctx);

/* After reading a choice has failed: adds to the ctx's error where a relative path of its options was looked for in
 * vain. Returns `status`. */
nb_status nb_lookup_explain(nb_status status, const nb_choice *choice, const char *config, nb_ctx *ctx);
nb_status nb_lookup_explain_path(nb_status status, const char *path, const char *config, nb_ctx *ctx);

#endif
