/* SPDX-License-Identifier: GPL-2.0-or-later */
/* request.c - what a user asked with --gang, and its result under the partition's policy */
#include "lib/policy/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/policy/request_parts.h"

#define PREFER		 ",prefer"
#define LEVEL_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/* --- the option ------------------------------------------------------------------------------- */

/* Refuses bytes that are not printable, because values end up in logs and on terminals. */
static int check_printable(const char *value, struct osp_error *error)
{
	for (size_t i = 0; value[i]; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c < ' ' || c > '~')
			return osp_error_at(error, NULL, 0, (int)i + 1,
					    "--gang: the byte 0x%02x is not allowed in its value",
					    c);
	}
	return 0;
}

static int parse_level(const char *value, size_t length, char *level, struct osp_error *error)
{
	size_t good = strspn(value, LEVEL_CHARACTERS);

	if (good < length)
		return osp_error_at(error, NULL, 0, (int)good + 1,
				    "--gang=%.64s: '%c' is not allowed in a level's name (letters, "
				    "digits, - and _)",
				    value, value[good]);
	if (length >= OSP_LEVEL_NAME_BYTES)
		return osp_error_at(error, NULL, 0, OSP_LEVEL_NAME_BYTES,
				    "--gang=%.64s: a level's name has at most %d characters", value,
				    OSP_LEVEL_NAME_BYTES - 1);
	memcpy(level, value, length);
	level[length] = '\0';
	return 0;
}

static int parse_relax(const char *value, const char *time, int64_t *relax_s,
		       struct osp_error *error)
{
	int column = (int)(time - value) + 1;
	static const char *const words[] = {"never"};

	if (!strcasecmp(time, "never")) {
		*relax_s = OSP_RELAX_NEVER;
		return 0;
	}
	if (!time[0])
		return osp_error_at(error, NULL, 0, column,
				    "--gang=%.64s: a time is missing after the @ "
				    "(" OSP_DURATION_FORMS ", or never)",
				    value);
	if (osp_parse_duration(time, relax_s) == 0)
		return 0;
	if (strstr(time, PREFER))
		return osp_error_at(error, NULL, 0, column,
				    "--gang=%.64s: prefer comes before the @, as in "
				    "leaf" PREFER "@30:00",
				    value);
	if (osp_nearest_word(time, words, 1))
		return osp_error_at(error, NULL, 0, column,
				    "--gang=%.64s: '%.32s' is no time; did you mean never?", value,
				    time);
	return osp_error_at(error, NULL, 0, column,
			    "--gang=%.64s: '%.32s' is no time (" OSP_DURATION_FORMS ", or never)",
			    value, time);
}

/* Returns where the words behind level and time begin, at their blank; NULL: there are none. */
static const char *find_parts(const char *value)
{
	static const char *const words[] = {
		" domains=", " segment=", " layout=", " keep=", " prefer="};
	const char *first = NULL;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *found = strstr(value, words[i]);

		if (found && (!first || found < first))
			first = found;
	}
	return first;
}

/* Takes "leaf,prefer" from the front of *value, if it is there. */
static int take_prefer(const char **value, struct osp_request *parsed, struct osp_error *error)
{
	static const char *const words[] = {"prefer"};
	size_t length = strcspn(*value, ",@");
	const char *comma = *value + length;
	char word[32];

	if (*comma != ',')
		return 0;
	snprintf(word, sizeof(word), "%.*s", (int)strcspn(comma + 1, "@"), comma + 1);
	if (strcmp(word, words[0]) != 0)
		return osp_error_at(error, NULL, 0, (int)length + 2,
				    "--gang=%.64s: '%s' cannot follow a level%s", *value, word,
				    osp_nearest_word(word, words, 1)
					    ? "; did you mean prefer?"
					    : "; only prefer can, as in leaf" PREFER);
	if (!length || *parsed->prefer || !strncasecmp(*value, "off,", strlen("off,")))
		return osp_error_at(error, NULL, 0, (int)length + 1,
				    "--gang=%.64s: prefer follows one level, as in leaf" PREFER,
				    *value);
	if (parse_level(*value, length, parsed->prefer, error))
		return -1;
	*value = comma + strlen(PREFER);
	return 0;
}

