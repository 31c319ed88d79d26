/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_shape.c - finds options whose effect the user of a script did not mean */
#include "lib/env/script_shape_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/glob.h"
#include "lib/env/shell_text.h"

enum shape_rule {
	RULE_OWN_GPUS,
	RULE_CPUS_LOST,
	RULE_SHARED,
	RULE_NO_REQUEUE,
	RULE_EACH_MASTER,
	RULE_LOCAL_MASTER,
	RULE_WORKERS,
	RULE_OUTSIDE_MASTER,
	RULE_LOOPBACK
};

/* The releases in which srun does not inherit --cpus-per-task (NEWS of 22.05.0 and 23.11.0). */
#define CPUS_LOST_RELEASES ">=22.05,<23.11"

static const struct osp_condition cpus_lost_condition = {.fact = OSP_FACT_SLURM,
							 .text = "slurm " CPUS_LOST_RELEASES};

const struct osp_condition osp_shape_on_several = {.fact = OSP_FACT_NODES, .text = "nodes >1"};

static const struct osp_rule shape_rules[] = {
	[RULE_OWN_GPUS] =
		{.id = "S1",
		 .severity = OSP_SEVERITY_HARMFUL,
		 .reason = "each task sees its own GPUs alone, so NCCL may copy between the GPUs "
			   "of a node over shared memory instead of NVLink",
		 .cure = "--gpus-per-node with --ntasks-per-node, or --gpu-bind=none beside it",
		 .source = "https://github.com/NVIDIA/nccl/issues/1066"},
	[RULE_CPUS_LOST] =
		{.id = "S2",
		 .conditions = &cpus_lost_condition,
		 .condition_count = 1,
		 .severity = OSP_SEVERITY_HARMFUL,
		 .reason = "srun of Slurm 22.05 and 23.02 does not take it over from sbatch, so "
			   "that each task of the step gets one core",
		 .cure = "srun --cpus-per-task=$SLURM_CPUS_PER_TASK, or export "
			 "SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK",
		 .source = "https://github.com/SchedMD/slurm/blob/slurm-23-11-0-1/NEWS"},
	[RULE_SHARED] =
		{.id = "S3",
		 .severity = OSP_SEVERITY_NOTE,
		 .reason =
			 "without --exclusive other jobs may run on the same nodes, on the cores, "
			 "memory and adapters that this one counts on",
		 .cure = "--exclusive, where the job takes all GPUs of its nodes",
		 .source = "https://slurm.schedmd.com/sbatch.html"},
	[RULE_NO_REQUEUE] =
		{.id = "S4",
		 .severity = OSP_SEVERITY_NOTE,
		 .reason = "a gate that finds a bad node can only end the job, not start it "
			   "again elsewhere",
		 .cure = "--requeue",
		 .source = "https://slurm.schedmd.com/sbatch.html"},
	[RULE_EACH_MASTER] =
		{.id = "S5",
		 .conditions = &osp_shape_on_several,
		 .condition_count = 1,
		 .severity = OSP_SEVERITY_FATAL,
		 .reason = "each task computes its own node's name, so that no two nodes mean "
			   "the same one",
		 .cure = "set it in the batch script, before srun: MASTER_ADDR=$(scontrol show "
			 "hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)",
		 .source = "https://pytorch.org/docs/stable/distributed.html"},
	[RULE_LOCAL_MASTER] =
		{.id = "S6",
		 .conditions = &osp_shape_on_several,
		 .condition_count = 1,
		 .severity = OSP_SEVERITY_FATAL,
		 .reason = "each node means itself, so that a job of several never meets",
		 .cure = "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | "
			 "head -n 1)",
		 .source = "https://pytorch.org/docs/stable/distributed.html"},
	[RULE_WORKERS] =
		{.id = "S7",
		 .severity = OSP_SEVERITY_HARMFUL,
		 .reason = "more data loader workers than the task has cores (--cpus-per-task)",
		 .cure = "fewer workers, or more cores for each task",
		 .source = "https://pytorch.org/docs/stable/data.html"},
	[RULE_OUTSIDE_MASTER] =
		{.id = "S8",
		 .conditions = &osp_shape_on_several,
		 .condition_count = 1,
		 .severity = OSP_SEVERITY_FATAL,
		 .reason =
			 "the host that submitted the job is not in it, unless that was a node of "
			 "its own, so that the ranks never meet",
		 .cure = "MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | "
			 "head -n 1)",
		 .source = "https://slurm.schedmd.com/sbatch.html"},
	[RULE_LOOPBACK] =
		{.id = "S9",
		 .conditions = &osp_shape_on_several,
		 .condition_count = 1,
		 .severity = OSP_SEVERITY_FATAL,
		 .reason = "the loopback reaches no other node, so that the ranks never meet",
		 .cure = "leave it unset",
		 .source = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"},
};

int osp_shape_setting(const struct osp_judging *judging, const struct osp_rule *rule,
		      const struct osp_setting *setting, bool certain)
{
	struct osp_finding finding = {
		.rule = rule, .setting = setting, .variable = setting->name, .certain = certain};

	return judging->take(judging->context, &finding);
}

int osp_shape_option(const struct osp_judging *judging, const struct osp_rule *rule,
		     const struct osp_script_option *option, bool certain)
{
	char name[64] = "--";
	struct osp_setting setting = {.name = name,
				      .value = option->value,
				      .unexpanded = option->unexpanded,
				      .doubt = option->doubt,
				      .line = option->line,
				      .column = option->column};

	strncat(name, option->name, sizeof(name) - 3);
	return osp_shape_setting(judging, rule, &setting, certain);
}

static int find_setting(const struct osp_judging *judging, enum shape_rule rule,
			const struct osp_setting *setting, bool certain)
{
	return osp_shape_setting(judging, &shape_rules[rule], setting, certain);
}

static int find_option(const struct osp_judging *judging, enum shape_rule rule,
		       const struct osp_script_option *option, bool certain)
{
	return osp_shape_option(judging, &shape_rules[rule], option, certain);
}

/* --- the request ------------------------------------------------------------------------------ */

unsigned osp_script_nodes(const struct osp_script *script)
{
	long nodes = osp_option_number(osp_sbatch_option(osp_script_options(script), "nodes"));

	return nodes > 0 && nodes < 1000000 ? (unsigned)nodes : 0;
}

static enum osp_truth has_several(const struct osp_script *script, const struct osp_facts *facts)
{
	const struct osp_fact *fact = &facts->facts[OSP_FACT_NODES];
	unsigned nodes = osp_script_nodes(script);

	if (nodes)
		return nodes > 1 ? OSP_YES : OSP_NO;
	if (!fact->known)
		return OSP_UNKNOWN;
	return fact->version.parts[0] > 1 ? OSP_YES : OSP_NO;
}

const struct osp_script_option *osp_shape_of_step(const struct osp_judging *judging, size_t command,
						  const char *name)
{
	const struct osp_script_option *option =
		osp_command_option(judging->options, command, name);

	return option ? option : osp_sbatch_option(judging->options, name);
}

static bool leaves_gpus_open(const struct osp_judging *judging, size_t command)
{
	const struct osp_script_option *bind = osp_shape_of_step(judging, command, "gpu-bind");
	const struct osp_script_option *tres = osp_shape_of_step(judging, command, "tres-bind");
	const struct osp_script_option *flags = osp_shape_of_step(judging, command, "gres-flags");

	return (bind && osp_glob_matches("*none*", bind->value)) ||
	       (tres && osp_glob_matches("*gpu:none*", tres->value)) ||
	       (flags && osp_glob_matches("*allow-task-sharing*", flags->value));
}

/* Returns whether there are steps and each of them lets its tasks see all GPUs. */
static bool all_steps_open(const struct osp_judging *judging)
{
	bool any = false;

	for (size_t i = 0; i < judging->options->count; i++) {
		const struct osp_script_option *step = &judging->options->list[i];

		if (strcmp(step->name, "srun"))
			continue;
		if (!leaves_gpus_open(judging, step->command))
			return false;
		any = true;
	}
	return any;
}

/* Returns whether a node has one task, as far as the request says: all the node's GPUs are then the
 * task's own. */
static bool one_task_a_node(const struct osp_judging *judging,
			    const struct osp_script_option *option)
{
	long here =
		osp_option_number(osp_shape_of_step(judging, option->command, "ntasks-per-node"));
	long tasks = osp_option_number(osp_shape_of_step(judging, option->command, "ntasks"));
	long nodes = osp_option_number(osp_shape_of_step(judging, option->command, "nodes"));
	long gpus = osp_option_number(osp_shape_of_step(judging, option->command, "gpus-per-node"));

	if (strcmp(option->name, "gpus-per-task"))
		return false;
	return here == 1 || (here < 0 && nodes > 0 && tasks == nodes) ||
	       (gpus > 0 && gpus == osp_option_number(option));
}

/* Judges S1: sbatch's option once, unless every srun overrides it, and each srun's. */
static int judge_own_gpus(const struct osp_judging *judging, const struct osp_script_option *option)
{
	bool binds = !strcmp(option->name, "gpu-bind") &&
		     (osp_glob_matches("*single*", option->value) ||
		      osp_glob_matches("*per_task*", option->value));

	if (!binds && strcmp(option->name, "gpus-per-task"))
		return 0;
	if (option->unexpanded || leaves_gpus_open(judging, option->command) ||
	    one_task_a_node(judging, option))
		return 0;
	if (option->of == OSP_OPTION_OF_SBATCH && judging->all_steps_open)
		return 0;
	return find_option(judging, RULE_OWN_GPUS, option, true);
}

static size_t count_settings(const struct osp_script *script, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < osp_script_count(script); i++)
		count += !osp_script_at(script, i)->gone &&
			 !strcmp(osp_script_at(script, i)->name, name);
	return count;
}

