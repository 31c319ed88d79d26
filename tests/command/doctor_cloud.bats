#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# doctor --cloud: what an EC2 that is not there (tests/fake/ec2) says of the nodes' instances

load setup_helpers
bats_require_minimum_version 1.5.0

setup() {
	"${ONESPINE:?}" topology discover --help >/dev/null || skip "this build asks no cloud"
	command -v python3 >/dev/null || skip "python3 is not here"
	make_conf
	unset "${!AWS_@}"
	export HOME=$PWD/home AWS_REGION=us-west-2 AWS_EC2_METADATA_DISABLED=true
	export AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=secret+/
	mkdir home fake
	printf 'i-%d n%d\n' 1 1 2 2 3 3 4 4 >map
	printf '10.0.9.1@tcp:/abcd /fsx lustre rw,flock 0 0\nproc /proc proc rw 0 0\n' >mounts
	state
	"$SOURCE/tests/fake/ec2" fake 2>fake/said &
	fake_pid=$!
	await_while "$fake_pid" test -e fake/port
	AWS_ENDPOINT_URL_EC2=http://127.0.0.1:$(<fake/port)
	export AWS_ENDPOINT_URL_EC2
}

teardown() {
	[[ -z ${fake_pid-} ]] || { kill "$fake_pid"; wait "$fake_pid" || true; } 2>/dev/null
}

