/* SPDX-License-Identifier: GPL-2.0-or-later */
/* promise.c - which jobs a policy makes gangs, and what several partitions promise together */
#include "lib/policy/promise.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool osp_policy_promises(const struct osp_policy *policy)
{
	return policy->gang_always && !policy->allow_off && policy->mode == OSP_MODE_ENFORCE;
}

enum osp_held osp_policy_holds(const struct osp_policy *policy, const struct osp_size *size)
{
	uint32_t least = size->least_nodes ? size->least_nodes : 1;

	if (!policy->gang_always || policy->mode == OSP_MODE_OFF)
		return OSP_HELD_NOT;
	if (least >= policy->from_nodes || size->most_nodes >= policy->from_nodes)
		return OSP_HELD;
	return size->most_nodes || !osp_policy_promises(policy) ? OSP_HELD_NOT : OSP_HELD_IF_LARGE;
}

/* --- several partitions ----------------------------------------------------------------------- */

static bool holds_always(const struct osp_policy *policy)
{
	return policy->gang_always && policy->mode != OSP_MODE_OFF;
}

/* Returns whether `level` is below `other` in this fabric. */
static bool is_lower(const struct osp_topology *topology, const char *level, const char *other)
{
	int rank = topology ? osp_topology_level(topology, level) : -1;
	int than = rank >= 1 ? osp_topology_level(topology, other) : -1;

	return than >= 1 && rank != than &&
	       osp_topology_nests(topology, (uint32_t)rank, (uint32_t)than, NULL);
}

static void add_always(struct osp_policy *policy, const struct osp_policy *other,
		       const struct osp_topology *topology)
{
	bool first = !holds_always(policy), promises = osp_policy_promises(policy);

	if (first || is_lower(topology, other->level, policy->level))
		policy->level = other->level;
	if (first || other->from_nodes < policy->from_nodes)
		policy->from_nodes = other->from_nodes;
	policy->allow_off = !promises && !osp_policy_promises(other);
	policy->gang_always = true;
}

/* Returns whether a gang of `level` may after its @TIME leave what one of `other` is held to
 * then. */
static bool relaxes_past(const struct osp_topology *topology, const char *level, const char *other)
{
	bool beside = topology && osp_topology_overlay_count(topology);
	int one = beside ? osp_topology_level(topology, level) : -1;
	int than = one >= 1 ? osp_topology_level(topology, other) : -1;

	return than >= 1 && osp_topology_relaxes_past(topology, (uint32_t)one, (uint32_t)than);
}

void osp_policy_add(struct osp_policy *policy, const struct osp_policy *other,
		    const struct osp_topology *topology)
{
	const char *before = holds_always(policy) ? policy->level : NULL;

	if (holds_always(other))
		add_always(policy, other, topology);
	else if (!osp_policy_promises(policy))
		policy->allow_off = true;
	if (other->mode > policy->mode)
		policy->mode = other->mode;
	if (policy->relax_s >= 0 && (other->relax_s < 0 || other->relax_s > policy->relax_s))
		policy->relax_s = other->relax_s;
	if ((before && relaxes_past(topology, policy->level, before)) ||
	    (holds_always(other) && relaxes_past(topology, policy->level, other->level)))
		policy->relax_s = -1;
	policy->mix_kinds = policy->mix_kinds && other->mix_kinds;
}

struct osp_policy osp_policy_of_list(const struct osp_config *config, const char *partitions,
				     const struct osp_topology *topology)
{
	const char *at = partitions ? partitions + strspn(partitions, ",") : "";
	size_t bytes = strcspn(at, ",");
	struct osp_policy policy = *osp_config_policy_named(config, at, bytes);

	while (*(at += bytes)) {
		at += strspn(at, ",");
		bytes = strcspn(at, ",");
		if (bytes)
			osp_policy_add(&policy, osp_config_policy_named(config, at, bytes),
				       topology);
	}
	return policy;
}

bool osp_policy_crosses(const struct osp_config *config, const char *partitions,
			const struct osp_topology *topology, const char *level,
			struct osp_error *error)
{
	int asked = topology ? osp_topology_level(topology, level) : -1;
	const char *at = partitions ? partitions : "";
	size_t bytes;

	for (; asked >= 1 && *(at += strspn(at, ",")); at += bytes) {
		const struct osp_policy *policy;
		uint32_t crossing;
		char text[320];
		int held;

		bytes = strcspn(at, ",");
		policy = osp_config_policy_named(config, at, bytes);
		held = osp_policy_promises(policy) ? osp_topology_level(topology, policy->level)
						   : -1;
		if (held < 1 ||
		    osp_topology_nests(topology, (uint32_t)asked, (uint32_t)held, &crossing) ||
		    crossing == OSP_NO_DOMAIN)
			continue;
		osp_error_set(error,
			      "partition %.*s holds its jobs to one %s, which one %s may cross: %s",
			      (int)(bytes < 64 ? bytes : 64), at, policy->level, level,
			      osp_topology_crossing_text(topology, crossing, (uint32_t)held, text,
							 sizeof(text)));
		return true;
	}
	return false;
}

