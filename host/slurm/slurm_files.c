/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_files.c - slurm.conf and its company on this host, read as files and not through Slurm */
#include "onespine_config.h"
#include "host/slurm/slurm_files.h"

#include <fnmatch.h>
#include <glob.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/env/elf_symbol.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "lib/base/trust.h"
#include "lib/conf/clustermgtd.h"
#include "lib/conf/plugstack.h"
#include "lib/conf/slurm_conf_path.h"
#include "host/files.h"

#define PID_BYTES	    64
#define PLUGSTACK_BYTES_MAX ((size_t)1024 * 1024)
#define PLUGSTACK_DEPTH_MAX 8
#define SCRIPT_BYTES_MAX    ((size_t)1024 * 1024)
#define HOST_BYTES	    256
#define CLUSTERMGTD_BYTES   ((size_t)1024 * 1024)

/* --- slurm.conf ------------------------------------------------------------------------------- */

char *osp_find_slurm_conf(struct osp_error *error)
{
	const char *path = getenv("SLURM_CONF");
	char *copy;

	if (!path)
		path = osp_slurm_conf_first();
	if (!path || !*path) {
		osp_error_set(error, "no slurm.conf found; set SLURM_CONF to its path");
		return NULL;
	}
	copy = strdup(path);
	if (!copy)
		osp_error_set(error, "out of memory");
	return copy;
}

bool osp_slurm_conf_fetched(const char *path)
{
	char *resolved = realpath(path, NULL);
	bool fetched = strstr(resolved ? resolved : path, "/conf-cache/") ||
		       strncmp(path, "/run/slurm/conf/", 16) == 0;

	free(resolved);
	return fetched;
}

char *osp_read_overlaid(const struct osp_overlays *overlays, const char *path, size_t limit_bytes,
			size_t *text_bytes, struct osp_error *error)
{
	for (size_t i = 0; overlays && i < overlays->count; i++) {
		const struct osp_overlay *overlay = &overlays->items[i];
		char *copy;

		if (strcmp(overlay->path, path) != 0)
			continue;
		copy = strdup(overlay->text ? overlay->text : "");
		*text_bytes = copy ? strlen(copy) : 0;
		if (!copy)
			osp_error_set(error, "out of memory");
		return copy;
	}
	return osp_read_input(path, limit_bytes, text_bytes, error);
}

/* Reads a file for osp_slurm_conf_read(); `context` is a struct osp_overlays (NULL: none). */
static char *read_slurm_file(void *context, const char *path, size_t *text_bytes,
			     struct osp_error *error)
{
	return osp_read_overlaid(context, path, OSP_SLURM_CONF_BYTES_MAX, text_bytes, error);
}

struct osp_slurm_conf *osp_load_slurm_conf(const char *path, const struct osp_overlays *overlays,
					   struct osp_error *error)
{
	return osp_slurm_conf_read(path, read_slurm_file, (void *)overlays, error);
}

/* --- plugins ---------------------------------------------------------------------------------- */

#define OURS "Onespine"

/* Returns what follows "Onespine" in the plugin's name, which each of ours has; NULL: it lacks it.
 */
static const char *after_ours(const char *data, size_t bytes, const char **end)
{
	size_t name_bytes = 0;
	const char *name = osp_elf_symbol(data, bytes, "plugin_name", &name_bytes);

	for (size_t i = 0; name && i + strlen(OURS) <= name_bytes; i++) {
		if (strncasecmp(name + i, OURS, strlen(OURS)) == 0) {
			*end = name + name_bytes;
			return name + i + strlen(OURS);
		}
	}
	return NULL;
}

/* Reads "Onespine 0.2 job submit plugin". */
static void read_name(const char *data, size_t bytes, struct osp_plugin_file *plugin)
{
	const char *end, *at = after_ours(data, bytes, &end);
	size_t length = 0;

	plugin->state = at ? OSP_PLUGIN_OURS : OSP_PLUGIN_OTHERS;
	if (!at || end - at < 2 || *at++ != ' ' || *at < '0' || *at > '9')
		return;
	while (at + length < end && at[length] && at[length] != ' ')
		length++;
	if (length < sizeof(plugin->onespine))
		memcpy(plugin->onespine, at, length);
}

