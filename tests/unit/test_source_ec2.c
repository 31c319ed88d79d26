/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_source_ec2.c - places that EC2 tells, and what is kept of those that it told, around an EC2
 * that is not there */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/cloud/ec2.h"
#include "host/source/source.h"
#include "lib/topology/place_age.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BOOT_S	     1700000000

/* --- an EC2 ----------------------------------------------------------------------------------- */

enum fault { NONE, THROTTLED, DENIED, UNKNOWN };

struct place {
	const char *id;
	const char *nodes[3]; /* top first */
	const char *total;    /* of a reservation; NULL: EC2 does not say */
	const char *available;
	const char *state; /* NULL: active */
};

static struct {
	struct place instances[4];
	struct place reservations[3];
	enum fault reservation_fault; /* of the topology of reservations */
	enum fault size_fault;
	const char *unasked; /* what a probe finds out */
	bool answers;	     /* .. or that EC2 would answer; neither: nothing */
	bool probed;
	bool answered; /* it has said so since it was opened */
	bool addresses_probed;
	int dummy;
} fake;

struct osp_ec2 *osp_ec2_open(struct osp_error *error)
{
	(void)error;
	fake.answered = false;
	return (struct osp_ec2 *)&fake.dummy;
}

void osp_ec2_close(struct osp_ec2 *ec2)
{
	(void)ec2;
}

const char *osp_ec2_region(const struct osp_ec2 *ec2)
{
	(void)ec2;
	return "us-west-2";
}

/* What asks for nodes' addresses is throttled. */
static bool throttled;

int osp_ec2_instances_at(struct osp_ec2 *ec2, const char *const *addresses, size_t count,
			 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			 struct osp_error *error)
{
	(void)ec2;
	(void)addresses;
	(void)listener;
	(void)error;
	if (count && throttled) {
		gaps->failed_calls++;
		osp_error_set(&gaps->first, "RequestLimitExceeded");
	}
	return 0;
}

static int answer(const struct place *places, size_t place_count, const char *const *ids,
		  size_t count, const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
		  struct osp_error *error)
{
	for (size_t i = 0; i < count; i++) {
		struct osp_ec2_record record = {.type = "p5.48xlarge"};
		size_t p = 0;

		while (p < place_count && (!places[p].id || strcmp(places[p].id, ids[i]) != 0))
			p++;
		if (p == place_count) {
			gaps->unknown_ids++;
			continue;
		}
		snprintf(record.id, sizeof(record.id), "%s", ids[i]);
		snprintf(record.total_count, sizeof(record.total_count), "%s",
			 places[p].total ? places[p].total : "");
		snprintf(record.available_count, sizeof(record.available_count), "%s",
			 places[p].available ? places[p].available : "");
		snprintf(record.state, sizeof(record.state), "%s",
			 places[p].state ? places[p].state : "active");
		while (record.node_count < 3 && places[p].nodes[record.node_count]) {
			snprintf(record.nodes[record.node_count], OSP_EC2_VALUE_BYTES, "%s",
				 places[p].nodes[record.node_count]);
			record.node_count++;
		}
		if (listener->record(&record, listener->context, error))
			return -1;
	}
	return 0;
}

const char *osp_ec2_unasked(const struct osp_ec2 *ec2)
{
	(void)ec2;
	return fake.probed ? fake.unasked : NULL;
}

bool osp_ec2_answers(const struct osp_ec2 *ec2, bool addresses)
{
	(void)ec2;
	return fake.answered && (!addresses || fake.addresses_probed);
}

void osp_ec2_probe(struct osp_ec2 *ec2, bool addresses)
{
	(void)ec2;
	fake.probed = true;
	fake.answered = fake.answers;
	fake.addresses_probed = addresses;
}

int osp_ec2_instance_topology(struct osp_ec2 *ec2, const char *const *ids, size_t count,
			      const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			      struct osp_error *error)
{
	(void)ec2;
	fake.answered = true;
	return answer(fake.instances, COUNT(fake.instances), ids, count, listener, gaps, error);
}

