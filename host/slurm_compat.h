/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_compat.h - every test of Slurm's version in this project, and whether a node runs
 *
 * The first part needs only Slurm's installed headers (job_submit); the second, after
 * OSP_SLURM_INTERNAL, its internal ones (the shadow). What each release's source says is cited by
 * file.
 */
#ifndef OSP_SLURM_COMPAT_H
#define OSP_SLURM_COMPAT_H

#include <stdbool.h>
#include <stdint.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#define OSP_SLURM_AT_LEAST(major, minor)                                                           \
	(SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(major, minor, 0))

/* job_modify() can give the user the reason from 23.02 on (slurmctld/job_submit.c). */
#if OSP_SLURM_AT_LEAST(23, 2)
#define OSP_JOB_MODIFY_PARAMETERS(job, record, uid, err_msg)                                       \
	job_desc_msg_t *job, struct job_record *record, uint32_t uid, char **err_msg
#define OSP_JOB_MODIFY_ARGUMENTS(job, record, uid, err_msg) job, record, uid, err_msg
#define OSP_JOB_MODIFY_MESSAGE(err_msg)			    (err_msg)
#define OSP_JOB_MODIFY_REPORTS				    1
#else
#define OSP_JOB_MODIFY_PARAMETERS(job, record, uid, err_msg)                                       \
	job_desc_msg_t *job, struct job_record *record, uint32_t uid
#define OSP_JOB_MODIFY_ARGUMENTS(job, record, uid, err_msg) job, record, uid
#define OSP_JOB_MODIFY_MESSAGE(err_msg)			    NULL
#define OSP_JOB_MODIFY_REPORTS				    0
#endif

/* From 23.11 on srun takes -c from what sbatch -c sets, before from one of its own. */
#if OSP_SLURM_AT_LEAST(23, 11)
#define OSP_SRUN_CPUS_VARIABLE "SLURM_CPUS_PER_TASK"
#else
#define OSP_SRUN_CPUS_VARIABLE "SRUN_CPUS_PER_TASK"
#endif

/* --segment and --exclusive=topo came with 24.05 (slurm.h). */
#if OSP_SLURM_AT_LEAST(24, 5)
#define OSP_JOB_SEGMENT(job)	    ((job)->segment_size)
#define OSP_JOB_EXCLUSIVE_TOPO(job) ((job)->shared == JOB_SHARED_TOPO)
#else
#define OSP_JOB_SEGMENT(job)	    ((void)(job), 0)
#define OSP_JOB_EXCLUSIVE_TOPO(job) ((void)(job), false)
#endif

/* From 24.05 on a job's steps can be managed on its first node; that step manager does not learn
 * when the job shrinks. */
#ifdef STEPMGR_ENABLED
#define OSP_JOB_STEPMGR(job) (((job)->bitflags & STEPMGR_ENABLED) != 0)
#else
#define OSP_JOB_STEPMGR(job) ((void)(job), false)
#endif

/* Flags of slurm.h: a node that is powered down, or on its way down or up. */
#define OSP_ASLEEP_FLAGS                                                                           \
	(NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_UP | NODE_STATE_POWERING_DOWN |             \
	 NODE_STATE_POWER_DOWN | NODE_STATE_POWER_UP)

/*
 * Returns whether a node of that state is powered down, or on its way down or up. A node that an
 * administrator wants powered down (State=POWER_DOWN) runs as long as a job has it: Slurm powers it
 * down when the job has left it (power_save.c), and until then its place holds.
 */
static inline bool osp_is_asleep(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE, asleep = state & OSP_ASLEEP_FLAGS;

	if (base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED)
		asleep &= ~(uint32_t)NODE_STATE_POWER_DOWN;
	return asleep != 0;
}

/*
 * Returns whether a node of that state may come to run a job: now, when the jobs on it have ended,
 * or when it has started. One that does not answer slurmctld gets none, unless it is not meant to
 * run yet. slurmctld and the commands count a gang's nodes by this alike.
 */
