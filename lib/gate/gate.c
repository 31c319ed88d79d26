/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate.c - names and values of the gate's types: a verdict's kind and sentences */
#include "lib/gate/gate.h"

#include <stdlib.h>

static const char *const kind_names[OSP_GATE_KIND_COUNT] = {
	[OSP_GATE_GO] = "go",	  [OSP_GATE_SHRINK] = "shrink", [OSP_GATE_REQUEUE] = "requeue",
	[OSP_GATE_HOLD] = "hold", [OSP_GATE_END] = "end",
};

const char *osp_gate_kind_name(enum osp_gate_kind kind)
{
	return (unsigned int)kind < OSP_GATE_KIND_COUNT ? kind_names[kind] : "?";
}

const struct osp_gate_sentence *osp_gate_sentence(const struct osp_gate_verdict *verdict,
						  uint32_t rank)
{
	for (uint32_t i = 0; i < verdict->sentence_count; i++)
		if (verdict->sentences[i].rank == rank)
			return &verdict->sentences[i];
	return NULL;
}

void osp_gate_verdict_free(struct osp_gate_verdict *verdict)
{
	free(verdict->sentences);
	verdict->sentences = NULL;
	verdict->sentence_count = 0;
}
