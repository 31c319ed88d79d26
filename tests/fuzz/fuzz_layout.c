/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_layout.c - what users type of a layout and a model, and job scripts that name one
 *
 * The input is taken as a layout, as a model, as segments, as groups to keep together and as a
 * script. Small complete layouts are laid out on nodes: every rank is in one group of each kind,
 * every node gets one rank.
 *
 * Parser: lib/env/script_layout.c lib/layout/layout.c lib/place/segments.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/env/script_layout.h"
#include "lib/layout/layout_segments.h"
#include "lib/place/segments.h"
#include "lib/topology/builder.h"

#define RANKS_MAX 4096
#define GPUS	  8

static void check_groups(const struct osp_layout *layout, enum osp_group kind)
{
	static uint8_t seen[RANKS_MAX];
	struct osp_groups groups;
	struct osp_spread spread;

	osp_layout_groups(layout, kind, &groups);
	fuzz_check(groups.size * groups.count == osp_layout_ranks(layout));
	memset(seen, 0, sizeof(seen));
	for (uint32_t rank = 0; rank < groups.size * groups.count; rank++)
		seen[osp_groups_rank(&groups, rank / groups.size, rank % groups.size)]++;
	for (uint32_t rank = 0; rank < groups.size * groups.count; rank++)
		fuzz_check(seen[rank] == 1);
	fuzz_check(!osp_spread(layout, GPUS, kind, NULL, NULL, NULL, &spread));
	fuzz_check(spread.most[0] >= 1 && spread.most[0] <= groups.size);
}

static void check_nodes(const struct osp_layout *layout)
{
	static uint8_t seen[RANKS_MAX];
	struct osp_node_grid grid;
	struct osp_error error = {.text = ""};

	if (osp_layout_node_grid(layout, GPUS, &grid, &error)) {
		fuzz_check(error.text[0]);
		return;
	}
	for (int inside = OSP_DATA_INSIDE; inside <= OSP_PIPELINE_INSIDE; inside++) {
		struct osp_arrangement arrangement;

		osp_arrange(&grid, (enum osp_inside)inside, &arrangement);
		fuzz_check(arrangement.count == grid.count && arrangement.nodes == grid.nodes);
		memset(seen, 0, sizeof(seen));
		for (uint32_t place = 0; place < grid.nodes; place++) {
			uint32_t rank = osp_arrangement_node_rank(&arrangement, place);

			fuzz_check(rank < grid.nodes && !seen[rank]++);
			fuzz_check(!arrangement.natural || rank == place);
		}
	}
}

/* Two spines of two leaves of 8 nodes. */
static struct osp_topology *make_topology(void)
{
	static const char *const levels[] = {"leaf", "spine"};
	static const struct osp_place_in_file nowhere = {"fuzz", 0, 0};
	struct osp_builder *builder = osp_builder_new(levels, 2, NULL);
	struct osp_topology *topology;
	char name[16];

	fuzz_check(builder);
	for (int node = 0; node < 32; node++) {
		uint32_t leaf, spine;

		snprintf(name, sizeof(name), "s%d", node / 16);
		spine = osp_builder_domain(builder, 2, name, &nowhere, NULL);
		snprintf(name, sizeof(name), "l%d", node / 8);
		leaf = osp_builder_domain(builder, 1, name, &nowhere, NULL);
		fuzz_check(!osp_builder_nest(builder, leaf, spine, &nowhere, NULL));
		snprintf(name, sizeof(name), "n%d", node);
		fuzz_check(!osp_builder_node(builder, name, leaf, &nowhere, NULL));
	}
	topology = osp_builder_finish(builder, false, NULL);
	fuzz_check(topology);
	osp_builder_free(builder);
	return topology;
}

static const struct osp_topology *fabric(void)
{
	static struct osp_topology *topology;

	if (!topology)
		topology = make_topology();
	return topology;
}

/* The segments of a complete layout, without and with each kind of group kept in a leaf. */
static void check_asked(const struct osp_layout *layout)
{
	static const enum osp_group groups[] = {OSP_GROUP_TP, OSP_GROUP_CP, OSP_GROUP_DP,
						OSP_GROUP_PP, OSP_GROUP_EP};
	struct osp_layout_segments_input input = {.layout = *layout,
						  .gpus_per_node = GPUS,
						  .topology = fabric(),
						  .level = 2,
						  .one_domain = true};
	struct osp_layout_segments found;
	struct osp_error error = {.text = ""};

	for (size_t i = 0; i <= sizeof(groups) / sizeof(groups[0]); i++) {
		input.keeps.count = i > 0;
		if (i)
			input.keeps.keep[0] = (struct osp_keep){groups[i - 1], 1};
		if (osp_layout_segments_find(&input, &found, &error)) {
			fuzz_check(error.text[0]);
			continue;
		}
		fuzz_check(found.segments.count <= 1);
		if (found.segments.count) {
			fuzz_check(found.segments.segment[0].nodes >= 2);
			fuzz_check(found.segments.segment[0].nodes <=
				   osp_segments_room(fabric(), 1));
			fuzz_check(osp_layout_ranks(layout) / GPUS %
					   found.segments.segment[0].nodes ==
				   0);
		}
	}
}

