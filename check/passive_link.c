/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_link.c - how the GPUs are joined: NVLink, its fabric, PCIe */
#include "check/passive.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check/counters.h"
#include "check/gpus.h"

/* NVLinks of a GPU that are up; -1 when it has none at all. Down ones are named in `down`. */
static int links_up(const struct osp_gpu *gpu, char *down, size_t down_bytes)
{
	int up = 0, known = 0;
	size_t length = 0;

	*down = '\0';
	for (unsigned int link = 0; link < OSP_NVML_LINKS_MAX; link++) {
		int active = 0;

		if (osp_nvml_link_state(gpu->device, link, &active) != OSP_NVML_OK)
			continue;
		known++;
		up += active != 0;
		if (!active && length + 8 < down_bytes)
			length += (size_t)snprintf(down + length, down_bytes - length, "%s%u",
						   length ? "," : "", link);
	}
	return known ? up : -1;
}

/* --- nvlink ----------------------------------------------------------------------------------- */

static bool judge_links(struct osp_check_context *context, const struct osp_gpu *gpu, int most)
{
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_NVLINKS, gpu->name);
	int need = expected ? (int)expected->value : most;
	char down[96], value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];
	int up = links_up(gpu, down, sizeof(down));

	if (up >= need)
		return false;
	snprintf(value, sizeof(value), "%d up", up < 0 ? 0 : up);
	snprintf(limit, sizeof(limit), "< %d", need);
	osp_tell(context, expected ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_RESET_GPU,
		 gpu->subject, value, limit,
		 expected ? expected->source : "the other GPUs of this node", "%s: %s%s", gpu->uuid,
		 *down ? "down: link " : "links are missing", down);
	return true;
}

/* MB/s of a link that is up, one way; 0: not told. */
static unsigned int link_speed_mbps(const struct osp_gpu *gpu)
{
	struct osp_nvml_field field = {.id = OSP_NVML_LINK_SPEED_MBPS};

	if (osp_nvml_fields(gpu->device, 1, &field) != OSP_NVML_OK || field.state != OSP_NVML_OK)
		return 0;
	return field.value.word;
}

static bool judge_link_speed(struct osp_check_context *context, const struct osp_gpu *gpu,
			     unsigned int best_mbps)
{
	const struct osp_limit *expected =
		osp_check_limit(context, OSP_LIMIT_NVLINK_MBPS, gpu->name);
	unsigned int speed = link_speed_mbps(gpu);
	unsigned int need = expected ? (unsigned int)expected->value : best_mbps;
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	if (!speed || speed >= need)
		return false;
	snprintf(value, sizeof(value), "%u MB/s", speed);
	snprintf(limit, sizeof(limit), "< %u", need);
	osp_tell(context, expected ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_RESET_GPU,
		 gpu->subject, value, limit,
		 expected ? expected->source : "the other GPUs of this node",
		 "%s: its NVLinks run at %u MB/s each way", gpu->uuid, speed);
	return true;
}

static unsigned int best_link_speed(const struct osp_gpus *gpus)
{
	unsigned int best = 0;

	for (size_t i = 0; i < gpus->count; i++) {
		unsigned int speed =
			gpus->gpus[i].state == OSP_NVML_OK ? link_speed_mbps(&gpus->gpus[i]) : 0;

		best = speed > best ? speed : best;
	}
	return best;
}

static void run_nvlink(struct osp_check_context *context)
{
	struct osp_pci_gpus pci;
	struct osp_gpus gpus;
	unsigned int best_mbps;
	char down[96];
	bool ill = false;
	int most = -1;

	if (!osp_gpus_open(context, &gpus))
		return;
	osp_pci_gpus(context, &pci);
	for (size_t i = 0; i < gpus.count; i++) {
		int up = gpus.gpus[i].state == OSP_NVML_OK
				 ? links_up(&gpus.gpus[i], down, sizeof(down))
				 : -1;

		if (up > most)
			most = up;
	}
	if (most < 0 || pci.count < 2) {
		osp_tell_skip(context,
			      most < 0 ? "no NVLink here" : "a single GPU: nothing to link to");
		return;
	}
	best_mbps = best_link_speed(&gpus);
	for (size_t i = 0; i < gpus.count; i++) {
		if (gpus.gpus[i].state != OSP_NVML_OK)
			continue;
		ill |= judge_links(context, &gpus.gpus[i], most);
		ill |= judge_link_speed(context, &gpus.gpus[i], best_mbps);
	}
	if (!ill)
		osp_tell_pass(context, "%d up", most);
}

