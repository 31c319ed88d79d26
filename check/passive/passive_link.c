/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_link.c - how the GPUs are joined by NVLink, and the errors on it */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check/base/counters.h"
#include "check/base/gpus.h"
#include "check/base/node_type.h"
#include "lib/base/text.h"

/* Counts a GPU's NVLinks that are up; -1 if it has none at all. Lists those that are down in
 * `down`. */
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

struct links {
	struct osp_gpus gpus;
	int up[OSP_GPUS_MAX]; /* -1: it has none, or was not asked */
	char down[OSP_GPUS_MAX][96];
	unsigned int mbps[OSP_GPUS_MAX]; /* speed of a link that is up, one way; 0: unknown */
	int most;
	unsigned int least_mbps; /* of the known ones; 0: none is known */
	bool given; /* a guest of an unknown type: the host decides which links it has */
	const struct osp_pci_gpus *pci;
	bool looked;	     /* what follows is known; only links that are missing need it */
	struct osp_gpus all; /* the chosen and the others: what these have says much of the node */
	int all_up[OSP_GPUS_MAX];
	bool apart; /* some GPU has its links off by somebody's choice */
};

/* Returns the MB/s of a link that is up, one way; 0 if NVML does not say. */
static unsigned int link_speed_mbps(const struct osp_gpu *gpu)
{
	struct osp_nvml_field field = {.id = OSP_NVML_LINK_SPEED_MBPS};

	if (osp_nvml_fields(gpu->device, 1, &field) != OSP_NVML_OK || field.state != OSP_NVML_OK)
		return 0;
	return field.value.word;
}

static void read_links(struct links *links)
{
	links->most = -1;
	for (size_t i = 0; i < links->gpus.count; i++) {
		const struct osp_gpu *gpu = &links->gpus.gpus[i];

		links->up[i] = -1;
		if (gpu->state != OSP_NVML_OK || osp_gpu_partitioned(gpu))
			continue;
		links->up[i] = links_up(gpu, links->down[i], sizeof(links->down[i]));
		links->mbps[i] = links->up[i] < 0 ? 0 : link_speed_mbps(gpu);
		if (links->up[i] > links->most)
			links->most = links->up[i];
		if (links->mbps[i] && (!links->least_mbps || links->mbps[i] < links->least_mbps))
			links->least_mbps = links->mbps[i];
	}
}

/*
 * Looks at all GPUs of the node. One that is in instances, given to a virtual machine or excluded
 * from the driver has its links off, and where no NVSwitch is between, so are the other ends of
 * these.
 */
static void look_around(const struct osp_check_context *context, struct links *links)
{
	struct osp_check_context of_all = *context;
	char down[sizeof(links->down[0])];

	if (links->looked)
		return;
	links->looked = true;
	of_all.gpus = NULL;
	links->apart = links->pci->given_away_count > 0;
	if (!osp_gpus_open_on(&of_all, links->pci, &links->all))
		return;
	for (size_t i = 0; i < links->all.count; i++) {
		const struct osp_gpu *gpu = &links->all.gpus[i];
		bool partitioned = gpu->state == OSP_NVML_OK && osp_gpu_partitioned(gpu);

		links->apart = links->apart || partitioned;
		links->all_up[i] = gpu->state == OSP_NVML_OK && !partitioned
					   ? links_up(gpu, down, sizeof(down))
					   : -1;
	}
}

/* Returns the most links that any GPU of the model has, in all of the node. */
static int most_of_node(const struct links *links, const struct osp_gpu *gpu)
{
	int most = -1;

	for (size_t i = 0; i < links->all.count; i++)
		if (links->all_up[i] > most && strcmp(links->all.gpus[i].name, gpu->name) == 0)
			most = links->all_up[i];
	return most;
}

/* Returns why links may be down that nothing is wrong with; NULL if nothing is known that explains
 * it. */
static const char *excuse(const struct osp_check_context *context, struct links *links,
			  const struct osp_gpu *gpu, int up, int need)
{
	int most;

	look_around(context, links);
	most = most_of_node(links, gpu);
	if (most < 0)
		return "NVML reports no link of any GPU here; they may be switched off";
	if (links->given && most < need)
		return "no GPU here has more: the host of this virtual machine may give so many";
	if (links->apart && !osp_gpu_switched(gpu) &&
	    (up > 0 || osp_pci_switches(context) != OSP_SWITCHES_HERE))
		return "they may lead to a GPU in instances (MIG), given away or excluded";
	return NULL;
}

