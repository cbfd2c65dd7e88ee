/* SPDX-License-Identifier: GPL-3.0-or-later */
/* columns.c - the columns of the forward study's rows, in the order of the CSV. */
#include "studies/forward/study.h"

#include "studies/exact_output.h"

#define TEXT(field, ...) NB_COLUMN_TEXT_OF(nb_forward_row, field, __VA_ARGS__)
#define REAL(field, ...) NB_COLUMN_MEASURE_OF(nb_forward_row, measures, field, __VA_ARGS__)
#define WHOLE(field, ...) REAL(field, .integer = true, __VA_ARGS__)
#define ERROR(field, ...) REAL(field, .exact = NB_EXACT_OUTPUT, __VA_ARGS__)
/* What is known only where passes are timed; of these the times. */
#define TIMED(field, ...) REAL(field, .time = true, .wanted = NB_FORWARD_WANT_TIMES, __VA_ARGS__)
#define TIME(field, ...) TIMED(field, .disturbed = "load.is_much", __VA_ARGS__)

const nb_column nb_forward_columns[] = {
    NB_COLUMN_EXPERIMENT(nb_forward_row),
    NB_COLUMN_PROBLEM(nb_forward_row),
    NB_COLUMN_INT_OF(nb_forward_row, head, .identity = true,
                     .help = "the layer's first head, from 0: 0 of the first input of a file, then that of the next"),
    NB_COLUMN_INT_OF(nb_forward_row, heads, .identity = true,
                     .help = "heads of the layer, done together; of a generated problem each is drawn by itself"),
    TEXT(attention, .identity = true, .help = "what computes the outputs, with all options"),
    NB_COLUMN_INT_OF(nb_forward_row, threads, .identity = true, .help = "threads of a pass"),
    NB_COLUMN_INT_OF(nb_forward_row, trial, .identity = true,
                     .help = "repetition, from 0: with other data where the problem draws them, other draws of the "
                             "attention, and times taken anew"),
    TEXT(cold, .identity = true, .help = "whether caches were emptied before each pass: true or false"),
    TEXT(quality, .identity = true, .help = "whether outputs were compared with exact ones: true or false"),
    TEXT(quality_rows, .identity = true,
         .help = "query tokens of a head that outputs were compared for at most, or all"),
    NB_COLUMNS_OF_HEAD(nb_forward_row),
    TEXT(device, .told = true,
         .help =
             "where the pass was computed, as a function or a program says, such as \"NVIDIA H100, float16\"; empty: "
             "nothing is said, as of nysbench's own, which use the CPU in single precision"),
    TEXT(clock, .told = true,
         .help = "by whose clock latency_s is: pass, nysbench's around the pass; call, nysbench's around the call of a "
                 "program, without the files and the waiting here; own, the function's or program's, as it reports; "
                 "none, no column of times is filled"),
    NB_COLUMN_STATUS(nb_forward_row),
    NB_COLUMN_REASON(nb_forward_row),
    WHOLE(landmarks, .help = "landmarks, features or clusters that stand for the rest; 0: none, as of exact attention"),
    WHOLE(dv, .help = "dimension of V"),
    WHOLE(key_heads, .help = "heads of K and V; fewer than heads where these share them"),
    WHOLE(causal, .help = "1 where a query sees only the keys up to its own position"),
    TIME(latency_s, .help =
                        "seconds of a pass over all heads: median over rounds, in each of which every method of the "
                        "layer has its turn; warm, and with the landmarks kept where the attention keeps them"),
    TIME(latency_low_s, .help = "lower end of the 95 % interval of the median, by order statistics; empty for fewer "
                                "than 6 repeats"),
    TIME(latency_high_s, .help = "its upper end"),
    TIME(latency_min_s, .help = "the least"),
    TIME(latency_p10_s, .help = "quantile 0.1 over repeats"),
    TIME(latency_p90_s, .help = "quantile 0.9 over repeats"),
    TIMED(repeats, .integer = true, .help = "rounds that were timed"),
    TIMED(batch, .integer = true,
          .help = "passes in a row that were timed as one in each round, since one takes less "
                  "than a millisecond"),
    TIME(first_s, .help = "the first pass after the workspace was allocated, with caches emptied: what one pass alone "
                          "takes"),
    TIME(fresh_s, .help = "median of passes that choose landmarks or features anew, for attentions that keep them from "
                          "pass to pass; else latency_s"),
    WHOLE(keeps, .help = "passes that one choice of landmarks or features serves; 1: each pass chooses"),
    TIME(amortized_s, .help = "(fresh_s + (keeps - 1) latency_s) / keeps: of many passes"),
    TIME(tokens_per_s, .more = true, .help = "n / latency_s"),
    REAL(flops, .help =
                    "2 times the multiplications of a pass, counted where they are done, those of strategies and "
                    "clusterings too; exponentials, additions alone and comparisons count nothing; of the pass with "
                    "the median time, or, where nothing is timed, of the first"),
    REAL(flops_formula, .help = "2 times those that the attention's formula has, without strategies and clusterings"),
    TIME(gflops_per_s, .more = true, .help = "1e-9 flops / latency_s"),
    TIME(gemm_gflops_per_s, .help = "the same of a product of matrices of 1024 x 1024 in single precision with as many "
                                    "threads, timed in the same rounds"),
    TIME(gemm_share, .more = true, .help = "gflops_per_s / gemm_gflops_per_s"),
    WHOLE(workspace_bytes, .help = "memory that the attention held at most, as asked for, without points and outputs"),
    WHOLE(workspace_formula_bytes, .help = "the same by its formula, without strategies and clusterings"),
    TIMED(peak_bytes, .integer = true, .memory = true,
          .help =
              "growth of the resident set in a process of its own for one pass, as the system counts it: workspace, "
              "outputs (4 heads n dv bytes), threads and BLAS buffers"),
    ERROR(error, .wanted = NB_FORWARD_WANT_ERROR, .named = true,
          .help =
              "|S - S~|_F / |S|_F over the rows of those query tokens in all heads, S~ the matrix that the attention "
              "multiplies V by, from passes with columns of the identity beside V; only if metrics names it; empty, "
              "with the reason, where an attention's choices depend on these"),
    ERROR(output_error, .trivial = "baseline_mean",
          .help = "|O - O_exact|_F / |O_exact|_F over all heads, of the first pass; "
                  "exact: in double precision"),
    REAL(cosine, .more = true, .help = "mean over tokens and heads of the cosine between output and exact output"),
    ERROR(mse, .help = "mean squared difference of an entry of the outputs"),
    ERROR(max_error, .help = "largest difference of an entry of the outputs"),
    ERROR(error_p99,
          .help = "99th percentile over tokens and heads of a token's |o - o_exact| / |o_exact|: what is above it for "
                  "one token in a hundred"),
    REAL(baseline_mean,
         .help = "output_error of the mean of the values that each query sees, an answer without any attention"),
    ERROR(
        rowsum_deviation,
        .help =
            "largest |row sum of S~ - 1|, the output for V = 1, over all tokens and heads; empty for an oracle; for a "
            "function or program, which it costs a call more, only if metrics names it"),
    TIME(select_s, .help = "of the pass with the median time: seconds for choosing landmarks, clusters or features"),
    TIME(core_s, .help = "likewise for A and X"),
    TIME(b_s, .help = "likewise for what is made of all keys and values"),
    TIME(f_s, .help = "likewise for what is made of all queries"),
    TIME(output_s, .help = "likewise for what is done to the outputs after that; the parts add up to at most "
                           "latency_s"),
    TIMED(load, .help = "CPUs that other programs used while the rounds ran; above 0.2 the row's reason says so"),
    NB_COLUMN_SEED_OF(nb_forward_row),
    {.name = NULL}};
