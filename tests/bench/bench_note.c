/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_note.c - what slurmctld computes once for the note of a gang that starts
 *
 * Prints a table of processor time; asserts nothing. Names are EC2's and ParallelCluster's: those
 * of nodes lie at random over leaves of 16. Run by hand: tests/bench/bench_note
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/layout/gang_order.h"
#include "lib/policy/note.h"
#include "lib/topology/leaf_pack.h"
#include "tests/bench/rounds.h"
#include "tests/fabric.h"

#define LEAF_NODES 16
#define ROUNDS	   11

static int by_name(const void *a, const void *b)
{
	return osp_name_compare(*(const char *const *)a, *(const char *const *)b);
}

/* As the fabric's ranks: in a leaf in natural order. */
static const char **names_of(uint32_t count)
{
	const char **names = calloc(count, sizeof(*names));
	struct osp_text text;

	for (uint32_t i = 0; names && i < count; i++) {
		/* an odd factor reaches each number once */
		uint32_t number = (uint32_t)(i * UINT32_C(2654435761)) % (2 * count) + 1;

		text = (struct osp_text)OSP_TEXT_INIT;
		osp_text_printf(&text, "queue1-st-p5-%u", number);
		names[i] = osp_text_take(&text);
	}
	for (uint32_t from = 0; from < count; from += LEAF_NODES)
		qsort(names + from, LEAF_NODES, sizeof(*names), by_name);
	return names;
}

static char *list_of(const char **names, uint32_t count)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t from = 0; from < count; from += LEAF_NODES) {
		char *list = osp_hostlist_compact(names + from, LEAF_NODES);

		osp_text_printf(&text, "%snn-0123456789abc%04x:%s", from ? "|" : "",
				from / LEAF_NODES, list);
		free(list);
	}
	return osp_text_take(&text);
}

/* Of one node less than segments of 8 in 32 divide. */
static double time_small_first(uint32_t count)
{
	struct osp_topology *topology =
		fabric_regular(count / 256, (uint32_t[]){16, LEAF_NODES}, 2);
	const struct osp_segments segments = {.count = 2, .segment = {{1, 8}, {2, 32}}};
	uint32_t *nodes = calloc(count, sizeof(*nodes));
	double us[ROUNDS];

	for (uint32_t i = 0; i < count; i++)
		nodes[i] = i;
	for (int i = 0; i < ROUNDS; i++) {
		double start = bench_cpu_us();

		osp_gang_order_small_first(topology, nodes, count - 1, &segments);
		us[i] = bench_cpu_us() - start;
	}
	free(nodes);
	osp_topology_free(topology);
	return bench_median(us, ROUNDS);
}

static void measure(uint32_t count)
{
	const char **names = names_of(count);
	double list_us[ROUNDS], pack_us[ROUNDS];
	size_t list_bytes = 0, packed_bytes = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double start = bench_cpu_us(), middle;
		char *list = list_of(names, count), *packed;

		middle = bench_cpu_us();
		packed = osp_leaf_pack(list, OSP_NOTE_PACKED_BYTES_MAX);
		pack_us[i] = bench_cpu_us() - middle;
		list_us[i] = middle - start;
		list_bytes = strlen(list);
		packed_bytes = strlen(packed);
		free(list);
		free(packed);
	}
	printf("| %u | %zu | %.1f | %zu | %.1f | %.1f |\n", count, list_bytes / 1024,
	       bench_median(list_us, ROUNDS) / 1e3, packed_bytes / 1024,
	       bench_median(pack_us, ROUNDS) / 1e3, time_small_first(count) / 1e3);
	for (uint32_t i = 0; i < count; i++)
		free((char *)names[i]);
	free(names);
}

int main(void)
{
	puts("| nodes | leaves KiB | ms | packed KiB | ms | smaller segment ms |\n"
	     "|---|---|---|---|---|---|");
	measure(1024);
	measure(8192);
	measure(65536);
	return 0;
}