/* Finds the best values among GPUs of one model: others beside it, for a display, have no
 * NVLinks. */
static void best_of(const struct links *links, const struct osp_gpu *gpu, int *most,
		    unsigned int *best_mbps)
{
	*most = -1;
	*best_mbps = 0;
	for (size_t i = 0; i < links->gpus.count; i++) {
		if (strcmp(links->gpus.gpus[i].name, gpu->name) != 0)
			continue;
		if (links->up[i] > *most)
			*most = links->up[i];
		if (links->mbps[i] > *best_mbps)
			*best_mbps = links->mbps[i];
	}
}

/* Returns the first GPU that can be asked; NULL: there is none. */
static const struct osp_gpu *first_of(const struct osp_gpus *gpus)
{
	for (size_t i = 0; i < gpus->count; i++)
		if (gpus->gpus[i].state == OSP_NVML_OK)
			return &gpus->gpus[i];
	return NULL;
}

/* Returns whether this NVML is too old to report links. */
static bool lacks_function(const struct osp_gpu *gpu)
{
	int active;

	return osp_nvml_link_state(gpu->device, 0, &active) == OSP_NVML_NO_FUNCTION;
}

static bool judge_links(struct osp_check_context *context, const struct osp_gpu *gpu,
			struct links *links, int up, int most)
{
	const struct osp_limit *expected = osp_check_limit(context, OSP_LIMIT_NVLINKS, gpu->name);
	int need = expected ? (int)expected->value : most;
	const char *down = links->down[gpu - links->gpus.gpus], *why;
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	if (up >= need || need <= 0)
		return false;
	why = excuse(context, links, gpu, up, need);
	snprintf(value, sizeof(value), "%d up", up < 0 ? 0 : up);
	snprintf(limit, sizeof(limit), "< %d", need);
	osp_result_add(context, expected && !why ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN,
		       why ? OSP_CURE_ASK : OSP_CURE_RESET_GPU, gpu->subject, value, limit,
		       expected ? expected->source : "the other GPUs of this node", "%s: %s%s%s%s",
		       gpu->uuid, *down ? "down: link " : "links are missing", down,
		       why ? "; " : "", why ? why : "");
	return true;
}

static bool judge_link_speed(struct osp_check_context *context, const struct osp_gpu *gpu,
			     unsigned int speed, unsigned int best_mbps)
{
	const struct osp_limit *expected =
		osp_check_limit(context, OSP_LIMIT_NVLINK_MBPS, gpu->name);
	unsigned int need = expected ? (unsigned int)expected->value : best_mbps;
	/* what no GPU reaches is how this driver counts, or a mode that somebody has set */
	bool fails = expected && best_mbps >= need;
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	if (!speed || speed >= need)
		return false;
	snprintf(value, sizeof(value), "%u MB/s", speed);
	snprintf(limit, sizeof(limit), "< %u", need);
	osp_result_add(context, fails ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_RESET_GPU,
		       gpu->subject, value, limit,
		       expected ? expected->source : "the other GPUs of this node",
		       "%s: its NVLinks run at %u MB/s each way", gpu->uuid, speed);
	return true;
}

/* Judges one GPU's links. A GPU without any is judged only if its model should have some. */
static bool judge_nvlink(struct osp_check_context *context, struct links *links, size_t i)
{
	const struct osp_gpu *gpu = &links->gpus.gpus[i];
	unsigned int best_mbps;
	bool ill;
	int most;

	if (gpu->state != OSP_NVML_OK || osp_gpu_partitioned(gpu))
		return false;
	best_of(links, gpu, &most, &best_mbps);
	if (most < 0 && !osp_check_limit(context, OSP_LIMIT_NVLINKS, gpu->name))
		return false;
	ill = judge_links(context, gpu, links, links->up[i], most);
	return judge_link_speed(context, gpu, links->mbps[i], best_mbps) || ill;
}

