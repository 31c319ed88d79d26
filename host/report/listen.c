/* SPDX-License-Identifier: GPL-2.0-or-later */
/* listen.c - hears what nodes say of themselves, and keeps it in FILE.reports */
#include "onespine_config.h"
#include "host/report/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "host/files.h"
#include "host/report/known_nodes.h"
#include "host/report/report_wire.h"
#include "host/seal/seal.h"
#include "lib/topology/readers.h"
#include "lib/topology/report_book.h"

#define GUESTS_MAX    64
#define BACKLOG	      128
#define GUEST_MS      5000
#define SAVE_MS	      1000  /* between two writings of the file, if there is news */
#define SAVE_HEARD_MS 60000 /* if only times have changed */
#define PAUSE_MS      100   /* if this process has no file left for who waits */
#define REPORT_MS     60000 /* between two lines about what was dropped */
#define RESERVED_END  1024
#define FRAME_BYTES   (OSP_REPORT_LENGTH_BYTES + OSP_REPORT_SEALED_MAX)

/* Why something was dropped. */
enum drop {
	DROP_PORT,
	DROP_MANY,
	DROP_LATE,
	DROP_SIZE,
	DROP_SEAL,
	DROP_TEXT,
	DROP_STRANGER,
	DROP_ADDRESS,
	DROP_SOON,
	DROPS
};

static const char *const drop_words[DROPS] = {
	"from ports that users can have",
	"too many at once",
	"silent",
	"too long",
	"not root's",
	"no report",
	"of no node of Slurm's",
	"from a wrong address",
	"too soon",
};

struct guest {
	int file; /* -1: none */
	struct sockaddr_storage from;
	uint64_t until_ms;
	uint8_t challenge[OSP_REPORT_CHALLENGE_BYTES];
	size_t bytes;
	uint8_t in[FRAME_BYTES + 1];
};

struct osp_listen {
	int file;
	int wake; /* an eventfd: the thread is to end */
	pthread_t thread;
	char *path;
	char *key_file, *munge_socket;
	struct guest guests[GUESTS_MAX];
	uint32_t dropped[DROPS];
	struct osp_report_book *book; /* the thread's alone, after the start */
	struct osp_known_nodes *known;
	bool news;  /* a node says something else than the file */
	bool heard; /* the file's times are old */
	uint64_t saved_ms, reported_ms;
	char said[OSP_ERROR_TEXT_BYTES]; /* why the file was not written */
};

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* --- one report ------------------------------------------------------------------------------- */

static enum osp_report_answer drop(struct osp_listen *listen, enum drop why,
				   enum osp_report_answer answer)
{
	listen->dropped[why]++;
	return answer;
}

/* Takes a report that is proven to be root's. */
static enum osp_report_answer take(struct osp_listen *listen, const struct guest *guest,
				   const struct osp_place_report *report)
{
	int changed;

	switch (osp_known_nodes_judge(listen->known, report->node, &guest->from, now_ms())) {
	case OSP_KNOWN_STRANGER:
		return drop(listen, DROP_STRANGER, OSP_REPORT_STRANGER);
	case OSP_KNOWN_ELSEWHERE:
		return drop(listen, DROP_ADDRESS, OSP_REPORT_ADDRESS);
	case OSP_KNOWN_SOON:
		return drop(listen, DROP_SOON, OSP_REPORT_SOON);
	case OSP_KNOWN_HERE:
		break;
	}
	changed = osp_report_book_take(listen->book, report, (int64_t)time(NULL));
	if (changed < 0)
		return OSP_REPORT_REFUSED;
	listen->news = listen->news || changed;
	listen->heard = true;
	return OSP_REPORT_TAKEN;
}

/* Begins a seal with the present keys: they may be changed while the watch runs. */
static int begin_seal(const struct osp_listen *listen, struct osp_seal *seal,
		      struct osp_error *error)
{
	const struct osp_seal_means means = {.key_file = listen->key_file,
					     .munge_socket = listen->munge_socket,
					     .life_s = OSP_REPORT_LIFE_S,
					     .reader = 0};

	return osp_seal_begin(seal, &means, error);
}

/* Returns the report if root sealed it, to be freed, or NULL. */
static char *open_report(const struct osp_listen *listen, const struct guest *guest,
			 size_t *report_bytes)
{
	struct osp_seal seal;
	char *text = NULL;

	if (!begin_seal(listen, &seal, NULL))
		text = osp_seal_open(&seal, (const char *)guest->in + OSP_REPORT_LENGTH_BYTES,
				     guest->bytes - OSP_REPORT_LENGTH_BYTES, 0, report_bytes);
	osp_seal_end(&seal);
	return text;
}

