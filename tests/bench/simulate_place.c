/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * simulate_place.c - how well placement packs a fabric, without a Slurm
 *
 * Three loads, each over several seeds, all gangs of 1 to 64 nodes:
 *	fill	300 jobs that run for ever, in order, smaller ones going ahead of what does not fit
 *	strict	jobs of random length, for ever more waiting; the first in the queue blocks the rest
 *	open	jobs arrive by chance for nine tenths of the fabric; those that fit go ahead
 * Run by hand: tests/bench/simulate_place [-c] [FABRIC.csv]; -c compares other orders of domains;
 * the CSV has one host a line, its switches after it, top layer first.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/place/place.h"
#include "tests/fabric.h"

#define SEEDS	   24
#define GANG_MAX   64
#define FILL_JOBS  300
#define CHURN_JOBS 6000
#define QUEUE_MAX  4096

/* --- a cluster and what runs on it --------------------------------------------------------------
 */

struct job {
	uint32_t nodes;
	double length_s;
	double submitted_s;
	double end_s;
	struct osp_nodeset *on;
};

struct cluster {
	struct osp_topology *topology;
	struct osp_place *place;
	struct osp_nodeset *usable;
	struct osp_nodeset *free_nodes;
	uint32_t level;
	uint32_t nodes;
	uint32_t largest_gang;
};

struct result {
	uint32_t started;
	uint32_t straddling;
	double in_use; /* nodes; in the mean over time where jobs end */
	double leaves;
	double leaves_least;
	double wait_s;
	double large_wait_s;
	uint32_t large;
};

typedef bool (*better)(const struct osp_place_domain *a, const struct osp_place_domain *b);

static uint64_t random_state;

static double random_unit(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (double)(random_state >> 11) / 9007199254740992.0;
}

static struct job random_job(double submitted_s)
{
	struct job job = {.nodes = 1 + (uint32_t)(random_unit() * GANG_MAX),
			  .length_s = -3600 * log(1 - random_unit()),
			  .submitted_s = submitted_s};
	return job;
}

static bool straddles(const struct cluster *cluster, const struct osp_nodeset *on)
{
	uint32_t domain;
	int level = osp_topology_common_level(cluster->topology, on, &domain);

	return level < 0 || level > (int)cluster->level;
}

/* --- other orders of domains --------------------------------------------------------------------
 */

static int64_t excess(const struct osp_place_domain *d)
{
	return (int64_t)d->leaves - d->leaves_least;
}

/* The fullest domain first, whatever the leaves. */
static bool tightest(const struct osp_place_domain *a, const struct osp_place_domain *b)
{
	return a->left_in_domain < b->left_in_domain;
}

static bool leaves_then_tightest(const struct osp_place_domain *a, const struct osp_place_domain *b)
{
	if (excess(a) != excess(b))
		return excess(a) < excess(b);
	return tightest(a, b);
}

static bool leftover_first(const struct osp_place_domain *a, const struct osp_place_domain *b)
{
	if (a->left_in_leaves != b->left_in_leaves)
		return a->left_in_leaves < b->left_in_leaves;
	if (excess(a) != excess(b))
		return excess(a) < excess(b);
	return tightest(a, b);
}

static bool emptiest(const struct osp_place_domain *a, const struct osp_place_domain *b)
{
	if (excess(a) != excess(b))
		return excess(a) < excess(b);
	if (a->left_in_leaves != b->left_in_leaves)
		return a->left_in_leaves < b->left_in_leaves;
	return a->left_in_domain > b->left_in_domain;
}

