/* SPDX-License-Identifier: GPL-2.0-or-later */
/* step_options.c - what srun's options and variables say about the number and order of tasks */
#include "spank/step_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/slurm_compat.h"
#include "lib/policy/job_options.h"

enum value { NO, OPTIONAL, MUST };

enum role {
	PLAIN,
	TASKS,
	PER_NODE,
	NODES,
	BY_GPUS,
	BY_CPUS,
	BY_TRES, /* CPUs, GPUs, or both */
	OVERCOMMITS,
	EXPORTS, /* which variables the tasks have */
	CHOOSES,
	DISTRIBUTES, /* -m: of nodes, or within a node alone */
	JOB,	     /* names the job */
	NOTHING,     /* no task of this step is started */
	BESIDE,	     /* excludes a host file */
};

struct option_row {
	const char *name;
	char letter; /* 0: none */
	unsigned char value;
	unsigned char role;
};

/* clang-format off */
static const struct option_row rows[] = {
	{"accel-bind", 0, MUST, PLAIN}, {"account", 'A', MUST, PLAIN},
	{"acctg-freq", 0, MUST, PLAIN},
	{"async", 0, NO, PLAIN}, {"autocomplete", 0, MUST, NOTHING}, {"bb", 0, MUST, PLAIN},
	{"bbf", 0, MUST, PLAIN}, {"bcast", 0, OPTIONAL, PLAIN}, {"bcast-exclude", 0, MUST, PLAIN},
	{"begin", 'b', MUST, PLAIN}, {"chdir", 'D', MUST, PLAIN}, {"cluster", 0, MUST, NOTHING},
	{"cluster-constraint", 0, MUST, PLAIN}, {"clusters", 'M', MUST, NOTHING},
	{"comment", 0, MUST, PLAIN}, {"compress", 0, OPTIONAL, PLAIN},
	{"consolidate-segments", 0, NO, PLAIN}, {"constraint", 'C', MUST, BESIDE},
	{"container", 0, MUST, PLAIN}, {"container-id", 0, MUST, PLAIN},
	{"container-type", 0, MUST, PLAIN}, {"context", 0, MUST, PLAIN},
	{"contiguous", 0, NO, PLAIN}, {"core-spec", 'S', MUST, PLAIN},
	{"cores-per-socket", 0, MUST, BESIDE}, {"cpu-bind", 0, MUST, PLAIN},
	{"cpu-freq", 0, MUST, PLAIN}, {"cpu_bind", 0, MUST, PLAIN},
	{"cpus-per-gpu", 0, MUST, PLAIN}, {"cpus-per-task", 'c', MUST, BY_CPUS},
	{"deadline", 0, MUST, PLAIN}, {"debugger-test", 0, NO, PLAIN},
	{"delay-boot", 0, MUST, PLAIN}, {"dependency", 'd', MUST, PLAIN},
	{"disable-status", 'X', NO, PLAIN}, {"distribution", 'm', MUST, DISTRIBUTES},
	{"epilog", 0, MUST, PLAIN}, {"error", 'e', MUST, PLAIN}, {"exact", 0, NO, PLAIN},
	{"exclude", 'x', MUST, BESIDE}, {"exclusive", 0, OPTIONAL, PLAIN},
	{"export", 0, MUST, EXPORTS}, {"external-launcher", 0, OPTIONAL, NOTHING},
	{"extra", 0, MUST, PLAIN}, {"extra-node-info", 'B', MUST, BESIDE},
	{"gid", 0, MUST, PLAIN}, {"gpu-bind", 0, MUST, PLAIN}, {"gpu-freq", 0, MUST, PLAIN},
	{"gpus", 'G', MUST, PLAIN}, {"gpus-per-node", 0, MUST, PLAIN},
	{"gpus-per-socket", 0, MUST, PLAIN}, {"gpus-per-task", 0, MUST, BY_GPUS},
	{"gres", 0, MUST, PLAIN}, {"gres-flags", 0, MUST, PLAIN}, {"help", 'h', NO, NOTHING},
	{"het-group", 0, MUST, BESIDE}, {"hint", 0, MUST, PLAIN}, {"hold", 'H', NO, PLAIN},
	{"ignore-signals", 0, MUST, PLAIN}, {"immediate", 'I', OPTIONAL, PLAIN},
	{"input", 'i', MUST, PLAIN}, {"interactive", 0, NO, NOTHING},
	{"job-name", 'J', MUST, PLAIN}, {"jobid", 0, MUST, JOB},
	{"kill-on-bad-exit", 'K', OPTIONAL, PLAIN}, {"label", 'l', NO, PLAIN},
	{"licenses", 'L', MUST, PLAIN}, {"mail-type", 0, MUST, PLAIN},
	{"mail-user", 0, MUST, PLAIN}, {"mcs-label", 0, MUST, PLAIN}, {"mem", 0, MUST, PLAIN},
	{"mem-bind", 0, MUST, PLAIN}, {"mem_bind", 0, MUST, PLAIN},
	{"mem-per-cpu", 0, MUST, PLAIN}, {"mem-per-gpu", 0, MUST, PLAIN},
	{"mem-update", 0, MUST, PLAIN}, {"mincpus", 0, MUST, PLAIN}, {"mpi", 0, MUST, PLAIN},
	{"msg-timeout", 0, MUST, PLAIN}, {"multi-prog", 0, NO, BESIDE},
	{"network", 0, MUST, PLAIN}, {"nice", 0, OPTIONAL, PLAIN},
	{"no-allocate", 'Z', NO, NOTHING}, {"no-kill", 'k', OPTIONAL, PLAIN},
	{"nodefile", 'F', MUST, BESIDE}, {"nodelist", 'w', MUST, BESIDE},
	{"nodes", 'N', MUST, NODES}, {"ntasks", 'n', MUST, TASKS},
	{"ntasks-per-core", 0, MUST, PLAIN}, {"ntasks-per-gpu", 0, MUST, BESIDE},
	{"ntasks-per-node", 0, MUST, PER_NODE}, {"ntasks-per-socket", 0, MUST, PLAIN},
	{"ntasks-per-tres", 0, MUST, BESIDE}, {"oom-kill-step", 0, OPTIONAL, PLAIN},
	{"open-mode", 0, MUST, PLAIN}, {"output", 'o', MUST, PLAIN},
	{"overcommit", 'O', NO, OVERCOMMITS}, {"overlap", 0, OPTIONAL, PLAIN},
	{"oversubscribe", 's', NO, PLAIN}, {"pack-group", 0, MUST, BESIDE},
	{"parsable", 0, NO, PLAIN}, {"partition", 'p', MUST, PLAIN}, {"power", 0, MUST, PLAIN},
	{"prefer", 0, MUST, PLAIN}, {"preserve-env", 'E', NO, PLAIN},
	{"priority", 0, MUST, PLAIN}, {"profile", 0, MUST, PLAIN}, {"prolog", 0, MUST, PLAIN},
	{"propagate", 0, OPTIONAL, PLAIN}, {"pty", 0, OPTIONAL, PLAIN}, {"qos", 'q', MUST, PLAIN},
	{"quiet", 'Q', NO, PLAIN}, {"quit-on-interrupt", 0, NO, PLAIN},
	{"reboot", 0, NO, PLAIN}, {"relative", 'r', MUST, BESIDE},
	{"reservation", 0, MUST, PLAIN}, {"resources", 0, MUST, PLAIN},
	{"resv-ports", 0, OPTIONAL, PLAIN}, {"segment", 0, MUST, PLAIN},
	{"send-libs", 0, OPTIONAL, PLAIN}, {"signal", 0, MUST, PLAIN},
	{"slurmd-debug", 0, MUST, PLAIN}, {"sockets-per-node", 0, MUST, BESIDE},
	{"spread-job", 0, NO, BESIDE}, {"spread-segments", 0, NO, PLAIN},
	{"stepmgr", 0, NO, PLAIN}, {"switches", 0, MUST, PLAIN}, {"task-epilog", 0, MUST, PLAIN},
	{"task-prolog", 0, MUST, PLAIN}, {"tasks-per-node", 0, MUST, PER_NODE},
	{"test-only", 0, NO, NOTHING}, {"thread-spec", 0, MUST, PLAIN},
	{"threads", 'T', MUST, PLAIN}, {"threads-per-core", 0, MUST, PLAIN},
	{"time", 't', MUST, PLAIN}, {"time-min", 0, MUST, PLAIN}, {"tmp", 0, MUST, PLAIN},
	{"treewidth", 0, MUST, PLAIN}, {"tres-bind", 0, MUST, PLAIN},
	{"tres-per-task", 0, MUST, BY_TRES}, {"uid", 0, MUST, PLAIN},
	{"unbuffered", 'u', NO, PLAIN}, {"usage", 0, NO, NOTHING},
	{"use-min-nodes", 0, NO, BESIDE}, {"verbose", 'v', NO, PLAIN},
	{"version", 'V', NO, NOTHING}, {"wait", 'W', MUST, PLAIN},
	{"wait-for-children", 0, NO, PLAIN}, {"wckey", 0, MUST, PLAIN},
	{"whole", 0, NO, PLAIN}, {"x11", 0, OPTIONAL, PLAIN},
	/* pyxis */
	{"container-image", 0, MUST, PLAIN}, {"container-mounts", 0, MUST, PLAIN},
	{"container-workdir", 0, MUST, PLAIN}, {"container-name", 0, MUST, PLAIN},
	{"container-save", 0, MUST, PLAIN}, {"container-env", 0, MUST, PLAIN},
	{"container-mount-home", 0, NO, PLAIN}, {"no-container-mount-home", 0, NO, PLAIN},
	{"container-remap-root", 0, NO, PLAIN}, {"no-container-remap-root", 0, NO, PLAIN},
	{"container-entrypoint", 0, NO, PLAIN}, {"no-container-entrypoint", 0, NO, PLAIN},
	{"container-entrypoint-log", 0, NO, PLAIN}, {"container-writable", 0, NO, PLAIN},
	{"container-readonly", 0, NO, PLAIN},
};
/* clang-format on */

