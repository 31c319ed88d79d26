/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_host.c - processors, memory, limits, clock, modules */
#include "check/passive/passive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>

#include "check/base/container.h"
#include "check/base/gpus.h"
#include "check/base/root.h"

/* Counts the numbers of a list: "0-95,192" has 97. */
static uint64_t count_list(const char *list)
{
	uint64_t count = 0;

	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (last < first || last > 1000000)
			break;
		count += last - first + 1;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

/* Reports whether the machine has as much of something, "core" if it is one, as it should have.
 * Less fails; with `may_be_meant`, and in a container, it warns, unless the site itself says how
 * much there is. */
static void judge_least(struct osp_check_context *context, uint64_t found, enum osp_limit_id id,
			const char *one, const char *many, bool may_be_meant)
{
	const struct osp_limit *expected = osp_check_limit(context, id, NULL);
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	bool meant;

	if (!expected || found >= (uint64_t)expected->value) {
		osp_result_pass(context, "%llu %s", (unsigned long long)found,
				found == 1 ? one : many);
		return;
	}
	snprintf(value, sizeof(value), "%llu %s", (unsigned long long)found,
		 found == 1 ? one : many);
	snprintf(limit, sizeof(limit), "< %lld", (long long)expected->value);
	meant = (may_be_meant || osp_in_container(context->root)) && !expected->of_site;
	osp_result_add(context, meant ? OSP_VERDICT_WARN : OSP_VERDICT_FAIL,
		       meant ? OSP_CURE_ASK : OSP_CURE_REPLACE, "", value, limit, expected->source,
		       "%s should have %lld %s", *context->node ? context->node : "this node",
		       (long long)expected->value, expected->value == 1 ? one : many);
}

/* --- cpu -------------------------------------------------------------------------------------- */

static void run_cpu(struct osp_check_context *context)
{
	char siblings[256];
	struct osp_names cpus;
	uint64_t cores = 0, offline = 0;

	if (!osp_root_list(context->root, &cpus, "sys/devices/system/cpu")) {
		osp_result_error(context, "", "/sys/devices/system/cpu: %s", strerror(errno));
		return;
	}
	/* Each core is counted at its first hardware thread; one that is offline has no
	 * topology. */
	for (size_t i = 0; i < cpus.count; i++) {
		unsigned int number;
		char rest;

		if (sscanf(cpus.names[i], "cpu%u%c", &number, &rest) != 1)
			continue;
		if (!osp_root_read(context->root, siblings, sizeof(siblings),
				   "sys/devices/system/cpu/%s/topology/thread_siblings_list",
				   cpus.names[i]))
			offline++;
		else if (strtoul(siblings, NULL, 10) == number)
			cores++;
	}
	osp_names_free(&cpus);
	if (!cores)
		osp_result_skip(context, "the kernel reports no cores");
	else
		judge_least(context, cores, OSP_LIMIT_CORES, "core", "cores", !offline);
}

const struct osp_check osp_check_cpu = {
	.name = "cpu",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 2000,
	.measures = "as many cores are running as the machine has",
	.explains = "Counts physical cores, so that hardware threads may be off. At most 510 are "
		    "counted, and machines whose core count the thresholds do not know pass. Fewer "
		    "than an EC2 type has warn if none is offline: EC2 starts an instance with "
		    "fewer if asked to (CpuOptions). Fewer than the site's own limit says fail: "
		    "firmware leaves out cores that it has found broken.",
	.cures = "Replace the node.",
	.run = run_cpu,
};

/* --- numa ------------------------------------------------------------------------------------- */

/* Returns whether the kernel was started with this word. */
static bool is_on_command_line(const struct osp_check_context *context, const char *wanted)
{
	char line[4096], *rest = NULL;

	if (!osp_root_read(context->root, line, sizeof(line), "proc/cmdline"))
		return false;
	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest))
		if (strcmp(word, wanted) == 0)
			return true;
	return false;
}

static void run_numa(struct osp_check_context *context)
{
	char list[256];

	/* The memory of GPUs can be nodes too: only those with processors count. */
	if (is_on_command_line(context, "numa=off"))
		osp_result_skip(context, "the kernel was started with numa=off");
	else if (!osp_root_read(context->root, list, sizeof(list),
				"sys/devices/system/node/has_cpu"))
		osp_result_skip(context, "no NUMA here");
	else
		judge_least(context, count_list(list), OSP_LIMIT_NUMA_NODES, "NUMA node",
			    "NUMA nodes", false);
}

const struct osp_check osp_check_numa = {
	.name = "numa",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 1000,
	.measures = "as many NUMA nodes with processors are there as the machine has",
	.explains = "Reads /sys/devices/system/node/has_cpu. Skipped if the kernel was started "
		    "with numa=off; in a container fewer warn.",
	.cures = "Replace the node.",
	.run = run_numa,
};

/* --- memory ----------------------------------------------------------------------------------- */

static void run_memory(struct osp_check_context *context)
{
	unsigned long long kib;
	char text[256];

	if (!osp_root_read(context->root, text, sizeof(text), "proc/meminfo") ||
	    sscanf(text, "MemTotal: %llu kB", &kib) != 1)
		osp_result_error(context, "", "/proc/meminfo reports no MemTotal");
	else
		judge_least(context, kib / 1024 / 1024, OSP_LIMIT_MEMORY_GIB, "GiB", "GiB", false);
}

