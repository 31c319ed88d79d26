/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sentences.c - what users read: why a gang waits, why it was refused, where it went */
#include "lib/policy/sentences.h"

#include <stdarg.h>
#include <stdbool.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/clean.h"
#include "lib/base/text.h"

/* Nodes that are too small for the job are left out, too (can_hold() of host/slurm/ask.c, and by
 * slurmctld for the shadow). */
#define WHAT_DOES_NOT_COUNT " (drained, reserved, excluded or too small nodes do not count)"

/* Appends to the text in `buffer`, cutting what does not fit. */
static void add(char *buffer, size_t buffer_bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add(char *buffer, size_t buffer_bytes, const char *format, ...)
{
	size_t length = strnlen(buffer, buffer_bytes);
	va_list args;

	if (length + 1 >= buffer_bytes)
		return;
	va_start(args, format);
	vsnprintf(buffer + length, buffer_bytes - length, format, args);
	va_end(args);
}

static bool ends_with(const char *word, const char *end)
{
	size_t length = strlen(word), end_length = strlen(end);

	return length >= end_length && !strcmp(word + length - end_length, end);
}

const char *osp_sentence_plural(const char *level, char *buffer, size_t buffer_bytes)
{
	int length = (int)strlen(level);

	if (ends_with(level, "leaf"))
		snprintf(buffer, buffer_bytes, "%.*sves", length - 1, level);
	else if (ends_with(level, "x") || ends_with(level, "s") || ends_with(level, "ch") ||
		 ends_with(level, "sh"))
		snprintf(buffer, buffer_bytes, "%ses", level);
	else
		snprintf(buffer, buffer_bytes, "%ss", level);
	return buffer;
}

static const char *nodes_word(uint32_t count)
{
	return count == 1 ? "node" : "nodes";
}

static const char *domain_name(const struct osp_topology *topology,
			       const struct osp_place_domain *domain)
{
	return osp_topology_domain(topology, domain->domain)->name;
}

/* Returns the domain with the most usable nodes among those with all required nodes; NULL if there
 * is none. */
static const struct osp_place_domain *largest(const struct osp_place_domain *domains,
					      uint32_t domain_count)
{
	const struct osp_place_domain *best = NULL;

	for (uint32_t i = 0; i < domain_count; i++) {
		if (domains[i].reason == OSP_PLACE_REQUIRED)
			continue;
		if (!best || domains[i].usable_nodes > best->usable_nodes)
			best = &domains[i];
	}
	return best;
}

/* Returns the first domain that is short only of free nodes; the least short ones come first. */
static const struct osp_place_domain *nearest(const struct osp_place_domain *domains,
					      uint32_t domain_count)
{
	for (uint32_t i = 0; i < domain_count; i++) {
		bool usable = domains[i].reason == OSP_PLACE_NOT_FREE ||
			      domains[i].reason == OSP_PLACE_CANDIDATE;

		if (usable && domains[i].short_nodes)
			return &domains[i];
	}
	return NULL;
}

/* Returns words for an entry that has only a part of a domain: its nodes are in several entries,
 * one for each type. */
static const char *of_one_type(const struct osp_place_domain *domains, uint32_t domain_count,
			       const struct osp_place_domain *entry)
{
	for (uint32_t i = 0; i < domain_count; i++) {
		if (domains[i].domain == entry->domain && domains[i].kind != entry->kind)
			return " of one node type";
	}
	return "";
}

static bool has_required(const struct osp_place_input *input)
{
	return input->required && !osp_nodeset_empty(input->required);
}

/* Writes " with feature dynamic", " with --extra=rack=2", both, or "" if there is neither. */
static const char *with_asked(const struct osp_sentence_asked *asked, char *buffer,
			      size_t buffer_bytes)
{
	const char *features = asked && asked->features ? asked->features : "";
	char extra[61];

	*buffer = '\0';
	osp_copy_clean(extra, sizeof(extra), asked ? asked->extra : NULL);
	if (*features)
		add(buffer, buffer_bytes, " with feature%s %.60s",
		    strpbrk(features, "&|[],*") ? "s" : "", features);
	if (*extra)
		add(buffer, buffer_bytes, " %s --extra=%s", *features ? "and" : "with", extra);
	return buffer;
}

/* Adds "n1, which the job requires, is in use". Returns false if all required nodes are free. */
static bool add_busy_required(const struct osp_topology *topology,
			      const struct osp_place_input *input, char *buffer,
			      size_t buffer_bytes)
{
	const struct osp_nodeset *required = input->required;
	uint32_t first = OSP_NO_NODE, count = 0, node;

	if (!required || !input->free)
		return false;
	for (node = osp_nodeset_next(required, 0); node < required->place_count;
	     node = osp_nodeset_next(required, node + 1)) {
		if (node >= input->free->place_count || osp_nodeset_test(input->free, node))
			continue;
		first = count++ ? first : node;
	}
	if (!count || first >= osp_topology_node_count(topology))
		return false;
	add(buffer, buffer_bytes, "%.60s", osp_topology_node_name(topology, first));
	if (count == 1)
		add(buffer, buffer_bytes, ", which the job requires, is in use");
	else
		add(buffer, buffer_bytes, " and %u more that the job requires are in use",
		    count - 1);
	return true;
}

static void add_none_large_enough(const struct osp_topology *topology,
				  const struct osp_place_input *input, const char *with,
				  const struct osp_place_domain *domains, uint32_t domain_count,
				  char *buffer, size_t buffer_bytes)
{
	const struct osp_place_domain *most = largest(domains, domain_count);
	const char *type = of_one_type(domains, domain_count, most);

	if (has_required(input))
		add(buffer, buffer_bytes,
		    "%s, which has the nodes that the job requires, has %u usable%s%s",
		    domain_name(topology, most), most->usable_nodes, with, type);
	else
		add(buffer, buffer_bytes, "none has %u usable%s: the largest, %s, has %u%s",
		    input->need_nodes, with, domain_name(topology, most), most->usable_nodes, type);
	add(buffer, buffer_bytes, WHAT_DOES_NOT_COUNT);
}

const char *osp_sentence_waits(const struct osp_topology *topology,
			       const struct osp_place_input *input,
			       const struct osp_sentence_asked *asked,
			       const struct osp_place_domain *domains, uint32_t candidate_count,
			       uint32_t domain_count, char *buffer, size_t buffer_bytes)
{
	const char *level = osp_topology_level_name(topology, input->level);
	const struct osp_place_domain *near = nearest(domains, domain_count);
	char with[160];

	with_asked(asked, with, sizeof(with));
	snprintf(buffer, buffer_bytes, "waits: %u %s on one %s; ", input->need_nodes,
		 nodes_word(input->need_nodes), level);
	if (candidate_count && !domains[0].short_nodes)
		add(buffer, buffer_bytes, "%s has %u free", domain_name(topology, &domains[0]),
		    domains[0].free_nodes);
	else if (near && add_busy_required(topology, input, buffer, buffer_bytes))
		return buffer;
	else if (near)
		add(buffer, buffer_bytes, "nearest: %s has %u free of %u%s%s (%u short)",
		    domain_name(topology, near), near->free_nodes, near->usable_nodes,
		    of_one_type(domains, domain_count, near), with, near->short_nodes);
	else if (largest(domains, domain_count))
		add_none_large_enough(topology, input, with, domains, domain_count, buffer,
				      buffer_bytes);
	else if (domain_count)
		add(buffer, buffer_bytes, "no %s has all the nodes that the job requires%s", level,
		    with);
	else
		add(buffer, buffer_bytes, "no usable node%s is on a known %s" WHAT_DOES_NOT_COUNT,
		    with, level);
	return buffer;
}

const char *osp_sentence_kept(const struct osp_topology *topology,
			      const struct osp_place_input *input,
			      const struct osp_place_domain *domain, char *buffer,
			      size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 "waits: %u %s on one %s; %s has %u free, kept for jobs or reservations that come "
		 "first",
		 input->need_nodes, nodes_word(input->need_nodes),
		 osp_topology_level_name(topology, input->level), domain_name(topology, domain),
		 domain->free_nodes);
	return buffer;
}

