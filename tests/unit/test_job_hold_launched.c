/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gangs whose nodes were being launched when Slurm was updated: which of them are put back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "sched/job_hold_launched.h"
#include "sched/slurm_exports.h"

#define LAUNCHES                                                                                   \
	"[onespine: gang=spine; launched: 4 nodes, 4 of them do not run yet; whether they are on " \
	"one spine is asked when they run]"

/* --- a slurmctld that answers ----------------------------------------------------------------- */

static slurm_job_info_t *jobs; /* NULL: it does not answer */
static uint32_t job_count;
static int freed, refusal, error_of_task;
static char called[256], error_log[512], info_log[512];

int slurm_load_jobs(time_t update_time, job_info_msg_t **message, uint16_t flags)
{
	assert_int_equal(update_time, 0);
	assert_int_equal(flags, SHOW_ALL);
	if (!jobs)
		return SLURM_ERROR;
	*message = calloc(1, sizeof(**message));
	assert_non_null(*message);
	(*message)->record_count = job_count;
	(*message)->job_array = jobs;
	return SLURM_SUCCESS;
}

void slurm_free_job_info_msg(job_info_msg_t *message)
{
	free(message);
	freed++;
}

static void note_call(const char *what, const char *of)
{
	size_t length = strlen(called);

	snprintf(called + length, sizeof(called) - length, "%s %s;", what, of);
}

int slurm_requeue2(char *job, uint32_t flags, job_array_resp_msg_t **each)
{
	assert_int_equal(flags, 0);
	note_call("requeue", job);
	if (error_of_task) {
		*each = calloc(1, sizeof(**each));
		assert_non_null(*each);
		(*each)->job_array_count = 1;
		(*each)->error_code = calloc(1, sizeof(uint32_t));
		(*each)->error_code[0] = (uint32_t)error_of_task;
	}
	errno = refusal;
	return refusal ? SLURM_ERROR : SLURM_SUCCESS;
}

void slurm_free_job_array_resp(job_array_resp_msg_t *each)
{
	free(each->error_code);
	free(each);
}

void slurm_init_job_desc_msg(job_desc_msg_t *job)
{
	memset(job, 0, sizeof(*job));
	job->requeue = NO_VAL16;
}

int slurm_update_job2(job_desc_msg_t *job, job_array_resp_msg_t **each)
{
	char name[64];

	assert_null(*each);
	snprintf(name, sizeof(name), "%s requeue=%u", job->job_id_str, job->requeue);
	note_call("update", name);
	errno = refusal;
	return refusal ? SLURM_ERROR : SLURM_SUCCESS;
}

char *slurm_strerror(int number)
{
	return number == ESLURM_DISABLED ? (char *)"disabled" : (char *)"another error";
}

static void write_log(char *log, size_t bytes, const char *format, va_list arguments)
{
	vsnprintf(log, bytes, format, arguments);
}

void slurm_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_log(error_log, sizeof(error_log), format, arguments);
	va_end(arguments);
}

void slurm_info(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	write_log(info_log, sizeof(info_log), format, arguments);
	va_end(arguments);
}

static int quiet(void **state)
{
	(void)state;
	jobs = NULL;
	job_count = 0;
	freed = refusal = error_of_task = 0;
	called[0] = error_log[0] = info_log[0] = '\0';
	return 0;
}

static void has(slurm_job_info_t *job)
{
	jobs = job;
	job_count = 1;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void puts_back_those_whose_nodes_are_launched(void **state)
{
	static const struct {
		uint32_t job_state;
		uint32_t array, task;
		uint16_t requeue;
		const char *comment;
		const char *called;
	} cases[] = {
		{JOB_RUNNING | JOB_CONFIGURING, 0, NO_VAL, 1, LAUNCHES, "requeue 7;"},
		{JOB_RUNNING | JOB_CONFIGURING, 0, NO_VAL, 1, "by hand " LAUNCHES, "requeue 7;"},
		/* a step of its owner has ended that it is CONFIGURING */
		{JOB_RUNNING, 0, NO_VAL, 1, LAUNCHES, "requeue 7;"},
		{JOB_SUSPENDED | JOB_CONFIGURING, 0, NO_VAL, 1, LAUNCHES, "requeue 7;"},
		{JOB_RUNNING | JOB_CONFIGURING, 0, NO_VAL, 1,
		 "[onespine: gang=spine; launched: no fabric topology is in force]", "requeue 7;"},
		{JOB_RUNNING | JOB_CONFIGURING, 5, 3, 1, LAUNCHES, "requeue 5_3;"},
		{JOB_RUNNING | JOB_CONFIGURING, 0, NO_VAL, 0, LAUNCHES,
		 "update 7 requeue=1;requeue 7;"},
		{JOB_PENDING, 0, NO_VAL, 1, LAUNCHES, ""},
		{JOB_COMPLETE, 0, NO_VAL, 1, LAUNCHES, ""},
		{JOB_RUNNING, 0, NO_VAL, 1, "[onespine: gang=spine; domain=s1; placed: 4 nodes]",
		 ""},
		{JOB_PENDING, 0, NO_VAL, 1,
		 "[onespine: gang=spine; launched in vain: its 4 nodes are on 2 spines]", ""},
		{JOB_RUNNING | JOB_CONFIGURING, 0, NO_VAL, 1, "launched: by hand", ""},
		{JOB_RUNNING | JOB_CONFIGURING, 0, NO_VAL, 1, "[onespine: gang=spine]", ""},
		{JOB_RUNNING | JOB_CONFIGURING, 0, NO_VAL, 1, NULL, ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		slurm_job_info_t job = {.job_id = 7,
					.job_state = cases[i].job_state,
					.array_job_id = cases[i].array,
					.array_task_id = cases[i].task,
					.requeue = cases[i].requeue,
					.admin_comment = (char *)cases[i].comment};

		quiet(state);
		has(&job);
		assert_true(osp_hold_launched_look());
		assert_string_equal(called, cases[i].called);
		assert_string_equal(error_log, "");
		assert_int_equal(freed, 1);
		if (*called)
			assert_string_equal(info_log,
					    "onespine: JobId=7 goes back to the queue: its nodes "
					    "were being launched, and nobody would know whether "
					    "they are together");
	}
}

static void looks_again_after_a_failure(void **state)
{
	slurm_job_info_t job = {.job_id = 7,
				.job_state = JOB_RUNNING | JOB_CONFIGURING,
				.array_task_id = NO_VAL,
				.requeue = 1,
				.admin_comment = (char *)LAUNCHES};

	(void)state;
	assert_false(osp_hold_launched_look()); /* slurmctld does not answer */
	assert_string_equal(called, "");
	has(&job);
	refusal = ESLURM_DISABLED;
	assert_false(osp_hold_launched_look());
	assert_string_equal(
		error_log,
		"onespine: JobId=7 cannot go back to the queue (disabled), where it "
		"belongs: its nodes were being launched, and nobody knows whether they are "
		"together");
	assert_string_equal(info_log, "");
	job.requeue = 0; /* nor may that be changed */
	called[0] = '\0';
	assert_false(osp_hold_launched_look());
	assert_string_equal(called, "update 7 requeue=1;");
	job.requeue = 1;
	refusal = 0;
	error_of_task = ESLURM_TRANSITION_STATE_NO_UPDATE;
	assert_false(osp_hold_launched_look());
	assert_non_null(strstr(error_log, "(another error)"));
	error_of_task = 0;
	assert_true(osp_hold_launched_look());
	assert_int_equal(freed, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(puts_back_those_whose_nodes_are_launched, quiet),
		cmocka_unit_test_setup(looks_again_after_a_failure, quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
