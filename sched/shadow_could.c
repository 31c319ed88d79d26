/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_could.c - where a job could ever run
 *
 * Called for the seam alone, under Slurm's locks and the seam's mutex.
 */
#include "sched/shadow_could.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/layout/layout.h"
#include "lib/policy/effective.h"
#include "lib/policy/request_parts.h"
#include "lib/policy/spares.h"
#include "lib/policy/sentences.h"
#include "sched/seam.h"

/* --- a job's partitions ----------------------------------------------------------------------- */

part_record_t *shadow_partition_named(const char *name)
{
	char *copy;
	part_record_t *partition;

	if (!name)
		return default_part_loc;
	copy = xstrdup(name);
	partition = find_part_record(copy);
	xfree(copy);
	return partition;
}

char *shadow_next_name(const char **list)
{
	size_t length;
	char *name;

	*list += strspn(*list, ",");
	length = strcspn(*list, ",");
	name = length ? strndup(*list, length) : NULL;
	*list += length;
	return name;
}

char *shadow_each_once(const char *list)
{
	const part_record_t **seen = NULL, **more;
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t count = 0, at;
	char *name;

	for (; (name = shadow_next_name(&list)); free(name)) {
		const part_record_t *partition = shadow_partition_named(name);

		for (at = 0; at < count && seen[at] != partition;)
			at++;
		if (at < count)
			continue;
		more = realloc(seen, (count + 1) * sizeof(*seen));
		text.failed |= !more;
		if (!more)
			continue;
		seen = more;
		seen[count] = partition;
		osp_text_printf(&text, "%s%s", count++ ? "," : "", name);
	}
	free(seen);
	return osp_text_take(&text);
}

/* --- how many nodes it needs ------------------------------------------------------------------ */

static uint32_t divide_up(uint64_t a, uint64_t b)
{
	uint64_t quotient = b ? a / b + (a % b != 0) : 0;

	return quotient > UINT32_MAX ? UINT32_MAX : (uint32_t)quotient;
}

struct largest_node {
	uint64_t cpus;
	uint64_t gpus;
};

static struct largest_node largest_node(bitstr_t *bitmap, bool look_at_gpus)
{
	struct largest_node largest = {0, 0};
	uint32_t gpu = look_at_gpus ? gres_build_id("gpu") : 0;
	int last = bitmap ? bit_fls(bitmap) : -1;

	for (int n = last < 0 ? 0 : bit_ffs(bitmap); n <= last; n++) {
		const node_record_t *node = bit_test(bitmap, n) ? node_record_table_ptr[n] : NULL;
		uint64_t gpus = node && look_at_gpus ? shadow_node_gres(node, gpu) : 0;

		if (node && node->cpus > largest.cpus)
			largest.cpus = node->cpus;
		if (gpus > largest.gpus)
			largest.gpus = gpus;
	}
	return largest;
}

uint32_t shadow_nodes_needed(const struct osp_seam_job *job, const part_record_t *partition)
{
	uint32_t nodes = osp_least_nodes(job->min_nodes, job->tasks, job->tasks_per_node), by_gpus;
	struct largest_node largest;
	struct osp_gpus_wanted gpus;

	osp_gpus_read(&gpus, &(struct osp_gpus_said){.per_job = job->tres_per_job,
						     .per_node = job->tres_per_node,
						     .per_task = job->tres_per_task,
						     .tasks = job->tasks});
	if (!job->max_nodes && (job->cpus > 1 || gpus.in_all)) {
		largest = largest_node(partition->node_bitmap, gpus.in_all > 0);
		by_gpus = largest.gpus ? osp_gpus_least_nodes(&gpus, largest.gpus) : 0;
		if (divide_up(job->cpus, largest.cpus) > nodes)
			nodes = divide_up(job->cpus, largest.cpus);
		if (by_gpus > nodes)
			nodes = by_gpus;
	}
	return nodes ? nodes : 1;
}

/* One question "could it ever run?"; free it with clear_question(). */
struct question {
	struct osp_place_input input;
	struct osp_nodeset *usable;
	struct osp_nodeset *required;
	bool excludes; /* nodes of the partition */
};

static void clear_question(struct question *question)
{
	free(question->usable);
	free(question->required);
}

static int ask(struct question *question, const struct osp_seam_job *job,
	       const part_record_t *partition, const struct osp_effective *effective, int level)
{
	uint32_t nodes = shadow_nodes_needed(job, partition);
	struct osp_nodeset *excluded;

	memset(question, 0, sizeof(*question));
	question->usable = osp_nodeset_new(shadow_state.node_count);
	if (!question->usable)
		return -1;
	shadow_from_bitmap(question->usable, partition->node_bitmap);
	excluded = job->excluded_nodes ? shadow_nodes_named(job->excluded_nodes) : NULL;
	question->excludes = excluded && osp_nodeset_overlap(question->usable, excluded);
	if (excluded)
		osp_nodeset_and_not(question->usable, excluded);
	free(excluded);
	if (job->required_nodes)
		question->required = shadow_nodes_named(job->required_nodes);
	question->input = (struct osp_place_input){
		.level = (uint32_t)level,
		.need_nodes = nodes,
		.want_nodes = nodes,
		.usable = question->usable,
		.required = question->required,
		.zoned = shadow_state.topology,
	};
	if (question->required &&
	    osp_nodeset_count(question->required) > question->input.need_nodes)
		question->input.need_nodes = question->input.want_nodes =
			osp_nodeset_count(question->required);
	if (!effective->mix_kinds && shadow_state.kind_count > 1) {
		question->input.kind = shadow_state.kind;
		question->input.kind_count = shadow_state.kind_count;
	}
	return 0;
}

