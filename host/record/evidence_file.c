/* SPDX-License-Identifier: GPL-2.0-or-later */
/* evidence_file.c - writes evidence, and removes what no longer has room */
#include "onespine_config.h"
#include "host/record/evidence_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/check.h"
#include "lib/base/hash.h"
#include "lib/base/private_file.h"
#include "lib/base/text.h"

/* Far more than are ever kept: a folder with more is somebody else's. */
#define FILES_LOOKED_AT 4096

/* The child's answers besides errno. */
enum { REPEATS = 10000, FULL };

struct save {
	const char *folder;
	const struct osp_evidence *evidence;
	const char *name;
	const char *json;
};

/* --- what it saw ------------------------------------------------------------------------------ */

static bool is_well(const json_t *object)
{
	const char *verdict = json_string_value(json_object_get(object, "verdict"));

	return !verdict || !strcmp(verdict, osp_verdict_name(OSP_VERDICT_PASS)) ||
	       !strcmp(verdict, osp_verdict_name(OSP_VERDICT_SKIP));
}

static uint64_t add_words(uint64_t hash, const json_t *object, const char *key)
{
	const char *words = json_string_value(json_object_get(object, key));

	return osp_hash_words(hash, words ? words : "");
}

/*
 * Returns a hash of which checks were not well, and of what; without values, which change from look
 * to look.
 */
static uint32_t hash_of(const char *json)
{
	json_t *root = json_loads(json, 0, NULL);
	const json_t *checks = json_object_get(root, "checks");
	uint64_t hash = OSP_HASH_START;

	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);
		const json_t *results = json_object_get(check, "results");

		if (is_well(check))
			continue;
		hash = add_words(hash, check, "name");
		for (size_t r = 0; r < json_array_size(results); r++)
			if (!is_well(json_array_get(results, r))) {
				hash = add_words(hash, json_array_get(results, r), "verdict");
				hash = add_words(hash, json_array_get(results, r), "subject");
			}
	}
	json_decref(root);
	return (uint32_t)(hash ^ hash >> 32);
}

/* --- in the child ----------------------------------------------------------------------------- */

/* Lists all files there; NULL with errno set if that fails. */
static struct osp_evidence_file *list_files(int folder, size_t *count)
{
	struct osp_evidence_file *files = calloc(FILES_LOOKED_AT, sizeof(*files));
	int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
	struct dirent *entry;
	struct stat status;

	*count = 0;
	while (files && stream && *count < FILES_LOOKED_AT && (entry = readdir(stream))) {
		struct osp_evidence_file *file = &files[*count];

		if (*entry->d_name == '.' || strlen(entry->d_name) >= sizeof(file->name) ||
		    fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode))
			continue;
		strcpy(file->name, entry->d_name);
		file->bytes = (uint64_t)status.st_size;
		file->time_s = (int64_t)status.st_mtime;
		++*count;
	}
	if (stream)
		closedir(stream);
	return files;
}

static int write_file(int folder, const char *name, const char *json)
{
	int file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	bool good;

	if (file < 0)
		return errno;
	errno = EIO;
	good = osp_write_all(file, json, strlen(json)) && fsync(file) == 0;
	if (!good) {
		int error = errno;

		(void)unlinkat(folder, name, 0);
		close(file);
		return error;
	}
	return close(file) < 0 ? errno : 0;
}

static int save_in_folder(const struct save *save, int folder)
{
	size_t count, gone;
	struct osp_evidence_file *files = list_files(folder, &count);
	int state = 0;

	if (!files)
		return ENOMEM;
	if (osp_evidence_repeats(save->evidence, files, count))
		state = REPEATS;
	gone = state ? 0
		     : osp_evidence_make_room(files, count, save->evidence->kind,
					      strlen(save->json));
	if (gone == SIZE_MAX)
		state = FULL;
	for (size_t i = 0; !state && i < gone; i++)
		(void)unlinkat(folder, files[i].name, 0);
	free(files);
	return state ? state : write_file(folder, save->name, save->json);
}

static int save_in_child(const void *argument)
{
	const struct save *save = argument;
	int folder = osp_private_folder(save->folder, 0700), state;

	if (folder < 0)
		return errno;
	state = save_in_folder(save, folder);
	close(folder);
	return state;
}

/* --- from outside ----------------------------------------------------------------------------- */

static int judge(const char *folder, int state, struct osp_error *error)
{
	switch (state) {
	case 0:
		return 1;
	case REPEATS:
		return 0;
	case FULL:
		return osp_error_at(error, folder, 0, 0,
				    "full of graver evidence: %d files or %llu MiB of this node",
				    OSP_EVIDENCE_FILES_MAX,
				    (unsigned long long)(OSP_EVIDENCE_BYTES_MAX >> 20));
	case EPERM:
		return osp_error_at(error, folder, 0, 0, "others than root may write there");
	default:
		return osp_error_at(error, folder, 0, 0, "%s", strerror(state));
	}
}

int osp_evidence_save(const char *folder, struct osp_evidence *evidence, const char *json,
		      unsigned int deadline_ms, char *name, struct osp_error *error)
{
	const struct save save = {folder, evidence, name, json};
	struct osp_guard guard;
	int state;

	evidence->saw = hash_of(json);
	if (getrandom(&evidence->random, sizeof(evidence->random), 0) != sizeof(evidence->random) ||
	    !osp_evidence_name(evidence, name, OSP_EVIDENCE_NAME_BYTES))
		return osp_error_at(error, folder, 0, 0, "no name for a file of '%.60s'",
				    evidence->node);
	if (osp_guard_start(&guard, save_in_child, &save) < 0)
		return osp_error_at(error, folder, 0, 0, "no child process: %s", strerror(errno));
	switch (osp_guard_collect(&guard, osp_now_ms() + deadline_ms, &state)) {
	case 1:
		return judge(folder, state, error);
	case 0:
		return osp_error_at(error, folder, 0, 0, "no answer within %u ms", deadline_ms);
	default:
		return osp_error_at(error, folder, 0, 0, "the process that writes there crashed");
	}
}
