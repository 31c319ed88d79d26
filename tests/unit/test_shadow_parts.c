/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_parts.c - gangs in segments and in several domains: placed, kept waiting, planned,
 * begun */
#include "tests/unit/shadow_calls.h"

#include <string.h>

#include "lib/layout/gang_start.h"
#include "lib/policy/request.h"
#include "lib/topology/leaf_pack.h"
#include "tests/unit/no_memory.h"

#define NODES SHADOW_NODES

static job_record_t *gang_in(uint32_t id, uint32_t nodes, const char *level, const char *domains,
			     const char *segment)
{
	job_record_t *job = gang(id, nodes, level);
	char entry[256];

	if (domains) {
		snprintf(entry, sizeof(entry), "%s%s", OSP_SPANK_GANG_DOMAINS, domains);
		fake_job_option(job, entry);
	}
	if (segment) {
		snprintf(entry, sizeof(entry), "%s%s", OSP_SPANK_GANG_SEGMENT, segment);
		fake_job_option(job, entry);
	}
	return job;
}

static int begin_on(job_record_t *job, bitstr_t *nodes)
{
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = nodes;
	return select_p_job_begin(job);
}

static void places_in_several_domains(void **state)
{
	job_record_t *job = gang_in(1, 6, "leaf", "2", NULL);

	(void)state;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 6);
	assert_int_equal(begin_on(job, bit_copy(asked.bitmap)), SLURM_SUCCESS);
	assert_says(job, "placed: 6 nodes");
	/* three leaves are one too many */
	assert_int_equal(begin_on(job, fake_bitmap(3, 6)), SLURM_ERROR);
	assert_non_null(strstr(fake_slurm_log(), "it goes back to the queue"));
}

static int refuse_all(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		      uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		      OSP_JOB_TEST_TAIL_PARAMETERS)
{
	const struct osp_job_test_tail tail = {OSP_JOB_TEST_TAIL_VALUES};

	(void)job, (void)nodes, (void)min_nodes, (void)max_nodes, (void)req_nodes, (void)mode;
	(void)offered, (void)taken, (void)tail;
	return SLURM_ERROR;
}

