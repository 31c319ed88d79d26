/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_message.h - the messages between the nodes of a gang, as bytes
 *
 * A message is the inside of a MUNGE credential (gate/gate_peer.h); these bytes hold no secret and
 * prove nothing by themselves. Numbers are big-endian, strings a length byte and that many bytes.
 *
 *	"OSPG" VERSION KIND ROUND JOB RESTARTS NODES GANG FROM TO CHALLENGE NONCE, then by KIND
 *	report	COUNT, COUNT reports
 *	links	COUNT, COUNT figures of links
 *	order	COUNT, COUNT links to be measured
 *	data	nothing: the connection carries the bytes of a measurement from here on
 *	verdict	the verdict
 *	reduce	LIMIT SUM GROUPS, GROUPS ids, COUNT, COUNT members: an all-reduce to take part in
 *	parts	COUNT, COUNT nodes' parts in an all-reduce
 *	traffic	COUNT, COUNT nodes' traffic around a round
 *	other	COUNT, COUNT ranks: the sender has another version than the receiver and cannot pass
 *		on the reports of these nodes; sent downwards: the receiver will get no verdict
 *
 * The header, the kind "other" and the greeting (gate/gate_peer.h) are the same in every version,
 * so that two gates of different versions can let each other know that they differ.
 *
 * CHALLENGE is the one that the receiver sent on this connection, NONCE the one that the answer
 * must repeat; GANG is a sum over the names of the nodes. A message is refused whole if it is cut,
 * has bytes left over, names a rank beyond the gang or twice, or holds a value out of its range.
 *
 * Any thread: no shared state.
 */
#ifndef OSP_GATE_MESSAGE_H
#define OSP_GATE_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/gate/gate.h"
#include "lib/gate/gate_traffic.h"

#define OSP_GATE_CHALLENGE_BYTES 16

/* Rises with each change of a message's contents (tests/unit/test_gate_message.c has a sum of each
 * kind); tests build a gate of another version with another number. */
#ifndef OSP_GATE_WIRE_VERSION
#define OSP_GATE_WIRE_VERSION 2
#endif

/* More than a gang of OSP_GATE_NODES_MAX needs, and less than MUNGE takes (1 MiB, encoded). The
 * words of reports and sentences are left out beyond the first OSP_GATE_MESSAGE_WORDS_BYTES. */
#define OSP_GATE_MESSAGE_BYTES_MAX   ((size_t)640 * 1024)
#define OSP_GATE_MESSAGE_WORDS_BYTES ((size_t)256 * 1024)

#define OSP_GATE_ID_BYTES	     128  /* ncclUniqueId, by NCCL's stable binary interface */
#define OSP_GATE_GROUPS_MAX	     4096 /* in one message, each with an id */
#define OSP_GATE_GPUS_MAX	     64	  /* of a node */
#define OSP_GATE_WHY_BYTES	     120

enum osp_gate_message_kind {
	OSP_GATE_MESSAGE_REPORT = 1,
	OSP_GATE_MESSAGE_LINKS,
	OSP_GATE_MESSAGE_ORDER,
	OSP_GATE_MESSAGE_DATA,
	OSP_GATE_MESSAGE_VERDICT,
	OSP_GATE_MESSAGE_REDUCE,
	OSP_GATE_MESSAGE_PARTS,
	OSP_GATE_MESSAGE_TRAFFIC,
	OSP_GATE_MESSAGE_KIND_END,
	OSP_GATE_MESSAGE_OTHER = 255 /* in every version */
};

struct osp_gate_header {
	uint8_t version; /* the sender's, of a message that was read */
	enum osp_gate_message_kind kind;
	uint32_t round; /* 0: checks; 1 ..: measurements */
	uint32_t job;
	uint32_t restarts;
	uint32_t node_count;
	uint64_t gang;
	uint32_t from;
	uint32_t to;
	uint8_t challenge[OSP_GATE_CHALLENGE_BYTES];
	uint8_t nonce[OSP_GATE_CHALLENGE_BYTES];
};

/* A link to measure (then only the ranks count), or its figures. */
struct osp_gate_link {
	uint32_t from;
	uint32_t to;
	float gbps;   /* gigabits per second; 0 if nothing came through */
	bool wrong;   /* some bytes that arrived were not sent */
	bool crowded; /* one of its ends was not quiet (lib/gate/gate_traffic.h), so slowness counts
			 for nothing. Only the decider sets it; no message has it */
};

