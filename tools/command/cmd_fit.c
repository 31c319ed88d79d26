/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_fit.c - `onespine fit`: would such a gang start now, and where? */
#include "tools/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/policy/request.h"
#include "lib/policy/words.h"
#include "host/slurm/ask.h"
#include "host/slurm/ask_segments.h"
#include "lib/layout/layout_segments.h"
#include "tools/command/layout_options.h"
#include "tools/command/world.h"

#define DOMAINS_SHOWN 10

/* "12" or "4-8" */
static int parse_size(const char *value, struct osp_fit_question *question, struct osp_error *error)
{
	unsigned long least;
	unsigned long most;
	char *end;

	errno = 0;
	least = strtoul(value, &end, 10);
	most = least;
	if (end != value && *end == '-' && end[1] >= '0' && end[1] <= '9')
		most = strtoul(end + 1, &end, 10);
	if (errno || *end || *value < '0' || *value > '9' || least < 1 || most < least ||
	    most > OSP_NODES_MAX)
		return osp_error_set(error,
				     "-N %.40s: a number of nodes, or LEAST-MOST, from 1 to %d",
				     value, OSP_NODES_MAX);
	question->need_nodes = (uint32_t)least;
	question->want_nodes = (uint32_t)most;
	return 0;
}

/* The lowest level that may do, for --gang=leaf,prefer; below `level`. */
static int find_preferred(const struct osp_world *world, const char *prefer, uint32_t level,
			  uint32_t *least, struct osp_error *error)
{
	int found = osp_ask_level(world, prefer, error);

	if (found < 0)
		return -1;
	if ((uint32_t)found >= level)
		return osp_error_set(
			error,
			"--gang=%s,prefer: %s is no level below the one that gangs of the "
			"partition are held to, %s; ask for --gang=%s",
			prefer, prefer, osp_topology_level_name(world->topology, level), prefer);
	*least = (uint32_t)found;
	return 0;
}

/* The question of the command line, under the partition's policy. */
static int build_question(const struct osp_call *call, const struct osp_world *world,
			  struct osp_fit_question *question, uint32_t *least,
			  struct osp_error *error)
{
	const char *partition = call->values[OSP_OPTION_PARTITION];
	const struct osp_state_partition *standard =
		osp_snapshot_find_partition(world->snapshot, NULL);
	struct osp_request request = {.relax_s = -1};
	const struct osp_policy *policy;
	int level;

	if (osp_ask_partition(world, partition, error) < 0)
		return -1;
	if (!partition && standard)
		partition = standard->name;
	policy = osp_config_policy(world->config, partition);
	if (osp_request_parse(call->values[OSP_OPTION_GANG], &request, error) < 0)
		return -1;
	if (request.asked == OSP_ASKED_OFF)
		return osp_error_set(error, "--gang=off is no gang: there is nothing to place");
	level = osp_ask_level(world, *request.level ? request.level : policy->level, error);
	if (level < 0)
		return -1;
	if (policy->mode != OSP_MODE_ENFORCE)
		osp_say_warning(
			"partition %s is in mode %s: Slurm places its jobs as if there were no "
			"gangs",
			partition ? partition : "by default", osp_mode_name(policy->mode));
	question->partitions = partition;
	question->required_nodes = call->values[OSP_OPTION_NODELIST];
	question->excluded_nodes = call->values[OSP_OPTION_EXCLUDE];
	question->level = (uint32_t)level;
	question->mix_kinds = policy->mix_kinds;
	*least = question->level;
	return *request.prefer
		       ? find_preferred(world, request.prefer, question->level, least, error)
		       : 0;
}

/* From the lowest level that may do upwards, until there is room. */
static int ask_levels(const struct osp_world *world, struct osp_fit_question *question,
		      uint32_t least, struct osp_fit_answer *answer, struct osp_error *error)
{
	uint32_t most = question->level;

	for (question->level = least;; question->level++) {
		if (osp_ask(world, question, answer, error) < 0)
			return -1;
		if (question->level == most || !osp_nodeset_empty(answer->chosen))
			return 0;
		osp_answer_clear(answer);
	}
}

