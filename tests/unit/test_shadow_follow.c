/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_follow.c - a topology file that changes while slurmctld runs, look by look */
#include "tests/fake/slurmctld.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/policy/request.h"
#include "tests/unit/no_memory.h"

#define NODES 16

int select_p_node_init(void);
int init(void);
int fini(void);

/* A first look has seen that the file at the start has settled. */
static int with_cluster(void **state)
{
	(void)state;
	fake_shadow_begin(NODES, 4, "defaults:\n  level: spine\n");
	shadow_follow_look();
	shadow_follow_look();
	fake_slurm_log();
	fake_slurm.locks = 0;
	return 0;
}

static int without_cluster(void **state)
{
	(void)state;
	fini();
	shadow_follow_end();
	fake_shadow_end();
	return 0;
}

static void put(const char *text)
{
	fake_slurm_file("onespine.topology", text);
}

/* So many seconds pass. Returns what was logged. */
static const char *looks(int count)
{
	while (count--)
		shadow_follow_look();
	return fake_slurm_log();
}

static bool has(const char *text, const char *words)
{
	return strstr(text, words) != NULL;
}

/* Whether the kept copy names this leaf. */
static bool kept(const char *name)
{
	char text[4096] = "";
	FILE *file = fopen(fake_slurm_path("state/onespine_topology"), "re");

	assert_non_null(file);
	assert_true(fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	return has(text, name);
}

static void puts_a_changed_one_in_force_and_keeps_it(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("other"));
	assert_string_equal(looks(1), ""); /* it may still be written */
	assert_string_equal(fake_leaf_of_first(), "l1");
	assert_true(has(looks(1), "without a reconfigure, the topology in force has leaf 1"));
	assert_string_equal(fake_leaf_of_first(), "other");
	assert_true(kept("other"));
	assert_int_equal(fake_slurm.schedules, 1);
	assert_int_not_equal(last_node_update, 0);
	assert_string_equal(looks(5), "");
}

#define LEAVES(first, second)                                                                      \
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": ["                        \
	"{\"level\": \"leaf\", \"name\": \"l1\", \"nodes\": \"" first "\"}, "                      \
	"{\"level\": \"leaf\", \"name\": \"l2\", \"nodes\": \"" second "\"}]}"

/* A gang of one leaf that runs on n1 to n4. */
static job_record_t *running_gang(uint32_t id, const char *option)
{
	job_record_t *job = fake_job(id, 4);

	fake_job_option(job, option);
	fake_job_runs(job, 0, 4, time(NULL) + 1000);
	return job;
}

static void reports_running_gangs_that_moved(void **state)
{
	job_record_t *job = running_gang(1, OSP_SPANK_GANG "leaf");
	job_record_t *wide = running_gang(2, OSP_SPANK_GANG "spine");
	job_record_t *starting = running_gang(3, OSP_SPANK_GANG "leaf");
	job_record_t *advised = running_gang(4, OSP_SPANK_GANG "off");

	(void)state;
	starting->job_state |= JOB_CONFIGURING;
	put(LEAVES("n[1-4]", "n[5-16]"));
	looks(3);
	assert_null(job->admin_comment);
	put(LEAVES("n[1-2,4]", "n[3,5-16]"));
	looks(3);
	assert_non_null(job->admin_comment);
	assert_true(has(job->admin_comment, "gang=leaf; moved: since "));
	assert_true(has(job->admin_comment, " 3 of its 4 nodes are on one leaf, and n3 is not"));
	assert_null(wide->admin_comment); /* its level is gone: audit says so */
	assert_null(starting->admin_comment);
	assert_null(advised->admin_comment);
	/* told once, and again where they come together */
	put(LEAVES("n[1-2]", "n[3-16]"));
	looks(3);
	assert_true(has(job->admin_comment, "and n3 is not"));
	put(LEAVES("n[5-16]", "n[1-4]"));
	looks(3);
	assert_true(
		has(job->admin_comment, "domain=l2; leaves=l2:n(1-4); placed: 4 nodes on leaf l2"));
}

