/* SPDX-License-Identifier: GPL-2.0-or-later */
/* builds.c - finds the kept build of a plugin for the Slurm that is installed, and links to it */
#include "onespine_config.h"
#include "tools/setup/builds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/slurm/slurm_files.h"
#include "lib/base/trust.h"

#define PATH_BYTES    4096
#define VERSION_BYTES 32

static const char *const names[] = {"select_cons_tres.so", "job_submit_onespine.so"};
#define NAME_COUNT (sizeof(names) / sizeof(names[0]))

/* One of our plugins in a folder of PluginDir. */
struct place {
	const char *folder;
	const char *name;
	struct osp_plugin_file *plugin;
	bool *kept;
};

static struct place place_of(struct osp_plugin_folder *folder, size_t which)
{
	return which ? (struct place){folder->path, names[which], &folder->job_submit,
				      &folder->job_submit_kept}
		     : (struct place){folder->path, names[which], &folder->select,
				      &folder->select_kept};
}

static void version_words(uint32_t version, char words[VERSION_BYTES])
{
	snprintf(words, VERSION_BYTES, "%u.%02u.%u", version >> 16, version >> 8 & 255,
		 version & 255);
}

/* Joins folder, "slurm/VERSION" below it or beside it, and name; returns false if that is too long.
 * `from_folder` begins where the link begins. */
static bool kept_path(const struct place *place, const char *where, uint32_t slurm,
		      char path[PATH_BYTES], const char **from_folder)
{
	char version[VERSION_BYTES];
	int bytes;

	version_words(slurm, version);
	bytes = snprintf(path, PATH_BYTES, "%s/%sslurm/%s/%s", place->folder, where, version,
			 place->name);
	*from_folder = path + strlen(place->folder) + 1;
	return bytes > 0 && bytes < PATH_BYTES;
}

/* Finds the build for `slurm`; returns false if none is kept. */
static bool find_kept(const struct place *place, uint32_t slurm, char path[PATH_BYTES],
		      const char **from_folder)
{
	static const char *const where[] = {"", "../"};

	for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
		struct osp_plugin_file plugin;

		if (!kept_path(place, where[i], slurm, path, from_folder))
			continue;
		plugin = osp_look_at_plugin(place->folder, *from_folder);
		if (plugin.state == OSP_PLUGIN_OURS && plugin.version == slurm)
			return true;
	}
	return false;
}

