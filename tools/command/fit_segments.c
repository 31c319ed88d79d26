/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_segments.c - onespine fit: gangs in segments or in several domains, and spares */
#include "tools/command/fit_segments.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/slurm/ask_segments.h"
#include "lib/layout/layout_segments.h"
#include "lib/policy/spares.h"
#include "lib/policy/sentences.h"
#include "tools/command/command.h"
#include "tools/command/layout_options.h"

bool osp_fit_asks_segments(const struct osp_call *call)
{
	return call->values[OSP_OPTION_GANG_DOMAINS] || call->values[OSP_OPTION_GANG_SEGMENT] ||
	       call->values[OSP_OPTION_GANG_LAYOUT] || call->values[OSP_OPTION_GANG_KEEP];
}

/* Finds the segments that keep the groups of --gang-layout together. */
static int find_layout_segments(const struct osp_call *call, const struct osp_world *world,
				const struct osp_fit_grown *grown, uint32_t gang_level,
				uint32_t domains_max, struct osp_segments *segments,
				struct osp_error *error)
{
	const char *layout = call->values[OSP_OPTION_GANG_LAYOUT];
	const char *keep = call->values[OSP_OPTION_GANG_KEEP];
	struct osp_layout_segments_input input = {.gpus_per_node = OSP_NODE_GPUS_STANDARD,
						  .topology = world->all_places,
						  .level = gang_level,
						  .one_domain = domains_max <= 1};
	struct osp_layout_segments found;
	struct osp_error inner = {.text = ""};

	if (!layout)
		return osp_error_set(error, "--gang-keep names groups of a layout: say "
					    "--gang-layout too, as in --gang-layout=tp8,pp8");
	if (call->values[OSP_OPTION_GANG_SEGMENT])
		return osp_error_set(error, "--gang-layout makes segments itself: leave out "
					    "--gang-segment");
	if (grown->gpus && grown->gpus <= OSP_NODE_GPUS_MAX)
		input.gpus_per_node = grown->gpus;
	else if (osp_call_count(call, OSP_OPTION_GPUS_PER_NODE, OSP_NODE_GPUS_MAX,
				&input.gpus_per_node, error))
		return -1;
	if (osp_layout_parse(layout, &input.layout, &inner) ||
	    osp_layout_complete(&input.layout, grown->stay, input.gpus_per_node, &inner))
		return osp_option_error("gang-layout", &inner, error);
	if (keep && osp_keeps_parse(keep, world->all_places, &input.keeps, &inner))
		return osp_option_error("gang-keep", &inner, error);
	if (osp_layout_segments_find(&input, &found, error) ||
	    osp_layout_segments_grow(world->all_places, grown->in_segment, &found.segments, error))
		return -1;
	*segments = found.segments;
	return 0;
}

/* Reads --gang-domains. */
static int parse_domains(const struct osp_call *call, uint32_t *domains_max,
			 struct osp_error *error)
{
	const char *most = call->values[OSP_OPTION_GANG_DOMAINS];
	unsigned long number = 1;
	char *end;

	errno = 0;
	if (most) {
		number = strtoul(most, &end, 10);
		if (errno || *end || *most < '0' || *most > '9' || !number ||
		    number > OSP_NODES_MAX)
			return osp_error_set(error,
					     "--gang-domains=%.40s: a whole number from 1 to %d",
					     most, OSP_NODES_MAX);
	}
	*domains_max = (uint32_t)number;
	return 0;
}

/* Counts the spares of all segments of a layout. */
static int count_of_layout(const struct osp_call *call, const struct osp_world *world,
			   uint32_t level, const struct osp_fit_grown *grown, uint32_t *all,
			   struct osp_error *error)
{
	struct osp_segments segments;
	uint32_t domains_max, unit;

