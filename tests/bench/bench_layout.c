/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_layout.c - how far apart the parallel groups of running jobs are, and what crosses a level
 *
 * usage: bench_layout TOPOLOGY MODEL <JOBS
 *
 * TOPOLOGY is an onespine.topology. A line of JOBS is LAYOUT|NODES|ADMINCOMMENT. Ranks are as the
 * job gets them: in the order of onespine's note, or, if it has none, of the names of the nodes.
 * Prints one line of key=value: for dp and pp, and leaf and spine, the mean over the jobs of the
 * domains that one group touches at most, and the gigabytes a step between them, of all jobs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/layout_traffic.h"
#include "lib/policy/note.h"
#include "lib/topology/readers.h"

#define TEXT_BYTES ((size_t)16 << 20)
#define LEAF	   1
#define SPINE	   2

static void die(const char *what, const char *why)
{
	fprintf(stderr, "bench_layout: %s: %s\n", what, why);
	exit(1);
}

static struct osp_topology *read_topology(const char *path)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology;
	char *text = malloc(TEXT_BYTES);
	FILE *file = fopen(path, "r");
	size_t bytes;

	if (!text || !file)
		die(path, "cannot be read");
	bytes = fread(text, 1, TEXT_BYTES, file);
	fclose(file);
	topology = osp_read_onespine_topology(path, text, bytes, &error);
	free(text);
	if (!topology)
		die(path, error.text);
	return topology;
}

struct nodes {
	const struct osp_topology *topology;
	uint32_t *at; /* by node rank */
	uint32_t count;
};

static int add_node(const char *name, void *context)
{
	struct nodes *nodes = context;

	nodes->at[nodes->count] = osp_topology_find_node(nodes->topology, name);
	if (nodes->at[nodes->count++] == OSP_NO_NODE)
		die(name, "is not in the topology");
	return 0;
}

/* Finds the nodes by rank: squeue lists them as Slurm numbers them. */
static void find_ranks(const char *list, const char *comment, struct nodes *nodes)
{
	struct osp_gang_ranks ranks;
	struct osp_note note;

	nodes->count = 0;
	if (*comment && osp_note_find(comment, &note)) {
		if (!note.leaves || osp_gang_order_make(list, note.leaves, note.order, &ranks) != 0)
			die(comment, "has no order");
		for (uint32_t r = 0; r < ranks.count; r++)
			add_node(ranks.names[r], nodes);
		osp_gang_order_clear(&ranks);
		osp_note_free_pieces(&note);
	} else if (osp_hostlist_expand(list, add_node, nodes, NULL) != 0) {
		die(list, "is no list of nodes");
	}
}

struct sum {
	double most[2], bytes[2]; /* of leaf and spine */
};

static void add_group(const struct osp_layout *layout, enum osp_group group,
		      const struct nodes *nodes, const struct osp_model *model, struct sum *sum)
{
	struct osp_spread spread;

	if (osp_spread(layout, osp_layout_ranks(layout) / nodes->count, group, nodes->topology,
		       nodes->at, model, &spread))
		die("a job", "memory ran out");
	for (int i = 0; i < 2; i++) {
		sum->most[i] += spread.most[LEAF + i];
		sum->bytes[i] += spread.bytes[LEAF + i];
	}
}

static void print_group(const char *name, const struct sum *sum, uint32_t jobs)
{
	printf(" %s_leaves=%.2f %s_spines=%.2f %s_leaf_gb=%.0f %s_spine_gb=%.0f", name,
	       sum->most[0] / jobs, name, sum->most[1] / jobs, name, sum->bytes[0] / 1e9, name,
	       sum->bytes[1] / 1e9);
}

int main(int argc, char **argv)
{
	struct osp_error error = {.text = ""};
	struct osp_model model = {.hidden = 0};
	struct sum dp = {.most = {0, 0}}, pp = {.most = {0, 0}};
	struct nodes nodes = {.count = 0};
	char *line = NULL;
	size_t room = 0;
	uint32_t jobs = 0;
	uint64_t taken = 0;

	if (argc != 3)
		die("usage", "bench_layout TOPOLOGY MODEL <JOBS");
	nodes.topology = read_topology(argv[1]);
	nodes.at = calloc(OSP_NODES_MAX, sizeof(*nodes.at));
	if (!nodes.at || osp_model_parse(argv[2], &model, &error) ||
	    osp_model_complete(&model, &error))
		die(argv[2], error.text);
	for (; getline(&line, &room, stdin) > 0; jobs++) {
		char *rest = line, *text = strsep(&rest, "|"), *list = strsep(&rest, "|");
		struct osp_layout layout;

		if (!rest)
			die(line, "LAYOUT|NODES|ADMINCOMMENT is expected");
		rest[strcspn(rest, "\n")] = '\0';
		find_ranks(list, rest, &nodes);
		if (osp_layout_parse(text, &layout, &error) ||
		    osp_layout_complete(&layout, nodes.count, OSP_NODE_GPUS_STANDARD, &error))
			die(text, error.text);
		add_group(&layout, OSP_GROUP_DP, &nodes, &model, &dp);
		add_group(&layout, OSP_GROUP_PP, &nodes, &model, &pp);
		taken += nodes.count;
	}
	if (!jobs)
		die("stdin", "no job");
	printf("jobs=%u nodes=%llu", jobs, (unsigned long long)taken);
	print_group("dp", &dp, jobs);
	print_group("pp", &pp, jobs);
	printf("\n");
	free(line);
	return 0;
}
