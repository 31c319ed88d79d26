/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_measure.c - data and bandwidth between the nodes of a gang, over TCP */
#include "onespine_config.h"
#include "gate/gate_measure.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "check/base/child.h"
#include "lib/base/text.h"
#include "gate/gate_rights.h"
#include "gate/gate_loop.h"

#define ROUND_MS     1500 /* to send, receive and compare */
#define REPORT_MS    500  /* for the figures to come up */
#define READ_MS	     250  /* of these: for counters whose reading has begun */
#define SEND_MS	     400
#define SEND_BYTES   ((size_t)64 * 1024 * 1024)
#define BLOCK_BYTES  ((size_t)1024 * 1024)
#define TEST_NETWORK "ONESPINE_TEST_NETWORK"  /* for tests: slow, corrupt, stuck */
#define TEST_ROUND   "ONESPINE_TEST_ROUND_MS" /* for tests: the most that a round may take */

/* What a process that sent or received answers. */
struct figure {
	float gbps;
	bool wrong;
	uint64_t bytes; /* over the wire, without headers */
};

/* --- in a process of its own ------------------------------------------------------------------ */

/* Bytes that both ends can make and nobody can guess. */
static uint8_t *make_block(const uint8_t challenge[OSP_GATE_CHALLENGE_BYTES])
{
	uint64_t *words = malloc(BLOCK_BYTES), seed;

	memcpy(&seed, challenge, sizeof(seed));
	seed |= 1;
	for (size_t i = 0; words && i < BLOCK_BYTES / sizeof(*words); i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		words[i] = seed;
	}
	return (uint8_t *)words;
}

static bool test_says(const struct gate_loop *loop, const char *what)
{
	const char *says = *loop->job->root ? getenv(TEST_NETWORK) : NULL;

	return says && strstr(says, what);
}

/* Returns how long a round may take from now on. A test on a busy machine allows more; a second
 * round still fits then. */
static uint32_t round_ms(const struct gate_loop *loop)
{
	const char *says = *loop->job->root ? getenv(TEST_ROUND) : NULL;
	uint64_t now_ms = gate_now_ms(loop), verdict_ms = loop->barrier.times.verdict_ms;
	uint64_t left_ms = now_ms < verdict_ms ? (verdict_ms - now_ms) / OSP_GATE_LINK_ROUNDS : 0;
	uint64_t most_ms = says ? strtoul(says, NULL, 10) : 0;

	if (most_ms + REPORT_MS > left_ms)
		most_ms = left_ms > REPORT_MS ? left_ms - REPORT_MS : 0;
	return most_ms > ROUND_MS ? (uint32_t)most_ms : ROUND_MS;
}

static unsigned int child_most_s(uint32_t limit_ms)
{
	return limit_ms / 1000 + 2;
}

/* Counts what was sent, and sent again, where the kernel (4.19) says it. */
static uint64_t wire_bytes(int file, uint64_t written)
{
	struct tcp_info info;
	socklen_t bytes = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (getsockopt(file, IPPROTO_TCP, TCP_INFO, &info, &bytes) < 0 ||
	    info.tcpi_bytes_sent < written)
		return written;
	return info.tcpi_bytes_sent;
}

static uint64_t send_bytes(int file, uint8_t *block, bool slow, bool corrupt)
{
	struct timespec pause = {.tv_nsec = 60000000};
	uint64_t until_ms = osp_now_ms() + SEND_MS;
	size_t sent = 0;

	if (corrupt)
		block[BLOCK_BYTES / 2] ^= 1;
	while (sent < SEND_BYTES && osp_now_ms() < until_ms) {
		if (!osp_write_all(file, block, slow ? BLOCK_BYTES / 64 : BLOCK_BYTES))
			break;
		sent += slow ? BLOCK_BYTES / 64 : BLOCK_BYTES;
		if (slow) {
			nanosleep(&pause, NULL);
			block += BLOCK_BYTES / 64;
		}
	}
	shutdown(file, SHUT_WR);
	return wire_bytes(file, sent);
}

