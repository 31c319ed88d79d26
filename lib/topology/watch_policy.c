/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch_policy.c - the section `watch:` of onespine.yaml */
#include "lib/topology/watch_policy.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/topology/launch_groups.h"
#include "lib/topology/slurm_unit.h"
#include "lib/topology/source_words.h"

const char *const osp_watch_keys[OSP_WATCH_KEY_COUNT] = {
	"from",		  "interval_s",	   "max_lost",	  "max_moved",	    "block_ends",
	"slurm_topology", "launch_groups", "report_port", "report_key_file"};

/*
 * Chosen: EC2 takes 100 calls of 100 nodes in less time, and a node that starts is asked about at
 * once.
 */
#define INTERVAL_S    300

#define KEY_FILE_AUTO "auto"

void osp_watch_policy_default(struct osp_watch_policy *policy)
{
	*policy = (struct osp_watch_policy){
		.interval_s = INTERVAL_S,
		.guard = {OSP_MAX_LOST_PERCENT, OSP_MAX_MOVED_PERCENT},
	};
}

static int take_number(const struct osp_document *document, const struct osp_value *value,
		       int64_t least, int64_t most, uint32_t *to, struct osp_error *error)
{
	int64_t number;

	if (osp_value_integer(document, value, least, most, &number, error))
		return -1;
	*to = (uint32_t)number;
	return 0;
}

/* Reads sources, or off (which YAML may write as no or false). */
static int take_from(const struct osp_document *document, const struct osp_value *value,
		     const char **to, struct osp_error *error)
{
	struct osp_error wrong = {.text = ""};
	struct osp_source_words words;

	if (osp_value_string(document, value, to, error))
		return -1;
	if (!strcasecmp(*to, "off"))
		*to = NULL;
	else if (osp_source_words_read(*to, &words, &wrong))
		return osp_document_error(document, value, error, "from: %s", wrong.text);
	return 0;
}

static int take_block_ends(const struct osp_document *document, const struct osp_value *value,
			   bool *to, struct osp_error *error)
{
	static const char *const words[] = {"off", "reserve"};
	size_t word;

	if (osp_value_choice(document, value, words, 2, &word, error))
		return -1;
	*to = word == 1;
	return 0;
}

static int take_slurm_topology(const struct osp_document *document, const struct osp_value *value,
			       const char **to, struct osp_error *error)
{
	if (osp_value_string(document, value, to, error))
		return -1;
	if (!strcasecmp(*to, "off"))
		*to = NULL;
	else if (!osp_slurm_unit_root(*to))
		return osp_document_error(
			document, value, error,
			"slurm_topology: off, or a topology of Slurm's and a switch "
			"of it, as default:fabric, is expected, not '%.80s'",
			*to);
	return 0;
}

static int take_launch_groups(const struct osp_document *document, const struct osp_value *value,
			      const char **to, struct osp_error *error)
{
	struct osp_error wrong = {.text = ""};
	struct osp_launch_groups groups;
	int rc;

	if (osp_value_text(document, value, OSP_LAUNCH_GROUPS_BYTES_MAX, to, error))
		return -1;
	if (!strcasecmp(*to, "off"))
		*to = NULL;
	rc = osp_launch_groups_read(*to, &groups, &wrong);
	osp_launch_groups_free(&groups);
	return rc ? osp_document_error(document, value, error, "launch_groups: %s", wrong.text) : 0;
}

/* Takes a port from 1024 on: below it the service, which has no capabilities, could not listen. */
static int take_port(const struct osp_document *document, const struct osp_value *value,
		     uint32_t *to, struct osp_error *error)
{
	if (take_number(document, value, 0, 65535, to, error))
		return -1;
	return *to && *to < 1024
		       ? osp_document_error(document, value, error,
					    "report_port: 0, or 1024 to 65535, is expected, not %u",
					    *to)
		       : 0;
}

static int take_key_file(const struct osp_document *document, const struct osp_value *value,
			 const char **to, struct osp_error *error)
{
	if (osp_value_string(document, value, to, error))
		return -1;
	if (!strcasecmp(*to, KEY_FILE_AUTO))
		*to = NULL;
	else if (**to != '/')
		return osp_document_error(document, value, error,
					  "report_key_file: auto or a file's whole path is "
					  "expected, not '%.80s'",
					  *to);
	return 0;
}

