/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report.c - what a node says of its own place in the fabric */
#include "lib/topology/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_KEY "onespine-report"
#define VERSION	    "1"
#define BOOT_MAX_S  INT64_C(253402300799) /* the year 9999 */

/* --- words ------------------------------------------------------------------------------------ */

static bool is_word(const char *word, size_t length, size_t room)
{
	if (!length || length >= room)
		return false;
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)word[i] <= ' ' || (unsigned char)word[i] > '~')
			return false;
	}
	return true;
}

const char *osp_report_word(char to[OSP_REPORT_WORD_BYTES], const char *word)
{
	size_t length = word ? strlen(word) : 0;

	*to = '\0';
	if (is_word(word, length, OSP_REPORT_WORD_BYTES))
		memcpy(to, word, length + 1);
	return to;
}

void osp_report_nvlink(char to[OSP_REPORT_WORD_BYTES], const uint8_t uuid[16], uint32_t clique)
{
	char digits[33];
	uint8_t any = 0;

	for (int i = 0; i < 16; i++) {
		snprintf(digits + 2 * i, 3, "%02x", uuid[i]);
		any |= uuid[i];
	}
	if (any)
		snprintf(to, OSP_REPORT_WORD_BYTES, "%.8s-%.4s-%.4s-%.4s-%.12s.%" PRIu32, digits,
			 digits + 8, digits + 12, digits + 16, digits + 20, clique);
	else
		snprintf(to, OSP_REPORT_WORD_BYTES, OSP_REPORT_NONE);
}

const char *osp_report_domain(const struct osp_place_report *report,
			      char buffer[OSP_REPORT_WORD_BYTES + 8])
{
	if (*report->nvlink && strcmp(report->nvlink, OSP_REPORT_NONE) != 0)
		return report->nvlink;
	if (!*report->neuron || !strcmp(report->neuron, OSP_REPORT_NONE))
		return NULL;
	snprintf(buffer, OSP_REPORT_WORD_BYTES + 8, "neuron-%s", report->neuron);
	return buffer;
}

