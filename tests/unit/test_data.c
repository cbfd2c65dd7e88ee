/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrays in files and the heads read from them. What is expected follows from
 * NumPy enhancement proposal 1, the description of the safetensors format,
 * IEEE 754 (binary16; bfloat16 is the upper half of binary32), and the headers'
 * promises. Values in the byte tables are worked out by hand. */
#include "safetensors.h"
#include "testing.h"

#include "data/head.h"
#include "data/tensor.h"

#include <dirent.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    nb_ctx *ctx;
    char folder[32];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    if (!f) return -1;
    strcpy(f->folder, "/tmp/nysbench-data-XXXXXX");
    f->ctx = nb_ctx_new();
    *state = f;
    return f->ctx && mkdtemp(f->folder) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static int tear_down(void **state)
{
    fixture *f = *state;
    int failed = nftw(f->folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    nb_ctx_free(f->ctx);
    free(f);
    return failed;
}

static int entries(const char *folder)
{
    int count = 0;
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    while (readdir(dir)) count++;
    closedir(dir);
    return count - 2;
}

static const char *path_of(fixture *f, const char *name)
{
    const char *path = nb_format(f->ctx, "%s/%s", f->folder, name);
    assert_non_null(path);
    return path;
}

static const char *put(fixture *f, const char *name, const void *bytes, size_t size)
{
    const char *path = path_of(f, name);
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, size, out), size);
    assert_int_equal(fclose(out), 0);
    return path;
}

/* A file's bytes: `start`, the length of the text in `width` bytes, the text, the data. */
static const char *put_parts(fixture *f, const char *name, const char *start, size_t start_size, size_t width,
                             const char *text, const void *data, size_t data_size)
{
    size_t length = strlen(text), used = start_size;
    unsigned char *bytes = nb_alloc(f->ctx, start_size + width + length + data_size + 1, 1);
    assert_non_null(bytes);
    memcpy(bytes, start, start_size);
    for (size_t i = 0; i < width; i++) bytes[used++] = (unsigned char)(length >> 8 * i);
    memcpy(bytes + used, text, length);
    if (data_size) memcpy(bytes + used + length, data, data_size);
    return put(f, name, bytes, used + length + data_size);
}

static const char *put_npy(fixture *f, const char *name, int version, const char *header, const void *data, size_t size)
{
    char start[9] = "\x93NUMPY";
    start[6] = (char)version;
    return put_parts(f, name, start, 8, version == 1 ? 2 : 4, header, data, size);
}

static const char *put_safetensors(fixture *f, const char *name, const char *header, const void *data, size_t size)
{
    return put_parts(f, name, "", 0, 8, header, data, size);
}

#define assert_refused_of(asked, ctx, call, status, path) \
    do { \
        nb_status got_ = (call); \
        if (!strstr(nb_error_message(ctx), (path))) fail_msg("no '%s' in '%s'", (path), nb_error_message(ctx)); \
        assert_error_of(asked, ctx, got_, status); \
    } while (0)

#define assert_refused(ctx, call, status, path) assert_refused_of(#call, ctx, call, status, path)

static const struct {
    const char *descr, *bytes, *name; /* name: in safetensors, NULL if big endian */
    double value;
    bool whole; /* an integer type */
    int64_t integer;
} elements[] = {
    {"<f2", "\x00\xc1", "F16", -2.5, false, 0},
    {">f2", "\xc1\x00", NULL, -2.5, false, 0},
    {"<f4", "\x00\x00\x20\xc0", "F32", -2.5, false, 0},
    {">f4", "\xc0\x20\x00\x00", NULL, -2.5, false, 0},
    {"<f8", "\x00\x00\x00\x00\x00\x00\x04\xc0", "F64", -2.5, false, 0},
    {">f8", "\xc0\x04\x00\x00\x00\x00\x00\x00", NULL, -2.5, false, 0},
    {"|i1", "\x80", "I8", -128, true, -128},
    {"|u1", "\xff", "U8", 255, true, 255},
    {"<i2", "\x01\x80", "I16", -32767, true, -32767},
    {">i2", "\x80\x01", NULL, -32767, true, -32767},
    {"<u2", "\x01\x80", "U16", 32769, true, 32769},
    {">u2", "\x80\x01", NULL, 32769, true, 32769},
    {"<i4", "\xfe\xff\xff\xff", "I32", -2, true, -2},
    {">i4", "\x80\x00\x00\x00", NULL, -2147483648.0, true, INT32_MIN},
    {"<u4", "\xfe\xff\xff\xff", "U32", 4294967294.0, true, 4294967294},
    {">u4", "\x80\x00\x00\x00", NULL, 2147483648.0, true, 2147483648},
    {"<i8", "\x00\x00\x00\x00\x00\x00\x00\x80", "I64", -0x1p63, true, INT64_MIN},
    {">i8", "\xff\xff\xff\xff\xff\xff\xff\xfd", NULL, -3, true, -3},
    {"<u8", "\xff\xff\xff\xff\xff\xff\xff\x7f", "U64", 0x1p63, true, INT64_MAX},
    {">u8", "\x00\x00\x00\x00\x00\x00\x01\x02", NULL, 258, true, 258},
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static void check_element(fixture *f, const char *path, const nb_tensor *t, int which)
{
    double real = NAN;
    int64_t integer = 77;
    assert_ok(f->ctx, nb_tensor_read_reals(path, t, 0, 1, &real, f->ctx));
    assert_true(real == elements[which].value);
    if (elements[which].whole) {
        assert_ok(f->ctx, nb_tensor_read_integers(path, t, 0, 1, &integer, f->ctx));
        assert_true(integer == elements[which].integer);
    } else
        assert_refused_of(elements[which].descr, f->ctx, nb_tensor_read_integers(path, t, 0, 1, &integer, f->ctx),
                          NB_EINVAL, path);
}

static void test_npy_reads_every_type(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < ELEMENTS; i++) {
        nb_tensor t;
        size_t size = (size_t)(elements[i].descr[2] - '0');
        char *header =
            nb_format(f->ctx, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n", elements[i].descr);
        const char *path = put_npy(f, "x.npy", 1, header, elements[i].bytes, size);
        assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
        assert_int_equal(nb_dtype_size(t.dtype), size);
        check_element(f, path, &t, i);
    }
}

/* Opens the file, which has the tensor. */
static nb_tensor find_tensor(fixture *f, const char *path, nb_safetensors *file, const char *name)
{
    bool there;
    nb_tensor t = {.rank = -1};
    assert_ok(f->ctx, nb_safetensors_open(path, file, f->ctx));
    assert_ok(f->ctx, nb_safetensors_find(path, file, name, &there, &t, f->ctx));
    assert_true(there);
    return t;
}

static void test_safetensors_reads_every_type(void **state)
{
    fixture *f = *state;
    for (int i = 0; i < ELEMENTS; i++) {
        nb_safetensors file;
        int size = elements[i].descr[2] - '0';
        if (!elements[i].name) continue;
        char *header = nb_format(f->ctx, "{\"x\":{\"dtype\":\"%s\",\"shape\":[],\"data_offsets\":[0,%d]}}",
                                 elements[i].name, size);
        const char *path = put_safetensors(f, "x.safetensors", header, elements[i].bytes, (size_t)size);
        nb_tensor t = find_tensor(f, path, &file, "x");
        assert_int_equal(file.count, 1);
        assert_int_equal(t.rank, 0);
        check_element(f, path, &t, i);
    }
}

static void test_integers_beyond_int64_are_refused(void **state)
{
    fixture *f = *state;
    nb_tensor t;
    int64_t integer;
    const char *path = put_npy(f, "x.npy", 1, "{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}",
                               "\x00\x00\x00\x00\x00\x00\x00\x80", 8);
    assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
    assert_refused(f->ctx, nb_tensor_read_integers(path, &t, 0, 1, &integer, f->ctx), NB_EINVAL, path);
}

static void test_npy_versions_and_spellings(void **state)
{
    static const char *const headers[] = {
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }      \n",
        "{\"shape\":(2,1),\"fortran_order\":False,\"descr\":\"<i2\"}",
        "  { 'fortran_order' : False , 'descr' : '<i2' , 'shape' : ( 2 , 1 , ) , } ",
    };
    fixture *f = *state;
    for (int version = 1; version <= 3; version++)
        for (int i = 0; i < 3; i++) {
            nb_tensor t;
            int64_t values[2];
            const char *path = put_npy(f, "x.npy", version, headers[i], "\x07\x00\xff\xff", 4);
            assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
            assert_int_equal(t.rank, 2);
            assert_int_equal(t.shape[0], 2);
            assert_int_equal(t.shape[1], 1);
            assert_ok(f->ctx, nb_tensor_read_integers(path, &t, 0, 2, values, f->ctx));
            assert_int_equal(values[0], 7);
            assert_int_equal(values[1], -1);
        }
}

