/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_plugin.c - the shadow as slurmctld loads and calls it: what it finds, refuses and
 * passes on */
#include "tests/fake/slurmctld.h"

#include <signal.h>
#include <string.h>

#include "sched/seam.h"

int init(void);
int fini(void);
int select_p_node_init(void);
int select_p_job_begin(job_record_t *job);
int select_p_select_nodeinfo_set(job_record_t *job);
int select_p_reconfigure(void);
int select_p_job_fini(job_record_t *job);
int select_p_job_suspend(job_record_t *job, bool by_a_person);
int select_p_job_resume(job_record_t *job, bool by_a_person);
int select_p_job_resized(job_record_t *job, node_record_t *node);
void select_p_job_mem_reduce(job_record_t *job);
int select_p_job_expand(job_record_t *from, job_record_t *to);
osp_job_test_f select_p_job_test;

#define NODES 16

static int with_cluster(void **state)
{
	(void)state;
	fake_shadow_begin(NODES, 4, "defaults:\n  level: spine\n");
	return 0;
}

static int without_cluster(void **state)
{
	(void)state;
	fini();
	fake_shadow_end();
	return 0;
}

static void start_plugin(void)
{
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	fake_slurm_log();
}

static int ask(job_record_t *job, bitstr_t *bitmap, uint32_t nodes, uint16_t mode)
{
	const struct osp_job_test_tail tail = {0};

	return select_p_job_test(job, bitmap, nodes, nodes, nodes, mode, NULL, NULL,
				 OSP_JOB_TEST_TAIL(&tail));
}

/* --- loading ---------------------------------------------------------------------------------- */

/* First: what is compared with the headers once, at slurmctld's start, is compared here. */
static void stops_a_start_with_other_records(void **state)
{
	(void)state;
	default_part_loc->magic++;
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_ERROR);
	assert_non_null(strstr(fake_slurm_log(),
			       "was built with headers of another Slurm " SLURM_VERSION_STRING
			       " than this one: a partition has its mark elsewhere."));
	/* called for each change of a partition later on, where failing would stop slurmctld */
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	default_part_loc->magic--;
}

static void does_not_start_without_slurms_plugin(void **state)
{
	static const char *const names[] = {
		"select_p_node_init",	"select_p_job_begin",	"select_p_select_nodeinfo_set",
		"select_p_reconfigure", "select_p_job_fini",	"select_p_job_suspend",
		"select_p_job_resume",	"select_p_job_resized", "select_p_job_expand",
		"select_p_job_test",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		fake_slurm.lacks = names[i];
		assert_int_equal(init(), SLURM_ERROR);
		assert_non_null(strstr(fake_slurm_log(),
				       "does not find Slurm's own select_cons_tres.so behind it"));
	}
	fake_slurm.lacks = "select_p_reconfigure";
	assert_int_equal(init(), SLURM_ERROR);
	assert_int_equal(select_p_reconfigure(), SLURM_ERROR);
	fake_slurm.lacks = "select_p_node_init";
	assert_int_equal(init(), SLURM_ERROR);
	assert_int_equal(select_p_node_init(), SLURM_ERROR);
	fake_slurm_log();
	fake_slurm.lacks = "init";
	assert_int_equal(init(), SLURM_ERROR);
	fake_slurm.lacks = NULL;
	fake_slurm.rc = SLURM_ERROR;
	assert_int_equal(init(), SLURM_ERROR);
	assert_string_equal(fake_slurm_log(), "");
}

static void ends_without_slurms_end(void **state)
{
	(void)state;
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_non_null(strstr(fake_slurm_log(), "places gangs"));
	fake_slurm.lacks = "fini";
	assert_int_equal(fini(), SLURM_SUCCESS);
	assert_null(shadow_state.topology);
	fake_slurm.lacks = NULL;
	fake_slurm.rc = 7;
	assert_int_equal(fini(), 7);
}

