/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_topology.c - what it takes to read, compare and write the file of a cluster's topology
 *
 * Prints a table of medians and the memory at most; asserts nothing. Run by hand:
 * tests/bench/bench_topology
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/base/text.h"
#include "lib/topology/compare.h"
#include "lib/topology/readers.h"
#include "tests/bench/rounds.h"

#define ROUNDS	    5
#define LEAF_NODES  16
#define SPINE_LEAFS 16

/* As EC2 reports it: each node with its instance and boot. In every hundredth leaf one node fewer
 * than by `moved` is in the next leaf. */
static char *file_of(uint32_t nodes, bool moved)
{
	uint32_t leaves = (nodes + LEAF_NODES - 1) / LEAF_NODES;
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_add(&text, "{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], "
			    "\"domains\": [");
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

static void run(uint32_t nodes)
{
	char *before_text = file_of(nodes, false), *after_text = file_of(nodes, true);
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
	printf("%7" PRIu32 " %8.1f %8" PRIu32 " %8.0f %8.0f %8.0f %8.0f\n", nodes,
	       (double)strlen(after_text) / 1048576, change.moved, bench_median(read_ms, ROUNDS),
	       bench_median(compare_ms, ROUNDS), bench_median(write_ms, ROUNDS), memory_mib());
	free(before_text);
	free(after_text);
}

int main(void)
{
	static const uint32_t sizes[] = {1000, 10000, 65536, 100000};

	printf("  nodes file MiB    moved  read ms comp. ms write ms   MiB at most\n");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		run(sizes[i]);
	return 0;
}