/* Element (i, j, k) of (2, 3, 4) has the value 100 i + 10 j + k. */
static void test_npy_fortran_order(void **state)
{
    fixture *f = *state;
    nb_tensor t;
    unsigned char stored[24];
    double all[24], part[5];
    for (int i = 0; i < 24; i++) stored[i] = (unsigned char)(100 * (i % 2) + 10 * (i / 2 % 3) + i / 6);
    const char *path =
        put_npy(f, "x.npy", 1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", stored, 24);
    assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
    assert_true(t.fortran_order);
    assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 0, 24, all, f->ctx));
    for (int i = 0; i < 24; i++) assert_true(all[i] == 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4);
    assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 9, 5, part, f->ctx));
    assert_memory_equal(part, all + 9, sizeof part);
}

/* The dictionary of a file's header, which blanks follow. */
static void assert_header(const char *path, const char *expected)
{
    char header[128];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
    fclose(file);
    assert_memory_equal(header + 10, expected, strlen(expected));
    assert_int_equal(header[10 + strlen(expected)], ' ');
}

/* Shapes are written as NumPy writes them, which some readers expect. */
static void test_npy_round_trip(void **state)
{
    fixture *f = *state;
    const double values[6] = {2.385, -0.0, INFINITY, -5e-324, NAN, 1.7e308};
    const int64_t integers[6] = {INT64_MIN, INT64_MAX, 0, -1, 1, 1 << 30}, shapes[3][3] = {{6}, {2, 3}, {1, 3, 2}};
    static const char *const texts[] = {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
                                        "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }",
                                        "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }",
                                        "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 3, 2), }"};
    const char *path = path_of(f, "x.npy");
    for (int rank = 0; rank <= 3; rank++) {
        nb_tensor t;
        double reals[6];
        int64_t wholes[6], count = rank ? 6 : 1;
        const int64_t *shape = rank ? shapes[rank - 1] : NULL;
        assert_ok(f->ctx, nb_npy_save_reals(path, rank, shape, values, f->ctx));
        assert_header(path, texts[rank]);
        assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
        assert_int_equal(t.dtype, NB_F64);
        assert_int_equal(t.rank, rank);
        assert_int_equal(t.count, count);
        assert_int_equal(t.offset % 64, 0);
        assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 0, count, reals, f->ctx));
        assert_memory_equal(reals, values, (size_t)count * sizeof *values);
        assert_ok(f->ctx, nb_npy_save_integers(path, rank, shape, integers, f->ctx));
        assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
        assert_int_equal(t.dtype, NB_I64);
        assert_ok(f->ctx, nb_tensor_read_integers(path, &t, 0, count, wholes, f->ctx));
        assert_memory_equal(wholes, integers, (size_t)count * sizeof *integers);
    }
    assert_int_equal(entries(f->folder), 1);
}

/* Scalars are the doubles of the file, rounded, whether its bytes are taken as they are or not. */
static void test_scalars_of_files(void **state)
{
    fixture *f = *state;
    const float values[6] = {2.385F, -0.0F, INFINITY, 1e-45F, -7, 3.4e38F};
    static const char *const headers[] = {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                                          "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",
                                          "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
                                          "{'descr': '<f2', 'fortran_order': False, 'shape': (4, 3), }",
                                          "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        nb_tensor t;
        double reals[2];
        nb_scalar scalars[2], rounded[2];
        const char *path = put_npy(f, "x.npy", 1, headers[i], values, sizeof values);
        assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
        assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 1, 2, reals, f->ctx));
        assert_ok(f->ctx, nb_tensor_read_scalars(path, &t, 1, 2, scalars, f->ctx));
        for (int j = 0; j < 2; j++) rounded[j] = (nb_scalar)reals[j];
        assert_memory_equal(scalars, rounded, sizeof scalars);
        assert_refused_of(headers[i], f->ctx, nb_tensor_read_scalars(path, &t, t.count - 1, 2, scalars, f->ctx),
                          NB_EINVAL, path);
    }
}

static void test_npy_empty_array(void **state)
{
    fixture *f = *state;
    nb_tensor t;
    const int64_t shape[2] = {0, 5};
    const char *path = path_of(f, "x.npy");
    assert_ok(f->ctx, nb_npy_save_reals(path, 2, shape, NULL, f->ctx));
    assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
    assert_int_equal(t.count, 0);
    assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 0, 0, NULL, f->ctx));
}

static void test_elements_outside_are_refused(void **state)
{
    static const int64_t ranges[][2] = {{-1, 1},       {0, 7}, {6, 1}, {7, 0}, {0, -1}, {INT64_MAX, INT64_MAX},
                                        {3, INT64_MAX}};
    fixture *f = *state;
    nb_tensor t;
    const int64_t shape[1] = {6};
    double values[6] = {0};
    const char *path = path_of(f, "x.npy");
    assert_ok(f->ctx, nb_npy_save_reals(path, 1, shape, values, f->ctx));
    assert_ok(f->ctx, nb_npy_open(path, &t, f->ctx));
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        assert_refused_of(nb_format(f->ctx, "%lld from %lld", (long long)ranges[i][1], (long long)ranges[i][0]), f->ctx,
                          nb_tensor_read_reals(path, &t, ranges[i][0], ranges[i][1], values, f->ctx), NB_EINVAL, path);
    assert_int_equal(truncate(path, t.offset + 47), 0);
    assert_refused(f->ctx, nb_tensor_read_reals(path, &t, 0, 6, values, f->ctx), NB_EIO, path);
}

/* Halves in their order, each one unit in the last place above the one before. */
static void test_half_to_real_all_patterns(void **state)
{
    (void)state;
    double expected = 0, step = 0x1p-24;
    for (unsigned bits = 0; bits < 0x7c00; bits++, expected += step) {
        if (bits >= 0x800 && bits % 0x400 == 0) step *= 2;
        double up = nb_half_to_real((uint16_t)bits), down = nb_half_to_real((uint16_t)(bits | 0x8000));
        assert_true(up == expected && !signbit(up) && down == -expected && signbit(down));
    }
    assert_true(nb_half_to_real(0x7c00) == INFINITY && nb_half_to_real(0xfc00) == -INFINITY);
    for (unsigned bits = 0x7c01; bits < 0x8000; bits++)
        assert_true(isnan(nb_half_to_real((uint16_t)bits)) && isnan(nb_half_to_real((uint16_t)(bits | 0x8000))));
}

