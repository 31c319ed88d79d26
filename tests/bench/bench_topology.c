/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_topology.c - what it takes to read, compare and write the file of a cluster's topology
 *
 * Also what placing costs beside the tree: in NVLink domains of 18 nodes, which cross leaves of 16
 * and spines of 256. Prints tables of medians, and the memory at most; asserts nothing. Run by
 * hand: tests/bench/bench_topology
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/text.h"
#include "lib/place/parts.h"
#include "lib/place/place.h"
#include "lib/place/segments.h"
#include "lib/topology/compare.h"
#include "lib/topology/readers.h"
#include "tests/bench/rounds.h"

#define ROUNDS	    5
#define LEAF_NODES  16
#define SPINE_LEAFS 16
#define BESIDE	    18 /* nodes of an NVLink domain */

/* As EC2 reports it: each node with its instance and boot. In every hundredth leaf one node fewer
 * than by `moved` is in the next leaf. */
static char *file_of(uint32_t nodes, bool moved, bool beside)
{
	uint32_t leaves = (nodes + LEAF_NODES - 1) / LEAF_NODES;
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_printf(&text,
			"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], "
			"\"overlays\": [%s], \"domains\": [",
			beside ? "\"nvlink\"" : "");
	for (uint32_t spine = 0; spine * SPINE_LEAFS < leaves; spine++)
		osp_text_printf(&text, "%s{\"level\": \"spine\", \"name\": \"nn-s%08x\"}",
				spine ? ",\n" : "", spine * 2654435761u);
	for (uint32_t leaf = 0; leaf < leaves; leaf++) {
		uint32_t first = leaf * LEAF_NODES + (moved && leaf % 100 == 1);
		uint32_t end = (leaf + 1) * LEAF_NODES + (moved && leaf % 100 == 0);

		osp_text_printf(&text,
				",\n{\"level\": \"leaf\", \"name\": \"nn-l%08x\", \"in\": "
				"\"nn-s%08x\", \"nodes\": \"gpu-[%u-%u]\"}",
				leaf * 2654435761u, leaf / SPINE_LEAFS * 2654435761u, first + 1,
				end < nodes ? end : nodes);
	}
	for (uint32_t n = 0; beside && n < nodes; n += BESIDE)
		osp_text_printf(&text,
				",\n{\"level\": \"nvlink\", \"name\": \"v-%08x\", \"nodes\": "
				"\"gpu-[%u-%u]\"}",
				n * 2654435761u, n + 1, n + BESIDE < nodes ? n + BESIDE : nodes);
	osp_text_add(&text, "], \"places\": [{\"source\": \"ec2\", \"nodes\": [");
	for (uint32_t n = 0; n < nodes; n++)
		osp_text_printf(&text, "%s\"gpu-%u i-%017" PRIx64 " %u\"", n ? ",\n" : "", n + 1,
				(uint64_t)n * UINT64_C(11400714819323198485) >> 4,
				1700000000 + n % 1000);
	osp_text_add(&text, "]}]}");
	return osp_text_take(&text);
}

static struct osp_topology *read_it(const char *text, double *ms)
{
	struct osp_error error = {.text = ""};
	double start = bench_now_us();
	struct osp_topology *topology =
		osp_read_onespine_topology("bench", text, strlen(text), &error);

	*ms = (bench_now_us() - start) / 1e3;
	if (!topology) {
		fprintf(stderr, "bench_topology: %s\n", error.text);
		exit(1);
	}
	return topology;
}

static double memory_mib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

static void run(uint32_t nodes, bool beside)
{
	char *before_text = file_of(nodes, false, beside);
	char *after_text = file_of(nodes, true, beside);
	double read_ms[ROUNDS], compare_ms[ROUNDS], write_ms[ROUNDS], ignored;
	struct osp_topology_change change;

	if (!before_text || !after_text)
		abort();
	for (int i = 0; i < ROUNDS; i++) {
		struct osp_topology *before = read_it(before_text, &ignored);
		struct osp_topology *after = read_it(after_text, &read_ms[i]);
		double start = bench_now_us();
		char *written;

		if (osp_topology_compare(before, after, NULL, NULL, &change))
			abort();
		compare_ms[i] = (bench_now_us() - start) / 1e3;
		start = bench_now_us();
		written = osp_write_onespine_topology(after, "ec2");
		write_ms[i] = (bench_now_us() - start) / 1e3;
		if (!written)
			abort();
		free(written);
		osp_topology_free(before);
		osp_topology_free(after);
	}
	printf("%7" PRIu32 " %-6s %8.1f %8" PRIu32 " %8.0f %8.0f %8.0f %8.0f\n", nodes,
	       beside ? "nvlink" : "", (double)strlen(after_text) / 1048576, change.moved,
	       bench_median(read_ms, ROUNDS), bench_median(compare_ms, ROUNDS),
	       bench_median(write_ms, ROUNDS), memory_mib());
	free(before_text);
	free(after_text);
}

