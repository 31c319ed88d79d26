/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_nvlink.c - the level nvlink, of what nodes have reported of themselves
 *
 * The watch keeps the reports in FILE.reports (host/report/listen.h). A report counts for the boot
 * in which it was made, and for the instance that the node was then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/files.h"
#include "host/source/source.h"
#include "lib/base/hostlist.h"
#include "lib/base/trust.h"
#include "lib/topology/blocks.h"
#include "lib/topology/builder.h"
#include "lib/topology/level.h"
#include "lib/topology/place_age.h"
#include "lib/topology/report_book.h"

#define LEVEL "nvlink"

struct reporting {
	const struct osp_source_question *question;
	struct osp_source_answer *answer;
	struct osp_report_book *book;
	struct osp_blocks *blocks;
	struct osp_arena arena;
	uint32_t placed;
};

/* Reads the file. One that is not there is empty, unless it `must` be. */
static struct osp_report_book *read_book(const char *path, bool must, struct osp_error *error)
{
	struct osp_report_book *book = NULL;
	struct stat status;
	const char *why;
	size_t bytes;
	char *text;

	if (!path)
		return NULL;
	if (stat(path, &status)) {
		if (errno == ENOENT && !must)
			return osp_report_book_new();
		osp_error_set(error, "no node has reported to a watch: %s: %s", path,
			      strerror(errno));
		return NULL;
	}
	why = osp_distrust(&status, geteuid());
	if (why) {
		osp_error_set(error, "%s: %s", path, why);
		return NULL;
	}
	text = osp_read_input(path, OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes, error);
	if (text)
		book = osp_report_book_read(path, text, bytes, error);
	free(text);
	return book;
}

/* Returns what the node reported in its present boot; NULL: nothing, or it does not run. */
static const struct osp_place_report *reported_now(const struct osp_report_book *book,
						   const struct osp_listed_node *node)
{
	const struct osp_place_report *report =
		node->runs ? osp_report_book_find(book, node->name, NULL) : NULL;

	if (!report || (node->boot_s && !osp_boot_is_same(node->boot_s, report->boot_s)))
		return NULL;
	/* a serial number is no instance of a cloud */
	if (node->instance_id[0] && !strncmp(report->instance, "i-", 2) &&
	    strcmp(node->instance_id, report->instance) != 0)
		return NULL;
	return report;
}

/* Returns the boot that a place is for: as it was noted before, where it is the same one. */
static int64_t boot_of(const struct reporting *reporting, const struct osp_listed_node *node)
{
	const struct osp_node_note *note =
		osp_topology_note_of(reporting->question->previous, node->name);

	return osp_boot_steady(osp_place_boot_s(note), node->boot_s);
}

static int begin(struct reporting *reporting, bool must, struct osp_error *error)
{
	reporting->book = read_book(reporting->question->reports, must, error);
	if (!reporting->book)
		return osp_error_set(error, "out of memory");
	return 0;
}

static void end(struct reporting *reporting)
{
	osp_report_book_free(reporting->book);
	osp_blocks_free(reporting->blocks);
	osp_arena_free(&reporting->arena);
}

/* --- alone ------------------------------------------------------------------------------------ */

static int place(struct reporting *reporting, struct osp_builder *builder,
		 const struct osp_listed_node *node, struct osp_error *error)
{
	struct osp_node_note note = {LEVEL, node->instance_id, boot_of(reporting, node)};
	const struct osp_place_report *report = reported_now(reporting->book, node);
	char buffer[OSP_REPORT_WORD_BYTES + 8];
	const char *name = report ? osp_report_domain(report, buffer) : NULL;
	uint32_t domain;

	if (!name)
		return 0;
	domain = osp_builder_domain(builder, 1, name, NULL, error);
	if (domain == OSP_NO_DOMAIN || osp_builder_node(builder, node->name, domain, NULL, error) ||
	    osp_builder_note(builder, node->name, &note, NULL, error))
		return -1;
	reporting->placed++;
	return 0;
}