/* Judges what a guest said, which is whole. */
static enum osp_report_answer judge(struct osp_listen *listen, struct guest *guest)
{
	struct osp_place_report report;
	size_t bytes = 0;
	char *text;
	int rc;

	guest->in[guest->bytes] = '\0';
	text = open_report(listen, guest, &bytes);
	if (!text)
		return drop(listen, DROP_SEAL, OSP_REPORT_REFUSED);
	rc = osp_report_read(text, bytes, &report, NULL);
	free(text);
	if (rc || memcmp(report.challenge, guest->challenge, sizeof(report.challenge)) != 0)
		return drop(listen, DROP_TEXT, OSP_REPORT_REFUSED);
	return take(listen, guest, &report);
}

/* --- guests ----------------------------------------------------------------------------------- */

static void send_off(struct guest *guest)
{
	if (guest->file >= 0)
		close(guest->file);
	guest->file = -1;
	guest->bytes = 0;
}

static void greet(struct guest *guest)
{
	uint8_t greeting[OSP_REPORT_GREETING_BYTES] = OSP_REPORT_MARK;
	uint32_t uid = htonl((uint32_t)geteuid());
	ssize_t count;

	do
		count = getrandom(guest->challenge, sizeof(guest->challenge), 0);
	while (count < 0 && errno == EINTR);
	greeting[OSP_REPORT_MARK_BYTES] = OSP_REPORT_WIRE_VERSION;
	memcpy(greeting + OSP_REPORT_MARK_BYTES + 1, &uid, sizeof(uid));
	memcpy(greeting + OSP_REPORT_MARK_BYTES + 1 + sizeof(uid), guest->challenge,
	       sizeof(guest->challenge));
	/* A socket that is new has room for it. */
	if (count != (ssize_t)sizeof(guest->challenge) ||
	    send(guest->file, greeting, sizeof(greeting), MSG_NOSIGNAL) !=
		    (ssize_t)sizeof(greeting))
		send_off(guest);
}

/* Finds a free place; if there is none, that of the guest who came first. */
static struct guest *place_for(struct osp_listen *listen)
{
	struct guest *oldest = &listen->guests[0];

	for (int i = 0; i < GUESTS_MAX; i++) {
		if (listen->guests[i].file < 0)
			return &listen->guests[i];
		if (listen->guests[i].until_ms < oldest->until_ms)
			oldest = &listen->guests[i];
	}
	listen->dropped[DROP_MANY]++;
	send_off(oldest);
	return oldest;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

/* Lets one in. Returns false when nobody waits. */
static bool let_in(struct osp_listen *listen)
{
	struct sockaddr_storage from = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(from);
	int file = accept4(listen->file, (struct sockaddr *)&from, &length,
			   SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct guest *guest;

	if (file < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM)
			poll(NULL, 0, PAUSE_MS);
		return errno == EINTR || errno == ECONNABORTED;
	}
	if (port_of(&from) >= RESERVED_END) {
		listen->dropped[DROP_PORT]++;
		close(file);
		return true;
	}
	guest = place_for(listen);
	guest->file = file;
	guest->from = from;
	guest->bytes = 0;
	guest->until_ms = now_ms() + GUEST_MS;
	greet(guest);
	return true;
}

/* Returns how many bytes the guest says in all; 0: too many; SIZE_MAX: not known yet. */
static size_t announced(const struct guest *guest)
{
	uint32_t length;

	if (guest->bytes < sizeof(length))
		return SIZE_MAX;
	memcpy(&length, guest->in, sizeof(length));
	length = ntohl(length);
	return length && length <= OSP_REPORT_SEALED_MAX ? sizeof(length) + length : 0;
}

/* Adds what proves to the node that its report was taken by a watch. */
static void add_receipt(const struct osp_listen *listen, const struct guest *guest,
			struct osp_text *out)
{
	struct osp_text receipt = OSP_TEXT_INIT, sealed = OSP_TEXT_INIT;
	struct osp_seal seal;
	uint32_t length;