static inline bool osp_is_up(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE;

	if (state & (NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_INVALID_REG))
		return false;
	if (base == NODE_STATE_DOWN || base == NODE_STATE_ERROR)
		return false;
	if (osp_is_asleep(state))
		return true;
	return !(state & NODE_STATE_NO_RESPOND) &&
	       (base == NODE_STATE_IDLE || base == NODE_STATE_ALLOCATED ||
		base == NODE_STATE_MIXED);
}

/* srun takes -N beside a host file up to 23.02 (common/slurm_opt.c, _validate_arbitrary()). */
#define OSP_NODES_BESIDE_HOST_FILE !OSP_SLURM_AT_LEAST(23, 11)

/* From 26.05 on a job has a rank for each of its nodes, by which the tasks of a step are laid out
 * if their distribution is block (stepmgr.c, step_layout_create()); srun asks for cyclic if there
 * are no more tasks than nodes and nobody said a distribution (launch.c). */
#define OSP_HAVE_NODE_RANKS OSP_SLURM_AT_LEAST(26, 5)

/* Prolog and Epilog can run inside the job from 24.05 on. */
#ifdef PROLOG_FLAG_RUN_IN_JOB
#define OSP_PROLOG_FLAG_RUN_IN_JOB PROLOG_FLAG_RUN_IN_JOB
#else
#define OSP_PROLOG_FLAG_RUN_IN_JOB 0
#endif

/* --spread-segments and --consolidate-segments came with 25.11 (slurm.h). */
#if OSP_SLURM_AT_LEAST(25, 11)
#define OSP_JOB_SEGMENT_FLAGS(job)                                                                 \
	(((job)->bitflags & (SPREAD_SEGMENTS | CONSOLIDATE_SEGMENTS)) != 0)
#else
#define OSP_JOB_SEGMENT_FLAGS(job) ((void)(job), false)
#endif

/* The argument of slurm_load_job() and similar functions: a job's number, from 26.05 on a step's id
 * (slurm.h). Callers give a number: configure asks Slurm's header for that with
 * SLURM_BACKWARD_COMPAT. */
#if OSP_SLURM_AT_LEAST(26, 5)
#define OSP_JOB_REFERENCE		    slurm_step_id_t
#define OSP_JOB_REFERENCE_NUMBER(reference) (reference).job_id
#else
#define OSP_JOB_REFERENCE		    uint32_t
#define OSP_JOB_REFERENCE_NUMBER(reference) (reference)
#endif

/* Frees the name that slurm_create_reservation() gives: Slurm's own memory from 26.05 on (slurm.h),
 * malloc's before. No installed header declares Slurm's free, though every libslurm exports it
 * (common/xmalloc.h). */
#if OSP_SLURM_AT_LEAST(26, 5)
void slurm_xfree_ptr(void *memory);
#define OSP_RESERVATION_NAME_FREE(name) slurm_xfree_ptr(name)
#else
#define OSP_RESERVATION_NAME_FREE(name) free(name)
#endif

/* A node's own place in Slurm's topologies came with 25.05 (slurm.h). */
#if OSP_SLURM_AT_LEAST(25, 5)
#define OSP_HAVE_NODE_TOPOLOGY		       1
#define OSP_NODE_TOPOLOGY(info)		       ((info)->topology_str)
#define OSP_NODE_UPDATE_TOPOLOGY(update, unit) ((update)->topology_str = (unit))
#else
#define OSP_HAVE_NODE_TOPOLOGY		       0
#define OSP_NODE_TOPOLOGY(info)		       ((void)(info), NULL)
#define OSP_NODE_UPDATE_TOPOLOGY(update, unit) ((void)(update), (void)(unit))
#endif

/* Frees what slurm_load_ctl_conf() gives. */
#if HAVE_DECL_SLURM_FREE_CONF
#define OSP_SLURM_CONF_FREE(conf) slurm_free_conf(conf)
#else
#define OSP_SLURM_CONF_FREE(conf) slurm_free_ctl_conf(conf)
#endif