/* As many nodes and GPUs as a user asks sbatch for: what is complete has ranks, and nodes to lie
 * on. */
static void check_sizes(const struct osp_layout *layout)
{
	static const uint32_t many[] = {1, 3, 64, 1u << 21, 1u << 26, 1u << 31, UINT32_MAX};
	const size_t count = sizeof(many) / sizeof(many[0]);
	struct osp_error error = {.text = ""};

	for (size_t i = 0; i < count * count; i++) {
		struct osp_layout whole = *layout;
		struct osp_node_grid grid;
		uint32_t gpus = many[i % count];

		if (osp_layout_complete(&whole, many[i / count], gpus, &error)) {
			fuzz_check(error.text[0]);
			continue;
		}
		fuzz_check(osp_layout_ranks(&whole) && osp_layout_ranks(&whole) <= OSP_RANKS_MAX);
		if (!osp_layout_node_grid(&whole, gpus, &grid, &error))
			fuzz_check(grid.nodes);
	}
}

static void check_layout(const char *text)
{
	struct osp_error error = {.text = ""};
	struct osp_layout layout, again;
	char words[OSP_LAYOUT_TEXT_BYTES], same[OSP_LAYOUT_TEXT_BYTES];

	if (osp_layout_parse(text, &layout, &error)) {
		fuzz_check(error.text[0] && error.column >= 1);
		return;
	}
	osp_layout_format(&layout, words, sizeof(words));
	fuzz_check(!osp_layout_parse(words, &again, NULL));
	fuzz_check(!strcmp(words, osp_layout_format(&again, same, sizeof(same))));
	check_sizes(&layout);
	if (osp_layout_complete(&layout, 0, GPUS, &error)) {
		fuzz_check(error.text[0]);
		return;
	}
	fuzz_check(osp_layout_ranks(&layout) <= OSP_RANKS_MAX);
	if (osp_layout_ranks(&layout) > RANKS_MAX)
		return;
	for (int kind = 0; kind < OSP_GROUP_COUNT; kind++)
		check_groups(&layout, (enum osp_group)kind);
	check_nodes(&layout);
	check_asked(&layout);
}

static void check_model(const char *text)
{
	struct osp_layout layout = {.size = {2, 2, 2, 4, 1, 2, 1}};
	struct osp_model model = {.hidden = 0};
	struct osp_error error = {.text = ""};

	if (osp_model_parse(text, &model, &error)) {
		fuzz_check(error.text[0] && error.column >= 1);
		return;
	}
	if (osp_model_complete(&model, &error)) {
		fuzz_check(error.text[0]);
		return;
	}
	for (int kind = 0; kind < OSP_GROUP_COUNT; kind++)
		fuzz_check(osp_traffic_bytes(&model, &layout, (enum osp_group)kind) >= 0);
}

static void check_script(const char *text, size_t size)
{
	struct osp_script_layout found;
	struct osp_error error = {.text = ""};
	int lines = 1;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n';
	if (osp_script_layout_read("f", text, size, &found, &error)) {
		fuzz_check(error.text[0] && error.line <= lines);
		return;
	}
	fuzz_check(!found.framework == !found.line && found.line <= lines);
	for (int axis = 0; axis < OSP_AXIS_COUNT; axis++)
		fuzz_check(found.layout.size[axis] <= OSP_RANKS_MAX);
}

static void check_segments(const char *text)
{
	const struct osp_topology *topology = fabric();
	struct osp_segments segments, again;
	struct osp_keeps keeps;
	struct osp_error error = {.text = ""};
	char words[128];

	if (osp_keeps_parse(text, topology, &keeps, &error))
		fuzz_check(error.text[0] && error.column >= 1);
	else
		fuzz_check(keeps.count >= 1 && keeps.count <= OSP_KEEPS_MAX);
	osp_error_clear(&error);
	if (osp_segments_parse(text, topology, 2, &segments, &error)) {
		fuzz_check(error.text[0]);
		return;
	}
	osp_segments_format(&segments, topology, words, sizeof(words));
	fuzz_check(!osp_segments_parse(words, topology, 2, &again, NULL));
	fuzz_check(again.count == segments.count);
}

FUZZER(layout)
{
	char *text = malloc(size + 1);

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_layout(text);
	check_model(text);
	check_segments(text);
	check_script(text, size);
	free(text);
	return 0;
}
