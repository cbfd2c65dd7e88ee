/* SPDX-License-Identifier: GPL-3.0-or-later */
/* component.h - the record that all components share, and their options as data.
 *
 * One options table per component drives parsing, defaults, range checks, `describe` and the canonical text that
 * identifies a row. */
#ifndef NB_COMPONENT_H
#define NB_COMPONENT_H

#include "base/ctx.h"
#include "base/mistakes.h"
#include "components/spec.h"

#include <limits.h>

typedef enum {
    NB_OPTION_INT,
    NB_OPTION_REAL,
    NB_OPTION_BOOL,
    NB_OPTION_ENUM,
    NB_OPTION_STRING,
    NB_OPTION_SPEC
} nb_option_type;

typedef struct nb_registry nb_registry;

typedef struct {
    const char *key;     /* also the field's name */
    nb_option_type type; /* the field's type is int, double, int, int, const char *, const nb_choice * */
    size_t offset;
    const char *initial;         /* the default, spelled as in a config; NULL: must be given */
    double lo, hi;               /* closed range of INT and REAL */
    const char *const *choices;  /* ENUM: NULL-terminated; the field is an index */
    const char *word;            /* INT, REAL: a word allowed in place of a number, or NULL */
    const char *second;          /* INT: another, or NULL */
    const nb_registry *registry; /* SPEC: the kind of component */
    /* The option and value under which this option counts; with another value it must keep its default. NULL: it always
     * counts. */
    const char *for_key, *for_value;
    bool selects_head; /* selects a head of the problem; no part of the problem's identity */
    /* newer than published rows: its default is left out of the canonical text, so that these rows keep their identity
     * and random streams */
    bool newer;
    bool reorders; /* permutes a problem's tokens; no part of what is drawn */
    /* STRING: a path, or words that include paths; the contents of these files are part of a row's identity. */
    bool names_files;
    /* the number of a function of the calling program (added.h), without which the component is of no use: it is not
     * listed */
    bool of_caller;
    bool many_files;  /* such a STRING: a pattern or folder in a config stands for a list of head files */
    const char *help; /* one sentence, with the unit */
} nb_option;

/* The values of an INT field for its `word` and its `second` word; a REAL field holds NaN. */
enum { NB_AUTO = INT_MIN, NB_SECOND = INT_MIN + 1 };

/* Rows of an options table. A field of the wrong C type does not compile. */
#define NB_FIELD_(T, field, type) \
    (offsetof(T, field) + 0 * sizeof(char[_Generic(((T *)0)->field, type : 1, default : -1)]))
#define NB_OPTION_FIELD(T, field, kind, type_, default_, text, ...) \
    { \
        .key = #field, .type = kind, .offset = NB_FIELD_(T, field, type_), .initial = default_, .help = text, \
        __VA_ARGS__ \
    }
#define NB_INT(T, field, default_, low, high, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_INT, int, default_, text, .lo = low, .hi = high)
#define NB_INT_FOR(T, field, key_, value_, default_, low, high, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_INT, int, default_, text, .lo = low, .hi = high, .for_key = key_, \
                    .for_value = value_)
#define NB_INT_OR(T, field, word_, default_, low, high, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_INT, int, default_, text, .lo = low, .hi = high, .word = word_)
#define NB_REAL(T, field, default_, low, high, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_REAL, double, default_, text, .lo = low, .hi = high)
#define NB_REAL_OR(T, field, word_, default_, low, high, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_REAL, double, default_, text, .lo = low, .hi = high, .word = word_)
#define NB_REAL_FOR(T, field, key_, value_, default_, low, high, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_REAL, double, default_, text, .lo = low, .hi = high, .for_key = key_, \
                    .for_value = value_)
#define NB_BOOL(T, field, default_, text) NB_OPTION_FIELD(T, field, NB_OPTION_BOOL, int, default_, text, .lo = 0)
#define NB_ENUM(T, field, default_, names, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_ENUM, int, default_, text, .choices = names)
#define NB_TEXT(T, field, default_, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_STRING, const char *, default_, text, .names_files = false)
#define NB_FILE(T, field, default_, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_STRING, const char *, default_, text, .names_files = true)
#define NB_COMPONENT(T, field, default_, registry_, text) \
    NB_OPTION_FIELD(T, field, NB_OPTION_SPEC, const nb_choice *, default_, text, .registry = registry_)
