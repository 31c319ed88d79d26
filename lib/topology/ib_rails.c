/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ib_rails.c - names hosts whose rails are swapped by their cables
 *
 * In a fabric with rails a leaf has the same adapter of each host, as mlx5_0. If two cables of a
 * host are swapped, it stays in its unit and keeps its place, but its traffic crosses the spines
 * where other hosts' traffic stays on a leaf. A host is named if its adapter on a leaf is not the
 * usual one there, and it has the usual one on another leaf where that is not usual. If a leaf has
 * several adapters of each host, no adapter is usual there.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/topology/ib_fabric.h"

/* Hosts on a leaf with one adapter: fewer say nothing about what is usual. Chosen. */
#define USUAL_LEAST 3

/* A host's adapter on a leaf. */
struct seat {
	uint32_t leaf;
	uint32_t host;
	const char *adapter;
};

struct rails {
	struct osp_ib_fabric *fabric;
	struct seat *seats; /* by_leaf(); after find_usual() by_host() */
	size_t count;
	const char *
		*usual; /* by device: the adapter of most hosts on a leaf; NULL: there is none */
};

static int by_leaf(const void *a, const void *b)
{
	const struct seat *first = a, *second = b;

	if (first->leaf != second->leaf)
		return first->leaf < second->leaf ? -1 : 1;
	return strcmp(first->adapter, second->adapter);
}

static int by_host(const void *a, const void *b)
{
	const struct seat *first = a, *second = b;

	if (first->host != second->host)
		return first->host < second->host ? -1 : 1;
	return strcmp(first->adapter, second->adapter);
}

static void add_seat(struct rails *rails, uint32_t leaf, uint32_t device)
{
	const struct osp_ib_device *adapter = &rails->fabric->devices[device];

	if (adapter->host != OSP_IB_NO_HOST && adapter->adapter)
		rails->seats[rails->count++] = (struct seat){leaf, adapter->host, adapter->adapter};
}

/* Lists the adapters on leaves, by the links. `level` is 1 for a leaf. */
static void list_seats(struct rails *rails, const uint32_t *level)
{
	for (uint32_t i = 0; i < rails->fabric->link_count; i++) {
		const struct osp_ib_link *link = &rails->fabric->links[i];

		if (level[link->from] == 1)
			add_seat(rails, link->from, link->to);
		if (level[link->to] == 1)
			add_seat(rails, link->to, link->from);
	}
}

/* Finds the usual adapter of the leaf whose seats begin at `first`. Returns where they end. */
static size_t find_usual(struct rails *rails, size_t first)
{
	const struct seat *seats = rails->seats;
	size_t end = first, begin = first, most = 0;
	const char *usual = NULL;

	for (; end < rails->count && seats[end].leaf == seats[first].leaf; end++) {
		if (strcmp(seats[end].adapter, seats[begin].adapter) != 0)
			begin = end;
		if (end + 1 - begin > most) {
			most = end + 1 - begin;
			usual = seats[end].adapter;
		}
	}
	if (most >= USUAL_LEAST && 2 * most > end - first)
		rails->usual[seats[first].leaf] = usual;
	return end;
}

/* Returns whether the host has that adapter on a leaf where another one is usual. */
static bool has_it_elsewhere(const struct rails *rails, uint32_t host, const char *adapter)
{
	const struct seat wanted = {0, host, adapter};
	const struct seat *found =
		bsearch(&wanted, rails->seats, rails->count, sizeof(*rails->seats), by_host);

	return found && rails->usual[found->leaf] &&
	       strcmp(rails->usual[found->leaf], adapter) != 0;
}

static bool is_swapped(const struct rails *rails, const struct seat *seat)
{
	const char *usual = rails->usual[seat->leaf];

	return usual && strcmp(usual, seat->adapter) != 0 &&
	       has_it_elsewhere(rails, seat->host, usual);
}

/* Lists the names of the hosts. Returns their number; `first` is a seat of the first one. */
static size_t list_swapped(const struct rails *rails, const char **names, const struct seat **first)
{
	size_t count = 0;
	uint32_t last = OSP_IB_NO_HOST;

	for (size_t i = 0; i < rails->count; i++) {
		const struct seat *seat = &rails->seats[i];

		if (seat->host == last || !is_swapped(rails, seat))
			continue;
		if (!count)
			*first = seat;
		last = seat->host;
		names[count++] = rails->fabric->hosts[last].name;
	}
	return count;
}

static int report(struct osp_import *import, const struct rails *rails, struct osp_error *error)
{
	const char **names = calloc(rails->count + 1, sizeof(*names));
	const struct seat *first = NULL;
	size_t count = names ? list_swapped(rails, names, &first) : 0;
	char *list = names && count ? osp_hostlist_compact(names, count) : NULL;
	int rc = !names || (count && !list) ? osp_import_no_memory(error) : 0;

	if (list)
		rc = osp_import_warn(
			import, error,
			"rails are swapped by the cables of %.200s: %s's %.64s is on switch %s, "
			"where most hosts have %.64s; the place is the same",
			list, rails->fabric->hosts[first->host].name, first->adapter,
			rails->fabric->devices[first->leaf].name, rails->usual[first->leaf]);
	free(list);
	free(names);
	return rc;
}

int osp_ib_report_rails(struct osp_import *import, const uint32_t *level, struct osp_error *error)
{
	struct osp_ib_fabric *fabric = import->ib;
	struct rails rails = {.fabric = fabric};
	size_t links = 2 * (size_t)fabric->link_count + 1;
	int rc;

	rails.seats = calloc(links, sizeof(*rails.seats));
	rails.usual = calloc((size_t)fabric->device_count + 1, sizeof(*rails.usual));
	rc = rails.seats && rails.usual ? 0 : osp_import_no_memory(error);
	if (!rc) {
		list_seats(&rails, level);
		qsort(rails.seats, rails.count, sizeof(*rails.seats), by_leaf);
		for (size_t i = 0; i < rails.count;)
			i = find_usual(&rails, i);
		qsort(rails.seats, rails.count, sizeof(*rails.seats), by_host);
		rc = report(import, &rails, error);
	}
	free(rails.seats);
	free(rails.usual);
	return rc;
}