static void says_when_slurm_fails_to_read_nodes(void **state)
{
	(void)state;
	start_plugin();
	fake_slurm.rc = SLURM_ERROR;
	assert_int_equal(select_p_node_init(), SLURM_ERROR);
}

/* Clients load the shadow too, and have none of slurmctld's tables. */
static void does_nothing_in_a_client(void **state)
{
	job_record_t *job;
	bitstr_t *bitmap = fake_bitmap(0, NODES);

	(void)state;
	job = fake_job(7, 2);
	fake_slurm.is_client = true;
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	assert_int_equal(select_p_reconfigure(), SLURM_SUCCESS);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_int_equal(select_p_job_fini(job), SLURM_SUCCESS);
	fake_job_option(job, OSP_SPANK_GANG "spine");
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 1);
	assert_null(job->admin_comment);
	assert_string_equal(fake_slurm_log(), "");
	FREE_NULL_BITMAP(bitmap);
}

/* --- records that are not as in the headers --------------------------------------------------- */

enum bent { NODE_MARK, NODE_BYTES, CONFIG_MARK, CONFIG_BYTES, PARTITION_MARK, PARTITION_BYTES };

static void *longer(void *record, size_t bytes)
{
	void *larger = xmalloc(bytes + 8);

	memcpy(larger, record, bytes);
	xfree(record);
	return larger;
}

/* A longer copy takes the place of a record; nothing else points to it yet. */
static void bend(enum bent bent)
{
	node_record_t *node = node_record_table_ptr[1];

	switch (bent) {
	case NODE_MARK:
		node->magic ^= 1;
		break;
	case CONFIG_MARK:
		node->config_ptr->magic ^= 1;
		break;
	case PARTITION_MARK:
		default_part_loc->magic ^= 1;
		break;
	case NODE_BYTES:
		node_record_table_ptr[1] = longer(node, sizeof(*node));
		break;
	case CONFIG_BYTES:
		node->config_ptr = longer(node->config_ptr, sizeof(*node->config_ptr));
		break;
	default:
		break;
	}
}

static void compares_records(void **state)
{
	static const struct {
		enum bent bent;
		const char *why;
	} cases[] = {
		{NODE_MARK, "a node has its mark elsewhere"},
		{CONFIG_MARK, "a node's configuration has its mark elsewhere"},
		{PARTITION_MARK, "a partition has its mark elsewhere"},
		{CONFIG_BYTES, "a node's configuration has "},
		{NODE_BYTES, "a node has "},
	};
	char why[128];

	(void)state;
	/* the first place of Slurm's table may be empty */
	node_record_t *first = node_record_table_ptr[0];
	node_record_table_ptr[0] = NULL;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(shadow_layout_fits(why, sizeof(why)));
		bend(cases[i].bent);
		assert_false(shadow_layout_fits(why, sizeof(why)));
		assert_non_null(strstr(why, cases[i].why));
		if (cases[i].bent == CONFIG_BYTES) {
			assert_non_null(strstr(why, " bytes and not "));
			xfree(node_record_table_ptr[1]->config_ptr);
			node_record_table_ptr[1]->config_ptr = first->config_ptr;
			first->config_ptr = NULL;
		} else {
			bend(cases[i].bent);
		}
	}
	node_record_table_ptr[0] = first;
	default_part_loc = NULL;
	node_record_count = 0;
	assert_true(shadow_layout_fits(why, sizeof(why)));
	node_record_count = NODES;
	default_part_loc = find_part_record((char *)"gpu");
}

/* --- fields that Slurm reads elsewhere -------------------------------------------------------- */

static struct shadow_field bent_field;

/* Says something else of one field, as a Slurm would that has it elsewhere. */
static void says_another(enum shadow_record of, void *description)
{
	char *shown = (char *)description + bent_field.shown_offset, *pointer;

	if (of != (bent_field.of == SHADOW_DETAILS  ? SHADOW_JOB
		   : bent_field.of == SHADOW_CONFIG ? SHADOW_NODE
						    : bent_field.of))
		return;
	if (bent_field.kind == SHADOW_NUMBER || bent_field.kind == SHADOW_END ||
	    bent_field.kind == SHADOW_OWN_NUMBER) {
		shown[0] ^= 1;
		return;
	}
	memcpy(&pointer, shown, sizeof(pointer));
	pointer[0] ^= 1;
}

