/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_talk_data.h - what stands behind osp_gate_talk()
 *
 * For gate_talk.c, which keeps the loop, gate_measure.c, which measures links over TCP, gate_reduce.c,
 * which measures with NCCL, and gate_tell.c, which has what they share. Nothing else includes this.
 */
#ifndef OSP_GATE_TALK_DATA_H
#define OSP_GATE_TALK_DATA_H

#include <poll.h>

#include "lib/gate/gate_barrier.h"
#include "lib/gate/gate_reduce.h"
#include "tools/gate/gate_act.h"
#include "tools/gate/gate_check.h"
#include "tools/gate/gate_job.h"
#include "tools/gate/gate_peer.h"
#include "tools/gate/gate_reducer.h"

#define GATE_PEERS_MAX	   512 /* from below and strangers, at once */
#define GATE_STRANGERS_MAX 32
#define GATE_STRANGER_MS   5000 /* then it must have proven who it is */

#define GATE_FLOWS_MAX	   16 /* that one node receives, or sends, in a round */

/* One connection that a process of ours reads from. */
struct gate_flow {
	pid_t child; /* 0: unused */
	int answer;
	uint32_t from;
	uint32_t round;
};

struct gate_measure {
	uint32_t round; /* 0: nothing is measured */
	bool decides;
	bool done;     /* the decider: all rounds */
	bool own_told; /* the others: this round's figures */
	struct osp_gate_link *orders;
	bool *told; /* by order: its figure is there */
	uint32_t order_count;
	uint32_t missing;
	uint64_t until_ms;
	struct osp_gate_figures ring; /* the first round, once there is a second */
	struct gate_flow flows[GATE_FLOWS_MAX];
	pid_t senders[GATE_FLOWS_MAX];
	uint32_t sender_count;
};

/* All-reduces by NCCL. The arrays are the decider's, by rank. */
struct gate_reduce {
	uint32_t round; /* 0: none yet; 1: getting ready */
	bool decides;
	bool done;     /* the decider: all rounds */
	bool judged;   /* and what came of it needs nothing more from TCP */
	bool own_told; /* this round's part of this node */
	uint64_t until_ms;
	struct osp_gate_reduce order; /* of this round */
	struct gate_reducer reducer;
	bool *fit;
	bool *told;
	uint32_t missing;
	struct osp_gate_part *ready; /* with the newest id */
	struct osp_gate_part *last;  /* of this round */
	float least_gbps;	     /* that all ask for; 0: somebody knows no limit */
	struct osp_gate_link *pairs; /* measured so far */
	uint32_t pair_count;
	uint32_t first_count; /* of them in the first round of pairs */
	uint32_t pair_rounds;
};

struct gate_talk {
	const struct osp_gate_job *job;
	const struct osp_gate_here *here;
	struct osp_gate_wire wire;
	struct osp_gate_barrier barrier;
	struct osp_gate_check check;
	bool checking;
	int listener; /* -1: none */
	struct sockaddr_storage own;
	bool own_bound; /* connections may begin at `own` */
	struct osp_gate_peer above;
	uint32_t above_port;  /* the n-th port is tried */
	uint32_t above_round; /* rounds over the ports that reached nobody */
	uint64_t first_try_ms;
	uint64_t next_try_ms;
	struct osp_gate_peer peers[GATE_PEERS_MAX];
	size_t peer_count; /* beyond it all are unused */
	struct osp_gate_report *own_report;
	struct osp_gate_verdict *verdict;
	bool has_verdict;
	uint64_t next_ask_ms;
	struct osp_gate_report *reports; /* the decider's, once they are complete */
	struct gate_measure measure;
	struct gate_reduce reduce;
	bool job_gone;
};

/* ms since this gate began */
uint64_t gate_now_ms(const struct gate_talk *talk);

const char *gate_name_of(const struct gate_talk *talk, uint32_t rank);

/* The rank above us that is tried, or reached, now. */
uint32_t gate_superior_of(const struct gate_talk *talk);

/* A message for somebody: `write` makes it of `count` of `what`. */
struct gate_words {
	enum osp_gate_message_kind kind;
	uint32_t round;
	void (*write)(struct osp_text *message, const struct osp_gate_header *header,
		      const void *what, uint32_t count);
	const void *what;
	uint32_t count;
};

/* To the superior, where it is known; to all that are known below, of whom those go that cannot be
 * reached. */
void gate_tell_above(struct gate_talk *talk, const struct gate_words *words);
void gate_tell_below(struct gate_talk *talk, const struct gate_words *words);

/* Who may take part in a test of the network, by rank. How many; 0 where every pass is fresh, for then
 * none is needed. */
uint32_t gate_find_fit(const struct osp_gate_report *reports, uint32_t count, bool *fit);

/* The node has failed on the network, for the reason that stands in the report. */
void gate_blame(const struct gate_talk *talk, struct osp_gate_report *report);

#endif
