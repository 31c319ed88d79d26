/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_onespine.so with a Slurm of our own around it: an allocator that knows its memory, a
 * log that is kept, and a shadow that resolves under a policy of the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "onespine_config.h"
#include "lib/base/text.h"
#include "lib/policy/note.h"
#include "sched/job_env.h"
#include "sched/job_hold_launched.h"
#include "sched/job_spares.h"
#include "sched/job_submit_onespine.h"
#include "sched/seam_client.h"
#include "sched/slurm_exports.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- Slurm's memory: not ours, or malloc's ---------------------------------------------------- */

#define MAGIC 0x736c75726d6d656dull

struct block {
	uint64_t magic;
	size_t bytes;
};

static const uint64_t guard = 0x6775617264677561ull; /* stands behind every block */
static int blocks_held;
static int failing_after = -1; /* so many more allocations succeed; -1: all */

static bool fails_now(void)
{
	if (failing_after < 0)
		return false;
	return failing_after-- == 0;
}

void *slurm_xcalloc(size_t count, size_t size, bool clear, bool may_fail, const char *file,
		    int line, const char *function)
{
	struct block *block;

	(void)file, (void)line, (void)function;
	assert_true(clear && may_fail);
	if (fails_now()) {
		failing_after = 0;
		return NULL;
	}
	block = calloc(1, sizeof(*block) + count * size + sizeof(guard));
	block->magic = MAGIC;
	block->bytes = count * size;
	memcpy((char *)(block + 1) + block->bytes, &guard, sizeof(guard));
	blocks_held++;
	return block + 1;
}

static struct block *block_of(void *item)
{
	struct block *block = (struct block *)item - 1;

	assert_true(block->magic == MAGIC);
	assert_memory_equal((char *)item + block->bytes, &guard, sizeof(guard));
	return block;
}

void slurm_xfree(void **item)
{
	if (*item) {
		free(block_of(*item));
		blocks_held--;
	}
	*item = NULL;
}

void *slurm_xrecalloc(void **item, size_t count, size_t size, bool clear, bool may_fail,
		      const char *file, int line, const char *function)
{
	void *fresh = slurm_xcalloc(count, size, clear, may_fail, file, line, function);
	size_t old_bytes;

	if (!fresh)
		return NULL;
	if (*item) {
		old_bytes = block_of(*item)->bytes;
		memcpy(fresh, *item, old_bytes < count * size ? old_bytes : count * size);
	}
	slurm_xfree(item);
	*item = fresh;
	return fresh;
}

static char *slurm_text(const char *text)
{
	char *copy = slurm_xcalloc(1, strlen(text) + 1, true, true, "", 0, "");

	return strcpy(copy, text);
}

/* --- Slurm's log ------------------------------------------------------------------------------ */

static char error_log[2048], info_log[2048];

void slurm_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error_log, sizeof(error_log), format, args);
	va_end(args);
}

void slurm_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(info_log, sizeof(info_log), format, args);
	va_end(args);
}

/* --- the shadow ------------------------------------------------------------------------------- */

enum shadow_kind { SHADOW_ABSENT, SHADOW_OTHER_VERSION, SHADOW_IN_USE };

static enum shadow_kind shadow;
static struct osp_policy policy;
static struct osp_seam_job seen_job;
static struct osp_request seen_request;
static uid_t seen_uid;
static struct job_record *seen_record;
static int set_answer = -1;
static const char *refusal; /* what the shadow answers; NULL: nothing against it */
static uint32_t
	reordered; /* GPUs on a node of a layout whose order the shadow finds to be another */
static const char *left = ""; /* what the shadow says of the nodes that segments leave */
static const char *of_layout; /* the segments that it makes of a layout without spares */
static bool only_advice;      /* it finds that a gang that it may only advise cannot be had */
static uint32_t first_nodes;  /* of the job when it was asked first */

static int fake_resolve(const struct osp_seam_job *job, const struct osp_request *request,
			struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	struct osp_size size = {job->min_nodes, job->max_nodes};
	struct osp_error error = {.text = ""};

	seen_job = *job;
	seen_request = *request;
	first_nodes = first_nodes ? first_nodes : job->min_nodes;
	if (refusal) {
		snprintf(sentence, sentence_bytes, "%s", refusal);
		return -1;
	}
	if (osp_request_resolve(request, &policy, job->partition, &size, effective, &error)) {
		snprintf(sentence, sentence_bytes, "%s", error.text);
		return -1;
	}
	if (of_layout && !job->spares)
		snprintf(effective->segments, sizeof(effective->segments), "%s", of_layout);
	if (only_advice)
		effective->mode = OSP_MODE_OFF;
	effective->reordered_gpus = reordered;
	snprintf(effective->left, sizeof(effective->left), "%s", left);
	return 0;
}

static int fake_set(struct job_record *job, uid_t uid, const struct osp_request *request,
		    char *sentence, size_t sentence_bytes)
{
	seen_record = job;
	seen_uid = uid;
	seen_request = *request;
	if (!refusal)
		return 0;
	snprintf(sentence, sentence_bytes, "%s", refusal);
	return set_answer;
}

static struct osp_seam_job record_job; /* what the record asks for */
static struct osp_request record_request;
static bool record_is_judged;

static bool fake_describe(struct job_record *record, const char *partition,
			  struct osp_seam_job *described, struct osp_request *request)
{
	(void)partition;
	assert_ptr_equal(record, seen_record);
	*described = record_job;
	*request = record_request;
	return record_is_judged;
}

static int fake_merge(struct job_record *record, char *sentence, size_t sentence_bytes)
{
	assert_ptr_equal(record, seen_record);
	if (!refusal)
		return 0;
	snprintf(sentence, sentence_bytes, "%s", refusal);
	return -1;
}

static const char *record_comment;

static const char *fake_admin_comment(const struct job_record *record)
{
	assert_non_null(record);
	return record_comment;
}

static char cons_tres[] = "select/cons_tres", linear[] = "select/linear";
slurm_conf_t slurm_conf = {.select_type = cons_tres};

int select_g_job_begin(struct job_record *record)
{
	static const struct osp_seam seam = {PACKAGE_VERSION, fake_resolve, fake_set,
					     fake_describe,   fake_merge,   fake_admin_comment};
	static const struct osp_seam other = {"0.0.9",	     fake_resolve, fake_set,
					      fake_describe, fake_merge,   fake_admin_comment};
	struct osp_seam_call *call = (struct osp_seam_call *)record;

	assert_ptr_equal(slurm_conf.select_type, cons_tres);
	assert_true(call->cookie[0] == OSP_SEAM_COOKIE_0 && call->cookie[1] == OSP_SEAM_COOKIE_1);
	if (shadow == SHADOW_ABSENT)
		return SLURM_SUCCESS;
	call->seam = shadow == SHADOW_IN_USE ? &seam : &other;
	return OSP_SEAM_ANSWER;
}

/* --- a job request ---------------------------------------------------------------------------- */

static job_desc_msg_t job;
static char *message;

static void add_to(char ***list, uint32_t *count, const char *entry)
{
	assert_int_equal(osp_job_env_append(list, count, entry, ""), 0);
}

static void add_option(const char *entry)
{
	add_to(&job.spank_job_env, &job.spank_job_env_size, entry);
}

static void add_variable(const char *entry)
{
	add_to(&job.environment, &job.env_size, entry);
}

/* `name` ends in '='. */
static void add_spank(const char *name, const char *value)
{
	char entry[256];

	snprintf(entry, sizeof(entry), "%s%s", name, value);
	add_option(entry);
}

static void ask(const char *value)
{
	add_spank(OSP_SPANK_GANG, value);
}

/* As slurm_init_job_desc_msg() leaves a request, in what is read here. */
static void start_job(void)
{
	memset(&job, 0, sizeof(job));
	job.min_nodes = NO_VAL;
	job.max_nodes = NO_VAL;
	job.num_tasks = NO_VAL;
	job.ntasks_per_node = NO_VAL16;
	job.ntasks_per_socket = NO_VAL16;
	job.min_cpus = NO_VAL;
	job.max_cpus = NO_VAL;
	job.task_dist = NO_VAL;
	job.req_switch = NO_VAL;
	job.contiguous = NO_VAL16;
	job.het_job_offset = NO_VAL;
	job.shared = NO_VAL16;
	job.cpus_per_task = NO_VAL16;
	job.overcommit = NO_VAL8;
#if OSP_SLURM_AT_LEAST(24, 5)
	job.segment_size = NO_VAL16;
#endif
	message = NULL;
	info_log[0] = '\0';
	error_log[0] = '\0';
	refusal = NULL;
	failing_after = -1;
	seen_record = NULL;
}

static void free_list(char ***list, uint32_t *count)
{
	for (uint32_t i = 0; *list && i < *count; i++)
		slurm_xfree((void **)&(*list)[i]);
	slurm_xfree((void **)list);
	*count = 0;
}

/* Frees the request as Slurm does, and sees that nothing else was left. */
static void end_job(void)
{
	failing_after = -1;
	free_list(&job.spank_job_env, &job.spank_job_env_size);
	free_list(&job.environment, &job.env_size);
	slurm_xfree((void **)&job.admin_comment);
	slurm_xfree((void **)&message);
	assert_int_equal(blocks_held, 0);
}

static const char *effective_value(void)
{
	return osp_job_env_find(job.spank_job_env, job.spank_job_env_size, OSP_EFFECTIVE);
}

static const char *variable(const char *name)
{
	return osp_job_env_find(job.environment, job.env_size, name);
}

static int with_shadow(void **state)
{
	(void)state;
	policy = (struct osp_policy){
		.mode = OSP_MODE_ENFORCE,
		.level = "spine",
		.from_nodes = 2,
		.allow_off = true,
		.relax_s = -1,
	};
	shadow = SHADOW_IN_USE;
	start_job();
	return init();
}

/* --- init ------------------------------------------------------------------------------------- */

static void fails_without_the_shadow(void **state)
{
	(void)state;
	shadow = SHADOW_ABSENT;
	assert_int_equal(init(), SLURM_ERROR);
	assert_non_null(strstr(error_log,
			       "onespine: Onespine's select_cons_tres.so is not in use, gangs "
			       "would be placed anywhere, so slurmctld does not start: put /"));
	assert_non_null(strstr(error_log, "/onespine/slurmctld first in PluginDir, set "
					  "SelectType=select/cons_tres and install Onespine built "
					  "for exactly Slurm "));
	assert_non_null(strstr(error_log, " there, or take onespine out of JobSubmitPlugins"));
}

/* select/linear takes what it is called with for a job's record. */
static void asks_no_other_select_plugin(void **state)
{
	(void)state;
	shadow = SHADOW_IN_USE;
	slurm_conf.select_type = NULL; /* before slurm.conf was read */
	assert_int_equal(init(), SLURM_ERROR);
	slurm_conf.select_type = linear;
	assert_int_equal(init(), SLURM_ERROR);
	slurm_conf.select_type = cons_tres;
	assert_non_null(strstr(error_log, "set SelectType=select/cons_tres"));
}

static void fails_with_another_build(void **state)
{
	(void)state;
	shadow = SHADOW_OTHER_VERSION;
	assert_int_equal(init(), SLURM_ERROR);
	assert_string_equal(error_log,
			    "onespine: job_submit_onespine.so is Onespine " PACKAGE_VERSION
			    " and select_cons_tres.so is Onespine 0.0.9, gangs would be "
			    "placed anywhere, so slurmctld does not start: install both "
			    "from one build");
}

