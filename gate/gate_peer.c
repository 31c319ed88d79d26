/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_peer.c - a connection between the gates of two nodes */
#include "onespine_config.h"
#include "gate/gate_peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define GREETING     "OSPG"
#define BACKLOG	     128
#define RESERVED_END 1024
#define RESERVED_LOW 600 /* as bindresvport(3) */
#define READ_BYTES   16384

/* --- what proves a message -------------------------------------------------------------------- */

int osp_gate_wire_open(struct osp_gate_wire *wire, const char *key_file, const char *socket,
		       uint32_t life_s, struct osp_error *error)
{
	const struct osp_seal_means means = {.key_file = key_file,
					     .munge_socket = socket,
					     .life_s = life_s,
					     .reader = geteuid()};

	return osp_seal_begin(&wire->seal, &means, error);
}

void osp_gate_wire_close(struct osp_gate_wire *wire)
{
	osp_seal_end(&wire->seal);
}

/* Opens a message that has a zero byte behind it. */
static int unseal(struct osp_gate_wire *wire, const char *sealed, size_t bytes,
		  struct osp_gate_message *message)
{
	size_t inside_bytes = 0;
	void *inside = osp_seal_open(&wire->seal, sealed, bytes, geteuid(), &inside_bytes);
	int state = -1;

	if (!inside)
		wire->dropped.unproven++;
	else if (osp_gate_read_message(inside, inside_bytes, message, NULL))
		wire->dropped.message++;
	else
		state = 0;
	free(inside);
	return state;
}

/* --- sockets ---------------------------------------------------------------------------------- */

static uint16_t port_of(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

static socklen_t set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET6) {
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
		return sizeof(struct sockaddr_in6);
	}
	((struct sockaddr_in *)address)->sin_port = htons(port);
	return sizeof(struct sockaddr_in);
}

static struct sockaddr_storage anywhere(int family)
{
	struct sockaddr_storage address = {.ss_family = (sa_family_t)family};

	return address; /* all zero is INADDR_ANY and in6addr_any */
}

bool osp_gate_is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

bool osp_gate_same_host(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr,
			       sizeof(struct in6_addr));
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