	osp_text_add(&receipt, OSP_REPORT_RECEIPT);
	osp_text_add_bytes(&receipt, (const char *)guest->challenge, sizeof(guest->challenge));
	if (!begin_seal(listen, &seal, NULL) && !osp_seal_message(&seal, &receipt, &sealed, NULL) &&
	    sealed.data) {
		length = htonl((uint32_t)sealed.length_bytes);
		osp_text_add_bytes(out, (const char *)&length, sizeof(length));
		osp_text_add_bytes(out, sealed.data, sealed.length_bytes);
	}
	osp_seal_end(&seal);
	osp_text_free(&receipt);
	osp_text_free(&sealed);
}

static void answer(const struct osp_listen *listen, struct guest *guest,
		   enum osp_report_answer said)
{
	struct osp_text out = OSP_TEXT_INIT;
	char byte = (char)said;

	osp_text_add_bytes(&out, &byte, 1);
	if (said == OSP_REPORT_TAKEN)
		add_receipt(listen, guest, &out);
	/* whoever does not take it comes again */
	if (!out.failed && send(guest->file, out.data, out.length_bytes, MSG_NOSIGNAL) < 0)
		guest->bytes = 0;
	osp_text_free(&out);
	send_off(guest);
}

static void hear(struct osp_listen *listen, struct guest *guest)
{
	ssize_t count = read(guest->file, guest->in + guest->bytes, FRAME_BYTES - guest->bytes);
	size_t whole;

	if (count < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (count <= 0) {
		listen->dropped[DROP_LATE]++;
		send_off(guest);
		return;
	}
	guest->bytes += (size_t)count;
	whole = announced(guest);
	if (!whole || (whole != SIZE_MAX && guest->bytes > whole))
		answer(listen, guest, drop(listen, DROP_SIZE, OSP_REPORT_REFUSED));
	else if (guest->bytes == whole)
		answer(listen, guest, judge(listen, guest));
}

/* --- the file --------------------------------------------------------------------------------- */

static void save(struct osp_listen *listen)
{
	struct osp_error error = {.text = ""};
	char *text = osp_report_book_write(listen->book);
	int rc = text ? osp_write_trusted(listen->path, text, strlen(text), &error)
		      : osp_error_set(&error, "out of memory");

	free(text);
	listen->saved_ms = now_ms();
	if (!rc) {
		if (listen->news)
			kill(getpid(), SIGUSR1);
		listen->news = listen->heard = false;
	} else if (strcmp(listen->said, error.text) != 0) {
		printf("reports: %s\n", error.text);
		fflush(stdout);
	}
	snprintf(listen->said, sizeof(listen->said), "%s", error.text);
}

/* Returns when the file is to be written; UINT64_MAX: there is nothing new. */
static uint64_t save_due_ms(const struct osp_listen *listen)
{
	if (listen->news)
		return listen->saved_ms + SAVE_MS;
	return listen->heard ? listen->saved_ms + SAVE_HEARD_MS : UINT64_MAX;
}

static bool any_dropped(const struct osp_listen *listen)
{
	uint32_t sum = 0;

	for (int i = 0; i < DROPS; i++)
		sum |= listen->dropped[i];
	return sum;
}

/* Prints a line for the journal: what was dropped since the last one. */
static void report_dropped(struct osp_listen *listen)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *words;

	for (int i = 0; i < DROPS; i++) {
		if (listen->dropped[i])
			osp_text_printf(&text, "%s%u %s", text.length_bytes ? ", " : "",
					listen->dropped[i], drop_words[i]);
	}
	words = osp_text_take(&text);
	if (words)
		printf("reports dropped: %s\n", words);
	fflush(stdout);
	free(words);
	memset(listen->dropped, 0, sizeof(listen->dropped));
	listen->reported_ms = now_ms();
}

/* --- the thread ------------------------------------------------------------------------------- */

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Ends whom nobody waits for any longer. Returns how many milliseconds nothing is to be done; -1:
 * for ever. */
static int look_at_clock(struct osp_listen *listen)
{
	uint64_t now = now_ms(), due = save_due_ms(listen);

	if (due <= now)
		save(listen);
	due = save_due_ms(listen);
	if (any_dropped(listen) && listen->reported_ms + REPORT_MS <= now)
		report_dropped(listen);
	if (any_dropped(listen))
		due = lesser(due, listen->reported_ms + REPORT_MS);
	for (int i = 0; i < GUESTS_MAX; i++) {
		struct guest *guest = &listen->guests[i];

		if (guest->file >= 0 && guest->until_ms <= now) {
			listen->dropped[DROP_LATE]++;
			send_off(guest);
		}
		if (guest->file >= 0)
			due = lesser(due, guest->until_ms);
	}
	if (due == UINT64_MAX)
		return -1;
	return due > now ? (int)(due - now) : 0;
}

static void *run(void *context)
{
	struct osp_listen *listen = context;
	struct pollfd files[GUESTS_MAX + 2] = {{.fd = listen->wake, .events = POLLIN},
					       {.fd = listen->file, .events = POLLIN}};

	for (;;) {
		int rest_ms = look_at_clock(listen);

		for (int i = 0; i < GUESTS_MAX; i++)
			files[i + 2] =
				(struct pollfd){.fd = listen->guests[i].file, .events = POLLIN};
		if (poll(files, GUESTS_MAX + 2, rest_ms) < 0)
			continue;
		if (files[0].revents)
			break;
		for (int i = 0; i < GUESTS_MAX; i++) {
			if (files[i + 2].revents)
				hear(listen, &listen->guests[i]);
		}
		for (int i = 0; files[1].revents && i < GUESTS_MAX && let_in(listen); i++)
			;
	}
	return NULL;
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* Listens on all addresses: of both families, or of IPv4 alone. */
static int open_socket(int family, uint16_t port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
	int file = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1, no = 0;
	int rc;

	if (file < 0)
		return -1;
	setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (family == AF_INET6) {
		setsockopt(file, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
		rc = bind(file, (struct sockaddr *)&six, sizeof(six));
	} else {
		rc = bind(file, (struct sockaddr *)&four, sizeof(four));
	}
	if (!rc && !listen(file, BACKLOG))
		return file;
	rc = errno;
	close(file);
	errno = rc;
	return -1;
}

/* Reads what was heard before. A file that is wrong is reported, and replaced. */
static struct osp_report_book *read_before(const char *path)
{
	struct osp_error error = {.text = ""};
	struct osp_report_book *book = NULL;
	size_t bytes;
	char *text = access(path, F_OK) && errno == ENOENT
			     ? NULL
			     : osp_read_input(path, OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes, &error);

	if (text)
		book = osp_report_book_read(path, text, bytes, &error);
	free(text);
	if (error.text[0])
		printf("reports: %s; they are heard anew\n", error.text);
	return book ? book : osp_report_book_new();
}

static void end(struct osp_listen *listen)
{
	if (listen->file >= 0)
		close(listen->file);
	if (listen->wake >= 0)
		close(listen->wake);
	osp_report_book_free(listen->book);
	osp_known_nodes_free(listen->known);
	free(listen->path);
	free(listen->key_file);
	free(listen->munge_socket);
	free(listen);
}

static int begin(struct osp_listen *listen, uint16_t port, struct osp_error *error)
{
	struct osp_seal seal;
	int rc;

	if (!listen->path || !listen->book || !listen->known || !listen->key_file ||
	    !listen->munge_socket)
		return osp_error_set(error, "out of memory");
	rc = begin_seal(listen, &seal, error);
	osp_seal_end(&seal);
	if (rc)
		return rc;
	listen->file = open_socket(AF_INET6, port);
	if (listen->file < 0 && errno != EADDRINUSE)
		listen->file = open_socket(AF_INET, port);
	if (listen->file < 0)
		return osp_error_set(error, "watch.report_port %u cannot be had: %s", port,
				     strerror(errno));
	listen->wake = eventfd(0, EFD_CLOEXEC);
	if (listen->wake < 0 || pthread_create(&listen->thread, NULL, run, listen))
		return osp_error_set(error, "no thread that hears reports can be had");
	return 0;
}

struct osp_listen *osp_listen_begin(uint16_t port, const char *path, const char *key_file,
				    const char *munge_socket, struct osp_error *error)
{
	struct osp_listen *listen = calloc(1, sizeof(*listen));

	if (!listen) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	listen->file = listen->wake = -1;
	for (int i = 0; i < GUESTS_MAX; i++)
		listen->guests[i].file = -1;
	listen->key_file = strdup(key_file);
	listen->munge_socket = strdup(munge_socket);
	listen->path = strdup(path);
	listen->book = read_before(path);
	listen->known = osp_known_nodes_new();
	if (!begin(listen, port, error))
		return listen;
	end(listen);
	return NULL;
}

void osp_listen_know(struct osp_listen *listen, const struct osp_node_list *list)
{
	osp_known_nodes_set(listen->known, list);
}

void osp_listen_end(struct osp_listen *listen)
{
	uint64_t one = 1;

	if (!listen)
		return;
	while (write(listen->wake, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(listen->thread, NULL);
	for (int i = 0; i < GUESTS_MAX; i++)
		send_off(&listen->guests[i]);
	if (listen->news || listen->heard)
		save(listen);
	if (any_dropped(listen))
		report_dropped(listen);
	end(listen);
}
