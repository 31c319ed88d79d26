/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_layout.h - the parallel layout and the model that a job script gives to its framework
 *
 * Reads the flags of Megatron-LM (--tensor-model-parallel-size 8, '-' and '_' alike), the overrides
 * of Megatron-Bridge and NeMo (model.tensor_model_parallel_size=8) and the flags of TorchTitan
 * (--parallelism.tensor_parallel_degree=8): on command lines, in arrays of options, and in
 * variables that hold options. A value that the shell substitutes is known if the script sets that
 * variable to one value ("${TP:-8}" too). Configuration in the framework's own files is not seen.
 *
 * Sources: Megatron-LM d98e8a64dd training/arguments.py and config/common_config.py;
 * Megatron-Bridge 067f987df docs/megatron-lm-to-megatron-bridge.md (336-346, 530); TorchTitan
 * b5bcd76c6 torchtitan/config/configs.py.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_SCRIPT_LAYOUT_H
#define OSP_SCRIPT_LAYOUT_H

#include "lib/env/env_lint.h"
#include "lib/layout/layout.h"
#include "lib/layout/layout_traffic.h"

enum osp_framework {
	OSP_FRAMEWORK_NONE, /* no flag of any framework was found */
	OSP_FRAMEWORK_MEGATRON,
	OSP_FRAMEWORK_BRIDGE,
	OSP_FRAMEWORK_TORCHTITAN,
};

/* What the user states about NVLink domains; value 0: nothing. */
struct osp_stated {
	const char *name; /* static */
	uint32_t value;
	int line;
};

struct osp_script_layout {
	enum osp_framework framework;
	struct osp_layout layout; /* the sizes given, in the framework's order */
	struct osp_model model;	  /* the values given; micro_batches if the layout is complete */
	double global_batch;	  /* sequences per step; 0: not given */
	uint32_t nodes;		  /* that the script asks for; 0: not given */
	uint32_t gpus_per_node;	  /* 0: not given */
	int line;		  /* of the first flag */
	struct osp_stated domain_size;	/* NVLINK_DOMAIN_SIZE */
	struct osp_stated domain_ranks; /* NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN */
};

/*
 * Reads a script. Returns 0, even if it has no flag, or -1 with `error` set: a flag's value is no
 * number, or the shell substitutes it and the script does not set it.
 */
int osp_script_layout_read(const char *file, const char *text, size_t text_bytes,
			   struct osp_script_layout *found, struct osp_error *error);

/* Does the same for a script whose layout is said elsewhere, so that no size that cannot be read
 * is refused. */
int osp_script_layout_read_beside(const char *file, const char *text, size_t text_bytes,
				  struct osp_script_layout *found, struct osp_error *error);

/* Computes the micro-batches of a step, for a complete layout: global batch / (dp x
 * micro-batch). */
void osp_script_layout_batches(struct osp_script_layout *found);

#endif