static const char *says(const struct osp_world *world, const struct osp_fit_answer *answer,
			char *buffer, size_t buffer_bytes)
{
	uint32_t count = osp_nodeset_count(answer->chosen);

	if (!count)
		return osp_words_waits(world->topology, &answer->input, answer->domains,
				       answer->candidate_count, answer->domain_count, buffer,
				       buffer_bytes);
	snprintf(buffer, buffer_bytes, "%u nodes on %s %s", count,
		 osp_topology_level_name(world->topology, answer->input.level),
		 osp_topology_domain(world->topology, answer->domains[0].domain)->name);
	return buffer;
}

static int print_answer(const struct osp_world *world, const struct osp_fit_answer *answer,
			int status)
{
	struct osp_text text = OSP_TEXT_INIT;
	char words[OSP_WORDS_BYTES];

	osp_text_printf(&text, "%s: %s\n", status == OSP_EXIT_YES ? "would start now" : "no",
			says(world, answer, words, sizeof(words)));
	if (status == OSP_EXIT_YES) {
		if (!osp_leaves_text(world, answer->chosen, &text))
			text.failed = true;
		if (answer->domains[0].boot_nodes)
			osp_text_printf(&text, "  %u of them must be powered up first\n",
					answer->domains[0].boot_nodes);
	} else if (answer->domain_count) {
		osp_answer_table(world, answer, DOMAINS_SHOWN, &text);
	}
	osp_tell_old_places(world, &text, NULL);
	return osp_print_text(&text, status);
}

static int print_answer_json(const struct osp_world *world, const struct osp_fit_answer *answer,
			     int status)
{
	json_t *root = json_object();
	char words[OSP_WORDS_BYTES];
	char *list;

	json_object_set_new(root, "starts_now", json_boolean(status == OSP_EXIT_YES));
	json_object_set_new(
		root, "level",
		osp_json_string(osp_topology_level_name(world->topology, answer->input.level)));
	json_object_set_new(root, "need", json_integer(answer->input.need_nodes));
	json_object_set_new(root, "want", json_integer(answer->input.want_nodes));
	json_object_set_new(root, "says",
			    osp_json_string(says(world, answer, words, sizeof(words))));
	if (status == OSP_EXIT_YES) {
		const struct osp_place_domain *best = &answer->domains[0];

		list = osp_snapshot_hostlist(world->snapshot, answer->chosen);
		json_object_set_new(
			root, "domain",
			osp_json_string(osp_topology_domain(world->topology, best->domain)->name));
		json_object_set_new(root, "count", json_integer(osp_nodeset_count(answer->chosen)));
		json_object_set_new(root, "nodes", list ? osp_json_string(list) : NULL);
		json_object_set_new(root, "leaves", osp_leaves_to_json(world, answer->chosen));
		json_object_set_new(root, "boot", json_integer(best->boot_nodes));
		free(list);
	}
	json_object_set_new(root, "domains", osp_answer_to_json(world, answer, UINT32_MAX));
	osp_tell_old_places(world, NULL, root);
	return osp_print_json(root, status);
}

/* --- segments, several domains ---------------------------------------------------------------- */

static bool asks_segments(const struct osp_call *call)
{
	return call->values[OSP_OPTION_GANG_DOMAINS] || call->values[OSP_OPTION_GANG_SEGMENT] ||
	       call->values[OSP_OPTION_GANG_LAYOUT] || call->values[OSP_OPTION_GANG_KEEP];
}

/* The segments that keep the groups of --gang-layout together. */
static int find_layout_segments(const struct osp_call *call, const struct osp_world *world,
				const struct osp_fit_question *question, uint32_t domains_max,
				struct osp_segments *segments, struct osp_error *error)
{
	const char *layout = call->values[OSP_OPTION_GANG_LAYOUT];
	const char *keep = call->values[OSP_OPTION_GANG_KEEP];
	struct osp_layout_segments_input input = {.gpus_per_node = OSP_NODE_GPUS_STANDARD,
						  .topology = world->topology,
						  .level = question->level,
						  .one_domain = domains_max <= 1};
	struct osp_layout_segments found;
	struct osp_error inner = {.text = ""};

