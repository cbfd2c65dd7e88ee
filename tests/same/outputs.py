#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""outputs.py OLD NEW - two builds of nysbench show the same of random small experiments.

Each experiment (experiments.py) is measured once, by OLD. Then both programs are asked for what they show of that run:
every table as CSV and as text of 80 columns, every figure's data and scripts, comparisons, claims, the export and the
report. Columns go by their names, rows by what is in them; numbers are the same if they are printed with the same
value. EXPECTED lists wanted differences; with --measure, all outputs and a hundred experiments or more, those that none
of them has are named.

    --count N      so many experiments (300; five minutes)
    --seed N       other experiments (1)
    --case N       only that one
    --run RUN      this run in the place of random experiments; may be repeated
    --only GLOB    only outputs of that name: table:errors, 'figure:*', compare:2, where:pairs, claims, export, report,
    measure
    --runs DIR     keep runs and answers, so that a second comparison measures nothing and asks NEW alone; not for two
    at once
    --within X     numbers may differ by that fraction of the larger one (0)
    --measure      NEW measures too, and has the same rows but for times
    --jobs N       experiments at once (1)

Answers are files in DIR/CASE/old and DIR/CASE/new, beside the experiment, DIR/CASE/e.yaml. Ends with status 1 if a
difference is not expected. The last line says in how many experiments each table and figure had rows."""
import argparse
import collections
import concurrent.futures
import csv
import difflib
import fnmatch
import glob
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import experiments

# What NEW shows otherwise, on purpose, and why: output (effect/compare:0 is one of that study alone,
# unequal-trials/compare:0 of experiments whose blocks or exclusions differ in trials), part, and a pattern of what
# differs, if not all of the part does; * stands for any. Parts are the name of a column whose values differ, +column
# (new), -column (gone), rows (how many), order, text, status (exit status and errors), and of figures also files,
# scripts, and data (what a script draws). The numbers of a text are also compared cell by cell, in the CSV. The first
# that fits is taken. Sums in another order differ in the last digits: --within 1e-12.
EXPECTED = {
    "one interval decides, which holds for all lines of a comparison together": [
        ("compare:*", "+family"), ("compare:*", "+joint_*"), ("compare:*", "-*holm_p"), ("compare:*", "-equivalence_p"),
        ("compare:*", "more_sources"), ("compare:*", "verdict"), ("compare:*", "why"), ("compare:text", "text"),
        ("claims", "+family"), ("table:errors", "text", r"[*]|Holm|[.]\"|sources or more|are drawn")],
    "a star of the tables cores and wins is a verdict of compare": [
        ("table:cores", "text"), ("*:wins", "-sign_p"), ("*:wins", "-holm_p"),
        ("table:wins", "text", "[*]|no test|no verdict|The tests|(sign)? test|have a verdict|intervals of")],
    "two are refused where compare refuses them": [
        ("*:pairs", "rows"), ("*:pairs", "-*"), ("*:pairs", "status", "has no rows"), ("tables", "rows", "pairs,"),
        ("*:equal_cost", "*"), ("*:rows", "below_first"), ("*:shares", "count", "-> '0'"), ("*:shares", "noise"),
        ("*:shares", "*_relative"), ("*:shares", "*_share"), ("figure:*forest", "rows"), ("figure:*forest", "data"),
        ("figure:*forest", "files", " 0 new"), ("figure:*forest", "scripts", "array "),
        ("figure:svd_vs_iterative", "rows"), ("figure:svd_vs_iterative", "files", " 0 new"),
        ("figure:svd_vs_iterative", "scripts", "array "), ("figure:svd_vs_iterative", "data", "None|''"),
        ("table:pairs", "text"), ("table:rows", "text"), ("table:shares", "text")],
    "a number of landmarks is refused alone, as in a comparison": [("figure:ratio*", "files", "^0 gone")],
    "a figure counts the curves that it draws": [("figure:svd_vs_iterative", "files", "^0 gone")],
    "what draws nothing counts in each trial of the others, as in a comparison": [("*:shares", "count")],
    "a refusal names whom it is about, and for how many": [
        ("table:ranks", "text"), ("table:wins", "text"), ("*:wins", "refusal")],
    "errors that are rounding are treated as in a comparison": [
        ("*:pairs", "*"), ("figure:svd_vs_iterative", "median"), ("figure:svd_vs_iterative", "p?0"),
        ("figure:svd_vs_iterative", "count"), ("figure:svd_vs_iterative", "data"),
        ("figure:svd_vs_iterative", "scripts", "log_x")],
    "the baseline of what is shown, as of a comparison, where the run's is not shown": [
        ("where:shares", "baseline_pairing")],
    "what is pooled has the same trials, and one draw stands for no other trial": [("unequal-trials/*", "*")],
    "heads on which neither has a result are no pairs, as in a comparison": [
        ("claims", "verdict", "'void' -> "), ("claims", "why", "results are missing"), ("claims", "more_sources"),
        ("claims", "text", "void|undecided|refuted|missing|would decide")],
    "correlate and slope are queries that a measure names": [
        ("claims", "claim", "slope|correlate"), ("claims", "why", "where nothing else differs"),
        ("claims", "text", "where nothing else differs")],
    "claims say how far a threshold may move": [("claims", "+slack"), ("claims", "text")],
    "two questions of fronts have two names": [
        ("figure:front", "series", "'front at n'"), ("figure:front", "scripts", "'front at n'")],
    "numbers stand on the right, words on the left, also where they are digits or dashes": [
        ("table:coherence", "text"), ("table:effects", "text"), ("table:latency", "text"),
        ("table:predictors", "text")],
    "a mark is explained where it occurs": [("table:errors", "text", "all of them are: |'' -> None")],
    "a script may be changed where its digest is not the one noted": [("figure:*", "scripts", "SHA-256")],
    "an interval says what it is of, and an axis is called as in its table": [
        ("figure:*", "scripts", "bar_text"), ("figure:cores", "scripts", "y_name")],
    "tables are listed in the order of a report": [("tables", "order")],
    "attentions are chosen on development sources, and test sources judge them": [
        ("table:at_time", "*"), ("tables", "rows", "at_time,")],
    "a new measure": [("*:effects", "+task_error"), ("export", "+task_error"), ("measure", "+task_error")],
    "rpcholesky eliminates a block's pivots together, and the last ones not at all": [
        ("measure", "flops", "rpcholesky")],
    "an attention's record is smaller": [("measure", "workspace*")],
    "a report has these tables, comparisons and claims": [("report", "text")],
}

ENOUGH = 100  # experiments that have each difference, if there is one

COMPARE = {  # options; an output is called by its place here
    "error": [[], ["--by", "core", "--resamples", "0"],
              ["--baseline", "all", "--pool", "landmarks", "--resamples", "0"],
              ["--by", "factors", "--confounded", "strategy"],
              ["--scale", "difference", "--failures", "worst", "--confounded", "pairing", "--resamples", "100"],
              ["--metric", "error_subspace", "--confidence", "0.9", "--margin", "1.1", "--resamples", "50"]],
    "coherence": [["--by", "partition"], ["--by", "clusters", "--metric", "mu", "--baseline", "all"],
                  ["--by", "tau", "--scale", "difference"]],
    "forward": [[], ["--metric", "output_error", "--baseline", "all"], ["--by", "heads", "--resamples", "0"]],
    "effect": [[], ["--metric", "error", "--failures", "worst"], ["--by", "strategy", "--baseline", "all"]]}
TIMES = """select_s core_s forward_s exact_s effect_s divide_s latency_s latency_low_s latency_high_s latency_min_s
    latency_p10_s latency_p90_s repeats batch first_s fresh_s amortized_s tokens_per_s gflops_per_s gemm_gflops_per_s
    gemm_share peak_bytes b_s f_s output_s load""".split()
ENVIRONMENT = dict(os.environ, COLUMNS="80", OPENBLAS_NUM_THREADS="1", LC_ALL="C.UTF-8")


def ask(program, folder, *words):
    """Standard output; exit status and errors."""
    done = subprocess.run([program, *words], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True)
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
    return x == y or isinstance(a, float) and isinstance(b, float) and abs(a - b) <= within * max(abs(a), abs(b))


def left_out(rows, others):
    """The rows that have no equal among the others, each of which is the equal of one."""
    left, missing = collections.Counter(tuple(map(number, row)) for row in others), []
    for row in rows:
        key = tuple(map(number, row))
        if left[key] == 0:
            missing.append(row)
        left[key] -= left[key] > 0
    return missing


def without_exact(old, new):
    """Two answers of `compare`, without the methods that NEW says are exact, whose noise OLD divided."""
    tables = [[*csv.DictReader(io.StringIO(text))] for text in (old, new)]
    exact = {(line["method"], line["input"]) for line in tables[1] if line["ratio"] == "" and line["exact"] != "0"}
    for i, lines in enumerate(tables if exact else []):
        out = io.StringIO()
        kept = csv.DictWriter(out, lines[0].keys() if lines else [], lineterminator="\n")
        kept.writeheader()
        kept.writerows(line for line in lines if (line["method"], line.get("input", "")) not in exact)
        tables[i] = out.getvalue()
    return tables if exact else (old, new)


class Case:
    """What both programs show of one run, DIR/CASE/run."""

    def __init__(self, folder, number, study, options):
        self.folder, self.number, self.study, self.options = folder, number, study, options
        self.figures = [kind for kind, of in options.figures.items() if of == study]
        self.compared, self.differences, self.with_rows = set(), {}, set()
        config = read(f"{folder}/e.yaml") if os.path.exists(f"{folder}/e.yaml") else ""
        self.unequal_trials = re.search('^(blocks|exclude): .*"trials?":', config, re.MULTILINE) is not None
        for side in ("old", "new"):
            os.makedirs(f"{folder}/{side}", exist_ok=True)

    def answer(self, side, name, *words, again=False):
        """OLD's from its file if it was asked the same before."""
        path, asked = f"{self.folder}/{side}/{name}", " ".join(words) + "\n"
        if side == "new" or again or not os.path.exists(path) or not read(path + ".status").startswith(asked):
            out, status = ask(self.options.programs[side], self.folder, *words)
            write(path, out), write(path + ".status", asked + status)
        return read(path), read(path + ".status")[len(asked):]

    def wanted(self, output):
        return fnmatch.fnmatch(output, self.options.only)

    def differs(self, output, part, what):
        self.differences.setdefault((output, part), []).append(what)

    def compare(self, output, name, *words):
        if not self.wanted(output):
            return
        self.compared.add(output)
        (old, old_status), (new, new_status) = (self.answer(side, name, *words) for side in ("old", "new"))
        if old_status != new_status:
            self.differs(output, "status", f"{old_status!r} -> {new_status!r}")
        if name.endswith(".csv"):
            self.compare_csv(output, *(without_exact(old, new) if output == "compare:0" else (old, new)))
        else:
            self.compare_lines(output, "text", old, new)

    def compare_lines(self, output, part, old, new):
        """Lines of `data` are numbers between commas, and stand where they stood."""
        split = (lambda line: line.split(",")) if part == "data" else lambda line: [line]
        within = self.options.within if part == "data" else 0
        a, b = old.splitlines(), new.splitlines()
        blocks = [("replace", 0, len(a), 0, len(b))] if part == "data" else \
            difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        for tag, i, end, k, last in blocks:
            for n, (one, other) in enumerate(itertools.zip_longest(a[i:end], b[k:last]), i + 1):
                x, y = split(one or ""), split(other or "")
                if tag != "equal" and not (len(x) == len(y) and part == "data"
                                           and all(alike(*pair, within) for pair in zip(x, y))):
                    self.differs(output, part, f"line {n}: {one!r} -> {other!r}")

    def compare_csv(self, output, old, new, without=()):
        if old == new:
            return
        (old_head, *a), (new_head, *b) = ([*csv.reader(io.StringIO(text))] or [[]] for text in (old, new))
        for name in [c for c in new_head if c not in old_head]:
            self.differs(output, "+" + name, "a new column")
        for name in [c for c in old_head if c not in new_head]:
            self.differs(output, "-" + name, "no such column any more")
        columns = [c for c in old_head if c in new_head and c not in without]
        a, b = ([[row[head.index(c)] for c in columns] for row in rows] for head,
                rows in ((old_head, a), (new_head, b)))
        missing, more = left_out(a, b), left_out(b, a)
        if len(a) != len(b):
            return self.differs(output, "rows",
                                f"{len(a)} -> {len(b)}, such as {','.join((missing + more or [[]])[0])}")
        if not missing and [[*map(number, row)] for row in a] != [[*map(number, row)] for row in b]:
            self.differs(output, "order", "the same rows in another order")
        for row in missing[:50]:  # each beside the one that is most alike; a word tells more than a number
            weights = [3 if cell and number(cell) is cell else 1 for cell in row]
            other = max(more, key=lambda m: sum(w * alike(x, y, 0) for w, x, y in zip(weights, row, m)))
            for name, x, y in zip(columns, row, other):
                if not alike(x, y, self.options.within):
                    self.differs(output, name, f"{x!r} -> {y!r} in {', '.join(c for c in row if c and number(c) is c)}")

    def compare_tables(self):
        listed = self.answer("old", "tables.csv", "table", "run", "--format", "csv")[0]
        names = [line.split(",")[0] for line in listed.splitlines()[1:]]
        self.with_rows.update(f"table:{name}" for name in names)
        self.compare("tables", "tables.csv", "table", "run", "--format", "csv")
        wanted = [name for name in names if self.wanted(f"table:{name}")]
        for kind, more in (("csv", ["--format", "csv"]), ("txt", [])) if wanted else ():
            together = [self.answer(side, f"all.{kind}", "table", "run", *wanted, *more) for side in ("old", "new")]
            self.compared.update(f"table:{name}" for name in wanted)
            for name in wanted if together[0] != together[1] else []:  # which of them
                self.compare(f"table:{name}", f"table_{name}.{kind}", "table", "run", name, *more)
        for where in ["trial=0", "strategy=kmeans"] if names else []:
            name = names[self.number % len(names)]
            self.compare(f"where:{name}", f"where_{where}.csv", "table", "run", name, "--where", where, "--format",
                         "csv")

    def draw(self, side):
        """The data and scripts of all figures, also of those that are drawn only if they are named; by their paths in
        plots/."""
        kept, plots = f"{self.folder}/{side}/plots", f"{self.folder}/run/plots"
        if side == "new" or not os.path.exists(kept):
            shutil.rmtree(kept, ignore_errors=True), shutil.rmtree(plots, ignore_errors=True)
            self.answer(side, "plot", "plot", "run", again=True)
            for kind in self.figures:
                if not os.path.exists(f"{plots}/{kind}.csv"):
                    self.answer(side, f"plot_{kind}", "plot", "run", kind, again=True)
            if self.number % 4 == 0:
                self.answer(side, "plot_paper", "plot", "run", self.figures[0], "--style", "paper", again=True)
                self.answer(side, "plot_landmarks", "plot", "run", "--landmarks", again=True)
            os.makedirs(plots, exist_ok=True), os.rename(plots, kept)
        return {os.path.relpath(path, kept): path for path in glob.glob(kept + "/**/*.*", recursive=True)}

    def compare_figures(self):
        kinds = [kind for kind in [*self.figures, "landmarks"] if self.wanted(f"figure:{kind}")]
        files = [self.draw(side) for side in ("old", "new")] if kinds else []
        for kind in kinds:
            old, new = ({name: path for name, path in of.items() if self.kind_of(name) == kind} for of in files)
            output = f"figure:{kind}"
            if not old and not new:
                continue
            self.compared.add(output)
            if any(name.endswith(".dat")
                   for name in old) or len(read(old.get(f"{kind}.csv", os.devnull)).splitlines()) > 1:
                self.with_rows.add(output)
            if old.keys() != new.keys():
                gone, more = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
                self.differs(output, "files", f"{len(gone)} gone, {len(more)} new, such as {(gone + more)[0]}")
            for name in sorted(old.keys() & new.keys()):
                texts = read(old[name]), read(new[name])
                if name.endswith(".csv"):
                    self.compare_csv(output, *texts)
                else:
                    self.compare_lines(output, "data" if name.endswith(".dat") else "scripts", *texts)

    def kind_of(self, path):
        """Whose file it is: svd_vs_iterative_x.dat, paper/error.csv."""
        name = os.path.basename(path)
        mine = [kind for kind in [*self.figures, "landmarks"] if name.startswith((kind + "_", kind + "."))]
        return max(mine, key=len, default=None)

    def measure_again(self):
        self.compared.add("measure")
        shutil.rmtree(f"{self.folder}/again", ignore_errors=True)
        only = read(f"{self.folder}/only").split()
        known = "draws:" in read(f"{self.folder}/run/resolved.yaml")
        draws = [] if known else ["--set", "draws=shared"]  # what OLD has where it does not know the key
        ask(self.options.programs["new"], self.folder, "run", "e.yaml", "-q", "-j", "0", "-o", "again", *draws, *only)
        timed = [*TIMES, "reason"] if self.study == "forward" else TIMES
        self.compare_csv("measure", *(read(f"{self.folder}/{run}/rows.csv") for run in ("run", "again")), timed)

    def everything(self):
        self.compare_tables()
        self.compare_figures()
        for i, words in enumerate(COMPARE[self.study]):
            self.compare(f"compare:{i}", f"compare_{i}.csv", "compare", "run", *words, "--format", "csv")
        self.compare("compare:text", "compare.txt", "compare", "run", *COMPARE[self.study][0])
        self.compare("claims", "claims.csv", "claims", "run", "--format", "csv")
        self.compare("claims", "claims.txt", "claims", "run")
        self.compare("export", "export.csv", "export", "run")
        self.compare("report", "report.md", "report", "run", "--format", "markdown", "-o", "-")
        if self.options.measure and self.wanted("measure"):
            self.measure_again()
        return self