static job_record_t *unknown_job(void)
{
	job_record_t *job = xmalloc(sizeof(*job));

	job->details = xmalloc(sizeof(*job->details));
	return job;
}

static void free_unknown_job(job_record_t *job)
{
	xfree(job->details);
	xfree(job);
}

/* Compares all, as at the start, and one job. */
static bool reads_back(job_record_t *job, char *why, size_t why_bytes)
{
	return shadow_reads_back_node(node_record_table_ptr[0], why, why_bytes) &&
	       shadow_reads_back_partition(default_part_loc, why, why_bytes) &&
	       shadow_reads_back_job(job, default_part_loc, why, why_bytes);
}

static void refuses_each_field_that_is_read_elsewhere(void **state)
{
	job_record_t *job = unknown_job();
	const job_record_t empty = *job;
	const node_record_t node = *node_record_table_ptr[0];
	char why[128], wanted[64];
	size_t fields = 0;

	(void)state;
	assert_true(reads_back(job, why, sizeof(why)));
	fake_slurm.at_description = says_another;
	for (; shadow_fields[fields].of < SHADOW_RECORDS; fields++) {
		bent_field = shadow_fields[fields];
		assert_false(reads_back(job, why, sizeof(why)));
		snprintf(wanted, sizeof(wanted), "it reads a %s %s elsewhere",
			 bent_field.of <= SHADOW_DETAILS  ? "job's"
			 : bent_field.of <= SHADOW_CONFIG ? "node's"
							  : "partition's",
			 bent_field.name);
		assert_string_equal(why, wanted);
	}
	assert_true(fields > 60);
	fake_slurm.at_description = NULL;
	assert_true(reads_back(job, why, sizeof(why)));
	/* nothing of it stays; the details are another structure */
	assert_ptr_equal(job->details, empty.details);
	assert_null(job->admin_comment);
	assert_int_equal(job->priority, 0);
	assert_null(job->node_bitmap);
	assert_null(job->details->req_nodes);
	assert_memory_equal(node_record_table_ptr[0], &node, sizeof(node));
	free_unknown_job(job);
}

static void refuses_what_it_cannot_read_back(void **state)
{
	job_record_t *job = unknown_job();
	bitstr_t *nodes = default_part_loc->node_bitmap;
	struct sigaction before, after;
	char why[128];

	(void)state;
	sigaction(SIGSEGV, NULL, &before);
	fake_slurm.reads_another_partition = true;
	assert_false(reads_back(job, why, sizeof(why)));
	assert_string_equal(why, "it reads a job's part_ptr elsewhere");
	fake_slurm.reads_another_partition = false;
	fake_slurm.unpack_rc = SLURM_ERROR;
	assert_false(shadow_reads_back_job(job, default_part_loc, why, sizeof(why)));
	assert_string_equal(why, "its own library cannot read what it says of a job");
	assert_false(shadow_reads_back_node(node_record_table_ptr[0], why, sizeof(why)));
	assert_string_equal(why, "its own library cannot read what it says of a node");
	assert_false(shadow_reads_back_partition(default_part_loc, why, sizeof(why)));
	assert_string_equal(why, "its own library cannot read what it says of a partition");
	fake_slurm.unpack_rc = SLURM_SUCCESS;
	fake_slurm.faults = true;
	assert_false(shadow_reads_back_job(job, default_part_loc, why, sizeof(why)));
	assert_string_equal(why, "it faults when it reads a job as this build writes it");
	assert_false(shadow_reads_back_node(node_record_table_ptr[0], why, sizeof(why)));
	assert_string_equal(why, "it faults when it reads a node as this build writes it");
	assert_false(shadow_reads_back_partition(default_part_loc, why, sizeof(why)));
	assert_string_equal(why, "it faults when it reads a partition as this build writes it");
	fake_slurm.faults = false;
	assert_int_equal(fake_slurm.qos_locks, 0);
	sigaction(SIGSEGV, NULL, &after);
	assert_ptr_equal(after.sa_handler, before.sa_handler); /* no handler of ours stays */
	fake_slurm.hides_nodes = true; /* a node for the future is shown to nobody */
	default_part_loc->node_bitmap = NULL;
	assert_true(reads_back(job, why, sizeof(why)));
	default_part_loc->node_bitmap = nodes;
	free_unknown_job(job);
}

