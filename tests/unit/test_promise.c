/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_promise.c - what policies promise alone and together, what stands in their way, kinds of
 * node */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "lib/policy/conflict.h"
#include "lib/policy/promise.h"
#include "lib/topology/kind.h"
#include "lib/topology/readers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- one policy ------------------------------------------------------------------------------- */

static void holds_by_size(void **state)
{
	static const struct osp_policy promise = {
		.mode = OSP_MODE_ENFORCE, .gang_always = true, .from_nodes = 4};
	static const struct {
		struct osp_size size;
		enum osp_held held;
	} cases[] = {
		{{0, 0}, OSP_HELD_IF_LARGE}, {{1, 0}, OSP_HELD_IF_LARGE},
		{{3, 0}, OSP_HELD_IF_LARGE}, {{4, 0}, OSP_HELD},
		{{1, 3}, OSP_HELD_NOT},	     {{1, 4}, OSP_HELD},
		{{4, 4}, OSP_HELD},	     {{1, 1}, OSP_HELD_NOT},
	};
	struct osp_policy policy;

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		policy = promise;
		assert_true(osp_policy_promises(&policy));
		assert_int_equal(osp_policy_holds(&policy, &cases[i].size), cases[i].held);
		policy.allow_off = true;
		assert_false(osp_policy_promises(&policy));
		assert_int_equal(osp_policy_holds(&policy, &cases[i].size),
				 cases[i].held == OSP_HELD ? OSP_HELD : OSP_HELD_NOT);
		policy = promise;
		policy.mode = OSP_MODE_ADVISE;
		assert_false(osp_policy_promises(&policy));
		policy.mode = OSP_MODE_OFF;
		assert_int_equal(osp_policy_holds(&policy, &cases[i].size), OSP_HELD_NOT);
		policy = promise;
		policy.gang_always = false;
		assert_false(osp_policy_promises(&policy));
		assert_int_equal(osp_policy_holds(&policy, &cases[i].size), OSP_HELD_NOT);
	}
}

/* --- several partitions ----------------------------------------------------------------------- */