static void reports_another_slurm(void **state)
{
	char sentence[OSP_ERROR_TEXT_BYTES] = "";

	(void)state;
	assert_false(osp_slurm_differs(0x160508, 0x160508, sentence, sizeof(sentence)));
	assert_string_equal(sentence, "");
	assert_true(osp_slurm_differs(0x160508, 0x180b05, sentence, sizeof(sentence)));
	assert_string_equal(
		sentence, "job_submit_onespine.so was built for Slurm 22.05.8 and this is Slurm "
			  "24.11.5, gangs would be placed anywhere, so slurmctld does not start: "
			  "install Onespine built for exactly Slurm 24.11.5, or take onespine out "
			  "of JobSubmitPlugins");
	assert_true(osp_slurm_differs(0x160508, 0x160509, sentence, sizeof(sentence)));
}

/* --- a Slurm that was updated ----------------------------------------------------------------- */

static char takes_more[] = "bf_continue,allow_zero_lic";
static char enough[] = "matlab:2,onespine:2";
static char offers[] = "matlab:2,onespine:1", others[] = "matlab:2", conf_path[64];

static const char *write_policy(const char *text)
{
	static char folder[] = "/tmp/test_job_submit.XXXXXX", path[80];
	FILE *file;

	if (!conf_path[0]) {
		assert_non_null(mkdtemp(folder));
		snprintf(conf_path, sizeof(conf_path), "%s/slurm.conf", folder);
		snprintf(path, sizeof(path), "%s/onespine.yaml", folder);
	}
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0644), 0);
	slurm_conf.slurm_conf = conf_path;
	slurm_conf.licenses = offers;
	slurm_conf.sched_params = takes_more;
	return path;
}

static int after_an_update(void **state)
{
	(void)state;
	shadow = SHADOW_ABSENT;
	osp_slurm_built = 0x190b07;
	osp_slurm_running = 0x190b08;
	start_job();
	return 0;
}

/* What the thread of job_hold_launched.c asks; here no slurmctld is in control. */
void osp_hold_launched_begin(void)
{
}

/* All tests are done: the folder of their policies is removed. */
static int without_folder(void **state)
{
	char *slash = strrchr(conf_path, '/');

	(void)state;
	if (!slash)
		return 0;
	*slash = '\0';
	return rmdir(conf_path);
}

static int as_built(void **state)
{
	char *slash = strrchr(conf_path, '/');

	(void)state;
	osp_slurm_built = osp_slurm_running = 0;
	slurm_conf.slurm_conf = slurm_conf.licenses = slurm_conf.sched_params = NULL;
	if (slash) {
		char path[80];

		*slash = '\0';
		snprintf(path, sizeof(path), "%s/onespine.yaml", conf_path);
		unlink(path);
		*slash = '/';
	}
	return 0;
}

static void holds_gangs_after_an_update(void **state)
{
	(void)state;
	write_policy("partitions:\n  gpu: {gang: always, allow_off: false}\n");
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_string_equal(
		error_log, "onespine: Slurm was updated and Onespine was not: Slurm places jobs by "
			   "itself, and every gang waits for license onespine. Install Onespine "
			   "built for this Slurm and start slurmctld again");
	/* a gang that asks */
	job.partition = others; /* of no policy */
	job.min_nodes = 2;
	ask("spine");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(job.licenses, "onespine:2");
	assert_non_null(effective_value());
	slurm_xfree((void **)&job.licenses);
	end_job();
	/* one that the policy makes, beside a license of its own */
	start_job();
	job.partition = (char *)"gpu";
	job.min_nodes = 2;
	job.licenses = slurm_text("matlab:1");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(job.licenses, "matlab:1,onespine:2");
	slurm_xfree((void **)&job.licenses);
	end_job();
	/* no gang */
	start_job();
	job.partition = (char *)"gpu";
	job.min_nodes = job.max_nodes = 1;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_null(job.licenses);
	end_job();
	/* nobody names a partition: it may be that one */
	start_job();
	job.min_nodes = 4;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(job.licenses, "onespine:2");
	slurm_xfree((void **)&job.licenses);
	end_job();
}

static void what_it_cannot_judge_is_refused(void **state)
{
	(void)state;
	write_policy("");
	assert_int_equal(init(), SLURM_SUCCESS);
	job.min_nodes = 4;
	ask("spine");
	add_spank(OSP_SPANK_GANG_LAYOUT, "tp8,pp4");
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_string_equal(message, "a layout and spares in each segment cannot be judged until "
				     "Onespine built for this Slurm is installed; submit it then, "
				     "or say --gang-segment=LEVEL:N");
	end_job();
	start_job();
	job.min_nodes = 4;
	ask("spine");
	add_spank(OSP_SPANK_GANG_SEGMENT, "leaf:2");
	add_spank(OSP_SPANK_SPARES, "1/segment");
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_non_null(strstr(message, "spares in each segment cannot be judged until"));
	assert_null(job.licenses);
	end_job();
	start_job();
	job.min_nodes = 4;
	job.licenses = slurm_text("matlab|ansys");
	ask("spine");
	assert_int_equal(job_submit(&job, 1000, &message), ESLURM_INVALID_LICENSES);
	assert_string_equal(message, "a gang's licenses cannot be alternatives (|) here: ask for "
				     "those that it takes (a,b)");
	slurm_xfree((void **)&message);
	slurm_conf.sched_params = NULL; /* Slurm would refuse the license */
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_string_equal(message,
			    "no gang is taken until Onespine built for this Slurm is installed");
	slurm_xfree((void **)&job.licenses);
	end_job();
}

/* What one partition of a list promises holds in all, also beside a name that is too long. */
static void a_list_of_partitions_is_held_to_what_one_promises(void **state)
{
	char list[400] = "";

	(void)state;
	write_policy("partitions:\n  gpu: {gang: always, allow_off: false}\n");
	assert_int_equal(init(), SLURM_SUCCESS);
	memset(list, 'x', 300);
	strcpy(list + 300, ",gpu,free");
	job.partition = list;
	job.min_nodes = 2;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(job.licenses, "onespine:2");
	slurm_xfree((void **)&job.licenses);
	end_job();
	start_job();
	job.partition = (char *)"free,gpu";
	job.min_nodes = 2;
	ask("off");
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_non_null(strstr(message, "--gang=off is not allowed there"));
	assert_null(job.licenses);
	end_job();
	start_job();
	job.partition = (char *)"free";
	job.min_nodes = 2;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_null(job.licenses);
	end_job();
}

/* Components may be large together, and a job that expands another one is part of a larger one. */
static void parts_of_larger_jobs_are_not_taken(void **state)
{
	struct job_record *record = (struct job_record *)&job;

	(void)state;
	write_policy("partitions:\n  gpu: {gang: always, allow_off: false, from_nodes: 3}\n");
	assert_int_equal(init(), SLURM_SUCCESS);
	job.partition = (char *)"gpu";
	job.min_nodes = job.max_nodes = 2;
	job.het_job_offset = 1;
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_string_equal(message, "no heterogeneous job that may be a gang is taken until "
				     "Onespine built for this Slurm is installed");
	end_job();
	start_job();
	job.partition = (char *)"gpu";
	job.min_nodes = job.max_nodes = 2;
	job.dependency = (char *)"expand:5";
	assert_int_not_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_non_null(strstr(message, "--dependency=expand cannot be combined with --gang"));
	job.dependency = NULL;
	end_job();
	start_job();
	job.min_nodes = 0;
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 ESLURM_NOT_SUPPORTED);
	assert_non_null(strstr(info_log, "no job is expanded until"));
	end_job();
	start_job();
	job.admin_comment = slurm_text("ticket 4711");
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 SLURM_SUCCESS);
	assert_string_equal(job.admin_comment, "ticket 4711");
	end_job();
}

/* A gang that cannot be given the license is not taken. */
static void no_gang_goes_without_the_license(void **state)
{
	int rc = ENOMEM, allowed;

	write_policy("");
	for (allowed = 0; rc != SLURM_SUCCESS && allowed < 20; allowed++) {
		after_an_update(state);
		assert_int_equal(init(), SLURM_SUCCESS);
		job.min_nodes = 2;
		job.licenses = slurm_text("matlab:1");
		ask("spine");
		failing_after = allowed;
		rc = job_submit(&job, 1000, &message);
		if (rc == SLURM_SUCCESS)
			assert_string_equal(job.licenses, "matlab:1,onespine:2");
		slurm_xfree((void **)&job.licenses);
		end_job();
	}
	assert_in_range(allowed, 3, 19);
	/* one that has it keeps it; Slurm reads its parameters in any case */
	after_an_update(state);
	assert_int_equal(init(), SLURM_SUCCESS);
	slurm_conf.sched_params = (char *)"bf_continue,Allow_Zero_Lic";
	job.min_nodes = 2;
	job.licenses = slurm_text("onespine:2");
	ask("spine");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(job.licenses, "onespine:2");
	slurm_conf.sched_params = (char *)"bf_continue";
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	slurm_xfree((void **)&job.licenses);
	end_job();
}

static void a_change_lets_no_gang_go(void **state)
{
	struct job_record *record = (struct job_record *)&job;

	(void)state;
	write_policy("");
	assert_int_equal(init(), SLURM_SUCCESS);
	job.min_nodes = 4; /* no partition promises anything */
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 SLURM_SUCCESS);
	job.licenses = slurm_text("");
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 ESLURM_NOT_SUPPORTED);
	assert_non_null(strstr(info_log, "licenses cannot be changed until"));
	slurm_xfree((void **)&job.licenses);
	job.priority = INFINITE;
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 ESLURM_NOT_SUPPORTED);
	assert_non_null(strstr(info_log, "no job that is held is released until"));
	osp_slurm_built = 0x1a0502;
	osp_slurm_running = 0x1a0503; /* reads a job's licenses again */
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 SLURM_SUCCESS);
	end_job();
	start_job();
	write_policy("defaults: {gang: always, allow_off: false}\n");
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 SLURM_SUCCESS);
	job.min_nodes = 4;
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 ESLURM_NOT_SUPPORTED);
	assert_non_null(strstr(info_log, "where a job may run cannot be changed until"));
	ask("spine");
	job.min_nodes = NO_VAL;
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message)),
			 ESLURM_NOT_SUPPORTED);
	end_job();
}

static void stops(const char *words)
{
	assert_int_equal(init(), SLURM_ERROR);
	assert_non_null(
		strstr(error_log, "job_submit_onespine.so was built for Slurm 25.11.7 and"));
	assert_non_null(strstr(error_log, words));
}

static void stops_where_it_may_not_hold(void **state)
{
	const char *path = write_policy("without_match: stop\n");

	(void)state;
	stops("or take onespine out of JobSubmitPlugins");
	assert_null(strstr(error_log, "onespine:1"));
	write_policy("without_match: hold\n");
	slurm_conf.licenses = others;
	stops("; with Licenses=onespine:1 in slurm.conf it would start, and hold gangs");
	slurm_conf.licenses = NULL;
	stops("; with Licenses=onespine:1 in slurm.conf it would start, and hold gangs");
	slurm_conf.licenses = enough;
	stops("; with Licenses=onespine:1 in slurm.conf it would start, and hold gangs");
	write_policy("without_match: holds\n");
	stops("; it cannot hold gangs: ");
	stops("onespine.yaml:1:16: without_match: ");
	write_policy("");
	assert_int_equal(chmod(path, 0666), 0);
	stops("; it cannot hold gangs: ");
	/* not a file */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0755), 0);
	stops("onespine.yaml: Invalid argument");
	assert_int_equal(rmdir(path), 0);
	write_policy("");
	shadow = SHADOW_IN_USE; /* the shadow was updated, job_submit was not */
	stops("or take onespine out of JobSubmitPlugins");
	shadow = SHADOW_ABSENT;
	osp_slurm_built = 0x190b07; /* 25.11.7: downgraded to one that forgets licenses */
	osp_slurm_running = 0x190b06;
	stops("; it cannot hold gangs: this Slurm leaves a job that is put back no licenses");
	osp_slurm_running = 0x1a0503; /* another release: Slurm itself refuses it before */
	stops("or take onespine out of JobSubmitPlugins");
}

