/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence.c - names of evidence, and which of it makes room */
#include "lib/health/evidence.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SUFFIX	   ".json"
#define HEX_DIGITS 8
#define TAIL_BYTES (1 + HEX_DIGITS + 1 + HEX_DIGITS + sizeof(SUFFIX) - 1)

static const char *const kind_names[OSP_EVIDENCE_KINDS] = {"epilog", "error", "fail"};

bool osp_evidence_name(const struct osp_evidence *evidence, char *name, size_t name_bytes)
{
	time_t time_s = (time_t)evidence->time_s;
	char when[24] = "";
	struct tm utc;
	int length;

	if (!*evidence->node || strchr(evidence->node, '/'))
		return false;
	if (gmtime_r(&time_s, &utc))
		strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
	length = snprintf(name, name_bytes, "%s-%s-%u-%s-%08x-%08x" SUFFIX,
			  kind_names[evidence->kind], evidence->node, evidence->job, when,
			  evidence->saw, evidence->random);
	return length > 0 && (size_t)length < name_bytes;
}

/* Reads eight hex digits after a dash: "-0badcafe". */
static bool read_hex(const char *at, uint32_t *number)
{
	char digits[HEX_DIGITS + 1];

	if (*at != '-')
		return false;
	for (size_t i = 0; i < HEX_DIGITS; i++)
		if (!isxdigit((unsigned char)at[1 + i]))
			return false;
	memcpy(digits, at + 1, HEX_DIGITS);
	digits[HEX_DIGITS] = '\0';
	*number = (uint32_t)strtoul(digits, NULL, 16);
	return true;
}

bool osp_evidence_parse(const char *name, enum osp_evidence_kind *kind, uint32_t *saw)
{
	size_t length = strlen(name), head;
	const char *tail;
	uint32_t random;

	if (length <= TAIL_BYTES)
		return false;
	tail = name + length - TAIL_BYTES;
	if (strcmp(name + length - (sizeof(SUFFIX) - 1), SUFFIX) != 0 || !read_hex(tail, saw) ||
	    !read_hex(tail + 1 + HEX_DIGITS, &random))
		return false;
	for (int i = 0; i < OSP_EVIDENCE_KINDS; i++) {
		head = strlen(kind_names[i]);
		if (!strncmp(name, kind_names[i], head) && name[head] == '-') {
			*kind = (enum osp_evidence_kind)i;
			return true;
		}
	}
	return false;
}

bool osp_evidence_repeats(const struct osp_evidence *evidence,
			  const struct osp_evidence_file *files, size_t count)
{
	enum osp_evidence_kind kind;
	uint32_t saw;

	if (evidence->kind == OSP_EVIDENCE_FAIL)
		return false;
	for (size_t i = 0; i < count; i++)
		if (osp_evidence_parse(files[i].name, &kind, &saw) && kind == evidence->kind &&
		    saw == evidence->saw)
			return true;
	return false;
}

/* --- room ------------------------------------------------------------------------------------- */

/* Returns the kind of a file; a file that is no evidence sorts last and is never removed. */
static int kind_of(const struct osp_evidence_file *file)
{
	enum osp_evidence_kind kind;
	uint32_t saw;

	return osp_evidence_parse(file->name, &kind, &saw) ? (int)kind : OSP_EVIDENCE_KINDS;
}

static int compare(const void *a, const void *b)
{
	const struct osp_evidence_file *one = a, *other = b;
	int one_kind = kind_of(one), other_kind = kind_of(other);

	if (one_kind != other_kind)
		return one_kind < other_kind ? -1 : 1;
	if (one->time_s != other->time_s)
		return one->time_s < other->time_s ? -1 : 1;
	return strcmp(one->name, other->name);
}

size_t osp_evidence_make_room(struct osp_evidence_file *files, size_t count,
			      enum osp_evidence_kind kind, uint64_t bytes)
{
	uint64_t total = bytes;
	size_t kept = 1, gone = 0;

	if (count)
		qsort(files, count, sizeof(*files), compare);
	for (size_t i = 0; i < count; i++) {
		if (kind_of(&files[i]) == OSP_EVIDENCE_KINDS)
			continue;
		total += files[i].bytes;
		kept++;
	}
	while (kept > OSP_EVIDENCE_FILES_MAX || total > OSP_EVIDENCE_BYTES_MAX) {
		if (gone == count || kind_of(&files[gone]) > (int)kind)
			return SIZE_MAX;
		total -= files[gone++].bytes;
		kept--;
	}
	return gone;
}
