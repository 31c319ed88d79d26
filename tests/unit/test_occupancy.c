/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_occupancy.c - what running jobs hold of each node: cases by hand, and random ones against a
 * model
 *
 * The model is a table of jobs by nodes and asks of every second between two ends. Seeds are fixed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "lib/place/occupancy.h"
#include "lib/place/place.h"
#include "tests/unit/no_memory.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NODE	     ((struct osp_amounts){.cpus = 96, .memory_mib = 1000, .gres = {8}})

static struct osp_occupancy *account(uint32_t nodes)
{
	struct osp_occupancy *occupancy = osp_occupancy_new(nodes);

	assert_non_null(occupancy);
	for (uint32_t n = 0; n < nodes; n++)
		osp_occupancy_set_node(occupancy, n, &NODE);
	return occupancy;
}

static void add(struct osp_occupancy *occupancy, uint32_t job, int64_t end_s, uint32_t node,
		struct osp_amounts holds)
{
	struct osp_occupancy_node held = {node, holds};

	assert_int_equal(osp_occupancy_add(occupancy, job, end_s, &held, 1), 0);
}

static int64_t free_at(const struct osp_occupancy *occupancy, uint32_t node,
		       struct osp_occupancy_need need, int64_t now_s)
{
	struct osp_nodeset *nodes = osp_nodeset_new(node + 1);
	int64_t *times = calloc(node + 1, sizeof(*times));
	int64_t found;

	assert_true(nodes && times);
	osp_nodeset_add(nodes, node);
	osp_occupancy_free_at(occupancy, &need, nodes, now_s, times);
	found = times[node];
	free(nodes);
	free(times);
	return found;
}

/* --- by hand --------------------------------------------------------------------------------- */

static void test_ends_add_up(void **state)
{
	static const struct {
		struct osp_occupancy_need need;
		int64_t free_at_s;
	} cases[] = {
		{{.amounts = {.gres = {0}}}, 100},
		{{.amounts = {.gres = {1}}}, 100}, /* 2 + 4 + 1 of 8 are held */
		{{.amounts = {.gres = {2}}}, 200},
		{{.amounts = {.gres = {4}}}, 300},
		{{.amounts = {.gres = {6}}}, 300},
		{{.amounts = {.gres = {7}}}, 400},
		{{.amounts = {.gres = {8}}}, 400},
		{{.amounts = {.gres = {9}}}, OSP_OCCUPANCY_NEVER_S},
		{{.amounts = {.cpus = 90}}, 100},
		{{.amounts = {.cpus = 91}}, 200},
		{{.amounts = {.cpus = 96}}, 400},
		{{.amounts = {.memory_mib = 200}}, 100},
		{{.amounts = {.memory_mib = 201}}, 300},
		{{.amounts = {.memory_mib = 1000}}, 300},
		{{.amounts = {.memory_mib = 1001}}, OSP_OCCUPANCY_NEVER_S},
		{{.amounts = {.cpus = 91, .memory_mib = 201}}, 300},
		{{.all_cpus = true}, 400},
		{{.all_memory = true}, 300},
		{{.all_gres = true}, 400},
	};
	struct osp_occupancy *occupancy = account(2);

	(void)state;
	add(occupancy, 12, 300, 1, (struct osp_amounts){.cpus = 2, .memory_mib = 800, .gres = {4}});
	add(occupancy, 11, 200, 1, (struct osp_amounts){.cpus = 2, .gres = {1}});
	add(occupancy, 13, 400, 1, (struct osp_amounts){.cpus = 2, .gres = {2}});
	add(occupancy, 10, 50, 1, (struct osp_amounts){.cpus = 90}); /* overdue */
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(free_at(occupancy, 1, cases[i].need, 100), cases[i].free_at_s);
	assert_int_equal(free_at(occupancy, 0, cases[0].need, 100), 100);
	assert_int_equal(free_at(occupancy, 7, cases[7].need, 100), 100);
	osp_occupancy_free(occupancy);
	assert_int_equal(OSP_OCCUPANCY_NEVER_S, OSP_PLACE_NEVER_S);
}

static void test_only_asked_nodes_are_written(void **state)
{
	struct osp_occupancy *occupancy = account(3);
	struct osp_nodeset *nodes = osp_nodeset_new(3);
	struct osp_occupancy_need need = {.all_cpus = true};
	int64_t times[3] = {-1, -1, -1};

	(void)state;
	assert_non_null(nodes);
	osp_nodeset_add(nodes, 1);
	osp_occupancy_free_at(occupancy, &need, nodes, 100, times);
	assert_int_equal(times[0], -1);
	assert_int_equal(times[1], 100);
	assert_int_equal(times[2], -1);
	free(nodes);
	osp_occupancy_free(occupancy);
}