static void a_gang_carries_the_license(void **state)
{
	(void)state;
	slurm_conf.licenses = offers;
	job.min_nodes = 2;
	ask("spine");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(job.licenses, "onespine:2");
	slurm_xfree((void **)&job.licenses);
	end_job();
	/* of a heterogeneous job Slurm takes licenses of the leader alone */
	start_job();
	job.partition = others;
	job.min_nodes = 2;
	job.het_job_offset = 1;
	policy.gang_always = true;
	policy.allow_off = false;
	policy.from_nodes = 3;
	job.max_nodes = NO_VAL;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_null(job.licenses);
	end_job();
	start_job();
	job.partition = others;
	job.min_nodes = 2;
	job.het_job_offset = 0;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(job.licenses, "onespine:2");
	slurm_xfree((void **)&job.licenses);
	end_job();
	policy.gang_always = false;
	policy.allow_off = true;
	policy.from_nodes = 2;
	/* a user takes it out */
	start_job();
	seen_record = (struct job_record *)&job;
	record_is_judged = true;
	record_request = (struct osp_request){.asked = OSP_GANG_OPTION_ON, .relax_s = -1};
	record_job = (struct osp_seam_job){.min_nodes = 2, .licenses = "matlab:1,onespine:2"};
	job.licenses = slurm_text("");
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, seen_record, 1000, &message)),
			 SLURM_SUCCESS);
	assert_string_equal(job.licenses, "onespine:2");
	slurm_xfree((void **)&job.licenses);
	/* a job becomes a gang, and keeps what it has */
	record_job.licenses = "matlab:1";
	job.min_nodes = 3;
	assert_int_equal(job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, seen_record, 1000, &message)),
			 SLURM_SUCCESS);
	assert_string_equal(job.licenses, "matlab:1,onespine:2");
	slurm_xfree((void **)&job.licenses);
	record_is_judged = false;
	end_job();
	/* no other job may take it */
	start_job();
	job.licenses = slurm_text("matlab:1,onespine:999999");
	assert_int_equal(job_submit(&job, 1000, &message), ESLURM_INVALID_LICENSES);
	assert_string_equal(message, "license onespine is for gangs, which take it by themselves");
	slurm_xfree((void **)&job.licenses);
	job.licenses = slurm_text("matlab:1,onespine2:1");
	job.tres_per_task = (char *)"gres/gpu:1,license/onespine2:1";
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	job.tres_per_task = (char *)"gres/gpu:1,license/onespine:1";
	assert_int_equal(job_submit(&job, 1000, &message), ESLURM_INVALID_LICENSES);
	job.tres_per_task = NULL;
	slurm_xfree((void **)&job.licenses);
	slurm_conf.licenses = NULL;
	end_job();
}

/* --- what was asked --------------------------------------------------------------------------- */

static void leaves_other_jobs_alone(void **state)
{
	(void)state;
	add_option("_SLURM_SPANK_OPTION_other_gang=x");
	add_variable("PATH=/bin");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(seen_request.asked, OSP_GANG_OPTION_NONE);
	assert_int_equal(job.spank_job_env_size, 1);
	assert_int_equal(job.env_size, 1);
	assert_null(job.admin_comment);
	assert_null(message);
	end_job();
}

static void takes_the_request(void **state)
{
	static const struct {
		const char *option, *variable; /* NULL: not given */
		const char *effective, *comment;
	} cases[] = {
		{"spine", NULL,
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "[onespine: gang=spine]"},
		{"", NULL,
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "[onespine: gang=spine]"},
		{"(null)", NULL,
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "[onespine: gang=spine]"},
		{"core@30", NULL,
		 "version=1,mode=enforce,level=core,relax_s=1800,origin=option,mix_kinds=no",
		 "[onespine: gang=core@30:00]"},
		{NULL, "leaf",
		 "version=1,mode=enforce,level=leaf,relax_s=-1,origin=environment,mix_kinds=no",
		 "[onespine: gang=leaf]"},
		{NULL, "",
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=environment,mix_kinds=no",
		 "[onespine: gang=spine]"},
		{"core", "leaf",
		 "version=1,mode=enforce,level=core,relax_s=-1,origin=option,mix_kinds=no",
		 "[onespine: gang=core]"},
		{"off", "leaf", NULL, NULL},
		/* where it is found again when a policy comes later */
		{NULL, "off",
		 "version=1,mode=off,level=,relax_s=-1,origin=environment,mix_kinds=no", NULL},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char entry[64];

		with_shadow(state);
		add_variable("PATH=/bin");
		if (cases[i].option)
			ask(cases[i].option);
		snprintf(entry, sizeof(entry), "ONESPINE_GANG=%s",
			 cases[i].variable ? cases[i].variable : "");
		if (cases[i].variable)
			add_variable(entry);
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_null(message);
		if (cases[i].effective) {
			assert_string_equal(effective_value(), cases[i].effective);
		} else {
			assert_null(effective_value());
		}
		if (cases[i].comment)
			assert_string_equal(job.admin_comment, cases[i].comment);
		else
			assert_null(job.admin_comment);
		end_job();
	}
}

