/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw.c - a client of a user's own, which says what sbatch would never say
 *
 *	raw [-u JOB] FIELD=NUMBER... [tres_per_socket=WORDS] [admin_comment=WORDS]
 *		[exc_nodes=COUNT*NAME] [req_nodes=COUNT*NAME]
 *
 * Submits a job of one sleep, or changes JOB, with these fields of its description as they are
 * given; prints the job's number, or what slurmctld answers. For tests alone.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#define FIELD(name)                                                                                \
	{                                                                                          \
#name, offsetof(job_desc_msg_t, name), sizeof(((job_desc_msg_t *)0)->name)         \
	}

static const struct {
	const char *name;
	size_t offset, bytes;
} fields[] = {
	FIELD(contiguous),	  FIELD(core_spec),	   FIELD(cores_per_socket),
	FIELD(cpus_per_task),	  FIELD(het_job_offset),   FIELD(max_cpus),
	FIELD(max_nodes),	  FIELD(min_cpus),	   FIELD(min_nodes),
	FIELD(ntasks_per_board),  FIELD(ntasks_per_core),  FIELD(ntasks_per_node),
	FIELD(ntasks_per_socket), FIELD(ntasks_per_tres),  FIELD(num_tasks),
	FIELD(overcommit),	  FIELD(plane_size),	   FIELD(pn_min_cpus),
	FIELD(pn_min_memory),	  FIELD(req_switch),	   FIELD(shared),
	FIELD(sockets_per_board), FIELD(sockets_per_node), FIELD(task_dist),
	FIELD(threads_per_core),
};

/* Returns the name of "COUNT*NAME" so many times, with commas. */
static char *many(const char *words)
{
	char *name, *list;
	size_t count = strtoul(words, &name, 10), length = strlen(++name);

	list = malloc(count * (length + 1) + 1);
	for (size_t i = 0; list && i < count; i++)
		sprintf(list + i * (length + 1), "%s,", name);
	return list;
}

static int set(job_desc_msg_t *job, const char *assignment)
{
	size_t length = strcspn(assignment, "=");
	unsigned long long value;

	if (!assignment[length])
		return -1;
	if (!strncmp(assignment, "tres_per_socket=", length + 1)) {
		job->tres_per_socket = strdup(assignment + length + 1);
		return 0;
	}
	if (!strncmp(assignment, "admin_comment=", length + 1)) {
		job->admin_comment = strdup(assignment + length + 1);
		return 0;
	}
	if (!strncmp(assignment, "exc_nodes=", length + 1)) {
		job->exc_nodes = many(assignment + length + 1);
		return 0;
	}
	if (!strncmp(assignment, "req_nodes=", length + 1)) {
		job->req_nodes = many(assignment + length + 1);
		return 0;
	}
	value = strtoull(assignment + length + 1, NULL, 0);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (strncmp(assignment, fields[i].name, length) || fields[i].name[length])
			continue;
		/* little endian: the value's first bytes are its lowest */
		memcpy((char *)job + fields[i].offset, &value, fields[i].bytes);
		return 0;
	}
	return -1;
}

int main(int count, char **arguments)
{
	char path[] = "PATH=/usr/bin:/bin", script[] = "#!/bin/sh\nexec sleep 600\n";
	char *environment[] = {path, NULL}, folder[] = "/", out[] = "/dev/null";
	submit_response_msg_t *answer = NULL;
	job_desc_msg_t job;
	int first = 1, rc;

	slurm_init_job_desc_msg(&job);
	if (count > 2 && !strcmp(arguments[1], "-u")) {
		job.job_id = strtoul(arguments[2], NULL, 10);
		first = 3;
	} else {
		job.user_id = getuid();
		job.group_id = getgid();
		job.environment = environment;
		job.env_size = 1;
		job.script = script;
		job.work_dir = folder;
		job.std_out = job.std_err = out;
		job.min_nodes = 1;
	}
	for (int i = first; i < count; i++) {
		if (set(&job, arguments[i])) {
			fprintf(stderr, "raw: what is %s?\n", arguments[i]);
			return 2;
		}
	}
	rc = first == 3 ? slurm_update_job(&job) : slurm_submit_batch_job(&job, &answer);
	if (rc) {
		fprintf(stderr, "raw: %s%s%s\n", slurm_strerror(errno),
			answer && answer->job_submit_user_msg ? ": " : "",
			answer && answer->job_submit_user_msg ? answer->job_submit_user_msg : "");
		return 1;
	}
	printf("%u\n", answer ? answer->job_id : job.job_id);
	return 0;
}