static void test_largest(void **state)
{
	struct osp_occupancy *occupancy = osp_occupancy_new(4);
	struct osp_nodeset *nodes = osp_nodeset_new(6);
	struct osp_amounts largest;

	(void)state;
	assert_true(occupancy && nodes);
	largest = osp_occupancy_largest(occupancy, nodes);
	assert_int_equal(largest.cpus, 0);
	osp_occupancy_set_node(occupancy, 0,
			       &(struct osp_amounts){.cpus = 9, .gres = {9, 9, 9, 9}});
	osp_occupancy_set_node(occupancy, 1,
			       &(struct osp_amounts){.cpus = 5, .gres = {0, 0, 0, 4}});
	osp_occupancy_set_node(occupancy, 3, &(struct osp_amounts){.memory_mib = 7, .gres = {3}});
	osp_nodeset_fill(nodes); /* two beyond the account */
	osp_nodeset_remove(nodes, 0);
	largest = osp_occupancy_largest(occupancy, nodes);
	assert_int_equal(largest.cpus, 5);
	assert_int_equal(largest.memory_mib, 7);
	assert_int_equal(largest.gres[0], 3);
	assert_int_equal(largest.gres[1], 0);
	assert_int_equal(largest.gres[3], 4);
	free(nodes);
	osp_occupancy_free(occupancy);
}

/* The figures of Slurm's _soft_job_end(), reckoned by hand: a job of 60 minutes that asked for
 * 10. */
static void test_soft_end(void **state)
{
	int64_t soft_s = osp_occupancy_soft_end_s(1000, 10);

	(void)state;
	assert_int_equal(soft_s, 1600);
	assert_int_equal(osp_occupancy_expected_end_s(soft_s, 4600, 1000), 1600);
	assert_int_equal(osp_occupancy_expected_end_s(soft_s, 4600, 1600), 1600);
	assert_int_equal(osp_occupancy_expected_end_s(soft_s, 4600, 1601), 3100);
	assert_int_equal(osp_occupancy_expected_end_s(soft_s, 4600, 4599), 4599);
	assert_int_equal(osp_occupancy_expected_end_s(soft_s, 4600, 4700),
			 4650); /* past its limit */
	/* a limit that was lowered below the least time does not count until that is over */
	assert_int_equal(osp_occupancy_expected_end_s(soft_s, 1300, 1200), 1600);
	assert_int_equal(osp_occupancy_soft_end_s(1000, UINT32_MAX), 1000 + INT64_C(257698037700));
}

static void test_suspended(void **state)
{
	struct osp_occupancy *occupancy = account(1);
	struct osp_occupancy_need cpus = {.amounts = {.cpus = 1}};
	struct osp_occupancy_need gpu = {.amounts = {.gres = {5}}};
	struct osp_occupancy_need memory = {.amounts = {.memory_mib = 500}};
	struct osp_occupancy_need whole = {.all_cpus = true};
	struct osp_occupancy_job found;

	(void)state;
	assert_false(osp_occupancy_set_suspended(occupancy, 7, true));
	add(occupancy, 7, 300, 0, (struct osp_amounts){.cpus = 96, .memory_mib = 600, .gres = {4}});
	assert_true(osp_occupancy_set_suspended(occupancy, 7, true));
	assert_int_equal(free_at(occupancy, 0, cpus, 100), 100);
	assert_int_equal(free_at(occupancy, 0, whole, 100), 100);
	assert_int_equal(free_at(occupancy, 0, gpu, 100), 300);
	assert_int_equal(free_at(occupancy, 0, memory, 100), 300);
	assert_true(osp_occupancy_on_node(occupancy, 0, 0, &found));
	assert_true(found.suspended);
	assert_true(osp_occupancy_is_suspended(occupancy, 7));
	assert_false(osp_occupancy_is_suspended(occupancy, 8));
	assert_true(osp_occupancy_set_suspended(occupancy, 7, false));
	assert_false(osp_occupancy_is_suspended(occupancy, 7));
	assert_int_equal(free_at(occupancy, 0, cpus, 100), 300);
	assert_int_equal(free_at(occupancy, 0, whole, 100), 300);
	osp_occupancy_free(occupancy);
}

