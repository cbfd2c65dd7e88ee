#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make wheel, and what comes of it: its name and size, its symbols, what it holds; then in a root of debootstrap with
# nothing but Python and NumPy the program and the package work, rows have the bits of the checkout's program, and
# figures are drawn once gnuplot is there. Needs root and Debian's archive; minutes: tests/wheel.sh
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root
version=$(sed -n 's/^#define NB_VERSION "\(.*\)"$/\1/p' src/base/version.h)
wheel=dist/nysbench-$version-py3-none-manylinux_2_34_x86_64.whl
core=$(./nysbench info | sed -n 's/^blas_kernels  *//p')

fail() {
    echo "tests/wheel.sh: $*" >&2
    exit 1
}

# The rows of a run without times, a line each.
timeless() {
    /usr/bin/python3 - "$1" <<'PY'
import csv, sys
for row in csv.DictReader(open(sys.argv[1], newline="")):
    print({key: value for key, value in row.items() if not key.endswith("_s")})
PY
}

# COMMAND in the root, in a new folder /w, with no variable of ours but the kernels.
inside() {
    unshare --mount sh -c 'mount -t proc proc "$1/proc" && shift && exec chroot "$@"' sh "$root" "$root" \
        /usr/bin/env -i HOME=/root PATH=/venv/bin:/usr/bin:/bin OPENBLAS_CORETYPE="$core" sh -ec "cd /w; $1"
}

rm -f "$wheel"
make -s wheel >"$work/log" 2>&1 || { tail -20 "$work/log"; fail "make wheel failed"; }
[ -s "$wheel" ] || fail "there is no $wheel, but $(ls dist)"
[ "$(stat -c %s "$wheel")" -le 60000000 ] || fail "$wheel has $(stat -c %s "$wheel") bytes, more than 60 MB"

mkdir "$work/x"
/usr/bin/python3 -m zipfile -e "$wheel" "$work/x"
python/check_symbols.sh "$work/x" 34
mkdir "$work/newer"
printf 'int pidfd_open(int, unsigned);\nint main(void) { return pidfd_open(1, 0); }\n' |
    gcc -x c - -Wl,--no-as-needed -lyaml -o "$work/newer/program"
python/check_symbols.sh "$work/newer" 34 2>"$work/log" && fail "a program with pidfd_open and a library passes"
grep -q "newer than GLIBC_2.34: pidfd_open@GLIBC_2.36$" "$work/log" ||
    { cat "$work/log"; fail "the symbol is not named"; }
grep -q "not every machine has: libyaml-0.so.2$" "$work/log" || { cat "$work/log"; fail "the library is not named"; }
[ -s "$work/x/nysbench-$version.data/data/share/man/man1/nysbench-run.1" ]
for file in plots/*.gp docs/*.md experiments/*.yaml experiments/*/*.* experiments/data/*/*.*; do
    cmp "$file" "$work/x/nysbench/$file"
done
licences=$work/x/nysbench-$version.dist-info/licenses
for library in "$work"/x/nysbench.libs/*; do
    name=$(basename "$library" | sed 's/-[0-9a-f]\{8\}\..*//; s/^libopenblasp-r0$/libopenblas/')
    [ -s "$licences/$name.txt" ] || fail "the licence of $name is missing"
done
for name in nysbench libgsl liblapacke; do [ -s "$licences/$name.txt" ] || fail "the licence of $name is missing"; done

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    fail "what remains needs root and debootstrap"
fi
debootstrap --variant=minbase --include=python3,python3-venv bookworm "$root" >"$work/log" 2>&1 ||
    { tail "$work/log"; fail "debootstrap failed"; }
mkdir "$root/w" "$root/wheels"
/usr/bin/python3 -m pip download --quiet --disable-pip-version-check --only-binary :all: -d "$root/wheels" 'numpy>=1.24'
cp "$wheel" "$root/wheels"
inside 'python3 -m venv /venv; /venv/bin/pip install --quiet --no-index --find-links /wheels nysbench'
[ -z "$(find "$root" -path "$root/venv" -prune -o \( -name 'libopenblas*' -o -name 'libblas*' -o -name 'libgsl*' \
    -o -name gnuplot \) -print)" ]

