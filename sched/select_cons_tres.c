/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_cons_tres.c - a shadow of Slurm's select/cons_tres that places gangs
 *
 * This object has the name, type and id of Slurm's own plugin and comes before it in PluginDir. It
 * is linked with Slurm's, so every symbol that it does not define is Slurm's; dlsym(RTLD_NEXT)
 * finds those that it wraps. Jobs without --gang pass through untouched. Outside slurmctld (clients
 * up to 24.11 load it) it does nothing at all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sched/shadow.h"

#include <dlfcn.h>
#include <string.h>

#include "src/common/run_in_daemon.h"

#include "sched/seam.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT const char plugin_name[] =
	"Onespine " OSP_VERSION " shadow of the Consumable Resources (TRES) plugin";
EXPORT const char plugin_type[] = "select/cons_tres";
EXPORT const uint32_t plugin_id = SELECT_PLUGIN_CONS_TRES;
EXPORT const uint32_t plugin_version = SLURM_VERSION_NUMBER;

typedef int init_f(void);
typedef int fini_f(void);
typedef int node_init_f(void);
typedef int rebuild_f(void);
typedef int job_f(job_record_t *job);
typedef int job_pause_f(job_record_t *job, bool by_a_person);
typedef int job_resized_f(job_record_t *job, node_record_t *node);
typedef int job_expand_f(job_record_t *from, job_record_t *to);
typedef void job_mem_reduce_f(job_record_t *job);

EXPORT int init(void);
EXPORT int fini(void);
EXPORT int select_p_node_init(void);
EXPORT int select_p_job_begin(job_record_t *job);
EXPORT int select_p_job_ready(job_record_t *job);
EXPORT int select_p_select_nodeinfo_set(job_record_t *job);
EXPORT int select_p_reconfigure(void);
EXPORT int select_p_job_fini(job_record_t *job);
EXPORT int select_p_job_suspend(job_record_t *job, bool by_a_person);
EXPORT int select_p_job_resume(job_record_t *job, bool by_a_person);
EXPORT int select_p_job_resized(job_record_t *job, node_record_t *node);
EXPORT int select_p_job_expand(job_record_t *from, job_record_t *to);
EXPORT void select_p_job_mem_reduce(job_record_t *job);
EXPORT int select_p_job_test(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes,
			     uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			     osp_list_t *candidates, osp_list_t **preempted,
			     OSP_JOB_TEST_TAIL_PARAMETERS);

/* Slurm's own functions, as dlsym(RTLD_NEXT) found them. */
static node_init_f *slurm_node_init;
static rebuild_f *slurm_rebuild;
static job_f *slurm_job_begin, *slurm_job_ready, *slurm_nodeinfo_set, *slurm_job_fini;
static job_pause_f *slurm_job_suspend, *slurm_job_resume;
static job_resized_f *slurm_job_resized;
static job_expand_f *slurm_job_expand;
static job_mem_reduce_f *slurm_job_mem_reduce; /* NULL before 26.05, where nobody calls it */
static bool in_slurmctld;

static const char *own_path(void)
{
	Dl_info information;

	return dladdr(plugin_type, &information) && information.dli_fname ? information.dli_fname
									  : "?";
}

