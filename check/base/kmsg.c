/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kmsg.c - the kernel's own records since boot, and the XIDs and SXids in them */
#include "check/base/kmsg.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/root.h"

#define LOG_BYTES_MAX ((size_t)64 * 1024 * 1024)
#define XID_MOST      9999
#define SXID_MOST     99999

/* Reads a decimal number up to the character `end`. Returns the position after it, or NULL. */
static char *take_number(char *text, char end, uint64_t *number)
{
	char *after;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	*number = strtoull(text, &after, 10);
	return errno == 0 && *after == end ? after + 1 : NULL;
}

bool osp_kmsg_parse(char *line, struct osp_kmsg_record *record)
{
	uint64_t priority, sequence, time_us;
	char *at = take_number(line, ',', &priority);

	at = at ? take_number(at, ',', &sequence) : NULL;
	at = at ? take_number(at, ',', &time_us) : NULL;
	at = at ? strchr(at, ';') : NULL;
	if (!at || priority > UINT_MAX)
		return false;
	record->facility = (unsigned int)priority >> 3;
	record->sequence = sequence;
	record->time_us = time_us;
	record->text = at + 1;
	return true;
}

bool osp_kmsg_is_netfilters(const char *text)
{
	const char *in = strstr(text, "IN=");

	return in && strstr(in, " OUT=");
}

/* Parses "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)". */
static unsigned int recovery_of(const char *text)
{
	const char *to = strstr(text, ") to 0x");

	return to ? (unsigned int)(strtoul(to + strlen(") to "), NULL, 16) & 0xff) : UINT_MAX;
}

#define HEX "0123456789abcdefABCDEF"

/* Returns whether it is a whole PCI address, "0000:3b:00" or "0000:3b:00.0". A kernel message may
 * begin with the name of a user's process, which has room for "NVRM: Xid (PCI:" and for no more. */
static bool is_address(const char *address)
{
	size_t domain = strspn(address, HEX);
	const char *at = address + domain;

	if (domain < 4)
		return false;
	for (int i = 0; i < 2; i++, at += 3)
		if (*at != ':' || strspn(at + 1, HEX) != 2)
			return false;
	return !*at || (*at == '.' && strspn(at + 1, HEX) == 1 && !at[2]);
}

/* Parses "(PCI:0000:3b:00" and what follows in the brackets. Returns the position after "): ", or
 * NULL. */
static const char *take_address(const char *at, struct osp_xid *xid, const char **attributes)
{
	static const char start[] = "(PCI:";
	const char *end;
	size_t length;

	if (strncmp(at, start, sizeof(start) - 1) != 0)
		return NULL;
	at += sizeof(start) - 1;
	length = strspn(at, HEX ":.");
	end = strstr(at, "): ");
	if (!length || length >= sizeof(xid->address) || !end || end < at + length)
		return NULL;
	memcpy(xid->address, at, length);
	xid->address[length] = '\0';
	if (!is_address(xid->address))
		return NULL;
	*attributes = at + length;
	return end + strlen("): ");
}

/* Parses " GPU-I:05" and " GPU-CI:00", in this order, up to the bracket. */
static bool take_instances(const char *at, struct osp_xid *xid)
{
	static const char *const names[] = {" GPU-I:", " GPU-CI:"};
	int *const instances[] = {&xid->gpu_instance, &xid->compute_instance};

	for (size_t i = 0; i < 2; i++) {
		size_t name = strlen(names[i]), digits;

		*instances[i] = -1;
		if (strncmp(at, names[i], name) != 0)
			continue;
		digits = strspn(at + name, "0123456789");
		if (!digits || digits > 4)
			return false;
		*instances[i] = atoi(at + name);
		at += name + digits;
	}
	return *at == ')';
}

/* Parses the number. Returns what follows it, or NULL if there is none. */
static const char *take_code(const char *at, const struct osp_kmsg_record *record,
			     unsigned long most, struct osp_xid *xid)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)*at))
		return NULL;
	number = strtoul(at, &end, 10);
	if (number > most || (*end && *end != ',' && *end != ' '))
		return NULL;
	xid->number = (unsigned int)number;
	xid->sequence = record->sequence;
	xid->time_us = record->time_us;
	return end;
}

bool osp_xid_parse(const struct osp_kmsg_record *record, struct osp_xid *xid)
{
	static const char start[] = "NVRM: Xid ";
	const char *at = record->text, *attributes;

	memset(xid, 0, sizeof(*xid));
	if (record->facility != 0 || strncmp(at, start, sizeof(start) - 1) != 0)
		return false;
	at = take_address(at + sizeof(start) - 1, xid, &attributes);
	if (!at || !take_instances(attributes, xid))
		return false;
	at = take_code(at, record, XID_MOST, xid);
	if (at && xid->number == 154)
		xid->recovery = recovery_of(at);
	return at;
}