	if (parse_domains(call, &domains_max, error) ||
	    find_layout_segments(call, world, grown, level, domains_max, &segments, error))
		return -1;
	if (!segments.count)
		return osp_error_set(error,
				     "--gang-spares=%u/segment are spares in each segment, and "
				     "--gang-layout makes none here: say --gang-spares=%u",
				     grown->in_segment, grown->in_segment);
	unit = segments.segment[0].nodes - grown->in_segment;
	*all = (grown->stay + unit - 1) / unit * grown->in_segment;
	return 0;
}

int osp_fit_add_spares(const struct osp_call *call, const struct osp_world *world,
		       struct osp_fit_question *question, struct osp_fit_grown *grown,
		       struct osp_error *error)
{
	const char *value = call->values[OSP_OPTION_FIT_SPARES];
	const char *segments = call->values[OSP_OPTION_GANG_SEGMENT];
	struct osp_spares spares = {.count = 0};
	uint32_t all;

	grown->stay = question->need_nodes;
	if (!value)
		return 0;
	if (osp_spares_parse(value, &spares))
		return osp_error_set(error,
				     "--gang-spares=%.40s: a number of spare nodes from 0 to %d, "
				     "or K/segment for K in each segment",
				     value, OSP_SPARES_MAX);
	all = spares.count;
	grown->in_segment = spares.per_segment ? spares.count : 0;
	if (spares.per_segment && call->values[OSP_OPTION_GANG_LAYOUT]) {
		if (count_of_layout(call, world, question->level, grown, &all, error))
			return -1;
	} else if (spares.per_segment && !segments) {
		return osp_error_set(error,
				     "--gang-spares=%s are spares in each segment: give "
				     "--gang-segment too, as in --gang-segment=leaf:16",
				     value);
	} else if (spares.per_segment && osp_spares_grow(segments, spares.count, grown->stay,
							 grown->segments, &all, error)) {
		return -1;
	}
	if (all > OSP_NODES_MAX - question->want_nodes)
		return 0;
	question->need_nodes += all;
	question->want_nodes += all;
	return 0;
}

/* Checks that a gang whose segments are those that stay has no spares of the job. */
static int check_spares(const struct osp_call *call, const struct osp_fit_grown *grown,
			const struct osp_fit_question *question,
			const struct osp_segments *segments, struct osp_error *error)
{
	if (!segments->count || grown->in_segment || question->need_nodes == grown->stay)
		return 0;
	return osp_error_set(error,
			     "--gang-spares=%s would be released out of a segment: say "
			     "--gang-spares=K/segment, for K spare nodes in each segment's domain",
			     call->values[OSP_OPTION_FIT_SPARES]);
}

/* Finds the segments, with their spares. */
static int parse_segments(const struct osp_call *call, const struct osp_world *world,
			  const struct osp_fit_grown *grown,
			  const struct osp_fit_question *question, uint32_t *domains_max,
			  struct osp_segments *segments, struct osp_error *error)
{
	const char *list =
		*grown->segments ? grown->segments : call->values[OSP_OPTION_GANG_SEGMENT];
	struct osp_error inner = {.text = ""};

	if (question->need_nodes != question->want_nodes)
		return osp_error_set(error,
				     "-N %u-%u: segments and several domains take an exact "
				     "number of nodes",
				     question->need_nodes, question->want_nodes);
	if (question->required_nodes)
		return osp_error_set(error,
				     "-w goes with none of --gang-domains, --gang-segment and "
				     "--gang-layout");
	if (parse_domains(call, domains_max, error))
		return -1;
	if (call->values[OSP_OPTION_GANG_LAYOUT] || call->values[OSP_OPTION_GANG_KEEP])
		return find_layout_segments(call, world, grown, question->level, *domains_max,
					    segments, error);
	if (!list ||
	    !osp_segments_parse(list, world->all_places, question->level, segments, &inner))
		return 0;
	return inner.column ? osp_error_set(error, "--gang-segment, column %d: %s", inner.column,
					    inner.text)
			    : osp_error_set(error, "--gang-segment: %s", inner.text);
}