/* --- placing beside the tree ------------------------------------------------------------------ */

#define PLACINGS 101

/* Three nodes of five are free. */
static void make_free(struct osp_nodeset *set)
{
	uint64_t random = 1;

	for (uint32_t n = 0; n < set->place_count; n++) {
		random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
		if ((random >> 33) % 5 > 1)
			osp_nodeset_add(set, n);
	}
}

static void print_placing(const char *what, uint32_t found, double us[PLACINGS])
{
	double median = bench_median(us, PLACINGS);

	printf("%-40s %6" PRIu32 " %9.1f %9.1f\n", what, found, median, us[PLACINGS - 1]);
}

static void place_in_one(const struct osp_topology *topology, const struct osp_nodeset *usable,
			 const struct osp_nodeset *free_nodes, uint32_t gang)
{
	struct osp_place *place = osp_place_new(topology, 4);
	struct osp_nodeset *chosen = osp_nodeset_new(usable->place_count);
	struct osp_place_input input = {
		.level = (uint32_t)osp_topology_level(topology, "nvlink"),
		.need_nodes = gang,
		.want_nodes = gang,
		.free_only = true,
		.usable = usable,
		.free = free_nodes,
	};
	uint32_t candidates = 0, domains;
	double us[PLACINGS];
	char what[64];

	if (!place || !chosen)
		abort();
	for (int i = 0; i < PLACINGS; i++) {
		double start = bench_cpu_us();
		const struct osp_place_domain *best =
			osp_place_order(place, &input, &candidates, &domains);

		if (candidates)
			osp_place_pick(place, &input, best->domain, best->kind, chosen);
		us[i] = bench_cpu_us() - start;
	}
	snprintf(what, sizeof(what), "--gang=nvlink -N%" PRIu32, gang);
	print_placing(what, candidates, us);
	free(chosen);
	osp_place_free(place);
}

static void place_segments(const struct osp_topology *topology,
			   const struct osp_nodeset *free_nodes, uint32_t gang)
{
	struct osp_cut *cut = osp_cut_new(topology);
	struct osp_nodeset *chosen = osp_nodeset_new(free_nodes->place_count);
	struct osp_cut_input input = {
		.level = 2, .domains_max = 1, .nodes = gang, .free = free_nodes};
	uint32_t taken = 0;
	double us[PLACINGS];
	struct osp_parts parts;
	char what[64];

	if (!cut || !chosen || osp_parts_read(1, "nvlink:4", topology, 2, &parts, NULL))
		abort();
	input.segments = parts.segments;
	for (int i = 0; i < PLACINGS; i++) {
		double start = bench_cpu_us();

		taken = osp_cut_pick(cut, &input, chosen);
		us[i] = bench_cpu_us() - start;
	}
	snprintf(what, sizeof(what), "--gang=spine --gang-segment=nvlink:4 -N%" PRIu32, gang);
	print_placing(what, taken, us);
	free(chosen);
	osp_cut_free(cut);
}

static void place_beside(uint32_t nodes)
{
	char *text = file_of(nodes, false, true);
	double ignored;
	struct osp_topology *topology = read_it(text, &ignored);
	struct osp_nodeset *usable = osp_nodeset_new(nodes), *free_nodes = osp_nodeset_new(nodes);

	if (!usable || !free_nodes)
		abort();
	osp_nodeset_fill(usable);
	make_free(free_nodes);
	printf("\nbeside the tree, %" PRIu32 " nodes, 2 of 5 busy: of %d, in us of processor\n",
	       nodes, PLACINGS);
	printf("%-40s %6s %9s %9s\n", "asked", "found", "median", "largest");
	place_in_one(topology, usable, free_nodes, 12);
	place_in_one(topology, usable, free_nodes, BESIDE);
	place_segments(topology, free_nodes, 48);
	place_segments(topology, free_nodes, 100);
	place_segments(topology, free_nodes, 256);
	free(usable);
	free(free_nodes);
	osp_topology_free(topology);
	free(text);
}

int main(void)
{
	static const uint32_t sizes[] = {1000, 10000, 65536, 100000};

	printf("  nodes beside file MiB    moved  read ms comp. ms write ms   MiB at most\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		run(sizes[i], false);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		run(sizes[i], true);
	place_beside(65536);
	place_beside(131072);
	return 0;
}
