#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What users wait for and what they get, in twelve parts, each a table and a CSV in OUT
# (results/bench):
#   engine  the streamed engine against a plain matrix product, by part and size
#   memory  a whole run of the card's 64 cells at n = 32768, its time and peak memory
#   peer    the same experiment as a script of NumPy and of PyTorch, from PyPI
#           (PEERS=numpy,processes,torch: some of them), in a virtual environment, build/peer-venv, which is made
#           when it is missing
#   forward passes of attention layers in turn with those of PyTorch, Hugging Face and lucidrains, n = 512 ... 32768
#   sweep   40 settings of X beside one, on the same landmarks
#   strategies  experiments/04-strategies.yaml: each strategy against uniform tokens, and
#           a figure; goes on where it was stopped, minutes otherwise
#   profile  profile against k-means: on the heads in HEADS (../shared/data/panel, and ../shared/data/dev),
#           with sources as the unit; and the time to select, n = 1024 ... 16384
#   serve   a pick by an outside program: one process a pick, and one that stays alive; and what a run adds to the calls
#           of a function of a Python session
#   workers  experiments/01-error-vs-landmarks.yaml with 1 and with 2 workers in turn, five times
#   python  what a call from Python takes beyond the pass itself
#   rows  what rows cost beside their measurement: 10,000 small heads; commands on 100 rows; stores of up to a million
#           rows (2 GB in TMPDIR)
#   gpu     attentions of nysbench.torch beside PyTorch's exact ones, seven minutes of a GPU (GPU_PYTHON: a Python with
#           torch; BUNDLE: what vit_torch.py bundle wrote, where fetch.sh has not run); only where it is named
# From the repository's root:
# tests/bench/bench.sh [engine|memory|peer|forward|sweep|strategies|profile|serve|workers|python|rows|gpu]...
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${OUT:-results/bench}
mkdir -p "$out"
machine=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -1)
facts="$machine,$(date -u +%F),make bench"

# Adds what a stranger needs to know to every line of a CSV, and shows it as a table.
keep() { # FILE
    awk -v facts="$facts" 'NR == 1 { print $0 ",machine,date,command"; next } { print $0 "," facts }' >"$1"
    cut -d, -f1-"$(($(head -1 "$1" | tr , '\n' | wc -l) - 3))" "$1" | column -s, -t
}

engine() {
    build/bench/engine | keep "$out/bench_engine.csv"
}

memory() {
    local work
    work=$(mktemp -d)
    /usr/bin/python3 - "$work" <<'PY' | keep "$out/bench_memory.csv"
import resource, subprocess, sys, time
print("n,cells,rows,seconds,peak_rss_mib")
for n, rows in ((4096, "all"), (32768, "all"), (131072, "sample(1024)")):
    strategies = "uniform, segment_means, kmeans" + ("" if rows != "all" else ", leverage")
    began = time.perf_counter()
    subprocess.run(["./nysbench", "run", "experiments/01-error-vs-landmarks.yaml", "-q", "-j1",
                    "--out", f"{sys.argv[1]}/{n}", "--set", "trials=1", "--set", "plots=[]", "--set", "metrics=error",
                    "--set", f"problems=gaussian(n={n}, d=64)", "--set", f"strategies=[{strategies}]",
                    "--set", f"rows={rows}"],
                   check=True, stdout=subprocess.DEVNULL)
    # Sizes grow, so the largest child is the last.
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"{n},{16 * (strategies.count(',') + 1)},{rows},{time.perf_counter() - began:.1f},{peak}", flush=True)
PY
    rm -rf "$work"
}

# Makes or completes the virtual environment of the peers: 6 GB, most of it PyTorch.
peers() {
    if ! [ -x build/peer-venv/bin/python ]; then
        /usr/bin/python3 -m venv build/peer-venv ||
            { echo "python3-venv is missing: apt-get install python3-venv" >&2; return 1; }
    fi
    build/peer-venv/bin/python -c 'import sklearn, threadpoolctl, torch, transformers, nystrom_attention' 2>/dev/null ||
        build/peer-venv/bin/pip install -q numpy scikit-learn threadpoolctl torch transformers nystrom-attention
}

peer() {
    peers
    build/peer-venv/bin/python tests/bench/peer.py ./nysbench "$out/bench_peer.csv" \
        --peers "${PEERS:-numpy,processes,torch}"
}

