/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_topology_file.c - onespine.topology: what is read is written and read again as the same
 *
 * Parser: lib/topology/topology_file.c lib/topology/topology_slurm_write.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/topology/readers.h"

static void check_slurm(const struct osp_topology *topology, bool yaml)
{
	struct osp_error error = {.text = ""};
	char *text = osp_write_slurm_topology(topology, yaml, &error);
	struct osp_topology *again;

	fuzz_check(!text == (error.text[0] != '\0'));
	if (!text)
		return;
	again = osp_read_slurm_topology("f", text, strlen(text), &error);
	/* levels that are skipped or made up can add to the height */
	fuzz_check(again || strstr(error.text, "at most 15 are possible"));
	fuzz_check(!again || osp_topology_node_count(again) == osp_topology_node_count(topology));
	osp_topology_free(again);
	free(text);
}

FUZZER(topology_file)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology =
		osp_read_onespine_topology("f", (const char *)data, size, &error);
	struct osp_topology *again;
	char *once, *twice;

	fuzz_check(!topology == (error.text[0] != '\0'));
	if (!topology)
		return 0;
	once = osp_write_onespine_topology(topology, NULL);
	again = osp_read_onespine_topology("f", once, strlen(once), &error);
	fuzz_check(again);
	twice = osp_write_onespine_topology(again, NULL);
	fuzz_check(!strcmp(once, twice));
	check_slurm(topology, false);
	check_slurm(topology, true);
	osp_topology_free(again);
	osp_topology_free(topology);
	free(once);
	free(twice);
	return 0;
}
