# SPDX-License-Identifier: GPL-3.0-or-later
# picks.awk for the strategy and the core command(run="sh tests/conformance/picks.sh"), and as a server with serve=true,
# which has no argument.
LC_ALL=C
export LC_ALL
here=$(dirname "$0")
[ $# -eq 0 ] || exec awk -f "$here/picks.awk"
here=$(cd "$here" && pwd)
echo '{"ready": 1}'
while read -r question; do
    folder=$(expr "$question" : '.*"folder": *"\([^"]*\)"')
    cd "$folder" || exit 1
    echo "$question" | tr ',{}' '\n\n\n' | sed 's/": */": /' >request.json
    left=picks
    [ "${question#*'"do":"core"'}" = "$question" ] || left=core
    awk -f "$here/picks.awk" && echo "{\"done\": \"$left\"}"
done
