/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_count.c - what running jobs hold, counted along with Slurm's records, odd ones among
 * them */
#include "tests/fake/slurmctld.h"

#include <stdlib.h>
#include <string.h>

#include "tests/unit/no_memory.h"

#define NODES 8

static time_t now;
static struct osp_nodeset *set;

static int with_cluster(void **state)
{
	(void)state;
	fake_shadow_begin(NODES, 4, "");
	now = time(NULL);
	set = osp_nodeset_new(NODES);
	shadow_count_refresh(now);
	return 0;
}

static int without_cluster(void **state)
{
	(void)state;
	free(set);
	slurm_conf.preempt_mode = 0;
	slurm_conf.preempt_type = NULL;
	xfree(slurm_conf.sched_params);
	fake_shadow_end();
	return 0;
}

static struct osp_nodeset *node(uint32_t n)
{
	osp_nodeset_clear(set);
	osp_nodeset_add(set, n);
	return set;
}

static bool is_held(uint32_t n)
{
	return !shadow_count_empty_at(node(n), now);
}

static bool has_free(uint32_t n, const struct osp_occupancy_need *need)
{
	shadow_count_keep_free(need, node(n));
	return osp_nodeset_count(set) == 1;
}

/* Lays an empty account over all nodes, as after a restart or with another fabric. */
static void begin_account_anew(void)
{
	shadow_count_lay(NODES);
	for (uint32_t n = 0; n < NODES; n++)
		shadow_count_node(n, node_record_table_ptr[n]);
}

static int64_t free_at(uint32_t n, osp_list_t *preemptable, const job_record_t *over)
{
	static const struct osp_occupancy_need need = {.amounts.cpus = 1};
	int64_t at_s[NODES];

	shadow_count_free_at(&need, node(n), preemptable, over, now, at_s);
	return at_s[n] - now;
}

static job_record_t *runs(uint32_t id, uint32_t first, uint32_t count, time_t seconds)
{
	job_record_t *job = fake_job(id, count);

	fake_job_runs(job, first, count, now + seconds);
	shadow_count_added(job);
	return job;
}

/* --- what nodes have -------------------------------------------------------------------------- */

static void knows_what_nodes_have(void **state)
{
	const struct osp_occupancy_need gpus = {.amounts.gres = {8}};
	struct osp_occupancy_need memory = {.amounts.memory_mib = 900};
	node_record_t *record = node_record_table_ptr[0];

	(void)state;
	assert_int_equal(shadow_count_gres(gres_build_id((char *)"gpu")), 0);
	assert_true(has_free(0, &gpus));
	assert_true(has_free(0, &memory));
	record->mem_spec_limit = 200;
	shadow_count_node(0, record);
	assert_false(has_free(0, &memory));
	record->mem_spec_limit = 1000; /* more than it has is nothing left */
	shadow_count_node(0, record);
	memory.amounts.memory_mib = 1;
	assert_false(has_free(0, &memory));
	FREE_NULL_LIST(record->gres_list);
	shadow_count_node(0, record);
	assert_false(has_free(0, &gpus));
	assert_int_equal(shadow_count_largest(node(0)).gres[0], 0);
	assert_int_equal(shadow_count_largest(node(1)).gres[0], 8);
}

/* GPUs come first, then what else there is, as far as there is room; what is not consumed is not
 * counted. */
static void counts_some_generic_resources(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	node_record_t *record = node_record_table_ptr[0];
	gres_node_state_t *has;

	(void)state;
	fake_add_gres(record->gres_list, "absent", NULL);
	has = xmalloc(sizeof(*has));
	has->no_consume = true;
	fake_add_gres(record->gres_list, "shared", has);
	for (size_t i = 0; i < 5; i++) {
		has = xmalloc(sizeof(*has));
		has->gres_cnt_avail = (uint64_t)1 << 40;
		fake_add_gres(record->gres_list, names[i], has);
	}
	shadow_count_node(0, record);
	assert_int_equal(shadow_count_gres(gres_build_id((char *)"absent")), -1);
	assert_int_equal(shadow_count_gres(gres_build_id((char *)"shared")), -1);
	assert_int_equal(shadow_count_gres(gres_build_id((char *)"a")), 1);
	assert_int_equal(shadow_count_gres(gres_build_id((char *)"c")), 3);
	assert_int_equal(shadow_count_gres(gres_build_id((char *)"d")), -1);
	assert_int_equal(shadow_count_largest(node(0)).gres[1], UINT32_MAX);
	/* a resource is known now that no job was counted with */
	assert_true(is_held(5));
	shadow_count_refresh(now); /* once a second */
	assert_true(is_held(5));
	shadow_count_refresh(now + 1);
	assert_false(is_held(5));
}

