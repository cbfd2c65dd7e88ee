/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picker.c - a program that picks landmarks as it is told, for tests/cli/serve.bats: command(run="./picker HOW [log]",
 * serve=true), or the same without serve=true, where the last argument is the folder of the pick.
 *
 * It starts in about 1 ms, where Python with NumPy needs 0.2 s. HOW names a row of the table `ways`: what it leaves,
 * what it answers and how it ends. With the word `log` it appends lines to files in $NYSBENCH_FOLDER: to `starts` one
 * when it starts, with its process number and its parent's, and to `asked` one for each pick, {"pid": ..., "shape":
 * [...], "asked": {...}}, with the shape of points.npy or queries.npy and the question as it came. One that hangs says
 * so in `hanging`, with the same two numbers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define READY "{\"ready\": 1}\n"
#define DONE "{\"done\": \"picks\"}\n"
#define WAITED(SECONDS) "{\"done\": \"picks\", \"waited_s\": " SECONDS "}\n"
#define GROUPS "{\"done\": \"groups\"}\n"

enum { MOST = 4096 }; /* tokens, coordinates of picks, and bytes of a path */

typedef struct {
    char *text; /* the question */
    char folder[MOST], side[16];
    int m, n, d;
    unsigned long seed;
} request;

typedef struct {
    const char *name;
    const char *answer;                  /* where it is served; NULL: there is none */
    void (*leave)(const request *r);     /* before the answer: writes the picks, or to standard error */
    void (*after)(void);                 /* behind the answer; NULL: it takes the next question */
    void (*answer_it)(const request *r); /* instead of `answer` */
    const char *start;                   /* instead of {"ready": 1} */
} way;

static _Noreturn void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* In one write, so that lines of several processes do not mix and an answer comes in one piece. */
static void say(int fd, const char *bytes, size_t count)
{
    for (size_t said = 0; said < count;) {
        ssize_t more = write(fd, bytes + said, count - said);
        if (more < 0 && errno != EINTR) exit(1);
        if (more > 0) said += (size_t)more;
    }
}

/* A line at the end of that file in the folder where nysbench was called. */
static void log_line(const char *name, const char *format, ...)
{
    char path[MOST], text[2 * MOST];
    const char *here = getenv("NYSBENCH_FOLDER");
    va_list arguments;
    if (!here) fail("there is no NYSBENCH_FOLDER");
    snprintf(path, sizeof path, "%s/%s", here, name);
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0 || length >= (int)sizeof text) fail("%s: %s", path, strerror(errno));
    say(fd, text, (size_t)length);
    close(fd);
}

/* Where the value of a key begins; JSON in one line or in several. */
static const char *value_of(const char *text, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    if (!at) fail("the question has no %s: %s", key, text);
    at += strlen(quoted);
    return at + strspn(at, " ");
}

static void copy_text(const char *text, const char *key, char *out, size_t size)
{
    const char *at = value_of(text, key) + 1;
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
}

static request read_request(char *text)
{
    request r = {.text = text,
                 .m = atoi(value_of(text, "m")),
                 .n = atoi(value_of(text, "n")),
                 .d = atoi(value_of(text, "d")),
                 .seed = strtoul(value_of(text, "seed"), NULL, 10)};
    copy_text(text, "side", r.side, sizeof r.side);
    if (r.n > MOST || r.m > r.n) fail("too many tokens: %s", text);
    return r;
}

static bool is_both(const request *r)
{
    return strcmp(r->side, "both") == 0;
}

static FILE *open_array(const request *r, const char *name, const char *mode)
{
    char path[2 * MOST];
    snprintf(path, sizeof path, "%s/%s.npy", r->folder, name);
    FILE *file = fopen(path, mode);
    if (!file) fail("No such file or directory: '%s.npy'", name);
    return file;
}