const char *osp_sentence_anywhere(uint32_t nodes, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes, "waits: %u %s, and any will do by now", nodes,
		 nodes_word(nodes));
	return buffer;
}

const char *osp_sentence_not_started(const char *level, uint32_t free_nodes, char *buffer,
				     size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 "waits: one %s has %u %s free, but Slurm cannot start the job there now (memory, "
		 "cores, "
		 "GPUs, licenses, a limit or TopologyPlugin)",
		 level, free_nodes, nodes_word(free_nodes));
	return buffer;
}

const char *osp_sentence_components(const char *level, uint32_t count, const char *partition,
				    char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 "waits: the %u components in partition %s are held to one %s together, and no %s "
		 "has room for all of them now",
		 count, partition, level, level);
	return buffer;
}

const char *osp_sentence_old_places(uint32_t count, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 count == 1 ? "%u node is left out: it was powered down or has booted since its "
			      "place was asked for"
			    : "%u nodes are left out: they were powered down or have booted since "
			      "their places were asked for",
		 count);
	return buffer;
}

const char *osp_sentence_launches(const char *level, uint32_t nodes, uint32_t unlaunched,
				  char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 OSP_SENTENCE_LAUNCHED
		 "%u nodes, %u of them do%s not run yet; whether they are on one %s is "
		 "asked when they run",
		 nodes, unlaunched, unlaunched == 1 ? "es" : "", level);
	return buffer;
}

