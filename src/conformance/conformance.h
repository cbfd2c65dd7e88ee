/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance.h - checks that every component keeps the promises of component.h and of its kind's header on every head.
 * The conformance test and `nysbench check` run the same checks. */
#ifndef NB_CONFORMANCE_H
#define NB_CONFORMANCE_H

#include "calls/picking.h"
#include "components/registry.h"

typedef struct {
    const char *why[NB_PAIRING_COUNT]; /* why a strategy in another process refuses a pairing; NULL: it does not */
} nb_refused;

/* Holds what a check says beside its status. */
typedef struct {
    long calls;     /* so far */
    char place[40]; /* the points of its own that it fails on, in words; "": it fails on the head */
} nb_trial_told;

typedef struct {
    const nb_choice *choice; /* the component under check */
    const nb_choice *kernel; /* for strategies and cores: makes S */
    const nb_head *head;     /* NULL for a problem, which makes its own */
    nb_refused refused;      /* pairings to skip, beside those that the strategy lacks */
    nb_trial_told told;
} nb_trial_run;

typedef struct {
    const char *name, *what; /* what it checks, for a PASS line */
    /* Returns NB_OK, or another status with a message that says what does not hold, and where. */
    nb_status (*run)(nb_trial_run *run, nb_ctx *ctx);
    const char *(*idle)(const nb_choice *choice); /* why it finds nothing to check, or NULL; NULL: it always does */
} nb_check;

/* A property that a check demands of what it has opened, `self`. */
typedef struct {
    const char *check, *name;
    /* Returns what nb_check's `run` does. A tolerance of 0 asks for the same bits, or for yes or no. */
    nb_status (*holds)(const void *self, double tolerance, nb_ctx *ctx);
    bool (*applies)(const void *self); /* NULL: always */
    double tolerance;
    const char *reason; /* why the tolerance is what it is */
} nb_property;

/* A property of several kinds: nothing was written beyond the end of what ctx has allocated. */
nb_status nb_memory_untouched(const void *self, double tolerance, nb_ctx *ctx);

/* The properties of the kinds that have a table of them; each array ends with name == NULL. */
extern const nb_property nb_core_properties[], nb_kernel_properties[], nb_attention_properties[];

/* Checks all properties of a check that apply, in the table's order, up to the first that does not hold. */
nb_status nb_properties_hold(const nb_property *properties, const char *check, const void *self, nb_ctx *ctx);

/* The checks of each kind; each array ends with name == NULL. */
extern const nb_check nb_strategy_checks[], nb_core_checks[], nb_kernel_checks[], nb_problem_checks[],
    nb_partition_checks[], nb_attention_checks[];
const nb_check *nb_checks_of(const nb_registry *registry);

/* Runs a check in a child process, since what it tries may crash or hang: NB_EBUG then, and the check's status else.
 * run->told is what the child has said. */
nb_status nb_check_apart(const nb_check *check, nb_trial_run *run, double limit_s, nb_ctx *ctx);

/* True if the kind's checks run on each head; else they run once. */
bool nb_checks_need_heads(const nb_registry *registry);

/* Makes the calls that a run makes before it measures anything (check, ready, traits_of ...); for a plug-in in a child
 * process with the context's patience. */
nb_status nb_check_early(const nb_choice *choice, const nb_registry *registry, nb_ctx *ctx);

/* Finds the pairings that a strategy in another process (NB_ELSEWHERE) refuses: its record has a function for each, but
 * only the program behind it knows. Lets it pick once with each, in a process with limit_s seconds. If all fail,
 * those count as refused that fail for another reason than its own pairing, and the checks report that one. */
nb_status nb_find_refused(const nb_choice *strategy, const nb_choice *kernel, double limit_s, nb_refused *refused,
                          nb_ctx *ctx);

/* Returns a checksum of a head's points. */
uint64_t nb_conformance_sum(const nb_head *head);

enum { NB_PLAIN_HEAD = 3 }; /* index of an ordinary head */

/* Makes heads that tend to break code, by index: one token, repeated points, all zero, a mask, huge norms; *name is
 * NULL past the end. */
nb_status nb_conformance_head(int index, const char **name, nb_head *head, nb_ctx *ctx);

/* Checks a component's record: its texts, that each option refuses values out of range, and that defaults print as they
 * are spelled. */
nb_status nb_check_record(const nb_registry *registry, const nb_component *component, nb_ctx *ctx);

/* NB_EBUG, with advice, if a component is declared random and gives the same in another trial, or the reverse.
 * `by_option`: a program's user says so by an option, and not a file by a trait. */
typedef struct {
    bool random, by_option, same;
    const char *trait, *same_text, *other_text; /* "NB_RANDOM", "picks the same", "picks others" */
} nb_draws;
nb_status nb_check_draws(nb_draws found, nb_ctx *ctx);

/* Tests behaviour without memory: calls `act` with its k-th allocation failing, for each k until none does; before
 * each, `prepare` (or NULL) without failures. NB_EBUG if `act` reports anything but NB_OK or NB_ENOMEM, or leaks a
 * block. */
nb_status nb_check_allocations(nb_status (*prepare)(void *self, nb_ctx *ctx), nb_status (*act)(void *self, nb_ctx *ctx),
                               void *self, nb_ctx *ctx);

/* Prefixes the message of a failed check with its place, "m = 4, pairing joint: ..."; returns the status. */
nb_status nb_conformance_at(nb_status status, int m, const char *axis, const char *value, nb_ctx *ctx);

/* Returns the part of a message behind such a place. */
const char *nb_conformance_cause(const char *message);

/* Returns true if two causes are the same but for their numbers, such as those of shapes. */
bool nb_conformance_same(const char *a, const char *b);

/* Appends the component with its defaults, and with each choice of each of its options (also words in place of
 * numbers), to choices. `given`: the options that must be set, "key=value, ...", or "". */
nb_status nb_conformance_variants(const nb_registry *registry, const nb_component *component, const char *given,
                                  nb_choices *choices, nb_ctx *ctx);

#endif
