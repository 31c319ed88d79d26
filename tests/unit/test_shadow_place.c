/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_place.c - gangs placed, kept waiting, begun: select_p_job_test() and what follows,
 * Slurm's answers made up */
#include "tests/unit/shadow_calls.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/no_memory.h"

#define NODES SHADOW_NODES

/* --- now -------------------------------------------------------------------------------------- */

static void places_in_one_domain(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	busy(50, 0, 1, 100);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7");
	assert_int_equal(job->priority, 100);
	job->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_says(
		job,
		"[onespine: gang=leaf; domain=l2; leaves=l2:n(5-8); placed: 4 nodes on leaf l2]");
}

static void waits_and_says_why(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 100);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 12); /* as it came */
	assert_int_equal(job->priority, 100);
	assert_says(job, "waits: 4 nodes on one leaf; nearest: ");
	assert_int_equal(fake_slurm.tests, 0); /* nothing fits, so nothing is asked */
}

static int refuse_all(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		      uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		      OSP_JOB_TEST_TAIL_PARAMETERS)
{
	const struct osp_job_test_tail tail = {OSP_JOB_TEST_TAIL_VALUES};

	(void)min_nodes, (void)max_nodes, (void)req_nodes, (void)mode, (void)offered, (void)tail;
	bit_clear_all(nodes);
	job->priority = 0;
	job->start_time = 1;
	job->start_protocol_ver = 1;
	job->details->min_cpus = 77;
	if (taken)
		*taken = list_create(NULL);
	return SLURM_ERROR;
}

/* All marks that a refusal leaves on the job are taken away. */
static void undoes_what_slurm_refuses(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	fake_slurm.job_test = refuse_all;
	job->start_protocol_ver = 100;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_ERROR);
	assert_true(fake_slurm.tests > 1);
	assert_int_equal(job->priority, 100);
	assert_int_equal(job->start_protocol_ver, 100);
	assert_int_equal(job->start_time, 0);
	assert_int_equal(job->details->min_cpus, 4);
	assert_int_equal(bit_set_count(asked.bitmap), NODES);
	assert_null(asked.preempted);
	assert_says(job,
		    "waits: one leaf has 4 nodes free, but Slurm cannot start the job there now "
		    "(memory, cores, GPUs, licenses, a limit or TopologyPlugin)");
}

/* With jobs to preempt Slurm looks further than it is asked to, and says yes. */
static int starts_later(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
			uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
			OSP_JOB_TEST_TAIL_PARAMETERS)
{
	int rc = fake_job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
			       OSP_JOB_TEST_TAIL_VALUES);

	if (mode == SELECT_MODE_WILL_RUN)
		job->start_time = time(NULL) + 300;
	return rc;
}

static void a_later_start_is_no_start_now(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	fake_slurm.job_test = starts_later;
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_true(job->start_time >= asked.now + 300);
	assert_int_equal(bit_set_count(asked.bitmap), 4);
	assert_false(job->bit_flags & TEST_NOW_ONLY);
	assert_true(fake_slurm.tests > 4); /* each leaf in vain for now */
}

/* Where only ends of jobs matter one question without a clock proves a start; licenses are in no
 * account. */
static void asks_for_the_time_where_licenses_matter(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");
	osp_list_t *licenses = list_create(NULL);

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 100 + leaf);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(job->start_time, asked.now + 100);
	assert_int_equal(fake_slurm.last_mode, SELECT_MODE_TEST_ONLY);
	job = gang(2, 4, "leaf");
	job->license_list = licenses;
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(job->start_time, asked.now + 100);
	assert_int_equal(fake_slurm.last_mode, SELECT_MODE_WILL_RUN);
	job->license_list = NULL;
	FREE_NULL_LIST(licenses);
}

static void waits_for_a_level_that_is_not_there(void **state)
{
	job_record_t *job = gang(1, 4, "rack");

	(void)state;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "there is no level 'rack'");
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 0);
	/* never called impossible: that would hold the job */
	assert_int_equal(ask(job, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 1);
}