static int place_all(struct reporting *reporting, struct osp_error *error)
{
	static const char *const levels[] = {LEVEL};
	const struct osp_node_list *nodes = reporting->question->nodes;
	struct osp_builder *builder = osp_builder_new(levels, 1, error);
	int rc = builder ? 0 : -1;

	for (uint32_t i = 0; i < nodes->count && !rc; i++)
		rc = place(reporting, builder, &nodes->nodes[i], error);
	if (!rc && !reporting->placed)
		rc = osp_error_set(error, "no node that runs has reported an NVLink domain since "
					  "it booted");
	if (!rc)
		reporting->answer->topology = osp_builder_finish(builder, false, error);
	osp_builder_free(builder);
	return reporting->answer->topology ? 0 : -1;
}

int osp_source_nvlink(const struct osp_source_question *question, struct osp_source_answer *answer,
		      struct osp_error *error)
{
	struct reporting reporting = {.question = question, .answer = answer};
	int rc = begin(&reporting, true, error) || place_all(&reporting, error) ? -1 : 0;

	end(&reporting);
	return rc;
}

/* --- beside another source -------------------------------------------------------------------- */

/* Notes the boot for which a place holds now: the report is of one. */
static int note_boot(struct reporting *reporting, const struct osp_listed_node *node,
		     const struct osp_node_note *before, struct osp_node_note *note)
{
	const char *source = before ? before->source : "";
	size_t bytes = strlen(source) + sizeof("+" LEVEL);
	char *both;

	if (before)
		*note = *before;
	if ((before && osp_place_boot_s(before)) || !node->boot_s)
		return 0;
	both = osp_arena_take(&reporting->arena, bytes);
	if (!both)
		return -1;
	snprintf(both, bytes, "%s%s" LEVEL, source, *source ? "+" : "");
	note->source = both;
	note->instance_id = before ? before->instance_id : "";
	note->boot_s = boot_of(reporting, node);
	return 0;
}

/* Finds the blocks, and what is noted of each node of `topology` then. */
static int find_blocks(struct reporting *reporting, const struct osp_topology *topology,
		       struct osp_node_note *notes, struct osp_error *error)
{
	const struct osp_node_list *nodes = reporting->question->nodes;
	int rc = 0;

	for (uint32_t i = 0; i < nodes->count && !rc; i++) {
		const struct osp_listed_node *node = &nodes->nodes[i];
		uint32_t number = osp_topology_find_node(topology, node->name);
		const struct osp_place_report *report = reported_now(reporting->book, node);
		char buffer[OSP_REPORT_WORD_BYTES + 8];
		const char *name = report ? osp_report_domain(report, buffer) : NULL;

		if (!name || number == OSP_NO_NODE)
			continue;
		reporting->placed++;
		rc = osp_blocks_take(reporting->blocks, name, node->name, error);
		if (!rc &&
		    note_boot(reporting, node, osp_topology_note(topology, number), &notes[number]))
			rc = osp_error_set(error, "out of memory");
	}
	return rc;
}

static struct osp_topology *with_notes(const struct osp_topology *topology,
				       const struct osp_node_note *notes, struct osp_error *error)
{
	uint32_t count = osp_topology_node_count(topology);
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	struct osp_topology *noted = NULL;

	for (uint32_t n = 0; names && n < count; n++)
		names[n] = osp_topology_node_name(topology, n);
	if (names)
		noted = osp_topology_rebase_noted(topology, names, notes, count, error);
	else
		osp_error_set(error, "out of memory");
	free(names);
	return noted;
}

static struct osp_topology *copy_of(const struct osp_topology *topology, struct osp_error *error)
{
	uint32_t count = osp_topology_node_count(topology);
	struct osp_node_note *notes = calloc((size_t)count + 1, sizeof(*notes));
	struct osp_topology *copy = NULL;

	for (uint32_t n = 0; notes && n < count; n++) {
		if (osp_topology_note(topology, n))
			notes[n] = *osp_topology_note(topology, n);
	}
	if (notes)
		copy = with_notes(topology, notes, error);
	free(notes);
	return copy;
}

/* Makes the topology with the level, with a warning if that is beside the tree; with another
 * warning it stays as it is. NULL: an error. */