/* --- what jobs hold --------------------------------------------------------------------------- */

static void give_gpus(job_record_t *job, uint32_t node_count, uint64_t each)
{
	gres_job_state_t *has;

	job->gres_list_alloc = fake_job_gres("gpu", 0, 0);
	has = ((gres_state_t *)list_peek(job->gres_list_alloc))->gres_data;
	has->node_cnt = node_count;
	has->gres_cnt_node_alloc = xcalloc(node_count, sizeof(*has->gres_cnt_node_alloc));
	for (uint32_t i = 0; i < node_count; i++)
		has->gres_cnt_node_alloc[i] = each;
	fake_add_gres(job->gres_list_alloc, "unknown", NULL);
	fake_add_gres(job->gres_list_alloc, "gpu", NULL);
	fake_add_gres(job->gres_list_alloc, "gpu", xmalloc(sizeof(*has)));
}

static void free_gpus(job_record_t *job)
{
	gres_job_state_t *has = ((gres_state_t *)list_peek(job->gres_list_alloc))->gres_data;

	xfree(has->gres_cnt_node_alloc);
}

static void counts_what_a_job_holds(void **state)
{
	struct osp_occupancy_need gpus = {.amounts.gres = {5}};
	struct osp_occupancy_need memory = {.amounts.memory_mib = 500};
	job_record_t *job = runs(1, 0, 2, 100);

	(void)state;
	assert_true(has_free(0, &gpus));
	job->job_resrcs->memory_allocated = xcalloc(2, sizeof(uint64_t));
	job->job_resrcs->memory_allocated[0] = 600;
	give_gpus(job, 2, 4);
	shadow_count_added(job);
	assert_false(has_free(0, &gpus));
	assert_false(has_free(0, &memory));
	assert_true(has_free(1, &memory));
	gpus.amounts.gres[0] = 4;
	assert_true(has_free(0, &gpus));
	/* a node was taken away: the two lists count the nodes differently */
	((gres_job_state_t *)((gres_state_t *)list_peek(job->gres_list_alloc))->gres_data)
		->node_cnt = 1;
	shadow_count_added(job);
	gpus.amounts.gres[0] = 8;
	assert_true(has_free(0, &gpus));
	free_gpus(job);
}

/* Slurm counts the GPUs of a node that has not registered, and chooses none: the gate would take
 * the job for one without GPUs. */
static void says_which_gpus_slurm_has_not_chosen(void **state)
{
	job_record_t *job = runs(1, 3, 3, 100), *other = runs(2, 0, 2, 100);
	gres_job_state_t *has;
	bitstr_t *chosen[3];

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	shadow_note_unknown_gpus(job); /* it has no generic resources */
	give_gpus(job, 3, 8);
	has = ((gres_state_t *)list_peek(job->gres_list_alloc))->gres_data;
	shadow_note_unknown_gpus(job);
	assert_string_equal(shadow_spank_value(job, OSP_UNKNOWN_GPUS), "n[4-6]");
	has->gres_cnt_node_alloc[0] = 0;
	for (int i = 0; i < 3; i++)
		chosen[i] = i == 2 ? bit_alloc(8) : NULL;
	has->gres_bit_alloc = chosen;
	shadow_note_unknown_gpus(job);
	assert_string_equal(shadow_spank_value(job, OSP_UNKNOWN_GPUS), "n5");
	has->node_cnt = 2; /* counted in another way: nothing is guessed */
	shadow_note_unknown_gpus(job);
	assert_string_equal(shadow_spank_value(job, OSP_UNKNOWN_GPUS), "");
	FREE_NULL_BITMAP(chosen[2]);
	has->gres_bit_alloc = NULL;
	/* no gang of ours */
	give_gpus(other, 2, 8);
	shadow_note_unknown_gpus(other);
	assert_null(shadow_spank_value(other, OSP_UNKNOWN_GPUS));
	free_gpus(job);
	free_gpus(other);
}