static int answer_or_fail(enum fault fault, const char *const *ids, size_t count,
			  const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			  struct osp_error *error)
{
	if (fault == DENIED)
		return osp_error_set(error, "denied");
	if (fault == THROTTLED) {
		gaps->failed_calls++;
		osp_error_set(&gaps->first, "throttled");
		for (size_t i = 0; i < count && listener->missed; i++)
			listener->missed(ids[i], listener->context);
		return 0;
	}
	return answer(fake.reservations, fault == UNKNOWN ? 0 : COUNT(fake.reservations), ids,
		      count, listener, gaps, error);
}

int osp_ec2_reservation_topology(struct osp_ec2 *ec2, const char *const *ids, size_t count,
				 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
				 struct osp_error *error)
{
	(void)ec2;
	return answer_or_fail(fake.reservation_fault, ids, count, listener, gaps, error);
}

int osp_ec2_reservations(struct osp_ec2 *ec2, const char *const *ids, size_t count,
			 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			 struct osp_error *error)
{
	(void)ec2;
	return answer_or_fail(fake.size_fault, ids, count, listener, gaps, error);
}

/* the other sources, which source.c names */
int osp_source_infiniband(const struct osp_source_question *question,
			  struct osp_source_answer *answer, struct osp_error *error)
{
	(void)question;
	(void)answer;
	return osp_error_set(error, "not here");
}

int osp_source_nvlink(const struct osp_source_question *question, struct osp_source_answer *answer,
		      struct osp_error *error)
{
	return osp_source_infiniband(question, answer, error);
}

int osp_source_topograph(const struct osp_source_question *question,
			 struct osp_source_answer *answer, struct osp_error *error)
{
	return osp_source_infiniband(question, answer, error);
}

/* --- a question ------------------------------------------------------------------------------- */

#define GROUPS "cr-0a=n[1-3] cr-0b=n[4-6]"

/* The node that is on its way up or down; NULL: none. */
static const char *between;

/* What the answer before says. */
static const char *unasked_before;

static int start(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof(fake));
	between = NULL;
	unasked_before = NULL;
	fake.instances[0] = (struct place){"i-1", {"t", "s1", "l1"}, NULL, NULL, NULL};
	fake.reservations[0] = (struct place){"cr-0a", {"t", "s1"}, "3", NULL, NULL};
	fake.reservations[1] = (struct place){"cr-0b", {"t", "s2"}, "3", NULL, NULL};
	return 0;
}

/* Asks about nodes n1..n6, of which those of `running` run: as instance i-1, or as nobody knows
 * which with "?". Returns 0 or -1. */
static int ask(const char *running, const struct osp_topology *previous, const char *groups,
	       struct osp_source_answer *told, struct osp_error *error)
{
	static const char *const names[] = {"n1", "n2", "n3", "n4", "n5", "n6"};
	struct osp_listed_node nodes[6];
	struct osp_node_list list = {.nodes = nodes, .count = 6};
	struct osp_source_question question = {.nodes = &list,
					       .previous = previous,
					       .launch_groups = groups,
					       .unasked = unasked_before};

	for (uint32_t i = 0; i < 6; i++) {
		bool runs = strstr(running, names[i]);

		nodes[i] = (struct osp_listed_node){
			.name = names[i],
			.address = "",
			.instance_id = runs && !strchr(running, '?') ? "i-1" : "",
			.slurm_topology = "",
			.boot_s = runs ? BOOT_S : 0,
			.runs = runs,
			.between = between && !strcmp(between, names[i]),
			.is_launched = true};
	}
	memset(told, 0, sizeof(*told));
	*error = (struct osp_error){.text = ""};
	return osp_source_ec2(&question, told, error);
}

/* Writes "n1 ec2 l1, n4 reservation s2": each node's source and lowest known domain. */
static void write_places(const struct osp_topology *topology, char *text, size_t bytes)
{
	size_t used = 0;

	*text = '\0';
	for (uint32_t n = 0; topology && n < osp_topology_node_count(topology); n++) {
		uint32_t level = 1;

		while (osp_topology_domain_of(topology, n, level) == OSP_NO_DOMAIN)
			level++;
		used += (size_t)snprintf(
			text + used, bytes - used, "%s%s %s %s %s", used ? ", " : "",
			osp_topology_node_name(topology, n), osp_topology_note(topology, n)->source,
			osp_topology_level_name(topology, level),
			osp_topology_domain(topology, osp_topology_domain_of(topology, n, level))
				->name);
	}
}