const char *osp_sentence_launched_blind(const char *level, int64_t after_s, char *buffer,
					size_t buffer_bytes)
{
	char after[32];

	snprintf(buffer, buffer_bytes,
		 OSP_SENTENCE_LAUNCHED
		 "no fabric topology is in force, so it is not known whether its nodes are on one "
		 "%s; in %s it goes back to the queue; the administrator finds the reason in "
		 "slurmctld's log",
		 level, osp_format_duration(after_s, after, sizeof(after)));
	return buffer;
}

const char *osp_sentence_apart(const char *level, uint32_t nodes, uint32_t domains, char *buffer,
			       size_t buffer_bytes)
{
	char plural[64];

	snprintf(buffer, buffer_bytes, "its %u nodes are on %u %s", nodes, domains,
		 osp_sentence_plural(level, plural, sizeof(plural)));
	return buffer;
}

const char *osp_sentence_unplaced(uint32_t nodes, int64_t after_s, char *buffer,
				  size_t buffer_bytes)
{
	char after[32];

	osp_format_duration(after_s, after, sizeof(after));
	if (nodes == 1)
		snprintf(buffer, buffer_bytes,
			 "the place of 1 node was not known %s after all nodes ran", after);
	else
		snprintf(buffer, buffer_bytes,
			 "the places of %u nodes were not known %s after all nodes ran", nodes,
			 after);
	return buffer;
}

const char *osp_sentence_in_vain(uint32_t times, uint64_t node_s, bool last, char *buffer,
				 size_t buffer_bytes)
{
	uint64_t minutes = node_s / 60 + (node_s % 60 != 0);

	snprintf(buffer, buffer_bytes, "launched %u time%s in vain (%" PRIu64 " node minute%s)%s",
		 times, osp_plural_s(times), minutes, osp_plural_s(minutes),
		 last ? ", " OSP_SENTENCE_NO_TRIES : "");
	return buffer;
}

const char *osp_sentence_unasked(const char *words, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 "no nodes are launched, as nobody could say where they are: %s", words);
	return buffer;
}

const char *osp_sentence_moved(const char *level, uint32_t nodes, uint32_t together,
			       const char *apart, const char *when, char *buffer,
			       size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes,
		 "moved: since %s %u of its %u nodes %s on one %s, and %.200s %s not", when,
		 together, nodes, together == 1 ? "is" : "are", level, apart,
		 nodes - together == 1 ? "is" : "are");
	return buffer;
}

/* Adds what the user may ask for instead, if there is anything. */
static void add_advice(const struct osp_topology *topology, uint32_t next_level,
		       uint32_t nodes_that_fit, char *buffer, size_t buffer_bytes)
{
	const char *separator = "; ask for ";

	if (next_level) {
		add(buffer, buffer_bytes, "%s--gang=%s", separator,
		    osp_topology_level_name(topology, next_level));
		separator = " or ";
	}
	if (nodes_that_fit)
		add(buffer, buffer_bytes, "%s%u %s", separator, nodes_that_fit,
		    nodes_word(nodes_that_fit));
}