static struct osp_plugin_file look_at(const char *path)
{
	struct osp_plugin_file plugin = {.state = OSP_PLUGIN_BROKEN};
	size_t bytes = 0;
	char *data;

	if (access(path, F_OK) < 0) {
		plugin.state = OSP_PLUGIN_ABSENT;
		return plugin;
	}
	data = osp_read_file(path, OSP_ELF_BYTES_MAX, &bytes);
	if (data)
		plugin.version = osp_plugin_version(data, bytes);
	if (plugin.version)
		read_name(data, bytes, &plugin);
	free(data);
	return plugin;
}

struct osp_plugin_file osp_look_at_plugin(const char *folder, const char *name)
{
	struct osp_plugin_file plugin = {.state = OSP_PLUGIN_BROKEN};
	struct osp_text path = OSP_TEXT_INIT;

	osp_text_printf(&path, "%s/%s", folder, name);
	if (!path.failed)
		plugin = look_at(path.data);
	osp_text_free(&path);
	return plugin;
}

/* --- plugstack.conf --------------------------------------------------------------------------- */

char *osp_plugstack_path(const struct osp_slurm_conf *conf, const char *conf_path)
{
	const char *said = conf ? osp_slurm_conf_value(conf, "PlugStackConfig", NULL) : NULL;

	return osp_path_beside(conf_path, said ? said : "plugstack.conf");
}

struct stack_walk {
	const struct osp_overlays *overlays;
	struct osp_spank_line *found;
	int depth;
};

static void walk_stack(struct stack_walk *walk, const char *path);

static void walk_included(struct stack_walk *walk, const char *path, const char *pattern)
{
	char *full = osp_path_beside(path, pattern);
	glob_t files;

	if (full && glob(full, 0, NULL, &files) == 0) {
		for (size_t i = 0; i < files.gl_pathc; i++)
			walk_stack(walk, files.gl_pathv[i]);
		globfree(&files);
	}
	free(full);
}

static bool is_onespine_so(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, "onespine.so") == 0;
}

static void note_line(struct stack_walk *walk, const char *path,
		      const struct osp_plugstack_line *line)
{
	struct osp_spank_line *found = walk->found;

	*found = (struct osp_spank_line){
		.named = true,
		.required = line->kind == OSP_PLUGSTACK_REQUIRED,
		.included = walk->depth > 1,
		.path = strdup(line->path),
		.file = strdup(path),
		.line = line->line,
	};
	if (!found->path || !found->file) {
		osp_free_spank_line(found);
		return;
	}
	if (*found->path == '/')
		found->plugin = look_at(found->path);
	else
		found->plugin = osp_look_at_plugin(OSP_PLUGIN_DIR, found->path);
}

static void walk_stack(struct stack_walk *walk, const char *path)
{
	struct osp_error ignored = {.text = ""};
	struct osp_plugstack_line line;
	struct osp_plugstack stack;
	size_t bytes = 0;
	char *text;

	if (walk->depth == PLUGSTACK_DEPTH_MAX || walk->found->named)
		return;
	text = osp_read_overlaid(walk->overlays, path, PLUGSTACK_BYTES_MAX, &bytes, &ignored);
	if (!text)
		return;
	walk->depth++;
	osp_plugstack_start(&stack, text, bytes);
	while (!walk->found->named && osp_plugstack_next(&stack, &line)) {
		if (line.kind == OSP_PLUGSTACK_INCLUDE)
			walk_included(walk, path, line.path);
		else if (line.kind != OSP_PLUGSTACK_WRONG && is_onespine_so(line.path))
			note_line(walk, path, &line);
	}
	walk->depth--;
	free(text);
}