bool osp_fit_in_parts(const struct osp_call *call, const struct osp_world *world,
		      const struct osp_fit_grown *grown, const struct osp_fit_question *question)
{
	struct osp_segments segments = {.count = 0};
	struct osp_error ignored = {.text = ""};
	uint32_t domains_max = 1;

	return osp_fit_asks_segments(call) &&
	       (parse_segments(call, world, grown, question, &domains_max, &segments, &ignored) ||
		domains_max > 1 || segments.count);
}

const char *osp_fit_segments_chosen(const struct osp_world *world,
				    const struct osp_segments_answer *answer, uint32_t domains,
				    char *buffer, size_t buffer_bytes)
{
	const char *level = osp_topology_level_name(world->topology, answer->input.level);
	char plural[64], segments[OSP_SEGMENTS_BYTES];

	osp_segments_format(&answer->input.segments, world->topology, segments, sizeof(segments));
	snprintf(buffer, buffer_bytes, "%u node%s on %u %s%s%s", answer->input.nodes,
		 osp_plural_s(answer->input.nodes), domains,
		 domains == 1 ? level : osp_sentence_plural(level, plural, sizeof(plural)),
		 *segments ? " in segments " : "", segments);
	return buffer;
}

const char *osp_fit_segments_wait(const struct osp_world *world,
				  const struct osp_segments_answer *answer, char *buffer,
				  size_t buffer_bytes)
{
	if (answer->now.fits)
		return osp_sentence_segments_not_started(buffer, buffer_bytes);
	return osp_sentence_segments_wait(world->topology, &answer->input, NULL, &answer->now,
					  answer->ever, buffer, buffer_bytes);
}

void osp_fit_segments_left(const struct osp_world *world, const struct osp_segments_answer *answer,
			   struct osp_text *text)
{
	char words[OSP_SENTENCE_BYTES];

	osp_sentence_segments_left(world->topology, &answer->input.segments, answer->input.nodes,
				   words, sizeof(words));
	if (*words)
		osp_text_printf(text, "  %s\n", words);
}

void osp_fit_segments_to_json(const struct osp_world *world,
			      const struct osp_segments_answer *answer, bool starts, json_t *root)
{
	char words[OSP_SENTENCE_BYTES], segments[OSP_SEGMENTS_BYTES];

	json_object_set_new(root, "domains_max", json_integer(answer->input.domains_max));
	json_object_set_new(
		root, "segments",
		osp_json_string(osp_segments_format(&answer->input.segments, world->topology,
						    segments, sizeof(segments))));
	osp_sentence_segments_left(world->topology, &answer->input.segments, answer->input.nodes,
				   words, sizeof(words));
	if (*words)
		json_object_set_new(root, "left", osp_json_string(words));
	json_object_set_new(root, "could_ever", json_boolean(answer->ever));
	if (starts)
		return;
	json_object_set_new(root, "whole_needed", json_integer(answer->now.whole_needed));
	json_object_set_new(root, "whole_free", json_integer(answer->now.whole_offered));
}

void osp_fit_report_partition(const struct osp_fit_question *question, bool starts,
			      struct osp_text *text, json_t *root)
{
	if (!question->of_several)
		return;
	if (text)
		osp_text_printf(text, "  in partition %s%s\n", question->partitions,
				starts ? "" : "; the others have no room now either");
	if (root)
		json_object_set_new(root, "partition", osp_json_string(question->partitions));
}

static const char *says(const struct osp_world *world, const struct osp_segments_answer *answer,
			char *buffer, size_t buffer_bytes)
{
	return answer->now.fits ? osp_fit_segments_chosen(world, answer, answer->now.domains,
							  buffer, buffer_bytes)
				: osp_fit_segments_wait(world, answer, buffer, buffer_bytes);
}