/* Variables of such options. */
static const struct {
	const char *name;
	enum role role;
} variables[] = {
	{"SLURM_HOSTFILE", CHOOSES},	     {"SLURM_DISTRIBUTION", DISTRIBUTES},
	{"SLURM_SRUN_MULTI", BESIDE},	     {"SLURM_NTASKS_PER_GPU", BESIDE},
	{"SLURM_NTASKS_PER_TRES", BESIDE},   {"SLURM_HET_SIZE", BESIDE},
	{"SLURM_PACK_SIZE", BESIDE},	     {"SLURM_SPREAD_JOB", BESIDE},
	{"SLURM_USE_MIN_NODES", BESIDE},     {"SLURM_NCORES_PER_SOCKET", BESIDE},
	{"SLURM_NSOCKETS_PER_NODE", BESIDE}, {"SLURM_CLUSTERS", NOTHING},
	{"SLURM_GPUS_PER_TASK", BY_GPUS},    {"SLURM_TRES_PER_TASK", BY_TRES},
	{OSP_SRUN_CPUS_VARIABLE, BY_CPUS},   {"SLURM_OVERCOMMIT", OVERCOMMITS},
	{"SLURM_EXPORT_ENV", EXPORTS},	     {"SRUN_EXPORT_ENV", EXPORTS}, /* goes over it */
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- one option ------------------------------------------------------------------------------- */

/*
 * Keeps the strongest order so far, and the first reason for it: the user's choice, then no tasks,
 * then no host file.
 */
static void set_order(struct osp_step_options *step, enum osp_step_order order, const char *why)
{
	if (step->order == OSP_STEP_FREE || order < step->order) {
		step->order = order;
		snprintf(step->why, sizeof(step->why), "%s", why);
	}
}

/* Returns a plain number; for -N also "4-4". 0: anything else. */
static uint32_t number_of(const char *value, bool range)
{
	char *end, *last;
	unsigned long number;

	if (!value || *value < '0' || *value > '9')
		return 0;
	number = strtoul(value, &end, 10);
	if (range && *end == '-') {
		if (strtoul(end + 1, &last, 10) != number)
			return 0;
		end = last;
	}
	return *end || number > UINT32_MAX / 2 ? 0 : (uint32_t)number;
}

/* Returns whether one of the words between commas begins so: Pack, or NoPack. */
static bool has_flag(const char *value, const char *flag)
{
	for (; value; value = strchr(value, ',')) {
		value += *value == ',';
		if (!strncasecmp(value, flag, strlen(flag)))
			return true;
	}
	return false;
}

static bool is_word(const char *value, size_t length, const char *word)
{
	return strlen(word) == length && !strncasecmp(value, word, length);
}

/*
 * Takes a distribution, "block:cyclic,Pack"; the last one counts. Block, "*", is by the ranks of
 * nodes; what follows it is about the cores of a node, or packs tasks into as few nodes as can be,
 * and a host file would undo that.
 */
static void take_distribution(struct osp_step_options *step, const char *why, const char *value)
{
	size_t length = strcspn(value, ":,");
	const char *within = value + length;

	step->block = is_word(value, length, "*") || is_word(value, length, "block");
	step->flags_alone = is_word(value, length, "pack") || is_word(value, length, "nopack");
	step->no_pack = has_flag(value, "nopack");
	step->by_distribution = OSP_STEP_FREE;
	if (!step->block && !step->flags_alone)
		step->by_distribution = OSP_STEP_CHOSEN;
	else if (has_flag(value, "pack") ||
		 (*within == ':' && strspn(within, ":*") != strcspn(within, ",")))
		step->by_distribution = OSP_STEP_BESIDE;
	snprintf(step->distribution_why, sizeof(step->distribution_why), "%s", why);
}

/* Takes a number of CPUs for each task, 0 if it is not known. Of two that differ none is. */
static void take_cpus(struct osp_step_options *step, uint32_t cpus)
{
	bool differs = step->tasks_by_cpus && step->cpus_per_task != cpus;

	step->tasks_by_cpus = true;
	step->cpus_per_task = differs ? 0 : cpus;
}

/* Takes "cpu:2,gres/gpu:1". */
static void take_tres(struct osp_step_options *step, const char *value)
{
	const char *cpu = value ? strstr(value, "cpu") : NULL;

	if (cpu)
		take_cpus(step, cpu[3] ? number_of(cpu + 4, false) : 0);
	if (!cpu || strchr(value, ','))
		step->tasks_by_gpus = true;
}

/* Returns whether the value is the number of the job around us. */
static bool is_this_job(const char *value)
{
	const char *job = getenv("SLURM_JOB_ID");

	return job && value && !strcmp(job, value);
}

static void take(struct osp_step_options *step, enum role role, const char *why, const char *value)
{
	uint32_t *number = role == TASKS ? &step->tasks : &step->tasks_per_node;

	switch (role) {
	case PLAIN:
		return;
	case CHOOSES:
		set_order(step, OSP_STEP_CHOSEN, why);
		return;
	case DISTRIBUTES:
		take_distribution(step, why, value);
		return;
	case JOB:
		step->other_job = !is_this_job(value);
		return;
	case NOTHING:
		set_order(step, OSP_STEP_NO_TASKS, why);
		return;
	case BESIDE:
		set_order(step, OSP_STEP_BESIDE, why);
		return;
	case BY_GPUS:
		step->tasks_by_gpus = true;
		return;
	case EXPORTS:
		step->exports_some = value && strncasecmp(value, "ALL", 3) != 0;
		return;
	case BY_CPUS:
		take_cpus(step, number_of(value, false));
		return;
	case BY_TRES:
		take_tres(step, value);
		return;
	case OVERCOMMITS:
		step->overcommits = true;
		return;
	case NODES:
		number = &step->nodes;
		step->nodes_said = true;
		break;
	case TASKS:
		step->tasks_said = true;
		break;
	case PER_NODE:
		break;
	}
	*number = number_of(value, role == NODES);
	if (!*number)
		set_order(step, OSP_STEP_BESIDE, why);
}

/* --- words ------------------------------------------------------------------------------------ */

/* Finds one of Onespine's own options, in their table. */
static bool find_own(const char *name, size_t length, struct option_row *row)
{
	for (int id = 0; id < OSP_JOB_OPTION_COUNT; id++) {
		const struct osp_job_option *option = osp_job_option(id);

		if (strlen(option->name) != length || strncmp(option->name, name, length) != 0)
			continue;
		*row = (struct option_row){option->name, 0,
					   option->value == OSP_JOB_VALUE_MUST ? MUST : OPTIONAL,
					   PLAIN};
		return true;
	}
	return false;
}

/* Finds an option by its name, or by a beginning that no other has, as getopt_long does. */
static bool find_long(const char *name, size_t length, struct option_row *row)
{
	const struct option_row *begun = NULL;
	int matches = 0;

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (strncmp(rows[i].name, name, length) != 0)
			continue;
		begun = &rows[i];
		matches++;
		if (!rows[i].name[length]) {
			matches = 1;
			break;
		}
	}
	if (matches == 1)
		*row = *begun;
	return matches == 1 || find_own(name, length, row);
}

