/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_fit.c - `onespine fit`: would such a gang start now, and where? */
#include "tools/shared/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/policy/request.h"
#include "lib/policy/words.h"
#include "tools/slurm/ask.h"

#define DOMAINS_SHOWN 10

/* "12" or "4-8" */
static int parse_size(const char *value, struct osp_question *question, struct osp_error *error)
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

/* The question of the command line, under the partition's policy. */
static int build_question(const struct osp_call *call, const struct osp_world *world,
			  struct osp_question *question, struct osp_error *error)
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
	return 0;
}

static const char *says(const struct osp_world *world, const struct osp_answer *answer,
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

static int print_answer(const struct osp_world *world, const struct osp_answer *answer, int status)
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
	return osp_print_text(&text, status);
}

static int print_answer_json(const struct osp_world *world, const struct osp_answer *answer,
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
	return osp_print_json(root, status);
}

int osp_run_fit(const struct osp_call *call)
{
	struct osp_question question = {.partitions = NULL};
	struct osp_answer answer = {.place = NULL};
	struct osp_world world = {.snapshot = NULL};
	struct osp_error error = {.text = ""};
	int status = OSP_EXIT_UNABLE;

	if (!call->values[OSP_OPTION_NODES]) {
		osp_error_set(&error, "onespine fit needs -N COUNT, the size of the gang");
		return osp_say_error(&error);
	}
	if (parse_size(call->values[OSP_OPTION_NODES], &question, &error) < 0 ||
	    osp_world_open(call, &world, &error) < 0 ||
	    build_question(call, &world, &question, &error) < 0 ||
	    osp_ask(&world, &question, &answer, &error) < 0) {
		osp_say_error(&error);
	} else {
		status = osp_nodeset_empty(answer.chosen) ? OSP_EXIT_NO : OSP_EXIT_YES;
		status = (call->values[OSP_OPTION_JSON] ? print_answer_json
							: print_answer)(&world, &answer, status);
	}
	osp_answer_clear(&answer);
	osp_world_close(&world);
	return status;
}