def measured(options, folder, number):
    """Measures an experiment, unless that is done; its study."""
    for attempt in range(0 if os.path.exists(folder + "/study") else 20):
        config, only, study = experiments.experiment(options.seed, number, attempt)
        shutil.rmtree(folder, ignore_errors=True), os.makedirs(folder)
        write(f"{folder}/e.yaml", config), write(f"{folder}/only", " ".join(only))
        status = ask(options.programs["old"], folder, "run", "e.yaml", "-q", "-j", "0", "-o", "run", *only)[1]
        if os.path.exists(f"{folder}/run/rows.csv"):
            write(f"{folder}/study", study)
            break
        if not status.startswith("exit status 2"):  # else it was refused
            sys.exit(f"{folder}/e.yaml: {status}")
    return read(f"{folder}/study")


def copied(folder, path):
    """Copies a run, unless that is done; its study."""
    if not os.path.exists(f"{folder}/run"):
        shutil.copytree(path, f"{folder}/run", ignore=shutil.ignore_patterns("plots", "shards"))
    said = [line.split()[1] for line in open(f"{folder}/run/resolved.yaml") if line.startswith("study:")]
    return said[0] if said else "error"


def studies_of_figures(program, folder, study):
    """The study of each figure: the program says so where it is not that of the run."""
    listed = ask(program, folder, "list",
                 "figures")[0].splitlines()  # in 80 columns, of which some go on in the next line
    kinds = [line.split()[0] for line in listed if not line.startswith("   ")]
    said = {kind: ask(program, folder, "plot", "run", kind)[1].partition("is a figure of the study ")[2]
            for kind in kinds}
    return {kind: text.split(";")[0] or study for kind, text in said.items()}


