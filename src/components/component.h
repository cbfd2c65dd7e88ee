/* SPDX-License-Identifier: GPL-3.0-or-later */
/* component.h - what all components have in common: a record, and its options as data.
 *
 * One options table a component does the parsing, the defaults, the range
 * checks, `describe` and the canonical text that identifies a row. */
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
    nb_option_type type; /* of the field: int, double, int, int, const char *, const nb_choice * */
    size_t offset;
    const char *initial;         /* the default, spelled as in a config; NULL: must be given */
    double lo, hi;               /* closed range of INT and REAL */
    const char *const *choices;  /* ENUM: NULL-terminated; the field is an index */
    const char *word;            /* INT, REAL: a word allowed in place of a number, or NULL */
    const char *second;          /* INT: another, or NULL */
    const nb_registry *registry; /* SPEC: of what */
    /* The option and value under which this one counts: with another value it must keep its default. NULL: it always
     * counts. */
    const char *for_key, *for_value;
    bool selects_head; /* selects a head of the problem, and so is not part of the problem's identity */
    bool newer;        /* came after rows without it: where it has its default it is not named, so that these keep their
                          identity and their random streams */
    bool reorders;     /* changes the order of a problem's tokens, and so is not part of what is drawn */
    /* STRING: a path, or words of which some are paths; the files' contents are part of a row's identity. */
    bool names_files;
    bool many_files;  /* of these: a pattern or a folder in a config stands for a list of files of heads */
    const char *help; /* one sentence, with the unit */
} nb_option;

/* What an INT field holds for its `word` and its `second` one; a REAL field holds NaN. */
enum { NB_AUTO = INT_MIN, NB_SECOND = INT_MIN + 1 };

/* Rows of a table. A field of the wrong C type does not compile. */
#define NB_FIELD_(T, field, type) \
    (offsetof(T, field) + 0 * sizeof(char[_Generic(((T *)0)->field, type : 1, default : -1)]))
#define NB_INT(T, field, default_, low, high, text) \
    { \
        .key = #field, .type = NB_OPTION_INT, .offset = NB_FIELD_(T, field, int), .initial = default_, .lo = low, \
        .hi = high, .help = text \
    }
#define NB_INT_FOR(T, field, key_, value_, default_, low, high, text) \
    { \
        .key = #field, .type = NB_OPTION_INT, .offset = NB_FIELD_(T, field, int), .initial = default_, .lo = low, \
        .hi = high, .for_key = key_, .for_value = value_, .help = text \
    }
#define NB_INT_OR(T, field, word_, default_, low, high, text) \
    { \
        .key = #field, .type = NB_OPTION_INT, .offset = NB_FIELD_(T, field, int), .initial = default_, .lo = low, \
        .hi = high, .word = word_, .help = text \
    }
#define NB_REAL(T, field, default_, low, high, text) \
    { \
        .key = #field, .type = NB_OPTION_REAL, .offset = NB_FIELD_(T, field, double), .initial = default_, .lo = low, \
        .hi = high, .help = text \
    }
#define NB_REAL_OR(T, field, word_, default_, low, high, text) \
    { \
        .key = #field, .type = NB_OPTION_REAL, .offset = NB_FIELD_(T, field, double), .initial = default_, .lo = low, \
        .hi = high, .word = word_, .help = text \
    }
#define NB_REAL_FOR(T, field, key_, value_, default_, low, high, text) \
    { \
        .key = #field, .type = NB_OPTION_REAL, .offset = NB_FIELD_(T, field, double), .initial = default_, .lo = low, \
        .hi = high, .for_key = key_, .for_value = value_, .help = text \
    }
#define NB_BOOL(T, field, default_, text) \
    { \
        .key = #field, .type = NB_OPTION_BOOL, .offset = NB_FIELD_(T, field, int), .initial = default_, .help = text \
    }
#define NB_ENUM(T, field, default_, names, text) \
    { \
        .key = #field, .type = NB_OPTION_ENUM, .offset = NB_FIELD_(T, field, int), .initial = default_, \
        .choices = names, .help = text \
    }
#define NB_TEXT(T, field, default_, text) \
    { \
        .key = #field, .type = NB_OPTION_STRING, .offset = NB_FIELD_(T, field, const char *), .initial = default_, \
        .help = text \
    }
#define NB_FILE(T, field, default_, text) \
    { \
        .key = #field, .type = NB_OPTION_STRING, .offset = NB_FIELD_(T, field, const char *), .initial = default_, \
        .names_files = true, .help = text \
    }
#define NB_COMPONENT(T, field, default_, registry_, text) \
    { \
        .key = #field, .type = NB_OPTION_SPEC, .offset = NB_FIELD_(T, field, const nb_choice *), .initial = default_, \
        .registry = registry_, .help = text \
    }
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
    size_t options_size;           /* of the struct that they fill; 0: none */
} nb_component;

typedef struct {
    const char *file; /* that it came from: its path in the source tree; a plug-in's as it was given */
    const nb_component *component;
} nb_entry;

struct nb_registry {
    const char *kind, *plural; /* "strategy", "strategies" */
    nb_entry *entries;         /* sorted by name; ends with component == NULL */
    int room;                  /* entries that it can hold, those of plugins included */
    /* Says what a plug-in's record of this kind lacks; NULL: nothing to check. */
    const char *(*lacks)(const nb_component *component);
};

