# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of tests/cli/published.bats, which has no other Python: see the end."""
import pathlib
import re
import shlex
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "published"))
import listing


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


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
