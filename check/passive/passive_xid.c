/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_xid.c - errors of NVIDIA's driver in the kernel's records since boot */
#include "check/passive/passive.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "check/base/gpus.h"
#include "check/base/kmsg.h"
#include "lib/base/text.h"

/* For a GPU: its worst XID that no later "no recovery needed" has taken back. For an NVSwitch: its
 * last fatal SXid. */
struct sick {
	char address[24];
	bool of_switch;
	int gpu_instance; /* the instance that the last of these names; -1: none */
	unsigned int number;
	enum osp_xid_action action;
	unsigned int times;
};

/* The kernel writes the first record within the first seconds of a boot. */
#define LOG_BEGINS_US 60000000u

#define SICK_MAX      (2 * OSP_GPUS_MAX) /* GPUs and switches: no machine has more of them */

struct log {
	struct sick gpus[SICK_MAX];
	size_t count;
	unsigned int harmless; /* caused by programs, or informational */
	uint64_t seen;	       /* records before this number existed at the last pass */
};

static struct sick *sick_of(struct log *log, const char *address)
{
	for (size_t i = 0; i < log->count; i++)
		if (strcmp(log->gpus[i].address, address) == 0)
			return &log->gpus[i];
	if (log->count == SICK_MAX)
		return NULL;
	snprintf(log->gpus[log->count].address, sizeof(log->gpus[0].address), "%s", address);
	return &log->gpus[log->count++];
}

/* Maps the action of XID 154, one of NVML's numbers: 1 reset, 2 reboot, 3 and 5 concern other
 * nodes, 4 reset. */
static enum osp_xid_action recovery_action(unsigned int recovery)
{
	switch (recovery) {
	case 1:
	case 4:
		return OSP_XID_RESET;
	case 2:
		return OSP_XID_REBOOT;
	default:
		return OSP_XID_LOOK;
	}
}

/* Takes an SXid. One that the driver calls fatal stops the switch's links until all is set up
 * again. */
static void take_sxid(struct log *log, const struct osp_xid *xid)
{
	struct sick *sick = xid->fatal ? sick_of(log, xid->address) : NULL;

	if (!xid->fatal)
		log->harmless++;
	if (!sick)
		return;
	sick->of_switch = true;
	sick->times = sick->number == xid->number ? sick->times + 1 : 1;
	sick->number = xid->number;
	sick->action = OSP_XID_REBOOT;
}

static void take_xid(void *context, const struct osp_xid *xid)
{
	enum osp_xid_action action = osp_xid_action(xid->number);
	struct log *log = context;
	struct sick *sick;

	if (xid->sequence < log->seen)
		return;
	if (xid->of_switch) {
		take_sxid(log, xid);
		return;
	}
	if (action == OSP_XID_IGNORE || action == OSP_XID_APPLICATION) {
		log->harmless++;
		return;
	}
	sick = sick_of(log, xid->address);
	if (!sick)
		return;
	if (xid->number == 154 && xid->recovery == 0) {
		if (sick->action != OSP_XID_REBOOT)
			sick->number = 0;
		return;
	}
	if (xid->number == 154)
		action = recovery_action(xid->recovery);
	if (sick->number == xid->number)
		sick->times++;
	/* reboot outweighs reset, and reset outweighs the rest */
	if (!sick->number || action == OSP_XID_REBOOT ||
	    (action == OSP_XID_RESET && sick->action != OSP_XID_REBOOT)) {
		if (sick->number != xid->number)
			sick->times = 1;
		sick->number = xid->number;
		sick->action = action;
		sick->gpu_instance = xid->gpu_instance;
	}
}

/* Says since when errors are counted. Sets *lost if records since then were overwritten. */
static const char *since_words(const struct osp_check_context *context,
			       const struct osp_kmsg_span *span, bool *lost)
{
	const struct osp_pass *since = context->since;

	if (since && since->state.log_known) {
		*lost = span->first > since->state.log_next;
		return "since the last pass";
	}
	*lost = span->first > 0 && span->first_us > LOG_BEGINS_US;
	return "since boot";
}