/* Returns whether a GPU, not in instances, is of a model that has links. */
static bool any_due(const struct osp_check_context *context, const struct links *links)
{
	for (size_t i = 0; i < links->gpus.count; i++) {
		const struct osp_gpu *gpu = &links->gpus.gpus[i];
		const struct osp_limit *due =
			osp_check_limit(context, OSP_LIMIT_NVLINKS, gpu->name);

		if (gpu->state == OSP_NVML_OK && !osp_gpu_partitioned(gpu) && due && due->value)
			return true;
	}
	return false;
}

/* Returns why no link is judged here; NULL if they are. */
static const char *nothing_to_judge(const struct osp_check_context *context,
				    const struct links *links)
{
	if (links->most < 0 && (links->given || !any_due(context, links)))
		return "no NVLink here, or all GPUs are partitioned (MIG)";
	if (links->most < 0 && lacks_function(first_of(&links->gpus)))
		return "this NVML reports no NVLink";
	if (links->pci->count < 2)
		return "a single GPU: nothing to link to";
	if (osp_gpus_confidential())
		return "confidential computing, which may switch NVLinks off";
	return NULL;
}

static void run_nvlink(struct osp_check_context *context)
{
	static struct links links; /* large, and the process has one */
	const struct osp_gpu *first;
	struct osp_node_type type;
	struct osp_pci_gpus pci;
	const char *nothing;
	bool ill = false;

	memset(&links, 0, sizeof(links));
	osp_pci_gpus(context, &pci);
	links.pci = &pci;
	if (!osp_gpus_open_on(context, &pci, &links.gpus))
		return;
	read_links(&links);
	first = first_of(&links.gpus);
	links.given = first && osp_gpu_is_guest(first) && !osp_node_type_read(context, &type);
	nothing = nothing_to_judge(context, &links);
	if (nothing) {
		osp_result_skip(context, "%s", nothing);
		return;
	}
	for (size_t i = 0; i < links.gpus.count; i++)
		ill |= judge_nvlink(context, &links, i);
	if (!ill && links.least_mbps)
		osp_result_pass(context, "%d up, %u MB/s each way", links.most, links.least_mbps);
	else if (!ill)
		osp_result_pass(context, "%d up", links.most);
}

const struct osp_check osp_check_nvlink = {
	.name = "nvlink",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.settles = true,
	.deadline_ms = 3000,
	.measures = "as many NVLinks of each GPU are up as its model has, at full speed",
	.explains =
		"Counts NVLinks that are up and reads their speed. What is due comes from the "
		"thresholds; for an unknown model the best GPU of its model on the node is the "
		"measure, and fewer only warns. So does what no GPU of a virtual machine of no "
		"known type reaches, whose host decides; links of GPUs without NVSwitches, "
		"while one is in instances (MIG), given away or excluded, for its links are "
		"off at both ends; links of which NVML reports nothing; and a speed that no GPU "
		"of the node reaches: a driver may count it otherwise. A node with a single "
		"GPU has "
		"nothing to link to. Partitioned GPUs (MIG) and confidential computing have "
		"theirs switched off and are not judged.",
	.cures = "Reset the GPUs (all that are linked, together) or reboot; when links stay down, "
		 "replace the node.",
	.run = run_nvlink,
};

/* --- nvlink errors ---------------------------------------------------------------------------- */

#define WATCH_MS  200
#define RATE_MOST 1e-6

static const struct timespec watch = {.tv_nsec = WATCH_MS * 1000000L};

/* An error counter whose rate is judged. */
struct judged_rate {
	enum osp_verdict verdict;
	const char *source; /* NULL: the source of the limit */
	const char *what;
};

static const struct judged_rate crc_rate = {OSP_VERDICT_FAIL, NULL, "CRC errors on its NVLinks"};

/* NVLink 5. The only limit that any source gives for its counters is that of the rate, so these
 * warn. */
static const struct judged_rate packet_rate = {
	OSP_VERDICT_WARN, "onespine: as of the older counters", "packets with errors"};

/* A burst that a second look does not find again. */
static const struct judged_rate crc_burst = {OSP_VERDICT_WARN, NULL,
					     "CRC errors on its NVLinks, none like it right after"};