# Without gnuplot: status 0, said once.
inside 'nysbench --version; nysbench list strategies; nysbench help config; nysbench info' >"$work/out"
grep -q "^experiments  */venv/lib/python3.*/site-packages/nysbench/experiments$" "$work/out"
inside 'nysbench run experiments/00-smoke.yaml' >"$work/out" 2>&1 || { cat "$work/out"; fail "run: status $?"; }
[ "$(grep -c gnuplot "$work/out")" = 1 ] || { cat "$work/out"; fail "gnuplot is not told once"; }
inside 'nysbench demo' >"$work/out" 2>&1 || { cat "$work/out"; fail "demo: status $?"; }
[ "$(grep -c gnuplot "$work/out")" = 1 ] || { cat "$work/out"; fail "demo: gnuplot is not told once"; }
grep -q "Claims: 1 reproduced" "$work/out"
grep -q "all numbers of landmarks together: nysbench compare" "$work/out" ||
    { cat "$work/out"; fail "the command is called otherwise"; }
inside 'nysbench compare nysbench-demo/results --pool landmarks' | grep -q kmeans
inside 'nysbench report nysbench-demo/results' >"$work/out" 2>&1 || { cat "$work/out"; fail "report: status $?"; }
grep -q gnuplot "$work/out"
[ -s "$root/w/nysbench-demo/results/report.html" ]
head=experiments/data/vit_astronaut_n257_L6.safetensors:0
inside "nysbench select --head $head --strategy kmeans --landmarks 16 -o picks.npy" >/dev/null
./nysbench select --head "$head" --strategy kmeans --landmarks 16 -o "$work/picks.npy" >/dev/null
cmp "$work/picks.npy" "$root/w/picks.npy"
inside 'nysbench list | head -1; nysbench nonsense 2>/dev/null && exit 1; [ $? = 2 ]' >/dev/null

# The package; from a folder that has no experiments.
cat >"$root/w/package.py" <<'PY'
import numpy, nysbench
q = numpy.random.default_rng(1).standard_normal((64, 8))
assert len(set(nysbench.select(q, 5, "uniform").tokens)) == 5
row, = nysbench.measure("experiments/data/vit_astronaut_n257_L6.safetensors:0", strategy="uniform", landmarks=16,
                        cores="svd")
assert row["status"] == "ok" and 0 < row["error"] < 10, row
assert nysbench.attention(q[None], q[None], q[None], "nystrom(landmarks=8)").shape == (1, 64, 8)
assert len(nysbench.row_arrays("results/00-smoke")["error"]) > 0
try:
    import nysbench.torch
    raise SystemExit("there is a torch")
except ImportError as problem:
    assert "needs PyTorch" in str(problem), problem
print(nysbench.version)
PY
[ "$(inside 'python package.py')" = "$version" ]

# The same bits as the checkout's program.
same() { # EXPERIMENT ARGUMENT...
    local name=$1
    shift
    inside "nysbench run experiments/$name.yaml --quiet --jobs 1 --out same-$name --set plots=[] $*" >/dev/null \
        2>"$work/log" || { cat "$work/log"; fail "$name fails"; }
    OPENBLAS_CORETYPE=$core ./nysbench run "experiments/$name.yaml" --quiet --jobs 1 --out "$work/same-$name" \
        --set 'plots=[]' "$@" >/dev/null
    diff <(timeless "$work/same-$name/rows.csv") <(timeless "$root/w/same-$name/rows.csv") >"$work/log" ||
        { head -c 3000 "$work/log"; fail "$name has other rows"; }
    echo "$name: $(timeless "$work/same-$name/rows.csv" | wc -l) rows alike"
}
same 00-smoke
same 01-error-vs-landmarks --set trials=2
same 10-coherence --set trials=1
same 07-profile --set trials=1 --set landmarks=16
for attention in streamed 'nystrom(strategy=kmeans, landmarks=16)'; do
    inside "nysbench forward --head ${head%:0} --attention '$attention' -o out.npy" >/dev/null
    ./nysbench forward --head "${head%:0}" --attention "$attention" -o "$work/out.npy" >/dev/null
    cmp "$work/out.npy" "$root/w/out.npy"
done

# With gnuplot, the figures.
[ -z "$(find "$root/w" -name '*.svg')" ]
inside 'apt-get install -y -q --no-install-recommends gnuplot-nox' >"$work/log" 2>&1 ||
    { tail "$work/log"; fail "gnuplot cannot be had"; }
inside 'nysbench plot results/00-smoke && nysbench plot nysbench-demo/results' >"$work/out" 2>&1 ||
    { cat "$work/out"; fail "plot: status $?"; }
ls "$root"/w/results/00-smoke/plots/*.svg "$root"/w/nysbench-demo/results/plots/*.png >/dev/null
ls -l "$wheel"
