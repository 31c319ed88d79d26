/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_leave.c - how long to wait for a job that ends, and for a node that one has left
 *
 * Slurm waits for a job's end as long as it takes: a process that no signal ends and an Epilog that
 * hangs leave the job COMPLETING and its node in cg_node_bitmap until a person acts. Then nobody
 * knows when the node returns, and no gang waits for it.
 */
#include "sched/shadow.h"

/* The limit for an Epilog if slurm.conf sets none: it may test the node before the next job. */
#define EPILOG_S 300

/* Returns how long a normal end takes: the job's processes are asked to end, and killed, and the
 * Epilog runs; a message may be late. */
static int64_t limit_s(void)
{
	uint16_t epilog_s = OSP_EPILOG_TIMEOUT_S;
	bool is_limited = epilog_s && epilog_s != NO_VAL16 && epilog_s != INFINITE16;

	return (int64_t)slurm_conf.kill_wait + slurm_conf.unkillable_timeout +
	       slurm_conf.msg_timeout + (is_limited ? epilog_s : EPILOG_S);
}

/* Compares with what Slurm notes: when the last job that ran there began to complete
 * (make_node_comp() in node_mgr.c). */
bool shadow_node_hangs(const node_record_t *node, int64_t now_s)
{
	return !node->run_job_cnt && node->last_busy && now_s > node->last_busy + limit_s();
}

/*
 * Goes by the later of two times: for Slurm a suspended job ended when it was suspended
 * (job_mgr.c).
 */
bool shadow_job_leaves(const job_record_t *job, int64_t now_s)
{
	int64_t since_s = job->end_time > job->preempt_time ? job->end_time : job->preempt_time;

	return IS_JOB_COMPLETING(job) && now_s <= since_s + limit_s();
}