static const char fabric[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["
	"{\"level\": \"spine\", \"name\": \"s\"}, {\"level\": \"leaf\", \"name\": \"l\", "
	"\"in\": \"s\", \"nodes\": \"n[1-2]\"}]}";

#define P(mode_, level_, always, from, off, mix, relax)                                            \
	{                                                                                          \
		.mode = OSP_MODE_##mode_, .level = level_, .gang_always = always,                  \
		.from_nodes = from, .allow_off = off, .mix_kinds = mix, .relax_s = relax           \
	}

static void partitions_promise_together(void **state)
{
	static const struct {
		struct osp_policy one, other, both;
	} cases[] = {
		/* the second one's promise holds */
		{P(ENFORCE, "spine", false, 2, true, true, 60),
		 P(ENFORCE, "leaf", true, 4, false, false, -1),
		 P(ENFORCE, "leaf", true, 4, false, false, -1)},
		{P(OFF, "spine", false, 2, true, true, 60),
		 P(ENFORCE, "spine", true, 4, false, true, 30),
		 P(ENFORCE, "spine", true, 4, false, true, 60)},
		/* of two promises the lower level, the fewest nodes */
		{P(ENFORCE, "spine", true, 8, false, false, -1),
		 P(ENFORCE, "leaf", true, 16, true, true, 60),
		 P(ENFORCE, "leaf", true, 8, false, false, -1)},
		{P(ENFORCE, "leaf", true, 8, true, false, -1),
		 P(ENFORCE, "spine", true, 2, true, true, 60),
		 P(ENFORCE, "leaf", true, 2, true, false, -1)},
		/* allow_off means nothing without gang: always */
		{P(ENFORCE, "spine", true, 2, true, false, -1),
		 P(ENFORCE, "leaf", false, 1, false, false, -1),
		 P(ENFORCE, "spine", true, 2, true, false, -1)},
		{P(ADVISE, "spine", true, 2, true, false, -1),
		 P(OFF, "leaf", true, 1, false, false, -1),
		 P(ADVISE, "spine", true, 2, true, false, -1)},
		/* the longer patience */
		{P(ENFORCE, "spine", true, 2, true, true, 30),
		 P(ENFORCE, "spine", true, 2, true, true, 60),
		 P(ENFORCE, "spine", true, 2, true, true, 60)},
		/* a level that is none here leaves the first one's */
		{P(ENFORCE, "spine", true, 2, true, false, -1),
		 P(ENFORCE, "cupboard", true, 2, true, false, -1),
		 P(ENFORCE, "spine", true, 2, true, false, -1)},
	};
	struct osp_error error = {0};
	struct osp_topology *topology =
		osp_read_onespine_topology("t", fabric, sizeof(fabric) - 1, &error);

	(void)state;
	assert_string_equal(error.text, "");
	assert_non_null(topology);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_policy both = cases[i].one;

		osp_policy_add(&both, &cases[i].other, topology);
		assert_int_equal(both.mode, cases[i].both.mode);
		assert_string_equal(both.level, cases[i].both.level);
		assert_int_equal(both.gang_always, cases[i].both.gang_always);
		assert_int_equal(both.from_nodes, cases[i].both.from_nodes);
		assert_int_equal(both.allow_off, cases[i].both.allow_off);
		assert_int_equal(both.mix_kinds, cases[i].both.mix_kinds);
		assert_int_equal(both.relax_s, cases[i].both.relax_s);
		/* as long as no topology is read no level is below another */
		both = cases[i].one;
		osp_policy_add(&both, &cases[i].other, NULL);
		assert_string_equal(both.level,
				    cases[i].one.gang_always && cases[i].one.mode != OSP_MODE_OFF
					    ? cases[i].one.level
					    : cases[i].both.level);
		assert_int_equal(both.allow_off, cases[i].both.allow_off);
	}
	osp_topology_free(topology);
}

/* After its time a gang on an overlay may be anywhere, and one of a spine in one core. */
static void an_overlay_does_not_relax_past_another_promise(void **state)
{
	static const char beside[] =
		"{\"onespine-topology\": 1, \"levels\": [\"spine\", \"core\"], "
		"\"overlays\": [\"nvlink\"], \"domains\": [{\"level\": \"core\", \"name\": "
		"\"c\"}, {\"level\": \"spine\", \"name\": \"s\", \"in\": \"c\", \"nodes\": "
		"\"n[1-4]\"}, {\"level\": \"nvlink\", \"name\": \"v\", \"nodes\": "
		"\"n[1-2]\"}]}";
	static const struct {
		const char *one, *other, *level;
		int64_t relax_s;
	} cases[] = {
		{"spine", "nvlink", "nvlink", -1},  {"nvlink", "spine", "nvlink", -1},
		{"core", "nvlink", "nvlink", 60},   {"nvlink", "core", "nvlink", 60},
		{"nvlink", "nvlink", "nvlink", 60}, {"spine", "core", "spine", 60},
	};
	struct osp_error error = {0};
	struct osp_topology *topology =
		osp_read_onespine_topology("t", beside, sizeof(beside) - 1, &error);

	(void)state;
	assert_string_equal(error.text, "");
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_policy both = P(ENFORCE, NULL, true, 2, false, false, 60);
		struct osp_policy other = both;

		both.level = cases[i].one;
		other.level = cases[i].other;
		osp_policy_add(&both, &other, topology);
		assert_string_equal(both.level, cases[i].level);
		assert_int_equal(both.relax_s, cases[i].relax_s);
	}
	osp_topology_free(topology);
}