/* No partition is the default, or the first node is in none. */
static void looks_at_a_partition_of_the_first_node(void **state)
{
	node_record_t *node = node_record_table_ptr[0];
	part_record_t *partition = default_part_loc, *of_node[1] = {partition};
	char why[128];

	(void)state;
	default_part_loc = NULL;
	assert_true(shadow_layout_fits(why, sizeof(why)));
	node->part_cnt = 1;
	node->part_pptr = (void *)of_node;
	partition->magic++;
	assert_false(shadow_layout_fits(why, sizeof(why)));
	assert_string_equal(why, "a partition has its mark elsewhere");
	partition->magic--;
	assert_true(shadow_layout_fits(why, sizeof(why)));
	node->part_cnt = 0;
	node->part_pptr = NULL;
	default_part_loc = partition;
}

#if OSP_HAVE_JOB_RECORD_CREATE

/* Such a job is Slurm's alone: not read, not counted, not placed. */
static void leaves_a_job_of_another_layout_to_slurm(void **state)
{
	bitstr_t *bitmap = fake_bitmap(0, NODES);
	struct osp_nodeset *all = osp_nodeset_new(NODES);
	job_record_t *job;

	(void)state;
	shadow_from_bitmap(all, bitmap);
	start_plugin();
	job = fake_job(7, 2);
	fake_job_option(job, OSP_SPANK_GANG "spine");
	fake_job_runs(job, 0, 2, time(NULL) + 100);
	job->details->magic++;
	shadow_count_refresh(time(NULL));
	select_p_select_nodeinfo_set(job);
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 1);
	assert_null(job->admin_comment);
	job->details->magic--;
	job->magic++;
	assert_int_equal(select_p_job_fini(job), SLURM_SUCCESS);
	job->magic--;
	FREE_NULL_BITMAP(bitmap);
	free(all);
}

#else

/* Slurm makes no job for us, but may have saved one. */
static void compares_a_saved_job(void **state)
{
	job_record_t *job = fake_job(7, 2);
	__typeof__(job->details) details = job->details;
	char why[128];

	(void)state;
	assert_true(shadow_layout_fits(why, sizeof(why)));
	details->magic++;
	assert_false(shadow_layout_fits(why, sizeof(why)));
	assert_string_equal(why, "a job's details has its mark elsewhere");
	details->magic--;
	job->details = NULL; /* one that has ended */
	assert_true(shadow_layout_fits(why, sizeof(why)));
	job->magic++;
	assert_false(shadow_layout_fits(why, sizeof(why)));
	assert_string_equal(why, "a job has its mark elsewhere");
	job->magic--;
	job->details = details;
	bent_field = shadow_fields[0];
	fake_slurm.at_description = says_another;
	assert_false(shadow_layout_fits(why, sizeof(why)));
	assert_string_equal(why, "it reads a job's admin_comment elsewhere");
	fake_slurm.at_description = NULL;
}

