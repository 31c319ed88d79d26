/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_file.h - files of runs: a line of JSON each, one file a node, in a folder of root's
 *
 * FOLDER/KEY.jsonl is appended to; a full one becomes KEY.jsonl.1, that KEY.jsonl.2 and so on.
 * Failures, and the first run after each that found none, stand once more in KEY.jsonl.0, which
 * becomes KEY.jsonl.00 when full: whoever lets a node write line after line pushes out no strike.
 * Readers know a line that comes twice by its id. What
 * others than root (or who asks) could have written is not read, and nothing is written where
 * others may write: so a user can neither forge a line nor plant a name. Nobody but root and its
 * group reads it (0640), and runs at once wait for each other by a lock that only root can hold
 * (lib/base/own_lock.h). One thread.
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
	uint32_t files; /* set aside */
};

/*
 * Appends a line (without its end), whole or not at all: on a full disk the file is as it was.
 * Makes the folder where the one above it is there. Everything is done by a child of its own that
 * is not waited for longer than `deadline_ms`: a shared folder may hang. -1 with `error` set.
 */
int osp_history_append(const struct osp_history_place *place, const char *line,
		       unsigned int deadline_ms, struct osp_error *error);

/* Makes what may stand in a file's name of `text`: other bytes become '_'. Returns `buffer`. */
const char *osp_history_key(const char *text, char *buffer, size_t buffer_bytes);

/* What is found while reading. A line is terminated and ends with the call. `complain` gets what is
 * passed over; NULL: nobody does. Each returns 0, or -1 to stop. */
struct osp_history_reader {
	int (*line)(void *context, char *line, size_t length, const char *file, uint64_t number);
	void (*complain)(void *context, const char *file, uint64_t line, const char *why);
	void *context;
};

/*
 * Reads every file of the folder, those set aside too, in the order of their names. 0 when all was
 * read (a folder that is not there holds nothing), -1 with `error` set: the folder cannot be read
 * or is not root's, or a line was refused.
 */
int osp_history_read_folder(const char *folder, const struct osp_history_reader *reader,
			    struct osp_error *error);

#endif
