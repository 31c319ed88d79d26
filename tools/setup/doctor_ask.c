/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_ask.c - what a running slurmctld says of itself
 *
 * A child asks and writes a line a value; what libslurm complains about comes through the same pipe.
 * Whether the shadow is at work is asked with a job that is never submitted: REQUEST_JOB_WILL_RUN goes
 * through job_submit, and a --gang that cannot be read is refused there with EINVAL, which stock Slurm
 * has no reason for. job_submit_onespine.so is there only when the shadow answers it (doc/architecture.md).
 */
#include "onespine_config.h"
#include "tools/setup/doctor.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/policy/request.h"

#define LIMIT_S	   30
#define VALUE_MARK '\1'		      /* starts a line of ours; others are libslurm's */
#define PROBE	   "@onespine-doctor" /* no level and no time */

/* --- the child ---------------------------------------------------------------------------------- */

static void tell(const char *key, const char *value)
{
	printf("%c%s=%s\n", VALUE_MARK, key, value ? value : "");
}

static const char *probe(void)
{
	char entry[] = OSP_SPANK_GANG PROBE;
	char *environment[2] = {entry, NULL};
	will_run_response_msg_t *response = NULL;
	job_desc_msg_t job;
	int result;

	slurm_init_job_desc_msg(&job);
	job.name = (char *)"onespine-doctor";
	job.script = (char *)"#!/bin/true\n";
	job.work_dir = (char *)"/";
	job.user_id = getuid();
	job.group_id = getgid();
	job.min_nodes = 2;
	job.max_nodes = 2;
	job.spank_job_env = environment;
	job.spank_job_env_size = 1;
	errno = 0; /* the response dies with this process */
	result = slurm_job_will_run2(&job, &response);
	if (result == SLURM_SUCCESS)
		return "stock";
	return errno == EINVAL ? "ours" : "unknown";
}

static void ask(void)
{
	slurm_conf_t *conf = NULL;

	slurm_init(NULL);
	if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS) {
		fprintf(stderr, "%s\n", slurm_strerror(errno));
		return;
	}
	tell("version", conf->version);
	tell("plugin_dir", conf->plugindir);
	tell("select_type", conf->select_type);
	tell("job_submit", conf->job_submit_plugins);
	tell("prolog_alloc", conf->prolog_flags & PROLOG_FLAG_ALLOC ? "yes" : "no");
	tell("prolog_defer_batch", conf->prolog_flags & PROLOG_FLAG_DEFER_BATCH ? "yes" : "no");
	tell("probe", probe());
	tell("end", "");
}

static void run_child(const char *conf_path, int fd)
{
	alarm(LIMIT_S);
	setenv("SLURM_CONF", conf_path, 1);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	ask();
	fflush(stdout);
	_exit(0);
}

/* --- the parent --------------------------------------------------------------------------------- */

static void take_value(struct osp_running *running, const char *line)
{
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
		{"version=", &running->version},
		{"plugin_dir=", &running->plugin_dir},
		{"select_type=", &running->select_type},
		{"job_submit=", &running->job_submit},
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strncmp(line, keys[i].key, strlen(keys[i].key)) == 0 && !*keys[i].value)
			*keys[i].value = strdup(line + strlen(keys[i].key));
	if (strcmp(line, "probe=ours") == 0)
		running->probe = OSP_PROBE_OURS;
	else if (strcmp(line, "probe=stock") == 0)
		running->probe = OSP_PROBE_STOCK;
	else if (strcmp(line, "prolog_alloc=yes") == 0)
		running->prolog_alloc = true;
	else if (strcmp(line, "prolog_defer_batch=yes") == 0)
		running->prolog_defer_batch = true;
	else if (strcmp(line, "end=") == 0)
		running->asked = OSP_ANSWERED;
}

static void read_answer(FILE *stream, struct osp_running *running)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stream) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (*line == VALUE_MARK) {
			take_value(running, line + 1);
		} else if (*line) {
			free((char *)running->why);
			running->why = strdup(line);
		}
	}
	free(line);
}

void osp_doctor_ask(const char *conf_path, struct osp_running *running)
{
	int ends[2];
	FILE *stream;
	pid_t child;

	*running = (struct osp_running){.asked = OSP_NO_ANSWER};
	fflush(stdout);
	if (pipe(ends) < 0)
		return;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		run_child(conf_path, ends[1]);
	}
	close(ends[1]);
	stream = fdopen(ends[0], "r");
	if (stream) {
		read_answer(stream, running);
		fclose(stream);
	} else {
		close(ends[0]);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}
