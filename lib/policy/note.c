/* SPDX-License-Identifier: GPL-2.0-or-later */
/* note.c - our part of a job's AdminComment, beside an administrator's text */
#include "lib/policy/note.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/layout/gang_order.h"
#include "lib/topology/leaf_pack.h"

#define OPENING		"[onespine: "
#define PIECE_BYTES_MAX 512 /* of a piece; leaves, order and words have no such limit */

/* Finds the last part of `comment`, which is ours, from its '[' to after its ']'. */
static bool find_part(const char *comment, const char **start, const char **end)
{
	const char *last_close = strrchr(comment, ']'), *at = comment;

	*start = NULL;
	while ((at = strstr(at, OPENING)) && at < last_close)
		*start = at++;
	if (!*start)
		return false;
	*end = strchr(*start, ']') + 1;
	return true;
}

/* --- writing ---------------------------------------------------------------------------------- */

/*
 * Adds `string` in a form that is allowed inside the part. A bracket would end it early, so both
 * become round ones (take_piece() restores those of host lists); a ';' becomes `semicolon`.
 */
static void add_inside(struct osp_text *text, const char *string, size_t bytes_max, char semicolon)
{
	for (size_t i = 0; string[i] && i < bytes_max; i++) {
		char c = string[i];

		if (c == '[')
			c = '(';
		else if (c == ']')
			c = ')';
		else if (c == ';')
			c = semicolon;
		else if ((unsigned char)c < ' ')
			c = ' ';
		osp_text_add_bytes(text, &c, 1);
	}
}

/* Returns how many bytes of `string` to write if there is room for `room`, without cutting a UTF-8
 * character. */
