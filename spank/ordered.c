/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ordered.c - srun starts each rank of a gang on the node that is meant for it */
#include "spank/ordered.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>
#include <slurm/spank.h>

#include "host/slurm_compat.h"
#include "lib/env/launcher.h"
#include "lib/layout/gang_order.h"
#include "spank/order_file.h"
#include "spank/command_line.h"
#include "spank/placement.h"
#include "spank/step_options.h"

/* The most comparisons for a host file: slurmctld looks for each node among all tasks
 * (_task_layout_hostfile()), under its job lock; 2,048 nodes of 8 tasks take it about 50 ms. */
#define LOOKS_MAX ((uint64_t)2048 * 2048 * 8)

/* -1: none. */
static int host_file = -1;

/* --- which steps ------------------------------------------------------------------------------ */

/* Returns whether the step has tasks on one node alone, or one task, so that there is no order. */
static bool is_one_node(const struct osp_step_options *words)
{
	return words->tasks == 1 || words->nodes == 1;
}

static unsigned int no(const struct osp_step_options *words, const char *reason, bool *say,
		       char *why, unsigned why_bytes)
{
	*say = !is_one_node(words);
	snprintf(why, why_bytes, "%s", reason);
	return 0;
}

/* Returns whether no node holds a second task by its CPUs, so that -c alone is one task on each. */
static bool is_one_by_cpus(const struct osp_step_options *words)
{
	return words->cpus_per_task <= words->node_cpus &&
	       words->cpus_per_task > words->node_cpus / 2 && !words->tasks_by_gpus &&
	       !words->overcommits;
}

/* Returns how many tasks the step starts on each node; 0 with `reason` if the number differs from
 * node to node, or is not known here. */
static unsigned int tasks_on_each(const struct osp_step_options *words, unsigned int nodes,
				  const char **reason)
{
	if (words->tasks) {
		*reason = "not as many tasks on each node";
		return words->tasks % nodes ? 0 : words->tasks / nodes;
	}
	if (words->tasks_per_node)
		return words->tasks_per_node;
	*reason = words->tasks_by_gpus ? "as many tasks as GPUs" : "as many tasks as CPUs";
	return words->tasks_by_gpus || (words->tasks_by_cpus && !is_one_by_cpus(words)) ? 0 : 1;
}

unsigned int osp_ordered_tasks(const struct osp_step_options *words, unsigned int nodes,
			       bool arbitrary_with_nodes, bool *say, char *why, unsigned why_bytes)
{
	const char *reason = NULL;
	unsigned int tasks;

	*say = false;
	if (words->order == OSP_STEP_CHOSEN || words->order == OSP_STEP_NO_TASKS ||
	    words->other_job)
		return 0;
	if (words->order == OSP_STEP_BESIDE)
		return no(words, words->why, say, why, why_bytes);
	if (words->nodes && words->nodes != nodes)
		return no(words, "fewer nodes than the job has", say, why, why_bytes);
	if (words->nodes_said && !arbitrary_with_nodes)
		return no(words, "-N: leave it out, Slurm takes no host file beside it", say, why,
			  why_bytes);
	tasks = tasks_on_each(words, nodes, &reason);
	if (tasks > LOOKS_MAX / nodes / nodes)
		return no(words, "too many for a host file", say, why, why_bytes);
	return tasks ? tasks : no(words, reason, say, why, why_bytes);
}

/* --- the host file ---------------------------------------------------------------------------- */

/*
 * Passes the file to srun, with the number of tasks: otherwise srun would take as many from the
 * file as the job has nodes.
 */
static void hand_over(unsigned int all_tasks)
{
	char path[64], number[24];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", host_file);
	if (access(path, R_OK)) {
		osp_ordered_end();
		return;
	}
	snprintf(number, sizeof(number), "%u", all_tasks);
	setenv("SLURM_NTASKS", number, 1);
	unsetenv("SLURM_NPROCS");
	setenv("SLURM_HOSTFILE", path, 1);
	setenv(OSP_ORDERED_VARIABLE, "1", 1);
}

void osp_ordered_end(void)
{
	if (host_file < 0)
		return;
	close(host_file);
	host_file = -1;
	unsetenv("SLURM_HOSTFILE");
}

/* --- this srun -------------------------------------------------------------------------------- */

/* What its words and its environment said before srun read them: srun sets variables itself. */
static struct {
	struct osp_step_options words;
	bool known; /* there are words */
	bool inside_step;
} own;

/* Returns whether this process has a terminal. Of a step's tasks only that of srun --pty has
 * one. */
static bool has_terminal(void)
{
	int terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	if (terminal >= 0)
		close(terminal);
	return terminal >= 0;
}

/*
 * Returns whether this srun runs inside a step of several tasks: these were ordered, and what they
 * start is theirs. A step of one task, or with a terminal, is a shell that srun opened in the job.
 */
static bool is_inside_step(void)
{
	const char *step = getenv("SLURM_STEP_ID"), *tasks = getenv("SLURM_STEP_NUM_TASKS");

	return step && strtoul(step, NULL, 10) < SLURM_MAX_NORMAL_STEP_ID &&
	       (!tasks || strcmp(tasks, "1") != 0) && !has_terminal();
}