/* What cannot be read holds nothing, and nothing is read beyond what is there. */
static void reads_odd_records(void **state)
{
	job_record_t *job = runs(1, 0, 2, 100);
	job_resources_t *whole = job->job_resrcs, part;

	(void)state;
	assert_true(is_held(0) && is_held(1));
	job->job_resrcs = NULL;
	shadow_count_added(job);
	assert_false(is_held(0));
	job->job_resrcs = &part;
	part = *whole;
	part.node_bitmap = NULL;
	shadow_count_added(job);
	assert_false(is_held(0));
	part = *whole;
	part.cpus = NULL;
	shadow_count_added(job);
	assert_false(is_held(0));
	part = *whole;
	part.nhosts = 1; /* fewer hosts than bits */
	shadow_count_added(job);
	assert_true(is_held(0) && !is_held(1));
	part = *whole;
	part.node_bitmap = bit_alloc(NODES);
	shadow_count_added(job);
	assert_false(is_held(0));
	FREE_NULL_BITMAP(part.node_bitmap);
	part.node_bitmap = bit_alloc(2 * NODES); /* a node that is not in the table */
	bit_set(part.node_bitmap, 2 * NODES - 1);
	shadow_count_added(job);
	assert_false(is_held(NODES - 1));
	FREE_NULL_BITMAP(part.node_bitmap);
	part = *whole;
	part.node_bitmap = bit_alloc(NODES); /* with a node between that it does not have */
	bit_set(part.node_bitmap, 0);
	bit_set(part.node_bitmap, 2);
	shadow_count_added(job);
	assert_true(is_held(0) && !is_held(1) && is_held(2));
	FREE_NULL_BITMAP(part.node_bitmap);
	job->job_resrcs = whole;
}

static void counts_suspended_jobs(void **state)
{
	static const struct osp_occupancy_need cpus = {.amounts.cpus = 1};
	job_record_t *by_a_person = runs(1, 0, 1, 100), *by_slurm = runs(2, 1, 1, 100);

	(void)state;
	by_a_person->job_state = by_slurm->job_state = JOB_SUSPENDED;
	by_a_person->priority = 0; /* its processors were given back */
	shadow_count_added(by_a_person);
	shadow_count_added(by_slurm);
	assert_true(has_free(0, &cpus));
	assert_false(has_free(1, &cpus));
	shadow_count_again();
	shadow_count_refresh(now + 1);
	assert_true(has_free(0, &cpus));
	assert_false(has_free(1, &cpus));
	assert_string_equal(fake_slurm_log(), "");
}

/* Slurm's tables: of the default partition one row, of another two, the second with a job more. */
static part_record_t *beside;
static job_resources_t *in_first[3], *in_second[1];
static part_row_data_t first_row = {.job_list = in_first}, second_rows[2];
static part_res_record_t tables[2];

static void make_tables(void)
{
	beside = fake_partition("beside", 0, NODES);
	first_row.num_jobs = second_rows[0].num_jobs = second_rows[1].num_jobs = 0;
	second_rows[1].job_list = in_second;
	tables[1] = (part_res_record_t){.part_ptr = beside, .num_rows = 2};
	tables[0] = (part_res_record_t){
		.next = &tables[1], .part_ptr = default_part_loc, .num_rows = 1, .row = &first_row};
	select_part_record = tables;
}

static bool share_a_processor(const job_resources_t *resources, const part_row_data_t *row)
{
	for (uint32_t i = 0; i < row->num_jobs; i++) {
		if (bit_overlap_any(resources->node_bitmap, row->job_list[i]->node_bitmap))
			return true;
	}
	return false;
}

/* A job that is resumed on processors that others have by then is in no row, and counts as nothing
 * until Slurm adds it again. */
static void counts_what_slurm_has_in_its_rows(void **state)
{
	static const struct osp_occupancy_need cpus = {.amounts.cpus = 4};
	job_record_t *first = runs(1, 0, 1, 100), *second;

	(void)state;
	make_tables();
	shadow_count_suspend(first, true);
	assert_true(has_free(0, &cpus));
	second = runs(2, 0, 1, 200);
	second->job_resrcs->cpus[0] = 4;
	in_first[first_row.num_jobs++] = second->job_resrcs;
	shadow_count_resized(second);
	shadow_count_suspend(first, false); /* which finds no room */
	assert_true(has_free(0, &cpus));
	/* nor does a full count find it, or another size change it */
	slurm_conf.debug_flags = DEBUG_FLAG_SELECT_TYPE;
	shadow_count_refresh(now + 1);
	slurm_conf.debug_flags = 0;
	shadow_count_refresh(now + 100);
	shadow_count_resized(first);
	shadow_count_memory_reduced(first);
	assert_null(strstr(fake_slurm_log(), "was wrong"));
	assert_true(has_free(0, &cpus));
	/* after a restart the other one is it */
	in_first[0] = first->job_resrcs;
	shadow_count_rebuilt();
	assert_false(has_free(0, &cpus));
	shadow_count_end(1);
	assert_true(has_free(0, &cpus));
	/* in tests each second tells if what Slurm counts has changed without a word */
	in_first[0] = second->job_resrcs;
	slurm_conf.debug_flags = DEBUG_FLAG_SELECT_TYPE;
	shadow_count_refresh(now + 200);
	slurm_conf.debug_flags = 0;
	assert_non_null(strstr(fake_slurm_log(), "along with them job 2 (4 processors, 0 MiB, 0 of "
						 "the first GRES, until "));
}

