/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_note.c - what users and administrators type into a job: AdminComment, --gang
 *
 * The input is taken as an AdminComment, as the words of a note, as the value of --gang and as the
 * value that job_submit hands to the shadow.
 *
 * Parser: lib/policy/note.c lib/policy/effective.c lib/policy/request.c
 */
#include "tests/fuzz/fuzz.h"

#include "lib/policy/note.h"
#include "lib/policy/effective.h"
#include "lib/policy/request.h"

/* Our part goes in and comes out; the rest of the comment stays as it was. */
static void check_comment(const char *comment)
{
	static const struct osp_note note = {.gang = "spine",
					     .domain = "s1",
					     .leaves = "l1:n[1-2]",
					     .ranks = OSP_NOTE_SLURM_RANKS,
					     .says = "placed: here",
					     .gate = "passed",
					     .suspects = "n3,n7",
					     .log = "n1:/var/log/gate.log"};
	char *with = osp_note_merge(comment, &note), *again = osp_note_merge(with, &note), *without;
	struct osp_note found;

	fuzz_check(!strcmp(with, again));
	fuzz_check(osp_note_find(with, &found));
	fuzz_check(!strcmp(found.gang, "spine") && !strcmp(found.domain, "s1"));
	fuzz_check(!strcmp(found.leaves, "l1:n[1-2]") && !strcmp(found.says, "placed: here"));
	fuzz_check(!strcmp(found.ranks, OSP_NOTE_SLURM_RANKS));
	osp_note_free_pieces(&found);
	without = osp_note_merge(with, NULL);
	if (!osp_note_find(comment, &found))
		fuzz_check(!strcmp(without, comment));
	else
		osp_note_free_pieces(&found);
	free(with);
	free(again);
	free(without);
}

/* Whatever the pieces hold, the part has an end, a limit and all of its pieces. */
static void check_words(const char *words)
{
	struct osp_note note = {.gang = words,
				.domain = words,
				.leaves = words,
				.order = words,
				.ranks = words,
				.says = words,
				.gate = words,
				.suspects = words,
				.log = words},
			found;
	char *comment = osp_note_merge("kept", &note);

	fuzz_check(strlen(comment) <= strlen("kept ") + OSP_NOTE_BYTES_MAX);
	fuzz_check(strchr(comment, ']') == comment + strlen(comment) - 1);
	fuzz_check(osp_note_find(comment, &found));
	fuzz_check(found.gang && found.domain);
	osp_note_free_pieces(&found);
	free(comment);
}

static void check_request(const char *value)
{
	struct osp_request request = {.asked = OSP_GANG_OPTION_NONE}, again = request;
	struct osp_error error = {0};
	char text[OSP_REQUEST_BYTES], same[OSP_REQUEST_BYTES];

	if (osp_request_parse(value, &request, &error)) {
		fuzz_check(error.text[0] && error.column >= 1);
		return;
	}
	osp_request_format(&request, text, sizeof(text));
	fuzz_check(!osp_request_parse(text, &again, NULL));
	fuzz_check(!strcmp(text, osp_request_format(&again, same, sizeof(same))));
	fuzz_check(request.relax_s == again.relax_s);
}

static void check_effective(const char *value)
{
	struct osp_effective effective, again;
	char text[OSP_EFFECTIVE_BYTES];

	if (osp_effective_parse(value, &effective)) {
		fuzz_check(effective.unread[0]);
		fuzz_check(strlen(osp_effective_waits(&effective, text, sizeof(text))) > 0);
		return;
	}
	osp_effective_format(&effective, text, sizeof(text));
	fuzz_check(!osp_effective_parse(text, &again));
	fuzz_check(effective.relax_s == again.relax_s && !strcmp(effective.level, again.level));
}

FUZZER(note)
{
	char *text = malloc(size + 1);

	fuzz_check(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	check_comment(text);
	check_words(text);
	check_request(text);
	check_effective(text);
	free(text);
	return 0;
}