static int start_in_slurmctld(void)
{
	slurm_node_init = (node_init_f *)dlsym(RTLD_NEXT, "select_p_node_init");
	slurm_job_begin = (job_f *)dlsym(RTLD_NEXT, "select_p_job_begin");
	slurm_job_ready = (job_f *)dlsym(RTLD_NEXT, "select_p_job_ready");
	slurm_nodeinfo_set = (job_f *)dlsym(RTLD_NEXT, "select_p_select_nodeinfo_set");
	slurm_rebuild = (rebuild_f *)dlsym(RTLD_NEXT, "select_p_reconfigure");
	slurm_job_fini = (job_f *)dlsym(RTLD_NEXT, "select_p_job_fini");
	slurm_job_suspend = (job_pause_f *)dlsym(RTLD_NEXT, "select_p_job_suspend");
	slurm_job_resume = (job_pause_f *)dlsym(RTLD_NEXT, "select_p_job_resume");
	slurm_job_resized = (job_resized_f *)dlsym(RTLD_NEXT, "select_p_job_resized");
	slurm_job_expand = (job_expand_f *)dlsym(RTLD_NEXT, "select_p_job_expand");
	slurm_job_mem_reduce = (job_mem_reduce_f *)dlsym(RTLD_NEXT, "select_p_job_mem_reduce");
	shadow_slurm_job_test = (osp_job_test_f *)dlsym(RTLD_NEXT, "select_p_job_test");
	if (!slurm_node_init || !slurm_job_begin || !slurm_job_ready || !slurm_nodeinfo_set ||
	    !slurm_rebuild || !slurm_job_fini || !slurm_job_suspend || !slurm_job_resume ||
	    !slurm_job_resized || !slurm_job_expand || !shadow_slurm_job_test ||
	    (OSP_HAVE_JOB_MEM_REDUCE && !slurm_job_mem_reduce)) {
		error("onespine: %s does not find Slurm's own select_cons_tres.so behind it",
		      own_path());
		return SLURM_ERROR;
	}
	if (!shadow_bitmaps_match()) {
		error("onespine: Slurm's bitmaps are not laid out as this build expects");
		return SLURM_ERROR;
	}
	in_slurmctld = true;
	info("onespine: %s (Onespine %s for Slurm %s) places gangs", own_path(), OSP_VERSION,
	     SLURM_VERSION_STRING);
	return SLURM_SUCCESS;
}

int init(void)
{
	init_f *slurm_init = (init_f *)dlsym(RTLD_NEXT, "init");
	int rc = slurm_init ? slurm_init() : SLURM_ERROR;

	if (rc == SLURM_SUCCESS && running_in_slurmctld())
		rc = start_in_slurmctld();
	return rc;
}

int fini(void)
{
	fini_f *slurm_fini = (fini_f *)dlsym(RTLD_NEXT, "fini");

	if (in_slurmctld) {
		shadow_follow_end();
		shadow_launch_forget();
		shadow_state_free();
	}
	in_slurmctld = false;
	return slurm_fini ? slurm_fini() : SLURM_SUCCESS;
}

static void say_other_layout(const char *why)
{
	error("onespine: %s was built with headers of another Slurm %s than this one: %s. Build "
	      "Onespine with the source that this Slurm was built from, patches and options of "
	      "configure included, or take onespine out of JobSubmitPlugins and PluginDir",
	      own_path(), SLURM_VERSION_STRING, why);
}

/* Holds gangs by their license; if policy or slurm.conf have it otherwise, ends slurmctld. */
static void hold_gangs(void)
{
	if (shadow_state.config && osp_config_holds(shadow_state.config) &&
	    shadow_license_withdraw())
		error("onespine: Slurm places jobs by itself, and every gang waits for license "
		      "onespine, until slurmctld is started with such a build");
	else
		fatal("onespine: gangs would be placed anywhere, so slurmctld ends");
}

/* Checks the layout once: a failure stops slurmctld, so only its start may fail.
 * select_p_node_init() is also called for each change of a partition. */
static int check_layout(void)
{
	static bool checked;
	char why[128];

	if (checked)
		return SLURM_SUCCESS;
	checked = true;
	if (shadow_layout_fits(why, sizeof(why)))
		return SLURM_SUCCESS;
	say_other_layout(why);
	return SLURM_ERROR;
}

static bool is_seam_call(const void *record)
{
	static const uint64_t cookie[2] = {OSP_SEAM_COOKIE_0, OSP_SEAM_COOKIE_1};

	return !memcmp(record, cookie, sizeof(cookie));
}

/*
 * Forgets what was tried for a job that starts. A task of an array waited under the array's number
 * and starts under its own.
 */
static void forget_what_was_tried(job_record_t *job)
{
	shadow_victims_forget(job);
	if (shadow_state.chooser && !osp_chooser_forget(shadow_state.chooser, job->job_id) &&
	    job->array_job_id)
		osp_chooser_forget(shadow_state.chooser, job->array_job_id);
}

