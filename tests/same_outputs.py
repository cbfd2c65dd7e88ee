#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""same_outputs.py OLD NEW - two builds of nysbench show the same of random small experiments.

Each experiment is measured once, by OLD. Then both programs make every table (CSV, text of 80 columns), every figure's data and
scripts, comparisons, claims, the export, the report and the landmarks of that run. Numbers are the same if they are printed with the
same value; rows, columns and texts if nothing is added, missing or moved. EXPECTED lists the differences that are wanted.

    --count N      so many experiments (300)
    --seed N       other experiments (1)
    --runs DIR     keep runs and answers: only what is missing is measured, and OLD asked once (default: a folder that is removed)
    --case N       only that experiment
    --only GLOB    only outputs of that name, such as table:errors, figure:*, compare:2
    --within X     numbers may differ by that part of the larger one (0)
    --measure      NEW measures too: rows but for times, and which there are
    --jobs N       experiments at once (1)
    --run RUN      compare what is shown of this run instead, one of any program; may be repeated

An answer is a file in DIR/CASE/old and DIR/CASE/new, beside the experiment, DIR/CASE/e.yaml. Ends with 1 if a difference is
not in EXPECTED. The last lines tell how many experiments each table and figure had rows in."""
import argparse, collections, concurrent.futures, csv, fnmatch, glob, io, itertools, json, os, random, shutil, subprocess, sys, tempfile, threading

# What NEW shows otherwise on purpose: output, part, why. Parts: a column's name, +column (added), -column (missing), rows, order,
# text, status (exit and errors), and of figures: files, scripts, data (what a script draws).
EXPECTED = [
    ("figure:*", "scripts", "a figure is a file of SQL: its script says what that sets, and styles have names"),
    ("figure:error", "data", "medians with intervals over sources, without lines of heads and bands"),
    ("figure:error", "rows", "what is not planned has no row"),
    ("figure:error", "files", "a core without results has no figure"),
    ("figure:svd_vs_iterative", "data", "medians with intervals over sources, without lines of heads and bands"),
    ("figure:svd_vs_iterative", "rows", "what is not planned has no row"),
    ("figure:svd_vs_iterative", "files", "a core without results has no figure"),
    ("figure:svd_vs_iterative", "count", "an error over one of 0 is no ratio"),
    ("table:errors", "text", "a mark is explained where it occurs; what a panel lacks stands in the line below its title"),
]

HERE = os.path.dirname(os.path.abspath(__file__))
TIMES = ("select_s core_s forward_s exact_s effect_s divide_s latency_s latency_low_s latency_high_s latency_min_s latency_p10_s latency_p90_s "
         "repeats batch first_s fresh_s amortized_s tokens_per_s gflops_per_s gemm_gflops_per_s gemm_share peak_bytes b_s f_s output_s load").split()

# ---- Random experiments

MODELS = ["minilm", "smollm2", "vit", "whisper"]
DRAWN = ["gaussian(n={n}, d={d})", "gaussian(n={n}, d={d}, scale=2)", "clusters(n={n}, d={d}, count=4)", "clusters(n={n}, d={d}, count=8, spread=0.05, order=shuffled)",
         "heavy_tail(n={n}, d={d})", "low_rank(n={n}, d={d}, rank=2)", "rotated(n={n}, d={d}, count=4)", "sink(n={n}, d={d})", "smooth(n={n}, d={d})"]
STRATEGIES = """uniform | uniform(strided=true) | segment_means | group_means | kmeans | kmeans(snap=nearest) | kmeans(restarts=[1, 2]) | farthest_point
    | orthogonal | dsquared | context | leverage | leverage(of=points) | leverage(take=top) | ridge_leverage | rpcholesky | greedy_cholesky | cpqr | cpqr(rows=16)
    | rplu | kdpp | exchange(sweeps=1) | pilot | profile | subsample(of=kmeans, tokens=20) | kmeans(label="k-means, 100 % of <tokens>") | optimized""".split("|")
CORES = """svd | svd(rcond=1e-15) | svd(rcond=[0.1, 0.01, 1e-6]) | svd(rank=[2, 4]) | iterative | iterative(steps=[1, 3, 6, 12]) | iterative(precision=[double, float])
    | fitted | fitted(rows=[8, 16, 32]) | fitted(keep_rows=true) | best | gcv | tikhonov(lambda=[1e-3, 1e-6]) | shifted | hyperpower | damped_newton | truncated_qr
    | newton_schulz(start=given, scale=1e-3) | iterative(start=given, scale=1e-6, steps=12) | exact_rows | chosen(rows=16) | svd(rcond=0.02, label="cut-off")""".split("|")
ATTENTIONS = """nystrom(strategy=[segment_means, uniform], landmarks=[4, 8]) | nystrom(strategy=kmeans, landmarks=8, core=[iterative, fitted]) | nystrom(strategy=leverage, landmarks=4)
    | longformer(window=[4, 8]) | bigbird(block=4) | clustered(clusters=4) | clustered(clusters=4, top=8) | linformer(landmarks=[4, 8]) | performer(features=16) | linear | cosformer
    | nystrom(strategy=profile, landmarks=[2, 4, 8], label="profiles") | skip(of=nystrom(landmarks=4), width=5) | gpa(landmarks=4, refresh=10)""".split("|")
STRATEGIES, CORES, ATTENTIONS = ([" ".join(spec.split()) for spec in pool] for pool in (STRATEGIES, CORES, ATTENTIONS))
FAULTS = ["", "", " uniform=skip segment=diverge", " longformer=raise", " kmeans=die linear=empty"]


def some(r, pool, least, most):
    return r.sample(pool, min(len(pool), r.randint(least, most)))


def head_files(r, folder, model):
    return sorted(glob.glob(f"{HERE}/../experiments/data/{folder}/{model}_*.safetensors"))


def heads(path, **options):
    said = "".join(f", {key}={value}" for key, value in options.items() if value is not None)
    return f"heads(file=experiments/data/{os.path.relpath(path, HERE + '/../experiments/data')}{said})"


def drawn(r, several=False):
    n = r.sample([24, 32, 47, 48, 64, 96], r.randint(2, 3) if several else 1)
    return r.choice(DRAWN).format(n=n[0] if len(n) == 1 else sorted(n), d=r.choice([4, 8, 16]))


def some_problems(r, panel):
    """Drawn data, heads of the shipped files, or (panel) one head of six or more inputs of a model or two: enough for verdicts."""
    if panel:
        cut = r.choice([24, 32, 48])
        return [heads(path, head=0, max_n=cut) for model in some(r, MODELS, 1, 2) for path in some(r, head_files(r, "panel", model), 6, 7)]
    found = {drawn(r, r.random() < 0.2) for _ in range(r.randint(0, 2))}
    for model in some(r, MODELS, 0 if found else 1, 2):
        permute = r.choice([None, None, None, "true"])
        found.add(heads(r.choice(head_files(r, r.choice(["panel", "."]), model)), head=r.choice(["0", "1", "[0, 1]"]) if model != "smollm2" else "0",
                        max_n=r.choice([32, 40, "[24, 48]"]), causal="false" if permute else r.choice([None, "false", "true"]), permute=permute,
                        label=r.choice([None, None, f'"the {model}"'])))
    return sorted(found)


def claims(r, axis, names, metric, metrics):
    a, b = names[0], names[-1]
    each = {"each": r.choice([[], ["model"], ["landmarks"]])} if axis == "strategy" else {}
    pool = [{"compare": {axis: [b, a], "metric": metric}, "expect": {"ratio": [None, 1]}, **each}, {"order": {axis: [b, a], "metric": metric}, **each},
            {"compare": {axis: [b, a], "metric": metric}, "expect": {"equal": 1.1}, "failures": "worst"},
            {"compare": {axis: [b, a], "metric": metric}, "expect": {"wins": [0.5, None]}}, {"untested": "it takes training"},
            {"measure": {"metric": metric, "statistic": r.choice(["median", "mean", "geometric_mean"]), "where": {axis: a}}, "expect": {"value": [0.1, 0.5]}},
            {"correlate": {"over": axis, "metrics": metrics}, "expect": {"correlation": [0.5, None]}}]
    if axis == "strategy":
        pool.append({"slope": {"metric": metric, "against": "landmarks"}, "expect": {"slope": [-1, -0.1]}})
    return [dict(says=f"claim {i}", **claim) for i, claim in enumerate(some(r, pool, 1, 3))]


def single(specs):
    """Those without a list, which stand for one component, and have no label, which claims do not name."""
    return [spec for spec in specs if "[" not in spec and "label" not in spec]


def error_study(r, kind):
    """kind: which of the flavours, so that every table and figure has its share of rows."""
    forced = {0: "svd(rcond=[0.1, 0.01, 1e-6])", 1: "iterative(steps=[1, 3, 6, 12])", 2: "fitted(rows=[8, 16, 32])", 3: "iterative(precision=[double, float])"}.get(kind)
    many, panel = kind == 4, kind in (5, 6)
    c = {"trials": r.choice([1, 2, 3, 4, 7]) if not panel else r.choice([1, 2, 3]), "landmarks": sorted(some(r, [1, 2, 3, 4, 6, 8, 12, 16, 32], 1, 2 if many else 4)),
         "problems": some_problems(r, panel), "strategies": some(r, STRATEGIES, *((13, 15) if many else (1, 5))),
         "cores": sorted({r.choice(CORES), *some(r, CORES, 0, 2), *filter(None, [forced])} if not many else some(r, CORES, 1, 1)),
         "metrics": r.choice(["all", "all", "error", ["error", "error_subspace"], ["error", "output_error", "error_unseen"]])}
    if len(c["problems"]) * c["trials"] * len(c["strategies"]) * len(c["cores"]) > 60:
        c["trials"], c["landmarks"] = min(c["trials"], 2), c["landmarks"][:2]
    optional = {"kernels": ["exp", "gauss", ["softmax", "exp"], ["softmax", "gauss(bandwidth=3)"]], "pairing": ["joint", "both", "queries", ["joint", "independent"], "shared"],
                "factors": ["cur", ["nystromformer", "cur"], "nocore", ["cur", "nocore"]], "rows": ["sample(16)"], "engine": ["direct"], "precision": ["mixed"]}
    c.update({key: r.choice(values) for key, values in optional.items() if r.random() < 0.2})
    if "rows" in c:
        c.pop("engine", 0), c.pop("precision", 0)
    if "engine" in c:
        c.pop("precision", 0)
    if r.random() < 0.05:
        c["strategies"].append("command(run=false)")
    if r.random() < 0.3:
        c["exclude"] = [r.choice([{"landmarks": c["landmarks"][-1], "core": "svd"}, {"strategy": "uniform", "landmarks": c["landmarks"][0]}, {"n": 48}, {"trial": 1, "strategy": "kmeans"}])]
    if r.random() < 0.25:
        c["blocks"] = [{}, r.choice([{"landmarks": [5, 8]}, {"cores": "svd(rcond=[0.1, 0.001])"}, {"strategies": ["uniform", "kmeans"], "trials": 2},
                                     {"problems": drawn(r), "trials": r.randint(1, 3)}, {"zip": ["problems", "landmarks"], "problems": "gaussian(n=[24, 48, 96], d=8)", "landmarks": [2, 4, 8]},
                                     {"zip": [["strategies", "cores"]], "strategies": ["uniform", "segment_means"], "cores": ["svd(rcond=0.5)", "tikhonov"]}])]
    plain = single(c["strategies"])
    if plain and r.random() < 0.2:
        c["baseline"] = r.choice(plain)
    if len(plain) > 1 and "error_subspace" in c["metrics"] + ["error_subspace"] * (c["metrics"] == "all") if isinstance(c["metrics"], list) else len(plain) > 1:
        if r.random() < 0.6:
            c["claims"] = claims(r, "strategy", plain, "error", ["error", "error_subspace"])
    return c


def coherence_study(r, kind):
    files = [heads(path, head=0, max_n=32) for path in some(r, head_files(r, "panel", r.choice(MODELS)), 1, 7)]
    return {"study": "coherence", "problems": r.choice([[drawn(r), drawn(r, True)], files, files + [drawn(r)]]), "trials": r.choice([1, 2, 4]),
            "partitions": some(r, ["kmeans", "random", "segments", "none", "kmeans(metric=cosine)", "kmeans(init=[random, maximin])"], 2, 4),
            "clusters": sorted(some(r, [2, 4, 8, 40], 1, 3)), "tau": sorted(some(r, [0.02, 0.05, 0.1, 0.3], 1, 3)), "side": r.choice(["queries", "keys", ["queries", "keys"]])}


def forward_study(r, kind):
    c = {"study": "forward", "problems": [r.choice(["gaussian(n={}, d=8)", "clusters(n={}, d=16)"]).format(sorted(some(r, [24, 32, 48, 64, 96], 3, 4)))], "trials": r.randint(1, 2),
         "heads": r.choice([1, 2, [1, 2]]), "rounds": r.randint(1, 2), "seconds": 0.01, "quality": r.random() < 0.8, "attentions": ["naive", "streamed"][: r.randint(1, 2)] + some(r, ATTENTIONS, 2, 3)}
    if r.random() < 0.3:
        c["problems"].append(heads(head_files(r, "panel", "vit")[0], max_n=48))
    plain = single(c["attentions"])
    if len(plain) > 1 and r.random() < 0.5:
        c["claims"] = [{"says": "it is faster", "compare": {"attention": [plain[-1], plain[0]], "metric": "latency_s"}, "expect": {"ratio": [None, 1]}, "each": ["n"]}]
    return c


def effect_study(r, kind):
    source = r.choice(["[0, 3]", "0..5", "all"])
    c = {"study": "effect", "problems": f'live_model(run="/usr/bin/python3 -SE {HERE}/cli/stub_model.py{r.choice(FAULTS)}", layers={r.choice(["[1, half]", "all", "[0, 2]"])}, source={source})',
         "trials": r.randint(1, 2), "attentions": ["streamed"] * r.randint(0, 1) + ["nystrom(strategy=[segment_means, uniform, kmeans], landmarks=[4, 6], core=tikhonov)"] + some(r, ATTENTIONS[3:6] + ["linear"], 1, 2)}
    if r.random() < 0.5:
        c["claims"] = [{"says": "errors tell", "correlate": {"over": "attention", "metrics": ["error", "model_error"], "where": {"attention": "nystrom"}}, "expect": {"correlation": [0.5, None]}}]
    return c


STUDIES = [error_study] * 11 + [coherence_study] * 2 + [effect_study] * 2 + [forward_study]


def experiment(seed, case, attempt):
    r = random.Random(f"{seed} {case} {attempt}")
    config = STUDIES[case % len(STUDIES)](r, case % 7)
    config.update(seed=r.randrange(1, 10**6), plots=[])
    only = [] if r.random() > 0.08 else ["--only", "trial=0"]
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in config.items()), only


# ---- Questions

COMPARE = {  # by number, so that a name is short
    "error": [[], ["--by", "core", "--resamples", "0"], ["--baseline", "all", "--pool", "landmarks", "--resamples", "0"], ["--by", "factors", "--confounded", "strategy"],
              ["--scale", "difference", "--failures", "worst", "--confounded", "pairing", "--resamples", "100"], ["--metric", "error_subspace", "--confidence", "0.9", "--margin", "1.1", "--resamples", "50"]],
    "coherence": [["--by", "partition"], ["--by", "clusters", "--metric", "mu", "--baseline", "all"], ["--by", "tau", "--scale", "difference"]],
    "forward": [[], ["--metric", "output_error", "--baseline", "all"], ["--by", "n", "--resamples", "0"]],
    "effect": [[], ["--metric", "error", "--failures", "worst"], ["--pool", "layer", "--baseline", "all"]]}


class Case:
    def __init__(self, folder, study, number, options):
        self.folder, self.study, self.number, self.options = folder, study, number, options
        self.differences, self.compared, self.rows = {}, set(), collections.Counter()

    def ask(self, side, name, *words):
        """The answer, OLD's from its file if that was asked before: standard output; exit status and errors."""
        path, asked = f"{self.folder}/{side}/{name}", " ".join(words) + "\n"
        if side == "new" or not os.path.exists(path) or not read(path + ".status").startswith(asked):
            out, status = run(self.options.programs[side], self.folder, *words)
            write(path, out), write(path + ".status", asked + status)
        return read(path), read(path + ".status")[len(asked):]

    def differs(self, output, part, what):
        self.differences.setdefault((output, part), what)

    def wanted(self, output):
        return fnmatch.fnmatch(output, self.options.only)

    def compare(self, output, file, words):
        """Asks both, and compares as CSV or as text; of one output the files may be several."""
        if not self.wanted(output):
            return
        self.compared.add(output)
        (old, old_status), (new, new_status) = (self.ask(side, file, *words) for side in ("old", "new"))
        if old_status != new_status:
            self.differs(output, "status", f"{old_status!r} -> {new_status!r}")
        self.compare_texts(output, "text", old, new, file.endswith(".csv"))

    def compare_texts(self, output, part, old, new, is_csv):
        if old == new:
            return
        if not is_csv:
            pairs = enumerate(itertools.zip_longest(old.splitlines(), new.splitlines()), 1)
            first = next((f"line {i}: {a!r} -> {b!r}" for i, (a, b) in pairs if not self.same_line(a, b, part)), None)
            return self.differs(output, part, first) if first else None
        (old_head, *a), (new_head, *b) = ([list(row) for row in csv.reader(io.StringIO(text))] or [[]] for text in (old, new))
        for name in [c for c in new_head if c not in old_head]:
            self.differs(output, "+" + name, "a new column")
        for name in [c for c in old_head if c not in new_head]:
            self.differs(output, "-" + name, "no such column any more")
        both = [c for c in old_head if c in new_head]
        a, b = ([[row[head.index(c)] for c in both] for row in rows] for head, rows in ((old_head, a), (new_head, b)))
        self.compare_rows(output, both, a, b)

    def same_line(self, a, b, part):
        if part == "data" and a and b and a[0] == b[0] == "#":
            return True
        if part != "data" or not a or not b:
            return a == b
        cells = a.split(","), b.split(",")
        return len(cells[0]) == len(cells[1]) and all(alike(x, y, self.options.within) for x, y in zip(*cells))

    def compare_rows(self, output, columns, a, b):
        """Rows that are there on both sides are left out, the others paired with the one that is most alike."""
        value = lambda row: tuple(number(cell) for cell in row)
        left = collections.Counter(map(value, b))
        missing = [row for row in a if not take(left, value(row))]
        left = collections.Counter(map(value, a))
        extra = [row for row in b if not take(left, value(row))]
        if not missing and not extra and [value(r) for r in a] != [value(r) for r in b]:
            self.differs(output, "order", "the same rows in another order")
        if len(a) != len(b):
            self.differs(output, "rows", f"{len(a)} rows -> {len(b)}; {' '.join((missing + extra)[0])}")
        for row in missing[:50] if len(a) == len(b) else []:
            other = max(extra, key=lambda e: sum(alike(x, y, 0) for x, y in zip(row, e)))
            for name, x, y in zip(columns, row, other):
                if not alike(x, y, self.options.within):
                    self.differs(output, name, f"{x!r} -> {y!r} in {', '.join(c for c in row if c and number(c) is c)[:200]}")

    def tables(self):
        names = self.names = [line.split(",")[0] for line in self.ask("old", "tables.csv", "table", "run", "--format", "csv")[0].splitlines()[1:]]
        self.compare("tables", "tables.csv", ["table", "run", "--format", "csv"])
        self.rows.update(f"table:{name}" for name in names)
        for kind, more in (("csv", ["--format", "csv"]), ("txt", [])):
            wanted = [name for name in names if self.wanted(f"table:{name}")]
            if wanted and self.ask("old", f"all.{kind}", "table", "run", *wanted, *more) == self.ask("new", f"all.{kind}", "table", "run", *wanted, *more):
                self.compared.update(f"table:{name}" for name in wanted)
                continue  # all at once; else one by one, to say which
            for name in wanted:
                self.compare(f"table:{name}", f"table_{name}.{kind}", ["table", "run", name, *more])

    def figures(self):
        if not any(self.wanted(f"figure:{kind}") for kind in self.options.figures):
            return
        kinds = [kind for kind, study in self.options.figures.items() if study == self.study]
        sides = {}
        for side in ("old", "new"):
            kept, plots = f"{self.folder}/{side}/plots", f"{self.folder}/run/plots"
            if side == "new" or not os.path.exists(kept):
                for folder in (kept, plots):
                    shutil.rmtree(folder, ignore_errors=True)
                self.ask(side, "plot", "plot", "run")
                for kind in kinds:  # those that are not offered: drawn if they are named
                    if not os.path.exists(f"{plots}/{kind}.csv"):
                        self.ask(side, f"plot_{kind}", "plot", "run", kind)
                if os.path.exists(plots):
                    os.rename(plots, kept)
            sides[side] = {name: f"{kept}/{name}" for name in (os.listdir(kept) if os.path.exists(kept) else []) if name not in SHARED}
        for kind in kinds:
            output = f"figure:{kind}"
            old, new = ({name: path for name, path in files.items() if owner(name, self.options.figures) == kind} for files in sides.values())
            if not self.wanted(output) or not old and not new:
                continue
            self.compared.add(output)
            self.rows[output] += bool(old)
            if old.keys() != new.keys():
                self.differs(output, "files", f"missing {sorted(old.keys() - new.keys())[:3]}, more {sorted(new.keys() - old.keys())[:3]}")
            for name in sorted(old.keys() & new.keys()):
                part = {"gp": "scripts", "dat": "data"}.get(name.rsplit(".")[-1], "text")
                self.compare_texts(output, part, *(read(files[name]) for files in (old, new)), name.endswith(".csv"))

    def everything(self):
        for side in ("old", "new"):
            os.makedirs(f"{self.folder}/{side}", exist_ok=True)
        self.tables()
        self.figures()
        for i, words in enumerate(COMPARE[self.study]):
            self.compare(f"compare:{i}", f"compare_{i}.csv", ["compare", "run", *words, "--format", "csv"])
        self.compare("compare:text", "compare.txt", ["compare", "run", *COMPARE[self.study][0]])
        for where in ["trial=0", "strategy=kmeans"] if self.names else []:
            table = self.names[self.number % len(self.names)]  # one of them
            self.compare(f"where:{table}", f"where_{where}.csv", ["table", "run", table, "--where", where, "--format", "csv"])
        self.compare("claims", "claims.csv", ["claims", "run", "--format", "csv"])
        self.compare("claims:text", "claims.txt", ["claims", "run"])
        self.compare("export", "export.csv", ["export", "run"])
        self.compare("report", "report.md", ["report", "run", "--format", "markdown", "-o", "-"])
        if self.study == "error" and self.number % 4 == 0:
            self.compare("landmarks", "landmarks", ["plot", "run", "--landmarks"])
        if self.options.measure and self.wanted("measure"):
            self.compared.add("measure")
            shutil.rmtree(f"{self.folder}/again", ignore_errors=True)
            run(self.options.programs["new"], self.folder, "run", "e.yaml", "-q", "-j", "0", "-o", "again", *read(f"{self.folder}/only").split())
            self.compare_texts("measure", "text", *(without(TIMES, read(f"{self.folder}/{name}/rows.csv")) for name in ("run", "again")), True)
        return self


