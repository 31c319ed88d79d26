/* SPDX-License-Identifier: GPL-2.0-or-later */
/* components_list.c - which components of a heterogeneous job count together, and in what order */
#include "onespine_config.h"
#include "lib/choose/components_list.h"

/* Returns whether it counts together with the own one, which is asked about in this partition: as
 * long as it is not planned in another. */
static bool counts(const struct osp_component *component, const void *partition)
{
	bool elsewhere = !component->own && component->may_choose && component->planned_in &&
			 component->planned_in != partition;

	return component->active && component->beside && !elsewhere;
}

/* Returns whether it may still be planned in another partition. */
static bool is_open(const struct osp_component *component)
{
	return !component->own && component->may_choose && !component->planned_in;
}

void osp_components_list(const struct osp_component *all, uint32_t all_count, const void *partition,
			 bool leaves_out, struct osp_component_list *list)
{
	list->count = list->left_out_count = 0;
	list->open = false;
	for (uint32_t i = 0; i < all_count; i++) {
		bool open = is_open(&all[i]);

		if (list->count + list->left_out_count == OSP_COMPONENTS_MAX ||
		    !counts(&all[i], partition))
			continue;
		if (open && leaves_out) {
			list->left_out[list->left_out_count++] = i;
			continue;
		}
		list->open = list->open || open;
		list->order[list->count++] = i;
	}
	for (list->own = 0; list->own < list->count && !all[list->order[list->own]].own;)
		list->own++;
}

void osp_components_sort(struct osp_component_list *list, const uint32_t *choice_nodes)
{
	uint32_t own = list->own < list->count ? list->order[list->own] : 0;

	for (uint32_t i = 1; i < list->count; i++) {
		uint32_t moved = list->order[i], at = i;

		for (; at && choice_nodes[list->order[at - 1]] > choice_nodes[moved]; at--)
			list->order[at] = list->order[at - 1];
		list->order[at] = moved;
	}
	for (uint32_t i = 0; list->own < list->count && i < list->count; i++) {
		if (list->order[i] == own)
			list->own = i;
	}
}

uint32_t osp_components_domains(const struct osp_topology *topology, uint32_t level,
				const struct osp_place_domain *domains, uint32_t domain_count,
				const struct osp_nodeset *taken, uint32_t *found)
{
	uint32_t first = osp_nodeset_next(taken, 0), count = 0;
	bool placed = first < taken->place_count;

	for (uint32_t i = 0; i < domain_count; i++) {
		if (!placed || osp_topology_domain_of(topology, first, level) == domains[i].domain)
			found[count++] = domains[i].domain;
	}
	return count;
}

bool osp_components_to_be_said(const struct osp_components_choice *choice, bool starts)
{
	return choice->splits && !(choice->found && starts);
}
