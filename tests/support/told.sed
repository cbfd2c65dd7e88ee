# What programs say, without what differs between machines and runs: progress, times, sizes of memory, digests, days,
# kinds of arithmetic, numbers of CPUs and workers, and the decimals of results: in a command all are kept, in a message
# those of few digits, which are what somebody has written. Columns are as wide as their numbers: a blank stands for
# those between them.
/^nysbench: ([0-9]+ %, |[0-9]+ scenes? to run)/d
s/[0-9]+(\.[0-9]+)?(e-?[0-9]+)? (calls|s|ms|min|minutes|h|kB|MB|MiB|GiB)\b/# \3/g
s/\b[0-9a-f]{12}(-[a-z]+)?\b/############/g
s/[A-Za-z]+ kernels of OpenBLAS [0-9.]+, [a-z0-9]+ vectors/KERNELS/g
s/[^ ]+ \(executable #{12};/BUILD;/g
s/\(build [^;]+;/(BUILD;/g
s/\b20[0-9]{2}-[01][0-9]-[0-3][0-9]\b/DATE/g
s/(results\/[^ /]*-)[0-9a-f]{8}\b/\1########/g
/^nysbench: /s/-?([0-9]\.[0-9]{4,}|[0-9]{2}\.[0-9]{3,}|[0-9]{3}\.[0-9]{2,}|[0-9]{4,}\.[0-9]+)(e-?[0-9]+)?/#/g
/^(nysbench: |\$ )/!s/-?[0-9]+(\.[0-9]+(e-?[0-9]+)?|e-[0-9]+)/#/g
s/# (s|ms|min|h)( (to )?# (s|ms|min|h))*\b/# s/g
s/\bwith [0-9]+ workers?\b/with # workers/g
s/(# MiB for a worker), # MiB for [0-9]+$/\1/
/^nysbench: warning: threads: [0-9]+, and [0-9]+ CPUs may be used here/d
s/\binterface [0-9]+(, this nysbench has [0-9]+)?/interface #/g
s/-nan\b/nan/g
s/([^ ]) +/\1 /g
s/ +$//