bool osp_report_add_leaf(struct osp_place_report *report, uint64_t guid)
{
	uint32_t at = 0;

	while (at < report->leaf_count && report->leaves[at] < guid)
		at++;
	if (at < report->leaf_count && report->leaves[at] == guid)
		return true;
	if (report->leaf_count == OSP_REPORT_LEAVES_MAX)
		return false;
	memmove(&report->leaves[at + 1], &report->leaves[at],
		(report->leaf_count - at) * sizeof(report->leaves[0]));
	report->leaves[at] = guid;
	report->leaf_count++;
	return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_word(struct osp_text *text, const char *key, const char *word)
{
	if (*word)
		osp_text_printf(text, "%s %s\n", key, word);
}

void osp_report_write(const struct osp_place_report *report, struct osp_text *text)
{
	osp_text_add(text, VERSION_KEY " " VERSION "\nchallenge ");
	for (size_t i = 0; i < sizeof(report->challenge); i++)
		osp_text_printf(text, "%02x", report->challenge[i]);
	osp_text_printf(text, "\nnode %s\nboot %" PRId64 "\n", report->node, report->boot_s);
	write_word(text, "instance", report->instance);
	write_word(text, "nvlink", report->nvlink);
	write_word(text, "neuron", report->neuron);
	if (report->leaves_known && !report->leaf_count)
		write_word(text, "leaf", OSP_REPORT_NONE);
	for (uint32_t i = 0; report->leaves_known && i < report->leaf_count; i++)
		osp_text_printf(text, "leaf 0x%016" PRIx64 "\n", report->leaves[i]);
}

/* --- reading ---------------------------------------------------------------------------------- */

struct reading {
	struct osp_place_report *report;
	struct osp_error *error;
	int line;
	unsigned int seen; /* a bit for each key */
	bool no_leaf;	   /* "leaf -" */
};

static int wrong(struct reading *reading, const char *why)
{
	return osp_error_at(reading->error, "report", reading->line, 0, "%s", why);
}

/* Reads hexadecimal digits, all of them. */
static bool read_hex(const char *word, size_t digits, uint8_t *bytes)
{
	for (size_t i = 0; i < digits; i++) {
		static const char all[] = "0123456789abcdef";
		const char *digit = word[i] ? strchr(all, word[i]) : NULL;

		if (!digit)
			return false;
		bytes[i / 2] = (uint8_t)(bytes[i / 2] << 4 | (digit - all));
	}
	return !word[digits];
}

static int take_challenge(struct reading *reading, const char *word)
{
	return read_hex(word, 2 * sizeof(reading->report->challenge), reading->report->challenge)
		       ? 0
		       : wrong(reading, "a challenge of 32 hexadecimal digits is expected");
}

static int take_node(struct reading *reading, const char *word)
{
	strcpy(reading->report->node, word);
	return 0;
}

static int take_boot(struct reading *reading, const char *word)
{
	char *end;

	if (strlen(word) > 12 || strspn(word, "0123456789") != strlen(word))
		return wrong(reading, "the second of the boot is expected");
	reading->report->boot_s = strtoll(word, &end, 10);
	return reading->report->boot_s > 0 && reading->report->boot_s <= BOOT_MAX_S
		       ? 0
		       : wrong(reading, "the second of the boot is expected");
}

static int take_word(struct reading *reading, char to[OSP_REPORT_WORD_BYTES], const char *word)
{
	return *osp_report_word(to, word) ? 0 : wrong(reading, "the word is too long");
}

static int take_leaf(struct reading *reading, const char *word)
{
	uint8_t bytes[8] = {0};
	uint64_t guid = 0;

	reading->report->leaves_known = true;
	if (!strcmp(word, OSP_REPORT_NONE)) {
		reading->no_leaf = true;
		return 0;
	}
	if (strncmp(word, "0x", 2) != 0 || !read_hex(word + 2, 16, bytes))
		return wrong(reading, "a GUID is expected, as 0xfc6a1c0300ee1000");
	for (int i = 0; i < 8; i++)
		guid = guid << 8 | bytes[i];
	return osp_report_add_leaf(reading->report, guid) ? 0 : wrong(reading, "too many leaves");
}

enum { KEY_CHALLENGE, KEY_NODE, KEY_BOOT, KEY_INSTANCE, KEY_NVLINK, KEY_NEURON, KEY_LEAF, KEYS };

static const char *const keys[KEYS] = {"challenge", "node",   "boot", "instance",
				       "nvlink",    "neuron", "leaf"};

static int take_value(struct reading *reading, int key, const char *word)
{
	switch (key) {
	case KEY_CHALLENGE:
		return take_challenge(reading, word);
	case KEY_NODE:
		return take_node(reading, word);
	case KEY_BOOT:
		return take_boot(reading, word);
	case KEY_INSTANCE:
		return take_word(reading, reading->report->instance, word);
	case KEY_NVLINK:
		return take_word(reading, reading->report->nvlink, word);
	case KEY_NEURON:
		return take_word(reading, reading->report->neuron, word);
	default:
		return take_leaf(reading, word);
	}
}

static int take_key(struct reading *reading, const char *name, const char *word)
{
	for (int key = 0; key < KEYS; key++) {
		if (strcmp(name, keys[key]) != 0)
			continue;
		if (reading->seen & 1u << key && key != KEY_LEAF)
			return wrong(reading, "the key is there twice");
		reading->seen |= 1u << key;
		return take_value(reading, key, word);
	}
	return 0;
}

/* Takes "KEY VALUE", of `length` bytes. */
static int take_line(struct reading *reading, const char *line, size_t length)
{
	const char *blank = memchr(line, ' ', length);
	size_t key_bytes = blank ? (size_t)(blank - line) : 0;
	char key[32], word[OSP_REPORT_NAME_BYTES];

	if (!blank || !is_word(line, key_bytes, sizeof(key)) ||
	    !is_word(blank + 1, length - key_bytes - 1, sizeof(word)))
		return wrong(reading, "\"KEY VALUE\" in printable letters is expected");
	snprintf(key, sizeof(key), "%.*s", (int)key_bytes, line);
	snprintf(word, sizeof(word), "%.*s", (int)(length - key_bytes - 1), blank + 1);
	if (reading->line > 1)
		return take_key(reading, key, word);
	return !strcmp(key, VERSION_KEY) && !strcmp(word, VERSION)
		       ? 0
		       : wrong(reading, "\"" VERSION_KEY " " VERSION "\" is expected");
}

static int take_end(struct reading *reading)
{
	const unsigned int must = 1u << KEY_CHALLENGE | 1u << KEY_NODE | 1u << KEY_BOOT;

	if ((reading->seen & must) != must)
		return wrong(reading, "challenge, node and boot are expected");
	return reading->no_leaf && reading->report->leaf_count
		       ? wrong(reading, "leaves, and none at the same time")
		       : 0;
}

int osp_report_read(const char *text, size_t text_bytes, struct osp_place_report *report,
		    struct osp_error *error)
{
	struct reading reading = {.report = report, .error = error};
	const char *at = text, *end = text + text_bytes;

	memset(report, 0, sizeof(*report));
	if (!text_bytes || text_bytes > OSP_REPORT_BYTES_MAX || end[-1] != '\n')
		return osp_error_set(error, "a report is 1 to %d bytes of whole lines",
				     OSP_REPORT_BYTES_MAX);
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		reading.line++;
		if (take_line(&reading, at, (size_t)(stop - at)))
			return -1;
		at = stop + 1;
	}
	return take_end(&reading);
}

/* --- smpquery --------------------------------------------------------------------------------- */

/* Finds the value of "Key:......VALUE" at the start of a line. */
static const char *value_of(const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, strlen(key)))
			return line + strlen(key) + strspn(line + strlen(key), ".");
	}
	return NULL;
}

int osp_smp_switch(const char *text, uint64_t *guid)
{
	const char *type = value_of(text, "NodeType:"), *number = value_of(text, "Guid:");
	char *end;

	if (!type || !number || strncmp(number, "0x", 2) != 0)
		return -1;
	*guid = strtoull(number, &end, 16);
	if (end == number + 2)
		return -1;
	return !strncmp(type, "Switch", 6) && *guid;
}
