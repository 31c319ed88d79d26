/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ib_scan.c - reads what ibnetdiscover prints, with and without -p
 *
 * A description is at most 64 bytes, and quotes in it are not escaped: it ends at the last quote of
 * its line, or with -p, if another description follows, at the first "' - '". Other contents of the
 * file (vendor, LIDs, widths, chassis) are ignored; a line of an unknown form refuses the file with
 * its place.
 */
#define _GNU_SOURCE /* memmem, memrchr */

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/room.h"
#include "lib/topology/ib_fabric.h"

#define DEVICES_MAX	  ((uint32_t)512 * 1024)
#define LINKS_MAX	  ((uint32_t)16 * 1024 * 1024)
#define DEVICE_NAME_BYTES 24

/* One file while it is read. */
struct scan {
	struct osp_import *import;
	const char *file;
	struct osp_error *error;
	const char *line; /* its start */
	const char *at;	  /* the next byte to read */
	const char *end;  /* end of the line */
	int number;
	uint32_t device; /* the device of this entry, or OSP_IB_NO_DEVICE */
};

struct peer {
	enum osp_ib_type type;
	uint64_t guid;
	const char *description;
	size_t description_bytes;
};

void osp_ib_fabric_free(struct osp_ib_fabric *fabric)
{
	if (!fabric)
		return;
	osp_name_table_free(&fabric->by_name);
	free(fabric->devices);
	free(fabric->links);
	free(fabric->hosts);
	free(fabric);
}

/* --- devices and links ------------------------------------------------------------------------ */

static uint32_t add_device(struct osp_import *import, enum osp_ib_type type, const char *name,
			   const struct osp_place_in_file *place, struct osp_error *error)
{
	struct osp_ib_fabric *fabric = import->ib;
	uint32_t index = fabric->device_count;
	const char *copy;

	if (index == DEVICES_MAX) {
		osp_error_at(error, place->file, place->line, 0, "more than %" PRIu32 " devices",
			     DEVICES_MAX);
		return OSP_IB_NO_DEVICE;
	}
	if (osp_import_copy(import, name, &copy) ||
	    osp_make_room((void **)&fabric->devices, &fabric->device_room, index,
			  sizeof(*fabric->devices)) ||
	    osp_name_table_add(&fabric->by_name, 0, copy, index)) {
		osp_import_no_memory(error);
		return OSP_IB_NO_DEVICE;
	}
	fabric->devices[index] = (struct osp_ib_device){
		.name = copy, .type = type, .place = *place, .host = OSP_IB_NO_HOST};
	fabric->device_count++;
	return index;
}

uint32_t osp_ib_device(struct osp_import *import, enum osp_ib_type type, uint64_t guid,
		       const char *description, size_t description_bytes, bool listed,
		       const struct osp_place_in_file *place, struct osp_error *error)
{
	static const char letters[] = {'S', 'H', 'R'};
	struct osp_ib_device *device;
	char name[DEVICE_NAME_BYTES];
	uint32_t index;

	snprintf(name, sizeof(name), "%c-%016" PRIx64, letters[type], guid);
	index = osp_name_table_find(&import->ib->by_name, 0, name);
	if (index == OSP_NAME_ABSENT)
		index = add_device(import, type, name, place, error);
	if (index == OSP_IB_NO_DEVICE)
		return index;
	device = &import->ib->devices[index];
	if (listed && !device->listed)
		device->place = *place;
	if (!device->description || (listed && !device->listed)) {
		device->description =
			osp_arena_copy(&import->arena, description, description_bytes);
		if (!device->description) {
			osp_import_no_memory(error);
			return OSP_IB_NO_DEVICE;
		}
	}
	device->listed = device->listed || listed;
	return index;
}