bool osp_sxid_parse(const struct osp_kmsg_record *record, struct osp_xid *xid)
{
	static const char start[] = "nvidia-nvswitch", middle[] = ": SXid ";
	const char *at = record->text, *attributes;

	memset(xid, 0, sizeof(*xid));
	if (record->facility != 0 || strncmp(at, start, sizeof(start) - 1) != 0)
		return false;
	at += sizeof(start) - 1;
	at += strspn(at, "0123456789");
	if (strncmp(at, middle, sizeof(middle) - 1) != 0)
		return false;
	at = take_address(at + sizeof(middle) - 1, xid, &attributes);
	at = at && *attributes == ')' ? take_code(at, record, SXID_MOST, xid) : NULL;
	if (!at)
		return false;
	xid->of_switch = true;
	xid->gpu_instance = xid->compute_instance = -1;
	xid->fatal = strncmp(at, ", Fatal", 7) == 0;
	return xid->fatal || strncmp(at, ", Non-fatal", 11) == 0;
}

/* --- the log ---------------------------------------------------------------------------------- */

struct log {
	void (*take)(void *context, const struct osp_xid *xid);
	void *context;
	struct osp_kmsg_span *span;
	bool users_netfilter; /* rules of any network namespace write to the log */
};

static void take_line(const struct log *log, char *line)
{
	struct osp_kmsg_record record;
	struct osp_xid xid;

	if (!osp_kmsg_parse(line, &record))
		return;
	if (log->span->next == 0) {
		log->span->first = record.sequence;
		log->span->first_us = record.time_us;
	}
	if (record.sequence >= log->span->next)
		log->span->next = record.sequence + 1;
	if (log->users_netfilter && osp_kmsg_is_netfilters(record.text))
		return;
	if (osp_xid_parse(&record, &xid) || osp_sxid_parse(&record, &xid))
		log->take(log->context, &xid);
}

/* Takes the whole lines at the start of the buffer, and moves the rest of the last one there. */
static size_t take_lines(const struct log *log, char *buffer, size_t length)
{
	char *line = buffer, *end;

	while ((end = memchr(line, '\n', length - (size_t)(line - buffer)))) {
		*end = '\0';
		take_line(log, line);
		line = end + 1;
	}
	length -= (size_t)(line - buffer);
	memmove(buffer, line, length);
	return length;
}

static int read_log(const struct log *log, int file)
{
	char buffer[2 * OSP_KMSG_RECORD_BYTES];
	size_t length = 0, total = 0;

	while (total < LOG_BYTES_MAX) {
		ssize_t count = read(file, buffer + length, sizeof(buffer) - 1 - length);

		/* EPIPE: records were overwritten meanwhile; the next read goes on. */
		if (count < 0 && (errno == EINTR || errno == EPIPE))
			continue;
		if (count < 0 && errno != EAGAIN)
			return errno;
		if (count <= 0)
			break;
		total += (size_t)count;
		length = take_lines(log, buffer, length + (size_t)count);
		/* A line longer than any record is no record. */
		if (length > OSP_KMSG_RECORD_BYTES)
			length = 0;
	}
	return 0;
}

int osp_kmsg_xids(const char *root, void (*take)(void *context, const struct osp_xid *xid),
		  void *context, struct osp_kmsg_span *span)
{
	struct osp_kmsg_span own;
	struct log log = {take, context, span ? span : &own, false};
	char path[OSP_PATH_BYTES];
	uint64_t all_netns = 0;
	int file, state;

	memset(log.span, 0, sizeof(*log.span));
	log.users_netfilter =
		osp_root_number(root, &all_netns, "proc/sys/net/netfilter/nf_log_all_netns") &&
		all_netns;
	if (!osp_root_path(root, path, sizeof(path), "dev/kmsg"))
		return errno;
	file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (file < 0)
		return errno;
	state = read_log(&log, file);
	close(file);
	return state;
}

/* --- the catalogue ---------------------------------------------------------------------------- */

