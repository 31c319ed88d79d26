/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_request.c - what a job is held to, and what it needs of each of its nodes, read from
 * its record */
#include "tests/fake/slurmctld.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/effective.h"

#define NODES 16

static const char config[] = "defaults:\n"
			     "  level: spine\n"
			     "partitions:\n"
			     "  held:\n"
			     "    gang: always\n"
			     "    allow_off: false\n"
			     "    from_nodes: 3\n"
			     "  leafs:\n"
			     "    level: leaf\n"
			     "    gang: always\n"
			     "    allow_off: false\n"
			     "  asked:\n"
			     "    gang: always\n"
			     "  advised:\n"
			     "    mode: advise\n"
			     "    gang: always\n"
			     "  slow:\n"
			     "    gang: always\n"
			     "    allow_off: false\n"
			     "    relax: 10\n"
			     "  none:\n"
			     "    mode: off\n";

static struct osp_effective effective;

static int with_cluster(void **state)
{
	static const char *const names[] = {"held", "leafs", "asked", "advised", "slow", "none"};

	(void)state;
	fake_shadow_begin(NODES, 4, config);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fake_partition(names[i], 0, NODES);
	memset(&effective, 0, sizeof(effective));
	return 0;
}

static int without_cluster(void **state)
{
	(void)state;
	fake_shadow_end();
	return 0;
}

static job_record_t *job_in(uint32_t id, uint32_t nodes, const char *partitions)
{
	job_record_t *job = fake_job(id, nodes);

	xfree(job->partition);
	job->partition = xstrdup(partitions);
	job->part_ptr =
		strchr(partitions, ',') ? default_part_loc : find_part_record(job->partition);
	return job;
}

/* --- the request ------------------------------------------------------------------------------ */

#define STORED(mode, level, origin)                                                                \
	OSP_EFFECTIVE "version=1,mode=" mode ",level=" level ",relax_s=-1,origin=" origin          \
		      ",mix_kinds=no"

