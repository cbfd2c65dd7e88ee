# SPDX-License-Identifier: GPL-3.0-or-later
# libnysbench as others use it: its symbols, its installation, and that it gives what the program gives.

load helpers

HEAD=experiments/data/vit_astronaut_n257_L6.safetensors

# The library is built with the program that is not sanitized.
need_library() {
    if sanitized; then skip "the library is not sanitized"; fi
}

# The flags and folders of pkg-config.
installed_library() {
    installed
    export LD_LIBRARY_PATH=$INSTALLED_TREE/usr/lib
    flags=$(PKG_CONFIG_PATH="$INSTALLED_TREE/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$INSTALLED_TREE" \
        PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 pkg-config --cflags --libs libnysbench)
}

@test "the library shows the functions of its header and nothing else" {
    need_library
    nm -D --defined-only build/libnysbench.so | awk '{ print $3 }' | sort >"$WORK/shown"
    # Declarations, not the macros that call them.
    grep -v '^#define' src/api/nysbench.h | grep -oE '\bnysbench_[a-z_]+\(' | tr -d '(' | sort -u >"$WORK/declared"
    [ "$(wc -l <"$WORK/declared")" -ge 20 ]
    diff "$WORK/declared" "$WORK/shown"
}

@test "its name has the number of its interface, and it needs no symbol that it lacks" {
    need_library
    api=$(sed -n 's/^#define NYSBENCH_API \([0-9]*\)$/\1/p' src/api/nysbench.h)
    [ "$(readelf -d build/libnysbench.so | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" = "libnysbench.so.$api" ]
    [ "$(readlink build/libnysbench.so)" = "libnysbench.so.$api" ]
    printf 'int main(void)\n{\n    return 0;\n}\n' >"$WORK/empty.c"
    cc "$WORK/empty.c" -Wl,--no-as-needed -Lbuild -lnysbench -o "$WORK/empty"
    LD_BIND_NOW=1 LD_LIBRARY_PATH=build "$WORK/empty"
}

@test "nothing in src/api ends the process, starts one, prints, or changes what belongs to it" {
    need_library
    local ends='exit|_exit|abort|quick_exit|__assert_fail|kill|raise' prints='puts|printf|putchar|stdout|stderr|perror'
    local starts='fork|vfork|exec[vlpe]+|system|popen|posix_spawnp?'
    local changes='signal|sigaction|setenv|putenv|setlocale|chdir|umask|dup2?|srand|rand|mallopt'
    for object in build/src/api/*.o; do
        ! nm -u "$object" |
            grep -wE "$ends|$starts|$prints|$changes" || return 1
    done
    # The count of calls with its lock, and what sees forks, are all that can be written to.
    [ "$(objdump -t build/src/api/*.o | awk '/ O \.(data|bss)\t/ { sub(/[.].*/, "", $NF); print $NF }' | sort | paste \
        -sd ,)" = calls,once,watched ]
}

@test "C and C++ programs are compiled against the installed library; the manual's examples among them" {
    need_library
    installed_library
    local number
    for number in 1 2; do
        sed -n '/^## The library/,$p' docs/plugins.md |
            awk -v wanted=$number '/^```/ { inside = /^```c$/; count += inside; next } inside && count == wanted' \
                >"$WORK/example.c"
        cc -std=c99 -Wall -Wextra -Wpedantic -Werror "$WORK/example.c" $flags -lm -o "$WORK/example$number"
    done
    run "$WORK/example2"
    expect_status 0
    [ "$output" = "1 call" ]
    run "$WORK/example1"
    expect_status 0
    output=$(sed 's/\(error\|landmarks\|token\): .*/\1: .../' <<<"$output") tell example1
    cat >"$WORK/mine.cpp" <<'CPP'
#include <nysbench.h>
#include <cstdio>
int main()
{
    nysbench *handle;
    const char *const *names;
    nysbench_request request;
    nysbench_request_init(&request);
    if (nysbench_api() != NYSBENCH_API || nysbench_new(&handle) != NYSBENCH_OK) return 1;
    if (nysbench_names(handle, "kernel", &names) != NYSBENCH_OK) return 1;
    for (; *names; names++) std::puts(*names);
    nysbench_free(handle);
}
CPP
    c++ -Wall -Wextra -Wpedantic -Werror "$WORK/mine.cpp" $flags -o "$WORK/mine"
    run "$WORK/mine"
    expect_status 0
    of_json 'print(*[r["name"] for r in x], sep="\n")' "$NYSBENCH" list kernels | diff - <(printf '%s\n' "$output")
    [ "$(PKG_CONFIG_PATH="$INSTALLED_TREE/usr/lib/pkgconfig" pkg-config --modversion libnysbench)" = \
        "$("$NYSBENCH" --version | awk '{ print $2 }')" ]
}

@test "the library and the program give the same bits" {
    need_library
    installed_library
    cat >"$WORK/mine.c" <<'C'
#include <nysbench.h>
#include <stdio.h>
#include <stdlib.h>

static float *floats(FILE *in, size_t count)
{
    float *x = malloc(count * sizeof *x);
    if (!x || fread(x, sizeof *x, count, in) != count) exit(3);
    return x;
}

static void check(nysbench_status status, const char *message)
{
    if (status == NYSBENCH_OK) return;
    fprintf(stderr, "%s: %s\n", nysbench_status_name(status), message);
    exit(1);
}

/* FILE:H, then q, k and v of all heads on standard input, float32: heads n d of these */
int main(int argc, char **argv)
{
    nysbench *h;
    nysbench_attention *a;
    nysbench_landmarks l;
    nysbench_request r;
    nysbench_layer layer = {sizeof layer, 1, 0, 0, 0, 0, 0, 0};
    const char *json;
    int rows;
    if (argc != 5) return 2;
    layer.heads = layer.key_heads = atoi(argv[2]), layer.n = atoi(argv[3]), layer.d = layer.dv = atoi(argv[4]);
    check(nysbench_new(&h), "");
    nysbench_request_init(&r);
    r.file = argv[1], r.strategy = "kmeans(snap=nearest)", r.landmarks = 9, r.seed = 3, r.trial = 1;
    check(nysbench_select(h, &r, &l), nysbench_message(h));
    for (int j = 0; j < l.m; j++) printf("%s%lld", j ? " " : "", (long long)l.keys.tokens[j]);
    puts("");
    check(nysbench_measure(h, &r, &rows), nysbench_message(h));
    for (int i = 0; i < rows; i++) {
        check(nysbench_row_json(h, i, &json), nysbench_message(h));
        puts(json);
    }
    size_t count = (size_t)layer.heads * (size_t)layer.n * (size_t)layer.d;
    float *q = floats(stdin, count), *k = floats(stdin, count), *v = floats(stdin, count);
    float *out = malloc(count * sizeof *out);
    check(nysbench_attention_new(h, "performer(features=32)", &layer, 2, 3, 1, &a), nysbench_message(h));
    check(nysbench_attention_forward(a, q, k, v, out), nysbench_attention_message(a));
    fwrite(out, sizeof *out, count, stderr);
    return 0;
}
C
    cc -Wall -Wextra "$WORK/mine.c" $flags -o "$WORK/mine"
    # The kernels that the program chooses at its start.
    export OPENBLAS_CORETYPE=${OPENBLAS_CORETYPE:-$(of_json 'print(x["blas_kernels"])' "$NYSBENCH" info)}
    py check_same_bits "$NYSBENCH" "$WORK" $HEAD
}
