/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_spares.h - --gang-spares: more nodes than the job asked for, the best of which stay
 *
 * The job is made K nodes larger here, and the gate releases as many before its first process
 * starts (lib/gate/gate_verdict.h). What Slurm works out from the number of nodes has to be
 * right for both numbers, so tasks are counted for each node, not in all. While they are allocated
 * the spares count against every limit as any node does.
 *
 * Any thread: no shared state.
 */
#ifndef OSP_JOB_SPARES_H
#define OSP_JOB_SPARES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <slurm/slurm.h>

#include "lib/policy/job_options.h"
#include "lib/policy/spares.h"

/* The option as it reaches slurmctld, and its variable. */
#define OSP_SPANK_SPARES	 OSP_JOB_ENTRY(gang_spares) "="
#define OSP_GANG_SPARES_VARIABLE OSP_JOB_VARIABLE(GANG_SPARES)
/* What it writes into a batch job's environment, for onespine.so. */
#define OSP_SPARES_MARK "ONESPINE_SPARES="

/*
 * Reads how many spares were asked for, by the option or else by the value of its variable (NULL:
 * none); their count is 0 if none were. Returns 0, or -1 with a sentence.
 */
int osp_job_spares_read(const job_desc_msg_t *job, const char *variable, struct osp_spares *spares,
			char *sentence, size_t sentence_bytes);

/*
 * Makes the segments of the request, which has those of a layout already, larger by the spares of
 * each segment, and sets `all` to the number of spares. Spares of the job leave segments as they
 * are. Returns 0, or -1 with a sentence: there are no segments, or they cannot grow.
 */
int osp_job_spares_in_segments(const job_desc_msg_t *job, const struct osp_spares *spares,
			       struct osp_request *request, uint32_t *all, char *sentence,
			       size_t sentence_bytes);

/* Makes the job `spares` nodes larger. Returns 0, or -1 with a sentence and the job unchanged if
 * such a job cannot have spares. */
int osp_job_spares_add(job_desc_msg_t *job, uint32_t spares, char *sentence, size_t sentence_bytes);

#endif