static void expect(const struct osp_source_answer *told, const char *places, const char *warnings)
{
	char text[512];

	write_places(told->topology, text, sizeof(text));
	assert_string_equal(text, places);
	assert_string_equal(told->warnings.data ? told->warnings.data : "", warnings);
}

#define BOTH                                                                                       \
	"n1 reservation spine s1, n2 reservation spine s1, n3 reservation spine s1, "              \
	"n4 reservation spine s2, n5 reservation spine s2, n6 reservation spine s2"

/* --- tests ------------------------------------------------------------------------------------ */

static void nodes_have_the_place_of_their_reservation_until_they_run(void **state)
{
	struct osp_source_answer told;
	struct osp_error error;

	(void)state;
	assert_int_equal(ask("", NULL, GROUPS, &told, &error), 0);
	expect(&told, BOTH, "");
	osp_source_answer_clear(&told);
	assert_int_equal(ask("n1", NULL, GROUPS, &told, &error), 0);
	expect(&told,
	       "n1 ec2 leaf l1, n2 reservation spine s1, n3 reservation spine s1, "
	       "n4 reservation spine s2, n5 reservation spine s2, n6 reservation spine s2",
	       "");
	osp_source_answer_clear(&told);
}

static void a_call_that_fails_keeps_the_last_places(void **state)
{
	static const struct {
		enum fault fault;
		const char *places;
		const char *warnings;
	} cases[] = {
		{THROTTLED, BOTH,
		 "6 nodes do not run and keep the last good place by the capacity reservation: "
		 "throttled\n"},
		{DENIED, BOTH,
		 "6 nodes do not run and keep the last good place by the capacity reservation: "
		 "denied\n"},
		/* that it is not there is an answer */
		{UNKNOWN, "",
		 "EC2 does not know 2 of the capacity reservations of launch_groups\n"},
	};
	struct osp_source_answer first, told;
	struct osp_error error;

	(void)state;
	assert_int_equal(ask("", NULL, GROUPS, &first, &error), 0);
	for (size_t i = 0; i < COUNT(cases); i++) {
		fake.reservation_fault = cases[i].fault;
		assert_int_equal(ask("", first.topology, GROUPS, &told, &error), 0);
		expect(&told, cases[i].places, cases[i].warnings);
		osp_source_answer_clear(&told);
	}
	/* a node that was moved to another reservation had its place by the old one */
	fake.reservation_fault = THROTTLED;
	assert_int_equal(ask("n1", first.topology, "cr-0a=n[1-2] cr-0b=n[3-6]", &told, &error), 0);
	expect(&told,
	       "n1 ec2 leaf l1, n2 reservation spine s1, n4 reservation spine s2, "
	       "n5 reservation spine s2, n6 reservation spine s2",
	       "4 nodes do not run and keep the last good place by the capacity reservation: "
	       "throttled\n");
	osp_source_answer_clear(&told);
	/* nothing to keep */
	assert_int_equal(ask("n1", NULL, GROUPS, &told, &error), 0);
	expect(&told, "n1 ec2 leaf l1",
	       "nodes that do not run have no place by their capacity reservation: throttled\n");
	osp_source_answer_clear(&told);
	osp_source_answer_clear(&first);
}

static void nodes_beyond_the_reservation_have_no_place_by_it(void **state)
{
	struct osp_source_answer told, kept;
	struct osp_error error;

	(void)state;
	fake.reservations[0].total = "2";
	fake.reservations[1].total = "0";
	assert_int_equal(ask("n2", NULL, GROUPS, &told, &error), 0);
	/* one of its two instances runs */
	expect(&told, "n2 ec2 leaf l1, n1 reservation spine s1",
	       "launch_groups names more nodes for cr-0a than it has instances: 1 that does not "
	       "run has no place by it\n"
	       "launch_groups names more nodes for cr-0b than it has instances: 3 that do not run "
	       "have no place by it\n");
	/* nor those that had one, if its topology cannot be asked for now */
	osp_source_answer_clear(&told);
	fake.reservations[1].total = "3";
	assert_int_equal(ask("", NULL, GROUPS, &told, &error), 0);
	fake.reservation_fault = THROTTLED;
	fake.reservations[1].total = "1";
	assert_int_equal(ask("", told.topology, GROUPS, &kept, &error), 0);
	expect(&kept, "n1 reservation spine s1, n2 reservation spine s1, n4 reservation spine s2",
	       "3 nodes do not run and keep the last good place by the capacity reservation: "
	       "throttled\n"
	       "launch_groups names more nodes for cr-0b than it has instances: 2 that do not run "
	       "have no place by it\n");
	osp_source_answer_clear(&kept);
	osp_source_answer_clear(&told);
	/* a size that nobody tells limits nothing, and that is said */
	fake.reservation_fault = NONE;
	fake.size_fault = DENIED;
	assert_int_equal(ask("", NULL, GROUPS, &told, &error), 0);
	expect(&told, BOTH,
	       "nodes may have a place by a capacity reservation that has fewer instances: "
	       "denied\n");
	osp_source_answer_clear(&told);
}

