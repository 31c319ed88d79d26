/* SPDX-License-Identifier: GPL-2.0-or-later */
/* builds.c - finds the kept build of a plugin for the Slurm that is installed, and links to it */
#define _GNU_SOURCE /* strverscmp */

#include "onespine_config.h"
#include "tools/setup/builds.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/slurm/slurm_files.h"
#include "host/source/run_program.h"
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

/* Returns whether a name is that of a version: the number alone, or a distribution's, which begins
 * with it: 22.05.8-4+deb12u3. */
static bool is_of_version(const char *name, const char *version)
{
	size_t length = strlen(version);

	return !strncmp(name, version, length) && (!name[length] || name[length] == '-');
}

/* --- the package that Slurm is from ----------------------------------------------------------- */

/* Prints the distribution's version of the source that a file was built from. dpkg knows a file by
 * one path alone: PluginDir may lead there through a link, as /lib does to /usr/lib. */
#define SCRIPT                                                                                     \
	"file=$(realpath \"$1\"); "                                                                \
	"package=$(dpkg-query -S \"$1\" || dpkg-query -S \"$file\") && "                           \
	"dpkg-query -W -f '${source:Version}\\n' \"${package%%: *}\" || "                          \
	"rpm -qf --qf '%{VERSION}-%{RELEASE}\\n' \"$1\""
#define LIMIT_S	      20
#define PACKAGE_BYTES 4096

/* Returns the distribution's version of the installed Slurm, without its epoch, to be freed; NULL
 * if no package has Slurm's plugin. */
static char *ask_package(const struct osp_plugin_folder *folders, size_t count, const char *version)
{
	const char *argv[] = {"sh", "-c", SCRIPT, "sh", NULL, NULL};
	struct osp_program_output output = {.text = NULL};
	struct osp_error error;
	char path[PATH_BYTES], *found = NULL;

	for (size_t i = 0; i < count && !argv[4]; i++)
		if (folders[i].select.state == OSP_PLUGIN_OTHERS &&
		    snprintf(path, sizeof(path), "%s/%s", folders[i].path, names[0]) < PATH_BYTES)
			argv[4] = path;
	if (!argv[4] || osp_run_program(argv, LIMIT_S, PACKAGE_BYTES, &output, &error))
		return NULL;
	output.text[strcspn(output.text, "\n")] = '\0';
	found = strchr(output.text, ':') ? strchr(output.text, ':') + 1 : output.text;
	found = is_of_version(found, version) && !strchr(found, '/') ? strdup(found) : NULL;
	free(output.text);
	return found;
}

/* --- the builds that are kept ----------------------------------------------------------------- */

/* The Slurm for which builds are sought. */
struct wanted {
	uint32_t slurm;
	char version[VERSION_BYTES];
	char *package; /* the distribution's version; NULL if unknown */
};

/* A build that is kept. */
struct kept {
	char path[PATH_BYTES];
	const char *from_folder; /* where a link to it begins, in `path` */
	char name[NAME_MAX + 1]; /* of its folder: "22.05.8" or "22.05.8-4+deb12u3" */
};

/* How well a folder of builds fits, the least first. */
enum fit {
	FITS_NOT,
	FITS_NUMBER,	  /* it is for another package of this version */
	FITS_ANY_PACKAGE, /* it does not say for which package */
	FITS_PACKAGE,
};

static enum fit fit_of(const struct wanted *wanted, const char *name)
{
	if (wanted->package && !strcmp(name, wanted->package))
		return FITS_PACKAGE;
	if (!strcmp(name, wanted->version))
		return FITS_ANY_PACKAGE;
	return is_of_version(name, wanted->version) ? FITS_NUMBER : FITS_NOT;
}

/* Joins folder, "slurm/VERSION" below it or beside it, and name; returns false if that is too
 * long. */
static bool kept_path(const struct place *place, const char *where, const char *version,
		      struct kept *kept)
{
	int bytes = snprintf(kept->path, PATH_BYTES, "%s/%sslurm/%s/%s", place->folder, where,
			     version, place->name);

	snprintf(kept->name, sizeof(kept->name), "%s", version);
	kept->from_folder = kept->path + strlen(place->folder) + 1;
	return bytes > 0 && bytes < PATH_BYTES;
}

static bool is_build(const struct place *place, const struct kept *kept, uint32_t slurm)
{
	struct osp_plugin_file plugin = osp_look_at_plugin(place->folder, kept->from_folder);

	return plugin.state == OSP_PLUGIN_OURS && plugin.version == slurm;
}

/* Looks for a better build than `best` in "slurm" below the folder, or beside it. */
static void look_in(const struct place *place, const char *where, const struct wanted *wanted,
		    struct kept *best)
{
	char path[PATH_BYTES];
	const struct dirent *entry;
	DIR *folder;