static void test_safetensors_round_trip(void **state)
{
    static const char *const names[4] = {"sixteen", "brain", "\xc3\xa9 \"single\"", "double"};
    static const double values[4] = {2.385, -1e-3, 70000, 0x1.01p0 + 0x1p-40},
                        expected[4][4] = {{2.384765625, -0x1.064p-10, INFINITY, 1.00390625},
                                          {2.390625, -0x1.06p-10, 70144, 0x1.02p0},
                                          {0x1.3147aep+1, -0x1.0624dep-10, 70000, 0x1.01p0},
                                          {2.385, -1e-3, 70000, 0x1.01p0 + 0x1p-40}};
    fixture *f = *state;
    nb_safetensors file;
    nb_tensor t;
    bool there;
    tensor_out out[4];
    json_t *metadata = json_pack("{s:s, s:s}", "causal", "true", "licence", "dom\xc3\xa4ne");
    const char *path = path_of(f, "x.safetensors");
    for (int i = 0; i < 4; i++) out[i] = (tensor_out){names[i], NB_F16 + (unsigned)i, 3, {2, 1, 2}, values};
    assert_ok(f->ctx, save_safetensors(path, 4, out, metadata, f->ctx));
    json_decref(metadata);
    assert_ok(f->ctx, nb_safetensors_open(path, &file, f->ctx));
    assert_int_equal(file.count, 4);
    assert_string_equal(nb_safetensors_metadata(&file, "licence"), "dom\xc3\xa4ne");
    assert_null(nb_safetensors_metadata(&file, "model"));
    assert_ok(f->ctx, nb_safetensors_find(path, &file, "q", &there, &t, f->ctx));
    assert_false(there);
    for (int i = 0; i < 4; i++) {
        double got[4];
        t = find_tensor(f, path, &file, names[i]);
        assert_string_equal(file.tensors[i].name, names[i]);
        assert_true(t.dtype == out[i].dtype && t.rank == 3 && t.count == 4);
        assert_int_equal(t.offset % 8, 0);
        assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 0, 4, got, f->ctx));
        for (int j = 0; j < 4; j++)
            assert_close(isinf(got[j]) ? 0 : got[j], isinf(expected[i][j]) ? 0 : expected[i][j], 0);
        assert_int_equal(isinf(got[2]), i == 0);
    }
    assert_int_equal(entries(f->folder), 1);
}

static void test_safetensors_empty(void **state)
{
    fixture *f = *state;
    nb_safetensors file;
    const char *path = path_of(f, "x.safetensors");
    assert_ok(f->ctx, save_safetensors(path, 0, NULL, NULL, f->ctx));
    assert_ok(f->ctx, nb_safetensors_open(path, &file, f->ctx));
    assert_int_equal(file.count, 0);
    assert_null(file.metadata);
    assert_null(nb_safetensors_metadata(&file, "causal"));
}

static void test_writers_refuse(void **state)
{
    fixture *f = *state;
    const double value = 1;
    const int64_t negative[1] = {-1}, vast[2] = {INT64_MAX, 3};
    const char *path = path_of(f, "x");
    assert_refused(f->ctx, nb_npy_save_reals(path, 1, negative, &value, f->ctx), NB_EINVAL, path);
    assert_refused(f->ctx, nb_npy_save_integers(path, 2, vast, vast, f->ctx), NB_EINVAL, path);
    assert_refused(f->ctx, nb_npy_save_reals(path, 9, vast, &value, f->ctx), NB_EINVAL, path);
    assert_int_equal(entries(f->folder), 0);
}

static void test_writers_replace_whole_or_not_at_all(void **state)
{
    fixture *f = *state;
    const double value = 2.385;
    struct stat info;
    const char *path = path_of(f, "x.npy"), *nowhere = path_of(f, "none/x.npy"), *folder = path_of(f, "folder");
    mode_t before = umask(027);
    assert_ok(f->ctx, nb_npy_save_reals(path, 0, NULL, &value, f->ctx));
    umask(before);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_refused(f->ctx, nb_npy_save_reals(nowhere, 0, NULL, &value, f->ctx), NB_EIO, nowhere);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_refused(f->ctx, nb_npy_save_reals(folder, 0, NULL, &value, f->ctx), NB_EIO, folder);
    assert_int_equal(entries(f->folder), 2);
}

#define NPY(descr, order, shape) "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"
static const struct {
    const char *header;
    size_t size; /* of the data */
} bad_npy[] = {
    {NPY("'|b1'", "False", "(2,)"), 2},
    {NPY("'<f3'", "False", "(2,)"), 6},
    {NPY("'f4'", "False", "(2,)"), 8},
    {NPY("''", "False", "(2,)"), 8},
    {NPY("[('x', '<f4')]", "False", "(2,)"), 8},
    {NPY("'<f4", "False", "(2,)"), 8},
    {NPY("'<f4'", "false", "(2,)"), 8},
    {NPY("'<f4'", "0", "(2,)"), 8},
    {NPY("'<f4'", "Falsehood", "(2,)"), 8},
    {NPY("'<f4'", "False", "2"), 8},
    {NPY("'<f4'", "False", "(2)"), 8},
    {NPY("'<f4'", "False", "(2,,)"), 8},
    {NPY("'<f4'", "False", "(,)"), 4},
    {NPY("'<f4'", "False", "(-2,)"), 8},
    {NPY("'<f4'", "False", "(2.0,)"), 8},
    {NPY("'<f4'", "False", "(2L,)"), 8},
    {NPY("'<f4'", "False", "(9223372036854775808,)"), 8},
    {NPY("'<f4'", "False", "(4611686018427387904, 4)"), 8},
    {NPY("'<f8'", "False", "(2305843009213693952,)"), 8},
    {NPY("'<f4'", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4},
    {NPY("'<f4'", "False", "(3,)"), 8},
    {NPY("'<f4'", "False", "(1,)"), 8},
    {NPY("'<f4'", "False", "(1000000000000,)"), 8},
    {NPY("'<f4'", "False", "(2,) x"), 8},
    {NPY("'<f4'", "False", "(2,)") "x", 8},
    {NPY("'<f4'", "False", "(2,), 'descr': '<f4'"), 8},
    {NPY("'<f4'", "False", "(2,), 'order': 1"), 8},
    {"{'descr': '<f4', 'shape': (2,)}", 8},
    {"{'fortran_order': False, 'shape': (2,)}", 8},
    {"{'descr': '<f4', 'fortran_order': False}", 8},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8},
    {"{'descr' '<f4'}", 8},
    {"{descr: '<f4'}", 8},
    {"{'a_key_of_more_than_sixteen': 1}", 8},
    {"{,}", 8},
    {"", 8},
    {"[]", 8},
};

static void test_malformed_npy(void **state)
{
    static const char zeros[64];
    fixture *f = *state;
    nb_tensor t;
    for (size_t i = 0; i < sizeof bad_npy / sizeof *bad_npy; i++) {
        const char *path = put_npy(f, "bad.npy", 1 + (int)(i % 3), bad_npy[i].header, zeros, bad_npy[i].size);
        assert_refused_of(bad_npy[i].header, f->ctx, nb_npy_open(path, &t, f->ctx), NB_EIO, path);
    }
}

