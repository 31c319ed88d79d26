/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fit_scheduler.c - onespine fit: the answer of slurmctld, in agreement with the states of nodes */
#define _GNU_SOURCE /* strptime */

#include "tools/command/fit_scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "host/slurm/licenses.h"
#include "lib/policy/sentences.h"
#include "lib/policy/waiting.h"
#include "tools/command/command.h"
#include "tools/command/fit_gpus.h"

#define NOW_S 2 /* a node that is ending a job is given a second later */

/* Says that nodes of -w which it could have are down, drained or reserved now, in the words of why.
 * Returns false if all that it could have are usable. */
static bool says_required_is_out(const struct osp_world *world, const struct osp_fit_answer *answer,
				 char *buffer, size_t buffer_bytes)
{
	struct osp_waiting out = {.reason = "ReqNodeNotAvail"};
	bool is_out = false;
	char *list;

	for (uint32_t n = osp_nodeset_next(answer->required, 0);
	     n < answer->required->place_count && !is_out;
	     n = osp_nodeset_next(answer->required, n + 1))
		is_out =
			osp_nodeset_test(answer->within, n) && !osp_nodeset_test(answer->usable, n);
	if (!is_out)
		return false;
	list = osp_snapshot_hostlist(world->snapshot, answer->required);
	out.required = list;
	osp_waiting_words(&out, buffer, buffer_bytes);
	free(list);
	return true;
}

const char *osp_fit_says(const struct osp_world *world, const struct osp_fit_answer *answer,
			 char *buffer, size_t buffer_bytes)
{
	const struct osp_sentence_asked asked = {.features = answer->features};
	uint32_t count = osp_nodeset_count(answer->chosen);

	if (!count && says_required_is_out(world, answer, buffer, buffer_bytes))
		return buffer;
	if (!count)
		return osp_sentence_waits(world->topology, &answer->input, &asked, answer->domains,
					  answer->candidate_count, answer->domain_count, buffer,
					  buffer_bytes);
	snprintf(buffer, buffer_bytes, "%u node%s on %s %s", count, osp_plural_s(count),
		 osp_topology_level_name(world->topology, answer->input.level),
		 osp_topology_domain(world->topology, answer->domains[0].domain)->name);
	return buffer;
}

/* Counts the domains of a level that have the nodes; *last is the last one. Nodes without a domain
 * count as one. */
static uint32_t count_domains(const struct osp_topology *topology, uint32_t level,
			      const struct osp_nodeset *set, uint32_t *last)
{
	uint32_t count = 0, first = 0;

	if (osp_topology_is_overlay(topology, level))
		first = osp_topology_node_count(topology) *
			(level - osp_topology_level_count(topology));
	*last = OSP_NO_DOMAIN;
	for (uint32_t rank = 0; rank < set->place_count; rank++) {
		uint32_t node = osp_topology_node_at_rank(topology, first + rank);
		uint32_t domain;

		if (!osp_nodeset_test(set, node))
			continue;
		domain = osp_topology_domain_of(topology, node, level);
		if (!count || domain != *last)
			count++;
		*last = domain;
	}
	return count;
}

/* Writes "4 nodes on spine s1". For a gang that prefers a lower level, that level is named if its
 * nodes are in one domain there. */
static void say_chosen(const struct osp_fit *fit, char *buffer, size_t buffer_bytes)
{
	const struct osp_topology *topology = fit->world.topology;
	uint32_t level = fit->question.level, domain, domains;
	uint32_t count = osp_nodeset_count(fit->chosen);
	char plural[64];

	if (fit->in_parts) {
		domains = count_domains(topology, level, fit->chosen, &domain);
		osp_fit_segments_chosen(&fit->world, &fit->parts, domains, buffer, buffer_bytes);
		return;
	}
	for (uint32_t low = fit->least; low < level; low++)
		if (count_domains(topology, low, fit->chosen, &domain) == 1 &&
		    domain != OSP_NO_DOMAIN)
			level = low;
	domains = count_domains(topology, level, fit->chosen, &domain);
	if (domains == 1 && domain != OSP_NO_DOMAIN)
		snprintf(buffer, buffer_bytes, "%u node%s on %s %s", count, osp_plural_s(count),
			 osp_topology_level_name(topology, level),
			 osp_topology_domain(topology, domain)->name);
	else
		snprintf(buffer, buffer_bytes, "%u node%s on %u %s", count, osp_plural_s(count),
			 domains,
			 osp_sentence_plural(osp_topology_level_name(topology, level), plural,
					     sizeof(plural)));
}

