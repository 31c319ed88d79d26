/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cluster.c - for LD_PRELOAD: what slurmctld reports the command, without one
 *
 * ONESPINE_FAKE_CLUSTER names a file with a word and its values in a line. "memory": it is handed
 * out, as by CR_Core_Memory. "default MIB": memory of jobs that name none; "default by GPU": their
 * GPUs bring it. "node NAME CPUS GPUS MIB MIB": its memory, and what jobs have of that. "kept
 * CPUS": so many are kept for the system on each node before it. "job ID NODES CPUS GPUS": one that
 * runs on these nodes, which come before it, with so much of each. "power NAME up|going-down": that
 * node, named before, is on its way. The partition gpu has all nodes, and another one of the name
 * in "partition NAME" too.
 */
#include "onespine_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/slurm_compat.h"

#define EXPORT	  __attribute__((visibility("default")))
#define NODES_MAX 64
#define JOBS_MAX  16

static slurm_conf_t conf;
static node_info_t nodes[NODES_MAX];
static node_info_msg_t node_message = {.node_array = nodes};
static slurm_job_info_t jobs[JOBS_MAX];
static job_info_msg_t job_message = {.job_array = jobs};
static partition_info_t partitions[2] = {{
	.name = "gpu",
	.flags = PART_FLAG_DEFAULT,
	.state_up = PARTITION_UP,
	.max_time = INFINITE,
	.default_time = NO_VAL,
}};
static partition_info_msg_t partition_message = {.record_count = 1, .partition_array = partitions};

/* What jobs have of each node. */
static struct taken {
	uint64_t mib;
	unsigned int cpus, gpus;
} taken[NODES_MAX];

static char *text_of(const char *format, const char *word, unsigned int number)
{
	char buffer[256];

	snprintf(buffer, sizeof(buffer), format, word, number);
	return strdup(buffer);
}

static void take_node(const char *name, unsigned int cpus, unsigned int gpus, unsigned int mib,
		      unsigned int taken_mib)
{
	node_info_t *node = &nodes[node_message.record_count++];

	node->name = strdup(name);
	node->cpus = (uint16_t)cpus;
	node->gres = text_of("%s:%u", "gpu", gpus);
	node->real_memory = mib;
	taken[node - nodes].mib = taken_mib;
#ifdef HAVE_STRUCT_NODE_INFO_ALLOC_MEMORY
	node->alloc_memory = taken_mib;
#else
	node->select_nodeinfo = (void *)&taken[node - nodes];
#endif
	node->weight = 1;
	node->node_state = NODE_STATE_IDLE;
}

/* Marks a node as one of which a job has so much. */
static void take_part(uint32_t i, unsigned int cpus, unsigned int gpus)
{
	nodes[i].node_state = NODE_STATE_MIXED;
	taken[i].cpus += cpus;
	taken[i].gpus += gpus;
#ifdef HAVE_STRUCT_NODE_INFO_ALLOC_MEMORY
	nodes[i].alloc_cpus = (uint16_t)taken[i].cpus;
#endif
	free(nodes[i].gres_used);
	nodes[i].gres_used = text_of("%s:%u(IDX:0)", "gpu", taken[i].gpus);
}

static void take_job(unsigned int id, const char *names, unsigned int cpus, unsigned int gpus)
{
	slurm_job_info_t *job = &jobs[job_message.record_count++];
	char copy[256], *rest = copy, *name;

	snprintf(copy, sizeof(copy), "%s", names);
	job->job_id = id;
	job->array_task_id = NO_VAL;
	job->partition = partitions[0].name;
	job->user_name = "alice";
	job->nodes = strdup(names);
	job->job_state = JOB_RUNNING;
	job->max_nodes = NO_VAL;
	job->num_tasks = NO_VAL;
	job->shared = 1;
	job->end_time = time(NULL) + 3600;
	job->time_limit = 60;
	job->tres_per_node = text_of("%s:%u", "gres:gpu", gpus);
	while ((name = strsep(&rest, ","))) {
		job->num_nodes++;
		for (uint32_t i = 0; i < node_message.record_count; i++)
			if (!strcmp(nodes[i].name, name))
				take_part(i, cpus, gpus);
	}
	job->num_cpus = cpus * job->num_nodes;
}

static void take_power(const char *name, const char *way)
{
	for (uint32_t i = 0; i < node_message.record_count; i++)
		if (!strcmp(nodes[i].name, name))
			nodes[i].node_state |= strcmp(way, "up") ? NODE_STATE_POWERING_DOWN
								 : NODE_STATE_POWERING_UP;
}

