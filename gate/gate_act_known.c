/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_act_known.c - what slurmctld knows of the job, and our part of its AdminComment */
#include "onespine_config.h"
#include "gate/gate_act_private.h"

#include <slurm/slurm_errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/gate/gate_text.h"
#include "lib/layout/gang_order.h"
#include "lib/layout/gang_segments.h"
#include "lib/policy/note.h"
#include "lib/topology/leaf_list.h"
#include "gate/gate_loop.h"

struct gate_act_seen gate_act_seen;

void gate_act_say(const char *format, ...)
{
	char words[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	osp_gate_log(gate_act_seen.job_here, "%s", words);
}

bool gate_act_failed(int error, const char *what)
{
	if (error == 0 || error == ESLURM_INVALID_JOB_ID || error == ESLURM_ALREADY_DONE ||
	    error == ESLURM_JOB_PENDING)
		return false;
	gate_act_say("%s: %s", what, osp_controller_words(error));
	return true;
}

int gate_act_ask_job(const struct osp_gate_gang *gang, uint64_t until_ms)
{
	int error;

	if (gate_act_seen.job_known)
		osp_controller_job_free(&gate_act_seen.job);
	error = osp_controller_job(gang->job, until_ms, &gate_act_seen.job);
	gate_act_seen.job_known = error == 0;
	return error;
}
/* --- our part of AdminComment ----------------------------------------------------------------- */

struct osp_gate_stops gate_act_stopped_before(void)
{
	struct osp_note note = {.gang = NULL};
	struct osp_gate_stops stopped = {.all = 0};

	if (gate_act_seen.job_known && osp_note_find(gate_act_seen.job.admin_comment, &note))
		stopped = osp_gate_stopped(note.gate);
	osp_note_free_pieces(&note);
	return stopped;
}

uint32_t gate_act_rank_of(const struct osp_gate_gang *gang, const char *node, uint32_t *hint)
{
	for (uint32_t i = 0; i < gang->node_count; i++) {
		uint32_t rank = (*hint + i) % gang->node_count;

		if (!strcmp(gang->nodes[rank], node)) {
			*hint = rank + 1;
			return rank;
		}
	}
	return OSP_GATE_NOBODY;
}

bool gate_act_released(const struct osp_gate_verdict *verdict, uint32_t rank)
{
	const struct osp_gate_sentence *sentence = osp_gate_sentence(verdict, rank);

	return sentence && (sentence->actions & OSP_GATE_RELEASE);
}

static bool is_kept(const char *node, void *context)
{
	struct gate_act_keeping *keeping = context;
	uint32_t rank = gate_act_rank_of(keeping->gang, node, &keeping->hint);

	return rank != OSP_GATE_NOBODY && !gate_act_released(keeping->verdict, rank);
}

/* Makes "placed: 4 nodes on spine s1, 2 leaves" of fewer nodes. */
static const char *placed_again(const struct osp_note *old, uint32_t kept, uint32_t gone,
				char *buffer, size_t buffer_bytes)
{
	unsigned int domains;
	char level[32];

	if (old->says && sscanf(old->says, "placed: %*u nodes in %u domains of %31[^ ,;]", &domains,
				level) == 2) {
		snprintf(buffer, buffer_bytes,
			 "placed: %u node%s in at most %u domains of %s, %u released by the gate",
			 kept, osp_plural_s(kept), domains, level, gone);
		return buffer;
	}
	if (!old->says || !old->domain ||
	    sscanf(old->says, "placed: %*u node%*[s] on %31s", level) != 1)
		return old->says;
	snprintf(buffer, buffer_bytes, "placed: %u node%s on %s %s, %u released by the gate", kept,
		 osp_plural_s(kept), level, old->domain, gone);
	return buffer;
}

/* Returns the names of the nodes that stay, in the job's order, malloc'd, or NULL. */
static char *kept_nodes(const struct gate_act_keeping *keeping)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t r = 0; r < keeping->gang->node_count; r++) {
		if (!gate_act_released(keeping->verdict, r))
			osp_text_printf(&text, "%s%s", text.length_bytes ? "," : "",
					keeping->gang->nodes[r]);
	}
	return osp_text_take(&text);
}

/* Says where ranks begin, as at the start, if that is in the smaller of the segments that stay. */
static void say_small_first(const struct gate_act_keeping *keeping, const char *leaves,
			    const char *order, char *says, size_t says_bytes)
{
	char *nodes = leaves && order ? kept_nodes(keeping) : NULL;
	size_t length = strlen(says);
	struct osp_gang_ranks made;

	if (nodes && osp_gang_order_make(nodes, leaves, order, &made) == 0) {
		if (made.small_first)
			snprintf(says + length, says_bytes - length,
				 "; ranks begin in the smaller segment, where %s is",
				 made.names[0]);
		osp_gang_order_clear(&made);
	}
	free(nodes);
}

