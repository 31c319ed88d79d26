/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_loop_private.h - the state of osp_gate_loop()
 *
 * For gate_loop.c (the loop), gate_above.c (the parent), gate_measure.c (links over TCP),
 * gate_nccl.c (NCCL) and gate_send.c (what they share). Nothing else includes it.
 */
#ifndef OSP_GATE_LOOP_PRIVATE_H
#define OSP_GATE_LOOP_PRIVATE_H

#include <poll.h>

#include "lib/gate/gate_barrier.h"
#include "lib/gate/gate_reduce.h"
#include "gate/gate_act.h"
#include "gate/gate_around.h"
#include "gate/gate_check.h"
#include "gate/gate_job.h"
#include "gate/gate_peer.h"
#include "gate/gate_reducer.h"

#define GATE_PEERS_MAX	  512 /* from below, the unproven ones counted, at once */
#define GATE_UNPROVEN_MAX 32
#define GATE_UNPROVEN_MS  5000 /* then a peer must have sent a valid message */

#define GATE_FLOWS_MAX	  16 /* that one node receives, or sends, in a round */

/* One connection that a process of ours reads from, or writes to. */
struct gate_flow {
	pid_t child; /* 0: unused */
	int answer;
	uint32_t from;
	uint32_t round;
	uint64_t begun_ns;
};

struct gate_measure {
	uint32_t round; /* 0: nothing is measured */
	bool decides;
	bool done;	     /* the decider: all rounds */
	bool takes_part;     /* this node, in this round */
	bool links_reported; /* the others: this round's figures */
	bool own_reported;   /* what went on around it here */
	struct osp_gate_link *orders;
	bool *reported; /* by order: its figure is there */
	uint32_t order_count;
	uint32_t missing;
	uint64_t until_ms;
	struct osp_gate_figures ring; /* the first round, once there is a second */
	struct gate_flow flows[GATE_FLOWS_MAX];
	struct gate_flow senders[GATE_FLOWS_MAX];
	struct gate_around around;
	struct gate_arounds arounds; /* the decider's */
};

/* All-reduces by NCCL. The arrays are the decider's, by rank. */
struct gate_reduce {
	uint32_t round; /* 0: none yet; 1: getting ready */
	bool decides;
	bool done;	   /* the decider: all rounds */
	bool judged;	   /* and what came of it needs nothing more from TCP */
	bool own_reported; /* this round's part of this node */
	uint64_t until_ms;
	struct osp_gate_reduce order; /* of this round */
	struct gate_reducer reducer;
	struct gate_around around;
	struct osp_gate_part own; /* answered, and not sent until the counters are read again */
	bool own_answered;
	uint64_t asked_ns;
	struct osp_gate_traffic *seen; /* by rank: the last that was not quiet */
	bool *fit;
	bool *reported;
	uint32_t missing;
	struct osp_gate_part *ready; /* with the newest id */
	struct osp_gate_part *last;  /* of this round */
	float least_gbps;	     /* that all ask for; 0: somebody knows no limit */
	bool unproven;		     /* of somebody: nobody is blamed for less than it */
	struct osp_gate_link *pairs; /* measured so far */
	uint32_t pair_count;
	uint32_t first_count; /* of them in the first round of pairs */
	uint32_t pair_rounds;
};

struct gate_loop {
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
	uint32_t above_round; /* rounds over all ports without an answer */
	uint64_t first_try_ms;
	uint32_t losses; /* connections that a parent ended */
	uint64_t first_loss_ms;
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
	bool no_verdict; /* no verdict will come: the parent's gate is of another version */
};

/* Returns the ms since this gate began. */
uint64_t gate_now_ms(const struct gate_loop *loop);

const char *gate_name_of(const struct gate_loop *loop, uint32_t rank);

/* Returns the parent that is tried or connected now. */
uint32_t gate_parent_of(const struct gate_loop *loop);

static inline uint64_t gate_least_ms(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Connects to the parent, unless a pause lasts; gate_serve_above() does what poll() says of it. */
void gate_connect_above(struct gate_loop *loop);
void gate_serve_above(struct gate_loop *loop, short events);

/* Sends the parent the reports that it has not had. */
void gate_report_above(struct gate_loop *loop);

/* Ends the connection and tries the next parent at once; one that ends every connection is not
 * asked without a pause. */
void gate_lose_above(struct gate_loop *loop);

/* A message to send: `write` makes it of `count` elements of `what`. */
struct gate_outgoing {
	enum osp_gate_message_kind kind;
	uint32_t round;
	void (*write)(struct osp_text *message, const struct osp_gate_header *header,
		      const void *what, uint32_t count);
	const void *what;
	uint32_t count;
};

/* Sends a message to the parent, if it is proven; or to all proven peers below, and ends the
 * connection with each that cannot be reached. */
void gate_send_above(struct gate_loop *loop, const struct gate_outgoing *words);
void gate_send_below(struct gate_loop *loop, const struct gate_outgoing *words);

/*
 * Handle gates of another version in the gang. The message up the tree names nodes that cannot
 * report. The message down says that no verdict will come; it goes to peers of another version or,
 * with `all`, to all peers. From below it makes the result of each node that it names an ERROR;
 * from above it ends this gate without a verdict.
 */
void gate_write_other(struct osp_text *message, const struct osp_gate_header *header,
		      const struct osp_gate_report *reports, uint32_t count);
void gate_send_others(struct gate_loop *loop, bool all);
void gate_hear_other_below(struct gate_loop *loop, const struct osp_gate_message *message);
void gate_hear_other_above(struct gate_loop *loop, const struct osp_gate_message *message);

/* Finds the ranks that may take part in a test of the network. Returns their number, 0 if every
 * pass is fresh and so no test is needed. */
uint32_t gate_find_fit(const struct osp_gate_report *reports, uint32_t count, bool *fit);

/* Records that the network test blames the node, for the report's reason. Wrong bytes fail the
 * node; low speed alone does not. */
void gate_blame(const struct gate_loop *loop, struct osp_gate_report *report, bool wrong);

/* Records that a slow link of the node does not count: a warning if this node was not quiet; the
 * other end is judged by its other links. */
void gate_pardon(const struct gate_loop *loop, struct osp_gate_report *report,
		 const struct osp_gate_traffic *seen);

#endif