/* Returns how many words "--name" or "--name=value" at words[0] takes; 0: not known. */
static int take_long(char *const *words, int count, struct osp_step_options *step)
{
	const char *name = words[0] + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	bool next = false;
	char why[sizeof(step->why)];
	struct option_row row;

	if (!find_long(name, length, &row))
		return equals ? 1 : 0;
	next = row.value == MUST && !equals;
	if (next && count < 2)
		return 0;
	snprintf(why, sizeof(why), "--%s", row.name);
	take(step, (enum role)row.role, why, equals ? equals + 1 : next ? words[1] : NULL);
	return next ? 2 : 1;
}

static const struct option_row *find_letter(char letter)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].letter == letter)
			return &rows[i];
	}
	return NULL;
}

/* Returns the same for "-lun8" or "-n 8". */
static int take_letters(char *const *words, int count, struct osp_step_options *step)
{
	for (const char *at = words[0] + 1; *at; at++) {
		const struct option_row *row = find_letter(*at);
		const char why[] = {'-', *at, '\0'};
		bool next = row && row->value == MUST && !at[1];

		if (!row || (next && count < 2))
			return 0;
		take(step, (enum role)row->role, why, next ? words[1] : at + 1);
		if (row->value != NO)
			return next ? 2 : 1;
	}
	return 1;
}