int osp_ib_link(struct osp_import *import, uint32_t from, uint32_t to,
		const struct osp_place_in_file *place, struct osp_error *error)
{
	struct osp_ib_fabric *fabric = import->ib;

	if (fabric->link_count == LINKS_MAX)
		return osp_error_at(error, place->file, place->line, 0,
				    "more than %" PRIu32 " links", LINKS_MAX);
	if (osp_make_room((void **)&fabric->links, &fabric->link_room, fabric->link_count,
			  sizeof(*fabric->links)))
		return osp_import_no_memory(error);
	fabric->links[fabric->link_count++] = (struct osp_ib_link){from, to};
	fabric->devices[from].linked = fabric->devices[to].linked = true;
	return 0;
}

/* --- words of a line -------------------------------------------------------------------------- */

static int expected(const struct scan *scan, const char *what)
{
	return osp_error_at(scan->error, scan->file, scan->number, (int)(scan->at - scan->line) + 1,
			    "%s is expected, as ibnetdiscover prints it", what);
}

static struct osp_place_in_file place_of(const struct scan *scan)
{
	return (struct osp_place_in_file){scan->file, scan->number, 1};
}

static void skip_blanks(struct scan *scan)
{
	while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
		scan->at++;
}

/* Skips `word` if it comes next in the line. */
static bool take(struct scan *scan, const char *word)
{
	size_t count = strlen(word);

	if ((size_t)(scan->end - scan->at) < count || memcmp(scan->at, word, count))
		return false;
	scan->at += count;
	return true;
}

static bool take_number(struct scan *scan)
{
	const char *start = scan->at;

	while (scan->at < scan->end && isdigit((unsigned char)*scan->at))
		scan->at++;
	return scan->at > start && scan->at - start < 6;
}

static bool take_hex(struct scan *scan, uint64_t *value)
{
	const char *start = scan->at;

	*value = 0;
	for (; scan->at < scan->end && isxdigit((unsigned char)*scan->at); scan->at++) {
		int digit = tolower((unsigned char)*scan->at);

		*value = *value << 4 | (uint64_t)(isdigit(digit) ? digit - '0' : digit - 'a' + 10);
	}
	return scan->at > start && scan->at - start <= 16;
}

/* Reads "S-fc6a1c0300ee1000" with its quotes. */
static int take_id(struct scan *scan, struct peer *peer)
{
	static const char what[] = "a device as \"S-fc6a1c0300ee1000\"";

	if (!take(scan, "\""))
		return expected(scan, what);
	if (take(scan, "S-"))
		peer->type = OSP_IB_SWITCH;
	else if (take(scan, "H-"))
		peer->type = OSP_IB_ADAPTER;
	else if (take(scan, "R-"))
		peer->type = OSP_IB_ROUTER;
	else
		return expected(scan, what);
	if (!take_hex(scan, &peer->guid) || !take(scan, "\""))
		return expected(scan, what);
	return 0;
}

/* Reads a port, "[12]". */
static int take_port(struct scan *scan)
{
	if (!take(scan, "[") || !take_number(scan) || !take(scan, "]"))
		return expected(scan, "a port as [12]");
	return 0;
}

/*
 * Takes the text from the next quote to the last one of the line; without quotes the description is
 * empty.
 */
static void take_description(struct scan *scan, struct peer *peer)
{
	const char *start = memchr(scan->at, '"', (size_t)(scan->end - scan->at));
	const char *last = start ? memrchr(start, '"', (size_t)(scan->end - start)) : NULL;

	peer->description = "";
	peer->description_bytes = 0;
	if (last && last > start) {
		peer->description = start + 1;
		peer->description_bytes = (size_t)(last - start - 1);
	}
	scan->at = scan->end;
}

static uint32_t device_of(struct scan *scan, const struct peer *peer, bool listed)
{
	struct osp_place_in_file place = place_of(scan);

	return osp_ib_device(scan->import, peer->type, peer->guid, peer->description,
			     peer->description_bytes, listed, &place, scan->error);
}

static int link_devices(struct scan *scan, uint32_t from, uint32_t to)
{
	struct osp_place_in_file place = place_of(scan);

	return osp_ib_link(scan->import, from, to, &place, scan->error);
}

/* --- ibnetdiscover ---------------------------------------------------------------------------- */

