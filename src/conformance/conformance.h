/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance.h - what must hold of every component on every head: what component.h and the header of its kind
 * promise. The conformance test and `nysbench check` run the same checks. */
#ifndef NB_CONFORMANCE_H
#define NB_CONFORMANCE_H

#include "calls/picking.h"
#include "components/registry.h"

typedef struct {           /* why a strategy that works outside refuses pairings; NULL: it does not */
    const char *one_set;   /* all that pick from one set of points */
    const char *both_sets; /* `both` */
} nb_refused;

typedef struct {
    const nb_choice *choice; /* what is checked */
    const nb_choice *kernel; /* for strategies and cores: what S is */
    const nb_head *head;     /* NULL for a problem, which makes its own */
    nb_refused refused;      /* pairings that are passed over, as those are that a strategy lacks */
    long calls;              /* counted by the checks */
} nb_trial_run;

typedef struct {
    const char *name, *what; /* what it checks, in words for a PASS line */
    /* NB_OK, or another status with a message: what does not hold, where. */
    nb_status (*run)(nb_trial_run *run, nb_ctx *ctx);
} nb_check;

/* Each ends with name == NULL. */
extern const nb_check nb_strategy_checks[], nb_core_checks[], nb_kernel_checks[], nb_problem_checks[],
    nb_partition_checks[], nb_attention_checks[];
const nb_check *nb_checks_of(const nb_registry *registry);

/* Whether its checks are for heads; else they are run once. */
bool nb_checks_need_heads(const nb_registry *registry);

/* What a run asks a component before anything is measured: its check, ready, traits_of ..., of a plug-in in a child
 * process, with the context's patience. */
nb_status nb_check_early(const nb_choice *choice, const nb_registry *registry, nb_ctx *ctx);

/* What a strategy refuses that works outside (NB_ELSEWHERE): its record has a function for each pairing, but only the
 * program behind it knows which it has. It picks once of each kind, in a process that has limit_s seconds. Where it
 * fails in both, neither is refused: the checks tell what is wrong. */
nb_status nb_find_refused(const nb_choice *strategy, const nb_choice *kernel, double limit_s, nb_refused *refused,
                          nb_ctx *ctx);

enum { NB_PLAIN_HEAD = 3 }; /* the index of a head that breaks nothing */

/* Heads that break code, by index: one token, repeated points, all zero, a mask;
 * *name is NULL behind the last. */
nb_status nb_conformance_head(int index, const char **name, nb_head *head, nb_ctx *ctx);

/* A component's record: texts, and that each option refuses what it must and prints
 * its default as it is spelled. */
nb_status nb_check_record(const nb_registry *registry, const nb_component *component, nb_ctx *ctx);

/* What memory checks do: `act` with its k-th allocation failing, for every k until none does; before each, `prepare`
 * (or NULL) without. NB_EBUG if it reports anything but NB_OK or NB_ENOMEM, or leaves a block; other checks find
 * what else goes wrong. */
nb_status nb_check_allocations(nb_status (*prepare)(void *self, nb_ctx *ctx), nb_status (*act)(void *self, nb_ctx *ctx),
                               void *self, nb_ctx *ctx);

/* A check's status; its message, if it has one, begins with where: "m = 4, pairing joint: ...". */
nb_status nb_conformance_at(nb_status status, int m, const char *axis, const char *value, nb_ctx *ctx);

/* The component as it is, and with each choice of each of its options, words for numbers included, appended to
 * choices; `given` are the options that must be there, "key=value, ...", or "". */
nb_status nb_conformance_variants(const nb_registry *registry, const nb_component *component, const char *given,
                                  nb_choices *choices, nb_ctx *ctx);

#endif
