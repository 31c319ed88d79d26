/* SPDX-License-Identifier: GPL-2.0-or-later */
/* folder.c - reads the YAML files of a folder, one after another */
#include "lib/env/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

#define SUFFIX ".yaml"

static int is_wanted(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = sizeof(SUFFIX) - 1;

	return entry->d_name[0] != '.' && length > suffix &&
	       !strcmp(entry->d_name + length - suffix, SUFFIX);
}

/* Compares names by bytes. alphasort() follows the locale. */
static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_one(const char *folder, const char *name, osp_folder_file_f *take, void *context,
		    struct osp_error *error)
{
	struct osp_text path = OSP_TEXT_INIT;
	char *where, *text;
	size_t length = 0;
	int rc;

	osp_text_printf(&path, "%s/%s", folder, name);
	where = osp_text_take(&path);
	if (!where)
		return osp_error_at(error, folder, 0, 0, "out of memory");
	text = osp_read_file(where, OSP_FOLDER_FILE_BYTES_MAX, &length);
	if (text)
		rc = take(context, where, text, length, error);
	else if (errno == EFBIG)
		rc = osp_error_at(error, where, 0, 0, "larger than %zu bytes",
				  OSP_FOLDER_FILE_BYTES_MAX);
	else if (errno == EINVAL)
		rc = osp_error_at(error, where, 0, 0, "is not a regular file");
	else if (errno == ENOMEM)
		rc = osp_error_at(error, where, 0, 0, "out of memory");
	else
		rc = osp_error_at(error, where, 0, 0, "cannot be read: %s", strerror(errno));
	free(text);
	free(where);
	return rc;
}

int osp_folder_read(const char *folder, int may_lack, osp_folder_file_f *take, void *context,
		    struct osp_error *error)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_wanted, by_name), rc = 0;

	if (count < 0 && may_lack && errno == ENOENT)
		return 0;
	if (count < 0)
		return osp_error_at(error, folder, 0, 0, "cannot be read: %s", strerror(errno));
	if (count > OSP_FOLDER_FILES_MAX)
		rc = osp_error_at(error, folder, 0, 0, "holds more than %d files",
				  OSP_FOLDER_FILES_MAX);
	for (int i = 0; i < count; i++) {
		if (!rc)
			rc = read_one(folder, entries[i]->d_name, take, context, error);
		free(entries[i]);
	}
	free(entries);
	return rc ? -1 : count;
}