/* Reads: Switch 65 "S-fc6a1c0300ee1000"  # "leaf1" enhanced port 0 lid 12 lmc 0 */
static int read_header(struct scan *scan, enum osp_ib_type type)
{
	struct peer peer;

	skip_blanks(scan);
	if (!take_number(scan))
		return expected(scan, "a number of ports");
	skip_blanks(scan);
	if (take_id(scan, &peer))
		return -1;
	if (peer.type != type)
		return osp_error_at(scan->error, scan->file, scan->number, 1,
				    "this line's first word and the letter of its id disagree");
	take_description(scan, &peer);
	scan->device = device_of(scan, &peer, true);
	return scan->device == OSP_IB_NO_DEVICE ? -1 : 0;
}

/* Reads: [1](portguid)  "S-fc6a1c0300ee1000"[1](portguid)  # lid 40 lmc 0 "leaf1" lid 12 4xNDR */
static int read_port(struct scan *scan)
{
	struct peer peer;
	uint64_t guid;
	uint32_t other;

	if (scan->device == OSP_IB_NO_DEVICE)
		return expected(scan, "a Switch, Ca or Rt before its ports");
	if (take_port(scan))
		return -1;
	if (take(scan, "(") && (!take_hex(scan, &guid) || !take(scan, ")")))
		return expected(scan, "a port's GUID in parentheses");
	skip_blanks(scan);
	if (take(scan, "[ext ") && (!take_number(scan) || !take(scan, "]")))
		return expected(scan, "an external port as [ext 3]");
	skip_blanks(scan);
	if (take_id(scan, &peer) || take_port(scan))
		return -1;
	take_description(scan, &peer);
	other = device_of(scan, &peer, false);
	return other == OSP_IB_NO_DEVICE ? -1 : link_devices(scan, scan->device, other);
}

/* --- ibnetdiscover -p ------------------------------------------------------------------------- */

/* Reads one end: CA 40 1 0xa088c20300aa0000 4x NDR */
static int take_end(struct scan *scan, struct peer *peer)
{
	uint64_t guid;

	skip_blanks(scan);
	if (take(scan, "SW "))
		peer->type = OSP_IB_SWITCH;
	else if (take(scan, "CA "))
		peer->type = OSP_IB_ADAPTER;
	else if (take(scan, "RT "))
		peer->type = OSP_IB_ROUTER;
	else
		return expected(scan, "SW, CA or RT");
	for (int i = 0; i < 2; i++) {
		skip_blanks(scan);
		if (!take_number(scan))
			return expected(scan, i ? "a port number" : "a LID");
	}
	skip_blanks(scan);
	if (!take(scan, "0x") || !take_hex(scan, &guid))
		return expected(scan, "a GUID as 0xfc6a1c0300ee1000");
	peer->guid = guid;
	return 0;
}

/* Skips the width and speed, "4x NDR", "?? ???". */
static void skip_words(struct scan *scan, int words)
{
	for (; words; words--) {
		skip_blanks(scan);
		while (scan->at < scan->end && *scan->at != ' ' && *scan->at != '\'')
			scan->at++;
	}
	skip_blanks(scan);
}

/*
 * Reads ( 'node1 mlx5_0' - 'leaf1' ). The middle is the first "' - '"; a description may contain
 * another.
 */
static int take_descriptions(struct scan *scan, struct peer *near, struct peer *far)
{
	static const char what[] = "( 'DESCRIPTION' - 'DESCRIPTION' )";
	const char *middle, *last;

	skip_blanks(scan);
	if (!take(scan, "("))
		return expected(scan, what);
	skip_blanks(scan);
	if (!take(scan, "'"))
		return expected(scan, what);
	middle = memmem(scan->at, (size_t)(scan->end - scan->at), "' - '", 5);
	last = memrchr(scan->at, '\'', (size_t)(scan->end - scan->at));
	if (!middle || last < middle + 5)
		return expected(scan, what);
	near->description = scan->at;
	near->description_bytes = (size_t)(middle - scan->at);
	far->description = middle + 5;
	far->description_bytes = (size_t)(last - middle - 5);
	scan->at = scan->end;
	return 0;
}

