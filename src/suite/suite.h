/* SPDX-License-Identifier: GPL-3.0-or-later */
/* suite.h - a frozen list of heads on which a method is judged by one number: how much less error it has than a
 * baseline at the same multiplications. docs/suite.md defines it.
 *
 * A method is an attention without its size (the option that its record names, such as landmarks). It has as many
 * multiplications as exact attention, divided by each of `nb_suite_parts`: of each model's heads the largest size is
 * taken whose pass, counted, has no more. */
#ifndef NB_SUITE_H
#define NB_SUITE_H

#include "attentions/attention.h"
#include "rows/relation.h"
#include "show/page.h"
#include "statistics/estimate.h"

enum { NB_SUITE_SHARES = 4 };
extern const int nb_suite_parts[NB_SUITE_SHARES]; /* of exact attention's multiplications: 4, 8, 16, 32 */

/* The model of a track on which the damage that a method does is measured: all its layers have the attention that the
 * method is at one share. */
typedef struct {
    const char *served, *column; /* as a program that serves models names it; the measure, a column of study effect */
    bool logarithm;              /* natural, of that measure */
    int model, share;            /* of the suite's models and of nb_suite_parts */
    int count;
    const char *const *sources; /* as the program names them */
} nb_suite_damaged;

/* A track is of models whose heads look at all tokens, or at earlier ones alone. */
typedef struct {
    const char *name, *baseline; /* an attention without its size */
    bool causal;
    const nb_suite_damaged *damaged; /* NULL: there is none */
} nb_suite_track;

typedef struct {
    const char *name;
    int track, first, count; /* of the inputs: those of a model stand together */
} nb_suite_model;

/* The heads of one layer on one source. */
typedef struct {
    const char *source, *file, *path; /* path: the file, as it can be opened */
    int model, layer, first;          /* first: the model's first input of the same source */
} nb_suite_input;

typedef struct {
    const char *version, *form, *digest; /* digest: of the list */
    int track_count, model_count, count;
    nb_suite_track *tracks;
    nb_suite_model *models;
    nb_suite_input *inputs;
} nb_suite;

/* The list that comes with the program. */
nb_status nb_suite_small_list(const char **path, nb_ctx *ctx);
/* Reads a list; `heads`: its files are needed too, from the list's folder. NB_EIO if one of these is not there or its
 * SHA-256 is not the list's, NB_EINVAL for what is no list. */
nb_status nb_suite_read(const char *path, bool heads, nb_suite *suite, nb_ctx *ctx);
/* The input as messages name it: "vit, dune, layer 9". */
nb_status nb_suite_place(const nb_suite *suite, int input, const char **text, nb_ctx *ctx);

/* What a method's author declares, since the program cannot know it. */
enum { NB_SUITE_SAYS_LINEAR = 1 << 0, NB_SUITE_SAYS_TRAINED = 1 << 1 };

/* Which sources its options were tuned on; NULL-terminated. */
extern const char *const nb_suite_tunings[];

typedef struct {
    const char *text; /* as it was given: an attention without its size, or a strategy, which stands in nystrom */
    const char *spec; /* that attention */
    const char *name; /* of its file: the label that the spec gives, else the text */
    const char *label, *size;      /* size: the option that is chosen; NULL: it has none */
    const char *const *references; /* NULL-terminated */
    unsigned traits;               /* NB_ATTENTION_* */
    const char *sizes;             /* the file that tells its settings; NULL: they are counted */
    const char *tuned;             /* one of nb_suite_tunings; NULL: it is not said */
    int linear;                    /* its multiplications grow as n does at a given size: 1, 0; -1: it is not known */
    unsigned declared;             /* NB_SUITE_SAYS_* */
    bool uncounted;                /* it is timed alone, since nobody counts what it does */
} nb_suite_method;

/* NB_EINVAL for what is neither, or names its size. */
nb_status nb_suite_method_find(const char *text, nb_suite_method *method, nb_ctx *ctx);
/* Takes what its author declares, "linear=true" for instance. NB_EINVAL for what the program knows, and for anything
 * else. */
nb_status nb_suite_declare(nb_suite_method *method, const char *text, nb_ctx *ctx);
/* It has a causal form that looks at earlier tokens alone: it can serve while tokens are still to come. */
bool nb_suite_needs_earlier_alone(const nb_suite_method *method);
/* The method with its size; 0: without one. */
nb_status nb_suite_spec(const nb_suite_method *method, int size, const char **spec, nb_ctx *ctx);

/* A method at one share on the heads of one model. */
typedef struct {
    const char *text;       /* with its size, as it is written with all options; NULL: there is none */
    nb_choice attention;    /* component NULL: there is none, because of `why` */
    int size;               /* 0: it has no size, or it is not known */
    double multiplications; /* of a pass over the model's first input */
    double bytes;           /* that the pass held; NaN: not known */
    double growth;          /* log2 of how many times the multiplications of half the tokens; NaN: not known */
    const char *why;
} nb_suite_setting;