static size_t cut_bytes(const char *string, size_t room)
{
	size_t bytes = strlen(string);

	if (bytes <= room)
		return bytes;
	bytes = room;
	while (bytes && ((unsigned char)string[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

static void add_piece(struct osp_text *text, bool *first, const char *key, const char *value,
		      size_t bytes_max, char semicolon)
{
	if (!value)
		return;
	osp_text_add(text, *first ? "" : "; ");
	osp_text_add(text, key);
	add_inside(text, value, cut_bytes(value, bytes_max), semicolon);
	*first = false;
}

/* "; leaves=", "; order=", "; ranks=", "; gate=", "; log=", "; suspects=" */
#define LEAVES_EXTRA_BYTES   9
#define ORDER_EXTRA_BYTES    8
#define RANKS_EXTRA_BYTES    8
#define GATE_EXTRA_BYTES     7
#define LOG_EXTRA_BYTES	     6
#define SUSPECTS_EXTRA_BYTES 11

/* Returns how many bytes a piece of the gate's takes, with its key. */
static size_t piece_bytes(const char *piece, size_t extra_bytes)
{
	size_t bytes = piece ? strlen(piece) : 0;

	if (!bytes)
		return 0;
	return (bytes < PIECE_BYTES_MAX ? bytes : PIECE_BYTES_MAX) + extra_bytes;
}

/* Returns how many bytes the leaves take, with what belongs to them: without the order of their
 * nodes they would suggest another order. */
static size_t leaves_bytes(const struct osp_note *note)
{
	return LEAVES_EXTRA_BYTES + strlen(note->leaves) +
	       (note->order ? ORDER_EXTRA_BYTES + strlen(note->order) : 0) +
	       (note->ranks ? RANKS_EXTRA_BYTES + strlen(note->ranks) : 0);
}

/* Leaves and order, if they had to be packed. */
struct packed {
	char *leaves, *order;
	bool failed; /* memory ran out */
};

/* Packs leaves and order into `packed`, within `room`. */
static void pack(const struct osp_note *note, size_t room, struct packed *packed)
{
	if (note->pack) {
		packed->failed =
			!note->pack(note->pack_context, room, &packed->leaves, &packed->order);
		return;
	}
	packed->leaves = osp_leaf_pack(note->leaves, room);
	packed->order = packed->leaves && note->order
				? osp_gang_order_pack(note->leaves, note->order)
				: NULL;
	packed->failed = !packed->leaves || (note->order && !packed->order);
}

/*
 * Packs what does not fit beside `others_bytes` of the rest, or says in `note` that it is left out.
 * Returns how long the part may be.
 */
static size_t fit_leaves(struct osp_note *note, size_t others_bytes, struct packed *packed)
{
	size_t room = OSP_NOTE_PACKED_BYTES_MAX > others_bytes
			      ? OSP_NOTE_PACKED_BYTES_MAX - others_bytes
			      : 0;

	if (note->leaves ? others_bytes + leaves_bytes(note) <= OSP_NOTE_BYTES_MAX : !note->pack)
		return OSP_NOTE_BYTES_MAX;
	if (!note->leaves || !osp_leaf_is_packed(note->leaves)) {
		pack(note, room, packed);
		note->leaves = packed->failed || !*packed->leaves ? NULL : packed->leaves;
		note->order = packed->failed ? NULL : packed->order;
	}
	if (note->leaves && leaves_bytes(note) <= room)
		return OSP_NOTE_PACKED_BYTES_MAX;
	note->leaves = NULL;
	return OSP_NOTE_BYTES_MAX;
}

static void add_part(struct osp_text *text, struct osp_note *note)
{
	size_t start = text->length_bytes, used, says_bytes, most_bytes;
	struct packed packed = {.leaves = NULL};
	bool first = true;

	osp_text_add(text, OPENING);
	add_piece(text, &first, "gang=", note->gang, PIECE_BYTES_MAX, ',');
	add_piece(text, &first, "domain=", note->domain, PIECE_BYTES_MAX, ',');
	used = text->length_bytes - start + strlen("; ") + strlen("]");
	says_bytes = note->says ? strlen(note->says) : 0;
	says_bytes += piece_bytes(note->gate, GATE_EXTRA_BYTES) +
		      piece_bytes(note->log, LOG_EXTRA_BYTES) +
		      piece_bytes(note->suspects, SUSPECTS_EXTRA_BYTES);
	most_bytes = fit_leaves(note, used + says_bytes, &packed);
	if (note->leaves) {
		add_piece(text, &first, "leaves=", note->leaves, strlen(note->leaves), ',');
		if (note->order)
			add_piece(text, &first, "order=", note->order, strlen(note->order), ',');
	}
	add_piece(text, &first, "ranks=", note->ranks, PIECE_BYTES_MAX, ',');
	if (note->gate && *note->gate)
		add_piece(text, &first, "gate=", note->gate, PIECE_BYTES_MAX, ',');
	if (note->log && *note->log)
		add_piece(text, &first, "log=", note->log, PIECE_BYTES_MAX, ',');
	if (note->suspects && *note->suspects)
		add_piece(text, &first, "suspects=", note->suspects, PIECE_BYTES_MAX, ',');
	used = text->length_bytes - start + strlen("; ") + strlen("]");
	add_piece(text, &first, "", note->says, most_bytes > used ? most_bytes - used : 0, ';');
	osp_text_add(text, "]");
	text->failed = text->failed || packed.failed;
	free(packed.leaves);
	free(packed.order);
}

/* Returns the pieces to write: those of `note`, and the old part's for pieces of the gate that it
 * does not have. */
static struct osp_note with_old_gate(const struct osp_note *found, const struct osp_note *note)
{
	struct osp_note all = *note;

	all.gate = all.gate ? all.gate : found->gate;
	all.log = all.log ? all.log : found->log;
	all.suspects = all.suspects ? all.suspects : found->suspects;
	return all;
}

char *osp_note_merge(const char *old, const struct osp_note *note)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_note found = {.gang = NULL};
	const char *start, *end;

	if (!old)
		old = "";
	if (!find_part(old, &start, &end))
		start = end = old + strlen(old);
	if (note && start < end && !osp_note_find(old, &found))
		return NULL; /* rather fail than drop the gate's findings for want of memory */
	/* The blank before our part was added with it, so it is removed with it. */
	if (!note && start < end && start > old && start[-1] == ' ')
		start--;
	osp_text_add_bytes(&text, old, (size_t)(start - old));
	if (note) {
		struct osp_note all = with_old_gate(&found, note);

		if (start == end && start > old)
			osp_text_add(&text, " ");
		add_part(&text, &all);
	}
	osp_text_add(&text, end);
	osp_note_free_pieces(&found);
	return osp_text_take(&text);
}

char *osp_note_keep(const char *old, const char *said)
{
	struct osp_text text = OSP_TEXT_INIT;
	const char *start, *end, *own_start, *own_end;

	if (!said)
		said = "";
	if (!old || !find_part(old, &start, &end) || find_part(said, &own_start, &own_end))
		return NULL;
	osp_text_add(&text, said);
	if (*said)
		osp_text_add(&text, " ");
	osp_text_add_bytes(&text, start, (size_t)(end - start));
	return osp_text_take(&text);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Returns a malloc'd copy of [start, end); restores a host list's square brackets if `brackets` is
 * set. */
static char *copy_piece(const char *start, const char *end, bool brackets)
{
	size_t bytes = (size_t)(end - start);
	char *copy = malloc(bytes + 1);

	if (!copy)
		return NULL;
	memcpy(copy, start, bytes);
	copy[bytes] = 0;
	for (char *c = copy; brackets && *c; c++) {
		if (*c == '(')
			*c = '[';
		else if (*c == ')')
			*c = ']';
	}
	return copy;
}

/* Takes "KEYvalue; " from the front of [*at, end) if it is there. Returns false if memory ran
 * out. */
static bool take_piece(const char **at, const char *end, const char *key, bool brackets,
		       const char **piece)
{
	const char *start = *at + strlen(key), *stop;

	if ((size_t)(end - *at) < strlen(key) || strncmp(*at, key, strlen(key)) != 0)
		return true;
	stop = memchr(start, ';', (size_t)(end - start));
	if (!stop)
		stop = end;
	*piece = copy_piece(start, stop, brackets);
	*at = stop;
	if (*at < end)
		(*at)++;
	if (*at < end && **at == ' ')
		(*at)++;
	return *piece != NULL;
}

bool osp_note_find(const char *comment, struct osp_note *note)
{
	struct osp_note found = {.gang = NULL};
	const char *at, *end;
	bool good;

	if (!comment || !find_part(comment, &at, &end))
		return false;
	at += strlen(OPENING);
	end--;
	good = take_piece(&at, end, "gang=", false, &found.gang) &&
	       take_piece(&at, end, "domain=", false, &found.domain) &&
	       take_piece(&at, end, "leaves=", true, &found.leaves) &&
	       take_piece(&at, end, "order=", true, &found.order) &&
	       take_piece(&at, end, "ranks=", false, &found.ranks) &&
	       take_piece(&at, end, "gate=", false, &found.gate) &&
	       take_piece(&at, end, "log=", false, &found.log) &&
	       take_piece(&at, end, "suspects=", true, &found.suspects);
	if (good && at < end) {
		found.says = copy_piece(at, end, false);
		good = found.says != NULL;
	}
	if (!good) {
		osp_note_free_pieces(&found);
		return false;
	}
	*note = found;
	return true;
}

void osp_note_free_pieces(struct osp_note *note)
{
	free((char *)note->gang);
	free((char *)note->domain);
	free((char *)note->leaves);
	free((char *)note->order);
	free((char *)note->ranks);
	free((char *)note->says);
	free((char *)note->gate);
	free((char *)note->log);
	free((char *)note->suspects);
	*note = (struct osp_note){.gang = NULL};
}

const char *osp_note_request(const char *gang, bool *advise)
{
	const size_t length = strlen(OSP_NOTE_ADVISE);

	*advise = strncmp(gang, OSP_NOTE_ADVISE, length) == 0;
	return *advise ? gang + length : gang;
}