static bool is_link(const struct place *place, char path[PATH_BYTES])
{
	struct stat status;
	int bytes = snprintf(path, PATH_BYTES, "%s/%s", place->folder, place->name);

	return bytes < PATH_BYTES && lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* Tells whether a plugin of ours is in this place that Slurm would pass over. */
static bool is_wrong(const struct place *place, uint32_t slurm)
{
	char path[PATH_BYTES];

	if (place->plugin->state == OSP_PLUGIN_OURS)
		return place->plugin->version != slurm;
	return place->plugin->state == OSP_PLUGIN_ABSENT && is_link(place, path);
}

void osp_builds_look(struct osp_plugin_folder *folders, size_t count, uint32_t slurm)
{
	char path[PATH_BYTES];
	const char *from_folder;

	for (size_t i = 0; i < count * NAME_COUNT; i++) {
		struct place place = place_of(&folders[i / NAME_COUNT], i % NAME_COUNT);

		*place.kept = slurm && is_wrong(&place, slurm) &&
			      find_kept(&place, slurm, path, &from_folder);
	}
}

/* --- putting it in place ---------------------------------------------------------------------- */

/* Tells whether others than root and the caller can put another file in place of one in this
 * folder. Where it is sticky, as /tmp is, they can not. */
static bool can_be_moved(const char *folder)
{
	struct stat status;

	if (stat(folder, &status) < 0)
		return true;
	if (status.st_mode & S_ISVTX)
		status.st_mode &= ~(mode_t)(S_IWGRP | S_IWOTH);
	return osp_distrust(&status, geteuid());
}

/* Checks a file, its VERSION and slurm, the folder of that, and all folders above; cuts `path`. */
static bool are_safe(char *path)
{
	bool exists, safe = true;
	char *slash;

	for (int i = 0; *path && safe; i++) {
		safe = i < 3 ? osp_is_safe(path, geteuid(), &exists) : !can_be_moved(path);
		slash = strrchr(path, '/');
		if (safe && slash)
			*slash = '\0';
		if (!slash)
			break;
	}
	return safe;
}

/* Checks that nobody else may write the build, or the folders that lead to it: those that the link
 * will go through, and those where it ends. */
static bool is_trusted(const char *build, struct osp_text *said)
{
	char *real = realpath(build, NULL), *named = strdup(build);
	bool real_is_safe = real && are_safe(real);
	bool safe = real_is_safe && named && are_safe(named);
	const char *unsafe = real_is_safe ? named : real;

	if (!safe)
		osp_text_printf(said, "%s can be written by others than root, so it is not used\n",
				unsafe ? unsafe : build);
	free(real);
	free(named);
	return safe;
}

/* Gives a file a second name, in place of another that has it. Returns 0, or -1 with errno set. */
static int name_too(const char *path, const char *name)
{
	char new_name[PATH_BYTES];

	if (snprintf(new_name, PATH_BYTES, "%s.new", name) >= PATH_BYTES) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (unlink(new_name) < 0 && errno != ENOENT)
		return -1;
	if (link(path, new_name) < 0 || rename(new_name, name) < 0)
		return -1;
	(void)unlink(new_name); /* rename(2) leaves it where both were one file */
	return 0;
}

/* Keeps a plugin that is a file, not a link, for its own Slurm. Returns 0, or -1 with errno set. */
static int keep_own(const struct place *place, const char *from_folder, const char *path)
{
	const char *where = strncmp(from_folder, "../", 3) == 0 ? "../" : "";
	char kept[PATH_BYTES], link_path[PATH_BYTES];
	const char *ignored;
	char *slash;

	if (place->plugin->state != OSP_PLUGIN_OURS || is_link(place, link_path))
		return 0;
	if (!kept_path(place, where, place->plugin->version, kept, &ignored)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	slash = strrchr(kept, '/');
	*slash = '\0';
	/* not by umask: SlurmUser must read what a link leads to */
	if (mkdir(kept, 0755) == 0 ? chmod(kept, 0755) < 0 : errno != EEXIST)
		return -1;
	*slash = '/';
	return name_too(path, kept);
}

/* Replaces a plugin by a link. Returns 0, or -1 with errno set. */
static int put_link(const struct place *place, const char *from_folder)
{
	char path[PATH_BYTES], new_path[PATH_BYTES];
	int bytes = snprintf(path, PATH_BYTES, "%s/%s", place->folder, place->name);

	if (bytes >= PATH_BYTES || snprintf(new_path, PATH_BYTES, "%s/.%s.new", place->folder,
					    place->name) >= PATH_BYTES) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (keep_own(place, from_folder, path) < 0)
		return -1;
	if (unlink(new_path) < 0 && errno != ENOENT)
		return -1;
	if (symlink(from_folder, new_path) < 0)
		return -1;
	return rename(new_path, path);
}

/* Tells whether each plugin that is wrong can be replaced. */
static bool can_take_all(struct osp_plugin_folder *folders, size_t count, uint32_t slurm,
			 struct osp_text *said)
{
	char path[PATH_BYTES];
	const char *from_folder;

	for (size_t i = 0; i < count * NAME_COUNT; i++) {
		struct place place = place_of(&folders[i / NAME_COUNT], i % NAME_COUNT);

		if (is_wrong(&place, slurm) &&
		    (!find_kept(&place, slurm, path, &from_folder) || !is_trusted(path, said)))
			return false;
	}
	return true;
}

static bool take(const struct place *place, uint32_t slurm, struct osp_text *said)
{
	char path[PATH_BYTES], was[VERSION_BYTES], now[VERSION_BYTES];
	const char *from_folder;

	if (!find_kept(place, slurm, path, &from_folder))
		return false;
	if (put_link(place, from_folder) < 0) {
		osp_text_printf(said, "%s/%s cannot be replaced by %s: %s\n", place->folder,
				place->name, from_folder, strerror(errno));
		return false;
	}
	version_words(slurm, now);
	osp_text_printf(said, "%s/%s is now the build for Slurm %s, which is installed",
			place->folder, place->name, now);
	if (place->plugin->version) {
		version_words(place->plugin->version, was);
		osp_text_printf(said, "; it was that for Slurm %s", was);
	}
	osp_text_add(said, "\n");
	*place->plugin = osp_look_at_plugin(place->folder, place->name);
	*place->kept = false;
	return true;
}

uint32_t osp_builds_match(struct osp_plugin_folder *folders, size_t count, uint32_t slurm,
			  struct osp_text *said)
{
	uint32_t taken = 0;

	osp_builds_look(folders, count, slurm);
	if (!slurm || !can_take_all(folders, count, slurm, said))
		return 0;
	for (size_t i = 0; i < count * NAME_COUNT; i++) {
		struct place place = place_of(&folders[i / NAME_COUNT], i % NAME_COUNT);

		if (*place.kept)
			taken += take(&place, slurm, said);
	}
	return taken;
}
