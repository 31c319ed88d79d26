/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_policy.c - the section `gate:` of a partition in onespine.yaml */
#include "lib/gate/gate_policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/gate/gate.h"
#include "lib/gate/quarantine.h"

#define BUDGET_MOST_S  3600
#define TIME_MOST_S    (30 * 86400)

#define EVIDENCE_LOCAL "local"
#define KEY_FILE_AUTO  "auto"

const char *const osp_gate_keys[OSP_GATE_KEY_COUNT] = {
	"depth",     "jobs",	     "budget_s", "fresh_s",    "failure",      "checks",
	"on_error",  "spares",	     "restarts", "network",    "ports",	       "breaker",
	"breaker_s", "breaker_jobs", "evidence", "quarantine", "quarantine_h", "key_file",
};

static const char *const depth_names[OSP_GATE_DEPTH_COUNT] = {"off", "passive", "quick", "full"};
static const char *const job_names[] = {"gpus", "all"};
static const char *const failure_names[] = {"log", "comment", "drain"};
/* The last two are older words, from when there was only one way. */
static const char *const network_names[OSP_GATE_NETWORK_COUNT + 2] = {"off",  "tcp",  "auto",
								      "nccl", "true", "false"};
static const char *const wait_names[] = {"go", "wait"};

void osp_gate_policy_default(struct osp_gate_policy *policy)
{
	*policy = (struct osp_gate_policy){
		.depth = OSP_GATE_PASSIVE,
		.budget_s = 60,
		.fresh_s = 3600,
		.failure = OSP_GATE_ON_FAIL_DRAIN,
		.spares_max = 2,
		.restarts_max = 3,
		.network = OSP_GATE_NETWORK_AUTO,
		.port_first = 288,
		.port_last = 303,
		.breaker_percent = 10,
		.breaker_s = 3600,
		.quarantine_h = 72,
	};
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
	const struct osp_document *document;
	struct osp_gate_policy *policy;
	struct osp_error *error;
};

static int take_choice(struct reading *reading, const struct osp_value *value,
		       const char *const *words, size_t count, size_t *index)
{
	return osp_value_choice(reading->document, value, words, count, index, reading->error);
}

static int take_number(struct reading *reading, const struct osp_value *value, int64_t least,
		       int64_t most, uint32_t *to)
{
	int64_t number;

	if (osp_value_integer(reading->document, value, least, most, &number, reading->error))
		return -1;
	*to = (uint32_t)number;
	return 0;
}

static int take_bool(struct reading *reading, const struct osp_value *value,
		     const char *const words[2], bool *second)
{
	size_t index;

	if (take_choice(reading, value, words, 2, &index))
		return -1;
	*second = index == 1;
	return 0;
}

static int take_failure(struct reading *reading, const struct osp_value *value,
			enum osp_gate_failure *failure)
{
	size_t index;

	if (take_choice(reading, value, failure_names, 3, &index))
		return -1;
	*failure = (enum osp_gate_failure)index;
	return 0;
}

/* Reads a rule for one check, which replaces the one from `defaults`. */
static int take_check(struct reading *reading, const struct osp_value *value)
{
	struct osp_gate_policy *policy = reading->policy;
	uint32_t i = 0;

	while (i < policy->check_count && strcmp(policy->checks[i].check, value->key) != 0)
		i++;
	if (i == OSP_GATE_CHECKS_MAX || strlen(value->key) >= OSP_GATE_CHECK_BYTES)
		return osp_document_error(
			reading->document, value, reading->error,
			"checks: at most %d names of up to %d letters are expected",
			OSP_GATE_CHECKS_MAX, OSP_GATE_CHECK_BYTES - 1);
	if (take_failure(reading, value, &policy->checks[i].failure))
		return -1;
	policy->checks[i].check = value->key;
	if (i == policy->check_count)
		policy->check_count++;
	return 0;
}

static int take_checks(struct reading *reading, const struct osp_value *map)
{
	if (map->type != OSP_VALUE_MAP)
		return osp_document_error(reading->document, map, reading->error,
					  "checks: a map of checks and drain, comment or log is "
					  "expected");
	for (const struct osp_value *value = map->first; value; value = value->next)
		if (take_check(reading, value))
			return -1;
	return 0;
}

static bool read_port(const char **at, unsigned long *port)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	*port = strtoul(*at, &end, 10);
	*at = end;
	return *port >= 1 && *port <= 65535;
}

