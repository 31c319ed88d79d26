/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * controller.h - what the gate asks of slurmctld and changes there
 *
 * Every call ends at its deadline (osp_now_ms() of check/check.h), whatever slurmctld does: the
 * call itself runs in a thread that is left behind when it does not come back. Where slurmctld
 * cannot be reached, or ends before it has answered, it is asked again, after a pause that differs
 * from node to node, until the deadline.
 *
 * Calls that change something return 0 or Slurm's error number; OSP_CONTROLLER_SILENT when the
 * deadline came first. As root, in a process with one thread of its own.
 */
#ifndef OSP_CONTROLLER_H
#define OSP_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSP_CONTROLLER_SILENT (-1)

/*
 * When the slurmctld began that answers, in seconds of the epoch. It writes a change after 5 s at
 * most and a second of waiting (SAVE_MAX_WAIT and the loop around it in its state_save.c, 22.05 to
 * 26.05); one that is killed before that comes back with an older state. So what the same slurmctld
 * has known for OSP_CONTROLLER_SAVED_MS is on its disk, unless that is full or very slow.
 */
#define OSP_CONTROLLER_SAVED_MS 8000
int osp_controller_began(uint64_t until_ms, int64_t *began_s);

enum osp_controller_phase { OSP_PHASE_PENDING, OSP_PHASE_RUNNING, OSP_PHASE_ENDED };

/* A job as slurmctld knows it. Strings may be NULL. */
struct osp_controller_job {
	enum osp_controller_phase phase; /* RUNNING from its allocation on, its Prologs too */
	bool batch;
	bool requeue;
	bool reserved; /* it runs in a reservation of Slurm's */
	uint32_t restarts;
	char *nodes;
	char *required; /* by its user, as he wrote them; NULL: none */
	char *excluded;
	char *partition;
	char *admin_comment;
	uint32_t *gpus;		 /* that it has on each of its nodes, in their order */
	uint32_t gpu_node_count; /* 0: it has none anywhere, or that is not known */
	bool gpus_asked;	 /* its request or its allocation names GPUs, on whatever node */
};

/* Returns 0; ESLURM_INVALID_JOB_ID if there is none; else as above. Free with ..._job_free(). */
int osp_controller_job(uint32_t job_id, uint64_t until_ms, struct osp_controller_job *job);
void osp_controller_job_free(struct osp_controller_job *job);

/* One node's name, its reason (NULL: none) since when, and whether it is drained. */
struct osp_controller_node {
	char *name;
	char *reason;
	char *instance; /* the cloud's, as node_instance.h says; NULL: not known */
	int64_t since_s;
	int64_t boot_s;
	bool drained;	 /* or draining */
	bool idle;	 /* no job on it */
	uint32_t gpus;	 /* of its GRES, whatever their type */
	bool responding; /* neither down nor not responding */
};

struct osp_controller_nodes {
	struct osp_controller_node *nodes;
	uint32_t count;
};

int osp_controller_nodes(uint64_t until_ms, struct osp_controller_nodes *nodes);
void osp_controller_nodes_free(struct osp_controller_nodes *nodes);
const struct osp_controller_node *osp_controller_node(const struct osp_controller_nodes *nodes,
						      const char *name);

/* Writes the hostlist of the nodes of `partition` in *nodes, malloc'd. */
int osp_controller_partition(const char *partition, uint64_t until_ms, char **nodes);

/* Drains `node`; with a NULL `reason` the one that it has stays. */
int osp_controller_drain(const char *node, const char *reason, uint64_t until_ms);
int osp_controller_undrain(const char *node, uint64_t until_ms);

/* The maintenance reservation of root's in which a recheck has `node`, and no other node; it has no
 * end. */
#define OSP_TRIAL_NAME_BYTES 96
const char *osp_controller_trial_name(const char *node, char name[OSP_TRIAL_NAME_BYTES]);
int osp_controller_reserve(const char *node, uint64_t until_ms);

/*
 * Before, it ends the jobs that wait in it for a recheck that has ended: OSP_TRIAL_JOB of root's,
 * sent OSP_TRIAL_QUIET_S ago or before. A slurmctld that comes back with an older state has them
 * again, and nobody else ends them.
 */
#define OSP_TRIAL_JOB "onespine-recheck"
int osp_controller_unreserve(const char *node, uint64_t until_ms);

/*
 * The nodes inside such reservations that no recheck uses, on whatever host: each was made
 * OSP_TRIAL_QUIET_S ago or before, and had no job since then, but for those that wait so. Of a
 * reservation that differs in anything from what osp_controller_reserve() makes nothing is said.
 * *nodes, an array with NULL at its end, is to be freed with osp_controller_trials_free(), also
 * after an error.
 */
#define OSP_TRIAL_QUIET_S 180 /* longer than a recheck takes from one of its calls to the next */
int osp_controller_trials(uint64_t until_ms, char ***nodes);
void osp_controller_trials_free(char **nodes);

int osp_controller_requeue(uint32_t job_id, bool hold, uint64_t until_ms);
int osp_controller_end(uint32_t job_id, uint64_t until_ms);

/* Changes what is not NULL: the nodes of a running job (fewer than it has), the nodes that a
 * pending one must not get ("" = none), the AdminComment. */
struct osp_controller_change {
	const char *nodes;
	const char *excluded;
	const char *admin_comment;
};

int osp_controller_change(uint32_t job_id, const struct osp_controller_change *change,
			  uint64_t until_ms);

/* Prints a line on the standard error of the job's salloc or srun. */
int osp_controller_notify(uint32_t job_id, const char *words, uint64_t until_ms);

/* Returns Slurm's words for an error number that one of these returned. */
const char *osp_controller_words(int error);

#endif