# malloc gives large blocks back to the system at once, and PyTorch, which allocates in each pass, then waits for pages.
# nysbench keeps them; so that the arithmetic is compared, here PyTorch does too. Some settings are as installed.
forward() {
    local times=$out/bench_forward.csv ratios=$out/bench_forward_ratios.csv
    peers
    MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=2147483647 build/peer-venv/bin/python tests/bench/forward_peer.py \
        build/bench/forward "$times" "$ratios"
    build/peer-venv/bin/python tests/bench/forward_peer.py build/bench/forward "$times" "$ratios" \
        --append --sizes 1024,4096,16384 --heads 8
}

sweep() {
    /usr/bin/python3 tests/bench/sweep.py ./nysbench | keep "$out/bench_sweep.csv"
}

strategies() {
    local format
    ./nysbench run experiments/04-strategies.yaml --out results/04-strategies
    ./nysbench table results/04-strategies shares --format csv | keep "$out/strategies.csv" >/dev/null
    for format in svg png; do cp "results/04-strategies/plots/forest_iterative.$format" "$out/strategies.$format"; done
}

# Columns with commas in quotes: for `keep` the name of the strategy is cut off.
profile() {
    local work folder
    work=$(mktemp -d)
    for folder in ${HEADS:-../shared/data/panel ../shared/data/dev}; do
        [ -d "$folder" ] || {
            echo "bench.sh: there is no folder $folder: HEADS=FOLDER names one with heads of several sources" >&2
            return 1
        }
        /usr/bin/python3 tests/bench/sources.py ./nysbench "$folder" "$work/$(basename "$folder")" |
            sed 's/^strategy,//; s/^"[^"]*",//' |
            keep "$out/bench_profile_$(basename "$folder").csv"
    done
    /usr/bin/python3 tests/bench/selection.py ./nysbench "$work/time" | keep "$out/bench_select.csv"
    rm -rf "$work"
}

serve() {
    local work
    work=$(mktemp -d)
    /usr/bin/python3 tests/bench/serve.py ./nysbench "$work" | keep "$out/bench_serve.csv"
    PYTHONPATH=python OPENBLAS_NUM_THREADS=1 /usr/bin/python3 tests/bench/function.py | keep "$out/bench_function.csv"
    rm -rf "$work"
}

# Each pair of runs gives a ratio; the table has their median. On a machine that does something else it says nothing.
workers() {
    local work
    work=$(mktemp -d)
    /usr/bin/python3 - "$work" <<'PY' | keep "$out/bench_workers.csv"
import statistics, subprocess, sys, time

def seconds(jobs, turn):
    began = time.perf_counter()
    subprocess.run(["./nysbench", "run", "experiments/01-error-vs-landmarks.yaml", "-q",
                    "-j", str(jobs), "--set", "plots=[]", "--out", f"{sys.argv[1]}/{turn}-{jobs}"],
                   check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began

turns = [(seconds(1, turn), seconds(2, turn)) for turn in range(5)]
one, two = (statistics.median(t[i] for t in turns) for i in range(2))
ratios = sorted(a / b for a, b in turns)
print("experiment,seconds_1,seconds_2,ratio,ratio_least,ratio_most")
print(f"01-error-vs-landmarks,{one:.2f},{two:.2f},{statistics.median(ratios):.2f},{ratios[0]:.2f},{ratios[-1]:.2f}")
PY
    rm -rf "$work"
}

python() {
    local work
    work=$(mktemp -d)
    tests/python.sh "$work/venv"
    "$work/venv/bin/python" tests/bench/calls.py | keep "$out/bench_python.csv"
    rm -rf "$work"
}

rows() {
    local work
    work=$(mktemp -d)
    /usr/bin/python3 tests/bench/rows.py ./nysbench "$work" | keep "$out/bench_rows.csv"
    rm -rf "$work"
}

gpu() {
    "${GPU_PYTHON:-python3}" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null ||
        { echo "gpu: ${GPU_PYTHON:-python3} has no PyTorch that sees a GPU" >&2; return 1; }
    "${GPU_PYTHON:-python3}" tests/bench/gpu.py "$out" ${BUNDLE:+--bundle "$BUNDLE"} --window \
        --sources aitzgorri,greentock,analogpattern,garden,yellow-flower,honey-bee,chameleon,retina
}

for part in "${@:-all}"; do
    case $part in
    engine | memory | peer | forward | sweep | strategies | profile | serve | workers | python | rows | gpu) "$part" ;;
    all) engine; memory; peer; forward; sweep; strategies; profile; serve; workers; python; rows ;;
    *)
        echo "bench.sh: '$part' is unknown; allowed: engine, memory, peer, forward, sweep, strategies, profile," \
            "serve, workers, python, rows, gpu" >&2
        exit 2
        ;;
    esac
done