void osp_look_at_plugstack(const char *path, const struct osp_overlays *overlays,
			   struct osp_spank_line *found)
{
	struct stack_walk walk = {.overlays = overlays, .found = found};

	*found = (struct osp_spank_line){0};
	walk_stack(&walk, path);
	/* A file that is not there yet is in no glob(). */
	for (size_t i = 0; overlays && i < overlays->count; i++) {
		if (overlays->items[i].text && strstr(overlays->items[i].path, "/onespine.conf")) {
			walk.depth = 1;
			walk_stack(&walk, overlays->items[i].path);
		}
	}
}

void osp_free_spank_line(struct osp_spank_line *line)
{
	free((char *)line->path);
	free((char *)line->file);
	*line = (struct osp_spank_line){0};
}

/* Returns the folder of `pattern` when it is there and a file of ours in it would match. */
static char *folder_of(const char *path, const char *pattern)
{
	char *full = osp_path_beside(path, pattern);
	char *slash = full ? strrchr(full, '/') : NULL;
	char *name = NULL;
	struct stat status;

	if (slash && asprintf(&name, "%.*s/onespine.conf", (int)(slash - full), full) < 0)
		name = NULL;
	if (name && fnmatch(full, name, FNM_PATHNAME | FNM_PERIOD) == 0) {
		*slash = '\0';
		if (stat(full, &status) == 0 && S_ISDIR(status.st_mode)) {
			free(name);
			return full;
		}
	}
	free(name);
	free(full);
	return NULL;
}

char *osp_plugstack_folder(const char *path)
{
	struct osp_error ignored = {.text = ""};
	struct osp_plugstack_line line;
	struct osp_plugstack stack;
	size_t bytes = 0;
	char *text = osp_read_input(path, PLUGSTACK_BYTES_MAX, &bytes, &ignored);
	char *folder = NULL;

	if (!text)
		return NULL;
	osp_plugstack_start(&stack, text, bytes);
	while (!folder && osp_plugstack_next(&stack, &line))
		if (line.kind == OSP_PLUGSTACK_INCLUDE)
			folder = folder_of(path, line.path);
	free(text);
	return folder;
}

/* --- Prolog and Epilog ------------------------------------------------------------------------ */