/* One node of an all-reduce. Its GPUs' ranks follow those of the earlier members of its group. */
struct osp_gate_member {
	uint32_t rank;
	uint32_t group;
	uint32_t gpus; /* number of its GPUs, as it reported; 0: not known yet */
};

/*
 * An order to take part in an all-reduce: first to get ready (no groups, all members in group 0),
 * then group by group, each with the id that its first member made. Members are in rising order of
 * rank.
 */
struct osp_gate_reduce {
	uint32_t limit_ms; /* from its arrival on; a node that is not ready by then says so */
	uint32_t sum_kib;  /* KiB that each GPU contributes; 0: not known yet */
	uint8_t (*ids)[OSP_GATE_ID_BYTES];
	uint32_t group_count;
	struct osp_gate_member *members;
	uint32_t member_count;
};

enum osp_gate_part_state {
	OSP_GATE_PART_READY, /* gpus, version, sum_kib, the limits and an id are set */
	OSP_GATE_PART_DONE,  /* gbps, wrong and the next id are set */
	OSP_GATE_PART_BROKE, /* why is set; this says nothing about the node */
	OSP_GATE_PART_STATE_COUNT
};

/* One node's part in an all-reduce. Speeds are gigabytes a second. */
struct osp_gate_part {
	uint32_t rank;
	enum osp_gate_part_state state;
	uint32_t version;	   /* NCCL's number for itself, such as 22304 */
	uint32_t gpus;		   /* number of its GPUs */
	uint32_t sum_kib;	   /* KiB that each of them has room for */
	uint32_t wrong;		   /* wrong words of the sum, on all its GPUs together */
	float gbps;		   /* bus bandwidth, as nccl-tests counts it */
	float least_gbps;	   /* least bus bandwidth to reach here; 0: no limit is known */
	bool unproven;		   /* the limit was never tried on this hardware: it only warns */
	float network_gbps;	   /* one-way speed of its adapters; 0: not known */
	enum osp_gate_quiet quiet; /* whether this node's adapters were quiet meanwhile */
	float foreign_gbps;	   /* of others' traffic there, gigabits per second */
	uint8_t id[OSP_GATE_ID_BYTES]; /* of a next group with this node as its first */
	char why[OSP_GATE_WHY_BYTES];
};

struct osp_gate_message {
	struct osp_gate_header header;
	struct osp_gate_report *reports;  /* report */
	struct osp_gate_link *links;	  /* links, order */
	struct osp_gate_part *parts;	  /* parts */
	struct osp_gate_traffic *traffic; /* traffic */
	uint32_t *ranks;		  /* other */
	uint32_t count;
	struct osp_gate_verdict verdict; /* verdict */
	struct osp_gate_reduce reduce;	 /* reduce */
};

/* Returns a sum over the names and their order. */
uint64_t osp_gate_gang_sum(const char *const *nodes, uint32_t node_count);

/* Append a whole message to `text`; check text->failed afterwards. */
void osp_gate_write_reports(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_report *reports, uint32_t count);
/* Writes links or an order, as header->kind says. */
void osp_gate_write_links(struct osp_text *text, const struct osp_gate_header *header,
			  const struct osp_gate_link *links, uint32_t count);
void osp_gate_write_data(struct osp_text *text, const struct osp_gate_header *header);
void osp_gate_write_verdict(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_verdict *verdict);
void osp_gate_write_reduce(struct osp_text *text, const struct osp_gate_header *header,
			   const struct osp_gate_reduce *reduce);
void osp_gate_write_parts(struct osp_text *text, const struct osp_gate_header *header,
			  const struct osp_gate_part *parts, uint32_t count);
void osp_gate_write_traffic(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_traffic *traffic, uint32_t count);

/* `ranks` must rise. */
void osp_gate_write_other(struct osp_text *text, const struct osp_gate_header *header,
			  const uint32_t *ranks, uint32_t count);

/* Reads one whole message; one of another version only if it is "other". Returns 0, or -1 with
 * `error` set and `message` empty. Free it with osp_gate_message_free(). */
int osp_gate_read_message(const void *bytes, size_t count, struct osp_gate_message *message,
			  struct osp_error *error);
void osp_gate_message_free(struct osp_gate_message *message);

/* Frees the lists of an order. */
void osp_gate_reduce_free(struct osp_gate_reduce *reduce);

#endif
