/* SPDX-License-Identifier: GPL-2.0-or-later */
/* passive_pcie.c - each GPU's PCIe link: its generation and width */
#include "check/passive/passive.h"

#include <stdio.h>
#include <string.h>

#include "check/base/gpus.h"
#include "check/base/node_type.h"

struct pcie {
	int state;
	unsigned int generation;
	unsigned int width;
};

struct pcies {
	struct osp_gpus gpus;
	struct pcie links[OSP_GPUS_MAX];
	struct pcie best;
	struct osp_node_type type;
};

static void read_pcies(struct pcies *pcies)
{
	struct pcie *best = &pcies->best;

	for (size_t i = 0; i < pcies->gpus.count; i++) {
		const struct osp_gpu *gpu = &pcies->gpus.gpus[i];
		struct pcie *link = &pcies->links[i];

		link->state = gpu->state;
		/* An idle link may run at a lower generation to save power, so its maximum
		 * counts. */
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

/* Returns the best link of the GPUs of this model: other models in the node may be made for
 * less. */
static struct pcie best_of_model(const struct pcies *pcies, const struct osp_gpu *gpu)
{
	struct pcie best = {.state = OSP_NVML_OK};

	for (size_t i = 0; i < pcies->gpus.count; i++) {
		const struct pcie *link = &pcies->links[i];

		if (link->state != OSP_NVML_OK || strcmp(pcies->gpus.gpus[i].name, gpu->name) != 0)
			continue;
		if (link->generation > best.generation)
			best.generation = link->generation;
		if (link->width > best.width)
			best.width = link->width;
	}
	return best;
}

/* Reports a part of the link that is less than `need`. */
static bool judge_part(struct osp_check_context *context, const struct osp_gpu *gpu,
		       unsigned int found, const struct osp_limit *need, bool fails,
		       const char *what)
{
	char value[OSP_WORD_BYTES], limit[OSP_WORD_BYTES];

	if (!found || (int64_t)found >= need->value)
		return false;
	snprintf(value, sizeof(value), "%s %u", what, found);
	snprintf(limit, sizeof(limit), "< %lld", (long long)need->value);
	osp_result_add(context, fails ? OSP_VERDICT_FAIL : OSP_VERDICT_WARN, OSP_CURE_REBOOT,
		       gpu->subject, value, limit, need->source,
		       "%s: PCIe link of %s %u, %lld expected", gpu->uuid, what, found,
		       (long long)need->value);
	return true;
}

static struct osp_limit of_peers(unsigned int best)
{
	return (struct osp_limit){.value = best, .source = "the other GPUs of this node"};
}

/*
 * Judges the link's generation. A host's slot may be slower than the GPU, so only a value known of
 * the node fails. What no GPU of the node reaches may be the host's doing, or a hypervisor's
 * statement, and warns: a broken link is one among many.
 */
static bool judge_generation(struct osp_check_context *context, const struct osp_gpu *gpu,
			     const struct pcies *pcies, unsigned int found)
{
	const struct osp_limit *of_node =
		osp_thresholds_limit(context->thresholds, OSP_LIMIT_PCIE_GENERATION, NULL,
				     *context->node ? context->node : NULL);
	const struct osp_limit *of_model =
		osp_check_limit(context, OSP_LIMIT_PCIE_GENERATION, gpu->name);
	struct osp_limit need = of_peers(best_of_model(pcies, gpu).generation);

	if (of_node)
		return judge_part(context, gpu, found, of_node,
				  (int64_t)pcies->best.generation >= of_node->value, "generation");
	if (pcies->type.pcie_generation) {
		need.value = pcies->type.pcie_generation;
		need.source = "the catalogue of node types (instances/), pcie_gts";
		return judge_part(context, gpu, found, &need,
				  (int64_t)pcies->best.generation >= need.value, "generation");
	}
	return judge_part(context, gpu, found, of_model ? of_model : &need, false, "generation");
}

static bool judge_pcie(struct osp_check_context *context, const struct osp_gpu *gpu,
		       size_t *lacking, void *data)
{
	const struct osp_limit *width = osp_check_limit(context, OSP_LIMIT_PCIE_WIDTH, gpu->name);
	const struct pcies *pcies = data;
	const struct pcie *link = &pcies->links[gpu - pcies->gpus.gpus];
	const struct osp_limit best = of_peers(best_of_model(pcies, gpu).width);
	bool ill;

	if (!osp_gpu_value(context, gpu, link->state, "PCIe generation", lacking))
		return false;
	ill = judge_generation(context, gpu, pcies, link->generation);
	ill |= judge_part(context, gpu, link->width, width ? width : &best,
			  width && (int64_t)pcies->best.width >= width->value, "width");
	return ill;
}

static void run_pcie(struct osp_check_context *context)
{
	struct pcies pcies = {.best = {.state = OSP_NVML_OK}};

	if (!osp_gpus_open(context, &pcies.gpus))
		return;
	read_pcies(&pcies);
	osp_node_type_read(context, &pcies.type);
	if (osp_gpus_judge(context, &pcies.gpus, judge_pcie, &pcies,
			   "no GPU here reports its PCIe link"))
		osp_result_pass(context, "generation %u, width %u", pcies.best.generation,
				pcies.best.width);
}

const struct osp_check osp_check_pcie = {
	.name = "pcie",
	.group = OSP_GROUP_GPU,
	.worst = OSP_VERDICT_FAIL,
	.deadline_ms = 3000,
	.measures = "each GPU's PCIe link has its generation and width",
	.explains =
		"Generation is what GPU and slot can do together (an idle link runs slower to "
		"save power); width is the current one. The generation that the node's type has "
		"(thresholds of the node, or pcie_gts of the catalogue) fails; that of the model, "
		"whose host may be slower, or of the best GPU of the node only warns. The width "
		"of the model fails. What no GPU of the node reaches warns: the host may be so.",
	.cures = "Reboot; when the link stays narrow, reseat or replace.",
	.run = run_pcie,
};
