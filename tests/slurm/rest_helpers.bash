# SPDX-License-Identifier: GPL-2.0-or-later
# rest_helpers.bash - slurmrestd, started for one request
# shellcheck shell=bash

# rest OPTION...: slurmrestd as an ordinary user, who owns the pipes: from 25.11 on it does not start as root
rest() {
	as_other_user sh -c 'cat | slurmrestd "$@" 2>&1 | cat' slurmrestd "$@"
}

# rest_interface: sets version, the newest that slurmrestd has without slurmdbd, and options that name it
rest_interface() {
	version=$(rest -d list </dev/null | sed -n 's#^.*data_parser/\(v0\.0\.[0-9]*\)$#\1#p' | sort -V | tail -n 1)
	options=(-s slurmctld -d "$version")
	[[ -z $version ]] || return 0
	version=$(rest -s list </dev/null | sed -n 's#^.*openapi/\(v0\.0\.[0-9]*\)$#\1#p' | sort -V | tail -n 1)
	options=(-s "openapi/$version")
}

# rest_submit FIELDS [VARIABLES]: what slurmrestd answers to a job with these fields, and variables of its environment
rest_submit() {
	local body version options
	rest_interface
	body='{"script": "#!/bin/sh\nsleep 1\n", "job": {"name": "rest", "environment": {"PATH": "/bin:/usr/bin"'"${2:+, $2}"'},
		"current_working_directory": "/tmp", "standard_output": "/dev/null", '$1'}}'
	printf 'POST /slurm/%s/job/submit HTTP/1.1\r\nContent-Type: application/json\r\nAccept: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' \
		"$version" "${#body}" "$body" |
		rest -a rest_auth/local "${options[@]}" |
		sed -n '/^{/,/^}/s/^}.*/}/; /^{/,/^}/p'
}

untraced_so_far
