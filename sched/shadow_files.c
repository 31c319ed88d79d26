/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_files.c - onespine.yaml and the topology that it names, beside slurm.conf, and copies of
 * them
 *
 * A good file is kept as a copy in StateSaveLocation: from 23.11 on a reconfigure starts a new
 * process, which has no memory of the old one. The old process still runs then, with a thread that
 * may write the same copy.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sched/shadow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/topology/readers.h"

struct shadow_topology_file shadow_topology_file;

static struct osp_file_mark config_mark;
static time_t conf_read; /* when slurm.conf had been read, at the last look */

static void beside_slurm_conf(const char *name, char *path, size_t path_bytes)
{
	const char *beside = slurm_conf.slurm_conf ? slurm_conf.slurm_conf : "";
	const char *slash = strrchr(beside, '/');

	if (name[0] == '/' || !slash)
		snprintf(path, path_bytes, "%s", name);
	else
		snprintf(path, path_bytes, "%.*s/%s", (int)(slash - beside), beside, name);
}

static void good_copy_path(const char *name, char *path, size_t path_bytes)
{
	snprintf(path, path_bytes, "%s/onespine_%s",
		 slurm_conf.state_save_location ? slurm_conf.state_save_location : "/nonexistent",
		 name);
}

void shadow_keep_good_copy(const char *path, const char *text, size_t bytes)
{
	const char *name = strrchr(path, '_');
	char fresh[PATH_MAX + 16];
	int file;
	bool good;

	name = name ? name + 1 : path;
	snprintf(fresh, sizeof(fresh), "%s.new.XXXXXX", path);
	file = mkostemp(fresh, O_CLOEXEC);
	if (file < 0) {
		error("onespine: cannot keep a copy of the last good %s: %s: %m", name, path);
		return;
	}
	good = osp_write_all(file, text, bytes) && fsync(file) == 0;
	if (close(file) != 0 || !good || rename(fresh, path) != 0) {
		error("onespine: cannot keep a copy of the last good %s: %s: %m", name, path);
		unlink(fresh);
	}
}

/* Returns whether mkostemp() made this name of "onespine_topology.new.XXXXXX". */
static bool is_unfinished_copy(const char *name)
{
	static const char *const begins[] = {"onespine_config.new.", "onespine_topology.new."};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		size_t length = strlen(begins[i]);

		if (!strncmp(name, begins[i], length) && strlen(name) == length + 6)
			return true;
	}
	return false;
}

void shadow_remove_unfinished_copies(void)
{
	DIR *state =
		slurm_conf.state_save_location ? opendir(slurm_conf.state_save_location) : NULL;
	const struct dirent *entry;

	while (state && (entry = readdir(state))) {
		if (is_unfinished_copy(entry->d_name))
			unlinkat(dirfd(state), entry->d_name, 0);
	}
	if (state)
		closedir(state);
}

/* --- policy ---------------------------------------------------------------------------------- */

/* Reads the policy. `mark` is that of the last look; it says whether the file may be obeyed. */
static struct osp_config *read_config_file(const char *path, const struct osp_file_mark *mark,
					   char **text, size_t *text_bytes, struct osp_error *error)
{
	if (mark->distrust) {
		osp_error_at(error, path, 0, 0, "%s", mark->distrust);
		return NULL;
	}
	*text = osp_read_file(path, OSP_CONFIG_FILE_BYTES_MAX, text_bytes);
	if (!*text && errno == ENOENT)
		return osp_config_read(path, "", 0, error);
	if (!*text) {
		osp_error_at(error, path, 0, 0, "%s", strerror(errno));
		return NULL;
	}
	return osp_config_read(path, *text, *text_bytes, error);
}

/*
 * Reads the copy of the last good policy after a restart, else returns the policy that holds
 * without any file.
 */
static struct osp_config *good_config(void)
{
	char path[PATH_MAX];
	char *text;
	size_t text_bytes;
	struct osp_config *config = NULL;

	good_copy_path("config", path, sizeof(path));
	text = osp_read_file(path, OSP_CONFIG_FILE_BYTES_MAX, &text_bytes);
	if (text)
		config = osp_config_read(path, text, text_bytes, NULL);
	free(text);
	if (config) {
		info("onespine: the last good policy, %s, is in force", path);
		return config;
	}
	error("onespine: no good policy is kept here; until onespine.yaml is mended --gang alone "
	      "makes a gang");
	return osp_config_read(NULL, "", 0, NULL);
}