/*
 * Returns the lowest level above that would hold the gang, and that the job may ask for; 0 for
 * none.
 */
static uint32_t next_level_that_fits(struct osp_place_input input, int held_to)
{
	uint32_t highest =
		held_to > 0 ? (uint32_t)held_to : osp_topology_level_count(shadow_state.topology);
	uint32_t zone = osp_topology_zone_level(shadow_state.topology);
	uint32_t candidate_count, domain_count;

	if (highest > osp_topology_level_count(shadow_state.topology))
		return 0; /* beside the tree: no level is above or below it */
	if (zone && highest > zone)
		highest = zone; /* no level above can be asked for */
	while (++input.level <= highest) {
		osp_place_order(shadow_state.seam_place, &input, &candidate_count, &domain_count);
		if (candidate_count)
			return input.level;
	}
	return 0;
}

/*
 * Returns whether launched nodes could hold it. With `unlaunched: launch` a node that does not run
 * may have any place when it does.
 */
static bool could_be_launched(const struct question *question, const char *partition)
{
	return osp_config_policy(shadow_state.config, partition)->unlaunched ==
		       OSP_UNLAUNCHED_LAUNCH &&
	       shadow_launch_could(&question->input);
}

static int could_run(const struct question *question, int held_to, const char *partition,
		     char *sentence, size_t sentence_bytes)
{
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count, next_level;

	domains = osp_place_order(shadow_state.seam_place, &question->input, &candidate_count,
				  &domain_count);
	if (candidate_count || could_be_launched(question, partition))
		return 0;
	next_level = next_level_that_fits(question->input, held_to);
	domains = osp_place_order(shadow_state.seam_place, &question->input, &candidate_count,
				  &domain_count);
	osp_sentence_never(shadow_state.topology, &question->input, domains, domain_count,
			   partition, question->excludes, next_level, sentence, sentence_bytes);
	return -1;
}

/* Returns of how many nodes the gang's layout takes a multiple; 1: of any number. */
static uint32_t nodes_of_layout(const struct osp_effective *effective, uint32_t nodes)
{
	struct osp_layout layout = {.size = {0}};
	struct osp_error error;
	uint32_t a = nodes, b;

	if (!*effective->layout || osp_layout_parse(effective->layout, &layout, &error))
		return 1;
	b = layout.size[OSP_AXIS_DP];
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return layout.size[OSP_AXIS_DP] && a ? nodes / a : 1;
}

/* Returns a number of nodes that may be asked for of `most`: a multiple of the layout's beside the
 * spares. Spares of each segment are others for other numbers, so with these it stays. */
static uint32_t askable(const struct osp_seam_job *job, const struct osp_effective *effective,
			uint32_t most)
{
	uint32_t multiple = nodes_of_layout(effective, job->min_nodes - job->spares);

	if (job->segment_spares)
		return most;
	if (most <= job->spares)
		return 0;
	most -= (most - job->spares) % multiple;
	return most > job->spares ? most : 0;
}

/* Checks that its segments and domains could ever be had. */
static int parts_could_run(const struct osp_seam_job *job, const struct osp_effective *effective,
			   const struct question *question, int held_to,
			   const struct osp_parts *parts, const char *partition, char *sentence,
			   size_t sentence_bytes)
{
	const struct osp_place_input *place = &question->input;
	struct osp_nodeset *scratch = osp_nodeset_new(shadow_state.node_count);
	struct osp_cut_input input = osp_parts_input(parts, place, question->usable);
	struct osp_cut_answer answer = {.fits = true};
	struct osp_parts_instead instead = {.nodes = 0};

	if (scratch)
		osp_parts_judge(shadow_state.seam_cut, parts, place, question->usable, scratch,
				&answer);
	if (!answer.fits)
		osp_parts_find_instead(shadow_state.seam_cut, parts, place, question->usable,
				       held_to > 0, scratch, &instead);
	free(scratch);
	if (answer.fits)
		return 0;
	instead.nodes = askable(job, effective, instead.nodes);
	if (instead.nodes_apart != place->need_nodes)
		instead.nodes_apart = askable(job, effective, instead.nodes_apart);
	if (instead.nodes_apart <= instead.nodes)
		instead.nodes_apart = 0;
	osp_sentence_segments_never(shadow_state.topology, &input, place, &answer, &instead,
				    partition, sentence, sentence_bytes);
	return -1;
}

/* Checks the size of a gang in segments or in several domains: it takes one number of nodes, and -w
 * names all of them or none. */
