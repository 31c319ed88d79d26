/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pass_store.h - where a node's passes are kept, and whether one still holds
 *
 * ROOT/run/onespine/pass-DEPTH, one file a depth, in a folder of root's that the next boot empties.
 * `since` beside them is what has been seen and taken for well: the counters and the kernel's
 * records at the last pass, kept when the node fails afterwards.
 * What somebody else could have written (its owner is neither root nor who asks, or others may
 * write there) is no pass: so a user can make none. One thread; two processes at once do no harm.
 */
#ifndef OSP_PASS_STORE_H
#define OSP_PASS_STORE_H

#include "check/check.h"
#include "lib/base/text.h"

#define OSP_RUN_DIR "/run/onespine"

/*
 * The kept pass of `depth`. 1 with `pass` filled (osp_pass_clear()), 0 when there is none, -1 with
 * `error` set: it cannot be read, is not root's, or is no pass.
 */
int osp_pass_load(const char *root, enum osp_depth depth, struct osp_pass *pass,
		  struct osp_error *error);

/* What was last taken for well in this boot. As above; what cannot be read is none. */
int osp_pass_load_since(const char *root, struct osp_pass *pass);

/* Keeps a pass, whole or not at all, over the last one of its depth; with `seen`, and where it is
 * of the whole node, as `since` too (what concerns other GPUs was judged by nobody). -1 with
 * `error` set. */
int osp_pass_save(const char *root, const struct osp_pass *pass, bool seen,
		  struct osp_error *error);

/* Keeps it as `since` alone: what is there now has been seen (after a repair). -1 with `error`
 * set. */
int osp_pass_save_since(const char *root, const struct osp_pass *pass, struct osp_error *error);

/* Makes the folder if it is not there; for others who keep a note in it. */
void osp_run_folder_make(const char *root);

/* The text of another note in it, to be freed with free(); NULL if there is none, or others than
 * root could have written it. */
char *osp_run_file_read(const char *root, const char *name);

/* Writes one, whole or not at all. -1 with errno set. */
int osp_run_file_write(const char *root, const char *name, const struct osp_text *text);

/* Forgets the passes of every depth, `since` not: the node has just failed. */
void osp_pass_drop(const char *root);

/*
 * Does a kept pass of `depth` or deeper hold for the node and the GPUs of `state`? `live_s` is its
 * time to live. With `words` (may be NULL) why not, of the deepest that was kept.
 */
enum osp_freshness osp_pass_holds(const char *root, const struct osp_node_state *state,
				  enum osp_depth depth, uint64_t live_s, char *words,
				  size_t words_bytes);

#endif