static void read_words(char *const *words, int count, struct osp_step_options *step)
{
	int at = 0, taken;

	while (at < count && words[at][0] == '-' && words[at][1]) {
		if (!strcmp(words[at], "--"))
			break;
		taken = words[at][1] == '-' ? take_long(words + at, count - at, step)
					    : take_letters(words + at, count - at, step);
		if (!taken) {
			set_order(step, OSP_STEP_BESIDE, words[at]);
			break;
		}
		at += taken;
	}
	/* "srun ... : ..." is a step of several parts */
	for (; at < count; at++) {
		if (!strcmp(words[at], ":"))
			set_order(step, OSP_STEP_BESIDE, ":");
	}
}

static uint32_t number_in(const char *variable)
{
	return number_of(getenv(variable), false);
}

/* Returns how many CPUs the job has on each node, of "8(x4)"; 0: not as many on each. */
static uint32_t cpus_of_each_node(void)
{
	const char *list = getenv("SLURM_JOB_CPUS_PER_NODE");
	char number[16];
	size_t length = list ? strcspn(list, "(") : 0;

	if (!list || strchr(list, ',') || length >= sizeof(number))
		return 0;
	memcpy(number, list, length);
	number[length] = '\0';
	return number_of(number, false);
}

void osp_step_options_read(char *const *words, int count, struct osp_step_options *step)
{
	memset(step, 0, sizeof(*step));
	for (size_t i = 0; i < COUNT(variables); i++) {
		const char *value = getenv(variables[i].name);

		if (value)
			take(step, variables[i].role, variables[i].name, value);
	}
	read_words(words, count, step);
	if (step->by_distribution != OSP_STEP_FREE)
		set_order(step, step->by_distribution, step->distribution_why);
	step->node_cpus = cpus_of_each_node();
	if (!step->tasks)
		step->tasks = number_in("SLURM_NTASKS");
	if (!step->tasks)
		step->tasks = number_in("SLURM_NPROCS");
	if (!step->tasks_per_node)
		step->tasks_per_node = number_in("SLURM_NTASKS_PER_NODE");
	if (!step->nodes)
		step->nodes = number_in("SLURM_JOB_NUM_NODES");
	if (!step->nodes)
		step->nodes = number_in("SLURM_NNODES");
}