static int parts_have_a_size(const struct question *question, const struct osp_seam_job *job,
			     char *sentence, size_t sentence_bytes)
{
	uint32_t required = question->required ? osp_nodeset_count(question->required) : 0;

	if (job->max_nodes && job->max_nodes != job->min_nodes)
		snprintf(
			sentence, sentence_bytes,
			"--gang-segment and --gang-domains take one number of nodes, not %u to %u: "
			"give --nodes=N",
			job->min_nodes, job->max_nodes);
	else if (!job->min_nodes || question->input.need_nodes > job->min_nodes)
		snprintf(sentence, sentence_bytes,
			 "--gang-segment and --gang-domains take one number of nodes, and this job "
			 "needs at least %u: give --nodes=N",
			 question->input.need_nodes);
	else if (required && required != job->min_nodes)
		snprintf(
			sentence, sentence_bytes,
			"beside --gang-segment and --gang-domains --nodelist names all %u nodes or "
			"none, and here it names %u; leave it out",
			job->min_nodes, required);
	else
		return 0;
	return -1;
}

int shadow_spares_are_apart(const struct osp_seam_job *job, const struct osp_parts *parts,
			    char *sentence, size_t sentence_bytes)
{
	uint32_t unit = parts->segments.count ? parts->segments.segment[0].nodes : 0;

	if (job->spares && unit && !job->segment_spares)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares=%u would be released out of a segment: say "
			 "--gang-spares=K/segment, for K spare nodes in each segment's domain",
			 job->spares);
	else if (job->segment_spares &&
		 !osp_spares_are_in_segments(job->spares, job->segment_spares, job->min_nodes,
					     unit))
		snprintf(sentence, sentence_bytes,
			 "--gang-spares=%u/segment was made of the segments and the nodes of the "
			 "job "
			 "when it was submitted, and they would be others: submit another job",
			 job->segment_spares);
	else
		return 0;
	return -1;
}

/* Adds to "ask for 8 nodes" what else that number depends on. */
static void add_conditions(const struct osp_seam_job *job, const struct osp_effective *effective,
			   char *sentence, size_t sentence_bytes)
{
	uint32_t multiple = nodes_of_layout(effective, job->min_nodes - job->spares);
	size_t at = strlen(sentence);

	if (job->spares)
		snprintf(sentence + at, sentence_bytes - at, " (the %u spare node%s too)",
			 job->spares, job->spares == 1 ? " counts" : "s count");
	at = strlen(sentence);
	if (multiple > 1)
		snprintf(sentence + at, sentence_bytes - at,
			 " (--gang-layout takes a multiple of %u nodes)", multiple);
}

static int parts_fit(const struct osp_seam_job *job, const struct osp_effective *effective,
		     const struct question *question, int held_to, const char *partition,
		     char *sentence, size_t sentence_bytes)
{
	struct osp_error error = {.text = ""};
	struct osp_parts parts;

	if (osp_parts_read(effective->domains_max, effective->segments, shadow_state.topology,
			   question->input.level, &parts, &error)) {
		if (job->segment_spares)
			snprintf(sentence, sentence_bytes,
				 "with %u spare node%s in each segment: %s, its spares among them",
				 job->segment_spares, osp_plural_s(job->segment_spares),
				 error.text);
		else
			snprintf(sentence, sentence_bytes, "%s", error.text);
		return -1;
	}
	if (shadow_spares_are_apart(job, &parts, sentence, sentence_bytes))
		return -1;
	if (parts_have_a_size(question, job, sentence, sentence_bytes))
		return -1;
	if (parts_could_run(job, effective, question, held_to, &parts, partition, sentence,
			    sentence_bytes) == 0)
		return 0;
	add_conditions(job, effective, sentence, sentence_bytes);
	return -1;
}

static int fits_partition(const struct osp_seam_job *job, const char *name,
			  const struct osp_effective *effective, int level, int held_to,
			  char *sentence, size_t sentence_bytes)
{
	part_record_t *partition = shadow_partition_named(name);
	struct question question;
	int rc;

	if (!partition || !partition->node_bitmap)
		return 0; /* Slurm itself says what is wrong with it */
	if (ask(&question, job, partition, effective, level)) {
		clear_question(&question);
		return 0;
	}
	if (shadow_in_parts(effective)) {
		rc = parts_fit(job, effective, &question, held_to, partition->name, sentence,
			       sentence_bytes);
	} else {
		rc = could_run(&question, held_to, partition->name, sentence, sentence_bytes);
		if (rc)
			add_conditions(job, effective, sentence, sentence_bytes);
	}
	clear_question(&question);
	return rc;
}

int shadow_fits_anywhere(const struct osp_seam_job *job, const struct osp_effective *effective,
			 int level, int held_to, char *sentence, size_t sentence_bytes)
{
	const char *list = job->partition;
	char *name;
	int rc = -1;

	if (!list || !*list)
		return fits_partition(job, NULL, effective, level, held_to, sentence,
				      sentence_bytes);
	while (rc != 0 && (name = shadow_next_name(&list))) {
		rc = fits_partition(job, name, effective, level, held_to, sentence, sentence_bytes);
		free(name);
	}
	return rc;
}
