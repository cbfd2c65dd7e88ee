/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plugin.h - components in a shared object outside the tree.
 *
 * A plug-in's source is the same as a component's in the tree, and ends with a line that exports it:
 *     NB_PLUGIN({"strategy", &nb_strategy_mine.component});
 * In the tree that line does nothing, since the Makefile finds the file. Build it with
 *     cc $(pkg-config --cflags nysbench) -shared -fPIC mine.c -o mine.so
 * It may call everything that the installed headers declare. */
#ifndef NB_PLUGIN_H
#define NB_PLUGIN_H

#include "base/version.h"
#include "components/component.h"

typedef struct {
    const char *kind; /* "strategy", "problem", "kernel", "core", "attention" ... */
    const nb_component *component;
} nb_plugin_part;

typedef struct {
    int abi;                     /* must be first, so that it can be read whatever the rest is */
    const nb_plugin_part *parts; /* ends with kind == NULL */
} nb_plugin;

#ifdef NB_IN_TREE
#define NB_PLUGIN(...) _Static_assert(1, "the Makefile finds the file")
#else
#define NB_PLUGIN(...) \
    static const nb_plugin_part nb_plugin_parts[] = {__VA_ARGS__, {NULL, NULL}}; \
    extern const nb_plugin nysbench_plugin; \
    const nb_plugin nysbench_plugin = {NB_ABI, nb_plugin_parts}
#endif

/* Loads a shared object and adds its components to the registries; loading it again does nothing. It stays loaded until
 * the program ends. NB_EIO if it is no shared object. NB_EINVAL if it exports no nysbench_plugin, was built for another
 * NB_ABI, or has a component that is incomplete (no function, options outside of their struct) or whose name is taken;
 * then none is added. Errors that the tables do not show, such as a struct smaller than declared, may be found by
 * `nysbench check`. */
nb_status nb_plugin_load(const char *path, nb_ctx *ctx);

/* Lists the paths of the loaded plug-ins as given, in that order; NULL-terminated. */
const char *const *nb_plugins_loaded(void);

/* Returns the path, as given, of the plug-in that a component came from; NULL: it is in the tree. */
const char *nb_plugin_of(const nb_component *component);

/* True if the component, or one that its options name, came from a plug-in. */
bool nb_plugin_within(const nb_choice *choice);

#endif