	if (snprintf(path, sizeof(path), "%s/%sslurm", place->folder, where) >= PATH_BYTES)
		return;
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		enum fit fits = fit_of(wanted, entry->d_name);
		enum fit best_fits = fit_of(wanted, best->name);
		struct kept kept;

		if (fits == FITS_NOT || fits < best_fits ||
		    (fits == best_fits && strverscmp(entry->d_name, best->name) <= 0))
			continue;
		if (kept_path(place, where, entry->d_name, &kept) &&
		    is_build(place, &kept, wanted->slurm)) {
			*best = kept;
			best->from_folder = best->path + (kept.from_folder - kept.path);
		}
	}
	if (folder)
		closedir(folder);
}

/* Finds the build that fits best; returns false if none is kept. */
static bool find_kept(const struct place *place, const struct wanted *wanted, struct kept *best)
{
	*best->name = '\0';
	look_in(place, "", wanted, best);
	look_in(place, "../", wanted, best);
	return *best->name;
}

static bool is_link(const struct place *place, char path[PATH_BYTES])
{
	struct stat status;
	int bytes = snprintf(path, PATH_BYTES, "%s/%s", place->folder, place->name);

	return bytes < PATH_BYTES && lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* Returns whether a plugin of ours is in this place that Slurm would pass over. */
static bool is_wrong(const struct place *place, uint32_t slurm)
{
	char path[PATH_BYTES];

	if (place->plugin->state == OSP_PLUGIN_OURS)
		return place->plugin->version != slurm;
	return place->plugin->state == OSP_PLUGIN_ABSENT && is_link(place, path);
}

/* Returns how well the build fits that a link in this place leads to. */
static enum fit fit_of_link(const char *path, const struct wanted *wanted)
{
	char target[PATH_BYTES], *end;
	ssize_t bytes = readlink(path, target, sizeof(target) - 1);

	target[bytes > 0 ? bytes : 0] = '\0';
	end = strrchr(target, '/');
	if (end)
		*end = '\0';
	end = strrchr(target, '/');
	return fit_of(wanted, end ? end + 1 : target);
}

/* Returns whether a build has both plugins. */
static bool is_whole(const struct kept *kept, uint32_t slurm)
{
	char folder[PATH_BYTES];

	snprintf(folder, sizeof(folder), "%s", kept->path);
	*strrchr(folder, '/') = '\0';
	for (size_t i = 0; i < NAME_COUNT; i++) {
		struct osp_plugin_file plugin = osp_look_at_plugin(folder, names[i]);

		if (plugin.state != OSP_PLUGIN_OURS || plugin.version != slurm)
			return false;
	}
	return true;
}

/* Returns whether a build that is kept for the Slurm of the plugin in place is newer: of a later
 * release of Onespine or, of the same one, made later. */
static bool is_newer(const struct place *place, const struct kept *kept, const char *path)
{
	struct osp_plugin_file plugin = osp_look_at_plugin(place->folder, kept->from_folder);
	int order = strverscmp(plugin.onespine, place->plugin->onespine);
	struct stat ours, theirs;

	if (plugin.state != OSP_PLUGIN_OURS || plugin.version != place->plugin->version)
		return false;
	if (order)
		return order > 0;
	if (stat(path, &ours) < 0 || stat(kept->path, &theirs) < 0)
		return false;
	return theirs.st_mtim.tv_sec != ours.st_mtim.tv_sec
		       ? theirs.st_mtim.tv_sec > ours.st_mtim.tv_sec
		       : theirs.st_mtim.tv_nsec > ours.st_mtim.tv_nsec;
}

/* Returns whether the plugin in this place should be replaced: it is wrong, it is a file older than
 * the build that is kept for its Slurm, or a link where there is a build for the very package. */
static bool is_due(const struct place *place, const struct wanted *wanted)
{
	char path[PATH_BYTES];
	struct kept kept;

	if (is_wrong(place, wanted->slurm))
		return true;
	if (place->plugin->state != OSP_PLUGIN_OURS || !find_kept(place, wanted, &kept) ||
	    !is_whole(&kept, wanted->slurm))
		return false;
	if (is_link(place, path))
		return wanted->package && fit_of_link(path, wanted) < FITS_PACKAGE &&
		       fit_of(wanted, kept.name) == FITS_PACKAGE;
	return fit_of(wanted, kept.name) > FITS_NUMBER && is_newer(place, &kept, path);
}

/* Returns whether a build is kept for a package of this version of Slurm. */
static bool names_packages(const struct osp_plugin_folder *folders, size_t count,
			   const char *version)
{
	static const char *const where[] = {"", "../"};
	char pattern[PATH_BYTES];
	bool found = false;

	for (size_t i = 0; i < 2 * count && !found; i++) {
		glob_t names_found;

		if (snprintf(pattern, sizeof(pattern), "%s/%sslurm/%s-*", folders[i / 2].path,
			     where[i % 2], version) >= PATH_BYTES)
			continue;
		found = glob(pattern, GLOB_NOSORT, NULL, &names_found) == 0;
		globfree(&names_found);
	}
	return found;
}

static struct wanted wanted_for(const struct osp_plugin_folder *folders, size_t count,
				uint32_t slurm)
{
	struct wanted wanted = {.slurm = slurm};

	version_words(slurm, wanted.version);
	if (slurm && names_packages(folders, count, wanted.version))
		wanted.package = ask_package(folders, count, wanted.version);
	return wanted;
}

static void look(struct osp_plugin_folder *folders, size_t count, const struct wanted *wanted)
{
	struct kept kept;

	for (size_t i = 0; i < count * NAME_COUNT; i++) {
		struct place place = place_of(&folders[i / NAME_COUNT], i % NAME_COUNT);

		*place.kept = wanted->slurm && is_due(&place, wanted) &&
			      find_kept(&place, wanted, &kept);
	}
}

void osp_builds_look(struct osp_plugin_folder *folders, size_t count, uint32_t slurm)
{
	struct wanted wanted = wanted_for(folders, count, slurm);

	look(folders, count, &wanted);
	free(wanted.package);
}

/* --- putting it in place ---------------------------------------------------------------------- */

/* Returns whether others than root and the caller can put another file in place of one in this
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
	char version[VERSION_BYTES], link_path[PATH_BYTES];
	struct kept kept;
	char *slash;

	if (place->plugin->state != OSP_PLUGIN_OURS || is_link(place, link_path))
		return 0;
	version_words(place->plugin->version, version);
	if (!kept_path(place, where, version, &kept)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (is_newer(place, &kept, path))
		return 0;
	slash = strrchr(kept.path, '/');
	*slash = '\0';
	/* not by umask: SlurmUser must read what a link leads to */
	if (mkdir(kept.path, 0755) == 0 ? chmod(kept.path, 0755) < 0 : errno != EEXIST)
		return -1;
	*slash = '/';
	return name_too(path, kept.path);
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

/* Returns whether each plugin that is due can be replaced. */
static bool can_take_all(struct osp_plugin_folder *folders, size_t count,
			 const struct wanted *wanted, struct osp_text *said)
{
	struct kept kept;

	for (size_t i = 0; i < count * NAME_COUNT; i++) {
		struct place place = place_of(&folders[i / NAME_COUNT], i % NAME_COUNT);

		if (is_due(&place, wanted) &&
		    (!find_kept(&place, wanted, &kept) || !is_trusted(kept.path, said)))
			return false;
	}
	return true;
}

static bool take(const struct place *place, const struct wanted *wanted, struct osp_text *said)
{
	bool rebuilt = !is_wrong(place, wanted->slurm);
	char was[VERSION_BYTES], path[PATH_BYTES];
	struct kept kept;

	if (!find_kept(place, wanted, &kept))
		return false;
	rebuilt = rebuilt && !is_link(place, path);
	if (put_link(place, kept.from_folder) < 0) {
		osp_text_printf(said, "%s/%s cannot be replaced by %s: %s\n", place->folder,
				place->name, kept.from_folder, strerror(errno));
		return false;
	}
	osp_text_printf(said, "%s/%s is now the build for Slurm %s", place->folder, place->name,
			kept.name);
	if (fit_of(wanted, kept.name) > FITS_NUMBER)
		osp_text_add(said, ", which is installed");
	else
		osp_text_printf(said, ", of the number that is installed, %s",
				wanted->package ? wanted->package : wanted->version);
	if (place->plugin->version && place->plugin->version != wanted->slurm) {
		version_words(place->plugin->version, was);
		osp_text_printf(said, "; it was that for Slurm %s", was);
	}
	if (rebuilt)
		osp_text_add(said, "; what was there is older");
	osp_text_add(said, "\n");
	*place->plugin = osp_look_at_plugin(place->folder, place->name);
	*place->kept = false;
	return true;
}

/* Replaces what is due. Returns how many were replaced. */
static uint32_t take_all(struct osp_plugin_folder *folders, size_t count,
			 const struct wanted *wanted, struct osp_text *said)
{
	uint32_t taken = 0;

	for (size_t i = 0; i < count * NAME_COUNT; i++) {
		struct place place = place_of(&folders[i / NAME_COUNT], i % NAME_COUNT);

		if (is_due(&place, wanted))
			taken += take(&place, wanted, said);
	}
	return taken;
}

uint32_t osp_builds_match(struct osp_plugin_folder *folders, size_t count, uint32_t slurm,
			  struct osp_text *said)
{
	struct wanted wanted = wanted_for(folders, count, slurm);
	uint32_t taken = 0;

	look(folders, count, &wanted);
	if (slurm && can_take_all(folders, count, &wanted, said))
		taken = take_all(folders, count, &wanted, said);
	free(wanted.package);
	return taken;
}