SHARED = {"common.gp", "direct.gp", "figure.gp", "looks.gp", "style.gp", "curves.gp", "ticks.gp", "error.gp", "svd_vs_iterative.gp", "bars.gp", "paper"}
ENVIRONMENT = dict(os.environ, COLUMNS="80", OPENBLAS_NUM_THREADS="1", LC_ALL="C.UTF-8")


def run(program, folder, *words):
    done = subprocess.run([program, *words], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return done.stdout.decode(), f"exit status {done.returncode}\n{done.stderr.decode()}"


def read(path):
    with open(path, newline="") as file:
        return file.read()


def write(path, text):
    with open(path, "w", newline="") as file:
        file.write(text)


def number(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def alike(x, y, within):
    a, b = number(x), number(y)
    return x == y or a == b or isinstance(a, float) and isinstance(b, float) and abs(a - b) <= within * max(abs(a), abs(b))


def take(counter, key):
    counter[key] -= 1
    return counter[key] >= 0


def without(columns, text):
    rows = list(csv.reader(io.StringIO(text)))
    kept = [i for i, name in enumerate(rows[0]) if name not in columns]
    return "\n".join(",".join(json.dumps(row[i]) if "," in row[i] else row[i] for i in kept) for row in rows)


def owner(name, figures):
    """The kind whose file it is, so that svd_vs_iterative_x.dat is no other's."""
    return max((kind for kind in figures if name.rsplit(".", 1)[0] == kind or name.startswith(kind + "_")), key=len, default="?")


# ---- All experiments

def prepare(options, folder, case):
    """Measures an experiment by OLD unless that was done before; its study. What OLD refuses is drawn again."""
    for attempt in range(0 if os.path.exists(folder + "/done") else 20):
        text, only = experiment(options.seed, case, attempt)
        shutil.rmtree(folder, ignore_errors=True), os.makedirs(folder)
        write(f"{folder}/e.yaml", text), write(f"{folder}/only", " ".join(only))
        out, status = run(options.programs["old"], folder, "run", "e.yaml", "-q", "-j", "0", "-o", "run", *only)
        if not status.startswith("exit status 2"):
            write(f"{folder}/done", out + status)
            break
    if not os.path.exists(f"{folder}/run/rows.csv"):
        sys.exit(f"{folder}/e.yaml gave no rows: {status}")
    return STUDIES[case % len(STUDIES)].__name__.split("_")[0]


def prepare_run(folder, path):
    """A copy of a run of anyone's; its study."""
    if not os.path.exists(f"{folder}/run"):
        shutil.copytree(path, f"{folder}/run", ignore=shutil.ignore_patterns("plots", "shards"))
    said = [line.split()[1] for line in open(f"{folder}/run/resolved.yaml") if line.startswith("study:")]
    return said[0] if said else "error"


def studies_of_figures(options, folder, study):
    """The study of each figure, as OLD says when it is asked for one of a run of another study."""
    found = {}
    for line in run(options.programs["old"], folder, "list", "figures")[0].splitlines():
        kind = line.split()[0]
        found[kind] = (run(options.programs["old"], folder, "plot", "run", kind)[1].partition("is a figure of the study ")[2] or study).split(";")[0]
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("old"), parser.add_argument("new")
    for name, standard, kind in (("count", 300, int), ("seed", 1, int), ("runs", None, str), ("case", None, int), ("only", "*", str), ("within", 0, float), ("jobs", 1, int)):
        parser.add_argument(f"--{name}", default=standard, type=kind)
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--run", action="append", default=[])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        check(options, work)


def check(options, work):
    runs = os.path.abspath(options.runs or work + "/runs")
    os.makedirs(runs, exist_ok=True), os.symlink("/bin/true", work + "/gnuplot")  # nothing is drawn
    ENVIRONMENT["PATH"] = f"{work}:{os.environ['PATH']}"
    options.programs = {side: os.path.realpath(path) for side, path in (("old", options.old), ("new", options.new))}
    said = run(options.programs["old"], work, "info")[0].partition("executable")[2].split()[0] + f" seed {options.seed}"
    if not os.path.exists(runs + "/OLD"):
        write(runs + "/OLD", said)
    if read(runs + "/OLD") != said:
        sys.exit(f"{runs}: measured by another OLD or with another seed; remove it or name another folder")
    asked = [options.case] if options.case is not None else range(options.count)
    numbered = enumerate(options.run) if options.run else ((case, None) for case in asked)
    cases = [(i, path, f"{runs}/{i:04d}" if path is None else f"{runs}/run-{i}") for i, path in numbered]

    def one(task):
        i, path, folder = task
        study = prepare(options, folder, i) if path is None else prepare_run(folder, path)
        with lock:
            options.figures = options.figures or studies_of_figures(options, folder, study)
        return Case(folder, study, i, options).everything()

    options.figures, lock = None, threading.Lock()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        done = list(pool.map(one, cases))
    sys.exit(report(options, done))


def report(options, done):
    """What was compared and what differs; 1 if anything differs that is not expected."""
    compared = sum(len(case.compared) for case in done)
    found = collections.defaultdict(list)
    for case in done:
        for key, what in case.differences.items():
            found[key].append((case, what))
    unequal = {(case.number, output) for case in done for output, _ in case.differences}
    print(f"{len(done)} experiments, {compared} outputs: {compared - len(unequal)} equal, {len(unequal)} different")
    unwanted = 0
    for (output, part), cases in sorted(found.items()):
        case, what = cases[0]
        why = next((why for o, p, why in EXPECTED if fnmatch.fnmatch(output, o) and fnmatch.fnmatch(part, p)), None)
        unwanted += why is None
        print(f"{output:24} {part:20} in {len(cases)}, first {case.folder}: {what[:300]}" + (f"  expected: {why}" if why else ""))
    if unwanted:
        print("one of them again: --case N --only OUTPUT, after --runs; answers are in old/ and new/ of the case's folder")
    rows = collections.Counter()
    for case in done:
        rows.update(case.rows)
    print("with rows:", ", ".join(f"{output} {count}" for output, count in sorted(rows.items())))
    return unwanted > 0


if __name__ == "__main__":
    main()