#define SHARED                                                                                     \
	"launch_groups names more nodes for cr-0b than it has instances that nobody else uses: "

static void instances_of_others_take_room(void **state)
{
	struct osp_source_answer told;
	struct osp_error error;

	(void)state;
	/* of three instances two are another cluster's */
	fake.reservations[1].available = "1";
	fake.reservations[0].available = "2";
	assert_int_equal(ask("n1", NULL, GROUPS, &told, &error), 0);
	expect(&told,
	       "n1 ec2 leaf l1, n2 reservation spine s1, n3 reservation spine s1, "
	       "n4 reservation spine s2",
	       SHARED "2 that do not run have no place by it\n");
	osp_source_answer_clear(&told);
	/* one that starts may have its instance already */
	between = "n5";
	assert_int_equal(ask("n1", NULL, GROUPS, &told, &error), 0);
	expect(&told,
	       "n1 ec2 leaf l1, n2 reservation spine s1, n3 reservation spine s1, "
	       "n4 reservation spine s2, n5 reservation spine s2",
	       SHARED "1 that does not run has no place by it\n");
	osp_source_answer_clear(&told);
	/* what is left is its own, not of the first node */
	between = "n6";
	fake.reservations[1].available = "0";
	assert_int_equal(ask("n1", NULL, GROUPS, &told, &error), 0);
	expect(&told,
	       "n1 ec2 leaf l1, n2 reservation spine s1, n3 reservation spine s1, "
	       "n6 reservation spine s2",
	       SHARED "2 that do not run have no place by it\n");
	osp_source_answer_clear(&told);
	/* what is no count limits nothing */
	fake.reservations[1].available = "-1";
	assert_int_equal(ask("n1", NULL, GROUPS, &told, &error), 0);
	expect(&told,
	       "n1 ec2 leaf l1, n2 reservation spine s1, n3 reservation spine s1, "
	       "n4 reservation spine s2, n5 reservation spine s2, n6 reservation spine s2",
	       "");
	osp_source_answer_clear(&told);
	/* a block that has not begun has nothing free, and nobody's instances */
	between = NULL;
	fake.reservations[1].available = "0";
	fake.reservations[1].state = "scheduled";
	assert_int_equal(ask("", NULL, GROUPS, &told, &error), 0);
	expect(&told,
	       "n1 reservation spine s1, n2 reservation spine s1, n4 reservation spine s2, "
	       "n5 reservation spine s2, n6 reservation spine s2",
	       "launch_groups names more nodes for cr-0a than it has instances that nobody else "
	       "uses: 1 that does not run has no place by it\n");
	osp_source_answer_clear(&told);
}

#define NOBODY                                                                                     \
	"no node that runs has an instance of EC2: Slurm has no InstanceId, and no running "       \
	"instance of region us-west-2 has a node's address"

static void nodes_that_run_without_an_instance_are_told(void **state)
{
	struct osp_source_answer told;
	struct osp_error error;

	(void)state;
	assert_int_equal(ask("n1?", NULL, GROUPS, &told, &error), 0);
	expect(&told,
	       "n2 reservation spine s1, n3 reservation spine s1, n4 reservation spine s2, "
	       "n5 reservation spine s2, n6 reservation spine s2",
	       NOBODY "\n");
	osp_source_answer_clear(&told);
	assert_int_equal(ask("n1?", NULL, NULL, &told, &error), -1);
	assert_string_equal(error.text, NOBODY);
	osp_source_answer_clear(&told);
	assert_int_equal(ask("n1 n2 n3 n4 n5 n6 ?", NULL, GROUPS, &told, &error), -1);
	assert_string_equal(error.text, NOBODY);
	osp_source_answer_clear(&told);
	/* as in a wrong region */
	fake.reservation_fault = UNKNOWN;
	assert_int_equal(ask("n1?", NULL, GROUPS, &told, &error), -1);
	assert_string_equal(error.text, NOBODY);
	osp_source_answer_clear(&told);
}