#define LEAVES_UNDER(first, second)                                                                \
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["             \
	"{\"level\": \"spine\", \"name\": \"s1\"}, {\"level\": \"spine\", \"name\": \"s2\"}, "     \
	"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"" first "\", \"nodes\": \"n[1-2]\"}, "  \
	"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"" second "\", \"nodes\": "              \
	"\"n[3-16]\"}]}"

/* One that was relaxed is held to the level that it kept. */
static void reports_relaxed_gangs_that_moved(void **state)
{
	job_record_t *job = running_gang(1, OSP_SPANK_GANG "leaf@1");
	job_record_t *strict = running_gang(2, OSP_SPANK_GANG "leaf");
	job_record_t *bare = running_gang(3, OSP_SPANK_GANG "leaf@1");
	bitstr_t *nodes = bare->node_bitmap;

	(void)state;
	bare->node_bitmap = NULL;
	put(LEAVES_UNDER("s1", "s1")); /* all stood on one leaf before */
	looks(3);
	assert_true(has(job->admin_comment, " 2 of its 4 nodes are on one leaf"));
	assert_true(has(strict->admin_comment, " 2 of its 4 nodes are on one leaf"));
	xfree(job->admin_comment);
	xfree(strict->admin_comment);
	put(LEAVES_UNDER("s1", "s2"));
	looks(3);
	assert_non_null(job->admin_comment);
	assert_true(
		has(job->admin_comment, " 2 of its 4 nodes are on one spine, and n(3-4) are not"));
	assert_null(strict->admin_comment); /* it kept no leaf any more */
	bare->node_bitmap = nodes;
	xfree(job->admin_comment);
	put(LEAVES_UNDER("s2", "s1")); /* apart before and after */
	looks(3);
	assert_null(job->admin_comment);
	assert_null(bare->admin_comment);
}

/* Nothing to compare with, or no memory: nobody is reported. */
static void tells_nobody_without_a_topology_to_compare_with(void **state)
{
	job_record_t *job = running_gang(1, OSP_SPANK_GANG "leaf");
	struct osp_topology *before;
	osp_list_t *jobs = job_list;

	(void)state;
	put(LEAVES("n[1-4]", "n[5-16]"));
	looks(3);
	before = shadow_state.topology;
	shadow_moved_look(NULL);
	shadow_state.topology = NULL;
	shadow_moved_look(before);
	shadow_state.topology = before;
	job_list = NULL;
	shadow_moved_look(before);
	job_list = jobs;
	shadow_state.node_count--;
	shadow_moved_look(before);
	shadow_state.node_count++;
	for (size_t n = 1; n <= 2; n++) {
		no_memory_at(n);
		shadow_moved_look(before);
		no_memory_at(0);
	}
	shadow_moved_look(before);
	assert_null(job->admin_comment);
}

/* slurmctld saves its state only where nobody holds one of its locks. */
static void takes_no_lock_while_slurmctld_ends(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("other"));
	slurmctld_config.shutdown_time = time(NULL);
	assert_string_equal(looks(3), "");
	assert_int_equal(fake_slurm.locks, 0);
	assert_false(kept("other"));
	slurmctld_config.shutdown_time = 0; /* a reconfigure failed, and it goes on */
	for (uint32_t lock = 1; lock <= 2; lock++) {
		fake_slurm.locks = 0;
		fake_slurm.ends_at_lock = lock;
		assert_string_equal(looks(3), "");
		assert_int_equal(fake_slurm.locks, lock);
		assert_string_equal(fake_leaf_of_first(), "l1");
		assert_false(kept("other"));
		slurmctld_config.shutdown_time = 0;
	}
	fake_slurm.ends_at_lock = 0;
	looks(2);
	assert_string_equal(fake_leaf_of_first(), "other");
	assert_true(kept("other"));
}

static void leaves_all_to_the_controller_in_charge(void **state)
{
	(void)state;
	slurmctld_primary = 0;
	put(FAKE_TOPOLOGY("other"));
	assert_string_equal(looks(3), "");
	assert_int_equal(fake_slurm.locks, 0);
	control_time = time(NULL); /* it takes over */
	looks(3);
	assert_string_equal(fake_leaf_of_first(), "other");
}

/* No file descriptor is left for some seconds. */
static void looks_again_where_a_look_failed(void **state)
{
	struct rlimit before, none;
	char said[4096];

	(void)state;
	put(FAKE_TOPOLOGY("other"));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	snprintf(said, sizeof(said), "%s", looks(2));
	strncat(said, looks(3), sizeof(said) - strlen(said) - 1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_true(has(said, "onespine.topology: Too many open files; the last good topology "
			      "stays in force\n"));
	assert_ptr_equal(strstr(said, "Too many"), strrchr(said, 'T'));
	assert_string_equal(fake_leaf_of_first(), "l1");
	looks(1);
	assert_string_equal(fake_leaf_of_first(), "other");
}

static void tells_once_that_a_file_does_not_settle(void **state)
{
	char said[4096] = "";

	(void)state;
	for (int i = 0; i < 25; i++) {
		put(FAKE_TOPOLOGY("other"));
		strncat(said, looks(1), sizeof(said) - strlen(said) - 1);
	}
	assert_true(has(said, "has been written for 10 s"));
	assert_null(strstr(strstr(said, "has been written") + 1, "has been written"));
	assert_string_equal(fake_leaf_of_first(), "l1");
	looks(1);
	assert_string_equal(fake_leaf_of_first(), "other");
}

static void refuses_one_that_others_may_write(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("other"));
	assert_int_equal(chmod(fake_slurm_path("onespine.topology"), 0666), 0);
	assert_true(has(looks(2),
			"others than its owner may write it (chmod go-w); the last good topology "
			"stays in force"));
	assert_string_equal(looks(3), "");
	assert_string_equal(fake_leaf_of_first(), "l1");
	assert_int_equal(chmod(fake_slurm_path("onespine.topology"), 0644), 0);
	looks(2);
	assert_string_equal(fake_leaf_of_first(), "other");
}

static const struct osp_topology *read_before_lock;
static bool exchanged_under_lock;

static void before_lock(uint32_t lock)
{
	(void)lock;
	read_before_lock = shadow_state.read;
}

static void behind_lock(uint32_t lock)
{
	(void)lock;
	exchanged_under_lock |= shadow_state.read != read_before_lock;
}

/*
 * A gang that starts reads which instances its nodes are, and holds Slurm's locks alone: the file
 * that says so is exchanged under these, also if it says the same of the fabric.
 */
static void exchanges_the_file_under_slurms_lock(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(5);
	put("{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"source\": \"again\", "
	    "\"domains\": [{\"name\": \"other\", \"nodes\": \"n[2-4],n1\", \"level\": \"leaf\"}]}");
	exchanged_under_lock = false;
	fake_slurm.at_lock = before_lock;
	fake_slurm.at_unlock = behind_lock;
	assert_string_equal(looks(3), "");
	fake_slurm.at_lock = fake_slurm.at_unlock = NULL;
	assert_true(kept("again"));
	assert_true(exchanged_under_lock);
}

/* Another order, and a word of where it is from: the same fabric. */
static void leaves_alone_what_says_the_same(void **state)
{
	const struct osp_topology *topology;

	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(5);
	topology = shadow_state.topology;
	last_node_update = 0;
	fake_slurm.schedules = 0;
	put("{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"source\": \"again\", "
	    "\"domains\": [{\"name\": \"other\", \"nodes\": \"n[2-4],n1\", \"level\": \"leaf\"}]}");
	assert_string_equal(looks(3), "");
	assert_ptr_equal(shadow_state.topology, topology);
	assert_true(kept("again"));
	assert_int_equal(fake_slurm.schedules, 0);
	assert_int_equal(last_node_update, 0);
	fake_slurm.locks = 0;
	looks(3);
	assert_int_equal(fake_slurm.locks, 0);
}

#define PLACED(boots)                                                                              \
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"domains\": "                         \
	"[{\"level\": \"leaf\", \"name\": \"a\", \"nodes\": \"n[1-4]\"}], \"places\": "            \
	"[{\"source\": \"ec2\", \"nodes\": [" boots "]}]}"

/* The same fabric, asked for anew after a node has booted: gangs that waited for it are looked at
 * again. */
static void looks_at_gangs_again_when_a_place_is_asked_anew(void **state)
{
	(void)state;
	for (int n = 0; n < 2; n++)
		node_record_table_ptr[n]->boot_time = 5000;
	put(PLACED("\"n1 i-1 5001\", \"n2 i-2 1000\", \"n3 - 0\""));
	looks(2);
	shadow_state_refresh(1);
	assert_false(osp_nodeset_test(shadow_state.old_places, 0));
	assert_true(osp_nodeset_test(shadow_state.old_places, 1));
	assert_int_equal(osp_nodeset_count(shadow_state.old_places), 1);
	looks(2);
	fake_slurm.schedules = 0;
	last_node_update = 0;
	put(PLACED("\"n1 i-1 5001\", \"n2 i-2 4999\", \"n3 - 0\""));
	looks(2);
	assert_int_equal(fake_slurm.schedules, 1);
	assert_int_not_equal(last_node_update, 0);
	shadow_state_refresh(2);
	assert_true(osp_nodeset_empty(shadow_state.old_places));
	/* the first one that says nothing of boots */
	put(FAKE_TOPOLOGY("a"));
	looks(4);
	node_record_table_ptr[0]->boot_time = 9000;
	shadow_state_refresh(3);
	assert_true(osp_nodeset_empty(shadow_state.old_places));
}

/* Each exchange has backfill begin anew. */
static void exchanges_seldom(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("first"));
	looks(2);
	assert_string_equal(fake_leaf_of_first(), "first");
	put(FAKE_TOPOLOGY("second"));
	looks(2);
	assert_string_equal(fake_leaf_of_first(), "first");
	looks(1);
	assert_string_equal(fake_leaf_of_first(), "second");
}