static const struct {
    const char *bytes;
    size_t size;
} bad_npy_starts[] = {
    {"", 0},
    {"\x93NUMPY\x01\x00\x00", 9},
    {"\x93NUMPX\x01\x00\x02\x00{}", 12},
    {"\x20\0\0\0\0\0\0\0{}", 10},
    {"version https://git-lfs.github.com/spec/v1\n", 43},
    {"\xef\xbb\xbf\n<!DOCTYPE HTML>\n", 20},
    {"\x93NUMPY\x00\x00\x02\x00{}", 12},
    {"\x93NUMPY\x04\x00\x02\x00\x00\x00{}", 14},
    {"\x93NUMPY\x01\x01\x02\x00{}", 12},
    {"\x93NUMPY\x01\x00\x03\x00{}", 12},
    {"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14},
    {"\x93NUMPY\x02\x00\x00\x00", 10},
    {"\x93NUMPY\x01\x00\x03\x00{\x00}", 13},
};

static void test_malformed_npy_starts(void **state)
{
    fixture *f = *state;
    nb_tensor t;
    for (size_t i = 0; i < sizeof bad_npy_starts / sizeof *bad_npy_starts; i++) {
        const char *path = put(f, "bad.npy", bad_npy_starts[i].bytes, bad_npy_starts[i].size);
        assert_refused_of(bad_npy_starts[i].bytes, f->ctx, nb_npy_open(path, &t, f->ctx), NB_EIO, path);
    }
}

#define ONE(dtype, shape, offsets) "{\"q\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define TWO(first, second) \
    "{\"q\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" first \
    "},\"k\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" second "}}"
static const struct {
    const char *header;
    size_t size;
} bad_safetensors[] = {
    {"[]", 0},
    {" {}", 0},
    {"{\"q\"", 0},
    {"{} x", 0},
    {"{\"\xff\":{}}", 0},
    {"{\"q\\u0000\":{}}", 0},
    {"{\"__metadata__\":{\"a\":\"\\u0000\"}}", 0},
    {"{\"q\":{},\"q\":{}}", 0},
    {ONE("\"F32\"", "[2],\"shape\":[1]", "[0,8]"), 8},
    {"{\"q\":3}", 0},
    {"{\"q\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8},
    {ONE("\"BOOL\"", "[8]", "[0,8]"), 8},
    {ONE("\"f32\"", "[2]", "[0,8]"), 8},
    {ONE("32", "[2]", "[0,8]"), 8},
    {"{\"q\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8},
    {ONE("\"F32\"", "2", "[0,8]"), 8},
    {ONE("\"F32\"", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), 8},
    {ONE("\"F32\"", "[1,-2]", "[0,8]"), 8},
    {ONE("\"F32\"", "[2.0]", "[0,8]"), 8},
    {ONE("\"F32\"", "[\"2\"]", "[0,8]"), 8},
    {ONE("\"F32\"", "[9223372036854775808]", "[0,8]"), 8},
    {ONE("\"F32\"", "[4611686018427387904,4]", "[0,8]"), 8},
    {ONE("\"F64\"", "[2305843009213693952]", "[0,0]"), 0},
    {ONE("\"F32\"", "[3]", "[0,8]"), 8},
    {ONE("\"F16\"", "[2]", "[0,8]"), 8},
    {"{\"q\":{\"dtype\":\"F32\",\"shape\":[2]}}", 8},
    {ONE("\"F32\"", "[2]", "[8]"), 8},
    {ONE("\"F32\"", "[2]", "[0,4,8]"), 8},
    {ONE("\"F32\"", "[2]", "[-8,0]"), 8},
    {ONE("\"F32\"", "[2]", "[8,0]"), 8},
    {ONE("\"F32\"", "[2]", "[0,8]"), 7},
    {ONE("\"U8\"", "[4611686018427387904]", "[0,4611686018427387904]"), 8},
    {ONE("\"F32\"", "[2]", "[0,8]"), 9},
    {ONE("\"F32\"", "[2]", "[4,12]"), 12},
    {TWO("[0,4]", "[5,9]"), 9},
    {TWO("[0,4]", "[3,7]"), 7},
    {TWO("[0,4]", "[0,4]"), 4},
    {"{}", 1},
    {"{\"q\":{\"shape\":[[1]]}}", 0},
    {"{\"__metadata__\":[]}", 0},
    {"{\"__metadata__\":{\"n\":3}}", 0},
};

static nb_status open_tensor(fixture *f, const char *path, const char *name)
{
    nb_safetensors file;
    nb_tensor t;
    bool there;
    double values[2];
    NB_TRY(f->ctx, nb_safetensors_open(path, &file, f->ctx));
    NB_TRY(f->ctx, nb_safetensors_find(path, &file, name, &there, &t, f->ctx));
    return there ? nb_tensor_read_reals(path, &t, 0, t.count < 2 ? t.count : 2, values, f->ctx) : NB_OK;
}

static void test_malformed_safetensors(void **state)
{
    static const char zeros[64];
    fixture *f = *state;
    for (size_t i = 0; i < sizeof bad_safetensors / sizeof *bad_safetensors; i++) {
        const char *path =
            put_safetensors(f, "bad.safetensors", bad_safetensors[i].header, zeros, bad_safetensors[i].size);
        assert_refused_of(bad_safetensors[i].header, f->ctx, open_tensor(f, path, "q"), NB_EIO, path);
    }
}

/* A file may hold more than heads: packages write masks and weights of types that are not read here. */
static void test_other_tensors_are_not_read(void **state)
{
    static const char header[] = "{\"mask\":{\"dtype\":\"BOOL\",\"shape\":[3],\"data_offsets\":[0,3]},"
                                 "\"q\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[3,7]},"
                                 "\"f4\":{\"dtype\":\"F4\",\"shape\":[10],\"data_offsets\":[7,12]},"
                                 "\"deep\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[12,13]}}";
    fixture *f = *state;
    nb_safetensors file;
    double values[4];
    const char *path = put_safetensors(f, "x.safetensors", header, "\1\0\1\5\6\7\10\0\0\0\0\0\0", 13);
    nb_tensor t = find_tensor(f, path, &file, "q");
    assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 0, 4, values, f->ctx));
    for (int i = 0; i < 4; i++) assert_close(values[i], 5 + i, 0);
    assert_int_equal(file.count, 4);
    assert_refused(f->ctx, open_tensor(f, path, "mask"), NB_EIO, path);
    assert_refused(f->ctx, open_tensor(f, path, "deep"), NB_EIO, path);
}

/* The reader of the format's authors takes null for no metadata, and brackets of texts are no nesting. */
static void test_null_and_brackets(void **state)
{
    static const char *const headers[] = {
        "{\"__metadata__\":null,\"q\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
        "{\"__metadata__\":{\"a\":\"[[[[ \\\" {{{{\"},\"q\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}"};
    fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        nb_safetensors file;
        double value;
        const char *path = put_safetensors(f, "x.safetensors", headers[i], "\5", 1), *text;
        nb_tensor t = find_tensor(f, path, &file, "q");
        assert_ok(f->ctx, nb_tensor_read_reals(path, &t, 0, 1, &value, f->ctx));
        assert_close(value, 5, 0);
        text = nb_safetensors_metadata(&file, "a");
        if (i == 0) assert_null(text);
        if (i == 1) assert_string_equal(text, "[[[[ \" {{{{");
    }
}

static const struct {
    const char *bytes;
    size_t size;
} bad_safetensors_starts[] = {
    {"", 0},
    {"\x02\0\0\0\0\0\0", 7},
    {"\0\0\0\0\0\0\0\0", 8},
    {"\x01\0\0\0\0\0\0\0{", 9},
    {"\x03\0\0\0\0\0\0\0{}", 10},
    {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10},
    {"\0\0\0\0\0\0\0\x80{}", 10},
    {"\x03\0\0\0\0\0\0\0{\0}", 11},
    {"{\"\n\0\0\0\0\0{}", 10},
    {"version https://git-lfs.github.com/spec/v1\n", 43},
    {"<html>\n<head>", 13},
    {"<?xml version=\"1.0\"?><Error>", 28},
    {"{\n  \"metadata\": {}}", 19},
    {"PK\3\4\x14\0\0\0", 8},
};

static void test_malformed_safetensors_starts(void **state)
{
    fixture *f = *state;
    nb_safetensors file;
    for (size_t i = 0; i < sizeof bad_safetensors_starts / sizeof *bad_safetensors_starts; i++) {
        const char *path = put(f, "bad.safetensors", bad_safetensors_starts[i].bytes, bad_safetensors_starts[i].size);
        assert_refused_of(bad_safetensors_starts[i].bytes, f->ctx, nb_safetensors_open(path, &file, f->ctx), NB_EIO,
                          path);
    }
}

/* Every prefix is refused; with any bit changed, the readers say something or
 * nothing, and stay within their memory. */
static void check_damaged(fixture *f, const char *name, const char *bytes, size_t size,
                          nb_status open(fixture *, const char *))
{
    char copy[256];
    assert_true(size <= sizeof copy);
    assert_ok(f->ctx, open(f, put(f, name, bytes, size)));
    nb_mark mark = nb_ctx_mark(f->ctx);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(open(f, put(f, name, bytes, i)), NB_EIO);
        for (int change = 1; change < 256; change <<= 1) {
            nb_error_clear(f->ctx);
            memcpy(copy, bytes, size);
            copy[i] = (char)(copy[i] ^ change);
            open(f, put(f, name, copy, size));
            nb_error_clear(f->ctx);
            nb_ctx_release(f->ctx, mark);
        }
    }
}

static nb_status open_npy(fixture *f, const char *path)
{
    nb_tensor t;
    double values[2];
    NB_TRY(f->ctx, nb_npy_open(path, &t, f->ctx));
    return nb_tensor_read_reals(path, &t, 0, t.count < 2 ? t.count : 2, values, f->ctx);
}

static nb_status open_safetensors(fixture *f, const char *path)
{
    return open_tensor(f, path, "q");
}

