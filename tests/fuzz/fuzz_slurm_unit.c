/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_slurm_unit.c - any Topology= of a node in Slurm, and the site's beginning of it
 *
 * Lines: the beginning, the node's Topology=.
 *
 * Parser: lib/topology/slurm_unit.c
 */
#include "lib/topology/readers.h"
#include "lib/topology/slurm_unit.h"
#include "tests/fuzz/fuzz.h"

static const char fabric[] =
	"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": ["
	"{\"level\": \"spine\", \"name\": \"s1\"},"
	"{\"level\": \"leaf\", \"name\": \"l1\", \"in\": \"s1\", \"nodes\": \"n1\"}]}";

/* What is written begins as the site says, and is right then. */
static void check_unit(const struct osp_topology *topology, const char *root, const char *current)
{
	struct osp_text unit = OSP_TEXT_INIT, again = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};

	fuzz_check(!osp_slurm_unit(topology, 0, root, current, &unit, &error));
	if (unit.length_bytes) {
		fuzz_check(!strncmp(unit.data, root, strlen(root)));
		fuzz_check(!strchr(unit.data, '\n'));
		fuzz_check(!osp_slurm_unit(topology, 0, root, unit.data, &again, &error));
		fuzz_check(!again.length_bytes);
	}
	osp_text_free(&unit);
	osp_text_free(&again);
}

FUZZER(slurm_unit)
{
	struct osp_topology *topology =
		osp_read_onespine_topology("f", fabric, sizeof(fabric) - 1, NULL);
	char *text = malloc(size + 1), *rest = text, *root, *current;

	fuzz_check(topology && text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	root = strsep(&rest, "\n");
	current = strsep(&rest, "\n");
	if (current && osp_slurm_unit_root(root))
		check_unit(topology, root, current);
	free(text);
	osp_topology_free(topology);
	return 0;
}