static uint32_t count_boots(const struct osp_fit *fit)
{
	uint32_t count = 0;

	for (uint32_t n = osp_nodeset_next(fit->chosen, 0); n < fit->chosen->place_count;
	     n = osp_nodeset_next(fit->chosen, n + 1))
		count += osp_node_boots(&fit->world.snapshot->nodes[n]);
	return count;
}

/* Returns whether the start may be now, and the rest the time that Slurm adds for waiting jobs: a
 * whole number of minutes (_delayed_job_start_time(), job_scheduler.c). */
static bool may_be_now(const struct osp_sbatch_answer *sbatch)
{
	int64_t least_s = sbatch->start_s - sbatch->answered_s - NOW_S;
	int64_t most_s = sbatch->start_s - sbatch->asked_s;

	return most_s / 60 * 60 >= least_s;
}

/* Returns whether jobs leave enough of the node, and memory cannot decide otherwise. */
static bool leaves_enough(const struct osp_fit *fit, uint32_t node)
{
	return fit->answer.free && osp_nodeset_test(fit->answer.free, node) &&
	       fit->question.memory_mib != OSP_MEMORY_UNKNOWN && may_be_now(&fit->sbatch);
}

/* Returns whether the gang has room on every node that sbatch named. */
static bool all_have_room(const struct osp_fit *fit)
{
	uint32_t count = osp_nodeset_count(fit->chosen);

	for (uint32_t n = osp_nodeset_next(fit->chosen, 0); n < fit->chosen->place_count;
	     n = osp_nodeset_next(fit->chosen, n + 1))
		if (!osp_node_free(&fit->world.snapshot->nodes[n]) && !leaves_enough(fit, n))
			return false;
	return count > 0 && osp_fit_has_gpus(fit, fit->chosen);
}

bool osp_fit_begins_later(const char *begin)
{
	struct tm when = {.tm_isdst = -1};
	const char *rest;

	if (!begin || !strcasecmp(begin, "now"))
		return false;
	rest = strptime(begin, "%Y-%m-%d", &when);
	if (!rest)
		return true;
	if (*rest == 'T')
		strptime(rest, "T%H:%M", &when);
	return mktime(&when) > time(NULL);
}

/* Returns whether the gang starts now. Slurm adds to the start the time that waiting jobs will take
 * (job_start_data()); here they are not considered. */
static bool starts_now(const struct osp_fit *fit)
{
	if (fit->sbatch.result != OSP_SBATCH_STARTS || fit->lacks_licenses || fit->partition_says)
		return false;
	return fit->sbatch.start_s <= (int64_t)time(NULL) + NOW_S ||
	       (!osp_fit_begins_later(fit->call->values[OSP_OPTION_FIT_BEGIN]) &&
		all_have_room(fit));
}

/* Says when it begins, and whether its reservation is over by then. */
static void say_begin(const struct osp_fit *fit, const struct osp_waiting *begins, char *buffer,
		      size_t buffer_bytes)
{
	size_t length;

	osp_waiting_words(begins, buffer, buffer_bytes);
	length = strlen(buffer);
	if (fit->reservation_over)
		snprintf(buffer + length, buffer_bytes - length,
			 ", and its reservation %.90s is over by then", fit->question.reservation);
}

/* Returns whether the nodes' states have room for it. */
static bool has_room(const struct osp_fit *fit)
{
	return fit->in_parts ? fit->parts.now.fits : !osp_nodeset_empty(fit->answer.chosen);
}

/* Says that nodes are free, and that --extra may exclude them. */
static void say_extra(const struct osp_fit *fit, char *buffer, size_t buffer_bytes)
{
	const struct osp_fit_answer *answer = &fit->answer;
	char free_nodes[80] = "its nodes are free";

	if (!fit->in_parts)
		snprintf(free_nodes, sizeof(free_nodes), "one %.40s has %u node%s free",
			 osp_topology_level_name(fit->world.topology, answer->input.level),
			 answer->domains[0].free_nodes,
			 osp_plural_s(answer->domains[0].free_nodes));
	snprintf(buffer, buffer_bytes,
		 "waits: %s, but Slurm starts it there later or never (nodes that --extra "
		 "excludes, memory, cores, GPUs, licenses or a limit)",
		 free_nodes);
}