/* Without memory for a list of the rows' jobs, the rows are walked. */
static void reads_rows_without_memory(void **state)
{
	static const struct osp_occupancy_need cpus = {.amounts.cpus = 1};
	job_record_t *job = runs(1, 0, 1, 100);

	(void)state;
	make_tables();
	no_memory_at(1);
	shadow_count_rebuilt();
	no_memory_at(0);
	assert_true(has_free(0, &cpus));
	in_first[first_row.num_jobs++] = job->job_resrcs;
	no_memory_at(1);
	shadow_count_rebuilt();
	no_memory_at(0);
	assert_false(has_free(0, &cpus));
}

/* The partitions of two jobs do not share, but one was suspended when the other began. */
static void counts_processors_once_after_a_resume(void **state)
{
	job_record_t *first = runs(1, 0, 1, 100), *second, *third = runs(3, 1, 1, 100);

	(void)state;
	make_tables();
	second = runs(2, 0, 1, 200);
	second->part_ptr = beside;
	first->job_resrcs->cpus[0] = second->job_resrcs->cpus[0] = 4;
	in_first[first_row.num_jobs++] = first->job_resrcs;
	in_first[first_row.num_jobs++] = third->job_resrcs;
	second_rows[1].num_jobs = 1;
	in_second[0] = second->job_resrcs;
	tables[1].row = second_rows;
	shadow_count_resized(first);
	shadow_count_resized(second);
	shadow_count_rebuilt();
	assert_int_equal(free_at(0, NULL, NULL), 100); /* as far as is known */
	first->suspend_time = now;
	fake_slurm.overlaps = share_a_processor;
	shadow_count_suspend(first, false);
	assert_int_equal(free_at(0, NULL, NULL), 0);
	assert_int_equal(free_at(1, NULL, NULL), 100);
	/* a restart finds it again */
	begin_account_anew();
	shadow_count_rebuilt();
	assert_int_equal(free_at(0, NULL, NULL), 0);
	assert_int_equal(free_at(1, NULL, NULL), 100);
}

/* Nor do two jobs of one partition, but with preempt/qos it has a row more, in which Slurm has the
 * resumed one. Only jobs on its nodes are looked at. */
static void counts_processors_of_one_partition_once(void **state)
{
	job_record_t *first = runs(1, 0, 1, 100), *second = runs(2, 0, 1, 200);
	job_record_t *third = runs(3, 1, 1, 100), *gone = runs(4, 2, 1, 100);

	(void)state;
	make_tables();
	slurm_conf.preempt_type = (char *)"preempt/qos";
	tables[0].num_rows = 2;
	tables[0].row = second_rows;
	second_rows[0].job_list = in_first;
	first->job_resrcs->cpus[0] = second->job_resrcs->cpus[0] = 4;
	in_first[second_rows[0].num_jobs++] = second->job_resrcs;
	in_first[second_rows[0].num_jobs++] = third->job_resrcs;
	second_rows[1].num_jobs = 0;
	free_job_resources(&gone->job_resrcs);
	fake_slurm.overlaps = share_a_processor;
	shadow_count_resized(first);
	shadow_count_resized(second);
	shadow_count_rebuilt();
	first->suspend_time = now;
	in_second[second_rows[1].num_jobs++] = first->job_resrcs;
	shadow_count_suspend(first, false);
	assert_int_equal(free_at(0, NULL, NULL), 0);
	assert_int_equal(free_at(1, NULL, NULL), 100);
	/* another fabric finds it again, without Slurm's plugin having done anything */
	begin_account_anew();
	shadow_count_refresh(now + 1);
	assert_int_equal(free_at(0, NULL, NULL), 0);
	assert_int_equal(free_at(1, NULL, NULL), 100);
	/* a job without a partition has no row */
	first->part_ptr = NULL;
	assert_false(shadow_rows_overlap(first));
}

/* --- looking again ---------------------------------------------------------------------------- */

/* Slurm changes an end without a word. */
static void sees_other_ends(void **state)
{
	job_record_t *job = runs(1, 0, 1, 100);

	(void)state;
	runs(2, 1, 1, 100);
	assert_int_equal(free_at(0, NULL, NULL), 100);
	job->end_time = now + 500;
	shadow_count_refresh(now + 1);
	assert_int_equal(free_at(0, NULL, NULL), 500);
	/* a record that is gone holds nothing */
	job->job_id = 9;
	shadow_count_refresh(now + 2);
	assert_false(is_held(0));
	assert_true(is_held(1));
}

