/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_call.h - one call of select_p_job_test() for a gang
 *
 * shadow.h says which locks its callers hold.
 */
#ifndef OSP_SHADOW_CALL_H
#define OSP_SHADOW_CALL_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "sched/shadow_slurm.h"
#include "lib/choose/choose.h"
#include "lib/choose/component_plans.h"

struct osp_effective;

/* --- shadow_try.c ----------------------------------------------------------------------------- */

/* Slurm's select_p_job_test(), as dlsym(RTLD_NEXT) found it. */
extern osp_job_test_f *shadow_slurm_job_test;

/* The arguments of one call of select_p_job_test(), as they came. */
struct shadow_call {
	job_record_t *job;
	bitstr_t *bitmap;
	uint32_t min_nodes;
	uint32_t max_nodes;
	uint32_t req_nodes;
	uint16_t mode;
	osp_list_t *candidates; /* jobs that may be preempted; may be NULL */
	osp_list_t **preempted; /* may be NULL */
	struct osp_job_test_tail tail;
	bool asked_again;  /* test only: after a no Slurm asks about more nodes */
	int rc;		   /* Slurm's last answer */
	bitstr_t *offered; /* the bitmap before we took out what --extra excludes; NULL: as it is */
	struct timespec began;
	uint32_t one_node_calls; /* of Slurm's function, by shadow_one.c */
	bool cut_short;		 /* the last answer: shadow_one.c did not look at all nodes */
};

/*
 * Asks Slurm's function a question of lib/choose: with `call->bitmap` narrowed to its nodes, and
 * with those of the call's candidates that it may preempt and that are in the way. If it returns
 * true, the bitmap, the job and *call->preempted are as Slurm left them. If false, everything but
 * call->rc is as before the call.
 */
bool shadow_try(struct shadow_call *call, const struct osp_question *question);

/*
 * Asks Slurm's function, without preempting, which of the question's nodes the gang would take
 * (OSP_ASK_WHO_NOW, OSP_ASK_WHO_EVER). Returns true with these in `taken`. Everything but call->rc
 * is as before the call.
 */
bool shadow_try_whom(struct shadow_call *call, const struct osp_question *question,
		     struct osp_nodeset *taken);

/*
 * Asks Slurm's function as the call came, with all that may be preempted (while some leave for the
 * job, only these), and takes its answer only if `accept` does (the nodes are in call->bitmap). If
 * not, returns false with everything as before
 * the call but call->rc, which is Slurm's.
 */
typedef bool shadow_accept_f(const struct shadow_call *call, void *context);
bool shadow_try_if(struct shadow_call *call, shadow_accept_f *accept, void *context);

/* Asks Slurm's function as the call came, and takes its answer. Returns what Slurm's would. */
int shadow_ask(struct shadow_call *call);

/* Returns the last time at which a start counts as one at the first moment. */
int64_t shadow_first_moment_s(const struct shadow_call *call);

/* Returns whether Slurm's answer is a start no later than the first moment that was asked about. */
bool shadow_is_first_moment(const struct shadow_call *call);

/* Returns the milliseconds since the outermost call began. */
int64_t shadow_call_elapsed_ms(const struct shadow_call *call);

/* --- shadow_one.c ----------------------------------------------------------------------------- */

/* Asks Slurm once with the call's bitmap as it is, after undoing the last yes. */
typedef bool shadow_ask_f(struct shadow_call *call, const struct osp_question *question,
			  void *context);

#if OSP_ONE_NODE_ADDS_UP
/* Returns whether Slurm may name one node for the job that has less than the whole job asks for. */
bool shadow_one_node_adds_up(const struct shadow_call *call);

/*
 * Asks the question about such a job, among the nodes of the call's bitmap, so that a yes is about
 * a node that has enough, and for a start later about the one that has it first. If it returns
 * true, Slurm's last answer is that one.
 */
bool shadow_one_node(struct shadow_call *call, const struct osp_question *question,
		     shadow_ask_f *ask, void *context);
#else
static inline bool shadow_one_node_adds_up(const struct shadow_call *call)
{
	(void)call;
	return false;
}

static inline bool shadow_one_node(struct shadow_call *call, const struct osp_question *question,
				   shadow_ask_f *ask, void *context)
{
	return ask(call, question, context);
}
#endif

/* --- shadow_stopped.c ------------------------------------------------------------------------- */

/* Where a pass over nodes, one after the other, stopped. */
struct shadow_stopped {
	int node; /* the next one to ask about */
	/* all were asked about once, and those up to `until` are asked about a second time */
	bool again;
	int until;
};

/* `asked` identifies the job, what it asks for, and the nodes. Returns false if nothing is known,
 * or if it is too old. */
bool shadow_stopped_at(uint64_t asked, struct shadow_stopped *where);
/* Does the same, and forgets it. */
bool shadow_stopped_take(uint64_t asked, struct shadow_stopped *where);
void shadow_stopped_note(uint64_t asked, const struct shadow_stopped *where);

/* --- shadow_choose.c -------------------------------------------------------------------------- */