/* Holds gangs by their license from the first job on that is no such record. */
static void withdraws_the_license(void **state)
{
	bitstr_t *bitmap = fake_bitmap(0, NODES);
	job_record_t *job = fake_job(7, 2), *other = fake_job(8, 2), *bare = fake_job(9, 2);
	const int held = OSP_ERROR_LICENSES;
	const char *log;

	(void)state;
	slurm_conf.licenses = xstrdup("tool:2,onespine:1");
	fake_job_option(bare, OSP_SPANK_GANG "spine");
	start_plugin();
	assert_string_equal(slurm_conf.licenses, "tool:2,onespine:1000000");
	fake_job_option(job, OSP_SPANK_GANG "spine");
	job->licenses = xstrdup("onespine:2");
	job->license_list = list_create(NULL);
	job->details->magic++;
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_RUN_NOW), held);
	log = fake_slurm_log();
	assert_non_null(strstr(log, "a job's details has its mark elsewhere. Build Onespine"));
	assert_non_null(strstr(log, "licenses are now tool:2,onespine:1\n"));
	assert_non_null(strstr(log, "every gang waits for license onespine"));
	job->details->magic--;
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_WILL_RUN), held);
	assert_int_equal(fake_slurm.tests, 0);
	/* whether it could ever run, and jobs without the license, are Slurm's */
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_TEST_ONLY), SLURM_SUCCESS);
	assert_int_equal(ask(other, bitmap, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	assert_int_equal(fake_slurm.tests, 2);
	/* a gang that was given none waits all the same */
	assert_int_equal(ask(bare, bitmap, 2, SELECT_MODE_RUN_NOW), held);
	assert_int_equal(fake_slurm.tests, 2);
	/* it keeps its license, and no later reading of slurm.conf offers more */
	xfree(slurm_conf.licenses);
	slurm_conf.licenses = xstrdup("tool:2,onespine:1");
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	assert_int_equal(select_p_reconfigure(), SLURM_SUCCESS);
	assert_string_equal(slurm_conf.licenses, "tool:2,onespine:1");
	assert_non_null(job->license_list);
	assert_string_equal(fake_slurm_log(), "");
	xfree(slurm_conf.licenses);
	xfree(job->licenses);
	FREE_NULL_LIST(job->license_list);
	FREE_NULL_BITMAP(bitmap);
	shadow_state.license_withdrawn = false;
}

/* A gang that is held when slurm.conf is read again, or a node is changed, has been asked for by
 * nobody, and keeps its license too. */
static void withdraws_before_it_takes_licenses(void **state)
{
	static int (*const calls[])(void) = {select_p_node_init, select_p_reconfigure};
	job_record_t *job = fake_job(7, 2);

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "spine");
	job->licenses = xstrdup("onespine:2");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		xfree(slurm_conf.licenses);
		slurm_conf.licenses = xstrdup("onespine:1");
		start_plugin();
		job->license_list = list_create(NULL);
		job->magic++;
		assert_int_equal(calls[i](), SLURM_SUCCESS);
		job->magic--;
		assert_non_null(strstr(fake_slurm_log(), "every gang waits for license onespine"));
		assert_true(shadow_state.license_withdrawn);
		assert_non_null(job->license_list);
		shadow_state.license_withdrawn = false;
		FREE_NULL_LIST(job->license_list);
		fini();
	}
	xfree(slurm_conf.licenses);
	xfree(job->licenses);
}

/* Ends slurmctld where policy does not hold gangs, and where slurm.conf has no license for it. */
static void ends_where_it_cannot_hold(void **state)
{
	static const struct {
		const char *policy, *licenses;
	} cases[] = {{"without_match: stop\n", "onespine:1"}, {"without_match: hold\n", "tool:1"}};
	bitstr_t *bitmap = fake_bitmap(0, NODES);
	job_record_t *job = fake_job(7, 2);

	(void)state;
	job->magic++;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		xfree(slurm_conf.licenses);
		slurm_conf.licenses = xstrdup(cases[i].licenses);
		fake_slurm_file("onespine.yaml", cases[i].policy);
		job->magic--;
		start_plugin();
		job->magic++;
		if (setjmp(fake_slurm.at_fatal) == 0) {
			ask(job, bitmap, 2, SELECT_MODE_RUN_NOW);
			fail();
		}
		assert_non_null(strstr(fake_slurm_log(), "fatal: onespine: gangs would be placed "
							 "anywhere, so slurmctld ends"));
		assert_false(shadow_state.license_withdrawn);
		fini();
	}
	job->magic--;
	xfree(slurm_conf.licenses);
	FREE_NULL_BITMAP(bitmap);
}

