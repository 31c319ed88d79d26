/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_adapters.h - counters of this node's adapters, around a round of the network test
 *
 *	/sys/class/net/NAME/statistics		rx_bytes, tx_bytes: all but RDMA
 *	/sys/class/infiniband/NAME/ports/N	counters/port_rcv_data, port_xmit_data: words of
 *						4 bytes (InfiniBand, RoCE)
 *	.../ports/N/hw_counters (older kernels:	rx_bytes, tx_bytes, and the bytes of sends and
 *	.../hw_counters)			RDMA reads and writes (EFA)
 *	ETHTOOL_GSTATS				*_allowance_exceeded (ENA). With another root than /
 *						the gate reads /sys/class/net/NAME/ethtool instead
 *
 * A gate runs in the host's network namespace, as slurmd does, so the traffic of a job's container
 * is counted where it leaves the host. A dead device may answer late or never, so a child process
 * does each reading. One thread.
 */
#ifndef OSP_GATE_ADAPTERS_H
#define OSP_GATE_ADAPTERS_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "lib/gate/gate_traffic.h"

/* Returns the interface that has `address`; "" if none has. Returns `name`. */
const char *gate_adapters_interface(const struct sockaddr_storage *address, char *name,
				    size_t name_bytes);

/* One reading by a child. */
struct gate_reading {
	pid_t child; /* 0: none */
	int answer;
	size_t got_bytes;
	struct osp_gate_adapters
		adapters; /* count 0 until it has answered; late: given up before */
	bool done;	  /* it answered, or cannot any more */
};

void gate_reading_start(struct gate_reading *reading, const char *root, const char *interface);

/* Takes what the child has written; true when the reading is done. */
bool gate_reading_take(struct gate_reading *reading);
void gate_reading_end(struct gate_reading *reading);

#endif
