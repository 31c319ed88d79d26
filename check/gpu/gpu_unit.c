/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gpu_unit.c - finds the GPUs that may be loaded */
#include "check/gpu/gpu_unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/hang_watch.h"
#include "check/gpu/gpu_mps.h"
#include "check/base/container.h"
#include "check/base/gpus.h"
#include "check/base/process.h"
#include "check/base/pass_store.h"
#include "check/base/root.h"
#include "lib/base/text.h"

#define FIND_MS	      10000
#define LOCK_TRY_MS   50
#define POWER_PERCENT 3	 /* less of its power costs a GPU less than the 16 % that a limit leaves */
#define INSTANCES_MAX 16 /* a GPU has at most seven */
#define UNITS_MAX     (OSP_GPUS_MAX * INSTANCES_MAX)

/* A message of the child: a unit, or how it ended. */
struct found {
	bool end;
	enum osp_found state;
	char why[OSP_WHY_BYTES];
	struct osp_unit unit;
};

/* One query for the GPUs, in the parent. */
struct look {
	int answer;
	uint64_t until_ms;
	bool ended; /* it has written all, or ended before */
	struct osp_units *units;
	char *why;
	size_t why_bytes;
};

/* --- in the child ----------------------------------------------------------------------------- */

static void say(int answer, const struct found *found)
{
	if (!osp_write_all(answer, found, sizeof(*found)))
		_exit(1);
}

static void end_with(int answer, enum osp_found state, const char *why)
{
	struct found found;

	memset(&found, 0, sizeof(found));
	found.end = true;
	found.state = state;
	snprintf(found.why, sizeof(found.why), "%s", why);
	say(answer, &found);
	_exit(0);
}

/* Ends the child with a result: a SKIP of osp_gpus_open() means that there is nothing to load. */
static void end_with_result(struct osp_check_context *context, const struct osp_result *result)
{
	end_with(*(int *)context->reporter,
		 result->verdict == OSP_VERDICT_SKIP ? OSP_FOUND_NONE : OSP_FOUND_ERROR,
		 result->why);
}

/* Notes why the model's limits may not hold for a GPU; the first reason stays. */
static void doubt(struct osp_unit *unit, const char *why)
{
	if (!*unit->doubt)
		snprintf(unit->doubt, sizeof(unit->doubt), "%s", why);
}

static void set_busy(const struct osp_check_context *context, osp_nvml_device device,
		     struct osp_unit *unit)
{
	unsigned int count = 0;
	int state = osp_nvml_programs(device, &count, NULL);
	bool known = state == OSP_NVML_OK || state == OSP_NVML_TOO_SMALL;

	unit->busy = known && count > 0;
	if (!known)
		doubt(unit, "NVML does not report the GPU's programs");
	unit->not_checked = osp_mps_find(context, device, unit->left_alone,
					 sizeof(unit->left_alone)) == OSP_MPS_FOREIGN;
}

/* Returns whether a clock is set below its default. NVML does not report clocks locked by
 * nvidia-smi -lgc or -lmc. */
static bool is_clock_held(const struct osp_gpu *gpu, int clock, bool *known)
{
	unsigned int now, usual;

	if (osp_nvml_clock_chosen(gpu->device, clock, &now) == OSP_NVML_OK &&
	    osp_nvml_clock_default(gpu->device, clock, &usual) == OSP_NVML_OK)
		return now < usual;
	*known = false;
	return false;
}

/* Returns whether the power limit is below its default by more than POWER_PERCENT. The one in force
 * is lower than the one that was set if the node or the chassis limits the GPU too. */
static bool is_power_held(const struct osp_gpu *gpu, bool *known)
{
	unsigned int now, usual, in_force;

	if (osp_nvml_power_limit(gpu->device, &now) != OSP_NVML_OK ||
	    osp_nvml_power_limit_default(gpu->device, &usual) != OSP_NVML_OK) {
		*known = false;
		return false;
	}
	if (osp_nvml_power_limit_enforced(gpu->device, &in_force) == OSP_NVML_OK && in_force < now)
		now = in_force;
	return (uint64_t)now * 100 < (uint64_t)usual * (100 - POWER_PERCENT);
}

