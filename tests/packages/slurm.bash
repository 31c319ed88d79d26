# SPDX-License-Identifier: GPL-2.0-or-later
# slurm.bash - for the tests inside a root folder: a Slurm of four nodes, and gangs on it
# shellcheck shell=bash

number=0 failures=0

# ok NAME COMMAND...: a test; what the command said is shown when it fails
ok() {
	local name=$1 said
	shift
	number=$((number + 1))
	if said=$("$@" 2>&1); then
		echo "ok $number - $name"
	else
		failures=$((failures + 1))
		echo "not ok $number - $name"
		tail -n 20 <<<"$said" | sed 's/^/# /'
	fi
}

# skip NAME WHY
skip() {
	number=$((number + 1))
	echo "ok $number - $1 # skip $2"
}

await() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		((SECONDS < end)) || return 1
		sleep 0.2
	done
}

has() {
	[[ $1 == *"$2"* ]] || { printf '%s\ndoes not hold\n%s\n' "$1" "$2"; return 1; }
}

# --- a Slurm of four nodes -----------------------------------------------------------------------

write_conf() {
	mkdir -p /etc/slurm /var/lib/slurm /var/log/slurm
	cat >/etc/slurm/slurm.conf <<-END
		ClusterName=fresh
		SlurmctldHost=$(hostname)(127.0.0.1)
		SlurmUser=root
		SlurmdUser=root
		StateSaveLocation=/var/lib/slurm/state
		SlurmdSpoolDir=/var/lib/slurm/%n
		SlurmctldPidFile=/run/slurmctld.pid
		SlurmdPidFile=/run/slurmd.%n.pid
		SlurmctldLogFile=/var/log/slurm/slurmctld.log
		SlurmdLogFile=/var/log/slurm/%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SlurmdParameters=config_overrides
		PrologFlags=Alloc,DeferBatch
		ReturnToService=2
		KillWait=2
		MailProg=/bin/true
		NodeName=n[1-4] NodeAddr=127.0.0.1 NodeHostname=$(hostname) Port=[7001-7004] CPUs=2
		PartitionName=gpu Nodes=ALL Default=YES
	END
	[[ $(slurmctld -V) == *' 22.05'* ]] || echo 'CgroupPlugin=disabled' >/etc/slurm/cgroup.conf
	cat >/etc/slurm/topology.conf <<-'END'
		SwitchName=l1 Nodes=n[1-2]
		SwitchName=l2 Nodes=n[3-4]
		SwitchName=top Switches=l[1-2]
	END
}

start_munge() {
	install -d -o munge -g munge -m 755 /run/munge
	[[ -e /etc/munge/munge.key ]] || (umask 077 && head -c 128 /dev/urandom >/etc/munge/munge.key)
	chown munge: /etc/munge/munge.key
	setpriv --reuid=munge --regid=munge --init-groups munged --force </dev/null &>/dev/null
	await 90 test -S /run/munge/munge.socket.2
}

stop_slurm() {
	local pid file
	for file in /run/slurmctld.pid /run/slurmd.n*.pid; do
		[[ ! -s $file ]] || kill "$(<"$file")" 2>/dev/null
	done
	for file in /run/slurmctld.pid /run/slurmd.n*.pid; do
		pid=$(cat "$file" 2>/dev/null) || continue
		await 90 no_process "$pid" || return 1
		rm -f "$file"
	done
}

no_process() {
	[[ ! -d /proc/$1 ]]
}

start_slurm() {
	local node
	mkdir -p /var/lib/slurm/state
	slurmctld || return 1
	for node in n1 n2 n3 n4; do
		slurmd -N "$node" || return 1
	done
	await 90 all_idle || { sinfo -N 2>&1; tail -n 20 /var/log/slurm/slurmctld.log; return 1; }
}

all_idle() {
	[[ $(sinfo -h -N -o %t | sort | uniq -c | tr -s ' ') == ' 4 idle' ]]
}

restart_slurm() {
	stop_slurm && start_slurm
}

a_job_runs() {
	timeout 30 srun -N4 -n4 hostname
}

set_up() {
	onespine topology import --from=slurm -o /etc/slurm/onespine.topology /etc/slurm/topology.conf &&
		onespine setup --head && onespine setup --head && restart_slurm
}

gang_on_one_leaf() {
	local job
	job=$(sbatch --parsable --gang=leaf -N2 --exclusive -o /dev/null --wrap 'sleep 600') || return 1
	await 90 running "$job" || return 1
	has "$(scontrol show job "$job")" 'domain=l' && scancel "$job" && await 90 all_idle
}

running() {
	[[ $(squeue -h -j "$1" -o %T) == RUNNING ]]
}