#endif

/* --- calls ------------------------------------------------------------------------------------ */

static void answers_the_seam(void **state)
{
	struct osp_seam_call call = {.cookie = {OSP_SEAM_COOKIE_0, OSP_SEAM_COOKIE_1}};

	(void)state;
	start_plugin();
	assert_int_equal(select_p_job_begin((job_record_t *)(void *)&call), OSP_SEAM_ANSWER);
	assert_ptr_equal(call.seam, &shadow_seam);
}

static bool is_held(uint32_t n)
{
	struct osp_nodeset *node = osp_nodeset_new(NODES);
	bool held;

	osp_nodeset_add(node, n);
	held = !shadow_count_empty_at(node, time(NULL));
	free(node);
	return held;
}

/* The account goes along with what Slurm calls; where Slurm refuses, nothing changes. */
static void counts_what_slurm_calls(void **state)
{
	struct osp_occupancy_need need = {.amounts.cpus = 1};
	struct osp_nodeset *free_nodes = osp_nodeset_new(NODES);
	job_record_t *job, *other;

	(void)state;
	start_plugin();
	shadow_count_refresh(time(NULL));
	job = fake_job(7, 2);
	fake_job_runs(job, 0, 2, time(NULL) + 100);
	job->job_state = JOB_PENDING; /* Slurm calls it for each job */
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_SUCCESS);
	assert_false(is_held(0));
	job->job_state = JOB_RUNNING;
	fake_slurm.rc = SLURM_ERROR;
	assert_int_equal(select_p_job_suspend(job, true), SLURM_ERROR);
	assert_int_equal(select_p_job_resume(job, true), SLURM_ERROR);
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_ERROR);
	assert_false(is_held(0));
	fake_slurm.rc = SLURM_SUCCESS;
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_SUCCESS);
	assert_true(is_held(0) && is_held(1) && !is_held(2));

	osp_nodeset_add(free_nodes, 0);
	assert_int_equal(select_p_job_suspend(job, false), SLURM_SUCCESS);
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 0);
	osp_nodeset_add(free_nodes, 0);
	job->job_state = JOB_SUSPENDED;
	job->priority = 0;
	assert_int_equal(select_p_job_suspend(job, true), SLURM_SUCCESS);
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 1);
	assert_int_equal(select_p_job_resume(job, false), SLURM_SUCCESS);
	assert_int_equal(select_p_job_resume(job, true), SLURM_SUCCESS);
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 0);
	job->job_state = JOB_RUNNING;
	job->priority = 100;

	job->job_resrcs->cpus[1] = 0; /* as Slurm leaves a node that was taken away */
	assert_int_equal(select_p_job_resized(job, node_record_table_ptr[1]), SLURM_SUCCESS);
	assert_true(is_held(0) && !is_held(1));
	other = fake_job(8, 1);
	fake_job_runs(other, 4, 1, time(NULL) + 100);
	fake_job_runs(job, 4, 1, time(NULL) + 100);
	job->job_resrcs->cpus[0] = 0;
	assert_int_equal(select_p_job_expand(job, other), SLURM_SUCCESS);
	assert_true(!is_held(0) && is_held(4));
	assert_int_equal(select_p_job_fini(other), SLURM_SUCCESS);
	assert_false(is_held(4));
	free(free_nodes);
}

