/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * components_list.h - which components of a heterogeneous job count together, and in what order
 *
 * Seen from the own one, about which the scheduler asks. Any thread, no allocation.
 */
#ifndef OSP_CHOOSE_COMPONENTS_LIST_H
#define OSP_CHOOSE_COMPONENTS_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/nodeset.h"
#include "lib/choose/components.h"
#include "lib/place/place.h"
#include "lib/topology/topology.h"

/* What the scheduler's records say of a component. */
struct osp_component {
	bool own;
	bool active;	 /* it waits or runs */
	bool beside;	 /* it is in the partition of the own one, or waits and may run there */
	bool may_choose; /* it waits for one of several partitions, of which that is one */
	const void *planned_in; /* the partition in which it is planned; NULL: none */
};

struct osp_component_list {
	uint32_t count, left_out_count;
	uint32_t own;			       /* in `order`; `count` if it is not there */
	bool open;			       /* some of those that count may be left out */
	uint32_t order[OSP_COMPONENTS_MAX];    /* those that count, by their number in `all` */
	uint32_t left_out[OSP_COMPONENTS_MAX]; /* those left to their other partitions */
};

/*
 * Lists those that count, in the order of `all`; `leaves_out`: without those that may be planned in
 * another partition. Of more than OSP_COMPONENTS_MAX the first.
 */
void osp_components_list(const struct osp_component *all, uint32_t all_count, const void *partition,
			 bool leaves_out, struct osp_component_list *list);

/* Puts those that count in the order in which they are asked about: the one with the fewest nodes
 * to choose from first, because another may do without these. `choice_nodes` goes by the number in
 * `all`; equal ones keep their order. */
void osp_components_sort(struct osp_component_list *list, const uint32_t *choice_nodes);

/*
 * Lists the domains in which to look: those of `domains`, in their order, or only that of the
 * components that are placed (`taken`), since the others have to be there too. `found` has room for
 * all; returns how many it has.
 */
uint32_t osp_components_domains(const struct osp_topology *topology, uint32_t level,
				const struct osp_place_domain *domains, uint32_t domain_count,
				const struct osp_nodeset *taken, uint32_t *found);

/*
 * Returns whether to say that they wait because the scheduler would place them in several domains:
 * not for a choice that starts them. `starts`: the choice is a start at the first moment.
 */
bool osp_components_to_be_said(const struct osp_components_choice *choice, bool starts);

#endif