static void finds_the_request_in_force(void **state)
{
	static const struct {
		const char *partitions;
		uint32_t nodes;
		const char *entry; /* of spank_job_env[]; NULL: none */
		const char *level; /* NULL: it is no gang */
		enum osp_mode mode;
	} cases[] = {
		/* as the job says */
		{"gpu", 4, NULL, NULL, OSP_MODE_OFF},
		{"gpu", 4, "OTHER=1", NULL, OSP_MODE_OFF},
		{"gpu", 4, OSP_SPANK_GANG "leaf", "leaf", OSP_MODE_ENFORCE},
		{"gpu", 4, OSP_SPANK_GANG "(null)", "spine", OSP_MODE_ENFORCE},
		{"gpu", 4, OSP_SPANK_GANG "off", NULL, OSP_MODE_OFF},
		{"gpu", 4, OSP_SPANK_GANG "a@b@c", "spine", OSP_MODE_ENFORCE},
		{"gpu", 4, OSP_SPANK_GANG "leaf layout=tp8", "spine", OSP_MODE_ENFORCE},
		{"none", 4, OSP_SPANK_GANG "leaf", "spine",
		 OSP_MODE_ENFORCE}, /* kept together all the same */
		{"gpu", 4, STORED("enforce", "leaf", "option"), "leaf", OSP_MODE_ENFORCE},
		{"gpu", 4, STORED("off", "leaf", "set"), NULL, OSP_MODE_OFF},
		/* what a policy made of it, the policy in force makes anew */
		{"gpu", 4, STORED("enforce", "leaf", "policy"), NULL, OSP_MODE_OFF},
		{"asked", 4, STORED("enforce", "leaf", "policy"), "spine", OSP_MODE_ENFORCE},
		{"held", 2, STORED("enforce", "spine", "policy"), NULL, OSP_MODE_OFF},
		{"leafs", 4, STORED("enforce", "spine", "policy"), "leaf", OSP_MODE_ENFORCE},
		{"advised", 4, STORED("enforce", "spine", "policy"), "spine", OSP_MODE_ADVISE},
		/* one that this release does not understand stays a gang */
		{"gpu", 4, OSP_EFFECTIVE "version=1,mode=enforce,pack=2", "spine",
		 OSP_MODE_ENFORCE},
		{"gpu", 4, STORED("enforce", "leaf", "option") ",pack=2", "leaf", OSP_MODE_ENFORCE},
		/* also one of a policy, which is then not made anew */
		{"asked", 4, STORED("enforce", "leaf", "policy") ",pack=2", "leaf",
		 OSP_MODE_ENFORCE},
		/* as the policy says */
		{"held", 4, NULL, "spine", OSP_MODE_ENFORCE},
		{"held", 2, NULL, NULL, OSP_MODE_OFF},
		{"held", 4, OSP_SPANK_GANG "off", "spine", OSP_MODE_ENFORCE},
		{"held", 2, OSP_SPANK_GANG "off", NULL, OSP_MODE_OFF},
		{"held", 4, OSP_SPANK_GANG "leaf", "leaf", OSP_MODE_ENFORCE},
		{"leafs", 4, OSP_SPANK_GANG "spine", "leaf", OSP_MODE_ENFORCE},
		{"held", 4, OSP_SPANK_GANG "leaf@1", "spine", OSP_MODE_ENFORCE},
		{"slow", 4, STORED("enforce", "spine", "option"), "spine", OSP_MODE_ENFORCE},
		{"slow", 4, OSP_SPANK_GANG "spine@1", "spine", OSP_MODE_ENFORCE},
		{"asked", 4, OSP_SPANK_GANG "off", NULL, OSP_MODE_OFF},
		{"asked", 4, NULL, "spine", OSP_MODE_ENFORCE},
		{"advised", 4, NULL, "spine", OSP_MODE_ADVISE},
		{"advised", 4, OSP_SPANK_GANG "leaf", "leaf", OSP_MODE_ADVISE},
		/* as several partitions say together */
		{"gpu,held", 4, NULL, "spine", OSP_MODE_ENFORCE},
		{"held,leafs", 4, NULL, "leaf", OSP_MODE_ENFORCE},
		{"held,none,asked", 4, NULL, "spine", OSP_MODE_ENFORCE},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = job_in(i + 1, cases[i].nodes, cases[i].partitions);
		bool gang;

		if (cases[i].entry)
			fake_job_option(job, cases[i].entry);
		gang = shadow_gang_request(job, &effective);
		if (gang != (cases[i].level != NULL) || (gang && effective.mode != cases[i].mode) ||
		    (gang && strcmp(effective.level, cases[i].level) != 0))
			fail_msg("case %u: %d, mode %d, level \"%s\"", i, gang, effective.mode,
				 effective.level);
	}
}

static void finds_no_request_without_a_policy(void **state)
{
	job_record_t *job = fake_job(1, 4);

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	shadow_state_free();
	assert_false(shadow_gang_request(job, &effective));
}

/* Only its list of partitions says where it may run; an entry without a word is none. */
static void reads_odd_records(void **state)
{
	job_record_t *job = job_in(1, 4, "held,gpu");

	(void)state;
	job->part_ptr = NULL;
	assert_true(shadow_gang_request(job, &effective));
	xfree(job->partition);
	assert_false(shadow_gang_request(job, &effective));
	xrecalloc(job->spank_job_env, 2, sizeof(char *));
	job->spank_job_env_size = 1; /* whose place is empty */
	assert_null(shadow_spank_value(job, "A="));
	assert_false(shadow_gang_request(job, &effective));
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	assert_true(shadow_gang_request(job, &effective));
	job->spank_job_env_size = 0; /* none of them counts */
	assert_false(shadow_gang_request(job, &effective));
	job->spank_job_env_size = 2; /* to be freed */
}

/* Options that this release cannot read, or of which it reads only some, leave a gang of the
 * partition's level. */
static void keeps_a_gang_that_it_cannot_read(void **state)
{
	job_record_t *job = job_in(1, 4, "gpu");
	struct osp_request request;
	bool readable;

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	assert_true(shadow_option(job, &request, &readable));
	assert_true(readable);
	fake_job_option(job, OSP_SPANK_GANG_SEGMENT "leaf");
	assert_true(shadow_option(job, &request, &readable));
	assert_false(readable);
	assert_true(shadow_gang_request(job, &effective));
	assert_int_equal(effective.mode, OSP_MODE_ENFORCE);
	assert_string_equal(effective.level, "spine");
}