/* The array's n x d values and, in `shape`, what its header says. */
static double *load(const request *r, const char *name, int shape[2])
{
    unsigned char start[10];
    char header[1024];
    FILE *file = open_array(r, name, "rb");
    size_t count = (size_t)r->n * (size_t)r->d,
           length = fread(start, 1, 10, file) == 10 ? start[8] + 256U * start[9] : 0;
    double *x = calloc(count, sizeof *x);
    if (!length || length >= sizeof header || fread(header, 1, length, file) != length)
        fail("%s: a short header", name);
    if (!x || fread(x, sizeof *x, count, file) != count || fgetc(file) != EOF) fail("%s: not %zu values", name, count);
    fclose(file);
    header[length] = '\0';
    const char *at = strstr(header, "'shape':");
    if (!at || sscanf(at, "'shape': (%d, %d", &shape[0], &shape[1]) != 2 || !strstr(header, "'<f8'"))
        fail("%s: not a matrix of float64: %s", name, header);
    return x;
}

/* rows x columns values of 8 bytes; no columns: an array of rows values. */
static void save(const request *r, const char *name, const char *type, int rows, int columns, const void *values)
{
    char shape[64], header[128];
    FILE *file = open_array(r, name, "wb");
    snprintf(shape, sizeof shape, columns ? "%d, %d" : "%d,", rows, columns);
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    fprintf(file, "\x93NUMPY%c%c%c%c%-117s\n", 1, 0, 118, 0, header);
    fwrite(values, 8, (size_t)rows * (size_t)(columns ? columns : 1), file);
    if (fclose(file) != 0) fail("%s.npy: %s", name, strerror(errno));
}

static void save_integers(const request *r, const char *name, int count, const int64_t *values)
{
    save(r, name, "<i8", count, 0, values);
}

typedef struct {
    double key;
    int64_t token;
} entry;

static int compare(const void *one, const void *two)
{
    const entry *a = one, *b = two;
    if (a->key != b->key) return a->key < b->key ? -1 : 1;
    return (a->token > b->token) - (a->token < b->token);
}

/* The tokens in ascending order of their keys; equal keys keep the order of the tokens. */
static void sort_tokens(int n, const double *keys, int stride, int64_t *tokens)
{
    static entry entries[MOST];
    for (int i = 0; i < n; i++) entries[i] = (entry){keys[i * stride], i};
    qsort(entries, (size_t)n, sizeof *entries, compare);
    for (int i = 0; i < n; i++) tokens[i] = entries[i].token;
}

/* Tokens by the first coordinate of their points in that array, which *x becomes. */
static void order(const request *r, const char *name, int64_t *tokens, double **x)
{
    int shape[2];
    *x = load(r, name, shape);
    sort_tokens(r->n, *x, r->d, tokens);
}

static void leave_first_of(const request *r, const char *name, const char *file)
{
    int64_t tokens[MOST];
    double *x;
    order(r, name, tokens, &x);
    save_integers(r, file, r->m, tokens);
    free(x);
}

/* The m tokens of the smallest first coordinate, of the queries where there are two sets. */
static void leave_one(const request *r)
{
    leave_first_of(r, is_both(r) ? "queries" : "points", "picks");
}

static void leave_key(const request *r)
{
    leave_first_of(r, "keys", "picks");
}

static void leave_two(const request *r)
{
    leave_first_of(r, "queries", "query_picks");
    leave_first_of(r, "keys", "key_picks");
}

static void leave_points_of(const request *r, const char *name, const char *file)
{
    int64_t tokens[MOST];
    double *x, *picked = calloc((size_t)r->m * (size_t)r->d, sizeof *picked);
    if (!picked) fail("no memory");
    order(r, name, tokens, &x);
    for (int j = 0; j < r->m; j++) memcpy(picked + j * r->d, x + tokens[j] * r->d, (size_t)r->d * sizeof *x);
    save(r, file, "<f8", r->m, r->d, picked);
    free(picked);
    free(x);
}

static void leave_points(const request *r)
{
    leave_points_of(r, "queries", "query_picks");
    leave_points_of(r, "keys", "key_picks");
}