/* Notes whether the power limit or a clock is below its default, and whether NVML reports them. */
static void set_held(const struct osp_gpu *gpu, struct osp_unit *unit)
{
	bool known = true, held = is_power_held(gpu, &known);

	held |= is_clock_held(gpu, OSP_NVML_CLOCK_SM, &known);
	held |= is_clock_held(gpu, OSP_NVML_CLOCK_MEMORY, &known);
	if (held)
		snprintf(unit->held, sizeof(unit->held),
			 "its power or clocks are held below the default");
	if (!known)
		doubt(unit, "NVML reports not all limits of power and clocks");
}

/* Reads the three counts from the first field on. Returns false if they are not there. */
static bool read_slowed(const struct osp_gpu *gpu, unsigned int first, struct osp_unit *unit)
{
	struct osp_nvml_field fields[OSP_SLOWED_COUNT];
	bool known = true;

	memset(fields, 0, sizeof(fields));
	for (unsigned int i = 0; i < OSP_SLOWED_COUNT; i++) {
		fields[i].id = first + i;
		fields[i].state = OSP_NVML_NOT_SUPPORTED;
	}
	if (osp_nvml_fields(gpu->device, OSP_SLOWED_COUNT, fields) != OSP_NVML_OK)
		return false;
	for (int i = 0; i < OSP_SLOWED_COUNT; i++) {
		known &= fields[i].state == OSP_NVML_OK && fields[i].type == OSP_NVML_SLOWED_TYPE;
		unit->slowed_ms[i] = fields[i].value.number / 1000000;
	}
	if (!known)
		memset(unit->slowed_ms, 0, sizeof(unit->slowed_ms));
	return known;
}

/* Sets for how long heat and power brakes have lowered the clocks. The power cap is left out: by it
 * an H100 computes at its usual speed. */
static void set_slowed(const struct osp_gpu *gpu, struct osp_unit *unit)
{
	struct osp_nvml_violation heat;

	if (read_slowed(gpu, OSP_NVML_SLOWED, unit) ||
	    read_slowed(gpu, OSP_NVML_SLOWED_NEWER, unit))
		return;
	if (osp_nvml_violation(gpu->device, OSP_NVML_POLICY_THERMAL, &heat) == OSP_NVML_OK)
		unit->slowed_ms[0] = heat.violation_ns / 1000000;
	else
		doubt(unit, "NVML does not report if heat lowers the clocks");
}

static bool has_link(const struct osp_gpu *gpu)
{
	for (unsigned int link = 0; link < OSP_NVML_LINKS_MAX; link++) {
		int active = 0;

		if (osp_nvml_link_state(gpu->device, link, &active) == OSP_NVML_OK && active)
			return true;
	}
	return false;
}

/*
 * Returns whether the GPU reaches others over PCIe alone, through an IOMMU that translates
 * addresses ("DMA", "DMA-FQ"; Linux reports it from 5.11 on). On bare metal NVIDIA supports no
 * copies between GPUs then (CUDA C++ Programming Guide, "IOMMU on Linux"): they may never end, or
 * arrive as zeros (NVIDIA/nccl 257, 606). A virtual machine's IOMMU is the host's.
 */
static bool is_translated(const struct osp_check_context *context, const struct osp_gpu *gpu,
			  int virtual)
{
	char type[32];

	return virtual == OSP_NVML_NOT_VIRTUAL &&
	       osp_root_read(context->root, type, sizeof(type),
			     "sys/bus/pci/devices/%s/iommu_group/type", gpu->address) &&
	       strncmp(type, "DMA", 3) == 0 && !has_link(gpu);
}

static size_t say_instances(const struct osp_check_context *context, int answer,
			    const struct osp_gpu *gpu, struct found *found)
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
		set_busy(context, instance, unit);
		say(answer, found);
		count++;
	}
	return count;
}

