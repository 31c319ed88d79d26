/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_state.c - the topology and the policy in force
 *
 * Two files beside slurm.conf: onespine.yaml and the topology that it names. Each is read again
 * when its inode, size or time has changed. What was good is kept as a copy in StateSaveLocation:
 * from 23.11 on a reconfigure is a new process, so memory alone would forget it.
 */
#include "sched/shadow.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/text.h"
#include "lib/topology/kind.h"
#include "lib/topology/readers.h"

/* More kinds of node than any cluster has; later ones share the last number, so they may mix with
 * each other. */
#define KINDS_MAX 64

struct shadow_state shadow_state;
pthread_rwlock_t shadow_lock = PTHREAD_RWLOCK_INITIALIZER;

struct file_mark {
	bool seen;
	ino_t inode;
	off_t size_bytes;
	struct timespec changed;
};

static struct file_mark config_mark, topology_mark;
static struct osp_topology *topology_read; /* as read, on its own node numbers */
static uint64_t node_names_hash;
static char kind_names[KINDS_MAX][OSP_KIND_BYTES];

/* --- files ----------------------------------------------------------------------------------- */

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

/* True when the file is another than last time, or there is none; `mark` then holds the new look.
 */
static bool file_changed(const char *path, struct file_mark *mark)
{
	struct file_mark now = {.seen = true};
	struct stat status;
	bool same;

	if (stat(path, &status) == 0) {
		now.inode = status.st_ino;
		now.size_bytes = status.st_size;
		now.changed = status.st_mtim;
	}
	same = mark->seen && now.inode == mark->inode && now.size_bytes == mark->size_bytes &&
	       now.changed.tv_sec == mark->changed.tv_sec &&
	       now.changed.tv_nsec == mark->changed.tv_nsec;
	*mark = now;
	return !same;
}

/* Keeps a copy of a file that proved good, replaced whole. Failing is only told: we go on with what
 * we have. */
static void keep_good_copy(const char *name, const char *text, size_t bytes)
{
	char path[PATH_MAX], fresh[PATH_MAX + 8];
	int file;
	bool good;

	good_copy_path(name, path, sizeof(path));
	snprintf(fresh, sizeof(fresh), "%s.new", path);
	file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file < 0) {
		error("onespine: cannot keep a copy of the last good %s: %s: %m", name, fresh);
		return;
	}
	good = osp_write_all(file, text, bytes) && fsync(file) == 0;
	if (close(file) != 0 || !good || rename(fresh, path) != 0) {
		error("onespine: cannot keep a copy of the last good %s: %s: %m", name, path);
		unlink(fresh);
	}
}

/* --- policy ---------------------------------------------------------------------------------- */

static struct osp_config *read_config_file(const char *path, char **text, size_t *text_bytes,
					   struct osp_error *error)
{
	*text = osp_read_file(path, OSP_CONFIG_FILE_BYTES_MAX, text_bytes);
	if (!*text && errno == ENOENT)
		return osp_config_read(path, "", 0, error);
	if (!*text) {
		osp_error_at(error, path, 0, 0, "%s", strerror(errno));
		return NULL;
	}
	return osp_config_read(path, *text, *text_bytes, error);
}

/* After a restart: the copy of the last good policy, else the one that holds without any file. */
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

static void load_config(void)
{
	struct osp_error wrong = {0};
	struct osp_config *config;
	char path[PATH_MAX], words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];
	char *text = NULL;
	size_t text_bytes = 0;

	beside_slurm_conf("onespine.yaml", path, sizeof(path));
	if (!file_changed(path, &config_mark) && shadow_state.config)
		return;
	config = read_config_file(path, &text, &text_bytes, &wrong);
	if (config) {
		keep_good_copy("config", text ? text : "", text_bytes);
	} else {
		error("onespine: %s; %s", osp_error_format(&wrong, words, sizeof(words)),
		      shadow_state.config ? "the last good policy stays in force"
					  : "looking for the last good one");
		config = shadow_state.config ? NULL : good_config();
	}
	free(text);
	if (config) {
		osp_config_free(shadow_state.config);
		shadow_state.config = config;
	}
}

/* --- topology -------------------------------------------------------------------------------- */

static struct osp_topology *read_topology_file(const char *path, char **text, size_t *text_bytes,
					       struct osp_error *error)
{
	*text = osp_read_file(path, OSP_TOPOLOGY_FILE_BYTES_MAX, text_bytes);
	if (!*text) {
		osp_error_at(error, path, 0, 0, "%s", strerror(errno));
		return NULL;
	}
	return osp_read_onespine_topology(path, *text, *text_bytes, error);
}