/* Jobs that were laid over others: how many processors are held at least, until when. */
static void test_groups(void **state)
{
	struct osp_occupancy *occupancy = account(1);
	struct osp_occupancy_need half = {.amounts = {.cpus = 48}};
	struct osp_occupancy_need most = {.amounts = {.cpus = 49}};
	struct osp_occupancy_need whole = {.all_cpus = true};
	struct osp_amounts cpus = {.cpus = 48};
	uint16_t rows = 9;

	(void)state;
	assert_false(osp_occupancy_set_group(occupancy, 1, 7, 1));
	assert_int_equal(osp_occupancy_group(occupancy, 1, &rows), 0);
	assert_int_equal(rows, 0);
	add(occupancy, 1, 300, 0, cpus);
	add(occupancy, 2, 400, 0, cpus);
	assert_int_equal(free_at(occupancy, 0, half, 100), 300);
	assert_true(osp_occupancy_set_group(occupancy, 1, 7, 1));
	assert_int_equal(free_at(occupancy, 0, half, 100), 300); /* one job is alone */
	assert_true(osp_occupancy_set_group(occupancy, 2, 8, 1));
	assert_int_equal(free_at(occupancy, 0, half, 100), 100);
	assert_int_equal(free_at(occupancy, 0, most, 100), 400);
	assert_int_equal(free_at(occupancy, 0, whole, 100), 400);
	assert_true(osp_occupancy_set_group(occupancy, 2, 7, 1)); /* both are of one group */
	assert_int_equal(free_at(occupancy, 0, half, 100), 300);
	assert_true(osp_occupancy_set_group(occupancy, 1, 7, 2));
	assert_true(osp_occupancy_set_group(occupancy, 2, 7, 2)); /* two have one processor */
	assert_int_equal(osp_occupancy_group(occupancy, 2, &rows), 7);
	assert_int_equal(rows, 2);
	assert_int_equal(free_at(occupancy, 0, half, 100), 100);
	add(occupancy, 3, 500, 0, (struct osp_amounts){.cpus = 1}); /* 98 are held in two rows */
	assert_int_equal(free_at(occupancy, 0, half, 100), 300);
	assert_true(osp_occupancy_set_group(occupancy, 3, 7, 2));
	assert_int_equal(free_at(occupancy, 0, half, 100), 300); /* 97: 49 */
	assert_true(osp_occupancy_set_suspended(occupancy, 3, true));
	assert_int_equal(free_at(occupancy, 0, half, 100), 100);
	osp_occupancy_free(occupancy);
}

/* Of more groups than the account compares, the rest counts as nothing. */
static void test_many_groups(void **state)
{
	struct osp_occupancy *occupancy = account(1);
	struct osp_occupancy_need most = {.amounts = {.cpus = 49}};

	(void)state;
	for (uint32_t job = 1; job <= 20; job++) {
		add(occupancy, job, 300 + job, 0, (struct osp_amounts){.cpus = job < 3 ? 90 : 40});
		osp_occupancy_set_group(occupancy, job, job, 1);
	}
	assert_int_equal(free_at(occupancy, 0, most, 100), 100);
	for (uint32_t job = 4; job <= 20; job++)
		osp_occupancy_remove(occupancy, job);
	assert_int_equal(free_at(occupancy, 0, most, 100), 302);
	osp_occupancy_free(occupancy);
}

static void test_ignored(void **state)
{
	struct osp_occupancy *occupancy = account(1);
	struct osp_occupancy_need whole = {.all_cpus = true};

	(void)state;
	assert_false(osp_occupancy_ignore(occupancy, 7));
	add(occupancy, 7, 300, 0, (struct osp_amounts){.cpus = 1});
	add(occupancy, 8, 200, 0, (struct osp_amounts){.cpus = 1});
	assert_true(osp_occupancy_ignore(occupancy, 7));
	assert_int_equal(free_at(occupancy, 0, whole, 100), 200);
	assert_true(osp_occupancy_ignore(occupancy, 8));
	assert_int_equal(free_at(occupancy, 0, whole, 100), 100);
	osp_occupancy_heed_all(occupancy);
	assert_int_equal(free_at(occupancy, 0, whole, 100), 300);
	/* who comes after under the same number is not ignored */
	assert_true(osp_occupancy_ignore(occupancy, 7));
	add(occupancy, 7, 300, 0, (struct osp_amounts){.cpus = 1});
	assert_int_equal(free_at(occupancy, 0, whole, 100), 300);
	osp_occupancy_free(occupancy);
}

