/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_shadow_seam.c - what job_submit asks of the shadow: could it ever run, onespine set,
 * scontrol update */
#include "tests/fake/slurmctld.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/effective.h"
#include "lib/topology/place_age.h"
#include "sched/seam.h"
#include "tests/unit/no_memory.h"

#define NODES 16

/* Two spines of two leaves of four nodes. Partitions: gpu has all, small the first leaf, held
 * and low promise. */
static const char config[] = "defaults:\n"
			     "  level: spine\n"
			     "  gate:\n"
			     "    depth: passive\n"
			     "    spares: 1\n"
			     "partitions:\n"
			     "  held:\n"
			     "    gang: always\n"
			     "    allow_off: false\n"
			     "    from_nodes: 3\n"
			     "  low:\n"
			     "    gang: always\n"
			     "    level: leaf\n"
			     "    allow_off: false\n"
			     "  open:\n"
			     "    gate:\n"
			     "      depth: off\n"
			     "  advised:\n"
			     "    mode: advise\n"
			     "  none:\n"
			     "    mode: off\n";

static char sentence[OSP_ERROR_TEXT_BYTES];
static struct osp_effective effective;

static int with_cluster(void **state)
{
	(void)state;
	fake_shadow_begin(NODES, 4, config);
	fake_partition("small", 0, 4);
	fake_partition("held", 0, NODES);
	fake_partition("low", 0, NODES);
	fake_partition("open", 0, NODES);
	fake_partition("advised", 0, NODES);
	fake_partition("none", 0, NODES);
	slurm_conf.sched_params = NULL;
	slurm_conf.slurmctld_params = NULL;
	return 0;
}

static int without_cluster(void **state)
{
	(void)state;
	fake_shadow_end();
	return 0;
}

static struct osp_request request_of(const char *option)
{
	struct osp_request request = {.origin = OSP_FROM_OPTION, .relax_s = -1};

	if (option)
		assert_int_equal(osp_request_parse(option, &request, NULL), 0);
	else
		request = (struct osp_request){.origin = OSP_FROM_POLICY, .relax_s = -1};
	return request;
}

/* "" where it is accepted. */
static const char *judged(const struct osp_seam_job *job, const char *option)
{
	const struct osp_request request = request_of(option);
	int rc = shadow_seam.resolve(job, &request, &effective, sentence, sizeof(sentence));

	assert_int_equal(rc == 0, sentence[0] == '\0' || effective.mode == OSP_MODE_OFF);
	return rc ? sentence : "";
}

static void assert_has(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("\"%s\" lacks \"%s\"", text, words);
}

/* --- could it ever run ------------------------------------------------------------------------ */

/* Resolves what case `i` asks for into `effective` and `sentence`; fails unless it is refused as it
 * should be. */
static void resolve(size_t i, const struct osp_seam_job *job, const char *option,
		    const char *refused)
{
	const struct osp_request request = request_of(option);
	int rc = shadow_seam.resolve(job, &request, &effective, sentence, sizeof(sentence));

	if ((rc != 0) != (refused != NULL))
		fail_msg("case %zu: %d, \"%s\"", i, rc, sentence);
}

static void judges_what_can_run(void **state)
{
	static const struct {
		const char *option;
		struct osp_seam_job job;
		const char *refused; /* NULL: it is accepted */
	} cases[] = {
		{"spine", {.min_nodes = 8}, NULL},
		{"spine", {.partition = "", .min_nodes = 8}, NULL},
		{"spine",
		 {.min_nodes = 9},
		 "9 nodes on one spine asked for; the largest spine of "
		 "partition gpu has 8"},
		{"leaf", {.min_nodes = 5}, "ask for --gang=spine or 4 nodes"},
		/* a cure is one that the policy lets the job take */
		{"leaf", {.partition = "held", .min_nodes = 5}, "ask for --gang=spine or 4 nodes"},
		{"leaf", {.partition = "low", .min_nodes = 5}, "; ask for 4 nodes"},
		{"spine,prefer", {.partition = "low", .min_nodes = 4}, "; ask for --gang=leaf"},
		{"spine,prefer", {.min_nodes = 4}, "; ask for --gang=spine"},
		{"leaf", {.partition = "small,gpu", .min_nodes = 4}, NULL},
		{"spine", {.partition = "small,gpu", .min_nodes = 8}, NULL},
		{"spine", {.partition = "small", .min_nodes = 8}, "partition small has 4"},
		{"spine", {.partition = "unknown", .min_nodes = 99}, NULL}, /* Slurm says so */
		/* Slurm passes over empty names and those said again; a list without any it
		 * refuses */
		{"spine", {.partition = ",", .min_nodes = 1}, NULL},
		{"spine", {.partition = "small,,gpu", .min_nodes = 8}, NULL},
		{"spine", {.partition = ",small", .min_nodes = 8}, "partition small has 4"},
		{"spine", {.partition = "small,small", .min_nodes = 8}, "partition small has 4"},
		{"spin", {.min_nodes = 2}, "there is no level 'spin'"},
		/* tasks, processors and GPUs need nodes too */
		{"leaf", {.tasks = 5, .tasks_per_node = 1}, "5 nodes on one leaf"},
		{"leaf", {.cpus = 33}, "5 nodes on one leaf"},
		{"leaf", {.cpus = 32}, NULL},
		{"leaf",
		 {.cpus = 33, .min_nodes = 1, .max_nodes = 4},
		 NULL}, /* so few hold it, or Slurm says */
		{"leaf", {.tres_per_job = "gres:gpu:33"}, "5 nodes on one leaf"},
		{"leaf", {.tres_per_job = "gres:gpu:32"}, NULL},
		{"leaf", {.tasks = 5, .tres_per_task = "gres/gpu:8"}, "5 nodes on one leaf"},
		{"leaf", {.tasks = 5, .tres_per_task = "gres/gpu:5"}, "5 nodes on one leaf"},
		{"leaf",
		 {.tres_per_job = "gres:gpu:10", .tres_per_node = "gres:gpu:2"},
		 "5 nodes on one leaf"},
		{"leaf", {.tasks = 8, .tres_per_task = "gres:gpu:4"}, NULL},
		{"leaf",
		 {.tasks = UINT32_MAX, .tres_per_task = "gres:gpu:18446744073709551615"},
		 "4294967295 nodes on one leaf"},
		{"leaf", {.tres_per_job = "gres:gpu:8", .cpus = 33}, "5 nodes on one leaf"},
		{"leaf", {.min_nodes = 0}, NULL},
		/* nodes by name */
		{"leaf", {.min_nodes = 4, .excluded_nodes = "n1,n5,n9"}, NULL},
		{"leaf", {.min_nodes = 4, .excluded_nodes = "n1,n5,n9,n13"}, "the largest leaf"},
		{"leaf", {.min_nodes = 4, .excluded_nodes = "n1,unknown"}, NULL},
		{"leaf", {.min_nodes = 2, .required_nodes = "n1,n2,n3"}, NULL},
		{"leaf", {.min_nodes = 2, .required_nodes = "n1,n5"}, "leaf"},
		{"leaf", {.min_nodes = 1, .required_nodes = "n1,n2,n3,n4,n5"}, "leaf"},
		{"leaf", {.min_nodes = 2, .required_nodes = "unknown"}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		resolve(i, &cases[i].job, cases[i].option, cases[i].refused);
		if (cases[i].refused)
			assert_has(sentence, cases[i].refused);
		else
			assert_int_equal(effective.mode, OSP_MODE_ENFORCE);
	}
}

/* Slurm runs what says no partition in the one of its reservation, if that has one. */
static void goes_by_the_partition_of_the_reservation(void **state)
{
	const struct osp_seam_job in_it = {.reservation = "kept", .min_nodes = 4};
	const struct {
		const char *partition;
		const char *option;
		struct osp_seam_job job;
		const char *refused;
		enum osp_mode mode;
	} cases[] = {
		{"held", NULL, in_it, NULL, OSP_MODE_ENFORCE},
		{"held", "off", in_it, "partition held", OSP_MODE_OFF},
		{"small",
		 "spine",
		 {.reservation = "kept", .min_nodes = 8},
		 "partition small has 4",
		 OSP_MODE_OFF},
		{"held",
		 NULL,
		 {.partition = "gpu", .reservation = "kept", .min_nodes = 4},
		 NULL,
		 OSP_MODE_OFF},
		{"held", NULL, {.reservation = "other", .min_nodes = 4}, NULL, OSP_MODE_OFF},
		{"held", NULL, {.reservation = "", .min_nodes = 4}, NULL, OSP_MODE_OFF},
		{NULL, NULL, in_it, NULL, OSP_MODE_OFF},
	};

	(void)state;
	snprintf(fake_slurm.reservation.name, sizeof(fake_slurm.reservation.name), "kept");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *name = cases[i].partition ? xstrdup(cases[i].partition) : NULL;

		fake_slurm.reservation.partition = name ? find_part_record(name) : NULL;
		xfree(name);
		resolve(i, &cases[i].job, cases[i].option, cases[i].refused);
		if (cases[i].refused)
			assert_has(sentence, cases[i].refused);
		else
			assert_int_equal(effective.mode, cases[i].mode);
	}
}

