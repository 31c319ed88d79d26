/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shadow_calls.c - scheduling calls put to the shadow as slurmctld puts them */
#include "tests/unit/shadow_calls.h"

#include <string.h>

#include "lib/policy/request.h"

static const char config[] = "defaults:\n"
			     "  level: spine\n"
			     "partitions:\n"
			     "  held:\n"
			     "    gang: always\n"
			     "    allow_off: false\n"
			     "    from_nodes: 3\n"
			     "  wide:\n"
			     "    gang: always\n"
			     "    allow_off: false\n"
			     "    from_nodes: 12\n"
			     "  narrow:\n"
			     "    gang: always\n"
			     "    allow_off: false\n"
			     "    from_nodes: 3\n"
			     "  advised:\n"
			     "    mode: advise\n"
			     "    gang: always\n";

struct shadow_asked asked;

int shadow_calls_begin(void **state)
{
	(void)state;
	fake_shadow_begin(SHADOW_NODES, 4, config);
	fake_partition("held", 0, SHADOW_NODES);
	fake_partition("wide", 0, SHADOW_NODES);
	fake_partition("advised", 0, SHADOW_NODES);
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	fake_slurm_log();
	asked.now = time(NULL);
	asked.bitmap = fake_bitmap(0, SHADOW_NODES);
	return 0;
}

int shadow_calls_end(void **state)
{
	(void)state;
	FREE_NULL_BITMAP(asked.bitmap);
	FREE_NULL_LIST(asked.candidates);
	FREE_NULL_LIST(asked.preempted);
	slurm_conf.preempt_mode = 0;
	fini();
	fake_shadow_end();
	return 0;
}

job_record_t *gang(uint32_t id, uint32_t nodes, const char *option)
{
	job_record_t *job = fake_job(id, nodes);
	char entry[256];

	snprintf(entry, sizeof(entry), "%s%s", OSP_SPANK_GANG, option);
	fake_job_option(job, entry);
	return job;
}

job_record_t *job_in(uint32_t id, uint32_t nodes, const char *partition)
{
	job_record_t *job = fake_job(id, nodes);

	xfree(job->partition);
	job->partition = xstrdup(partition);
	job->part_ptr = find_part_record(job->partition);
	return job;
}

job_record_t *busy(uint32_t id, uint32_t first, uint32_t count, time_t seconds)
{
	job_record_t *job = fake_job(id, count);

	fake_job_runs(job, first, count, asked.now + seconds);
	shadow_count_added(job);
	return job;
}

int ask_range(job_record_t *job, uint32_t min_nodes, uint32_t max_nodes, uint16_t mode)
{
	const struct osp_job_test_tail tail = {0};

	FREE_NULL_BITMAP(asked.bitmap);
	asked.bitmap = mode == SELECT_MODE_RUN_NOW && !asked.candidates
			       ? bit_copy(idle_node_bitmap)
			       : fake_bitmap(0, SHADOW_NODES);
	return select_p_job_test(job, asked.bitmap, min_nodes, max_nodes, min_nodes, mode,
				 asked.candidates, &asked.preempted, OSP_JOB_TEST_TAIL(&tail));
}

int ask(job_record_t *job, uint16_t mode)
{
	return ask_range(job, job->details->min_nodes, job->details->min_nodes, mode);
}

const char *nodes_given(void)
{
	static char text[128];

	return bit_fmt(text, sizeof(text), asked.bitmap);
}

void assert_says(const job_record_t *job, const char *words)
{
	if (!job->admin_comment || !strstr(job->admin_comment, words))
		fail_msg("\"%s\" lacks \"%s\"", job->admin_comment ? job->admin_comment : "",
			 words);
}
