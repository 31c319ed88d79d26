# SPDX-License-Identifier: GPL-2.0-or-later
# slurm_conf.sh - writes the files that a cluster's daemons read
#
# Uses the variables of tools/cluster: dir, slurm, root, prefix, auth, stock, enforcing, cloud, names (array),
# port, slurmd_ports, gate, wire, cgroups, gres and the arrays topology_files, conf, node_conf, partition.
# shellcheck shell=bash disable=SC2154

# slurm_plugins [ROOT]: Slurm's own plugin directory, as seen in that root
slurm_plugins() {
	local root=${1:-} file
	for file in "$root"/usr/lib/*/slurm-wlm "$root"/usr/lib/*/slurm "$root"/usr/lib64/slurm \
		"$root"/usr/lib/slurm "$root"/usr/local/lib/slurm "$root"/opt/slurm/lib/slurm; do
		if [[ -e $file/select_cons_tres.so ]]; then
			printf '%s\n' "${file#"$root"}"
			return 0
		fi
	done
	die "found no plugin directory of Slurm (select_cons_tres.so) ${root:+in $root}"
}

# topology_nodes FILE: the node names of an onespine.topology, topology.conf or topology.yaml, one a line
topology_nodes() {
	local lists
	if [[ $(topology_kind "$1") == onespine ]]; then
		lists=$(tr '\n' ' ' <"$1" | grep -oE '"nodes"[[:space:]]*:[[:space:]]*"[^"]*"' |
			sed 's/.*"\([^"]*\)"$/\1/')
	elif [[ $(topology_kind "$1") == yaml ]]; then
		lists=$(sed -nE 's/#.*//; s/^[[:space:]]*nodes:[[:space:]]*"?([^"[:space:]]+)"?[[:space:]]*$/\1/p' "$1")
	else
		lists=$(sed 's/#.*//' "$1" | sed -e ':a' -e '/\\$/N; s/\\\n//; ta' |
			grep -oiE '(^|[[:space:]])nodes=[^[:space:]]+' | sed 's/^[^=]*=//')
	fi
	[[ -n $lists ]] || die "$1: names no nodes"
	# a domain beside the tree names nodes again
	hostlist_expand "$(paste -sd, <<<"$lists")" | awk '!seen[$0]++' || die "$1: a list of nodes cannot be read"
}

# topology_kind FILE: onespine, slurm or yaml (topology.yaml, from 25.05 on)
topology_kind() {
	[[ -r $1 ]] || die "$1: no such file"
	if grep -q '"onespine-topology"' "$1"; then
		echo onespine
	elif grep -qiE '^[[:space:]]*(switchname|blockname)=' "$1"; then
		echo slurm
	elif grep -qE '^- topology:' "$1"; then
		echo yaml
	else
		die "$1: neither an onespine.topology nor a topology.conf"
	fi
}

# write_slurm_conf: slurm.conf, cgroup.conf, gres.conf, plugstack.conf and the topology, in $dir
write_slurm_conf() {
	local file kind topology_plugin=
	for file in ${topology_files[@]+"${topology_files[@]}"}; do
		kind=$(topology_kind "$file")
		if [[ $kind == onespine ]]; then
			cp "$file" "$dir/onespine.topology"
			chmod go-w "$dir/onespine.topology"
		elif [[ $kind == yaml ]]; then
			cp "$file" "$dir/topology.yaml"
		else
			cp "$file" "$dir/topology.conf"
			topology_plugin=topology/tree
			grep -qi '^[[:space:]]*blockname=' "$file" && topology_plugin=topology/block
		fi
	done
	: >"$dir/plugstack.conf"
	if ((!stock)); then
		printf 'required %s/lib/onespine/onespine.so cache=%s/run/onespine\n' "$prefix" "$dir" >"$dir/plugstack.conf"
		if [[ -n $config ]]; then
			cp "$config" "$dir/onespine.yaml"
		fi
	fi
	write_cgroup_conf
	write_gres_conf
	{
		general_lines
		node_lines
		partition_lines
	} >"$dir/slurm.conf"
}

