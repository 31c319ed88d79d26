/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_traffic.c - whether a node was quiet while its network was measured */
#include "lib/gate/gate_traffic.h"

#include <stdio.h>
#include <string.h>

#define HEADERS	     1.06 /* of the payload, including it */
#define ACKNOWLEDGES 0.03 /* of the payload of the other direction */

struct counted {
	double in_bytes;
	double out_bytes;
	bool held_back;
	bool readable;
};

static const struct osp_gate_adapter *find(const struct osp_gate_adapters *adapters,
					   const char *name)
{
	for (uint32_t i = 0; i < adapters->count; i++)
		if (!strcmp(adapters->adapters[i].name, name))
			return &adapters->adapters[i];
	return NULL;
}

/* Adds the larger growth of both kinds; returns false if a counter runs backwards. */
static bool growth(const uint64_t before[2], const uint64_t after[2], double *bytes)
{
	double most = 0;

	for (int kind = 0; kind < 2; kind++) {
		if (after[kind] < before[kind])
			return false;
		if ((double)(after[kind] - before[kind]) > most)
			most = (double)(after[kind] - before[kind]);
	}
	*bytes += most;
	return true;
}

static struct counted count(const struct osp_gate_adapters *before,
			    const struct osp_gate_adapters *after)
{
	struct counted counted = {.readable = before->count > 0 && before->count == after->count};

	for (uint32_t i = 0; i < before->count && counted.readable; i++) {
		const struct osp_gate_adapter *was = &before->adapters[i];
		const struct osp_gate_adapter *is = find(after, was->name);

		counted.readable = is && was->readable && is->readable &&
				   growth(was->in_bytes, is->in_bytes, &counted.in_bytes) &&
				   growth(was->out_bytes, is->out_bytes, &counted.out_bytes);
		counted.held_back = counted.held_back || (is && is->held_back != was->held_back);
	}
	return counted;
}

/* Returns the bytes of one direction that are not the round's; 0 if they are too few to count. */
static double foreign(double counted, uint64_t own, uint64_t other_way)
{
	double bytes = counted - (double)own * HEADERS - (double)other_way * ACKNOWLEDGES;

	if (bytes <= (double)OSP_GATE_FOREIGN_LEAST_BYTES ||
	    bytes * 100 <= counted * OSP_GATE_FOREIGN_PERCENT)
		return 0;
	return bytes;
}

struct osp_gate_traffic osp_gate_traffic_judge(const struct osp_gate_adapters *before,
					       const struct osp_gate_adapters *after,
					       const struct osp_gate_own_traffic *own)
{
	struct osp_gate_traffic traffic = {.quiet = OSP_GATE_UNREADABLE};
	struct counted counted = count(before, after);
	double in, out;

	if (!own->ended || before->late || after->late) {
		traffic.quiet = own->ended ? OSP_GATE_NOT_READ : OSP_GATE_NOT_ENDED;
		return traffic;
	}
	if (!counted.readable || !own->waited_known || after->at_ns <= before->at_ns)
		return traffic;
	in = foreign(counted.in_bytes, own->in_bytes, own->out_bytes);
	out = foreign(counted.out_bytes, own->out_bytes, own->in_bytes);
	traffic.foreign_gbps =
		(float)((in > out ? in : out) * 8 / (double)(after->at_ns - before->at_ns));
	if (in > 0 || out > 0)
		traffic.quiet = OSP_GATE_FOREIGN;
	else if (counted.held_back)
		traffic.quiet = OSP_GATE_HELD_BACK;
	else if (own->waited_ns * 100 > own->ran_ns * OSP_GATE_WAITED_PERCENT)
		traffic.quiet = OSP_GATE_STARVED;
	else
		traffic.quiet = OSP_GATE_QUIET;
	return traffic;
}

const char *osp_gate_traffic_words(const struct osp_gate_traffic *traffic, char *buffer,
				   size_t buffer_bytes)
{
	static const char *const words[OSP_GATE_QUIET_COUNT] = {
		[OSP_GATE_QUIET] = "",
		[OSP_GATE_FOREIGN] = "",
		[OSP_GATE_HELD_BACK] = "the cloud held packets of this instance back",
		[OSP_GATE_STARVED] = "what measured waited for a processor",
		[OSP_GATE_UNREADABLE] = "its adapters' counters cannot be read",
		[OSP_GATE_NOT_ENDED] = "what measured did not end in time",
		[OSP_GATE_NOT_READ] = "its adapters' counters were not read in time",
		[OSP_GATE_NOT_REPORTED] = "it did not report its adapters' counters in time",
	};

	if (traffic->quiet == OSP_GATE_FOREIGN)
		snprintf(buffer, buffer_bytes, "%.3g Gb/s of others' traffic",
			 (double)traffic->foreign_gbps);
	else
		snprintf(buffer, buffer_bytes, "%s", words[traffic->quiet]);
	return buffer;
}