void osp_ordered_read(void)
{
	struct osp_command_line words;

	memset(&own, 0, sizeof(own));
	osp_command_line_read(&words);
	own.known = words.words && words.count > 1;
	if (own.known)
		osp_step_options_read(words.words + 1, words.count - 1, &own.words);
	osp_command_line_free(&words);
	own.inside_step = getenv("SLURM_JOB_ID") && !own.words.other_job && is_inside_step();
}

bool osp_ordered_other_job(void)
{
	return own.words.other_job;
}

bool osp_ordered_exports_some(void)
{
	return own.words.exports_some;
}

static void say_how(const char *why)
{
	slurm_info("onespine: srun orders these tasks by names of nodes and not along the fabric "
		   "(%s): torchrun takes --node-rank=$ONESPINE_NODE_RANK, srun -m arbitrary the "
		   "host file of onespine hosts --format=slurm",
		   why);
}

/* Says it where the order is not known here, so that its variables are missing, too. */
static void say_unknown(void)
{
	slurm_info("onespine: srun orders these tasks by names of nodes: their order along the "
		   "fabric is not in AdminComment; srun -m arbitrary takes the host file of "
		   "onespine hosts --format=slurm");
}

/* Returns whether the job is in mode advise, in which ranks stay as Slurm gives them. */
static bool only_advises(void)
{
	const char *ranks = getenv(OSP_SLURM_RANKS_VARIABLE);

	return ranks && !strcmp(ranks, OSP_PLACEMENT_ADVICE);
}

/*
 * Asks for the distribution by which Slurm lays tasks out by the ranks that slurmctld gave the
 * job's nodes (sched/shadow_order.c). Returns false if this start of the job gave none (it is that
 * of an older release, or in mode advise), or if the user's -m leaves the distribution to srun.
 */
static bool follow_node_ranks(const struct osp_step_options *words)
{
	if (!OSP_HAVE_NODE_RANKS || !getenv(OSP_SLURM_RANKS_VARIABLE) || only_advises() ||
	    words->flags_alone)
		return false;
	/* the user's own is block, too, and says more */
	if (getenv("SLURM_DISTRIBUTION"))
		return true;
	setenv("SLURM_DISTRIBUTION", "block", 1);
	setenv(OSP_ORDERED_VARIABLE, "1", 1);
	return true;
}

static const char *variable(const char *name)
{
	return getenv(name);
}

static enum osp_launcher find_launcher(void)
{
	enum osp_launcher found = OSP_LAUNCHER_BY_TASK;
	struct osp_command_line words;

	osp_command_line_read(&words);
	if (words.words && words.count > 1)
		found = osp_launcher_find(words.words + 1, words.count - 1, variable);
	osp_command_line_free(&words);
	return found;
}

/* Returns whether names sorted as strings, n10 before n2, are the order. */
static bool is_order_of_strings(const struct osp_gang_ranks *order)
{
	for (uint32_t i = 1; i < order->count; i++) {
		if (strcmp(order->names[i - 1], order->names[i]) >= 0)
			return false;
	}
	return true;
}

/* Says that the step's launcher orders nodes by itself, and otherwise. Returns false if it does
 * not, as far as is known. */
static bool say_launcher(const struct osp_gang_ranks *order, const struct osp_step_options *words)
{
	enum osp_launcher launcher;

	if (words->order == OSP_STEP_NO_TASKS || words->other_job || is_one_node(words))
		return false;
	launcher = find_launcher();
	if (launcher == OSP_LAUNCHER_C10D && !is_order_of_strings(order))
		slurm_info("onespine: torchrun's c10d ranks these nodes by their names as strings "
			   "and not along the fabric: say --rdzv-backend=static "
			   "--node-rank=$ONESPINE_NODE_RANK --master-addr=$ONESPINE_FIRST_HOST");
	else if (launcher == OSP_LAUNCHER_RAY && !order->listed)
		slurm_info("onespine: Ray orders these nodes by address and not along the fabric: "
			   "order its placement group by the file $ONESPINE_HOSTFILE");
	else if (launcher == OSP_LAUNCHER_NODEID && !order->listed)
		slurm_info("onespine: SLURM_NODEID counts these nodes by their names and not along "
			   "the fabric: torchrun takes --node-rank=$ONESPINE_NODE_RANK");
	else
		return false;
	return true;
}

/* Returns whether all nodes have as many CPUs: unlike ones may not take as many tasks. */
static bool nodes_are_alike(void)
{
	const char *cpus = getenv("SLURM_JOB_CPUS_PER_NODE");

	return cpus && !strchr(cpus, ',');
}

/* srun's own configuration: read before it begins its plugins. */
extern slurm_conf_t slurm_conf __attribute__((weak));

/*
 * Returns whether Slurm is configured to pack these tasks into as few nodes as can be
 * (CR_Pack_Nodes), which a host file would undo. It then takes --ntasks-per-node for one node's.
 */
