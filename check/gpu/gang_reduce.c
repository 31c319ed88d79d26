/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_reduce.c - one node's part in all-reduces between nodes, by NCCL */
#include "check/gpu/gang_reduce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/gpu/gpu_reduce.h"
#include "check/gpu/gpu_unit.h"

#define NCCL_VARIABLES_MAX 128

extern char **environ;

struct gang {
	struct osp_reduction reduction;
	struct osp_gang_answer answer;
};

/* Keeps the first report: it says what broke. */
static void keep_why(struct osp_check_context *context, const struct osp_result *result)
{
	struct osp_gang_answer *answer = context->reporter;

	if (!*answer->why)
		snprintf(answer->why, sizeof(answer->why), "%.40s%s%.200s", result->subject,
			 *result->subject ? ": " : "", result->why);
}

/* --- getting ready ---------------------------------------------------------------------------- */

/* Copies the NCCL variables of the environment. Starting CUDA removes them with all others that
 * could change the measurement, but these are wanted. */
static size_t keep_variables(char *kept[NCCL_VARIABLES_MAX])
{
	size_t count = 0;

	for (char **at = environ; *at && count < NCCL_VARIABLES_MAX; at++)
		if (strncmp(*at, "NCCL_", 5) == 0) {
			kept[count] = strdup(*at);
			count += kept[count] != NULL;
		}
	return count;
}

static bool find_units(struct osp_check_context *context, struct osp_units *units)
{
	struct osp_gang_answer *answer = context->reporter;

	if (osp_units_find(context, units, answer->why, sizeof(answer->why)) != OSP_FOUND)
		return false;
	*answer->why = '\0';
	for (size_t i = 0; i < units->count; i++) {
		const struct osp_unit *unit = &units->units[i];

		if (*unit->left_alone || !unit->whole)
			osp_result_error(context, unit->subject, "%s",
					 *unit->left_alone ? unit->left_alone : "a part of a GPU");
	}
	context->units = units->units;
	context->unit_count = units->count;
	return !*answer->why;
}

static bool load(struct gang *gang)
{
	const char *why = osp_nccl_load();
	int version = 0;

	if (why) {
		osp_result_error(gang->reduction.context, "", "%s", why);
		return false;
	}
	if (!osp_reduce_right(&gang->reduction, osp_nccl_version(&version), "ncclGetVersion"))
		return false;
	gang->answer.version = (uint32_t)version;
	if (version >= OSP_NCCL_VERSION_LEAST)
		return true;
	osp_result_error(gang->reduction.context, "", "NCCL %d is older than %d", version,
			 OSP_NCCL_VERSION_LEAST);
	return false;
}

/* Sets the limits. The least speed of a sum is known only for whole nodes. The network's peak holds
 * for any. */
static void set_limits(struct gang *gang)
{
	const struct osp_check_context *context = gang->reduction.context;
	const struct osp_limit *gpus = osp_check_limit(context, OSP_LIMIT_GPUS, NULL);
	const struct osp_limit *least =
		osp_check_limit(context, OSP_LIMIT_GANG_ALL_REDUCE_GBPS, NULL);
	const struct osp_limit *network =
		osp_check_limit(context, OSP_LIMIT_NETWORK_PEAK_GBPS, NULL);

	if (least && gpus && (size_t)gpus->value == gang->reduction.count) {
		gang->answer.least_gbps = (float)least->value;
		gang->answer.unproven =
			least->unproven && !osp_thresholds_unproven_fails(context->thresholds);
	}
	if (network)
		gang->answer.network_gbps = (float)network->value;
}

static bool get_ready(struct gang *gang, struct osp_units *units)
{
	struct osp_reduction *reduction = &gang->reduction;
	char *kept[NCCL_VARIABLES_MAX];
	size_t count = keep_variables(kept);

	if (!find_units(reduction->context, units))
		return false;
	reduction->sessions = osp_gpu_begin_all(reduction->context, 1, &reduction->count);
	if (!reduction->sessions)
		return false;
	for (size_t i = 0; i < count; i++)
		putenv(kept[i]);
	if (!load(gang) || !osp_reduce_take_memory(reduction))
		return false;
	gang->answer.gpus = (uint32_t)reduction->count;
	gang->answer.sum_kib = (uint32_t)(reduction->room_bytes / 1024);
	set_limits(gang);
	return osp_reduce_right(reduction, osp_nccl_make_id(&gang->answer.id), "ncclGetUniqueId");
}