static struct osp_topology *good_topology(void)
{
	char path[PATH_MAX];
	char *text;
	size_t text_bytes;
	struct osp_topology *topology;

	good_copy_path("topology", path, sizeof(path));
	topology = read_topology_file(path, &text, &text_bytes, NULL);
	free(text);
	if (topology)
		info("onespine: the last good topology, %s, is in force", path);
	return topology;
}

/* True when topology_read is another one than before. */
static bool load_topology(void)
{
	struct osp_error wrong = {0};
	struct osp_topology *topology;
	char path[PATH_MAX], words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];
	char *text = NULL;
	size_t text_bytes = 0;

	if (!shadow_state.config)
		return false;
	beside_slurm_conf(osp_config_topology(shadow_state.config), path, sizeof(path));
	if (!file_changed(path, &topology_mark) && topology_read)
		return false;
	topology = read_topology_file(path, &text, &text_bytes, &wrong);
	if (topology) {
		keep_good_copy("topology", text, text_bytes);
	} else {
		error("onespine: %s; %s", osp_error_format(&wrong, words, sizeof(words)),
		      topology_read ? "the last good topology stays in force"
				    : "looking for the last good one");
		topology = topology_read ? NULL : good_topology();
	}
	free(text);
	if (!topology)
		return false;
	osp_topology_free(topology_read);
	topology_read = topology;
	return true;
}

/* --- Slurm's nodes --------------------------------------------------------------------------- */

/* Of the names in order, with the places without a node. */
static uint64_t hash_node_names(void)
{
	uint64_t hash = OSP_HASH_START;

	for (int n = 0; n < node_record_count; n++) {
		const node_record_t *node = node_record_table_ptr[n];

		if (node && node->name)
			hash = osp_hash_bytes(hash, node->name, strlen(node->name));
		hash = osp_hash_step(hash, ',');
	}
	return hash;
}

static void forget_nodes(void)
{
	osp_place_free(shadow_state.place);
	osp_place_free(shadow_state.seam_place);
	osp_topology_free(shadow_state.topology);
	free(shadow_state.kind);
	free(shadow_state.weight);
	free(shadow_state.up);
	free(shadow_state.reserved);
	shadow_state.up = NULL;
	shadow_state.reserved = NULL;
	shadow_state.place = NULL;
	shadow_state.seam_place = NULL;
	shadow_state.topology = NULL;
	shadow_state.kind = NULL;
	shadow_state.weight = NULL;
	shadow_state.node_count = 0;
	shadow_state.kind_count = 0;
	shadow_sticky_clear();
}

static void tell_topology(const struct osp_topology *topology)
{
	struct osp_text text = OSP_TEXT_INIT;
	uint32_t outside = 0, first, count;
	char *words;

	for (uint32_t level = 1; level <= osp_topology_level_count(topology); level++) {
		osp_topology_level_domains(topology, level, &first, &count);
		osp_text_printf(&text, "%s%s %u", level > 1 ? ", " : "",
				osp_topology_level_name(topology, level), count);
	}
	for (int n = 0; n < node_record_count; n++) {
		bool known = false;

		for (uint32_t level = 1; level <= osp_topology_level_count(topology); level++)
			known |= osp_topology_domain_of(topology, (uint32_t)n, level) !=
				 OSP_NO_DOMAIN;
		outside += !known && node_record_table_ptr[n];
	}
	words = osp_text_take(&text);
	info("onespine: the topology in force has %s; %u of Slurm's %d nodes are not in it and "
	     "run no gang",
	     words ? words : "", outside, node_record_count);
	free(words);
}

static struct osp_topology *rebased_topology(void)
{
	const char **names = calloc((size_t)node_record_count + 1, sizeof(*names));
	struct osp_error wrong = {0};
	struct osp_topology *topology = NULL;

	for (int n = 0; names && n < node_record_count; n++)
		names[n] = node_record_table_ptr[n] ? node_record_table_ptr[n]->name : NULL;
	if (names)
		topology = osp_topology_rebase(topology_read, names, (uint32_t)node_record_count,
					       &wrong);
	if (!topology)
		error("onespine: cannot lay the topology over Slurm's nodes: %s; gangs wait",
		      wrong.text);
	free(names);
	return topology;
}

