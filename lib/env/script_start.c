/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_start.c - finds what keeps a script from being read, and its processes from meeting */
#include "lib/env/script_shape_private.h"

#include <stdlib.h>
#include <string.h>

#define PRIVILEGED_PORTS 1024
#define PORTS		 65536
/* More are no real numbers of one node. */
#define TASKS_MOST 1024
#define GPUS_MOST  1024

static const struct osp_rule late_rule = {
	.id = "S10",
	.severity = OSP_SEVERITY_HARMFUL,
	.reason =
		"sbatch reads no #SBATCH after the first command, so that the job is not what the "
		"line asks for",
	.cure = "move the line above the first command",
	.source = "https://slurm.schedmd.com/sbatch.html"};

static const struct osp_rule indented_rule = {
	.id = "S15",
	.severity = OSP_SEVERITY_HARMFUL,
	.reason = "sbatch reads #SBATCH only where a line begins with it, so that the job is not "
		  "what the line asks for",
	.cure = "no blanks before it, or another comment",
	.source = "https://github.com/SchedMD/slurm/blob/slurm-22-05-8-1/src/sbatch/opt.c"};

static const struct osp_rule dos_rule = {
	.id = "S11",
	.severity = OSP_SEVERITY_FATAL,
	.reason = "sbatch refuses a script with line ends of DOS, and a shell takes each CR for a "
		  "part "
		  "of the last word",
	.cure = "sed -i 's/\\r$//' on the file",
	.source = "https://github.com/SchedMD/slurm/blob/slurm-22-05-8-1/src/sbatch/sbatch.c"};

static const struct osp_rule too_many_rule = {
	.id = "S12",
	.severity = OSP_SEVERITY_FATAL,
	.reason = "each task of a node (--ntasks-per-node) starts so many processes, more than the "
		  "node has GPUs",
	.cure = "--ntasks-per-node=1 beside torchrun, or no torchrun",
	.source = "https://pytorch.org/docs/stable/elastic/run.html"};

static const struct osp_rule port_rule = {
	.id = "S13",
	.severity = OSP_SEVERITY_FATAL,
	.reason = "rank 0 of a user cannot listen on a port below 1024, and there is none above "
		  "65535",
	.cure = "a port from 1024 to 65535 that nothing uses, such as 29500",
	.source = "https://pytorch.org/docs/stable/distributed.html"};

static const struct osp_rule one_start_rule = {.id = "S14",
					       .conditions = &osp_shape_on_several,
					       .condition_count = 1,
					       .severity = OSP_SEVERITY_FATAL,
					       .reason =
						       "the batch script runs on the first node "
						       "alone, so that this one waits for those of "
						       "the other nodes for ever",
					       .cure = "srun --ntasks-per-node=1 before it",
					       .source = "https://slurm.schedmd.com/sbatch.html"};

/* --- what sbatch reads ------------------------------------------------------------------------ */

static int judge_late(const struct osp_judging *judging, const struct osp_script_option *option)
{
	struct osp_setting setting = {.name = option->name,
				      .value = option->value,
				      .line = option->line,
				      .column = option->column};

	if (option->of != OSP_OPTION_OF_NOBODY)
		return 0;
	return osp_shape_setting(judging, option->column > 1 ? &indented_rule : &late_rule,
				 &setting, true);
}

static int judge_line_ends(const struct osp_judging *judging)
{
	struct osp_setting setting = {.name = "line end",
				      .value = "CR LF",
				      .line = osp_script_dos_line(judging->script),
				      .column = 1};

	return setting.line ? osp_shape_setting(judging, &dos_rule, &setting, true) : 0;
}

/* --- processes -------------------------------------------------------------------------------- */

/* Returns whether the environment may give srun its tasks, which then go before those of sbatch. */
static bool tasks_are_set(const struct osp_script *script)
{
	static const char *const names[] = {"SLURM_NTASKS_PER_NODE", "SLURM_NTASKS",
					    "SLURM_NPROCS"};

	for (size_t i = 0; i < osp_script_count(script); i++) {
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++) {
			if (!strcmp(osp_script_at(script, i)->name, names[j]))
				return true;
		}
	}
	return false;
}