# state [JQ]: four instances that are all right, changed by a filter of jq
state() {
	jq "def instance: {id: \"i-\(.)\", type: \"p5.48xlarge\", nodes: [\"nn-t\", \"nn-s\", \"nn-a\"],
		zone: \"us-west-2a\", zone_id: \"usw2-az1\", ip: \"10.0.0.\(.)\", placement: \"pg\", reservation: \"cr-1\"};
		def interface: {id: \"eni-\(.)\", instance: \"i-\(.)\", type: \"efa\", groups: [\"sg-log\", \"sg-efa\"], ip: \"10.0.1.\(.)\"};
		{keys: {AKID: \"secret+/\"}, instances: [range(1; 5) | instance],
		interfaces: ([range(1; 5) | interface] + [{id: \"eni-fsx\", ip: \"10.0.9.1\", zone: \"us-west-2a\"}]),
		rules: [{group: \"sg-efa\", peer: \"sg-efa\"}, {group: \"sg-efa\", peer: \"sg-efa\", egress: true},
			{group: \"sg-log\", cidr: \"0.0.0.0/0\", egress: true}, {group: \"sg-log\", peer: \"sg-log\", protocol: \"tcp\"}],
		reservations: [{id: \"cr-1\", type: \"p5.48xlarge\", match: \"targeted\", total: 4, available: 0}],
		placements: [{name: \"pg\", strategy: \"cluster\"}]} | ${1:-.}" -n >fake/state.new
	mv fake/state.new fake/state.json
}

doctor() {
	onespine doctor --offline --cloud --nodes=map --mounts=mounts "$@"
}

# says JQ FINDING...: with the state so changed, these and no other findings of the cloud
says() {
	state "$1"
	shift
	doctor --json >said || true
	jq -r '.findings[] | select(.name | startswith("cloud")) | .level + " " + .name + ": " + .sentence' said >lines
	diff <(printf '%s\n' "$@" | sed '/^$/d') lines
}

@test "all is right: nothing is found, by calls that only read and that the manual lists" {
	says . ''
	awk '{ print $2 }' fake/calls | sort -u >called
	diff called - <<-END
		DescribeCapacityReservationTopology
		DescribeCapacityReservations
		DescribeInstanceTopology
		DescribeInstances
		DescribeNetworkInterfaces
		DescribePlacementGroups
		DescribeSecurityGroupRules
	END
	sed 's/.*/.It ec2:&/' called >wanted
	diff wanted <(grep '^\.It ec2:' "$SOURCE/man/onespine.1")
}

@test "the security group must let all of its own traffic in and out, by a rule that names it" {
	says '.rules[1].peer = "sg-log"' \
		"wrong cloud-efa: partition gpu: no security group lets EFA traffic pass between all its nodes: sg-log does not let all its own traffic in or out; sg-efa does not let all its own traffic out"
	says '.rules[0].protocol = "tcp"' \
		"wrong cloud-efa: partition gpu: no security group lets EFA traffic pass between all its nodes: sg-log does not let all its own traffic in or out; sg-efa does not let all its own traffic in"
	# an address is no group: EFA's traffic has none
	says '.rules[1] = {group: "sg-efa", cidr: "0.0.0.0/0", egress: true}' \
		"wrong cloud-efa: partition gpu: no security group lets EFA traffic pass between all its nodes: sg-log does not let all its own traffic in or out; sg-efa does not let all its own traffic out"
	says '.interfaces[2].groups = ["sg-log"]' \
		"wrong cloud-efa: partition gpu: no security group lets EFA traffic pass between all its nodes: sg-log does not let all its own traffic in or out; sg-efa is not on all EFA interfaces of n3"
	[[ $(jq -r '.findings[] | select(.name == "cloud-efa").cure' said) == "one group on every EFA interface, with a rule in and a rule out"* ]]
	doctor && false
	[[ $? == 1 ]]
}

@test "an instance without EFA among those with it; a partition without any needs none" {
	says 'del(.interfaces[3])' \
		"wrong cloud-efa: partition gpu: n4 has no EFA interface, others have: a job on both falls back to TCP or fails"
	says '.interfaces = [.interfaces[] | .type = "interface"] | .rules = []' ''
}

@test "a partition in several zones, and a file system in another" {
	says '.instances[3].zone = "us-west-2b"' \
		"warning cloud-zones: partition gpu lies in several zones: us-west-2a has n[1-3], us-west-2b has n4; no gang goes across zones, so one that is larger than the largest zone is refused" \
		"warning cloud-storage: partition gpu: 1 of 4 nodes is not in zone us-west-2a, where the file system of /fsx is: each read crosses zones, which is slower and is paid for"
	# a second partition of the same nodes is not judged again
	cp slurm.conf one.conf
	echo "PartitionName=again Nodes=n[1-4]" >>slurm.conf
	says 'del(.interfaces[4]) | .instances[3].zone = "us-west-2b"' \
		"warning cloud-zones: partition gpu lies in several zones: us-west-2a has n[1-3], us-west-2b has n4; no gang goes across zones, so one that is larger than the largest zone is refused"
	mv one.conf slurm.conf
	# each zone its partition: only storage is left
	sed -i 's/^PartitionName.*/PartitionName=a Nodes=n[1-2]\nPartitionName=b Nodes=n[3-4]/' slurm.conf
	says '.instances[2, 3].zone = "us-west-2b"' \
		"warning cloud-storage: partition b: 2 of 2 nodes are not in zone us-west-2a, where the file system of /fsx is: each read crosses zones, which is slower and is paid for"
}

@test "placement groups: none, several, one that keeps instances apart; a capacity block needs none" {
	says 'del(.instances[].placement)' \
		"warning cloud-placement: partition gpu: its instances with EFA are in no placement group, so EC2 may start them far from each other"
	says '.instances[0].placement = "old"' \
		"warning cloud-placement: partition gpu: its instances with EFA are in several placement groups: old has n1, pg has n[2-4]; EC2 keeps only those of one group near each other"
	says '.placements[0].strategy = "spread"' \
		"warning cloud-placement: placement group pg has the strategy spread, which keeps instances apart"
	says 'del(.instances[].placement) | .instances[].lifecycle = "capacity-block"' ''
}

@test "reservations: open, ended, not used by all, not the one that was meant" {
	says '.reservations[0].match = "open"' \
		"warning cloud-reservation: capacity reservation cr-1 is open: any instance of its type that this account starts takes a place of it"
	says '.reservations[0].state = "expired"' "warning cloud-reservation: capacity reservation cr-1 is expired"
	says 'del(.instances[1, 2].reservation) | .reservations[0].available = 2' \
		"warning cloud-reservation: partition gpu: n[2-3] run outside the capacity reservation cr-1 of the others, which has free places that are paid for"
	state
	run doctor --reservation=cr-1
	[[ $output != *cloud-reservation* ]]
	run doctor --reservation=cr-2
	holds "$output" "wrong: n[1-4]: not in the capacity reservation cr-2 (cloud-reservation)"
}

@test "an action that is denied is named, and what follows from the others is still looked at" {
	says '.faults = [{action: "DescribeSecurityGroupRules", do: "denied"}] | .reservations[0].match = "open"' \
		"warning cloud-calls: EC2 denies DescribeSecurityGroupRules to the environment: its policy must allow ec2:DescribeSecurityGroupRules on resource * (UnauthorizedOperation: You are not authorized to perform this operation.); what depends on it was not looked at" \
		"warning cloud-reservation: capacity reservation cr-1 is open: any instance of its type that this account starts takes a place of it"
	says '.faults = [{action: "DescribeInstances", do: "denied"}]' \
		"wrong cloud-calls: EC2 denies DescribeInstances to the environment: its policy must allow ec2:DescribeInstances on resource * (UnauthorizedOperation: You are not authorized to perform this operation.): no node gets a place from EC2"
	says '.faults = [{action: "DescribeInstanceTopology", do: "denied"}]' \
		"wrong cloud-calls: EC2 denies DescribeInstanceTopology to the environment: its policy must allow ec2:DescribeInstanceTopology on resource * (UnauthorizedOperation: You are not authorized to perform this operation.): no node gets a place from EC2"
}

@test "without keys that is what is said, and nothing else of the cloud" {
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
	doctor --json >said || true
	[[ $(jq -r '[.findings[] | select(.name | startswith("cloud"))] | length' said) == 1 ]]
	[[ $(jq -r '.findings[] | select(.name == "cloud-calls").sentence' said) == *AWS_ACCESS_KEY_ID* ]]
}

@test "nodes by address; an instance that is gone is named, one that is dead at the same address is not taken" {
	printf '10.0.0.%d n%d\n' 1 1 2 2 3 3 4 4 >map
	says '.instances += [{id: "i-old", ip: "10.0.0.1", launched: "2020-01-01T00:00:00.000Z", zone: "us-west-2c"}] | .instances[0].launched = "2026-01-01T00:00:00.000Z"' ''
	says 'del(.instances[3])' "warning cloud-nodes: EC2 knows no running instance of this account and region for n4"
}

@test "answers that are cut, too deep or hold more than was asked end no doctor" {
	for fault in cut deep entity long html empty; do
		for action in DescribeNetworkInterfaces DescribeSecurityGroupRules; do
			state ".faults = [{action: \"$action\", do: \"$fault\"}]"
			doctor --json >said || [[ $? == 1 ]]
			[[ $(jq -r '.findings[] | select(.name == "cloud-calls").sentence' said) == *"$action"* ]]
		done
	done
}

@test "more security groups than an interface may have are refused" {
	says '.interfaces[0].groups = [range(0; 17) | "sg-\(.)"]' \
		"warning cloud-calls: EC2's answer to DescribeNetworkInterfaces:2:1394: more security groups than an interface may have; what depends on it was not looked at"
}

@test "options of --cloud alone are refused; without slurmctld and --nodes it says so" {
	expect 2 "onespine: --nodes goes with --cloud" onespine doctor --offline --nodes=map
	expect 2 "onespine: --mounts goes with --cloud" onespine doctor --offline --mounts=mounts
	expect 2 "onespine: --cloud: slurmctld does not report its nodes; --nodes gives ids their node names" \
		onespine doctor --offline --cloud
}