static int print_segments(const struct osp_world *world, const struct osp_fit_question *question,
			  const struct osp_segments_answer *answer, int status)
{
	struct osp_text text = OSP_TEXT_INIT;
	char words[OSP_SENTENCE_BYTES];

	osp_text_printf(&text, "%s: %s\n", status == OSP_EXIT_YES ? "would start now" : "no",
			says(world, answer, words, sizeof(words)));
	osp_fit_report_partition(question, status == OSP_EXIT_YES, &text, NULL);
	osp_fit_segments_left(world, answer, &text);
	if (status == OSP_EXIT_NO)
		osp_segments_table(world, answer, OSP_FIT_DOMAINS_SHOWN, &text);
	else if (!osp_leaves_text(world, answer->chosen, &text))
		text.failed = true;
	if (status == OSP_EXIT_YES)
		osp_report_queue(world, question->partitions, &text, NULL);
	osp_report_old_places(world, &text, NULL);
	return osp_print_text(&text, status);
}

static int print_segments_json(const struct osp_world *world,
			       const struct osp_fit_question *question,
			       const struct osp_segments_answer *answer, int status)
{
	json_t *root = json_object();
	char words[OSP_SENTENCE_BYTES];
	char *list = osp_snapshot_hostlist(world->snapshot, answer->chosen);

	json_object_set_new(root, "starts_now", json_boolean(status == OSP_EXIT_YES));
	json_object_set_new(
		root, "level",
		osp_json_string(osp_topology_level_name(world->topology, answer->input.level)));
	json_object_set_new(root, "need", json_integer(answer->input.nodes));
	json_object_set_new(root, "says",
			    osp_json_string(says(world, answer, words, sizeof(words))));
	osp_fit_report_partition(question, status == OSP_EXIT_YES, NULL, root);
	osp_fit_segments_to_json(world, answer, status == OSP_EXIT_YES, root);
	if (status == OSP_EXIT_YES) {
		json_object_set_new(root, "domains", json_integer(answer->now.domains));
		json_object_set_new(root, "nodes", list ? osp_json_string(list) : NULL);
		json_object_set_new(root, "leaves", osp_leaves_to_json(world, answer->chosen));
		osp_report_queue(world, question->partitions, NULL, root);
	}
	free(list);
	osp_report_old_places(world, NULL, root);
	return osp_print_json(root, status);
}

int osp_fit_ask_segments(const struct osp_call *call, const struct osp_world *world,
			 const struct osp_fit_grown *grown, const struct osp_fit_question *question,
			 const struct osp_fit_answer *nodes, struct osp_segments_answer *answer,
			 struct osp_error *error)
{
	struct osp_segments segments = {.count = 0};
	uint32_t domains_max = 1;

	if (parse_segments(call, world, grown, question, &domains_max, &segments, error) ||
	    check_spares(call, grown, question, &segments, error))
		return -1;
	return osp_ask_segments(world, nodes, domains_max, &segments, answer, error);
}

bool osp_fit_segments_never(const struct osp_call *call, const struct osp_world *world,
			    const struct osp_fit_grown *grown,
			    const struct osp_fit_question *question,
			    const struct osp_fit_answer *nodes)
{
	struct osp_segments_answer answer = {.cut = NULL};
	struct osp_error error = {.text = ""};
	bool never = !osp_fit_ask_segments(call, world, grown, question, nodes, &answer, &error) &&
		     !answer.now.fits && !answer.ever;

	osp_segments_answer_clear(&answer);
	return never;
}

int osp_fit_answer_segments(const struct osp_call *call, const struct osp_world *world,
			    const struct osp_fit_grown *grown,
			    const struct osp_fit_question *question,
			    const struct osp_fit_answer *nodes)
{
	struct osp_segments_answer answer = {.cut = NULL};
	struct osp_error error = {.text = ""};
	int status;

	if (osp_fit_ask_segments(call, world, grown, question, nodes, &answer, &error)) {
		status = osp_say_error(&error);
	} else {
		status = answer.now.fits ? OSP_EXIT_YES : OSP_EXIT_NO;
		status = (call->values[OSP_OPTION_JSON] ? print_segments_json : print_segments)(
			world, question, &answer, status);
	}
	osp_segments_answer_clear(&answer);
	return status;
}