char *osp_scripts_folder(const char *conf_path, const char *name)
{
	char *folder = NULL;
	char *path = NULL;
	struct stat status;

	if (asprintf(&folder, "scripts/%s.d", name) < 0)
		return NULL;
	path = osp_path_beside(conf_path, folder);
	free(folder);
	if (path && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return path;
	free(path);
	return NULL;
}

/* In the text of a script a program's name begins after one of these. */
#define BEFORE_PROGRAM " \t\n\"'`=;&|(){}<>"

static bool is_overlaid(const struct osp_overlays *overlays, const char *path)
{
	for (size_t i = 0; overlays && i < overlays->count; i++)
		if (overlays->items[i].text && strcmp(overlays->items[i].path, path) == 0)
			return true;
	return false;
}

/* Notes the first that cannot be executed; what is laid over is not written yet. */
static void check_program(const struct osp_overlays *overlays, const char *program,
			  const char *file, struct osp_gate_broken *broken)
{
	struct stat status;
	bool exists = stat(program, &status) == 0;

	if (broken->program || is_overlaid(overlays, program) ||
	    (exists && S_ISREG(status.st_mode) && (status.st_mode & 0111)))
		return;
	broken->exists = exists;
	broken->program = strdup(program);
	broken->file = strdup(file);
}

/* Finds the program of that name in the text; one without a whole path is looked for nowhere. */
static void check_named(const struct osp_overlays *overlays, const char *text, const char *at,
			size_t length, const char *file, struct osp_gate_broken *broken)
{
	const char *from = at;
	char *program;

	while (from > text && !strchr(BEFORE_PROGRAM, from[-1]))
		from--;
	if (*from != '/')
		return;
	program = strndup(from, (size_t)(at - from) + length);
	if (program)
		check_program(overlays, program, file, broken);
	free(program);
}

/* Finds how a script runs the gate, or our own. */
static enum osp_gate_call script_runs_gate(const struct osp_overlays *overlays, const char *path,
					   const char *name, struct osp_gate_broken *broken)
{
	struct osp_error ignored = {.text = ""};
	char ours[256], call[64], former[64];
	size_t bytes = 0;
	char *text = osp_read_overlaid(overlays, path, SCRIPT_BYTES_MAX, &bytes, &ignored);
	enum osp_gate_call found = OSP_GATE_NOT_CALLED;
	const char *at;

	snprintf(ours, sizeof(ours), OSP_PLUGIN_DIR "/%s", name);
	snprintf(call, sizeof(call), "onespine-gate %s", name);
	snprintf(former, sizeof(former), "onespine gate %s", name);
	if (text && (at = strstr(text, ours)) && strcmp(path, ours) != 0) {
		found = OSP_GATE_CALLED;
		check_named(overlays, text, at, strlen(ours), path, broken);
		(void)script_runs_gate(overlays, ours, name, broken);
	} else if (text && (at = strstr(text, call))) {
		found = OSP_GATE_CALLED;
		check_named(overlays, text, at, strlen("onespine-gate"), path, broken);
	} else if (text && (at = strstr(text, former))) {
		found = OSP_GATE_CALLED_FORMERLY;
		check_named(overlays, text, at, strlen("onespine"), path, broken);
	}
	free(text);
	return found;
}

/* Returns whether a file that matches the pattern runs the gate; `file` is where the pattern is. */
static enum osp_gate_call any_runs_gate(const struct osp_overlays *overlays, const char *pattern,
					const char *file, const char *name,
					struct osp_gate_broken *broken)
{
	enum osp_gate_call found = OSP_GATE_NOT_CALLED;
	glob_t files;

	if (glob(pattern, 0, NULL, &files) != 0)
		return found;
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		found = script_runs_gate(overlays, files.gl_pathv[i], name, broken);
		if (found)
			check_program(overlays, files.gl_pathv[i], file, broken);
	}
	globfree(&files);
	return found;
}

/* Looks at files of ours that are not written yet, which are in no glob(). */
static enum osp_gate_call overlaid_runs_gate(const struct osp_overlays *overlays,
					     const char *folder, const char *name,
					     struct osp_gate_broken *broken)
{
	enum osp_gate_call found = OSP_GATE_NOT_CALLED;
	size_t length = strlen(folder);

	for (size_t i = 0; overlays && i < overlays->count && !found; i++) {
		const struct osp_overlay *overlay = &overlays->items[i];

		if (overlay->text && strncmp(overlay->path, folder, length) == 0 &&
		    overlay->path[length] == '/')
			found = script_runs_gate(overlays, overlay->path, name, broken);
	}
	return found;
}

enum osp_gate_call osp_runs_gate(const struct osp_slurm_conf *conf, const char *conf_path,
				 const struct osp_overlays *overlays, const char *key,
				 struct osp_gate_broken *broken)
{
	const char *name = strcasecmp(key, "Prolog") == 0 ? "prolog" : "epilog";
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(conf, &count);
	enum osp_gate_call found = OSP_GATE_NOT_CALLED;
	bool said = false;
	char *folder;
	char *pattern = NULL;

	*broken = (struct osp_gate_broken){0};
	for (size_t i = 0; i < count && !found; i++) {
		const char *value = words[i].value;

		if (!words[i].starts_line || strcasecmp(words[i].key, key) != 0)
			continue;
		said = true;
		found = any_runs_gate(overlays, value, words[i].file, name, broken);
		if (*value == '/' && !value[strcspn(value, "*?[")] && access(value, F_OK) != 0)
			check_program(overlays, value, words[i].file, broken);
	}
	folder = said && !found ? osp_scripts_folder(conf_path, name) : NULL;
	if (folder && asprintf(&pattern, "%s/*", folder) > 0)
		found = any_runs_gate(overlays, pattern, folder, name, broken);
	if (folder && !found)
		found = overlaid_runs_gate(overlays, folder, name, broken);
	free(folder);
	free(pattern);
	return found;
}

