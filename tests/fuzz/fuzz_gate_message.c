/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_gate_message.c - messages of the gate: whatever is taken is written back as the same bytes
 *
 * Parser: lib/gate/gate_message.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/gate/gate_message.h"

static void write_again(struct osp_text *text, const struct osp_gate_message *message)
{
	switch (message->header.kind) {
	case OSP_GATE_MESSAGE_REPORT:
		osp_gate_write_reports(text, &message->header, message->reports, message->count);
		break;
	case OSP_GATE_MESSAGE_LINKS:
	case OSP_GATE_MESSAGE_ORDER:
		osp_gate_write_links(text, &message->header, message->links, message->count);
		break;
	case OSP_GATE_MESSAGE_DATA:
		osp_gate_write_data(text, &message->header);
		break;
	case OSP_GATE_MESSAGE_VERDICT:
		osp_gate_write_verdict(text, &message->header, &message->verdict);
		break;
	case OSP_GATE_MESSAGE_REDUCE:
		osp_gate_write_reduce(text, &message->header, &message->reduce);
		break;
	case OSP_GATE_MESSAGE_PARTS:
		osp_gate_write_parts(text, &message->header, message->parts, message->count);
		break;
	case OSP_GATE_MESSAGE_TRAFFIC:
		osp_gate_write_traffic(text, &message->header, message->traffic, message->count);
		break;
	case OSP_GATE_MESSAGE_OTHER:
		osp_gate_write_other(text, &message->header, message->ranks, message->count);
		if (!text->failed) /* it is read of any version */
			text->data[4] = (char)message->header.version;
		break;
	case OSP_GATE_MESSAGE_KIND_END:
		fuzz_check(0);
	}
}

FUZZER(gate_message)
{
	struct osp_gate_message message;
	struct osp_error error = {.text = ""};
	struct osp_text text = OSP_TEXT_INIT;

	if (osp_gate_read_message(data, size, &message, &error)) {
		fuzz_check(error.text[0] && !message.reports && !message.links && !message.parts &&
			   !message.traffic && !message.ranks && !message.reduce.members);
		return 0;
	}
	write_again(&text, &message);
	fuzz_check(!text.failed && text.length_bytes == size && !memcmp(text.data, data, size));
	osp_text_free(&text);
	osp_gate_message_free(&message);
	return 0;
}