static void takes_segments_and_several_domains(void **state)
{
	static const struct {
		const char *gang; /* NULL: not given, as the others */
		const char *domains, *segment, *variable;
		const char *effective, *comment, *refused;
	} cases[] = {
		{"core", "2", "leaf:4,spine:8", NULL,
		 "version=1,mode=enforce,level=core,relax_s=-1,origin=option,mix_kinds=no,"
		 "domains=2,segments=leaf:4+spine:8",
		 "[onespine: gang=core domains=2 segment=leaf:4,spine:8]", NULL},
		{NULL, "3", NULL, NULL,
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "domains=3",
		 "[onespine: gang=spine domains=3]", NULL},
		{NULL, NULL, NULL, "ONESPINE_GANG_SEGMENT=leaf:4",
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=environment,mix_kinds=no,"
		 "segments=leaf:4",
		 "[onespine: gang=spine segment=leaf:4]", NULL},
		{"spine", "1", NULL, NULL,
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no",
		 "[onespine: gang=spine]", NULL},
		{"off", "2", NULL, NULL, NULL, NULL,
		 "--gang=off is no gang, and --gang-domains is for one; leave one of them out"},
		{"off", NULL, NULL, "ONESPINE_GANG_DOMAINS=2", NULL, NULL, NULL},
		{"spine", NULL, "leaf", NULL, NULL, NULL,
		 "--gang-segment=leaf: a level and a number of nodes are expected, as in leaf:16 "
		 "or nvlink:16,leaf:32"},
		{"spine", "0", NULL, NULL, NULL, NULL,
		 "--gang-domains=0: in how many domains at most is expected, a number from 1 to "
		 "131072"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		add_variable("PATH=/bin");
		if (cases[i].gang)
			ask(cases[i].gang);
		if (cases[i].domains)
			add_spank(OSP_SPANK_GANG_DOMAINS, cases[i].domains);
		if (cases[i].segment)
			add_spank(OSP_SPANK_GANG_SEGMENT, cases[i].segment);
		if (cases[i].variable)
			add_variable(cases[i].variable);
		assert_int_equal(job_submit(&job, 1000, &message),
				 cases[i].refused ? EINVAL : SLURM_SUCCESS);
		if (cases[i].refused) {
			assert_string_equal(message, cases[i].refused);
		} else if (!cases[i].effective) {
			assert_null(effective_value());
			assert_null(job.admin_comment);
		} else {
			assert_string_equal(effective_value(), cases[i].effective);
			assert_string_equal(job.admin_comment, cases[i].comment);
		}
		end_job();
	}
}

static void takes_layouts(void **state)
{
	static const struct {
		const char *layout, *keep;
		uint32_t reordered;
		const char *effective, *comment, *reported;
		int rc;
	} cases[] = {
		{"tp8,pp4,dp2", NULL, 0,
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "layout=tp8+pp4+dp2",
		 "[onespine: gang=spine layout=tp8,pp4,dp2]", NULL, SLURM_SUCCESS},
		{"tp8,pp4,dp2", "pp:leaf", 4,
		 "version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
		 "layout=tp8+pp4+dp2,keep=pp:leaf",
		 "[onespine: gang=spine layout=tp8,pp4,dp2 keep=pp:leaf]",
		 "onespine: --gang-keep=pp:leaf holds for ranks in the order of onespine hosts "
		 "--layout=tp8,pp4,dp2 --keep=pp:leaf --gpus-per-node=4; srun in the job and "
		 "ONESPINE_NODE_RANK have it, launchers that sort hosts do not (doc/placement.md)",
		 SLURM_SUCCESS},
		{NULL, "pp:leaf", 0, NULL, NULL,
		 "--gang-keep=pp:leaf names groups of a layout; say --gang-layout too, as in "
		 "--gang-layout=tp8,pp8",
		 EINVAL},
		{"tp8;pp4", NULL, 0, NULL, NULL,
		 "--gang-layout, column 1: 'tp8;pp4': a size is a whole number from 1, as in tp8",
		 EINVAL},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		reordered = cases[i].reordered;
		if (cases[i].layout)
			add_spank(OSP_SPANK_GANG_LAYOUT, cases[i].layout);
		if (cases[i].keep)
			add_spank(OSP_SPANK_GANG_KEEP, cases[i].keep);
		assert_int_equal(job_submit(&job, 1000, &message), cases[i].rc);
		if (cases[i].reported)
			assert_string_equal(message, cases[i].reported);
		else
			assert_null(message);
		if (cases[i].effective) {
			assert_string_equal(effective_value(), cases[i].effective);
			assert_string_equal(job.admin_comment, cases[i].comment);
		}
		end_job();
	}
	reordered = 0;
}

static void reports_what_segments_leave(void **state)
{
	with_shadow(state);
	left = "segments nvlink:16 leave 2 of 18 nodes in each full nvlink to others";
	add_spank(OSP_SPANK_GANG_SEGMENT, "nvlink:16");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(message, "onespine: segments nvlink:16 leave 2 of 18 nodes in each "
				     "full nvlink to others");
	end_job();
	left = "";
}

static void tells_the_shadow_what_the_job_wants(void **state)
{
	(void)state;
	job.partition = "gpu,big";
	job.req_nodes = "n[1-2]";
	job.exc_nodes = "n9";
	job.reservation = "kept";
	job.min_nodes = 12;
	ask("spine");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(seen_job.partition, "gpu,big");
	assert_string_equal(seen_job.required_nodes, "n[1-2]");
	assert_string_equal(seen_job.excluded_nodes, "n9");
	assert_string_equal(seen_job.reservation, "kept");
	assert_int_equal(seen_job.min_nodes, 12);
	job.min_nodes = NO_VAL;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(seen_job.min_nodes, 0);
	job.num_tasks = 30;
	job.ntasks_per_node = 8;
	job.cpus_per_task = 3;
	job.max_nodes = 7;
	job.tres_per_job = "gres:gpu:9";
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(seen_job.tasks, 30);
	assert_int_equal(seen_job.tasks_per_node, 8);
	assert_int_equal(seen_job.cpus, 90);
	assert_int_equal(seen_job.max_nodes, 7);
	assert_string_equal(seen_job.tres_per_job, "gres:gpu:9");
	job.min_cpus = 200; /* the larger of both */
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(seen_job.cpus, 200);
	job.overcommit = 1;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(seen_job.cpus, 0);
	end_job();
}

static void advises(void **state)
{
	(void)state;
	policy.mode = OSP_MODE_ADVISE;
	ask("spine@never");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_string_equal(
		effective_value(),
		"version=1,mode=advise,level=spine,relax_s=-1,origin=option,mix_kinds=no");
	assert_string_equal(job.admin_comment, "[onespine: gang=advise spine]");
	end_job();
}

static void refuses_bad_values(void **state)
{
	static const struct {
		const char *option, *variable, *reported;
	} cases[] = {
		{"sp!ne", NULL, "--gang=sp!ne: '!' is not allowed in a level's name"},
		{"spine@soon", NULL, "--gang=spine@soon: 'soon' is no time"},
		{NULL, "ONESPINE_GANG=sp ne", "ONESPINE_GANG: --gang=sp ne: ' ' is not allowed"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		if (cases[i].option)
			ask(cases[i].option);
		else
			add_variable(cases[i].variable);
		assert_int_equal(job_submit(&job, 1000, &message), EINVAL);
		assert_memory_equal(message, cases[i].reported, strlen(cases[i].reported));
		assert_memory_equal(info_log, "onespine: refused user 1000: ",
				    strlen("onespine: refused user 1000: "));
		assert_null(effective_value());
		end_job();
	}
}

static void set_switches(void)
{
	job.req_switch = 1;
}

/* Its user may have set a variable long ago, and is told which: with each option that has one. */
static void names_the_variable_that_asked(void **state)
{
	static const struct {
		enum osp_job_option_id id;
		const char *value;
		bool switches; /* beside --switches */
		const char *told;
	} cases[] = {
		{OSP_JOB_GANG, "sp ne", false,
		 "ONESPINE_GANG: --gang=sp ne: ' ' is not allowed in a level's name"},
		{OSP_JOB_GANG, "leaf", true, "ONESPINE_GANG=leaf: --switches cannot be combined"},
		{OSP_JOB_GANG, "", true, "ONESPINE_GANG: --switches cannot be combined"},
		{OSP_JOB_GANG_DOMAINS, "0", false,
		 "ONESPINE_GANG_DOMAINS: --gang-domains=0: in how many domains at most is"},
		{OSP_JOB_GANG_DOMAINS, "2", true,
		 "ONESPINE_GANG_DOMAINS=2: --switches cannot be combined with --gang"},
		{OSP_JOB_GANG_SEGMENT, "16", false,
		 "ONESPINE_GANG_SEGMENT: --gang-segment=16: a level and a number of nodes are"},
		{OSP_JOB_GANG_SEGMENT, "leaf:16", true,
		 "ONESPINE_GANG_SEGMENT=leaf:16: --switches cannot be combined with --gang"},
		{OSP_JOB_GANG_LAYOUT, "tp8,pp", false,
		 "ONESPINE_GANG_LAYOUT: --gang-layout, column 5: 'pp': a size is a"},
		{OSP_JOB_GANG_LAYOUT, "tp8,pp8", true,
		 "ONESPINE_GANG_LAYOUT=tp8,pp8: --switches cannot be combined with --gang"},
		{OSP_JOB_GANG_KEEP, "leaf", false,
		 "ONESPINE_GANG_KEEP: --gang-keep=leaf: a group (tp, cp, dp, pp or ep) and a"},
		{OSP_JOB_GANG_SPARES, "x", false, "ONESPINE_GANG_SPARES"},
		{OSP_JOB_GANG_SPARES, "1", false,
		 "ONESPINE_GANG_SPARES: --gang-spares needs to know how many nodes stay"},
	};
	enum { BY_ENVIRONMENT, BY_SPANK, BY_COMMAND_LINE, WAYS };

	for (size_t i = 0; i < WAYS * COUNT(cases); i++) {
		const struct osp_job_option *option = osp_job_option(cases[i / WAYS].id);
		const char *told = cases[i / WAYS].told;
		char entry[96];

		with_shadow(state);
		if (cases[i / WAYS].switches)
			set_switches();
		if (i % WAYS == BY_ENVIRONMENT) {
			snprintf(entry, sizeof(entry), "%s=%s", option->variable,
				 cases[i / WAYS].value);
			add_variable(entry);
		} else {
			snprintf(entry, sizeof(entry), "%s=", option->entry);
			add_spank(entry, cases[i / WAYS].value);
		}
		/* the others were given by variables, whose names begin alike */
		add_spank(OSP_SPANK_BY_VARIABLE "=",
			  i % WAYS == BY_SPANK ? option->name : "gang-check gang-x");
		assert_int_not_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		if (i % WAYS == BY_COMMAND_LINE)
			assert_null(strstr(message, "ONESPINE_"));
		else
			assert_memory_equal(message, told, strlen(told));
		assert_null(strstr(message, "ONESPINE_GANG_SPARES: ONESPINE_GANG_SPARES"));
		assert_null(effective_value());
		end_job();
	}
}

/* Of several each that asked is named, and none that the command line gave. */
static void names_each_variable_that_asked(void **state)
{
	static const char told[] = "ONESPINE_GANG=core ONESPINE_GANG_SEGMENT=leaf:4: --switches "
				   "cannot be combined with --gang";

	with_shadow(state);
	set_switches();
	add_variable("ONESPINE_GANG=core");
	add_variable("ONESPINE_GANG_SEGMENT=leaf:4");
	add_variable("ONESPINE_GANG_CHECK=quick");
	add_spank(OSP_SPANK_GANG_DOMAINS, "2");
	assert_int_equal(job_submit(&job, 1000, &message), ESLURM_NOT_SUPPORTED);
	assert_memory_equal(message, told, strlen(told));
	end_job();
	/* of a long value the beginning will do */
	with_shadow(state);
	set_switches();
	add_variable("ONESPINE_GANG_KEEP=pp:leaf,dp:a-level-with-a-long-name-of-its");
	add_spank(OSP_SPANK_GANG_LAYOUT, "tp8,pp8,dp2");
	assert_int_equal(job_submit(&job, 1000, &message), ESLURM_NOT_SUPPORTED);
	assert_non_null(
		strstr(message,
		       "ONESPINE_GANG_KEEP=pp:leaf,dp:a-level-with-a-long-name-of-i: --switches"));
	end_job();
}

/* Each doctor would leave a refusal in slurmctld's log. */
static void refuses_the_doctors_probe_without_a_line(void **state)
{
	with_shadow(state);
	info_log[0] = '\0';
	ask(OSP_GANG_PROBE);
	assert_int_equal(job_submit(&job, 1000, &message), EINVAL);
	assert_string_equal(info_log, "");
	assert_null(message);
	assert_null(effective_value());
	end_job();
}

static void hands_on_the_shadows_refusal(void **state)
{
	(void)state;
	refusal = "12 nodes on one spine asked for; the largest spine of partition gpu has 8";
	ask("spine");
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_string_equal(message, refusal);
	assert_null(effective_value());
	/* what another plugin said before stays */
	slurm_xfree((void **)&message);
	message = slurm_text("your account is nearly used up");
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_string_equal(message,
			    "your account is nearly used up\n12 nodes on one spine asked for; the "
			    "largest spine of partition gpu has 8");
	/* nowhere to say it */
	assert_int_equal(job_submit(&job, 1000, NULL), ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	end_job();
}

/* A user may have set the variable long ago, so the refusal of what it asks for names it. */
static void names_the_variable_of_what_does_not_fit(void **state)
{
	static const struct {
		const char *variable, *option;
		bool by_variable; /* srun says so of its option */
		const char *says;
	} cases[] = {
		{"ONESPINE_GANG=spine", NULL, false, "ONESPINE_GANG=spine: no spine holds it"},
		{"ONESPINE_GANG=", NULL, false, "ONESPINE_GANG: no spine holds it"},
		{NULL, "spine", true, "ONESPINE_GANG=spine: no spine holds it"},
		{NULL, "spine", false, "no spine holds it"},
		/* it only said off: the policy asks */
		{"ONESPINE_GANG=off", NULL, false, "no spine holds it"},
		/* the option counts */
		{"ONESPINE_GANG=leaf", "spine", false, "no spine holds it"},
		{"ONESPINE_GANG_SEGMENT=leaf:4", NULL, false,
		 "ONESPINE_GANG_SEGMENT=leaf:4: no spine holds it"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		refusal = "no spine holds it";
		if (cases[i].variable)
			add_variable(cases[i].variable);
		if (cases[i].option)
			ask(cases[i].option);
		if (cases[i].by_variable)
			add_option(OSP_SPANK_BY_VARIABLE "=gang");
		assert_int_equal(job_submit(&job, 1000, &message),
				 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
		if (strcmp(message, cases[i].says) != 0)
			fail_msg("case %zu: %s", i, message);
		end_job();
	}
}

/* --- forging ---------------------------------------------------------------------------------- */

static void drops_what_users_forge(void **state)
{
	static const char *const asked[] = {NULL, "off", "leaf"};

	for (size_t i = 0; i < COUNT(asked); i++) {
		with_shadow(state);
		add_option(OSP_EFFECTIVE
			   "mode=enforce,level=node,relax_s=-1,origin=set,mix_kinds=no");
		add_option("OTHER=1");
		add_option(OSP_EFFECTIVE);
		add_option("SPANK_" OSP_EFFECTIVE);
		if (asked[i])
			ask(asked[i]);
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_string_equal(job.spank_job_env[0], "OTHER=1");
		if (i == 2)
			assert_string_equal(effective_value(),
					    "version=1,mode=enforce,level=leaf,relax_s=-1,origin="
					    "option,mix_kinds=no");
		else
			assert_null(effective_value());
		assert_null(job.spank_job_env[job.spank_job_env_size]);
		end_job();
	}
}

static void keeps_the_administrators_comment(void **state)
{
	(void)state;
	job.admin_comment = slurm_text("paid by grant 7");
	ask("spine");
	assert_int_equal(job_submit(&job, 0, &message), SLURM_SUCCESS);
	assert_string_equal(job.admin_comment, "paid by grant 7 [onespine: gang=spine]");
	end_job();
}

static void marks_batch_jobs(void **state)
{
	(void)state;
	add_variable("ONESPINE_LEVEL=core");
	add_variable("ONESPINE_DOMAIN=c1");
	add_variable("HOME=/root");
	add_variable("ONESPINE_LEAF=l1");
	add_variable("ONESPINE_LEAVES=l1:n1");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(job.env_size, 1);
	assert_string_equal(job.environment[0], "HOME=/root");
	assert_null(job.environment[1]);
	ask("leaf");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(job.env_size, 2);
	assert_string_equal(variable("ONESPINE_LEVEL="), "leaf");
	assert_null(variable("ONESPINE_DOMAIN="));
	assert_null(job.environment[2]);
	end_job();
}

/* --- spares ----------------------------------------------------------------------------------- */

#define NONE UINT32_MAX

static void spares_make_the_job_larger(void **state)
{
	static const struct {
		uint32_t nodes, tasks, per_node, min_cpus, spares;
		uint32_t all_nodes, all_tasks, each_node, all_cpus;
	} cases[] = {
		/* -N3 */
		{3, NONE, NONE, 3, 1, 4, NONE, NONE, 4},
		/* -N3 --ntasks-per-node=8 */
		{3, 24, 8, 24, 1, 4, 32, 8, 32},
		/* -N3 -n24: as many on each node, whichever stay */
		{3, 24, NONE, 24, 2, 5, 40, 8, 40},
		/* -N3 -n24 -c2 */
		{3, 24, NONE, 48, 1, 4, 32, 8, 64},
		{1, 1, NONE, 1, 1, 2, 2, 1, 2},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char option[64], all[16];

		with_shadow(state);
		add_variable("PATH=/bin");
		job.min_nodes = job.max_nodes = cases[i].nodes;
		if (cases[i].tasks != NONE)
			job.num_tasks = cases[i].tasks;
		if (cases[i].per_node != NONE)
			job.ntasks_per_node = (uint16_t)cases[i].per_node;
		job.min_cpus = cases[i].min_cpus;
		snprintf(option, sizeof(option), OSP_SPANK_SPARES "%u", cases[i].spares);
		add_option(option);
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_int_equal(job.min_nodes, cases[i].all_nodes);
		assert_int_equal(job.max_nodes, cases[i].all_nodes);
		assert_int_equal(job.num_tasks,
				 cases[i].all_tasks == NONE ? NO_VAL : cases[i].all_tasks);
		assert_int_equal(job.ntasks_per_node,
				 cases[i].each_node == NONE ? NO_VAL16 : cases[i].each_node);
		assert_int_equal(job.min_cpus, cases[i].all_cpus);
		assert_int_equal(seen_job.min_nodes, cases[i].all_nodes);
		assert_int_equal(seen_job.spares, cases[i].spares);
		snprintf(all, sizeof(all), "%u", cases[i].spares);
		assert_string_equal(osp_job_env_find(job.spank_job_env, job.spank_job_env_size,
						     OSP_EFFECTIVE_SPARES),
				    all);
		assert_string_equal(variable(OSP_SPARES_MARK), all);
		end_job();
	}
}

/* K spares in each segment: larger segments, and as many nodes more as there are segments. */
static void spares_make_segments_larger(void **state)
{
	static const struct {
		const char *segments, *value;
		uint32_t nodes, all_nodes, spares, in_segment;
		const char *placed;
	} cases[] = {
		{"leaf:16", "2/segment", 64, 72, 8, 2, "leaf:18"},
		{"leaf:16", "1/segment", 40, 43, 3, 1, "leaf:17"},
		{"nvlink:16,leaf:32", "2/segment", 64, 72, 8, 2, "nvlink:18,leaf:36"},
		{"leaf:32,nvlink:16", "2/segment", 48, 54, 6, 2, "leaf:36,nvlink:18"},
		{"leaf:16", "0/segment", 64, 64, 0, 0, "leaf:16"},
		{"leaf:16", "2", 64, 66, 2, 0, "leaf:16"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char option[64], all[16], in_segment[16];
		const char *found;

		with_shadow(state);
		job.min_nodes = job.max_nodes = cases[i].nodes;
		add_option(OSP_SPANK_GANG "spine");
		snprintf(option, sizeof(option), OSP_SPANK_GANG_SEGMENT "%s", cases[i].segments);
		add_option(option);
		snprintf(option, sizeof(option), OSP_SPANK_SPARES "%s", cases[i].value);
		add_option(option);
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_int_equal(job.min_nodes, cases[i].all_nodes);
		assert_int_equal(seen_job.spares, cases[i].spares);
		assert_int_equal(seen_job.segment_spares, cases[i].in_segment);
		assert_string_equal(seen_request.segments, cases[i].placed);
		snprintf(all, sizeof(all), "%u", cases[i].spares);
		snprintf(in_segment, sizeof(in_segment), "%u", cases[i].in_segment);
		found = osp_job_env_find(job.spank_job_env, job.spank_job_env_size,
					 OSP_EFFECTIVE_SPARES);
		assert_true(cases[i].spares ? found && !strcmp(found, all) : !found);
		found = osp_job_env_find(job.spank_job_env, job.spank_job_env_size,
					 OSP_EFFECTIVE_SEGMENT_SPARES);
		assert_true(cases[i].in_segment ? found && !strcmp(found, in_segment) : !found);
		end_job();
	}
}

/* Those of a layout are known when the shadow was asked about the nodes that stay. */
static void spares_make_a_layout_larger(void **state)
{
	static const struct {
		const char *made, *value;
		bool advice;
		uint32_t all_nodes, spares, in_segment;
		const char *placed;
	} cases[] = {
		{"leaf:16", "2/segment", false, 72, 8, 2, "leaf:18"},
		{"nvlink:4,leaf:16", "1/segment", false, 80, 16, 1, "nvlink:5,leaf:20"},
		{"leaf:16", "2/segment", true, 66, 2, 0, ""},
		{"", "2", false, 66, 2, 0, ""},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char option[64];

		with_shadow(state);
		of_layout = cases[i].made;
		only_advice = cases[i].advice;
		first_nodes = 0;
		job.min_nodes = job.max_nodes = 64;
		add_option(OSP_SPANK_GANG "spine");
		add_option(OSP_SPANK_GANG_LAYOUT "tp8,pp16");
		snprintf(option, sizeof(option), OSP_SPANK_SPARES "%s", cases[i].value);
		add_option(option);
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_int_equal(first_nodes, cases[i].in_segment || cases[i].advice ? 64 : 66);
		assert_int_equal(job.min_nodes, cases[i].all_nodes);
		assert_int_equal(seen_job.min_nodes, cases[i].all_nodes);
		assert_int_equal(seen_job.spares, cases[i].spares);
		assert_int_equal(seen_job.segment_spares, cases[i].in_segment);
		assert_string_equal(seen_request.segments, cases[i].placed);
		of_layout = NULL;
		only_advice = false;
		end_job();
	}
}

/* The shadow cannot lay out the nodes that stay: nothing is made larger. */
static void spares_of_a_layout_that_is_refused(void **state)
{
	with_shadow(state);
	refusal = "--gang-layout: tp6 ends after 6 GPUs, in the middle of a node of 8";
	job.min_nodes = job.max_nodes = 64;
	add_option(OSP_SPANK_GANG "spine");
	add_option(OSP_SPANK_GANG_LAYOUT "tp6,pp16");
	add_option(OSP_SPANK_SPARES "2/segment");
	assert_int_equal(job_submit(&job, 1000, &message),
			 ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_string_equal(message, refusal);
	assert_int_equal(seen_job.min_nodes, 64);
	assert_int_equal(seen_job.segment_spares, 0);
	assert_int_equal(job.min_nodes, 64);
	end_job();
}

static void spares_of_segments_are_refused(void **state)
{
	static const struct {
		const char *segments, *layout, *value, *reported;
	} cases[] = {
		{NULL, NULL, "2/segment",
		 "--gang-spares=2/segment are spares in each segment, and this job has none: give "
		 "--gang-segment too, as in --gang-segment=leaf:16, or say --gang-spares=2"},
		{NULL, "tp8,pp2", "2/segment",
		 "--gang-spares=2/segment are spares in each segment, and --gang-layout makes none "
		 "here: say --gang-spares=2"},
		{"nvlink:16,leaf:40", NULL, "1/segment",
		 "--gang-segment=nvlink:16,leaf:40: 40 nodes are no multiple of the smallest "
		 "segment, 16"},
		{"leaf:1", NULL, "9000/segment",
		 "--gang-spares=9000/segment: these are more than "},
		{"leaf:16", NULL, "2/segments",
		 "--gang-spares=2/segments: how many spare nodes is expected, a number from 0 to "
		 "16383, or K/segment for K in each segment"},
		{"leaf:16", NULL, "2/", "--gang-spares=2/: how many spare nodes is expected"},
		{"leaf:16", NULL, "/segment", "--gang-spares=/segment: how many spare nodes is "},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char option[80];

		with_shadow(state);
		job.min_nodes = job.max_nodes = 64;
		add_option(OSP_SPANK_GANG "spine");
		if (cases[i].segments) {
			snprintf(option, sizeof(option), OSP_SPANK_GANG_SEGMENT "%s",
				 cases[i].segments);
			add_option(option);
		}
		if (cases[i].layout) {
			snprintf(option, sizeof(option), OSP_SPANK_GANG_LAYOUT "%s",
				 cases[i].layout);
			add_option(option);
		}
		snprintf(option, sizeof(option), OSP_SPANK_SPARES "%s", cases[i].value);
		add_option(option);
		assert_int_not_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		if (strncmp(message, cases[i].reported, strlen(cases[i].reported)) != 0)
			fail_msg("%s", message);
		assert_int_equal(job.min_nodes, 64);
		end_job();
	}
}

/* What Slurm's commands leave out or write as nothing: an empty list, no tasks, another
 * distribution. */
static void spares_of_odd_requests(void **state)
{
	static char nothing[] = "";

	with_shadow(state);
	job.min_nodes = 3;
	job.max_nodes = 0;
	job.num_tasks = 0;
	job.ntasks_per_node = 0;
	job.max_cpus = 6;
	job.tres_per_job = nothing;
	job.task_dist = SLURM_DIST_BLOCK;
	add_option(OSP_SPANK_SPARES "1");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(job.min_nodes, 4);
	assert_int_equal(job.max_nodes, 4);
	assert_int_equal(job.num_tasks, 0);
	assert_int_equal(job.max_cpus, 8);
	assert_null(variable(OSP_SPARES_MARK)); /* there is no environment to say it in */
	end_job();

	with_shadow(state);
	job.min_nodes = 3;
	job.num_tasks = 3;
	job.ntasks_per_node = 0;
	job.max_cpus = 0;
	job.min_cpus = NO_VAL - 2; /* more would be one of Slurm's marks: it stays */
	add_option(OSP_SPANK_SPARES "1");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(job.ntasks_per_node, 1);
	assert_int_equal(job.max_cpus, 0);
	assert_int_equal(job.min_cpus, NO_VAL - 2);
	end_job();
}

/* Without memory for what the gate must know there are no spares, and no job. */
static void spares_without_memory(void **state)
{
	for (int allowed = 0; allowed < 5; allowed++) {
		with_shadow(state);
		add_variable("PATH=/bin");
		job.min_nodes = 3;
		add_option(OSP_SPANK_SPARES "1");
		failing_after = allowed;
		assert_int_equal(job_submit(&job, 1000, &message),
				 allowed < 4 ? ENOMEM : SLURM_SUCCESS);
		end_job();
	}
}

/* The variable, for submission without SPANK; the option wins; 0 is none. */
static void spares_of_the_environment(void **state)
{
	with_shadow(state);
	add_variable("ONESPINE_GANG_SPARES=2");
	job.min_nodes = 3;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(job.min_nodes, 5);
	end_job();
	with_shadow(state);
	add_variable("ONESPINE_GANG_SPARES=2");
	add_option(OSP_SPANK_SPARES "0");
	job.min_nodes = 3;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(job.min_nodes, 3);
	assert_null(variable(OSP_SPARES_MARK));
	end_job();
}

/* What the gate believes is written by job_submit alone. */
static void spares_cannot_be_forged(void **state)
{
	with_shadow(state);
	add_variable("PATH=/bin");
	add_variable(OSP_SPARES_MARK "1");
	add_option(OSP_EFFECTIVE_SPARES "1");
	add_option("SPANK_" OSP_EFFECTIVE_SPARES "1"); /* slurmd would leave it as it is */
	add_option(OSP_PLACED_INSTANCES "01234567");
	add_option("SPANK_" OSP_PLACED_INSTANCES "01234567");
	add_option(OSP_EFFECTIVE_SEGMENT_SPARES "1");
	add_option("SPANK_" OSP_EFFECTIVE_SEGMENT_SPARES "1");
	add_option(OSP_EFFECTIVE_SEGMENTS "0x3");
	add_option("SPANK_" OSP_EFFECTIVE_SEGMENTS "0x3");
	job.min_nodes = 3;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(job.min_nodes, 3);
	assert_int_equal(job.spank_job_env_size, 0);
	assert_null(variable(OSP_SPARES_MARK));
	end_job();
}

static void spare_component(void)
{
	job.het_job_offset = 0;
}

static void spare_no_size(void)
{
	job.min_nodes = NO_VAL;
}

static void spare_none(void)
{
	job.min_nodes = 0;
}

static void spare_too_many(void)
{
	job.min_nodes = job.max_nodes = NO_VAL - 4;
}

static void spare_range(void)
{
	job.max_nodes = 8;
}

static void spare_job_gres(void)
{
	static char gpus[] = "gres:gpu:12";

	job.tres_per_job = gpus;
}

static void spare_uneven(void)
{
	job.num_tasks = 10;
}

static void spare_exclusive(void)
{
	job.shared = JOB_SHARED_NONE;
}

static void spare_arbitrary(void)
{
	job.task_dist = SLURM_DIST_ARBITRARY;
}

static void spares_are_refused(void **state)
{
	static const struct {
		void (*set)(void);
		const char *value, *reported;
	} cases[] = {
		{NULL, "x", "--gang-spares=x: how many spare nodes is expected, a number from 0 "},
		{NULL, "-1", "--gang-spares=-1: how many spare nodes is expected, a number from "},
		{NULL, "", "--gang-spares=: how many spare nodes is expected, a number from 0 to "},
		{NULL, "1x",
		 "--gang-spares=1x: how many spare nodes is expected, a number from 0 "},
		{NULL, ":",
		 "--gang-spares=:: how many spare nodes is expected, a number from 0 to "},
		{NULL, "99999999999999999999",
		 "--gang-spares=99999999999999999999: how many spare nodes is expected, a "},
		{NULL, "99999", "--gang-spares=99999: how many spare nodes is expected, a number "},
		{spare_component, "1",
		 "a heterogeneous job cannot have spare nodes: Slurm cannot "},
		{spare_no_size, "1",
		 "--gang-spares needs to know how many nodes stay: give --nodes"},
		{spare_none, "1", "--gang-spares needs to know how many nodes stay: give --nodes"},
		{spare_too_many, "10", "--gang-spares is for gangs of at most 16384 nodes"},
		{spare_range, "1", "--gang-spares needs one number of nodes, not a range: "},
		{spare_job_gres, "1",
		 "--gang-spares cannot be combined with --gpus, which counts over "},
		{spare_uneven, "1", "--gang-spares needs as many tasks on each node, whichever "},
		{spare_exclusive, "1",
		 "--gang-spares cannot be combined with --exclusive: Slurm does "},
		{spare_arbitrary, "1",
		 "--gang-spares cannot be combined with --distribution=arbitrary"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char option[80];

		with_shadow(state);
		job.min_nodes = 3;
		if (cases[i].set)
			cases[i].set();
		snprintf(option, sizeof(option), OSP_SPANK_SPARES "%s", cases[i].value);
		add_option(option);
		assert_int_not_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_memory_equal(message, cases[i].reported, strlen(cases[i].reported));
		assert_true(job.min_nodes == 3 || !job.min_nodes || job.min_nodes >= NO_VAL - 4);
		end_job();
	}
}

/* --- what cannot be combined with --gang
 * ---------------------------------------------------------- */

static void set_contiguous(void)
{
	job.contiguous = 1;
}

static void set_component(void)
{
	job.het_job_offset = 0;
}

static void set_counts(void)
{
	job.features = "[a*4&b*8]";
}

static void set_preferred_counts(void)
{
	job.prefer = "a*4";
}

static void set_expand(void)
{
	job.dependency = "afterok:7,Expand:12";
}

static const struct {
	void (*set)(void);
	const char *reported;
} conflicts[] = {
	{set_switches,
	 "--switches cannot be combined with --gang: it counts leaf switches, and only for "
	 "a while; leave it out, --gang=leaf asks for one leaf"},
	{set_contiguous,
	 "--contiguous cannot be combined with --gang: nodes with neighbouring numbers "
	 "need not share a domain; leave it out"},
	{set_component, "a heterogeneous job cannot be one gang: Slurm places its components one "
			"after the other; submit one job without components, or leave out --gang"},
	{set_counts,
	 "a --constraint with counts (a*4) cannot be combined with --gang: Slurm chooses "
	 "each count's nodes by itself; leave out the counts"},
	{set_preferred_counts,
	 "a --constraint with counts (a*4) cannot be combined with --gang: Slurm "
	 "chooses each count's nodes by itself; leave out the counts"},
	{set_expand,
	 "--dependency=expand cannot be combined with --gang: the nodes added may lie in "
	 "another domain; leave it out, or leave out --gang"},
};

static void refuses_conflicts(void **state)
{
	for (size_t i = 0; i < COUNT(conflicts); i++) {
		for (int mode = OSP_MODE_ADVISE; mode <= OSP_MODE_ENFORCE; mode++) {
			with_shadow(state);
			policy.mode = (enum osp_mode)mode;
			conflicts[i].set();
			ask("spine");
			assert_int_equal(job_submit(&job, 1000, &message), ESLURM_NOT_SUPPORTED);
			assert_string_equal(message, conflicts[i].reported);
			assert_null(effective_value());
			assert_null(job.admin_comment);
			end_job();
		}
	}
}

static void policy_refuses_conflicts_only_where_it_enforces(void **state)
{
	for (size_t i = 0; i < COUNT(conflicts); i++) {
		with_shadow(state);
		policy.gang_always = true;
		job.min_nodes = 4;
		conflicts[i].set();
		assert_int_equal(job_submit(&job, 1000, &message), ESLURM_NOT_SUPPORTED);
		assert_memory_equal(message, "the policy here makes a gang of this job, and ", 46);
		assert_memory_equal(
			message + 46, conflicts[i].reported,
			(size_t)(strchr(conflicts[i].reported, ';') - conflicts[i].reported));
		assert_non_null(strstr(message, ", or ask for --gang=off"));
		slurm_xfree((void **)&message);
		policy.allow_off = false;
		assert_int_equal(job_submit(&job, 1000, &message), ESLURM_NOT_SUPPORTED);
		assert_null(strstr(message, "--gang=off"));
		assert_null(strstr(message, "leave out --gang"));
		slurm_xfree((void **)&message);
		policy.mode = OSP_MODE_ADVISE;
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_null(message);
		assert_null(effective_value());
		end_job();
	}
}

static void knows_what_is_no_conflict(void **state)
{
	(void)state;
	job.req_switch = 0;
	job.contiguous = 0;
	job.features = "a&b|c";
	job.dependency = "afterany:1?afterok:2";
	ask("spine");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_non_null(effective_value());
	end_job();
	with_shadow(state);
	set_switches();
	ask("off");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_null(effective_value());
	end_job();
}

/* --- odd lists and no memory ------------------------------------------------------------------ */

static void survives_odd_lists(void **state)
{
	uint32_t count;

	(void)state;
	job.spank_job_env_size = 7; /* NULL list with a count */
	job.env_size = NO_VAL;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	job.spank_job_env_size = 0;
	job.env_size = 0;
	ask("spine");
	add_option("HOLE=");
	add_option("AFTER=");
	slurm_xfree((void **)&job.spank_job_env[1]);
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_non_null(effective_value());
	count = job.spank_job_env_size;
	job.spank_job_env_size = NO_VAL;
	assert_null(effective_value());
	job.spank_job_env_size = count;
	end_job();
}

static void lists_grow(void **state)
{
	char entry[32];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(entry, sizeof(entry), "N%d=", i);
		add_variable(entry);
		assert_int_equal(job.env_size, i + 1);
		assert_null(job.environment[i + 1]);
	}
	assert_string_equal(job.environment[0], "N0=");
	assert_string_equal(job.environment[999], "N999=");
	for (int i = 0; i < 1000; i += 2) {
		snprintf(entry, sizeof(entry), "N%d=", i);
		osp_job_env_drop(job.environment, &job.env_size, entry);
	}
	assert_int_equal(job.env_size, 500);
	assert_string_equal(job.environment[499], "N999=");
	end_job();
}

static void survives_want_of_memory(void **state)
{
	for (int allowed = 0; allowed < 8; allowed++) {
		int rc;

		with_shadow(state);
		ask("spine");
		add_variable("PATH=/bin");
		failing_after = allowed;
		rc = job_submit(&job, 1000, &message);
		/* the entry and its place in the list; all else the job can do without */
		assert_int_equal(rc, allowed < 2 ? ENOMEM : SLURM_SUCCESS);
		assert_int_equal(effective_value() != NULL, allowed >= 2);
		end_job();
	}
}

/* INFINITE and the like are no number of nodes, and --overcommit may be said to be off. */
static void takes_marks_for_no_numbers(void **state)
{
	with_shadow(state);
	ask("spine");
	job.min_nodes = 4;
	job.max_nodes = INFINITE;
	job.overcommit = 0;
	job.min_cpus = 8;
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_int_equal(seen_job.min_nodes, 4);
	assert_int_equal(seen_job.max_nodes, 0);
	assert_int_equal(seen_job.cpus, 8);
	end_job();
}

/* --- onespine set ----------------------------------------------------------------------------- */

static int change(void)
{
	struct job_record *record = (struct job_record *)&job;

	(void)record;
	return job_modify(OSP_JOB_MODIFY_ARGUMENTS(&job, record, 1000, &message));
}

static void sets_a_pending_gang(void **state)
{
	(void)state;
	assert_int_equal(change(), SLURM_SUCCESS); /* scontrol update of anything else */
	assert_null(seen_record);
	job.spank_job_env_size = NO_VAL;
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_null(seen_record);
	job.spank_job_env_size = 0;
	ask("core@10");
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_ptr_equal(seen_record, &job);
	assert_int_equal(seen_uid, 1000);
	assert_int_equal(seen_request.asked, OSP_GANG_OPTION_ON);
	assert_int_equal(seen_request.origin, OSP_FROM_SET);
	assert_string_equal(seen_request.level, "core");
	assert_int_equal(seen_request.relax_s, 600);
	end_job();
}

/* Where a gang stands is not lost when an administrator writes something else. */
static void keeps_our_part_of_a_comment(void **state)
{
	(void)state;
	record_comment = "ticket 1 [onespine: gang=spine; domain=s1; placed: 4 nodes]";
	job.admin_comment = osp_slurm_strdup("ticket 2");
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_string_equal(job.admin_comment,
			    "ticket 2 [onespine: gang=spine; domain=s1; placed: 4 nodes]");
	/* the gate's own */
	record_comment = "[onespine: gang=core]";
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_string_equal(job.admin_comment,
			    "ticket 2 [onespine: gang=spine; domain=s1; placed: 4 nodes]");
	slurm_xfree((void **)&job.admin_comment);
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_null(job.admin_comment);
	record_comment = NULL;
	job.admin_comment = osp_slurm_strdup("ticket 3");
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_string_equal(job.admin_comment, "ticket 3");
	end_job();
}

/* Slurm takes errno for an answer of its own after job_modify(). */
static void leaves_no_errno(void **state)
{
	(void)state;
	errno = EAGAIN;
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_int_equal(errno, 0);
	end_job();
}

/* --- scontrol update -------------------------------------------------------------------------- */

static void start_change(void)
{
	start_job();
	record_job = (struct osp_seam_job){
		.partition = "gpu", .min_nodes = 4, .max_nodes = 4, .shape = {.features = "a"}};
	record_request = (struct osp_request){.origin = OSP_FROM_POLICY, .relax_s = -1};
	record_is_judged = true;
	seen_record = (struct job_record *)&job;
	seen_job = (struct osp_seam_job){.partition = NULL};
	policy.gang_always = true;
	policy.allow_off = false;
}

static void change_partition(void)
{
	job.partition = "train";
}

static void change_nodes(void)
{
	job.min_nodes = 6;
}

static void change_shares(void)
{
	job.shared = JOB_SHARED_NONE;
}

/* Of another size of a job in segments. Before 23.02 Slurm has no way to hand it to scontrol. */
static void tells_what_a_changed_size_leaves(void **state)
{
	static const struct {
		void (*change)(void);
		bool reported;
	} cases[] = {{change_nodes, true}, {change_shares, false}, {change_partition, false}};

	(void)state;
	left = "the last segment of leaf:4 has 2 nodes";
	for (size_t i = 0; i < COUNT(cases); i++) {
		start_change();
		cases[i].change();
		assert_int_equal(change(), SLURM_SUCCESS);
		if (cases[i].reported && OSP_JOB_MODIFY_REPORTS)
			assert_string_equal(message,
					    "onespine: the last segment of leaf:4 has 2 nodes");
		else
			assert_null(message);
		end_job();
	}
	left = "";
}

#define SOCKET "--ntasks-per-socket=0 would end slurmctld, which divides by it: leave it out"
#define NODES                                                                                      \
	"--nodes=0-4 would end slurmctld, which starts such a job on no nodes: give --nodes=1-4"

/* Slurm itself crashes, with and without a gang. */
static void refuses_what_ends_slurmctld(void **state)
{
	static const struct {
		uint32_t min_nodes, max_nodes, now; /* now: the least number of a pending job */
		uint16_t ntasks_per_socket;
		const char *submitted, *changed; /* NULL: taken */
	} cases[] = {
		{1, 1, 1, 0, SOCKET, SOCKET},
		{NO_VAL, NO_VAL, 1, 0, SOCKET, SOCKET},
		{NO_VAL, NO_VAL, 1, 1, NULL, NULL},
		{0, 4, 1, NO_VAL16, NODES, NODES},
		{NO_VAL, 4, 0, NO_VAL16, NULL, NODES},
		{NO_VAL, 4, 1, NO_VAL16, NULL, NULL},
		{1, 4, 0, NO_VAL16, NULL, NULL},
		/* for burst buffers alone, Slurm has a path of its own */
		{0, 0, 0, NO_VAL16, NULL, NULL},
		{0, NO_VAL, 1, NO_VAL16, NULL, NULL},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		start_change();
		policy.gang_always = false;
		record_job.min_nodes = cases[i].now;
		job.min_nodes = cases[i].min_nodes;
		job.max_nodes = cases[i].max_nodes;
		job.ntasks_per_socket = cases[i].ntasks_per_socket;
		assert_int_equal(change(),
				 cases[i].changed ? ESLURM_INVALID_NODE_COUNT : SLURM_SUCCESS);
		if (cases[i].changed)
			assert_non_null(strstr(info_log, cases[i].changed));
		slurm_xfree((void **)&message);
		assert_int_equal(job_submit(&job, 1000, &message),
				 cases[i].submitted ? ESLURM_INVALID_NODE_COUNT : SLURM_SUCCESS);
		assert_string_equal(message ? message : "",
				    cases[i].submitted ? cases[i].submitted : "");
		end_job();
	}
}

int node_record_count = 4; /* slurmctld's */

/* Writes a list of `count` words, or "n[1-COUNT]" if `word` is NULL. */
static char *list_of(const char *word, uint32_t count)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t i = 0; word && i < count; i++)
		osp_text_printf(&text, "%s%s", i ? "," : "", word);
	if (!word)
		osp_text_printf(&text, "n[1-%u]", count);
	return osp_text_take(&text);
}

/* Slurm reads a list in a time quadratic to its names, with all jobs locked. */
static void refuses_lists_of_more_nodes_than_there_are(void **state)
{
	static const struct {
		const char *word;
		uint32_t count;
		uint32_t task_dist;
		bool excluded;
		const char *said; /* NULL: taken */
	} cases[] = {
		{"n1", 4, SLURM_DIST_BLOCK, true, NULL},
		{"n1", 1032, SLURM_DIST_BLOCK, true, NULL},
		{"n1", 1033, SLURM_DIST_BLOCK, true, "--exclude names more nodes than there are"},
		{"n1", 1033, SLURM_DIST_BLOCK, false, "--nodelist names more nodes than there are"},
		{"rack=1", 1033, SLURM_DIST_BLOCK, true, "--exclude names more nodes than"},
		{NULL, 1032, SLURM_DIST_BLOCK, true, NULL},
		{NULL, 1033, SLURM_DIST_BLOCK, true, "--exclude names more nodes than there are"},
		{"n[1-65536]x[1-65536]", 1, SLURM_DIST_BLOCK, true, "--exclude names more nodes"},
		/* Slurm makes and looks for the others' names whatever one word is */
		{"],n[1-65536]x[1-65536]x[1-2]", 1, SLURM_DIST_BLOCK, true, "--exclude is no list"},
		{"],n[1-65536]", 9, SLURM_DIST_BLOCK, false, "--nodelist is no list of nodes"},
		{"\x7f,n[1-65536]", 9, SLURM_DIST_BLOCK, true, "--exclude is no list of nodes"},
		{"x\nn[1-65536]x[1-65536]", 1, SLURM_DIST_BLOCK, true,
		 "--exclude names more nodes"},
		{"x n[1-65536]x[1-65536]", 1, SLURM_DIST_BLOCK, true, "--exclude names more nodes"},
		/* what Slurm takes */
		{"n1\nn[2, 4]\tn3", 1, SLURM_DIST_BLOCK, true, NULL},
		{"]", 4, SLURM_DIST_BLOCK, true, NULL},
		/* a name for each task */
		{"n1", 3072, SLURM_DIST_ARBITRARY, false, NULL},
		{"n1", 3073, SLURM_DIST_ARBITRARY, false, "--nodelist names more nodes than"},
		{"n1", 1033, SLURM_DIST_ARBITRARY, true, "--exclude names more nodes than"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char *list = list_of(cases[i].word, cases[i].count);
		int rc;

		with_shadow(state);
		policy.gang_always = false;
		job.task_dist = cases[i].task_dist;
		*(cases[i].excluded ? &job.exc_nodes : &job.req_nodes) = list;
		rc = job_submit(&job, 1000, &message);
		assert_int_equal(rc, cases[i].said ? ESLURM_INVALID_NODE_COUNT : SLURM_SUCCESS);
		if (cases[i].said)
			assert_non_null(strstr(message, cases[i].said));
		job.exc_nodes = job.req_nodes = NULL;
		free(list);
		end_job();
	}
}

static void refuses_features_that_slurm_would_refuse_too_late(void **state)
{
	static const struct {
		size_t bytes;
		bool preferred;
		const char *said; /* NULL: taken */
	} cases[] = {
		{1024, false, NULL},
		{1025, false, "--constraint of 1025 bytes would hold slurmctld up; it takes 1024"},
		{1024, true, NULL},
		{1025, true, "--prefer of 1025 bytes would hold slurmctld up; it takes 1024"},
	};
	char text[1026];

	for (size_t i = 0; i < COUNT(cases); i++) {
		int rc;

		memset(text, 'a', cases[i].bytes);
		text[cases[i].bytes] = '\0';
		with_shadow(state);
		policy.gang_always = false;
		*(cases[i].preferred ? &job.prefer : &job.features) = text;
		rc = job_submit(&job, 1000, &message);
		assert_int_equal(rc, cases[i].said ? ESLURM_INVALID_NODE_COUNT : SLURM_SUCCESS);
		if (cases[i].said)
			assert_non_null(strstr(message, cases[i].said));
		job.prefer = job.features = NULL;
		end_job();
	}
}

static void judges_a_change_as_a_submission(void **state)
{
	static const struct {
		void (*set)(void);
		const char *reported; /* NULL: it is allowed */
	} cases[] = {
		{change_partition, NULL},
		{change_nodes, NULL},
		{change_shares, NULL},
		{set_switches, "and --switches cannot be combined with --gang"},
		{set_contiguous, "and --contiguous cannot be combined with --gang"},
		{set_counts, "and a --constraint with counts (a*4) cannot be combined with --gang"},
		{set_preferred_counts,
		 "and a --constraint with counts (a*4) cannot be combined with"},
		{set_expand, "and --dependency=expand cannot be combined with --gang"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		start_change();
		cases[i].set();
		assert_int_equal(change(),
				 cases[i].reported ? ESLURM_NOT_SUPPORTED : SLURM_SUCCESS);
		assert_non_null(seen_job.partition);
		if (cases[i].reported)
			assert_non_null(strstr(info_log, cases[i].reported));
		else
			assert_string_equal(info_log, "");
		end_job();
	}
}

/* --- what Prolog and Epilog get --------------------------------------------------------------- */

/* `count` variables of so many bytes each. */
static void add_large(uint32_t count, size_t bytes)
{
	char *entry = malloc(bytes + 1);

	memset(entry, 'x', bytes);
	memcpy(entry, "SPANK_A=", 8);
	entry[bytes] = '\0';
	for (uint32_t i = 0; i < count; i++)
		add_option(entry);
	free(entry);
}

/* A Prolog that cannot begin drains its node. */
static void refuses_what_no_prolog_could_begin_with(void **state)
{
	static const struct {
		uint32_t count;
		size_t bytes;
		const char *reported; /* NULL: it is taken */
	} cases[] = {
		{1, OSP_PROLOG_ENTRY_BYTES_MAX - 1, NULL},
		{1, OSP_PROLOG_ENTRY_BYTES_MAX, "a variable has at most 64 KiB"},
		{1, 200 * 1024, "a variable has at most 64 KiB"},
		{8, 32 * 1024, NULL},
		{9, 32 * 1024, "all together have at most 256 KiB"},
		{OSP_PROLOG_ENTRIES_MAX, 9, NULL},
		{OSP_PROLOG_ENTRIES_MAX + 1, 9, "variables, at most 1024"},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		add_large(cases[i].count, cases[i].bytes);
		assert_int_equal(job_submit(&job, 1000, &message),
				 cases[i].reported ? EINVAL : SLURM_SUCCESS);
		if (cases[i].reported) {
			assert_non_null(strstr(info_log, cases[i].reported));
			assert_non_null(strstr(message, "no Prolog could begin"));
		}
		end_job();
	}
}

/* A wish that is not read is no gang; its user is told so. test_job_env counts what is read. */
static void tells_of_an_environment_that_is_not_read_whole(void **state)
{
	const uint32_t entries = OSP_ENVIRONMENT_ENTRIES_MAX + 1;

	for (int late = 0; late < 2; late++) {
		with_shadow(state);
		job.environment = slurm_xcalloc((size_t)entries + 1, sizeof(*job.environment), true,
						true, "", 0, "");
		job.env_size = entries;
		for (uint32_t i = 0; i < entries; i++)
			job.environment[i] = slurm_text(
				i == (late ? entries - 1 : 0) ? "ONESPINE_GANG=spine" : "A=1");
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_int_equal(effective_value() == NULL, late);
		assert_non_null(strstr(message, "has 65537 variables, of which the first 65536"));
		end_job();
	}
	with_shadow(state);
	add_variable("ONESPINE_GANG=spine");
	assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
	assert_null(message);
	end_job();
}

static void refuses_a_variable_of_ours_that_is_too_long(void **state)
{
	static char entry[2 * OSP_ENVIRONMENT_VALUE_BYTES_MAX] = "ONESPINE_GANG_LAYOUT=";

	(void)state;
	memset(entry + strlen(entry), '8', sizeof(entry) - strlen(entry) - 1);
	add_variable(entry);
	assert_int_equal(job_submit(&job, 1000, &message), EINVAL);
	assert_non_null(strstr(message, "ONESPINE_GANG_LAYOUT: its value has 64 KiB or more"));
	end_job();
}

/* What the change leaves out stays as the record has it; "" takes it back. */
static void lays_a_change_over_the_record(void **state)
{
	(void)state;
	start_change();
	job.min_nodes = 6;
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_string_equal(seen_job.partition, "gpu");
	assert_int_equal(seen_job.min_nodes, 6);
	assert_int_equal(seen_job.max_nodes, 6);
	assert_string_equal(seen_job.shape.features, "a");
	job.features = "";
	job.partition = "train,gpu";
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_string_equal(seen_job.partition, "train,gpu");
	assert_null(seen_job.shape.features);
	end_job();
}

static void leaves_other_changes_alone(void **state)
{
	(void)state;
	start_change();
	refusal = "no";
	job.priority = 7;
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_null(seen_job.partition);
	job.max_nodes = 4; /* of a job whose record is not judged */
	record_is_judged = false;
	record_job.min_nodes = 0;
	assert_int_equal(change(), SLURM_SUCCESS);
	record_is_judged = true;
	job.max_nodes = NO_VAL;
	assert_null(seen_job.partition);
	record_is_judged = false; /* it runs, say */
	job.partition = "train";
	assert_int_equal(change(), SLURM_SUCCESS);
	assert_null(seen_job.partition);
	end_job();
}

static void hands_on_the_refusal_of_a_change(void **state)
{
	(void)state;
	start_change();
	refusal = "12 nodes on one spine asked for";
	job.min_nodes = 12;
	assert_int_equal(change(), ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_string_equal(info_log,
			    "onespine: refused user 1000: 12 nodes on one spine asked for");
	end_job();
	start_change();
	refusal = "job 7 is a gang";
	record_is_judged = false;
	job.min_nodes = 0; /* gives its nodes to the job that it expands */
	assert_int_equal(change(), ESLURM_NOT_SUPPORTED);
	assert_string_equal(info_log, "onespine: refused user 1000: job 7 is a gang");
	end_job();
}

/* A job whose size nobody knows is no gang yet, and must not be one that cannot be kept
 * together. */
static void leaves_sizes_to_the_shadow(void **state)
{
	static const struct {
		void (*set)(void);
		int rc;
	} cases[] = {
		{set_switches, SLURM_SUCCESS},	    {set_contiguous, SLURM_SUCCESS},
		{set_component, SLURM_SUCCESS},	    {set_counts, ESLURM_NOT_SUPPORTED},
		{set_expand, ESLURM_NOT_SUPPORTED},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		policy.gang_always = true;
		policy.allow_off = false;
		cases[i].set();
		assert_int_equal(job_submit(&job, 1000, &message), cases[i].rc);
		assert_null(effective_value());
		assert_null(job.admin_comment);
		end_job();
	}
}

/* Components of other partitions are none of this one's size; Slurm shows them one after the other
 * in one thread. */
static void counts_components_of_one_partition(void **state)
{
	static char train[] = "train", cpu[] = "cpu";
	static const struct {
		uint32_t offset;
		char *partition;
		uint32_t before, nodes;
	} cases[] = {
		{0, cpu, 0, NO_VAL},	  {1, train, 0, NO_VAL},
		{2, cpu, 1, NO_VAL},	  {3, NULL, 0, NO_VAL},
		{4, train, 1, 3},	  {5, train, 4, 0},	 /* at least one node */
		{6, train, 5, 1},	  {8, train, 0, NO_VAL}, /* one that was shown elsewhere */
		{NO_VAL, cpu, 0, NO_VAL}, {0, train, 0, NO_VAL},
		{1, train, 1, NO_VAL},	  {2, cpu, 0, NO_VAL},
	};
	uint32_t most = 128; /* that are remembered */

	for (size_t i = 0; i < COUNT(cases); i++) {
		with_shadow(state);
		job.het_job_offset = cases[i].offset;
		job.partition = cases[i].partition;
		job.min_nodes = cases[i].nodes;
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_int_equal(seen_job.nodes_beside, cases[i].before);
		end_job();
	}
	for (uint32_t offset = 0; offset <= most; offset++) {
		with_shadow(state);
		job.het_job_offset = offset;
		job.partition = train;
		job.min_nodes = 2;
		assert_int_equal(job_submit(&job, 1000, &message), SLURM_SUCCESS);
		assert_int_equal(seen_job.nodes_beside, offset < most ? 2 * offset : 0);
		end_job();
	}
}

static void refuses_to_set(void **state)
{
	(void)state;
	ask("core");
	refusal = "job 7 is not yours; its owner or an operator may change its gang";
	assert_int_equal(change(), ESLURM_NOT_SUPPORTED);
	assert_string_equal(info_log,
			    "onespine: refused user 1000: job 7 is not yours; its owner or "
			    "an operator may change its gang");
	set_answer = ESLURM_ACCESS_DENIED; /* 22.05 shows users nothing else */
	assert_int_equal(change(), ESLURM_ACCESS_DENIED);
	set_answer = -1;
	end_job();
	start_job();
	ask("c*re");
	assert_int_equal(change(), EINVAL);
	assert_null(seen_record);
	end_job();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fails_without_the_shadow),
		cmocka_unit_test(asks_no_other_select_plugin),
		cmocka_unit_test(fails_with_another_build),
		cmocka_unit_test(reports_another_slurm),
		cmocka_unit_test_setup_teardown(holds_gangs_after_an_update, after_an_update,
						as_built),
		cmocka_unit_test_setup_teardown(what_it_cannot_judge_is_refused, after_an_update,
						as_built),
		cmocka_unit_test_setup_teardown(a_list_of_partitions_is_held_to_what_one_promises,
						after_an_update, as_built),
		cmocka_unit_test_setup_teardown(parts_of_larger_jobs_are_not_taken, after_an_update,
						as_built),
		cmocka_unit_test_setup_teardown(no_gang_goes_without_the_license, after_an_update,
						as_built),
		cmocka_unit_test_setup_teardown(a_change_lets_no_gang_go, after_an_update,
						as_built),
		cmocka_unit_test_setup_teardown(stops_where_it_may_not_hold, after_an_update,
						as_built),
		cmocka_unit_test_setup(a_gang_carries_the_license, with_shadow),
		cmocka_unit_test_setup(leaves_other_jobs_alone, with_shadow),
		cmocka_unit_test(takes_the_request),
		cmocka_unit_test(takes_segments_and_several_domains),
		cmocka_unit_test(takes_layouts),
		cmocka_unit_test(reports_what_segments_leave),
		cmocka_unit_test(tells_what_a_changed_size_leaves),
		cmocka_unit_test_setup(tells_the_shadow_what_the_job_wants, with_shadow),
		cmocka_unit_test_setup(advises, with_shadow),
		cmocka_unit_test(refuses_bad_values),
		cmocka_unit_test(names_the_variable_that_asked),
		cmocka_unit_test(names_each_variable_that_asked),
		cmocka_unit_test(refuses_the_doctors_probe_without_a_line),
		cmocka_unit_test_setup(hands_on_the_shadows_refusal, with_shadow),
		cmocka_unit_test(names_the_variable_of_what_does_not_fit),
		cmocka_unit_test(drops_what_users_forge),
		cmocka_unit_test_setup(keeps_the_administrators_comment, with_shadow),
		cmocka_unit_test_setup(marks_batch_jobs, with_shadow),
		cmocka_unit_test(spares_make_the_job_larger),
		cmocka_unit_test(spares_make_segments_larger),
		cmocka_unit_test(spares_make_a_layout_larger),
		cmocka_unit_test(spares_of_a_layout_that_is_refused),
		cmocka_unit_test(spares_of_segments_are_refused),
		cmocka_unit_test(spares_of_odd_requests),
		cmocka_unit_test(spares_without_memory),
		cmocka_unit_test(spares_of_the_environment),
		cmocka_unit_test(spares_cannot_be_forged),
		cmocka_unit_test(spares_are_refused),
		cmocka_unit_test(refuses_conflicts),
		cmocka_unit_test(policy_refuses_conflicts_only_where_it_enforces),
		cmocka_unit_test_setup(knows_what_is_no_conflict, with_shadow),
		cmocka_unit_test_setup(survives_odd_lists, with_shadow),
		cmocka_unit_test_setup(lists_grow, with_shadow),
		cmocka_unit_test(takes_marks_for_no_numbers),
		cmocka_unit_test(survives_want_of_memory),
		cmocka_unit_test_setup(sets_a_pending_gang, with_shadow),
		cmocka_unit_test_setup(keeps_our_part_of_a_comment, with_shadow),
		cmocka_unit_test_setup(leaves_no_errno, with_shadow),
		cmocka_unit_test_setup(refuses_what_ends_slurmctld, with_shadow),
		cmocka_unit_test_setup(refuses_lists_of_more_nodes_than_there_are, with_shadow),
		cmocka_unit_test_setup(refuses_features_that_slurm_would_refuse_too_late,
				       with_shadow),
		cmocka_unit_test_setup(judges_a_change_as_a_submission, with_shadow),
		cmocka_unit_test_setup(lays_a_change_over_the_record, with_shadow),
		cmocka_unit_test_setup(leaves_other_changes_alone, with_shadow),
		cmocka_unit_test_setup(hands_on_the_refusal_of_a_change, with_shadow),
		cmocka_unit_test_setup(leaves_sizes_to_the_shadow, with_shadow),
		cmocka_unit_test_setup(counts_components_of_one_partition, with_shadow),
		cmocka_unit_test_setup(refuses_to_set, with_shadow),
		cmocka_unit_test(refuses_what_no_prolog_could_begin_with),
		cmocka_unit_test(tells_of_an_environment_that_is_not_read_whole),
		cmocka_unit_test_setup(refuses_a_variable_of_ours_that_is_too_long, with_shadow),
	};

	return cmocka_run_group_tests(tests, NULL, without_folder);
}
