/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_components.c - what a call about one component of a heterogeneous job takes without Slurm's
 * own function
 *
 * With a slurmctld that is not there (tests/fake/slurmctld.h). Its answers take so many ms by the
 * clock, 4 unless the command says otherwise: no more than a real one's about so many nodes, so
 * that no fewer fit into the second that a call has. Where no spine has room for two components,
 * all are asked about; else the first answers are taken. Prints a table; asserts nothing. Run by
 * hand: tests/bench/bench_components [MS]
 */
#include "tests/unit/shadow_calls.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/rounds.h"

#define ROUNDS 31
#define LEAF   256 /* two of them are a spine */

static uint32_t takes;	/* nodes for a component */
static double slurm_us; /* in the answers */

/* The lowest nodes, at once. */
static int answer(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes, uint32_t max_nodes,
		  uint32_t req_nodes, uint16_t mode, osp_list_t *candidates, osp_list_t **preempted,
		  OSP_JOB_TEST_TAIL_PARAMETERS)
{
	const struct osp_job_test_tail tail = {OSP_JOB_TEST_TAIL_VALUES};
	double start = bench_cpu_us();
	int n = -1, rc;

	(void)tail, (void)min_nodes, (void)max_nodes, (void)req_nodes;
	(void)candidates, (void)preempted;
	for (uint32_t i = 0; i < takes && n < node_record_count; i++) {
		for (n++; n < node_record_count && !bit_test(bitmap, n);)
			n++;
	}
	rc = n < node_record_count ? SLURM_SUCCESS : SLURM_ERROR;
	if (rc == SLURM_SUCCESS && n + 1 < node_record_count)
		bit_nclear(bitmap, n + 1, node_record_count - 1);
	if (mode == SELECT_MODE_WILL_RUN)
		job->start_time = time(NULL);
	slurm_us += bench_cpu_us() - start;
	return rc;
}

static job_record_t *component(uint32_t offset)
{
	job_record_t *job = fake_job(1 + offset, 1);

	xfree(job->partition);
	job->partition = xstrdup("held");
	job->part_ptr = find_part_record(job->partition);
	job->details->max_nodes = 0; /* nobody said how many */
	job->het_job_id = 1;
	job->het_job_offset = offset;
	return job;
}

static void call(job_record_t *job, uint16_t mode)
{
	const struct osp_job_test_tail tail = {0};
	bitstr_t *nodes = fake_bitmap(0, (uint32_t)node_record_count);
	osp_list_t *preempted = NULL;

	select_p_job_test(job, nodes, 1, (uint32_t)node_record_count, 1, mode, NULL, &preempted,
			  OSP_JOB_TEST_TAIL(&tail));
	FREE_NULL_LIST(preempted);
	bit_free(nodes);
}

static void measure(job_record_t *job, uint32_t count, uint16_t mode, const char *words)
{
	double us[ROUNDS], middle;

	for (int i = 0; i < ROUNDS; i++) {
		double start = bench_cpu_us();

		slurm_us = 0;
		fake_slurm.tests = 0;
		call(job, mode);
		us[i] = bench_cpu_us() - start - slurm_us;
	}
	middle = bench_median(us, ROUNDS);
	printf("%7d %10u  %-8s %-9s %9u %9.1f %9.1f\n", node_record_count, count,
	       mode == SELECT_MODE_RUN_NOW ? "start" : "plan", words, fake_slurm.tests, middle,
	       us[ROUNDS - 1]);
}

static void run(uint32_t nodes, uint32_t count, uint32_t slurm_ms)
{
	job_record_t *first;
	char config[256];

	/* with from_nodes a node each would be no gang */
	snprintf(config, sizeof(config),
		 "defaults:\n  level: spine\npartitions:\n  held:\n    gang: always\n"
		 "    allow_off: false\n    from_nodes: %u\n",
		 count + 1);
	fake_shadow_begin(nodes, LEAF, config);
	fake_partition("held", 0, nodes);
	if (init() != SLURM_SUCCESS || select_p_node_init() != SLURM_SUCCESS)
		abort();
	fake_slurm.job_test = answer;
	fake_slurm.test_ms = slurm_ms;
	first = component(0);
	first->het_job_list = list_create(NULL);
	list_append(first->het_job_list, first);
	for (uint32_t i = 1; i < count; i++)
		list_append(first->het_job_list, component(i));
	for (uint32_t room = 0; room < 2; room++) {
		takes = room ? 2 : LEAF + 1;
		measure(first, count, SELECT_MODE_RUN_NOW, room ? "any" : "none");
		measure(first, count, SELECT_MODE_WILL_RUN, room ? "any" : "none");
	}
	fini();
	fake_shadow_end();
}

int main(int argc, char **argv)
{
	static const uint32_t counts[] = {2, 8, 128};

	uint32_t slurm_ms = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 4;

	printf("  nodes components  call     spine     questions median us   largest\n");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		run(65536, counts[i], slurm_ms);
	return 0;
}