/* --- an all-reduce ---------------------------------------------------------------------------- */

static bool join(struct gang *gang, const struct osp_gang_order *order)
{
	struct osp_reduction *reduction = &gang->reduction;

	if (!osp_reduce_right(reduction, osp_nccl_group_begin(), "ncclGroupStart"))
		return false;
	for (size_t i = 0; i < reduction->count; i++)
		if (!osp_reduce_use(reduction, i) ||
		    !osp_reduce_right(reduction,
				      osp_nccl_join(&reduction->communicators[i], (int)order->ranks,
						    order->id, (int)(order->first + i)),
				      "ncclCommInitRank"))
			return false;
	return osp_reduce_right(reduction, osp_nccl_group_end(), "ncclCommInitRank");
}

static void leave(struct gang *gang)
{
	for (size_t i = 0; i < gang->reduction.count; i++)
		if (osp_reduce_use(&gang->reduction, i))
			osp_nccl_leave(gang->reduction.communicators[i]);
}

/* Computes the sums. The first is compared. The second lets all nodes begin together, because they
 * compare at different speeds. The rest are timed. */
static bool reduce(struct gang *gang, const struct osp_gang_order *order)
{
	struct osp_reduction *reduction = &gang->reduction;
	unsigned int wrong[OSP_GPUS_MAX];
	double gbps = 0;

	osp_reduce_shape(reduction, order->first, order->ranks, (size_t)order->sum_kib * 1024);
	if (!reduction->part_bytes) {
		osp_result_error(reduction->context, "", "%u KiB are too little for %u GPUs",
				 order->sum_kib, order->ranks);
		return false;
	}
	if (!join(gang, order) || !osp_reduce_fill(reduction) || !osp_reduce_once(reduction) ||
	    !osp_reduce_wait(reduction) || !osp_reduce_compare(reduction, wrong) ||
	    !osp_reduce_once(reduction) || !osp_reduce_wait(reduction) ||
	    !osp_reduce_time(reduction, &gbps))
		return false;
	gang->answer.wrong = 0;
	for (size_t i = 0; i < reduction->count; i++)
		gang->answer.wrong += wrong[i];
	gang->answer.gbps = (float)gbps;
	return osp_reduce_right(reduction, osp_nccl_make_id(&gang->answer.id), "ncclGetUniqueId");
}

/* --- the process ------------------------------------------------------------------------------ */

static bool read_order(int orders, struct osp_gang_order *order)
{
	size_t got = 0;

	while (got < sizeof(*order)) {
		ssize_t count = read(orders, (char *)order + got, sizeof(*order) - got);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		got += (size_t)count;
	}
	return true;
}

static int answer_with(struct gang *gang, enum osp_gang_state state, int answers)
{
	gang->answer.state = state;
	return osp_write_all(answers, &gang->answer, sizeof(gang->answer)) ? 0 : -1;
}

static int break_off(struct gang *gang, int answers)
{
	answer_with(gang, OSP_GANG_BROKE, answers);
	return -1;
}

int osp_gang_serve(struct osp_check_context *context, int orders, int answers)
{
	static struct gang gang; /* large, and the process has one */
	struct osp_units units = {.units = NULL};
	struct osp_gang_order order;
	int result = 0;

	gang.reduction.context = context;
	context->report = keep_why;
	context->reporter = &gang.answer;
	if (!get_ready(&gang, &units))
		result = break_off(&gang, answers);
	else
		result = answer_with(&gang, OSP_GANG_READY, answers);
	while (!result && read_order(orders, &order)) {
		if (!reduce(&gang, &order)) {
			result = break_off(&gang, answers);
			continue;
		}
		/* Leaving waits for the other nodes, and may take seconds or hang: it is not
		 * timed. */
		result = answer_with(&gang, OSP_GANG_DONE, answers);
		leave(&gang);
	}
	free(units.units);
	return result;
}