/*
 * Returns whether a record is laid out as in this build's headers. Any other record would be read
 * wrongly, and is left alone. Up to 23.11 that can be found with the first job alone, if slurmctld
 * had none when it began: from then on Slurm itself holds every gang, or slurmctld ends.
 */
static bool record_is_sound(const job_record_t *job)
{
	static bool reported;
	char why[128];

	if (shadow_state.license_withdrawn)
		return false;
	if (shadow_layout_fits_job(job, why, sizeof(why)))
		return true;
	if (!reported || !OSP_HAVE_JOB_RECORD_CREATE)
		say_other_layout(why);
	reported = true;
	if (!OSP_HAVE_JOB_RECORD_CREATE)
		hold_gangs();
	return false;
}

/* Looks at the first job while every gang still has its license, as slurmctld read it: it may be
 * held, so that nobody has asked for it yet. */
static void look_at_first_job(void)
{
	const job_record_t *job = job_list ? list_peek(job_list) : NULL;

	if (!OSP_HAVE_JOB_RECORD_CREATE && job)
		(void)record_is_sound(job);
}

int select_p_node_init(void)
{
	int rc = slurm_node_init ? slurm_node_init() : SLURM_ERROR;

	if (rc == SLURM_SUCCESS && in_slurmctld)
		rc = check_layout();
	if (rc == SLURM_SUCCESS && in_slurmctld) {
		look_at_first_job();
		shadow_license_offer();
		shadow_state_load();
		shadow_count_again();
		if (shadow_state.chooser)
			osp_chooser_forget_answers(shadow_state.chooser);
		shadow_follow_begin();
	}
	return rc;
}

/*
 * Returns SLURM_SUCCESS, or the answer that makes a job wait after the license of gangs was
 * withdrawn. A gang waits with or without the license (it may have none from before slurm.conf
 * named it, or without job_submit); it gets Slurm's own answer for a missing license. On 22.05
 * Slurm's function does not look at licenses, and the scheduler may have looked earlier, so there
 * any job waits that asks for more than there are. The record differs only in its size or mark: its
 * fields were read back.
 */
static int held_for(job_record_t *job, uint16_t mode)
{
	struct osp_effective effective;
	bool held = false;

	if (!shadow_state.license_withdrawn || !job->job_id || mode == SELECT_MODE_TEST_ONLY)
		return SLURM_SUCCESS;
	if (!OSP_SELECT_KNOWS_LICENSES)
		held = license_job_test(job, time(NULL), false) == SLURM_ERROR;
	if (!held && job->details && shadow_gang_request(job, &effective))
		held = effective.mode == OSP_MODE_ENFORCE;
	return held ? OSP_ERROR_LICENSES : SLURM_SUCCESS;
}

/* Returns whether a job's nodes are counted: not those of a synthetic job. */
static bool is_counted(const job_record_t *job)
{
	return in_slurmctld && job->job_id && job->details && record_is_sound(job);
}

int select_p_job_begin(job_record_t *job)
{
	int rc;

	if (in_slurmctld && is_seam_call(job)) {
		((struct osp_seam_call *)(void *)job)->seam = &shadow_seam;
		return OSP_SEAM_ANSWER;
	}
	rc = slurm_job_begin(job);
	if (rc == SLURM_SUCCESS && in_slurmctld && job->details) {
		forget_what_was_tried(job);
		rc = shadow_gang_started(job);
	}
	return rc;
}

/* Returns whether its nodes run, so that the job may go on. Slurm also calls it with less than its
 * node write lock. */
int select_p_job_ready(job_record_t *job)
{
	int rc = slurm_job_ready(job);

	return in_slurmctld && shadow_launch_waits(job->job_id) ? 0 : rc;
}

/* Counts a job. Slurm calls this after select_p_job_begin(), and after a restart for each running
 * job: here its own plugin takes what the job holds, and counts its generic resources. */