static bool are_packed(const struct osp_step_options *words)
{
	return &slurm_conf && slurm_conf.select_type_param & OSP_SELECT_PACK_NODES &&
	       !words->no_pack;
}

/*
 * Returns whether the job no longer has the nodes of `nodes`, its list when it began: with
 * --no-kill one of them failed, or its script made it smaller. srun goes by what slurmctld says.
 */
static bool has_other_nodes(const char *nodes)
{
	const char *job = getenv("SLURM_JOB_ID");
	char *now = job ? osp_placement_nodes((uint32_t)strtoul(job, NULL, 10)) : NULL;
	bool other = now && strcmp(now, nodes) != 0;

	free(now);
	return other;
}

static void begin(const struct osp_gang_ranks *order, const struct osp_step_options *words,
		  bool said)
{
	bool say = false;
	char why[64];
	unsigned int tasks;

	if (order->listed)
		return;
	tasks = osp_ordered_tasks(words, order->count, OSP_NODES_BESIDE_HOST_FILE, &say, why,
				  sizeof(why));
	if (only_advises() && (tasks || say)) {
		tasks = 0;
		say = true;
		snprintf(why, sizeof(why), "mode advise");
	}
	if (tasks > 1 && !words->tasks_per_node && !nodes_are_alike()) {
		tasks = 0;
		say = true;
		snprintf(why, sizeof(why), "nodes with unlike numbers of CPUs");
	}
	if (tasks && are_packed(words)) {
		tasks = 0;
		say = true;
		snprintf(why, sizeof(why), "CR_Pack_Nodes: -m NoPack spreads them");
	}
	if (tasks && has_other_nodes(getenv("SLURM_JOB_NODELIST"))) {
		tasks = 0;
		say = true;
		snprintf(why, sizeof(why), "nodes have left the job");
	}
	if (tasks)
		host_file = osp_order_file_make(order, tasks);
	if (host_file >= 0)
		hand_over(tasks * order->count);
	else if (say && !follow_node_ranks(words) && !said)
		say_how(why);
}

/* Returns whether Slurm gives ranks to several nodes by the step's words, and the user does not. */
static bool slurm_orders(const struct osp_step_options *words)
{
	return words->order != OSP_STEP_CHOSEN && words->order != OSP_STEP_NO_TASKS &&
	       !words->other_job && !is_one_node(words);
}

static bool is_one_name(const char *nodes)
{
	return !strpbrk(nodes, ",[");
}

/* Begins in a gang whose leaves, or the order of whose nodes, are not known. */
static void begin_unordered(const char *nodes)
{
	if (!is_one_name(nodes) && slurm_orders(&own.words) && !follow_node_ranks(&own.words))
		say_unknown();
}

/*
 * Keeps the distribution that srun chooses out of its tasks' environment, where an srun in a shell
 * that this one opens would take it for the user's.
 */
static void leave_out_distribution(void)
{
	if (own.known && own.words.order != OSP_STEP_CHOSEN && !getenv("SLURM_DISTRIBUTION"))
		setenv(OSP_ORDERED_VARIABLE, "1", 1);
}

void osp_ordered_begin(void)
{
	const char *nodes = getenv("SLURM_JOB_NODELIST"), *leaves = getenv(OSP_LEAVES_VARIABLE);
	struct osp_gang_ranks order;

	unsetenv(OSP_ORDERED_VARIABLE);
	leave_out_distribution();
	if (!nodes || !own.known || own.inside_step || (!leaves && !getenv(OSP_LEVEL_VARIABLE)))
		return;
	if (!leaves || osp_gang_order_make(nodes, leaves, getenv(OSP_ORDER_VARIABLE), &order)) {
		begin_unordered(nodes);
		return;
	}
	begin(&order, &own.words, say_launcher(&order, &own.words));
	osp_gang_order_clear(&order);
}

/* Says how to order the tasks of an srun that has learnt too late of its gang. */
static void say_too_late(const struct osp_placement *placed, const struct osp_step_options *words)
{
	bool by_ranks = OSP_HAVE_NODE_RANKS && placed->ranks &&
			strcmp(placed->ranks, OSP_PLACEMENT_ADVICE) != 0;

	/* which distribution srun asks for depends on the memory that the job has */
	if (!by_ranks)
		say_how("its nodes are known only when it starts");
	else if (!words->block)
		slurm_info("onespine: srun may order these tasks by names of nodes; srun -m block "
			   "orders them along the fabric");
}

void osp_ordered_too_late(const struct osp_placement *placed)
{
	struct osp_step_options words = own.words;
	struct osp_gang_ranks made;

	leave_out_distribution();
	if (!placed->nodes || !own.known || own.inside_step)
		return;
	words.other_job = false;
	if (!placed->leaves ||
	    osp_gang_order_make(placed->nodes, placed->leaves, placed->order, &made)) {
		if (!is_one_name(placed->nodes) && slurm_orders(&words))
			say_unknown();
		return;
	}
	if (!say_launcher(&made, &words) && !made.listed && slurm_orders(&words))
		say_too_late(placed, &words);
	osp_gang_order_clear(&made);
}