/* --- GPUs ------------------------------------------------------------------------------------- */

/* GPUs of one name in a request. */
struct asked_gpus {
	const char *name; /* "gpu", "gpu:h100" */
	size_t name_bytes;
	uint64_t gpus;
};

/* Reads an item of `length` bytes: "gpu", "gpu:8", "gpu:h100:8", "gpu:h100=8", with or without
 * "gres:" or "gres/". Without GPUs they are 0. */
static struct asked_gpus gpus_of_item(const char *item, size_t length)
{
	size_t start;

	if (length > 5 && !strncmp(item, "gres", 4) && (item[4] == ':' || item[4] == '/')) {
		item += 5;
		length -= 5;
	}
	if (length < 3 || strncmp(item, "gpu", 3) != 0 ||
	    (length > 3 && item[3] != ':' && item[3] != '='))
		return (struct asked_gpus){item, length, 0};
	for (start = length; start > 3 && isdigit((unsigned char)item[start - 1]); start--)
		;
	if (start == length || (item[start - 1] != ':' && item[start - 1] != '='))
		return (struct asked_gpus){item, length, 1};
	return (struct asked_gpus){item, start - 1, strtoull(item + start, NULL, 10)};
}

#define NAMES_MAX 16 /* a request has one or two; what is beyond is only added */

/* Takes the item: it replaces one of its name, as in Slurm. */
static void take_gpus(struct asked_gpus *names, uint32_t *count, const struct asked_gpus *item,
		      uint64_t *beyond)
{
	uint32_t i = 0;

	while (i < *count && (names[i].name_bytes != item->name_bytes ||
			      memcmp(names[i].name, item->name, item->name_bytes) != 0))
		i++;
	if (i == NAMES_MAX) {
		*beyond = item->gpus > UINT64_MAX - *beyond ? UINT64_MAX : *beyond + item->gpus;
		return;
	}
	names[i] = *item;
	*count += i == *count;
}

uint64_t osp_gpus_asked(const char *tres)
{
	struct asked_gpus names[NAMES_MAX], item;
	uint32_t count = 0;
	uint64_t gpus = 0;

	while (tres && *tres) {
		size_t length = strcspn(tres, ",");

		item = gpus_of_item(tres, length);
		if (item.gpus)
			take_gpus(names, &count, &item, &gpus);
		tres += length + (tres[length] == ',');
	}
	for (uint32_t i = 0; i < count; i++)
		gpus = names[i].gpus > UINT64_MAX - gpus ? UINT64_MAX : gpus + names[i].gpus;
	return gpus;
}

/* Returns the length of the name, without the number, of the only generic resource in `tres`; 0 if
 * there are several. */
static size_t name_length(const char *tres)
{
	size_t length = strlen(tres);

	if (strchr(tres, ','))
		return 0;
	while (length && isdigit((unsigned char)tres[length - 1]))
		length--;
	return length;
}

/* Returns whether a node's limit and a request name the same GPUs: "gpu:h100:2" says nothing about
 * "gpu:8". */
static bool same_name(const char *a, const char *b)
{
	size_t length = name_length(a);

	return length && length == name_length(b) && !strncmp(a, b, length);
}

/* Returns how many GPUs each node gives, if that limits what the job has there. GPUs per socket
 * limit nothing, because --sockets-per-node is only the least number of sockets. */
static uint64_t limit_of(const struct osp_gpus_said *said)
{
	uint64_t each = osp_gpus_asked(said->per_node);

	if (!each || (said->per_job && !same_name(said->per_job, said->per_node)) ||
	    (said->per_task && !same_name(said->per_task, said->per_node)))
		return UINT64_MAX;
	return each;
}

void osp_gpus_read(struct osp_gpus_wanted *gpus, const struct osp_gpus_said *said)
{
	uint64_t per_job = osp_gpus_asked(said->per_job);

	gpus->tasks = said->tasks ? said->tasks : 1;
	gpus->per_task = osp_gpus_asked(said->per_task);
	if (gpus->per_task > UINT32_MAX)
		gpus->per_task = UINT32_MAX;
	gpus->in_all = gpus->per_task * gpus->tasks;
	if (per_job > gpus->in_all)
		gpus->in_all = per_job;
	gpus->per_node = limit_of(said);
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

uint32_t osp_gpus_least_nodes(const struct osp_gpus_wanted *gpus, uint64_t most)
{
	uint64_t nodes, by_tasks = 0;

	if (!gpus->in_all)
		return 0;
	if (gpus->per_node < most)
		most = gpus->per_node;
	if (!most || most < gpus->per_task)
		return UINT32_MAX;
	nodes = divide_up(gpus->in_all, most);
	if (gpus->per_task)
		by_tasks = divide_up(gpus->tasks, most / gpus->per_task);
	if (by_tasks > nodes)
		nodes = by_tasks;
	return nodes > UINT32_MAX ? UINT32_MAX : (uint32_t)nodes;
}