/* Set if memory is counted: CR_MEMORY, from 25.05 on SELECT_MEMORY, of the same value (slurm.h). */
#define OSP_SELECT_MEMORY 0x0010

/* Set if tasks fill nodes one by one: CR_PACK_NODES, from 25.05 on SELECT_PACK_NODES. */
#define OSP_SELECT_PACK_NODES 0x0200

/* With SchedulerParameters=extra_constraints a job's --extra limits it to nodes whose Extra fits,
 * from 23.11 on (node_scheduler.c). */
#define OSP_HAVE_EXTRA_CONSTRAINTS OSP_SLURM_AT_LEAST(23, 11)
#if OSP_HAVE_EXTRA_CONSTRAINTS
#define OSP_JOB_INFO_EXTRA(info) ((info)->extra)
#else
#define OSP_JOB_INFO_EXTRA(info) ((void)(info), NULL)
#endif

/* Returns whether a job's most nodes are only the number of its tasks, which slurmctld writes there
 * from 26.05 on if the job says no range (_copy_job_desc_to_job_record() in job_mgr.c). */
#ifdef JOB_IMPLICIT_MAX_NODES
#define OSP_MOST_IS_OF_TASKS(flags) (((flags)&JOB_IMPLICIT_MAX_NODES) != 0)
#else
#define OSP_MOST_IS_OF_TASKS(flags) ((void)(flags), false)
#endif

#ifdef OSP_SLURM_INTERNAL

/* "List" became "list_t *" in 23.11; the struct behind both has always had this name
 * (common/list.h). */
typedef struct xlist osp_list_t;

/* The bitmap of powered-down nodes got its present name in 24.05 (slurmctld.h). */
#if OSP_SLURM_AT_LEAST(24, 5)
#define OSP_POWERED_DOWN_NODES power_down_node_bitmap
#pragma weak power_down_node_bitmap
#else
#define OSP_POWERED_DOWN_NODES power_node_bitmap
#pragma weak power_node_bitmap
#endif

/* node_name2bitmap() says which names it did not know from 24.11 on (common/node_conf.h). */
#if OSP_SLURM_AT_LEAST(24, 11)
#define OSP_NODE_NAMES_TO_BITMAP(names, bitmap) node_name2bitmap(names, false, bitmap, NULL)
#else
#define OSP_NODE_NAMES_TO_BITMAP(names, bitmap) node_name2bitmap(names, false, bitmap)
#endif

/* Sets `on` (an int) to 1 if a job may keep others from the nodes beside its own (--exclusive=topo
 * and ExclusiveTopo, 24.05 on, with topology/block), and leaves it as it is where none may. */
#if OSP_SLURM_AT_LEAST(25, 5)
#include "src/interfaces/topology.h"
#define OSP_TOPOLOGY_EXCLUSIVE(on) ((void)topology_g_get(TOPO_DATA_EXCLUSIVE_TOPO, NULL, on))
#elif OSP_SLURM_AT_LEAST(24, 5)
#include "src/interfaces/topology.h"
#define OSP_TOPOLOGY_EXCLUSIVE(on) ((void)topology_g_get(TOPO_DATA_EXCLUSIVE_TOPO, on))
#else
#define OSP_TOPOLOGY_EXCLUSIVE(on) ((void)(on))
#endif

/* GRES records and the select interface moved from common/ to interfaces/ in 23.02. */
#if OSP_SLURM_AT_LEAST(23, 2)
#include "src/interfaces/gres.h"
#include "src/interfaces/select.h"
#else
#include "src/common/gres.h"
#include "src/common/select.h"
#endif

/* The tables of select/cons_tres moved there from cons_common/ in 23.11, with select/cons_res gone.
 */
