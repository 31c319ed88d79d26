/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.h - files that the command reads and writes
 *
 * One thread.
 */
#ifndef OSP_FILES_H
#define OSP_FILES_H

#include <stddef.h>
#include <sys/stat.h>

#include "lib/base/error.h"

/*
 * Reads a whole file, pipe or, for "-", standard input, of at most `limit_bytes`. Returns a
 * malloc'd, terminated buffer, or NULL with `error` set.
 */
char *osp_read_input(const char *path, size_t limit_bytes, size_t *length_bytes,
		     struct osp_error *error);

/* Returns what errors call that file: "standard input" for "-". */
const char *osp_input_name(const char *path);

/* Writes the same for what is printed or drawn, cleaned (lib/base/clean.h), because others name
 * files. Returns `buffer`. */
const char *osp_input_words(const char *path, char *buffer, size_t buffer_bytes);

/*
 * Writes a whole file or leaves it as it was: writes a temporary file in the same folder, forces it
 * to disk and renames it. An existing file keeps its owner, group and mode; a link is followed. "-"
 * is standard output; a device or pipe is written to directly. Returns 0, or -1 with `error` set.
 */
int osp_write_output(const char *path, const char *text, size_t text_bytes,
		     struct osp_error *error);

/* Does the same for a file that slurmctld obeys only if nobody but its owner and root's group may
 * write it (lib/topology/follow.h): whatever the umask, and even if others may write the existing
 * file. */
int osp_write_trusted(const char *path, const char *text, size_t text_bytes,
		      struct osp_error *error);

/* Does the same for a file that does not exist yet: it has the owner and group of `like`, and
 * `mode`, from its first moment on. */
int osp_write_new(const char *path, const char *text, size_t text_bytes, const struct stat *like,
		  mode_t mode, struct osp_error *error);

/* Removes what a killed writer of `path` left. Only for a caller beside whom nobody else writes
 * it. */
void osp_remove_unfinished(const char *path);

/* Returns "FOLDER/NAME", or NAME alone if it begins with '/'. FOLDER is that of the file `beside`.
 * The caller frees it; NULL if memory runs out. */
char *osp_path_beside(const char *beside, const char *name);

#endif