static size_t say_gpu(const struct osp_check_context *context, int answer,
		      const struct osp_gpu *gpu, size_t *old)
{
	unsigned int mig = 0, mig_later;
	int major = 0, minor = 0, virtual = 0, mode = 0;
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
		return say_instances(context, answer, gpu, &found);
	if (osp_nvml_virtualization(gpu->device, &virtual) != OSP_NVML_OK) {
		virtual = 0;
		doubt(&found.unit, "NVML does not report if this is a whole GPU");
	}
	found.unit.whole = virtual != OSP_NVML_VIRTUAL_GPU;
	found.unit.confidential = osp_gpus_confidential();
	if (found.unit.confidential)
		doubt(&found.unit, "limits were measured without confidential computing");
	if (osp_in_container(context->root))
		doubt(&found.unit, "programs outside this container are not seen");
	set_held(gpu, &found.unit);
	set_slowed(gpu, &found.unit);
	found.unit.switched = osp_gpu_switched(gpu);
	found.unit.translated = is_translated(context, gpu, virtual);
	set_busy(context, gpu->device, &found.unit);
	if (virtual == OSP_NVML_VIRTUAL_HOST || virtual == OSP_NVML_VIRTUAL_HOST_A) {
		found.unit.not_checked = false;
		snprintf(found.unit.left_alone, sizeof(found.unit.left_alone),
			 "it serves virtual machines (vGPU): left alone");
	}
	if (osp_nvml_compute_mode(gpu->device, &mode) == OSP_NVML_OK &&
	    mode == OSP_NVML_PROHIBITED) {
		found.unit.not_checked = false;
		snprintf(found.unit.left_alone, sizeof(found.unit.left_alone),
			 "its compute mode forbids programs: left alone");
	}
	say(answer, &found);
	return 1;
}

static void find_in_child(struct osp_check_context *context, int answer)
{
	struct osp_gpus gpus;
	size_t count = 0, old = 0;

	context->report = end_with_result;
	context->reporter = &answer;
	if (!osp_gpus_open(context, &gpus))
		end_with(answer, OSP_FOUND_NONE, "no GPU that was asked for");
	for (size_t i = 0; i < gpus.count; i++)
		count += say_gpu(context, answer, &gpus.gpus[i], &old);
	if (count)
		end_with(answer, OSP_FOUND, "");
	end_with(answer, OSP_FOUND_NONE,
		 old ? "these GPUs have a compute capability below 7.5: no deeper than passive"
		     : "no GPU answers; the check gpus says why");
}

/* --- in the parent ---------------------------------------------------------------------------- */

/* Reads one whole message. Returns false if none came in time. */
static bool read_found(struct look *look, struct found *found)
{
	struct pollfd wait = {.fd = look->answer, .events = POLLIN};
	char *at = (char *)found;
	size_t missing = sizeof(*found);

	while (missing) {
		uint64_t now_ms = osp_now_ms();
		int ready = poll(&wait, 1,
				 now_ms < look->until_ms ? (int)(look->until_ms - now_ms) : 0);
		ssize_t count;

		if (ready < 0 && errno == EINTR)
			continue;
		count = ready > 0 ? read(look->answer, at, missing) : 0;
		if (count < 0 && errno == EINTR)
			continue;
		look->ended = ready > 0 && count <= 0;
		if (count <= 0)
			return false;
		at += count;
		missing -= (size_t)count;
	}
	return true;
}

/* Keeps the units that the child found. Returns OSP_FOUND_HANGING for a hang, whatever its
 * cause. */
static enum osp_found keep_units(struct look *look)
{
	struct osp_units *units = look->units;
	struct found found;

	while (read_found(look, &found)) {
		struct osp_unit *more;

		if (found.end) {
			snprintf(look->why, look->why_bytes, "%s", found.why);
			return found.state;
		}
		more = units->count < UNITS_MAX
			       ? realloc(units->units, (units->count + 1) * sizeof(*more))
			       : NULL;
		if (!more) {
			snprintf(look->why, look->why_bytes, "out of memory");
			return OSP_FOUND_ERROR;
		}
		units->units = more;
		more[units->count++] = found.unit;
	}
	if (!look->ended)
		return OSP_FOUND_HANGING;
	snprintf(look->why, look->why_bytes, "NVML ended the process that asked it for the GPUs");
	return OSP_FOUND_ERROR;
}