const struct osp_check osp_check_memory = {
	.name = "memory",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 1000,
	.measures = "as much memory is there as the machine has",
	.explains = "Reads MemTotal. A module that has failed at boot shows as too little. In a "
		    "container less warns.",
	.cures = "Replace the node.",
	.run = run_memory,
};

/* --- limits ----------------------------------------------------------------------------------- */

/* Reads the soft limit of one line of /proc/self/limits; UINT64_MAX is unlimited. Returns false if
 * there is no such line. */
static bool soft_limit(const char *text, const char *name, uint64_t *limit)
{
	const char *line = strstr(text, name);

	if (!line)
		return false;
	line += strlen(name);
	line += strspn(line, " ");
	*limit = strncmp(line, "unlimited", 9) == 0 ? UINT64_MAX : strtoull(line, NULL, 10);
	return true;
}

static void run_limits(struct osp_check_context *context)
{
	const struct osp_limit *files = osp_check_limit(context, OSP_LIMIT_OPEN_FILES, NULL);
	char text[4096], value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	uint64_t locked, open_files;
	bool ill = false;

	if (!osp_root_read(context->root, text, sizeof(text), "proc/self/limits") ||
	    !soft_limit(text, "Max locked memory", &locked) ||
	    !soft_limit(text, "Max open files", &open_files)) {
		osp_result_error(context, "", "/proc/self/limits cannot be read");
		return;
	}
	if (locked != UINT64_MAX) {
		snprintf(value, sizeof(value), "%llu bytes", (unsigned long long)locked);
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_ASK, "memlock", value, "< unlimited",
			"NCCL and RDMA pin memory",
			"locked memory is limited; jobs started by slurmd inherit its limits "
			"(LimitMEMLOCK=infinity)");
		ill = true;
	}
	if (files && open_files < (uint64_t)files->value) {
		snprintf(value, sizeof(value), "%llu", (unsigned long long)open_files);
		snprintf(limit, sizeof(limit), "< %lld", (long long)files->value);
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, "nofile", value, limit,
			       files->source, "few open files are allowed (LimitNOFILE of slurmd)");
		ill = true;
	}
	if (!ill)
		osp_result_pass(context, "memlock and nofile");
}

const struct osp_check osp_check_limits = {
	.name = "limits",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 1000,
	.measures = "locked memory is unlimited and many files may be open",
	.explains = "The limits of the process that calls this: in a Prolog those of slurmd, "
		    "which jobs inherit; from a login shell those of the shell.",
	.cures = "LimitMEMLOCK=infinity and LimitNOFILE=1048576 in slurmd's unit.",
	.run = run_limits,
};

/* --- clock ------------------------------------------------------------------------------------ */

static void run_clock(struct osp_check_context *context)
{
	const struct osp_limit *most = osp_check_limit(context, OSP_LIMIT_CLOCK_ERROR_MS, NULL);
	struct timex clock = {.modes = 0};
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	int state = adjtimex(&clock);

	if (state < 0) {
		osp_result_error(context, "", "adjtimex: %s", strerror(errno));
	} else if (state == TIME_ERROR || clock.status & STA_UNSYNC) {
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", "not synchronised",
			       NULL, NULL,
			       "no daemon keeps the clock right (chrony, systemd-timesyncd)");
	} else if (most && clock.maxerror / 1000 > most->value) {
		snprintf(value, sizeof(value), "%ld ms", clock.maxerror / 1000);
		snprintf(limit, sizeof(limit), "> %lld", (long long)most->value);
		osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", value, limit,
			       most->source, "the clock may be wrong by %ld ms",
			       clock.maxerror / 1000);
	} else {
		osp_result_pass(context, "within %ld ms", clock.maxerror / 1000);
	}
}

const struct osp_check osp_check_clock = {
	.name = "clock",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 1000,
	.measures = "the clock is synchronised",
	.explains = "Asks the kernel (adjtimex), which every NTP daemon reports. MUNGE refuses "
		    "credentials of clocks five minutes apart.",
	.cures = "Start chronyd or systemd-timesyncd; look at its sources.",
	.run = run_clock,
};

/* --- nvidia_uvm ------------------------------------------------------------------------------- */

static void run_uvm_module(struct osp_check_context *context)
{
	struct osp_pci_gpus gpus;

	osp_pci_gpus(context, &gpus);
	if (!gpus.count)
		osp_result_skip(context, "no NVIDIA GPU on the PCI bus");
	else if (!osp_root_exists(context->root, "sys/module/nvidia"))
		osp_result_skip(context, "no driver; the check driver reports it");
	else if (osp_root_exists(context->root, "sys/module/nvidia_uvm"))
		osp_result_pass(context, "loaded");
	else
		osp_result_add(
			context, OSP_VERDICT_WARN, OSP_CURE_ASK, "", "not loaded", NULL, NULL,
			"the kernel module nvidia_uvm, which CUDA needs, is not loaded; the first "
			"program may load it");
}

const struct osp_check osp_check_uvm_module = {
	.name = "uvm-module",
	.group = OSP_GROUP_HOST,
	.worst = OSP_VERDICT_WARN,
	.deadline_ms = 1000,
	.measures = "the kernel module nvidia_uvm is loaded",
	.explains = "CUDA needs nvidia_uvm; programs inside containers cannot load it.",
	.cures = "modprobe nvidia_uvm at boot, or nvidia-modprobe -u.",
	.run = run_uvm_module,
};
