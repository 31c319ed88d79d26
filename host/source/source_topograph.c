/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source_topograph.c - reads the file that topograph writes, by itself, whenever it is asked */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "host/files.h"
#include "host/source/source.h"
#include "lib/base/trust.h"
#include "lib/topology/blocks.h"

#define SOURCE "topograph"

struct reading {
	const struct osp_source_question *question;
	struct osp_source_answer *answer;
	int64_t written_s;	     /* when the file was written */
	const char **names;	     /* the cluster's nodes that it has, ... */
	struct osp_node_note *notes; /* and where their places come from */
	uint32_t count;
	bool *taken;  /* by node of the file: a map may have several ids for one */
	uint32_t old; /* nodes that were launched after the file was written */
	const char *first_old;
};

/*
 * Checks kind and owner: a pipe would stop the watch, and those who may write the file decide
 * where gangs are placed. These are its owner, topograph's user, and root, as for a file that
 * daemons obey.
 */
static int check_file(struct reading *reading, struct osp_error *error)
{
	const char *file = reading->question->file;
	struct stat status;
	const char *why;

	if (stat(file, &status))
		return osp_error_set(error, "%s: cannot be read: %s", file, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return osp_error_set(error, "%s: a regular file is expected", file);
	why = osp_distrust(&status, status.st_uid);
	if (why)
		return osp_error_set(error, "%s: %s, and so say where nodes are", file, why);
	reading->written_s = (int64_t)status.st_mtime;
	return 0;
}

static struct osp_topology *read_file(struct reading *reading, struct osp_error *error)
{
	const char *file = reading->question->file;
	struct osp_error why = {.text = ""};
	struct osp_topology *topology;
	size_t bytes;
	char *text = osp_read_input(file, OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes, error);

	if (!text)
		return NULL;
	topology = osp_read_topograph(file, text, bytes, error);
	if (topology)
		topology = osp_blocks_add(topology, file, text, bytes, &why, error);
	if (why.text[0])
		osp_text_printf(&reading->answer->warnings, "%s: %s\n", file, why.text);
	free(text);
	return topology;
}

/* Returns the boot that the place is for: as it was noted before, where it is the same one. */
static int64_t boot_of(const struct reading *reading, const struct osp_listed_node *node)
{
	const struct osp_node_note *note =
		osp_topology_note_of(reading->question->previous, node->name);

	return osp_boot_steady(note && !strcmp(note->source, SOURCE) ? note->boot_s : 0,
			       node->boot_s);
}

/* Takes a node's place if the file can know it. */
static void take_node(struct reading *reading, const struct osp_listed_node *node)
{
	struct osp_node_note note = {.source = SOURCE, .instance_id = ""};

	if (node->is_launched && !node->runs)
		return;
	if (node->is_launched && !osp_file_knows_boot(reading->written_s, node->boot_s)) {
		if (!reading->old++)
			reading->first_old = node->name;
		return;
	}
	if (node->is_launched)
		note.boot_s = boot_of(reading, node);
	reading->names[reading->count] = node->name;
	reading->notes[reading->count++] = note;
}

static void take_nodes(struct reading *reading, const struct osp_topology *topology)
{
	const struct osp_node_list *nodes = reading->question->nodes;

	for (uint32_t i = 0; i < nodes->count; i++) {
		uint32_t number = osp_topology_find_node(topology, nodes->nodes[i].name);

		if (number == OSP_NO_NODE || reading->taken[number])
			continue;
		reading->taken[number] = true;
		take_node(reading, &nodes->nodes[i]);
	}
}

static int answer_with(struct reading *reading, const struct osp_topology *topology,
		       struct osp_error *error)
{
	const char *file = reading->question->file;

	reading->taken =
		calloc((size_t)osp_topology_node_count(topology) + 1, sizeof(*reading->taken));
	if (!reading->taken)
		return osp_error_set(error, "out of memory");
	take_nodes(reading, topology);
	if (reading->old)
		osp_text_printf(&reading->answer->warnings,
				"%s: written before %u of its nodes booted (%s is the first); they "
				"have no place until it is written again\n",
				file, reading->old, reading->first_old);
	if (!reading->count && reading->old)
		return osp_error_set(error, "%s: written before all of its nodes booted", file);
	if (!reading->count)
		return osp_error_set(error, "%s: none of its %u nodes is a node of the cluster",
				     file, osp_topology_node_count(topology));
	reading->answer->topology = osp_topology_rebase_noted(
		topology, reading->names, reading->notes, reading->count, error);
	return reading->answer->topology ? 0 : -1;
}

int osp_source_topograph(const struct osp_source_question *question,
			 struct osp_source_answer *answer, struct osp_error *error)
{
	struct reading reading = {.question = question, .answer = answer};
	size_t room = (size_t)question->nodes->count + 1;
	struct osp_topology *topology = NULL;
	int rc = -1;

	reading.names = calloc(room, sizeof(*reading.names));
	reading.notes = calloc(room, sizeof(*reading.notes));
	if (!reading.names || !reading.notes)
		osp_error_set(error, "out of memory");
	else if (!check_file(&reading, error))
		topology = read_file(&reading, error);
	if (topology)
		rc = answer_with(&reading, topology, error);
	osp_topology_free(topology);
	free(reading.names);
	free(reading.notes);
	free(reading.taken);
	return rc;
}