/* Asks while no node runs, and expects a topology of these levels and no node. */
static void expect_levels_alone(const struct osp_topology *previous, const char *groups,
				const char *levels, const char *warnings)
{
	struct osp_source_answer told;
	struct osp_topology *read;
	struct osp_error error;
	char text[128] = "", *file;

	if (ask("", previous, groups, &told, &error))
		fail_msg("%s", error.text);
	for (uint32_t level = 1; level <= osp_topology_last_level(told.topology); level++) {
		strcat(text, level > 1 ? " " : "");
		strcat(text, osp_topology_level_name(told.topology, level));
	}
	assert_string_equal(text, levels);
	expect(&told, "", warnings);
	file = osp_write_onespine_topology(told.topology, "ec2");
	assert_non_null(file);
	read = osp_read_onespine_topology("t", file, strlen(file), &error);
	if (!read)
		fail_msg("%s", error.text);
	assert_int_equal(osp_topology_last_level(read), osp_topology_last_level(told.topology));
	osp_topology_free(read);
	free(file);
	osp_source_answer_clear(&told);
}

#define ALONE                                                                                      \
	"no node runs, so no place is known: the topology has its levels alone, by which gangs "   \
	"may have nodes launched\n"

static void levels_are_enough_while_no_node_runs(void **state)
{
	static const char beside_the_tree[] =
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"overlays\": "
		"[\"nvlink\"], \"domains\": [\n{\"level\": \"nvlink\", \"name\": \"v\", "
		"\"nodes\": \"n[2-3]\"},\n{\"level\": \"spine\", \"name\": \"s\"},\n{\"level\": "
		"\"leaf\", \"name\": \"a\", \"in\": \"s\", \"nodes\": \"n[1-2]\"},\n"
		"{\"level\": \"leaf\", \"name\": \"b\", \"in\": \"s\", \"nodes\": \"n[3-4]\"}]}";
	struct osp_source_answer before, told;
	struct osp_error error;

	(void)state;
	expect_levels_alone(NULL, NULL, "leaf spine core zone", ALONE);
	/* EC2 does not say yet where the reservations are */
	fake.reservations[0].nodes[0] = fake.reservations[1].nodes[0] = NULL;
	expect_levels_alone(NULL, GROUPS, "leaf spine core zone", ALONE);
	/* all nodes are powered down: their last places are of no use, the levels stay */
	assert_int_equal(ask("n1", NULL, NULL, &before, &error), 0);
	expect_levels_alone(before.topology, NULL, "leaf spine core", "");
	osp_source_answer_clear(&before);
	/* a level beside the tree, too; the file with them can be read */
	before.topology = osp_read_onespine_topology("t", beside_the_tree,
						     sizeof(beside_the_tree) - 1, &error);
	expect_levels_alone(before.topology, NULL, "leaf spine nvlink", "");
	osp_topology_free(before.topology);
	/* places that cannot be used are no answer */
	fake.reservations[0] = (struct place){"cr-0a", {"s", "s"}, "3", NULL, NULL};
	fake.reservations[1] = (struct place){"cr-0b", {"s", "s"}, "3", NULL, NULL};
	assert_int_equal(ask("", NULL, GROUPS, &told, &error), -1);
	assert_string_equal(error.text, "nothing is left to import");
	osp_source_answer_clear(&told);
	/* a call that fails is no answer */
	fake.reservation_fault = DENIED;
	assert_int_equal(ask("", NULL, GROUPS, &told, &error), -1);
	assert_string_equal(error.text, "denied");
	osp_source_answer_clear(&told);
}

/* Asks, and expects ask() to return `rc` and to tell so why EC2 may not be asked. Returns whether
 * EC2 answers. */