const nb_component *nb_registry_find(const nb_registry *registry, const char *name); /* NULL if unknown */

/* NB_EINVAL if one in the tree has another name than its file's stem: so no two have one. Before plug-ins are added. */
nb_status nb_registry_check(const nb_registry *registry, nb_ctx *ctx);

/* The names of all, sorted; NULL-terminated. */
nb_status nb_registry_names(const nb_registry *registry, const char *const **names, nb_ctx *ctx);

/* Adds a component, before this process has workers. NB_EINVAL if the name is taken. The record is kept, not copied. */
nb_status nb_registry_add(const nb_registry *registry, const char *file, const nb_component *component, nb_ctx *ctx);

/* A component with its options. */
typedef struct {
    const nb_component *component;
    void *options;         /* filled struct of options_size bytes */
    const char *canonical; /* all options in the order of the table, numbers with 17 digits: the identity */
    const char *label;     /* for people: the options that differ from their defaults, of a path the last part */
    const char *full;      /* for people: the first option, and those that differ from their defaults */
    const char *drawn;     /* `canonical` without what only reorders: names the stream of a problem's data */
    const char *resolved;  /* `canonical` and what selects a head: gives the same choice when read again */
    bool plain;            /* all options have their defaults */
    const char *given;     /* the label that its spec gives, which is `label` and `full` then; NULL: none */
} nb_choice;

/* The option that every component takes: what tables and figures call it. It is no part of its identity. */
#define NB_LABEL_OPTION "label"
#define NB_LABEL_HELP "what tables and figures call it"
enum { NB_MOST_LABEL = 200 }; /* bytes of a label that is given */

/* As `resolved`, with the label that was given. */
nb_status nb_choice_written(const nb_choice *choice, const char **text, nb_ctx *ctx);

/* As `label`, but with so many of the last parts of a path. */
nb_status nb_choice_label(const nb_choice *choice, int parts, const char **text, nb_ctx *ctx);

/* Finds the component and fills its options from the defaults and the spec (which holds no lists). Each unknown
 * name, bad value or missing option is one mistake; choice->component stays NULL if there was one. */
nb_status nb_choose(const nb_registry *registry, const nb_spec *spec, nb_choice *choice, nb_mistakes *mistakes,
                    nb_ctx *ctx);

/* Rewrites the texts of a choice from its options. */
nb_status nb_choice_describe(nb_choice *choice, nb_ctx *ctx);

/* Parses, expands and chooses: one text to one or more choices, appended to
 * *choices if they are not there yet. */
typedef struct {
    nb_choice *items;
    int count, capacity;
} nb_choices;
nb_status nb_choices_add(nb_choices *choices, const nb_registry *registry, const char *text, nb_place place,
                         nb_mistakes *mistakes, nb_ctx *ctx);

/* The same with repetitions. A label that is given to several gets the options in which they differ. */
nb_status nb_choices_list(nb_choices *choices, const nb_registry *registry, const char *text, nb_place place,
                          nb_mistakes *mistakes, nb_ctx *ctx);
nb_status nb_choices_list_spec(nb_choices *choices, const nb_registry *registry, const nb_spec *spec,
                               nb_mistakes *mistakes, nb_ctx *ctx);

nb_status nb_choices_append(nb_choices *choices, nb_choice choice, nb_ctx *ctx);
/* A choice's label becomes that of those with the same canonical text. NB_EINVAL where they have another one, or what
 * is not the same has one of the same letters and digits. */
nb_status nb_choices_label(nb_choices *choices, const nb_choice *of, nb_ctx *ctx);
int nb_choices_find(const nb_choices *choices, const nb_choice *choice); /* where it is among them; -1: it is not */

/* A component and some of its options, which stands for all choices that agree with them. */
typedef struct {
    const nb_component *component;
    void *options;
    int count;
    const nb_option **given; /* the options given; a spec as the value of one must agree whole */
} nb_choice_part;

/* Parses and expands a text to one or more parts. */
nb_status nb_choice_parts_read(const nb_registry *registry, const char *text, nb_place place, int *count,
                               nb_choice_part **parts, nb_mistakes *mistakes, nb_ctx *ctx);
nb_status nb_choice_parts_of(const nb_registry *registry, const nb_spec *spec, int *count, nb_choice_part **parts,
                             nb_mistakes *mistakes, nb_ctx *ctx);
nb_status nb_choice_part_text(const nb_choice_part *part, const char **text,
                              nb_ctx *ctx); /* reads back as the same part */
nb_status nb_choice_part_matches(const nb_choice_part *part, const nb_choice *choice, bool *matches, nb_ctx *ctx);

/* The choice for a text that is known to be right; its first mistake is an NB_EINVAL. */
nb_status nb_choice_parse(const nb_registry *registry, const char *text, nb_choice *choice, nb_ctx *ctx);

/* One option's value as text: numbers with so many digits, or the fewest that read
 * back as the same number (0); strings quoted where needed. */
nb_status nb_option_text(const void *options, const nb_option *option, int digits, const char **text, nb_ctx *ctx);

/* What an option allows, for people ("an integer from 1 to 8"); ctx's, NULL when out of memory. */
const char *nb_option_allowed(const nb_option *option, nb_ctx *ctx);

/* One option from a text, which must live as long as the struct; false if it is not what the option allows, and for
 * a spec. */
bool nb_option_set(const nb_option *option, const char *text, void *options);

#endif