const struct osp_check osp_check_nvlink = {
	.name = "nvlink",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 3000,
	.measures = "as many NVLinks of each GPU are up as its model has, at full speed",
	.explains = "Counts NVLinks that are up and reads their speed. What is due comes from the "
		    "thresholds; for an unknown model "
		    "the best GPU of the node is the measure, and fewer only warns. A node with a "
		    "single GPU "
		    "has nothing to link to.",
	.cures = "Reset the GPUs (all that are linked, together) or reboot; when links stay down, "
		 "replace the "
		 "node.",
	.run = run_nvlink,
};

/* --- nvlink errors ---------------------------------------------------------------------------- */

#define WATCH_MS 200

static bool judge_crc(struct osp_check_context *context, const struct osp_gpu *gpu, uint64_t more,
		      uint64_t watched_ms)
{
	const struct osp_limit *limit =
		osp_check_limit(context, OSP_LIMIT_NVLINK_CRC_PER_S, gpu->name);
	unsigned long long rate = watched_ms ? more * 1000 / watched_ms : more;
	char value[OSP_WORD_BYTES], most[OSP_WORD_BYTES];

	if (!limit || rate <= (unsigned long long)limit->value)
		return false;
	snprintf(value, sizeof(value), "%llu CRC errors/s", rate);
	snprintf(most, sizeof(most), "> %lld", (long long)limit->value);
	osp_tell(context, OSP_VERDICT_FAIL, OSP_CURE_RESET_GPU, gpu->subject, value, most,
		 limit->source, "%s: %llu CRC errors on its NVLinks in %llu ms", gpu->uuid,
		 (unsigned long long)more, (unsigned long long)watched_ms);
	return true;
}

/* Replays and recoveries repair a link for a moment; DCGM warns from the first. */
static bool judge_repairs(struct osp_check_context *context, const struct osp_gpu *gpu,
			  const char *counter, const char *what, uint64_t now)
{
	char value[OSP_WORD_BYTES];
	uint64_t more;

	if (!osp_counter_growth(context->since, gpu->uuid, counter, now, &more, NULL) || !more)
		return false;
	snprintf(value, sizeof(value), "%llu %s", (unsigned long long)more, what);
	osp_tell(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, "> 0",
		 "DCGM, health watch of NVLink", "%s: %s on its NVLinks since the last pass",
		 gpu->uuid, what);
	return true;
}

/* What has come since the last pass, under load too. */
static bool judge_since(struct osp_check_context *context, const struct osp_gpu *gpu,
			const struct osp_link_errors *now)
{
	const struct osp_pass *since = context->since;
	uint64_t more;
	bool ill;

	osp_tell_figure(context, gpu->subject, "nvlink_crc", (double)now->crc);
	osp_tell_figure(context, gpu->subject, "nvlink_replay", (double)now->replay);
	osp_tell_figure(context, gpu->subject, "nvlink_recovery", (double)now->recovery);
	if (!since)
		return false;
	ill = judge_repairs(context, gpu, "nvlink_replay", "replays", now->replay);
	ill |= judge_repairs(context, gpu, "nvlink_recovery", "recoveries", now->recovery);
	if (context->uptime_s > since->state.uptime_s &&
	    osp_counter_growth(since, gpu->uuid, "nvlink_crc", now->crc, &more, NULL))
		ill |= judge_crc(context, gpu, more,
				 (context->uptime_s - since->state.uptime_s) * 1000);
	return ill;
}

