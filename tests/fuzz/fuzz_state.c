/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_state.c - the state of a cluster, as `onespine map --json` writes it
 *
 * Parser: host/slurm/snapshot_json.c host/slurm/snapshot.c
 */
#include "host/slurm/snapshot.h"
#include "tests/fuzz/fuzz.h"

static void check_clean(const char *words)
{
	for (; words && *words; words++)
		fuzz_check((unsigned char)*words >= ' ' && *words != 0x7f);
}

static void check_nodes(const struct osp_snapshot *snapshot)
{
	for (uint32_t n = 0; n < snapshot->node_count; n++) {
		const struct osp_state_node *node = &snapshot->nodes[n];
		uint32_t found = osp_snapshot_find_node(snapshot, node->name);

		fuzz_check(found < snapshot->node_count);
		fuzz_check(!strcmp(snapshot->nodes[found].name, node->name));
		fuzz_check(osp_node_state_name(node->state));
		check_clean(node->name);
		check_clean(node->reason);
	}
}

static void check_jobs(const struct osp_snapshot *snapshot)
{
	for (size_t j = 0; j < snapshot->job_count; j++) {
		check_clean(snapshot->jobs[j].name);
		check_clean(snapshot->jobs[j].user);
		check_clean(snapshot->jobs[j].label);
		fuzz_check(osp_job_phase_name(snapshot->jobs[j].phase));
	}
}

/* What was read is written, and read again. */
static void check_again(const struct osp_snapshot *snapshot, const struct osp_topology *topology)
{
	json_t *json = osp_snapshot_to_json(snapshot, topology);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	struct osp_error error = {.text = ""};
	struct osp_topology *same = NULL;
	struct osp_snapshot *again =
		text ? osp_snapshot_from_json("f", text, strlen(text), &same, &error) : NULL;

	fuzz_check(again && again->node_count == snapshot->node_count);
	fuzz_check(again->job_count == snapshot->job_count && !same == !topology);
	osp_snapshot_free(again);
	osp_topology_free(same);
	free(text);
	json_decref(json);
}

FUZZER(state)
{
	struct osp_error error = {.text = ""};
	struct osp_topology *topology = NULL;
	struct osp_snapshot *snapshot =
		osp_snapshot_from_json("f", (const char *)data, size, &topology, &error);

	if (!snapshot) {
		fuzz_check(error.text[0] && memchr(error.text, '\0', sizeof(error.text)));
		fuzz_check(!topology);
		return 0;
	}
	check_nodes(snapshot);
	check_jobs(snapshot);
	check_again(snapshot, topology);
	osp_snapshot_free(snapshot);
	osp_topology_free(topology);
	return 0;
}
