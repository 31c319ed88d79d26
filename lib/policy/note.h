/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * note.h - our part of a job's AdminComment, beside an administrator's text
 *
 * Our part is bracketed and at the end: "text of the administrator [onespine: gang=spine; waits: 4
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

/* The longest part that we write, with brackets: a thousand nodes' leaves fit where names run along
 * the fabric, and a job record stays small. */
#define OSP_NOTE_BYTES_MAX 4096

/* The longest part of a gang whose leaves take more: they are packed (lib/topology/leaf_pack.h).
 * 8,192 nodes at random fit, and slurmdbd's column, of 64 KiB. */
#define OSP_NOTE_PACKED_BYTES_MAX 49152

/* Precedes the request in "gang=" if it is advice: the gang lies where Slurm put it. */
#define OSP_NOTE_ADVISE "advise "

/* The ranks of nodes in the job's record (from Slurm 26.05 on) are the gang's order, too. A start
 * by an older Onespine, or by a Slurm without such ranks, has not said so. */
#define OSP_NOTE_SLURM_RANKS "slurm"

/*
 * Writes the packed leaves and, if there is one, their order (else NULL), malloc'd; *leaves is ""
 * if they have no form of at most `most_bytes`. Returns false if memory ran out.
 */
typedef bool osp_note_pack_f(const void *context, size_t most_bytes, char **leaves, char **order);

/*
 * The pieces of the part. `gang` is "spine" or "spine@30:00", after OSP_NOTE_ADVISE in advise mode.
 * A piece whose string is NULL is not written.
 */
struct osp_note {
	const char *gang;   /* "gang=" the request in force */
	const char *domain; /* "domain=": the gang's place */
	const char *leaves; /* "leaves=": "l17:nn-[1-4]|l18:nn-[7-9]"; packed, or left out, if too
			       long */
	const char *order;  /* "order=": of their nodes (lib/layout/gang_order.h); with `leaves`,
			       and packed with them */
	osp_note_pack_f *pack; /* NULL: packs the two texts. Else they may be NULL if they are
				  longer than OSP_NOTE_BYTES_MAX, both or none */
	const void *pack_context;
	const char *ranks; /* "ranks=": OSP_NOTE_SLURM_RANKS or NULL */
	const char *says;  /* the words at the end: "waits: ...", "placed: ..." */
	/* These precede the words; a NULL one keeps the old part's value. */
	const char *gate;     /* "gate=" what the gate found, even if the job changed since */
	const char *suspects; /* "suspects=" nodes kept away by the gate, oldest first: "n[7,1-3]"
				 (lib/gate/gate_suspects.h) */
	const char *log;      /* "log=" the place of the gate's log: "n1:/var/log/..." */
};

/* Returns the AdminComment with our part replaced, added or, if `note` is NULL, removed. `old` may
 * be NULL. The caller frees it with free(); NULL if memory ran out, "" if nothing remains. */
char *osp_note_merge(const char *old, const struct osp_note *note);

/*
 * Returns what an AdminComment should become if somebody replaces it by `said` (NULL is ""): `said`
 * followed by our part of `old`. The caller frees it with free(). Returns NULL if `said` should
 * stay as it is, because it has a part of ours or `old` has none, or if memory ran out.
 */
char *osp_note_keep(const char *old, const char *said);

/* Finds our part in `comment`: each piece as a malloc'd string or NULL, in `note` (free with
 * osp_note_free_pieces()). Returns false if there is none or memory ran out. */
bool osp_note_find(const char *comment, struct osp_note *note);
void osp_note_free_pieces(struct osp_note *note);

/* Returns the request in `gang`, the piece "gang=" (not NULL), and writes whether it is advice. */
const char *osp_note_request(const char *gang, bool *advise);

#endif
