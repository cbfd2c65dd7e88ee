# SPDX-License-Identifier: GPL-3.0-or-later
# A Slurm of our own on this machine: munge, controller and one node, on the loopback
# interface, with all that they write in a folder. For bash, as root:
#   slurm_start FOLDER || why=$slurm_why    # then sbatch and squeue talk to it
#   slurm_stop                              # however it started

slurm_free_port() {
    /usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# slurm_daemon NAME COMMAND...: in the background, with a log; its number in the file pids.
slurm_daemon() {
    local name=$1
    shift
    setsid "$@" >"$slurm_dir/$name.out" 2>&1 </dev/null 3>&- &
    echo $! >>"$slurm_dir/pids"
}

# Waits 30 s for a command to succeed.
slurm_await() {
    local i
    for i in $(seq 150); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.2
    done
    return 1
}

slurm_ready() {
    sinfo --noheader --format=%t | grep -qx 'idle\|mix\|alloc'
}

slurm_configure() {
    local host cpus memory
    host=$(hostname -s)
    cpus=$(nproc)
    memory=$(awk '/MemTotal/ {print int($2 / 2048)}' /proc/meminfo)
    cat >"$slurm_dir/slurm.conf" <<CONF
ClusterName=nysbench
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$(slurm_free_port)
SlurmdPort=$(slurm_free_port)
AuthType=auth/munge
AuthInfo=socket=$slurm_dir/munge.socket
CredType=cred/munge
StateSaveLocation=$slurm_dir/state
SlurmdSpoolDir=$slurm_dir/spool
SlurmctldPidFile=$slurm_dir/slurmctld.pid
SlurmdPidFile=$slurm_dir/slurmd.pid
SlurmctldLogFile=$slurm_dir/slurmctld.log
SlurmdLogFile=$slurm_dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1
ReturnToService=2
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
CONF
    printf 'CgroupAutomount=no\n' >"$slurm_dir/cgroup.conf"
}

slurm_start() {
    local program
    export slurm_dir=$1 slurm_why=
    for program in munged slurmctld slurmd sbatch squeue; do
        command -v "$program" >/dev/null || { slurm_why="$program is not installed (Debian: slurm-wlm, munge)"
            return 1; }
    done
    [ "$(id -u)" -eq 0 ] || { slurm_why="Slurm's daemons are started as root alone"; return 1; }
    mkdir -p "$slurm_dir/state" "$slurm_dir/spool"
    chmod 755 "$slurm_dir"
    (umask 077 && head -c 1024 /dev/urandom >"$slurm_dir/munge.key")
    slurm_configure
    export SLURM_CONF=$slurm_dir/slurm.conf
    slurm_daemon munged munged --foreground --force --key-file="$slurm_dir/munge.key" \
        --socket="$slurm_dir/munge.socket" \
        --pid-file="$slurm_dir/munged.pid" --log-file="$slurm_dir/munged.log" --seed-file="$slurm_dir/munged.seed"
    slurm_await test -S "$slurm_dir/munge.socket" ||
        { slurm_why="munged does not start: $(tail -n 1 "$slurm_dir/munged.out")"; return 1; }
    slurm_daemon slurmctld slurmctld -D
    slurm_daemon slurmd slurmd -D
    slurm_await slurm_ready ||
        { slurm_why="Slurm does not start: $(grep -h error "$slurm_dir"/slurm*.log "$slurm_dir"/*.out | tail -n 1)"
            return 1; }
}

# Ended, or a zombie that nobody has waited for.
slurm_gone() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
    [[ "$stat" == *") Z "* ]]
}

slurm_stop() {
    local pid
    [ -e "$slurm_dir/pids" ] || return 0
    scancel --user=root 2>/dev/null || true
    for pid in $(tac "$slurm_dir/pids"); do
        kill "$pid" 2>/dev/null || continue
        slurm_await slurm_gone "$pid" || kill -KILL "$pid"
    done
    rm "$slurm_dir/pids"
}