/* Returns whether the cores of a step's tasks do not depend on --cpus-per-task: its masks are given
 * or switched off, or it runs a daemon's child. */
static bool has_cores_anyway(const struct osp_judging *judging, size_t command)
{
	const struct osp_script_option *bind = osp_shape_of_step(judging, command, "cpu-bind");
	const struct osp_script_option *program =
		osp_command_option(judging->options, command, "program");
	const char *name = program ? osp_shell_base_name(program->value) : "";

	return (bind && (osp_glob_matches("*mask_cpu:*", bind->value) ||
			 osp_glob_matches("*map_cpu:*", bind->value) ||
			 osp_glob_matches("*none", bind->value))) ||
	       !strcmp(name, "docker");
}

/*
 * Returns whether there are steps and none says how many cores its tasks get. One of several
 * usually prepares the nodes and needs few cores: if a script says it for one step, its author
 * knows about it.
 */
static bool no_step_has_cores(const struct osp_judging *judging)
{
	bool any = false;

	for (size_t i = 0; i < judging->options->count; i++) {
		const struct osp_script_option *step = &judging->options->list[i];

		if (strcmp(step->name, "srun"))
			continue;
		if (osp_command_option(judging->options, step->command, "cpus-per-task") ||
		    has_cores_anyway(judging, step->command))
			return false;
		any = true;
	}
	return any;
}