#if OSP_SLURM_AT_LEAST(23, 11)
#include "src/plugins/select/cons_tres/node_data.h"
#include "src/plugins/select/cons_tres/part_data.h"
#include "src/plugins/select/cons_tres/job_resources.h"
#else
#include "src/plugins/select/cons_common/part_data.h"
#include "src/plugins/select/cons_common/job_resources.h"
#endif
#pragma weak select_part_record

/* license_validate() got an argument in 25.05 and one in 26.05 (slurmctld/licenses.h). */
#if OSP_SLURM_AT_LEAST(26, 5)
#define OSP_LICENSE_VALIDATE(words, counts, valid)                                                 \
	license_validate(words, true, true, false, counts, valid, NULL)
#elif OSP_SLURM_AT_LEAST(25, 5)
#define OSP_LICENSE_VALIDATE(words, counts, valid)                                                 \
	license_validate(words, true, true, false, counts, valid)
#else
#define OSP_LICENSE_VALIDATE(words, counts, valid)                                                 \
	license_validate(words, true, true, counts, valid)
#endif

/* From 24.05 on a job keeps the licenses that it asked for beside those that its --tres-per-task
 * adds, and slurmctld adds them up again when that changes (job_mgr.c, _set_tot_license_req()). */
#if OSP_SLURM_AT_LEAST(24, 5)
#define OSP_JOB_CARRY_ASKED(job, add) (add(&(job)->lic_req))
#else
#define OSP_JOB_CARRY_ASKED(job, add) true
#endif

/* --exclusive: a number up to 23.11, since then a bit beside others (slurmctld.h, job_record.h). */
#ifdef OLD_WHOLE_NODE_MCS
#define OSP_WANTS_WHOLE_NODES(details) (((details)->whole_node & WHOLE_NODE_REQUIRED) != 0)
#else
#define OSP_WANTS_WHOLE_NODES(details) ((details)->whole_node == WHOLE_NODE_REQUIRED)
#endif

/* What a record keeps of --segment and --exclusive=topo (24.05 on) and of segments' flags (25.11
 * on). */
#if OSP_SLURM_AT_LEAST(24, 5)
#define OSP_RECORD_SEGMENT(details)	   ((details)->segment_size)
#define OSP_RECORD_EXCLUSIVE_TOPO(details) (((details)->whole_node & WHOLE_TOPO) != 0)
#else
#define OSP_RECORD_SEGMENT(details)	   0
#define OSP_RECORD_EXCLUSIVE_TOPO(details) false
#endif
#if OSP_SLURM_AT_LEAST(25, 11)
#define OSP_RECORD_SEGMENT_FLAGS(job)                                                              \
	(((job)->bit_flags & (SPREAD_SEGMENTS | CONSOLIDATE_SEGMENTS)) != 0)
#else
#define OSP_RECORD_SEGMENT_FLAGS(job) ((void)(job), false)
#endif

/* Puts a running batch job back into the queue, in root's name; the caller holds slurmctld's job
 * and node write locks. By its record from 25.11 on, by its number before (slurmctld.h). */
#if OSP_SLURM_AT_LEAST(25, 11)
#define OSP_JOB_REQUEUE(job) job_requeue_internal(0, (job), false, 0)
#else
#define OSP_JOB_REQUEUE(job) job_requeue(0, (job)->job_id, NULL, false, 0)
#endif

/* Makes a running job CONFIGURING; the caller holds slurmctld's job write lock. From 23.11.5 on
 * Slurm sets states by a function (slurmctld.h). */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 5)
#define OSP_JOB_SET_CONFIGURING(job) job_state_set_flag((job), JOB_CONFIGURING)
#else
#define OSP_JOB_SET_CONFIGURING(job) ((void)((job)->job_state |= JOB_CONFIGURING))
#endif

/* Makes a reservation; the caller holds slurmctld's node write lock. From 23.02 on Slurm can also
 * return a message about what is wrong with the reservation (reservation.h). */
#if OSP_SLURM_AT_LEAST(23, 2)
#define OSP_CREATE_RESERVATION(wanted) create_resv((wanted), NULL)
#else
#define OSP_CREATE_RESERVATION(wanted) create_resv(wanted)
#endif