/* A job that is laid over keeps its memory and its GPUs. */
static void test_ignored_cpus(void **state)
{
	struct osp_occupancy *occupancy = account(1);
	struct osp_occupancy_need cpus = {.amounts = {.cpus = 96}};
	struct osp_occupancy_need gpus = {.amounts = {.cpus = 96, .gres = {8}}};

	(void)state;
	assert_false(osp_occupancy_ignore_cpus(occupancy, 7));
	add(occupancy, 7, 300, 0, (struct osp_amounts){.cpus = 96, .gres = {1}});
	assert_int_equal(free_at(occupancy, 0, cpus, 100), 300);
	assert_true(osp_occupancy_ignore_cpus(occupancy, 7));
	assert_int_equal(free_at(occupancy, 0, cpus, 100), 100);
	assert_int_equal(free_at(occupancy, 0, gpus, 100), 300);
	osp_occupancy_heed_all(occupancy);
	assert_int_equal(free_at(occupancy, 0, cpus, 100), 300);
	osp_occupancy_free(occupancy);
}

/* Where processors are shared (OverSubscribe=FORCE) jobs may hold more of them than there are. */
static void test_processors_that_are_not_needed(void **state)
{
	struct osp_occupancy *occupancy = account(1);
	struct osp_occupancy_need gpus = {.amounts = {.gres = {2}}};
	struct osp_occupancy_need one = {.amounts = {.cpus = 1, .gres = {2}}};
	struct osp_occupancy_need more_gpus = {.amounts = {.gres = {6}}};

	(void)state;
	for (uint32_t job = 1; job <= 3; job++)
		add(occupancy, job, job * 100 + 100, 0,
		    (struct osp_amounts){.cpus = 96, .gres = {1}});
	assert_int_equal(free_at(occupancy, 0, gpus, 100), 100);
	assert_int_equal(free_at(occupancy, 0, more_gpus, 100), 200);
	assert_int_equal(free_at(occupancy, 0, one, 100), 400);
	osp_occupancy_free(occupancy);
}

static void test_jobs_one_by_one(void **state)
{
	struct osp_occupancy *occupancy = account(2);
	struct osp_occupancy_job found;
	uint32_t cursor = 0, job;
	int64_t end_s, sum_s = 0;

	(void)state;
	assert_false(osp_occupancy_next_job(occupancy, &cursor, &job, &end_s));
	for (uint32_t i = 1; i <= 3; i++)
		add(occupancy, i, i * 100, 1, (struct osp_amounts){.cpus = i});
	assert_true(osp_occupancy_remove(occupancy, 2));
	assert_false(osp_occupancy_remove(occupancy, 2));
	assert_int_equal(osp_occupancy_jobs(occupancy), 2);
	while (osp_occupancy_next_job(occupancy, &cursor, &job, &end_s))
		sum_s += end_s + job;
	assert_int_equal(sum_s, 404);
	assert_int_equal(cursor, 0);
	assert_true(osp_occupancy_on_node(occupancy, 1, 0, &found));
	assert_int_equal(found.job, 3);
	assert_int_equal(found.end_s, 300);
	assert_int_equal(found.node, 1);
	assert_int_equal(found.holds.cpus, 3);
	assert_true(osp_occupancy_on_node(occupancy, 1, 1, &found));
	assert_int_equal(found.job, 1);
	assert_false(osp_occupancy_on_node(occupancy, 1, 2, &found));
	assert_false(osp_occupancy_on_node(occupancy, 0, 0, &found));
	assert_false(osp_occupancy_on_node(occupancy, 2, 0, &found));
	assert_true(osp_occupancy_remove(occupancy, 3));
	assert_true(osp_occupancy_remove(occupancy, 1));
	assert_int_equal(osp_occupancy_jobs(occupancy), 0);
	assert_false(osp_occupancy_on_node(occupancy, 1, 0, &found));
	assert_false(osp_occupancy_set_end(occupancy, 1, 5));
	osp_occupancy_free(occupancy);
	osp_occupancy_free(NULL);
}

