/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurmctld.h - what of slurmctld the shadow sees, for unit tests of sched/
 *
 * Nodes n1, n2 ... in one partition, jobs, and a select_cons_tres.so of Slurm's that knows whole
 * nodes alone. Records are Slurm's own, from the headers that the shadow is compiled with, in
 * Slurm's memory; bitmaps, lists and the allocator are those of Slurm's library. What slurmctld
 * itself defines, its log and the functions that the shadow wraps are here. One thread.
 */
#ifndef OSP_TESTS_FAKE_SLURMCTLD_H
#define OSP_TESTS_FAKE_SLURMCTLD_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "sched/shadow.h"

/* What a test sets. fake_slurm_begin() puts all of it to 0. */
struct fake_slurm {
	bool is_client;	   /* what loads the plugin is no slurmctld */
	bool is_operator;  /* what slurmctld says of any user */
	const char *lacks; /* a function that Slurm's plugin does not have */
	int rc; /* what the functions of Slurm's plugin answer, but for select_p_job_test() */
	osp_job_test_f *job_test; /* its answer in place of fake_job_test() */
	uint32_t tests;		  /* how often it was asked */
	uint32_t test_ms;	  /* how much later the monotonic clock is after each question */
	uint32_t late_ms;	  /* and for what else takes time */
	uint16_t last_mode;
	uint32_t locks;	       /* how often slurmctld's lock was taken */
	uint32_t ends_at_lock; /* slurmctld ends while this lock is waited for; 0: never */
	uint32_t requeues;     /* how often a job was put back */
	int requeue_rc;	       /* what is answered instead */
	/* called with what a client would be told of a job, a node or a partition */
	void (*at_description)(enum shadow_record of, void *description);
	int unpack_rc;			/* what unpack_msg() returns instead */
	bool hides_nodes;		/* no node is described */
	bool faults;			/* reading a record ends with a signal */
	jmp_buf at_fatal;		/* where slurmctld would end */
	uint32_t qos_locks;		/* taken, and not given back */
	bool reads_another_partition;	/* of a job */
	void (*at_lock)(uint32_t lock); /* called before the lock of this number is taken */
	/* the reservation that there is ("" for none), how often one was made, and what is answered
	 * instead */
	struct fake_reservation {
		char name[64], nodes[64], users[16];
		uint64_t flags;
		time_t start, end;
		part_record_t *partition; /* NULL: none */
	} reservation;
	uint32_t reservations;
	int reserve_rc;
	int enter_rc;		/* that a job may not use it */
	char powered_down[256]; /* the nodes that were told to, list by list */
	void (*at_unlock)(
		uint32_t lock); /* called when the lock of this number has been given back */
	uint32_t schedules;	/* how often a run of the scheduler was asked for */
	uint32_t user_messages; /* lines sent to an srun or salloc, and the last one */
	char user_message[512];
	bool exclusive_topo; /* a job may keep the rest of its block empty (24.05 on) */
	/* says whether a job and a row of select_part_record have a processor in common; NULL: none
	 */
	bool (*overlaps)(const job_resources_t *resources, const part_row_data_t *row);
	int last_candidates; /* how many jobs it was last offered to preempt; -1: no list */
};

extern struct fake_slurm fake_slurm;

/* Makes a cluster of `node_count` idle nodes of 8 processors, 1000 MiB and 8 GPUs, in the default
 * partition "gpu", with a folder of its own for slurm.conf and StateSaveLocation. fake_slurm_end()
 * frees it, with all jobs. */
void fake_slurm_begin(uint32_t node_count);
void fake_slurm_end(void);

/* Makes that cluster with an onespine.topology of leaves of `leaf_nodes` nodes, two leaves a spine,
 * and with `config` as onespine.yaml; the shadow reads both. */
void fake_shadow_begin(uint32_t node_count, uint32_t leaf_nodes, const char *config);
void fake_shadow_end(void);

/* A topology file of one leaf, n[1-4], and the name that the leaf of the first node has in force,
 * or "none". */
#define FAKE_TOPOLOGY(name)                                                                        \
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": "                         \
	"[{\"level\": \"leaf\", \"name\": \"" name "\", \"nodes\": \"n[1-4]\"}]}"
const char *fake_leaf_of_first(void);

/* Writes a file beside slurm.conf; NULL removes it. `folder`: "" or "state/". */
void fake_slurm_file(const char *name, const char *text);
const char *fake_slurm_path(const char *name);

/* What was logged since the last call. */
const char *fake_slurm_log(void);

/* Nodes first .. first + count - 1, from 0, in Slurm's memory. */
bitstr_t *fake_bitmap(uint32_t first, uint32_t count);

part_record_t *fake_partition(const char *name, uint32_t first, uint32_t count);

/* A pending job of so many nodes of the default partition, of user 1000; it is in job_list. */
job_record_t *fake_job(uint32_t id, uint32_t nodes);

/* It runs on these nodes, whole, until then; select_p_job_begin() is not called. */
void fake_job_runs(job_record_t *job, uint32_t first, uint32_t count, time_t end);

/* Adds an entry of spank_job_env[]. */
void fake_job_option(job_record_t *job, const char *entry);

/* A list of one generic resource: what a job asks for (of each node, of all), or a node has. */
osp_list_t *fake_job_gres(const char *name, uint64_t per_node, uint64_t per_job);
osp_list_t *fake_node_gres(const char *name, uint64_t count);

/* Adds a generic resource to such a list. */
void fake_add_gres(osp_list_t *list, const char *name, void *data);

/* select_p_job_test() of a plugin that gives whole nodes: the lowest of the bitmap that are idle;
 * later, those that are idle first. Jobs that may be preempted hold nothing, and are given back. */
int fake_job_test(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes, uint32_t max_nodes,
		  uint32_t req_nodes, uint16_t mode, osp_list_t *candidates, osp_list_t **preempted,
		  OSP_JOB_TEST_TAIL_PARAMETERS);

#endif
