# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of nysbench in fish: put this into a folder of $fish_complete_path. The program says what may follow, beside
# the names of files.
function __nysbench_complete
    set -l words (commandline -opc)
    $words[1] complete -- $words[2..] (commandline -ct) 2>/dev/null
end
complete -c nysbench -a '(__nysbench_complete)'