static struct figure receive_bytes(int file, const uint8_t *block)
{
	static uint8_t bytes[256 * 1024];
	uint64_t begun_ns = 0, ended_ns = 0, total = 0;
	struct figure figure = {.gbps = 0};
	ssize_t count;

	while ((count = read(file, bytes, sizeof(bytes))) > 0) {
		struct timespec now;
		size_t at = total % BLOCK_BYTES, first = BLOCK_BYTES - at;

		clock_gettime(CLOCK_MONOTONIC, &now);
		ended_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
		if (!begun_ns)
			begun_ns = ended_ns;
		if (first > (size_t)count)
			first = (size_t)count;
		if (memcmp(bytes, block + at, first) != 0 ||
		    memcmp(bytes + first, block, (size_t)count - first) != 0)
			figure.wrong = true;
		total += (uint64_t)count;
	}
	if (ended_ns > begun_ns)
		figure.gbps = (float)total * 8 / (float)(ended_ns - begun_ns);
	figure.bytes = total;
	return figure;
}

static void set_blocking(int file, uint32_t limit_ms)
{
	struct timeval limit = {.tv_sec = limit_ms / 1000, .tv_usec = limit_ms % 1000 * 1000};

	fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
	setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(file, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

static bool ready(const struct osp_gate_peer *peer, short events, uint64_t until_ms)
{
	struct pollfd wait = {.fd = peer->file, .events = events};
	uint64_t now_ms = osp_now_ms();

	return now_ms < until_ms && poll(&wait, 1, (int)(until_ms - now_ms)) > 0;
}

/* Connects and is greeted by that rank; on any of the ports. */
static bool reach(struct gate_loop *loop, uint32_t rank, struct osp_gate_peer *peer,
		  uint64_t until_ms)
{
	const struct osp_gate_policy *policy = loop->job->policy;
	struct sockaddr_storage address;

	if (osp_gate_address(loop->job->gang.nodes[rank], &address, NULL))
		return false;
	for (uint32_t n = 0; n <= (uint32_t)policy->port_last - policy->port_first; n++) {
		uint16_t port =
			osp_gate_port(policy->port_first, policy->port_last, loop->wire.job, n);
		int greeted = 0;

		if (osp_gate_connect(peer, &address, port, loop->own_bound ? &loop->own : NULL, 0))
			continue;
		if (ready(peer, POLLOUT, until_ms) && osp_gate_connected(peer) == 0)
			while (!greeted && ready(peer, POLLIN, until_ms) &&
			       osp_gate_receive(&loop->wire, peer) == 0)
				greeted = osp_gate_take_greeting(&loop->wire, peer, rank);
		if (greeted > 0)
			return true;
		osp_gate_hang_up(peer);
	}
	return false;
}

static void send_to(struct gate_loop *loop, uint32_t rank, int answer)
{
	struct figure figure = {.gbps = 0};
	uint32_t limit_ms = round_ms(loop);
	uint64_t until_ms = osp_now_ms() + limit_ms;
	struct osp_text message = OSP_TEXT_INIT;
	struct osp_gate_header header;
	struct osp_gate_peer peer;
	uint8_t *block, go;
	bool slow = test_says(loop, "slow"), corrupt = test_says(loop, "corrupt");
	bool stuck = test_says(loop, "stuck");

	if (!reach(loop, rank, &peer, until_ms))
		_exit(1);
	header = osp_gate_header_to(&loop->wire, &peer, OSP_GATE_MESSAGE_DATA, loop->measure.round);
	osp_gate_write_data(&message, &header);
	if (osp_gate_seal(&loop->wire, &peer, &message, NULL))
		_exit(1);
	osp_gate_wire_close(&loop->wire); /* who reads what others send knows no key */
	block = make_block(peer.theirs);
	while (osp_gate_unsent(&peer))
		if (!ready(&peer, POLLOUT, until_ms) || osp_gate_flush(&peer))
			_exit(1);
	gate_give_up_rights(peer.file, answer, child_most_s(limit_ms));
	if (!block)
		_exit(1);
	set_blocking(peer.file, limit_ms);
	if (read(peer.file, &go, 1) != 1)
		_exit(1);
	while (stuck)
		pause();
	figure.bytes = send_bytes(peer.file, block, slow, corrupt);
	_exit(osp_write_all(answer, &figure, sizeof(figure)) ? 0 : 1);
}

/* --- flows ------------------------------------------------------------------------------------ */

static struct gate_flow *free_flow(struct gate_flow flows[GATE_FLOWS_MAX])
{
	for (int i = 0; i < GATE_FLOWS_MAX; i++)
		if (!flows[i].child)
			return &flows[i];
	return NULL;
}

static void keep_flow(struct gate_flow *flow, pid_t child, int answer)
{
	fcntl(answer, F_SETFL, O_NONBLOCK);
	flow->child = child;
	flow->answer = answer;
	flow->begun_ns = gate_around_now_ns();
}

static void start_sending(struct gate_loop *loop, uint32_t rank)
{
	struct gate_flow *flow = free_flow(loop->measure.senders);
	pid_t child;
	int answer;

	if (!flow) {
		osp_gate_log(loop->job, "too many links to send on");
		return;
	}
	child = osp_child_start(&answer);
	if (child < 0)
		osp_gate_log(loop->job, "no process to send: %s", strerror(errno));
	if (child == 0)
		send_to(loop, rank, answer);
	if (child > 0)
		keep_flow(flow, child, answer);
}

/* Starts a flow for an order, which came after the greeting's nonce: the block is made of what
 * the greeting asked for. */
bool gate_measure_receive(struct gate_loop *loop, struct osp_gate_peer *peer,
			  const struct osp_gate_message *message)
{
	struct gate_flow *flow = free_flow(loop->measure.flows);
	struct sockaddr_storage address;
	uint32_t limit_ms = round_ms(loop);
	struct figure figure;
	uint8_t *block;
	pid_t child;
	int answer;

	/* An order may still be on its way to us. */
	if (!flow || message->header.round < loop->measure.round ||
	    message->header.round > OSP_GATE_LINK_ROUNDS ||
	    osp_gate_address(loop->job->gang.nodes[message->header.from], &address, NULL) ||
	    !osp_gate_same_host(&address, &peer->address))
		return false;
	flow->from = message->header.from;
	flow->round = message->header.round;
	child = osp_child_start_with(&answer, peer->file);
	if (child < 0)
		return false;
	if (child) {
		keep_flow(flow, child, answer);
		return true;
	}
	osp_gate_wire_close(&loop->wire);
	block = make_block(peer->mine);
	gate_give_up_rights(peer->file, answer, child_most_s(limit_ms));
	set_blocking(peer->file, limit_ms);
	/* Not before somebody listens who reads nothing else. */
	if (!block || !osp_write_all(peer->file, "G", 1))
		_exit(1);
	figure = receive_bytes(peer->file, block);
	_exit(osp_write_all(answer, &figure, sizeof(figure)) ? 0 : 1);
}

static void end_flow(struct gate_flow *flow)
{
	close(flow->answer);
	osp_child_drop(flow->child);
	memset(flow, 0, sizeof(*flow));
}

/* --- figures ---------------------------------------------------------------------------------- */

/* Takes figures of this round only, and of links that were ordered. */
static void put_figure(struct gate_loop *loop, const struct osp_gate_link *figure)
{
	struct gate_measure *measure = &loop->measure;

	for (uint32_t i = 0; i < measure->order_count; i++) {
		struct osp_gate_link *link = &measure->orders[i];

		if (link->from != figure->from || link->to != figure->to || measure->reported[i])
			continue;
		link->gbps = figure->gbps;
		link->wrong = figure->wrong;
		measure->reported[i] = true;
		measure->missing--;
		return;
	}
}

/* Returns true if the flow has answered, or has ended without a word: then `figure` is nothing. */
static bool read_flow(const struct gate_flow *flow, struct figure *figure)
{
	ssize_t count;

	if (!flow->child)
		return false;
	count = read(flow->answer, figure, sizeof(*figure));
	if (count < 0)
		return false;
	if (count != sizeof(*figure))
		memset(figure, 0, sizeof(*figure));
	return true;
}

static void read_flows(struct gate_loop *loop)
{
	struct gate_measure *measure = &loop->measure;
	const char *root = loop->job->root;
	struct figure figure;

	for (int i = 0; i < GATE_FLOWS_MAX; i++) {
		struct gate_flow *flow = &measure->flows[i], *sender = &measure->senders[i];
		struct osp_gate_link link = {.from = flow->from, .to = loop->wire.rank};

		if (read_flow(sender, &figure)) {
			gate_around_add(&measure->around, root, sender->child, sender->begun_ns, 0,
					figure.bytes);
			end_flow(sender);
		}
		if (flow->round != measure->round || !read_flow(flow, &figure))
			continue;
		link.gbps = figure.gbps;
		link.wrong = figure.wrong;
		put_figure(loop, &link);
		gate_around_add(&measure->around, root, flow->child, flow->begun_ns, figure.bytes,
				0);
		end_flow(flow);
	}
}

static bool sends(const struct gate_loop *loop)
{
	for (int i = 0; i < GATE_FLOWS_MAX; i++)
		if (loop->measure.senders[i].child)
			return true;
	return false;
}

static uint32_t own_missing(const struct gate_loop *loop)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < loop->measure.order_count; i++)
		missing +=
			loop->measure.orders[i].to == loop->wire.rank && !loop->measure.reported[i];
	return missing;
}