/* Returns the tasks of a node, or -1 if the script does not say: so if srun's options may go on in
 * a variable. */
static long tasks_of_node(const struct osp_judging *judging, size_t command)
{
	const struct osp_script_option *program =
		osp_command_option(judging->options, command, "program");
	const struct osp_script_option *all =
		osp_command_option(judging->options, command, "ntasks");
	long nodes = osp_option_number(osp_shape_of_step(judging, command, "nodes"));
	long tasks = osp_option_number(all);

	if ((program && program->unexpanded) || tasks_are_set(judging->script))
		return -1;
	if (osp_command_option(judging->options, command, "ntasks-per-node") || !all)
		return osp_option_number(osp_shape_of_step(judging, command, "ntasks-per-node"));
	return nodes > 0 && tasks > 0 ? (tasks + nodes - 1) / nodes : -1;
}

/* Returns the number in "8", "gpu:8" or "gpu:h100:8", or -1. */
static long gpus_in(const struct osp_script_option *option)
{
	const char *last = option ? strrchr(option->value, ':') : NULL;
	struct osp_script_option number;

	if (!option || strchr(option->value, ','))
		return -1;
	number = *option;
	number.value = last ? last + 1 : option->value;
	return osp_option_number(&number);
}

/* Returns the GPUs in --gres=gpu:8,nvme:1, or -1. */
static long gpus_in_gres(const struct osp_script_option *option)
{
	const char *at = option ? option->value : NULL;
	struct osp_script_option one;
	char entry[64];
	size_t length;

	for (; at && *at; at += length + (at[length] == ',')) {
		length = strcspn(at, ",");
		if (strncmp(at, "gpu:", 4) != 0 || length >= sizeof(entry))
			continue;
		memcpy(entry, at, length);
		entry[length] = '\0';
		one = *option;
		one.value = entry;
		return gpus_in(&one);
	}
	return -1;
}

long osp_shape_gpus(const struct osp_judging *judging, size_t command, long tasks)
{
	long of_task = gpus_in(osp_shape_of_step(judging, command, "gpus-per-task"));
	long gpus = gpus_in(osp_shape_of_step(judging, command, "gpus-per-node"));
	long nodes = osp_option_number(osp_shape_of_step(judging, command, "nodes"));

	if (gpus <= 0)
		gpus = gpus_in_gres(osp_shape_of_step(judging, command, "gres"));
	if (gpus <= 0 && nodes > 0) {
		gpus = gpus_in(osp_shape_of_step(judging, command, "gpus"));
		gpus = gpus > 0 ? (gpus + nodes - 1) / nodes : gpus;
	}
	return gpus <= 0 && of_task > 0 && of_task <= GPUS_MOST ? of_task * tasks : gpus;
}

/* Judges S12: torchrun's processes, times the tasks that run it. */
static int judge_processes(const struct osp_judging *judging,
			   const struct osp_script_option *option)
{
	long processes = osp_option_number(option), tasks, gpus;

	if (option->of != OSP_OPTION_OF_PROGRAM || strcmp(option->name, "nproc-per-node") != 0 ||
	    !option->in_step || !option->torchrun || processes < 2 || processes > TASKS_MOST)
		return 0;
	tasks = tasks_of_node(judging, option->command);
	if (tasks < 2 || tasks > TASKS_MOST)
		return 0;
	gpus = osp_shape_gpus(judging, option->command, tasks);
	if (gpus <= 0 && osp_shape_of_step(judging, option->command, "gpus-per-task"))
		return 0;
	/* where the GPUs are not said, as many of both are one each for the same GPUs */
	if (gpus > 0 ? tasks * processes <= gpus : tasks != processes)
		return 0;
	return osp_shape_option(judging, &too_many_rule, option, true);
}