static void leave_parts_in(const request *r, const char *file)
{
    int64_t groups[MOST];
    for (int i = 0; i < r->n; i++) groups[i] = i * r->m / r->n;
    save_integers(r, file, r->n, groups);
}

/* The groups of tokens in order, cut into m parts. */
static void leave_parts(const request *r)
{
    leave_parts_in(r, "picks");
}

static void leave_other_parts(const request *r)
{
    int64_t groups[MOST];
    for (int i = 0; i < r->n; i++) groups[i] = i % r->m;
    leave_parts_in(r, "query_picks");
    save_integers(r, "key_picks", r->n, groups);
}

static void leave_constant(const request *r)
{
    int64_t tokens[MOST];
    for (int j = 0; j < r->m; j++) tokens[j] = j;
    save_integers(r, "picks", r->m, tokens);
}

/* Tokens without replacement, a function of seed and salt. */
static void leave_drawn_in(const request *r, const char *file, uint64_t salt)
{
    double keys[MOST];
    int64_t tokens[MOST];
    uint64_t state = r->seed * UINT64_C(0x9E3779B97F4A7C15) + salt;
    for (int i = 0; i < r->n; i++) { /* splitmix64 */
        uint64_t z = state += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
        keys[i] = (double)((z ^ (z >> 31)) >> 11);
    }
    sort_tokens(r->n, keys, 1, tokens);
    save_integers(r, file, r->m, tokens);
}

static void leave_drawn(const request *r)
{
    leave_drawn_in(r, is_both(r) ? "query_picks" : "picks", 1);
    if (is_both(r)) leave_drawn_in(r, "key_picks", 2);
}

/* It does not look at the seed. */
static void leave_unseeded(const request *r)
{
    uint64_t salt;
    request other = *r;
    if (getrandom(&salt, sizeof salt, 0) != sizeof salt) fail("there is nothing random");
    other.seed = 0;
    leave_drawn_in(&other, "picks", salt);
}

/* It ends with exit status 1 where there is no points.npy. */
static void leave_drawn_of_points(const request *r)
{
    int shape[2];
    free(load(r, "points", shape));
    leave_drawn(r);
}

static void leave_twice(const request *r)
{
    int64_t tokens[MOST];
    for (int j = 0; j < r->m; j++) tokens[j] = 1;
    save_integers(r, "picks", r->m, tokens);
}

static void leave_far(const request *r)
{
    int64_t tokens[MOST];
    for (int j = 0; j < r->m; j++) tokens[j] = r->n + j;
    save_integers(r, "picks", r->m, tokens);
}

static void leave_nan(const request *r)
{
    double x[MOST];
    for (int i = 0; i < r->m * r->d; i++) x[i] = strtod("nan", NULL);
    save(r, "picks", "<f8", r->m, r->d, x);
}

static void leave_wide(const request *r)
{
    double x[MOST] = {0};
    save(r, "picks", "<f8", r->m, r->d + 1, x);
}

static void leave_few(const request *r)
{
    int64_t tokens[MOST] = {0, 1};
    save_integers(r, "picks", r->m - 1, tokens);
}

static void leave_groups_of(const request *r, int count, int64_t group)
{
    int64_t groups[MOST];
    for (int i = 0; i < count; i++) groups[i] = group;
    save_integers(r, "picks", count, groups);
}

static void leave_one_group(const request *r)
{
    leave_groups_of(r, r->n, 0);
}

static void leave_group_m(const request *r)
{
    leave_groups_of(r, r->n, r->m);
}

static void leave_short_groups(const request *r)
{
    leave_groups_of(r, r->n - 1, 0);
}

static void tell_folder(const request *r)
{
    fprintf(stderr, "in %s\n", r->folder);
}

/* As a function in Python that prints and then raises. */
static void tell_why(const request *r)
{
    fprintf(stderr, "m is %d\nin %s\n", r->m, r->folder);
}

static void answer(const char *format, ...)
{
    char text[3 * MOST];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    say(1, text, (size_t)length);
}