static bool expect_unasked(const char *running, const char *groups, int rc, const char *unasked)
{
	struct osp_source_answer told;
	struct osp_error error;
	bool answers;

	assert_int_equal(ask(running, NULL, groups, &told, &error), rc);
	assert_string_equal(told.unasked, unasked);
	answers = told.answers;
	osp_source_answer_clear(&told);
	return answers;
}

/* Before a first node runs EC2 is asked nothing about nodes: whether it would answer is probed. */
static void whether_it_may_be_asked_is_known_before_a_node_runs(void **state)
{
	(void)state;
	fake.unasked = "EC2 denies it";
	for (int groups = 0; groups < 2; groups++) {
		fake.probed = false;
		expect_unasked("", groups ? GROUPS : NULL, 0, "EC2 denies it");
	}
	fake.probed = false;
	expect_unasked("n1", GROUPS, 0, "");
	assert_false(fake.probed);
}

/* EC2 is throttled, or cannot be reached: what was known stays. */
static void what_a_pause_may_heal_says_not_that_it_may_be_asked(void **state)
{
	(void)state;
	unasked_before = "EC2 denies it";
	assert_false(expect_unasked("", NULL, 0, "EC2 denies it"));
	fake.answers = true;
	assert_true(expect_unasked("", NULL, 0, ""));
	/* a launch_groups that cannot be read: nobody was asked */
	expect_unasked("", "?", -1, "EC2 denies it");
}

/* Nodes that run without an instance, as those of no cloud, are no reason to launch none ever. */
static void it_may_be_asked_though_it_knows_none_of_the_nodes_that_run(void **state)
{
	(void)state;
	unasked_before = "EC2 denies it";
	fake.answers = true;
	assert_true(expect_unasked("n1?", NULL, -1, ""));
}

/* Instances have been found by addresses, and that is denied, until EC2 says that it is not. */
static void addresses_that_were_denied_are_probed(void **state)
{
	(void)state;
	fake.answers = true;
	expect_unasked("", NULL, 0, "");
	assert_false(fake.addresses_probed);
	/* cut where it is long */
	unasked_before = "EC2 denies DescribeInstances to a role of a long name: its po";
	expect_unasked("", NULL, 0, "");
	assert_true(fake.addresses_probed);
	/* an instance that Slurm knows needs no address */
	expect_unasked("n1", NULL, 0, "");
}

static void without_the_nodes_that_run_it_is_no_answer(void **state)
{
	struct osp_listed_node nodes[2] = {
		{.name = "n1", .address = "10.0.0.1", .boot_s = BOOT_S, .runs = true},
		{.name = "n2", .address = "", .is_launched = true}};
	struct osp_node_list list = {.nodes = nodes, .count = 2};
	struct osp_source_question question = {.nodes = &list, .launch_groups = GROUPS};
	struct osp_source_answer told = {.topology = NULL};
	struct osp_error error = {.text = ""};

	(void)state;
	for (int i = 0; i < 2; i++) {
		nodes[i].instance_id = "";
		nodes[i].slurm_topology = "";
	}
	throttled = true;
	assert_int_equal(osp_source_ec2(&question, &told, &error), -1);
	assert_string_equal(error.text, "RequestLimitExceeded");
	throttled = false;
	osp_source_answer_clear(&told);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nodes_have_the_place_of_their_reservation_until_they_run,
				       start),
		cmocka_unit_test_setup(without_the_nodes_that_run_it_is_no_answer, start),
		cmocka_unit_test_setup(a_call_that_fails_keeps_the_last_places, start),
		cmocka_unit_test_setup(nodes_beyond_the_reservation_have_no_place_by_it, start),
		cmocka_unit_test_setup(nodes_that_run_without_an_instance_are_told, start),
		cmocka_unit_test_setup(instances_of_others_take_room, start),
		cmocka_unit_test_setup(levels_are_enough_while_no_node_runs, start),
		cmocka_unit_test_setup(whether_it_may_be_asked_is_known_before_a_node_runs, start),
		cmocka_unit_test_setup(what_a_pause_may_heal_says_not_that_it_may_be_asked, start),
		cmocka_unit_test_setup(it_may_be_asked_though_it_knows_none_of_the_nodes_that_run,
				       start),
		cmocka_unit_test_setup(addresses_that_were_denied_are_probed, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
