/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_places.c - places that may be old, and so do not count
 *
 * For each of Slurm's nodes we keep the boot for which a cloud said its place
 * (lib/topology/place_age.h). Once a second, along with the nodes' states, we look which nodes have
 * booted since; the nodes of a gang are looked at once more when it starts. This reads no file and
 * takes no memory.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/policy/request.h"
#include "lib/topology/place_age.h"
#include "lib/topology/placed_instance.h"

int64_t *shadow_places_boots(const struct osp_topology *topology)
{
	uint32_t count = osp_topology_node_count(topology);
	int64_t *boot_s = calloc((size_t)count + 1, sizeof(*boot_s));

	for (uint32_t n = 0; boot_s && n < count; n++)
		boot_s[n] = osp_place_boot_s(osp_topology_note(topology, n));
	return boot_s;
}

bool shadow_places_same(const int64_t *boot_s)
{
	return !memcmp(boot_s, shadow_state.place_boot_s,
		       shadow_state.node_count * sizeof(*boot_s));
}

bool shadow_is_asleep(uint32_t n)
{
	const node_record_t *node = node_record_table_ptr[n];

	return node && osp_is_asleep(node->node_state);
}

bool shadow_place_is_old(uint32_t n)
{
	const node_record_t *node = node_record_table_ptr[n];

	return node && osp_place_age(shadow_state.place_boot_s[n], (int64_t)node->boot_time,
				     !shadow_is_asleep(n)) != OSP_PLACE_HOLDS;
}

bool shadow_place_is_reserved(uint32_t n)
{
	return shadow_state.place_boot_s[n] == OSP_BOOT_UNLAUNCHED && shadow_is_asleep(n);
}

bool shadow_place_holds(uint32_t n)
{
	return !shadow_place_is_old(n) && !shadow_place_is_reserved(n);
}

void shadow_places_look_at_old(void)
{
	struct osp_nodeset *old = shadow_state.old_places;

	for (uint32_t n = osp_nodeset_next(old, 0); n < old->place_count;
	     n = osp_nodeset_next(old, n + 1)) {
		if (shadow_place_holds(n))
			osp_nodeset_remove(old, n);
	}
}

bool shadow_places_hold(const struct osp_nodeset *nodes)
{
	for (uint32_t n = osp_nodeset_next(nodes, 0); n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (!shadow_place_holds(n))
			return false;
	}
	return true;
}

/* Finds the instance as which a node was placed; "" if no cloud has placed it, or its place is old.
 * Reads the file's own notes: those of the fabric that is laid out may be of an earlier file that
 * says the same of places and boots. */
static const char *placed_instance(uint32_t n)
{
	const struct osp_node_note *note =
		osp_topology_note_of(shadow_state.read, node_record_table_ptr[n]->name);

	return note && osp_source_is_cloud(note->source) && !shadow_place_is_old(n)
		       ? note->instance_id
		       : "";
}

void shadow_note_instances(job_record_t *job, bool enforced)
{
	struct osp_text sums = OSP_TEXT_INIT;
	bool noted = enforced && shadow_state.read &&
		     bit_set_count(job->node_bitmap) <= OSP_PLACED_NODES_MAX;
	bool any = false;
	char *text;

	for (uint32_t n = 0; noted && n < shadow_state.node_count; n++) {
		const char *instance;

		if (!node_record_table_ptr[n] || !bit_test(job->node_bitmap, n))
			continue;
		instance = placed_instance(n);
		any = any || *instance;
		osp_placed_add(&sums, node_record_table_ptr[n]->name, instance);
	}
	text = osp_text_take(&sums);
	if ((any && text) || shadow_spank_value(job, OSP_PLACED_INSTANCES))
		shadow_put_entry(job, OSP_PLACED_INSTANCES, any && text ? text : "");
	free(text);
}
