/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * seam.h - how job_submit_onespine.so and the shadow talk inside slurmctld
 *
 * Both are built from one tree for one Slurm, but they are two shared objects, loaded one after the
 * other by Slurm. job_submit finds the shadow through Slurm's own table, which proves that the
 * shadow is in use and not only loaded: it calls select_g_job_begin() with a pointer to a `struct
 * osp_seam_call` instead of a job record. The shadow knows the call by its cookie, fills the answer
 * and returns OSP_SEAM_ANSWER; Slurm's own plugin ignores the pointer and returns SLURM_SUCCESS. No
 * job record begins with these 16 bytes (a job record begins with JOB_MAGIC or a pointer).
 */
#ifndef OSP_SEAM_H
#define OSP_SEAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/policy/config.h"
#include "lib/policy/conflict.h"
#include "lib/policy/request.h"

#define OSP_SEAM_COOKIE_0 UINT64_C(0x6f6e657370696e65) /* "onespine" */
#define OSP_SEAM_COOKIE_1 UINT64_C(0x7365616d2d303038) /* "seam-008" */
#define OSP_SEAM_ANSWER	  0x4f5350

struct job_record;

/*
 * What a job asks for: as it is submitted, or as it will be after a change. A number is 0 if it is
 * not given.
 */
struct osp_seam_job {
	const char *partition;	    /* as submitted: NULL, one name or several with commas */
	const char *reservation;    /* of a new job without a partition */
	const char *required_nodes; /* hostlist of -w, or NULL */
	const char *excluded_nodes; /* hostlist of -x, or NULL */
	uint32_t min_nodes;
	uint32_t max_nodes; /* 0: not limited */
	uint32_t tasks;
	uint32_t tasks_per_node;
	uint64_t cpus; /* in all; 0 with --overcommit */
	const char *tres_per_job;
	const char *tres_per_node;
	const char *tres_per_task;
	const char *licenses;  /* of a job in slurmctld; NULL: none */
	uint32_t nodes_beside; /* that other components take at least in the same partition */
	struct osp_shape shape;
	uint32_t spares;	 /* of min_nodes, beyond what stays */
	uint32_t segment_spares; /* of each segment; 0: the spares are the job's */
};

/*
 * Any function here may be called in any thread in which Slurm calls job_submit. The caller holds
 * Slurm's locks, at least for reading jobs, nodes and partitions (22.05 serialises job_submit; from
 * 24.11 on calls run in parallel). Sentences go to `sentence` (`sentence_bytes`;
 * OSP_ERROR_TEXT_BYTES is enough) and are always terminated.
 */
struct osp_seam {
	const char *version; /* of Onespine; the two must be equal */

	/*
	 * Merges `request` with the policy of the job's partition (of several partitions: all that
	 * they promise together, lib/policy/promise.h) into `effective`, and refuses what can never
	 * run. Returns 0, or -1 with the sentence.
	 */
	int (*resolve)(const struct osp_seam_job *job, const struct osp_request *request,
		       struct osp_effective *effective, char *sentence, size_t sentence_bytes);

	/*
	 * Gives a pending job another request, checked as at submission (`onespine set`). `uid`
	 * must own the job, or be an operator. Returns 0, or one of Slurm's errors with the
	 * sentence: ESLURM_INVALID_JOB_ID, ESLURM_ACCESS_DENIED, ESLURM_JOB_NOT_PENDING, and
	 * ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE for what a submission refuses too. (Up to 22.05
	 * the caller of slurm_update_job() sees only the number.)
	 */
	int (*set)(struct job_record *job, uid_t uid, const struct osp_request *request,
		   char *sentence, size_t sentence_bytes);

	/*
	 * Says what a pending job asks for now, and the request that it brought, so that a change
	 * of it can be judged as a submission. `partition` is the one into which it is moved; NULL:
	 * it stays where it is. The strings belong to the record and live under the
	 * caller's locks. Returns false if there is nothing to judge: the job is not pending, or it
	 * waits because another release stored its request.
	 */
	bool (*describe)(struct job_record *job, const char *partition,
			 struct osp_seam_job *described, struct osp_request *request);

	/*
	 * Decides whether the nodes of a running job may be given to the job that it expands
	 * (scontrol update NumNodes=0). Returns 0, or -1 with the sentence if the expanded job is a
	 * gang whose nodes would then be in no common domain.
	 */
	int (*merge)(struct job_record *job, char *sentence, size_t sentence_bytes);

	/*
	 * Returns a job's AdminComment, or NULL. It belongs to the record and lives under the
	 * caller's locks.
	 */
	const char *(*admin_comment)(const struct job_record *job);
};

struct osp_seam_call {
	uint64_t cookie[2];	     /* in */
	const struct osp_seam *seam; /* out */
};

#endif