#define NB_SUITE_TOO_DEAR "no size has so few multiplications"

/* Exact attention's multiplications as a product of matrices has them: those of the masked half too. */
double nb_suite_exact(const nb_layer_shape *shape);
/* The layer of an input. */
nb_status nb_suite_layer(const nb_suite *suite, int input, nb_layer *layer, nb_ctx *ctx);
/* NB_EINVAL where these are fewer than one multiplication for each number of an input's outputs. */
nb_status nb_suite_enough(const nb_suite *suite, int input, const char *label, double multiplications,
                          const nb_layer_shape *shape, nb_ctx *ctx);
/* Makes of ctx's error, in whatever was done, one that names the method and the head. NB_EINVAL. */
nb_status nb_suite_refuse(const nb_suite *suite, int input, const char *label, const char *what, nb_ctx *ctx);

/* Counts the settings, one for each of nb_suite_parts; passes are made in a process of their own, of at most so many
 * seconds. NB_EINVAL as nb_suite_enough. */
nb_status nb_suite_settle(const nb_suite *suite, int model, const nb_suite_method *method, double limit_s,
                          nb_suite_setting settings[NB_SUITE_SHARES], nb_ctx *ctx);
/* Takes them from the method's file `sizes`: a list of objects with model, share, attention and multiplications, or an
 * object with such a list, `settings`. NB_EINVAL for one that is none, or has more multiplications than its share. */
nb_status nb_suite_read_counts(const nb_suite *suite, int model, const nb_suite_method *method,
                               nb_suite_setting settings[NB_SUITE_SHARES], nb_ctx *ctx);
/* NB_EINVAL where the method at its largest size, on the model's first head, has outputs that are not finite, that
 * change when it is run again, or that depend on later tokens under a mask; each check has so many seconds. */
nb_status nb_suite_trust(const nb_suite *suite, int model, const nb_suite_setting settings[NB_SUITE_SHARES],
                         double limit_s, nb_ctx *ctx);

/* The outcome on one input at one share. */
typedef struct {
    double error, baseline; /* of the outputs, relative: geometric means over trials */
    const char *refused;    /* why there is none: `error` is that of the mean of V; NULL: there is */
} nb_suite_outcome;

/* Holds what a method does to the model of a track. */
typedef struct {
    const char *attention; /* that replaces the model's own, with all options; NULL: there is none */
    const char *refused;   /* why there are no values; NULL: there are */
    const double *values;  /* by source, of nb_suite_damaged */
} nb_suite_damage;

/* The share whose times stand for all on a board: of nb_suite_parts. */
enum { NB_SUITE_TIMED = 1 };

typedef struct {
    const char *attention; /* with all options; NULL: there is none */
    const char *refused;   /* why there is no time; NULL: there is */
    double seconds, error; /* of a pass over all tokens, and of its outputs */
} nb_suite_time;

/* Times on a model's first input, of one thread. */
typedef struct {
    double exact_s, load;                 /* of exact attention; CPUs that other programs used meanwhile */
    const char *device;                   /* of the method's passes, as it says; NULL: the CPU */
    nb_suite_time times[NB_SUITE_SHARES]; /* of a method without a count the first alone, at no share */
} nb_suite_timing;

/* Says what a method is worth: each input has its outcomes by share. */
typedef struct {
    const nb_suite *suite;
    nb_suite_method method;
    const char **absent; /* by track: why the method is not in it; NULL: it is */
    const bool *chosen;  /* the inputs that are measured; NULL: all */
    nb_suite_setting (*settings)[NB_SUITE_SHARES], (*baselines)[NB_SUITE_SHARES]; /* by model */
    nb_suite_outcome (*outcomes)[NB_SUITE_SHARES];                                /* by input */
    const nb_suite_damage *damage; /* by track; NULL: it was not measured */
    const nb_suite_timing *timing; /* by model; NULL: it was not timed */
    const char *device;            /* of the times */
} nb_suite_result;

/* Finds the settings of the method, and of the baselines. NB_EINVAL for a method that cannot be judged. */
nb_status nb_suite_begin(const nb_suite *suite, const nb_suite_method *method, double limit_s, nb_suite_result *result,
                         nb_ctx *ctx);
/* An input of a track that the method is in, and chosen. */
bool nb_suite_is_measured(const nb_suite_result *result, int input);
/* Writes the experiment that measures them. */
nb_status nb_suite_write_experiment(const nb_suite_result *result, const char *path, nb_ctx *ctx);
/* Takes the outcomes from its rows. NB_EIO where a row is missing, or a baseline has no result; NB_EINVAL where the
 * method failed, or its outputs are not finite. */
nb_status nb_suite_take(nb_suite_result *result, const nb_relation *relation, nb_ctx *ctx);

/* log2 of: the baseline's error over the method's, the method's error, the baseline's. */
typedef enum { NB_SUITE_NUMBER, NB_SUITE_ERROR, NB_SUITE_BASELINE } nb_suite_value;

