#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# topology discover from an EC2 that is not there (tests/fake/ec2)

load helpers
bats_require_minimum_version 1.5.0

setup() {
	"${ONESPINE:?}" topology discover --help >/dev/null || skip "this build asks no cloud"
	command -v python3 >/dev/null || skip "python3 is not here"
	cd "$BATS_TEST_TMPDIR" || return
	unset "${!AWS_@}"
	export HOME=$PWD/home AWS_REGION=us-west-2 AWS_EC2_METADATA_DISABLED=true
	mkdir home fake
	map 4 >map
	state
}

teardown() {
	end_watch
	[[ -z ${fake_pid-} ]] || { kill "$fake_pid"; wait "$fake_pid" || true; } 2>/dev/null
}

# map COUNT: instances i-1.. are nodes n1..
map() {
	seq "$1" | sed 's/.*/i-& n&/'
}

# state [JQ]: two leaves of two instances each under one spine, changed by a filter of jq
state() {
	jq "${1:-.}" >fake/state.new <<-'END'
		{"keys": {"AKID": "secret+/"}, "instances": [
		 {"id": "i-1", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s", "nn-a"], "zone": "us-west-2a", "zone_id": "usw2-az1", "ip": "10.0.0.1", "launched": "2026-01-01T00:00:00.000Z"},
		 {"id": "i-2", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s", "nn-a"], "zone": "us-west-2a", "zone_id": "usw2-az1", "ip": "10.0.0.2"},
		 {"id": "i-3", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s", "nn-b"], "zone": "us-west-2a", "zone_id": "usw2-az1", "ip": "10.0.0.3"},
		 {"id": "i-4", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s", "nn-b"], "zone": "us-west-2a", "zone_id": "usw2-az1", "ip": "10.0.0.4"}]}
	END
	mv fake/state.new fake/state.json
}

# many COUNT: as many instances, eight a leaf
many() {
	state ".instances = [range(1; $1 + 1) | {id: \"i-\(.)\", nodes: [\"nn-t\", \"nn-s\", \"nn-\((. - 1) / 8 | floor)\"]}]"
	map "$1" >map
}

start() {
	"$SOURCE/tests/fake/ec2" fake 2>fake/said &
	fake_pid=$!
	await_while "$fake_pid" test -e fake/port
	AWS_ENDPOINT_URL_EC2=http://127.0.0.1:$(<fake/port)
	export AWS_ENDPOINT_URL_EC2
}

with_keys() {
	export AWS_ACCESS_KEY_ID=AKID AWS_SECRET_ACCESS_KEY=secret+/
}

discover() {
	onespine topology discover --from=ec2 --nodes=map "$@"
}

# calls WORDS: what was called, without when
calls() {
	cut -d' ' -f2- fake/calls
}

readonly PLACES='"places": [
    {"source": "ec2", "nodes": [
      "n1 i-1 0",
      "n2 i-2 0",
      "n3 i-3 0",
      "n4 i-4 0"]}
  ]'

@test "EC2 is asked by itself; the file says where each place comes from" {
	start
	with_keys
	expect 0 "applied: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	expect_line 0 "4 nodes: 2 leaves of 2, 1 spine of 4, 1 core of 4, 1 zone of 4" onespine topology show t
	[[ $(<t) == *"$PLACES"* ]]
	[[ $(calls) == "DescribeInstanceTopology 4 AKID ok" ]]
	# without -o it goes to standard output, and Slurm's reader gives back the same file
	discover >u
	cmp t u
	onespine topology import --from=onespine t | grep -q '"n3 i-3 0"'
	# the endpoint: EC2's own over that of all services
	local url=$AWS_ENDPOINT_URL_EC2
	AWS_ENDPOINT_URL=http://127.0.0.1:9 discover >u
	cmp t u
	unset AWS_ENDPOINT_URL_EC2
	AWS_ENDPOINT_URL=$url discover >u
	cmp t u
}

@test "an unchanged fabric gives the same bytes; when it was asked stands beside them" {
	start
	with_keys
	discover -o t
	cp -p t first
	grep -qx '[0-9]* n\[1-4\]' t.asked
	expect 0 "unchanged: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	cmp t first
	[[ ! t -nt first && ! t -ot first ]]
}

@test "100 ids a call, a second between calls" {
	many 250
	start
	with_keys
	discover -o t
	expect_line 0 "250 nodes: 32 leaves of 2 to 8, 1 spine of 250, 1 core of 250" onespine topology show t
	[[ $(calls) == "DescribeInstanceTopology 100 AKID ok
DescribeInstanceTopology 100 AKID ok
DescribeInstanceTopology 50 AKID ok" ]]
	# the fake notes when it read a call, which may be late on a busy machine; without a pause it would be some ms
	awk 'NR > 1 && $1 - last < 0.5 { exit 1 } { last = $1 }' fake/calls
}

@test "an address finds the instance that runs there; the one launched last wins" {
	state '.instances += [{"id": "i-old", "ip": "10.0.0.1", "launched": "2025-01-01T00:00:00.000Z", "nodes": ["nn-t", "nn-x", "nn-y"]}, {"id": "i-dead", "ip": "10.0.0.2", "state": "terminated"}]'
	printf '10.0.0.%d n%d\n' 1 1 2 2 3 3 4 4 >map
	start
	with_keys
	discover -o t
	[[ $(<t) == *"$PLACES"* ]]
	[[ $(calls) == "DescribeInstances 4 AKID ok
DescribeInstanceTopology 4 AKID ok" ]]
}

@test "two nodes that are said to be one instance have no place, whatever EC2 answers" {
	start
	with_keys
	printf '%s\n' '10.0.0.1 n1' '10.0.0.2 n2' 'i-3 n3' 'i-2 n4' >map
	run -0 --separate-stderr onespine topology discover --from=ec2 --nodes=map -o t
	[[ $output == "applied: 2 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" ]]
	[[ $stderr == *"warning: nodes n2 and n4 are both said to be instance i-2; both are left out"* ]]
	grep -q '"n1 i-1 0"' t
	grep -q '"n3 i-3 0"' t
	[[ $(<t) != *i-2* ]]
	# also if one of them had a place as that instance, and EC2 answers for all that it has
	map 4 >four
	onespine topology discover --from=ec2 --nodes=four -o u
	grep -q '"n2 i-2 0"' u
	state '.faults = [{action: "DescribeInstanceTopology", do: "more"}]'
	run -3 onespine topology discover --from=ec2 --nodes=map -o u
	[[ $(<u.held) == *'"n3 i-3 0"'* && $(<u.held) != *i-2* ]]
}

@test "throttling is answered with pauses" {
	state '.faults = [{action: "DescribeInstanceTopology", to: 2, do: "throttle"}]'
	start
	with_keys
	discover -o t
	[[ $(calls) == "DescribeInstanceTopology 4 AKID throttle
DescribeInstanceTopology 4 AKID throttle
DescribeInstanceTopology 4 AKID ok" ]]
	awk '{ at[NR] = $1 } END { exit !(at[2] - at[1] >= 1 && at[3] - at[2] >= 2) }' fake/calls
}

@test "a page that fails keeps the others, and the last good places of its own nodes" {
	many 201
	start
	with_keys
	discover -o t
	cp t first
	local first_s
	first_s=$(cut -d' ' -f1 t.asked)
	# the second call fails for good
	jq '.faults = [{action: "DescribeInstanceTopology", from: 5, to: 9, do: "error"}]' fake/state.json >fake/new
	mv fake/new fake/state.json
	discover -o t >said 2>&1
	expect 0 "onespine: warning: 1 call failed, 100 nodes keep the place of the last good answer: EC2 refuses DescribeInstanceTopology again and again: InternalError: An internal error has occurred (HTTP status 500)
unchanged: 201 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" cat said
	cmp t first
	# their places are as old as the answer that had them
	expect 0 "$first_s 100" jq -r --argjson s "$first_s" '[.[] | select(.asked_s == $s)] | "\($s) \(length)"' <(onespine topology show --nodes --json t)

}

@test "an id that EC2 does not know is dropped, and the rest asked again" {
	echo 'i-gone n5' >>map
	start
	with_keys
	expect 0 "onespine: warning: EC2 does not know 1 of the instances
applied: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	[[ $(calls) == "DescribeInstanceTopology 5 AKID InvalidInstanceID.NotFound
DescribeInstanceTopology 4 AKID ok" ]]
}

@test "an instance without network nodes has no place" {
	state '.instances[3].nodes = []'
	start
	with_keys
	expect 0 "onespine: warning: EC2's answer: instance i-4 has no NetworkNodes (it does not run, or its type has none); left out
applied: 3 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
}

@test "a clock that is wrong is reported by the answer's Date" {
	state '.clock_s = -7200'
	start
	with_keys
	discover -o t
	[[ $(calls) == "DescribeInstanceTopology 4 - RequestExpired
DescribeInstanceTopology 4 AKID ok" ]]
	# and with a session token, which is then signed by lib/cloud/sigv4
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_EC2_METADATA_DISABLED
	AWS_EC2_METADATA_SERVICE_ENDPOINT=$AWS_ENDPOINT_URL_EC2 discover -o t
	[[ $(calls | tail -n 1) == "DescribeInstanceTopology 4 ASIA0 ok" ]]
}

@test "keys: environment, then shared files, then container, then the instance's role" {
	start
	unset AWS_EC2_METADATA_DISABLED
	export AWS_EC2_METADATA_SERVICE_ENDPOINT=$AWS_ENDPOINT_URL_EC2
	discover -o t
	[[ $(calls) == "DescribeInstanceTopology 4 ASIA0 ok" ]]
	export AWS_CONTAINER_CREDENTIALS_FULL_URI=$AWS_ENDPOINT_URL_EC2/container
	export AWS_CONTAINER_AUTHORIZATION_TOKEN=container-token
	discover -o t
	[[ $(calls | tail -n 1) == "DescribeInstanceTopology 4 ASIA1 ok" ]]
	mkdir home/.aws
	printf '# mine\n[default]\naws_access_key_id = WRONG\naws_secret_access_key = WRONG\n[team]\naws_access_key_id=AKID\naws_secret_access_key = secret+/\n' >home/.aws/credentials
	AWS_PROFILE=team discover -o t
	[[ $(calls | tail -n 1) == "DescribeInstanceTopology 4 AKID ok" ]]
	expect_line 1 "onespine: EC2 does not take the keys of the shared files (AuthFailure: AWS was not able to validate the provided access credentials)" discover -o t
	with_keys
	discover -o t
	[[ $(calls | tail -n 1) == "DescribeInstanceTopology 4 AKID ok" ]]
}

@test "the region: the environment, the profile, the instance's own" {
	state '.region = "eu-north-1"'
	start
	with_keys
	unset AWS_REGION
	expect_line 1 "onespine: no AWS region: neither AWS_REGION, nor a region in the profile, nor an instance's metadata service that answers" discover -o t
	mkdir home/.aws
	printf '[default]\nregion = eu-north-1\n' >home/.aws/config
	discover -o t
	rm -r home/.aws
	unset AWS_EC2_METADATA_DISABLED
	export AWS_EC2_METADATA_SERVICE_ENDPOINT=$AWS_ENDPOINT_URL_EC2
	discover -o t
	export AWS_REGION=us-west-2
	expect_line 1 "onespine: EC2 does not take the keys of the environment (SignatureDoesNotMatch: Credential should be scoped to a valid region, not us-west-2)" discover -o t
	export AWS_REGION='us west'
	expect_line 1 "onespine: AWS_REGION=us west: a region as us-west-2 is expected" discover -o t
}

@test "keys that expire in the middle of paging are fetched anew" {
	many 250
	jq '.token_calls = 2' fake/state.json >fake/new
	mv fake/new fake/state.json
	start
	unset AWS_EC2_METADATA_DISABLED
	export AWS_EC2_METADATA_SERVICE_ENDPOINT=$AWS_ENDPOINT_URL_EC2
	discover -o t
	expect_line 0 "250 nodes: 32 leaves of 2 to 8, 1 spine of 250, 1 core of 250" onespine topology show t
	[[ $(calls) == "DescribeInstanceTopology 100 ASIA0 ok
DescribeInstanceTopology 100 ASIA0 ok
DescribeInstanceTopology 50 - ExpiredToken
DescribeInstanceTopology 50 ASIA1 ok" ]]
}

@test "a NextToken that has expired: the pages are asked for from the first one on" {
	state '.page = 2 | .faults = [{action: "DescribeInstanceTopology", from: 2, to: 2, do: "stale"}]'
	start
	with_keys
	expect 0 "applied: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	[[ $(cut -d' ' -f5 fake/calls | paste -sd' ') == "ok stale ok ok" ]]
}

@test "a page that is throttled, and then there is no answer: the last good topology stays, and so does when it was asked for" {
	many 102
	start
	with_keys
	discover -o t
	cp t first
	cp t.asked first.asked
	jq '.instances[0].nodes[2] = "nn-1" | .faults = [{action: "DescribeInstanceTopology", from: 4, to: 4, do: "throttle"},
		{action: "DescribeInstanceTopology", from: 5, do: "drop"}]' fake/state.json >fake/new
	mv fake/new fake/state.json
	expect 1 "onespine: EC2 cannot be reached in region us-west-2: $AWS_ENDPOINT_URL_EC2: Empty reply from server" discover -o t
	cmp t first
	cmp t.asked first.asked
}

@test "no keys, half a pair, a role that is not there, a profile by a role: a sentence each" {
	start
	expect 1 "onespine: no AWS credentials: neither AWS_ACCESS_KEY_ID in the environment, nor a profile in ~/.aws, nor a container's endpoint, nor an instance's metadata service that answers" discover -o t
	AWS_ACCESS_KEY_ID=AKID expect 1 "onespine: the environment has only the id of a key pair, not its secret key" discover -o t
	state '.role = false'
	AWS_EC2_METADATA_DISABLED='' AWS_EC2_METADATA_SERVICE_ENDPOINT=$AWS_ENDPOINT_URL_EC2 \
		expect 1 "onespine: this instance has no role; give it one, or keys by the environment or the shared files" discover -o t
	mkdir home/.aws
	printf '[default]\nrole_arn = arn:aws:iam::1:role/x\nsource_profile = y\n' >home/.aws/config
	expect 1 "onespine: profile default gets its keys by role_arn, which is not supported; give keys, or run where the instance's role has the permission" discover -o t
	AWS_PROFILE=none expect 1 "onespine: AWS_PROFILE=none: neither shared file has that profile" discover -o t
	rm home/.aws/config
	AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/ expect 1 "onespine: AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.org/: keys are fetched by https or from this machine only" discover -o t
	[[ ! -e t && ! -e fake/calls ]]
}

@test "a denied call names the exact permission; a region without it is told" {
	state '.faults = [{action: "DescribeInstanceTopology", do: "denied"}]'
	start
	with_keys
	expect 1 "onespine: EC2 denies DescribeInstanceTopology to the environment: its policy must allow ec2:DescribeInstanceTopology on resource * (UnauthorizedOperation: You are not authorized to perform this operation.)" discover -o t
	# where there are places already, they stay, and the file says so, since no node may be launched by it
	state
	discover -o good
	cp good first
	state '.faults = [{action: "DescribeInstanceTopology", do: "denied"}]'
	run -1 discover -o good
	equal_but_unasked 'EC2 denies DescribeInstanceTopology to the environment: its policy must allow ec2:DescribeInstanceTopology on resource *'
	# what a pause may heal says nothing of it, nor does it say that it is over
	state '.faults = [{action: "DescribeInstanceTopology", do: "drop"}]'
	cp good second
	run -1 discover -o good
	cmp good second
	state
	expect 0 "applied: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o good
	cmp good first
	rm fake/calls
	state '.faults = [{action: "DescribeInstanceTopology", do: "unsupported"}]'
	expect_line 1 "onespine: region us-west-2 has no DescribeInstanceTopology (UnsupportedOperation: The functionality you requested is not available in this region.)" discover -o t
	[[ $(calls | wc -l) == 1 ]]
}

# equal_but_unasked WORDS: the file is as it was, and says why nobody can be asked
equal_but_unasked() {
	[[ $(diff first good) == "3a4
>   \"unasked\": \"$1\"," ]]
}

@test "half, empty and hostile answers: a sentence, and the last good topology stays" {
	local what words
	start
	with_keys
	discover -o t
	cp t first
	while IFS='|' read -r what words; do
		state ".faults = [{action: \"DescribeInstanceTopology\", do: \"$what\"}]"
		run -1 onespine topology discover --from=ec2 --nodes=map -o u
		# where in the answer depends on expat
		[[ $output =~ ^"onespine: EC2's answer to DescribeInstanceTopology:"[0-9]+:[0-9]+": $words"$ ]]
		cmp t first
		[[ ! -e u ]]
	done <<-END
		cut|not well-formed XML: unclosed token
		empty|not well-formed XML: no element found
		html|not well-formed XML: mismatched tag
		deep|elements nested deeper than any answer of EC2
		entity|entity declarations are not allowed here
		long|a value longer than any of EC2's
		many|more records than were asked for
	END
	# well-formed, and yet no answer
	while IFS='|' read -r what words; do
		state ".faults = [{action: \"DescribeInstanceTopology\", do: \"$what\"}]"
		expect 1 "onespine: EC2's answer to DescribeInstanceTopology $words" onespine topology discover --from=ec2 --nodes=map -o u
		expect 0 "onespine: warning: 1 call failed, 4 nodes keep the place of the last good answer: EC2's answer to DescribeInstanceTopology $words
unchanged: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" onespine topology discover --from=ec2 --nodes=map -o t
		cmp t first
		[[ ! -e u && ! -e t.held ]]
	done <<-END
		foreign|is <html>, and not <DescribeInstanceTopologyResponse>: not from EC2
		nothing|says nothing of the 4 instances that were asked about
	END
	state '.faults = [{action: "DescribeInstanceTopology", do: "drop"}]'
	run -1 onespine topology discover --from=ec2 --nodes=map -o t
	[[ $output == "onespine: EC2 cannot be reached in region us-west-2: http://127.0.0.1:"*": Empty reply from server" ]]
	cmp t first
}

@test "an answer that takes places away is held; accept takes it" {
	start
	with_keys
	discover -o t
	cp t first
	state '.instances |= map(.nodes = [])'
	expect_line 1 "onespine: nothing is left to import" discover -o t
	state '.instances[0].nodes = []'
	discover -o t >said 2>/dev/null && status=0 || status=$?
	[[ $status == 3 ]]
	cmp t first
	discover --json -o t 2>/dev/null >j || true
	expect 0 '["held",4,1,0,"1 of 4 nodes that run lose their place (n1 is the first); max_lost is 10 %"]' \
		jq -c '[.result, .counted, .lost, .moved, .why]' j
	expect 0 "t: the answer that was held is in force" onespine topology accept t
	expect_line 0 "3 nodes: 2 leaves of 1 to 2, 1 spine of 3, 1 core of 3, 1 zone of 3" onespine topology show t
	expect 0 "t: no answer is held" onespine topology accept t
	# another leaf: moved; another name of the same leaf: not
	state '.instances[0].nodes = [] | .instances[1].nodes[2] = "nn-b"'
	run -3 onespine topology discover --from=ec2 --nodes=map -o t
	[[ $output == *"1 of 3 nodes that run move to another domain (n2 is the first); max_moved is 10 %"* ]]
	state '.instances[0].nodes = [] | .instances[1].nodes[2] = "nn-z"'
	expect_line 0 "applied: 3 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" discover -o t
	[[ ! -e t.held ]]
}

@test "levels are compared by their names: one that comes or goes with its nodes holds nothing" {
	local ultra='. + [{id: "i-21", nodes: ["nn-u", "nn-v", "nn-w"], block: "cb-1"}]'
	many 20
	start
	with_keys
	discover -o t
	state ".instances = ([range(1; 21) | {id: \"i-\(.)\", nodes: [\"nn-t\", \"nn-s\", \"nn-\((. - 1) / 8 | floor)\"]}] | $ultra)"
	map 21 >map
	expect_line 0 "applied: 21 nodes have a place; 1 gained one, 0 lost theirs, 0 moved" discover -o t
	[[ $(onespine topology show t) == *nvlink* ]]
	many 20
	expect_line 0 "applied: 20 nodes have a place; 0 gained one, 1 lost theirs, 0 moved" discover -o t
	[[ $(onespine topology show t) != *nvlink* ]]
	# a level that all lose is held, and named; so is one that other nodes keep
	state '.instances = [range(1; 21) | {id: "i-\(.)", nodes: ["nn-s", "nn-\((. - 1) / 8 | floor)"]}]'
	run -3 onespine topology discover --from=ec2 --nodes=map -o t
	[[ $output == *"20 of 20 nodes that run lose their domain of level core (n1 is the first); max_lost is 10 %"* ]]
}

@test "a level that nodes lose alone is held and named, whoever keeps it: nvlink and layer4" {
	# eight p6-b200 with a layer4, in UltraServers of four, beside twelve with three layers
	local deep='[range(1; 9) | {id: "i-\(.)", type: "p6-b200.48xlarge", nodes: ["nn-q", "nn-t", "nn-s", "nn-0"], block: "cb-\((. - 1) / 4 | floor)"}]'
	local flat='[range(9; 21) | {id: "i-\(.)", nodes: ["nn-u", "nn-v", "nn-1"]}]'
	many 20
	start
	with_keys
	state ".instances = $deep + $flat"
	discover -o t
	expect_line 0 "20 nodes: 2 nvlinks of 4, 2 leaves of 8 to 12, 2 spines of 8 to 12, 2 cores of 8 to 12, 1 layer4 of 8" \
		onespine topology show t
	# half of the UltraServers
	state ".instances = ($deep | map(if .block == \"cb-1\" then del(.block) else . end)) + $flat"
	run -3 onespine topology discover --from=ec2 --nodes=map -o t
	[[ $output == *": 4 of 20 nodes that run lose their domain of level nvlink (n5 is the first); max_lost is 10 %;"* ]]
	onespine topology show t.held | grep -q "^20 nodes: 1 nvlink of 4, "
	# layer4, which nobody keeps
	state ".instances = ($deep | map(.nodes |= .[1:])) + $flat"
	run -3 onespine topology discover --from=ec2 --nodes=map -o t
	[[ $output == *": 8 of 20 nodes that run lose their domain of level layer4 (n1 is the first); max_lost is 10 %;"* ]]
	# both, and two nodes everything
	state ".instances = ($deep | map(.nodes |= .[1:] | del(.block))) + ($flat | .[:10]) + ($flat | .[10:] | map(.nodes = []))"
	run -3 onespine topology discover --from=ec2 --nodes=map -o t
	[[ $output == *": 10 of 20 nodes that run lose a domain (n1 is the first): 2 of every level, 8 of level nvlink, 8 of level layer4; max_lost is 10 %;"* ]]
	expect_line 0 "20 nodes: 2 nvlinks of 4, 2 leaves of 8 to 12, 2 spines of 8 to 12, 2 cores of 8 to 12, 1 layer4 of 8" \
		onespine topology show t
}

@test "onespine.yaml says who is asked, and which answers are held" {
	mkdir conf
	: >conf/slurm.conf
	export SLURM_CONF=$PWD/conf/slurm.conf
	start
	with_keys
	expect 2 "onespine: --from is needed, or watch.from in onespine.yaml: ec2, infiniband, nvlink or topograph:/path" \
		onespine topology discover --nodes=map -o t
	printf 'watch:\n  from: ec2\n  max_lost: 25\n' >conf/onespine.yaml
	expect 0 "applied: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" \
		onespine topology discover --nodes=map -o t
	state '.instances[0].nodes = []'
	expect_line 0 "applied: 3 nodes have a place; 0 gained one, 1 lost theirs, 0 moved" \
		onespine topology discover --nodes=map -o t
	state '.instances[0].nodes = [] | .instances[1].nodes = []'
	run -3 onespine topology discover --nodes=map -o t
	[[ $output == *"max_lost is 25 %"* ]]
	printf 'watch:\n  from: ec3\n' >conf/onespine.yaml
	expect 2 "onespine: $PWD/conf/onespine.yaml:2:9: from: ec3: not one of ec2,infiniband,nvlink,topograph; did you mean ec2?" \
		onespine topology watch --nodes=map -o t
	printf 'watch:\n  form: ec2\n' >conf/onespine.yaml
	expect 2 "onespine: $PWD/conf/onespine.yaml:2:3: unknown key 'form'; did you mean from?" \
		onespine topology watch --nodes=map -o t
}

@test "the unit's watch goes by watch.from" {
	local command words
	mkdir conf
	: >conf/slurm.conf
	export SLURM_CONF=$PWD/conf/slurm.conf
	start
	with_keys
	printf 'watch: {from: ec2}\n' >conf/onespine.yaml
	command=$(sed -n 's/^ExecStart=[^ ]*onespine //p' "$SOURCE/etc/systemd/onespine-topology-watch.service.in")
	# its words as systemd makes them of an empty variable
	read -ra words <<<"${command//\$WATCH_OPTIONS/}"
	"$ONESPINE" "${words[@]}" --nodes=map -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid grep -qx applied journal
	watch_ends
	expect_line 0 "4 nodes: 2 leaves of 2, 1 spine of 4, 1 core of 4, 1 zone of 4" onespine topology show t
}

@test "the watch asks at once about a new instance, and forgets the old one's place first" {
	start
	with_keys
	"$ONESPINE" topology watch --from=ec2 --nodes=map --interval=1 -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid grep -qx applied journal
	# nobody can send it anything: it has no port
	[[ -z $(ss -Hlntup | grep "pid=$watch_pid,") ]]
	expect_line 0 "4 nodes: 2 leaves of 2, 1 spine of 4, 1 core of 4, 1 zone of 4" onespine topology show t
	# n1 is launched anew, and EC2 denies its place
	state '.instances[0].id = "i-9" | .faults = [{action: "DescribeInstanceTopology", do: "denied"}]'
	sed 's/i-1 /i-9 /' map >map.new && mv map.new map
	# a round between the two changes is denied, too, and finds no new instance
	await_while $watch_pid grep -qx 'place unknown: 1 node is another instance than the one placed' journal
	failed_after() { sed '1,/^place unknown/d' journal | grep -q '^failed'; }
	await_while $watch_pid failed_after
	[[ -z $(grep '^failed' journal | grep -v '^failed, the last good one stays: EC2 denies DescribeInstanceTopology') ]]
	expect_line 0 "3 nodes: 2 leaves of 1 to 2, 1 spine of 3, 1 core of 3, 1 zone of 3" onespine topology show t
	state '.instances[0].id = "i-9"'
	await_while $watch_pid line_count 2 -x applied journal
	grep -q '"n1 i-9 0"' t
	watch_ends
}

@test "the watch forgets the place of an instance, and not that EC2 may not be asked" {
	start
	with_keys
	discover -o t
	state '.faults = [{action: "DescribeInstanceTopology", do: "denied"}]'
	run -1 discover -o t
	grep -q '"unasked"' t
	state '.instances[0].id = "i-9" | .faults = [{action: "DescribeInstanceTopology", do: "drop"}]'
	sed 's/i-1 /i-9 /' map >map.new && mv map.new map
	"$ONESPINE" topology watch --from=ec2 --nodes=map --interval=1 -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid grep -q '^failed' journal
	grep -qx 'place unknown: 1 node is another instance than the one placed' journal
	grep -q '"unasked"' t
	watch_ends
}

@test "what an answer lacks is in the watch's journal, once until it came back" {
	local line="warning: EC2's answer: instance i-4 has no NetworkNodes (it does not run, or its type has none); left out"
	asked() {
		calls | grep -c DescribeInstanceTopology
	}
	asked_thrice() {
		[[ -e fake/calls ]] && (($(asked) >= 3))
	}
	start
	with_keys
	state '.instances[3].nodes = []'
	"$ONESPINE" topology watch --from=ec2 --nodes=map --interval=1 -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid asked_thrice
	[[ $(grep -cxF "$line" journal) == 1 ]]
	state
	await_while $watch_pid grep -qx applied journal
	state '.instances[3].nodes = []'
	await_while $watch_pid line_count 2 -xF "$line" journal
	watch_ends
}

@test "the watch asks again soon about a node that has just booted and that EC2 does not place yet" {
	start
	with_keys
	state '.instances[0].nodes = []'
	"$ONESPINE" topology watch --from=ec2 --nodes=map --interval=300 -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid grep -qx 'applied: 1 node booted a short time ago and has no place yet' journal
	state
	await_while $watch_pid grep -qx applied journal
	grep -q '"n1 i-1 0"' t
	watch_ends
}

@test "reports: EC2 is asked at once for the first, and then no more often than the pauses allow, however many come" {
	local port end before
	mkdir conf
	: >conf/slurm.conf
	export SLURM_CONF=$PWD/conf/slurm.conf
	start
	with_keys
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])')
	printf 'watch: {report_port: %s}\n' "$port" >conf/onespine.yaml
	"$ONESPINE" topology watch --from=ec2,nvlink --nodes=map --interval=60 -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid grep -q '^applied' journal
	asked() {
		calls | grep -c DescribeInstanceTopology
	}
	asked_more() { (($(asked) > before)); }
	asked_or_late() { asked_more || ((SECONDS >= end)); }
	before=$(asked)
	# a node has told something new of itself (host/report/listen.c raises this signal)
	kill -USR1 $watch_pid
	await_while $watch_pid asked_more
	(($(asked) == before + 1))
	# 16 s of news: after 5 and 10 more seconds it is asked again, and in between never
	end=$((SECONDS + 16))
	while ((SECONDS < end)); do
		kill -USR1 $watch_pid
		read -rt 0.05 <> <(:) || true
	done
	(($(asked) >= before + 3))
	(($(asked) <= before + 4))
	# the last report is not forgotten: a pause is 12 s at most
	before=$(asked)
	end=$((SECONDS + 30))
	await_while $watch_pid asked_or_late
	asked_more
	watch_ends
}

@test "a user: no file of it is his to write, his locks keep nobody, and his own run changes nothing" {
	local holder nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	((!EUID)) || skip "as root"
	"${nobody[@]}" test -x "$ONESPINE" || skip "this build is not for others to run"
	start
	with_keys
	mkdir -m 755 etc
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR"/{.,..}
	(umask 022 && discover -o etc/t && state 'del(.instances[0:2])' && discover -o etc/t) || true # one is applied, one is held
	[[ -s etc/t && -s etc/t.asked && -s etc/t.held ]]
	[[ -z $(find etc -perm /022) ]]
	# he holds every lock that he can have
	# shellcheck disable=SC2016
	"${nobody[@]}" bash -c 'for file in etc etc/*; do exec {held}<"$file" && flock --nonblock "$held"; done; echo held >&3; sleep 60' \
		3>"$BATS_TEST_TMPDIR/held" &
	holder=$!
	await_while $holder test -s held
	cp -p etc/t first
	local file
	for file in t new; do
		run "${nobody[@]}" env "AWS_ENDPOINT_URL_EC2=$AWS_ENDPOINT_URL_EC2" "$ONESPINE" topology discover --from=ec2 --nodes=map -o "etc/$file"
		echo "$output"
		((status != 0))
	done
	[[ $output == *'Permission denied'* && ! -e etc/new ]]
	run "${nobody[@]}" "$ONESPINE" topology accept etc/t
	echo "$output"
	((status != 0)) && [[ $output == *'Permission denied'* ]]
	cmp etc/t first
	state
	expect 0 "unchanged: 4 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" timeout 20 "$ONESPINE" topology discover --from=ec2 --nodes=map -o etc/t
	kill $holder
}

# sweep LEAF...: what ibnetdiscover prints of leaves below one spine; a LEAF is the numbers of its hosts, as 5,6
sweep() {
	local leaf leaf_number=0 host port=0
	mkdir -p bin
	# shellcheck disable=SC2016
	printf '#!/bin/sh\n[ -s "%s/sweep.txt" ] || { echo "no umad here" >&2; exit 1; }\ncat "%s/sweep.txt"\n' "$PWD" "$PWD" >bin/ibnetdiscover
	chmod 755 bin/ibnetdiscover
	[[ $PATH == "$PWD/bin:"* ]] || PATH=$PWD/bin:$PATH
	{
		printf 'switchguid=0xaa(aa)\nSwitch\t65 "S-00000000000000aa"\t\t# "spine" enhanced port 0 lid 60 lmc 0\n'
		for leaf; do
			printf '[%d]\t"S-00000000000000a%d"[33]\t\t# "leaf" lid 1 4xNDR\n' $((++port)) "$port"
		done
		for leaf; do
			printf '\nswitchguid=0xa%d(a%d)\nSwitch\t65 "S-00000000000000a%d"\t\t# "leaf" enhanced port 0 lid 1 lmc 0\n' \
				$((++leaf_number)) "$leaf_number" "$leaf_number"
			for host in ${leaf//,/ }; do
				printf '[%d]\t"H-00000000000000b%d"[1](b%d) \t\t# "n%d mlx5_0" lid 4 4xNDR\n' "$host" "$host" "$host" "$host"
			done
			printf '[33]\t"S-00000000000000aa"[%d]\t\t# "spine" lid 60 4xNDR\n' "$leaf_number"
			for host in ${leaf//,/ }; do
				printf '\ncaguid=0xb%d\nCa\t1 "H-00000000000000b%d"\t\t# "n%d mlx5_0"\n' "$host" "$host" "$host"
				printf '[1](b%d) \t"S-00000000000000a%d"[%d]\t\t# lid 4 lmc 0 "leaf" lid 1 4xNDR\n' "$host" "$leaf_number" "$host"
			done
		done
	} >sweep.new
	mv sweep.new sweep.txt
}

readonly PLACES_EC2='{"source": "ec2", "nodes": [
      "n1 i-1 0",
      "n2 i-2 0",
      "n3 i-3 0",
      "n4 i-4 0"]},'

several() {
	onespine topology discover --from=ec2,infiniband --nodes=map "$@"
}

# EC2 knows n1 to n4, InfiniBand n5 to n8
both() {
	printf 'n%s n%s\n' 5 5 6 6 7 7 8 8 >>map
	sweep 5,6 7,8
	start
	with_keys
}

@test "InfiniBand: GUIDs as sysfs writes them name nodes; a map that names no adapter says which word is none" {
	sweep 5,6 7
	sed 's/"n\([0-9]\) mlx5_0"/"MT4129 ConnectX7 Mellanox"/' sweep.txt >nameless
	mv nameless sweep.txt
	printf '0000:0000:0000:00b%d n%d\n' 5 5 6 6 7 7 >map
	expect 0 "applied: 3 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" \
		onespine topology discover --from=infiniband --nodes=map -o t
	cmp <(onespine topology discover --from=infiniband --nodes=map) t
	printf '0000:0000:0000 n5\n' >map
	run -1 --separate-stderr onespine topology discover --from=infiniband --nodes=map -o t
	[[ $stderr == *"onespine: the list of nodes: no adapter of this fabric is in this map; '0000:0000:0000' is neither a GUID, as e09d:7303:0085:8d88 or"* ]]
}

@test "InfiniBand: a sweep that is cut is refused, and the last good answer stays" {
	printf 'n%s n%s\n' 5 5 6 6 7 7 >map
	sweep 5,6 7
	onespine topology discover --from=infiniband --nodes=map -o t
	cp t first
	sed -n '/"H-00000000000000b7"\t\t#/q; p' sweep.txt >sweep.cut
	mv sweep.cut sweep.txt
	run -1 --separate-stderr onespine topology discover --from=infiniband --nodes=map -o t
	[[ $stderr == *"onespine: ibnetdiscover:"*"H-00000000000000b7 'n7 mlx5_0' is linked but has no entry of its own: the output is cut" ]]
	cmp t first
	[[ ! -e t.held ]]
}

@test "several sources: one topology; who is in both stands where the first says" {
	both
	several -o t 2>said
	expect_line 0 "8 nodes: 4 leaves of 2, 2 spines of 4, 1 core of 4, 1 zone of 4" onespine topology show t
	[[ $(<t) == *"$PLACES_EC2"*'{"source": "infiniband", "nodes": "n[5-8]"}'* ]]
	cp t first
	expect_line 0 "unchanged: 8 nodes have a place; 0 gained one, 0 lost theirs, 0 moved" several -o t 2>said
	cmp t first
	several >printed 2>said
	cmp printed first
	# n4 has an adapter too
	sweep 4,5,6 7,8
	several -o u 2>said
	[[ $(<u) == *'"n4 i-4 0"'* ]]
	expect_line 0 "8 nodes: 4 leaves of 2, 2 spines of 4, 1 core of 4, 1 zone of 4" onespine topology show u
	onespine topology discover --from=infiniband,ec2 --nodes=map -o v 2>said
	expect_line 0 "8 nodes: 4 leaves of 1 to 3, 2 spines of 3 to 5, 1 core of 3, 1 zone of 3" onespine topology show v
}

@test "several sources: the answer of one is held, and that of the other counts; accept takes both" {
	both
	several -o t 2>said
	state '.instances[0].nodes = []'
	sweep 5,6 7,8,9
	printf 'n9 n9\n' >>map
	several -o t >said 2>&1 && status=0 || status=$?
	[[ $status == 3 ]]
	[[ $(<said) == *"held, the last good answer stays in force: ec2: 1 of 4 nodes that run lose their place (n1 is the first); max_lost is 10 %"* ]]
	expect_line 0 "9 nodes: 4 leaves of 2 to 3, 2 spines of 4 to 5, 1 core of 4, 1 zone of 4" onespine topology show t
	expect_line 0 "8 nodes: 4 leaves of 1 to 3, 2 spines of 3 to 5, 1 core of 3, 1 zone of 3" onespine topology show t.held
	expect 0 "t: the answer that was held is in force" onespine topology accept t
	expect_line 0 "8 nodes: 4 leaves of 1 to 3, 2 spines of 3 to 5, 1 core of 3, 1 zone of 3" onespine topology show t
	# and the other way round
	sweep 5
	several -o t >said 2>&1 && status=0 || status=$?
	[[ $status == 3 ]]
	[[ $(<said) == *"infiniband: 4 of 5 nodes that run lose their place"* ]]
	# a level that the nodes of another source keep
	sweep 5,6 7,8,9
	state '.instances[0].nodes = [] | .instances[].nodes[0:2] = []'
	several -o t >said 2>&1 && status=0 || status=$?
	[[ $status == 3 ]]
	[[ $(<said) == *"ec2: 3 of 3 nodes that run lose a domain (n2 is the first): 3 of level spine, 3 of level core;"* ]]
}

@test "several sources: one that fails keeps its places, and the others are asked all the same" {
	both
	several -o t 2>said
	: >sweep.txt
	state '.instances[3].nodes[2] = "nn-c"'
	printf 'watch: {from: "ec2,infiniband", max_moved: 50}\n' >onespine.yaml
	: >slurm.conf
	SLURM_CONF=$PWD/slurm.conf onespine topology discover --nodes=map -o t >said 2>&1 && status=0 || status=$?
	[[ $status == 1 ]]
	[[ $(<said) == *"infiniband: "*"no umad here"* ]]
	expect_line 0 "8 nodes: 5 leaves of 1 to 2, 2 spines of 4, 1 core of 4, 1 zone of 4" onespine topology show t
	# both fail
	cp t first
	state '.faults = [{action: "DescribeInstanceTopology", do: "denied"}]'
	several -o t >said 2>&1 && status=0 || status=$?
	[[ $status == 1 ]]
	[[ $(<said) == *"ec2: EC2 denies DescribeInstanceTopology"* ]]
	grep -q '^  "unasked": "EC2 denies DescribeInstanceTopology' t
	cmp first <(grep -v '^  "unasked"' t)
	# EC2 cannot be reached: that says nothing of it
	state '.faults = [{action: "DescribeInstanceTopology", do: "drop"}]'
	cp t second
	several -o t >said 2>&1 && status=0 || status=$?
	[[ $status == 1 ]]
	cmp t second
	several >printed 2>said && status=0 || status=$?
	[[ $status == 1 && ! -s printed ]]
	expect 2 "onespine: --from=ec2,ec2: ec2 is there twice" onespine topology discover --from=ec2,ec2
	run -2 onespine topology discover --from=ec2,
	[[ $output == "onespine: --from=: not one of ec2,infiniband,nvlink,topograph"* ]]
}

@test "several sources: the watch asks all of them" {
	both
	"$ONESPINE" topology watch --from=ec2,infiniband --nodes=map --interval=1 -o t >journal 2>&1 3>&- &
	watch_pid=$!
	await_while $watch_pid grep -qx applied journal
	expect_line 0 "8 nodes: 4 leaves of 2, 2 spines of 4, 1 core of 4, 1 zone of 4" onespine topology show t
	: >sweep.txt
	await_while $watch_pid grep -q '^failed, the last good one stays: infiniband: ' journal
	expect_line 0 "8 nodes: 4 leaves of 2, 2 spines of 4, 1 core of 4, 1 zone of 4" onespine topology show t
	watch_ends
}

@test "survey: which gangs reservations can hold on one spine, before anything is launched" {
	state '.reservations = [
		{"id": "cr-1", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s"], "total": 20},
		{"id": "cr-2", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s", "nn-a"], "total": 4},
		{"id": "cr-3", "type": "p6-b200.48xlarge", "nodes": ["nn-t", "nn-x", "nn-y"], "total": 9, "state": "pending",
		 "starts": "2026-12-01T11:30:00.000Z", "ends": "2026-12-15T11:30:00.000Z"},
		{"id": "cr-4", "type": "p5.48xlarge", "nodes": ["nn-t"], "total": 64}]'
	export TZ=UTC
	start
	with_keys
	expect 0 "cr-1: 20 of p5.48xlarge, active, on spine nn-s
cr-2: 4 of p5.48xlarge, active, on spine nn-s
cr-3: 9 of p6-b200.48xlarge, pending, on spine nn-y, from 2026-12-01T11:30:00, jobs until 2026-12-15T11:00:00
cr-4: 64 of p5.48xlarge, active, on no known spine
the largest gang on one spine: 24 nodes
gangs of 1: 33
gangs of 2: 16
gangs of 4: 8
gangs of 8: 4
gangs of 16: 1" onespine topology survey --reservation=cr-1,cr-2,cr-3,cr-4
	expect_line 1 "the largest gang on one spine: 0 nodes" onespine topology survey --reservation=cr-4
	expect 0 '{"1":24,"2":12,"4":6,"8":3,"16":1}' jq -c .gangs <(onespine topology survey --json --reservation=cr-1,cr-2)
	expect_line 1 "cr-9: EC2 does not know it" onespine topology survey --reservation=cr-9
	# what other instances use holds no gang; a block that has not begun has nothing free yet
	state '.reservations = [
		{"id": "cr-1", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s"], "total": 20, "available": 8},
		{"id": "cr-2", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-x"], "total": 4, "available": 0, "state": "scheduled"}]'
	expect 0 "cr-1: 20 of p5.48xlarge, 8 of them free, active, on spine nn-s
cr-2: 4 of p5.48xlarge, scheduled, on spine nn-x
the largest gang on one spine: 8 nodes
gangs of 1: 12
gangs of 2: 6
gangs of 4: 3
gangs of 8: 1" onespine topology survey --reservation=cr-1,cr-2
	expect 0 '[[20,8],[4,4]]' jq -c '[.reservations[] | [.instances, .free]]' <(onespine topology survey --json --reservation=cr-1,cr-2)
	# nor does one that has ended, whatever EC2 still counts in it
	state '.reservations = [
		{"id": "cr-1", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s"], "total": 20, "state": "expired"},
		{"id": "cr-2", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s"], "total": 8, "available": 8, "ends": "2026-01-01T11:30:00.000Z"},
		{"id": "cr-3", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s"], "total": 4, "available": 4, "state": "cancelled"},
		{"id": "cr-4", "type": "p5.48xlarge", "nodes": ["nn-t", "nn-s"], "total": 4, "available": 2}]'
	expect 0 "cr-1: 20 of p5.48xlarge, 0 of them free, expired, on spine nn-s
cr-2: 8 of p5.48xlarge, 0 of them free, active, on spine nn-s, jobs until 2026-01-01T11:00:00
cr-3: 4 of p5.48xlarge, 0 of them free, cancelled, on spine nn-s
cr-4: 4 of p5.48xlarge, 2 of them free, active, on spine nn-s
the largest gang on one spine: 2 nodes
gangs of 1: 2
gangs of 2: 1" onespine topology survey --reservation=cr-1,cr-2,cr-3,cr-4
	expect 0 '[[20,0],[8,0],[4,0],[4,2]]' jq -c '[.reservations[] | [.instances, .free]]' <(onespine topology survey --json --reservation=cr-1,cr-2,cr-3,cr-4)
	state '.faults = [{action: "DescribeCapacityReservations", do: "denied"}]'
	expect_line 2 "onespine: EC2 denies DescribeCapacityReservations to the environment: its policy must allow ec2:DescribeCapacityReservations on resource * (UnauthorizedOperation: You are not authorized to perform this operation.)" onespine topology survey --reservation=cr-1
}

@test "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: the region's own endpoint is asked" {
	with_keys
	start
	# nothing leaves this machine: its proxy is a port on which nobody listens
	export https_proxy=http://127.0.0.1:9 AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true
	run -1 discover -o t
	[[ $output == *'EC2 cannot be reached in region us-west-2: https://ec2.us-west-2.amazonaws.com/: '*' 127.0.0.1 port 9 '* ]] ||
		fail "$output"
	[[ ! -e fake/calls ]] || fail "$(<fake/calls)"
}

@test "libcurl is loaded when EC2 is asked: without it that call says so, and the rest works" {
	with_keys
	mkdir lib
	: >lib/libcurl.so.4
	export LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	run -0 onespine --version
	start
	expect 1 "onespine: EC2 is asked over libcurl: $PWD/lib/libcurl.so.4: file too short" discover -o t
	[[ ! -e t ]] || fail "$(<t)"
	[[ ! -e fake/calls ]] || fail "$(<fake/calls)"
}
