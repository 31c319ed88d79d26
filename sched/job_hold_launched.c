/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_hold_launched.c - gangs whose nodes were being launched when Slurm was updated */
#include "onespine_config.h"

#include "sched/job_hold_launched.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "lib/policy/note.h"
#include "lib/policy/sentences.h"
#include "sched/slurm_exports.h"

/* Slurm looks once in 30 s whether the nodes of a job run (controller.c, PERIODIC_TIMEOUT). After a
 * failure it is tried again after 1, 2, 4 and so on up to that. */
#define LOOK_AGAIN_MOST_S 16

/* Returns whether its nodes are being launched: AdminComment says otherwise as soon as the shadow
 * has found them in one domain. */
static bool is_launched(const slurm_job_info_t *job)
{
	uint32_t base = job->job_state & JOB_STATE_BASE;
	struct osp_note note;
	bool launched;

	if ((base != JOB_RUNNING && base != JOB_SUSPENDED) ||
	    !osp_note_find(job->admin_comment, &note))
		return false;
	launched = note.says &&
		   !strncmp(note.says, OSP_SENTENCE_LAUNCHED, strlen(OSP_SENTENCE_LAUNCHED));
	osp_note_free_pieces(&note);
	return launched;
}

/* Writes how Slurm's calls name the job. The number of an array's last task is that of the whole
 * array. */
static void name_job(const slurm_job_info_t *job, char *name, size_t name_bytes)
{
	if (job->array_job_id && job->array_task_id != NO_VAL)
		snprintf(name, name_bytes, "%u_%u", job->array_job_id, job->array_task_id);
	else
		snprintf(name, name_bytes, "%u", job->job_id);
}

/* Returns 0, or Slurm's error, of a call that answers so, for each of a job's tasks or for all. */
static int error_of(int rc, job_array_resp_msg_t *each)
{
	if (rc)
		rc = errno ? errno : rc;
	else if (each && each->job_array_count && each->error_code)
		rc = (int)each->error_code[0];
	if (each)
		slurm_free_job_array_resp(each);
	return rc;
}

/* Lets Slurm put the job back, where its owner has set Requeue=0 since it started. */
static int let_requeue(char *name)
{
	job_array_resp_msg_t *each = NULL;
	job_desc_msg_t change;
	int rc;

	slurm_init_job_desc_msg(&change);
	change.job_id_str = name;
	change.requeue = 1;
	errno = 0;
	rc = slurm_update_job2(&change, &each);
	return error_of(rc, each);
}

static int requeue(char *name)
{
	job_array_resp_msg_t *each = NULL;
	int rc;

	errno = 0;
	rc = slurm_requeue2(name, 0, &each);
	return error_of(rc, each);
}

static bool put_back(const slurm_job_info_t *job)
{
	char name[32];
	int rc = 0;

	name_job(job, name, sizeof(name));
	if (!job->requeue)
		rc = let_requeue(name);
	if (!rc)
		rc = requeue(name);
	if (rc)
		slurm_error("onespine: JobId=%u cannot go back to the queue (%s), where it "
			    "belongs: its "
			    "nodes were being launched, and nobody knows whether they are together",
			    job->job_id, slurm_strerror(rc));
	else
		slurm_info(
			"onespine: JobId=%u goes back to the queue: its nodes were being launched, "
			"and nobody would know whether they are together",
			job->job_id);
	return !rc;
}

bool osp_hold_launched_look(void)
{
	job_info_msg_t *jobs = NULL;
	bool all = true;

	if (slurm_load_jobs(0, &jobs, SHOW_ALL) != SLURM_SUCCESS)
		return false;
	for (uint32_t i = 0; i < jobs->record_count; i++) {
		if (is_launched(&jobs->job_array[i]))
			all = put_back(&jobs->job_array[i]) && all;
	}
	slurm_free_job_info_msg(jobs);
	return all;
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Returns whether this slurmctld is in control: on a standby one the gangs are another's. */
static bool is_in_control(void)
{
	return &control_time && __atomic_load_n(&control_time, __ATOMIC_RELAXED);
}

static void *look_again_and_again(void *unused)
{
	bool done = false;
	unsigned pause_s = 1;

	(void)unused;
	for (;;) {
		if (!is_in_control()) {
			done = false;
			pause_s = 1;
		} else if (!done) {
			done = osp_hold_launched_look();
			pause_s = done || pause_s >= LOOK_AGAIN_MOST_S ? pause_s : 2 * pause_s;
		}
		nanosleep(&(struct timespec){.tv_sec = done ? 1 : pause_s}, NULL);
	}
	return NULL;
}

void osp_hold_launched_begin(void)
{
	static bool begun;
	pthread_t thread;
	sigset_t all, before;
	int rc;

	if (begun)
		return;
	/* only the thread that waits for slurmctld's signals may receive them */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, look_again_and_again, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	begun = !rc;
	if (rc)
		slurm_error(
			"onespine: no thread to put gangs back whose nodes are being launched: %s",
			strerror(rc));
	else
		pthread_detach(thread);
}