/* 26.05 lowers what a job holds after it has told the plugin so. */
static void counts_memory_that_is_given_back(void **state)
{
	struct osp_occupancy_need need = {.amounts.memory_mib = 600};
	struct osp_nodeset *free_nodes = osp_nodeset_new(NODES);
	job_record_t *job;

	(void)state;
	start_plugin();
	shadow_count_refresh(time(NULL));
	job = fake_job(7, 1);
	fake_job_runs(job, 0, 1, time(NULL) + 100);
	job->job_resrcs->memory_allocated = xcalloc(1, sizeof(uint64_t));
	job->job_resrcs->memory_allocated[0] = 900;
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_SUCCESS);
	osp_nodeset_add(free_nodes, 0);
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 0);
	job->details->pn_min_memory = 300;
	select_p_job_mem_reduce(job);
	osp_nodeset_add(free_nodes, 0);
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 1);
	job->details->pn_min_memory = 5000; /* it holds no more than it did */
	select_p_job_mem_reduce(job);
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 0);
	free(free_nodes);
}

/* Slurm's plugin adds all jobs anew, those that a person suspended without processors. */
static void counts_anew_what_slurm_rebuilds(void **state)
{
	struct osp_occupancy_need need = {.amounts.cpus = 1};
	struct osp_nodeset *free_nodes = osp_nodeset_new(NODES);
	job_record_t *job;

	(void)state;
	start_plugin();
	shadow_count_refresh(time(NULL));
	job = fake_job(7, 1);
	fake_job_runs(job, 0, 1, time(NULL) + 100);
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_SUCCESS);
	job->job_state = JOB_SUSPENDED;
	job->priority = 0;
	osp_nodeset_add(free_nodes, 0);
	fake_slurm.rc = SLURM_ERROR;
	assert_int_equal(select_p_reconfigure(), SLURM_ERROR);
	shadow_count_refresh(time(NULL));
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 0);
	osp_nodeset_add(free_nodes, 0);
	fake_slurm.rc = SLURM_SUCCESS;
	assert_int_equal(select_p_reconfigure(), SLURM_SUCCESS);
	shadow_count_refresh(time(NULL));
	shadow_count_keep_free(&need, free_nodes);
	assert_int_equal(osp_nodeset_count(free_nodes), 1);
	free(free_nodes);
}

/* Without a fabric slurmctld runs, and so do jobs that are no gangs. */
static void goes_without_a_fabric(void **state)
{
	job_record_t *job;

	(void)state;
	start_plugin();
	job = fake_job(7, 2);
	job->node_bitmap = fake_bitmap(0, 2);
	shadow_state_free();
	fake_slurm_file("onespine.topology", NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	assert_null(shadow_state.chooser);
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_null(job->admin_comment);
}

/* Synthetic records of Slurm's own have no number, or no details. */
static void leaves_records_that_are_no_jobs(void **state)
{
	bitstr_t *bitmap = fake_bitmap(0, NODES);
	job_record_t *job;
	__typeof__(job->details) details;

	(void)state;
	start_plugin();
	job = fake_job(0, 2);
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	fake_job_runs(job, 0, 2, time(NULL) + 100);
	assert_int_equal(select_p_select_nodeinfo_set(job), SLURM_SUCCESS);
	assert_int_equal(select_p_job_suspend(job, true), SLURM_SUCCESS);
	assert_int_equal(select_p_job_resume(job, true), SLURM_SUCCESS);
	assert_int_equal(select_p_job_resized(job, node_record_table_ptr[0]), SLURM_SUCCESS);
	assert_int_equal(select_p_job_expand(job, job), SLURM_SUCCESS);
	assert_int_equal(select_p_job_fini(job), SLURM_SUCCESS);
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	job->job_id = 5;
	details = job->details;
	job->details = NULL;
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	job->details = details;
	assert_null(job->admin_comment);
	assert_int_equal(fake_slurm.tests, 2);
	FREE_NULL_BITMAP(bitmap);
}

/* What is no question of where a gang goes is Slurm's: another mode, no node asked for or
 * offered. */
static void passes_on_other_questions(void **state)
{
	bitstr_t *bitmap = fake_bitmap(0, NODES);
	job_record_t *job;

	(void)state;
	start_plugin();
	job = fake_job(7, 2);
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	ask(job, bitmap, 2, 0x80);
	assert_int_equal(fake_slurm.last_mode, 0x80);
	ask(job, bitmap, 0, SELECT_MODE_RUN_NOW);
	bit_clear_all(bitmap);
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_RUN_NOW), SLURM_ERROR);
	assert_int_equal(fake_slurm.tests, 3);
	/* every node is busy: Slurm's answer, and our words */
	assert_non_null(job->admin_comment);
	assert_non_null(strstr(job->admin_comment, "; waits: 2 nodes on one leaf"));
	xfree(job->admin_comment);
	assert_int_equal(ask(job, bitmap, 2, SELECT_MODE_TEST_ONLY), SLURM_ERROR);
	assert_null(job->admin_comment);
	FREE_NULL_BITMAP(bitmap);
}

