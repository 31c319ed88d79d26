/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conflict.c - options that a job may not combine with a gang */
#include "lib/policy/conflict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_heterogeneous(const struct osp_shape *shape)
{
	return shape->heterogeneous;
}

static bool has_switches(const struct osp_shape *shape)
{
	return shape->switches;
}

static bool has_segment(const struct osp_shape *shape)
{
	return shape->segment;
}

static bool has_segment_flags(const struct osp_shape *shape)
{
	return shape->segment_flags;
}

static bool is_contiguous(const struct osp_shape *shape)
{
	return shape->contiguous;
}

static bool is_exclusive_topo(const struct osp_shape *shape)
{
	return shape->exclusive_topo;
}

/* Returns whether features count several nodes, as "[a*4&b*8]" does: Slurm chooses each feature's
 * nodes in a call of its own. A single node is always together. */
static bool counts_nodes(const char *features)
{
	unsigned long nodes = 0;

	while (features && nodes < 2 && (features = strchr(features, '*')))
		nodes += strtoul(++features, NULL, 10);
	return nodes > 1;
}

static bool has_counted_features(const struct osp_shape *shape)
{
	return counts_nodes(shape->features) || counts_nodes(shape->prefer);
}

static bool is_expansion(const struct osp_shape *shape)
{
	return shape->expands;
}

static const struct {
	bool (*applies)(const struct osp_shape *shape);
	bool splits;
	const char *what;
	const char *why;
	const char *instead;
	bool or_no_gang; /* a user may prefer the option to the gang */
} conflicts[] = {
	{is_heterogeneous, true, "a heterogeneous job cannot be one gang",
	 "Slurm places its components one after the other", "submit one job without components",
	 true},
	{has_switches, false, "--switches cannot be combined with --gang",
	 "it counts leaf switches, and only for a while",
	 "leave it out, --gang=leaf asks for one leaf", false},
	{has_segment, false, "--segment cannot be combined with --gang",
	 "blocks of nodes would be chosen before the domain", "say --gang-segment=LEVEL:N instead",
	 true},
	{has_segment_flags, false,
	 "--spread-segments and --consolidate-segments cannot be combined with --gang",
	 "blocks of nodes would be chosen before the domain", "leave them out", true},
	{is_contiguous, false, "--contiguous cannot be combined with --gang",
	 "nodes with neighbouring numbers need not share a domain", "leave it out", false},
	{is_exclusive_topo, false, "--exclusive=topo cannot be combined with --gang",
	 "it reserves whole blocks, not the gang's domain", "ask for --exclusive", false},
	{has_counted_features, true,
	 "a --constraint with counts (a*4) cannot be combined with --gang",
	 "Slurm chooses each count's nodes by itself", "leave out the counts", false},
	{is_expansion, true, "--dependency=expand cannot be combined with --gang",
	 "the nodes added may lie in another domain", "leave it out", true},
};

/* Returns the end of the sentence: what else would help. */
static const char *or_else(const struct osp_effective *effective, bool or_no_gang)
{
	bool by_policy = effective->origin == OSP_FROM_POLICY;

	switch (effective->way_out) {
	case OSP_WAY_LEAVE_OUT:
		return or_no_gang ? ", or leave out --gang" : "";
	case OSP_WAY_OFF:
		return or_no_gang || by_policy ? ", or ask for --gang=off" : "";
	case OSP_WAY_NONE:
		return "";
	case OSP_WAY_UNKNOWN:
		break;
	}
	return by_policy    ? ", or ask for --gang=off where that is allowed"
	       : or_no_gang ? ", or leave out --gang where that is allowed"
			    : "";
}

bool osp_conflict_find(const struct osp_shape *shape, enum osp_conflicts which,
		       const struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	for (size_t i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		if ((which == OSP_CONFLICTS_THAT_SPLIT && !conflicts[i].splits) ||
		    !conflicts[i].applies(shape))
			continue;
		snprintf(sentence, sentence_bytes, "%s%s: %s; %s%s",
			 effective->origin == OSP_FROM_POLICY
				 ? "the policy here makes a gang of this job, and "
				 : "",
			 conflicts[i].what, conflicts[i].why, conflicts[i].instead,
			 or_else(effective, conflicts[i].or_no_gang));
		return true;
	}
	return false;
}

bool osp_dependency_expands(const char *dependency)
{
	static const char expand[] = "expand:";

	while (dependency) {
		if (!strncasecmp(dependency, expand, sizeof(expand) - 1))
			return true;
		dependency = strpbrk(dependency, ",?");
		if (dependency)
			dependency++;
	}
	return false;
}
