/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_extra.c - what --extra adds to a call about a gang, with Slurm's own comparison
 *
 * With a slurmctld that is not there (tests/fake/slurmctld.h), whose answers are not counted. Gangs
 * of 32 nodes wait, each with an expression of its own; every node has an Extra, and half of them
 * fit. The second that a look holds for is over before each call. Prints a table; asserts nothing.
 * Run by hand: tests/bench/bench_extra
 */
#include "tests/unit/shadow_calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/rounds.h"
#include "tests/unit/late_clock.h"

#if OSP_HAVE_EXTRA_CONSTRAINTS

#define NODES  65536
#define LEAF   256 /* two of them are a spine */
#define GANG   32
#define ROUNDS 201

static double slurm_us; /* in the answers */

/* The lowest nodes, at once. */
static int answer(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes, uint32_t max_nodes,
		  uint32_t req_nodes, uint16_t mode, osp_list_t *candidates, osp_list_t **preempted,
		  OSP_JOB_TEST_TAIL_PARAMETERS)
{
	double start = bench_cpu_us();
	int rc = fake_job_test(job, bitmap, min_nodes, max_nodes, req_nodes, mode, candidates,
			       preempted, OSP_JOB_TEST_TAIL_VALUES);

	slurm_us += bench_cpu_us() - start;
	return rc;
}

/* As scontrol update does: the new one is read before the old one is freed. */
static void set_extra(uint32_t n, int64_t rack, const char *serial)
{
	data_t *data = data_set_dict(data_new());

	data_set_int(data_key_set(data, "rack"), rack);
	data_set_string(data_key_set(data, "kind"), "h100");
	if (serial)
		data_set_string(data_key_set(data, "serial"), serial);
	FREE_NULL_DATA(node_record_table_ptr[n]->extra_data);
	node_record_table_ptr[n]->extra_data = data;
}

static job_record_t *gang_for(uint32_t id, char *extra)
{
	job_record_t *job = fake_job(id, GANG);

	xfree(job->partition);
	job->partition = xstrdup("held");
	job->part_ptr = find_part_record(job->partition);
	job->extra = extra;
	if (extra && extra_constraints_parse(extra, &job->extra_constraints))
		abort();
	return job;
}

static double call(job_record_t *job, uint16_t mode)
{
	const struct osp_job_test_tail tail = {0};
	bitstr_t *nodes = fake_bitmap(0, NODES);
	osp_list_t *preempted = NULL;
	double us, start = bench_cpu_us();

	slurm_us = 0;
	select_p_job_test(job, nodes, GANG, GANG, GANG, mode, NULL, &preempted,
			  OSP_JOB_TEST_TAIL(&tail));
	us = bench_cpu_us() - start - slurm_us;
	FREE_NULL_LIST(preempted);
	bit_free(nodes);
	late_s += 2;
	return us;
}

static void print(const char *what, const char *expression, double *us, size_t count)
{
	double middle = bench_median(us, count);

	printf("%-36s %-34s %5zu %9.2f %9.2f\n", what, expression ? expression : "none", count,
	       middle / 1e3, us[count - 1] / 1e3);
}

static void measure(const char *what, job_record_t *job, uint16_t mode, uint32_t changed)
{
	double us[ROUNDS];
	static uint32_t next;

	call(job, mode); /* its first look */
	for (size_t i = 0; i < ROUNDS; i++) {
		for (uint32_t n = 0; n < changed; n++, next = (next + 1) % NODES)
			set_extra(next, next % 2, NULL);
		us[i] = call(job, mode);
	}
	print(what, job->extra, us, ROUNDS);
}

/* Each call is the first about its expression. */
static void measure_new(const char *what, const char *format)
{
	double us[16];
	char extra[96];

	for (uint32_t i = 0; i < 16; i++) {
		snprintf(extra, sizeof(extra), format, i);
		us[i] = call(gang_for(100 + i, extra), SELECT_MODE_WILL_RUN);
	}
	print(what, extra, us, 16);
}

int main(void)
{
	static char one[] = "rack=1", three[] = "(rack=1&kind=h100)|rack>=7";
	job_record_t *none, *short_one, *long_one;

	fake_shadow_begin(NODES, LEAF, "partitions:\n  held: {gang: always, allow_off: false}\n");
	fake_partition("held", 0, NODES);
	if (init() != SLURM_SUCCESS || select_p_node_init() != SLURM_SUCCESS)
		abort();
	extra_constraints_set_parsing(true);
	for (uint32_t n = 0; n < NODES; n++) {
		char serial[32];

		snprintf(serial, sizeof(serial), "serial-%u", n);
		set_extra(n, n % 2, serial);
	}
	fake_slurm.job_test = answer;
	none = gang_for(1, NULL);
	short_one = gang_for(2, one);
	long_one = gang_for(3, three);
	printf("%-36s %-34s %5s %9s %9s\n", "call", "--extra", "calls", "median ms", "largest");
	measure("start", none, SELECT_MODE_RUN_NOW, 0);
	measure("plan", none, SELECT_MODE_WILL_RUN, 0);
	measure_new("plan, the first with its expression", "rack=1&kind!=x%u");
	measure("start", short_one, SELECT_MODE_RUN_NOW, 0);
	measure("plan", short_one, SELECT_MODE_WILL_RUN, 0);
	measure("plan", long_one, SELECT_MODE_WILL_RUN, 0);
	measure("plan, 100 nodes' Extra changed", long_one, SELECT_MODE_WILL_RUN, 100);
	return 0;
}

#else

int main(void)
{
	printf("this Slurm looks at no Extra\n");
	return 0;
}

#endif