static void write_links(struct osp_text *message, const struct osp_gate_header *header,
			const void *links, uint32_t count)
{
	osp_gate_write_links(message, header, links, count);
}

static void report_links(struct gate_loop *loop, const struct osp_gate_link *links, uint32_t count)
{
	gate_send_above(loop, &(struct gate_outgoing){OSP_GATE_MESSAGE_LINKS, loop->measure.round,
						      write_links, links, count});
}

/* Reports what this node received; what did not come is nothing. */
static void report_own(struct gate_loop *loop)
{
	struct osp_gate_link *own = calloc(loop->measure.order_count + 1, sizeof(*own));
	uint32_t count = 0;

	for (uint32_t i = 0; own && i < loop->measure.order_count; i++)
		if (loop->measure.orders[i].to == loop->wire.rank)
			own[count++] = loop->measure.orders[i];
	if (count)
		report_links(loop, own, count);
	free(own);
	loop->measure.links_reported = true;
}

static void write_traffic(struct osp_text *message, const struct osp_gate_header *header,
			  const void *traffic, uint32_t count)
{
	osp_gate_write_traffic(message, header, traffic, count);
}

static void report_traffic(struct gate_loop *loop, const struct osp_gate_traffic *traffic,
			   uint32_t count)
{
	gate_send_above(loop, &(struct gate_outgoing){OSP_GATE_MESSAGE_TRAFFIC, loop->measure.round,
						      write_traffic, traffic, count});
}

