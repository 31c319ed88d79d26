/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_talk_data.h - what stands behind osp_gate_talk()
 *
 * For gate_talk.c, which keeps the loop, and gate_links.c, which measures links. Nothing else
 * includes this.
 */
#ifndef OSP_GATE_TALK_DATA_H
#define OSP_GATE_TALK_DATA_H

#include <poll.h>

#include "lib/gate_barrier.h"
#include "tools/gate_act.h"
#include "tools/gate_check.h"
#include "tools/gate_job.h"
#include "tools/gate_peer.h"

#define GATE_PEERS_MAX	   512 /* from below and strangers, at once */
#define GATE_STRANGERS_MAX 32
#define GATE_STRANGER_MS   5000 /* then it must have proven who it is */

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
	uint32_t above_port; /* the n-th port is tried */
	uint64_t next_try_ms;
	uint64_t pause_ms;
	struct osp_gate_peer peers[GATE_PEERS_MAX];
	size_t peer_count; /* beyond it all are unused */
	struct osp_gate_report *own_report;
	struct osp_gate_verdict *verdict;
	bool has_verdict;
	uint64_t next_ask_ms;
	bool job_gone;
};

/* ms since this gate began */
uint64_t gate_now_ms(const struct gate_talk *talk);

#endif