static void test_what_differs(void **state)
{
	const struct osp_amounts one = {.cpus = 1}, two = {.cpus = 2};
	const struct osp_occupancy_node both[] = {{0, one}, {1, two}, {9, two}};
	const struct osp_occupancy_node other[] = {{0, one}, {1, one}};
	struct osp_occupancy *occupancy = account(3);
	struct osp_occupancy_job ours, theirs;

	(void)state;
	assert_false(osp_occupancy_has(occupancy, 5));
	assert_true(osp_occupancy_says(occupancy, 5, 100, false, both, 0, &ours, &theirs));
	assert_false(osp_occupancy_says(occupancy, 5, 100, false, both, 1, &ours, &theirs));
	assert_int_equal(ours.job, 0);
	assert_int_equal(theirs.job, 5);
	assert_int_equal(theirs.holds.cpus, 1);
	assert_int_equal(osp_occupancy_add(occupancy, 5, 100, both, 3), 0);
	assert_true(osp_occupancy_has(occupancy, 5));
	assert_true(osp_occupancy_says(occupancy, 5, 100, false, both, 3, &ours, &theirs));
	assert_true(osp_occupancy_says(occupancy, 5, 100, false, both, 2, &ours, &theirs));
	assert_false(osp_occupancy_says(occupancy, 5, 101, false, both, 2, &ours, &theirs));
	assert_int_equal(ours.end_s, 100);
	assert_int_equal(theirs.end_s, 101);
	assert_false(osp_occupancy_says(occupancy, 5, 100, true, both, 2, &ours, &theirs));
	assert_true(theirs.suspended && !ours.suspended);
	assert_false(osp_occupancy_says(occupancy, 5, 100, false, other, 2, &ours, &theirs));
	assert_int_equal(ours.node, 1);
	assert_int_equal(ours.holds.cpus, 2);
	assert_int_equal(theirs.holds.cpus, 1);
	assert_false(osp_occupancy_says(occupancy, 5, 100, false, both, 1, &ours, &theirs));
	assert_int_equal(ours.node, 1);
	assert_int_equal(ours.job, 5);
	assert_int_equal(theirs.job, 0);
	/* another order of the nodes is the same */
	assert_int_equal(osp_occupancy_add(occupancy, 5, 100,
					   (struct osp_occupancy_node[]){both[1], both[0]}, 2),
			 0);
	assert_true(osp_occupancy_says(occupancy, 5, 100, false, both, 2, &ours, &theirs));
	osp_occupancy_free(occupancy);
}

static bool account_of_many(void *context)
{
	struct osp_occupancy *occupancy = osp_occupancy_new(4);
	struct osp_occupancy_node nodes[] = {{.node = 1}, {.node = 3}, {.node = 9}};
	struct osp_occupancy_job found;
	bool good = occupancy != NULL;

	(void)context;
	for (uint32_t job = 1; good && job < 300; job++) {
		good = osp_occupancy_add(occupancy, job, job, nodes, COUNT(nodes)) == 0;
		/* a job that found no memory left nothing behind */
		assert_true(osp_occupancy_on_node(occupancy, 3, 0, &found) == (good || job > 1));
		assert_int_equal(osp_occupancy_jobs(occupancy), good ? job : job - 1);
	}
	for (uint32_t job = 1; good && job < 300; job++)
		assert_true(osp_occupancy_remove(occupancy, job));
	osp_occupancy_free(occupancy);
	return good;
}

static void test_no_memory(void **state)
{
	(void)state;
	assert_true(no_memory_at_each(account_of_many, NULL) >= 4);
}

/* --- random ---------------------------------------------------------------------------------- */

#define NODES 5
#define JOBS  24
#define NEEDS 12 /* more than the account keeps the times of */
#define LAST  40 /* seconds */

struct model_job {
	bool there, suspended, ignored;
	int64_t end_s;
	bool on[NODES];
	struct osp_amounts holds[NODES];
};

struct model {
	struct osp_amounts has[NODES];
	struct model_job jobs[JOBS];
	struct osp_occupancy_need needs[NEEDS]; /* that are asked about */
};

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)((random_state >> 33) % limit);
}

static struct osp_amounts random_amounts(uint32_t most)
{
	struct osp_amounts amounts = {.memory_mib = random_below(most * 2),
				      .cpus = random_below(most)};

	for (size_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++)
		amounts.gres[i] = random_below(3) ? 0 : random_below(most);
	return amounts;
}

