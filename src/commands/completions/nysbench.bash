# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of nysbench in bash: source this, or install it as bash-completion/completions/nysbench. The program says
# what may follow, and where it knows nothing, the names of files do.
_nysbench() {
    mapfile -t COMPREPLY < <("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]%%$'\t'*}")
    [[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}
complete -o default -F _nysbench nysbench
