/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/gpu_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/child.h"
#include "check/gpus.h"
#include "check/pass_store.h"
#include "check/root.h"

#define FIND_MS	      10000
#define LOCK_TRY_MS   50
#define INSTANCES_MAX 16 /* a GPU has at most seven */
#define UNITS_MAX     (OSP_GPUS_MAX * INSTANCES_MAX)

/* What the child writes: units, then how it ended. */
struct found {
	bool end;
	int state;
	char why[OSP_WHY_BYTES];
	struct osp_unit unit;
};

/* --- in the child ----------------------------------------------------------------------------- */

static void say(int answer, const struct found *found)
{
	if (!osp_write_all(answer, found, sizeof(*found)))
		_exit(1);
}

static void end_with(int answer, int state, const char *why)
{
	struct found found;

	memset(&found, 0, sizeof(found));
	found.end = true;
	found.state = state;
	snprintf(found.why, sizeof(found.why), "%s", why);
	say(answer, &found);
	_exit(0);
}

/* A SKIP of osp_gpus_open(): there is nothing to load. */
static void end_with_result(struct osp_check_context *context, const struct osp_result *result)
{
	end_with(*(int *)context->teller, result->verdict == OSP_VERDICT_SKIP ? 1 : -1,
		 result->why);
}

static unsigned int count_programs(osp_nvml_device device)
{
	unsigned int count = 0;
	int state = osp_nvml_programs(device, &count, NULL);

	return state == OSP_NVML_OK || state == OSP_NVML_TOO_SMALL ? count : 0;
}

static size_t say_instances(int answer, const struct osp_gpu *gpu, struct found *found)
{
	unsigned int most = 0;
	size_t count = 0;

	found->unit.whole = false;
	if (osp_nvml_mig_most(gpu->device, &most) != OSP_NVML_OK || most > INSTANCES_MAX)
		most = INSTANCES_MAX;
	for (unsigned int i = 0; i < most; i++) {
		struct osp_unit *unit = &found->unit;
		osp_nvml_device instance;

		if (osp_nvml_mig_open(gpu->device, i, &instance) != OSP_NVML_OK ||
		    osp_nvml_uuid(instance, unit->uuid, sizeof(unit->uuid)) != OSP_NVML_OK)
			continue;
		snprintf(unit->subject, sizeof(unit->subject), "gpu%u.%u", gpu->index, i);
		unit->busy = count_programs(instance) > 0;
		say(answer, found);
		count++;
	}
	return count;
}

static size_t say_gpu(int answer, const struct osp_gpu *gpu, size_t *old)
{
	unsigned int mig = 0, mig_later;
	int major = 0, minor = 0, virtual = 0;
	struct found found;

	if (gpu->state != OSP_NVML_OK || !*gpu->uuid)
		return 0;
	if (osp_nvml_capability(gpu->device, &major, &minor) == OSP_NVML_OK &&
	    major * 10 + minor < OSP_CAPABILITY_LEAST) {
		(*old)++;
		return 0;
	}
	memset(&found, 0, sizeof(found));
	snprintf(found.unit.subject, sizeof(found.unit.subject), "%s", gpu->subject);
	snprintf(found.unit.uuid, sizeof(found.unit.uuid), "%s", gpu->uuid);
	snprintf(found.unit.model, sizeof(found.unit.model), "%s", gpu->name);
	snprintf(found.unit.address, sizeof(found.unit.address), "%s", gpu->address);
	if (osp_nvml_mig_mode(gpu->device, &mig, &mig_later) == OSP_NVML_OK && mig)
		return say_instances(answer, gpu, &found);
	found.unit.whole = osp_nvml_virtualization(gpu->device, &virtual) != OSP_NVML_OK ||
			   virtual != OSP_NVML_VIRTUAL_GPU;
	found.unit.busy = count_programs(gpu->device) > 0;
	say(answer, &found);
	return 1;
}

static void find_in_child(struct osp_check_context *context, int answer)
{
	struct osp_gpus gpus;
	size_t count = 0, old = 0;

	context->tell = end_with_result;
	context->teller = &answer;
	if (!osp_gpus_open(context, &gpus))
		end_with(answer, 1, "no GPU that was asked for");
	for (size_t i = 0; i < gpus.count; i++)
		count += say_gpu(answer, &gpus.gpus[i], &old);
	if (count)
		end_with(answer, 0, "");
	end_with(answer, 1,
		 old ? "these GPUs have a compute capability below 7.5: no deeper than passive"
		     : "no GPU answers; the check gpus tells why");
}

/* --- in the parent ---------------------------------------------------------------------------- */

/* Reads one message whole: false when none came in time. */
static bool read_found(int answer, uint64_t until_ms, struct found *found)
{
	struct pollfd wait = {.fd = answer, .events = POLLIN};
	char *at = (char *)found;
	size_t missing = sizeof(*found);

	while (missing) {
		uint64_t now_ms = osp_now_ms();
		int ready = poll(&wait, 1, now_ms < until_ms ? (int)(until_ms - now_ms) : 0);
		ssize_t count;

		if (ready < 0 && errno == EINTR)
			continue;
		count = ready > 0 ? read(answer, at, missing) : 0;
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return false;
		at += count;
		missing -= (size_t)count;
	}
	return true;
}

static int keep_units(int answer, uint64_t until_ms, struct osp_units *units, char *why,
		      size_t why_bytes)
{
	struct found found;

	snprintf(why, why_bytes, "NVML does not tell the GPUs in %d s, or ended its process",
		 FIND_MS / 1000);
	while (read_found(answer, until_ms, &found)) {
		struct osp_unit *more;

		if (found.end) {
			snprintf(why, why_bytes, "%s", found.why);
			return found.state;
		}
		more = units->count < UNITS_MAX
			       ? realloc(units->units, (units->count + 1) * sizeof(*more))
			       : NULL;
		if (!more) {
			snprintf(why, why_bytes, "out of memory");
			return -1;
		}
		units->units = more;
		more[units->count++] = found.unit;
	}
	return -1;
}

int osp_units_find(struct osp_check_context *context, struct osp_units *units, char *why,
		   size_t why_bytes)
{
	unsigned int most_ms = context->deadline_most_ms;
	uint64_t until_ms = osp_now_ms() + (most_ms && most_ms < FIND_MS ? most_ms : FIND_MS);
	int answer, state;
	pid_t child;

	memset(units, 0, sizeof(*units));
	child = osp_child_start(&answer);
	if (child == 0)
		find_in_child(context, answer);
	if (child < 0) {
		snprintf(why, why_bytes, "no child process: %s", strerror(errno));
		return -1;
	}
	state = keep_units(answer, until_ms, units, why, why_bytes);
	close(answer);
	osp_child_drop(child);
	if (state) {
		free(units->units);
		memset(units, 0, sizeof(*units));
	}
	return state;
}

/* --- one run at a time ------------------------------------------------------------------------ */

int osp_gpus_lock(const char *root, uint64_t until_ms)
{
	char path[OSP_PATH_BYTES];
	int file;

	/* below a test's root there is no GPU to share */
	if (geteuid() != 0 || *root ||
	    !osp_root_path(root, path, sizeof(path), "run/onespine/check.lock"))
		return -1;
	osp_run_folder_make(root); /* only root writes there: nobody else can hold the lock */
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0)
		return -1;
	while (flock(file, LOCK_EX | LOCK_NB)) {
		if (osp_now_ms() >= until_ms) {
			close(file);
			return -2;
		}
		usleep(LOCK_TRY_MS * 1000);
	}
	return file;
}