/* Says why it does not start now, in agreement with what the nodes' states show. */
static const char *say_why_not(const struct osp_fit *fit, char *buffer, size_t buffer_bytes)
{
	const struct osp_fit_answer *answer = &fit->answer;
	const struct osp_waiting begins = {
		.reason = "BeginTime",
		.begin = fit->call->values[OSP_OPTION_FIT_BEGIN],
	};
	const struct osp_waiting lacks = {
		.reason = "Licenses",
		.licenses = fit->call->values[OSP_OPTION_FIT_LICENSES],
	};
	const struct osp_waiting comes = {
		.reason = "Reservation",
		.reservation = fit->question.reservation,
	};
	const struct osp_waiting not_allowed = {
		.reason = fit->partition_says,
		.partition = fit->question.partitions,
	};

	if (fit->sbatch.result == OSP_SBATCH_REFUSED)
		snprintf(buffer, buffer_bytes, "sbatch refuses it: %s", fit->sbatch.says);
	else if (fit->partition_says)
		osp_waiting_words(&not_allowed, buffer, buffer_bytes);
	else if (osp_fit_begins_later(begins.begin))
		say_begin(fit, &begins, buffer, buffer_bytes);
	else if (fit->reservation_comes)
		osp_waiting_words(&comes, buffer, buffer_bytes);
	else if (fit->lacks_licenses)
		osp_waiting_words(&lacks, buffer, buffer_bytes);
	else if (!answer->chosen)
		snprintf(buffer, buffer_bytes, "nodes that it needs are in use");
	else if (has_room(fit) && fit->call->values[OSP_OPTION_FIT_EXTRA])
		say_extra(fit, buffer, buffer_bytes);
	else if (fit->in_parts)
		osp_fit_segments_wait(&fit->world, &fit->parts, buffer, buffer_bytes);
	else if (!osp_nodeset_empty(answer->chosen) &&
		 osp_fit_lacks_gpus(fit, buffer, buffer_bytes))
		return buffer;
	else if (!osp_nodeset_empty(answer->chosen) && answer->partly &&
		 fit->question.memory_mib == OSP_MEMORY_UNKNOWN)
		snprintf(buffer, buffer_bytes,
			 "waits: one %s has %u node%s with enough left, but Slurm starts it there "
			 "later (jobs that wait before it, memory, licenses or a limit)",
			 osp_topology_level_name(fit->world.topology, answer->input.level),
			 answer->domains[0].free_nodes,
			 osp_plural_s(answer->domains[0].free_nodes));
	else if (!osp_nodeset_empty(answer->chosen))
		osp_sentence_not_started(
			osp_topology_level_name(fit->world.topology, answer->input.level),
			answer->domains[0].free_nodes, buffer, buffer_bytes);
	else
		osp_fit_says(&fit->world, answer, buffer, buffer_bytes);
	return buffer;
}

/* Returns whether Slurm's start is worth printing. It looks at no licenses, and adds up the time of
 * jobs that wait: centuries if one of them has no limit. */
static bool reports_start(const struct osp_fit *fit)
{
	return fit->sbatch.result == OSP_SBATCH_STARTS && !fit->lacks_licenses &&
	       !fit->partition_says &&
	       fit->sbatch.start_s < osp_plans_tell_until(fit->world.snapshot);
}

/* Adds Slurm's start where nodes have room and it is later: it has the time of all jobs with at
 * least the gang's priority before it. */
static void add_expected(const struct osp_fit *fit, struct osp_text *text)
{
	char when[32];

	if (reports_start(fit) && fit->sbatch.start_s > (int64_t)time(NULL) + NOW_S)
		osp_text_printf(text,
				"  Slurm expects it at %s, behind jobs that wait and come first\n",
				osp_format_time(fit->sbatch.start_s, when, sizeof(when)));
}

static int print_scheduler(const struct osp_fit *fit, int status)
{
	const struct osp_sbatch_answer *sbatch = &fit->sbatch;
	struct osp_text text = OSP_TEXT_INIT;
	char words[2 * OSP_SENTENCE_BYTES], when[32];
	uint32_t boots;

	if (status == OSP_EXIT_YES) {
		say_chosen(fit, words, sizeof(words));
		osp_text_printf(&text, "would start now: %s\n", words);
		osp_fit_report_partition(&fit->question, true, &text, NULL);
		if (fit->in_parts)
			osp_fit_segments_left(&fit->world, &fit->parts, &text);
		if (!osp_leaves_text(&fit->world, fit->chosen, &text))
			text.failed = true;
		boots = count_boots(fit);
		if (boots)
			osp_text_printf(&text, "  %u of them must be powered up first\n", boots);
		osp_report_queue(&fit->world, fit->question.partitions, &text, NULL);
		add_expected(fit, &text);
	} else {
		osp_text_printf(&text, "no: %s\n", say_why_not(fit, words, sizeof(words)));
		osp_fit_report_partition(&fit->question, false, &text, NULL);
		if (sbatch->result == OSP_SBATCH_REFUSED && *sbatch->cure)
			osp_text_printf(&text, "  %s\n", sbatch->cure);
		if (fit->in_parts)
			osp_fit_segments_left(&fit->world, &fit->parts, &text);
		if (reports_start(fit))
			osp_text_printf(
				&text, "  Slurm would start it at %s on %s%s\n",
				osp_format_time(sbatch->start_s, when, sizeof(when)), sbatch->nodes,
				osp_fit_begins_later(fit->call->values[OSP_OPTION_FIT_BEGIN])
					? ""
					: ", after the jobs that wait");
		if (fit->in_parts)
			osp_segments_table(&fit->world, &fit->parts, OSP_FIT_DOMAINS_SHOWN, &text);
		else if (sbatch->result != OSP_SBATCH_REFUSED && fit->answer.domain_count)
			osp_answer_table(&fit->world, &fit->answer, OSP_FIT_DOMAINS_SHOWN, &text);
	}
	osp_report_old_places(&fit->world, &text, NULL);
	return osp_print_text(&text, status);
}