/* The Epilog's time limit: the same as the Prolog's before 25.05 (slurm.h). */
#if OSP_SLURM_AT_LEAST(25, 5)
#define OSP_EPILOG_TIMEOUT_S (slurm_conf.epilog_timeout)
#else
#define OSP_EPILOG_TIMEOUT_S (slurm_conf.prolog_epilog_timeout)
#endif

/* Preempted node bitmaps of non-RUN_NOW answers are kept in the job from 24.11.4 on
 * (job_test.c). */
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(24, 11, 4)
#define OSP_HAVE_NODE_BITMAP_PREEMPT 1
#else
#define OSP_HAVE_NODE_BITMAP_PREEMPT 0
#endif

/* Jobs are preempted for the licenses that they hold from 24.11 on (PreemptParameters,
 * job_test.c). */
#if OSP_SLURM_AT_LEAST(24, 11)
#define OSP_HOLDS_LICENSES_OF(job, other)                                                          \
	((job)->license_list && (other)->license_list &&                                           \
	 license_list_overlap((job)->license_list, (other)->license_list))
#else
#define OSP_HOLDS_LICENSES_OF(job, other) ((void)(job), (void)(other), false)
#endif

/* From 25.05 on a running job with --time-min is planned to end by then, if slurm.conf says so
 * (select_cons_tres.c). */
#if OSP_SLURM_AT_LEAST(25, 5)
#define OSP_TIME_MIN_IS_SOFT(parameters)                                                           \
	(xstrcasestr((parameters), "time_min_as_soft_limit") != NULL)
#else
#define OSP_TIME_MIN_IS_SOFT(parameters) ((void)(parameters), false)
#endif

/* Slurm's library has job_record_create() from 24.05 on (common/job_record.h). */
#if OSP_SLURM_AT_LEAST(24, 5)
#define OSP_HAVE_JOB_RECORD_CREATE 1
#else
#define OSP_HAVE_JOB_RECORD_CREATE 0
#endif

/* select_p_job_test() itself starts no job for which there are too few licenses from 23.02 on
 * (job_test.c); before only the schedulers look at licenses. */
#define OSP_SELECT_KNOWS_LICENSES OSP_SLURM_AT_LEAST(23, 2)

/* With this answer of select_p_job_test() a job waits for its licenses; with SLURM_ERROR an srun
 * fails from 23.02 on. */
#if OSP_SLURM_AT_LEAST(23, 2)
#define OSP_ERROR_LICENSES ESLURM_LICENSES_UNAVAILABLE
#else
#define OSP_ERROR_LICENSES SLURM_ERROR
#endif

/* pack_job() takes a job's number from its job_id up to 25.05, then from its step_id, which is a
 * structure of slurm.h (job_record_pack_common() in common/job_record.c). */
#define OSP_JOB_ID_IS_SHOWN (!OSP_SLURM_AT_LEAST(25, 5))

/* Returns slurmctld's description of a node, as root sees it, in a buffer that the caller frees.
 * Before 24.05 pack_one_node() returns the bytes alone. */
#if OSP_SLURM_AT_LEAST(24, 5)
#define OSP_PACK_ONE_NODE(name) pack_one_node(SHOW_ALL, 0, (name), SLURM_PROTOCOL_VERSION)
#else
static inline buf_t *osp_pack_one_node(char *name)
{
	char *bytes = NULL;
	int count = 0;

	pack_one_node(&bytes, &count, SHOW_ALL, 0, name, SLURM_PROTOCOL_VERSION);
	return create_buf(bytes, (uint32_t)count);
}
#define OSP_PACK_ONE_NODE(name) osp_pack_one_node(name)
#endif

/*
 * The answer for a gang that waits: Slurm turns it into "nodes are busy" (node_scheduler.c). 26.05
 * has an error for "no domain of the fabric fits", ESLURM_TOPO_NO_FIT, and squeue has words for it;
 * but for several partitions Slurm keeps only "busy" as a reason to queue the job, and fails the
 * job by the answer for the last one (_select_nodes_base() in job_mgr.c).
 */
