/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * note.h - our part of a job's AdminComment, beside whatever an administrator wrote there
 *
 * Ours is one bracketed part at the end: "text of the administrator [onespine: gang=spine; waits: 4
 * nodes on one spine; nearest spine nn-3 has 3 free]". A ']' inside our words is written as ')'.
 * Everything outside the part is kept byte for byte.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_NOTE_H
#define OSP_NOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/policy/request.h"

/* Longest part that we write, brackets included: a thousand nodes' leaves fit, a job record stays
 * small. */
#define OSP_NOTE_BYTES_MAX 4096

/*
 * The pieces of the part. `gang` is "spine" or "spine@30:00", "advise" before it in advise mode.
 * Strings may be NULL: then that piece is not written.
 */
struct osp_note {
	const char *gang;   /* "gang=" the request in force */
	const char *domain; /* "domain=": placed there */
	const char *leaves; /* "leaves=": "l17:nn-[1-4]|l18:nn-[7-9]"; left out where too long */
	const char *order;  /* "order=": of their nodes (lib/layout/gang_order.h); only with them */
	const char *says;   /* after that, words: "waits: ...", "placed: ..." */
	/* Before the words; where these are NULL, what the old part says stays. */
	const char *gate;     /* "gate=" what the gate found, whatever became of the job since */
	const char *suspects; /* "suspects=" kept away by the gate, oldest first: "n[7,1-3]"
			       * (lib/gate/gate_suspects.h) */
	const char *log;      /* "log=" where the gate's log is: "n1:/var/log/..." */
};

/* The AdminComment with our part replaced (or added, or with a NULL `note` removed). `old` may be
 * NULL. To be freed with free(); NULL when memory ran out, "" when nothing is left. */
char *osp_note_merge(const char *old, const struct osp_note *note);

/*
 * What an AdminComment becomes that somebody replaces: `said` (NULL is "") with our part of `old`
 * behind it. To be freed with free(); NULL if `said` is to stay as it is, because it has a part of
 * ours or `old` has none, or when memory ran out.
 */
char *osp_note_keep(const char *old, const char *said);

/* Finds our part in `comment`: each piece as a malloc'd string or NULL, in `note` (free with
 * osp_note_free_pieces()). Returns false when there is none. */
bool osp_note_find(const char *comment, struct osp_note *note);
void osp_note_free_pieces(struct osp_note *note);

#endif
