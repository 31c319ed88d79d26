/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_license.c - the license that holds gangs while no shadow fits (lib/policy/gang_license.h)
 *
 * While the shadow is in use the license counts for nothing: it stays in the job's words, which
 * slurmctld saves, and leaves its list. Else all gangs would have a license in common, and from
 * 24.11 on Slurm takes a job with a license in common for one to preempt, and for one whose end to
 * wait for (job_mgr.c, job_overlap_and_running(); job_test.c, _future_run_test()). A gang that runs
 * has it in its words too: it may be put back where no shadow is.
 *
 * Called while slurmctld reads slurm.conf, under all its locks. read_slurm_conf() (read_config.c)
 * takes Licenses after select_p_node_init(), gives jobs their licenses after that, and calls
 * select_p_reconfigure() last.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/gang_license.h"

/* What Slurm says of a pending job whose licenses are no longer offered, when it holds it: 26.05
 * when it starts (read_config.c, restore_job_licenses()), 25.11 when the job is put back
 * (job_mgr.c, _batch_requeue_rebuild_license_list()). */
#define HELD_FOR "License request '"

void shadow_license_offer(void)
{
	char *licenses =
		shadow_state.license_withdrawn ? NULL : osp_gang_license_offer(slurm_conf.licenses);

	if (!licenses)
		return;
	xfree(slurm_conf.licenses);
	slurm_conf.licenses = xstrdup(licenses);
	free(licenses);
}

bool shadow_license_withdraw(void)
{
	char *licenses = osp_gang_license_is_in(slurm_conf.licenses)
				 ? osp_gang_license_only(slurm_conf.licenses)
				 : NULL;

	if (licenses)
		shadow_state.license_withdrawn = license_update(licenses) == SLURM_SUCCESS;
	free(licenses);
	return shadow_state.license_withdrawn;
}

static int is_gangs_license(void *item, void *nothing)
{
	const licenses_t *license = item;

	(void)nothing;
	return license->name && !strcmp(license->name, OSP_GANG_LICENSE);
}

/* Gives back what the job holds of the license, since slurmctld read it from the job's words. */
static void give_back(job_record_t *job)
{
	licenses_t *license = list_find_first(job->license_list, is_gangs_license, NULL);
	osp_list_t *all = job->license_list, *ours;
	bool valid = true;

	if (!license || !license->used)
		return;
	ours = OSP_LICENSE_VALIDATE((char *)OSP_GANG_LICENSE_TAKEN, NULL, &valid);
	if (!ours)
		return;
	job->license_list = ours;
	license_job_return(job);
	job->license_list = all;
	FREE_NULL_LIST(ours);
}

void shadow_license_drop(job_record_t *job)
{
	if (shadow_state.license_withdrawn || !job->license_list ||
	    !osp_gang_license_is_in(job->licenses))
		return;
	give_back(job);
	list_delete_all(job->license_list, is_gangs_license, NULL);
	if (!list_count(job->license_list))
		FREE_NULL_LIST(job->license_list);
}

/* Returns false for alternatives, which stay as they are. */
static bool add_to(char **words)
{
	char *with;
	int rc = osp_gang_license_add(*words, &with);

	if (!rc && with) {
		xfree(*words);
		*words = xstrdup(with);
		last_job_update = time(NULL);
	}
	free(with);
	return !rc;
}

bool shadow_license_carry(job_record_t *job)
{
	if (!osp_gang_license_is_in(slurm_conf.licenses) || IS_JOB_FINISHED(job))
		return true;
	if (!add_to(&job->licenses))
		return false;
	return OSP_JOB_CARRY_ASKED(job, add_to);
}

/* Returns whether Slurm offers all of the licenses. */
static bool are_offered(const char *words)
{
	char *copy = xstrdup(words);
	bool valid = true;
	osp_list_t *list = OSP_LICENSE_VALIDATE(copy, NULL, &valid);

	FREE_NULL_LIST(list);
	xfree(copy);
	return valid;
}

/* Lets a job go that Slurm held because no shadow offered the license, as scontrol release does
 * (job_mgr.c, _update_job()). */
static void let_go(job_record_t *job)
{
	if (job->priority || job->state_reason != WAIT_HELD || !job->state_desc ||
	    strncmp(job->state_desc, HELD_FOR, strlen(HELD_FOR)) != 0 ||
	    !osp_gang_license_is_in(job->licenses) || !are_offered(job->licenses))
		return;
	info("onespine: %pJ is no longer held: license %s is offered again", job, OSP_GANG_LICENSE);
	job->direct_set_prio = 0;
	set_job_prio(job);
	job->state_reason = WAIT_NO_REASON;
	xfree(job->state_desc);
	last_job_update = time(NULL);
}

static int look_at(void *item, void *nothing)
{
	job_record_t *job = item;
	struct osp_effective effective;

	(void)nothing;
	shadow_license_drop(job);
	if (IS_JOB_FINISHED(job) || !job->details)
		return 0;
	if (shadow_gang_request(job, &effective) && effective.mode == OSP_MODE_ENFORCE &&
	    !shadow_license_carry(job))
		info("onespine: %pJ cannot carry license %s: if Slurm is updated before Onespine, "
		     "nothing holds it",
		     job, OSP_GANG_LICENSE);
	if (IS_JOB_PENDING(job))
		let_go(job);
	return 0;
}

void shadow_license_jobs(void)
{
	if (!shadow_state.license_withdrawn && job_list &&
	    osp_gang_license_is_in(slurm_conf.licenses))
		list_for_each(job_list, look_at, NULL);
}
