/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lib/policy/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

#define RELAX_S_MAX	 ((int64_t)10 * 366 * 24 * 60 * 60)
#define LEVEL_CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

static const char *const origin_names[] = {
	[OSP_FROM_OPTION] = "option",
	[OSP_FROM_ENVIRONMENT] = "environment",
	[OSP_FROM_POLICY] = "policy",
	[OSP_FROM_SET] = "set",
};

#define ORIGIN_COUNT (sizeof(origin_names) / sizeof(origin_names[0]))

/* --- the option ------------------------------------------------------------------------------- */

/* Values end in logs and on terminals: nothing that is not printable goes into a sentence. */
static int check_printable(const char *value, struct osp_error *error)
{
	for (size_t i = 0; value[i]; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c < ' ' || c > '~')
			return osp_error_at(error, NULL, 0, (int)i + 1,
					    "--gang: the byte 0x%02x cannot stand in its value", c);
	}
	return 0;
}

static int parse_level(const char *value, size_t length, char *level, struct osp_error *error)
{
	size_t good = strspn(value, LEVEL_CHARACTERS);

	if (good < length)
		return osp_error_at(error, NULL, 0, (int)good + 1,
				    "--gang=%.64s: '%c' cannot stand in a level's name (letters, "
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
				    "--gang=%.64s: a time is missing after the @ (minutes, "
				    "hours:minutes:seconds, days-hours or never)",
				    value);
	if (osp_parse_duration(time, relax_s) == 0)
		return 0;
	if (osp_nearest_word(time, words, 1))
		return osp_error_at(error, NULL, 0, column,
				    "--gang=%.64s: '%.32s' is no time; did you mean never?", value,
				    time);
	return osp_error_at(error, NULL, 0, column,
			    "--gang=%.64s: '%.32s' is no time (minutes, minutes:seconds, "
			    "hours:minutes:seconds, days-hours[:minutes[:seconds]] or never)",
			    value, time);
}

int osp_request_parse(const char *value, struct osp_request *request, struct osp_error *error)
{
	struct osp_request parsed = {.asked = OSP_ASKED_GANG, .relax_s = -1};
	const char *at;
	size_t length;

	if (!value)
		value = "";
	if (check_printable(value, error))
		return -1;
	at = strchr(value, '@');
	length = at ? (size_t)(at - value) : strlen(value);
	if (parse_level(value, length, parsed.level, error))
		return -1;
	if (!strcasecmp(parsed.level, "off")) {
		if (at)
			return osp_error_at(error, NULL, 0, (int)length + 1,
					    "--gang=%.64s: off takes no time", value);
		parsed.asked = OSP_ASKED_OFF;
		parsed.level[0] = '\0';
	}
	if (at && parse_relax(value, at + 1, &parsed.relax_s, error))
		return -1;
	parsed.origin = request->origin;
	*request = parsed;
	return 0;
}

/* In a form that osp_parse_duration() and Slurm itself read back to the same number. */
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
	char relax[40] = "";

	if (request->asked == OSP_ASKED_GANG && request->relax_s >= 0)
		format_relax(request->relax_s, relax, sizeof(relax));
	else if (request->asked == OSP_ASKED_GANG && request->relax_s == OSP_RELAX_NEVER)
		snprintf(relax, sizeof(relax), "@never");
	snprintf(buffer, buffer_bytes, "%s%s",
		 request->asked == OSP_ASKED_OFF    ? "off"
		 : request->asked == OSP_ASKED_GANG ? request->level
						    : "",
		 relax);
	return buffer;
}

/* --- under the policy --------------------------------------------------------------------------
 */

/* Whether policy makes a gang of a job that asks for nothing. */
static bool policy_gangs(const struct osp_policy *policy, uint32_t node_count)
{
	/* A job that does not say how many nodes gets at least one. */
	if (!node_count)
		node_count = 1;
	return policy->mode != OSP_MODE_OFF && policy->gang_always &&
	       node_count >= policy->from_nodes;
}

static void hold_to_policy(const struct osp_policy *policy, struct osp_effective *effective)
{
	memset(effective, 0, sizeof(*effective));
	effective->mode = policy->mode;
	effective->origin = OSP_FROM_POLICY;
	snprintf(effective->level, sizeof(effective->level), "%s", policy->level);
	effective->relax_s = policy->relax_s;
	effective->mix_kinds = policy->mix_kinds;
}

static void not_a_gang(enum osp_origin origin, struct osp_effective *effective)
{
	memset(effective, 0, sizeof(*effective));
	effective->mode = OSP_MODE_OFF;
	effective->origin = origin;
	effective->relax_s = -1;
}

