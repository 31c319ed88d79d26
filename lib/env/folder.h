/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folder.h - reads the YAML files of a folder, one after another
 *
 * For the catalogue and the rules: every regular file of a folder whose name ends in ".yaml", in
 * the order of their names, without names that begin with a dot.
 *
 * Any thread; not inside slurmctld's scheduling calls.
 */
#ifndef OSP_FOLDER_H
#define OSP_FOLDER_H

#include <stddef.h>

#include "lib/base/error.h"

#define OSP_FOLDER_FILES_MAX	  1000
#define OSP_FOLDER_FILE_BYTES_MAX ((size_t)1024 * 1024)

/* Takes one file; `path` and `text` live only during the call. Returns 0, or -1 with `error` set to
 * stop. */
typedef int osp_folder_file_f(void *context, const char *path, const char *text, size_t text_bytes,
			      struct osp_error *error);

/*
 * Calls `take` with each file. Returns the number of files, or -1 with `error` set: the folder or a
 * file cannot be read or is too large, or `take` refused it. With `may_lack` a missing folder
 * counts as empty.
 */
int osp_folder_read(const char *folder, int may_lack, osp_folder_file_f *take, void *context,
		    struct osp_error *error);

#endif