/* Whether the node has enough at one second. */
static bool enough_at(const struct model *model, uint32_t node,
		      const struct osp_occupancy_need *need, int64_t at_s)
{
	uint64_t memory_mib = need->amounts.memory_mib, cpus = need->amounts.cpus;
	uint64_t gres[OSP_OCCUPANCY_GRES_MAX];
	bool enough = true;

	for (size_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++)
		gres[i] = need->amounts.gres[i];
	for (uint32_t j = 0; j < JOBS; j++) {
		const struct model_job *job = &model->jobs[j];

		if (!job->there || !job->on[node] || job->ignored || job->end_s <= at_s)
			continue;
		memory_mib += job->holds[node].memory_mib;
		cpus += job->suspended ? 0 : job->holds[node].cpus;
		enough &= !(need->all_cpus && !job->suspended && job->holds[node].cpus);
		enough &= !(need->all_memory && job->holds[node].memory_mib);
		for (size_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++)
			gres[i] += job->holds[node].gres[i];
		for (size_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++)
			enough &= !(need->all_gres && job->holds[node].gres[i]);
	}
	enough &= !need->amounts.memory_mib || memory_mib <= model->has[node].memory_mib;
	enough &= !need->amounts.cpus || cpus <= model->has[node].cpus;
	for (size_t i = 0; i < OSP_OCCUPANCY_GRES_MAX; i++)
		enough &= !need->amounts.gres[i] || gres[i] <= model->has[node].gres[i];
	return enough;
}

static int64_t model_free_at(const struct model *model, uint32_t node,
			     const struct osp_occupancy_need *need, int64_t now_s)
{
	for (int64_t at_s = now_s; at_s <= LAST; at_s++) {
		if (enough_at(model, node, need, at_s))
			return at_s;
	}
	return OSP_OCCUPANCY_NEVER_S;
}

static void begin(struct model *model, struct osp_occupancy *occupancy, uint32_t j)
{
	struct osp_occupancy_node nodes[NODES + 1];
	struct model_job *job = &model->jobs[j];
	size_t count = 0;

	*job = (struct model_job){.there = true, .end_s = random_below(LAST)};
	for (uint32_t n = 0; n < NODES; n++) {
		job->on[n] = random_below(2);
		if (!job->on[n])
			continue;
		job->holds[n] = random_amounts(10);
		nodes[count++] = (struct osp_occupancy_node){n, job->holds[n]};
	}
	nodes[count++] = (struct osp_occupancy_node){NODES + 3, random_amounts(10)};
	assert_int_equal(osp_occupancy_add(occupancy, j, job->end_s, nodes, count), 0);
}

/* One random change of both. */
static void change(struct model *model, struct osp_occupancy *occupancy)
{
	uint32_t j = random_below(JOBS), node = random_below(NODES);
	struct model_job *job = &model->jobs[j];

	switch (random_below(9)) {
	case 0:
		assert_int_equal(osp_occupancy_remove(occupancy, j), job->there);
		job->there = false;
		break;
	case 1:
		job->end_s = random_below(LAST);
		assert_int_equal(osp_occupancy_set_end(occupancy, j, job->end_s), job->there);
		break;
	case 2:
		job->suspended = random_below(2);
		assert_int_equal(osp_occupancy_set_suspended(occupancy, j, job->suspended),
				 job->there);
		break;
	case 3:
		assert_int_equal(osp_occupancy_ignore(occupancy, j), job->there);
		job->ignored = true;
		break;
	case 4:
		osp_occupancy_heed_all(occupancy);
		for (j = 0; j < JOBS; j++)
			model->jobs[j].ignored = false;
		break;
	case 5:
		model->has[node] = random_amounts(40);
		osp_occupancy_set_node(occupancy, node, &model->has[node]);
		break;
	default:
		begin(model, occupancy, j);
	}
}

/* Both answer alike for a random need; returns whether a node had to wait. */
static bool compare_answers(const struct model *model, const struct osp_occupancy *occupancy)
{
	struct osp_occupancy_need need = model->needs[random_below(NEEDS)];
	struct osp_nodeset *nodes = osp_nodeset_new(NODES);
	int64_t now_s = random_below(LAST), times[NODES];
	bool waited = false;

	assert_non_null(nodes);
	for (uint32_t n = 0; n < NODES; n++) {
		times[n] = -7;
		if (random_below(4))
			osp_nodeset_add(nodes, n);
	}
	osp_occupancy_free_at(occupancy, &need, nodes, now_s, times);
	for (uint32_t n = 0; n < NODES; n++) {
		int64_t expected =
			osp_nodeset_test(nodes, n) ? model_free_at(model, n, &need, now_s) : -7;

		assert_int_equal(times[n], expected);
		waited |= times[n] > now_s && times[n] != OSP_OCCUPANCY_NEVER_S;
	}
	free(nodes);
	return waited;
}