int select_p_select_nodeinfo_set(job_record_t *job)
{
	int rc = slurm_nodeinfo_set(job);

	if (rc == SLURM_SUCCESS && (IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) &&
	    is_counted(job)) {
		shadow_count_added(job);
		shadow_launch_resume(job);
		shadow_note_unknown_gpus(job);
	}
	return rc;
}

int select_p_reconfigure(void)
{
	int rc = slurm_rebuild ? slurm_rebuild() : SLURM_ERROR;

	if (rc == SLURM_SUCCESS && in_slurmctld) {
		look_at_first_job();
		shadow_count_rebuilt();
		shadow_license_jobs();
		shadow_launch_hold_again();
	}
	return rc;
}

int select_p_job_fini(job_record_t *job)
{
	if (is_counted(job))
		shadow_count_end(job->job_id);
	return slurm_job_fini(job);
}

int select_p_job_suspend(job_record_t *job, bool by_a_person)
{
	int rc = slurm_job_suspend(job, by_a_person);

	if (rc == SLURM_SUCCESS && by_a_person && is_counted(job))
		shadow_count_suspend(job, true);
	return rc;
}

int select_p_job_resume(job_record_t *job, bool by_a_person)
{
	int rc = slurm_job_resume(job, by_a_person);

	if (rc == SLURM_SUCCESS && by_a_person && is_counted(job))
		shadow_count_suspend(job, false);
	return rc;
}

int select_p_job_resized(job_record_t *job, node_record_t *node)
{
	int rc = slurm_job_resized(job, node);

	if (is_counted(job)) {
		shadow_count_resized(job);
		shadow_order_resized(job, SHADOW_ORDER_AT_ONCE_MAX);
	}
	return rc;
}

int select_p_job_expand(job_record_t *from, job_record_t *to)
{
	int rc = slurm_job_expand(from, to);

	if (is_counted(from))
		shadow_count_resized(from);
	if (is_counted(to))
		shadow_count_resized(to);
	return rc;
}

/*
 * Counts less memory for a job. Slurm calls this before the job's record says so: its plugin needs
 * the old amount.
 */
void select_p_job_mem_reduce(job_record_t *job)
{
	if (slurm_job_mem_reduce)
		slurm_job_mem_reduce(job);
	if (is_counted(job))
		shadow_count_memory_reduced(job);
}

static bool is_gang_call(job_record_t *job, uint32_t max_nodes, uint16_t mode,
			 struct osp_effective *effective)
{
	if (!in_slurmctld || !job->job_id || !job->details)
		return false;
	if (mode != SELECT_MODE_RUN_NOW && mode != SELECT_MODE_TEST_ONLY &&
	    mode != SELECT_MODE_WILL_RUN)
		return false;
	return max_nodes && record_is_sound(job) && shadow_gang_request(job, effective);
}

int select_p_job_test(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes, uint32_t max_nodes,
		      uint32_t req_nodes, uint16_t mode, osp_list_t *candidates,
		      osp_list_t **preempted, OSP_JOB_TEST_TAIL_PARAMETERS)
{
	static bool inside; /* set while Slurm's function calls us back */
	struct osp_effective effective;
	struct shadow_call call;
	int rc;

	if (inside || !is_gang_call(job, max_nodes, mode, &effective)) {
		rc = held_for(job, mode);
		return rc ? rc
			  : shadow_slurm_job_test(job, bitmap, min_nodes, max_nodes, req_nodes,
						  mode, candidates, preempted,
						  OSP_JOB_TEST_TAIL_VALUES);
	}
	shadow_license_drop(job);
	if (effective.mode == OSP_MODE_ENFORCE)
		shadow_license_carry(job);
	call = (struct shadow_call){
		.job = job,
		.bitmap = bitmap,
		.min_nodes = min_nodes,
		.max_nodes = max_nodes,
		.req_nodes = req_nodes,
		.mode = mode,
		.candidates = candidates,
		.preempted = preempted,
		.tail = {OSP_JOB_TEST_TAIL_VALUES},
	};
	inside = true;
	call.asked_again = shadow_is_asked_again(&call);
	rc = shadow_place_gang(&call, &effective);
	inside = false;
	return rc;
}