static void run_nvlink_errors(struct osp_check_context *context)
{
	static const struct timespec pause = {.tv_nsec = WATCH_MS * 1000000L};
	struct osp_link_errors before[OSP_GPUS_MAX], after;
	bool tells[OSP_GPUS_MAX], any = false, ill = false;
	struct osp_gpus gpus;
	uint64_t begun_ms;

	if (!osp_gpus_open(context, &gpus))
		return;
	for (size_t i = 0; i < gpus.count; i++) {
		tells[i] = gpus.gpus[i].state == OSP_NVML_OK &&
			   osp_link_errors_read(&gpus.gpus[i], &before[i]);
		any |= tells[i];
	}
	if (!any) {
		osp_tell_skip(context, "no NVLink here tells its errors");
		return;
	}
	begun_ms = osp_now_ms();
	nanosleep(&pause, NULL);
	for (size_t i = 0; i < gpus.count; i++) {
		if (!tells[i])
			continue;
		if (osp_link_errors_read(&gpus.gpus[i], &after) && after.crc > before[i].crc &&
		    judge_crc(context, &gpus.gpus[i], after.crc - before[i].crc,
			      osp_now_ms() - begun_ms))
			ill = true;
		else
			ill |= judge_since(context, &gpus.gpus[i], &before[i]);
	}
	if (!ill)
		osp_tell_pass(context, "none growing");
}

const struct osp_check osp_check_nvlink_errors = {
	.name = "nvlink-errors",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "NVLink's error counters do not grow",
	.explains = "Reads the error counters of all links twice, a fifth of a second apart, and "
		    "compares with the node's last pass in this boot, so that errors under load "
		    "show too. What was counted before that does not matter.",
	.cures = "Reset the GPU; when it comes back, replace the node.",
	.run = run_nvlink_errors,
};

/* --- fabric ----------------------------------------------------------------------------------- */

/* Two bits each in the health word; 1 is ill. */
static const struct {
	unsigned int shift;
	const char *words;
} ills[] = {
	{0, "degraded bandwidth"},
	{2, "route recovery"},
	{4, "unhealthy route"},
	{6, "access timeout recovery"},
};

static const char *fabric_ill(const struct osp_nvml_fabric *fabric)
{
	unsigned int misconfigured = fabric->health >> 8 & 0xf;

	for (size_t i = 0; i < sizeof(ills) / sizeof(ills[0]); i++)
		if ((fabric->health >> ills[i].shift & 3) == 1)
			return ills[i].words;
	return misconfigured > 1 ? "wrong configuration" : NULL;
}

static bool judge_fabric(struct osp_check_context *context, const struct osp_gpu *gpu,
			 size_t *lacking, void *data)
{
	struct osp_nvml_fabric fabric = {.version = OSP_NVML_FABRIC_VERSION};
	int state = osp_nvml_fabric(gpu->device, &fabric);
	const char *ill;

	(void)data;
	if (!osp_gpu_value(context, gpu, state, "fabric", lacking))
		return false;
	if (fabric.state == 0) { /* not joined to any */
		(*lacking)++;
		return false;
	}
	ill = fabric_ill(&fabric);
	if (fabric.state != OSP_NVML_FABRIC_COMPLETED)
		osp_tell(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, gpu->subject,
			 fabric.state == 1 ? "not started" : "in progress", NULL, NULL,
			 "%s: has not joined the NVLink fabric; is the fabric manager running?",
			 gpu->uuid);
	else if (fabric.status != OSP_NVML_OK)
		osp_tell(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, gpu->subject, "not joined", NULL,
			 NULL, "%s: joining the NVLink fabric failed: %s", gpu->uuid,
			 osp_nvml_words(fabric.status));
	else if (ill)
		osp_tell(context, OSP_VERDICT_FAIL, OSP_CURE_ASK, gpu->subject, ill, NULL,
			 "NVML's fabric health", "%s: the NVLink fabric tells: %s", gpu->uuid, ill);
	else
		return false;
	return true;
}

static void run_fabric(struct osp_check_context *context)
{
	if (osp_gpus_each(context, judge_fabric, NULL, "no GPU here belongs to an NVLink fabric"))
		osp_tell_pass(context, "joined");
}