/* A leaf more costs as much as two filled up, and the remainder counts beside them. */
static bool costs_less(const struct osp_place_domain *a, const struct osp_place_domain *b)
{
	double x = (double)excess(a) + 0.48 * (a->left_in_leaves != 0);
	double y = (double)excess(b) + 0.48 * (b->left_in_leaves != 0);
	uint32_t roomy = GANG_MAX * 3 / 2;

	x += a->left_in_domain && a->left_in_domain < roomy
		     ? 0.38 * (1 - a->left_in_domain / (double)roomy)
		     : 0;
	x -= a->free_nodes < roomy ? 0.38 * (1 - a->free_nodes / (double)roomy) : 0;
	y += b->left_in_domain && b->left_in_domain < roomy
		     ? 0.38 * (1 - b->left_in_domain / (double)roomy)
		     : 0;
	y -= b->free_nodes < roomy ? 0.38 * (1 - b->free_nodes / (double)roomy) : 0;
	return x != y ? x < y : tightest(a, b);
}

static const struct {
	const char *name;
	better better; /* NULL: as osp_place_order() says */
	bool largest;  /* the largest gang is known */
} orders[] = {
	{"as ordered", NULL, true},
	{"largest gang not known", NULL, false},
	{"tightest domain", tightest, false},
	{"leaves, tightest", leaves_then_tightest, false},
	{"leftover, leaves, tightest", leftover_first, false},
	{"leaves, leftover, emptiest", emptiest, false},
	{"weighed against each other", costs_less, false},
};

/* --- starting and ending ------------------------------------------------------------------------
 */

static bool start(struct cluster *cluster, struct job *job, better order, struct result *result)
{
	struct osp_place_input input = {.level = cluster->level,
					.need_nodes = job->nodes,
					.want_nodes = job->nodes,
					.free_only = true,
					.largest_gang = cluster->largest_gang,
					.usable = cluster->usable,
					.free = cluster->free_nodes};
	uint32_t candidates;
	uint32_t domains;
	const struct osp_place_domain *all =
		osp_place_order(cluster->place, &input, &candidates, &domains);
	const struct osp_place_domain *best = all;

	if (!candidates)
		return false;
	for (uint32_t i = 1; order && i < candidates; i++) {
		if (order(&all[i], best))
			best = &all[i];
	}
	result->leaves += best->leaves;
	result->leaves_least += best->leaves_least;
	job->on = osp_nodeset_new(cluster->nodes);
	if (!job->on ||
	    osp_place_pick(cluster->place, &input, best->domain, best->kind, job->on) != job->nodes)
		abort();
	osp_nodeset_and_not(cluster->free_nodes, job->on);
	result->started++;
	result->straddling += straddles(cluster, job->on);
	return true;
}

static void end(struct cluster *cluster, struct job *job)
{
	osp_nodeset_or(cluster->free_nodes, job->on);
	free(job->on);
	job->on = NULL;
}

static void note_wait(struct result *result, const struct job *job, double now_s)
{
	result->wait_s += now_s - job->submitted_s;
	if (job->nodes <= GANG_MAX * 3 / 4)
		return;
	result->large_wait_s += now_s - job->submitted_s;
	result->large++;
}

/* --- the loads ----------------------------------------------------------------------------------
 */

static void fill(struct cluster *cluster, better order, struct result *result)
{
	for (uint32_t i = 0; i < FILL_JOBS; i++) {
		struct job job = random_job(0);

		if (start(cluster, &job, order, result))
			free(job.on);
	}
	result->in_use += cluster->nodes - osp_nodeset_count(cluster->free_nodes);
}

struct churn {
	struct job *running; /* in no order */
	uint32_t running_count;
	struct job queue[QUEUE_MAX];
	uint32_t queued;
	double now_s;
	double node_seconds;
	double since_s; /* measured from here on */
};

static uint32_t next_to_end(const struct churn *churn)
{
	uint32_t next = 0;

	for (uint32_t i = 1; i < churn->running_count; i++) {
		if (churn->running[i].end_s < churn->running[next].end_s)
			next = i;
	}
	return next;
}

static void pass_time(struct cluster *cluster, struct churn *churn, double to_s)
{
	uint32_t in_use = cluster->nodes - osp_nodeset_count(cluster->free_nodes);

	churn->node_seconds += (to_s - churn->now_s) * in_use;
	churn->now_s = to_s;
}