/* Reports what this node saw around the round, once all of its part in it is over. A reading that
 * began within the round's time has READ_MS more. */
static void report_around(struct gate_loop *loop, uint64_t now_ms)
{
	struct gate_measure *measure = &loop->measure;
	const struct sockaddr_storage *own = loop->own_bound ? &loop->own : NULL;
	bool ended = !sends(loop) && !own_missing(loop), over = now_ms >= measure->until_ms;
	struct osp_gate_traffic traffic;

	if (measure->own_reported || (!over && !ended))
		return;
	if (ended)
		gate_around_ended(&measure->around, loop->job->root, own);
	if (!gate_around_take(&measure->around, now_ms >= measure->until_ms + (ended ? READ_MS : 0),
			      &traffic))
		return;
	traffic.rank = loop->wire.rank;
	if (measure->decides)
		gate_arounds_put(&measure->arounds, &traffic);
	else if (measure->takes_part)
		report_traffic(loop, &traffic, 1);
	measure->own_reported = true;
}

void gate_measure_hear(struct gate_loop *loop, const struct osp_gate_message *message)
{
	if (message->header.round != loop->measure.round)
		return;
	if (!loop->measure.decides) {
		report_links(loop, message->links, message->count);
		return;
	}
	for (uint32_t i = 0; i < message->count; i++)
		put_figure(loop, &message->links[i]);
}