static void a_list_of_partitions_promises_together(void **state)
{
	/* as long as Slurm lets a partition be named: no name is cut */
	static const char long_name[] =
		"p234567890123456789012345678901234567890123456789012345678901234567890"
		"1234567890123456789012345678901234567890123456789012345678901234567890"
		"1234567890123456789012345678901234567890123456789012345678901234567890";
	static const struct {
		const char *list;
		const char *level;
		uint32_t from_nodes;
		bool gang_always;
		bool allow_off;
	} cases[] = {
		{NULL, "spine", 2, false, true},
		{"", "spine", 2, false, true},
		{",,", "spine", 2, false, true},
		{"free", "spine", 2, false, true},
		{"a", "leaf", 4, true, false},
		{"a,", "leaf", 4, true, false},
		{",a", "leaf", 4, true, false},
		{"aa", "spine", 2, false, true}, /* unknown: the defaults */
		{"a,b", "leaf", 3, true, false},
		{"b,,a", "leaf", 3, true, false},
		{"free,b", "spine", 3, true, false},
		{long_name, "spine", 7, true, false},
	};
	char text[1024];
	struct osp_error error = {0};
	struct osp_topology *topology =
		osp_read_onespine_topology("t", fabric, sizeof(fabric) - 1, &error);
	struct osp_config *config;

	(void)state;
	snprintf(text, sizeof(text),
		 "defaults:\n  from_nodes: 2\npartitions:\n  free: {gang: asked}\n"
		 "  a: {gang: always, level: leaf, from_nodes: 4, allow_off: false}\n"
		 "  b: {gang: always, level: spine, from_nodes: 3, allow_off: false}\n"
		 "  %s: {gang: always, from_nodes: 7, allow_off: false}\n",
		 long_name);
	config = osp_config_read("t.yaml", text, strlen(text), &error);
	assert_string_equal(error.text, "");
	assert_non_null(config);
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_policy policy = osp_policy_of_list(config, cases[i].list, topology);

		assert_string_equal(policy.level, cases[i].level);
		assert_int_equal(policy.from_nodes, cases[i].from_nodes);
		assert_int_equal(policy.gang_always, cases[i].gang_always);
		assert_int_equal(policy.allow_off, cases[i].allow_off);
	}
	osp_config_free(config);
	osp_topology_free(topology);
}

/* Only an overlay's domains can be in several of those that a partition holds its jobs to. */
static void a_level_beside_the_tree_crosses_a_promise(void **state)
{
	static const char beside[] =
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], "
		"\"overlays\": [\"nvlink\"], \"domains\": ["
		"{\"level\": \"spine\", \"name\": \"s\"}, "
		"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s\", \"nodes\": \"n[1-2]\"}, "
		"{\"level\": \"leaf\", \"name\": \"l2\", \"in\": \"s\", \"nodes\": \"n[3-4]\"}, "
		"{\"level\": \"nvlink\", \"name\": \"v\", \"nodes\": \"n[2-3]\"}]}";
	static const char policies[] =
		"partitions:\n"
		"  leaf: {gang: always, level: leaf, allow_off: false}\n"
		"  spine: {gang: always, level: spine, allow_off: false}\n"
		"  rack: {gang: always, level: rack, allow_off: false}\n"
		"  a23456789-123456789-123456789-123456789-123456789-123456789-1234: "
		"{gang: always, level: leaf, allow_off: false}\n"
		"  free: {gang: always, level: leaf}\n";
#define CROSSED(partition)                                                                         \
	"partition " partition " holds its jobs to one leaf, which one nvlink may cross: nvlink "  \
	"v has nodes in leaf l1 and in leaf l2"
	static const struct {
		const char *list, *level, *says; /* NULL: it crosses none */
	} cases[] = {
		{"leaf", "nvlink", CROSSED("leaf")},
		{"free,,leaf", "nvlink", CROSSED("leaf")},
		{",spine,rack,leaf,", "nvlink", CROSSED("leaf")},
		{"a23456789-123456789-123456789-123456789-123456789-123456789-1234", "nvlink",
		 CROSSED("a23456789-123456789-123456789-123456789-123456789-123456789-1234")},
		{"free,spine,rack", "nvlink", NULL},
		{"leaf", "leaf", NULL},
		/* one level of the tree lies in the other, the right way round or not */
		{"leaf", "spine", NULL},
		{"leaf", "rack", NULL},
		{"leaf", "node", NULL},
		{",", "nvlink", NULL},
		{NULL, "nvlink", NULL},
	};
	struct osp_error error = {0};
	struct osp_topology *topology =
		osp_read_onespine_topology("t", beside, sizeof(beside) - 1, &error);
	struct osp_config *config = osp_config_read("c", policies, sizeof(policies) - 1, &error);

	(void)state;
	assert_string_equal(error.text, "");
	for (size_t i = 0; i < COUNT(cases); i++) {
		error = (struct osp_error){0};
		assert_int_equal(
			osp_policy_crosses(config, cases[i].list, topology, cases[i].level, &error),
			cases[i].says != NULL);
		assert_string_equal(error.text, cases[i].says ? cases[i].says : "");
	}
	/* as long as no topology is read nothing crosses */
	assert_false(osp_policy_crosses(config, "leaf", NULL, "nvlink", &error));
	osp_config_free(config);
	osp_topology_free(topology);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