static void report_switch(struct osp_check_context *context, const struct sick *sick,
			  const char *since)
{
	char subject[OSP_SUBJECT_BYTES], value[OSP_WORD_BYTES];

	snprintf(subject, sizeof(subject), "nvswitch %s", sick->address);
	snprintf(value, sizeof(value), "SXid %u fatal", sick->number);
	osp_result_add(
		context, OSP_VERDICT_FAIL, OSP_CURE_REBOOT, subject, value, NULL,
		"NVIDIA's driver, which calls it fatal",
		"SXid %u of the NVSwitch at %s, %u time%s %s: GPUs and switches must be set up "
		"anew",
		sick->number, sick->address, sick->times, osp_plural_s(sick->times), since);
}

static void report_gpu(struct osp_check_context *context, const char *subject,
		       const struct sick *sick, const char *since)
{
	enum osp_cure cure = sick->action == OSP_XID_REBOOT ? OSP_CURE_REBOOT
			     : sick->action == OSP_XID_RESET || sick->action == OSP_XID_EITHER
				     ? OSP_CURE_RESET_GPU
				     : OSP_CURE_ASK;
	bool sure = sick->action == OSP_XID_REBOOT || sick->action == OSP_XID_RESET;
	const char *words = osp_xid_words(sick->number);
	char value[OSP_WORD_BYTES], instance[32] = "";

	snprintf(value, sizeof(value), "%u", sick->number);
	if (sick->gpu_instance >= 0)
		snprintf(instance, sizeof(instance), " in GPU instance %d", sick->gpu_instance);
	osp_result_add(context, sure ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, cure, subject, value,
		       NULL, "NVIDIA's XID catalogue, immediate action",
		       "XID %u%s%s%s, %u time%s %s%s", sick->number, *words ? ": " : "", words,
		       instance, sick->times, osp_plural_s(sick->times), since,
		       sick->action == OSP_XID_EITHER ? "; a program can bring it about too" : "");
}

static void report_sick(struct osp_check_context *context, const struct osp_pci_gpus *gpus,
			const struct sick *sick, const char *since, bool *reported)
{
	char subject[OSP_SUBJECT_BYTES];
	bool chosen;

	osp_gpu_of_address(gpus, sick->address, subject, sizeof(subject), &chosen);
	if (!sick->number || (!chosen && !sick->of_switch))
		return;
	*reported = true;
	if (sick->of_switch)
		report_switch(context, sick, since);
	else
		report_gpu(context, subject, sick, since);
}

static void run_xid(struct osp_check_context *context)
{
	struct osp_pci_gpus gpus;
	struct osp_kmsg_span span;
	struct log log = {.count = 0};
	bool reported = false, lost;
	const char *since;
	int state;

	osp_pci_gpus(context, &gpus);
	if (!gpus.count) {
		osp_result_skip(context, "no NVIDIA GPU on the PCI bus");
		return;
	}
	if (context->since && context->since->state.log_known)
		log.seen = context->since->state.log_next;
	state = osp_kmsg_xids(context->root, take_xid, &log, &span);
	if (state) {
		osp_result_error(context, "", "/dev/kmsg cannot be read: %s%s", strerror(state),
				 state == EPERM || state == EACCES ? "; run as root" : "");
		return;
	}
	since = since_words(context, &span, &lost);
	for (size_t i = 0; i < log.count; i++)
		report_sick(context, &gpus, &log.gpus[i], since, &reported);
	if (lost)
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_NONE, "", "records lost", NULL, NULL,
			"the kernel's ring lost records %s: what they said of GPUs is not known",
			since);
	if (reported || lost)
		return;
	if (log.harmless)
		osp_result_pass(context, "none but %u harmless %s", log.harmless, since);
	else
		osp_result_pass(context, "none %s", since);
}

const struct osp_check osp_check_xid = {
	.name = "xid",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 1000,
	.measures =
		"driver errors of GPUs (XIDs) and NVSwitches (SXids) in the kernel's records since "
		"boot or the last pass",
	.explains =
		"Reads /dev/kmsg and sorts XIDs by the immediate action of NVIDIA's catalogue. "
		"Those that a program brings about (13, 31, 43, 45, 94 and others) are counted "
		"and fail nothing; 109 and 119, which a program or the GPU brings about, warn. Of "
		"NVSwitches those count that the driver calls fatal. Records that a user could "
		"write do not count. Where the kernel's ring buffer has lost records since the "
		"boot or the last pass, that warns. A fault that a reset has cured is reported "
		"until the driver says so (XID 154 to None), the node reboots, or somebody says "
		"--repaired.",
	.cures = "Reset the GPU (nvidia-smi --gpu-reset) or reboot the node, as the result says; "
		 "when it comes back, replace the node.",
	.run = run_xid,
};