/* Only a pending job with several partitions may still choose, and only among its own. */
static void chooses_among_its_partitions(void **state)
{
	job_record_t *job = job_in(1, 4, "held");
	part_record_t *held = find_part_record((char *)"held");

	(void)state;
	assert_false(shadow_may_choose(job, held));
	job->part_ptr_list = list_create(NULL);
	list_append(job->part_ptr_list, held);
	assert_false(shadow_may_choose(job, held));
	list_append(job->part_ptr_list, find_part_record((char *)"leafs"));
	assert_true(shadow_may_choose(job, held));
	assert_false(shadow_may_choose(job, find_part_record((char *)"asked")));
	job->job_state = JOB_RUNNING;
	assert_false(shadow_may_choose(job, held));
	job->job_state = JOB_PENDING;
}

static void names_nodes_that_are_there(void **state)
{
	node_record_t *second = node_record_table_ptr[1];
	struct osp_nodeset *set = shadow_nodes_named("n[2-3]");
	char *names;

	(void)state;
	assert_int_equal(osp_nodeset_count(set), 2);
	assert_true(osp_nodeset_test(set, 1) && osp_nodeset_test(set, 2));
	assert_null(shadow_nodes_named("n[2-3],gone"));
	node_record_table_ptr[1] = NULL; /* the place of a node that is gone */
	names = shadow_node_names(set);
	assert_string_equal(names, "n3");
	free(names);
	osp_nodeset_remove(set, 2);
	assert_null(shadow_node_names(set));
	node_record_table_ptr[1] = second;
	free(set);
}

/* The fabric is gone: nothing of a request is looser than a policy of which nobody knows where it
 * ends. */
static void compares_with_policy(void **state)
{
	const struct osp_policy *held = osp_config_policy(shadow_state.config, "held");
	struct osp_policy unknown = *osp_config_policy(shadow_state.config, "leafs");
	struct osp_topology *topology = shadow_state.topology;
	struct osp_effective asked = {.level = "leaf", .relax_s = -1};

	(void)state;
	assert_false(shadow_looser_than_policy(held, &asked));
	asked.relax_s = 60;
	assert_true(shadow_looser_than_policy(held, &asked));
	shadow_state.topology = NULL;
	assert_false(shadow_looser_than_policy(held, &asked));
	shadow_state.topology = topology;
	asked.relax_s = -1;
	/* a request of a level that is gone waits, wherever the policy would have it */
	snprintf(asked.level, sizeof(asked.level), "lost");
	assert_false(shadow_looser_than_policy(&unknown, &asked));
	snprintf(asked.level, sizeof(asked.level), "spine");
	assert_true(shadow_looser_than_policy(&unknown, &asked));
	snprintf(asked.level, sizeof(asked.level), "leaf");
	unknown.level = "gone";
	assert_true(shadow_looser_than_policy(&unknown, &asked));
	snprintf(asked.level, sizeof(asked.level), "gone");
	assert_false(shadow_looser_than_policy(&unknown, &asked));
}

static void relaxes_when_it_could_have_run_so_long(void **state)
{
	job_record_t *job = fake_job(1, 4);
	struct osp_effective asked = {.level = "leaf", .relax_s = 60};
	time_t now = time(NULL);

	(void)state;
	job->details->submit_time = now - 100;
	assert_true(shadow_is_relaxed(job, &asked));
	job->details->begin_time = now - 10;
	assert_false(shadow_is_relaxed(job, &asked));
	job->details->begin_time = now - 100;
	asked.relax_s = -1;
	assert_false(shadow_is_relaxed(job, &asked));
}

/* --- its size --------------------------------------------------------------------------------- */

