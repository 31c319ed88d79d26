/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step_options.h - what srun's own words and variables say about the number and the order of tasks
 *
 * SPANK calls its plugins before srun reads its options, and a host file must exist by then. So the
 * words are read here as getopt_long reads them for srun: options up to the first other word. The
 * options are those of Slurm 22.05 to 26.05, Onespine's and pyxis'; any other without "=" may have
 * the next word as its value, so that nothing after it is certain.
 *
 * No shared state, no allocation.
 */
#ifndef OSP_STEP_OPTIONS_H
#define OSP_STEP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum osp_step_order {
	OSP_STEP_FREE,	   /* nothing says how tasks are ordered */
	OSP_STEP_CHOSEN,   /* the user orders them: -m, a host file */
	OSP_STEP_NO_TASKS, /* starts no task of this step: --help, --test-only, .. */
	OSP_STEP_BESIDE,   /* `why` excludes a host file: -w, --multi-prog, .. */
};

struct osp_step_options {
	enum osp_step_order order;
	char why[40];			     /* "-w", "--exclude", "SLURM_SRUN_MULTI" */
	enum osp_step_order by_distribution; /* what -m says; `order` has it, too */
	char distribution_why[40];
	uint32_t tasks;		     /* -n; 0: not said */
	uint32_t tasks_per_node;     /* --ntasks-per-node; 0: not said */
	uint32_t nodes;		     /* -N; 0: not said */
	bool tasks_said, nodes_said; /* on the command line */
	bool block;		     /* -m says block, which is by the ranks of nodes */
	bool flags_alone;	     /* -m says Pack or NoPack, and nothing of the order of nodes */
	bool no_pack;		     /* -m says NoPack */
	bool exports_some;	     /* --export names variables, or NONE: not all are the tasks' */
	bool other_job;		     /* --jobid names another job than SLURM_JOB_ID */
	bool tasks_by_cpus;	/* -c: as many tasks as the nodes hold, if nothing says how many */
	bool overcommits;	/* -O: which may be more than they have CPUs for */
	uint32_t cpus_per_task; /* 0: not known */
	uint32_t node_cpus;	/* what the job has on each node; 0: not known, or not the same */
	bool tasks_by_gpus;	/* --gpus-per-task: the number of tasks may follow from GPUs */
};

/* Reads srun's own `words`, without its name, and the environment. */
void osp_step_options_read(char *const *words, int count, struct osp_step_options *step);

#endif