/* Judges S14: torchrun of several nodes in a script that starts nothing on other nodes. */
static int judge_one_start(const struct osp_judging *judging,
			   const struct osp_script_option *option)
{
	static const char *const all[] = {"$SLURM_NNODES", "${SLURM_NNODES}",
					  "$SLURM_JOB_NUM_NODES", "${SLURM_JOB_NUM_NODES}"};
	bool asks = !option->unexpanded && strtol(option->value, NULL, 10) > 1;
	struct osp_script_option doubted = *option;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		asks |= !strcmp(option->value, all[i]);
	if (option->of != OSP_OPTION_OF_PROGRAM || strcmp(option->name, "nnodes") != 0 || !asks ||
	    !option->torchrun || judging->options->starts_elsewhere || judging->several != OSP_YES)
		return 0;
	if (judging->options->may_start_elsewhere && doubted.doubt == OSP_DOUBT_NONE)
		doubted.doubt = OSP_DOUBT_STARTED;
	return osp_shape_option(judging, &one_start_rule, &doubted, true);
}

/* --- ports ------------------------------------------------------------------------------------ */

/* Returns whether the text is a port on which a user's program cannot listen. 0 leaves the choice
 * to the system. */
static bool is_bad_port(const char *text)
{
	long port = osp_whole_number(text);

	return port > 0 && (port < PRIVILEGED_PORTS || port >= PORTS);
}

/* Returns whether a later setting adds to the value, so that programs get another. */
static bool is_added_to(const struct osp_script *script, const struct osp_setting *setting)
{
	for (size_t i = osp_script_count(script); i-- > 0;) {
		const struct osp_setting *one = osp_script_at(script, i);

		if (one == setting)
			break;
		if (one->adds && !strcmp(one->name, setting->name))
			return true;
	}
	return false;
}

static int judge_port(const struct osp_judging *judging, const struct osp_setting *setting)
{
	if (strcmp(setting->name, "MASTER_PORT") != 0 || setting->unexpanded || setting->gone ||
	    !is_bad_port(setting->value) || is_added_to(judging->script, setting))
		return 0;
	return osp_shape_setting(judging, &port_rule, setting, true);
}

/* Returns whether the endpoint is that of a server (--rdzv-backend=etcd-v2). */
static bool meets_elsewhere(const struct osp_judging *judging,
			    const struct osp_script_option *option)
{
	for (size_t i = 0; i < judging->options->count; i++) {
		const struct osp_script_option *one = &judging->options->list[i];

		if (one->of == OSP_OPTION_OF_PROGRAM && one->call == option->call &&
		    !strcmp(one->name, "rdzv-backend") && !strncmp(one->value, "etcd", 4))
			return true;
	}
	return false;
}

static int judge_port_option(const struct osp_judging *judging,
			     const struct osp_script_option *option)
{
	const char *port = option->value;

	if (option->of != OSP_OPTION_OF_PROGRAM)
		return 0;
	if (!strcmp(option->name, "rdzv-endpoint"))
		port = strrchr(port, ':') ? strrchr(port, ':') + 1 : "";
	else if (strcmp(option->name, "master-port") != 0 || option->unexpanded)
		return 0;
	return is_bad_port(port) && !meets_elsewhere(judging, option)
		       ? osp_shape_option(judging, &port_rule, option, true)
		       : 0;
}

int osp_shape_start(const struct osp_judging *judging)
{
	if (judge_line_ends(judging))
		return -1;
	for (size_t i = 0; i < judging->options->count; i++) {
		const struct osp_script_option *option = &judging->options->list[i];

		if (judge_late(judging, option) || judge_processes(judging, option) ||
		    judge_one_start(judging, option) || judge_port_option(judging, option))
			return -1;
	}
	for (size_t i = 0; i < osp_script_count(judging->script); i++) {
		if (judge_port(judging, osp_script_at(judging->script, i)))
			return -1;
	}
	return 0;
}