/* Slurm asks at each change of a partition, with all its locks held. */
static void leaves_the_file_to_the_thread(void **state)
{
	(void)state;
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	assert_true(shadow_follows());
	put("{");
	fake_slurm_log();
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	assert_null(strstr(fake_slurm_log(), "onespine.topology:"));
	slurm_conf.last_update++; /* reconfigured: somebody waits for it */
	put(FAKE_TOPOLOGY("other"));
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	assert_string_equal(fake_leaf_of_first(), "other");
}

static void lays_once_what_cannot_be_laid(void **state)
{
	char *name = node_record_table_ptr[1]->name;

	(void)state;
	node_record_table_ptr[1]->name = node_record_table_ptr[0]->name;
	put(FAKE_TOPOLOGY("other"));
	assert_true(has(looks(2), "cannot lay "));
	fake_slurm.locks = 0;
	assert_string_equal(looks(3), "");
	assert_int_equal(fake_slurm.locks, 0);
	put(FAKE_TOPOLOGY("another"));
	assert_true(has(looks(2), "cannot lay "));
	node_record_table_ptr[1]->name = name;
	shadow_state.generation++; /* as select_p_node_init() has it, for other nodes */
	looks(2);
	assert_string_equal(fake_leaf_of_first(), "another");
}

static void takes_the_first_one_as_it_is_laid(void **state)
{
	(void)state;
	put(NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	shadow_state_free();
	shadow_state_load();
	assert_null(shadow_state.topology);
	put(FAKE_TOPOLOGY("first"));
	assert_true(has(looks(4), "without a reconfigure, the topology in force has leaf 1"));
	assert_string_equal(fake_leaf_of_first(), "first");
	assert_non_null(shadow_state.chooser);
	assert_true(osp_nodeset_test(shadow_state.up, 3));
}

/* The nodes are others by now: nothing is in force, and nothing was said to be. */
static void keeps_no_first_one_over_other_nodes(void **state)
{
	struct shadow_exchange other;
	const char *names[] = {"n1", "n2"};

	(void)state;
	other = (struct shadow_exchange){.read = shadow_state.read};
	assert_true(shadow_fabric_lay(&other.fabric, other.read, names, 2, NULL));
	shadow_state.read = NULL;
	node_record_count = 0;
	shadow_state_load(); /* no nodes: nothing in force */
	node_record_count = NODES;
	other.generation = shadow_state.generation;
	assert_null(shadow_state.topology);
	assert_false(shadow_state_exchange(&other));
	assert_null(shadow_state.topology);
	shadow_fabric_free(&other.fabric);
	osp_topology_free(other.read);
}

static void removes_unfinished_copies_at_the_start(void **state)
{
	(void)state;
	fake_slurm_file("state/onespine_topology.new.aB3dE9", "half");
	fake_slurm_file("state/onespine_config.new.aB3dE9", "half");
	fake_slurm_file("state/onespine_topology.backup", "an administrator's");
	fake_slurm_file("state/onespine_topology.new.short", "an administrator's");
	shadow_state_free();
	shadow_state_load();
	assert_int_not_equal(access(fake_slurm_path("state/onespine_topology.new.aB3dE9"), F_OK),
			     0);
	assert_int_not_equal(access(fake_slurm_path("state/onespine_config.new.aB3dE9"), F_OK), 0);
	assert_int_equal(access(fake_slurm_path("state/onespine_topology.backup"), F_OK), 0);
	assert_int_equal(access(fake_slurm_path("state/onespine_topology"), F_OK), 0);
	assert_int_equal(access(fake_slurm_path("state/onespine_topology.new.short"), F_OK), 0);
	fake_slurm_file("state/onespine_topology.backup", NULL);
	fake_slurm_file("state/onespine_topology.new.short", NULL);
}

/* The file system is full: the old copy stays, and what is in force is the new topology. */
static void keeps_the_old_copy_on_a_full_file_system(void **state)
{
	struct rlimit before, none;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	const char *said;

	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(1);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	said = looks(1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_true(has(said, "cannot keep a copy of the last good topology: "));
	assert_true(has(said, "onespine_topology: File too large"));
	assert_string_equal(fake_leaf_of_first(), "other");
	assert_false(kept("other"));
}

/* --- the thread itself ------------------------------------------------------------------------ */

static bool in_force(const char *leaf)
{
	bool is;

	pthread_rwlock_rdlock(&shadow_lock);
	is = !strcmp(fake_leaf_of_first(), leaf);
	pthread_rwlock_unlock(&shadow_lock);
	return is;
}

static void looks_by_itself_and_ends(void **state)
{
	(void)state;
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	put(FAKE_TOPOLOGY("other"));
	for (int tries = 0; tries < 6000 && !in_force("other"); tries++)
		usleep(10000);
	assert_true(in_force("other"));
	shadow_follow_begin(); /* it runs */
	assert_true(shadow_follows());
	shadow_follow_end();
	assert_false(shadow_follows());
	shadow_follow_end();
}

static void says_that_there_is_no_thread(void **state)
{
	struct rlimit before, none;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = before;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	shadow_follow_begin();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_false(shadow_follows());
	assert_true(has(fake_slurm_log(),
			"no thread to follow the topology file: Too many open files; scontrol "
			"reconfigure puts a changed one in force"));
}

/* --- what changes while a look is under way --------------------------------------------------- */

static void other_nodes(uint32_t lock)
{
	(void)lock;
	shadow_state.generation++;
}

static void ends_behind_a_lock(uint32_t lock)
{
	(void)lock;
	slurmctld_config.shutdown_time = time(NULL);
}

/* What was laid over the nodes as they were is thrown away. */
static void begins_anew_over_other_nodes(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(1);
	fake_slurm.at_unlock = other_nodes; /* between the nodes' names and the exchange */
	assert_string_equal(looks(1), "");
	assert_int_equal(fake_slurm.locks, 2);
	assert_string_equal(fake_leaf_of_first(), "l1");
	assert_false(kept("other"));
	assert_int_equal(fake_slurm.schedules, 0);
	fake_slurm.at_unlock = NULL;
	assert_true(has(looks(1), "the topology in force has leaf 1"));
	assert_string_equal(fake_leaf_of_first(), "other");
}

/* They changed before their names were read: there is nothing to lay, and no second lock is
 * taken. */
static void lays_over_no_nodes_but_those_at_the_glance(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(1);
	fake_slurm.at_lock = other_nodes;
	assert_string_equal(looks(1), "");
	assert_int_equal(fake_slurm.locks, 1);
	assert_string_equal(fake_leaf_of_first(), "l1");
	fake_slurm.at_lock = NULL;
	looks(1);
	assert_string_equal(fake_leaf_of_first(), "other");
}

/* They changed after: a file that says what is in force has not become the one that is kept. */
static void keeps_no_file_that_was_laid_over_other_nodes(void **state)
{
	static const char again[] =
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\"], \"source\": \"again\", "
		"\"domains\": [{\"name\": \"other\", \"nodes\": \"n[1-4]\", \"level\": "
		"\"leaf\"}]}";

	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(5);
	put(again);
	looks(1);
	fake_slurm.at_unlock = other_nodes;
	assert_string_equal(looks(1), "");
	assert_false(kept("again"));
	fake_slurm.at_unlock = NULL;
	assert_string_equal(looks(1), "");
	assert_true(kept("again"));
}

static void takes_no_second_lock_once_slurmctld_ends(void **state)
{
	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(1);
	fake_slurm.at_unlock = ends_behind_a_lock;
	assert_string_equal(looks(1), "");
	assert_int_equal(fake_slurm.locks, 1);
	assert_string_equal(fake_leaf_of_first(), "l1");
	assert_false(kept("other"));
}

/* From 23.02 on places of the node table may be empty, and there may be none at all. */
static void lays_over_a_table_with_gaps(void **state)
{
	node_record_t **table = node_record_table_ptr, *gone = table[3];

	(void)state;
	put(FAKE_TOPOLOGY("other"));
	looks(1);
	node_record_table_ptr = NULL;
	assert_string_equal(looks(1), "");
	assert_int_equal(fake_slurm.schedules, 0);
	node_record_table_ptr = table;
	assert_string_equal(fake_leaf_of_first(), "l1");
	table[3] = NULL;
	looks(1);
	table[3] = gone;
	assert_string_equal(fake_leaf_of_first(), "other");
	assert_int_equal(osp_topology_domain_of(shadow_state.topology, 3, 1), OSP_NO_DOMAIN);
	assert_int_not_equal(osp_topology_domain_of(shadow_state.topology, 2, 1), OSP_NO_DOMAIN);
}

static void gangs_wait_where_no_topology_was_ever_read(void **state)
{
	(void)state;
	put(NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	shadow_state_free();
	shadow_state_load();
	fake_slurm_log();
	put("{");
	assert_true(has(looks(2), "; gangs wait"));
	assert_string_equal(looks(3), "");
}

/* slurm.conf was read again, and its error told, less than a tick of the file system's clock
 * ago. */
static void tells_of_a_bad_one_once(void **state)
{
	(void)state;
	shadow_follow_end();
	slurm_conf.last_update++;
	put("{");
	assert_int_equal(init(), SLURM_SUCCESS);
	assert_int_equal(select_p_node_init(), SLURM_SUCCESS);
	shadow_follow_end();
	assert_true(has(fake_slurm_log(), "the last good topology stays in force"));
	assert_true(shadow_topology_file.fresh);
	assert_string_equal(looks(2), "");
	assert_false(shadow_topology_file.fresh);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* The leaf that is not in force comes in force; a look without memory changes nothing, and the next
 * ones go on. */
static bool exchanges_leaves(void *unused)
{
	const bool first = !strcmp(fake_leaf_of_first(), "first");
	const char *was = first ? "first" : "l1";
	const char *said;
	bool done;

	(void)unused;
	put(first ? FAKE_TOPOLOGY("l1") : FAKE_TOPOLOGY("first"));
	said = looks(4);
	done = strcmp(fake_leaf_of_first(), was) != 0;
	if (!done)
		assert_true(has(said, "out of memory") || has(said, "Cannot allocate memory") ||
			    !*said);
	return done;
}

static void goes_on_after_memory_ran_out(void **state)
{
	(void)state;
	assert_true(no_memory_everywhere(exchanges_leaves, NULL) > 10);
}

/* Told once, however often. */
static void tells_once_that_memory_ran_out(void **state)
{
	size_t at = 0;

	(void)state;
	put(FAKE_TOPOLOGY("other"));
	do {
		shadow_follow_end(); /* forgets what it has told */
		looks(1);
		no_memory_at(++at);
		shadow_follow_look();
		no_memory_at(0);
		assert_string_equal(fake_leaf_of_first(), "l1");
	} while (!has(fake_slurm_log(), "cannot lay "));
	no_memory_at(at);
	assert_string_equal(looks(1), "");
	no_memory_at(0);
	assert_string_equal(fake_leaf_of_first(), "l1");
	looks(1);
	assert_string_equal(fake_leaf_of_first(), "other");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_cluster, without_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(puts_a_changed_one_in_force_and_keeps_it),
		TEST(takes_no_lock_while_slurmctld_ends),
		TEST(leaves_all_to_the_controller_in_charge),
		TEST(looks_again_where_a_look_failed),
		TEST(tells_once_that_a_file_does_not_settle),
		TEST(refuses_one_that_others_may_write),
		TEST(leaves_alone_what_says_the_same),
		TEST(exchanges_the_file_under_slurms_lock),
		TEST(looks_at_gangs_again_when_a_place_is_asked_anew),
		TEST(exchanges_seldom),
		TEST(leaves_the_file_to_the_thread),
		TEST(lays_once_what_cannot_be_laid),
		TEST(takes_the_first_one_as_it_is_laid),
		TEST(keeps_no_first_one_over_other_nodes),
		TEST(removes_unfinished_copies_at_the_start),
		TEST(keeps_the_old_copy_on_a_full_file_system),
		TEST(looks_by_itself_and_ends),
		TEST(reports_running_gangs_that_moved),
		TEST(reports_relaxed_gangs_that_moved),
		TEST(tells_nobody_without_a_topology_to_compare_with),
		TEST(says_that_there_is_no_thread),
		TEST(begins_anew_over_other_nodes),
		TEST(lays_over_no_nodes_but_those_at_the_glance),
		TEST(keeps_no_file_that_was_laid_over_other_nodes),
		TEST(takes_no_second_lock_once_slurmctld_ends),
		TEST(lays_over_a_table_with_gaps),
		TEST(gangs_wait_where_no_topology_was_ever_read),
		TEST(tells_of_a_bad_one_once),
		TEST(goes_on_after_memory_ran_out),
		TEST(tells_once_that_memory_ran_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