const char *osp_sentence_never(const struct osp_topology *topology,
			       const struct osp_place_input *input,
			       const struct osp_place_domain *domains, uint32_t domain_count,
			       const char *partition, bool excludes, uint32_t next_level,
			       char *buffer, size_t buffer_bytes)
{
	const char *level = osp_topology_level_name(topology, input->level);
	const struct osp_place_domain *most = largest(domains, domain_count);
	const char *without = excludes ? " without the nodes of --exclude" : "";
	char of_partition[80] = "";

	if (partition)
		snprintf(of_partition, sizeof(of_partition), " of partition %.64s", partition);
	snprintf(buffer, buffer_bytes, "%u %s on one %s asked for; ", input->need_nodes,
		 nodes_word(input->need_nodes), level);
	if (most) {
		add(buffer, buffer_bytes, "the %s%s%s%s has %u%s%s (%s)",
		    has_required(input) ? "" : "largest ", level, of_partition,
		    has_required(input) ? " with the nodes of --nodelist" : "", most->usable_nodes,
		    of_one_type(domains, domain_count, most), without, domain_name(topology, most));
		add_advice(topology, next_level, most->usable_nodes, buffer, buffer_bytes);
	} else if (domain_count) {
		add(buffer, buffer_bytes, "no %s%s has all the nodes that --nodelist requires%s",
		    level, of_partition, without);
		add_advice(topology, next_level, 0, buffer, buffer_bytes);
	} else {
		add(buffer, buffer_bytes, "no node%s is on a known %s%s", of_partition, level,
		    without);
		add_advice(topology, next_level, 0, buffer, buffer_bytes);
	}
	return buffer;
}

const char *osp_sentence_placed(const struct osp_topology *topology, uint32_t domain,
				uint32_t nodes, uint32_t leaves, char *buffer, size_t buffer_bytes)
{
	const struct osp_domain *where = osp_topology_domain(topology, domain);
	const char *leaf = osp_topology_level_name(topology, 1);
	char plural[64];

	snprintf(buffer, buffer_bytes, "placed: %u %s on %s %s", nodes, nodes_word(nodes),
		 osp_topology_level_name(topology, where->level), where->name);
	if (leaves && where->level > 1)
		add(buffer, buffer_bytes, ", %u %s", leaves,
		    leaves == 1 ? leaf : osp_sentence_plural(leaf, plural, sizeof(plural)));
	return buffer;
}

static bool is_one_of(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcasecmp(word, words[i]))
			return true;
	return false;
}

/* Returns the advice for a word that is no level but means yes or no, or NULL. */
static const char *meant_as_switch(const char *name)
{
	static const char *const no[] = {"no",	  "none",    "false",	"0",
					 "never", "disable", "disabled"};
	static const char *const yes[] = {"yes", "on", "true", "1", "always", "enable", "enabled"};

	if (is_one_of(name, no, sizeof(no) / sizeof(no[0])))
		return "; did you mean --gang=off?";
	if (is_one_of(name, yes, sizeof(yes) / sizeof(yes[0])))
		return "; did you mean --gang, without a value?";
	return NULL;
}

const char *osp_sentence_no_level(const struct osp_topology *topology, const char *name,
				  char *buffer, size_t buffer_bytes)
{
	const char *names[OSP_LEVELS_MAX];
	uint32_t count = osp_topology_last_level(topology);
	const char *meant;

	for (uint32_t level = 1; level <= count; level++)
		names[level - 1] = osp_topology_level_name(topology, level);
	snprintf(buffer, buffer_bytes, "there is no level '%.32s' in this fabric", name);
	meant = osp_nearest_word(name, names, count);
	if (meant_as_switch(name))
		add(buffer, buffer_bytes, "%s", meant_as_switch(name));
	else if (meant)
		add(buffer, buffer_bytes, "; did you mean %s?", meant);
	add(buffer, buffer_bytes, " (");
	for (uint32_t i = 0; i < count; i++)
		add(buffer, buffer_bytes, "%s%s", i ? ", " : "", names[i]);
	add(buffer, buffer_bytes, ")");
	return buffer;
}

int osp_sentence_find_level(const struct osp_topology *topology, const char *name, char *buffer,
			    size_t buffer_bytes)
{
	int level = osp_topology_level(topology, name);
	const char *zone;

	if (level < 1) {
		osp_sentence_no_level(topology, name, buffer, buffer_bytes);
		return -1;
	}
	if (!osp_topology_above_zone(topology, (uint32_t)level))
		return level;
	zone = osp_topology_level_name(topology, osp_topology_zone_level(topology));
	snprintf(buffer, buffer_bytes,
		 "level %s is above the zones, and several zones never form one gang; ask for "
		 "--gang=%s or a level below",
		 osp_topology_level_name(topology, (uint32_t)level), zone);
	return -1;
}