char *gate_act_new_comment(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict,
			   const char *words)
{
	struct gate_act_keeping keeping = {.gang = gang, .verdict = verdict};
	struct osp_note old = {.gang = NULL}, note;
	char says[OSP_GATE_WORDS_BYTES], path[4096], log[4096 + OSP_GATE_NAME_BYTES];
	char *leaves = NULL, *order = NULL, *comment;
	unsigned int leaf_count;

	osp_note_find(gate_act_seen.job.admin_comment, &old);
	note = old;
	note.gate = words;
	snprintf(log, sizeof(log), "%s:%s", gate_act_seen.job_here->node,
		 osp_gate_log_path(gate_act_seen.job_here, path, sizeof(path)));
	note.log = log;
	if (verdict && verdict->kind == OSP_GATE_SHRINK) {
		note.says = placed_again(&old, gang->wanted, gang->node_count - gang->wanted, says,
					 sizeof(says));
		if (old.leaves)
			leaves = osp_leaf_list_keep(old.leaves, is_kept, &keeping, &leaf_count);
		if (old.leaves && old.order)
			order = osp_gang_order_unpack(old.leaves, old.order);
		note.leaves = old.order && !order ? NULL : leaves;
		note.order = order;
		if (note.says == says)
			say_small_first(&keeping, leaves, order, says, sizeof(says));
	}
	comment = osp_note_merge(gate_act_seen.job.admin_comment, &note);
	free(leaves);
	free(order);
	osp_note_free_pieces(&old);
	return comment;
}

void gate_act_comment(const struct osp_gate_gang *gang, const struct osp_gate_verdict *verdict,
		      struct osp_gate_stops stopped, const char *says, uint64_t until_ms)
{
	char words[OSP_GATE_WORDS_BYTES];
	struct osp_controller_change change = {.nodes = NULL};
	char *text = gate_act_new_comment(gang, verdict,
					  osp_gate_note(&stopped, says, words, sizeof(words)));

	change.admin_comment = text;
	if (text)
		gate_act_failed(osp_controller_change(gang->job, &change, until_ms),
				"AdminComment");
	free(text);
}
/* --- what only slurmctld knows ---------------------------------------------------------------- */

struct leaf_table {
	const struct osp_gate_gang *gang;
	uint32_t *leaf; /* by rank */
	uint32_t hint;
	uint32_t count;
	char last[64];
};

static int note_leaf(const char *leaf, const char *node, void *context)
{
	struct leaf_table *table = context;
	uint32_t rank = gate_act_rank_of(table->gang, node, &table->hint);

	if (!table->count || strncmp(table->last, leaf, sizeof(table->last) - 1) != 0) {
		snprintf(table->last, sizeof(table->last), "%s", leaf);
		table->count++;
	}
	if (rank != OSP_GATE_NOBODY)
		table->leaf[rank] = table->count;
	return 0;
}

uint32_t *gate_act_leaves(const struct osp_gate_gang *gang)
{
	struct leaf_table table = {.gang = gang};
	struct osp_note note = {.gang = NULL};

	if (osp_note_find(gate_act_seen.job.admin_comment, &note) && note.leaves) {
		table.leaf = calloc(gang->node_count, sizeof(*table.leaf));
		if (table.leaf)
			osp_leaf_list_each(note.leaves, note_leaf, &table);
	}
	osp_note_free_pieces(&note);
	return table.leaf;
}

/* Returns whether each of so many segments has spares, and a node that stays. */
static bool are_segments(const struct osp_gate_gang *gang, const uint32_t *segment, uint32_t count)
{
	uint32_t *nodes = count ? calloc(count, sizeof(*nodes)) : NULL;
	bool good = nodes && (uint64_t)count * gang->segment_spares == gang->spares;

	for (uint32_t r = 0; good && r < gang->node_count; r++)
		nodes[segment[r]]++;
	for (uint32_t i = 0; good && i < count; i++)
		good = nodes[i] > gang->segment_spares;
	free(nodes);
	return good;
}

/* Returns whether the gang is held to its segments; if not, its spares are the job's. */
static bool is_held(void)
{
	struct osp_note note = {.gang = NULL};
	bool advice = true; /* without a gang, too */

	if (!osp_note_find(gate_act_seen.job.admin_comment, &note))
		return false;
	if (note.gang)
		osp_note_request(note.gang, &advice);
	osp_note_free_pieces(&note);
	return !advice;
}

uint32_t *gate_act_segments(const struct osp_gate_gang *gang, bool *unknown)
{
	bool reported = gang->segments && *gang->segments;
	uint32_t *segment;

	*unknown = false;
	if (!gang->segment_spares || (!reported && !is_held()))
		return NULL;
	segment = reported ? calloc(gang->node_count, sizeof(*segment)) : NULL;
	if (segment &&
	    are_segments(gang, segment,
			 osp_gang_segments_read(gang->segments, gang->node_count, segment)))
		return segment;
	gate_act_say("job %u: where its segments are is not known: none of its spares is released",
		     gang->job);
	*unknown = true;
	free(segment);
	return NULL;
}

struct osp_breaker_mark *gate_act_marks(const struct osp_controller_nodes *nodes, size_t *count)
{
	struct osp_breaker_mark *marks = calloc(nodes->count + 1, sizeof(*marks));

	*count = 0;
	for (uint32_t i = 0; marks && i < nodes->count; i++)
		if (nodes->nodes[i].drained && nodes->nodes[i].reason)
			marks[(*count)++] =
				(struct osp_breaker_mark){.reason = nodes->nodes[i].reason,
							  .since_s = nodes->nodes[i].since_s};
	return marks;
}