static int take_ports(struct reading *reading, const struct osp_value *value)
{
	unsigned long first, last;
	const char *text, *at;

	if (osp_value_string(reading->document, value, &text, reading->error))
		return -1;
	at = text;
	if (read_port(&at, &first)) {
		last = first;
		if (!*at || (*at++ == '-' && read_port(&at, &last) && !*at && last >= first &&
			     last - first < OSP_GATE_PORTS_MAX)) {
			reading->policy->port_first = (uint16_t)first;
			reading->policy->port_last = (uint16_t)last;
			return 0;
		}
	}
	return osp_document_error(reading->document, value, reading->error,
				  "ports: a port or a range of at most %d such as 288-303 is "
				  "expected, not '%.40s'",
				  OSP_GATE_PORTS_MAX, text);
}

/* Reads a path, or `word`, which is NULL then. */
static int take_path(struct reading *reading, const struct osp_value *value, const char *word,
		     const char *what, const char **path)
{
	const char *text;

	if (osp_value_string(reading->document, value, &text, reading->error))
		return -1;
	if (*text != '/' && strcmp(text, word) != 0)
		return osp_document_error(reading->document, value, reading->error,
					  "%s: %s or a %s's whole path is expected, not '%.40s'",
					  value->key, word, what, text);
	*path = *text == '/' ? text : NULL;
	return 0;
}

static int take_network(struct reading *reading, const struct osp_value *value)
{
	size_t index;

	if (take_choice(reading, value, network_names, OSP_GATE_NETWORK_COUNT + 2, &index))
		return -1;
	if (index >= OSP_GATE_NETWORK_COUNT)
		index = index == OSP_GATE_NETWORK_COUNT ? OSP_GATE_NETWORK_AUTO
							: OSP_GATE_NETWORK_OFF;
	reading->policy->network = (enum osp_gate_network)index;
	return 0;
}

static int take_key(struct reading *reading, enum osp_gate_key key, const struct osp_value *value)
{
	struct osp_gate_policy *policy = reading->policy;
	size_t index;

	switch (key) {
	case OSP_GATE_KEY_DEPTH:
		if (take_choice(reading, value, depth_names, OSP_GATE_DEPTH_COUNT, &index))
			return -1;
		policy->depth = (enum osp_gate_depth)index;
		return 0;
	case OSP_GATE_KEY_JOBS:
		return take_bool(reading, value, job_names, &policy->all_jobs);
	case OSP_GATE_KEY_BUDGET_S:
		return take_number(reading, value, 1, BUDGET_MOST_S, &policy->budget_s);
	case OSP_GATE_KEY_FRESH_S:
		return take_number(reading, value, 0, TIME_MOST_S, &policy->fresh_s);
	case OSP_GATE_KEY_FAILURE:
		return take_failure(reading, value, &policy->failure);
	case OSP_GATE_KEY_CHECKS:
		return take_checks(reading, value);
	case OSP_GATE_KEY_ON_ERROR:
		return take_bool(reading, value, wait_names, &policy->error_waits);
	case OSP_GATE_KEY_SPARES:
		return take_number(reading, value, 0, OSP_GATE_NODES_MAX, &policy->spares_max);
	case OSP_GATE_KEY_RESTARTS:
		return take_number(reading, value, 0, 1000, &policy->restarts_max);
	case OSP_GATE_KEY_NETWORK:
		return take_network(reading, value);
	case OSP_GATE_KEY_PORTS:
		return take_ports(reading, value);
	case OSP_GATE_KEY_BREAKER:
		return take_number(reading, value, 0, 100, &policy->breaker_percent);
	case OSP_GATE_KEY_BREAKER_S:
		return take_number(reading, value, 1, TIME_MOST_S, &policy->breaker_s);
	case OSP_GATE_KEY_BREAKER_JOBS:
		return take_bool(reading, value, wait_names, &policy->breaker_waits);
	case OSP_GATE_KEY_EVIDENCE:
		return take_path(reading, value, EVIDENCE_LOCAL, "folder", &policy->evidence);
	case OSP_GATE_KEY_QUARANTINE:
		return take_number(reading, value, 0, OSP_QUARANTINE_NODES_MAX,
				   &policy->quarantine);
	case OSP_GATE_KEY_QUARANTINE_H:
		return take_number(reading, value, 1, OSP_QUARANTINE_HOURS_MAX,
				   &policy->quarantine_h);
	case OSP_GATE_KEY_KEY_FILE:
		return take_path(reading, value, KEY_FILE_AUTO, "file", &policy->key_file);
	case OSP_GATE_KEY_COUNT:
		break;
	}
	return 0;
}