static void counts_gpus(void **state)
{
	static const struct {
		const char *tres;
		uint64_t gpus;
	} cases[] = {
		{NULL, 0},
		{"", 0},
		{"gres:gpu:8", 8},
		{"gres/gpu:8", 8},
		{"gres/gpu=8", 8},
		{"gres:gpu:h100:12,gres:gpu:a100:4", 16},
		{"gres/gpu:h100=12", 12},
		{"gpu", 1},
		{"gres:gpu", 1},
		{"gres/gpu:h100", 1},
		{"gres:gpus:8", 0},
		{"gres=gpu:8", 0},
		{"gres:g", 0},
		{"gres:shard:64,license/x:3", 0},
		{"gres:shard:64,gres:gpu:2", 2},
		{",,gpu:3,", 3},
		{"gpu:99999999999999999999,gpu:a:1", UINT64_MAX},
		/* of one name the last counts */
		{"gres:gpu:8,gres:gpu:8", 8},
		{"gres/gpu:4,gres:gpu:8", 8},
		{"gres:gpu:8,gres:gpu=4", 4},
		{"gpu,gpu:3", 3},
		{"gres:gpu:h100:8,gres:gpu:8", 16},
		{"gpu:a,gpu:b,gpu:c,gpu:d,gpu:e,gpu:f,gpu:g,gpu:h,gpu:i,gpu:j,gpu:k,gpu:l,gpu:m,"
		 "gpu:n,gpu:o,gpu:p,gpu:q,gpu:r,gpu:a:2",
		 19},
		/* what is beyond 16 names is only added, up to the most that there can be */
		{"gpu:a,gpu:b,gpu:c,gpu:d,gpu:e,gpu:f,gpu:g,gpu:h,gpu:i,gpu:j,gpu:k,gpu:l,gpu:m,"
		 "gpu:n,gpu:o,gpu:p,gpu:q:2,gpu:r:18446744073709551614",
		 UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_true(osp_gpus_asked(cases[i].tres) == cases[i].gpus);
}

/* --- what cannot be combined with a gang
 * ---------------------------------------------------------- */

static void finds_conflicts(void **state)
{
	static const struct {
		struct osp_shape shape;
		bool any, splits;
	} cases[] = {
		{{.features = NULL}, false, false},
		{{.features = "a&b|c"}, false, false},
		{{.heterogeneous = true}, true, true},
		{{.switches = true}, true, false},
		{{.segment = true}, true, false},
		{{.segment_flags = true}, true, false},
		{{.contiguous = true}, true, false},
		{{.exclusive_topo = true}, true, false},
		{{.expands = true}, true, true},
		{{.features = "[a*2&b*2]"}, true, true},
		{{.features = "[a*1&b*1]"}, true, true},
		{{.features = "a*4"}, true, true},
		{{.prefer = "a*4"}, true, true},
		/* one node is together with itself */
		{{.features = "a*1"}, false, false},
		{{.features = "a*"}, false, false},
		{{.contiguous = true, .features = "[a*2&b*2]"}, true, true},
	};
	static const struct osp_effective asked = {.origin = OSP_FROM_OPTION},
					  by_policy = {.origin = OSP_FROM_POLICY};
	char sentence[300];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(osp_conflict_find(&cases[i].shape, OSP_CONFLICTS_ALL, &asked,
						   sentence, sizeof(sentence)),
				 cases[i].any);
		assert_int_equal(osp_conflict_find(&cases[i].shape, OSP_CONFLICTS_THAT_SPLIT,
						   &by_policy, sentence, sizeof(sentence)),
				 cases[i].splits);
	}
	assert_string_equal(
		sentence, "the policy here makes a gang of this job, and a --constraint with "
			  "counts (a*4) cannot be combined with --gang: Slurm chooses each count's "
			  "nodes by itself; leave out the counts, or ask for --gang=off where that "
			  "is allowed");
}

/* Only what helps is named: where policy makes the gang, leaving out --gang does not, and where it
 * takes no off, --gang=off does not either. */
static void names_only_cures_that_help(void **state)
{
	static const struct osp_shape component = {.heterogeneous = true},
				      contiguous = {.contiguous = true},
				      segment = {.segment = true};
	static const char one[] = "submit one job without components", out[] = "leave it out";
	static const struct {
		const struct osp_shape *shape;
		const char *reported;
		enum osp_origin origin;
		enum osp_way_out way_out;
		const char *more;
	} cases[] = {
		{&component, one, OSP_FROM_OPTION, OSP_WAY_LEAVE_OUT, ", or leave out --gang"},
		{&component, one, OSP_FROM_OPTION, OSP_WAY_OFF, ", or ask for --gang=off"},
		{&component, one, OSP_FROM_OPTION, OSP_WAY_NONE, ""},
		{&component, one, OSP_FROM_POLICY, OSP_WAY_OFF, ", or ask for --gang=off"},
		{&component, one, OSP_FROM_POLICY, OSP_WAY_NONE, ""},
		{&segment, "say --gang-segment=LEVEL:N instead", OSP_FROM_OPTION, OSP_WAY_LEAVE_OUT,
		 ", or leave out --gang"},
		{&contiguous, out, OSP_FROM_OPTION, OSP_WAY_LEAVE_OUT, ""},
		{&contiguous, out, OSP_FROM_OPTION, OSP_WAY_OFF, ""},
		{&contiguous, out, OSP_FROM_POLICY, OSP_WAY_OFF, ", or ask for --gang=off"},
		{&contiguous, out, OSP_FROM_POLICY, OSP_WAY_NONE, ""},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct osp_effective effective = {.origin = cases[i].origin,
							.way_out = cases[i].way_out};
		char sentence[300], end[100];

		assert_true(osp_conflict_find(cases[i].shape, OSP_CONFLICTS_ALL, &effective,
					      sentence, sizeof(sentence)));
		snprintf(end, sizeof(end), "; %s%s", cases[i].reported, cases[i].more);
		assert_string_equal(strstr(sentence, "; "), end);
	}
}

static void finds_expansions(void **state)
{
	(void)state;
	assert_false(osp_dependency_expands(NULL));
	assert_false(osp_dependency_expands(""));
	assert_false(osp_dependency_expands("afterany:1?afterok:2,unexpand:3"));
	assert_true(osp_dependency_expands("expand:12"));
	assert_true(osp_dependency_expands("afterok:7,Expand:12"));
	assert_true(osp_dependency_expands("afterok:7?expand:12"));
}

/* --- kinds of node ---------------------------------------------------------------------------- */

static void reports_kinds(void **state)
{
	static const struct {
		const char *gres, *features, *kind;
	} cases[] = {
		{NULL, NULL, ""},
		{"gpu:h100:8(S:0-1),shard:64", "static,p5.48xlarge,gpu", "gpu:h100 p5.48xlarge"},
		{"gpu:8", "", "gpu"},
		{"gpu", NULL, "gpu"},
		{"gpu:", NULL, "gpu"},
		{"gpu:h100", NULL, "gpu:h100"},
		{"gp,gpus:8,mps:100", NULL, ""},
		{NULL, "c7i.metal-24xx", ""},
		{NULL, "p6e-gb200.36xlarge", "p6e-gb200.36xlarge"},
		{NULL, "trn2.48xlarge,efa", "trn2.48xlarge"},
		{NULL, "u-6tb1.metal", "u-6tb1.metal"},
		{NULL, "c7i.metal-24xl", "c7i.metal-24xl"},
		{NULL, "m5.xlarge,t3.micro", "m5.xlarge t3.micro"},
		/* versions of software are no types of machine */
		{NULL, "cuda12.4", ""},
		{NULL, "rhel9.4,ubuntu24.04,ofed24.10", ""},
		{NULL, "driver-570.86", ""},
		{NULL, "el9.large-memory", ""},
		{NULL, "glibc2.39,p5en.48xlarge", "p5en.48xlarge"},
		{NULL,
		 "p5.48xlarges,p5.xxlarge,p5.metal-,p5.metal-xl,p5.metal-24,p5.,.large,5p.large",
		 ""},
		{NULL, "P5.48xlarge,p5.48XLARGE,a.b.large,p_5.large", ""},
	};
	char buffer[OSP_KIND_BYTES];

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(
			osp_kind_of(cases[i].gres, cases[i].features, buffer, sizeof(buffer)),
			cases[i].kind);
}

/* Words that do not fit are left out, not cut. */
static void reports_kinds_in_little_room(void **state)
{
	char buffer[OSP_KIND_BYTES] = "before";

	(void)state;
	assert_string_equal(osp_kind_of("gpu:h100:8", "p5.48xlarge", buffer, 0), "before");
	assert_string_equal(osp_kind_of("gpu:h100:8", "p5.48xlarge", buffer, 12), "gpu:h100");
	assert_string_equal(osp_kind_of("gpu:h100:8", "p5.48xlarge", buffer, 24),
			    "gpu:h100 p5.48xlarge");
}

static void tells_how_many_nodes_gpus_need(void **state)
{
	static const struct {
		struct osp_gpus_said said;
		uint64_t most;
		uint32_t nodes;
	} cases[] = {
		{{0}, 8, 0},
		{{.per_job = "gres:gpu:16"}, 8, 2},
		{{.per_job = "gres:gpu:17"}, 8, 3},
		{{.per_job = "gres:gpu:17"}, 0, UINT32_MAX},
		/* of tasks: each has its own on one node */
		{{.per_task = "gres:gpu:4"}, 8, 1},
		{{.per_task = "gres:gpu:4", .tasks = 5}, 8, 3},
		{{.per_task = "gres/gpu:3", .tasks = 4}, 8, 2},
		{{.per_task = "gres/gpu:3", .tasks = 5}, 8, 3},
		{{.per_task = "gres/gpu:5", .tasks = 3}, 8, 3},
		{{.per_task = "gres/gpu:9"}, 8, UINT32_MAX},
		{{.per_task = "gres/gpu:2", .per_job = "gres/gpu:20", .tasks = 2}, 8, 3},
		/* a node gives no more than is said */
		{{.per_job = "gres:gpu:8", .per_node = "gres:gpu:2"}, 8, 4},
		{{.per_job = "gres:gpu:8", .per_node = "gres:gpu:16"}, 8, 1},
		{{.per_task = "gres:gpu:1", .tasks = 8, .per_node = "gres:gpu:4"}, 8, 2},
		/* but of GPUs of that name alone */
		{{.per_job = "gres:gpu:8", .per_node = "gres:gpu:h100:2"}, 8, 1},
		{{.per_job = "gres:gpu:h100:8", .per_node = "gres:gpu:h100:2"}, 8, 4},
		{{.per_job = "gres:gpu:8", .per_node = "gres:gpu:2,gres:gpu:h100:1"}, 8, 1},
		{{.per_task = "gres:gpu:a100:1", .tasks = 8, .per_node = "gres:gpu:h100:1"}, 8, 1},
		{{.per_job = "gres:gpu:8", .per_node = "gres:disk:2"}, 8, 1},
		{{.per_node = "gres:gpu:8"}, 8, 0},
		/* several names have no common limit, and a word without a name has none */
		{{.per_job = "gres:gpu:a:4,gres:gpu:b:4", .per_node = "gres:gpu:a:1,gres:gpu:b:1"},
		 8,
		 1},
		{{.per_job = "gres:gpu:8", .per_task = "4", .per_node = "gres:gpu:2"}, 8, 1},
		/* more than anybody has */
		{{.per_job = "gres:gpu:18446744073709551615"}, 1, UINT32_MAX},
		{{.tasks = UINT32_MAX, .per_task = "gres:gpu:18446744073709551615"}, 8, UINT32_MAX},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct osp_gpus_wanted gpus;
		uint32_t nodes;

		osp_gpus_read(&gpus, &cases[i].said);
		nodes = osp_gpus_least_nodes(&gpus, cases[i].most);
		if (nodes != cases[i].nodes)
			fail_msg("case %zu: %u", i, nodes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_how_many_nodes_gpus_need),
		cmocka_unit_test(holds_by_size),
		cmocka_unit_test(partitions_promise_together),
		cmocka_unit_test(an_overlay_does_not_relax_past_another_promise),
		cmocka_unit_test(a_list_of_partitions_promises_together),
		cmocka_unit_test(a_level_beside_the_tree_crosses_a_promise),
		cmocka_unit_test(counts_gpus),
		cmocka_unit_test(finds_conflicts),
		cmocka_unit_test(names_only_cures_that_help),
		cmocka_unit_test(finds_expansions),
		cmocka_unit_test(reports_kinds_in_little_room),
		cmocka_unit_test(reports_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