/* all: of each model, then of the track that the method is in, over the sources; at one share, or (-1) of the mean over
 * all. */
nb_status nb_suite_estimates(const nb_suite_result *result, int track, nb_suite_value what, int share, nb_estimate *all,
                             nb_ctx *ctx);
/* *estimate: of log2(baseline / error) at one share (-1: its mean over all) over the sources of a track, whose models
 * count the same. The mean is NaN where the method is not in it. */
nb_status nb_suite_estimate(const nb_suite_result *result, int track, int share, nb_estimate *estimate, nb_ctx *ctx);
/* The value that nine in ten inputs of a track have at least. */
nb_status nb_suite_nine_in_ten(const nb_suite_result *result, int track, double *value, nb_ctx *ctx);

/* Damage and times are blocks that a result's file need not have. Each is measured by an experiment of its own. */

/* Writes the experiment of the damage in a track, whose model `program` serves: its words, before the model's name.
 * NB_EINVAL where the program has no such model or source. */
nb_status nb_suite_write_damage_experiment(const nb_suite_result *result, int track, const char *program,
                                           double limit_s, const char *path, nb_ctx *ctx);
/* Takes it from the rows. NB_EIO where the program or the method failed. */
nb_status nb_suite_take_damage(const nb_suite_result *result, int track, const nb_relation *relation,
                               nb_suite_damage *damage, nb_ctx *ctx);
/* Over the sources of the track's model; NaN where there are no values. */
nb_status nb_suite_damage_estimate(const nb_suite_result *result, int track, nb_estimate *estimate, nb_ctx *ctx);

/* Writes it into a result's file, instead of what is there; `rows`: of each track, the folder of its rows, or NULL. */
nb_status nb_suite_add_damage(const nb_suite_result *result, const char *const *rows, const char *path, nb_ctx *ctx);

/* Why a method is in no track that is not counted: it can be timed. */
#define NB_SUITE_UNCOUNTED "its multiplications are not counted"
/* Writes the experiment that times the method at each share on a model's first input, beside exact attention. */
nb_status nb_suite_write_times_experiment(const nb_suite_result *result, const char *path, nb_ctx *ctx);
/* Takes them from the rows: by model. NB_EIO where exact attention has no time, NB_EINVAL where the method failed. */
nb_status nb_suite_take_times(const nb_suite_result *result, const nb_relation *relation, nb_suite_timing *timing,
                              nb_ctx *ctx);
/* Writes them into a result's file, instead of what is there; `rows`: the folder of the rows. */
nb_status nb_suite_add_times(const nb_suite_result *result, const char *rows, const char *path, nb_ctx *ctx);
/* The method has a time in a track, with or without a count. */
bool nb_suite_is_timed(const nb_suite_result *result, int track);
/* Seconds over those of exact attention at a share: geometric mean over the models of a track; NaN where one has
 * none. */
double nb_suite_time_ratio(const nb_suite_result *result, int track, int share);
/* Other programs used the CPU while a model of the track was timed. */
bool nb_suite_is_disturbed(const nb_suite_result *result, int track);

/* Writes a result to a file, one JSON object; `rows`: the folder of the rows that it was taken from; NULL: it has none,
 * since it is not counted. */
nb_status nb_suite_write(const nb_suite_result *result, const char *rows, const char *path, nb_ctx *ctx);
/* Reads such a file, but for the attentions' choices, and recomputes its numbers from its errors. NB_EINVAL for one
 * that is no result, is of another list, or says another number. */
nb_status nb_suite_check(const nb_suite *suite, const char *path, nb_suite_result *result, nb_ctx *ctx);
/* Chooses this share of the inputs of each model, at least one, by the file's digest. */
nb_status nb_suite_choose(const nb_suite *suite, const char *path, double share, const bool **chosen, nb_ctx *ctx);
/* NB_EINVAL where what was measured again differs from what the file says by more than `tolerance`, relative, and where
 * the method has other properties than the file says, unless its author declares them. */
nb_status nb_suite_agree(const nb_suite_result *says, const nb_suite_result *again, double tolerance, const char *path,
                         nb_ctx *ctx);

/* Adds the numbers of the results, all of one list, and why methods have none. */
nb_status nb_suite_results_page(int count, const nb_suite_result *results, nb_page *page, nb_ctx *ctx);
/* Adds why a method has no output on some inputs of a track: a remark for all shares at which it is the same. */
void nb_suite_add_refusals(nb_page *page, const nb_suite_result *result, int track);
/* A line for each of their tracks. */
nb_status nb_suite_results_grid(int count, const nb_suite_result *results, nb_grid *grid, nb_ctx *ctx);
/* A line for each model of a list: how many files, the shape of a file, and exact attention's multiplications. */
nb_status nb_suite_list_grid(const nb_suite *suite, nb_grid *grid, nb_ctx *ctx);

#endif
