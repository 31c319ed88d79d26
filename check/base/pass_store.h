/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pass_store.h - where a node's passes are kept, and whether one still holds
 *
 * The files are ROOT/run/onespine/pass-DEPTH, one a depth, in a folder of root's that the next boot
 * empties. The file `since` beside them has the counters and the kernel's records that have been
 * seen and accepted: those of the last pass, kept if the node fails afterwards. A file that
 * somebody else could have written (its owner is neither root nor the caller, or others may write
 * to it) is no pass, so no user can make one. One thread; two processes at once do no harm.
 */
#ifndef OSP_PASS_STORE_H
#define OSP_PASS_STORE_H

#include "check/check.h"
#include "lib/base/text.h"

#define OSP_RUN_DIR "/run/onespine"

/*
 * Loads the kept pass of `depth`. Returns 1 with `pass` filled (osp_pass_clear()), 0 if there is
 * none, or -1 with `error` set if it cannot be read, is not root's, or is no pass.
 */
int osp_pass_load(const char *root, enum osp_depth depth, struct osp_pass *pass,
		  struct osp_error *error);

/* Loads what was last accepted in this boot. Returns as osp_pass_load() does; a file that cannot be
 * read counts as none. */
int osp_pass_load_since(const char *root, struct osp_pass *pass);

/* Keeps a pass, whole or not at all, over the last one of its depth. With `seen` it is also kept as
 * `since`, if it is of the whole node (otherwise nobody judged the other GPUs). Returns -1 with
 * `error` set. */
int osp_pass_save(const char *root, const struct osp_pass *pass, bool seen,
		  struct osp_error *error);

/* Keeps the pass as `since` alone: its counters and records have been seen (after a repair).
 * Returns -1 with `error` set. */
int osp_pass_save_since(const char *root, const struct osp_pass *pass, struct osp_error *error);

/* Makes the folder if it is missing, also for callers that keep a note in it. */
void osp_run_folder_make(const char *root);

/* Returns the text of another note in the folder, to be freed with free(); NULL if there is none,
 * or somebody other than root could have written it. */
char *osp_run_file_read(const char *root, const char *name);

/* Writes a note, whole or not at all. Returns -1 with errno set. */
int osp_run_file_write(const char *root, const char *name, const struct osp_text *text);

/* Forgets the passes of every depth, but not `since`, because the node has just failed. */
void osp_pass_drop(const char *root);

/*
 * Returns whether a kept pass of `depth` or deeper holds for the node and the GPUs of `state`.
 * `live_s` is its time to live. If none holds, `words` (may be NULL) says why not, about the
 * deepest one that was kept.
 */
enum osp_freshness osp_pass_holds(const char *root, const struct osp_node_state *state,
				  enum osp_depth depth, uint64_t live_s, char *words,
				  size_t words_bytes);

#endif
