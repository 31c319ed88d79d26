/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_node.c - how long it takes to know this node, looked at and from the file that root keeps
 *
 * usage: bench_node DATA_DIR FOLDER [ROOT [TOPOLOGY]]
 *
 * Medians of 25; FOLDER becomes the cache's. The same of the rules.
 */
#include "onespine_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cache/node_cache.h"
#include "lib/cache/rules_image.h"

#define TIMES 25

static double now_ms(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void report(const char *what, double *times_ms)
{
	qsort(times_ms, TIMES, sizeof(*times_ms), by_size);
	printf("%s %.2f ms\n", what, times_ms[TIMES / 2]);
}

static int time_node(const struct osp_node_source *source, const char *what)
{
	struct osp_error error = {.text = ""};
	double times_ms[TIMES];

	for (int i = 0; i < TIMES; i++) {
		double start = now_ms();
		struct osp_node_known *known = osp_node_know(source, &error);

		times_ms[i] = now_ms() - start;
		if (!known) {
			fprintf(stderr, "bench_node: %s: %s\n", error.file, error.text);
			return 1;
		}
		osp_node_forget(known);
	}
	report(what, times_ms);
	return 0;
}

static int time_rules(const struct osp_node_source *source, const struct osp_node_known *known,
		      const char *what)
{
	struct osp_error error = {.text = ""};
	double times_ms[TIMES];

	for (int i = 0; i < TIMES; i++) {
		double start = now_ms();
		struct osp_rule_set *rules = osp_rules_know(source, known, false, &error);

		times_ms[i] = now_ms() - start;
		if (!rules) {
			fprintf(stderr, "bench_node: %s: %s\n", error.file, error.text);
			return 1;
		}
		osp_rules_free(rules);
	}
	report(what, times_ms);
	return 0;
}

int main(int argc, char **argv)
{
	struct osp_node_source source = {.root = "", .site = "/nonexistent"}, unkept;
	struct osp_node_known *known;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_node DATA_DIR FOLDER [ROOT [TOPOLOGY]]\n");
		return 2;
	}
	source.data = argv[1];
	if (argc > 3)
		source.root = argv[3];
	if (argc > 4)
		source.topology = argv[4];
	unkept = source;
	source.folder = argv[2];
	known = osp_node_know(&source, NULL);
	if (!osp_node_is_kept(&source))
		fprintf(stderr, "bench_node: %s is not trusted\n", argv[2]);
	if (!known || time_node(&unkept, "looked at") || time_node(&source, "kept") ||
	    time_rules(&unkept, known, "rules read"))
		return 1;
	osp_rules_free(osp_rules_know(&source, known, false, NULL));
	rc = time_rules(&source, known, "rules kept");
	osp_node_forget(known);
	return rc;
}
