/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_hosts.c - onespine hosts: the hosts of a job in the order of the fabric, for launchers */
#include <stdlib.h>
#include <string.h>

#include "tools/command/command.h"
#include "lib/layout/gang_order.h"
#include "lib/policy/note.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/fabric.h"
#include "host/slurm/hosts.h"
#include "tools/command/layout_options.h"
#include "tools/command/world.h"

#define TASKS_MOST   4096
#define ADVICE_BYTES 512

/* The variables that onespine.so gives a gang's tasks (spank/placement.h). */
#define LEAVES_VARIABLE "ONESPINE_LEAVES"
#define ORDER_VARIABLE	"ONESPINE_ORDER"
/* The variable that a gang's allocation gives salloc's shell too (sched/shadow_processes.c). */
#define LEVEL_VARIABLE "ONESPINE_LEVEL"

struct asked {
	struct osp_topology *topology;
	char *list;
	enum osp_hosts_format format;
	uint32_t tasks; /* 0: unknown */
	bool no_job;	/* there is no job of that number */
	/* The parts from which the order of the gang's ranks is made (lib/layout/gang_order.h);
	 * NULL: it is no gang, or another order was asked for. */
	char *leaves, *ranks;
	bool in_ranks; /* that order was used */
};

static int parse_tasks(const char *text, uint32_t *tasks, struct osp_error *error)
{
	char *end;
	unsigned long value;

	if (!text)
		return 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || value < 1 || value > TASKS_MOST)
		return osp_error_set(error,
				     "--tasks-per-node=%.40s: a number from 1 to %d is expected",
				     text, TASKS_MOST);
	*tasks = (uint32_t)value;
	return 0;
}

static int parse_format(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	const char *name = call->values[OSP_OPTION_FORMAT];
	int format = name ? osp_hosts_format(name, error) : OSP_HOSTS_PLAIN;

	if (format < 0)
		return -1;
	asked->format = (enum osp_hosts_format)format;
	return parse_tasks(call->values[OSP_OPTION_TASKS_PER_NODE], &asked->tasks, error);
}

/* Keeps the parts of the gang's order. Each may be NULL. */
static void keep_ranks(const struct osp_call *call, const char *leaves, const char *ranks,
		       struct asked *asked)
{
	if (!leaves || call->values[OSP_OPTION_TOPOLOGY] || call->values[OSP_OPTION_LAYOUT])
		return;
	asked->leaves = strdup(leaves);
	asked->ranks = ranks ? strdup(ranks) : NULL;
}

static void keep_ranks_of(const struct osp_call *call, const struct osp_state_job *job,
			  struct asked *asked)
{
	struct osp_note note = {.gang = NULL};

	/* the components of a heterogeneous job, "1201+1", are ranked together */
	if (job->admin_comment && !strchr(job->label, '+') &&
	    osp_note_find(job->admin_comment, &note))
		keep_ranks(call, note.leaves, note.order, asked);
	osp_note_free_pieces(&note);
}

/* Finds the hosts of the job `name` in Slurm or a saved state. */
static int ask_job(const struct osp_call *call, const char *name, struct asked *asked,
		   struct osp_error *error)
{
	struct osp_world world;
	const struct osp_state_job *job;
	int rc;

	if (osp_check_job_word(name, error))
		return -1;
	rc = osp_call_world(call, &world, error);
	if (rc == 0) {
		job = osp_snapshot_find_job(world.snapshot, name);
		asked->no_job = !job;
		if (!job)
			rc = osp_error_set(error, "there is no job %.40s", name);
		else if (!job->nodes_text)
			rc = osp_error_set(error, "job %s has no nodes (%s)", job->label,
					   job->state);
		else if (!(asked->list = strdup(job->nodes_text)))
			rc = osp_error_set(error, "out of memory");
		else
			keep_ranks_of(call, job, asked);
	}
	if (rc == 0) {
		asked->topology = world.topology;
		world.topology = NULL;
	}
	osp_world_close(&world);
	return rc;
}

static int load_topology(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	const char *named = call->values[OSP_OPTION_TOPOLOGY];
	char *path = NULL;

	asked->topology =
		named ? osp_topology_load(named, error) : osp_topology_in_force(&path, error);
	free(path);
	return asked->topology ? 0 : -1;
}

/*
 * Asks slurmctld about the job of salloc's shell, where a gang's variables show neither its ranks
 * nor that spares were released. Returns false, with `asked` as it was, if it need not be asked or
 * does not answer.
 */
