# SPDX-License-Identifier: GPL-3.0-or-later
# The first five minutes: nysbench new experiment writes a config, nysbench demo runs one.

load helpers

ViT=$PWD/experiments/data/vit_astronaut_n257_L6.safetensors
SMOLLM2=$PWD/experiments/data/smollm2_opticks_n1024_L15.safetensors

@test "new experiment writes a config that plan accepts, with the answers in it, and a comment above each key" {
    cd "$WORK"
    run "$NYSBENCH" new experiment my.yaml --heads "$ViT" --heads "$SMOLLM2:1" --landmarks '4, 8' --trials 2 \
        --strategies 'uniform, kmeans(restarts=4), profile(keys=pivots, queries=pivots)' \
        --cores 'svd(rcond=[0.1, 0.01]), iterative'
    expect_status 0
    [ "${lines[0]}" = my.yaml ]
    quoted '^question: .*|.*causal=.*|.*compare: .*' my.yaml # the second file has a mask
    awk '/^[a-z]/ && before !~ /^#/ { print "no comment above: " $0; wrong = 1 } { before = $0 } END { exit wrong }' \
        my.yaml
    expect_plan 'scenes=4 trials=2 methods=18' my.yaml
    run "$NYSBENCH" run my.yaml --quiet --set plots=[] --out r
    expect_status 0
    of_csv r/rows.csv 'found = {(r["problem"].split("/")[-1][:3], r["head"], r["n"], r["d"]) for r in rows}
assert found == {*[("vit", str(head), "257", "64") for head in range(3)], ("smo", "1", "1024", "64")}, found
for column, count in ("strategy", 3), ("pairing", 2), ("landmarks", 2), ("factors", 1), ("core", 3), ("trial", 2):
    assert len({r[column] for r in rows}) == count, (column, {r[column] for r in rows})'
    output=$(of_json 'print(x[0]["says"])' "$NYSBENCH" claims r) tell nysbench claims r
}

@test "heads that name no causal mask: new experiment says so and settles it; elsewhere plan and run say it" {
    py write_heads "$WORK"
    cd "$WORK"
    told new experiment e.yaml --heads a --heads b -m 4
    expect_status 0
    output=$(grep '^#.*causal=false' e.yaml) tell cat e.yaml
    output=$("$NYSBENCH" plan e.yaml 2>/dev/null | sed -n '/^sources/,/^too few/p') tell nysbench plan e.yaml
    warned plan e.yaml
    expect_status 0
    sed 's/, causal=false//' e.yaml >auto.yaml
    warned plan auto.yaml
    warned run auto.yaml -q --set plots=[]
    expect_status 0
    sed 's/causal=false/causal=true/' e.yaml >yes.yaml
    warned plan yes.yaml
    "$NYSBENCH" run yes.yaml -q --set plots=[] --out yes >/dev/null
    output=$(of_csv yes/rows.csv 'print(*sorted(r["reason"] for r in rows), sep="\n")' | uniq -c) tell cat yes/rows.csv
    warned run yes.yaml -q --set plots=[] --set factors=cur --set strategies=uniform --set claims=[] --out cur
    expect_rows cur "20 ok"
}

@test "the commands that a new experiment's comments name have what they are said to have" {
    cd "$WORK"
    "$NYSBENCH" new experiment my.yaml >/dev/null
    while IFS='|' read -r command name; do
        grep -qF "\`nysbench $command\`" my.yaml
        "$NYSBENCH" $command >out
        grep -qE "^ *$name( |\$)" out
    done <<'CASES'
list strategies|segment_means
list cores|iterative
help columns|output_error
CASES
}

@test "new experiment asks nothing, also on a terminal: what no option gives has the default" {
    cd "$WORK"
    for way in '' --yes; do # --yes was the way to have nothing asked
        run timeout 300 /usr/bin/python3 -SE "$BATS_TEST_DIRNAME/../support/on_terminal.py" 80 \
            "$NYSBENCH" new experiment $way --force
        expect_status 0
        grep -q '^problems: gaussian(n=256)' experiment.yaml
    done
}

@test "new experiment never replaces a file unless forced" {
    cd "$WORK"
    run "$NYSBENCH" new experiment
    expect_status 0
    "$NYSBENCH" plan experiment.yaml
    echo mine >experiment.yaml
    told new experiment
    expect_status 2
    [ "$(cat experiment.yaml)" = mine ]
    "$NYSBENCH" new experiment --force
    "$NYSBENCH" plan experiment.yaml
    "$NYSBENCH" new experiment one.yaml --strategies kmeans --question "what's next: 1 # or 2"
    "$NYSBENCH" plan one.yaml
    ! grep claims: one.yaml || false # there is nothing to compare with
    grep -q "question: 'what''s next: 1 # or 2'" one.yaml
}