static void says_why_it_waits(void **state)
{
	job_record_t *job = gang_in(1, 8, "spine", NULL, "leaf:4");
	job_record_t *refused = gang_in(2, 2, "leaf", "2", NULL);

	(void)state;
	for (uint32_t leaf = 1; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: ");
	assert_int_equal(fake_slurm.tests, 0);
	fake_slurm.job_test = refuse_all;
	assert_int_not_equal(ask(refused, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(refused, "waits: its nodes are free, but Slurm cannot start the job there now");
}

/* What cannot be cut is never cut otherwise, and never called impossible. */
static void waits_where_it_cannot_ask(void **state)
{
	job_record_t *range = gang_in(1, 4, "leaf", "2", NULL);
	job_record_t *some = gang_in(2, 6, "leaf", "2", NULL);
	job_record_t *all = gang_in(3, 6, "leaf", "2", NULL);
	job_record_t *rack = gang_in(4, 4, "rack", "2", NULL);
	const struct osp_job_test_tail tail = {0};

	(void)state;
	range->details->max_nodes = 8;
	FREE_NULL_BITMAP(asked.bitmap);
	asked.bitmap = fake_bitmap(0, NODES);
	assert_int_not_equal(select_p_job_test(range, asked.bitmap, 4, 8, 8, SELECT_MODE_RUN_NOW,
					       NULL, NULL, OSP_JOB_TEST_TAIL(&tail)),
			     SLURM_SUCCESS);
	assert_says(range, "waits: segments and several domains take one number of nodes");
	some->details->req_node_bitmap = fake_bitmap(0, 2);
	assert_int_not_equal(ask(some, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(some, "and this one names 2 of 6");
	assert_int_equal(ask(some, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	all->details->req_node_bitmap = fake_bitmap(2, 6);
	assert_int_equal(ask(all, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "2-7");
	assert_int_not_equal(ask(rack, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(rack, "there is no level 'rack' in this fabric");
}

/* Stored by job_submit under another topology, or by nobody. */
static void waits_where_what_it_asks_is_nowhere(void **state)
{
	job_record_t *cut = gang_in(1, 8, "leaf", NULL, "spine:4");
	job_record_t *node = gang_in(2, 4, "node", "2", NULL);

	(void)state;
	assert_int_not_equal(ask(cut, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(cut, "waits: --gang-segment=spine:4: ");
	assert_int_not_equal(ask(cut, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 0);
	assert_int_equal(begin_on(cut, fake_bitmap(0, 8)), SLURM_ERROR);
	assert_int_equal(ask(cut, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	assert_int_not_equal(ask(node, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(node, "there is no level 'node' in this fabric");
	assert_int_equal(begin_on(node, fake_bitmap(0, 4)), SLURM_ERROR);
}

/* More nodes than it asks for, as its processors have it: of more Slurm would take any. */
static void waits_where_it_needs_more_nodes(void **state)
{
	job_record_t *job = gang_in(1, 4, "spine", NULL, "leaf:2");

	(void)state;
	job->details->min_cpus = 64;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: its tasks, processors or GPUs need 8 of the nodes that it could "
			 "have now, and it asks for 4");
	assert_int_equal(fake_slurm.tests, 0);
	job->details->min_cpus = 32;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 4);
}

/* A policy that promises one domain is not met by two. */
static void several_domains_are_looser_than_a_promise(void **state)
{
	job_record_t *job = job_in(1, 6, "held");

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "spine");
	fake_job_option(job, OSP_SPANK_GANG_DOMAINS "2");
	busy(50, 0, 4, 1000);
	busy(51, 8, 4, 1000);
	/* three nodes on each of two spines would do for what it asks */
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: 6 nodes on one spine");
	assert_int_equal(begin_on(job, fake_bitmap(4, 4)), SLURM_SUCCESS);
	assert_int_equal(begin_on(job, fake_bitmap(5, 6)), SLURM_ERROR);
}

/* Nodes 1 and 9 are of no use to this job, as only Slurm knows. */
static int lacks_two_nodes(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes,
			   uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			   osp_list_t *offered, osp_list_t **taken, OSP_JOB_TEST_TAIL_PARAMETERS)
{
	bit_clear(nodes, 1);
	bit_clear(nodes, 9);
	return fake_job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
			     OSP_JOB_TEST_TAIL_VALUES);
}

static void goes_by_the_nodes_that_slurm_would_take(void **state)
{
	job_record_t *job = gang_in(1, 8, "spine", "2", "leaf:4");
	job_record_t *later = gang_in(2, 8, "spine", "2", "leaf:4");

	(void)state;
	fake_slurm.job_test = lacks_two_nodes;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7,12-15");
	busy(50, 0, 8, 500);
	busy(51, 8, 8, 700);
	assert_int_equal(ask(later, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7,12-15");
	assert_int_equal(later->start_time, asked.now + 700);
}

/* Of no use at all, and asked about in vain only now and then. */
static void gives_up_where_slurm_takes_none(void **state)
{
	job_record_t *job = gang_in(1, 16, "spine", "2", "leaf:4");
	uint32_t first;

	(void)state;
	fake_slurm.job_test = lacks_two_nodes;
	busy(50, 0, 16, 500);
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	first = fake_slurm.tests;
	assert_true(first > 0);
	fake_slurm.tests = 0;
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_true(fake_slurm.tests <= first);
	assert_int_equal(job->priority, 100);
}

/* It could ever run here, says Slurm, and never will: not within backfill's slot, for instance. */
static int only_ever(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		     uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		     OSP_JOB_TEST_TAIL_PARAMETERS)
{
	if (mode != SELECT_MODE_TEST_ONLY)
		return SLURM_ERROR;
	return fake_job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
			     OSP_JOB_TEST_TAIL_VALUES);
}

/* The last question was answered with a yes, and was only about who it could have. */
static void naming_nodes_is_no_start(void **state)
{
	job_record_t *job = gang_in(1, 16, "spine", "2", "leaf:4");

	(void)state;
	fake_slurm.job_test = only_ever;
	job->license_list = list_create(NULL); /* its start is not known without asking */
	busy(50, 0, 16, 500);
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_true(fake_slurm.tests > 0);
	FREE_NULL_LIST(job->license_list);
}

/* What it is when it starts, of a fabric or a job that may have changed since it was submitted. */
static void ranks_follow_the_layout_or_the_fabric(void **state)
{
	static const struct {
		const char *level, *segments, *layout, *keep;
		uint32_t count;
		const char *order, *log;
		bool spares; /* of these are two, one in each segment */
	} cases[] = {
		/* stage s of pipeline d has rank d + 2 s, and each pipeline is in one leaf */
		{"spine", "leaf:4", "tp8,pp4,dp2", "pp:leaf", 8, "4x2.2x1", NULL, false},
		{"spine", "", "tp8,pp4,dp2", "", 7, "1x1",
		 "its ranks follow the fabric and not its layout: tp8,pp4,dp2 is no layout of 7 ",
		 false},
		{"spine", "", "tp8,pq4", "", 8, "1x1", "and not its layout: ", false},
		{"spine", "", "tp8,pp4,dp2", "pp:rack", 8, "1x1", "and not its layout: ", false},
		{"rack", "", "tp8,pp4,dp2", "", 8, NULL, NULL, false},
		{"spine", "rack:4", "", "", 8, NULL, NULL, false},
		/* three nodes of four stay, in each segment */
		{"spine", "leaf:4", "tp8,pp3,dp2", "pp:leaf", 8, "3x2.2x1", NULL, true},
		{"spine", "leaf:4", "", "", 8, "3x1", NULL, true},
	};
	job_record_t *job = gang(1, 8, "spine");

	(void)state;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS); /* has read the fabric */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct osp_effective effective = {.level = ""};
		struct osp_nodeset *nodes = osp_nodeset_new(NODES);
		struct osp_gang_start start;
		char *order;

		snprintf(effective.level, sizeof(effective.level), "%s", cases[i].level);
		snprintf(effective.segments, sizeof(effective.segments), "%s", cases[i].segments);
		snprintf(effective.layout, sizeof(effective.layout), "%s", cases[i].layout);
		snprintf(effective.keep, sizeof(effective.keep), "%s", cases[i].keep);
		for (uint32_t n = 0; n < cases[i].count; n++)
			osp_nodeset_add(nodes, n);
		shadow_put_entry(job, OSP_EFFECTIVE_SPARES, cases[i].spares ? "2" : "0");
		shadow_put_entry(job, OSP_EFFECTIVE_SEGMENT_SPARES, cases[i].spares ? "1" : "0");
		fake_slurm_log();
		assert_int_equal(shadow_order_start(job, &effective, nodes, &start), 0);
		order = start.grid ? osp_gang_start_order(&start, 4096) : NULL;
		if (cases[i].order)
			assert_string_equal(order, cases[i].order);
		else
			assert_null(order);
		if (cases[i].log)
			assert_non_null(strstr(fake_slurm_log(), cases[i].log));
		else
			assert_null(strstr(fake_slurm_log(), "not its layout"));
		assert_null(start.small_first);
		osp_gang_start_clear(&start);
		free(order);
		free(nodes);
	}
}

/* Starts a gang of eight in leaves of four on the first eight nodes; `nodes` is Slurm's list. */
static job_record_t *started_gang(const char *nodes)
{
	job_record_t *job = gang_in(1, 8, "spine", NULL, "leaf:4");

	for (int n = 0; n < NODES; n++)
		node_record_table_ptr[n]->index = n;
	rehash_node();
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	fake_job_runs(job, 0, 8, asked.now + 1000);
	job->job_resrcs->nodes = xstrdup(nodes);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	return job;
}

/* A batch script, and an srun that looks its allocation up, learn that the job is a gang. */
static void tells_the_processes_of_a_start(void **state)
{
	job_record_t *job = started_gang("n[1-8]");

	(void)state;
	assert_int_equal(job->details->env_cnt, 1);
	assert_string_equal(job->details->env_sup[0], "ONESPINE_LEVEL=spine");
	/* again after a requeue, beside what a burst buffer says */
	xfree(job->details->env_sup[0]);
	job->details->env_sup[0] = xstrdup("BB=/x");
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_int_equal(job->details->env_cnt, 2);
	assert_string_equal(job->details->env_sup[0], "BB=/x");
	assert_string_equal(job->details->env_sup[1], "ONESPINE_LEVEL=spine");
	shadow_mark_processes(job, NULL);
	assert_int_equal(job->details->env_cnt, 1);
	assert_string_equal(job->details->env_sup[0], "BB=/x");
}

#if OSP_HAVE_NODE_RANKS
/* Returns "1.0": the upper and the lower 16 bits, as Slurm's step scheduler reads them. */
static const char *slurm_rank(const job_record_t *job, int at)
{
	static char text[16];

	snprintf(text, sizeof(text), "%u.%u", job->job_resrcs->node_ranks[at] >> 16,
		 job->job_resrcs->node_ranks[at] & 0xffff);
	return text;
}

/* The ranks of a start stand in the record, and the note says so. */
static void writes_ranks_of_a_start(void **state)
{
	job_record_t *job = started_gang("n[1-8]");
	job_record_t *other = gang(2, 4, "leaf");

	(void)state;
	assert_says(job, "; ranks=slurm; placed: 8 nodes");
	assert_string_equal(slurm_rank(job, 0), "0.0");
	assert_string_equal(slurm_rank(job, 3), "0.3");
	assert_string_equal(slurm_rank(job, 4), "1.0");
	assert_string_equal(slurm_rank(job, 7), "1.3");
	/* what cannot be written is not said */
	assert_int_equal(ask(other, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	fake_job_runs(other, 8, 4, asked.now + 1000);
	assert_int_equal(select_p_job_begin(other), SLURM_SUCCESS);
	assert_says(other, "placed: 4 nodes");
	assert_null(strstr(other->admin_comment, "ranks="));
}

/* The first node leaves; the others are `nodes`. */
static void leaves(job_record_t *job, const char *nodes, uint32_t at_once_max)
{
	job_resources_t *resources = job->job_resrcs;

	bit_clear(resources->node_bitmap, bit_ffs(resources->node_bitmap));
	resources->nhosts--;
	xfree(resources->nodes);
	resources->nodes = xstrdup(nodes);
	/* as Slurm's function does it */
	memmove(&resources->node_ranks[0], &resources->node_ranks[1],
		resources->nhosts * sizeof(*resources->node_ranks));
	shadow_order_resized(job, at_once_max);
}

/* The order of a large gang is made anew by the thread, or when the last spare has gone. */
static void makes_the_order_anew(void **state)
{
	job_record_t *job = started_gang("n[1-8]");

	(void)state;
	leaves(job, "n[2-8]", 8);
	assert_string_equal(slurm_rank(job, 0), "0.0");
	assert_false(shadow_order_any());
	leaves(job, "n[3-8]", 4);
	assert_string_equal(slurm_rank(job, 0), "0.1");
	assert_true(shadow_order_any());
	shadow_order_look();
	assert_false(shadow_order_any());
	assert_string_equal(slurm_rank(job, 0), "0.0");
	assert_string_equal(slurm_rank(job, 5), "1.3");
	/* of the eight that it got three are spares */
	shadow_put_entry(job, OSP_EFFECTIVE_SPARES, "3");
	job->details->min_nodes = 8;
	leaves(job, "n[4-8]", 4);
	assert_string_equal(slurm_rank(job, 0), "0.0");
	assert_false(shadow_order_any());
}

/* Two nodes that leave make one late order; one of a gang that has ended is not made. */
static void late_orders_are_made_one_by_one(void **state)
{
	job_record_t *job = started_gang("n[1-8]");
	char *packed;

	(void)state;
	leaves(job, "n[2-8]", 4);
	leaves(job, "n[3-8]", 4);
	assert_string_equal(slurm_rank(job, 0), "0.2");
	shadow_order_look();
	assert_string_equal(slurm_rank(job, 0), "0.0");
	assert_false(shadow_order_any());
	shadow_order_look();
	/* a note that is packed, after another word */
	leaves(job, "n[4-8]", 4);
	packed = osp_leaf_pack("l1:n[1-4]|l2:n[5-8]", 4096);
	xfree(job->admin_comment);
	job->admin_comment = xstrdup_printf(
		"x [onespine: gang=spine; leaves=%s; ranks=slurm; placed: words]", packed);
	free(packed);
	shadow_order_look();
	assert_string_equal(slurm_rank(job, 0), "0.0");
	leaves(job, "n[5-8]", 3);
	job->job_state = JOB_COMPLETE;
	shadow_order_look(); /* else it would be 0.0 */
	assert_string_equal(slurm_rank(job, 0), "1.0");
	assert_false(shadow_order_any());
}
#endif

/* Each segment of a gang with spares in each is told to the gate, by the order of Slurm's list. */
static void reports_the_gate_of_segments(void **state)
{
	job_record_t *job = started_gang("n[1,5,2,6,3,4,7-8]");
	struct osp_effective effective;

	(void)state;
	assert_null(shadow_spank_value(job, OSP_EFFECTIVE_SEGMENTS));
	shadow_put_entry(job, OSP_EFFECTIVE_SEGMENT_SPARES, "1");
	assert_true(shadow_gang_request(job, &effective));
	shadow_note_segments(job, &effective);
	assert_string_equal(shadow_spank_value(job, OSP_EFFECTIVE_SEGMENTS), "0,1,0,1,0x2,1x2");
	/* a gang that is not held to them has spares of the job */
	effective.mode = OSP_MODE_ADVISE;
	shadow_note_segments(job, &effective);
	assert_string_equal(shadow_spank_value(job, OSP_EFFECTIVE_SEGMENTS), "");
	/* a node that slurmctld does not know */
	effective.mode = OSP_MODE_ENFORCE;
	xfree(job->job_resrcs->nodes);
	job->job_resrcs->nodes = xstrdup("n[1-7,99]");
	shadow_note_segments(job, &effective);
	assert_string_equal(shadow_spank_value(job, OSP_EFFECTIVE_SEGMENTS), "");
}

/* What cannot be told of its segments is reported as nothing: the gate then takes the gang as
 * one. */
static void tells_the_gate_of_no_segments(void **state)
{
	static const struct {
		const char *level, *segments, *nodes;
		uint32_t count;
	} cases[] = {
		{"spine", "leaf:4", "n[1-8]", 7}, /* more nodes than it has hosts */
		{"spine", "leaf:4", "n[1-8]", 9}, /* fewer */
		{"spine", "leaf:4", NULL, 8},	  /* none */
		{"spine", "", "n[1-8]", 8},	  /* no segments */
		{"spine", "rack:4", "n[1-8]", 8}, /* of a level that is gone */
		{"rack", "leaf:4", "n[1-8]", 8},  /* held to a level that is gone */
		{"spine", "leaf:4", "n[1-8", 8},  /* no list */
	};
	job_record_t *job = started_gang("n[1-8]");
	struct osp_effective effective;

	(void)state;
	shadow_put_entry(job, OSP_EFFECTIVE_SEGMENT_SPARES, "1");
	assert_true(shadow_gang_request(job, &effective));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		shadow_put_entry(job, OSP_EFFECTIVE_SEGMENTS, "old");
		snprintf(effective.level, sizeof(effective.level), "%s", cases[i].level);
		snprintf(effective.segments, sizeof(effective.segments), "%s", cases[i].segments);
		xfree(job->job_resrcs->nodes);
		job->job_resrcs->nodes = xstrdup(cases[i].nodes);
		job->job_resrcs->nhosts = cases[i].count;
		shadow_note_segments(job, &effective);
		assert_string_equal(shadow_spank_value(job, OSP_EFFECTIVE_SEGMENTS), "");
	}
}

/* The first name of Slurm's list, which scripts take for the master, is in the smaller segment. */
static void says_that_ranks_begin_in_the_smaller_segment(void **state)
{
	job_record_t *job = gang(1, 6, "spine");
	struct osp_effective effective = {.level = "spine", .segments = "leaf:4"};
	struct osp_nodeset *nodes = osp_nodeset_new(NODES);
	struct osp_gang_start start;

	(void)state;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS); /* has read the fabric */
	for (uint32_t n = 0; n < 8; n++) {
		if (n < 2 || n > 3)
			osp_nodeset_add(nodes, n);
	}
	assert_int_equal(shadow_order_start(job, &effective, nodes, &start), 0);
	assert_string_equal(start.small_first, "n1");
	osp_gang_start_clear(&start);
	free(nodes);
}

/* --- memory ----------------------------------------------------------------------------------- */

static bool placed_and_begun(void *context)
{
	job_record_t *job = context;
	bool placed = ask(job, SELECT_MODE_RUN_NOW) == SLURM_SUCCESS;

	if (placed)
		assert_int_equal(bit_set_count(asked.bitmap), 8);
	/* where it cannot be judged it does not begin */
	return placed && begin_on(job, fake_bitmap(4, 8)) == SLURM_SUCCESS;
}

static bool waits_in_words(void *context)
{
	job_record_t *job = context;

	xfree(job->admin_comment);
	return ask(job, SELECT_MODE_RUN_NOW) != SLURM_SUCCESS && job->admin_comment &&
	       strstr(job->admin_comment, "waits: ");
}

static bool reports_segments(void *context)
{
	job_record_t *job = context;
	struct osp_effective effective;
	const char *value;

	assert_true(shadow_gang_request(job, &effective));
	shadow_put_entry(job, OSP_EFFECTIVE_SEGMENTS, "old");
	shadow_note_segments(job, &effective);
	value = shadow_spank_value(job, OSP_EFFECTIVE_SEGMENTS);
	/* never those of before */
	if (*value)
		assert_string_equal(value, "0,1,0,1,0x2,1x2");
	return *value;
}

static void reports_all_segments_or_none_without_memory(void **state)
{
	job_record_t *job = started_gang("n[1,5,2,6,3,4,7-8]");

	(void)state;
	shadow_put_entry(job, OSP_EFFECTIVE_SEGMENT_SPARES, "1");
	assert_true(no_memory_at_each(reports_segments, job) > 3);
}

static void stays_whole_without_memory(void **state)
{
	job_record_t *job = gang_in(1, 8, "spine", "2", "leaf:4");
	job_record_t *waits = gang_in(2, 12, "leaf", "2", NULL);

	(void)state;
	assert_true(no_memory_everywhere(placed_and_begun, job) > 3);
	assert_true(no_memory_everywhere(waits_in_words, waits) > 3);
}

/* One level up, and from the top one on in any number of domains. */
static void relaxes(void **state)
{
	job_record_t *job = gang_in(1, 12, "leaf@1", "2", NULL);
	job_record_t *top = gang_in(2, 12, "spine@1", "2", NULL);
	job_record_t *young = gang_in(3, 12, "leaf@1", "2", NULL);

	(void)state;
	job->details->submit_time = top->details->submit_time = asked.now - 100;
	young->details->submit_time = asked.now;
	assert_int_equal(begin_on(young, fake_bitmap(0, 12)), SLURM_ERROR);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(begin_on(job, bit_copy(asked.bitmap)), SLURM_SUCCESS);
	assert_says(job, "placed: 12 nodes");
	assert_int_equal(ask(top, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(begin_on(top, bit_copy(asked.bitmap)), SLURM_SUCCESS);
}

static void plans_and_remembers(void **state)
{
	job_record_t *job = gang_in(1, 8, "spine", NULL, "leaf:4");

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000 - 100 * leaf);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-15");
	assert_int_equal(job->start_time, asked.now + 800);
	job->total_cpus = 3;
	fake_slurm.tests = 0;
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 0);
	assert_string_equal(nodes_given(), "8-15");
	assert_int_equal(job->total_cpus, 64);
}

static void advises(void **state)
{
	job_record_t *job = job_in(1, 12, "advised");

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	fake_job_option(job, OSP_SPANK_GANG_DOMAINS "2");
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_non_null(strstr(shadow_advice(1), "enforce: waits: "));
	assert_int_equal(begin_on(job, bit_copy(asked.bitmap)), SLURM_SUCCESS);
	assert_says(job, "; enforce: waits: ");
	/* stock places it as it was asked */
	fake_slurm.job_test = refuse_all;
	job = job_in(2, 6, "advised");
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	fake_job_option(job, OSP_SPANK_GANG_DOMAINS "2");
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(begin_on(job, fake_bitmap(2, 6)), SLURM_SUCCESS);
	assert_says(job, "placed: 6 nodes in 2 domains of leaf; enforce: waits: ");
}

/* The kind that fits in the fewest domains is the one that it is told about. */
static void keeps_kinds_apart(void **state)
{
	job_record_t *job = gang_in(1, 6, "leaf", "2", NULL);

	(void)state;
	for (int n = 0; n < NODES; n++)
		node_record_table_ptr[n]->config_ptr->gres =
			xstrdup(n % 4 == 3 ? "gpu:h100:8" : "gpu:a100:8");
	select_p_node_init();
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	for (int n = 3; n < NODES; n += 4)
		assert_false(bit_test(asked.bitmap, n));
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: ");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shadow_calls_begin, shadow_calls_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(places_in_several_domains),
		TEST(says_why_it_waits),
		TEST(waits_where_it_cannot_ask),
		TEST(relaxes),
		TEST(plans_and_remembers),
		TEST(advises),
		TEST(keeps_kinds_apart),
		TEST(waits_where_what_it_asks_is_nowhere),
		TEST(waits_where_it_needs_more_nodes),
		TEST(several_domains_are_looser_than_a_promise),
		TEST(goes_by_the_nodes_that_slurm_would_take),
		TEST(gives_up_where_slurm_takes_none),
		TEST(naming_nodes_is_no_start),
		TEST(ranks_follow_the_layout_or_the_fabric),
		TEST(tells_the_processes_of_a_start),
#if OSP_HAVE_NODE_RANKS
		TEST(writes_ranks_of_a_start),
		TEST(makes_the_order_anew),
		TEST(late_orders_are_made_one_by_one),
#endif
		TEST(reports_the_gate_of_segments),
		TEST(tells_the_gate_of_no_segments),
		TEST(says_that_ranks_begin_in_the_smaller_segment),
		TEST(stays_whole_without_memory),
		TEST(reports_all_segments_or_none_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
