/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_file.h - files of runs: a line of JSON each, one file a node, in a folder of root's
 *
 * FOLDER/KEY.jsonl is appended to; a full one becomes KEY.jsonl.1, that KEY.jsonl.2 and so on.
 * Failures, and the first run after each that found none, are also kept in KEY.jsonl.0, which
 * becomes KEY.jsonl.00 when full: a user who makes a node write line after line pushes out no
 * strike. Readers recognize a line that comes twice by its id. What others than root (or the
 * caller) could have written is not read, and nothing is written where others may write: so a user
 * can neither forge a line nor plant a name. Only root and its group read it (0640), and
 * simultaneous runs wait for each other by a lock that only root can hold (lib/base/own_lock.h).
 * One host per key: where hosts share a folder, each writes files of its own. One thread.
 */
#ifndef OSP_HISTORY_FILE_H
#define OSP_HISTORY_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_HISTORY_LINE_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct osp_history_place {
	const char *folder;
	const char *key; /* letters, digits, '.', '-' and '_' */
	uint64_t file_bytes_max;
	uint32_t files; /* how many are set aside */
};

/*
 * Appends a line (without its end), whole or not at all: on a full disk the file stays as it was.
 * Makes the folder if the one above it exists. A child process does everything, and is waited for
 * at most `deadline_ms`: a shared folder may hang. The child waits for other runs' lock for half of
 * that, then `error` names the lock, and not the folder's silence. It syncs the file after it has
 * released the lock. Returns -1 with `error` set if that fails.
 */
int osp_history_append(const struct osp_history_place *place, const char *line,
		       unsigned int deadline_ms, struct osp_error *error);

/* Turns `text` into a part of a file's name: other bytes become '_'. Returns `buffer`. */
const char *osp_history_key(const char *text, char *buffer, size_t buffer_bytes);

/* Functions that get what a reader finds. A line is terminated and lives during the call.
 * `complain` gets what is skipped; it may be NULL. `line` returns 0, or -1 to stop. */
struct osp_history_reader {
	int (*line)(void *context, char *line, size_t length, const char *file, uint64_t number);
	void (*complain)(void *context, const char *file, uint64_t line, const char *why);
	void *context;
};

/*
 * Reads every file of the folder, also those set aside, in the order of their names. Returns 0 if
 * all was read (a folder that does not exist holds nothing), or -1 with `error` set: the folder
 * cannot be read or is not root's, or a line was refused.
 */
int osp_history_read_folder(const char *folder, const struct osp_history_reader *reader,
			    struct osp_error *error);

#endif