static int resolve_off(const struct osp_request *request, const struct osp_policy *policy,
		       const char *partition, uint32_t node_count, struct osp_effective *effective,
		       struct osp_error *error)
{
	if (!policy_gangs(policy, node_count) || policy->allow_off) {
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
	/* To run it anyway would place it anywhere, which is what it asked not to be. */
	if (policy->mode == OSP_MODE_OFF)
		return osp_error_set(error,
				     "%s%s takes no gangs; leave out --gang or choose another "
				     "partition",
				     partition ? "partition " : "its partition",
				     partition ? partition : "");
	hold_to_policy(policy, effective);
	effective->origin = request->origin;
	if (request->level[0])
		memcpy(effective->level, request->level, sizeof(effective->level));
	if (request->relax_s >= 0)
		effective->relax_s = request->relax_s;
	else if (request->relax_s == OSP_RELAX_NEVER)
		effective->relax_s = -1;
	return 0;
}

int osp_request_resolve(const struct osp_request *request, const struct osp_policy *policy,
			const char *partition, uint32_t node_count, struct osp_effective *effective,
			struct osp_error *error)
{
	switch (request->asked) {
	case OSP_ASKED_OFF:
		return resolve_off(request, policy, partition, node_count, effective, error);
	case OSP_ASKED_GANG:
		return resolve_gang(request, policy, partition, effective, error);
	case OSP_ASKED_NOTHING:
		break;
	}
	if (policy_gangs(policy, node_count))
		hold_to_policy(policy, effective);
	else
		not_a_gang(OSP_FROM_POLICY, effective);
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

/* --- the value that job_submit hands to the shadow --------------------------------------------- */

const char *osp_effective_format(const struct osp_effective *effective, char *buffer,
				 size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes, "mode=%s,level=%s,relax_s=%lld,origin=%s,mix_kinds=%s",
		 osp_mode_name(effective->mode), effective->level, (long long)effective->relax_s,
		 origin_names[effective->origin], effective->mix_kinds ? "yes" : "no");
	return buffer;
}

static int take_mode(const char *word, struct osp_effective *effective)
{
	static const enum osp_mode modes[] = {OSP_MODE_OFF, OSP_MODE_ADVISE, OSP_MODE_ENFORCE};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(word, osp_mode_name(modes[i]))) {
			effective->mode = modes[i];
			return 0;
		}
	}
	return -1;
}

static int take_level(const char *word, struct osp_effective *effective)
{
	return parse_level(word, strlen(word), effective->level, NULL);
}

static int take_relax(const char *word, struct osp_effective *effective)
{
	char *end;
	long long number;

	if (!strcmp(word, "-1")) {
		effective->relax_s = -1;
		return 0;
	}
	if (word[0] < '0' || word[0] > '9')
		return -1;
	number = strtoll(word, &end, 10);
	if (*end || number > RELAX_S_MAX)
		return -1;
	effective->relax_s = number;
	return 0;
}

static int take_origin(const char *word, struct osp_effective *effective)
{
	for (size_t i = 0; i < ORIGIN_COUNT; i++) {
		if (!strcmp(word, origin_names[i])) {
			effective->origin = (enum osp_origin)i;
			return 0;
		}
	}
	return -1;
}

static int take_mix_kinds(const char *word, struct osp_effective *effective)
{
	effective->mix_kinds = !strcmp(word, "yes");
	return effective->mix_kinds || !strcmp(word, "no") ? 0 : -1;
}

static const struct {
	const char *key;
	int (*take)(const char *word, struct osp_effective *effective);
} effective_keys[] = {
	{"mode", take_mode},	 {"level", take_level},		{"relax_s", take_relax},
	{"origin", take_origin}, {"mix_kinds", take_mix_kinds},
};

#define EFFECTIVE_KEY_COUNT (sizeof(effective_keys) / sizeof(effective_keys[0]))

/* One "key=word"; sets the key's bit in *seen. */
static int take_pair(char *pair, unsigned int *seen, struct osp_effective *effective)
{
	char *equals = strchr(pair, '=');

	if (!equals)
		return -1;
	*equals = '\0';
	for (size_t i = 0; i < EFFECTIVE_KEY_COUNT; i++) {
		if (strcmp(pair, effective_keys[i].key))
			continue;
		if (*seen & (1u << i))
			return -1;
		*seen |= 1u << i;
		return effective_keys[i].take(equals + 1, effective);
	}
	return -1;
}

int osp_effective_parse(const char *value, struct osp_effective *effective)
{
	struct osp_effective parsed;
	char copy[256], *pair, *next = copy;
	unsigned int seen = 0;
	size_t length = strlen(value);

	if (length >= sizeof(copy))
		return -1;
	memset(&parsed, 0, sizeof(parsed));
	memcpy(copy, value, length + 1);
	while (next) {
		pair = next;
		next = strchr(pair, ',');
		if (next)
			*next++ = '\0';
		if (take_pair(pair, &seen, &parsed))
			return -1;
	}
	if (seen != (1u << EFFECTIVE_KEY_COUNT) - 1)
		return -1;
	if (parsed.mode != OSP_MODE_OFF && !parsed.level[0])
		return -1;
	*effective = parsed;
	return 0;
}
