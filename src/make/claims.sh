#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs what is missing of experiments that have claims, and writes docs/claims.md with their verdicts.
#     src/make/claims.sh EXPERIMENT...    each by its name, from the repository's root
set -eu
results=
links=
for name; do
    ./nysbench run "experiments/$name.yaml" --quiet >/dev/null
    results="$results results/$name"
    links="$links[$name](../experiments/$name.yaml),
"
done
{
    cat <<MD
# Claims

Claims about landmarks for attention, and whether they hold on the shipped heads. They stand in the experiments
${links}which \`make claims\` runs to write this list. [config.md](config.md#claims) says what a claim is,
[comparing.md](comparing.md#claims) what a verdict means, and [results.md](results.md) more about the findings.

*Geometric landmarks* is "On the geometric selection of landmarks for low-rank self-attention approximation"
(OpenReview OdKBFAmCYX, 2025). *Nystromformer* is Xiong et al., AAAI 2021; most of its claims are taken from summaries
of the paper. Intervals are over sources and trials; all parts of a claim are listed, with intervals that hold together.
Brackets say how a claim without a number was read. Such a reading sets a threshold, and *slack* says how much rests on
it: how far the threshold may move towards what was found before the verdict is another one. So "a good approximation"
would have to allow a residual of 0.1 + slack for six steps not to be refuted. A claim that is undecided has none.
Verdicts on times are of one machine, and may differ on another.

Out of scope is what needs a model to be trained or fine-tuned: GLUE, IMDB, the Long Range Arena, pre-training, and
landmarks that are kept over passes of training. These claims stand at the end as untested, beside algebra that unit
tests check and models that are not at hand.

The claims of experiments whose models or heads have to be fetched first are not listed:
[21-kept-landmarks](../experiments/21-kept-landmarks.yaml) tests whether landmarks of one input serve another
([found](results.md#landmarks-of-an-unrelated-input-lose-most-or-all-of-their-advantage)),
[23-effect](../experiments/23-effect.yaml) tests whether a better approximation means a better model
([found](results.md#a-smaller-error-usually-means-a-smaller-effect-on-the-model)),
[29-causal](../experiments/29-causal.yaml) what can stand for earlier tokens in a decoder,
[44-landmarks-suffice](../experiments/44-landmarks-suffice.yaml) whether 32 or 64 landmarks suffice at 4,096 and 8,192
tokens ([found](appendix.md#32-or-64-landmarks)).

MD
    # shellcheck disable=SC2086 # one word a run
    ./nysbench claims $results --format markdown
} >docs/claims.md.new
mv docs/claims.md.new docs/claims.md
