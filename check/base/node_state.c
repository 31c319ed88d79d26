/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_state.c - reads the state of this node that a pass depends on */
#include "check/base/node_state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/counters.h"
#include "check/base/gpus.h"
#include "check/base/kmsg.h"
#include "check/base/root.h"
#include "lib/base/text.h"

/* --- in the child ----------------------------------------------------------------------------- */

static void ignore_result(struct osp_check_context *context, const struct osp_result *result)
{
	(void)context;
	(void)result;
}

static void read_gpus(const struct osp_check_context *context, const struct osp_pci_gpus *gpus,
		      struct osp_node_state *state)
{
	for (size_t i = 0; i < gpus->count && state->gpu_count < OSP_STATE_GPUS_MAX; i++) {
		char *uuid = state->gpus[state->gpu_count];

		if (!gpus->gpus[i].chosen)
			continue;
		if (!osp_pci_gpu_uuid(context, gpus->gpus[i].address, uuid, OSP_UUID_BYTES))
			snprintf(uuid, OSP_UUID_BYTES, "?%s", gpus->gpus[i].address);
		state->gpu_numbers[state->gpu_count++] = (unsigned int)i;
	}
	/* a job that has all GPUs names each */
	state->whole = !context->gpus || (gpus->count && state->gpu_count == gpus->count);
}

static void take_xid(void *context, const struct osp_xid *xid)
{
	struct osp_node_state *state = context;

	state->xids = xid->sequence + 1;
}

static void read_state(struct osp_check_context *context, struct osp_node_state *state)
{
	struct osp_pci_gpus gpus;
	struct osp_kmsg_span span;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	state->time_s = now.tv_sec;
	state->uptime_s = context->uptime_s;
	if (!osp_root_read(context->root, state->boot_id, sizeof(state->boot_id),
			   "proc/sys/kernel/random/boot_id"))
		*state->boot_id = '\0';
	if (!osp_root_read(context->root, state->driver, sizeof(state->driver),
			   "sys/module/nvidia/version"))
		*state->driver = '\0';
	state->log_known = osp_kmsg_xids(context->root, take_xid, state, &span) == 0;
	state->log_first = span.first;
	state->log_next = span.next;
	osp_pci_gpus(context, &gpus);
	read_gpus(context, &gpus, state);
	context->report = ignore_result;
	context->report_figure = NULL;
	osp_counters_read(context, &gpus, state);
}

static bool write_state(int answer, const struct osp_node_state *state)
{
	return osp_write_all(answer, state, sizeof(*state)) &&
	       osp_write_all(answer, state->counters,
			     state->counter_count * sizeof(*state->counters));
}

/* --- in the parent ---------------------------------------------------------------------------- */

int osp_node_state_begin(struct osp_state_look *look, struct osp_check_context *context,
			 struct osp_error *error)
{
	struct osp_node_state state;

	look->child = osp_child_start(&look->answer);
	if (look->child < 0)
		return osp_error_set(error, "no child process: %s", strerror(errno));
	if (look->child)
		return 0;
	memset(&state, 0, sizeof(state));
	read_state(context, &state);
	_exit(write_state(look->answer, &state) ? 0 : 1);
}

/* Reads exactly `count` bytes in time. */
static int read_all(int file, void *bytes, size_t count, uint64_t until_ms, struct osp_error *error)
{
	struct pollfd wait = {.fd = file, .events = POLLIN};
	char *at = bytes;

	while (count) {
		uint64_t now_ms = osp_now_ms();
		int ready = poll(&wait, 1, now_ms < until_ms ? (int)(until_ms - now_ms) : 0);
		ssize_t part;

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0)
			return osp_error_set(error, "the node's state was not read in time");
		part = read(file, at, count);
		if (part < 0 && errno == EINTR)
			continue;
		if (part <= 0)
			return osp_error_set(error, "the process that reads the node's state "
						    "crashed");
		at += part;
		count -= (size_t)part;
	}
	return 0;
}

static int take_state(int file, uint64_t until_ms, struct osp_node_state *state,
		      struct osp_error *error)
{
	struct osp_counter *counters;

	if (read_all(file, state, sizeof(*state), until_ms, error)) {
		memset(state, 0, sizeof(*state));
		return -1;
	}
	state->counters = NULL;
	if (!state->counter_count)
		return 0;
	counters = calloc(state->counter_count, sizeof(*counters));
	if (!counters)
		return osp_error_set(error, "out of memory");
	state->counters = counters;
	return read_all(file, counters, state->counter_count * sizeof(*counters), until_ms, error);
}

int osp_node_state_collect(struct osp_state_look *look, uint64_t until_ms, const char *rules,
			   struct osp_node_state *state, struct osp_error *error)
{
	int outcome = take_state(look->answer, until_ms, state, error);

	close(look->answer);
	osp_child_drop(look->child);
	look->child = 0;
	if (outcome)
		osp_node_state_clear(state);
	else
		snprintf(state->rules, sizeof(state->rules), "%s", rules);
	return outcome;
}
