/* SPDX-License-Identifier: GPL-3.0-or-later */
/* head.h - one attention head's points, and the files that hold them. */
#ifndef NB_HEAD_H
#define NB_HEAD_H

#include "base/ctx.h"

/* Points of a head. Each point is a column. */
typedef struct {
    int n, d, dv; /* tokens, dimension of q and k, dimension of v (0 without v) */
    double *q;    /* d x n */
    double *k;    /* d x n, or NULL if the head has none, as the problem's shape says */
    double *v;    /* dv x n, or NULL */
    bool causal;  /* a query sees the keys up to its own position */
} nb_head;

/* Allocates zeroed q, k, v (each d x n) of a head without a mask. */
nb_status nb_head_new(int n, int d, nb_head *head, nb_ctx *ctx);

enum { NB_MOST_HEADS = 1 << 20 };

/* Splits FILE[:H]; a file of just that name takes precedence. *head = -1: no head is named. NB_EINVAL if H is not a
 * head's number. */
nb_status nb_head_split(const char *text, const char **file, int *head, nb_ctx *ctx);

/* The shape of a head file's arrays, read from the header(s) alone. */
typedef struct {
    int heads;     /* query heads of all inputs: head h of input i is i * heads / inputs + h */
    int key_heads; /* heads of k and v, a divisor of heads: query head h uses h / (heads / key_heads); 0: no k */
    int inputs;    /* of arrays (inputs, heads, n, d); 0: no such dimension */
    int n, d, dv;  /* dv = 0: the file has no v */
    bool causal;   /* metadata `causal` is "true"; .npy folders have no metadata: false */
    bool unmasked; /* no metadata `causal`: unknown whether there is a mask */
    bool doubtful; /* no metadata `layout`, and more heads than tokens or fewer tokens than d */
} nb_head_shape;

/* Reads a head file's shape. FILE is either .safetensors with tensors q and optionally k or k and v, of shape (heads,
 * n, d), (inputs, heads, n, d) or (n, d), or, where metadata `layout` is "n,heads,d", (n, heads, d) or (inputs, n,
 * heads, d). Or it is a folder with q.npy and optionally k.npy or k.npy and v.npy, of the same shapes without a layout.
 * NB_EIO if it cannot be read or is malformed, NB_EDIM if shapes disagree; the message names the file and the field. */
nb_status nb_head_file_shape(const char *path, nb_head_shape *shape, nb_ctx *ctx);

/* Writes a sentence saying that the file has no k and what it has instead; *text is NULL if it has k. */
nb_status nb_head_lack(const char *path, const nb_head_shape *shape, const char **text, nb_ctx *ctx);

/* Writes a sentence saying how an ambiguous file is read, and what to do if it is meant otherwise; *text is NULL if
 * there is no doubt. */
nb_status nb_head_doubt(const char *path, const nb_head_shape *shape, const char **text, nb_ctx *ctx);

/* The consequence of `unmasked`, and what to do. */
#define NB_HEAD_UNMASKED \
    "no causal mask is assumed for heads whose file does not name one (causal=false says so without this warning); " \
    "for a decoder's heads set causal=true, with factors: cur and strategies that pick tokens"

typedef struct {                /* NULL: not known */
    const char *model;          /* metadata `model` */
    const char *layer;          /* metadata `layer` */
    const char *const *sources; /* by query head: the text, image or recording it comes from */
} nb_head_origins;

/* Reads where the heads of a file come from. The source is metadata `source`, else `input`, else the file.
 *
 * If the arrays have inputs, each input has a source: the words of metadata `sources`, one for each input (NB_EIO if
 * the numbers differ); else, if their number fits, those of `input` behind its last ": ", each up to a '[', since
 * brick[4,172] is a part of brick; else "FILE input I". */
nb_status nb_head_origins_of(const char *path, const nb_head_shape *shape, nb_head_origins *origins, nb_ctx *ctx);

/* Reads query head `index` (from 0) with its keys and values. NB_ENUMERIC for NaN and Inf, with the tensor and the
 * position. */
nb_status nb_head_load(const char *path, int index, nb_head *head, nb_ctx *ctx);

/* True if the text has a character of patterns: '*', '?' or '['. */
bool nb_head_files_pattern(const char *text);

/* Lists the files that `text` stands for, sorted, by their names from `folder` ("": none; else a path that ends with
 * '/'): of a pattern the matches, of a folder without q.npy its .safetensors files and those of its folders that have
 * q.npy. *count = 0: the text is itself one file, or a folder to be read as one; -1: it does not exist. */
nb_status nb_head_files(const char *folder, const char *text, int *count, const char *const **files, nb_ctx *ctx);

#endif
