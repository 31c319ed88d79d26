/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_note.c - what users and administrators type into a job: AdminComment, --gang
 *
 * The input is taken as an AdminComment, as the words of a note, as the value of --gang and as the
 * value that job_submit hands to the shadow.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/note.h"
#include "lib/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool truth)
{
	if (!truth)
		abort();
}

/* Our part goes in and comes out; the rest of the comment stays as it was. */
static void check_comment(const char *comment)
{
	static const struct osp_note note = {"spine", "s1", "l1:n[1-2]", "placed: here"};
	char *with = osp_note_merge(comment, &note), *again = osp_note_merge(with, &note), *without;
	struct osp_note found;

	require(!strcmp(with, again));
	require(osp_note_find(with, &found));
	require(!strcmp(found.gang, "spine") && !strcmp(found.domain, "s1"));
	require(!strcmp(found.leaves, "l1:n[1-2]") && !strcmp(found.says, "placed: here"));
	osp_note_free_pieces(&found);
	without = osp_note_merge(with, NULL);
	if (!osp_note_find(comment, &found))
		require(!strcmp(without, comment));
	else
		osp_note_free_pieces(&found);
	free(with);
	free(again);
	free(without);
}

/* Whatever the pieces hold, the part has an end, a limit and all of its pieces. */
static void check_words(const char *words)
{
	struct osp_note note = {words, words, words, words}, found;
	char *comment = osp_note_merge("kept", &note);

	require(strlen(comment) <= strlen("kept ") + OSP_NOTE_BYTES_MAX);
	require(strchr(comment, ']') == comment + strlen(comment) - 1);
	require(osp_note_find(comment, &found));
	require(found.gang && found.domain);
	osp_note_free_pieces(&found);
	free(comment);
}

static void check_request(const char *value)
{
	struct osp_request request = {.asked = OSP_ASKED_NOTHING}, again = request;
	struct osp_error error = {0};
	char text[128], same[128];

	if (osp_request_parse(value, &request, &error)) {
		require(error.text[0] && error.column >= 1);
		return;
	}
	osp_request_format(&request, text, sizeof(text));
	require(!osp_request_parse(text, &again, NULL));
	require(!strcmp(text, osp_request_format(&again, same, sizeof(same))));
	require(request.relax_s == again.relax_s);
}

static void check_effective(const char *value)
{
	struct osp_effective effective, again;
	char text[256];

	if (osp_effective_parse(value, &effective))
		return;
	osp_effective_format(&effective, text, sizeof(text));
	require(!osp_effective_parse(text, &again));
	require(effective.relax_s == again.relax_s && !strcmp(effective.level, again.level));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *text = malloc(bytes + 1);

	require(text);
	if (bytes)
		memcpy(text, data, bytes);
	text[bytes] = '\0';
	check_comment(text);
	check_words(text);
	check_request(text);
	check_effective(text);
	free(text);
	return 0;
}