/* A job that is gone when all are looked at again is no difference. */
static void forgets_jobs_that_are_gone(void **state)
{
	(void)state;
	for (uint32_t id = 1; id <= 300; id++)
		runs(id, id % NODES, 1, 100);
	for (uint32_t id = 1; id <= 300; id++) {
		job_record_t *job = find_job_record(id);

		job->job_state = JOB_COMPLETE;
		job->job_id += 1000;
	}
	shadow_count_refresh(now + 70);
	assert_false(is_held(0));
	assert_string_equal(fake_slurm_log(), "");
}

/* Slurm's plugin has all jobs anew: what no longer runs, or is gone, is not in the account's
 * way. */
static void follows_a_rebuild(void **state)
{
	job_record_t *job = runs(1, 0, 1, 100), *gone = runs(2, 1, 1, 100),
		     *waits = runs(3, 2, 1, 100);

	(void)state;
	gone->job_id = 9;
	gone->job_state = JOB_COMPLETE;
	waits->job_state = JOB_PENDING;
	job->job_state = JOB_SUSPENDED;
	shadow_count_rebuilt();
	assert_true(is_held(0));
	shadow_count_refresh(now + 80);
	assert_true(is_held(0));
	assert_false(is_held(1));
}

/* A resource that is new is in no job's count: all are counted anew, and who is gone is
 * forgotten. */
static void counts_anew_with_a_new_resource(void **state)
{
	job_record_t *gone = runs(2, 1, 1, 100), *ended = runs(3, 2, 1, 100);

	(void)state;
	runs(1, 0, 1, 100);
	runs(4, 3, 1, 100)->job_state = JOB_SUSPENDED;
	gone->job_id = 9;
	gone->job_state = ended->job_state = JOB_COMPLETE;
	assert_true(is_held(0));
	fake_add_gres(node_record_table_ptr[0]->gres_list, "shard",
		      xmalloc(sizeof(gres_node_state_t)));
	fake_add_gres(node_record_table_ptr[0]->gres_list, "empty", NULL);
	shadow_count_node(0, node_record_table_ptr[0]);
	assert_false(shadow_count_empty_at(node(5), now)); /* nothing is known */
	shadow_count_rebuilt();
	assert_true(is_held(0) && is_held(3));
	assert_false(is_held(1) || is_held(2));
	assert_string_equal(fake_slurm_log(), "");
}

static void looks_at_many_ends_once_a_second(void **state)
{
	(void)state;
	for (uint32_t id = 1; id <= 300; id++)
		runs(id, id % NODES, 1, 100);
	for (uint32_t id = 1; id <= 300; id++)
		find_job_record(id)->end_time = now + 500;
	shadow_count_refresh(now + 12);
	assert_int_equal(free_at(0, NULL, NULL), 500);
	find_job_record(8)->end_time = now + 600;
	shadow_count_refresh(now + 12);
	assert_int_equal(free_at(0, NULL, NULL), 500);
	shadow_count_refresh(now + 13);
	assert_int_equal(free_at(0, NULL, NULL), 600);
}

static void reports_a_wrong_count(void **state)
{
	job_record_t *job = runs(1, 0, 2, 100);
	const char *reported;

	(void)state;
	job->job_resrcs->cpus[1] = 3; /* without a word */
	shadow_count_refresh(now + 60);
	reported = fake_slurm_log();
	assert_non_null(strstr(
		reported, "the count of what running jobs hold was wrong on node n2: along with "
			  "them job 1 (8 processors, 0 MiB, 0 of the first GRES, until "));
	assert_non_null(strstr(reported, "anew job 1 (3, 0, 0, "));
	assert_non_null(strstr(reported, "the new count holds"));
	shadow_count_refresh(now + 120);
	assert_string_equal(fake_slurm_log(), "");
	/* one that was never counted */
	fake_job_runs(fake_job(2, 1), 5, 1, now + 100);
	shadow_count_refresh(now + 180);
	assert_non_null(strstr(fake_slurm_log(), "was wrong on node n6"));
	assert_true(is_held(5));
	/* one that has ended, and one that a person suspended before its nodes changed without a
	 * word */
	find_job_record(2)->job_state = JOB_COMPLETE;
	job->job_state = JOB_SUSPENDED;
	shadow_count_suspend(job, true);
	job->job_resrcs->cpus[1] = 2;
	shadow_count_refresh(now + 240);
	reported = fake_slurm_log();
	assert_non_null(strstr(reported, ", suspended"));
	assert_false(is_held(5));
}

