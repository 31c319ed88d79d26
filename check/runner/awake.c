/* SPDX-License-Identifier: GPL-2.0-or-later */
/* awake.c - one process that opens every GPU and holds them open for a whole run */
#include "check/runner/awake.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "check/base/child.h"
#include "lib/base/text.h"

/* The kinds of message that the child writes. */
enum reporting { REPORTS_COUNT, REPORTS_OPENED, REPORTS_PERSISTENT, REPORTS_HELD, REPORTS_NONE };

struct message {
	enum reporting kind;
	int value;
};

/* --- in the child ----------------------------------------------------------------------------- */

static void say(int answer, enum reporting kind, int value)
{
	struct message message;

	memset(&message, 0, sizeof(message));
	message.kind = kind;
	message.value = value;
	if (!osp_write_all(answer, &message, sizeof(message)))
		_exit(1);
}

/* Holds the GPUs open until nobody reads the answers any more, or a signal ends the process. */
static void hold(int answer)
{
	struct pollfd end = {.fd = answer};

	while (poll(&end, 1, -1) <= 0)
		;
	_exit(0);
}

static void open_all(int answer)
{
	unsigned int count = 0;

	if (osp_nvml_ready() != OSP_NVML_OK || osp_nvml_count(&count) != OSP_NVML_OK) {
		say(answer, REPORTS_NONE, 0);
		_exit(0);
	}
	count = count < OSP_GPUS_MAX ? count : OSP_GPUS_MAX;
	say(answer, REPORTS_COUNT, (int)count);
	for (unsigned int i = 0; i < count; i++) {
		osp_nvml_device device;
		int mode = 0, state = osp_nvml_open(i, &device);

		say(answer, REPORTS_OPENED, state);
		if (state == OSP_NVML_OK)
			state = osp_nvml_persistence(device, &mode);
		say(answer, REPORTS_PERSISTENT, state == OSP_NVML_OK ? mode : -1);
	}
	say(answer, REPORTS_HELD, 0);
	hold(answer);
}

/* --- in the parent ---------------------------------------------------------------------------- */

void osp_awake_begin(struct osp_awake *awake, const struct osp_check_context *context,
		     size_t gpu_count)
{
	unsigned int most_ms = context->deadline_most_ms;
	unsigned int own_ms = OSP_AWAKE_BASE_MS + (unsigned int)gpu_count * OSP_AWAKE_GPU_MS;

	memset(awake, 0, sizeof(*awake));
	memset(awake->persistent, -1, sizeof(awake->persistent));
	awake->begun_ms = osp_now_ms();
	awake->until_ms = awake->begun_ms + (most_ms && most_ms < own_ms ? most_ms : own_ms);
	awake->child = osp_child_start(&awake->answer);
	if (awake->child == 0)
		open_all(awake->answer);
	if (awake->child < 0) {
		awake->child = 0;
		awake->state = OSP_AWAKE_NONE;
	}
}

static void drop(struct osp_awake *awake)
{
	if (!awake->child)
		return;
	close(awake->answer);
	osp_child_drop(awake->child);
	awake->child = 0;
}

static void take(struct osp_awake *awake, const struct message *message)
{
	switch (message->kind) {
	case REPORTS_COUNT:
		awake->count = (size_t)message->value;
		break;
	case REPORTS_OPENED:
		awake->asked = true;
		break;
	case REPORTS_PERSISTENT:
		awake->asked = false;
		if (awake->opened < OSP_GPUS_MAX)
			awake->persistent[awake->opened++] = (signed char)message->value;
		break;
	case REPORTS_HELD:
		awake->state = OSP_AWAKE_HELD;
		awake->took_ms = (unsigned int)(osp_now_ms() - awake->begun_ms);
		break;
	case REPORTS_NONE:
		awake->state = OSP_AWAKE_NONE;
		break;
	}
}

/* Ends a run that is out of time. A GPU that has been opened is awake, even if the question about
 * its persistence got no answer. */
static void out_of_time(struct osp_awake *awake)
{
	awake->took_ms = (unsigned int)(osp_now_ms() - awake->begun_ms);
	awake->state = !awake->count  ? OSP_AWAKE_HUNG
		       : awake->asked ? OSP_AWAKE_NONE
				      : OSP_AWAKE_LATE;
	drop(awake);
}

enum osp_awake_state osp_awake_wait(struct osp_awake *awake, uint64_t until_ms)
{
	while (awake->state == OSP_AWAKE_STARTING) {
		struct pollfd wait = {.fd = awake->answer, .events = POLLIN};
		uint64_t now_ms = osp_now_ms();
		struct message message;
		uint64_t end_ms = until_ms < awake->until_ms ? until_ms : awake->until_ms;
		int ready = poll(&wait, 1, now_ms < end_ms ? (int)(end_ms - now_ms) : 0);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready > 0 &&
		    read(awake->answer, &message, sizeof(message)) == sizeof(message)) {
			take(awake, &message);
			continue;
		}
		if (ready > 0)
			awake->state =
				OSP_AWAKE_NONE; /* it crashed: a check will crash too, and report
						   it */
		else if (osp_now_ms() >= awake->until_ms)
			out_of_time(awake);
		else
			break;
	}
	if (awake->state == OSP_AWAKE_NONE)
		drop(awake);
	return awake->state;
}

void osp_awake_end(struct osp_awake *awake)
{
	drop(awake);
}