int osp_request_parse(const char *value, struct osp_request *request, struct osp_error *error)
{
	struct osp_request parsed = {.asked = OSP_GANG_OPTION_ON, .relax_s = -1};
	const char *at, *parts;
	char head[128];
	size_t length;

	if (!value)
		value = "";
	if (check_printable(value, error))
		return -1;
	parts = find_parts(value);
	if (parts) {
		if (osp_request_parse_parts(parts + 1, &parsed, error))
			return -1;
		snprintf(head, sizeof(head), "%.*s", (int)(parts - value), value);
		value = head;
	}
	if (take_prefer(&value, &parsed, error))
		return -1;
	at = strchr(value, '@');
	length = at ? (size_t)(at - value) : strlen(value);
	if (parse_level(value, length, parsed.level, error))
		return -1;
	if (!strcasecmp(parsed.level, "off")) {
		if (at)
			return osp_error_at(error, NULL, 0, (int)length + 1,
					    "--gang=%.64s: off takes no time", value);
		if (parts)
			return osp_error_at(error, NULL, 0, (int)length + 1,
					    "--gang=off takes no domains, segments, layout or "
					    "prefer");
		parsed.asked = OSP_GANG_OPTION_OFF;
		parsed.level[0] = '\0';
	}
	if (at && parse_relax(value, at + 1, &parsed.relax_s, error))
		return -1;
	parsed.origin = request->origin;
	*request = parsed;
	return 0;
}

/* Writes a time that osp_parse_duration() and Slurm itself read back as the same number. */
static void format_relax(int64_t relax_s, char *buffer, size_t buffer_bytes)
{
	long long days = relax_s / 86400;
	int hours = (int)(relax_s / 3600 % 24);
	int minutes = (int)(relax_s / 60 % 60);
	int seconds = (int)(relax_s % 60);

	if (days)
		snprintf(buffer, buffer_bytes, "@%lld-%02d:%02d:%02d", days, hours, minutes,
			 seconds);
	else if (hours)
		snprintf(buffer, buffer_bytes, "@%d:%02d:%02d", hours, minutes, seconds);
	else
		snprintf(buffer, buffer_bytes, "@%d:%02d", minutes, seconds);
}

const char *osp_request_format(const struct osp_request *request, char *buffer, size_t buffer_bytes)
{
	char relax[40] = "", parts[OSP_REQUEST_BYTES] = "";

	if (request->asked == OSP_GANG_OPTION_ON && request->relax_s >= 0)
		format_relax(request->relax_s, relax, sizeof(relax));
	else if (request->asked == OSP_GANG_OPTION_ON && request->relax_s == OSP_RELAX_NEVER)
		snprintf(relax, sizeof(relax), "@never");
	if (request->asked == OSP_GANG_OPTION_ON)
		osp_request_format_parts(request, parts, sizeof(parts));
	snprintf(buffer, buffer_bytes, "%s%s%s",
		 request->asked == OSP_GANG_OPTION_OFF	? "off"
		 : request->asked == OSP_GANG_OPTION_ON ? request->level
							: "",
		 relax, parts);
	return buffer;
}

/* --- under the policy --------------------------------------------------------------------------
 */

static void hold_to_policy(const struct osp_policy *policy, struct osp_effective *effective)
{
	memset(effective, 0, sizeof(*effective));
	effective->mode = policy->mode;
	effective->origin = OSP_FROM_POLICY;
	snprintf(effective->level, sizeof(effective->level), "%s", policy->level);
	effective->relax_s = policy->relax_s;
	effective->mix_kinds = policy->mix_kinds;
	effective->from_nodes = policy->from_nodes;
}

static void not_a_gang(enum osp_origin origin, struct osp_effective *effective)
{
	memset(effective, 0, sizeof(*effective));
	effective->mode = OSP_MODE_OFF;
	effective->origin = origin;
	effective->relax_s = -1;
}

static int resolve_off(const struct osp_request *request, const struct osp_policy *policy,
		       const char *partition, const struct osp_size *size,
		       struct osp_effective *effective, struct osp_error *error)
{
	if (osp_policy_holds(policy, size) != OSP_HELD || policy->allow_off) {
		not_a_gang(request->origin, effective);
		return 0;
	}
	if (policy->from_nodes <= 1)
		return osp_error_set(error,
				     "every job is a gang in %s%s, and --gang=off is not allowed "
				     "there; leave it out",
				     partition ? "partition " : "its partition",
				     partition ? partition : "");
	return osp_error_set(error,
			     "jobs of %u nodes and more are gangs in %s%s, and --gang=off is not "
			     "allowed there; ask for fewer nodes or leave it out",
			     policy->from_nodes, partition ? "partition " : "its partition",
			     partition ? partition : "");
}

