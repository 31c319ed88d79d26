/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_options.h - the options of sbatch, salloc and srun, in one table
 *
 * A row holds all that is fixed about an option; the code that uses the value defines its meaning.
 * The row gives its registration (spank/options.h), the names under which its value travels, its
 * variable, and what tests/check/manuals looks for in onespine.so(8) and onespine.yaml(5).
 * HACKING.md adds one as an example. Constants only: any thread, any daemon.
 */
#ifndef OSP_JOB_OPTIONS_H
#define OSP_JOB_OPTIONS_H

#include <stdbool.h>

/*
 * row(ID, word, NAME, ARGUMENT, value, whose, KEY of onespine.yaml, USAGE)
 *
 * ID and word are the name with '_' for '-'. value is MUST or MAY: whether --name=VALUE needs its
 * value. whose is JOB if slurmctld or the gate obeys the option, so that it belongs to one
 * submission and to none inside it, and STEP if the nodes obey it, so that steps inherit it.
 */
/* clang-format off */
#define OSP_JOB_OPTIONS(row) \
	row(GANG, gang, "gang", "LEVEL[@TIME]", MAY, JOB, "gang", \
		"all nodes on one spine (or one LEVEL), or wait") \
	row(GANG_DOMAINS, gang_domains, "gang-domains", "MAX", MUST, JOB, "gang", \
		"in at most MAX domains of the level instead of one") \
	row(GANG_SEGMENT, gang_segment, "gang-segment", "LEVEL:N[,LEVEL:N]", MUST, JOB, "gang", \
		"sets of N nodes, each in one LEVEL below the gang's, nested") \
	row(GANG_LAYOUT, gang_layout, "gang-layout", "tp8,pp8[,..][,order=..]", MUST, JOB, "gang", \
		"the parallel groups of the job: tp, cp and ep groups stay together") \
	row(GANG_KEEP, gang_keep, "gang-keep", "GROUP:LEVEL[,GROUP:LEVEL]", MUST, JOB, "gang", \
		"each group of the layout (pp, dp, ep, ..) in one LEVEL below the gang's") \
	row(GANG_SPARES, gang_spares, "gang-spares", "K", MUST, JOB, "spares", \
		"allocate K nodes more, keep the best when all were checked") \
	row(GANG_CHECK, gang_check, "gang-check", "off|passive|quick", MUST, JOB, "depth", \
		"how deep nodes are checked before the job starts; never less than the site's " \
		"minimum") \
	row(GANG_ENV, gang_env, "gang-env", "auto|off|explain", MUST, STEP, "env", \
		"NCCL, libfabric and CUDA variables as the nodes need them") \
	row(GANG_BIND, gang_bind, "gang-bind", "auto|off|verbose", MUST, STEP, "bind", \
		"each task on the cores near its GPUs")
/* clang-format on */

/* The name of a value in slurmctld's spank_job_env[], where "=" follows it. In a Prolog's
 * environment "SPANK_" precedes it. */
#define OSP_JOB_ENTRY(word) "_SLURM_SPANK_OPTION_onespine_" #word
/* The name under which sbatch and salloc leave the value in the environment of their job. */
#define OSP_JOB_OUTER(word) "SLURM_SPANK_" OSP_JOB_ENTRY(word)
/* The variable of the option. */
#define OSP_JOB_VARIABLE(ID) "ONESPINE_" #ID

enum osp_job_option_id {
#define OSP_JOB_ROW(ID, word, name, argument, value, whose, key, usage) OSP_JOB_##ID,
	OSP_JOB_OPTIONS(OSP_JOB_ROW)
#undef OSP_JOB_ROW
		OSP_JOB_OPTION_COUNT
};

enum osp_job_option_value { OSP_JOB_VALUE_MUST = 1, OSP_JOB_VALUE_MAY = 2 }; /* SPANK's has_arg */
enum osp_job_option_whose { OSP_JOB_OPTION_OF_JOB, OSP_JOB_OPTION_OF_STEP };

struct osp_job_option {
	const char *name;     /* without the dashes */
	const char *argument; /* the name of its value */
	const char *usage;    /* one line of --help */
	const char *entry;    /* OSP_JOB_ENTRY() */
	const char *outer;    /* OSP_JOB_OUTER() */
	const char *variable; /* OSP_JOB_VARIABLE() */
	enum osp_job_option_value value;
	enum osp_job_option_whose whose;
};

const struct osp_job_option *osp_job_option(enum osp_job_option_id id);

#endif
