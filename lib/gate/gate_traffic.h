/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_traffic.h - whether a node was quiet while its network was measured
 *
 * Anybody who sends packets to a node, or runs beside the job on it, can make it look slow. So each
 * node reads its adapters' counters before and after a round, in the host's network namespace
 * (gate/gate_adapters.h), and reports the result to the decider. A link that was slow while one of
 * its ends was not quiet does not count (lib/gate/gate_links.h).
 *
 * Foreign bytes are those that an adapter counted beyond what the round itself had to carry: its
 * payload times 1.06 for headers (Ethernet, IP and TCP with time stamps add 66 bytes to segments of
 * 1448: 1.046), and 3 % of the payload of the other direction for its acknowledgements (66 bytes
 * for every second segment: 2.3 %). The node was quiet if no direction has more than 5 % of foreign
 * bytes. Below OSP_GATE_FOREIGN_LEAST_BYTES they are a node's own housekeeping, whatever their
 * share: a dead adapter carries nothing else.
 *
 * Pure: the same counters give the same answer. Any thread, any daemon.
 */
#ifndef OSP_GATE_TRAFFIC_H
#define OSP_GATE_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OSP_GATE_FOREIGN_PERCENT     5
#define OSP_GATE_WAITED_PERCENT	     5
#define OSP_GATE_FOREIGN_LEAST_BYTES ((uint64_t)1024 * 1024) /* of a round; 20 Mb/s over 0.4 s */
#define OSP_GATE_ADAPTERS_MAX	     64
#define OSP_GATE_TRAFFIC_WORDS_BYTES 96

/* What one adapter has counted since it was started. If an adapter counts packets and RDMA
 * separately (EFA), and one may include the other, the larger growth counts: [0] and [1]. */
struct osp_gate_adapter {
	char name[32];
	uint64_t in_bytes[2];
	uint64_t out_bytes[2];
	uint64_t held_back; /* packets over what the cloud allows: ENA's *_allowance_exceeded */
	bool readable;
};

/* All adapters that the round may have used, at one time. */
struct osp_gate_adapters {
	struct osp_gate_adapter adapters[OSP_GATE_ADAPTERS_MAX];
	uint32_t count;
	uint64_t at_ns; /* CLOCK_MONOTONIC */
	bool late;	/* the reading had not ended in time; nothing else here is set */
};

/* What the round itself did on this node. */
struct osp_gate_own_traffic {
	uint64_t in_bytes;
	uint64_t out_bytes;
	uint64_t ran_ns;    /* the longest of its processes */
	uint64_t waited_ns; /* the longest wait for a processor of one of them */
	bool waited_known;
	bool ended; /* all of its processes ended in time: the bytes are complete */
};

enum osp_gate_quiet {
	OSP_GATE_QUIET,
	OSP_GATE_FOREIGN,      /* others' bytes went through its adapters */
	OSP_GATE_HELD_BACK,    /* the cloud dropped or delayed packets of this instance */
	OSP_GATE_STARVED,      /* the round's process waited for a processor */
	OSP_GATE_UNREADABLE,   /* a counter cannot be read, which counts as foreign */
	OSP_GATE_NOT_ENDED,    /* one of the round's processes had not ended in time */
	OSP_GATE_NOT_READ,     /* the counters were not read in time: a device hangs, or load */
	OSP_GATE_NOT_REPORTED, /* set by the decider: this node has not reported in time */
	OSP_GATE_QUIET_COUNT
};

/* One node's report of a round. */
struct osp_gate_traffic {
	uint32_t rank;
	enum osp_gate_quiet quiet;
	float foreign_gbps; /* gigabits per second, the worse direction; 0 if unknown */
};

struct osp_gate_traffic osp_gate_traffic_judge(const struct osp_gate_adapters *before,
					       const struct osp_gate_adapters *after,
					       const struct osp_gate_own_traffic *own);

/* Writes "3.2 Gb/s of others' traffic", "its adapters' counters cannot be read" and the like; ""
 * for QUIET. Returns `buffer`. */
const char *osp_gate_traffic_words(const struct osp_gate_traffic *traffic, char *buffer,
				   size_t buffer_bytes);

#endif
