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

/* Adds the components of a shared object to the registries, as copies: a child process loads it and tells what it has.
 * The functions of the copies must not be called before nb_plugin_open. A plug-in with a study is opened at once, in a
 * child that goes on as the program (base/guard.h). Adding it again does nothing. NB_EIO if it is no shared object, or
 * does not let the child return. NB_EINVAL if it exports no nysbench_plugin, was built for another NB_ABI, or has a
 * component that is incomplete (no function, options outside of their struct) or whose name is taken; then none is
 * added. Errors that the tables do not show, such as a struct smaller than declared, may be found by `nysbench
 * check`. */
nb_status nb_plugin_load(const char *path, nb_ctx *ctx);

/* Lists the paths of these plug-ins as given, in that order; NULL-terminated. */
const char *const *nb_plugins_loaded(void);

/* Loads into this process the plug-ins that the component and those that its options name came from, so that their
 * functions may be called: from here on they may do to the process what they like. Does nothing for components in the
 * tree, and the second time. NB_EIO if one cannot be loaded, NB_EHOST if it is another file than the one that was
 * added. */
nb_status nb_plugin_open(const nb_choice *choice, nb_ctx *ctx);

/* Call before and after a function of a study that plans: a plug-in's is named if it ends the program or does not
 * return. They do nothing for a study in the tree. */
void nb_plugin_call(const nb_component *study, const char *function);
void nb_plugin_return(const nb_component *study);

/* Returns the path, as given, of the plug-in that a component came from; NULL: it is in the tree. */
const char *nb_plugin_of(const nb_component *component);

/* The same of the component or, if it is in the tree, of the first that its options name. */
const char *nb_plugin_within(const nb_choice *choice);

/* Finds the flags with which a compiler finds the headers of components, "-I/usr/local/include/nysbench": of an
 * installation, a wheel, or the checkout in whose build folder the program is. NULL: there are none. */
nb_status nb_plugin_flags(const char **flags, nb_ctx *ctx);

#endif