/* With DebugFlags=SelectType all is looked at each second, and told. */
static void looks_each_second_for_tests(void **state)
{
	(void)state;
	runs(1, 0, 1, 100);
	slurm_conf.debug_flags = DEBUG_FLAG_SELECT_TYPE;
	shadow_count_refresh(now + 1);
	assert_non_null(strstr(fake_slurm_log(), "onespine: 1 running jobs counted anew"));
	slurm_conf.debug_flags = 0;
	/* the clock was set back */
	shadow_count_refresh(now - 1000);
	assert_string_equal(fake_slurm_log(), "");
}

/* Many nodes are looked at in several calls. */
static void looks_again_piece_by_piece(void **state)
{
	job_record_t *last;

	(void)state;
	fake_shadow_end();
	fake_shadow_begin(6000, 4, "");
	free(set);
	set = osp_nodeset_new(6000);
	shadow_count_refresh(now);
	runs(1, 0, 3000, 100);
	runs(2, 3000, 1500, 100);
	last = runs(3, 4500, 1500, 100);
	last->job_resrcs->cpus[0] = 1;
	shadow_count_refresh(now + 60);
	assert_string_equal(fake_slurm_log(), "");
	shadow_count_refresh(now + 60);
	assert_non_null(strstr(fake_slurm_log(), "was wrong on node n4501"));
}

static void skips_jobs_that_hold_nothing(void **state)
{
	job_record_t *done = fake_job(1, 1), *bare = fake_job(2, 1), *large = fake_job(3, 6);
	__typeof__(bare->details) details = bare->details;

	(void)state;
	done->job_state = JOB_COMPLETE;
	bare->details = NULL;
	fake_job_option(large, OSP_SPANK_GANG "spine");
	fake_job(4, 7); /* no gang */
	shadow_count_again();
	shadow_count_refresh(now + 1);
	assert_int_equal(shadow_state.largest_gang, 6);
	bare->details = details;
	/* before slurmctld has read its jobs */
	osp_list_t *jobs = job_list;
	job_list = NULL;
	shadow_count_again();
	shadow_count_refresh(now + 2);
	assert_int_equal(shadow_state.largest_gang, 0);
	job_list = jobs;
}

/* --- questions -------------------------------------------------------------------------------- */

static void ignores_those_that_may_be_preempted(void **state)
{
	job_record_t *leader = runs(1, 0, 1, 100), *component = runs(2, 1, 1, 100);
	osp_list_t *candidates = list_create(NULL);

	(void)state;
	leader->het_job_list = list_create(NULL);
	list_append(leader->het_job_list, leader);
	list_append(leader->het_job_list, component);
	list_append(candidates, leader);
	assert_int_equal(free_at(1, NULL, NULL), 100);
	assert_int_equal(free_at(1, candidates, NULL), 0);
	assert_int_equal(free_at(1, NULL, NULL), 100);
	FREE_NULL_LIST(candidates);
}

/* PreemptMode=GANG lays jobs over those of other partitions. */
static void lies_over_jobs_below(void **state)
{
	static char by_priority[] = "preempt/partition_prio", by_qos[] = "preempt/qos";
	static const struct {
		char *type;
		uint16_t tier, mode;
		int64_t free_after_s;
	} cases[] = {
		{by_qos, 9, PREEMPT_MODE_OFF, 0},
		{by_priority, 1, PREEMPT_MODE_SUSPEND, 0},
		{by_priority, 2, PREEMPT_MODE_SUSPEND, 0},
		{by_priority, 3, PREEMPT_MODE_SUSPEND, 100},
		{by_priority, 1, PREEMPT_MODE_OFF, 100},
	};
	job_record_t *over = fake_job(9, 1), *job = runs(1, 0, 1, 100), *gone;
	part_record_t *other = fake_partition("other", 0, NODES);

	(void)state;
	assert_false(shadow_may_lie_over(over));
	slurm_conf.preempt_mode = PREEMPT_MODE_SUSPEND | PREEMPT_MODE_GANG;
	assert_true(shadow_may_lie_over(over));
	over->part_ptr = NULL;
	assert_false(shadow_may_lie_over(over));
	over->part_ptr = default_part_loc;
	default_part_loc->priority_tier = 2;
	assert_int_equal(free_at(0, NULL, over), 100); /* of the same partition */
	job->part_ptr = NULL;
	assert_int_equal(free_at(0, NULL, over), 100);
	job->part_ptr = other;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		slurm_conf.preempt_type = cases[i].type;
		other->priority_tier = cases[i].tier;
		other->preempt_mode = cases[i].mode;
		assert_int_equal(free_at(0, NULL, over), cases[i].free_after_s);
	}
	gone = runs(2, 1, 1, 100);
	gone->job_id = 8;
	assert_int_equal(free_at(1, NULL, over), 100);
}