/* NVIDIA's XID catalogue of 2025, column "immediate action". It says "workflow" for 45, 48 and 74:
 * 45 alone is the end of a program, 48 is an uncorrectable error, 74 an NVLink fault. 144 to 150
 * need their text decoded, so somebody must look. For 109 (a context did not give way in time) it
 * asks for a reset, but a kernel that cannot be interrupted causes it as well as a GPU that hangs:
 * with a synthetic load in two of two tries (NVIDIA/open-gpu-kernel-modules 1243; also 1097, 1146).
 * 119 (the GPU's system processor does not answer) came from ordinary programs with drivers 525
 * before 525.105.17, by NVIDIA's own release notes (there, 446). 120 (its software ended) followed
 * an X server from card to card, by way of the display (there, 1214), which no node for jobs
 * drives, so it fails. 62 (firmware stopped) is hardware, driver or heat in NVIDIA's table, and no
 * report was found of a program that causes it (there, 942 and 1045: it comes first, and 45, the
 * end of programs, after it), so it fails. Whatever a program did, a GPU that needs a reset says so
 * itself: XID 154 and NVML's recovery action, which fail. */
static const struct {
	unsigned char first;
	unsigned char last;
	enum osp_xid_action action;
} catalogue[] = {
	{8, 8, OSP_XID_APPLICATION},	 {11, 11, OSP_XID_APPLICATION},
	{13, 13, OSP_XID_APPLICATION},	 {14, 14, OSP_XID_IGNORE},
	{25, 25, OSP_XID_APPLICATION},	 {31, 32, OSP_XID_APPLICATION},
	{37, 38, OSP_XID_IGNORE},	 {39, 41, OSP_XID_APPLICATION},
	{43, 44, OSP_XID_IGNORE},	 {45, 45, OSP_XID_APPLICATION},
	{46, 46, OSP_XID_RESET},	 {48, 48, OSP_XID_RESET},
	{54, 54, OSP_XID_LOOK},		 {60, 60, OSP_XID_APPLICATION},
	{62, 62, OSP_XID_RESET},	 {63, 63, OSP_XID_IGNORE},
	{64, 64, OSP_XID_RESET},	 {66, 67, OSP_XID_IGNORE},
	{68, 72, OSP_XID_APPLICATION},	 {74, 74, OSP_XID_RESET},
	{75, 77, OSP_XID_APPLICATION},	 {78, 78, OSP_XID_LOOK},
	{79, 79, OSP_XID_REBOOT},	 {80, 80, OSP_XID_APPLICATION},
	{82, 86, OSP_XID_APPLICATION},	 {88, 89, OSP_XID_APPLICATION},
	{92, 93, OSP_XID_IGNORE},	 {94, 94, OSP_XID_APPLICATION},
	{95, 95, OSP_XID_RESET},	 {96, 105, OSP_XID_APPLICATION},
	{106, 107, OSP_XID_IGNORE},	 {109, 109, OSP_XID_EITHER},
	{110, 110, OSP_XID_RESET},	 {119, 119, OSP_XID_EITHER},
	{120, 120, OSP_XID_RESET},	 {121, 121, OSP_XID_IGNORE},
	{126, 135, OSP_XID_APPLICATION}, {136, 136, OSP_XID_RESET},
	{137, 137, OSP_XID_IGNORE},	 {139, 139, OSP_XID_APPLICATION},
	{140, 140, OSP_XID_RESET},	 {141, 141, OSP_XID_IGNORE},
	{142, 142, OSP_XID_LOOK},	 {143, 143, OSP_XID_RESET},
	{144, 150, OSP_XID_LOOK},	 {151, 151, OSP_XID_REBOOT},
	{152, 153, OSP_XID_IGNORE},	 {155, 156, OSP_XID_RESET},
	{157, 157, OSP_XID_IGNORE},	 {158, 158, OSP_XID_RESET},
	{159, 159, OSP_XID_LOOK},	 {160, 165, OSP_XID_IGNORE},
};

enum osp_xid_action osp_xid_action(unsigned int number)
{
	for (size_t i = 0; i < sizeof(catalogue) / sizeof(catalogue[0]); i++)
		if (number >= catalogue[i].first && number <= catalogue[i].last)
			return catalogue[i].action;
	return OSP_XID_UNKNOWN;
}

const char *osp_xid_words(unsigned int number)
{
	switch (number) {
	case 48:
		return "uncorrectable memory error";
	case 62:
		return "the GPU's own firmware stopped";
	case 64:
		return "a bad page or row could not be recorded";
	case 74:
		return "NVLink error";
	case 79:
		return "the GPU has fallen off the bus";
	case 95:
		return "uncontained memory error";
	case 109:
		return "a context did not give way in time";
	case 119:
	case 120:
		return "the GPU's system processor does not answer";
	case 140:
		return "unrecovered memory error";
	case 154:
		return "the driver asks for recovery";
	default:
		return "";
	}
}