static void test_damaged_files(void **state)
{
    static const char npy[] = "\x93NUMPY\x01\x00\x37\x00{'descr': '<f2', 'fortran_order': True, 'shape': (2,1)}\0<\0=";
    static const char safetensors[] =
        "\x38\0\0\0\0\0\0\0{\"q\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[0,4]}}\0<\0=";
    fixture *f = *state;
    check_damaged(f, "x.npy", npy, sizeof npy - 1, open_npy);
    check_damaged(f, "x.safetensors", safetensors, sizeof safetensors - 1, open_safetensors);
}

static void test_what_is_no_file_is_refused(void **state)
{
    fixture *f = *state;
    nb_tensor t;
    nb_safetensors file;
    nb_head_shape shape;
    const char *none = path_of(f, "none");
    assert_refused(f->ctx, nb_npy_open(none, &t, f->ctx), NB_EIO, none);
    assert_refused(f->ctx, nb_npy_open(f->folder, &t, f->ctx), NB_EIO, f->folder);
    assert_refused(f->ctx, nb_safetensors_open(f->folder, &file, f->ctx), NB_EIO, f->folder);
    assert_refused(f->ctx, nb_head_file_shape(none, &shape, f->ctx), NB_EIO, none);
    assert_refused(f->ctx, nb_head_file_shape(f->folder, &shape, f->ctx), NB_EIO, "/q.npy");
}

/* Of a model, which is often at hand where its heads are asked for. */
static void test_checkpoints_are_named(void **state)
{
    static const double zeros[4];
    static const char *const marks[] = {"config.json", "model.safetensors", "model.safetensors.index.json"};
    fixture *f = *state;
    nb_head_shape shape;
    const tensor_out weights = {"encoder.layer.0.weight", NB_F32, 2, {2, 2}, zeros};
    const char *path = path_of(f, "model.safetensors");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        put(f, marks[i], "{}", 2);
        assert_refused_of(marks[i], f->ctx, nb_head_file_shape(f->folder, &shape, f->ctx), NB_EIO, f->folder);
    }
    assert_ok(f->ctx, save_safetensors(path, 1, &weights, NULL, f->ctx));
    assert_refused(f->ctx, nb_head_file_shape(path, &shape, f->ctx), NB_EIO, path);
    assert_ok(f->ctx, nb_npy_save_reals(path_of(f, "q.npy"), 2, weights.shape, zeros, f->ctx));
    assert_ok(f->ctx, nb_head_file_shape(f->folder, &shape, f->ctx));
}

/* Element e of a tensor has the value base + e. */
static tensor_out ramp(fixture *f, const char *name, int rank, const int64_t *shape, double base)
{
    tensor_out out = {name, NB_F32, rank, {0}, NULL};
    int64_t count = 1;
    for (int i = 0; i < rank; i++) count *= out.shape[i] = shape[i];
    double *values = nb_alloc_reals(f->ctx, 1, (size_t)count + 1);
    assert_non_null(values);
    for (int64_t i = 0; i < count; i++) values[i] = base + (double)i;
    out.values = values;
    return out;
}

/* v NULL: no v; causal NULL: no metadata. */
static const char *save_head(fixture *f, int rank, const int64_t *q, const int64_t *k, const int64_t *v,
                             const char *causal)
{
    tensor_out out[3] = {ramp(f, "q", rank, q, 1000), ramp(f, "k", rank, k, 2000)};
    if (v) out[2] = ramp(f, "v", rank, v, 3000);
    json_t *metadata = causal ? json_pack("{s:s}", "causal", causal) : NULL;
    const char *path = path_of(f, "head.safetensors");
    nb_status status = save_safetensors(path, v ? 3 : 2, out, metadata, f->ctx);
    json_decref(metadata);
    assert_ok(f->ctx, status);
    return path;
}

static void check_ramp(const double *x, int count, double base)
{
    for (int i = 0; i < count; i++) assert_true(x[i] == base + i);
}

static void test_grouped_queries(void **state)
{
    static const int64_t q[3] = {6, 3, 2}, k[3] = {2, 3, 2}, v[3] = {2, 3, 5};
    fixture *f = *state;
    nb_head_shape shape;
    const char *path = save_head(f, 3, q, k, v, "true");
    assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
    assert_int_equal(shape.heads, 6);
    assert_int_equal(shape.key_heads, 2);
    assert_true(shape.n == 3 && shape.d == 2 && shape.dv == 5 && shape.causal);
    for (int h = 0; h < 6; h++) {
        nb_head head;
        assert_ok(f->ctx, nb_head_load(path, h, &head, f->ctx));
        assert_true(head.n == 3 && head.d == 2 && head.dv == 5 && head.causal);
        check_ramp(head.q, 6, 1000 + 6 * h);
        check_ramp(head.k, 6, 2000 + 6 * (h < 3 ? 0 : 1));
        check_ramp(head.v, 15, 3000 + 15 * (h < 3 ? 0 : 1));
    }
    nb_head head;
    assert_refused(f->ctx, nb_head_load(path, 6, &head, f->ctx), NB_EINVAL, path);
    assert_refused(f->ctx, nb_head_load(path, -1, &head, f->ctx), NB_EINVAL, path);
}

/* (n, heads, d) with metadata gives the same heads as (heads, n, d); without, it is
 * read as that, and doubted. 70,000 numbers a token: more than is read at a time. */
static void test_layouts(void **state)
{
    enum { N = 3, HEADS = 35000, D = 2 };
    fixture *f = *state;
    nb_head_shape shape;
    nb_head head;
    const char *doubt, *path = path_of(f, "h.safetensors");
    double *values = nb_alloc_reals(f->ctx, (size_t)N * HEADS, D);
    for (int i = 0; i < N * HEADS * D; i++) values[i] = i;
    tensor_out tensors[2] = {{"q", NB_F64, 3, {N, HEADS, D}, values}, {"k", NB_F64, 3, {N, 1, D}, values}};
    for (int known = 0; known < 3; known++) {
        static const char *const layouts[] = {"n,heads,d", "heads,n,d", "n, heads, d"};
        json_t *metadata = json_pack("{s:s}", "layout", layouts[known]);
        tensor_out swapped[2] = {{"q", NB_F64, 3, {HEADS, N, D}, values}, {"k", NB_F64, 3, {1, N, D}, values}};
        nb_status status = save_safetensors(path, 2, known == 1 ? swapped : tensors, metadata, f->ctx);
        json_decref(metadata);
        assert_ok(f->ctx, status);
        if (known == 2) {
            assert_refused(f->ctx, nb_head_file_shape(path, &shape, f->ctx), NB_EIO, path);
            continue;
        }
        assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
        assert_true(shape.heads == HEADS && shape.key_heads == 1 && shape.n == N && shape.d == D && !shape.doubtful);
        assert_ok(f->ctx, nb_head_doubt(path, &shape, &doubt, f->ctx));
        assert_null(doubt);
        assert_ok(f->ctx, nb_head_load(path, HEADS - 1, &head, f->ctx));
        for (int i = 0; i < N; i++)
            for (int l = 0; l < D; l++) {
                int expected = known == 0 ? (i * HEADS + HEADS - 1) * D + l : ((HEADS - 1) * N + i) * D + l;
                assert_true(head.q[i * D + l] == expected && head.k[i * D + l] == i * D + l);
            }
    }
    static const struct {
        int64_t q[3];
        bool doubtful;
    } unsaid[] = {{{4, 3, 2}, true}, {{3, 3, 3}, false}, {{1, 3, 4}, true}, {{3, 3, 2}, false}};
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) {
        path = save_head(f, 3, unsaid[i].q, unsaid[i].q, NULL, NULL);
        assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
        assert_true(shape.doubtful == unsaid[i].doubtful);
        int64_t inputs[4] = {5, unsaid[i].q[0], unsaid[i].q[1], unsaid[i].q[2]};
        path = save_head(f, 4, inputs, inputs, NULL, NULL);
        assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
        assert_true(shape.doubtful == unsaid[i].doubtful);
        assert_ok(f->ctx, nb_head_doubt(path, &shape, &doubt, f->ctx));
        assert_true(!doubt == !unsaid[i].doubtful);
        if (doubt) tell("inputs", doubt);
    }
}