static bool ask_own_job(const struct osp_call *call, struct asked *asked)
{
	const char *name = getenv("SLURM_JOB_ID");
	struct osp_error error = {.text = ""};

	if (!name || !getenv(LEVEL_VARIABLE) || getenv(LEAVES_VARIABLE) ||
	    getenv("SLURM_HET_SIZE") || call->values[OSP_OPTION_TOPOLOGY])
		return false;
	if (ask_job(call, name, asked, &error) == 0)
		return true;
	asked->no_job = false;
	osp_say_warning("%s; the order is the fabric's, of SLURM_JOB_NODELIST", error.text);
	return false;
}

/* Finds the hosts of --nodes, of a job, or of the job that this runs in. */
static int find_hosts(const struct osp_call *call, struct asked *asked, struct osp_error *error)
{
	const char *list = call->values[OSP_OPTION_HOSTS];

	if (list && call->argument_count)
		return osp_error_set(error, "--nodes goes without a JOB");
	if (call->argument_count)
		return ask_job(call, call->arguments[0], asked, error);
	if (!list && ask_own_job(call, asked))
		return 0;
	if (!list && (list = getenv("SLURM_JOB_NODELIST")) && !getenv("SLURM_HET_SIZE"))
		keep_ranks(call, getenv(LEAVES_VARIABLE), getenv(ORDER_VARIABLE), asked);
	if (!list)
		return osp_error_set(error,
				     "hosts are needed: name a JOB or --nodes=HOSTLIST, or ask "
				     "inside a job");
	asked->list = strdup(list);
	if (!asked->list)
		return osp_error_set(error, "out of memory");
	return load_topology(call, asked, error);
}

/* Takes the order of ONESPINE_NODE_RANK, if the gang's note fits its nodes. */
static void take_ranks(struct asked *asked, struct osp_hosts *hosts)
{
	struct osp_gang_ranks made;
	char **names;

	if (!asked->leaves || osp_gang_order_make(asked->list, asked->leaves, asked->ranks, &made))
		return;
	asked->in_ranks = made.count == hosts->count;
	if (asked->in_ranks) {
		names = hosts->names;
		hosts->names = made.names;
		made.names = names;
	}
	osp_gang_order_clear(&made);
}

static int order(const struct osp_call *call, struct asked *asked, struct osp_hosts *hosts,
		 struct osp_error *error)
{
	struct osp_error inner = {.text = ""};
	const char *source = call->values[OSP_OPTION_HOSTS] ? "--nodes" : "SLURM_JOB_NODELIST";

	if (osp_hosts_order(asked->topology, asked->list, hosts, &inner) == 0) {
		take_ranks(asked, hosts);
		return 0;
	}
	if (inner.column)
		return osp_error_set(error, "%s, column %d: %s", source, inner.column, inner.text);
	return osp_error_set(error, "%s", inner.text);
}

/* --- a layout's order ------------------------------------------------------------------------- */

/* Sorts the hosts into the plan's order of node ranks. Those that the topology lacks keep theirs.
 * Returns 0, or -1. */
static int reorder(const struct osp_layout_plan *plan, const uint32_t *nodes,
		   struct osp_hosts *hosts)
{
	const uint32_t *node_at = plan->side[plan->better].node_at;
	uint32_t *host_of =
		calloc((size_t)osp_topology_node_count(hosts->topology) + 1, sizeof(*host_of));
	char **names = calloc(hosts->count, sizeof(*names));
	uint32_t unknown = hosts->count - hosts->unknown_count;

	if (!host_of || !names) {
		free(host_of);
		free(names);
		return -1;
	}
	for (uint32_t i = 0; i < hosts->count; i++) {
		if (nodes[i] != OSP_NO_NODE)
			host_of[nodes[i]] = i;
	}
	for (uint32_t rank = 0; rank < hosts->count; rank++)
		names[rank] = hosts->names[node_at[rank] == OSP_NO_NODE ? unknown++
									: host_of[node_at[rank]]];
	free(hosts->names);
	hosts->names = names;
	free(host_of);
	return 0;
}