/* Keeps so many processors of each node for the system. */
static void keep_cpus(unsigned int count)
{
	for (uint32_t i = 0; i < node_message.record_count; i++)
		nodes[i].cpus_efctv = (uint16_t)(nodes[i].cpus - count);
}

static void take_line(const char *line)
{
	char name[256], way[16];
	unsigned int a, b, c, d;

	if (sscanf(line, "partition %255s", name) == 1) {
		partitions[1] = partitions[0];
		partitions[1].name = strdup(name);
		partitions[1].flags = 0;
		partition_message.record_count = 2;
	} else if (!strcmp(line, "memory\n"))
		conf.select_type_param |= OSP_SELECT_MEMORY;
	else if (!strcmp(line, "default by GPU\n"))
		conf.job_defaults_list = (void *)&conf;
	else if (sscanf(line, "default %u", &a) == 1)
		conf.def_mem_per_cpu = a;
	else if (sscanf(line, "kept %u", &a) == 1)
		keep_cpus(a);
	else if (sscanf(line, "node %255s %u %u %u %u", name, &a, &b, &c, &d) == 5 &&
		 node_message.record_count < NODES_MAX)
		take_node(name, a, b, c, d);
	else if (sscanf(line, "job %u %255s %u %u", &a, name, &b, &c) == 4 &&
		 job_message.record_count < JOBS_MAX)
		take_job(a, name, b, c);
	else if (sscanf(line, "power %255s %15s", name, way) == 2)
		take_power(name, way);
}

EXPORT void slurm_init(const char *path)
{
	const char *reported = getenv("ONESPINE_FAKE_CLUSTER");
	FILE *file = reported ? fopen(reported, "r") : NULL;
	char line[512], list[NODES_MAX * 16] = "";

	(void)path;
	if (!file)
		exit(1);
	while (fgets(line, sizeof(line), file))
		take_line(line);
	fclose(file);
	for (uint32_t i = 0; i < node_message.record_count; i++)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", i ? "," : "",
			 nodes[i].name);
	partitions[0].nodes = partitions[1].nodes = strdup(list);
}

EXPORT int slurm_load_ctl_conf(time_t update_time, slurm_conf_t **to)
{
	(void)update_time;
	*to = &conf;
	return SLURM_SUCCESS;
}

EXPORT int slurm_load_node(time_t update_time, node_info_msg_t **to, uint16_t flags)
{
	(void)update_time, (void)flags;
	*to = &node_message;
	return SLURM_SUCCESS;
}

EXPORT int slurm_load_partitions(time_t update_time, partition_info_msg_t **to, uint16_t flags)
{
	(void)update_time, (void)flags;
	*to = &partition_message;
	return SLURM_SUCCESS;
}

EXPORT int slurm_load_jobs(time_t update_time, job_info_msg_t **to, uint16_t flags)
{
	(void)update_time, (void)flags;
	*to = &job_message;
	return SLURM_SUCCESS;
}

EXPORT int slurm_load_reservations(time_t update_time, reserve_info_msg_t **to)
{
	(void)update_time;
	*to = NULL;
	return SLURM_ERROR;
}

#ifndef HAVE_STRUCT_NODE_INFO_ALLOC_MEMORY
EXPORT int slurm_get_select_nodeinfo(dynamic_plugin_data_t *info, enum select_nodedata_type type,
				     enum node_states state, void *to)
{
	const struct taken *of = (const void *)info;

	(void)state;
	if (type == SELECT_NODEDATA_MEM_ALLOC)
		*(uint64_t *)to = of->mib;
	else if (type == SELECT_NODEDATA_SUBCNT)
		*(uint16_t *)to = (uint16_t)of->cpus;
	return SLURM_SUCCESS;
}
#endif

/* --- nothing here is freed -------------------------------------------------------------------- */

EXPORT void slurm_free_node_info_msg(node_info_msg_t *message)
{
	(void)message;
}

EXPORT void slurm_free_partition_info_msg(partition_info_msg_t *message)
{
	(void)message;
}

EXPORT void slurm_free_job_info_msg(job_info_msg_t *message)
{
	(void)message;
}

#if HAVE_DECL_SLURM_FREE_CONF
EXPORT void slurm_free_conf(slurm_conf_t *old)
#else
EXPORT void slurm_free_ctl_conf(slurm_conf_t *old)
#endif
{
	(void)old;
}