/* OverSubscribe=FORCE:1 without PreemptMode=GANG: jobs of two such partitions lie on the same
 * processors, and on those of no other. */
static void lies_over_jobs_that_share(void **state)
{
	part_record_t *other = fake_partition("other", 0, NODES);
	job_record_t *over = fake_job(9, 1), *job;

	(void)state;
	over->part_ptr = default_part_loc;
	default_part_loc->max_share = SHARED_FORCE | 1;
	job = runs(1, 0, 1, 100);
	job->part_ptr = other;
	assert_true(shadow_may_lie_over(over));
	assert_int_equal(free_at(0, NULL, over), 100);
	other->max_share = SHARED_FORCE | 1;
	assert_int_equal(free_at(0, NULL, over), 0);
	other->max_share = 2;
	assert_int_equal(free_at(0, NULL, over), 100);
	job->details->share_res = 1;
	assert_int_equal(free_at(0, NULL, over), 0);
}

/* On half of the first node's processors, in that partition. */
static job_record_t *runs_on_half(uint32_t id, part_record_t *partition, time_t seconds)
{
	job_record_t *job = runs(id, 0, 1, seconds);

	job->part_ptr = partition;
	job->job_resrcs->cpus[0] = 4;
	shadow_count_resized(job);
	return job;
}

/* What jobs that lie over each other hold of a node is not added up; a partition may begin to share
 * while they run. */
static void shared_processors_count_once(void **state)
{
	static char by_qos[] = "preempt/qos";
	part_record_t *other = fake_partition("other", 0, NODES);
	job_record_t *above;

	(void)state;
	runs_on_half(1, default_part_loc, 100);
	above = runs_on_half(2, other, 200);
	assert_int_equal(free_at(0, NULL, NULL), 100);
	default_part_loc->max_share = other->max_share = SHARED_FORCE | 1;
	shadow_count_rebuilt();
	assert_int_equal(free_at(0, NULL, NULL), 0);
	above->part_ptr = default_part_loc;
	shadow_count_rebuilt();
	assert_int_equal(free_at(0, NULL, NULL), 100);
	slurm_conf.preempt_type = by_qos; /* has one more row */
	shadow_count_rebuilt();
	assert_int_equal(free_at(0, NULL, NULL), 0);
}

/* PreemptMode=GANG lays jobs of all partitions over each other. */
static void processors_count_once_by_gang_mode(void **state)
{
	(void)state;
	slurm_conf.preempt_mode = PREEMPT_MODE_GANG;
	runs_on_half(1, default_part_loc, 100);
	runs_on_half(2, fake_partition("other", 0, NODES), 200);
	assert_int_equal(free_at(0, NULL, NULL), 0);
}

/* Jobs that lie over each other still do when their partitions cease to share. */
static void shared_processors_stay_shared(void **state)
{
	part_record_t *other = fake_partition("other", 0, NODES);
	job_record_t *above;

	(void)state;
	default_part_loc->max_share = other->max_share = SHARED_FORCE | 1;
	runs_on_half(1, default_part_loc, 100);
	above = runs_on_half(2, other, 200);
	default_part_loc->max_share = other->max_share = 1;
	shadow_count_rebuilt();
	assert_int_equal(free_at(0, NULL, NULL), 0);
	shadow_count_resized(above); /* nor does another size change it */
	assert_int_equal(free_at(0, NULL, NULL), 0);
	runs_on_half(3, default_part_loc, 300); /* which began later */
	assert_int_equal(free_at(0, NULL, NULL), 200);
	shadow_count_end(3);
	/* nor do two of one partition, where it had more rows */
	default_part_loc->max_share = SHARED_FORCE | 2;
	above->part_ptr = default_part_loc;
	shadow_count_rebuilt();
	default_part_loc->max_share = SHARED_FORCE | 1;
	shadow_count_rebuilt();
	assert_int_equal(free_at(0, NULL, NULL), 0);
}

