# SPDX-License-Identifier: GPL-3.0-or-later
"""Random small experiments of all studies, a fraction of a second each: what a config may say, in combinations that
nobody would write.

A config is drawn from its seed, number and attempt. Not each is one that nysbench accepts, so that an attempt is
followed by another."""
import glob
import json
import os
import random

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = os.path.join(os.path.dirname(TESTS), "experiments/data")
MODELS = ["minilm", "smollm2", "vit", "whisper"]


def listed(text):
    return [" ".join(spec.split()) for spec in text.split("|")]


DRAWN = listed("""gaussian(n={n}, d={d}) | gaussian(n={n}, d={d}, scale=2) | clusters(n={n}, d={d}, count=4)
    | clusters(n={n}, d={d}, count=8, spread=0.05, order=shuffled) | heavy_tail(n={n}, d={d})
    | low_rank(n={n}, d={d}, rank=2) | rotated(n={n}, d={d}, count=4) | sink(n={n}, d={d}) | smooth(n={n}, d={d})""")
STRATEGIES = listed(
    """uniform | uniform(strided=true) | segment_means | group_means | kmeans | kmeans(snap=nearest)
    | kmeans(restarts=[1, 2]) | farthest_point | orthogonal | dsquared | context | leverage | leverage(of=points)
    | leverage(take=top) | ridge_leverage | rpcholesky | greedy_cholesky | cpqr | cpqr(rows=16) | rplu | kdpp
    | exchange(sweeps=1) | pilot | profile | subsample(of=kmeans, tokens=20)
    | kmeans(label="k-means, 100 % of <tokens>") | optimized""")
CORES = listed(
    """svd | svd(rcond=1e-15) | svd(rcond=[0.1, 0.01, 1e-6]) | svd(rank=[2, 4]) | svd(rcond=0.02, label="cut-off")
    | iterative | iterative(steps=[1, 3, 6, 12]) | iterative(precision=[double, float])
    | iterative(start=given, scale=1e-6, steps=12) | newton_schulz(start=given, scale=1e-3) | hyperpower
    | damped_newton | fitted | fitted(rows=[8, 16, 32]) | fitted(keep_rows=true) | best | gcv
    | tikhonov(lambda=[1e-3, 1e-6]) | shifted | truncated_qr | exact_rows | chosen(rows=16)""")
ATTENTIONS = listed(
    """nystrom(strategy=[segment_means, uniform], landmarks=[4, 8]) | nystrom(strategy=leverage, landmarks=4)
    | nystrom(strategy=kmeans, landmarks=8, core=[iterative, fitted])
    | nystrom(strategy=profile, landmarks=[2, 4, 8], label="profiles") | skip(of=nystrom(landmarks=4), width=5)
    | gpa(landmarks=4, refresh=10) | longformer(window=[4, 8]) | bigbird(block=4) | clustered(clusters=4)
    | clustered(clusters=4, top=8) | linformer(landmarks=[4, 8]) | performer(features=16) | linear | cosformer""")
PARTITIONS = listed("kmeans | random | segments | none | kmeans(metric=cosine) | kmeans(init=[random, maximin])")
FAULTS = ["", "", " uniform=skip segment=diverge", " longformer=raise", " kmeans=die linear=empty"]  # of stub_model.py

# So that each table and figure has its share of rows, the cores of an experiment have one of these, or it has many
# strategies or sources.
SWEEPS = ["svd(rcond=[0.1, 0.01, 1e-6])", "iterative(steps=[1, 3, 6, 12])", "fitted(rows=[8, 16, 32])",
          "iterative(precision=[double, float])"]
MANY, PANEL, FLAVOURS = len(SWEEPS), len(SWEEPS) + 1, len(SWEEPS) + 3


def some(r, pool, least, most):
    return r.sample(pool, min(len(pool), r.randint(least, most)))


def single(specs):
    """Those without a list, which stand for one component, and have no label, which claims do not name."""
    return [spec for spec in specs if "[" not in spec and "label" not in spec]


def head_files(folder, model):
    return sorted(glob.glob(f"{DATA}/{folder}/{model}_*.safetensors"))


def heads(path, **options):
    said = "".join(f", {key}={value}" for key, value in options.items() if value is not None)
    return f"heads(file=experiments/data/{os.path.relpath(path, DATA)}{said})"