static bool any_ignored(const struct model *model)
{
	for (uint32_t j = 0; j < JOBS; j++) {
		if (model->jobs[j].there && model->jobs[j].ignored)
			return true;
	}
	return false;
}

/* What osp_occupancy_keep_free() keeps are the nodes that are free now. */
static void compare_free(const struct model *model, const struct osp_occupancy *occupancy)
{
	struct osp_occupancy_need need = model->needs[random_below(NEEDS)];
	struct osp_nodeset *nodes = osp_nodeset_new(NODES + 1);
	int64_t now_s = random_below(LAST);

	assert_non_null(nodes);
	osp_nodeset_fill(nodes);
	osp_nodeset_remove(nodes, 2);
	osp_occupancy_keep_free(occupancy, &need, now_s, nodes);
	for (uint32_t n = 0; n < NODES; n++)
		assert_int_equal(osp_nodeset_test(nodes, n),
				 n != 2 && model_free_at(model, n, &need, now_s) == now_s);
	assert_true(osp_nodeset_test(nodes, NODES)); /* beyond the account */
	free(nodes);
}

/* The numbers of the nodes' states before and after a change: whether each is as it was. */
struct states {
	uint64_t of[NODES];
};

static void note_states(const struct osp_occupancy *occupancy, struct states *states)
{
	struct osp_nodeset *one = osp_nodeset_new(NODES);

	assert_non_null(one);
	for (uint32_t n = 0; n < NODES; n++) {
		osp_nodeset_clear(one);
		osp_nodeset_add(one, n);
		states->of[n] = osp_occupancy_state(occupancy, one);
	}
	free(one);
}

static bool same_amounts(const struct osp_amounts *a, const struct osp_amounts *b)
{
	return a->memory_mib == b->memory_mib && a->cpus == b->cpus &&
	       !memcmp(a->gres, b->gres, sizeof(a->gres));
}

/* Whether the model says that the node is as before. */
static bool is_same_node(const struct model *a, const struct model *b, uint32_t n)
{
	for (uint32_t j = 0; j < JOBS; j++) {
		const struct model_job *was = &a->jobs[j], *is = &b->jobs[j];
		bool held = was->there && was->on[n], holds = is->there && is->on[n];

		if (held != holds ||
		    (holds && (was->end_s != is->end_s || was->suspended != is->suspended ||
			       !same_amounts(&was->holds[n], &is->holds[n]))))
			return false;
	}
	return same_amounts(&a->has[n], &b->has[n]);
}

/* Another state has another number; whether one of them is the number of before. */
static bool compare_states(const struct model *before, const struct model *after,
			   const struct states *were, const struct states *are)
{
	bool same = false;

	for (uint32_t n = 0; n < NODES; n++) {
		if (!is_same_node(before, after, n))
			assert_int_not_equal(were->of[n], are->of[n]);
		same |= were->of[n] == are->of[n];
	}
	return same;
}

/* The account says of each job what the model says. */
static void compare_jobs(const struct model *model, const struct osp_occupancy *occupancy)
{
	uint32_t there = 0;

	for (uint32_t j = 0; j < JOBS; j++) {
		const struct model_job *job = &model->jobs[j];
		struct osp_occupancy_node nodes[NODES];
		struct osp_occupancy_job ours, theirs;
		size_t count = 0;

		assert_int_equal(osp_occupancy_has(occupancy, j), job->there);
		if (!job->there)
			continue;
		for (uint32_t n = 0; n < NODES; n++) {
			if (job->on[n])
				nodes[count++] = (struct osp_occupancy_node){n, job->holds[n]};
		}
		assert_true(osp_occupancy_says(occupancy, j, job->end_s, job->suspended, nodes,
					       count, &ours, &theirs));
		if (count)
			assert_false(osp_occupancy_says(occupancy, j, job->end_s, job->suspended,
							nodes, count - 1, &ours, &theirs));
		there++;
	}
	assert_int_equal(osp_occupancy_jobs(occupancy), there);
}

