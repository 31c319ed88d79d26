/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_note.c - what slurmctld computes once for the note of a gang that starts
 *
 * Prints a table of processor time; asserts nothing. A cluster of 65,536 nodes, on leaves of 16,
 * with names of EC2 and ParallelCluster: along the fabric, or at random over it. Segments of 12
 * leave rests in all leaves, so that ranks follow no list of the fabric. Run by hand:
 * tests/bench/bench_note
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/layout/gang_start.h"
#include "lib/policy/note.h"
#include "tests/bench/rounds.h"
#include "tests/fabric.h"

#define NODES	    65536
#define LEAF_NODES  16
#define SPINE_NODES 1024
#define ROUNDS	    11

struct names {
	char node[32], leaf[32], spine[16];
};

static struct osp_topology *cluster(bool at_random, uint32_t leaf_nodes)
{
	struct fabric_node *nodes = calloc(NODES, sizeof(*nodes));
	struct names *names = calloc(NODES, sizeof(*names));
	struct osp_topology *topology;

	for (uint32_t i = 0; i < NODES; i++) {
		/* an odd factor reaches each number once */
		uint32_t number = at_random ? (uint32_t)(i * UINT32_C(40503)) % NODES : i;
		struct names *name = &names[number];

		snprintf(name->node, sizeof(name->node), "queue1-st-p5-%u", number + 1);
		snprintf(name->leaf, sizeof(name->leaf), "nn-0123456789abc%04x", i / leaf_nodes);
		snprintf(name->spine, sizeof(name->spine), "nn-%04x", i / SPINE_NODES);
		nodes[number] = (struct fabric_node){name->node, {name->leaf, name->spine}};
	}
	topology = fabric_from(nodes, NODES, 2);
	free(nodes);
	free(names);
	return topology;
}

static bool pack(const void *context, size_t most_bytes, char **leaves, char **order)
{
	return osp_gang_start_pack(context, most_bytes, leaves, order);
}

/* As sched/shadow_order.c and sched/shadow_gang.c do it. */
static char *note_of(const struct osp_gang_start *start)
{
	struct osp_note note = {.gang = "core", .says = "placed: words", .pack = pack};
	char *leaves = NULL, *order = NULL, *text;

	if (!start->listed || start->count <= 8192)
		leaves = osp_gang_start_leaves(start, OSP_NOTE_BYTES_MAX);
	if (leaves && *leaves && start->grid)
		order = osp_gang_start_order(start, OSP_NOTE_BYTES_MAX);
	note.pack_context = start;
	if (leaves && *leaves && (!start->grid || *order)) {
		note.leaves = leaves;
		note.order = order;
	}
	text = osp_note_merge(NULL, &note);
	free(leaves);
	free(order);
	return text;
}

struct times {
	double start_us[ROUNDS], note_us[ROUNDS], ranks_us[ROUNDS], all_us[ROUNDS],
		again_us[ROUNDS];
};

/* What a node that left makes of the note. */
static double time_again(const char *comment, const struct osp_topology *topology,
			 const struct osp_nodeset *of, uint32_t first, uint32_t *ranks)
{
	double begin = bench_cpu_us();
	struct osp_gang_start start;
	struct osp_note note;

	if (osp_note_find(comment, &note)) {
		if (note.leaves &&
		    !osp_gang_start_read(topology, of, note.leaves, note.order, &start)) {
			if (!osp_gang_start_ranks(&start, of, first, ranks))
				puts("no ranks");
			osp_gang_start_clear(&start);
		}
		osp_note_free_pieces(&note);
	}
	return bench_cpu_us() - begin;
}

static void round_of(const struct osp_gang_start_input *input, const struct osp_nodeset *of,
		     uint32_t first, struct times *times, int round, size_t *bytes)
{
	uint32_t *ranks = calloc(NODES, sizeof(*ranks));
	double begin = bench_cpu_us(), started, noted, ranked;
	struct osp_gang_start start;
	char *text;

	osp_gang_start_make(input, &start);
	started = bench_cpu_us();
	text = note_of(&start);
	noted = bench_cpu_us();
	osp_gang_start_ranks(&start, of, first, ranks);
	ranked = bench_cpu_us();
	times->start_us[round] = started - begin;
	times->note_us[round] = noted - started;
	times->ranks_us[round] = ranked - noted;
	times->all_us[round] = ranked - begin;
	times->again_us[round] = time_again(text, input->topology, of, first, ranks);
	*bytes = strlen(text);
	osp_gang_start_clear(&start);
	free(text);
	free(ranks);
}

static void measure(const struct osp_topology *topology, const char *names, uint32_t count,
		    const struct osp_segments *segments)
{
	struct osp_nodeset *of = osp_nodeset_new(NODES);
	uint32_t *nodes = calloc(count, sizeof(*nodes)), first;
	const struct osp_gang_start_input input = {
		.topology = topology, .nodes = nodes, .count = count, .segments = segments};
	struct times times;
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++) {
		nodes[i] = osp_topology_node_at_rank(topology, i);
		osp_nodeset_add(of, nodes[i]);
	}
	first = nodes[osp_first_name(topology, nodes, count)];
	for (int round = 0; round < ROUNDS; round++)
		round_of(&input, of, first, &times, round, &bytes);
	printf("| %u | %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", count, names,
	       segments ? "leaf:12" : "none", (double)bytes / 1024,
	       bench_median(times.start_us, ROUNDS) / 1e3,
	       bench_median(times.note_us, ROUNDS) / 1e3,
	       bench_median(times.ranks_us, ROUNDS) / 1e3, bench_median(times.all_us, ROUNDS) / 1e3,
	       bench_median(times.again_us, ROUNDS) / 1e3);
	free(nodes);
	free(of);
}

static void measure_cluster(bool at_random, uint32_t leaf_nodes, const char *names)
{
	static const uint32_t counts[] = {1024, 8192, 16384, 65536};
	const struct osp_segments twelve = {.count = 1, .segment = {{1, 12}}};
	struct osp_topology *topology = cluster(at_random, leaf_nodes);

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		measure(topology, names, counts[i], NULL);
		measure(topology, names, counts[i], &twelve);
	}
	osp_topology_free(topology);
}

int main(void)
{
	puts("| nodes | names | segments | note KiB | order ms | note ms | ranks ms | all ms | "
	     "again ms |\n|---|---|---|---|---|---|---|---|---|");
	measure_cluster(false, LEAF_NODES, "along");
	measure_cluster(true, LEAF_NODES, "at random");
	measure_cluster(false, SPINE_NODES, "along, large leaves");
	measure_cluster(true, SPINE_NODES, "at random, large leaves");
	return 0;
}
