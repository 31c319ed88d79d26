/* SPDX-License-Identifier: GPL-2.0-or-later */
/* unit_file.c - a drop-in for systemd's slurmctld.service that runs `onespine doctor
 * --before-start`, and a file for logrotate that bounds the gate's log */
#include "onespine_config.h"
#include "tools/setup/unit_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "host/files.h"

#define UNIT_BYTES_MAX ((size_t)64 * 1024)
#define WITH_FOLDER    "# The folder was made for this file.\n"

/* Only the answer "it would not place gangs" stops slurmctld, not a doctor that could not look.
 * The "+" runs it as root, not as the unit's User: it may replace plugins (tools/setup/builds.h).
 * Releases before 0.2 wrote it without. */
#define UNIT_TEXT(AS_ROOT)                                                                         \
	"# onespine setup: slurmctld does not start where it would not place gangs, and its "      \
	"journal\n"                                                                                \
	"# says what to do.\n"                                                                     \
	"[Service]\n"                                                                              \
	"ExecStartPre=" AS_ROOT "/bin/sh -c '" OSP_BIN_DIR                                         \
	"/onespine doctor --before-start || test $? -ne 1'\n"
static const char unit_text[] = UNIT_TEXT("+");
static const char former_unit_text[] = UNIT_TEXT("");

/* Each line opens the log anew, so no process needs a signal. Packages bring the same file,
 * without our first line. */
static const char rotation_text[] =
	"# written by onespine setup; onespine setup --undo takes it out\n" OSP_LOG_DIR
	"/gate.log {\n"
	"	daily\n"
	"	maxsize 100M\n"
	"	rotate 14\n"
	"	missingok\n"
	"	notifempty\n"
	"	compress\n"
	"	delaycompress\n"
	"	create 0640 root root\n"
	"}\n";

char *osp_rotation_path(const char *folder)
{
	char *path = NULL;

	if (!folder &&
	    (access("/run/systemd/system", F_OK) < 0 || access("/etc/logrotate.d", F_OK) < 0))
		return NULL;
	if (asprintf(&path, "%s/onespine", folder ? folder : "/etc/logrotate.d") < 0)
		return NULL;
	return path;
}

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

/* Returns whether what is there is ours; *with_folder: so is its folder. */
static bool is_ours(const char *path, const char *own_text, bool *with_folder)
{
	size_t bytes = 0;
	char *text = osp_read_file(path, UNIT_BYTES_MAX, &bytes);
	bool ours;

	*with_folder = text && strncmp(text, WITH_FOLDER, strlen(WITH_FOLDER)) == 0;
	ours = text && strcmp(text + (*with_folder ? strlen(WITH_FOLDER) : 0), own_text) == 0;
	free(text);
	return ours;
}

static int remove_own(const char *path, const char *own_text, bool dry_run, struct osp_error *error)
{
	char *folder = osp_path_beside(path, ".");
	bool with_folder;

	if (!folder || !is_ours(path, own_text, &with_folder)) {
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

static int write_own(const char *path, const char *own_text, struct osp_error *error)
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
	osp_text_add(&text, own_text);
	result = text.failed ? osp_error_set(error, "out of memory")
			     : osp_write_output(path, text.data, text.length_bytes, error);
	if (result < 0)
		(void)rmdir(folder); /* goes only while it is empty */
	osp_text_free(&text);
	free(folder);
	return result < 0 ? -1 : 1;
}

static int change(const char *path, const char *own_text, bool undo, bool dry_run,
		  struct osp_error *error)
{
	if (undo)
		return remove_own(path, own_text, dry_run, error);
	if (access(path, F_OK) == 0)
		return 0;
	return dry_run ? 1 : write_own(path, own_text, error);
}

int osp_unit_file(const char *path, bool undo, bool dry_run, struct osp_error *error)
{
	bool with_folder;

	if (is_ours(path, former_unit_text, &with_folder)) {
		if (undo)
			return remove_own(path, former_unit_text, dry_run, error);
		if (!dry_run && remove_own(path, former_unit_text, false, error) < 0)
			return -1;
		return dry_run ? 1 : write_own(path, unit_text, error);
	}
	return change(path, unit_text, undo, dry_run, error);
}

int osp_rotation_file(const char *path, bool undo, bool dry_run, struct osp_error *error)
{
	return change(path, rotation_text, undo, dry_run, error);
}