def check(options, work):
    runs = os.path.abspath(options.runs or work + "/runs")
    os.makedirs(runs, exist_ok=True), os.symlink("/bin/true", work + "/gnuplot")  # nothing is drawn
    ENVIRONMENT["PATH"] = f"{work}:{os.environ['PATH']}"
    options.programs = {"old": os.path.realpath(options.old), "new": os.path.realpath(options.new)}
    build = ask(options.programs["old"], work, "info")[0].partition("executable")[2].split()[0]
    stamp = f"{runs}/OLD", f"{build} seed {options.seed}\n"
    if os.path.exists(stamp[0]) and read(stamp[0]) != stamp[1]:
        sys.exit(f"{runs}: made by another OLD or with another --seed; remove it, or name another folder")
    write(*stamp)
    options.figures, lock = None, threading.Lock()

    def one(task):
        number, path = task
        folder = f"{runs}/{number:03d}" if path is None else f"{runs}/{os.path.basename(os.path.normpath(path))}"
        study = measured(options, folder, number) if path is None else copied(folder, path)
        with lock:
            options.figures = options.figures or studies_of_figures(options.programs["old"], folder, study)
        return Case(folder, number, study, options).everything()

    numbers = range(options.count) if options.case is None else [options.case]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        tasks = list(enumerate(options.run)) if options.run else [(number, None) for number in numbers]
        complete = options.case is None and options.only == "*" and options.measure and len(tasks) >= ENOUGH
        return report(list(pool.map(one, tasks)), complete)


