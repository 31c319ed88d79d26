/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_message.h - what the nodes of a gang tell each other, as bytes
 *
 * A message is the inside of a MUNGE credential (tools/gate/gate_peer.h); these bytes hold no secret and
 * prove nothing by themselves. Numbers are big-endian, strings a length byte and that many bytes.
 *
 *	"OSPG" 1 KIND ROUND JOB RESTARTS NODES GANG FROM TO CHALLENGE NONCE, then by KIND
 *	report	COUNT and so many reports
 *	links	COUNT and so many figures of links
 *	order	COUNT and so many links to be measured
 *	data	nothing: the connection carries the bytes of a measurement from here on
 *	verdict	the verdict
 *
 * CHALLENGE is what the receiver asked for on this very connection, NONCE what the sender asks for
 * in the answer; GANG is a sum over the names of the nodes. A message that is cut, has bytes too
 * many, names a rank beyond the gang or twice, or holds a value out of its range is refused whole.
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

#define OSP_GATE_CHALLENGE_BYTES 16

/* Above all that a gang of OSP_GATE_NODES_MAX may say, and below what MUNGE takes (1 MiB, encoded).
 * Of reports and sentences beyond the first OSP_GATE_WORDS_BYTES the words are left out. */
#define OSP_GATE_MESSAGE_BYTES_MAX ((size_t)640 * 1024)
#define OSP_GATE_WORDS_BYTES	   ((size_t)256 * 1024)

enum osp_gate_message_kind {
	OSP_GATE_MESSAGE_REPORT = 1,
	OSP_GATE_MESSAGE_LINKS,
	OSP_GATE_MESSAGE_ORDER,
	OSP_GATE_MESSAGE_DATA,
	OSP_GATE_MESSAGE_VERDICT,
	OSP_GATE_MESSAGE_KIND_END
};

struct osp_gate_header {
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

/* A link to be measured (then only the ranks count), or what was measured on it. */
struct osp_gate_link {
	uint32_t from;
	uint32_t to;
	float gbps; /* gigabits per second; 0 where nothing came through */
	bool wrong; /* bytes came that were not sent */
};

struct osp_gate_message {
	struct osp_gate_header header;
	struct osp_gate_report *reports; /* report */
	struct osp_gate_link *links;	 /* links, order */
	uint32_t count;
	struct osp_gate_verdict verdict; /* verdict */
};

/* The sum over names and their order. */
uint64_t osp_gate_gang_sum(const char *const *nodes, uint32_t node_count);

/* Each appends a whole message to `text`; check text->failed. */
void osp_gate_write_reports(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_report *reports, uint32_t count);
/* Links and orders. */
void osp_gate_write_links(struct osp_text *text, const struct osp_gate_header *header,
			  const struct osp_gate_link *links, uint32_t count);
void osp_gate_write_data(struct osp_text *text, const struct osp_gate_header *header);
void osp_gate_write_verdict(struct osp_text *text, const struct osp_gate_header *header,
			    const struct osp_gate_verdict *verdict);

/* Reads one whole message. 0, or -1 with `error` set and `message` empty. Free it with
 * osp_gate_message_free(). */
int osp_gate_read_message(const void *bytes, size_t count, struct osp_gate_message *message,
			  struct osp_error *error);
void osp_gate_message_free(struct osp_gate_message *message);

#endif
