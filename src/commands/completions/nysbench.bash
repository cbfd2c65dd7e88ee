# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of nysbench in bash: source this, or install it as bash-completion/completions/nysbench. The program says
# what may follow.
_nysbench() {
    mapfile -t COMPREPLY < <("$1" complete --bash="$2" -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} != *[=/\(,] ]] || compopt -o nospace
}
complete -F _nysbench nysbench
