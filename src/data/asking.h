/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asking.h - puts a question to a program of the user's: arrays in a new folder, what they are as JSON, and an answer
 * that is files in the same folder. The option tables of components `command`, and all that they share.
 *
 * Without `serve` the program is started in that folder, which is its current one and its last argument, and finds the
 * question in request.json. Its standard output is thrown away; its standard error tells why it failed. With
 * `serve` it is a server (base/server.h), and the question, with "folder" in it, is a line. Messages call it by the
 * name that it gives itself, where it does, and else by `run`. Its answer {"done": WORD} may have
 * "waited_s": N, the seconds that the question waited there behind others'. What else an answer may say, a program
 * that is not served leaves in answer.json.
 *
 * `run` is split into words at blanks, with quotes and backslashes as a shell has
 * them, and no shell is involved. Since the program runs elsewhere, a word that names
 * a file in the folder of the call, where nysbench was started, becomes its absolute
 * path, and so does what follows the first '=' of a word (--weights=w.npy); links are
 * not followed, so that the python of a virtual environment stays that. The first word
 * is looked for in PATH if it has no '/'. Folders stay as they are: the folder of
 * the call is in the environment, as NYSBENCH_FOLDER. */
#ifndef NB_ASKING_H
#define NB_ASKING_H

#include "components/component.h"

#include <jansson.h>

typedef struct {
    const char *run;
    double timeout;
    int deterministic;
    int serve;
    double start;
} nb_asking;

/* The rows of an nb_asking in the options table of a struct that begins with one, and a table of nothing else.
 * `results`: what is the same in all trials; `served`: what the program does. */
#define NB_ASKING_OPTIONS(results, served) NB_ASKING_FIELDS(results, served), NB_OPTION_END
#define NB_ASKING_FIELDS(results, served) \
    NB_FILE(nb_asking, run, NULL, "the program and its arguments, such as \"python3 mine.py\""), \
        NB_REAL(nb_asking, timeout, "60", 1e-3, 1e6, \
                "seconds for one call; after that it is told to end, and killed a second later"), \
        NB_BOOL(nb_asking, deterministic, "false", "the program does not use the seed: " results), \
        NB_OPTION_FIELD(nb_asking, serve, NB_OPTION_BOOL, int, "false", "the program stays alive and " served, \
                        .newer = true), \
        NB_OPTION_FIELD(nb_asking, start, NB_OPTION_REAL, double, "60", "seconds until such a program is ready", \
                        .lo = 1e-3, .hi = 1e6, .newer = true, .for_key = "serve", .for_value = "true")

/* A question and what came of it; its memory is ctx's. */
typedef struct {
    const nb_asking *program;
    const char *who;         /* what messages call the program: `run`, or the name that it gives itself */
    const char *folder;      /* a new one, with the arrays */
    json_t *question;        /* an object */
    const char *const *done; /* what a served program may say that it has left, NULL-terminated */
    int left;                /* index in `done` of what it has left; 0: it is not served */
    const json_t *answer;    /* an object; NULL: it is not served, and has left no answer.json */
    double spared_s;         /* seconds that are no part of the work: its start, and what the question waited */
    size_t bytes;            /* of the arrays */
    const char *said;        /* its standard error, for the end of messages */
    nb_mark mark;            /* the memory of the question lies behind it */
} nb_question;

/* Makes the folder, and takes over `question`: NULL is NB_ENOMEM. */
nb_status nb_question_open(nb_question *q, const nb_asking *program, json_t *question, nb_ctx *ctx);

/* Writes values (rows x columns, in C order) to an array in the folder. */
nb_status nb_question_add(nb_question *q, const char *name, int rows, int columns, const double *values, nb_ctx *ctx);
/* The same of float32 or float64, as nb_npy_save_floats. */
nb_status nb_question_add_floats(nb_question *q, const char *name, int rank, const int64_t *shape, size_t each,
                                 const void *values, nb_ctx *ctx);

/* NB_EIO with the reason if the program fails, NB_EHOST if the system gives it no process, pipe or folder. */
nb_status nb_question_ask(nb_question *q, nb_ctx *ctx);

/* Finds what the answer says beside what is done: *seconds, 0 or more, or NaN; *text, a short text, or NULL. NB_EIO for
 * anything else under that key. */
nb_status nb_question_seconds(const nb_question *q, const char *key, double *seconds, nb_ctx *ctx);
nb_status nb_question_text(const nb_question *q, const char *key, const char **text, nb_ctx *ctx);

/* *path <- the program's file of that name; NULL: it has left none. */
nb_status nb_question_find(const nb_question *q, const char *name, const char **path, nb_ctx *ctx);

/* Passes on the status of reading such a file: an error is told as the program's. */
nb_status nb_question_read(const nb_question *q, nb_status status, nb_ctx *ctx);

/* Passes on the status of all of this. Of a failed question the folder is copied into the one that the variable
 * NYSBENCH_KEEP of the environment names, if it is set: NB_EHOST if that fails. If there is no room for its arrays and
 * an answer of the same size, even now that all files are gone, that is the reason: NB_EHOST, however the program has
 * failed. */
nb_status nb_question_end(const nb_question *q, nb_status status, nb_ctx *ctx);

/* Reports a program that cannot be started here; what a program that is not served needs besides is not checked. */
nb_status nb_asking_ready(const nb_asking *program, nb_ctx *ctx);

/* Finds the words of `run` as the program is to see them, and `last` behind them unless it is NULL; and the folder of
 * the call as a variable of its environment. */
nb_status nb_asking_words(const char *run, const char *last, char ***words, const char **variable, nb_ctx *ctx);

#endif
