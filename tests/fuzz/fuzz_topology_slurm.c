/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_topology_slurm.c - topology.conf: what is read is written, in both formats, and read again
 * with all its nodes
 *
 * Parser: lib/topology/topology_slurm.c lib/topology/topology_yaml.c lib/conf/conf_line.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/topology/readers.h"

static void check_rewritten(const struct osp_topology *topology, bool yaml)
{
	struct osp_error error = {.text = ""};
	char *text = osp_write_slurm_topology(topology, yaml, &error);
	struct osp_topology *again;

	if (!text) {
		fuzz_check(strstr(error.text, "cannot be written to a topology.conf"));
		return;
	}
	again = osp_read_slurm_topology("f", text, strlen(text), &error);
	/* a root that was made up is one level more */
	fuzz_check(again || strstr(error.text, "at most 15 are possible"));
	fuzz_check(!again || osp_topology_node_count(again) == osp_topology_node_count(topology));
	osp_topology_free(again);
	free(text);
}

FUZZER(topology_slurm)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology =
		osp_read_slurm_topology("f", (const char *)data, size, &error);
	struct osp_topology *again;
	char *text;

	fuzz_check(!topology == (error.text[0] != '\0'));
	fuzz_check(topology || !strcmp(error.file, "f"));
	if (!topology)
		return 0;
	text = osp_write_onespine_topology(topology, "fuzz");
	again = osp_read_onespine_topology("f", text, strlen(text), &error);
	fuzz_check(again);
	fuzz_check(osp_topology_domain_count(again) == osp_topology_domain_count(topology));
	check_rewritten(topology, false);
	check_rewritten(topology, true);
	osp_topology_free(again);
	osp_topology_free(topology);
	free(text);
	return 0;
}
