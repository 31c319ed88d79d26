/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_file.h - which nodes a recheck has in hand, for the next one if a recheck is killed
 *
 * A node in hand is undrained, inside a reservation of root's: its reason is here and nowhere else.
 * Each node has a file, for root alone, in OSP_STATE_DIR/recheck/CLUSTER (osp_cluster_folder():
 * nodes of two clusters may have one name). The process that has a node in hand holds the file's
 * lock, which ends with the process. One thread.
 */
#ifndef OSP_TRIAL_FILE_H
#define OSP_TRIAL_FILE_H

#include <stdbool.h>
#include <stddef.h>

#define OSP_TRIAL_REASON_BYTES 1024

struct osp_trial_file {
	int lock;
	char path[512];
};

/*
 * Takes a node in hand and keeps the reason for which it is drained, before anything of the node is
 * changed. Returns 0; 1, with the file unchanged, if another process has it in hand or left it to
 * the next recheck; -1 with errno set.
 */
int osp_trial_begin(struct osp_trial_file *file, const char *cluster, const char *node,
		    const char *reason);

/*
 * Returns whether there is a file for this node, in hand or left. For root: nobody else sees the
 * folder.
 */
bool osp_trial_stands(const char *cluster, const char *node);

/* Notes that the node is drained again, or well, and only its reservation must still be deleted.
 * Returns 0, or -1 with errno set. */
int osp_trial_judged(struct osp_trial_file *file);

/* Removes the file: nothing is left to do. */
void osp_trial_end(struct osp_trial_file *file);

/* Releases the node but keeps the file: the next recheck takes it over. */
void osp_trial_leave(struct osp_trial_file *file);

/*
 * Calls `see` with each node that a recheck left, which is in hand during the call: `reason` is as
 * it was, or "" for a node that was judged. `see` ends a file by osp_trial_end() or
 * osp_trial_leave(). If a file cannot be opened, `file` and `reason` are NULL and errno says why.
 * If `see` is NULL, only counts them. Returns how many there are.
 */
size_t osp_trials_left(const char *cluster,
		       void (*see)(void *context, struct osp_trial_file *file, const char *node,
				   const char *reason),
		       void *context);

#endif
