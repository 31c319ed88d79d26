/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_ask.c - what a running slurmctld says of itself
 *
 * A child asks and writes a line a value; what libslurm complains about comes through the same
 * pipe. Whether the shadow is at work is asked with a job that is never submitted:
 * REQUEST_JOB_WILL_RUN goes through job_submit, and a --gang that cannot be read is refused there
 * with EINVAL, which stock Slurm has no reason for. job_submit_onespine.so is there only when the
 * shadow answers it (doc/architecture.md).
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

#include "check/check.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/cloud/block_end.h"
#include "lib/policy/gang_license.h"
#include "lib/policy/request.h"
#include "host/record/trial_file.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/controller.h"
#include "host/slurm/controller_quarantine.h"
#include "host/slurm/launch_left.h"
#include "host/source/apply.h"
#include "host/source/source.h"
#include "host/slurm/fabric.h"
#include "host/slurm/node_list.h"

#define LIMIT_S	    30
#define TRIALS_MS   10000
#define TRIALS_MOST 4096
#define VALUE_MARK  '\1' /* starts a line of ours; others are libslurm's */

/* --- the child -------------------------------------------------------------------------------- */

static void report(const char *key, const char *value)
{
	printf("%c%s=%s\n", VALUE_MARK, key, value ? value : "");
}