def expected(case, output, part, what):
    """The entry of EXPECTED that says why that differs, and why; None: it should not."""
    names = [output, f"{case.study}/{output}"] + [f"unequal-trials/{output}"] * case.unequal_trials
    return next(((why, *entry) for why, entries in EXPECTED.items() for entry in entries
                 if fnmatch.fnmatch(part, entry[1]) and any(fnmatch.fnmatch(name, entry[0]) for name in names)
                 and re.search("".join(entry[2:]), what)), None)


def report(cases, complete):
    """Whether all that differs is expected; each kind of difference is a line, as is, in a complete comparison, each
    entry of EXPECTED that no experiment has."""
    found, seen = collections.defaultdict(list), set()
    for case in cases:
        for key, whats in case.differences.items():
            found[key].append((case, whats))
    compared = sum(len(case.compared) for case in cases)
    different = sum(len({output for output, _ in case.differences}) for case in cases)
    print(f"{len(cases)} experiments, {compared} outputs: {compared - different} equal, {different} different")
    wrong = False
    for (output, part), where in sorted(found.items()):
        entries = [(expected(case, output, part, what), case, what) for case, whats in where for what in whats]
        seen.update(entry for entry, _, _ in entries)
        strange = next(((case, what) for entry, case, what in entries if entry is None), None)
        wrong = wrong or strange is not None
        why = "; ".join(sorted({entry[0] for entry, _, _ in entries if entry}))
        first = f"first in {strange[0].folder}: {strange[1][:300]}" if strange else f"expected: {why}"
        print(f"  {output}, {part}: in {len(where)} experiments, {first}")
    if wrong:
        print("  one of them again, with --runs: --case N --only OUTPUT")
    for why, *entry in [(why, *entry) for why, entries in EXPECTED.items() for entry in entries] if complete else []:
        if (why, *entry) not in seen:
            print(f"  {', '.join(entry)}: expected and in no experiment: {why}")
    rows = collections.Counter(output for case in cases for output in case.with_rows)
    print("with rows:", ", ".join(f"{output} {count}" for output, count in sorted(rows.items())))
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("old"), parser.add_argument("new")
    for name, standard, kind in (("count", 300, int), ("seed", 1, int), ("case", None, int), ("only", "*", str),
                                 ("runs", None, str),
                                 ("within", 0, float), ("jobs", 1, int)):
        parser.add_argument(f"--{name}", default=standard, type=kind)
    parser.add_argument("--run", action="append", default=[]), parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        return check(options, work)


if __name__ == "__main__":
    sys.exit(main())