static void chosen_to_json(const struct osp_fit *fit, json_t *root)
{
	const struct osp_topology *topology = fit->world.topology;
	uint32_t domain, domains;

	domains = count_domains(topology, fit->question.level, fit->chosen, &domain);
	if (fit->in_parts)
		json_object_set_new(root, "domains", json_integer(domains));
	else if (domains == 1 && domain != OSP_NO_DOMAIN)
		json_object_set_new(root, "domain",
				    osp_json_string(osp_topology_domain(topology, domain)->name));
	json_object_set_new(root, "count", json_integer(osp_nodeset_count(fit->chosen)));
	json_object_set_new(root, "nodes", osp_json_string(fit->sbatch.nodes));
	json_object_set_new(root, "leaves", osp_leaves_to_json(&fit->world, fit->chosen));
	json_object_set_new(root, "boot", json_integer(count_boots(fit)));
	osp_report_queue(&fit->world, fit->question.partitions, NULL, root);
}

static int print_scheduler_json(const struct osp_fit *fit, int status)
{
	json_t *root = json_object();
	char words[2 * OSP_SENTENCE_BYTES];

	if (status == OSP_EXIT_YES)
		say_chosen(fit, words, sizeof(words));
	else
		say_why_not(fit, words, sizeof(words));
	json_object_set_new(root, "starts_now", json_boolean(status == OSP_EXIT_YES));
	json_object_set_new(root, "refused",
			    json_boolean(fit->sbatch.result == OSP_SBATCH_REFUSED));
	json_object_set_new(
		root, "level",
		osp_json_string(osp_topology_level_name(fit->world.topology, fit->question.level)));
	if (fit->question.need_nodes) {
		json_object_set_new(root, "need", json_integer(fit->question.need_nodes));
		json_object_set_new(root, "want", json_integer(fit->question.want_nodes));
	}
	json_object_set_new(root, "says", osp_json_string(words));
	osp_fit_report_partition(&fit->question, status == OSP_EXIT_YES, NULL, root);
	if (fit->sbatch.result == OSP_SBATCH_REFUSED && *fit->sbatch.cure)
		json_object_set_new(root, "cure", osp_json_string(fit->sbatch.cure));
	if (reports_start(fit))
		json_object_set_new(root, "starts", osp_json_time(fit->sbatch.start_s));
	if (status == OSP_EXIT_YES)
		chosen_to_json(fit, root);
	if (fit->in_parts)
		osp_fit_segments_to_json(&fit->world, &fit->parts, status == OSP_EXIT_YES, root);
	else if (fit->answer.chosen && fit->sbatch.result != OSP_SBATCH_REFUSED)
		json_object_set_new(root, "domains",
				    osp_answer_to_json(&fit->world, &fit->answer, UINT32_MAX));
	osp_report_old_places(&fit->world, NULL, root);
	return osp_print_json(root, status);
}

int osp_fit_judge_scheduler(struct osp_fit *fit, struct osp_error *error)
{
	fit->chosen = osp_nodeset_new(fit->world.snapshot->node_count);
	if (!fit->chosen)
		return osp_error_set(error, "out of memory");
	if (fit->sbatch.nodes &&
	    osp_snapshot_add_hostlist(fit->world.snapshot, fit->sbatch.nodes, false,
				      "sbatch's nodes", fit->chosen, error) < 0)
		return -1;
	fit->lacks_licenses = osp_licenses_lacking(fit->call->values[OSP_OPTION_FIT_LICENSES]);
	return starts_now(fit) ? OSP_EXIT_YES : OSP_EXIT_NO;
}

int osp_fit_print_scheduler(const struct osp_fit *fit, int status)
{
	return (fit->call->values[OSP_OPTION_JSON] ? print_scheduler_json
						   : print_scheduler)(fit, status);
}