static enum osp_found find_once(struct osp_check_context *context, unsigned int most_ms,
				struct look *look, bool first, struct osp_hang_signs *signs)
{
	struct osp_hang_start start;
	enum osp_found found;
	pid_t child;

	memset(look->units, 0, sizeof(*look->units));
	look->until_ms = osp_now_ms() + most_ms;
	look->ended = false;
	child = osp_child_start(&look->answer);
	if (child == 0)
		find_in_child(context, look->answer);
	if (child < 0) {
		snprintf(look->why, look->why_bytes, "no child process: %s", strerror(errno));
		return OSP_FOUND_ERROR;
	}
	start = osp_hang_begin(context->root, child);
	found = keep_units(look);
	osp_hang_add(context->root, child, &start, first, signs);
	close(look->answer);
	osp_child_drop(child);
	if (found != OSP_FOUND) {
		free(look->units->units);
		memset(look->units, 0, sizeof(*look->units));
	}
	return found;
}

static unsigned int find_ms(const struct osp_check_context *context)
{
	unsigned int most_ms = context->deadline_most_ms, own_ms;
	struct osp_pci_gpus gpus;

	osp_pci_gpus(context, &gpus);
	own_ms = FIND_MS + (unsigned int)gpus.count * OSP_DEADLINE_GPU_MS;
	return most_ms && most_ms < own_ms ? most_ms : own_ms;
}

void osp_units_look(struct osp_check_context *context, struct osp_units *units, uint64_t until_ms)
{
	struct osp_hang_signs signs = {.waited_ms = 0};
	char why[OSP_WHY_BYTES];
	struct look look = {.units = units, .why = why, .why_bytes = sizeof(why)};
	unsigned int most_ms = find_ms(context);
	uint64_t now_ms = osp_now_ms();

	if (until_ms && until_ms < now_ms + most_ms)
		most_ms = until_ms > now_ms ? (unsigned int)(until_ms - now_ms) : 0;
	(void)find_once(context, most_ms, &look, true, &signs);
}

enum osp_found osp_units_find(struct osp_check_context *context, struct osp_units *units, char *why,
			      size_t why_bytes)
{
	unsigned int most_ms = find_ms(context);
	struct osp_hang_signs signs = {.waited_ms = 0};
	struct look look = {.units = units, .why = why, .why_bytes = why_bytes};
	char words[OSP_WHY_BYTES - 64], users[OSP_WORD_BYTES];
	bool others = osp_process_of_others(context->root, users, sizeof(users));
	enum osp_found found;
	enum osp_hang hang;
	const char *value;

	found = find_once(context, most_ms, &look, true, &signs);
	if (found == OSP_FOUND_HANGING)
		found = find_once(context, most_ms, &look, false, &signs);
	if (found != OSP_FOUND_HANGING)
		return found;
	hang = osp_hang_judge(&signs, most_ms);
	osp_hang_words(hang, &signs, &value, words, sizeof(words));
	/* other processes may keep NVML waiting (check/runner/run_lanes.c) */
	if (!others)
		others = osp_process_of_others(context->root, users, sizeof(users));
	if (hang == OSP_HANG_STUCK && others) {
		snprintf(words, sizeof(words), "but %s: a program can keep others from the driver",
			 users);
		hang = OSP_HANG_UNKNOWN;
	}
	snprintf(why, why_bytes, "NVML does not report the GPUs within %u ms, twice%s%s", most_ms,
		 *words ? ", " : "", words);
	return hang == OSP_HANG_STUCK ? OSP_FOUND_HANGING : OSP_FOUND_ERROR;
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
	osp_run_folder_make(root); /* only root can write to the folder, so nobody else can hold the
				      lock */
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