static int take_key(const struct osp_document *document, const struct osp_value *value,
		    enum osp_watch_key key, struct osp_watch_policy *policy,
		    struct osp_error *error)
{
	switch (key) {
	case OSP_WATCH_KEY_FROM:
		return take_from(document, value, &policy->from, error);
	case OSP_WATCH_KEY_INTERVAL_S:
		return take_number(document, value, 1, OSP_WATCH_INTERVAL_MAX_S,
				   &policy->interval_s, error);
	case OSP_WATCH_KEY_MAX_LOST:
		return take_number(document, value, 0, 100, &policy->guard.max_lost_percent, error);
	case OSP_WATCH_KEY_MAX_MOVED:
		return take_number(document, value, 0, 100, &policy->guard.max_moved_percent,
				   error);
	case OSP_WATCH_KEY_BLOCK_ENDS:
		return take_block_ends(document, value, &policy->reserve_block_ends, error);
	case OSP_WATCH_KEY_SLURM_TOPOLOGY:
		return take_slurm_topology(document, value, &policy->slurm_topology, error);
	case OSP_WATCH_KEY_LAUNCH_GROUPS:
		return take_launch_groups(document, value, &policy->launch_groups, error);
	case OSP_WATCH_KEY_REPORT_PORT:
		return take_port(document, value, &policy->report_port, error);
	case OSP_WATCH_KEY_REPORT_KEY_FILE:
		return take_key_file(document, value, &policy->report_key_file, error);
	case OSP_WATCH_KEY_COUNT:
		break;
	}
	return 0;
}

int osp_watch_policy_read(const struct osp_document *document, const struct osp_value *map,
			  struct osp_watch_policy *policy, int lines[OSP_WATCH_KEY_COUNT],
			  struct osp_error *error)
{
	if (osp_value_only_keys(document, map, osp_watch_keys, OSP_WATCH_KEY_COUNT, error))
		return -1;
	for (int key = 0; key < OSP_WATCH_KEY_COUNT; key++) {
		const struct osp_value *value = osp_value_get(map, osp_watch_keys[key]);

		if (!value)
			continue;
		if (take_key(document, value, (enum osp_watch_key)key, policy, error))
			return -1;
		lines[key] = value->line;
	}
	return 0;
}

bool osp_watch_key_is_word(enum osp_watch_key key)
{
	return key == OSP_WATCH_KEY_FROM || key == OSP_WATCH_KEY_BLOCK_ENDS ||
	       key == OSP_WATCH_KEY_SLURM_TOPOLOGY || key == OSP_WATCH_KEY_LAUNCH_GROUPS ||
	       key == OSP_WATCH_KEY_REPORT_KEY_FILE;
}

const char *osp_watch_policy_word(const struct osp_watch_policy *policy, enum osp_watch_key key,
				  char *buffer, size_t buffer_bytes)
{
	uint32_t number = key == OSP_WATCH_KEY_INTERVAL_S    ? policy->interval_s
			  : key == OSP_WATCH_KEY_MAX_LOST    ? policy->guard.max_lost_percent
			  : key == OSP_WATCH_KEY_REPORT_PORT ? policy->report_port
							     : policy->guard.max_moved_percent;

	if (key == OSP_WATCH_KEY_BLOCK_ENDS)
		return policy->reserve_block_ends ? "reserve" : "off";
	if (key == OSP_WATCH_KEY_FROM)
		return policy->from ? policy->from : "off";
	if (key == OSP_WATCH_KEY_SLURM_TOPOLOGY)
		return policy->slurm_topology ? policy->slurm_topology : "off";
	if (key == OSP_WATCH_KEY_LAUNCH_GROUPS)
		return policy->launch_groups ? policy->launch_groups : "off";
	if (key == OSP_WATCH_KEY_REPORT_KEY_FILE)
		return policy->report_key_file ? policy->report_key_file : KEY_FILE_AUTO;
	snprintf(buffer, buffer_bytes, "%u", number);
	return buffer;
}