static struct osp_topology *insert(struct reporting *reporting, struct osp_topology *topology,
				   struct osp_error *error)
{
	uint32_t count = osp_topology_node_count(topology);
	struct osp_node_note *notes = calloc((size_t)count + 1, sizeof(*notes));
	struct osp_topology *noted = NULL, *made = NULL;
	struct osp_error why = {.text = ""}, beside = {.text = ""};
	int rc = notes && reporting->blocks ? 0 : osp_error_set(error, "out of memory");

	for (uint32_t n = 0; !rc && n < count; n++) {
		if (osp_topology_note(topology, n))
			notes[n] = *osp_topology_note(topology, n);
	}
	if (!rc)
		rc = find_blocks(reporting, topology, notes, error);
	if (!rc && !reporting->placed) {
		osp_text_add(&reporting->answer->warnings,
			     "no node that runs has reported an NVLink domain since it booted\n");
		free(notes);
		return topology;
	}
	if (!rc)
		noted = with_notes(topology, notes, error);
	if (noted)
		made = osp_blocks_insert(noted, reporting->blocks, &beside, &why);
	if (noted && !made)
		osp_text_printf(&reporting->answer->warnings,
				"what nodes report makes no level nvlink: %s\n", why.text);
	if (made && beside.text[0])
		osp_text_printf(&reporting->answer->warnings, "by what nodes report, %s\n",
				beside.text);
	osp_topology_free(noted);
	free(notes);
	return noted ? (made ? made : topology) : NULL;
}

/* Takes away a level nvlink that the other source gave: the nodes' own word is the only one. */
static int drop_level(struct osp_source_answer *answer, struct osp_error *error)
{
	int level = osp_topology_level(answer->topology, LEVEL);
	struct osp_topology *plain;

	if (level < 0)
		return 0;
	plain = osp_topology_without_level(answer->topology, (uint32_t)level, error);
	if (!plain)
		return -1;
	osp_topology_free(answer->topology);
	answer->topology = plain;
	return 0;
}

int osp_nvlink_add(const struct osp_source_question *question, struct osp_source_answer *answer,
		   struct osp_error *error)
{
	struct reporting reporting = {
		.question = question, .answer = answer, .blocks = osp_blocks_new()};
	struct osp_topology *made = NULL;

	/* while no node runs there are levels alone, and nothing to add */
	if (!osp_topology_node_count(answer->topology)) {
		end(&reporting);
		return 0;
	}
	if (!begin(&reporting, false, error) && !drop_level(answer, error))
		made = insert(&reporting, answer->topology, error);
	if (made && made != answer->topology) {
		osp_topology_free(answer->topology);
		answer->topology = made;
	}
	end(&reporting);
	return made ? 0 : -1;
}

/* --- for the doctor --------------------------------------------------------------------------- */

static char *list_unreported(const struct reporting *reporting)
{
	const struct osp_node_list *nodes = reporting->question->nodes;
	const char **names = calloc((size_t)nodes->count + 1, sizeof(*names));
	size_t count = 0;
	char *list = NULL;

	for (uint32_t i = 0; names && i < nodes->count; i++) {
		if (nodes->nodes[i].runs && nodes->nodes[i].boot_s &&
		    !reported_now(reporting->book, &nodes->nodes[i]))
			names[count++] = nodes->nodes[i].name;
	}
	if (count)
		list = osp_hostlist_compact(names, count);
	free(names);
	return list;
}

char *osp_reports_judge(const struct osp_source_question *question, struct osp_error *crossing)
{
	struct osp_source_answer answer = {.topology = NULL};
	struct reporting reporting = {
		.question = question, .answer = &answer, .blocks = osp_blocks_new()};
	struct osp_error ignored = {.text = ""};
	char *unreported = NULL;

	if (!begin(&reporting, false, &ignored)) {
		unreported = list_unreported(&reporting);
		if (question->previous)
			answer.topology = copy_of(question->previous, &ignored);
	}
	if (answer.topology && !drop_level(&answer, &ignored)) {
		struct osp_topology *made = insert(&reporting, answer.topology, &ignored);

		if (made && made == answer.topology && reporting.placed && answer.warnings.data)
			osp_error_set(crossing, "%.*s", (int)strcspn(answer.warnings.data, "\n"),
				      answer.warnings.data);
		if (made != answer.topology)
			osp_topology_free(made);
	}
	osp_source_answer_clear(&answer);
	end(&reporting);
	return unreported;
}