def some_heads(r, model):
    permute = r.choice([None, None, None, "true"])
    return heads(r.choice(head_files(r.choice(["panel", "."]), model)), permute=permute,
                 max_n=r.choice([32, 40, "[24, 48]"]),
                 head=r.choice(["0", "1", "[0, 1]"]) if model != "smollm2" else "0",
                 causal="false" if permute else r.choice([None, "false", "true"]),
                 label=r.choice([None, None, f'"the {model}"']))


def drawn(r, several=False):
    n = sorted(r.sample([24, 32, 47, 48, 64, 96], r.randint(2, 3) if several else 1))
    return r.choice(DRAWN).format(n=n if several else n[0], d=r.choice([4, 8, 16]))


def some_problems(r):
    found = {drawn(r, r.random() < 0.2) for _ in range(r.randint(0, 2))}
    return sorted(found | {some_heads(r, model) for model in some(r, MODELS, 0 if found else 1, 2)})


def panel(r):
    """One head of six or more inputs of a model or two: enough for verdicts."""
    cut = r.choice([24, 32])
    return [heads(path, head=0, max_n=cut) for model in some(r, MODELS, 1, 2)
            for path in some(r, head_files("panel", model), 6, 7)]


def claims(r, names):
    versus, error = {"strategy": [names[-1], names[0]], "metric": "error"}, {"metric": "error"}
    each = {"each": r.choice([[], ["model"], ["landmarks"]])}
    pool = [{"compare": versus, "expect": {"ratio": [None, 1]}, **each},
            {"compare": versus, "expect": {"equal": 1.1}, "failures": "worst"},
            {"compare": versus, "expect": {"wins": [0.5, None]}}, {"order": versus, **each},
            {"untested": "it takes training"},
            {"measure": {**error, "statistic": r.choice(["median", "mean", "geometric_mean"]),
                         "where": {"strategy": names[0]}},
             "expect": {"value": [0.1, 0.5]}},
            {"correlate": {"over": "strategy", "metrics": ["error", "error_subspace"]},
             "expect": {"correlation": [0.5, None]}},
            {"slope": {**error, "against": "landmarks"}, "expect": {"slope": [-1, -0.1]}}]
    return [{"says": f"claim {i}", **claim} for i, claim in enumerate(some(r, pool, 1, 3))]


def some_block(r):
    return r.choice([{"landmarks": [5, 8]}, {"cores": "svd(rcond=[0.1, 0.001])"},
                     {"strategies": ["uniform", "kmeans"], "trials": 2},
                     {"problems": drawn(r), "trials": r.randint(1, 3)},
                     {"zip": ["problems", "landmarks"], "problems": "gaussian(n=[24, 48, 96], d=8)",
                      "landmarks": [2, 4, 8]},
                     {"zip": ["strategies", "cores"], "strategies": ["uniform", "segment_means"],
                      "cores": ["svd(rcond=0.5)", "tikhonov"]}])


def error(r, number):
    flavour = number % FLAVOURS
    c = {"trials": r.choice([1, 2, 3, 4, 7]), "problems": panel(r) if flavour >= PANEL else some_problems(r),
         "landmarks": sorted(some(r, [1, 2, 3, 4, 6, 8, 12, 16, 32], 1, 4)),
         "strategies": some(r, STRATEGIES, *((13, 15) if flavour == MANY else (1, 5))),
         "cores": sorted({*SWEEPS[flavour:flavour + 1], *some(r, CORES, 1, 1 if flavour == MANY else 3)}),
         "metrics": r.choice(["all", "all", "error", ["error", "error_subspace"],
                              ["error", "output_error", "error_unseen"]])}
    if flavour >= PANEL:  # enough trials for verdicts too
        c.update(trials=r.choice([1, 6]), landmarks=c["landmarks"][:2], strategies=some(r, STRATEGIES, 3, 5),
                 cores=c["cores"][:2])
    elif len(c["problems"]) * c["trials"] * len(c["strategies"]) * len(c["cores"]) > 60:
        c["trials"], c["landmarks"] = min(c["trials"], 2), c["landmarks"][:2]
    c.update({key: r.choice(values) for key, values in {
        "kernels": ["exp", "gauss", ["softmax", "exp"], ["softmax", "gauss(bandwidth=3)"]],
        "pairing": ["joint", "both", "queries", ["joint", "independent"], "shared"],
        "factors": ["cur", ["nystromformer", "cur"], "nocore", ["cur", "nocore"]]}.items() if r.random() < 0.2})
    c.update(r.choice([{}] * 5 + [{"rows": "sample(16)"}, {"engine": "direct"}, {"precision": "mixed"}]))
    if r.random() < 0.05:
        c["strategies"].append("command(run=false)")
    if r.random() < 0.3:
        c["exclude"] = [r.choice([{"landmarks": c["landmarks"][-1], "core": "svd"},
                                  {"strategy": "uniform", "landmarks": c["landmarks"][0]},
                                  {"n": 48}, {"trial": 1, "strategy": "kmeans"}])]
    if r.random() < 0.25:
        c["blocks"] = [{}, some_block(r)]
    plain = single(c["strategies"])
    if plain and r.random() < 0.2:
        c["baseline"] = r.choice(plain)
    if len(plain) > 1 and r.random() < (1 if flavour >= PANEL else 0.6):
        c["claims"] = claims(r, plain)
    return c