static int resolve_gang(const struct osp_request *request, const struct osp_policy *policy,
			const char *partition, struct osp_effective *effective,
			struct osp_error *error)
{
	/* To run the job anyway would place it anywhere, which is what it asked to avoid. */
	if (policy->mode == OSP_MODE_OFF)
		return osp_error_set(error,
				     "%s%s takes no gangs; leave out --gang or choose another "
				     "partition",
				     partition ? "partition " : "its partition",
				     partition ? partition : "");
	hold_to_policy(policy, effective);
	effective->origin = request->origin;
	effective->from_nodes = 0;
	if (request->level[0])
		memcpy(effective->level, request->level, sizeof(effective->level));
	effective->domains_max = request->domains_max > 1 ? request->domains_max : 0;
	memcpy(effective->segments, request->segments, sizeof(effective->segments));
	memcpy(effective->layout, request->layout, sizeof(effective->layout));
	memcpy(effective->keep, request->keep, sizeof(effective->keep));
	memcpy(effective->prefer, request->prefer, sizeof(effective->prefer));
	if (*request->prefer &&
	    (osp_in_parts(request->domains_max, request->segments) || *request->layout))
		return osp_error_set(
			error,
			"--gang=%s,prefer is for a gang in one domain: leave it out, or "
			"--gang-domains, --gang-segment and --gang-layout",
			request->prefer);
	if (request->relax_s >= 0)
		effective->relax_s = request->relax_s;
	else if (request->relax_s == OSP_RELAX_NEVER)
		effective->relax_s = -1;
	return 0;
}

static enum osp_way_out way_out(const struct osp_policy *policy, enum osp_held held)
{
	if (held == OSP_HELD_NOT)
		return OSP_WAY_LEAVE_OUT;
	return held == OSP_HELD && !policy->allow_off ? OSP_WAY_NONE : OSP_WAY_OFF;
}

int osp_request_resolve(const struct osp_request *request, const struct osp_policy *policy,
			const char *partition, const struct osp_size *size,
			struct osp_effective *effective, struct osp_error *error)
{
	enum osp_held held = osp_policy_holds(policy, size);

	switch (request->asked) {
	case OSP_GANG_OPTION_OFF:
		return resolve_off(request, policy, partition, size, effective, error);
	case OSP_GANG_OPTION_ON:
		if (resolve_gang(request, policy, partition, effective, error))
			return -1;
		effective->way_out = way_out(policy, held);
		return 0;
	case OSP_GANG_OPTION_NONE:
		break;
	}
	if (held == OSP_HELD_NOT)
		not_a_gang(OSP_FROM_POLICY, effective);
	else
		hold_to_policy(policy, effective);
	effective->way_out = way_out(policy, held);
	effective->if_large = held == OSP_HELD_IF_LARGE;
	return 0;
}

uint32_t osp_least_nodes(uint32_t nodes, uint32_t tasks, uint32_t tasks_per_node)
{
	uint32_t by_tasks;

	if (!tasks_per_node)
		return nodes;
	by_tasks = tasks / tasks_per_node + (tasks % tasks_per_node != 0);
	return by_tasks > nodes ? by_tasks : nodes;
}

/* --- several components ----------------------------------------------------------------------- */

static bool is_stricter(const struct osp_topology *topology, const char *level, const char *than)
{
	int one = osp_topology_level(topology, level), other = osp_topology_level(topology, than);

	if (one < 1 || other < 1)
		return one < other;
	return one != other && osp_topology_nests(topology, (uint32_t)one, (uint32_t)other, NULL);
}

void osp_request_add_promise(struct osp_effective *strictest, const struct osp_effective *other,
			     const struct osp_topology *topology)
{
	if (other->mode != OSP_MODE_ENFORCE)
		return;
	if (is_stricter(topology, other->level, strictest->level))
		memcpy(strictest->level, other->level, sizeof(strictest->level));
	if (other->from_nodes < strictest->from_nodes)
		strictest->from_nodes = other->from_nodes;
}

/* --- what is done about it -------------------------------------------------------------------- */

enum osp_course osp_course_of(const struct osp_effective *effective,
			      const struct osp_course_facts *facts)
{
	if (effective->mode != OSP_MODE_ENFORCE)
		return OSP_COURSE_PLACE;
	if (effective->unread[0])
		return OSP_COURSE_WAIT_UNREAD;
	if (facts->splits)
		return OSP_COURSE_WAIT_SPLIT;
	if (facts->only_ever)
		return effective->if_large ? OSP_COURSE_SCHEDULER : OSP_COURSE_PLACE;
	if ((effective->if_large || facts->others_choose) && facts->has_fabric &&
	    facts->is_component)
		return OSP_COURSE_COMPONENT;
	return effective->if_large || effective->from_nodes > 1 ? OSP_COURSE_LARGE
								: OSP_COURSE_PLACE;
}