static void sees_what_needs_more_nodes(void **state)
{
	static const struct {
		uint32_t min_nodes, max_nodes, tasks;
		uint16_t tasks_per_node;
		uint32_t cpus;
		uint8_t overcommit;
		const char *tres;
		bool gang, if_large;
		const char *per_node, *per_task;
	} cases[] = {
		{1, 2, NO_VAL, 0, 1, 0, NULL, .gang = false, .if_large = false},
		{1, 3, NO_VAL, 0, 1, 0, NULL, .gang = true, .if_large = false},
		{1, 0, NO_VAL, 0, 1, 0, NULL, .gang = true, .if_large = true},
		{1, NO_VAL, NO_VAL, 0, 16, 0, NULL, .gang = true, .if_large = true},
		{1, NO_VAL, NO_VAL, 0, 17, 0, NULL, .gang = true, .if_large = false},
		{1, 0, NO_VAL, 0, 17, 1, NULL, .gang = true, .if_large = true},
		{1, 0, 3, 1, 1, 0, NULL, .gang = true, .if_large = false},
		{1, 0, NO_VAL, 0, 1, 0, "gres:gpu:17", .gang = true, .if_large = false},
		{1, 0, NO_VAL, 0, 1, 0, "gres:gpu:16", .gang = true, .if_large = true},
		{0, 0, NO_VAL, 0, 1, 0, NULL, .gang = true, .if_large = true},
		/* GPUs of tasks, and what nodes give of them */
		{1, 0, 4, 0, 1, 0, NULL, .gang = true, .if_large = true, .per_task = "gres:gpu:4"},
		{1, 0, 5, 0, 1, 0, NULL, .gang = true, .if_large = false, .per_task = "gres:gpu:4"},
		{1, 0, NO_VAL, 0, 1, 0, NULL, .gang = true, .if_large = true,
		 .per_task = "gres:gpu:4"},
		{1, 0, NO_VAL, 0, 1, 0, "gres:gpu:4", .gang = true, .if_large = true,
		 .per_node = "gres:gpu:2"},
		{1, 0, NO_VAL, 0, 1, 0, "gres:gpu:6", .gang = true, .if_large = false,
		 .per_node = "gres:gpu:2"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = job_in(i + 1, cases[i].min_nodes, "held");
		bool gang;

		job->details->max_nodes = cases[i].max_nodes;
		job->details->num_tasks = cases[i].tasks;
		job->details->ntasks_per_node = cases[i].tasks_per_node;
		job->details->min_cpus = cases[i].cpus;
		job->details->overcommit = cases[i].overcommit;
		job->tres_per_job = (char *)(uintptr_t)cases[i].tres;
		job->tres_per_node = (char *)(uintptr_t)cases[i].per_node;
		job->tres_per_task = (char *)(uintptr_t)cases[i].per_task;
		gang = shadow_gang_request(job, &effective);
		if (gang != cases[i].gang || (gang && effective.if_large != cases[i].if_large))
			fail_msg("case %u: %d, if_large %d", i, gang, effective.if_large);
	}
}

/* The number of tasks, which 26.05 writes as the most nodes, is no size that the job says. */
static void tells_tasks_from_a_range(void **state)
{
	const uint64_t of_tasks = (uint64_t)1 << 47;
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	job->details->max_nodes = job->details->num_tasks = 4;
	assert_int_equal(shadow_most_nodes(job), 4);
	assert_true(shadow_gang_request(job, &effective));
	assert_false(effective.if_large);
	if (!OSP_MOST_IS_OF_TASKS(of_tasks))
		skip();
	job->bit_flags |= of_tasks;
	assert_int_equal(shadow_most_nodes(job), 0);
	assert_true(shadow_gang_request(job, &effective));
	assert_true(effective.if_large);
}

static void sees_no_need_where_no_node_is(void **state)
{
	node_record_t *first = node_record_table_ptr[0];
	bitstr_t *none = fake_bitmap(0, 0), *one = fake_bitmap(0, 1), *apart = fake_bitmap(1, 3);
	const struct osp_gpus_wanted no_gpus = {.per_node = UINT64_MAX};
	const struct osp_gpus_wanted a_node_full = {.in_all = 8, .per_node = UINT64_MAX};
	const struct osp_gpus_wanted many_gpus = {.in_all = 100, .per_node = UINT64_MAX};

	(void)state;
	assert_false(shadow_needs_more_nodes(NULL, 100, &many_gpus, 1));
	assert_false(shadow_needs_more_nodes(none, 100, &many_gpus, 1));
	assert_true(shadow_needs_more_nodes(one, 100, &no_gpus, 1));
	assert_true(shadow_needs_more_nodes(one, 1, &many_gpus, 1));
	assert_false(shadow_needs_more_nodes(one, 8, &a_node_full, 1));
	bit_clear(apart, 2);
	assert_true(shadow_needs_more_nodes(apart, 100, &no_gpus, 1));
	assert_true(shadow_needs_more_nodes(apart, 1, &many_gpus, 1));
	node_record_table_ptr[0] = NULL; /* the place of a node that is gone */
	assert_false(shadow_needs_more_nodes(one, 100, &many_gpus, 1));
	node_record_table_ptr[0] = first;
	FREE_NULL_BITMAP(none);
	FREE_NULL_BITMAP(one);
	FREE_NULL_BITMAP(apart);
}

/* Components in one partition are one job to the policy. */
static void counts_components_together(void **state)
{
	job_record_t *leader = job_in(1, 2, "held"), *second = job_in(2, 2, "held");
	job_record_t *elsewhere = job_in(3, 9, "gpu"), *bare = job_in(4, 1, "held");
	__typeof__(bare->details) details = bare->details;

	(void)state;
	leader->het_job_id = second->het_job_id = 1;
	assert_false(
		shadow_gang_request(second, &effective)); /* the leader's list is not there yet */
	leader->het_job_list = list_create(NULL);
	list_append(leader->het_job_list, elsewhere);
	leader->details->min_nodes = leader->details->max_nodes = 3;
	assert_true(
		shadow_gang_request(leader, &effective)); /* it is not listed: it counts alone */
	leader->details->min_nodes = leader->details->max_nodes = 2;
	assert_false(shadow_gang_request(leader, &effective));
	list_prepend(leader->het_job_list, leader);
	bare->details = NULL;
	list_append(leader->het_job_list, bare);
	assert_false(shadow_gang_request(leader, &effective));
	list_append(leader->het_job_list, second);
	assert_true(shadow_gang_request(leader, &effective));
	assert_false(effective.if_large);
	leader->details->min_nodes = second->details->min_nodes = 1;
	second->details->max_nodes = 0;
	assert_true(shadow_gang_request(leader, &effective));
	assert_true(effective.if_large);
	second->het_job_id = 77; /* a leader that is gone */
	second->details->max_nodes = 1;
	assert_false(shadow_gang_request(second, &effective));
	bare->details = details;
}

static void gives_no_advice_that_cannot_be_followed(void **state)
{
	job_record_t *job = job_in(1, 4, "advised");

	(void)state;
	assert_true(shadow_gang_request(job, &effective));
	job->req_switch = 1;
	assert_false(shadow_gang_request(job, &effective));
	job->req_switch = 0;
	assert_true(shadow_gang_request(job, &effective));
	job->details->expanding_jobid = 7; /* its nodes are another job's, wherever these are */
	assert_false(shadow_gang_request(job, &effective));
	job->details->expanding_jobid = 0;
	job->details->dependency = xstrdup("expand:7");
	assert_false(shadow_gang_request(job, &effective));
	xfree(job->details->dependency);
}

/* --- what it needs of each node --------------------------------------------------------------- */

static void needs_processors(void **state)
{
	static const struct {
		bool whole, shares;
		uint8_t overcommit;
		uint32_t pn_min_cpus, cpus;
	} cases[] = {
		{false, false, 0, 4, 4}, {false, false, 1, 4, 1}, {false, false, 0, 0, 1},
		{true, false, 0, 4, 1},	 {false, true, 0, 4, 0},
	};
	job_record_t *job = fake_job(1, 4);
	struct osp_occupancy_need need;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job->details->overcommit = cases[i].overcommit;
		job->details->pn_min_cpus = cases[i].pn_min_cpus;
		shadow_need(job, cases[i].whole, cases[i].shares, &need);
		assert_int_equal(need.amounts.cpus, cases[i].cpus);
		assert_int_equal(need.all_cpus, cases[i].whole);
	}
}