/* --- users and hosts -------------------------------------------------------------------------- */

uid_t osp_slurm_user(const struct osp_slurm_conf *conf)
{
	const char *name = osp_slurm_conf_value(conf, "SlurmUser", "root");
	const char *bracket = strchr(name, '(');
	char plain[128];
	const struct passwd *user;
	char *end;
	unsigned long number;

	snprintf(plain, sizeof(plain), "%.*s",
		 (int)(bracket ? (size_t)(bracket - name) : strlen(name)), name);
	user = getpwnam(plain);
	if (user)
		return user->pw_uid;
	number = strtoul(plain, &end, 10);
	return *plain && !*end ? (uid_t)number : 0;
}

bool osp_is_safe(const char *path, uid_t slurm_user, bool *exists)
{
	struct stat status;

	*exists = stat(path, &status) == 0;
	if (!*exists)
		return true;
	return !osp_distrust(&status, slurm_user);
}

/* Returns whether the names are the same up to a first dot that only one of them has. */
static bool is_same_host(const char *a, const char *b, size_t b_length)
{
	size_t a_length = strlen(a);
	size_t a_short = strcspn(a, "."), b_short = strcspn(b, ".");

	if (b_short > b_length)
		b_short = b_length;
	if (a_short < a_length && b_short < b_length)
		return a_length == b_length && strncasecmp(a, b, b_length) == 0;
	return a_short == b_short && strncasecmp(a, b, a_short) == 0;
}

/* Returns the first line after `line` (NULL: of all) that begins with one of these keys; NULL if
 * there is none. */
static const struct osp_slurm_word *next_line(const struct osp_slurm_conf *conf,
					      const struct osp_slurm_word *line, const char *key,
					      const char *other)
{
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(conf, &count);

	for (line = line ? line + 1 : words; line < words + count; line++)
		if (line->starts_line &&
		    (!strcasecmp(line->key, key) || !strcasecmp(line->key, other)))
			return line;
	return NULL;
}

bool osp_is_controller(const struct osp_slurm_conf *conf)
{
	const struct osp_slurm_word *line = NULL;
	char host[HOST_BYTES] = "";

	if (gethostname(host, sizeof(host) - 1) < 0)
		return false;
	while ((line = next_line(conf, line, "SlurmctldHost", "ControlMachine")))
		if (is_same_host(host, line->value, strcspn(line->value, "(,")))
			return true;
	return false;
}

static int is_this_host(const char *name, void *host)
{
	return is_same_host(host, name, strlen(name));
}

/* Returns the value of a setting of slurmd's, with its %h and %n as on a host of that name. The
 * caller frees it with free(); NULL if memory ran out. */
static char *slurmd_path(const struct osp_slurm_conf *conf, const char *key, const char *usual,
			 const char *host)
{
	struct osp_text path = OSP_TEXT_INIT;

	for (const char *at = osp_slurm_conf_value(conf, key, usual); *at; at++) {
		bool name = at[0] == '%' && (at[1] == 'h' || at[1] == 'n');

		if (name)
			osp_text_printf(&path, "%.*s", (int)strcspn(host, "."), host);
		else
			osp_text_printf(&path, "%c", *at);
		at += name;
	}
	return osp_text_take(&path);
}

static bool has_spool(const struct osp_slurm_conf *conf, const char *host)
{
	char *path = slurmd_path(conf, "SlurmdSpoolDir", "/var/spool/slurmd", host);
	struct stat status;
	bool here = path && stat(path, &status) == 0 && S_ISDIR(status.st_mode);

	free(path);
	return here;
}

