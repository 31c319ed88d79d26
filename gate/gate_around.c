/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_around.c - what went on around a round of the network test: on this node, and on all */
#include "onespine_config.h"
#include "gate/gate_around.h"

#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/base/root.h"

uint64_t gate_around_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- this node -------------------------------------------------------------------------------- */

static void start_reading(struct gate_reading *reading, const char *root,
			  const struct sockaddr_storage *address)
{
	char name[IF_NAMESIZE] = "";

	if (address)
		gate_adapters_interface(address, name, sizeof(name));
	gate_reading_start(reading, root, name);
}

void gate_around_begin(struct gate_around *around, const char *root,
		       const struct sockaddr_storage *address)
{
	gate_around_end(around);
	memset(around, 0, sizeof(*around));
	around->own.waited_known = true;
	start_reading(&around->before, root, address);
}

/* Reads how long the child could have run and had no processor: the second number of
 * /proc/PID/schedstat, of its first thread. A fake node has a fake processor. */
static bool read_waited(const char *root, pid_t child, uint64_t *waited_ns)
{
	char text[96];

	if (!(*root ? osp_root_read(root, text, sizeof(text), "proc/self/schedstat")
		    : osp_root_read(root, text, sizeof(text), "proc/%ld/schedstat", (long)child)))
		return false;
	return sscanf(text, "%*u %" SCNu64, waited_ns) == 1;
}

void gate_around_add(struct gate_around *around, const char *root, pid_t child, uint64_t begun_ns,
		     uint64_t in_bytes, uint64_t out_bytes)
{
	struct osp_gate_own_traffic *own = &around->own;
	uint64_t ran_ns = gate_around_now_ns() - begun_ns, waited_ns = 0;

	own->in_bytes += in_bytes;
	own->out_bytes += out_bytes;
	if (!read_waited(root, child, &waited_ns))
		own->waited_known = false;
	if (ran_ns > own->ran_ns)
		own->ran_ns = ran_ns;
	if (waited_ns > own->waited_ns)
		own->waited_ns = waited_ns;
}

void gate_around_ended(struct gate_around *around, const char *root,
		       const struct sockaddr_storage *address)
{
	if (around->after_begun)
		return;
	around->after_begun = true;
	around->own.ended = true;
	start_reading(&around->after, root, address);
}

bool gate_around_take(struct gate_around *around, bool late, struct osp_gate_traffic *traffic)
{
	bool before = gate_reading_take(&around->before);
	bool after = around->after_begun && gate_reading_take(&around->after);

	if (!(before && after) && !late)
		return false;
	gate_around_end(around);
	*traffic = osp_gate_traffic_judge(&around->before.adapters, &around->after.adapters,
					  &around->own);
	return true;
}

void gate_around_end(struct gate_around *around)
{
	gate_reading_end(&around->before);
	gate_reading_end(&around->after);
}

/* --- all nodes -------------------------------------------------------------------------------- */

static bool make_room(struct gate_arounds *arounds, uint32_t node_count)
{
	if (!arounds->now) {
		arounds->now = calloc(node_count, sizeof(*arounds->now));
		arounds->seen = calloc(node_count, sizeof(*arounds->seen));
		arounds->awaited = calloc(node_count, sizeof(*arounds->awaited));
	}
	return arounds->now && arounds->seen && arounds->awaited;
}

static void await(struct gate_arounds *arounds, uint32_t rank)
{
	if (arounds->awaited[rank])
		return;
	arounds->awaited[rank] = true;
	arounds->now[rank].quiet = OSP_GATE_NOT_REPORTED;
	arounds->missing++;
}

bool gate_arounds_begin(struct gate_arounds *arounds, const struct osp_gate_link *links,
			uint32_t count, uint32_t node_count)
{
	if (!make_room(arounds, node_count))
		return false;
	arounds->missing = 0;
	for (uint32_t rank = 0; rank < node_count; rank++) {
		arounds->now[rank] = (struct osp_gate_traffic){.rank = rank};
		arounds->awaited[rank] = false;
	}
	for (uint32_t i = 0; i < count; i++) {
		await(arounds, links[i].from);
		await(arounds, links[i].to);
	}
	return true;
}

void gate_arounds_put(struct gate_arounds *arounds, const struct osp_gate_traffic *traffic)
{
	if (!arounds->awaited || !arounds->awaited[traffic->rank])
		return;
	arounds->awaited[traffic->rank] = false;
	arounds->missing--;
	arounds->now[traffic->rank] = *traffic;
}

void gate_arounds_mark(struct gate_arounds *arounds, struct osp_gate_link *links, uint32_t count,
		       uint32_t node_count)
{
	for (uint32_t i = 0; i < count; i++)
		links[i].crowded = arounds->now[links[i].from].quiet != OSP_GATE_QUIET ||
				   arounds->now[links[i].to].quiet != OSP_GATE_QUIET;
	for (uint32_t rank = 0; rank < node_count; rank++)
		if (arounds->now[rank].quiet != OSP_GATE_QUIET)
			arounds->seen[rank] = arounds->now[rank];
}

void gate_arounds_free(struct gate_arounds *arounds)
{
	free(arounds->now);
	free(arounds->seen);
	free(arounds->awaited);
	memset(arounds, 0, sizeof(*arounds));
}