static void needs_memory(void **state)
{
	static const struct {
		uint16_t by_partition, by_slurm;
		uint64_t asked;
		uint16_t tasks_per_node, cpus_per_task;
		bool by_gres;
		uint64_t flags, mib;
		bool all;
	} cases[] = {
		{0, 0, 500, 0, 0, false, 0, 0, false},
		{0, OSP_SELECT_MEMORY, 500, 0, 0, false, 0, 500, false},
		{OSP_SELECT_MEMORY, 0, 500, 0, 0, false, 0, 500, false},
		{1, OSP_SELECT_MEMORY, 500, 0, 0, false, 0, 0, false},
		{0, OSP_SELECT_MEMORY, 0, 0, 0, false, 0, 0, true},
		{0, OSP_SELECT_MEMORY, MEM_PER_CPU | 10, 4, 0, false, 0, 40, false},
		{0, OSP_SELECT_MEMORY, MEM_PER_CPU | 10, 0, 6, false, 0, 60, false},
		{0, OSP_SELECT_MEMORY, 500, 0, 0, true, 0, 0, false},
		{0, OSP_SELECT_MEMORY, 500, 0, 0, true, JOB_MEM_SET, 500, false},
	};
	job_record_t *job = fake_job(1, 4);
	struct osp_occupancy_need need;
	gres_job_state_t *gres;

	(void)state;
	job->gres_list_req = fake_job_gres("gpu", 2, 0);
	gres = ((gres_state_t *)list_peek(job->gres_list_req))->gres_data;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		default_part_loc->cr_type = cases[i].by_partition;
		slurm_conf.select_type_param = cases[i].by_slurm;
		job->details->pn_min_memory = cases[i].asked;
		job->details->ntasks_per_node = cases[i].tasks_per_node;
		job->details->cpus_per_task = cases[i].cpus_per_task;
		job->bit_flags = cases[i].flags;
		gres->mem_per_gres = i % 2 && cases[i].by_gres;
		gres->def_mem_per_gres = i % 2 == 0 && cases[i].by_gres;
		shadow_need(job, false, false, &need);
		assert_int_equal(need.amounts.memory_mib, cases[i].mib);
		assert_int_equal(need.all_memory, cases[i].all);
		assert_int_equal(need.amounts.gres[0], 2);
	}
	job->part_ptr = NULL;
	slurm_conf.select_type_param = OSP_SELECT_MEMORY;
	shadow_need(job, false, false, &need);
	assert_int_equal(need.amounts.memory_mib, 500);
}