static void counts_only_nodes_that_are_there(void **state)
{
	const struct osp_seam_job many = {.cpus = 16}, gpus = {.tres_per_job = "gres:gpu:16"};
	node_record_t *first = node_record_table_ptr[0];

	(void)state;
	node_record_table_ptr[0] = NULL;
	bit_clear(default_part_loc->node_bitmap, 5);
	assert_string_equal(judged(&many, "leaf"), "");
	for (int n = 1; n < NODES; n++) {
		node_record_table_ptr[n]->cpus = 0;
		FREE_NULL_LIST(node_record_table_ptr[n]->gres_list);
	}
	assert_string_equal(judged(&many, "leaf"), ""); /* nobody knows: Slurm says so */
	assert_string_equal(judged(&gpus, "leaf"), "");
	bit_clear_all(default_part_loc->node_bitmap);
	assert_has(judged(&many, "leaf"), "no node of partition gpu is on a known leaf");
	FREE_NULL_BITMAP(default_part_loc->node_bitmap);
	assert_string_equal(judged(&many, "leaf"), "");
	node_record_table_ptr[0] = first;
}

static void keeps_kinds_apart(void **state)
{
	const struct osp_seam_job job = {.min_nodes = 4};

	(void)state;
	for (int n = 0; n < NODES; n += 2)
		node_record_table_ptr[n]->config_ptr->gres = xstrdup("gpu:h100:8");
	shadow_state_load();
	assert_has(judged(&job, "leaf"), "4 nodes on one leaf");
	fake_slurm_file("onespine.yaml", "defaults:\n  mix_kinds: true\n");
	shadow_state_load();
	assert_string_equal(judged(&job, "leaf"), "");
}

