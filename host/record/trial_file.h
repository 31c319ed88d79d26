/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trial_file.h - which nodes a recheck has in hand, for the one that comes after a recheck that was
 * killed
 *
 * A node in hand is undrained, inside a reservation of root's: its reason stands here and nowhere
 * else. A file of root's alone for each node, in OSP_STATE_DIR/recheck/CLUSTER
 * (osp_cluster_folder(): nodes of two clusters may have one name). The process that has a node in
 * hand holds the file's lock, which ends with the process. One thread.
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
 * Takes a node in hand and keeps the reason for which it is drained, before anything of it is
 * changed. 0; 1 where another process has it in hand, or left it to the next recheck, and the file
 * stays as it is; -1 with errno set.
 */
int osp_trial_begin(struct osp_trial_file *file, const char *cluster, const char *node,
		    const char *reason);

/* Whether a file stands for this node, in hand or left. For root: nobody else sees the folder. */
bool osp_trial_stands(const char *cluster, const char *node);

/* Records that the node is drained again, or well, and only its reservation must still be deleted.
 * Returns 0, or -1 with errno set. */
int osp_trial_judged(struct osp_trial_file *file);

/* Removes the file: nothing is left to do. */
void osp_trial_end(struct osp_trial_file *file);

/* Lets go of it with the file in place: the next recheck takes it over. */
void osp_trial_leave(struct osp_trial_file *file);

/*
 * Calls `see` with each node that a recheck left, which is in hand while it is called: `reason` as
 * it was, or "" for one that was judged. Ends a file by osp_trial_end() or leaves it by
 * osp_trial_leave(). NULL: counts them only. Returns how many there are.
 */
size_t osp_trials_left(const char *cluster,
		       void (*see)(void *context, struct osp_trial_file *file, const char *node,
				   const char *reason),
		       void *context);

#endif
