/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_infiniband.c - sweeps the InfiniBand fabric with ibnetdiscover */
#include <stdlib.h>
#include <string.h>

#include "host/source/run_program.h"
#include "host/source/source.h"

/* 2,000 nodes take a second; a port that does not answer costs 3 tries of a second each. */
#define SWEEP_LIMIT_S 120

#define LIST_NAME     "the list of nodes"

/* Maps the cluster's nodes, by their own names and by a map's ids: adapters of storage and
 * managers are in none. */
static struct osp_name_map *make_map(const struct osp_node_list *nodes, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_name_map *map;
	char *lines;
	size_t bytes;

	for (uint32_t i = 0; i < nodes->count; i++) {
		const struct osp_listed_node *node = &nodes->nodes[i];

		osp_text_printf(&text, "%s %s\n", node->name, node->name);
		if (node->instance_id[0] && strcmp(node->instance_id, node->name) != 0)
			osp_text_printf(&text, "%s %s\n", node->instance_id, node->name);
	}
	bytes = text.length_bytes;
	lines = osp_text_take(&text);
	map = lines ? osp_read_adapter_map(LIST_NAME, lines, bytes, error) : NULL;
	free(lines);
	return map;
}

int osp_source_infiniband(const struct osp_source_question *question,
			  struct osp_source_answer *answer, struct osp_error *error)
{
	static const char *const argv[] = {"ibnetdiscover", NULL};
	struct osp_import_options options = {.adapters = question->adapters};
	struct osp_name_map *map = make_map(question->nodes, error);
	struct osp_program_output output = {.text = NULL};
	struct osp_import *import = NULL;
	int rc = -1;

	options.map = map;
	options.map_of_slurm = !question->nodes->of_map;
	if (map &&
	    !osp_run_program(argv, SWEEP_LIMIT_S, OSP_TOPOLOGY_FILE_BYTES_MAX, &output, error))
		import = osp_import_new(&options);
	if (import) {
		/* a switch that did not answer is reported there, and left out */
		if (output.said[0])
			osp_text_printf(&answer->warnings, "ibnetdiscover says: %s\n", output.said);
		osp_import_source(import, "infiniband");
		rc = osp_import_infiniband(import, "ibnetdiscover", output.text, output.bytes,
					   error);
		if (!rc)
			rc = osp_source_finish(import, answer, error);
	}
	osp_import_free(import);
	osp_name_map_free(map);
	free(output.text);
	if (rc && error && !strcmp(error->file, LIST_NAME))
		error->line = 0; /* of a list that nobody wrote */
	if (rc)
		osp_error_set(error, "out of memory");
	return rc;
}