int osp_gate_policy_read(const struct osp_document *document, const struct osp_value *map,
			 struct osp_gate_policy *policy, int lines[OSP_GATE_KEY_COUNT],
			 struct osp_error *error)
{
	struct reading reading = {.document = document, .policy = policy, .error = error};

	if (osp_value_only_keys(document, map, osp_gate_keys, OSP_GATE_KEY_COUNT, error))
		return -1;
	for (int key = 0; key < OSP_GATE_KEY_COUNT; key++) {
		const struct osp_value *value = osp_value_get(map, osp_gate_keys[key]);

		if (!value)
			continue;
		if (take_key(&reading, (enum osp_gate_key)key, value))
			return -1;
		lines[key] = value->line;
	}
	return 0;
}

/* --- showing ---------------------------------------------------------------------------------- */

static const char *checks_word(const struct osp_gate_policy *policy, char *buffer,
			       size_t buffer_bytes)
{
	size_t length = (size_t)snprintf(buffer, buffer_bytes, "{");

	for (uint32_t i = 0; i < policy->check_count && length < buffer_bytes; i++)
		length += (size_t)snprintf(buffer + length, buffer_bytes - length, "%s%s: %s",
					   i ? ", " : "", policy->checks[i].check,
					   failure_names[policy->checks[i].failure]);
	if (length < buffer_bytes)
		snprintf(buffer + length, buffer_bytes - length, "}");
	return buffer;
}

static const char *number_word(uint32_t number, char *buffer, size_t buffer_bytes)
{
	snprintf(buffer, buffer_bytes, "%u", number);
	return buffer;
}

const char *osp_gate_policy_word(const struct osp_gate_policy *policy, enum osp_gate_key key,
				 char *buffer, size_t buffer_bytes)
{
	switch (key) {
	case OSP_GATE_KEY_DEPTH:
		return depth_names[policy->depth];
	case OSP_GATE_KEY_JOBS:
		return job_names[policy->all_jobs];
	case OSP_GATE_KEY_BUDGET_S:
		return number_word(policy->budget_s, buffer, buffer_bytes);
	case OSP_GATE_KEY_FRESH_S:
		return number_word(policy->fresh_s, buffer, buffer_bytes);
	case OSP_GATE_KEY_FAILURE:
		return failure_names[policy->failure];
	case OSP_GATE_KEY_CHECKS:
		return checks_word(policy, buffer, buffer_bytes);
	case OSP_GATE_KEY_ON_ERROR:
		return wait_names[policy->error_waits];
	case OSP_GATE_KEY_SPARES:
		return number_word(policy->spares_max, buffer, buffer_bytes);
	case OSP_GATE_KEY_RESTARTS:
		return number_word(policy->restarts_max, buffer, buffer_bytes);
	case OSP_GATE_KEY_NETWORK:
		return network_names[policy->network];
	case OSP_GATE_KEY_PORTS:
		snprintf(buffer, buffer_bytes, "%u-%u", policy->port_first, policy->port_last);
		return buffer;
	case OSP_GATE_KEY_BREAKER:
		return number_word(policy->breaker_percent, buffer, buffer_bytes);
	case OSP_GATE_KEY_BREAKER_S:
		return number_word(policy->breaker_s, buffer, buffer_bytes);
	case OSP_GATE_KEY_BREAKER_JOBS:
		return wait_names[policy->breaker_waits];
	case OSP_GATE_KEY_QUARANTINE:
		return number_word(policy->quarantine, buffer, buffer_bytes);
	case OSP_GATE_KEY_QUARANTINE_H:
		return number_word(policy->quarantine_h, buffer, buffer_bytes);
	case OSP_GATE_KEY_EVIDENCE:
		return policy->evidence ? policy->evidence : EVIDENCE_LOCAL;
	case OSP_GATE_KEY_KEY_FILE:
	case OSP_GATE_KEY_COUNT:
		break;
	}
	return policy->key_file ? policy->key_file : KEY_FILE_AUTO;
}

enum osp_gate_failure osp_gate_policy_failure(const struct osp_gate_policy *policy,
					      const char *check)
{
	for (uint32_t i = 0; i < policy->check_count; i++)
		if (!strcmp(policy->checks[i].check, check))
			return policy->checks[i].failure;
	return policy->failure;
}

int osp_gate_depth_parse(const char *word, enum osp_gate_depth *depth)
{
	for (int i = 0; i < OSP_GATE_DEPTH_COUNT; i++)
		if (!strcmp(word, depth_names[i])) {
			*depth = (enum osp_gate_depth)i;
			return 0;
		}
	return -1;
}

const char *osp_gate_depth_name(enum osp_gate_depth depth)
{
	return depth_names[depth];
}