/* Applies the order that --layout asks for. Returns an exit status, and has printed any error. */
static int lay_out(const struct osp_call *call, struct osp_hosts *hosts)
{
	struct osp_layout_plan_input input = {.gpus_per_node = OSP_NODE_GPUS_STANDARD,
					      .topology = hosts->topology};
	struct osp_layout_plan plan = {.nodes = 0};
	struct osp_error error = {.text = ""};
	uint32_t *nodes = calloc(hosts->count, sizeof(*nodes));
	int status = OSP_EXIT_UNABLE;

	for (uint32_t i = 0; nodes && i < hosts->count; i++)
		nodes[i] = osp_topology_find_node(hosts->topology, hosts->names[i]);
	input.nodes = nodes;
	if (!nodes || osp_call_layout(call, &input.layout, &error) ||
	    osp_call_count(call, OSP_OPTION_GPUS_PER_NODE, OSP_NODE_GPUS_MAX, &input.gpus_per_node,
			   &error) ||
	    osp_call_dp_weight(call, &input.dp_weight, &error) ||
	    osp_call_keeps(call, hosts->topology, &input.keeps, &error) ||
	    osp_layout_complete(&input.layout, hosts->count, input.gpus_per_node, &error)) {
		osp_say_error(&error);
	} else if (osp_layout_plan_make(&input, &plan, &error)) {
		osp_say_error(&error);
		status = OSP_EXIT_NO;
	} else if (reorder(&plan, nodes, hosts)) {
		osp_say_no_memory();
	} else {
		status = OSP_EXIT_YES;
		if (plan.unaligned.text[0])
			osp_say_warning("%s", plan.unaligned.text);
	}
	osp_layout_plan_clear(&plan);
	free(nodes);
	return status;
}

/* Returns what Slurm could do if its order is not the fabric's; NULL if it is. */
static const char *find_advice(const struct osp_call *call, const struct osp_hosts *hosts,
			       char *buffer)
{
	struct osp_slurm_topology slurm;

	/* none of Slurm's settings knows a layout */
	if (hosts->changes.listed <= hosts->changes.fabric || call->values[OSP_OPTION_LAYOUT])
		return NULL;
	if (call->values[OSP_OPTION_TOPOLOGY] || call->values[OSP_OPTION_STATE] ||
	    osp_cluster_topology(&slurm, NULL) < 0)
		return osp_hosts_advice(NULL, NULL, NULL, buffer, ADVICE_BYTES);
	return osp_hosts_advice(slurm.plugin, slurm.param, slurm.version, buffer, ADVICE_BYTES);
}

static void warn(const struct osp_hosts *hosts, const char *advice)
{
	const char *level = osp_topology_level_count(hosts->topology)
				    ? osp_topology_level_name(hosts->topology, 1)
				    : "switch";

	if (hosts->unknown_count)
		osp_say_warning("%u of %u hosts are not in the topology; they come last",
				hosts->unknown_count, hosts->count);
	if (advice)
		osp_say_warning("in Slurm's order of these %u hosts, consecutive ranks change the "
				"%s %u times, in this one %u; %s",
				hosts->count, level, hosts->changes.listed, hosts->changes.fabric,
				advice);
}

static int answer(const struct osp_call *call, const struct asked *asked,
		  const struct osp_hosts *hosts)
{
	const char *only = call->values[OSP_OPTION_ONLY];
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	char buffer[ADVICE_BYTES];
	/* srun follows the order of the ranks by itself */
	const char *advice = asked->in_ranks ? NULL : find_advice(call, hosts, buffer);

	if (call->values[OSP_OPTION_JSON])
		return osp_print_json(osp_hosts_to_json(hosts, advice), OSP_EXIT_YES);
	if (!osp_hosts_write(hosts, asked->format, asked->tasks, only, &text)) {
		osp_error_set(&error, "host %.60s is not among the %u", only, hosts->count);
		osp_say_error(&error);
		return OSP_EXIT_NO;
	}
	if (!only && !asked->in_ranks)
		warn(hosts, advice);
	return osp_print_text(&text, OSP_EXIT_YES);
}

int osp_run_hosts(const struct osp_call *call)
{
	struct osp_error error = {.text = ""};
	struct osp_hosts hosts = {.count = 0};
	struct asked asked = {.list = NULL};
	int status;

	if (parse_format(call, &asked, &error) < 0 || find_hosts(call, &asked, &error) < 0 ||
	    order(call, &asked, &hosts, &error) < 0) {
		status = osp_say_error(&error);
		if (asked.no_job)
			status = OSP_EXIT_NO;
	} else {
		status = call->values[OSP_OPTION_LAYOUT] ? lay_out(call, &hosts) : OSP_EXIT_YES;
		if (status == OSP_EXIT_YES)
			status = answer(call, &asked, &hosts);
	}
	osp_hosts_clear(&hosts);
	osp_topology_free(asked.topology);
	free(asked.list);
	free(asked.leaves);
	free(asked.ranks);
	return status;
}