#define NB_OPTION_END \
    { \
        .key = NULL \
    }

/* The first member of every record. */
typedef struct {
    const char *name;              /* equals the file's stem */
    const char *summary;           /* one line */
    const char *const *references; /* at least one; NULL-terminated */
    const nb_option *options;      /* ends with NB_OPTION_END */
    size_t options_size;           /* size of the struct that the options fill; 0: none */
} nb_component;

typedef struct {
    const char *file; /* source: its path in the source tree, or a plug-in's as given */
    const nb_component *component;
} nb_entry;

struct nb_registry {
    const char *kind, *plural; /* "strategy", "strategies" */
    nb_entry *entries;         /* sorted by name; ends with component == NULL */
    int room;                  /* entries it has room for, including plug-ins' */
    /* Returns the name of a missing kind-specific member of a plug-in's record, or NULL. */
    const char *(*lacks)(const nb_component *component);
    size_t size;         /* bytes of a record */
    const size_t *texts; /* where it has texts, behind its nb_component; ends with 0 */
};

/* Returns whether it calls a function of the calling program. */
bool nb_component_of_caller(const nb_component *component);

const nb_component *nb_registry_find(const nb_registry *registry, const char *name); /* NULL if unknown */

/* NB_EINVAL if a component in the tree is not named after its file, which also makes names unique. Call it before
 * plug-ins are added. */
nb_status nb_registry_check(const nb_registry *registry, nb_ctx *ctx);

/* Lists all names but those of components of the caller, sorted; NULL-terminated. */
nb_status nb_registry_names(const nb_registry *registry, const char *const **names, nb_ctx *ctx);

/* Adds a component; only before this process has workers. The record is kept, not copied. NB_EINVAL if the name is
 * taken. */
nb_status nb_registry_add(const nb_registry *registry, const char *file, const nb_component *component, nb_ctx *ctx);

/* A component with its options. Its texts are of the options as they were given: a path among these may be replaced
 * later by where its file was found. */
typedef struct {
    const nb_component *component;
    void *options;         /* filled struct of options_size bytes */
    const char *canonical; /* identity: all options in table order, numbers with 17 digits */
    const char *resolved;  /* `canonical` with the options that select a head; reads back as the same choice */
    const char *label;     /* for people: options that differ from their defaults, and only the last part of a path */
    bool plain;            /* all options have their defaults */
    const char *given;     /* label given in the spec, then also `label`; NULL: none */
} nb_choice;

/* An option of every component: its name in tables and figures, no part of its identity. */
#define NB_LABEL_OPTION "label"
#define NB_LABEL_HELP "what tables and figures call it"
enum { NB_MOST_LABEL = 200 }; /* bytes of a given label */

/* Writes `resolved` with the given label. */
nb_status nb_choice_written(const nb_choice *choice, const char **text, nb_ctx *ctx);

/* Writes the given label or, for people, the first option and those that differ from their defaults. */
nb_status nb_choice_full(const nb_choice *choice, const char **text, nb_ctx *ctx);

/* Writes what seeds the random streams of a problem's data: `canonical` without the options that have their defaults or
 * only permute tokens. */
nb_status nb_choice_drawn(const nb_choice *choice, const char **text, nb_ctx *ctx);

/* Makes a choice of a spec, as nb_choice_written writes it, whose component is not known: its texts are the spec
 * without the label. *labelled: it has a label. */
nb_status nb_choice_of_stranger(const char *text, nb_choice *choice, bool *labelled, nb_ctx *ctx);

/* Writes `label`, but with the last `parts` parts of a path. */
nb_status nb_choice_label(const nb_choice *choice, int parts, const char **text, nb_ctx *ctx);

/* Finds the component and fills its options from the defaults and the spec (which holds no lists). Each unknown
 * name, bad value or missing option is one mistake; choice->component stays NULL if there was one. */
