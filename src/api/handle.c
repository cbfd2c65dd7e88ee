/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handle.c - handles; and what all calls of a process share, a count of those that run. */
#include "api/handle.h"

#include "base/version.h"
#include "components/added.h"

#include <cblas.h>
#include <gsl/gsl_errno.h>
#include <pthread.h>
#include <stdlib.h>

_Static_assert((int)NYSBENCH_OK == (int)NB_OK && (int)NYSBENCH_EINVAL == (int)NB_EINVAL &&
                   (int)NYSBENCH_ENOMEM == (int)NB_ENOMEM && (int)NYSBENCH_EDIM == (int)NB_EDIM &&
                   (int)NYSBENCH_ENUMERIC == (int)NB_ENUMERIC && (int)NYSBENCH_EIO == (int)NB_EIO &&
                   (int)NYSBENCH_EBUG == (int)NB_EBUG && (int)NYSBENCH_EHOST == (int)NB_EHOST &&
                   NB_EREFUSED == NYSBENCH_EHOST + 1 && NB_ELATE + 1 == NB_STATUS_COUNT,
               "a status is the same number inside and outside");

/* The library's, for all arguments and components; no program's. */
static const nb_host library = {.processes = false};

/* Process-wide settings of OpenBLAS and GSL: the first of several running calls changes them, the last one restores
 * them. */
static struct {
    pthread_mutex_t lock;
    int inside, threads;
    gsl_error_handler_t *handler;
} calls = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Thread_local int own_calls; /* of `inside` */

static void set_back(void)
{
    if (calls.threads != 1) openblas_set_num_threads(calls.threads);
    gsl_set_error_handler(calls.handler);
}

static void before_fork(void)
{
    nb_added_lock();
    pthread_mutex_lock(&calls.lock);
}

static void after_fork_in_parent(void)
{
    pthread_mutex_unlock(&calls.lock);
    nb_added_unlock();
}

/* The child has the calls of the thread that forked, and nobody ends those of the others. */
static void after_fork_in_child(void)
{
    bool over = calls.inside > 0 && own_calls == 0;
    calls.inside = own_calls;
    if (over) set_back();
    after_fork_in_parent();
}

static int watched; /* 0, or why forks cannot be seen */

static void watch_forks(void)
{
    watched = pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static void enter(void)
{
    pthread_mutex_lock(&calls.lock);
    if (calls.inside++ == 0) {
        calls.handler = gsl_set_error_handler_off();
        calls.threads = openblas_get_num_threads();
        if (calls.threads != 1) openblas_set_num_threads(1);
    }
    own_calls++;
    pthread_mutex_unlock(&calls.lock);
}

static void leave(void)
{
    pthread_mutex_lock(&calls.lock);
    own_calls--;
    if (--calls.inside == 0) set_back();
    pthread_mutex_unlock(&calls.lock);
}

void nb_call_begin(nysbench *h, bool keep)
{
    h->locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0)); /* glibc's own: not to be freed */
    enter();
    nb_error_clear(h->ctx);
    nb_ctx_forget_exhausted(h->ctx);
    nb_ctx_release(h->results, keep ? h->kept : 0);
    h->warning = NULL;
    h->at_work = false;
    h->field = NULL;
    if (keep) return;
    h->kept = 0;
    h->row_count = 0;
}

nysbench_status nb_call_end(nysbench *h, nb_status status)
{
    nb_ctx_release(h->ctx, h->base);
    leave();
    uselocale(h->locale);
    return (nysbench_status)status;
}

void nb_call_keep(nysbench *h)
{
    h->kept = nb_ctx_mark(h->results);
}

nysbench_status nysbench_new(nysbench **handle)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    nysbench *h = handle ? calloc(1, sizeof *h) : NULL;
    if (!handle) return NYSBENCH_EINVAL;
    *handle = NULL;
    pthread_once(&once, watch_forks);
    if (h && watched == 0 && (h->ctx = nb_ctx_new())) h->results = nb_ctx_child(h->ctx);
    if (!h || !h->results) {
        nysbench_free(h);
        return NYSBENCH_ENOMEM;
    }
    h->base = nb_ctx_mark(h->ctx);
    h->host = &library;
    *handle = h;
    return NYSBENCH_OK;
}

void nysbench_free(nysbench *handle)
{
    if (!handle) return;
    nb_ctx_free(handle->ctx);
    free(handle);
}

const char *nysbench_message(const nysbench *handle)
{
    return handle ? nb_error_message(handle->ctx) : "the handle is NULL";
}

const char *nysbench_warning(const nysbench *handle)
{
    return handle && handle->warning ? handle->warning : "";
}

int nysbench_api(void)
{
    return NYSBENCH_API;
}

const char *nysbench_version(void)
{
    return NB_VERSION;
}

const char *nysbench_status_name(nysbench_status status)
{
    return nb_status_name((nb_status)status);
}