/* time_min_as_soft_limit, from 25.05 on: bounds go by the soft end, which stands where it is. */
static void knows_soft_ends(void **state)
{
	bool soft = OSP_TIME_MIN_IS_SOFT("time_min_as_soft_limit");
	job_record_t *job;

	(void)state;
	slurm_conf.sched_params = xstrdup("time_min_as_soft_limit");
	begin_account_anew();
	shadow_count_refresh(now + 1);
	job = runs(1, 0, 1, 6000);
	job->time_min = 2; /* of which one minute has passed */
	shadow_count_added(job);
	assert_int_equal(free_at(0, NULL, NULL) < 6000, soft);
	assert_int_equal(shadow_count_empty_at(node(0), now + 600), soft);
	job->start_time = now - 3600;
	shadow_count_added(job);
	assert_false(shadow_count_empty_at(node(0), now + 600));
}

static void is_empty_by_ends_as_they_are_now(void **state)
{
	job_record_t *job = runs(1, 0, 1, 100);

	(void)state;
	assert_true(shadow_count_empty_at(node(0), now + 100));
	assert_false(shadow_count_empty_at(node(0), now + 99));
	job->end_time = now + 50; /* without a word: nobody knows */
	assert_false(shadow_count_empty_at(node(0), now + 100));
	job->job_id = 9;
	assert_false(shadow_count_empty_at(node(0), now + 100));
	job->job_id = 1;
	assert_int_not_equal(shadow_count_state(node(0)), shadow_count_state(node(1)));
}

/* --- without memory --------------------------------------------------------------------------- */

static bool lay(void *context)
{
	(void)context;
	shadow_count_lay(NODES);
	return shadow_count_state(node(0)) != 0;
}

/* All of the job is counted, or no node is believed to be empty. */
static bool count(void *context)
{
	time_t *moment = context;
	bool all;

	shadow_count_lay(NODES);
	shadow_count_refresh(++*moment);
	all = shadow_count_empty_at(node(7), now);
	assert_true(!all || (is_held(0) && is_held(1) && is_held(2)));
	return all;
}

/* Without an account every node seems free, and Slurm decides. */
static void goes_without_an_account(void **state)
{
	static const struct osp_occupancy_need need = {.all_cpus = true};
	job_record_t *job = runs(1, 0, 1, 100);
	char said[80];

	(void)state;
	no_memory_at_each(lay, NULL);
	shadow_count_free();
	no_memory_at(1);
	shadow_count_lay(NODES);
	no_memory_at(0);
	snprintf(said, sizeof(said), "out of memory for what jobs hold of %d nodes", NODES);
	assert_non_null(strstr(fake_slurm_log(), said));
	shadow_count_node(0, node_record_table_ptr[0]);
	shadow_count_added(job);
	shadow_count_resized(job);
	shadow_count_rebuilt();
	shadow_count_suspend(job, true);
	shadow_count_end(1);
	shadow_count_refresh(now);
	assert_int_equal(free_at(0, NULL, NULL), 0);
	assert_true(has_free(0, &need));
	assert_int_equal(shadow_count_largest(node(0)).cpus, 0);
	assert_int_equal(shadow_count_state(node(0)), 0);
	assert_false(shadow_count_empty_at(node(0), now));
}

/* A job that finds no room in the account: nothing is believed to be empty until all are counted
 * anew. */
static void counts_anew_where_memory_ran_out(void **state)
{
	time_t moment = now + 1000;

	(void)state;
	fake_job_runs(fake_job(1, 3), 0, 3, now + 100);
	assert_true(no_memory_everywhere(count, &moment) > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_cluster, without_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(knows_what_nodes_have),
		TEST(counts_some_generic_resources),
		TEST(counts_what_a_job_holds),
		TEST(says_which_gpus_slurm_has_not_chosen),
		TEST(reads_odd_records),
		TEST(counts_suspended_jobs),
		TEST(counts_what_slurm_has_in_its_rows),
		TEST(reads_rows_without_memory),
		TEST(counts_processors_once_after_a_resume),
		TEST(counts_processors_of_one_partition_once),
		TEST(sees_other_ends),
		TEST(forgets_jobs_that_are_gone),
		TEST(follows_a_rebuild),
		TEST(counts_anew_with_a_new_resource),
		TEST(looks_at_many_ends_once_a_second),
		TEST(reports_a_wrong_count),
		TEST(looks_each_second_for_tests),
		TEST(looks_again_piece_by_piece),
		TEST(skips_jobs_that_hold_nothing),
		TEST(ignores_those_that_may_be_preempted),
		TEST(lies_over_jobs_below),
		TEST(lies_over_jobs_that_share),
		TEST(shared_processors_count_once),
		TEST(processors_count_once_by_gang_mode),
		TEST(shared_processors_stay_shared),
		TEST(knows_soft_ends),
		TEST(is_empty_by_ends_as_they_are_now),
		TEST(goes_without_an_account),
		TEST(counts_anew_where_memory_ran_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