@test "what is wrong with an answer to new experiment is said, and nothing written" {
    py write_unusable_heads "$WORK"
    cd "$WORK"
    while IFS='|' read -r option value; do
        told new experiment my.yaml "$option" "$value"
        expect_status 2
        [ ! -e my.yaml ]
    done <<EOF
--heads|nowhere.npy
--heads|$ViT:7
--heads|$WORK/*.npy
--heads|keyless
--heads|spoilt
--landmarks|0
--strategies|kmean
--strategies|uniform, uniform
--strategies|uniform, command(run="python3 nowhere.py")
--cores|svd(rcond=2)
--trials|many
EOF
    told new experiment 'a b.yaml'
    expect_status 2
    told new experiment my.yaml --out there
    expect_status 2
    told new strategy mine --yes
    expect_status 2
    told new strategy
    expect_status 2
    told new experimnt x
    expect_status 2
}

@test "demo makes a folder with an experiment, its results and figures; again, it goes on there" {
    cd "$WORK"
    run "$NYSBENCH" demo
    expect_status 0
    of_json 'assert [c["verdict"] for c in x] == ["reproduced"], x' "$NYSBENCH" claims nysbench-demo/results
    output=$(tail -n 2 <<<"$output") tell nysbench demo
    [ -s nysbench-demo/results/plots/ratio_iterative.png ]
    "$NYSBENCH" plan nysbench-demo/demo.yaml
    run "$NYSBENCH" demo
    expect_status 0
    expect_rows nysbench-demo/results "528 ok"
    mkdir mine
    told demo --out mine
    expect_status 2
    run "$NYSBENCH" demo more
    expect_status 2
    told demo --out ''
    expect_status 2
    for command in report table status; do
        told "$command" nysbench-demo
        expect_status 2
    done
}

@test "make demo ends with nysbench demo, whose table and figure README shows" {
    [ "$(make --no-print-directory -n demo | tail -1)" = "./nysbench demo" ]
    [ "$(grep -c '^!\[.*\](' README.md)" -eq 1 ]
    grep -q '^!\[.*\](results/published/demo.png)$' README.md
    sed -n '/^\[demo.png\]/,/^$/p' results/published/LIST |
        grep -q ' demo .* cat nysbench-demo/results/plots/ratio_iterative.png'
    grep -q '^    ./nysbench demo ' README.md # tests/support/sessions.py then compares the table
}

@test "the installed program has the template, the experiments and their heads" {
    installed
    cd "$WORK"
    run "$INSTALLED_TREE/usr/bin/nysbench" demo --out here
    expect_status 0
    of_json 'assert [c["verdict"] for c in x] == ["reproduced"], x' "$NYSBENCH" claims here/results
    grep -q "file=\"$(readlink -f "$INSTALLED_TREE")/usr/share/nysbench/experiments/data/panel/minilm_" here/demo.yaml
}

@test "README: your heads and your idea come to a verdict as they are written" {
    local block count=0
    cd "$WORK"
    for block in nysbench python experiments; do ln -s "$OLDPWD/$block" .; done
    awk '/^```python$/ { out = ++count ".py"; next } /^```$/ { out = ""; next } out { print >out }' "$OLDPWD/README.md"
    { echo 'import numpy as np; q, k, v = np.random.default_rng(1).standard_normal((3, 6, 2, 100, 8))'; cat 1.py
        cat <<'END'
lines = run.compare()
lines = lines.to_dict("records") if hasattr(lines, "to_dict") else lines
assert [line["landmarks"] for line in lines if line["method"] == "largest_norm" and line["verdict"]] == [8, 16, 32]
END
        } >mine.py
    [ ! -e 2.py ]
    run env PYTHONPATH=python /usr/bin/python3 mine.py
    expect_status 0
    save_head my-layer qkv 6,2,100,8
    sed -n '/^From a shell/,/^In C/s/^    \([.]\)/\1/p' "$OLDPWD/README.md" >commands
    run bash -e commands
    expect_status 0
    of_json 'assert any("kmeans(" in line["method"] and "restarts=4" in line["method"] for line in x), x' \
        "$NYSBENCH" compare results/my
}
