/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spares.h - a job's SLURM_* variables after the gate released its spare nodes
 *
 * Slurm writes them from the nodes that were allocated, and never again. For a job that had spares,
 * slurmctld is asked which nodes stayed: once by the batch script's step, and by each srun that is
 * typed in a salloc shell, whose own variables no plugin can reach. Ranks follow the order of the
 * nodes, which stays. If anything fails here, the variables stay as they are. One thread.
 */
#ifndef OSP_SPARES_H
#define OSP_SPARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * job_submit marks a batch job that had spares with it; it is removed once the variables are right.
 */
#define OSP_SPARES_VARIABLE "ONESPINE_SPARES"

/* Access to the variables: of this process, or of a task. */
struct osp_job_variables {
	/* Returns whether it is set, and writes its whole value into `value`. */
	bool (*get)(void *context, const char *name, char *value, size_t value_bytes);
	void (*set)(void *context, const char *name, const char *value);
	void *context;
};

/* Asks about job `job_id` and corrects the variables if it has fewer nodes than they say. */
void osp_spares_correct(const struct osp_job_variables *variables, uint32_t job_id);

#endif