static void test_one_head_without_values(void **state)
{
    static const int64_t q[2] = {1, 3};
    fixture *f = *state;
    nb_head_shape shape;
    nb_head head;
    const char *path = save_head(f, 2, q, q, NULL, NULL);
    assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
    assert_true(shape.heads == 1 && shape.key_heads == 1 && shape.n == 1 && shape.d == 3 && shape.dv == 0 &&
                !shape.causal);
    assert_ok(f->ctx, nb_head_load(path, 0, &head, f->ctx));
    assert_null(head.v);
    assert_false(head.causal);
    check_ramp(head.k, 3, 2000);
}

/* q in Fortran order and float16, k in big endian, v of rank 3. */
static void test_folder_of_npy(void **state)
{
    static const int64_t shape[3] = {1, 2, 2};
    static const double values[4] = {5, 6, 7, 8};
    fixture *f = *state;
    nb_head head;
    put_npy(f, "q.npy", 1, NPY("'<f2'", "True", "(2, 2)"), "\x00\x3c\x00\x40\x00\x42\x00\x44", 8);
    assert_ok(f->ctx, nb_head_load(f->folder, 0, &head, f->ctx));
    assert_true(head.n == 2 && head.d == 2 && !head.k && !head.v);
    put_npy(f, "k.npy", 2, NPY("'>f2'", "False", "(2, 2)"), "\x3c\x00\x40\x00\x42\x00\x44\x00", 8);
    assert_ok(f->ctx, nb_head_load(f->folder, 0, &head, f->ctx));
    assert_true(head.n == 2 && head.d == 2 && head.dv == 0 && !head.v && !head.causal);
    assert_true(head.q[0] == 1 && head.q[1] == 3 && head.q[2] == 2 && head.q[3] == 4);
    check_ramp(head.k, 4, 1);
    assert_ok(f->ctx, nb_npy_save_reals(path_of(f, "v.npy"), 3, shape, values, f->ctx));
    assert_ok(f->ctx, nb_head_load(f->folder, 0, &head, f->ctx));
    assert_int_equal(head.dv, 2);
    check_ramp(head.v, 4, 5);
    put(f, "v.npy", "", 0);
    assert_refused(f->ctx, nb_head_load(f->folder, 0, &head, f->ctx), NB_EIO, "/v.npy");
    put_npy(f, "v.npy", 1, NPY("'<i4'", "False", "(2, 1)"), "\1\0\0\0\2\0\0\0", 8);
    assert_refused(f->ctx, nb_head_load(f->folder, 0, &head, f->ctx), NB_EIO, "/v.npy");
}

static void test_shapes_that_disagree(void **state)
{
    static const struct {
        int64_t q[3], k[3], v[3];
    } heads[] = {
        {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}}, {{2, 3, 4}, {2, 3, 5}, {2, 3, 4}},
        {{2, 3, 4}, {2, 3, 4}, {2, 5, 4}}, {{3, 3, 4}, {2, 3, 4}, {2, 3, 4}},
        {{2, 3, 4}, {4, 3, 4}, {4, 3, 4}}, {{4, 3, 4}, {2, 3, 4}, {4, 3, 4}},
        {{2, 0, 4}, {2, 0, 4}, {2, 0, 4}}, {{2, 3, 4}, {0, 3, 4}, {0, 3, 4}},
        {{2, 3, 4}, {2, 3, 4}, {2, 3, 0}}, {{0, 3, 2147483648}, {2, 3, 4}, {2, 3, 4}},
    };
    fixture *f = *state;
    nb_head_shape shape;
    nb_head head;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        const char *path = save_head(f, 3, heads[i].q, heads[i].k, heads[i].v, NULL);
        const char *asked = nb_format(f->ctx, "heads %zu", i);
        assert_refused_of(asked, f->ctx, nb_head_file_shape(path, &shape, f->ctx), NB_EDIM, path);
        assert_refused_of(asked, f->ctx, nb_head_load(path, 0, &head, f->ctx), NB_EDIM, path);
    }
}

static void test_heads_that_are_refused(void **state)
{
    static const int64_t line[1] = {3}, shape[3] = {1, 1, 2}, wide[3] = {2147483648, 0, 2};
    fixture *f = *state;
    nb_head_shape out;
    const char *path = save_head(f, 1, line, line, line, NULL);
    assert_refused(f->ctx, nb_head_file_shape(path, &out, f->ctx), NB_EDIM, path);
    save_head(f, 3, wide, shape, shape, NULL);
    assert_refused(f->ctx, nb_head_file_shape(path, &out, f->ctx), NB_EDIM, path);
    save_head(f, 3, shape, shape, shape, "True");
    assert_refused(f->ctx, nb_head_file_shape(path, &out, f->ctx), NB_EIO, path);
    save_head(f, 3, shape, shape, shape, "false");
    assert_ok(f->ctx, nb_head_file_shape(path, &out, f->ctx));
    assert_false(out.causal);
    static const char *const names[2] = {"k", "v"};
    for (int i = 0; i < 2; i++) {
        tensor_out tensors[2] = {ramp(f, names[i], 3, shape, 1), ramp(f, "q", 3, shape, 1)};
        assert_ok(f->ctx, save_safetensors(path, i + 1, tensors, NULL, f->ctx));
        assert_refused(f->ctx, nb_head_file_shape(path, &out, f->ctx), NB_EIO, path);
    }
    put_safetensors(f, "head.safetensors", TWO("[0,4]", "[4,8]"), "\0\0\0\0\0\0\0\0", 8);
    assert_refused(f->ctx, nb_head_file_shape(path, &out, f->ctx), NB_EDIM, path);
}

/* Element e of q has the value 1000 + e, of k 2000 + e, of v 3000 + e. Key head 1 of input 1 is number 3 of 2 x 2. */
static void test_many_inputs(void **state)
{
    static const int64_t q[4] = {2, 6, 3, 2}, k[4] = {2, 2, 3, 2}, v[4] = {2, 2, 3, 5};
    fixture *f = *state;
    nb_head_shape shape;
    nb_head head;
    const char *text, *path = save_head(f, 4, q, k, v, "true");
    assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
    assert_true(shape.heads == 12 && shape.key_heads == 4 && shape.inputs == 2 && shape.n == 3 && shape.d == 2 &&
                shape.dv == 5 && shape.doubtful);
    assert_ok(f->ctx, nb_head_lack(path, &shape, &text, f->ctx));
    assert_null(text);
    for (int i = 0; i < 2; i++)
        for (int h = 0; h < 6; h++) {
            assert_ok(f->ctx, nb_head_load(path, 6 * i + h, &head, f->ctx));
            assert_true(head.n == 3 && head.d == 2 && head.dv == 5 && head.causal);
            check_ramp(head.q, 6, 1000 + 36 * i + 6 * h);
            check_ramp(head.k, 6, 2000 + 12 * i + 6 * (h / 3));
            check_ramp(head.v, 15, 3000 + 30 * i + 15 * (h / 3));
        }
    assert_refused(f->ctx, nb_head_load(path, 12, &head, f->ctx), NB_EINVAL, path);
}

/* (inputs, n, heads, d) = (2, 3, 4, 2): token t of head h of input i begins at ((i 3 + t) 4 + h) 2. */
static void test_many_inputs_tokens_first(void **state)
{
    static const int64_t tokens_first[4] = {2, 3, 4, 2};
    fixture *f = *state;
    nb_head_shape shape;
    nb_head head;
    const char *path = path_of(f, "head.safetensors");
    tensor_out tensor = ramp(f, "q", 4, tokens_first, 0);
    json_t *metadata = json_pack("{s:s}", "layout", "n,heads,d");
    nb_status status = save_safetensors(path, 1, &tensor, metadata, f->ctx);
    json_decref(metadata);
    assert_ok(f->ctx, status);
    assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
    assert_true(shape.heads == 8 && shape.key_heads == 0 && shape.inputs == 2 && shape.n == 3 && shape.d == 2);
    for (int index = 0; index < 8; index++) {
        assert_ok(f->ctx, nb_head_load(path, index, &head, f->ctx));
        for (int e = 0; e < 6; e++) assert_true(head.q[e] == ((index / 4 * 3 + e / 2) * 4 + index % 4) * 2 + e % 2);
    }
}