/* Returns whether the process in SlurmdPidFile is a slurmd. */
static bool runs_slurmd(const struct osp_slurm_conf *conf, const char *host)
{
	char *path = slurmd_path(conf, "SlurmdPidFile", "/var/run/slurmd.pid", host);
	size_t bytes = 0;
	char *pid = path ? osp_read_file(path, PID_BYTES, &bytes) : NULL;
	char name[64], *comm = NULL;
	bool runs;

	if (pid) {
		snprintf(name, sizeof(name), "/proc/%lu/comm", strtoul(pid, NULL, 10));
		comm = osp_read_file(name, PID_BYTES, &bytes);
	}
	runs = comm && strcmp(comm, "slurmd\n") == 0;
	free(comm);
	free(pid);
	free(path);
	return runs;
}

bool osp_is_node(const struct osp_slurm_conf *conf)
{
	const struct osp_slurm_word *line = NULL;
	char host[HOST_BYTES] = "";

	if (gethostname(host, sizeof(host) - 1) < 0)
		return false;
	while ((line = next_line(conf, line, "NodeName", "NodeName"))) {
		const char *names = osp_slurm_conf_of_line(conf, line, "NodeHostname");

		if (osp_hostlist_expand(names ? names : line->value, is_this_host, host, NULL) == 1)
			return true;
	}
	/* a slurmd of before may have left its folder where slurmctld is now */
	return runs_slurmd(conf, host) || (has_spool(conf, host) && !osp_is_controller(conf));
}

bool osp_slurm_gives_no_gpus(void)
{
	struct osp_error ignored = {.text = ""};
	char *path = osp_find_slurm_conf(&ignored), host[HOST_BYTES] = "";
	struct osp_slurm_conf *conf = path ? osp_load_slurm_conf(path, NULL, &ignored) : NULL;
	const char *node = getenv("SLURMD_NODENAME"), *gres = "gpu";
	bool none;

	if (!node && gethostname(host, sizeof(host) - 1) == 0) {
		host[strcspn(host, ".")] = '\0';
		node = host;
	}
	if (conf && node &&
	    osp_slurm_list_has(osp_slurm_conf_value(conf, "GresTypes", NULL), "gpu", NULL, 0))
		gres = osp_slurm_conf_of_node(conf, node, "Gres", "gpu");
	none = !gres || !strcasestr(gres, "gpu");
	osp_slurm_conf_free(conf);
	free(path);
	return none;
}

const char *osp_cluster_folder(const struct osp_slurm_conf *conf, char name[OSP_CLUSTER_NAME_BYTES])
{
	const char *cluster = conf ? osp_slurm_conf_value(conf, "ClusterName", "linux") : "linux";
	const char *port = conf ? osp_slurm_conf_value(conf, "SlurmctldPort", "6817") : "6817";

	snprintf(name, OSP_CLUSTER_NAME_BYTES, "%.80s-%.40s", cluster, port);
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '_';
	return name;
}

void osp_munge_socket(const struct osp_slurm_conf *conf, char *socket, size_t socket_bytes)
{
	const char *info = osp_slurm_conf_value(conf, "AuthInfo", "");
	const char *at = strstr(info, "socket=");

	*socket = '\0';
	if (at && (at == info || at[-1] == ','))
		snprintf(socket, socket_bytes, "%.*s", (int)strcspn(at + 7, ","), at + 7);
}

const char *osp_key_file(const struct osp_slurm_conf *conf, const char *named, const char *usual)
{
	if (named)
		return named;
	return conf && !strcasecmp(osp_slurm_conf_value(conf, "AuthType", ""), "auth/slurm") ? usual
											     : NULL;
}

bool osp_drained_are_ended(const struct osp_slurm_conf *conf, const char *root)
{
	char path[4096], *text;
	size_t bytes;
	bool ended;

	if (!osp_has_clustermgtd(conf))
		return false;
	snprintf(path, sizeof(path), "%s" OSP_CLUSTERMGTD_CONF, root);
	text = osp_read_file(path, CLUSTERMGTD_BYTES, &bytes);
	ended = osp_clustermgtd_ends_drained(text);
	free(text);
	return ended;
}
