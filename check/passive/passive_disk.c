/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_disk.c - the node's own NVMe disks, and huge pages */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>

#include "check/base/container.h"
#include "check/base/gpus.h"
#include "check/base/root.h"

/* --- local disks ------------------------------------------------------------------------------ */

struct disks {
	size_t local; /* EC2's instance store; elsewhere every NVMe disk */
	size_t all;
	bool ill;
};

/* Returns whether the controller is at the end of a network (NVMe over TCP, RDMA or Fibre
 * Channel): it is storage that other nodes share. */
static bool is_remote(const struct osp_check_context *context, const char *name)
{
	static const char *const networks[] = {"tcp", "rdma", "fc", "loop"};
	char transport[32];

	if (!osp_root_read(context->root, transport, sizeof(transport),
			   "sys/class/nvme/%s/transport", name))
		return false;
	for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++)
		if (strcmp(transport, networks[i]) == 0)
			return true;
	return false;
}

/* Returns whether the kernel leaves this state by itself, for "live" or "dead": after a reset,
 * which any request that takes too long brings about. */
static bool passes_by_itself(const char *state)
{
	return strcmp(state, "new") == 0 || strcmp(state, "resetting") == 0 ||
	       strcmp(state, "connecting") == 0;
}

static void look_at_disk(struct osp_check_context *context, const char *name, struct disks *disks)
{
	char model[128], state[32];
	bool passes;

	if (is_remote(context, name) ||
	    !osp_root_read(context->root, model, sizeof(model), "sys/class/nvme/%s/model", name))
		return;
	disks->all++;
	/* EBS volumes are NVMe disks too. */
	disks->local += strstr(model, "Elastic Block Store") == NULL;
	if (!osp_root_read(context->root, state, sizeof(state), "sys/class/nvme/%s/state", name) ||
	    strcmp(state, "live") == 0)
		return;
	passes = passes_by_itself(state);
	osp_result_add(context, passes ? OSP_VERDICT_WARN : OSP_VERDICT_FAIL,
		       passes ? OSP_CURE_ASK : OSP_CURE_REPLACE, name, state, "!= live", NULL,
		       "the controller of %s (%s) is %s", name, model, state);
	disks->ill = true;
}

#define PCI_CLASS_NVME 0x0108

/* Counts the NVMe disks of the bus that programs drive themselves (SPDK, WEKA) or virtual machines
 * have: the kernel shows no controller of these. */
static size_t given_away_disks(const struct osp_check_context *context)
{
	struct osp_names devices;
	size_t count = 0;

	if (!osp_root_list(context->root, &devices, "sys/bus/pci/devices"))
		return 0;
	for (size_t i = 0; i < devices.count; i++) {
		uint64_t class = 0;

		osp_root_number(context->root, &class, "sys/bus/pci/devices/%s/class",
				devices.names[i]);
		count += class >> 8 == PCI_CLASS_NVME &&
			 osp_pci_is_given_away(context, devices.names[i]);
	}
	osp_names_free(&devices);
	return count;
}

static void run_local_disks(struct osp_check_context *context)
{
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_LOCAL_DISKS, NULL);
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	struct disks disks = {.local = 0};
	struct osp_names names;

	if (osp_root_list(context->root, &names, "sys/class/nvme"))
		for (size_t i = 0; i < names.count; i++)
			look_at_disk(context, names.names[i], &disks);
	osp_names_free(&names);
	if (expected && (int64_t)disks.local < expected->value)
		disks.local += given_away_disks(context);
	if (!disks.all && osp_in_container(context->root)) {
		osp_result_skip(context, "no NVMe disk is seen in this container");
	} else if (expected && (int64_t)disks.local < expected->value) {
		snprintf(value, sizeof(value), "%zu", disks.local);
		snprintf(limit, sizeof(limit), "< %lld", (long long)expected->value);
		osp_result_add(context, OSP_VERDICT_FAIL, OSP_CURE_REPLACE, "", value, limit,
			       expected->source, "local NVMe disks; %s has %lld",
			       *context->node ? context->node : "this node",
			       (long long)expected->value);
	} else if (!disks.all) {
		osp_result_skip(context, "no NVMe disk");
	} else if (!disks.ill) {
		osp_result_pass(context, "%zu local, %zu in all", disks.local, disks.all);
	}
}

const struct osp_check osp_check_local_disks = {
	.name = "local-disks",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 2000,
	.measures = "as many local NVMe disks are there as the machine has, and live",
	.explains = "Counts NVMe controllers that are no volumes of EBS and not at the end of a "
		    "network, and those that programs or virtual machines drive (vfio-pci, uio), "
		    "and reads their state in sysfs: one that is being reset warns. Nothing is "
		    "read from a disk: whether it has room is for space.",
	.cures = "Reboot; when a disk stays away, replace the node.",
	.run = run_local_disks,
};

/* --- huge pages ------------------------------------------------------------------------------- */

/* Reads a value: "HugePages_Total:    5128" */
static bool meminfo(const char *text, const char *name, unsigned long long *value)
{
	const char *line = strstr(text, name);

	return line && sscanf(line + strlen(name), ": %llu", value) == 1;
}

static void run_huge_pages(struct osp_check_context *context)
{
	const struct osp_limit *least = osp_check_limit(context, OSP_LIMIT_HUGE_PAGES, NULL);
	char text[4096], value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	unsigned long long total, idle;

	if (!osp_root_read(context->root, text, sizeof(text), "proc/meminfo") ||
	    !meminfo(text, "HugePages_Total", &total) || !meminfo(text, "HugePages_Free", &idle)) {
		osp_result_skip(context, "/proc/meminfo reports no huge pages");
		return;
	}
	snprintf(value, sizeof(value), "%llu pages", total);
	if (least && total < (unsigned long long)least->value) {
		snprintf(limit, sizeof(limit), "< %lld", (long long)least->value);
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", value, limit,
			       least->source,
			       "fewer huge pages are set aside than this node should have");
	} else if (total && !idle) {
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", "0 free", NULL, NULL,
			"all %llu huge pages are in use: libfabric's next program goes without",
			total);
	} else if (!total && !least) {
		osp_result_skip(context, "none are set aside");
	} else {
		osp_result_pass(context, "%llu free of %llu", idle, total);
	}
}

const struct osp_check osp_check_huge_pages = {
	.name = "huge-pages",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 1000,
	.measures = "huge pages are set aside as they should be, and some are free",
	.explains = "HugePages_Total against the site's limit (huge_pages; none is built in), and "
		    "whether any is free. libfabric's EFA provider takes them (EFA's installer "
		    "sets some aside). It warns at most: programs use them up.",
	.cures = "sysctl vm.nr_hugepages; end what earlier jobs left.",
	.run = run_huge_pages,
};