static const char *probe(void)
{
	char entry[] = OSP_SPANK_GANG OSP_GANG_PROBE;
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

/* Reports trials that nobody has in hand: those of a running recheck, or with a file of one, are
 * reported elsewhere. */
static void report_trials(const char *cluster)
{
	const char *left[TRIALS_MOST];
	size_t count = 0;
	char **nodes;
	char *list;

	if (geteuid() != 0)
		return;
	(void)osp_controller_trials(osp_now_ms() + TRIALS_MS, &nodes);
	for (char **node = nodes; node && *node && count < TRIALS_MOST; node++)
		if (!osp_trial_stands(cluster, *node))
			left[count++] = *node;
	list = count ? osp_hostlist_compact(left, count) : NULL;
	if (list)
		report("trials", list);
	free(list);
	osp_controller_trials_free(nodes);
}

static void report_quarantined(void)
{
	struct osp_quarantine_list list;
	const char *nodes[TRIALS_MOST];
	size_t count = 0;
	char *names = NULL;

	if (osp_controller_quarantined(osp_now_ms() + TRIALS_MS, &list) == 0)
		while (count < list.count && count < TRIALS_MOST) {
			nodes[count] = list.nodes[count].node;
			count++;
		}
	if (count)
		names = osp_hostlist_compact(nodes, count);
	if (names)
		report("quarantined", names);
	free(names);
	osp_quarantine_list_free(&list);
}

/* Nodes that run and have not reported, and what the others' reports contradict. */
static void report_reports(const char *topology_path, const struct osp_topology *topology,
			   const struct osp_node_list *nodes)
{
	char *reports = osp_reports_path(topology_path);
	struct osp_source_question question = {
		.nodes = nodes, .previous = topology, .reports = reports};
	struct osp_error crossing = {.text = ""};
	char *unreported = reports ? osp_reports_judge(&question, &crossing) : NULL;

	if (unreported)
		report("unreported", unreported);
	if (crossing.text[0])
		report("crossing", crossing.text);
	free(unreported);
	free(reports);
}

/* Nodes that run, and have booted since their places were asked for. */
static void report_old_places(const char *topology_path)
{
	struct osp_error ignored = {.text = ""};
	struct osp_topology *topology = osp_topology_load(topology_path, &ignored);
	struct osp_node_list nodes = {.count = 0};
	const char **old = NULL;
	size_t count = 0;
	char *list = NULL;

	if (topology && !osp_node_list_load(&nodes, &ignored))
		old = calloc((size_t)nodes.count + 1, sizeof(*old));
	for (uint32_t i = 0; old && i < nodes.count; i++) {
		if (osp_listed_place_age(topology, &nodes.nodes[i]) == OSP_PLACE_REBOOTED)
			old[count++] = nodes.nodes[i].name;
	}
	if (count)
		list = osp_hostlist_compact(old, count);
	if (list)
		report("old_places", list);
	if (nodes.count)
		report_reports(topology_path, topology, &nodes);
	free(list);
	free(old);
	osp_node_list_free(&nodes);
	osp_topology_free(topology);
}

/* Names the first partition without a time limit that has nodes of `set`. */
static void report_block_partition(const struct osp_snapshot *snapshot,
				   const struct osp_nodeset *set, struct osp_nodeset *some)
{
	for (uint32_t i = 0; i < snapshot->partition_count; i++) {
		const struct osp_state_partition *partition = &snapshot->partitions[i];

		osp_nodeset_clear(some);
		if (partition->limit_s != UINT32_MAX ||
		    osp_snapshot_add_hostlist(snapshot, partition->nodes_text, false, "partition",
					      some, NULL) < 0)
			continue;
		osp_nodeset_and(some, set);
		if (osp_nodeset_empty(some))
			continue;
		report("block_partition", partition->name);
		return;
	}
}

/* Names the reservations of Capacity Blocks. */
static void report_block_ends(void)
{
	struct osp_error ignored = {.text = ""};
	struct osp_snapshot *snapshot = osp_cluster_state(&ignored);
	uint32_t count = snapshot ? snapshot->node_count : 0;
	struct osp_nodeset *set = osp_nodeset_new(count), *some = osp_nodeset_new(count);
	struct osp_text names = OSP_TEXT_INIT;
	char *list;

	for (uint32_t i = 0; snapshot && set && i < snapshot->reservation_count; i++) {
		const struct osp_state_reservation *reservation = &snapshot->reservations[i];

		if (!reservation->name || !osp_block_end_of(reservation->name))
			continue;
		osp_text_printf(&names, "%s%s", names.length_bytes ? "," : "", reservation->name);
		osp_snapshot_add_hostlist(snapshot, reservation->nodes_text, false, "reservation",
					  set, NULL);
	}
	list = osp_text_take(&names);
	if (list && *list && set && some) {
		report("block_ends", list);
		report_block_partition(snapshot, set, some);
	}
	free(list);
	free(some);
	free(set);
	osp_snapshot_free(snapshot);
}

/* Reports reservations whose gangs are gone, to root and SlurmUser: PrivateData may hide the
 * gangs from others. */
static void report_launch_left(uid_t slurm_user)
{
	struct osp_error ignored = {.text = ""};
	struct osp_text names = OSP_TEXT_INIT;
	char *list;
	int rc;

	if (geteuid() != 0 && geteuid() != slurm_user)
		return;
	rc = osp_launch_left(&names, &ignored);
	list = osp_text_take(&names);
	if (!rc && list && *list)
		report("launch_left", list);
	free(list);
}

/* Reports how many of the license of gangs there are, as Licenses has it: "onespine:1". */
static void report_gang_licenses(void)
{
	license_info_msg_t *known = NULL;
	char words[64];

	if (slurm_load_licenses(0, &known, 0) != SLURM_SUCCESS || !known)
		return;
	for (uint32_t i = 0; i < known->num_lic; i++) {
		const slurm_license_info_t *license = &known->lic_array[i];

		if (!license->name || strcmp(license->name, OSP_GANG_LICENSE) != 0)
			continue;
		snprintf(words, sizeof(words), OSP_GANG_LICENSE ":%lu",
			 (unsigned long)license->total);
		report("gang_licenses", words);
	}
	slurm_free_license_info_msg(known);
}

static void ask(const char *cluster, const char *topology_path)
{
	slurm_conf_t *conf = NULL;

	osp_slurm_begin();
	if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS) {
		fprintf(stderr, "%s\n", slurm_strerror(errno));
		return;
	}
	report("version", conf->version);
	report("plugin_dir", conf->plugindir);
	report("select_type", conf->select_type);
	report("job_submit", conf->job_submit_plugins);
	report("prolog_alloc", conf->prolog_flags & PROLOG_FLAG_ALLOC ? "yes" : "no");
	report("prolog_defer_batch", conf->prolog_flags & PROLOG_FLAG_DEFER_BATCH ? "yes" : "no");
	report("probe", probe());
	report_trials(cluster);
	report_quarantined();
	if (topology_path)
		report_old_places(topology_path);
	report_block_ends();
	report_launch_left(conf->slurm_user_id);
	report_gang_licenses();
	report("end", "");
}

static void run_child(const char *conf_path, const char *cluster, const char *topology_path, int fd)
{
	alarm(LIMIT_S);
	setenv("SLURM_CONF", conf_path, 1);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	ask(cluster, topology_path);
	fflush(stdout);
	_exit(0);
}

/* --- the parent ------------------------------------------------------------------------------- */

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
		{"trials=", &running->trials},
		{"quarantined=", &running->quarantined},
		{"old_places=", &running->old_places},
		{"unreported=", &running->unreported},
		{"crossing=", &running->crossing},
		{"block_ends=", &running->block_ends},
		{"launch_left=", &running->launch_left},
		{"gang_licenses=", &running->gang_licenses},
		{"block_partition=", &running->block_partition},
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

void osp_doctor_ask(const char *conf_path, const char *cluster, const char *topology_path,
		    struct osp_running *running)
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
		run_child(conf_path, cluster, topology_path, ends[1]);
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