	if (!layout)
		return osp_error_set(error, "--gang-keep names groups of a layout: say "
					    "--gang-layout too, as in --gang-layout=tp8,pp8");
	if (call->values[OSP_OPTION_GANG_SEGMENT])
		return osp_error_set(error, "--gang-layout makes segments itself: leave out "
					    "--gang-segment");
	if (osp_call_count(call, OSP_OPTION_GPUS_PER_NODE, OSP_NODE_GPUS_MAX, &input.gpus_per_node,
			   error))
		return -1;
	if (osp_layout_parse(layout, &input.layout, &inner) ||
	    osp_layout_complete(&input.layout, question->need_nodes, input.gpus_per_node, &inner))
		return osp_option_error("gang-layout", &inner, error);
	if (keep && osp_keeps_parse(keep, world->topology, &input.keeps, &inner))
		return osp_option_error("gang-keep", &inner, error);
	if (osp_layout_segments_find(&input, &found, error))
		return -1;
	*segments = found.segments;
	return 0;
}

static int parse_segments(const struct osp_call *call, const struct osp_world *world,
			  const struct osp_fit_question *question, uint32_t *domains_max,
			  struct osp_segments *segments, struct osp_error *error)
{
	const char *most = call->values[OSP_OPTION_GANG_DOMAINS];
	const char *list = call->values[OSP_OPTION_GANG_SEGMENT];
	struct osp_error inner = {.text = ""};
	unsigned long number = 1;
	char *end;

	if (question->need_nodes != question->want_nodes)
		return osp_error_set(error,
				     "-N %u-%u: segments and several domains take an exact "
				     "number of nodes",
				     question->need_nodes, question->want_nodes);
	if (question->required_nodes)
		return osp_error_set(error,
				     "-w goes with none of --gang-domains, --gang-segment and "
				     "--gang-layout");
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
	if (call->values[OSP_OPTION_GANG_LAYOUT] || call->values[OSP_OPTION_GANG_KEEP])
		return find_layout_segments(call, world, question, *domains_max, segments, error);
	if (!list || !osp_segments_parse(list, world->topology, question->level, segments, &inner))
		return 0;
	return inner.column ? osp_error_set(error, "--gang-segment, column %d: %s", inner.column,
					    inner.text)
			    : osp_error_set(error, "--gang-segment: %s", inner.text);
}

static const char *says_segments(const struct osp_world *world,
				 const struct osp_segments_answer *answer, char *buffer,
				 size_t buffer_bytes)
{
	const char *level = osp_topology_level_name(world->topology, answer->input.level);
	char plural[64], segments[OSP_SEGMENTS_BYTES];

	if (!answer->now.fits)
		return osp_words_segments_wait(world->topology, &answer->input, NULL, &answer->now,
					       answer->ever, buffer, buffer_bytes);
	osp_segments_format(&answer->input.segments, world->topology, segments, sizeof(segments));
	snprintf(buffer, buffer_bytes, "%u nodes on %u %s%s%s", answer->input.nodes,
		 answer->now.domains,
		 answer->now.domains == 1 ? level : osp_words_plural(level, plural, sizeof(plural)),
		 *segments ? " in segments " : "", segments);
	return buffer;
}

static int print_segments(const struct osp_world *world, const struct osp_segments_answer *answer,
			  int status)
{
	struct osp_text text = OSP_TEXT_INIT;
	char words[OSP_WORDS_BYTES];

	osp_text_printf(&text, "%s: %s\n", status == OSP_EXIT_YES ? "would start now" : "no",
			says_segments(world, answer, words, sizeof(words)));
	if (status == OSP_EXIT_NO)
		osp_segments_table(world, answer, DOMAINS_SHOWN, &text);
	else if (!osp_leaves_text(world, answer->chosen, &text))
		text.failed = true;
	osp_tell_old_places(world, &text, NULL);
	return osp_print_text(&text, status);
}

