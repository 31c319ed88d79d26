/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_wire.h - how a node and the watch talk about a report
 *
 * The node connects to the watch's port from a reserved port (below 1024), which no user can take.
 * The watch greets:
 *
 *	"OSPR" VERSION UID CHALLENGE	1, 4 (its user id, big-endian) and 16 bytes
 *
 * The node answers with the length of the sealed report (4 bytes, big-endian) and the sealed report
 * (host/seal/seal.h). MUNGE seals it for that user alone, who must be root or SlurmUser. The watch
 * answers with one byte, and ends the connection. Behind OSP_REPORT_TAKEN comes the receipt, sent
 * as the report is: "OSPK" and the challenge, sealed by that user, by MUNGE for root alone. The
 * port is one that users can have while no watch does, and a node that believed such a user would
 * not report again.
 *
 * Any thread.
 */
#ifndef OSP_REPORT_WIRE_H
#define OSP_REPORT_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/topology/report.h"

#define OSP_REPORT_MARK		  "OSPR"
#define OSP_REPORT_MARK_BYTES	  4
#define OSP_REPORT_WIRE_VERSION	  1
#define OSP_REPORT_GREETING_BYTES (OSP_REPORT_MARK_BYTES + 1 + 4 + OSP_REPORT_CHALLENGE_BYTES)
#define OSP_REPORT_LIFE_S	  60 /* a seal is good so long; clocks may differ by it */
#define OSP_REPORT_LENGTH_BYTES	  4
#define OSP_REPORT_RECEIPT	  "OSPK"
#define OSP_REPORT_RECEIPT_BYTES  (4 + OSP_REPORT_CHALLENGE_BYTES)

/* The watch's answers. */
enum osp_report_answer {
	OSP_REPORT_TAKEN = 'k',
	OSP_REPORT_SOON = 's', /* the node was heard less than a second ago */
	OSP_REPORT_STRANGER =
		'u', /* Slurm has no node of that name, as far as the watch knows yet */
	OSP_REPORT_ADDRESS = 'a', /* Slurm has another address for the node */
	OSP_REPORT_REFUSED = 'n', /* not root's, no report, or of another connection */
};

#endif
