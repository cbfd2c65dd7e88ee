# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of tests/cli/published.bats, which has no other Python: see the end."""
import json
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "published"))
import listing

# Why so small a run does not tell what a claim asks: it has one source, one head and one size, and a stub of a model.
# NOLINT(wording): by its reason alone is it told from a mistake
NOT_TOLD = "1 source, fewer than 6", "its query has no value", "nothing has a result"


def check_queries(program, folder):
    """Asks a run of its study in `folder`, which is named as the study, for what each query of LIST would do."""
    published = listing.Listing(pathlib.Path(listing.ROOT, listing.FOLDER, "LIST"))
    asked = 0
    for name, entry in published.files.items():
        words = shlex.split(entry.get("command", ""))
        if words[:1] != ["sql"]:
            continue
        experiment = shlex.split(published.runs[entry["run"]]["command"])[1]
        study = re.search(r"^study: (\w+)", pathlib.Path(listing.ROOT, experiment).read_text(), re.M)
        run = pathlib.Path(folder, study[1] if study else "error")
        done = subprocess.run([program, "sql", run, f"EXPLAIN {words[2]}"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{name}: {done.stderr}"
        asked += 1
    assert asked > 20, asked


def claims_of(text):
    """What the claims of an experiment measure: metrics, and queries in SQL."""
    claims = re.search(r"^claims:\n((?:[ #-].*\n|\n)+)", text, re.M)
    if not claims:
        return [], []
    lists = re.findall(r"metrics?: (?:\[([^]]*)\]|(\w+))", claims[1])
    folded = re.findall(r"^( *)query: >-\n((?:\1 +.*\n)+)", claims[1], re.M)
    queries = [" ".join(lines.split()) for _, lines in folded]
    return (
        [name for several, one in lists for name in (several or one).split(", ")],
        queries + re.findall(r"^ *query: (SELECT .*)$", claims[1], re.M),
    )


def add_claims(folder):
    """Each claim of the experiments, of all rows of a run of its study: "metric" or "query" says what it is."""
    asked = {study: set() for study in ("error", "forward", "effect", "coherence")}
    for path in pathlib.Path(listing.ROOT, "experiments").glob("*.yaml"):
        text = path.read_text()
        study = re.search(r"^study: (\w+)", text, re.M)
        metrics, queries = claims_of(text)
        of_study = asked[study[1] if study else "error"]
        of_study.update(("metric", name) for name in metrics)
        of_study.update(("query", query) for query in queries)
        assert text.count("query: ") == len(queries) + text.count("query: correlation.sql"), path
    for study, of_study in asked.items():
        with open(pathlib.Path(folder, study + ".yaml"), "a", encoding="utf-8") as config:
            config.write("claims:\n")
            for kind, what in sorted(of_study):
                config.write(
                    f"  - {{says: {json.dumps(what)}, source: {kind}, measure: {{{kind}: {json.dumps(what)}}}, "
                    "expect: {value: [0, null]}}\n"
                )


def check_claims(program, folder):
    """Asks them of the runs: none is a mistake."""
    found = {"metric": 0, "query": 0}
    for study in ("error", "forward", "effect", "coherence"):
        done = subprocess.run(
            [program, "claims", pathlib.Path(folder, study), "--format", "json"], capture_output=True, check=True
        )
        for claim in json.loads(done.stdout):
            assert claim["why"] in NOT_TOLD, f"{study}: {claim['says']}: {claim['why']}"
            found[claim["source"]] += 1
    assert found["query"] > 5 and found["metric"] > 15, found


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