/* Judges S2: reports it once, if sbatch has the option and nothing passes it on. */
static int judge_cpus_lost(const struct osp_judging *judging)
{
	const struct osp_fact *slurm = &judging->facts->facts[OSP_FACT_SLURM];
	const struct osp_script_option *option =
		osp_sbatch_option(judging->options, "cpus-per-task");
	struct osp_range range;
	enum osp_truth loses;

	if (!option || osp_option_number(option) == 1 || !no_step_has_cores(judging) ||
	    count_settings(judging->script, "SRUN_CPUS_PER_TASK") ||
	    osp_range_parse(CPUS_LOST_RELEASES, &range, NULL))
		return 0;
	loses = slurm->known ? osp_range_holds(&range, &slurm->version) : OSP_UNKNOWN;
	return loses == OSP_NO ? 0 : find_option(judging, RULE_CPUS_LOST, option, loses == OSP_YES);
}

/* Judges S3 and S4. */
static int judge_request(const struct osp_judging *judging)
{
	const struct osp_script_options *options = judging->options;
	const struct osp_script_option *nodes = osp_sbatch_option(options, "nodes");
	const struct osp_script_option *no = osp_sbatch_option(options, "no-requeue");
	const struct osp_script_option *spares = osp_sbatch_option(options, "gang-spares");
	bool gpus = osp_sbatch_option(options, "gres") || osp_sbatch_option(options, "gpus") ||
		    osp_sbatch_option(options, "gpus-per-node") ||
		    osp_sbatch_option(options, "gpus-per-task");

	if (nodes && gpus && judging->several == OSP_YES &&
	    !osp_sbatch_option(options, "exclusive") && (!spares || !strcmp(spares->value, "0")) &&
	    find_option(judging, RULE_SHARED, nodes, true))
		return -1;
	return no ? find_option(judging, RULE_NO_REQUEUE, no, true) : 0;
}

/* --- MASTER_ADDR ------------------------------------------------------------------------------ */

static bool matches_any(const char *text, const char *const *patterns)
{
	for (; *patterns; patterns++) {
		if (osp_glob_matches(*patterns, text))
			return true;
	}
	return false;
}

static const char *const local_names[] = {"localhost", "127.*", "0.0.0.0", "::1", NULL};

static int judge_master(const struct osp_judging *judging, const struct osp_setting *setting)
{
	static const char *const own_names[] = {
		"$(hostname*",	    "`hostname*",	  "$HOSTNAME", "${HOSTNAME}",
		"$SLURMD_NODENAME", "${SLURMD_NODENAME}", NULL};
	static const char *const outside[] = {"$SLURM_SUBMIT_HOST", "${SLURM_SUBMIT_HOST}", NULL};
	enum osp_truth several = judging->several;

	if (strcmp(setting->name, "MASTER_ADDR") || several == OSP_NO || setting->one_node ||
	    setting->gone)
		return 0;
	if (setting->in_step && setting->unexpanded && matches_any(setting->value, own_names))
		return find_setting(judging, RULE_EACH_MASTER, setting, several == OSP_YES);
	if (setting->unexpanded && matches_any(setting->value, outside))
		return find_setting(judging, RULE_OUTSIDE_MASTER, setting, several == OSP_YES);
	if (!setting->unexpanded && !setting->fallback &&
	    count_settings(judging->script, "MASTER_ADDR") == 1 &&
	    matches_any(setting->value, local_names))
		return find_setting(judging, RULE_LOCAL_MASTER, setting, several == OSP_YES);
	return 0;
}