/* Reads a port without a link: CA 40 1 0xGUID 4x NDR 'desc' */
static int read_unlinked(struct scan *scan, struct peer *peer)
{
	const char *last;

	if (!take(scan, "'"))
		return expected(scan, "' - ' and the other end, or a description in quotes");
	last = memrchr(scan->at, '\'', (size_t)(scan->end - scan->at));
	peer->description = scan->at;
	peer->description_bytes = (size_t)((last ? last : scan->end) - scan->at);
	return device_of(scan, peer, true) == OSP_IB_NO_DEVICE ? -1 : 0;
}

static int read_report_line(struct scan *scan)
{
	struct peer near, far;
	uint32_t from, to;

	if (take_end(scan, &near))
		return -1;
	skip_words(scan, 2);
	if (!take(scan, "- "))
		return read_unlinked(scan, &near);
	if (take_end(scan, &far) || take_descriptions(scan, &near, &far))
		return -1;
	from = device_of(scan, &near, true);
	to = from == OSP_IB_NO_DEVICE ? from : device_of(scan, &far, false);
	return to == OSP_IB_NO_DEVICE ? -1 : link_devices(scan, from, to);
}

/* --- lines ------------------------------------------------------------------------------------ */

/* Returns whether a line says nothing about links. */
static bool is_passed_over(const struct scan *scan)
{
	static const char *const starts[] = {
		"#",	       "vendid=",    "devid=",	    "sysimgguid=",
		"switchguid=", "caguid=",    "rtguid=",	    "Chassis ",
		"Spine Nodes", "Line Nodes", "Non-Chassis", "Chassis Nodes"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		size_t count = strlen(starts[i]);

		if ((size_t)(scan->end - scan->at) >= count && !memcmp(scan->at, starts[i], count))
			return true;
	}
	return false;
}

static int read_line(struct scan *scan)
{
	skip_blanks(scan);
	if (scan->at == scan->end) {
		scan->device = OSP_IB_NO_DEVICE;
		return 0;
	}
	if (is_passed_over(scan))
		return 0;
	if (*scan->at == '[')
		return read_port(scan);
	if (take(scan, "Switch"))
		return read_header(scan, OSP_IB_SWITCH);
	if (take(scan, "Ca"))
		return read_header(scan, OSP_IB_ADAPTER);
	if (take(scan, "Rt"))
		return read_header(scan, OSP_IB_ROUTER);
	return read_report_line(scan);
}

static int read_lines(struct scan *scan, const char *text, size_t text_bytes)
{
	const char *end = text + text_bytes;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		scan->line = scan->at = text;
		text = line_end ? line_end + 1 : end;
		scan->end = line_end ? line_end : end;
		if (scan->end > scan->line && scan->end[-1] == '\r')
			scan->end--;
		scan->number++;
		if (read_line(scan))
			return -1;
	}
	return 0;
}

int osp_import_infiniband(struct osp_import *import, const char *file, const char *text,
			  size_t text_bytes, struct osp_error *error)
{
	struct scan scan = {.import = import, .error = error, .device = OSP_IB_NO_DEVICE};
	uint32_t before;

	if (osp_import_set_kind(import, OSP_IMPORT_INFINIBAND, file, error))
		return -1;
	if (text_bytes > OSP_TOPOLOGY_FILE_BYTES_MAX)
		return osp_error_at(error, file, 0, 0, "larger than %zu bytes",
				    OSP_TOPOLOGY_FILE_BYTES_MAX);
	if (!import->ib)
		import->ib = calloc(1, sizeof(*import->ib));
	if (!import->ib || osp_import_copy(import, file, &scan.file))
		return osp_import_no_memory(error);
	before = import->ib->device_count;
	if (read_lines(&scan, text, text_bytes))
		return -1;
	if (import->ib->device_count == before && !before)
		return osp_error_at(error, file, 0, 0,
				    "no switch and no channel adapter in this output of "
				    "ibnetdiscover");
	return 0;
}