static void needs_generic_resources(void **state)
{
	static const struct {
		uint64_t per_job, per_node, per_socket, per_task;
		uint16_t tasks_per_node;
		uint32_t tasks, needs;
	} cases[] = {
		{0, 2, 0, 0, 0, NO_VAL, 2}, {0, 0, 3, 0, 0, NO_VAL, 3},
		{0, 0, 0, 1, 4, NO_VAL, 1}, {0, 0, 0, 1, 4, 16, 4},
		{0, 0, 0, 1, 4, 15, 1}, /* -n says less than all: only a most */
		{0, 0, 0, 1, 0, 16, 1},	    {0, (uint64_t)1 << 40, 0, 0, 0, NO_VAL, UINT32_MAX},
		{8, 0, 0, 0, 0, NO_VAL, 1}, /* as Slurm does: no node without one */
		{8, 2, 0, 0, 0, NO_VAL, 2}, {0, 0, 0, 0, 0, NO_VAL, 0},
	};
	job_record_t *job = fake_job(1, 4);
	struct osp_occupancy_need need;
	gres_job_state_t *gres;

	(void)state;
	job->gres_list_req = fake_job_gres("gpu", 0, 0);
	gres = ((gres_state_t *)list_peek(job->gres_list_req))->gres_data;
	fake_add_gres(job->gres_list_req, "unknown", xmalloc(sizeof(*gres)));
	fake_add_gres(job->gres_list_req, "gpu", NULL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		gres->gres_per_job = cases[i].per_job;
		gres->gres_per_node = cases[i].per_node;
		gres->gres_per_socket = cases[i].per_socket;
		gres->gres_per_task = cases[i].per_task;
		job->details->ntasks_per_node = cases[i].tasks_per_node;
		job->details->num_tasks = cases[i].tasks;
		shadow_need(job, false, false, &need);
		assert_int_equal(need.amounts.gres[0], cases[i].needs);
	}
}