# general_lines: every key once; --conf replaces ours, and an empty value drops it
general_lines() {
	local -A value=() spelled=()
	local -a order=()
	local line key lower plugin_dir
	plugin_dir=$(slurm_plugins "$root")
	while IFS= read -r line; do
		[[ -n $line ]] || continue
		[[ $line == *=* ]] || die "--conf '$line': expected Key=Value"
		key=${line%%=*}
		lower=${key,,}
		[[ -n ${spelled[$lower]+x} ]] || order+=("$lower")
		spelled[$lower]=$key
		value[$lower]=${line#*=}
	done < <(
		default_lines "$plugin_dir"
		printf '%s\n' ${conf[@]+"${conf[@]}"}
	)
	for lower in "${order[@]}"; do
		[[ -z ${value[$lower]} ]] || printf '%s=%s\n' "${spelled[$lower]}" "${value[$lower]}"
	done
}

default_lines() {
	local plugin_dir=$1 host address=127.0.0.1 cred='' auth_info="socket=$dir/munge/socket" track=linuxproc task=none
	host=$(hostname -s)
	[[ -z $wire ]] || address=$(wire_address "$port")
	[[ $auth == munge ]] || cred=CredType=cred/$auth auth_info=cred_expire=120
	((!cgroups)) || track=cgroup task=affinity,task/cgroup
	cat <<-END
		ClusterName=onespine
		SlurmctldHost=$host($address)
		SlurmctldPort=$port
		SlurmdPort=$((port + 1))
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/$auth
		$cred
		AuthInfo=$auth_info
		StateSaveLocation=$dir/state
		SlurmdSpoolDir=$dir/spool/%n
		SlurmctldPidFile=$dir/run/slurmctld.pid
		SlurmdPidFile=$dir/run/slurmd.%n.pid
		SlurmctldLogFile=$dir/log/slurmctld.log
		SlurmdLogFile=$dir/log/slurmd.%n.log
		SlurmctldDebug=verbose
		SlurmdDebug=info
		ProctrackType=proctrack/$track
		TaskPlugin=task/$task
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		MailProg=/bin/true
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SchedulerType=sched/backfill
		SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=1
		TopologyPlugin=$topology_plugin
		SlurmdParameters=config_overrides
		PlugStackConfig=$dir/plugstack.conf
		ReturnToService=2
		KillWait=2
		BatchStartTimeout=60
		MessageTimeout=30
		GresTypes=${gres:+gpu}
	END
	if ((stock)); then
		printf 'PluginDir=%s\n' "$plugin_dir"
	elif ((!enforcing)); then
		printf 'PluginDir=%s\n' "$prefix/lib/onespine:$plugin_dir"
	else
		printf 'PluginDir=%s\n' \
			"$prefix/lib/onespine/slurmctld:$prefix/lib/onespine:$plugin_dir"
		printf 'JobSubmitPlugins=onespine\n'
	fi
	[[ -z $gate ]] || printf 'PrologFlags=Alloc,DeferBatch\nProlog=%s/prolog\nEpilog=%s/epilog\n' "$dir" "$dir"
	((cloud)) || return 0
	cat <<-END
		ResumeProgram=/bin/true
		SuspendProgram=/bin/true
		SuspendTime=1000000
		ResumeTimeout=36000
		ResumeRate=0
		SuspendRate=0
		PrivateData=cloud
	END
}

# write_gres_conf: --gres gpu[:TYPE]:N as character devices, so that CUDA_VISIBLE_DEVICES is set; a node whose
# --node-conf says Gres= has those
write_gres_conf() {
	local count index text name
	local -A other=()
	[[ -n $gres ]] || return 0
	count=${gres##*:}
	[[ $gres =~ ^gpu(:[A-Za-z0-9_.-]+)?:[0-9]+$ ]] || die "--gres $gres: expected gpu[:TYPE]:N"
	mkdir -p "$dir/dev"
	for ((index = 0; index < count; index++)); do
		mknod -m 666 "$dir/dev/nvidia$index" c 1 3 2>/dev/null ||
			ln -s "/dev/tty$index" "$dir/dev/nvidia$index"
	done
	for text in ${node_conf[@]+"${node_conf[@]}"}; do
		[[ ${text,,} == nodename=* && $text =~ [[:space:]]Gres=([^[:space:]]+) ]] || continue
		text=${text#*=}
		while IFS= read -r name; do
			other[$name]=${BASH_REMATCH[1]}
		done < <(hostlist_expand "${text%%[[:space:]]*}")
	done
	{
		echo 'AutoDetect=off'
		((!${#other[@]})) || for name in "${names[@]}"; do
			echo "NodeName=$name $(gres_line "${other[$name]:-$gres}")"
		done
		((${#other[@]})) || gres_line "$gres"
	} >"$dir/gres.conf"
}

# gres_line gpu[:TYPE]:N: its devices, of those that there are
gres_line() {
	local type=''
	if [[ $1 == *:*:* ]]; then
		type=${1#*:}
		type=" Type=${type%:*}"
	fi
	printf 'Name=gpu%s File=%s/dev/nvidia[0-%d]\n' "$type" "$dir" $((${1##*:} - 1))
}

# node_lines: one line for all nodes, and one for each --node-conf that names some of them
node_lines() {
	local -A port_of=() special=()
	local -a rest=() named=()
	local index text name every
	every="CPUs=$( ((cgroups)) && nproc --all || echo 8)${gres:+ Gres=$gres}"
	every+=" State=$( ((cloud)) && echo CLOUD || echo UNKNOWN)"
	for index in "${!names[@]}"; do
		port_of[${names[index]}]=$((port + 1 + index))
	done
	for text in ${node_conf[@]+"${node_conf[@]}"}; do
		[[ ${text,,} == nodename=* ]] || every=$(merge_words "$every" "$text")
	done
	for text in ${node_conf[@]+"${node_conf[@]}"}; do
		[[ ${text,,} == nodename=* ]] || continue
		text=${text#*=}
		mapfile -t named < <(hostlist_expand "${text%%[[:space:]]*}")
		for name in "${named[@]}"; do
			[[ -n ${port_of[$name]+x} ]] || die "--node-conf: the cluster has no node $name"
			[[ -z ${special[$name]+x} ]] || die "--node-conf: node $name is named twice"
			special[$name]=1
		done
		node_line "$(merge_words "$every" "${text#"${text%%[[:space:]]*}"}")" "${named[@]}"
	done
	for name in "${names[@]}"; do
		[[ -n ${special[$name]+x} ]] || rest+=("$name")
	done
	((!${#rest[@]})) || node_line "$every" "${rest[@]}"
}

# merge_words WORDS MORE: Key=Value words; those of MORE replace those of WORDS
merge_words() {
	local word other out=
	for word in $1; do
		for other in $2; do
			[[ ${other%%=*} != "${word%%=*}" ]] || continue 2
		done
		out+="$word "
	done
	printf '%s\n' "$out$2"
}

# node_line WORDS NAME...
node_line() {
	local words=$1 ports=
	shift
	if ((slurmd_ports)); then
		local name
		ports=" Port=$(for name; do echo "${port_of[$name]}"; done | hostlist_compress)"
	fi
	printf 'NodeName=%s NodeAddr=%s%s%s %s\n' \
		"$(printf '%s\n' "$@" | hostlist_compress)" "$(node_addresses "$@")" \
		"$( ((cloud)) || echo " NodeHostname=$(hostname -s)")" "$ports" "$words"
}

# node_addresses NAME...: with a gate each has one of its own, since all gates have the same ports
node_addresses() {
	local name index
	if [[ -z $gate ]]; then
		echo 127.0.0.1
		return
	fi
	for name; do
		index=$((port_of[$name] - port))
		if [[ -n $wire ]]; then
			wire_address $((port_of[$name]))
		else
			printf '127.%d.%d.%d\n' $((port >> 8)) $((port & 255)) "$index"
		fi
	done | hostlist_compress
}

partition_lines() {
	local text
	if ((!${#partition[@]})); then
		printf 'PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n'
		return
	fi
	for text in "${partition[@]}"; do
		[[ ${text,,} == partitionname=* ]] || text="PartitionName=$text"
		printf '%s\n' "$text"
	done
}