void gate_measure_hear_traffic(struct gate_loop *loop, const struct osp_gate_message *message)
{
	if (message->header.round != loop->measure.round)
		return;
	if (!loop->measure.decides) {
		report_traffic(loop, message->traffic, message->count);
		return;
	}
	for (uint32_t i = 0; i < message->count; i++)
		gate_arounds_put(&loop->measure.arounds, &message->traffic[i]);
}

/* --- orders ----------------------------------------------------------------------------------- */

/* Takes `links` over. */
static void begin_round(struct gate_loop *loop, uint32_t round, struct osp_gate_link *links,
			uint32_t count)
{
	struct gate_measure *measure = &loop->measure;

	free(measure->orders);
	free(measure->reported);
	measure->round = round;
	measure->orders = links;
	measure->order_count = count;
	measure->missing = count;
	measure->reported = calloc(count + 1, sizeof(*measure->reported));
	measure->links_reported = false;
	measure->own_reported = false;
	measure->takes_part = false;
	measure->until_ms = gate_now_ms(loop) + round_ms(loop);
	if (!measure->reported ||
	    (measure->decides &&
	     !gate_arounds_begin(&measure->arounds, links, count, loop->wire.node_count))) {
		measure->order_count = 0;
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		measure->takes_part = measure->takes_part || links[i].from == loop->wire.rank ||
				      links[i].to == loop->wire.rank;
	if (measure->takes_part)
		gate_around_begin(&measure->around, loop->job->root,
				  loop->own_bound ? &loop->own : NULL);
	gate_send_below(loop, &(struct gate_outgoing){OSP_GATE_MESSAGE_ORDER, round, write_links,
						      links, count});
	for (uint32_t i = 0; i < count; i++)
		if (links[i].from == loop->wire.rank)
			start_sending(loop, links[i].to);
}

void gate_measure_order(struct gate_loop *loop, const struct osp_gate_message *message)
{
	struct osp_gate_link *links = calloc(message->count + 1, sizeof(*links));

	if (!links || message->header.round <= loop->measure.round) {
		free(links);
		return;
	}
	if (message->count)
		memcpy(links, message->links, message->count * sizeof(*links));
	for (uint32_t i = 0; i < message->count; i++) {
		links[i].gbps = 0;
		links[i].wrong = false;
	}
	begin_round(loop, message->header.round, links, message->count);
}

bool gate_measuring(const struct gate_loop *loop)
{
	const struct gate_measure *measure = &loop->measure;

	if (!measure->round)
		return false;
	return measure->decides ? !measure->done
				: !(measure->own_reported && measure->links_reported);
}

/* Begins the second round if the first was bad, and time is left; else all is measured. */
static void next_round(struct gate_loop *loop)
{
	struct gate_measure *measure = &loop->measure;
	struct osp_gate_link *links;
	int64_t count;

	measure->done = true;
	if (measure->arounds.now)
		gate_arounds_mark(&measure->arounds, measure->orders, measure->order_count,
				  loop->wire.node_count);
	if (measure->round == OSP_GATE_LINK_ROUNDS)
		return;
	measure->ring.links = measure->orders; /* marked */
	measure->ring.count = measure->order_count;
	measure->orders = NULL;
	measure->order_count = 0;
	links = calloc(5 * (size_t)loop->wire.node_count, sizeof(*links));
	count = links ? osp_gate_links_again(&measure->ring, loop->wire.node_count, links) : 0;
	if (count > 0 &&
	    gate_now_ms(loop) + ROUND_MS + REPORT_MS < loop->barrier.times.verdict_ms) {
		measure->done = false;
		begin_round(loop, OSP_GATE_LINK_ROUNDS, links, (uint32_t)count);
	} else {
		free(links);
	}
}

void gate_measure_serve(struct gate_loop *loop)
{
	struct gate_measure *measure = &loop->measure;
	uint64_t now_ms = gate_now_ms(loop);

	if (!gate_measuring(loop))
		return;
	read_flows(loop);
	if (measure->takes_part)
		report_around(loop, now_ms);
	else
		measure->own_reported = true;
	if (!measure->decides) {
		if (!measure->links_reported && (!own_missing(loop) || now_ms >= measure->until_ms))
			report_own(loop);
		return;
	}
	if ((!measure->missing && !measure->arounds.missing) ||
	    now_ms >= measure->until_ms + REPORT_MS)
		next_round(loop);
}

/* --- the decider ------------------------------------------------------------------------------ */

bool gate_measure_start(struct gate_loop *loop, const struct osp_gate_report *reports)
{
	uint32_t count = loop->wire.node_count;
	bool *fit = calloc(count, sizeof(*fit));
	struct osp_gate_link *links = calloc(count, sizeof(*links));
	uint32_t link_count = 0;

	if (fit && links && loop->job->policy->network != OSP_GATE_NETWORK_OFF &&
	    gate_find_fit(reports, count, fit) &&
	    gate_now_ms(loop) + ROUND_MS + REPORT_MS < loop->barrier.times.verdict_ms)
		link_count = osp_gate_ring(fit, count, links);
	free(fit);
	if (!link_count) {
		free(links);
		return false;
	}
	loop->measure.decides = true;
	begin_round(loop, 1, links, link_count);
	return true;
}

static void blame(const struct gate_loop *loop, const struct osp_gate_blamed *blamed, float median,
		  struct osp_gate_report *report)
{
	bool sends = blamed->blame == OSP_GATE_BLAME_SENDS;

	if (blamed->wrong)
		snprintf(report->reason, sizeof(report->reason),
			 "onespine: network sends wrong bytes to %u node%s; ask", blamed->partners,
			 osp_plural_s(blamed->partners));
	else
		snprintf(report->reason, sizeof(report->reason),
			 "onespine: network %s %.3g Gb/s, %u partners < 25 %% of %.3g; ask",
			 sends ? "sends" : "receives", (double)blamed->gbps, blamed->partners,
			 (double)median);
	gate_blame(loop, report, blamed->wrong);
}

void gate_measure_judge(struct gate_loop *loop, struct osp_gate_report *reports)
{
	struct gate_measure *measure = &loop->measure;
	struct osp_gate_figures none = {.links = NULL};
	struct osp_gate_figures last = {.links = measure->orders, .count = measure->order_count};
	bool twice = measure->ring.links != NULL;
	const struct osp_gate_figures *ring = twice ? &measure->ring : &last;
	struct osp_gate_blamed *blamed = calloc(loop->wire.node_count, sizeof(*blamed));
	float median = osp_gate_links_median(ring);

	if (!blamed ||
	    osp_gate_links_judge(ring, twice ? &last : &none, loop->wire.node_count, blamed)) {
		free(blamed);
		return;
	}
	for (uint32_t i = 0; i < loop->wire.node_count; i++) {
		reports[i].speed = blamed[i].speed;
		if (blamed[i].blame >= OSP_GATE_BLAME_SENDS)
			blame(loop, &blamed[i], median, &reports[i]);
		else if (blamed[i].blame == OSP_GATE_BLAME_UNSURE)
			gate_pardon(loop, &reports[i], &measure->arounds.seen[i]);
		else if (blamed[i].blame == OSP_GATE_BLAME_LINK)
			osp_gate_log(
				loop->job,
				"the link between %s and %s is %s (%.3g of %.3g Gb/s), both are "
				"good with others",
				gate_name_of(loop, i), gate_name_of(loop, blamed[i].partner),
				blamed[i].wrong ? "wrong" : "slow", (double)blamed[i].gbps,
				(double)median);
	}
	free(blamed);
}

void gate_measure_free(struct gate_loop *loop)
{
	struct gate_measure *measure = &loop->measure;

	for (int i = 0; i < GATE_FLOWS_MAX; i++)
		if (measure->flows[i].child > 0)
			end_flow(&measure->flows[i]);
	for (int i = 0; i < GATE_FLOWS_MAX; i++)
		if (measure->senders[i].child > 0)
			end_flow(&measure->senders[i]);
	gate_around_end(&measure->around);
	gate_arounds_free(&measure->arounds);
	if (measure->ring.links != measure->orders)
		free(measure->ring.links);
	free(measure->orders);
	free(measure->reported);
}