/* Makes the kernel notice within seconds, not hours, that a host is cut off. */
static void set_options(int file)
{
	int one = 1, idle_s = 3, interval_s = 1, count = 3, unanswered_ms = 6000;

	setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(file, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(file, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(file, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(file, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof(unanswered_ms));
}

static int new_socket(int family)
{
	int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (file >= 0)
		setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return file;
}

uint16_t osp_gate_port(uint16_t first, uint16_t last, uint32_t job, uint32_t n)
{
	return (uint16_t)(first + (job + n) % ((uint32_t)last - first + 1));
}

int osp_gate_listen(const struct sockaddr_storage *address, uint16_t first, uint16_t last,
		    uint32_t job, struct osp_error *error)
{
	struct sockaddr_storage at = address ? *address : anywhere(AF_INET);
	uint32_t count = (uint32_t)last - first + 1;

	for (uint32_t n = 0; n < count; n++) {
		int file = new_socket(at.ss_family);
		socklen_t length = set_port(&at, osp_gate_port(first, last, job, n));

		if (file >= 0 && bind(file, (struct sockaddr *)&at, length) == 0 &&
		    listen(file, BACKLOG) == 0)
			return file;
		if (file >= 0)
			close(file);
		if (errno != EADDRINUSE)
			break;
	}
	return osp_error_set(error, "no port of %u-%u can be had: %s", first, last,
			     strerror(errno));
}

static void new_challenge(uint8_t challenge[OSP_GATE_CHALLENGE_BYTES])
{
	ssize_t count;

	do
		count = getrandom(challenge, OSP_GATE_CHALLENGE_BYTES, 0);
	while (count < 0 && errno == EINTR);
}

static void start_peer(struct osp_gate_peer *peer, int file, enum osp_gate_peer_state state,
		       uint64_t until_ms)
{
	memset(peer, 0, sizeof(*peer));
	peer->file = file;
	peer->state = state;
	peer->rank = OSP_GATE_NOBODY;
	peer->until_ms = until_ms;
	new_challenge(peer->mine);
}

static void put_number(uint8_t **at, uint32_t number)
{
	number = htonl(number);
	memcpy(*at, &number, sizeof(number));
	*at += sizeof(number);
}

static void greet(const struct osp_gate_wire *wire, struct osp_gate_peer *peer)
{
	uint8_t greeting[OSP_GATE_GREETING_BYTES] = GREETING, *at = greeting + 4;

	*at++ = OSP_GATE_WIRE_VERSION;
	put_number(&at, wire->job);
	put_number(&at, wire->restarts);
	put_number(&at, wire->rank);
	memcpy(at, peer->mine, sizeof(peer->mine));
	osp_text_add_bytes(&peer->out, (const char *)greeting, sizeof(greeting));
}

int osp_gate_accept(struct osp_gate_wire *wire, int listener, struct osp_gate_peer *peer,
		    uint64_t until_ms)
{
	struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(from);
	int file =
		accept4(listener, (struct sockaddr *)&from, &length, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (file < 0)
		return 0;
	if (port_of(&from) >= RESERVED_END) {
		wire->dropped.port++;
		close(file);
		return 0;
	}
	set_options(file);
	start_peer(peer, file, OSP_GATE_PEER_UNPROVEN, until_ms);
	peer->address = from;
	greet(wire, peer);
	return 1;
}

/* Takes any free reserved port; if there is none, the other end will refuse us. */
static void take_reserved_port(int file, const struct sockaddr_storage *own, int family)
{
	struct sockaddr_storage at = own ? *own : anywhere(family);
	uint32_t start = 0, count = RESERVED_END - RESERVED_LOW;

	if (getrandom(&start, sizeof(start), 0) < 0)
		start = (uint32_t)getpid();
	for (uint32_t n = 0; n < count; n++) {
		socklen_t length = set_port(&at, (uint16_t)(RESERVED_LOW + (start + n) % count));

		if (bind(file, (struct sockaddr *)&at, length) == 0 || errno != EADDRINUSE)
			return;
	}
}

int osp_gate_connect(struct osp_gate_peer *peer, const struct sockaddr_storage *address,
		     uint16_t port, const struct sockaddr_storage *own, uint64_t until_ms)
{
	struct sockaddr_storage to = *address;
	int file = new_socket(to.ss_family);
	socklen_t length = set_port(&to, port);

	if (file < 0)
		return -1;
	set_options(file);
	take_reserved_port(file, own && own->ss_family == to.ss_family ? own : NULL, to.ss_family);
	if (connect(file, (struct sockaddr *)&to, length) < 0 && errno != EINPROGRESS) {
		close(file);
		return -1;
	}
	start_peer(peer, file, OSP_GATE_PEER_CONNECTING, until_ms);
	peer->address = to;
	return 0;
}

int osp_gate_connected(struct osp_gate_peer *peer)
{
	int state = 0;
	socklen_t length = sizeof(state);

	if (getsockopt(peer->file, SOL_SOCKET, SO_ERROR, &state, &length) < 0 || state)
		return -1;
	peer->state = OSP_GATE_PEER_GREETED;
	return 0;
}

/* --- bytes in and out ------------------------------------------------------------------------- */

int osp_gate_receive(struct osp_gate_wire *wire, struct osp_gate_peer *peer)
{
	char bytes[READ_BYTES];

	for (;;) {
		ssize_t count = read(peer->file, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (count <= 0)
			return -1;
		osp_text_add_bytes(&peer->in, bytes, (size_t)count);
		if (peer->in.failed)
			return -1;
		if (peer->in.length_bytes > wire->frame_bytes_max + READ_BYTES + 4) {
			wire->dropped.size++;
			return -1;
		}
		if ((size_t)count < sizeof(bytes))
			return 0;
	}
}

/* Drops the first `count` bytes of what came. */
static void consume(struct osp_text *in, size_t count)
{
	memmove(in->data, in->data + count, in->length_bytes - count);
	in->length_bytes -= count;
	in->data[in->length_bytes] = '\0';
}

int osp_gate_take_greeting(struct osp_gate_wire *wire, struct osp_gate_peer *peer, uint32_t rank)
{
	uint8_t wanted[OSP_GATE_GREETING_BYTES] = GREETING, *at = wanted + 4;
	size_t fixed = OSP_GATE_GREETING_BYTES - OSP_GATE_CHALLENGE_BYTES;

	if (peer->in.length_bytes < OSP_GATE_GREETING_BYTES)
		return 0;
	*at = (uint8_t)peer->in.data[4]; /* whatever it speaks */
	at++;
	put_number(&at, wire->job);
	put_number(&at, wire->restarts);
	put_number(&at, rank);
	if (memcmp(peer->in.data, wanted, fixed) != 0)
		return -1;
	memcpy(peer->theirs, peer->in.data + fixed, sizeof(peer->theirs));
	consume(&peer->in, OSP_GATE_GREETING_BYTES);
	peer->rank = rank;
	peer->version = wanted[4];
	peer->state = OSP_GATE_PEER_KNOWN;
	return 1;
}

bool osp_gate_is_other(const struct osp_gate_peer *peer)
{
	return peer->version != OSP_GATE_WIRE_VERSION;
}

static bool addressed_to_us(const struct osp_gate_wire *wire, const struct osp_gate_peer *peer,
			    const struct osp_gate_header *header)
{
	return header->job == wire->job && header->restarts == wire->restarts &&
	       header->node_count == wire->node_count && header->gang == wire->gang &&
	       header->to == wire->rank && header->from != wire->rank &&
	       (peer->state != OSP_GATE_PEER_KNOWN || header->from == peer->rank) &&
	       !memcmp(header->challenge, peer->mine, sizeof(peer->mine));
}

int osp_gate_take_message(struct osp_gate_wire *wire, struct osp_gate_peer *peer,
			  struct osp_gate_message *message)
{
	uint32_t length;
	char *sealed;
	int state;

	if (peer->in.length_bytes < sizeof(length))
		return 0;
	memcpy(&length, peer->in.data, sizeof(length));
	length = ntohl(length);
	if (!length || length > wire->frame_bytes_max) {
		wire->dropped.size++;
		return -1;
	}
	if (peer->in.length_bytes < sizeof(length) + length)
		return 0;
	sealed = calloc(1, (size_t)length + 1);
	if (!sealed)
		return -1;
	memcpy(sealed, peer->in.data + sizeof(length), length);
	consume(&peer->in, sizeof(length) + length);
	state = unseal(wire, sealed, length, message);
	free(sealed);
	if (state)
		return -1;
	if (!addressed_to_us(wire, peer, &message->header)) {
		wire->dropped.message++;
		osp_gate_message_free(message);
		return -1;
	}
	memcpy(peer->theirs, message->header.nonce, sizeof(peer->theirs));
	peer->version = message->header.version;
	return 1;
}

struct osp_gate_header osp_gate_header_to(const struct osp_gate_wire *wire,
					  const struct osp_gate_peer *peer,
					  enum osp_gate_message_kind kind, uint32_t round)
{
	struct osp_gate_header header = {
		.kind = kind,
		.round = round,
		.job = wire->job,
		.restarts = wire->restarts,
		.node_count = wire->node_count,
		.gang = wire->gang,
		.from = wire->rank,
		.to = peer->rank,
	};

	memcpy(header.challenge, peer->theirs, sizeof(header.challenge));
	memcpy(header.nonce, peer->mine, sizeof(header.nonce));
	return header;
}

int osp_gate_seal(struct osp_gate_wire *wire, struct osp_gate_peer *peer, struct osp_text *message,
		  struct osp_error *error)
{
	struct osp_text sealed = OSP_TEXT_INIT;
	int rc = osp_seal_message(&wire->seal, message, &sealed, error);
	uint32_t length = htonl((uint32_t)sealed.length_bytes);

	osp_text_free(message);
	if (!rc && !sealed.failed) {
		osp_text_add_bytes(&peer->out, (const char *)&length, sizeof(length));
		osp_text_add_bytes(&peer->out, sealed.data, sealed.length_bytes);
	}
	if (!rc && (sealed.failed || peer->out.failed))
		rc = osp_error_set(error, "out of memory");
	osp_text_free(&sealed);
	return rc;
}

bool osp_gate_unsent(const struct osp_gate_peer *peer)
{
	return peer->sent_bytes < peer->out.length_bytes;
}

int osp_gate_flush(struct osp_gate_peer *peer)
{
	while (osp_gate_unsent(peer)) {
		ssize_t count = send(peer->file, peer->out.data + peer->sent_bytes,
				     peer->out.length_bytes - peer->sent_bytes, MSG_NOSIGNAL);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return 0;
		if (count < 0)
			return -1;
		peer->sent_bytes += (size_t)count;
	}
	osp_text_free(&peer->out);
	peer->sent_bytes = 0;
	return 0;
}

void osp_gate_hang_up(struct osp_gate_peer *peer)
{
	if (peer->file >= 0)
		close(peer->file);
	osp_text_free(&peer->in);
	osp_text_free(&peer->out);
	memset(peer, 0, sizeof(*peer));
	peer->file = -1;
}