/* Starts what can start; with `strict` nothing goes ahead of the first that cannot. */
static void schedule(struct cluster *cluster, struct churn *churn, better order, bool strict,
		     struct result *result)
{
	uint32_t kept = 0;
	bool blocked = false;

	for (uint32_t i = 0; i < churn->queued; i++) {
		struct job job = churn->queue[i];

		if (!blocked && start(cluster, &job, order, result)) {
			job.end_s = churn->now_s + job.length_s;
			note_wait(result, &job, churn->now_s);
			churn->running[churn->running_count++] = job;
			continue;
		}
		blocked |= strict;
		churn->queue[kept++] = job;
	}
	churn->queued = kept;
}

static void end_next(struct cluster *cluster, struct churn *churn)
{
	uint32_t next = next_to_end(churn);

	pass_time(cluster, churn, churn->running[next].end_s);
	end(cluster, &churn->running[next]);
	churn->running[next] = churn->running[--churn->running_count];
}

static void forget_warm_up(struct churn *churn, struct result *result)
{
	churn->node_seconds = 0;
	churn->since_s = churn->now_s;
	*result = (struct result){0};
}

static void finish_churn(struct cluster *cluster, struct churn *churn, struct result *result)
{
	result->in_use = churn->node_seconds / (churn->now_s - churn->since_s);
	while (churn->running_count)
		end(cluster, &churn->running[--churn->running_count]);
	free(churn->running);
	free(churn);
}

static struct churn *start_churn(const struct cluster *cluster)
{
	struct churn *churn = calloc(1, sizeof(*churn));

	if (!churn || !(churn->running = calloc(cluster->nodes, sizeof(*churn->running))))
		abort();
	return churn;
}

static void churn_strict(struct cluster *cluster, better order, struct result *result)
{
	struct churn *churn = start_churn(cluster);

	for (uint32_t i = 0; i < CHURN_JOBS; i++) {
		while (churn->queued < GANG_MAX)
			churn->queue[churn->queued++] = random_job(churn->now_s);
		schedule(cluster, churn, order, true, result);
		if (i == CHURN_JOBS / 4)
			forget_warm_up(churn, result);
		end_next(cluster, churn);
	}
	finish_churn(cluster, churn, result);
}

static void churn_open(struct cluster *cluster, better order, struct result *result)
{
	struct churn *churn = start_churn(cluster);
	double between_s = 3600 * (GANG_MAX + 1) / 2.0 / (0.9 * cluster->nodes);
	double arrival_s = 0;

	for (uint32_t i = 0; i < CHURN_JOBS; i++) {
		arrival_s -= between_s * log(1 - random_unit());
		while (churn->running_count &&
		       churn->running[next_to_end(churn)].end_s < arrival_s) {
			end_next(cluster, churn);
			schedule(cluster, churn, order, false, result);
		}
		pass_time(cluster, churn, arrival_s);
		if (churn->queued < QUEUE_MAX)
			churn->queue[churn->queued++] = random_job(arrival_s);
		schedule(cluster, churn, order, false, result);
		if (i == CHURN_JOBS / 4)
			forget_warm_up(churn, result);
	}
	finish_churn(cluster, churn, result);
}

/* --- the table ----------------------------------------------------------------------------------
 */

typedef void (*load)(struct cluster *cluster, better order, struct result *result);

static void print_load(struct cluster *cluster, const char *name, load run, const char *order_name,
		       better order)
{
	struct result sum = {0};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct result result = {0};

		random_state = seed;
		random_unit();
		osp_nodeset_fill(cluster->free_nodes);
		run(cluster, order, &result);
		sum.straddling += result.straddling;
		sum.started += result.started;
		sum.in_use += result.in_use / SEEDS;
		sum.leaves += result.leaves;
		sum.leaves_least += result.leaves_least;
		sum.wait_s += result.wait_s;
		sum.large_wait_s += result.large_wait_s;
		sum.large += result.large;
	}
	printf("%-7s %-27s %10" PRIu32 " %8.1f %8.1f %6.2f%% %7.4f %7.0f %7.0f\n", name, order_name,
	       sum.straddling, (double)sum.started / SEEDS, sum.in_use,
	       100 * sum.in_use / cluster->nodes, sum.leaves / sum.leaves_least,
	       sum.wait_s / sum.started, sum.large ? sum.large_wait_s / sum.large : 0);
}

