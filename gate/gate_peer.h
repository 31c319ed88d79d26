/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_peer.h - a connection between the gates of two nodes
 *
 * The listening side greets with its job, its rank and a new random challenge. The connecting side
 * answers with messages (lib/gate/gate_message.h), each sealed so that only root can have made it
 * and only root can open it (host/seal/seal.h), and repeating the challenge. Messages the other way
 * repeat the connecting side's nonce. So a message that was recorded, on this connection or on
 * another, is refused. The greeting holds the version of the messages, and is the same in every
 * version:
 *
 *	"OSPG" VERSION JOB RESTARTS RANK CHALLENGE
 *
 * Both ends have reserved ports (below 1024), which no user can take. The seal is the
 * proof; the ports only keep a user's flood away from it. One thread; no call blocks but MUNGE
 * itself.
 */
#ifndef OSP_GATE_PEER_H
#define OSP_GATE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "host/seal/seal.h"
#include "lib/gate/gate_message.h"

#define OSP_GATE_GREETING_BYTES (4 + 1 + 4 + 4 + 4 + OSP_GATE_CHALLENGE_BYTES)

enum osp_gate_peer_state {
	OSP_GATE_PEER_NONE,
	OSP_GATE_PEER_CONNECTING,
	OSP_GATE_PEER_GREETED,	/* we connected, and wait for the greeting */
	OSP_GATE_PEER_UNPROVEN, /* it connected, and has sent no valid message yet */
	OSP_GATE_PEER_KNOWN,
};

struct osp_gate_peer {
	int file; /* -1: none */
	enum osp_gate_peer_state state;
	uint32_t rank;	   /* of a known one */
	uint8_t version;   /* of its messages, once it is known */
	uint64_t until_ms; /* an unproven or unanswered connection ends then */
	struct sockaddr_storage address;
	uint8_t mine[OSP_GATE_CHALLENGE_BYTES];	  /* what its messages must repeat */
	uint8_t theirs[OSP_GATE_CHALLENGE_BYTES]; /* what ours must repeat */
	struct osp_text in;			  /* what came and is not whole yet */
	struct osp_text out;			  /* what waits to be sent */
	size_t sent_bytes;			  /* of out */
};

/* What was not let in. */
struct osp_gate_dropped {
	uint32_t port;	   /* from a port that any user can have */
	uint32_t many;	   /* too many at once */
	uint32_t size;	   /* longer than anything the gang can say */
	uint32_t unproven; /* not sealed by root, or seen before */
	uint32_t message;  /* not the gate's, of another job, or of another connection */
	uint32_t address;  /* of a node that is not where it says */
	uint32_t late;	   /* said nothing in time */
};

struct osp_gate_wire {
	struct osp_seal seal;
	struct osp_gate_dropped dropped;
	uint32_t job;
	uint32_t restarts;
	uint32_t rank;
	uint32_t node_count;
	uint64_t gang;
	size_t frame_bytes_max;
};

/* By the keys of a file or, if `key_file` is "", by MUNGE at `socket`, "" for its default; `life_s`
 * is how long a message is good. -1 with `error` set. */
int osp_gate_wire_open(struct osp_gate_wire *wire, const char *key_file, const char *socket,
		       uint32_t life_s, struct osp_error *error);
void osp_gate_wire_close(struct osp_gate_wire *wire);

/* Returns a listening socket on the first free port of the range, beginning with one that depends
 * on the job. `address` NULL: on all addresses. -1 with `error` set. */
int osp_gate_listen(const struct sockaddr_storage *address, uint16_t first, uint16_t last,
		    uint32_t job, struct osp_error *error);

/* Returns the n-th port to try of a job, from 0. */
uint16_t osp_gate_port(uint16_t first, uint16_t last, uint32_t job, uint32_t n);

/* Takes one waiting connection into `peer` and greets it. 1 taken, 0 none is waiting or it was
 * dropped. */
int osp_gate_accept(struct osp_gate_wire *wire, int listener, struct osp_gate_peer *peer,
		    uint64_t until_ms);

/* Begins to connect to `address` at `port`, from `own` where not NULL. -1 when that fails at
 * once. */
int osp_gate_connect(struct osp_gate_peer *peer, const struct sockaddr_storage *address,
		     uint16_t port, const struct sockaddr_storage *own, uint64_t until_ms);

/* Returns, after poll() says that a connecting peer may be written, 0 if it is there, else -1. */
int osp_gate_connected(struct osp_gate_peer *peer);

/* Reads what is there. 0, or -1 when the connection has ended or says too much. */
int osp_gate_receive(struct osp_gate_wire *wire, struct osp_gate_peer *peer);

/* Takes a greeting: 1 it is that rank of this job, of whatever version, 0 not whole yet, -1 it is
 * somebody else. */
int osp_gate_take_greeting(struct osp_gate_wire *wire, struct osp_gate_peer *peer, uint32_t rank);

/* Takes one whole message, proven and addressed to this node: 1, 0 not whole yet, -1 refused and
 * counted. */
int osp_gate_take_message(struct osp_gate_wire *wire, struct osp_gate_peer *peer,
			  struct osp_gate_message *message);

/* Returns whether a known one and this gate can say nothing to each other but that
 * (OSP_GATE_MESSAGE_OTHER). */
bool osp_gate_is_other(const struct osp_gate_peer *peer);

/* Returns the header of a message to `peer`. */
struct osp_gate_header osp_gate_header_to(const struct osp_gate_wire *wire,
					  const struct osp_gate_peer *peer,
					  enum osp_gate_message_kind kind, uint32_t round);

/* Seals a message that was written, and puts it into what waits to be sent. Frees `message`. -1
 * with `error` set. */
int osp_gate_seal(struct osp_gate_wire *wire, struct osp_gate_peer *peer, struct osp_text *message,
		  struct osp_error *error);

/* Sends what can be sent now. 0, or -1 when the connection has ended. */
int osp_gate_flush(struct osp_gate_peer *peer);
bool osp_gate_unsent(const struct osp_gate_peer *peer);

void osp_gate_hang_up(struct osp_gate_peer *peer);

bool osp_gate_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
bool osp_gate_is_loopback(const struct sockaddr_storage *address);

#endif
