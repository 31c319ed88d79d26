/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "tools/setup/unit_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "tools/shared/files.h"

#define UNIT_BYTES_MAX ((size_t)64 * 1024)
#define WITH_FOLDER    "# The folder was made for this file.\n"

/* Only the answer "it would not place gangs" stops slurmctld, not a doctor that could not look. */
static const char unit_text[] = "# onespine setup: slurmctld does not start where it would not "
				"place gangs, and its journal\n"
				"# says what to do.\n"
				"[Service]\n"
				"ExecStartPre=/bin/sh -c '" OSP_BIN_DIR
				"/onespine doctor --before-start || test $? -ne 1'\n";

char *osp_unit_path(const char *folder)
{
	char *path = NULL;

	if (!folder && access("/run/systemd/system", F_OK) < 0)
		return NULL;
	if (asprintf(&path, "%s/slurmctld.service.d/onespine.conf",
		     folder ? folder : "/etc/systemd/system") < 0)
		return NULL;
	return path;
}

/* What stands there is ours; *with_folder: so is its folder. */
static bool is_ours(const char *path, bool *with_folder)
{
	size_t bytes = 0;
	char *text = osp_read_file(path, UNIT_BYTES_MAX, &bytes);
	bool ours;

	*with_folder = text && strncmp(text, WITH_FOLDER, strlen(WITH_FOLDER)) == 0;
	ours = text && strcmp(text + (*with_folder ? strlen(WITH_FOLDER) : 0), unit_text) == 0;
	free(text);
	return ours;
}

static int remove_unit(const char *path, bool dry_run, struct osp_error *error)
{
	char *folder = osp_path_beside(path, ".");
	bool with_folder;

	if (!folder || !is_ours(path, &with_folder)) {
		free(folder);
		return 0;
	}
	if (!dry_run && unlink(path) < 0) {
		free(folder);
		return osp_error_at(error, path, 0, 0, "cannot be removed: %s", strerror(errno));
	}
	folder[strlen(folder) - 2] = '\0';
	if (!dry_run && with_folder)
		(void)rmdir(folder); /* others may have put files there since */
	free(folder);
	return 1;
}

static int write_unit(const char *path, struct osp_error *error)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *folder = osp_path_beside(path, ".");
	int result;

	if (!folder)
		return osp_error_set(error, "out of memory");
	folder[strlen(folder) - 2] = '\0';
	if (mkdir(folder, 0755) == 0)
		osp_text_add(&text, WITH_FOLDER);
	else if (errno != EEXIST) {
		osp_error_at(error, folder, 0, 0, "cannot be made: %s", strerror(errno));
		free(folder);
		return -1;
	}
	osp_text_add(&text, unit_text);
	result = text.failed ? osp_error_set(error, "out of memory")
			     : osp_write_output(path, text.data, text.length_bytes, error);
	if (result < 0)
		(void)rmdir(folder); /* goes only while it is empty */
	osp_text_free(&text);
	free(folder);
	return result < 0 ? -1 : 1;
}

int osp_unit_file(const char *path, bool undo, bool dry_run, struct osp_error *error)
{
	if (undo)
		return remove_unit(path, dry_run, error);
	if (access(path, F_OK) == 0)
		return 0;
	return dry_run ? 1 : write_unit(path, error);
}