static int print_segments_json(const struct osp_world *world,
			       const struct osp_segments_answer *answer, int status)
{
	json_t *root = json_object();
	char words[OSP_WORDS_BYTES], segments[OSP_SEGMENTS_BYTES];
	char *list = osp_snapshot_hostlist(world->snapshot, answer->chosen);

	json_object_set_new(root, "starts_now", json_boolean(status == OSP_EXIT_YES));
	json_object_set_new(
		root, "level",
		osp_json_string(osp_topology_level_name(world->topology, answer->input.level)));
	json_object_set_new(root, "need", json_integer(answer->input.nodes));
	json_object_set_new(root, "domains_max", json_integer(answer->input.domains_max));
	json_object_set_new(
		root, "segments",
		osp_json_string(osp_segments_format(&answer->input.segments, world->topology,
						    segments, sizeof(segments))));
	json_object_set_new(root, "says",
			    osp_json_string(says_segments(world, answer, words, sizeof(words))));
	json_object_set_new(root, "could_ever", json_boolean(answer->ever));
	if (status == OSP_EXIT_YES) {
		json_object_set_new(root, "domains", json_integer(answer->now.domains));
		json_object_set_new(root, "nodes", list ? osp_json_string(list) : NULL);
		json_object_set_new(root, "leaves", osp_leaves_to_json(world, answer->chosen));
	} else {
		json_object_set_new(root, "whole_needed", json_integer(answer->now.whole_needed));
		json_object_set_new(root, "whole_free", json_integer(answer->now.whole_offered));
	}
	free(list);
	osp_tell_old_places(world, NULL, root);
	return osp_print_json(root, status);
}

static int answer_segments(const struct osp_call *call, const struct osp_world *world,
			   const struct osp_fit_question *question,
			   const struct osp_fit_answer *nodes)
{
	struct osp_segments_answer answer = {.cut = NULL};
	struct osp_segments segments = {.count = 0};
	struct osp_error error = {.text = ""};
	uint32_t domains_max = 1;
	int status;

	if (parse_segments(call, world, question, &domains_max, &segments, &error) ||
	    osp_ask_segments(world, nodes, domains_max, &segments, &answer, &error)) {
		status = osp_say_error(&error);
	} else {
		status = answer.now.fits ? OSP_EXIT_YES : OSP_EXIT_NO;
		status = (call->values[OSP_OPTION_JSON] ? print_segments_json
							: print_segments)(world, &answer, status);
	}
	osp_segments_answer_clear(&answer);
	return status;
}

int osp_run_fit(const struct osp_call *call)
{
	struct osp_fit_question question = {.partitions = NULL};
	struct osp_fit_answer answer = {.place = NULL};
	struct osp_world world = {.snapshot = NULL};
	struct osp_error error = {.text = ""};
	int status = OSP_EXIT_UNABLE;
	uint32_t least = 1;

	if (!call->values[OSP_OPTION_NODES]) {
		osp_error_set(&error, "onespine fit needs -N COUNT, the size of the gang");
		return osp_say_error(&error);
	}
	if (parse_size(call->values[OSP_OPTION_NODES], &question, &error) < 0 ||
	    osp_call_world(call, &world, &error) < 0 ||
	    build_question(call, &world, &question, &least, &error) < 0 ||
	    ask_levels(&world, &question, least, &answer, &error) < 0) {
		osp_say_error(&error);
	} else if (asks_segments(call)) {
		status = answer_segments(call, &world, &question, &answer);
	} else {
		status = osp_nodeset_empty(answer.chosen) ? OSP_EXIT_NO : OSP_EXIT_YES;
		status = (call->values[OSP_OPTION_JSON] ? print_answer_json
							: print_answer)(&world, &answer, status);
	}
	osp_answer_clear(&answer);
	osp_world_close(&world);
	return status;
}