static void print_orders(struct cluster *cluster, const char *name, load run, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cluster->largest_gang = orders[i].largest ? GANG_MAX : 0;
		print_load(cluster, name, run, orders[i].name, orders[i].better);
	}
}

/* --- fabrics ------------------------------------------------------------------------------------
 */

static char *next_field(char **rest)
{
	char *field = strsep(rest, ",\r\n");

	return field && *field ? field : NULL;
}

/* "above.here": switches are numbered anew below each switch above. */
static char *join(const char *above, const char *here)
{
	size_t bytes = strlen(above) + strlen(here) + 2;
	char *joined = malloc(bytes);

	if (!joined)
		abort();
	snprintf(joined, bytes, "%s%s%s", above, *above ? "." : "", here);
	return joined;
}

static bool read_host(char *line, uint32_t levels, struct fabric_node *node)
{
	const char *above = "";

	node->name = next_field(&line);
	for (uint32_t level = levels; level > 0; level--) {
		const char *here = next_field(&line);

		if (!here)
			return false;
		above = node->domains[level - 1] = join(above, here);
	}
	return node->name != NULL;
}

/* Hosts of a CSV: name, then its switches, top layer first. What it reads is kept for ever. */
static struct osp_topology *read_csv(const char *path)
{
	FILE *file = fopen(path, "r");
	struct fabric_node *nodes = calloc(OSP_NODES_MAX, sizeof(*nodes));
	char line[1024];
	uint32_t levels = 0;
	size_t count = 0;

	if (!file || !nodes || !fgets(line, sizeof(line), file)) {
		perror(path);
		exit(1);
	}
	for (const char *comma = line; (comma = strchr(comma, ',')); comma++)
		levels++;
	if (!levels || levels > FABRIC_LEVELS_MAX)
		exit(1);
	while (count < OSP_NODES_MAX && fgets(line, sizeof(line), file)) {
		char *kept = strdup(line);

		if (!kept)
			abort();
		count += read_host(kept, levels, &nodes[count]);
	}
	fclose(file);
	return fabric_from(nodes, count, levels);
}

int main(int argc, char **argv)
{
	struct cluster cluster = {.level = 2};
	size_t order_count = 1;
	int option;

	while ((option = getopt(argc, argv, "c")) != -1) {
		if (option != 'c')
			return 1;
		order_count = sizeof(orders) / sizeof(orders[0]);
	}
	cluster.topology = optind < argc ? read_csv(argv[optind])
					 : fabric_regular(32, (uint32_t[]){16, 16}, 2);
	cluster.nodes = osp_topology_node_count(cluster.topology);
	cluster.place = osp_place_new(cluster.topology, 1);
	cluster.usable = osp_nodeset_new(cluster.nodes);
	cluster.free_nodes = osp_nodeset_new(cluster.nodes);
	if (!cluster.place || !cluster.usable || !cluster.free_nodes)
		return 1;
	osp_nodeset_fill(cluster.usable);
	printf("%" PRIu32 " nodes; means of %d seeds\n", cluster.nodes, SEEDS);
	printf("%-7s %-27s %10s %8s %8s %7s %7s %7s %7s\n", "load", "order of domains",
	       "straddling", "started", "nodes", "", "leaves", "wait_s", "large_s");
	print_orders(&cluster, "fill", fill, order_count);
	print_orders(&cluster, "strict", churn_strict, order_count);
	print_orders(&cluster, "open", churn_open, order_count);
	free(cluster.free_nodes);
	free(cluster.usable);
	osp_place_free(cluster.place);
	osp_topology_free(cluster.topology);
	return 0;
}
