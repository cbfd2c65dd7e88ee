/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handle.h - the struct behind a nysbench, how a call with it begins and ends, and what the program adds to calls. */
#ifndef NB_HANDLE_H
#define NB_HANDLE_H

#include "api/nysbench.h"
#include "attentions/attention.h"
#include "base/ctx.h"
#include "components/component.h"
#include "problems/problem.h"
#include "studies/error/study.h"
#include "nystrom/picks.h"

#include <locale.h>

/* Landmarks that the caller gives, and the name that the column `strategy` has for them; NULL: none are given. */
typedef struct {
    nb_picks queries, keys;
    const char *name;
} nb_given;

/* The command line may do this, other programs that call the library may not. */
typedef struct {
    bool processes; /* components may start some */
    /* Called when the head's shape is known, before strategy and landmarks are read; NULL: no call. Where `given` is
     * not NULL it may set landmarks to use in their place, with a name. */
    nb_status (*seen)(void *self, const nb_problem_shape *shape, nb_given *given, nb_ctx *ctx);
    void *self;
} nb_host;

struct nysbench {
    nb_ctx *ctx;     /* memory of one call, freed when it ends */
    nb_ctx *results; /* a child of ctx, for what the caller gets */
    nb_mark base, kept;
    const nb_host *host;
    locale_t locale; /* the caller's */
    const char *warning;
    bool at_work;      /* the request has been checked: a failure from now on is one of the computation */
    const char *field; /* of the request, with which the message of a failure begins; NULL: with none */

    /* The last nysbench_select has used these. */
    const char *strategy;
    nb_pairing pairing;
    long long seed;
    int trial;

    /* The last nysbench_measure has returned these. */
    int row_count;
    nb_error_row *rows;
};

/* Begins a call. Frees the results of the previous one unless `keep` is set. */
void nb_call_begin(nysbench *handle, bool keep);

/* Ends the call, keeps the message of a failure and returns the public status. */
nysbench_status nb_call_end(nysbench *handle, nb_status status);

/* The whole of a function of the library: a call with the handle, which may be NULL, that ends with that status. */
#define NB_CALL(handle, keep, status) \
    do { \
        if (!(handle)) return NYSBENCH_EINVAL; \
        nb_call_begin(handle, keep); \
        return nb_call_end(handle, status); \
    } while (0)

/* Everything added to the results from here on lives until the next call; everything before, until the next call
 * without `keep`. */
void nb_call_keep(nysbench *handle);

/* Makes a problem of the request's q, k and v, which are not copied. NB_EINVAL or NB_ENUMERIC names the array. */
nb_status nb_arrays_choice(const nysbench_request *request, nb_choice *problem, nb_ctx *ctx);

/* NB_EINVAL if a component, or one within its options, works in another process. */
nb_status nb_refuse_elsewhere(const nb_choice *component, nb_ctx *ctx);

/* Reads picks from arrays of the caller's; `name` is the array's for messages. */

/* m of n tokens, or the groups of n tokens. NB_EINVAL if they break the rules of picks.h. */
nb_status nb_given_tokens(const char *name, bool groups, int m, int n, const int64_t *from, nb_picks *picks,
                          nb_ctx *ctx);

/* m x d by rows. NB_ENUMERIC if one is not finite. */
nb_status nb_given_points(const char *name, int m, int d, const double *from, nb_picks *picks, nb_ctx *ctx);

/* For callers that have the whole layer as an nb_layer. */
struct nysbench_attention {
    nysbench *own; /* memory and message of its own, which may outlive the handle */
    nb_choice choice;
    nb_attending attending;
    nb_passed passed;
};

/* Reads the spec of an attention and checks what can be checked without a layer. */
nb_status nb_attention_choose(const nysbench *handle, const char *spec, nb_choice *attention, nb_ctx *ctx);

/* Runs one forward pass; `extends`: over the tokens that come next. NB_ENUMERIC if the outputs are not finite. */
nysbench_status nb_attention_pass(nysbench_attention *attention, const nb_layer *layer, bool extends, nb_scalar *out);

#endif