/* The folder in which it runs, and that of the pick. */
static void answer_folders(const request *r)
{
    char *own = getcwd(NULL, 0);
    if (!own) fail("getcwd: %s", strerror(errno));
    answer("{\"error\": \"in %s/x and %s/y\"}\n", own, r->folder);
    free(own);
}

static void answer_folder(const request *r)
{
    answer("{\"done\": \"%s/x\"}\n", r->folder);
}

static void answer_binary(const request *r)
{
    (void)r;
    say(1, "{}\0\1\n", 5);
}

/* As a function that takes one set of points. */
static void answer_points(const request *r)
{
    answer(is_both(r) ? "{\"error\": \"points are not for both\"}\n" : DONE);
}

/* As a function that takes queries and keys. */
static void answer_pairs(const request *r)
{
    answer(is_both(r) ? DONE : "{\"error\": \"queries and keys are for both alone\"}\n");
}

/* Longer than a test waits for its end; so that nothing stays behind where nobody ends it. */
static void wait_long(void)
{
    for (unsigned left_s = 40; left_s > 0;) left_s = sleep(left_s);
    exit(9);
}

/* A child that runs on without this process, in a session of its own if it is asked for. */
static void start_child(bool own_session, bool keeps_pipes)
{
    if (fork() != 0) return;
    if (own_session) setsid();
    if (!keeps_pipes) close(0), close(1);
    wait_long();
}

static void hang(void)
{
    start_child(false, false);
    log_line("hanging", "%d %d\n", (int)getpid(), (int)getppid());
    wait_long();
}

static void be_deaf(void)
{
    signal(SIGTERM, SIG_IGN);
    wait_long();
}

static void exit_3(void)
{
    exit(3);
}

static void exit_0(void)
{
    exit(0);
}

static void be_killed(void)
{
    kill(getpid(), SIGKILL);
}

/* Says more, as soon as the answer has been read. */
static void say_more(void)
{
    int unread;
    struct pollfd output = {.fd = 1};
    while (ioctl(1, FIONREAD, &unread) == 0 && unread > 0 && poll(&output, 1, 1) == 0) continue;
    say(1, "more\n", 5);
}

/* Says more, as soon as the next question is there. */
static void say_late(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, -1) < 0 && errno == EINTR) continue;
    if (input.revents & POLLIN) say(1, "more\n", 5);
}

static void leave_children(const request *r)
{
    start_child(true, true);
    start_child(false, false);
    leave_constant(r);
}

static void pause_2_s(void)
{
    const struct timespec pause_s = {.tv_sec = 2};
    nanosleep(&pause_s, NULL);
}

/* Answers as a question does that stands behind another one for 2 s. */
static void leave_late(const request *r)
{
    pause_2_s();
    leave_constant(r);
}