#define OSP_ERROR_NO_DOMAIN SLURM_ERROR

/* From 26.05 on select_p_job_mem_reduce() reduces a running job's memory (select.c). */
#define OSP_HAVE_JOB_MEM_REDUCE OSP_SLURM_AT_LEAST(26, 5)

/* From 26.05 on the job has a layout of the licenses of mode 3 that are left, for the nodes that it
 * may be given; a question in the mode TEST_ONLY fills in all that exist (licenses.c). */
#define OSP_HAVE_HRES_SELECT OSP_SLURM_AT_LEAST(26, 5)

/* If a job may have one node only, 26.05 tries one after the other, and adds up what they have of
 * --gpus=N and the like: the first yes may be that of a node with fewer (_get_one_res() in
 * job_test.c). */
#define OSP_ONE_NODE_ADDS_UP OSP_SLURM_AT_LEAST(26, 5)

/*
 * The tail of select_p_job_test(): excluded cores up to 23.02; a reservation's cores and GRES
 * in 23.11 and 24.05; from 24.11 also the slot that backfill looks at. OSP_PARTS_RESERVED: parts of
 * nodes are kept for a reservation.
 */
#if OSP_SLURM_AT_LEAST(24, 11)
struct osp_job_test_tail {
	resv_exc_t *reserved;
	will_run_data_t *slot;
};
#define OSP_JOB_TEST_TAIL_PARAMETERS resv_exc_t *reserved, will_run_data_t *slot
#define OSP_JOB_TEST_TAIL_VALUES     reserved, slot
#define OSP_JOB_TEST_TAIL(tail)	     (tail)->reserved, (tail)->slot
/* backfill's slot [start, end): nothing after its end is of use; 0 if it has none */
#define OSP_SLOT_START_S(tail) ((int64_t)((tail)->slot ? (tail)->slot->start : 0))
#define OSP_SLOT_END_S(tail)   ((int64_t)((tail)->slot ? (tail)->slot->end : 0))
#define OSP_PARTS_RESERVED(tail)                                                                   \
	((tail)->reserved && ((tail)->reserved->exc_cores || (tail)->reserved->core_bitmap ||      \
			      (tail)->reserved->gres_list_exc || (tail)->reserved->gres_list_inc))
#elif OSP_SLURM_AT_LEAST(23, 11)
struct osp_job_test_tail {
	resv_exc_t *reserved;
};
#define OSP_JOB_TEST_TAIL_PARAMETERS resv_exc_t *reserved
#define OSP_JOB_TEST_TAIL_VALUES     reserved
#define OSP_JOB_TEST_TAIL(tail)	     (tail)->reserved
#define OSP_PARTS_RESERVED(tail)     ((tail)->reserved != NULL)
#define OSP_SLOT_START_S(tail)	     ((void)(tail), (int64_t)0)
#define OSP_SLOT_END_S(tail)	     ((void)(tail), (int64_t)0)
#else
struct osp_job_test_tail {
	bitstr_t *excluded_cores;
};
#define OSP_JOB_TEST_TAIL_PARAMETERS bitstr_t *excluded_cores
#define OSP_JOB_TEST_TAIL_VALUES     excluded_cores
#define OSP_JOB_TEST_TAIL(tail)	     (tail)->excluded_cores
#define OSP_PARTS_RESERVED(tail)     ((tail)->excluded_cores != NULL)
#define OSP_SLOT_START_S(tail)	     ((void)(tail), (int64_t)0)
#define OSP_SLOT_END_S(tail)	     ((void)(tail), (int64_t)0)
#endif

typedef int osp_job_test_f(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes,
			   uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			   osp_list_t *candidates, osp_list_t **preempted,
			   OSP_JOB_TEST_TAIL_PARAMETERS);

#endif /* OSP_SLURM_INTERNAL */

#endif