def coherence(r, number):
    files = [heads(path, head=0, max_n=32) for path in some(r, head_files("panel", r.choice(MODELS)), 1, 7)]
    return {"study": "coherence", "problems": r.choice([[drawn(r), drawn(r, True)], files, files + [drawn(r)]]),
            "trials": r.choice([1, 2, 4]),
            "partitions": some(r, PARTITIONS, 2, 4), "clusters": sorted(some(r, [2, 4, 8, 40], 1, 3)),
            "tau": sorted(some(r, [0.02, 0.05, 0.1, 0.3], 1, 3)),
            "side": r.choice(["queries", "keys", ["queries", "keys"]])}


def forward(r, number):
    n = sorted(some(r, [24, 32, 48, 64, 96], 3, 4))
    c = {"study": "forward", "problems": [r.choice(["gaussian(n={}, d=8)", "clusters(n={}, d=16)"]).format(n)],
         "trials": r.randint(1, 2),
         "heads": r.choice([1, 2, [1, 2]]), "rounds": r.randint(1, 2), "seconds": 0.01, "quality": r.random() < 0.8,
         "attentions": ["naive", "streamed"][:r.randint(1, 2)] + some(r, ATTENTIONS, 2, 3)}
    if r.random() < 0.3:
        c["problems"].append(heads(head_files("panel", "vit")[0], max_n=48))
    plain = single(c["attentions"])
    if len(plain) > 1 and r.random() < 0.5:
        c["claims"] = [{"says": "it is faster", "compare": {"attention": [plain[-1], plain[0]], "metric": "latency_s"},
                        "expect": {"ratio": [None, 1]}, "each": ["n"]}]
    return c


def effect(r, number):
    program = f"/usr/bin/python3 -SE {TESTS}/support/stub_model.py{r.choice(FAULTS)}"
    layers, source = r.choice(["[1, half]", "all", "[0, 2]"]), r.choice(["[0, 3]", "0..5", "all"])
    c = {"study": "effect", "problems": f'live_model(run="{program}", layers={layers}, source={source})',
         "trials": r.randint(1, 2),
         "attentions": ["streamed"] * r.randint(0, 1) +
         ["nystrom(strategy=[segment_means, uniform, kmeans], landmarks=[4, 6], core=tikhonov)"]
         + some(r, ["longformer(window=[4, 8])", "bigbird(block=4)", "linear"], 1, 2)}
    if r.random() < 0.5:
        c["claims"] = [{"says": "errors tell", "correlate": {"over": "attention", "metrics": ["error", "model_error"],
                                                             "where": {"attention": "nystrom"}},
                        "expect": {"correlation": [0.5, None]}}]
    return c


STUDIES = [error] * 11 + [coherence] * 2 + [effect] * 2 + [forward]


def experiment(seed, number, attempt):
    """A config, what `run` is to be asked besides, and the study's name."""
    r, study = random.Random(f"{seed} {number} {attempt}"), STUDIES[number % len(STUDIES)]
    config = {**study(r, number), "seed": r.randrange(1, 10**6), "plots": []}
    only = ["--only", "trial=0"] if r.random() < 0.08 else []  # the other rows stay planned
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in config.items()), only, study.__name__