static void refuses_without_a_fabric_or_a_policy(void **state)
{
	const struct osp_seam_job job = {.min_nodes = 4};

	(void)state;
	shadow_state_free();
	assert_has(judged(&job, "leaf"),
		   "Onespine has not read its policy yet; submit again in a moment");
	fake_slurm_file("onespine.topology", NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	shadow_state_load();
	assert_has(judged(&job, "leaf"),
		   "no fabric topology is in force here, so no gang can be "
		   "placed; tell your administrator, or submit without --gang");
	assert_string_equal(judged(&job, NULL), "");
	default_part_loc = NULL; /* and no default partition */
	assert_string_equal(judged(&job, NULL), "");
	assert_has(judged(&job, "leaf"), "no fabric topology is in force here");
}

/* --- policy ----------------------------------------------------------------------------------- */

static void holds_to_policy(void **state)
{
	static const struct {
		const char *option;
		struct osp_seam_job job;
		const char *refused; /* NULL: it is accepted */
		enum osp_mode mode;
		bool if_large;
	} cases[] = {
		{NULL, {.partition = "gpu", .min_nodes = 4}, NULL, OSP_MODE_OFF, false},
		{NULL, {.partition = "held", .min_nodes = 4}, NULL, OSP_MODE_ENFORCE, false},
		{NULL,
		 {.partition = "held", .min_nodes = 2, .max_nodes = 2},
		 NULL,
		 OSP_MODE_OFF,
		 false},
		{NULL, {.partition = "held", .cpus = 17}, NULL, OSP_MODE_ENFORCE, false},
		{NULL, {.partition = "held"}, NULL, OSP_MODE_ENFORCE, true},
		{NULL,
		 {.partition = "held", .min_nodes = 9},
		 "spine of partition held has 8",
		 OSP_MODE_OFF,
		 false},
		/* a component counts with those before it */
		{NULL,
		 {.partition = "held",
		  .min_nodes = 2,
		  .max_nodes = 2,
		  .nodes_beside = 2,
		  .shape.heterogeneous = true},
		 NULL,
		 OSP_MODE_ENFORCE,
		 false},
		{NULL,
		 {.partition = "held", .min_nodes = 1, .max_nodes = 1, .shape.expands = true},
		 NULL,
		 OSP_MODE_ENFORCE,
		 true},
		/* several partitions promise together */
		{NULL, {.partition = "gpu,held", .min_nodes = 4}, NULL, OSP_MODE_ENFORCE, false},
		{NULL,
		 {.partition = "held,gpu,unknown", .min_nodes = 4},
		 NULL,
		 OSP_MODE_ENFORCE,
		 false},
		{NULL, {.partition = "held,small", .cpus = 17}, NULL, OSP_MODE_ENFORCE, false},
		/* no looser than the policy */
		{"off", {.partition = "held", .min_nodes = 4}, "off", OSP_MODE_OFF, false},
		{"leaf", {.partition = "held", .min_nodes = 4}, NULL, OSP_MODE_ENFORCE, false},
		{"spine@1:00",
		 {.partition = "held", .min_nodes = 4},
		 "partition held holds its jobs to one spine; ask for --gang=spine or a level "
		 "below it, "
		 "without @TIME",
		 OSP_MODE_OFF,
		 false},
		{"leaf@1:00", {.partition = "gpu", .min_nodes = 4}, NULL, OSP_MODE_ENFORCE, false},
		{"leaf", {.partition = "none", .min_nodes = 4}, "none", OSP_MODE_OFF, false},
		/* advice stops no job */
		{"leaf", {.partition = "advised", .min_nodes = 4}, NULL, OSP_MODE_ADVISE, false},
		{"leaf", {.partition = "advised", .min_nodes = 99}, NULL, OSP_MODE_ADVISE, false},
		{"spin", {.partition = "advised", .min_nodes = 4}, NULL, OSP_MODE_OFF, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		resolve(i, &cases[i].job, cases[i].option, cases[i].refused);
		if (cases[i].refused) {
			assert_has(sentence, cases[i].refused);
		} else if (effective.mode != cases[i].mode ||
			   (effective.mode && effective.if_large != cases[i].if_large)) {
			fail_msg("case %zu: mode %d, if_large %d", i, effective.mode,
				 effective.if_large);
		}
	}
}

/* --- layouts ---------------------------------------------------------------------------------- */

/* Nodes have 8 GPUs. */
static void makes_segments_of_layouts(void **state)
{
	static const struct {
		const char *option;
		struct osp_seam_job job;
		const char *layout, *segments; /* stored */
		uint32_t reordered_gpus;
		const char *refused; /* NULL: it is accepted */
	} cases[] = {
		{"spine layout=tp8,pp4 keep=pp:leaf",
		 {.min_nodes = 8},
		 "tp8,pp4,dp2",
		 "leaf:4",
		 8,
		 NULL},
		{"spine layout=tp8,pp4,order=tp-pp-dp keep=pp:leaf",
		 {.min_nodes = 8, .max_nodes = 8},
		 "tp8,pp4,dp2,order=tp-pp-dp",
		 "leaf:4",
		 0,
		 NULL},
		{"spine layout=tp8,pp4 keep=dp:leaf",
		 {.min_nodes = 8},
		 "tp8,pp4,dp2",
		 "leaf:2",
		 0,
		 NULL},
		{"spine layout=tp8,pp4", {.min_nodes = 8}, "tp8,pp4,dp2", "", 0, NULL},
		{"spine layout=tp16", {.min_nodes = 8}, "tp16,dp4", "leaf:2", 0, NULL},
		{"spine layout=tp8,pp4", {.min_nodes = 4}, "tp8,pp4,dp1", "", 0, NULL},
		{"spine layout=tp1",
		 {.min_nodes = 1, .tres_per_node = "gpu:1"},
		 "dp1",
		 "",
		 0,
		 NULL},
		/* GPUs on a node: as asked, else as tasks, else as the nodes have them */
		{"spine layout=tp8",
		 {.min_nodes = 8, .tres_per_node = "gres:gpu:4"},
		 "tp8,dp4",
		 "leaf:2",
		 0,
		 NULL},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tres_per_task = "gres/gpu:2", .tasks_per_node = 2},
		 "tp8,dp4",
		 "leaf:2",
		 0,
		 NULL},
		{"spine layout=tp4",
		 {.min_nodes = 8, .tres_per_task = "gres/gpu:1", .tasks = 16},
		 "tp4,dp4",
		 "leaf:2",
		 0,
		 NULL},
		{"spine layout=tp4",
		 {.min_nodes = 8, .tres_per_task = "gres/gpu:4", .tasks = 9},
		 "tp4,dp8",
		 "",
		 0,
		 NULL},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tres_per_task = "gres/gpu:65"},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout needs the number of GPUs on each node, from 1 to 64: give "
		 "--gpus-per-node"},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tres_per_node = "gres/gpu:65"},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout needs the number of GPUs on each node, from 1 to 64"},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tres_per_job = "gres:gpu:32"},
		 "tp8,dp4",
		 "leaf:2",
		 0,
		 NULL},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tasks_per_node = 4},
		 "tp8,dp4",
		 "leaf:2",
		 0,
		 NULL},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tasks = 8, .tasks_per_node = 1},
		 "tp8,dp8",
		 "",
		 0,
		 NULL},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tres_per_job = "gres:gpu:33"},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout takes as many GPUs on each node, and 33 GPUs are no multiple of 8 "
		 "nodes: "
		 "give --gpus-per-node"},
		{"spine layout=tp8",
		 {.min_nodes = 8, .tres_per_node = "gres:gpu:65"},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout needs the number of GPUs on each node, from 1 to 64: give "
		 "--gpus-per-node"},
		/* the number of nodes */
		{"spine layout=tp8,pp4",
		 {.min_nodes = 4, .max_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout takes one number of nodes, not 4 to 8: give --nodes=N"},
		{"spine layout=tp8,pp4",
		 {.min_nodes = 1, .spares = 1, .partition = "gpu"},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout takes one number of nodes: give --nodes=N"},
		/* the layout is that of the nodes that stay */
		{"spine layout=tp8,pp4",
		 {.min_nodes = 5, .spares = 1, .partition = "gpu"},
		 "tp8,pp4,dp1",
		 "",
		 0,
		 NULL},
		{"spine layout=tp8,pp4 keep=pp:leaf",
		 {.min_nodes = 5, .spares = 1, .partition = "gpu"},
		 NULL,
		 NULL,
		 0,
		 "--gang-spares=1 would be released out of a segment: say --gang-spares=K/segment"},
		{"spine layout=tp8,pp3 keep=pp:leaf",
		 {.min_nodes = 4, .spares = 1, .segment_spares = 1, .partition = "gpu"},
		 "tp8,pp3,dp1",
		 "leaf:4",
		 0,
		 NULL},
		{"spine layout=tp4,pp3 keep=pp:leaf",
		 {.min_nodes = 4,
		  .spares = 1,
		  .segment_spares = 1,
		  .tasks = 16,
		  .partition = "gpu"},
		 "tp4,pp3,dp1",
		 "leaf:4",
		 0,
		 NULL},
		{"spine layout=tp8,pp3 keep=pp:leaf segment=leaf:4",
		 {.min_nodes = 4, .spares = 1, .segment_spares = 1, .partition = "gpu"},
		 "tp8,pp3,dp1",
		 "leaf:4",
		 0,
		 NULL},
		{"spine layout=tp8,pp3 keep=pp:leaf segment=leaf:3",
		 {.min_nodes = 4, .spares = 1, .segment_spares = 1, .partition = "gpu"},
		 NULL,
		 NULL,
		 0,
		 "--gang-segment=leaf:3 contradicts --gang-layout, which makes segments leaf:4"},
		{"spine layout=tp8,pp4 keep=pp:leaf",
		 {.min_nodes = 5, .spares = 1, .segment_spares = 1, .partition = "gpu"},
		 NULL,
		 NULL,
		 0,
		 "--gang-spares=1/segment: the layout makes segments of 4 nodes in one leaf, with "
		 "their spares 5, and the largest leaf has 4; ask for fewer spares, or keep "
		 "smaller groups together"},
		{"spine layout=tp8,pp4",
		 {.min_nodes = 5, .spares = 1, .segment_spares = 1, .partition = "gpu"},
		 NULL,
		 NULL,
		 0,
		 "--gang-spares=1/segment was made of the segments"},
		{"spine layout=tp8,pp4",
		 {.tasks = 32},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout takes one number of nodes: give --nodes=N"},
		{"spine layout=tp8,pp4,dp4",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout: tp8,pp4,dp4 is 128 GPUs, but 8 nodes of 8 GPUs have 64; with dp2 "
		 "it fits"},
		{"spine layout=tp8,pp3",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout: tp8 x cp1 x pp3 are 24 GPUs, of which 8 nodes of 8 GPUs hold no "
		 "whole "
		 "number; 6 nodes would be dp2"},
		/* sizes that do not divide */
		{"spine layout=dp64,ep48",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "--gang-layout: ep48 with etp1 takes 48 GPUs, which do not divide the 64"},
		{"spine layout=tp6",
		 {.min_nodes = 6},
		 NULL,
		 NULL,
		 0,
		 "tp6 ends after 6 GPUs, in the middle of a node of 8"},
		/* levels */
		{"spine layout=tp8,pp4 keep=pp:leef",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "--gang-keep=pp:leef: no level is called leef; did you mean leaf"},
		{"spine layout=tp8,pp8 keep=pp:leaf",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "--gang-keep=pp:leaf: pp groups take 8 nodes in a row, and the largest leaf has "
		 "4"},
		{"spin layout=tp8,pp4",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "there is no level 'spin'"},
		/* what else was asked */
		{"spine layout=tp8,pp4 keep=pp:leaf segment=leaf:4",
		 {.min_nodes = 8},
		 "tp8,pp4,dp2",
		 "leaf:4",
		 8,
		 NULL},
		{"spine layout=tp8,pp4 segment=leaf:4",
		 {.min_nodes = 8},
		 "tp8,pp4,dp2",
		 "leaf:4",
		 0,
		 NULL},
		{"spine layout=tp8,pp4 keep=pp:leaf segment=leaf:2",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "--gang-segment=leaf:2 contradicts --gang-layout, which makes segments leaf:4 "
		 "here; leave "
		 "out --gang-segment, and say with --gang-keep what stays together"},
		{"spine layout=tp8,pp4 segment=leef:2",
		 {.min_nodes = 8},
		 NULL,
		 NULL,
		 0,
		 "no level is called leef"},
		{"spine layout=tp8,pp4 keep=pp:leaf",
		 {.min_nodes = 8, .required_nodes = "n1"},
		 NULL,
		 NULL,
		 0,
		 "--nodelist names all 8 nodes or none"},
		{"spine layout=tp8,pp4 keep=pp:leaf",
		 {.min_nodes = 8, .excluded_nodes = "n1,n9"},
		 NULL,
		 NULL,
		 0,
		 "8 nodes on one spine in segments leaf:4 asked for"},
	};

	(void)state;
	slurm_conf.prolog_flags = PROLOG_FLAG_ALLOC;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct osp_request request = request_of(cases[i].option);
		int rc = shadow_seam.resolve(&cases[i].job, &request, &effective, sentence,
					     sizeof(sentence));

		if ((rc != 0) != (cases[i].refused != NULL))
			fail_msg("case %zu: %d, \"%s\"", i, rc, sentence);
		if (cases[i].refused) {
			assert_has(sentence, cases[i].refused);
			continue;
		}
		assert_string_equal(effective.layout, cases[i].layout);
		assert_string_equal(effective.segments, cases[i].segments);
		assert_int_equal(effective.reordered_gpus, cases[i].reordered_gpus);
	}
}

/* A heterogeneous job is refused as such by who asks, and advice stops no job. */
/* Without GPUs a rank is a task, also where a node has one. */
static void lays_out_tasks_where_there_are_no_gpus(void **state)
{
	const struct osp_seam_job one = {.min_nodes = 8, .tasks_per_node = 1},
				  said = {.min_nodes = 8, .tasks = 8}, none = {.min_nodes = 8};

	(void)state;
	for (int n = 0; n < NODES; n++)
		FREE_NULL_LIST(node_record_table_ptr[n]->gres_list);
	assert_string_equal(judged(&one, "spine layout=tp1"), "");
	assert_string_equal(effective.layout, "dp8");
	assert_string_equal(judged(&said, "spine layout=tp1"), "");
	assert_string_equal(effective.layout, "dp8");
	assert_has(judged(&none, "spine layout=tp1"),
		   "give --gpus-per-node, or for nodes without GPUs --ntasks-per-node");
}

static void leaves_layouts_to_others(void **state)
{
	struct osp_seam_job job = {.min_nodes = 8, .shape.heterogeneous = true};

	(void)state;
	assert_string_equal(judged(&job, "spine layout=tp8,pp4,dp9"), "");
	job = (struct osp_seam_job){.partition = "advised", .min_nodes = 8};
	assert_string_equal(judged(&job, "spine layout=tp8,pp4,dp9"), "");
	assert_int_equal(effective.mode, OSP_MODE_OFF);
}

/* The fabric has lost the policy's level: nothing else may stand in for it. */
static void holds_to_a_level_that_is_gone(void **state)
{
	const struct osp_seam_job job = {.partition = "held", .min_nodes = 4};

	(void)state;
	fake_slurm_file("onespine.topology",
			"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"pod\"], \"domains\": "
			"[{\"level\": \"pod\", \"name\": \"p\"}, {\"level\": \"leaf\", \"name\": "
			"\"l\", \"in\": \"p\", \"nodes\": \"n[1-16]\"}]}");
	shadow_state_load();
	assert_has(judged(&job, "pod"), "partition held holds its jobs to one spine");
	assert_has(judged(&job, NULL), "there is no level 'spine'");
}

/* No level above the zones can be asked for, so no sentence tells to. */
static void tells_of_no_level_above_the_zones(void **state)
{
	const struct osp_seam_job job = {.partition = "gpu", .min_nodes = 9};
	const char *above = "level region is above the zones, and several zones never form one "
			    "gang; ask for --gang=zone or a level below";

	(void)state;
	fake_slurm_file(
		"onespine.topology",
		"{\"onespine-topology\": 1, \"levels\": [\"spine\", \"zone\", \"region\"], "
		"\"domains\": [{\"level\": \"region\", \"name\": \"r\"}, "
		"{\"level\": \"zone\", \"name\": \"z1\", \"in\": \"r\"}, "
		"{\"level\": \"zone\", \"name\": \"z2\", \"in\": \"r\"}, "
		"{\"level\": \"spine\", \"name\": \"s1\", \"in\": \"z1\", \"nodes\": \"n[1-8]\"}, "
		"{\"level\": \"spine\", \"name\": \"s2\", \"in\": \"z2\", \"nodes\": "
		"\"n[9-16]\"}]}");
	shadow_state_load();
	assert_string_equal(
		judged(&job, "spine"),
		"9 nodes on one spine asked for; the largest spine of partition gpu has "
		"8 (s1); ask for 8 nodes");
	assert_string_equal(judged(&job, "region"), above);
	assert_string_equal(judged(&job, "region,prefer"), above);
}

static void refuses_what_is_above_the_policy(void **state)
{
	const struct osp_seam_job job = {.partition = "held", .min_nodes = 4};

	(void)state;
	fake_slurm_file("onespine.yaml", "partitions:\n  held:\n    level: leaf\n    gang: always\n"
					 "    allow_off: false\n");
	shadow_state_load();
	assert_string_equal(judged(&job, "spine"),
			    "partition held holds its jobs to one leaf; ask for "
			    "--gang=leaf or a level below it");
	assert_string_equal(judged(&job, "leaf"), "");
}

/* A level that is preferred must be there, and below the one to which the job is held. */
static void refuses_to_prefer_what_is_no_level_below(void **state)
{
	const struct osp_seam_job job = {.partition = "gpu", .min_nodes = 4};
	const struct osp_seam_job held = {.partition = "held", .min_nodes = 4};

	(void)state;
	fake_slurm_file("onespine.yaml", "defaults:\n  level: spine\npartitions:\n  held:\n"
					 "    level: leaf\n    gang: always\n"
					 "    allow_off: false\n");
	shadow_state_load();
	assert_string_equal(judged(&job, "leaf,prefer"), "");
	assert_has(judged(&job, "rack,prefer"), "rack");
	assert_has(judged(&held, "leaf,prefer"),
		   "--gang=leaf,prefer: its partition already holds gangs to one leaf, and leaf is "
		   "no level below; ask for --gang=leaf");
	assert_has(judged(&held, "spine,prefer"), "no level below; ask for --gang=leaf");
}

/* What a user may do about a missing fabric depends on who asked for the gang. */
static void names_the_way_out_without_a_fabric(void **state)
{
	const struct osp_seam_job job = {.partition = "held", .min_nodes = 4};

	(void)state;
	fake_slurm_file("onespine.topology", NULL);
	fake_slurm_file("state/onespine_topology", NULL);
	shadow_state_free();
	fake_slurm_file("onespine.yaml", "partitions:\n  held:\n    gang: always\n");
	shadow_state_load();
	assert_has(judged(&job, NULL), "tell your administrator, or submit with --gang=off");
	fake_slurm_file("onespine.yaml", "partitions:\n  held:\n    gang: always\n"
					 "    allow_off: false\n");
	shadow_state_load();
	assert_has(judged(&job, NULL), "tell your administrator");
	assert_null(strstr(sentence, "or submit"));
}

/* --- spares ----------------------------------------------------------------------------------- */

static void says_where_no_spares_are(void **state)
{
	static char no_shrink[] = "x,disable_job_shrink", stepmgr[] = "enable_stepmgr";
	static const struct {
		const char *partition;
		uint32_t spares;
		char *sched, *slurmctld;
		uint32_t prolog_flags;
		const char *refused;
	} cases[] = {
		{"gpu", 1, NULL, NULL, PROLOG_FLAG_ALLOC, ""},
		{NULL, 1, NULL, NULL, PROLOG_FLAG_ALLOC, ""},
		{"gpu,small", 1, NULL, NULL, PROLOG_FLAG_ALLOC, ""},
		{"unknown", 1, NULL, NULL, PROLOG_FLAG_ALLOC, ""},
		{"gpu", 2, NULL, NULL, PROLOG_FLAG_ALLOC,
		 "--gang-spares=2: partition gpu allows 1 spare node to a job; ask for no more"},
		{"gpu,open", 1, NULL, NULL, PROLOG_FLAG_ALLOC,
		 "partition open has no gate that would release spare nodes"},
		{"gpu", 1, no_shrink, NULL, PROLOG_FLAG_ALLOC,
		 "in slurm.conf SchedulerParameters has disable_job_shrink; leave it out"},
		{"gpu", 1, NULL, stepmgr, PROLOG_FLAG_ALLOC,
		 "SlurmctldParameters has enable_stepmgr"},
		{"gpu", 1, NULL, NULL, 0, "PrologFlags lacks Alloc"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct osp_seam_job job = {
			.partition = cases[i].partition, .min_nodes = 4, .spares = cases[i].spares};
		const char *said;

		slurm_conf.sched_params = cases[i].sched;
		slurm_conf.slurmctld_params = cases[i].slurmctld;
		slurm_conf.prolog_flags = cases[i].prolog_flags;
		said = judged(&job, "leaf");
		assert_has(said, cases[i].refused);
		assert_int_equal(*said == '\0', *cases[i].refused == '\0');
	}
	slurm_conf.sched_params = slurm_conf.slurmctld_params = NULL;
	slurm_conf.prolog_flags = PROLOG_FLAG_ALLOC;
}

/* Segments and several domains take one number of nodes, and none that the gate would release. */
static void judges_parts(void **state)
{
	static const struct {
		const char *option;
		struct osp_seam_job job;
		const char *has; /* NULL: accepted */
	} cases[] = {
		{"leaf domains=2", {.min_nodes = 8}, NULL},
		{"spine segment=leaf:4", {.min_nodes = 8, .max_nodes = 8}, NULL},
		{"leaf domains=2",
		 {.min_nodes = 4, .max_nodes = 8},
		 "one number of nodes, not 4 to 8"},
		{"leaf domains=2",
		 {.min_nodes = 2, .cpus = 33},
		 "needs at least 5: give --nodes=N"},
		{"leaf domains=2", {.tasks = 4, .cpus = 4}, "and this job needs at least"},
		{"leaf domains=2",
		 {.min_nodes = 4, .required_nodes = "n1,n2"},
		 "names all 4 nodes or none, and here it names 2"},
		{"leaf domains=2", {.min_nodes = 2, .required_nodes = "n1,n2"}, NULL},
		{"spine segment=leaf:4",
		 {.min_nodes = 8, .spares = 1},
		 "--gang-spares=1 would be released out of a segment: say --gang-spares=K/segment"},
		{"leaf domains=2", {.min_nodes = 8, .spares = 1}, NULL},
		/* three and a spare, in a leaf of four */
		{"spine segment=leaf:4", {.min_nodes = 4, .spares = 1, .segment_spares = 1}, NULL},
		{"spine segment=leaf:5",
		 {.min_nodes = 5, .spares = 1, .segment_spares = 1},
		 "with 1 spare node in each segment: --gang-segment=leaf:5: leaf:5: the largest "
		 "leaf has 4 nodes; say at most leaf:4, its spares among them"},
		/* other nodes or other segments than those of which job_submit made it */
		{"spine segment=leaf:4",
		 {.min_nodes = 8, .spares = 1, .segment_spares = 1},
		 "--gang-spares=1/segment was made of the segments and the nodes of the job when"},
		{"leaf domains=2",
		 {.min_nodes = 4, .spares = 1, .segment_spares = 1},
		 "--gang-spares=1/segment was made of the segments"},
		{"spine",
		 {.min_nodes = 4, .spares = 1, .segment_spares = 1},
		 "--gang-spares=1/segment was made of the segments"},
		{"spine segment=leaf:4",
		 {.min_nodes = 8, .spares = 2, .segment_spares = 1},
		 "--gang-spares=1/segment, 2 in all: partition gpu allows 1 spare node to a job; "
		 "ask for no more"},
		{"spine segment=rack:4", {.min_nodes = 8}, "no level is called rack; say leaf"},
		{"leaf domains=2", {.min_nodes = 9}, "9 nodes"},
		{"leaf domains=2", {.partition = "small", .min_nodes = 5}, "5 nodes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *said = judged(&cases[i].job, cases[i].option);

		if (cases[i].has)
			assert_has(said, cases[i].has);
		else
			assert_string_equal(said, "");
	}
}

/* Leaves have four nodes. */
static void says_what_segments_leave(void **state)
{
	const struct osp_seam_job job = {.min_nodes = 6}, few = {.min_nodes = 2};
	const struct osp_request request = request_of("spine segment=leaf:3");

	(void)state;
	assert_int_equal(
		shadow_seam.resolve(&job, &request, &effective, sentence, sizeof(sentence)), 0);
	assert_string_equal(effective.left,
			    "segments leaf:3 leave 1 of 4 nodes in each full leaf to others");
	assert_int_equal(
		shadow_seam.resolve(&few, &request, &effective, sentence, sizeof(sentence)), 0);
	assert_string_equal(effective.left, "the last segment of leaf:3 has 2 nodes");
}

static void gives_no_spares_of_whole_nodes(void **state)
{
	const struct osp_seam_job job = {.min_nodes = 4, .spares = 1};

	(void)state;
	default_part_loc->max_share = 0;
	assert_has(judged(&job, "leaf"), "it gives whole nodes (OverSubscribe=EXCLUSIVE)");
	default_part_loc = NULL;
	assert_string_equal(judged(&job, "leaf"), "");
	fake_slurm_file("onespine.yaml", "defaults:\n  gate:\n    depth: off\n");
	shadow_state_load();
	assert_has(judged(&job, "leaf"), "its partition has no gate");
	fake_slurm_file("onespine.yaml", "defaults:\n  gate:\n    spares: 0\n");
	shadow_state_load();
	assert_has(judged(&job, "leaf"),
		   "its partition allows 0 spare nodes to a job; leave it out");
}

/* --- onespine set ----------------------------------------------------------------------------- */

static int set(job_record_t *job, uid_t uid, const char *option)
{
	const struct osp_request request = request_of(option);

	return shadow_seam.set(job, uid, &request, sentence, sizeof(sentence));
}

static void sets_only_what_may_be_set(void **state)
{
	job_record_t *job = fake_job(7, 4);
	__typeof__(job->details) details = job->details;

	(void)state;
	assert_int_equal(set(NULL, 1000, "leaf"), ESLURM_INVALID_JOB_ID);
	assert_string_equal(sentence, "there is no such job any more");
	job->magic++;
	assert_int_equal(set(job, 1000, "leaf"), ESLURM_INVALID_JOB_ID);
	job->magic--;
	job->details = NULL;
	assert_int_equal(set(job, 1000, "leaf"), ESLURM_INVALID_JOB_ID);
	job->details = details;
	assert_int_equal(set(job, 1001, "leaf"), ESLURM_ACCESS_DENIED);
	assert_string_equal(sentence,
			    "job 7 is not yours; its owner or an operator may change its gang");
	fake_slurm.is_operator = true;
	assert_int_equal(set(job, 1001, "leaf"), SLURM_SUCCESS);
	job->job_state = JOB_RUNNING;
	assert_int_equal(set(job, 1000, "leaf"), ESLURM_JOB_NOT_PENDING);
	assert_string_equal(sentence,
			    "job 7 is not pending; a gang can be changed only before it starts");
	job->job_state = JOB_PENDING;
	details->min_nodes = details->max_nodes = 5;
	assert_int_equal(set(job, 1000, "leaf"), ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE);
	assert_has(sentence, "5 nodes on one leaf");
	details->min_nodes = details->max_nodes = 4;
	job->req_switch = 1;
	assert_int_equal(set(job, 1000, "leaf"), ESLURM_NOT_SUPPORTED);
	assert_has(sentence, "--switches");
	assert_int_equal(set(job, 1000, "off"), SLURM_SUCCESS);
}

/* What it says of itself is asked for by job_submit, before an update changes it. */
static void reports_its_admin_comment(void **state)
{
	job_record_t *job = fake_job(7, 4);

	(void)state;
	assert_null(shadow_seam.admin_comment(NULL));
	assert_null(shadow_seam.admin_comment(job));
	job->admin_comment = xstrdup("of an administrator");
	assert_string_equal(shadow_seam.admin_comment(job), "of an administrator");
}

static void stores_what_is_set(void **state)
{
	job_record_t *job = fake_job(7, 4);

	(void)state;
	fake_job_option(job, "OTHER=1");
	job->spank_job_env_size = 2; /* with the NULL that ends the list */
	assert_int_equal(set(job, 1000, "leaf"), SLURM_SUCCESS);
	assert_int_equal(job->spank_job_env_size, 3);
	assert_string_equal(job->spank_job_env[0], "OTHER=1");
	assert_string_equal(job->spank_job_env[2],
			    OSP_EFFECTIVE "version=1,mode=enforce,level=leaf,relax_s=-1,origin=set,"
					  "mix_kinds=no");
	assert_string_equal(job->admin_comment, "[onespine: gang=leaf; set: not looked at yet]");
	assert_int_equal(set(job, 1000, "spine"), SLURM_SUCCESS);
	assert_int_equal(job->spank_job_env_size, 3);
	assert_has(job->spank_job_env[2], "level=spine");
	/* the rest of the comment is the administrator's */
	assert_int_equal(set(job, 1000, "off"), SLURM_SUCCESS);
	assert_null(job->admin_comment);
	assert_has(job->spank_job_env[2], "mode=off");
	job->admin_comment = xstrdup("mine");
	assert_int_equal(set(job, 1000, "leaf"), SLURM_SUCCESS);
	assert_has(job->admin_comment, "mine");
	assert_int_equal(set(job, 1000, "off"), SLURM_SUCCESS);
	assert_string_equal(job->admin_comment, "mine");
}

/* --- scontrol update -------------------------------------------------------------------------- */

static void describes_a_record(void **state)
{
	static char held_name[] = "held";
	job_record_t *job = fake_job(7, 4), *leader = fake_job(6, 1), *elsewhere = fake_job(8, 1);
	__typeof__(job->details) details;
	struct osp_seam_job described;
	struct osp_request request;

	(void)state;
	job->details->num_tasks = 12;
	job->details->max_nodes = NO_VAL;
	assert_true(shadow_seam.describe(job, NULL, &described, &request));
	assert_int_equal(described.min_nodes, 4);
	assert_int_equal(described.max_nodes, 0);
	assert_int_equal(described.tasks, 12);
	assert_int_equal(described.cpus, 4);
	assert_int_equal(described.nodes_beside, 0);
	assert_string_equal(described.partition, "gpu");
	assert_int_equal(request.asked, OSP_GANG_OPTION_NONE);
	job->details->num_tasks = NO_VAL;
	job->details->overcommit = 1;
	job->het_job_id = 6;
	job->het_job_offset = 2;
	assert_true(shadow_seam.describe(job, NULL, &described, &request));
	assert_int_equal(described.nodes_beside, 0); /* the leader's list is not there yet */
	elsewhere->het_job_offset = 1;
	elsewhere->part_ptr = find_part_record(held_name);
	leader->het_job_list = list_create(NULL);
	list_append(leader->het_job_list, leader);
	list_append(leader->het_job_list, elsewhere);
	list_append(leader->het_job_list, job);
	assert_true(shadow_seam.describe(job, NULL, &described, &request));
	assert_int_equal(described.tasks, 0);
	assert_int_equal(described.cpus, 0);
	assert_int_equal(described.nodes_beside, 1);
	/* where another of them is already */
	elsewhere->details->min_nodes = 3;
	assert_true(shadow_seam.describe(job, held_name, &described, &request));
	assert_int_equal(described.nodes_beside, 3);
	assert_true(shadow_seam.describe(job, "gpu,held", &described, &request));
	assert_int_equal(described.nodes_beside, 0);
	/* but not one that may still go elsewhere, nor one of which little is left */
	elsewhere->part_ptr_list = list_create(NULL);
	list_append(elsewhere->part_ptr_list, find_part_record(held_name));
	list_append(elsewhere->part_ptr_list, default_part_loc);
	assert_true(shadow_seam.describe(job, held_name, &described, &request));
	assert_int_equal(described.nodes_beside, 0);
	FREE_NULL_LIST(elsewhere->part_ptr_list);
	details = elsewhere->details;
	elsewhere->details = NULL;
	assert_true(shadow_seam.describe(job, held_name, &described, &request));
	assert_int_equal(described.nodes_beside, 0);
	elsewhere->details = details;
	assert_true(described.shape.heterogeneous);
	job->job_state = JOB_RUNNING;
	assert_false(shadow_seam.describe(job, NULL, &described, &request));
	assert_false(shadow_seam.describe(NULL, NULL, &described, &request));
}

static void finds_the_request_again(void **state)
{
	static const char stored[] =
		OSP_EFFECTIVE "version=1,mode=%s,level=leaf,relax_s=%s,origin=%s,"
			      "mix_kinds=no";
	static const struct {
		const char *option, *mode, *relax, *origin; /* NULL: not there */
		bool judged;
		enum osp_gang_option asked;
		const char *level;
		int64_t relax_s;
	} cases[] = {
		{NULL, NULL, NULL, NULL, true, OSP_GANG_OPTION_NONE, "", -1},
		{"spine", NULL, NULL, NULL, true, OSP_GANG_OPTION_ON, "spine", -1},
		{"(null)", NULL, NULL, NULL, true, OSP_GANG_OPTION_ON, "", -1},
		{"a@b@c", NULL, NULL, NULL, false, OSP_GANG_OPTION_NONE, "", -1},
		{"spine", "enforce", "-1", "option", true, OSP_GANG_OPTION_ON, "spine", -1},
		{"spine", "enforce", "60", "set", true, OSP_GANG_OPTION_ON, "leaf", 60},
		{"spine", "enforce", "-1", "set", true, OSP_GANG_OPTION_ON, "leaf",
		 OSP_RELAX_NEVER},
		{"spine", "off", "-1", "set", true, OSP_GANG_OPTION_OFF, "leaf", OSP_RELAX_NEVER},
		{NULL, "enforce", "-1", "environment", true, OSP_GANG_OPTION_ON, "leaf",
		 OSP_RELAX_NEVER},
		{NULL, "enforce", "-1", "policy", true, OSP_GANG_OPTION_NONE, "", -1},
		{"spine", "sideways", "-1", "set", false, OSP_GANG_OPTION_NONE, "", -1},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		job_record_t *job = fake_job(100 + i, 4);
		struct osp_seam_job described;
		struct osp_request request;
		char entry[256];

		if (cases[i].option) {
			snprintf(entry, sizeof(entry), "%s%s", OSP_SPANK_GANG, cases[i].option);
			fake_job_option(job, entry);
		}
		if (cases[i].mode) {
			snprintf(entry, sizeof(entry), stored, cases[i].mode, cases[i].relax,
				 cases[i].origin);
			fake_job_option(job, entry);
		}
		assert_int_equal(shadow_seam.describe(job, NULL, &described, &request),
				 cases[i].judged);
		if (!cases[i].judged)
			continue;
		assert_int_equal(request.asked, cases[i].asked);
		assert_string_equal(request.level, cases[i].level);
		assert_int_equal(request.relax_s, cases[i].relax_s);
	}
}

/* A layout is found as it was worked out, so that it means the same with another number of
 * nodes. */
static void finds_the_layout_again(void **state)
{
	job_record_t *job = fake_job(7, 8);
	struct osp_seam_job described;
	struct osp_request request;

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "spine");
	fake_job_option(job, OSP_SPANK_GANG_LAYOUT "tp8,pp4");
	fake_job_option(job, OSP_SPANK_GANG_KEEP "pp:leaf");
	fake_job_option(job, OSP_EFFECTIVE
			"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
			"segments=leaf:4,layout=tp8+pp4+dp2,keep=pp:leaf");
	assert_true(shadow_seam.describe(job, NULL, &described, &request));
	assert_string_equal(request.layout, "tp8,pp4,dp2");
	assert_string_equal(request.keep, "pp:leaf");
	assert_string_equal(request.segments, "leaf:4");
	assert_int_equal(
		shadow_seam.resolve(&described, &request, &effective, sentence, sizeof(sentence)),
		0);
	described.min_nodes = 4;
	described.max_nodes = 4;
	assert_int_equal(
		shadow_seam.resolve(&described, &request, &effective, sentence, sizeof(sentence)),
		-1);
	assert_has(sentence,
		   "tp8,pp4,dp2 is 64 GPUs, but 4 nodes of 8 GPUs have 32; with dp1 it fits");
	assert_int_equal(set(job, 1000, "spine layout=tp8,pp2 keep=dp:leaf"), SLURM_SUCCESS);
	assert_has(job->admin_comment, "gang=spine segment=leaf:4 layout=tp8,pp2,dp4 keep=dp:leaf");
	assert_true(shadow_seam.describe(job, NULL, &described, &request));
	assert_int_equal(request.origin, OSP_FROM_SET);
	assert_string_equal(request.layout, "tp8,pp2,dp4");
	assert_string_equal(request.keep, "dp:leaf");
}

/* Segments are found with the spares that each got: a change is judged by these, not by what the
 * user typed. */
static void finds_the_segments_with_their_spares_again(void **state)
{
	job_record_t *job = fake_job(7, 6);
	struct osp_seam_job described;
	struct osp_request request;

	(void)state;
	fake_job_option(job, OSP_SPANK_GANG "spine");
	fake_job_option(job, OSP_SPANK_GANG_SEGMENT "leaf:2");
	fake_job_option(job, OSP_EFFECTIVE_SPARES "2");
	fake_job_option(job, OSP_EFFECTIVE_SEGMENT_SPARES "1");
	fake_job_option(job, OSP_EFFECTIVE
			"version=1,mode=enforce,level=spine,relax_s=-1,origin=option,mix_kinds=no,"
			"segments=leaf:3");
	assert_true(shadow_seam.describe(job, NULL, &described, &request));
	assert_string_equal(request.segments, "leaf:3");
	assert_string_equal(request.layout, "");
	assert_int_equal(described.spares, 2);
	assert_int_equal(described.segment_spares, 1);
}

/* --- a job that grows ------------------------------------------------------------------------- */

static int merge(job_record_t *job)
{
	sentence[0] = '\0';
	return shadow_seam.merge(job, sentence, sizeof(sentence));
}

static void keeps_a_gang_together_that_grows(void **state)
{
	job_record_t *grown = fake_job(7, 4), *job = fake_job(8, 2);

	(void)state;
	assert_int_equal(merge(NULL), 0);
	assert_int_equal(merge(job), 0);
	job->details->expanding_jobid = 7;
	assert_int_equal(merge(job), 0); /* it does not run yet */
	fake_job_runs(job, 8, 2, time(NULL) + 100);
	assert_int_equal(merge(job), 0); /* nor does the other */
	fake_job_runs(grown, 0, 4, time(NULL) + 100);
	assert_int_equal(merge(job), 0); /* no gang */
	fake_job_option(grown, OSP_SPANK_GANG "spine");
	assert_int_equal(merge(job), -1);
	assert_string_equal(sentence,
			    "job 7 is a gang on one spine, and with the nodes of job 8 it would "
			    "not be");
	fake_job_runs(job, 4, 2, time(NULL) + 100);
	assert_int_equal(merge(job), 0);
	job->details->expanding_jobid = 99;
	assert_int_equal(merge(job), 0);
}

/* Where a node will be by its capacity reservation is not where it is. */
static void a_gang_grows_by_no_node_that_does_not_run(void **state)
{
	job_record_t *grown = fake_job(7, 4), *job = fake_job(8, 2);

	(void)state;
	job->details->expanding_jobid = 7;
	fake_job_option(grown, OSP_SPANK_GANG "spine");
	fake_job_runs(grown, 0, 4, time(NULL) + 100);
	fake_job_runs(job, 4, 2, time(NULL) + 100);
	shadow_state.place_boot_s[5] = OSP_BOOT_UNLAUNCHED;
	node_record_table_ptr[5]->node_state = NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP;
	assert_int_equal(merge(job), -1);
	assert_has(sentence, "with the nodes of job 8 it would not be");
	/* it runs, where it was asked about since */
	node_record_table_ptr[5]->node_state = NODE_STATE_ALLOCATED;
	node_record_table_ptr[5]->boot_time = 1000;
	assert_int_equal(merge(job), -1);
	shadow_state.place_boot_s[5] = 1000;
	assert_int_equal(merge(job), 0);
}

/* In two leaves it may grow, but not into a third. */
static void keeps_domains_of_a_gang_that_grows(void **state)
{
	job_record_t *grown = fake_job(7, 6), *job = fake_job(8, 2);

	(void)state;
	fake_job_option(grown, OSP_SPANK_GANG "leaf");
	fake_job_option(grown, OSP_SPANK_GANG_DOMAINS "2");
	job->details->expanding_jobid = 7;
	fake_job_runs(grown, 0, 6, time(NULL) + 100);
	fake_job_runs(job, 6, 2, time(NULL) + 100);
	assert_int_equal(merge(job), 0);
	fake_job_runs(job, 7, 2, time(NULL) + 100);
	assert_int_equal(merge(job), -1);
	assert_has(sentence, "with the nodes of job 8 it would not be");
}

/* A small job that no policy holds grows into one that it does. */
static void holds_to_policy_what_grows(void **state)
{
	job_record_t *grown = fake_job(7, 2), *job = fake_job(8, 2);

	(void)state;
	job->details->expanding_jobid = 7;
	fake_job_runs(grown, 0, 2, time(NULL) + 100);
	fake_job_runs(job, 8, 2, time(NULL) + 100);
	grown->part_ptr = find_part_record((char *)"held");
	xfree(grown->partition);
	grown->partition = xstrdup("held");
	assert_int_equal(merge(job), -1);
	grown->details->max_nodes = 0; /* it might have got as many itself */
	assert_int_equal(merge(job), -1);
	assert_has(sentence, "job 7 is a gang on one spine, and with the nodes of job 8");
	fake_job_runs(job, 4, 2, time(NULL) + 100);
	assert_int_equal(merge(job), 0);
	fake_job_runs(job, 8, 0, time(NULL) + 100); /* still too small to be held */
	assert_int_equal(merge(job), 0);
	fake_job_runs(grown, 0, 1, time(NULL) + 100);
	fake_job_runs(job, 8, 1, time(NULL) + 100);
	assert_int_equal(merge(job), 0);
	fake_job_runs(grown, 0, 2, time(NULL) + 100);
	grown->details->max_nodes = 2;
	fake_job_runs(job, 8, 0, time(NULL) + 100);
	assert_int_equal(merge(job), 0);
	fake_job_runs(job, 8, 2, time(NULL) + 100);
	xfree(grown->partition);
	grown->partition = xstrdup("advised");
	grown->part_ptr = find_part_record((char *)"advised");
	assert_int_equal(merge(job), 0);
	fake_job_option(grown, OSP_SPANK_GANG "spine");
	assert_int_equal(merge(job), 0); /* advice stops nothing */
	shadow_state_free();
	assert_int_equal(merge(job), 0);
}

/* --- without memory --------------------------------------------------------------------------- */

/* Without memory a question is not asked, and Slurm's own answer stands in each scheduling call. */
static bool resolves(void *context)
{
	const struct osp_request request = request_of("leaf");
	int rc = shadow_seam.resolve(context, &request, &effective, sentence, sizeof(sentence));

	assert_int_equal(rc, 0);
	assert_int_equal(effective.mode, OSP_MODE_ENFORCE);
	assert_string_equal(sentence, "");
	return true;
}

static bool merges(void *context)
{
	return merge(context) == -1;
}

static void lets_through_without_memory(void **state)
{
	struct osp_seam_job job = {.min_nodes = 4, .required_nodes = "n1", .excluded_nodes = "n9"};
	job_record_t *grown = fake_job(7, 4), *other = fake_job(8, 2);

	(void)state;
	assert_true(no_memory_everywhere(resolves, &job) > 0);
	other->details->expanding_jobid = 7;
	fake_job_runs(other, 8, 2, time(NULL) + 100);
	fake_job_runs(grown, 0, 4, time(NULL) + 100);
	fake_job_option(grown, OSP_SPANK_GANG "spine");
	assert_int_equal(no_memory_at_each(merges, other), 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, with_cluster, without_cluster)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(judges_what_can_run),
		TEST(goes_by_the_partition_of_the_reservation),
		TEST(counts_only_nodes_that_are_there),
		TEST(keeps_kinds_apart),
		TEST(refuses_without_a_fabric_or_a_policy),
		TEST(holds_to_policy),
		TEST(makes_segments_of_layouts),
		TEST(lays_out_tasks_where_there_are_no_gpus),
		TEST(leaves_layouts_to_others),
		TEST(holds_to_a_level_that_is_gone),
		TEST(tells_of_no_level_above_the_zones),
		TEST(refuses_what_is_above_the_policy),
		TEST(refuses_to_prefer_what_is_no_level_below),
		TEST(names_the_way_out_without_a_fabric),
		TEST(says_where_no_spares_are),
		TEST(judges_parts),
		TEST(says_what_segments_leave),
		TEST(gives_no_spares_of_whole_nodes),
		TEST(sets_only_what_may_be_set),
		TEST(reports_its_admin_comment),
		TEST(stores_what_is_set),
		TEST(describes_a_record),
		TEST(finds_the_request_again),
		TEST(finds_the_layout_again),
		TEST(finds_the_segments_with_their_spares_again),
		TEST(keeps_a_gang_together_that_grows),
		TEST(a_gang_grows_by_no_node_that_does_not_run),
		TEST(keeps_domains_of_a_gang_that_grows),
		TEST(holds_to_policy_what_grows),
		TEST(lets_through_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