/* A task of an array has waited under the array's number. */
static void begins_a_gang(void **state)
{
	bitstr_t *bitmap = fake_bitmap(0, NODES);
	job_record_t *job;

	(void)state;
	start_plugin();
	job = fake_job(7, 4);
	job->array_job_id = 6;
	fake_job_option(job, OSP_SPANK_GANG "leaf");
	assert_int_equal(ask(job, bitmap, 4, SELECT_MODE_RUN_NOW), SLURM_SUCCESS);
	job->node_bitmap = bit_copy(bitmap);
	fake_slurm.rc = SLURM_ERROR;
	assert_int_equal(select_p_job_begin(job), SLURM_ERROR);
	assert_null(job->admin_comment);
	fake_slurm.rc = SLURM_SUCCESS;
	assert_int_equal(select_p_job_begin(job), SLURM_SUCCESS);
	assert_non_null(strstr(job->admin_comment, "placed: 4 nodes on leaf l1"));
	FREE_NULL_BITMAP(bitmap);
}

/* --- bitmaps ---------------------------------------------------------------------------------- */

/* Slurm's bitmap may be shorter than the table that the shadow has read, and longer. */
static void takes_bitmaps_of_other_lengths(void **state)
{
	struct osp_nodeset *set = osp_nodeset_new(70);
	bitstr_t *shorter = bit_alloc(10), *larger = bit_alloc(130);

	(void)state;
	bit_set(shorter, 9);
	shadow_from_bitmap(set, shorter);
	assert_int_equal(osp_nodeset_count(set), 1);
	assert_true(osp_nodeset_test(set, 9));
	bit_set(larger, 69);
	bit_set(larger, 70);
	bit_set(larger, 129);
	shadow_from_bitmap(set, larger);
	assert_int_equal(osp_nodeset_count(set), 1);
	shadow_to_bitmap(larger, set);
	assert_int_equal(bit_set_count(larger), 1);
	assert_true(bit_test(larger, 69));
	FREE_NULL_BITMAP(shorter);
	FREE_NULL_BITMAP(larger);
	free(set);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_cluster, without_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(stops_a_start_with_other_records),
		TEST(does_not_start_without_slurms_plugin),
		TEST(ends_without_slurms_end),
		TEST(says_when_slurm_fails_to_read_nodes),
		TEST(does_nothing_in_a_client),
		TEST(compares_records),
		TEST(refuses_each_field_that_is_read_elsewhere),
		TEST(refuses_what_it_cannot_read_back),
		TEST(looks_at_a_partition_of_the_first_node),
#if OSP_HAVE_JOB_RECORD_CREATE
		TEST(leaves_a_job_of_another_layout_to_slurm),
#else
		TEST(compares_a_saved_job),
		TEST(withdraws_the_license),
		TEST(withdraws_before_it_takes_licenses),
		TEST(ends_where_it_cannot_hold),
#endif
		TEST(answers_the_seam),
		TEST(counts_what_slurm_calls),
		TEST(counts_memory_that_is_given_back),
		TEST(counts_anew_what_slurm_rebuilds),
		TEST(goes_without_a_fabric),
		TEST(leaves_records_that_are_no_jobs),
		TEST(passes_on_other_questions),
		TEST(begins_a_gang),
		TEST(takes_bitmaps_of_other_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
