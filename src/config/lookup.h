/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lookup.h - finds the files that a config names, in this order: in the current folder; beside the config; for the
 * config of a run's folder, where the run had them, as its manifest says; for a config of experiments/, with the
 * program.
 *
 * A file found beside the config is named by its path there from then on, as if the config said so, so that rows,
 * resolved config and shards agree. A file found by the manifest (if its contents are the same) or with the program is
 * read there, but keeps the name that the run's rows have. */
#ifndef NB_LOOKUP_H
#define NB_LOOKUP_H

#include "components/component.h"

/* Finds all files that a component of the file `config` names in its options. NB_EIO if the manifest's file has other
 * contents; a missing file is reported when it is read. */
nb_status nb_lookup_choice(nb_choice *choice, const char *config, nb_ctx *ctx);

/* The same for options, which need not be a choice's (NULL); *changed: some have a new text. */
nb_status nb_lookup_options(const nb_component *component, void *options, nb_choice *choice, const char *config,
                            bool *changed, nb_ctx *ctx);

/* Replaces each pattern or folder in the spec's options for head files by the list of files; `config` NULL: the spec is
 * not from a file. *listed: there was one. NB_EIO if nothing matches. */
nb_status nb_lookup_files(const nb_registry *registry, nb_spec *spec, const char *config, bool *listed, nb_ctx *ctx);

/* Reads parts as nb_choice_parts_read does, after that replacement. NB_EIO as above. */
nb_status nb_lookup_parts(const nb_registry *registry, const char *text, nb_place place, const char *config, int *count,
                          nb_choice_part **parts, bool *listed, nb_mistakes *mistakes, nb_ctx *ctx);

/* Lists files as nb_head_files does, from all of these places. NB_EIO if nothing matches a pattern; count -1: there is
 * no such file. */
nb_status nb_lookup_heads(const char *text, const char *config, int *count, const char *const **files, nb_ctx *ctx);

/* Finds one path; *found is its place, or the path itself. */
nb_status nb_lookup_path(const char *path, const char *config, const char **found, nb_ctx *ctx);

/* Call after reading a choice has failed: adds to ctx's error where a relative path of its options was searched in
 * vain. Returns `status`. */
nb_status nb_lookup_explain(nb_status status, const nb_choice *choice, const char *config, nb_ctx *ctx);
nb_status nb_lookup_explain_path(nb_status status, const char *path, const char *config, nb_ctx *ctx);

#endif