static unsigned long long rate_per_s(uint64_t more, uint64_t watched_ms)
{
	return watched_ms ? more * 1000 / watched_ms : more;
}

/* Judges that `more` errors came in `watched_ms`. Returns true if a fault was reported. */
static bool judge_errors_per_s(struct osp_check_context *context, const struct osp_gpu *gpu,
			       const struct judged_rate *judged, uint64_t more, uint64_t watched_ms)
{
	const struct osp_limit *limit =
		osp_check_limit(context, OSP_LIMIT_NVLINK_CRC_PER_S, gpu->name);
	unsigned long long rate = rate_per_s(more, watched_ms);
	char value[OSP_WORD_BYTES], most[OSP_WORD_BYTES];

	if (!limit || rate <= (unsigned long long)limit->value)
		return false;
	snprintf(value, sizeof(value), "%llu CRC errors/s", rate);
	snprintf(most, sizeof(most), "> %lld", (long long)limit->value);
	osp_result_add(context, judged->verdict, OSP_CURE_RESET_GPU, gpu->subject, value, most,
		       judged->source ? judged->source : limit->source, "%s: %llu %s in %llu ms",
		       gpu->uuid, (unsigned long long)more, judged->what,
		       (unsigned long long)watched_ms);
	return true;
}

/* Judges replays and recoveries. They repair a link for a moment, but DCGM warns from the first. */
static bool judge_repairs(struct osp_check_context *context, const struct osp_gpu *gpu,
			  const char *counter, const char *what, uint64_t now)
{
	char value[OSP_WORD_BYTES];
	uint64_t more;

	if (!osp_counter_growth(context->since, gpu->uuid, counter, now, &more, NULL) || !more)
		return false;
	snprintf(value, sizeof(value), "%llu %s", (unsigned long long)more, what);
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, "> 0",
		       "DCGM, health watch of NVLink", "%s: %s on its NVLinks since the last pass",
		       gpu->uuid, what);
	return true;
}

/* Judges the errors since the last pass, which include those under load. */
static bool judge_since(struct osp_check_context *context, const struct osp_gpu *gpu,
			const struct osp_link_errors *now)
{
	const struct osp_pass *since = context->since;
	uint64_t more;
	bool ill;

	osp_result_figure(context, gpu->subject, "nvlink_crc", (double)now->crc);
	osp_result_figure(context, gpu->subject, "nvlink_replay", (double)now->replay);
	osp_result_figure(context, gpu->subject, "nvlink_recovery", (double)now->recovery);
	osp_result_figure(context, gpu->subject, "nvlink_symbol_errors", (double)now->symbol);
	osp_result_figure(context, gpu->subject, "nvlink_effective_errors", (double)now->effective);
	if (!since)
		return false;
	ill = judge_repairs(context, gpu, "nvlink_replay", "replays", now->replay);
	ill |= judge_repairs(context, gpu, "nvlink_recovery", "recoveries", now->recovery);
	ill |= judge_repairs(context, gpu, "nvlink_lost", "failed recoveries", now->lost);
	if (context->uptime_s > since->state.uptime_s &&
	    osp_counter_growth(since, gpu->uuid, "nvlink_crc", now->crc, &more, NULL))
		ill |= judge_errors_per_s(context, gpu, &crc_rate, more,
					  (context->uptime_s - since->state.uptime_s) * 1000);
	return ill;
}

static bool judge_rate(struct osp_check_context *context, const struct osp_gpu *gpu, double rate)
{
	char value[OSP_WORD_BYTES];

	if (rate <= RATE_MOST)
		return false;
	snprintf(value, sizeof(value), "error rate %.0e", rate);
	osp_result_add(context, OSP_VERDICT_WARN, OSP_CURE_ASK, gpu->subject, value, "> 1e-06",
		       "Azure cyclecloud-healthagent, effective bit error rate",
		       "%s: bits that arrive wrong on one of its NVLinks after correction",
		       gpu->uuid);
	return true;
}

static uint64_t grown(const struct osp_link_errors *before, const struct osp_link_errors *after)
{
	return after->crc > before->crc ? after->crc - before->crc : 0;
}