/* A list is not judged: the node decides which of its interfaces is taken. */
static int judge_interface(const struct osp_judging *judging, const struct osp_setting *setting)
{
	static const char *const names[] = {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME", NULL};
	static const char *const loopback[] = {"lo", "=lo", NULL};
	enum osp_truth several = judging->several;

	if (several == OSP_NO || setting->one_node || setting->gone || setting->unexpanded ||
	    setting->fallback || !matches_any(setting->name, names) ||
	    !matches_any(setting->value, loopback) ||
	    count_settings(judging->script, setting->name) > 1)
		return 0;
	return find_setting(judging, RULE_LOOPBACK, setting, several == OSP_YES);
}

/* Returns whether torchrun's own words say that it is of several nodes: its default is one. */
static bool of_several(const struct osp_judging *judging, size_t call)
{
	for (size_t i = 0; i < judging->options->count; i++) {
		const struct osp_script_option *one = &judging->options->list[i];

		if (one->of == OSP_OPTION_OF_PROGRAM && one->call == call &&
		    !strcmp(one->name, "nnodes"))
			return one->unexpanded ||
			       (strcmp(one->value, "1") && strcmp(one->value, "1:1"));
	}
	return false;
}

/* Judges S6 of --master-addr and --rdzv-endpoint, whose port follows a colon. */
static int judge_master_option(const struct osp_judging *judging,
			       const struct osp_script_option *option)
{
	size_t length = strcspn(option->value, ":");
	char host[16];

	if (option->of != OSP_OPTION_OF_PROGRAM || option->unexpanded || length >= sizeof(host) ||
	    (strcmp(option->name, "master-addr") && strcmp(option->name, "rdzv-endpoint")))
		return 0;
	snprintf(host, sizeof(host), "%.*s", (int)length, option->value);
	if (judging->several != OSP_YES || !matches_any(host, local_names) ||
	    !of_several(judging, option->call))
		return 0;
	return find_option(judging, RULE_LOCAL_MASTER, option, true);
}

/* --- data loaders ----------------------------------------------------------------------------- */

/* Returns the number of processes that one task starts itself (torchrun); 1 if it is not given. */
static long children_of(const struct osp_judging *judging, size_t command)
{
	for (size_t i = 0; i < judging->options->count; i++) {
		const struct osp_script_option *one = &judging->options->list[i];
		long children = osp_option_number(one);

		if (one->command == command && !strcmp(one->name, "nproc-per-node"))
			return children > 0 ? children : 1;
	}
	return 1;
}

static int judge_workers(const struct osp_judging *judging, const struct osp_script_option *option)
{
	long workers = osp_option_number(option), cores;

	if (option->of != OSP_OPTION_OF_PROGRAM || strcmp(option->name, "num-workers"))
		return 0;
	cores = osp_option_number(osp_shape_of_step(judging, option->command, "cpus-per-task"));
	if (workers < 1 || cores < 1 || workers > 100000 ||
	    workers <= cores / children_of(judging, option->command))
		return 0;
	return find_option(judging, RULE_WORKERS, option, true);
}

int osp_script_shape(const struct osp_script *script, const struct osp_facts *facts,
		     int (*take)(void *context, const struct osp_finding *finding), void *context)
{
	struct osp_judging judging = {.script = script,
				      .options = osp_script_options(script),
				      .facts = facts,
				      .take = take,
				      .context = context,
				      .several = has_several(script, facts)};

	judging.all_steps_open = all_steps_open(&judging);
	if (judge_request(&judging) || judge_cpus_lost(&judging))
		return -1;
	for (size_t i = 0; i < judging.options->count; i++) {
		const struct osp_script_option *option = &judging.options->list[i];

		if (judge_own_gpus(&judging, option) || judge_workers(&judging, option) ||
		    judge_master_option(&judging, option))
			return -1;
	}
	for (size_t i = 0; i < osp_script_count(script); i++) {
		if (judge_master(&judging, osp_script_at(script, i)) ||
		    judge_interface(&judging, osp_script_at(script, i)))
			return -1;
	}
	return osp_shape_visible(&judging) ? -1 : osp_shape_start(&judging);
}