static void waits_without_a_fabric(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	shadow_state_free();
	fake_slurm_file("onespine.topology", NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	shadow_state_load();
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: no fabric topology is in force");
	job->node_bitmap =
		fake_bitmap(0, 4); /* and is put back where Slurm begins it all the same */
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
}

/* Nobody said its size; it is too small for a gang. */
static void starts_small_jobs_without_a_fabric(void **state)
{
	job_record_t *job = job_in(1, 1, "held");

	(void)state;
	job->details->max_nodes = 0;
	shadow_state_free();
	fake_slurm_file("onespine.topology", NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	shadow_state_load();
	assert_int_equal(ask_range(job, 1, 16, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	job->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = fake_bitmap(0, 3);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
}

static void heeds_nodes_asked_for(void **state)
{
	job_record_t *job = gang(1, 2, "leaf");

	(void)state;
	job->details->req_node_bitmap = fake_bitmap(9, 2);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(bit_test(asked.bitmap, 9) && bit_test(asked.bitmap, 10));
	FREE_NULL_BITMAP(job->details->req_node_bitmap);
	job->details->req_node_bitmap = fake_bitmap(3, 2); /* on two leaves */
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

static void keeps_kinds_apart(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	for (int n = 0; n < NODES; n += n == 4 ? 5 : 1)
		node_record_table_ptr[n]->config_ptr->gres =
			xstrdup(n % 2 ? "gpu:h100:8" : "gpu:a100:8");
	select_p_node_init();
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW) == SLURM_SUCCESS, false);
	assert_says(job, "leaf");
	fake_slurm_file("onespine.yaml", "defaults:\n  mix_kinds: true\n");
	select_p_node_init();
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
}

/* The nodes of a job whose size nobody said: an estimate, with which domains are put in order. */
static void estimates_sizes(void **state)
{
	job_record_t *job = gang(1, 1, "leaf");
	gres_job_state_t *gres;

	(void)state;
	busy(50, 0, 2, 100);
	busy(51, 4, 1, 100);
	job->details->min_cpus = 30;
	assert_int_equal(ask_range(job, 1, 4, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(bit_ffs(asked.bitmap) >= 8);
	job->details->overcommit = 1;
	job->gres_list_req = fake_job_gres("gpu", 0, 25);
	fake_add_gres(job->gres_list_req, "gpu", NULL);
	gres = xmalloc(sizeof(*gres));
	gres->gres_per_job = 8; /* of what no node has */
	fake_add_gres(job->gres_list_req, "unknown", gres);
	assert_int_equal(ask_range(job, 1, 4, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(bit_ffs(asked.bitmap) >= 8);
}

/* Of nodes that keep processors for the system --core-spec=0 gives all: four of eight hold 32. */
static void estimates_sizes_with_core_spec(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *parts = gang(2, 4, "spine");

	(void)state;
	fake_job_option(parts, OSP_SPANK_GANG_SEGMENT "leaf:2");
	for (uint32_t n = 0; n < NODES; n++)
		node_record_table_ptr[n]->cpus_efctv = 7;
	select_p_node_init();
	job->details->min_cpus = parts->details->min_cpus = 32;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	job->details->core_spec = parts->details->core_spec = 0;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 4);
	assert_int_equal(ask(parts, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 4);
}

/* A resource that is beyond those of the account: nodes say themselves how much they have. */
static void estimates_sizes_by_what_nodes_have(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "fpga"};
	job_record_t *job = gang(1, 1, "leaf");

	(void)state;
	for (uint32_t n = 0; n < NODES; n++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			gres_node_state_t *has = xmalloc(sizeof(*has));

			has->gres_cnt_avail = i == 4 ? 1 + n % 2 : 1;
			fake_add_gres(node_record_table_ptr[n]->gres_list, names[i], has);
		}
	}
	select_p_node_init();
	busy(50, 0, 2, 100);
	busy(51, 4, 1, 100);
	busy(52, 12, 2, 100);
	/* seven of at most two on a node are four nodes, and one leaf has them */
	job->gres_list_req = fake_job_gres("fpga", 0, 7);
	assert_int_equal(ask_range(job, 1, 4, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(bit_ffs(asked.bitmap) >= 8 && bit_fls(asked.bitmap) < 12);
}

#if OSP_HAVE_HRES_SELECT
static int refill_licenses(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes,
			   uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			   osp_list_t *offered, osp_list_t **taken, OSP_JOB_TEST_TAIL_PARAMETERS)
{
	hres_select_t *left = job->hres_select;

	left->avail_hres[0] = left->avail_hres_orig[0] = left->leaf[0].capacity = 64;
	left->test_only = true;
	return fake_job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
			     OSP_JOB_TEST_TAIL_VALUES);
}

/* A question in the mode TEST_ONLY inside another call leaves what backfill has filled in. */
static void keeps_what_is_left_of_licenses(void **state)
{
	uint32_t available = 3, original = 5;
	hres_leaf_t leaf = {.capacity = 2};
	hres_select_t left = {.avail_hres = &available,
			      .avail_hres_orig = &original,
			      .layers_cnt = 1,
			      .leaf = &leaf,
			      .leaf_cnt = 1};
	job_record_t *job = gang(1, 2, "leaf");
	struct osp_nodeset *taken = osp_nodeset_new(NODES), *all = osp_nodeset_new(NODES);
	struct shadow_call call = {.job = job,
				   .bitmap = asked.bitmap,
				   .min_nodes = 2,
				   .max_nodes = 2,
				   .req_nodes = 2,
				   .mode = SELECT_MODE_WILL_RUN};
	const struct osp_question question = {.mode = OSP_ASK_WHO_EVER, .nodes = all};

	(void)state;
	osp_nodeset_fill(all);
	job->hres_select = &left;
	fake_slurm.job_test = refill_licenses;
	assert_true(shadow_try_whom(&call, &question, taken));
	assert_int_equal(available, 3);
	assert_int_equal(original, 5);
	assert_int_equal(leaf.capacity, 2);
	assert_false(left.test_only);
	job->hres_select = NULL;
	free(taken);
	free(all);
}
#endif

/* --- places that may be old ------------------------------------------------------------------- */

/* What EC2 said of all nodes holds for the boot 1000; these have booted since. */
static void reboot(uint32_t first, uint32_t count)
{
	for (uint32_t n = 0; n < NODES; n++) {
		shadow_state.place_boot_s[n] = 1000;
		node_record_table_ptr[n]->boot_time = n - first < count ? 5000 : 1001;
	}
	shadow_state_load();
}

static void joins_no_node_that_has_booted_since(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	reboot(2, 1);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7");
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7");
	for (uint32_t leaf = 1; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 100);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: 4 nodes on one leaf; nearest: l2 has 3 free of 4 (1 short); 1 "
			 "node is left out: it was powered down or has booted since its place was "
			 "asked for");
	/* later it starts where the others end, and not on the leaf of that node */
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "4-7");
	/* Slurm gives it that node all the same */
	job->node_bitmap = fake_bitmap(0, 4);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	reboot(0, 0);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
}

/* Two answers that it could never start would hold it. */
static void could_start_when_its_places_are_known(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *late = gang(2, 4, "spine@1"), *parts;

	(void)state;
	reboot(0, NODES);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 0);
	assert_says(job, "waits: 4 nodes on one leaf; no usable node is on a known leaf (drained, "
			 "reserved, excluded or too small nodes do not count); 16 nodes are left "
			 "out: they were powered down or have booted since their places were "
			 "asked for");
	assert_int_equal(ask(job, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	/* above the top level any nodes will do, known or not */
	late->details->submit_time = asked.now - 100;
	assert_int_equal(ask(late, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	late->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(late), SLURM_SUCCESS);
	parts = gang(3, 4, "spine");
	fake_job_option(parts, OSP_SPANK_GANG_SEGMENT "leaf:2");
	assert_int_not_equal(ask(parts, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(ask(parts, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	parts->node_bitmap = fake_bitmap(0, 4);
	assert_int_equal(select_p_job_begin(parts), SLURM_ERROR);
	reboot(0, 0);
	assert_int_equal(select_p_job_begin(parts), SLURM_SUCCESS);
}

/* --- whole nodes, and parts of them ----------------------------------------------------------- */

static void knows_which_nodes_are_free(void **state)
{
	static const struct {
		uint16_t max_share;
		uint8_t whole;
		bool counted; /* the account says what is free */
		bool certain; /* nor is the job laid over others */
	} cases[] = {
		{1, 0, true, true},
		{1, 1, true, true},
		{0, 0, true, true},
		{SHARED_FORCE | 1, 1, true, false},
		{SHARED_FORCE | 4, 0, false, false},
	};
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	shadow_count_refresh(asked.now);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 100);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct shadow_gang found;
		struct osp_effective request = {
			.mode = OSP_MODE_ENFORCE, .level = "leaf", .relax_s = -1};
		char why[OSP_ERROR_TEXT_BYTES];
		bitstr_t *all = fake_bitmap(0, NODES);

		default_part_loc->max_share = cases[i].max_share;
		job->details->whole_node = cases[i].whole;
		assert_int_equal(
			shadow_gang_begin(&found, job, &request, all, 4, 4, why, sizeof(why)), 0);
		assert_null(found.free);
		assert_int_equal(shadow_gang_count_free(&found), 0);
		assert_int_equal(osp_nodeset_count(found.free), cases[i].counted ? 12 : NODES);
		assert_int_equal(found.free_is_certain, cases[i].certain);
		shadow_gang_clear(&found);
		FREE_NULL_BITMAP(all);
	}
	default_part_loc->max_share = 1;
}

/* PreemptMode=GANG: what runs below is suspended for it, so nothing that is held is certain. */
static void lies_over_others(void **state)
{
	struct osp_effective request = {.mode = OSP_MODE_ENFORCE, .level = "leaf", .relax_s = -1};
	job_record_t *job = gang(1, 4, "leaf");
	struct shadow_gang found;
	int64_t at_s[NODES] = {0};
	char why[OSP_ERROR_TEXT_BYTES];

	(void)state;
	busy(50, 0, 4, 100)->part_ptr = find_part_record((char *)"held");
	shadow_count_refresh(asked.now);
	job->details->whole_node = 0;
	slurm_conf.preempt_mode = PREEMPT_MODE_GANG;
	assert_int_equal(
		shadow_gang_begin(&found, job, &request, asked.bitmap, 4, 4, why, sizeof(why)), 0);
	assert_true(found.lies_over);
	assert_false(found.free_is_certain);
	shadow_gang_free_times(&found, NULL, asked.now, at_s);
	assert_int_equal(at_s[0], asked.now);
	shadow_gang_clear(&found);
	slurm_conf.preempt_mode = 0;
	assert_int_equal(
		shadow_gang_begin(&found, job, &request, asked.bitmap, 4, 4, why, sizeof(why)), 0);
	shadow_gang_free_times(&found, NULL, asked.now, at_s);
	assert_int_equal(at_s[0], asked.now + 100);
	shadow_gang_clear(&found);
}

/* A record without a partition, as backfill's copies have been; a cluster without some of Slurm's
 * bitmaps. */
static void reads_odd_records(void **state)
{
	struct osp_effective request = {.mode = OSP_MODE_ENFORCE, .level = "leaf", .relax_s = -1};
	job_record_t *job = gang(1, 4, "leaf");
	bitstr_t *completing = cg_node_bitmap, *booting = rs_node_bitmap, *idle = idle_node_bitmap;
	struct osp_nodeset *prospects;
	struct shadow_gang found;
	char why[OSP_ERROR_TEXT_BYTES];

	(void)state;
	job->part_ptr = NULL;
	cg_node_bitmap = NULL;
	assert_int_equal(
		shadow_gang_begin(&found, job, &request, asked.bitmap, 4, 4, why, sizeof(why)), 0);
	assert_null(found.settling);
	prospects = shadow_gang_prospects(&found);
	assert_int_equal(osp_nodeset_count(prospects), NODES);
	free(prospects);
	shadow_gang_clear(&found);
	cg_node_bitmap = completing;
	rs_node_bitmap = NULL;
	assert_int_equal(
		shadow_gang_begin(&found, job, &request, asked.bitmap, 4, 4, why, sizeof(why)), 0);
	assert_non_null(found.settling);
	shadow_gang_clear(&found);
	rs_node_bitmap = booting;
	idle_node_bitmap = NULL;
	assert_int_equal(
		shadow_gang_begin(&found, job, &request, asked.bitmap, 4, 4, why, sizeof(why)), 0);
	assert_int_equal(shadow_gang_count_free(&found), -1);
	assert_null(found.free);
	shadow_gang_clear(&found);
	idle_node_bitmap = idle;
}

/* For words: what it could get in time, in its reservation, without what it excludes. */
static void knows_its_prospects(void **state)
{
	struct osp_effective request = {.mode = OSP_MODE_ENFORCE, .level = "leaf", .relax_s = -1};
	job_record_t *job = gang(1, 4, "leaf");
	slurmctld_resv_t reservation = {.node_bitmap = fake_bitmap(0, 6)};
	bitstr_t *few = fake_bitmap(15, 1);
	struct osp_nodeset *prospects;
	struct shadow_gang found;
	char why[OSP_ERROR_TEXT_BYTES];

	(void)state;
	node_record_table_ptr[1]->node_state = NODE_STATE_IDLE | NODE_STATE_RES;
	node_record_table_ptr[2]->node_state = NODE_STATE_DOWN;
	job->details->exc_node_bitmap = fake_bitmap(3, 1);
	select_p_node_init();
	assert_int_equal(shadow_gang_begin(&found, job, &request, few, 4, 4, why, sizeof(why)), 0);
	prospects = shadow_gang_prospects(&found);
	assert_int_equal(osp_nodeset_count(prospects), NODES - 3);
	free(prospects);
	job->resv_ptr = &reservation;
	prospects = shadow_gang_prospects(&found);
	assert_int_equal(osp_nodeset_count(prospects), 4 + 1);
	assert_true(osp_nodeset_test(prospects, 1));
	free(prospects);
	FREE_NULL_BITMAP(reservation.node_bitmap);
	prospects = shadow_gang_prospects(&found);
	assert_int_equal(osp_nodeset_count(prospects), NODES - 3);
	free(prospects);
	shadow_gang_clear(&found);
	FREE_NULL_BITMAP(few);
}

/* --- later ------------------------------------------------------------------------------------ */

static void plans_a_later_start(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000 - 100 * leaf);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "12-15");
	assert_int_equal(job->start_time, asked.now + 700);
	/* backfill's short look: now or not at all */
	job->bit_flags |= TEST_NOW_ONLY;
	assert_int_not_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_true(job->bit_flags & TEST_NOW_ONLY);
}

/*
 * The main scheduler asks about no gang behind another one that waits in its partition: backfill
 * says why such a one waits, and says it again only after minutes, whatever its plans leave free.
 */
static void says_why_a_planned_gang_waits(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *second = gang(2, 4, "leaf");
	time_t update;

	(void)state;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000 - 100 * leaf);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_says(job,
		    "[onespine: gang=leaf; waits: 4 nodes on one leaf; nearest: l1 has 3 free");
	busy(60, 1, 3, 100);
	update = last_job_update = 1;
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_says(job, "nearest: l1 has 3 free");
	assert_int_equal(last_job_update, update);
	/* what is there to be said at once is said by whoever sees it */
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "nearest: l2 has 3 free");
	shadow_reported_waiting(job, asked.now - 301);
	busy(61, 5, 3, 100);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_says(job, "nearest: l3 has 3 free");
	/* an srun that waits is to print it a minute later */
	shadow_reported_waiting(job, asked.now - 60);
	busy(62, 9, 3, 100);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_says(job, "nearest: l3 has 3 free");
	job->other_port = 40000;
	job->resp_host = xstrdup("10.0.0.7");
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_says(job, "nearest: l4 has 3 free");
	assert_non_null(strstr(fake_slurm.user_message, "nearest: l4 has 3 free"));
	/* the clock was put back */
	shadow_reported_waiting(job, asked.now + 1000);
	busy(63, 13, 1, 100);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_says(job, "nearest: l4 has 2 free");
	/* one that starts now is reported by whoever starts it */
	second->details->min_nodes = second->details->max_nodes = 2;
	assert_int_equal(ask(second, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_null(second->admin_comment);
}

/* Asks as backfill does that keeps all nodes but these for jobs that come first. */
static int ask_behind_others(job_record_t *job, uint32_t first, uint32_t count)
{
	const struct osp_job_test_tail tail = {0};
	uint32_t nodes = job->details->min_nodes;

	FREE_NULL_BITMAP(asked.bitmap);
	asked.bitmap = fake_bitmap(first, count);
	return select_p_job_test(job, asked.bitmap, nodes, nodes, nodes, SELECT_MODE_WILL_RUN,
				 asked.candidates, &asked.preempted, OSP_JOB_TEST_TAIL(&tail));
}

/* Nodes that backfill keeps for others are free all the same, and are counted as the commands do.
 */
static void says_what_is_kept_for_others(void **state)
{
	job_record_t *small = gang(1, 3, "leaf"), *large = gang(2, 4, "leaf");

	(void)state;
	busy(50, 0, 1, 1000);
	busy(51, 4, 1, 1000);
	busy(52, 8, 8, 1000);
	assert_int_equal(ask_behind_others(small, 8, 8), SLURM_SUCCESS);
	assert_says(small, "waits: 3 nodes on one leaf; l1 has 3 free, kept for jobs or "
			   "reservations that come first");
	assert_int_equal(ask_behind_others(large, 8, 8), SLURM_SUCCESS);
	assert_says(large, "waits: 4 nodes on one leaf; nearest: l1 has 3 free of 4 (1 short)");
}

/* Every node is busy: Slurm offers none, and answers itself. */
static void says_why_it_waits_for_any_node(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	busy(50, 0, 16, 100);
	bit_clear_all(idle_node_bitmap);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: 4 nodes on one leaf; nearest: l1 has 0 free of 4 (4 short)");
	assert_int_equal(fake_slurm.tests, 1);
}

/* What backfill and the limits read of a plan, from 24.11.4 on its nodes too (acct_policy.c). */
static void assert_counted(job_record_t *job, uint32_t processors)
{
	assert_int_equal(job->total_cpus, processors);
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	assert_non_null(job->node_bitmap_preempt);
	assert_true(bit_equal(job->node_bitmap_preempt, asked.bitmap));
#endif
}

/* As the check of the limits, and a question about other nodes. */
static void forget_what_counts(job_record_t *job)
{
	job->total_cpus = 3;
	job->start_time = 0;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(job->node_bitmap_preempt);
#endif
}

/* A plan that is remembered is put before Slurm as one that was asked for. */
static void leaves_marks_without_a_question(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	for (uint32_t n = 12; n < NODES; n++)
		node_record_table_ptr[n]->cpus = node_record_table_ptr[n]->cpus_efctv = 16;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000 - 100 * leaf);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_counted(job, 64);
	forget_what_counts(job);
	fake_slurm.tests = 0;
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 0);
	assert_string_equal(nodes_given(), "12-15");
	assert_int_equal(job->start_time, asked.now + 700);
	assert_counted(job, 64);
}

static void plans_where_licenses_decide(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	busy(50, 0, 16, 300);
	job->license_list = list_create(NULL);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 4);
	FREE_NULL_LIST(job->license_list);
}

#if OSP_SLURM_AT_LEAST(24, 5)
/* A job that keeps the rest of its block empty is in no account of the nodes' own jobs. */
static void asks_when_it_starts_where_blocks_decide(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	busy(50, 0, 16, 300);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.last_mode, SELECT_MODE_TEST_ONLY);
	fake_slurm.exclusive_topo = true;
	job = gang(2, 4, "leaf");
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.last_mode, SELECT_MODE_WILL_RUN);
	fake_slurm.exclusive_topo = false;
}
#endif

static void is_never_worse_than_slurm_when_tested(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	busy(50, 0, 16, 300);
	assert_int_equal(ask(job, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	job->details->min_nodes = 99;
	assert_int_not_equal(ask(job, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
}

/* --- preemption ------------------------------------------------------------------------------- */

static int has_id(void *item, void *key)
{
	return ((job_record_t *)item)->job_id == *(uint32_t *)key;
}

static bool was_preempted(uint32_t id)
{
	return asked.preempted && list_find_first(asked.preempted, has_id, &id);
}

/* Of the jobs that may go, those of one domain do. */
static void preempts_in_one_domain(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	asked.candidates = list_create(NULL);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		list_append(asked.candidates, busy(50 + leaf, leaf * 4, leaf == 2 ? 1 : 3, 1000));
	shadow_count_refresh(asked.now);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-11");
	assert_non_null(asked.preempted);
	assert_int_equal(list_count(asked.preempted), 1);
	assert_true(was_preempted(52));

	/* it is leaving: nobody else is preempted until it has left */
	find_job_record(52)->preempt_time = asked.now;
	FREE_NULL_LIST(asked.preempted);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW) == SLURM_SUCCESS && asked.preempted &&
				     !was_preempted(52),
			     1);
	find_job_record(52)->job_state = JOB_SUSPENDED;
	FREE_NULL_LIST(asked.preempted);
	ask(job, SELECT_MODE_RUN_NOW);
	assert_true(!asked.preempted || was_preempted(52));
	find_job_record(52)->job_state = JOB_RUNNING | JOB_COMPLETING;
	FREE_NULL_LIST(asked.preempted);
	ask(job, SELECT_MODE_RUN_NOW);
	assert_true(!asked.preempted || was_preempted(52));
	find_job_record(52)->job_state = JOB_PENDING; /* requeued, and started anew since */
	find_job_record(52)->start_time = asked.now + 5;
	FREE_NULL_LIST(asked.preempted);
	ask(job, SELECT_MODE_RUN_NOW);
	find_job_record(52)->job_id = 99; /* gone */
	FREE_NULL_LIST(asked.preempted);
	ask(job, SELECT_MODE_RUN_NOW);
	assert_true(!asked.preempted || list_count(asked.preempted) == 1);
}

/* With jobs to preempt Slurm gives the first leaf as it is, though not without these jobs, and has
 * nothing that would start the job there (24.11 on: beside a job of a partition with
 * OverSubscribe=FORCE). */
static int promises_first_leaf(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes,
			       uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			       osp_list_t *offered, osp_list_t **taken,
			       OSP_JOB_TEST_TAIL_PARAMETERS)
{
	if (mode == SELECT_MODE_RUN_NOW && offered && bit_test(nodes, 0)) {
		bit_clear_all(nodes);
		bit_nset(nodes, 0, 3);
		return SLURM_SUCCESS;
	}
	return fake_job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
			     OSP_JOB_TEST_TAIL_VALUES);
}

static void a_yes_that_starts_nothing_is_none(void **state)
{
	static const uint32_t in_use[] = {1, 3, 2, 3};
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	fake_slurm.job_test = promises_first_leaf;
	asked.candidates = list_create(NULL);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		list_append(asked.candidates, busy(50 + leaf, leaf * 4, in_use[leaf], 1000));
	shadow_count_refresh(asked.now);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-11");
	assert_true(was_preempted(52));

	/* nor is it one where no other leaf is left */
	FREE_NULL_LIST(asked.preempted);
	FREE_NULL_LIST(asked.candidates);
	for (uint32_t leaf = 1; leaf < 4; leaf++)
		busy(60 + leaf, leaf * 4, 4, 1000);
	asked.candidates = list_create(NULL);
	list_append(asked.candidates, find_job_record(50));
	shadow_count_refresh(asked.now + 1);
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: ");
}

/* A node that comes or goes (scontrol create, a dynamic one that registers) has all laid anew. In a
 * long grace time another leaf may have become as good as the one where preemption has begun. */
static void preempts_nobody_else_when_nodes_change(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *ends;
	node_record_t *node = node_record_table_ptr[5];

	(void)state;
	asked.candidates = list_create(NULL);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		list_append(asked.candidates, busy(50 + leaf, leaf * 4, leaf == 2 ? 1 : 3, 1000));
	shadow_count_refresh(asked.now);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(was_preempted(52));
	find_job_record(52)->preempt_time = asked.now;
	ends = find_job_record(50);
	ends->job_state = JOB_COMPLETE;
	shadow_count_end(50);
	bit_nset(idle_node_bitmap, 0, 2);
	list_append(asked.candidates, busy(60, 0, 1, 1000));
	node_record_table_ptr[5] = NULL;
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	shadow_count_refresh(asked.now + 1);
	FREE_NULL_LIST(asked.preempted);
	ask(job, SELECT_MODE_RUN_NOW);
	assert_true(!asked.preempted || was_preempted(52));
	node_record_table_ptr[5] = node;
}

/* A task takes the array's memory with it: the next one has victims of its own, though the first
 * one's are still leaving. */
static void forgets_with_each_task(void **state)
{
	job_record_t *task = gang(1, 4, "leaf"), *next;

	(void)state;
	asked.candidates = list_create(NULL);
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		list_append(asked.candidates, busy(50 + leaf, leaf * 4, leaf == 2 ? 1 : 3, 1000));
	shadow_count_refresh(asked.now);
	assert_int_equal(ask(task, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_true(was_preempted(52));
	find_job_record(52)->job_state = JOB_PENDING | JOB_COMPLETING;
	task->array_job_id = 1;
	task->job_id = 2;
	fake_job_runs(task, 8, 4, asked.now + 1000);
	assert_int_equal(select_p_job_begin(task), SLURM_SUCCESS);
	shadow_count_added(task);
	next = gang(1, 4, "leaf");
	next->array_job_id = 1;
	FREE_NULL_LIST(asked.preempted);
	assert_int_equal(ask(next, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_non_null(asked.preempted);
	assert_false(was_preempted(52));
	/* the last one has the array's number still */
	find_job_record(50)->job_state = find_job_record(51)->job_state =
		find_job_record(53)->job_state = JOB_PENDING | JOB_COMPLETING;
	fake_job_runs(next, 0, 4, asked.now + 1000);
	assert_int_equal(select_p_job_begin(next), SLURM_SUCCESS);
}

/* A heterogeneous job's leader alone may be preempted, wherever its components stand. */
static void preempts_by_components(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");
	job_record_t *leader, *component;

	(void)state;
	for (uint32_t leaf = 0; leaf < 3; leaf++)
		busy(50 + leaf, leaf * 4, 1, 1000);
	leader = busy(60, 1, 1, 1000);
	component = busy(61, 12, 1, 1000);
	leader->het_job_list = list_create(NULL);
	list_append(leader->het_job_list, leader);
	list_append(leader->het_job_list, component);
	asked.candidates = list_create(NULL);
	list_append(asked.candidates, leader);
	list_append(asked.candidates,
		    gang(62, 1, "leaf")); /* one that stands nowhere is in nobody's way */
	shadow_count_refresh(asked.now);
	fake_slurm.job_test = NULL;
	ask(job, SELECT_MODE_RUN_NOW);
	assert_true(fake_slurm.tests > 0);
	assert_int_equal(fake_slurm.last_candidates, 1);
}

static void plans_with_preemption(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	asked.candidates = list_create(NULL);
	list_append(asked.candidates, busy(50, 0, 16, 1000));
	shadow_count_refresh(asked.now);
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_int_equal(bit_set_count(asked.bitmap), 4);
	assert_true(job->start_time <= time(NULL));
}

/* Slurm leaves jobs that may be preempted out of the ends that it simulates. One that ends
 * elsewhere in the same second as the job that the gang waits for would carry it on to a later
 * end. */
static void asks_for_a_later_start_with_all_candidates(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	busy(50, 0, 4, 1000);
	for (uint32_t leaf = 1; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 3, 5000);
	asked.candidates = list_create(NULL);
	list_append(asked.candidates, busy(60, 15, 1, 1000));
	shadow_count_refresh(asked.now);
	job->license_list = list_create(NULL); /* the bound does not say when it starts */
	assert_int_equal(ask(job, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-3");
	assert_int_equal(fake_slurm.last_candidates, 1);
	assert_true(job->start_time >= asked.now + 1000);
	FREE_NULL_LIST(job->license_list);

	/* a start now is asked for with those in the way alone */
	FREE_NULL_LIST(asked.preempted);
	fake_slurm.last_candidates = -1;
	find_job_record(50)->job_state = JOB_COMPLETE;
	shadow_count_end(50);
	list_append(asked.candidates, busy(61, 0, 1, 1000));
	shadow_count_refresh(asked.now + 1);
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-3");
	assert_int_equal(fake_slurm.last_candidates, 1);
}

static int take_any(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		    uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		    OSP_JOB_TEST_TAIL_PARAMETERS)
{
	(void)mode;
	return fake_job_test(job, nodes, min_nodes, max_nodes, req_nodes, SELECT_MODE_TEST_ONLY,
			     offered, taken, OSP_JOB_TEST_TAIL_VALUES);
}

static int ask_over_all(job_record_t *job)
{
	const struct osp_job_test_tail tail = {0};

	FREE_NULL_BITMAP(asked.bitmap);
	asked.bitmap = fake_bitmap(0, NODES);
	return select_p_job_test(job, asked.bitmap, 4, 4, 4, SELECT_MODE_RUN_NOW, NULL, NULL,
				 OSP_JOB_TEST_TAIL(&tail));
}

static bool placed_over(void *context)
{
	return ask_over_all(context) == SLURM_SUCCESS;
}

/* PreemptMode=GANG: it starts over those of other partitions, and waits for those of its own. */
static void starts_over_jobs_below(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	slurm_conf.preempt_mode = PREEMPT_MODE_GANG;
	job->details->whole_node = 0;
	fake_slurm.job_test = take_any;
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		busy(50 + leaf, leaf * 4, 4, 1000)->part_ptr =
			leaf == 2 ? find_part_record((char *)"held") : default_part_loc;
	shadow_count_refresh(asked.now);
	assert_int_equal(ask_over_all(job), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "8-11");
	no_memory_everywhere(placed_over, job);
	find_job_record(52)->part_ptr = default_part_loc;
	assert_int_not_equal(ask_over_all(job), SLURM_SUCCESS);
	assert_says(job, "waits: 4 nodes on one leaf; nearest: ");
}

static uint32_t inner_calls;

static int ask_itself(job_record_t *job, bitstr_t *nodes, uint32_t min_nodes, uint32_t max_nodes,
		      uint32_t req_nodes, uint16_t mode, osp_list_t *offered, osp_list_t **taken,
		      OSP_JOB_TEST_TAIL_PARAMETERS)
{
	fake_slurm.job_test = NULL;
	inner_calls++;
	return select_p_job_test(job, nodes, min_nodes, max_nodes, req_nodes, mode, offered, taken,
				 OSP_JOB_TEST_TAIL_VALUES);
}

/* Slurm's own function calls select_p_job_test() again: such a call is Slurm's. */
static void passes_inner_calls_on(void **state)
{
	job_record_t *job = gang(1, 4, "leaf");

	(void)state;
	fake_slurm.job_test = ask_itself;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(inner_calls, 1);
	assert_int_equal(fake_slurm.tests, 2);
	assert_int_equal(bit_set_count(asked.bitmap), 4);
}

/* --- advice ----------------------------------------------------------------------------------- */

static void advises(void **state)
{
	job_record_t *job = job_in(1, 4, "advised"), *waiting = job_in(2, 9, "advised");
	job_record_t *odd = job_in(3, 4, "advised");

	(void)state;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_string_equal(nodes_given(), "0-3");
	assert_non_null(strstr(shadow_advice(1), "enforce would have taken spine s"));
	assert_null(shadow_advice(2));
	job->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_says(job, "; enforce would have taken spine s");
	assert_int_equal(ask(waiting, SELECT_MODE_RUN_NOW), SLURM_SUCCESS); /* on two spines */
	assert_non_null(
		strstr(shadow_advice(2), "enforce would have waited, 9 nodes on one spine"));
	waiting->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(waiting), SLURM_SUCCESS);
	assert_says(waiting, "placed: 9 nodes in no common spine; enforce would have waited");
	assert_int_equal(ask(waiting, SELECT_MODE_WILL_RUN), SLURM_SUCCESS);
	fake_job_option(odd, OSP_SPANK_GANG "rack");
	assert_int_equal(ask(odd, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	odd->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(odd), SLURM_SUCCESS);
	shadow_advice_remember(9, "");
	assert_null(shadow_advice(9));
}

/* --- relaxed ---------------------------------------------------------------------------------- */

static void takes_the_next_level_when_relaxed(void **state)
{
	job_record_t *job = gang(1, 6, "leaf@1"), *anywhere = gang(2, 12, "spine@1");

	(void)state;
	job->details->submit_time = anywhere->details->submit_time = asked.now - 100;
	assert_int_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	job->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_says(job, "placed: 6 nodes on spine s");
	assert_int_equal(ask(anywhere, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	anywhere->node_bitmap = bit_copy(asked.bitmap);
	assert_int_equal(select_p_job_begin(anywhere), SLURM_SUCCESS);
	assert_says(anywhere, "placed: 12 nodes in no common spine");
}

static void says_when_any_node_will_do(void **state)
{
	job_record_t *job = gang(1, 12, "spine@1");

	(void)state;
	job->details->submit_time = asked.now - 100;
	job->admin_comment = xstrdup("[onespine: gang=spine@1; waits: 12 nodes on one spine]");
	fake_slurm.job_test = refuse_all;
	assert_int_not_equal(ask(job, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_says(job, "waits: 12 nodes, and any will do by now");
}

/* --- what begins ------------------------------------------------------------------------------ */

/* It should never happen, and must not where it does. */
static void puts_back_what_went_astray(void **state)
{
	job_record_t *job = gang(1, 4, "leaf"), *lost = gang(2, 4, "rack");
	node_record_t *node = node_record_table_ptr[0];

	(void)state;
	assert_int_equal(select_p_job_begin(job),
			 SLURM_SUCCESS); /* without nodes there is nothing to say */
	job->node_bitmap = fake_bitmap(2, 4);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	assert_non_null(strstr(fake_slurm_log(),
			       "was given nodes in no common leaf; it goes back to the "
			       "queue"));
	lost->node_bitmap = fake_bitmap(0, 4);
	assert_int_equal(select_p_job_begin(lost), SLURM_ERROR);
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = fake_bitmap(0, 0);
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	(void)node;
}

/* Nodes outside the fabric are on no leaf. */
static void says_nothing_of_leaves_that_are_none(void **state)
{
	job_record_t *job = job_in(1, 4, "advised");

	(void)state;
	fake_slurm_file(
		"onespine.topology",
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": "
		"[{\"level\": \"spine\", \"name\": \"s1\"}, {\"level\": \"leaf\", \"name\": "
		"\"l1\", \"in\": \"s1\", \"nodes\": \"n[1-2]\"}]}");
	slurm_conf.last_update++; /* reconfigured: the thread does not have to see it first */
	select_p_node_init();
	job->node_bitmap = fake_bitmap(0, 4);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_says(job, "leaves=l1:n(1-2)");
}

/* What once said that it is a gang goes when it is none; the gate's words and others' stay. */
static void takes_its_words_back(void **state)
{
	static const struct {
		const char *before, *after;
	} cases[] = {
		{NULL, NULL},
		{"mine", "mine"},
		{"[onespine: gang=leaf; waits: x]", NULL},
		{"mine [onespine: gang=leaf; waits: x]", "mine"},
		{"[onespine: gang=leaf; gate=ok; waits: x]", "[onespine: gate=ok]"},
		{"[onespine: gang=leaf; log=n1:/x; waits: x]", "[onespine: log=n1:/x]"},
		{"[onespine: gang=leaf; suspects=n1; waits: x]", "[onespine: suspects=n1]"},
		{"[onespine: gate=ok]", "[onespine: gate=ok]"},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = fake_job(i + 1, 2);

		job->admin_comment = cases[i].before ? xstrdup(cases[i].before) : NULL;
		job->node_bitmap = fake_bitmap(0, 2);
		assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
		if (cases[i].after && job->admin_comment)
			assert_string_equal(job->admin_comment, cases[i].after);
		else
			assert_true(!cases[i].after && !job->admin_comment);
	}
}

/* Components of a heterogeneous job are one gang. */
static void keeps_components_together(void **state)
{
	job_record_t *leader = gang(1, 2, "leaf"), *second = gang(2, 2, "leaf"),
		     *third = gang(3, 2, "leaf");

	(void)state;
	leader->het_job_id = second->het_job_id = third->het_job_id = 1;
	second->node_bitmap = fake_bitmap(4, 2);
	assert_int_equal(select_p_job_begin(second), SLURM_SUCCESS); /* the list is not there yet */
	leader->het_job_list = list_create(NULL);
	list_append(leader->het_job_list, leader);
	list_append(leader->het_job_list, second);
	list_append(leader->het_job_list, third);
	assert_int_equal(select_p_job_begin(second), SLURM_SUCCESS); /* the others do not run yet */
	leader->job_state = JOB_RUNNING;			     /* on nothing */
	assert_int_equal(select_p_job_begin(second), SLURM_SUCCESS);
	fake_job_runs(leader, 0, 2, asked.now + 100);
	assert_int_equal(select_p_job_begin(second), SLURM_ERROR);
	second->het_job_id = 77;
	assert_int_equal(select_p_job_begin(second), SLURM_SUCCESS);
}

/* What runs in a partition without policy makes no gang of a component in another one, as no size
 * of it does. */
static void keeps_components_of_one_partition_together(void **state)
{
	job_record_t *leader = fake_job(1, 3), *second = job_in(2, 1, "held");

	(void)state;
	leader->het_job_id = second->het_job_id = 1;
	leader->het_job_list = list_create(NULL);
	list_append(leader->het_job_list, leader);
	list_append(leader->het_job_list, second);
	fake_job_runs(leader, 0, 3, asked.now + 100);
	second->details->max_nodes = 0;
	second->node_bitmap = fake_bitmap(8, 1);
	assert_int_equal(select_p_job_begin(second), SLURM_SUCCESS);
	assert_null(second->admin_comment);
	leader->part_ptr = second->part_ptr;
	assert_int_equal(select_p_job_begin(second), SLURM_ERROR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shadow_calls_begin, shadow_calls_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(places_in_one_domain),
		TEST(waits_and_says_why),
		TEST(undoes_what_slurm_refuses),
		TEST(a_later_start_is_no_start_now),
		TEST(asks_for_the_time_where_licenses_matter),
		TEST(waits_for_a_level_that_is_not_there),
		TEST(waits_without_a_fabric),
		TEST(starts_small_jobs_without_a_fabric),
		TEST(heeds_nodes_asked_for),
		TEST(keeps_kinds_apart),
		TEST(estimates_sizes_by_what_nodes_have),
		TEST(estimates_sizes),
		TEST(estimates_sizes_with_core_spec),
#if OSP_HAVE_HRES_SELECT
		TEST(keeps_what_is_left_of_licenses),
#endif
		TEST(joins_no_node_that_has_booted_since),
		TEST(could_start_when_its_places_are_known),
		TEST(knows_which_nodes_are_free),
		TEST(lies_over_others),
		TEST(reads_odd_records),
		TEST(knows_its_prospects),
		TEST(says_why_a_planned_gang_waits),
		TEST(says_what_is_kept_for_others),
		TEST(says_why_it_waits_for_any_node),
		TEST(plans_a_later_start),
		TEST(leaves_marks_without_a_question),
		TEST(plans_where_licenses_decide),
#if OSP_SLURM_AT_LEAST(24, 5)
		TEST(asks_when_it_starts_where_blocks_decide),
#endif
		TEST(is_never_worse_than_slurm_when_tested),
		TEST(preempts_in_one_domain),
		TEST(a_yes_that_starts_nothing_is_none),
		TEST(preempts_nobody_else_when_nodes_change),
		TEST(forgets_with_each_task),
		TEST(preempts_by_components),
		TEST(plans_with_preemption),
		TEST(asks_for_a_later_start_with_all_candidates),
		TEST(starts_over_jobs_below),
		TEST(passes_inner_calls_on),
		TEST(advises),
		TEST(takes_the_next_level_when_relaxed),
		TEST(says_when_any_node_will_do),
		TEST(puts_back_what_went_astray),
		TEST(says_nothing_of_leaves_that_are_none),
		TEST(takes_its_words_back),
		TEST(keeps_components_together),
		TEST(keeps_components_of_one_partition_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