static void finds_what_a_node_has(void **state)
{
	node_record_t *node = node_record_table_ptr[0];
	uint32_t gpu = gres_build_id((char *)"gpu");

	(void)state;
	assert_int_equal(shadow_node_gres(node, gpu), 8);
	assert_int_equal(shadow_node_gres(node, gpu + 1), 0);
	fake_add_gres(node->gres_list, "unread", NULL);
	assert_int_equal(shadow_node_gres(node, gres_build_id((char *)"unread")), 0);
	FREE_NULL_LIST(node->gres_list);
	assert_int_equal(shadow_node_gres(node, gpu), 0);
}

/* Two jobs have one number only where they ask for the same of their nodes. */
static void distinguishes_requests(void **state)
{
	static char tres[] = "gres:gpu:8";
	job_record_t *job = fake_job(1, 4), *other = fake_job(2, 4);
	multi_core_data_t cores = {.sockets_per_node = 2};

	(void)state;
	assert_int_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->tres_per_job = tres;
	assert_int_not_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->tres_per_job = NULL;
	other->details->mc_ptr = &cores;
	assert_int_not_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->details->mc_ptr = NULL;
	other->part_ptr = NULL;
	assert_int_not_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->part_ptr = job->part_ptr;
	other->bit_flags ^= GRES_ENFORCE_BIND;
	assert_int_not_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->bit_flags ^= GRES_ENFORCE_BIND | TEST_NOW_ONLY; /* which is of the call */
	assert_int_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->bit_flags ^= TEST_NOW_ONLY;
	other->user_id++;
	assert_int_not_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->user_id--;
	other->resv_name = tres;
	assert_int_not_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->resv_name = NULL;
	other->details->req_nodes = tres;
	assert_int_not_equal(shadow_request_hash(job), shadow_request_hash(other));
	other->details->req_nodes = NULL;
	assert_int_equal(shadow_request_hash(job), shadow_request_hash(other));
}

/* What is remembered of one of the lists of nodes that a job is offered says nothing of another. */
static void distinguishes_choices(void **state)
{
	static char preferred[] = "a", constraint[] = "a|b";
	job_record_t *job = job_in(1, 4, "held");
	slurmctld_resv_t reservation = {.resv_id = 5};
	uint64_t first = shadow_choice_of(job);

	(void)state;
	job->details->features_use = preferred;
	assert_int_not_equal(shadow_choice_of(job), first);
	job->details->features_use = constraint;
	assert_int_not_equal(shadow_choice_of(job), first);
	job->details->features_use = NULL;
	job->resv_ptr = &reservation;
	assert_int_not_equal(shadow_choice_of(job), first);
	job->resv_ptr = NULL;
	job->qos_id++;
	assert_int_not_equal(shadow_choice_of(job), first);
	job->qos_id--;
	job->part_ptr = find_part_record("leafs");
	assert_int_not_equal(shadow_choice_of(job), first);
	job->part_ptr = NULL;
	assert_int_not_equal(shadow_choice_of(job), first);
	job->part_ptr = find_part_record("held");
	assert_int_equal(shadow_choice_of(job), first);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_cluster, without_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(finds_the_request_in_force),
		TEST(finds_no_request_without_a_policy),
		TEST(reads_odd_records),
		TEST(keeps_a_gang_that_it_cannot_read),
		TEST(chooses_among_its_partitions),
		TEST(names_nodes_that_are_there),
		TEST(compares_with_policy),
		TEST(relaxes_when_it_could_have_run_so_long),
		TEST(sees_what_needs_more_nodes),
		TEST(tells_tasks_from_a_range),
		TEST(sees_no_need_where_no_node_is),
		TEST(counts_components_together),
		TEST(gives_no_advice_that_cannot_be_followed),
		TEST(needs_processors),
		TEST(needs_memory),
		TEST(needs_generic_resources),
		TEST(finds_what_a_node_has),
		TEST(distinguishes_requests),
		TEST(distinguishes_choices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