const struct osp_check osp_check_fabric = {
	.name = "fabric",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 3000,
	.measures = "each GPU has joined the NVLink fabric, and the fabric is well",
	.explains =
		"Where NVSwitches join GPUs, the fabric manager must have set them up, or CUDA "
		"answers "
		"error 802. NVML tells the state from Hopper on; A100 systems are not seen here.",
	.cures = "Start nvidia-fabricmanager (its version must be the driver's); look at its log.",
	.run = run_fabric,
};

/* --- pcie ------------------------------------------------------------------------------------- */

struct pcie {
	int state;
	unsigned int generation;
	unsigned int width;
};

struct pcies {
	struct osp_gpus gpus;
	struct pcie links[OSP_GPUS_MAX];
	struct pcie best;
};

static void read_pcies(struct pcies *pcies)
{
	struct pcie *best = &pcies->best;

	for (size_t i = 0; i < pcies->gpus.count; i++) {
		const struct osp_gpu *gpu = &pcies->gpus.gpus[i];
		struct pcie *link = &pcies->links[i];

		link->state = gpu->state;
		/* An idle link may run at a lower generation to save power: what it can do counts. */
		if (link->state == OSP_NVML_OK)
			link->state = osp_nvml_pcie_generation(gpu->device, &link->generation);
		if (link->state != OSP_NVML_OK)
			continue;
		if (osp_nvml_pcie_width(gpu->device, &link->width) != OSP_NVML_OK)
			link->width = 0;
		if (link->generation > best->generation)
			best->generation = link->generation;
		if (link->width > best->width)
			best->width = link->width;
	}
}

/* Fewer than the model's, or than the best of the node where the model is unknown. */
static bool judge_part(struct osp_check_context *context, const struct osp_gpu *gpu,
		       unsigned int found, unsigned int best, enum osp_limit_id id,
		       const char *what)
{
	const struct osp_limit *expected = osp_check_limit(context, id, gpu->name);
	unsigned int need = expected ? (unsigned int)expected->value : best;
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	if (!found || found >= need)
		return false;
	snprintf(value, sizeof(value), "%s %u", what, found);
	snprintf(limit, sizeof(limit), "< %u", need);
	osp_tell(context, expected ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_REBOOT,
		 gpu->subject, value, limit,
		 expected ? expected->source : "the other GPUs of this node",
		 "%s: PCIe link of %s %u, %u expected", gpu->uuid, what, found, need);
	return true;
}

static bool judge_pcie(struct osp_check_context *context, const struct osp_gpu *gpu,
		       size_t *lacking, void *data)
{
	const struct pcies *pcies = data;
	const struct pcie *link = &pcies->links[gpu - pcies->gpus.gpus];
	bool ill;

	if (!osp_gpu_value(context, gpu, link->state, "PCIe generation", lacking))
		return false;
	ill = judge_part(context, gpu, link->generation, pcies->best.generation,
			 OSP_LIMIT_PCIE_GENERATION, "generation");
	ill |= judge_part(context, gpu, link->width, pcies->best.width, OSP_LIMIT_PCIE_WIDTH,
			  "width");
	return ill;
}

static void run_pcie(struct osp_check_context *context)
{
	struct pcies pcies = {.best = {.state = OSP_NVML_OK}};

	if (!osp_gpus_open(context, &pcies.gpus))
		return;
	read_pcies(&pcies);
	if (osp_gpus_judge(context, &pcies.gpus, judge_pcie, &pcies,
			   "no GPU here tells its PCIe link"))
		osp_tell_pass(context, "generation %u, width %u", pcies.best.generation,
			      pcies.best.width);
}

const struct osp_check osp_check_pcie = {
	.name = "pcie",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "each GPU's PCIe link has its generation and width",
	.explains = "Generation is what GPU and slot can do together (an idle link runs slower to "
		    "save power); "
		    "width is the current one. Compared with the model's in the thresholds, or "
		    "with the best "
		    "GPU of the node, which only warns.",
	.cures = "Reboot; when the link stays narrow, reseat or replace.",
	.run = run_pcie,
};