/* Places a gang: answers select_p_job_test(). Returns what Slurm's would. */
int shadow_choose(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_promise.c ------------------------------------------------------------------------- */

/* Answers select_p_job_test() for a job for which shadow_gang_request() returned true. Returns what
 * Slurm's would. */
int shadow_place_gang(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_components.c ---------------------------------------------------------------------- */

/* Returns whether the size of the job, which nobody knows yet, counts together with that of other
 * components of its heterogeneous job. */
bool shadow_has_components(job_record_t *job);

/* Returns whether the job is a component of a heterogeneous job of which one may run in several
 * partitions, or runs. */
bool shadow_components_may_choose(const job_record_t *job);

/* Answers select_p_job_test() for such a component, for a start now or later: yes if all of them
 * can start in one domain, or are too few for a gang. Otherwise it waits and says why. */
int shadow_place_component(struct shadow_call *call, const struct osp_effective *effective);

/* --- shadow_plans.c --------------------------------------------------------------------------- */

/*
 * Begins or continues the plan of the call's job, for a start later (lib/choose/component_plans.h);
 * `scratch` gets the nodes of the call. NULL if memory ran out: nothing is remembered.
 */
struct osp_component_plan *shadow_plan_begin(const struct shadow_call *call,
					     struct osp_nodeset *scratch);

/* Returns the partition in which backfill has planned the component, which waits; NULL for none. */
const part_record_t *shadow_planned_in(const job_record_t *component);

/* Returns the nodes on which backfill has planned the component in that partition; NULL: none. */
const struct osp_nodeset *shadow_planned_on(const job_record_t *component,
					    const part_record_t *partition);

/* Forgets all plans, because the nodes have changed. */
void shadow_plans_forget(void);

/* --- shadow_memory.c -------------------------------------------------------------------------- */

/*
 * Returns the number that a job keeps: an array's own, because Slurm gives a task another one when
 * it starts it.
 */
uint32_t shadow_lasting_id(const job_record_t *job);

/* Returns what enforcing would have done with a job of mode advise, if it is the last one asked
 * about; else NULL. */
const char *shadow_advice(uint32_t job_id);
void shadow_advice_remember(uint32_t job_id, const char *words);

/* The first says whether backfill is to say why the job waits: nothing says so yet, or it was said
 * minutes ago, or one minute ago if an srun or salloc waits. The second notes that it was said now.
 */
bool shadow_must_report_waiting(const job_record_t *job, int64_t now_s);
void shadow_reported_waiting(const job_record_t *job, int64_t now_s);

/*
 * Sends a line to the srun or salloc that waits for the job, which prints it: once, and again if
 * the words change, a minute later at the earliest. Sends at most 16 lines in a MessageTimeout (at
 * least 10 s), so that clients that do not answer delay no start of a job; a client that gets none
 * for this reason gets one when its wait is explained next, and false is returned: the wait is to
 * be explained soon. Remembers four clients of jobs whose numbers are a multiple of 1,024 apart.
 * Does nothing for a batch job, or for a client that gave a name in place of its address. Queues
 * for Slurm's agent; the caller holds the job write lock.
 */
bool shadow_print_to_client(job_record_t *job, const char *words, int64_t now_s);

/* Sends a salloc of a gang a line that says where the gang is, however lately it had one of why it
 * waited. Does nothing for an srun, whose tasks have variables that say so. */
void shadow_print_placed(job_record_t *job, const char *words, int64_t now_s);

/*
 * Save, restore and forget which jobs a gang preempts, in an entry of its spank_job_env[], which
 * outlives slurmctld. It is saved after a call that preempts, restored if the chooser knows nothing
 * of the gang, and forgotten when the gang or a task of its array starts. The caller holds the job
 * write lock; restoring needs none.
 */
void shadow_victims_save(job_record_t *job);
void shadow_victims_restore(const job_record_t *job);
void shadow_victims_forget(job_record_t *job);

/*
 * Whom a job preempts about which Slurm is asked without lib/choose. The first returns whom one
 * call may preempt: while some that the job preempts are leaving, only these; it holds until the
 * next call. The second notes and saves whom an answer preempts, if nobody is leaving for the job
 * yet; `level`: what the policy holds it to.
 */
struct osp_victims shadow_victims_of(const struct shadow_call *call);
void shadow_victims_keep(const struct shadow_call *call, const char *level);

/* Writes whom the call's answer preempts, OSP_CHOOSE_VICTIMS_MAX at most; returns how many. */
uint32_t shadow_victims_list(const struct shadow_call *call, struct osp_victim *victims);

/* Returns whether a victim is being preempted, and has not gone yet. */
bool shadow_victim_leaves(const struct osp_victim *victim, int64_t now_s);

/*
 * Returns whether Slurm will repeat the question about more nodes after a no: it asks if a job that
 * cannot start could run on the nodes that are available, and only then on all, including drained
 * ones. Call it in each call for a gang, with the call as it came.
 */
bool shadow_is_asked_again(const struct shadow_call *call);

#endif
