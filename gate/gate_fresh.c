/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_fresh.c - does this node's last pass still count? */
#include "onespine_config.h"
#include "gate/gate_fresh.h"

#include <string.h>
#include <unistd.h>

#include "check/base/child.h"
#include "check/base/gpus.h"
#include "check/base/pass_store.h"
#include "gate/gate_node.h"
#include "host/record/record.h"
#include "host/record/thresholds_file.h"

/* Where the driver hangs a check must still have its time. */
#define LOOK_MOST_MS 3000
#define LOOK_SHARE   4 /* a quarter of the budget */

static uint32_t look_ms(uint32_t budget_ms)
{
	return budget_ms / LOOK_SHARE < LOOK_MOST_MS ? budget_ms / LOOK_SHARE : LOOK_MOST_MS;
}

/* Gives the child the environment of a check. */
static int begin_look(struct osp_gate_fresh *fresh, const struct osp_gate_job *job)
{
	char **own = environ;
	struct osp_check_context context;
	int state;

	osp_check_context_set(&context, job->root, NULL);
	context.gpus = job->gang.gpus;
	environ = osp_gate_environment(job);
	state = osp_node_state_begin(&fresh->look, &context, NULL);
	environ = own;
	return state;
}

bool osp_gate_fresh_ask(struct osp_gate_fresh *fresh, const struct osp_gate_job *job,
			uint32_t budget_ms)
{
	memset(fresh, 0, sizeof(*fresh));
	if (!job->policy->fresh_s || (job->gang.gpus && !osp_gpus_valid(job->gang.gpus, NULL)))
		return false;
	fresh->lock = osp_gate_lock_look(job);
	if (fresh->lock < 0)
		return false;
	fresh->until_ms = osp_now_ms() + look_ms(budget_ms);
	if (begin_look(fresh, job) == 0)
		return true;
	close(fresh->lock);
	fresh->look.child = 0;
	return false;
}

bool osp_gate_fresh_asked(const struct osp_gate_fresh *fresh)
{
	return fresh->look.child > 0;
}

bool osp_gate_fresh_holds(struct osp_gate_fresh *fresh, const struct osp_gate_job *job)
{
	enum osp_depth depth = (enum osp_depth)(job->depth - OSP_GATE_PASSIVE);
	struct osp_node_state state;
	char rules[OSP_UUID_BYTES];
	bool holds = false;
	uint64_t hash;

	if (osp_thresholds_hash_in_force(job->root, &hash, NULL)) {
		osp_gate_fresh_drop(fresh);
		return false;
	}
	osp_record_rules(job->root, hash, rules, sizeof(rules));
	if (osp_node_state_collect(&fresh->look, fresh->until_ms, rules, &state, NULL) == 0) {
		holds = osp_pass_holds(job->root, &state, depth, job->policy->fresh_s, NULL, 0) ==
			OSP_FRESH;
		osp_node_state_clear(&state);
	}
	close(fresh->lock);
	return holds;
}

void osp_gate_fresh_drop(struct osp_gate_fresh *fresh)
{
	close(fresh->look.answer);
	osp_child_drop(fresh->look.child);
	fresh->look.child = 0;
	close(fresh->lock);
}