/* Keeps a good policy and returns it; reports a bad one, and what holds instead. */
static struct osp_config *judge_config(struct osp_config *config, const char *text,
				       size_t text_bytes, const struct osp_error *wrong)
{
	char copy[PATH_MAX], words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];

	if (config) {
		good_copy_path("config", copy, sizeof(copy));
		shadow_keep_good_copy(copy, text ? text : "", text_bytes);
		return config;
	}
	error("onespine: %s; %s", osp_error_format(wrong, words, sizeof(words)),
	      shadow_state.config ? "the last good policy stays in force"
				  : "looking for the last good one");
	return shadow_state.config ? NULL : good_config();
}

void shadow_load_config(void)
{
	struct osp_error wrong = {0};
	struct osp_config *config;
	struct osp_file_mark mark;
	char path[PATH_MAX];
	char *text = NULL;
	size_t text_bytes = 0;

	beside_slurm_conf("onespine.yaml", path, sizeof(path));
	mark = osp_file_mark(path);
	if (osp_file_mark_same(&mark, &config_mark) && shadow_state.config)
		return;
	config_mark = mark;
	config = read_config_file(path, &mark, &text, &text_bytes, &wrong);
	config = judge_config(config, text, text_bytes, &wrong);
	free(text);
	if (config) {
		osp_config_free(shadow_state.config);
		shadow_state.config = config;
	}
}

/* --- topology -------------------------------------------------------------------------------- */

static struct osp_topology *good_topology(void)
{
	const struct osp_file_mark none = {.seen = false};
	struct osp_found_topology found;

	if (osp_follow_topology(shadow_topology_file.copy, &none, &found) == OSP_FOLLOWED_NEW)
		info("onespine: the last good topology, %s, is in force",
		     shadow_topology_file.copy);
	free(found.text);
	return found.topology;
}

void shadow_report_bad_topology(const struct osp_found_topology *found, const char *then)
{
	char words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];

	error("onespine: %s; %s", osp_error_format(&found->wrong, words, sizeof(words)), then);
}

/*
 * Returns whether the file is another one than before: what is read of the old one in the meantime
 * does not count.
 */
static bool find_topology_file(void)
{
	char path[PATH_MAX];
	bool other;

	beside_slurm_conf(osp_config_topology(shadow_state.config), path, sizeof(path));
	other = strcmp(path, shadow_topology_file.path) != 0;
	if (other)
		shadow_state.generation++;
	memcpy(shadow_topology_file.path, path, sizeof(path));
	good_copy_path("topology", shadow_topology_file.copy, sizeof(shadow_topology_file.copy));
	return other;
}

/* Returns whether the thread looks at the file and nobody asked for more: select_p_node_init() is
 * called for each change of a partition too, under all of Slurm's locks. */
static bool is_followed(bool other_file)
{
	/* its time is in whole seconds; two reconfigures in one second are possible */
	bool reconfigured =
		slurm_conf.last_update != conf_read || time(NULL) <= slurm_conf.last_update + 1;

	conf_read = slurm_conf.last_update;
	return shadow_follows() && shadow_state.read && !other_file && !reconfigured;
}

static void keep_topology_mark(enum osp_followed followed, const struct osp_file_mark *mark)
{
	static const struct osp_file_mark none;
	bool counts = followed == OSP_FOLLOWED_NEW || followed == OSP_FOLLOWED_BAD;

	shadow_topology_file.mark = counts ? *mark : none;
	shadow_topology_file.fresh = counts && osp_file_mark_fresh(mark);
}

bool shadow_load_topology(void)
{
	struct osp_file_mark none = {.seen = false};
	struct osp_found_topology found;
	enum osp_followed followed;

	if (!shadow_state.config || is_followed(find_topology_file()))
		return false;
	followed =
		osp_follow_topology(shadow_topology_file.path,
				    shadow_state.read ? &shadow_topology_file.mark : &none, &found);
	if (followed == OSP_FOLLOWED_SAME)
		return false;
	keep_topology_mark(followed, &found.mark);
	if (followed == OSP_FOLLOWED_NEW)
		shadow_keep_good_copy(shadow_topology_file.copy, found.text, found.text_bytes);
	else
		shadow_report_bad_topology(&found, shadow_state.read
							   ? "the last good topology stays in force"
							   : "looking for the last good one");
	free(found.text);
	if (!found.topology && !shadow_state.read)
		found.topology = good_topology();
	if (!found.topology)
		return false;
	osp_topology_free(shadow_state.read);
	shadow_state.read = found.topology;
	return true;
}

void shadow_forget_files(void)
{
	osp_topology_free(shadow_state.read);
	shadow_state.read = NULL;
	osp_config_free(shadow_state.config);
	shadow_state.config = NULL;
	config_mark.seen = false;
	shadow_topology_file.mark.seen = false;
}