static const way ways[] = {
    {"drawn", .answer = DONE, .leave = leave_drawn},
    {"constant", .answer = DONE, .leave = leave_constant},
    {"unseeded", .answer = DONE, .leave = leave_unseeded},
    {"slow", .answer = DONE, .leave = leave_constant},
    {"queued", .answer = WAITED("2"), .leave = leave_late},
    {"patient", .answer = WAITED("1e300"), .leave = leave_constant},
    {"early", .answer = WAITED("-0.5"), .after = wait_long},
    {"vague", .answer = WAITED("\"long\""), .after = wait_long},
    {"needs_points", .answer = DONE, .leave = leave_drawn_of_points},
    {"takes_points", .leave = leave_drawn, .answer_it = answer_points},
    {"takes_pairs", .leave = leave_drawn, .answer_it = answer_pairs},
    {"neither", .answer = "{\"error\": \"ValueError: never\"}\n"},
    {"one", .answer = DONE, .leave = leave_one},
    {"key", .answer = DONE, .leave = leave_key},
    {"two", .answer = DONE, .leave = leave_two},
    {"points", .answer = DONE, .leave = leave_points},
    {"parts", .answer = GROUPS, .leave = leave_parts},
    {"other", .answer = GROUPS, .leave = leave_other_parts},
    {"twice", .answer = DONE, .leave = leave_twice},
    {"far", .answer = DONE, .leave = leave_far},
    {"nan", .answer = DONE, .leave = leave_nan},
    {"wide", .answer = DONE, .leave = leave_wide},
    {"few", .answer = DONE, .leave = leave_few},
    {"no_group", .answer = GROUPS, .leave = leave_one_group},
    {"groups", .answer = GROUPS, .leave = leave_group_m},
    {"short", .answer = GROUPS, .leave = leave_short_groups},
    {"raises", .answer = "{\"error\": \"ValueError: not this\"}\n", .leave = tell_why},
    {"exits", .after = exit_3},
    {"gone", .after = exit_0},
    {"killed", .after = be_killed},
    {"hangs", .after = hang},
    {"deaf", .after = be_deaf},
    {"half", .answer = "{\"done\": ", .after = exit_0},
    {"silent", .start = "", .after = wait_long},
    {"refuses", .start = "", .after = exit_3},
    {"words", .answer = "done\n", .after = wait_long},
    {"empty", .answer = "{}\n", .after = wait_long},
    {"else", .answer = "{\"done\": \"it\"}\n", .after = wait_long},
    {"double", .answer = DONE DONE, .after = wait_long},
    {"binary", .after = wait_long, .answer_it = answer_binary},
    {"told", .after = wait_long, .answer_it = answer_folders},
    {"nothing", .answer = DONE, .after = wait_long},
    {"loud", .answer = DONE, .leave = tell_folder, .after = wait_long},
    {"where", .leave = tell_folder, .after = wait_long, .answer_it = answer_folder},
    {"once", .answer = DONE, .leave = leave_drawn, .after = exit_3},
    {"more", .answer = DONE, .leave = leave_drawn, .after = say_more},
    {"late", .answer = DONE, .leave = leave_drawn, .after = say_late},
    {"leaves", .answer = DONE, .leave = leave_children},
};

static const way *find_way(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0) return &ways[i];
    fail("there is no way %s", name);
}

static void log_question(const request *r)
{
    int shape[2];
    free(load(r, is_both(r) ? "queries" : "points", shape));
    log_line("asked", "{\"pid\": %d, \"shape\": [%d, %d], \"asked\": %s}\n", (int)getpid(), shape[0], shape[1],
             r->text);
}

static int serve(const way *w, bool logs)
{
    char *line = NULL;
    size_t room = 0;
    if (strcmp(w->name, "slow") == 0) pause_2_s();
    say(1, w->start ? w->start : READY, strlen(w->start ? w->start : READY));
    if (w->start) w->after();
    for (ssize_t length; (length = getline(&line, &room, stdin)) > 0;) {
        line[length - 1] = '\0';
        request r = read_request(line);
        copy_text(line, "folder", r.folder, sizeof r.folder);
        if (logs) log_question(&r);
        if (w->leave) w->leave(&r);
        if (w->answer_it)
            w->answer_it(&r);
        else if (w->answer)
            say(1, w->answer, strlen(w->answer));
        if (w->after) w->after();
    }
    free(line);
    return 0;
}

/* Without serve=true: one pick, in the folder that is the last argument. */
static int pick_once(const way *w, const char *folder)
{
    char text[MOST] = "", path[MOST];
    snprintf(path, sizeof path, "%s/request.json", folder);
    FILE *file = fopen(path, "r");
    size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (!count) fail("there is no %s", path);
    fclose(file);
    request r = read_request(text);
    snprintf(r.folder, sizeof r.folder, "%s", folder);
    if (w->leave) w->leave(&r);
    return 0;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int main(int argc, char **argv)
{
    if (argc < 2) fail("usage: picker HOW [log] [FOLDER]");
    const way *w = find_way(argv[1]);
    bool logs = argc > 2 && strcmp(argv[2], "log") == 0;
    if (logs) log_line("starts", "%d %d\n", (int)getpid(), (int)getppid());
    return is_folder(argv[argc - 1]) ? pick_once(w, argv[argc - 1]) : serve(w, logs);
}