static void lay_over_nodes(void)
{
	forget_nodes();
	if (!topology_read || node_record_count <= 0)
		return;
	shadow_state.topology = rebased_topology();
	if (!shadow_state.topology)
		return;
	shadow_state.node_count = (uint32_t)node_record_count;
	shadow_state.place = osp_place_new(shadow_state.topology, KINDS_MAX);
	shadow_state.seam_place = osp_place_new(shadow_state.topology, KINDS_MAX);
	shadow_state.kind = calloc(shadow_state.node_count, sizeof(*shadow_state.kind));
	shadow_state.weight = calloc(shadow_state.node_count, sizeof(*shadow_state.weight));
	shadow_state.up = osp_nodeset_new(shadow_state.node_count);
	shadow_state.reserved = osp_nodeset_new(shadow_state.node_count);
	if (!shadow_state.place || !shadow_state.seam_place || !shadow_state.kind ||
	    !shadow_state.weight || !shadow_state.up || !shadow_state.reserved) {
		error("onespine: out of memory for %d nodes; gangs wait", node_record_count);
		forget_nodes();
		return;
	}
	tell_topology(shadow_state.topology);
}

static uint16_t kind_number(const config_record_t *config)
{
	char name[OSP_KIND_BYTES];

	osp_kind_of(config->gres, config->feature, name, sizeof(name));
	for (uint16_t kind = 0; kind < shadow_state.kind_count; kind++) {
		if (!strcmp(kind_names[kind], name))
			return kind;
	}
	if (shadow_state.kind_count == KINDS_MAX)
		return KINDS_MAX - 1;
	memcpy(kind_names[shadow_state.kind_count], name, sizeof(name));
	return shadow_state.kind_count++;
}

static void refresh_one_state(uint32_t n, const node_record_t *node)
{
	bool asleep = IS_NODE_POWERED_DOWN(node) || IS_NODE_POWERING_UP(node) ||
		      IS_NODE_POWERING_DOWN(node);

	if (!IS_NODE_DOWN(node) && !IS_NODE_DRAIN(node) && !IS_NODE_FAIL(node) &&
	    (asleep || !IS_NODE_NO_RESPOND(node)))
		osp_nodeset_add(shadow_state.up, n);
	if (node->node_state & (NODE_STATE_RES | NODE_STATE_MAINT))
		osp_nodeset_add(shadow_state.reserved, n);
}

static void refresh_nodes(void)
{
	const config_record_t *last = NULL;
	uint16_t kind = 0;
	uint32_t weight = 0;
	bool differ = false, any = false;

	shadow_state.kind_count = 0;
	osp_nodeset_clear(shadow_state.up);
	osp_nodeset_clear(shadow_state.reserved);
	for (uint32_t n = 0; n < shadow_state.node_count; n++) {
		const node_record_t *node = node_record_table_ptr[n];

		if (!node || !node->config_ptr)
			continue;
		refresh_one_state(n, node);
		if (node->config_ptr != last) {
			last = node->config_ptr;
			kind = kind_number(last);
			differ |= any && last->weight != weight;
			weight = last->weight;
			any = true;
		}
		shadow_state.kind[n] = kind;
		shadow_state.weight[n] = weight;
	}
	shadow_state.weights_differ = differ;
}

static int note_gang_size(void *item, void *context)
{
	job_record_t *job = item;
	uint32_t *largest = context;
	struct osp_effective effective;

	if (!job->details || IS_JOB_FINISHED(job) || !shadow_gang_request(job, &effective))
		return 0;
	if (job->details->min_nodes > *largest)
		*largest = job->details->min_nodes;
	return 0;
}

static void refresh_largest_gang(void)
{
	shadow_state.largest_gang = 0;
	if (job_list)
		list_for_each(job_list, note_gang_size, &shadow_state.largest_gang);
}

void shadow_state_refresh(time_t now)
{
	static time_t refreshed;

	if (!shadow_state.topology || now == refreshed)
		return;
	refreshed = now;
	pthread_rwlock_wrlock(&shadow_lock);
	refresh_nodes();
	refresh_largest_gang();
	pthread_rwlock_unlock(&shadow_lock);
}

void shadow_state_load(void)
{
	uint64_t hash;
	bool changed;

	pthread_rwlock_wrlock(&shadow_lock);
	load_config();
	changed = load_topology();
	hash = hash_node_names();
	if (changed || hash != node_names_hash ||
	    shadow_state.node_count != (uint32_t)node_record_count) {
		node_names_hash = hash;
		lay_over_nodes();
	}
	if (shadow_state.topology)
		refresh_nodes();
	pthread_rwlock_unlock(&shadow_lock);
}

void shadow_state_free(void)
{
	pthread_rwlock_wrlock(&shadow_lock);
	forget_nodes();
	osp_topology_free(topology_read);
	topology_read = NULL;
	osp_config_free(shadow_state.config);
	shadow_state.config = NULL;
	config_mark.seen = false;
	topology_mark.seen = false;
	pthread_rwlock_unlock(&shadow_lock);
}