static void test_queries_alone(void **state)
{
    static const int64_t shape[4] = {3, 1, 2, 2};
    fixture *f = *state;
    nb_head_shape out;
    nb_head head;
    const char *text, *path = path_of(f, "head.safetensors"), *folder = path_of(f, "folder");
    tensor_out tensors[2] = {ramp(f, "q", 4, shape, 7), ramp(f, "keys", 4, shape, 7)};
    assert_ok(f->ctx, save_safetensors(path, 2, tensors, NULL, f->ctx));
    assert_ok(f->ctx, nb_head_file_shape(path, &out, f->ctx));
    assert_true(out.heads == 3 && out.key_heads == 0 && out.dv == 0);
    assert_ok(f->ctx, nb_head_lack(path, &out, &text, f->ctx));
    tell("q and keys", text);
    assert_ok(f->ctx, nb_head_load(path, 2, &head, f->ctx));
    assert_null(head.k);
    assert_null(head.v);
    check_ramp(head.q, 4, 15);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_ok(f->ctx, nb_npy_save_reals(path_of(f, "folder/q.npy"), 4, tensors[0].shape, tensors[0].values, f->ctx));
    assert_ok(f->ctx, nb_head_file_shape(folder, &out, f->ctx));
    assert_true(out.heads == 3 && out.inputs == 3 && out.key_heads == 0);
    assert_ok(f->ctx, nb_head_lack(folder, &out, &text, f->ctx));
    tell("q.npy", text);
}

static void test_inputs_that_disagree(void **state)
{
    static const int64_t rank5[5] = {1, 1, 1, 2, 2}, none[4] = {0, 2, 3, 4}, wide[4] = {1025, 1024, 1, 1};
    static const struct {
        int ranks[3];
        int64_t q[4], k[4], v[4];
    } heads[] = {
        {{4, 4, 4}, {2, 2, 3, 4}, {3, 2, 3, 4}, {3, 2, 3, 4}}, {{4, 3, 3}, {2, 2, 3, 4}, {4, 3, 4}, {4, 3, 4}},
        {{3, 4, 4}, {2, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}},    {{4, 4, 4}, {2, 2, 3, 4}, {2, 2, 3, 4}, {4, 1, 3, 4}},
        {{4, 4, 4}, {2, 3, 3, 4}, {2, 2, 3, 4}, {2, 2, 3, 4}}, {{4, 4, 4}, {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}},
        {{4, 4, 4}, {2, 2, 3, 4}, {2, 2, 3, 4}, {2, 1, 3, 4}},
    };
    fixture *f = *state;
    nb_head_shape shape;
    const char *path = path_of(f, "head.safetensors");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        tensor_out tensors[3] = {ramp(f, "q", heads[i].ranks[0], heads[i].q, 1),
                                 ramp(f, "k", heads[i].ranks[1], heads[i].k, 1),
                                 ramp(f, "v", heads[i].ranks[2], heads[i].v, 1)};
        assert_ok(f->ctx, save_safetensors(path, 3, tensors, NULL, f->ctx));
        assert_refused_of(nb_format(f->ctx, "heads %zu", i), f->ctx, nb_head_file_shape(path, &shape, f->ctx), NB_EDIM,
                          path);
    }
    save_head(f, 5, rank5, rank5, NULL, NULL);
    assert_refused(f->ctx, nb_head_file_shape(path, &shape, f->ctx), NB_EDIM, path);
    save_head(f, 4, none, none, NULL, NULL);
    assert_refused(f->ctx, nb_head_file_shape(path, &shape, f->ctx), NB_EDIM, path);
    save_head(f, 4, wide, wide, NULL, NULL);
    assert_refused(f->ctx, nb_head_file_shape(path, &shape, f->ctx), NB_EDIM, path);
}

/* The origins of a file of 3 inputs with 2 heads each, or (rank 3) of one with 6 heads, with one line of metadata. */
static nb_status origins(fixture *f, int rank, const char *key, const char *text, const char *const **sources)
{
    static const int64_t shapes[2][4] = {{6, 1, 1}, {3, 2, 1, 1}};
    const char *path = path_of(f, "head.safetensors");
    nb_head_origins origins;
    nb_head_shape shape;
    tensor_out q = ramp(f, "q", rank, shapes[rank - 3], 1);
    json_t *metadata = json_pack("{s:s, s:s, s:s, s:s}", "model", "a model", "layer", "3", "source", "many", key, text);
    nb_status status = save_safetensors(path, 1, &q, metadata, f->ctx);
    json_decref(metadata);
    assert_ok(f->ctx, status);
    assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
    status = nb_head_origins_of(path, &shape, &origins, f->ctx);
    if (status != NB_OK) return status;
    assert_string_equal(origins.model, "a model");
    assert_string_equal(origins.layer, "3");
    *sources = origins.sources;
    return NB_OK;
}

static void test_sources_of_inputs(void **state)
{
    static const struct {
        const char *key, *text, *names[3]; /* "": the file and a number */
    } lists[] = {
        {"input", "3 samples, in order: brick[4,172] brick[172,4] kjv-gen", {"brick", "brick", "kjv-gen"}},
        {"input", "  a b  c ", {"a", "b", "c"}},
        {"input", "at 10:30: a: b [c] d]", {"b", "[c]", "d]"}},
        {"input", "3 samples: a b", {""}},
        {"input", "a b c d", {""}},
        {"input", "of: ", {""}},
        {"other", "a b c", {""}},
        {"sources", " book book[1]  other: ", {"book", "book[1]", "other:"}},
        {"sources", "[\"a b\", \"a-b\", \"\\u00e9\\n\"]", {"a b", "a-b", "\u00e9\\x0a"}},
        {"sources", "[a] [b] c", {"[a]", "[b]", "c"}},
        {"sources", "one\n2\t \x1b[31mred plain\x7f", {"one\\x0a2\\x09", "\\x1b[31mred", "plain\\x7f"}},
    };
    fixture *f = *state;
    const char *const *sources, *path = path_of(f, "head.safetensors");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        assert_ok(f->ctx, origins(f, 4, lists[i].key, lists[i].text, &sources));
        for (int h = 0; h < 6; h++) {
            const char *name =
                *lists[i].names[0] ? lists[i].names[h / 2] : nb_format(f->ctx, "%s input %d", path, h / 2);
            /* NOLINT(wording): the texts are the test's */
            assert_string_equal(sources[h], name);
        }
        assert_ok(f->ctx, origins(f, 3, lists[i].key, lists[i].text, &sources));
        for (int h = 0; h < 6; h++) assert_string_equal(sources[h], "many");
    }
    assert_refused(f->ctx, origins(f, 4, "sources", "a b", &sources), NB_EIO, path);
    assert_refused(f->ctx, origins(f, 4, "sources", "[\"a b\", \"c\"]", &sources), NB_EIO, path);
    assert_refused(f->ctx, origins(f, 4, "sources", "[\"a b\", \"\", \"c\"]", &sources), NB_EIO, path);
}

/* Head 1, token 2, coordinate 1 of (2, 3, 2). */
static void test_nan_is_refused_with_its_place(void **state)
{
    static const int64_t shape[3] = {2, 3, 2};
    static const double bad[2] = {NAN, -INFINITY};
    fixture *f = *state;
    const char *path = path_of(f, "head.safetensors");
    tensor_out out[3] = {ramp(f, "q", 3, shape, 1), ramp(f, "k", 3, shape, 1), ramp(f, "v", 3, shape, 1)};
    nb_head head;
    for (int i = 0; i < 6; i++) {
        tensor_out *t = &out[i / 2];
        double values[12];
        memcpy(values, t->values, sizeof values);
        values[11] = bad[i % 2];
        tensor_out good = *t;
        t->values = values;
        assert_ok(f->ctx, save_safetensors(path, 3, out, NULL, f->ctx));
        assert_ok(f->ctx, nb_head_load(path, 0, &head, f->ctx));
        assert_refused(f->ctx, nb_head_load(path, 1, &head, f->ctx), NB_ENUMERIC, path);
        *t = good;
    }
}