static void test_random_against_the_model(void **state)
{
	uint32_t waits = 0, unchanged = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct osp_occupancy *occupancy = osp_occupancy_new(NODES);
		struct model model;

		assert_non_null(occupancy);
		random_state = seed;
		memset(&model, 0, sizeof(model));
		for (uint32_t n = 0; n < NODES; n++) {
			model.has[n] = random_amounts(40);
			osp_occupancy_set_node(occupancy, n, &model.has[n]);
		}
		for (uint32_t i = 0; i < NEEDS; i++)
			model.needs[i] =
				(struct osp_occupancy_need){random_amounts(20), !random_below(4),
							    !random_below(8), !random_below(8)};
		for (int step = 0; step < 120; step++) {
			struct model before = model;
			struct states were, are;

			note_states(occupancy, &were);
			change(&model, occupancy);
			note_states(occupancy, &are);
			unchanged += compare_states(&before, &model, &were, &are);
			waits += compare_answers(&model, occupancy);
			if (!any_ignored(&model))
				compare_free(&model, occupancy);
			if (step % 10 == 0)
				compare_jobs(&model, occupancy);
		}
		osp_occupancy_free(occupancy);
	}
	assert_true(waits > 5000 && unchanged > 10000); /* the cases are not trivial */
}

/* Numbers of jobs that share a bucket, taken out in the order in which they came. */
static void test_many_jobs(void **state)
{
	struct osp_occupancy *occupancy = account(4);

	(void)state;
	for (uint32_t job = 1; job <= 1000; job++)
		add(occupancy, job, 100, job % 4, (struct osp_amounts){.cpus = 1});
	for (uint32_t job = 1; job <= 1000; job++) {
		assert_int_equal(osp_occupancy_jobs(occupancy), 1001 - job);
		osp_occupancy_remove(occupancy, job);
		assert_false(osp_occupancy_has(occupancy, job));
		assert_true(job == 1000 || osp_occupancy_has(occupancy, job + 1));
		osp_occupancy_remove(occupancy, job);
	}
	assert_int_equal(osp_occupancy_jobs(occupancy), 0);
	osp_occupancy_free(occupancy);
}

/* Whole words of nodes, parts of them and nodes beyond the account's say what each node alone
 * says. */
static void test_many_nodes(void **state)
{
	enum { ACCOUNT = 150, NODES_ASKED = 200 };
	struct osp_occupancy *occupancy = account(ACCOUNT);
	struct osp_nodeset *nodes = osp_nodeset_new(NODES_ASKED);
	const struct osp_occupancy_need need = {.amounts = {.cpus = 1, .gres = {8}}};
	int64_t times[NODES_ASKED];

	(void)state;
	assert_non_null(nodes);
	osp_nodeset_fill(nodes);
	for (uint32_t n = 0; n < ACCOUNT; n += 1 + n % 3)
		add(occupancy, n + 1, 100 + n, n, (struct osp_amounts){.gres = {1}});
	for (int round = 0; round < 3; round++) {
		int64_t now_s = 50 + 100 * round;

		memset(times, 0, sizeof(times));
		osp_occupancy_free_at(occupancy, &need, nodes, now_s, times);
		for (uint32_t n = 0; n < NODES_ASKED; n++) {
			int64_t alone_s =
				osp_nodeset_test(nodes, n) ? free_at(occupancy, n, need, now_s) : 0;

			assert_int_equal(times[n], alone_s);
		}
		osp_nodeset_remove(nodes, 70);
		osp_occupancy_remove(occupancy, 1);
	}
	free(nodes);
	osp_occupancy_free(occupancy);
}

static void test_soft_ends(void **state)
{
	(void)state;
	assert_int_equal(osp_occupancy_soft_end_s(100, 2), 220);
	assert_int_equal(osp_occupancy_expected_end_s(220, 1000, 200), 220);
	assert_int_equal(osp_occupancy_expected_end_s(220, 1000, 220), 220);
	assert_int_equal(osp_occupancy_expected_end_s(220, 1000, 300), 650);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_jobs),
		cmocka_unit_test(test_many_nodes),
		cmocka_unit_test(test_soft_ends),
		cmocka_unit_test(test_ends_add_up),
		cmocka_unit_test(test_only_asked_nodes_are_written),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_soft_end),
		cmocka_unit_test(test_suspended),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_many_groups),
		cmocka_unit_test(test_ignored),
		cmocka_unit_test(test_ignored_cpus),
		cmocka_unit_test(test_processors_that_are_not_needed),
		cmocka_unit_test(test_jobs_one_by_one),
		cmocka_unit_test(test_what_differs),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_random_against_the_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