static bool is_over_limit(const struct osp_check_context *context, const struct osp_gpu *gpu,
			  uint64_t more, uint64_t watched_ms)
{
	const struct osp_limit *limit =
		osp_check_limit(context, OSP_LIMIT_NVLINK_CRC_PER_S, gpu->name);

	return limit && rate_per_s(more, watched_ms) > (unsigned long long)limit->value;
}

/* Looks a third time. Returns whether the CRC errors go on as between the first two. */
static bool goes_on(const struct osp_check_context *context, const struct osp_gpu *gpu,
		    const struct osp_link_errors *after)
{
	struct osp_link_errors third;
	uint64_t begun_ms = osp_now_ms();

	nanosleep(&watch, NULL);
	return osp_link_errors_read(gpu, &third) &&
	       is_over_limit(context, gpu, grown(after, &third), osp_now_ms() - begun_ms);
}

/* Judges one GPU's links between two looks; a FAIL needs a third one that agrees. A burst says
 * nothing of what came since the last pass. Returns true if a fault was reported. */
static bool judge_errors(struct osp_check_context *context, const struct osp_gpu *gpu,
			 const struct osp_link_errors *before, uint64_t begun_ms)
{
	struct osp_link_errors after;
	uint64_t watched_ms, more;
	bool ill = false, again;

	if (!osp_link_errors_read(gpu, &after))
		after = *before;
	watched_ms = osp_now_ms() - begun_ms;
	more = grown(before, &after);
	if (is_over_limit(context, gpu, more, watched_ms)) {
		again = goes_on(context, gpu, &after);
		ill = judge_errors_per_s(context, gpu, again ? &crc_rate : &crc_burst, more,
					 watched_ms);
		if (again)
			return true;
	}
	ill |= after.packets > before->packets &&
	       judge_errors_per_s(context, gpu, &packet_rate, after.packets - before->packets,
				  watched_ms);
	ill |= judge_rate(context, gpu, after.rate);
	return judge_since(context, gpu, before) || ill;
}

struct link_looks {
	struct osp_gpus gpus;
	struct osp_link_errors before[OSP_GPUS_MAX];
	unsigned int up, answered;
};

static void look_at_links(struct link_looks *looks)
{
	for (size_t i = 0; i < looks->gpus.count; i++) {
		if (looks->gpus.gpus[i].state == OSP_NVML_OK)
			osp_link_errors_read(&looks->gpus.gpus[i], &looks->before[i]);
		looks->up += looks->before[i].up;
		looks->answered += looks->before[i].answered;
	}
}

static void run_nvlink_errors(struct osp_check_context *context)
{
	static struct link_looks looks; /* large, and the process has one */
	uint64_t begun_ms;
	bool ill = false;

	memset(&looks, 0, sizeof(looks));
	if (!osp_gpus_open(context, &looks.gpus))
		return;
	look_at_links(&looks);
	if (!looks.answered) {
		osp_result_skip(context, "%s",
				looks.up ? "the counters of the NVLinks here cannot be read"
					 : "no NVLink is up here");
		return;
	}
	begun_ms = osp_now_ms();
	nanosleep(&watch, NULL);
	for (size_t i = 0; i < looks.gpus.count; i++)
		if (looks.before[i].answered)
			ill |= judge_errors(context, &looks.gpus.gpus[i], &looks.before[i],
					    begun_ms);
	if (looks.answered < looks.up)
		osp_result_error(context, "", "%u of %u NVLinks that are up report their errors",
				 looks.answered, looks.up);
	else if (!ill)
		osp_result_pass(context, "none growing on %u link%s", looks.answered,
				osp_plural_s(looks.answered));
}

const struct osp_check osp_check_nvlink_errors = {
	.name = "nvlink-errors",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "NVLink's error counters do not grow",
	.explains =
		"Reads the error counters of all links twice, a fifth of a second apart, and "
		"compares with the node's last pass in this boot, so that errors under load "
		"show too. What was counted before that does not matter. Up to Hopper CRC errors "
		"fail if a second look right after finds them too, else they warn; NVLink 5 has "
		"counters of its own by link, of which packets with errors, "
		"failed recoveries and the effective bit error rate warn. It says how many links "
		"have answered; some that are up and do not are an error of the check.",
	.cures = "Reset the GPU; when it comes back, replace the node.",
	.run = run_nvlink_errors,
};