nb_status nb_choose(const nb_registry *registry, const nb_spec *spec, nb_choice *choice, nb_mistakes *mistakes,
                    nb_ctx *ctx);

/* Returns the choice of a component outside of the registries, all of whose texts are its name. */
nb_choice nb_choice_named(const nb_component *component, void *options, const char *name);

/* Rewrites the texts of a choice after its options were changed. */
nb_status nb_choice_describe(nb_choice *choice, nb_ctx *ctx);

/* Parses a text, expands its lists and appends the choices to *choices, each only once. */
typedef struct {
    nb_choice *items;
    int count, capacity;
} nb_choices;
nb_status nb_choices_add(nb_choices *choices, const nb_registry *registry, const char *text, nb_place place,
                         nb_mistakes *mistakes, nb_ctx *ctx);

/* The same, but appends repetitions too. If one given label stands for several choices, the options in which they
 * differ are added to it. */
nb_status nb_choices_list(nb_choices *choices, const nb_registry *registry, const char *text, nb_place place,
                          nb_mistakes *mistakes, nb_ctx *ctx);
nb_status nb_choices_list_spec(nb_choices *choices, const nb_registry *registry, const nb_spec *spec,
                               nb_mistakes *mistakes, nb_ctx *ctx);

nb_status nb_choices_append(nb_choices *choices, nb_choice choice, nb_ctx *ctx);
/* Copies of->label to all choices with its canonical text. NB_EINVAL if one has a different label already, or if a
 * different choice's label has the same letters and digits. */
nb_status nb_choices_label(nb_choices *choices, const nb_choice *of, nb_ctx *ctx);
int nb_choices_find(const nb_choices *choices, const nb_choice *choice); /* its index, or -1 */

/* A component with some of its options; it matches all choices that agree in these. */
typedef struct {
    const nb_component *component;
    void *options;
    int count;
    const nb_option **given; /* the options given; a spec as a value must agree entirely */
} nb_choice_part;

/* Parses a text and expands its lists to one or more parts. */
nb_status nb_choice_parts_read(const nb_registry *registry, const char *text, nb_place place, int *count,
                               nb_choice_part **parts, nb_mistakes *mistakes, nb_ctx *ctx);
nb_status nb_choice_parts_of(const nb_registry *registry, const nb_spec *spec, int *count, nb_choice_part **parts,
                             nb_mistakes *mistakes, nb_ctx *ctx);
nb_status nb_choice_part_text(const nb_choice_part *part, const char **text,
                              nb_ctx *ctx); /* the text reads back as the same part */
nb_status nb_choice_part_matches(const nb_choice_part *part, const nb_choice *choice, bool *matches, nb_ctx *ctx);

/* Parses a text that is known to be valid; its first mistake is an NB_EINVAL. */
nb_status nb_choice_parse(const nb_registry *registry, const char *text, nb_choice *choice, nb_ctx *ctx);
/* The same of a text that another program may have written: *there <- whether this one has the component, and its
 * options, as a plug-in's that is not loaded is not; NB_ENOMEM is the only failure. */
nb_status nb_choice_recall(const nb_registry *registry, const char *text, nb_choice *choice, bool *there, nb_ctx *ctx);

/* Writes an option's value: numbers with `digits` digits, or (0) the fewest that read back as the same number; strings
 * are quoted where needed. */
nb_status nb_option_text(const void *options, const nb_option *option, int digits, const char **text, nb_ctx *ctx);

/* Returns what an option allows, for people: "an integer from 1 to 8", or in brief "integer 1 ... 8"; ctx owns it, NULL
 * when out of memory. */
const char *nb_option_allowed(const nb_option *option, bool brief, nb_ctx *ctx);

/* Returns the text as a spec's string, in quotes; ctx owns it, NULL when out of memory. */
const char *nb_quoted(const char *text, nb_ctx *ctx);

/* Sets one option from a text, which must outlive the struct. False if the option does not allow it, and for options
 * that are specs. */
bool nb_option_set(const nb_option *option, const char *text, void *options);

#endif