static int open_files(void)
{
    return entries("/proc/self/fd");
}

static void test_no_file_stays_open(void **state)
{
    static const int64_t shape[3] = {2, 3, 2};
    fixture *f = *state;
    nb_head head;
    nb_safetensors file;
    const char *path = save_head(f, 3, shape, shape, shape, "true");
    int before = open_files();
    assert_ok(f->ctx, nb_head_load(path, 0, &head, f->ctx));
    assert_ok(f->ctx, nb_safetensors_open(path, &file, f->ctx));
    assert_int_equal(open_files(), before);
}

static nb_status use_everything(const char *heads, const char *folder, const char *npy, nb_ctx *ctx)
{
    static const int64_t shape[2] = {1, 2};
    static const double values[2] = {2.385, -1};
    const char *text;
    nb_head_origins origins;
    nb_head_shape head_shape;
    nb_head head;
    nb_tensor t;
    double read[2];
    NB_TRY(ctx, nb_head_file_shape(heads, &head_shape, ctx));
    NB_TRY(ctx, nb_head_origins_of(heads, &head_shape, &origins, ctx));
    head_shape.key_heads = 0;
    NB_TRY(ctx, nb_head_lack(heads, &head_shape, &text, ctx));
    head_shape.inputs = head_shape.heads;
    NB_TRY(ctx, nb_head_origins_of(heads, &head_shape, &origins, ctx));
    NB_TRY(ctx, nb_head_load(heads, 1, &head, ctx));
    NB_TRY(ctx, nb_head_load(folder, 0, &head, ctx));
    NB_TRY(ctx, nb_head_new(3, 2, &head, ctx));
    NB_TRY(ctx, nb_npy_save_reals(npy, 2, shape, values, ctx));
    NB_TRY(ctx, nb_npy_open(npy, &t, ctx));
    NB_TRY(ctx, nb_tensor_read_reals(npy, &t, 0, 2, read, ctx));
    return nb_npy_save_integers(npy, 2, shape, shape, ctx);
}

/* Under the sanitizer a leak fails the program at its end. */
static void test_kth_allocation_fails(void **state)
{
    static const int64_t shape[3] = {2, 3, 2}, flat[2] = {3, 2};
    static const double values[6] = {1, 2, 3, 4, 5, 6};
    fixture *f = *state;
    const char *heads = save_head(f, 3, shape, shape, shape, "true"), *npy = path_of(f, "x.npy");
    assert_ok(f->ctx, nb_npy_save_reals(path_of(f, "q.npy"), 2, flat, values, f->ctx));
    assert_ok(f->ctx, nb_npy_save_reals(path_of(f, "k.npy"), 2, flat, values, f->ctx));
    assert_ok(f->ctx, nb_npy_save_reals(npy, 2, flat, values, f->ctx));
    size_t blocks = nb_ctx_blocks(f->ctx);
    int files = open_files(), inside = entries(f->folder), k = 0;
    nb_status status;
    do {
        nb_mark mark = nb_ctx_mark(f->ctx);
        nb_ctx_fail_alloc(f->ctx, ++k);
        status = use_everything(heads, f->folder, npy, f->ctx);
        nb_ctx_fail_alloc(f->ctx, 0);
        nb_ctx_release(f->ctx, mark);
        assert_true(status == NB_OK || status == NB_ENOMEM);
        nb_error_clear(f->ctx);
        assert_int_equal(nb_ctx_blocks(f->ctx), blocks);
        assert_int_equal(open_files(), files);
        assert_int_equal(entries(f->folder), inside);
    } while (status != NB_OK);
    assert_true(k > 40);
}

/* experiments/data/README.md and the file's own metadata. */
static void test_head_names(void **state)
{
    static const struct {
        const char *text, *file;
        int head;
    } known[] = {{"a.safetensors", "a.safetensors", -1},
                 {"a.safetensors:0", "a.safetensors", 0},
                 {"b/c:d:17", "b/c:d", 17},
                 {"with:3", "with:3", -1}}; /* is there */
    static const char *const bad[] = {"a:", "a:x", "a:-1", "a:1x", "a: 1", "a:99999999999999999999"};
    fixture *f = *state;
    const char *file;
    int head;
    FILE *out = fopen(path_of(f, "with:3"), "w");
    assert_true(out && fclose(out) == 0);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *before = known[i].head < 0 && strchr(known[i].text, ':') ? f->folder : "no";
        assert_ok(f->ctx, nb_head_split(nb_format(f->ctx, "%s/%s", before, known[i].text), &file, &head, f->ctx));
        assert_string_equal(file, nb_format(f->ctx, "%s/%s", before, known[i].file));
        assert_int_equal(head, known[i].head);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_error_of(bad[i], f->ctx, nb_head_split(bad[i], &file, &head, f->ctx), NB_EINVAL);
    assert_error(f->ctx, nb_head_split("experiments/data/vit_astronaut_n257_L6.safetensors:x", &file, &head, f->ctx),
                 NB_EINVAL); /* of a file that can be read */
}

static void test_shipped_file(void **state)
{
    static const char path[] = "experiments/data/smollm2_opticks_n1024_L15.safetensors";
    fixture *f = *state;
    nb_head_shape shape;
    nb_safetensors file;
    nb_head head, other;
    assert_ok(f->ctx, nb_head_file_shape(path, &shape, f->ctx));
    assert_true(shape.heads == 3 && shape.key_heads == 1 && shape.n == 1024 && shape.d == 64 && shape.dv == 64 &&
                shape.causal);
    assert_int_equal(find_tensor(f, path, &file, "k").dtype, NB_F16);
    assert_string_equal(nb_safetensors_metadata(&file, "input"), "opticks");
    assert_ok(f->ctx, nb_head_load(path, 0, &head, f->ctx));
    assert_ok(f->ctx, nb_head_load(path, 2, &other, f->ctx));
    assert_memory_equal(head.k, other.k, 1024 * 64 * sizeof *head.k);
    assert_memory_not_equal(head.q, other.q, 1024 * 64 * sizeof *head.q);
}

#define test_with_folder(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_folder(test_npy_reads_every_type),
        test_with_folder(test_safetensors_reads_every_type),
        test_with_folder(test_integers_beyond_int64_are_refused),
        test_with_folder(test_npy_versions_and_spellings),
        test_with_folder(test_npy_fortran_order),
        test_with_folder(test_scalars_of_files),
        test_with_folder(test_npy_round_trip),
        test_with_folder(test_npy_empty_array),
        test_with_folder(test_elements_outside_are_refused),
        cmocka_unit_test(test_half_to_real_all_patterns),
        test_with_folder(test_safetensors_round_trip),
        test_with_folder(test_safetensors_empty),
        test_with_folder(test_writers_refuse),
        test_with_folder(test_writers_replace_whole_or_not_at_all),
        test_with_folder(test_malformed_npy),
        test_with_folder(test_malformed_npy_starts),
        test_with_folder(test_malformed_safetensors),
        test_with_folder(test_other_tensors_are_not_read),
        test_with_folder(test_null_and_brackets),
        test_with_folder(test_malformed_safetensors_starts),
        test_with_folder(test_damaged_files),
        test_with_folder(test_what_is_no_file_is_refused),
        test_with_folder(test_checkpoints_are_named),
        test_with_folder(test_layouts),
        test_with_folder(test_grouped_queries),
        test_with_folder(test_one_head_without_values),
        test_with_folder(test_folder_of_npy),
        test_with_folder(test_shapes_that_disagree),
        test_with_folder(test_heads_that_are_refused),
        test_with_folder(test_many_inputs),
        test_with_folder(test_many_inputs_tokens_first),
        test_with_folder(test_queries_alone),
        test_with_folder(test_inputs_that_disagree),
        test_with_folder(test_sources_of_inputs),
        test_with_folder(test_nan_is_refused_with_its_place),
        test_with_folder(test_no_file_stays_open),
        test_with_folder(test_kth_allocation_fails),
        test_with_folder(test_head_names),
        test_with_folder(test_shipped_file),
    };
    return run_all(tests);
}
