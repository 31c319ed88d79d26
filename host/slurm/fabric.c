/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fabric.c - the configuration and the topology in force, and both beside a snapshot */
#include "onespine_config.h"
#include "host/slurm/fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clean.h"
#include "lib/policy/node_policy.h"
#include "lib/topology/place_age.h"
#include "lib/topology/readers.h"
#include "host/output.h"
#include "host/files.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/slurm_files.h"

#define CONFIG_NAME "onespine.yaml"

char *osp_config_path(struct osp_error *error)
{
	char *slurm_conf;
	char *path;

	if (!osp_slurm_configured()) {
		osp_error_set(error, "no slurm.conf found; name the file, or set SLURM_CONF");
		return NULL;
	}
	slurm_conf = osp_slurm_conf_path(error);
	if (!slurm_conf)
		return NULL;
	path = osp_path_beside(slurm_conf, CONFIG_NAME);
	free(slurm_conf);
	if (!path)
		osp_error_set(error, "out of memory");
	return path;
}

struct osp_config *osp_config_load(const char *path, bool must_exist, struct osp_error *error)
{
	struct osp_config *config;
	size_t bytes;
	char *text;

	if (!must_exist && access(path, F_OK) < 0 && errno == ENOENT)
		return osp_config_read(path, "", 0, error);
	text = osp_read_input(path, OSP_CONFIG_FILE_BYTES_MAX, &bytes, error);
	if (!text)
		return NULL;
	config = osp_config_read(osp_input_name(path), text, bytes, error);
	free(text);
	return config;
}

/* Returns -1 with `error` set where slurmctld does not obey the file in force, because another user
 * may write it. One that is not there is nobody's. */
static int check_trust(const char *path, struct osp_error *error)
{
	struct osp_error ignored = {.text = ""};
	char *slurm_conf = access(path, F_OK) == 0 ? osp_slurm_conf_path(&ignored) : NULL;
	int result = slurm_conf ? osp_policy_trusted(path, slurm_conf, error) : 0;

	free(slurm_conf);
	return result;
}

/* Returns the path of the topology that `config`, at `config_path`, names. */
static char *topology_path_of(const struct osp_config *config, const char *config_path,
			      struct osp_error *error)
{
	char *path = osp_path_beside(config_path, osp_config_topology(config));

	if (!path)
		osp_error_set(error, "out of memory");
	return path;
}

struct osp_config *osp_config_in_force(char **topology_path, struct osp_error *error)
{
	char *path = osp_config_path(error);
	struct osp_config *config = NULL;

	if (path && check_trust(path, error) == 0)
		config = osp_config_load(path, false, error);
	if (config && topology_path) {
		*topology_path = topology_path_of(config, path, error);
		if (!*topology_path) {
			osp_config_free(config);
			config = NULL;
		}
	}
	free(path);
	return config;
}

char *osp_topology_path(struct osp_error *error)
{
	char *path = NULL;

	osp_config_free(osp_config_in_force(&path, error));
	return path;
}

static bool is_json(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '{';
}

struct osp_topology *osp_topology_load(const char *path, struct osp_error *error)
{
	struct osp_topology *topology;
	const char *name = osp_input_name(path);
	size_t bytes;
	char *text = osp_read_input(path, OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes, error);

	if (!text)
		return NULL;
	topology = is_json(text) ? osp_read_onespine_topology(name, text, bytes, error)
				 : osp_read_slurm_topology(name, text, bytes, error);
	free(text);
	return topology;
}

static bool is_missing(const char *path)
{
	return access(path, F_OK) < 0 && errno == ENOENT;
}

struct osp_topology *osp_topology_load_in_force(const char *path, struct osp_error *error)
{
	if (is_missing(path)) {
		osp_error_at(error, path, 0, 0,
			     "no such file; slurmctld sends it to no other host: copy it from "
			     "slurmctld's, or name a copy");
		return NULL;
	}
	return check_trust(path, error) < 0 ? NULL : osp_topology_load(path, error);
}

/* --- in force, or the last good one ----------------------------------------------------------- */

/* What slurmctld keeps of a file that it took (sched/shadow_files.c). */
struct good_copy {
	char *path; /* NULL: there is none, or none that may be read */
	bool hidden;
};

/* Finds none on a configless host: what is missing there says nothing about slurmctld's files. */
static struct good_copy find_good_copy(const char *name)
{
	struct osp_error ignored = {.text = ""};
	struct good_copy copy = {.path = NULL};
	char *conf_path = osp_slurm_conf_path(&ignored);
	struct osp_slurm_conf *conf = conf_path && !osp_slurm_conf_fetched(conf_path)
					      ? osp_load_slurm_conf(conf_path, NULL, &ignored)
					      : NULL;
	const char *folder =
		conf ? osp_slurm_conf_value(conf, "StateSaveLocation", "/var/spool") : NULL;

	if (folder && asprintf(&copy.path, "%s/onespine_%s", folder, name) < 0)
		copy.path = NULL;
	if (copy.path && access(copy.path, R_OK) < 0) {
		copy.hidden = errno == EACCES;
		free(copy.path);
		copy.path = NULL;
	}
	if (copy.path && osp_policy_trusted(copy.path, conf_path, &ignored) < 0) {
		free(copy.path);
		copy.path = NULL;
	}
	osp_slurm_conf_free(conf);
	free(conf_path);
	return copy;
}

/* Warns, after the file in force was refused for `error`, that its copy is read instead; or adds
 * to `error` that the caller may not read it. */
static void end_good_copy(struct good_copy *copy, bool read, struct osp_error *error)
{
	char words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];
	size_t length = strlen(error->text);

	if (read) {
		osp_say_warning("%s; slurmctld goes by the last good one, %s, and so does this",
				osp_error_format(error, words, sizeof(words)), copy->path);
		osp_error_clear(error);
	} else if (copy->hidden) {
		snprintf(error->text + length, sizeof(error->text) - length,
			 "; slurmctld may go by the last good one, which only root and SlurmUser "
			 "can read");
	}
	free(copy->path);
}

static struct osp_config *load_good_config(struct osp_error *error)
{
	struct osp_error ignored = {.text = ""};
	struct good_copy copy = find_good_copy("config");
	struct osp_config *config = copy.path ? osp_config_load(copy.path, true, &ignored) : NULL;

	end_good_copy(&copy, config, error);
	return config;
}

static struct osp_config *config_obeyed(char **topology_path, struct osp_error *error)
{
	struct osp_config *config = osp_config_in_force(topology_path, error);
	char *path;

	if (config || !osp_slurm_configured())
		return config;
	config = load_good_config(error);
	path = config ? osp_config_path(error) : NULL;
	if (path)
		*topology_path = topology_path_of(config, path, error);
	free(path);
	if (config && !*topology_path) {
		osp_config_free(config);
		config = NULL;
	}
	return config;
}

static struct osp_topology *topology_obeyed(const char *path, struct osp_error *error)
{
	struct osp_error ignored = {.text = ""};
	struct osp_topology *topology = osp_topology_load_in_force(path, error);
	struct good_copy copy;

	if (topology)
		return topology;
	copy = find_good_copy("topology");
	topology = copy.path ? osp_topology_load(copy.path, &ignored) : NULL;
	if (is_missing(path) && (topology || copy.hidden)) {
		osp_error_clear(error);
		osp_error_at(error, path, 0, 0, "no such file");
	}
	end_good_copy(&copy, topology, error);
	return topology;
}

struct osp_topology *osp_topology_in_force(char **path, struct osp_error *error)
{
	struct osp_config *config = config_obeyed(path, error);

	osp_config_free(config);
	return config ? topology_obeyed(*path, error) : NULL;
}

/* --- a world ---------------------------------------------------------------------------------- */

/* Returns the nodes of a topology, all busy but those of `free_list`. */
static struct osp_snapshot *snapshot_of_lists(const struct osp_topology *topology,
					      const char *free_list, struct osp_error *error)
{
	struct osp_snapshot *snapshot = osp_snapshot_new();
	struct osp_nodeset *set = osp_nodeset_new(osp_topology_node_count(topology));
	uint32_t i;
	int result = -1;

	for (i = 0; snapshot && i < osp_topology_node_count(topology); i++) {
		struct osp_state_node *node = osp_snapshot_add_node(snapshot);

		if (!node)
			break;
		node->name = osp_snapshot_string(snapshot, osp_topology_node_name(topology, i));
		node->kind = "";
		node->weight = 1;
		node->state = OSP_NODE_BUSY;
	}
	if (!snapshot || !set || snapshot->failed)
		osp_error_set(error, "out of memory");
	else if (osp_snapshot_finish(snapshot, error) == 0)
		result = osp_snapshot_add_hostlist(snapshot, free_list, true, "--free", set, error);
	for (i = 0; result == 0 && i < snapshot->node_count; i++)
		if (osp_nodeset_test(set, i))
			snapshot->nodes[i].state = OSP_NODE_IDLE;
	free(set);
	if (result < 0) {
		osp_snapshot_free(snapshot);
		return NULL;
	}
	return snapshot;
}

static struct osp_snapshot *load_state(const char *path, struct osp_topology **topology,
				       struct osp_error *error)
{
	struct osp_snapshot *snapshot;
	size_t bytes;
	char *text = osp_read_input(path, OSP_STATE_FILE_BYTES_MAX, &bytes, error);

	if (!text)
		return NULL;
	snapshot = osp_snapshot_from_json(osp_input_name(path), text, bytes, topology, error);
	free(text);
	return snapshot;
}

/* Fills the world from files; the topology found on the way, on its own numbers, is *topology. */
static int open_files(const struct osp_world_files *files, struct osp_world *world,
		      struct osp_topology **topology, struct osp_error *error)
{
	const char *topology_path = files->topology;
	struct osp_topology *inside = NULL;

	world->config = osp_config_read("defaults", "", 0, error);
	if (!world->config)
		return -1;
	if (topology_path) {
		*topology = osp_topology_load(topology_path, error);
		if (!*topology)
			return -1;
	}
	if (files->state) {
		world->snapshot = load_state(files->state, &inside, error);
		if (topology_path)
			osp_topology_free(inside);
		else
			*topology = inside;
		if (world->snapshot && !*topology && !files->may_lack_topology)
			return osp_error_set(error, "%s: it holds no topology; add --topology",
					     osp_input_name(files->state));
	} else {
		world->snapshot = snapshot_of_lists(*topology, files->free_list, error);
	}
	return world->snapshot ? 0 : -1;
}

static int open_slurm(const struct osp_world_files *files, struct osp_world *world,
		      struct osp_topology **topology, struct osp_error *error)
{
	const char *named = files->topology;
	char *path = NULL;
	bool lacks;

	world->from_slurm = true;
	world->config = config_obeyed(&path, error);
	if (!world->config)
		return -1;
	*topology = named ? osp_topology_load(named, error) : topology_obeyed(path, error);
	lacks = !*topology && !named && files->may_lack_topology && is_missing(path);
	free(path);
	if (lacks)
		osp_error_clear(error);
	else if (!*topology)
		return -1;
	world->snapshot = osp_cluster_state(error);
	return world->snapshot ? 0 : -1;
}

/* Returns whether the place may be old. Until a node has registered with a slurmctld that has just
 * started, a job that it runs says that it has not booted since. */
static bool is_old(const struct osp_topology *topology, const struct osp_state_node *node)
{
	uint32_t number = osp_topology_find_node(topology, node->name);
	enum osp_place_age age = OSP_PLACE_HOLDS;
	bool has_job = node->state == OSP_NODE_PARTLY || node->state == OSP_NODE_BUSY;

	if (number != OSP_NO_NODE)
		age = osp_place_age(osp_place_boot_s(osp_topology_note(topology, number)),
				    node->boot_s, !node->asleep);
	return age != OSP_PLACE_HOLDS && !(age == OSP_PLACE_NO_BOOT && has_job);
}

/* Finds the nodes whose places are those of their capacity reservations. */
static int find_reserved_places(const struct osp_snapshot *snapshot,
				const struct osp_topology *topology, struct osp_nodeset **reserved,
				struct osp_error *error)
{
	*reserved = osp_nodeset_new(snapshot->node_count);
	if (!*reserved)
		return osp_error_set(error, "out of memory");
	for (uint32_t i = 0; i < snapshot->node_count; i++) {
		const struct osp_state_node *node = &snapshot->nodes[i];

		if (node->asleep && osp_place_boot_s(osp_topology_note_of(topology, node->name)) ==
					    OSP_BOOT_UNLAUNCHED)
			osp_nodeset_add(*reserved, i);
	}
	return 0;
}

bool osp_world_launches(const struct osp_world *world, const char *partitions,
			const struct osp_launchable *gang)
{
	struct osp_launchable asked = *gang;

	asked.unasked = world->unasked[0];
	return osp_launch_may_in(&asked, world->config, partitions);
}

struct osp_world osp_world_for(const struct osp_world *world, const char *partitions,
			       const struct osp_launchable *gang)
{
	struct osp_world seen = *world;

	if (!world->without_reserved || osp_world_launches(world, partitions, gang))
		return seen;
	seen.topology = world->without_reserved;
	seen.old_places += osp_nodeset_count(world->reserved_places);
	seen.reserved_places = NULL;
	seen.without_reserved = NULL;
	return seen;
}

/* Makes the topology without reserved places, if there are any. */
static int leave_reserved_out(struct osp_world *world, struct osp_error *error)
{
	uint32_t count = world->snapshot->node_count;
	const char **names;

	if (!world->reserved_places || osp_nodeset_empty(world->reserved_places))
		return 0;
	names = calloc((size_t)count + 1, sizeof(*names));
	if (!names)
		return osp_error_set(error, "out of memory");
	for (uint32_t i = 0; i < count; i++) {
		if (!osp_nodeset_test(world->reserved_places, i))
			names[i] = world->snapshot->nodes[i].name;
	}
	world->without_reserved = osp_topology_rebase(world->topology, names, count, error);
	free(names);
	return world->without_reserved ? 0 : -1;
}

/* Leaves the nodes out of *topology whose places may be old: slurmctld does not count them
 * either. */
static int drop_old_places(const struct osp_snapshot *snapshot, struct osp_topology **topology,
			   uint32_t *dropped, struct osp_error *error)
{
	const char **names = calloc((size_t)snapshot->node_count + 1, sizeof(*names));
	struct osp_topology *rest = NULL;
	uint32_t count = 0;

	*dropped = 0;
	for (uint32_t i = 0; names && i < snapshot->node_count; i++) {
		if (is_old(*topology, &snapshot->nodes[i]))
			++*dropped;
		else
			names[count++] = snapshot->nodes[i].name;
	}
	if (names && *dropped) {
		rest = osp_topology_rebase(*topology, names, count, error);
		if (rest) {
			osp_topology_free(*topology);
			*topology = rest;
		}
	}
	if (!names)
		osp_error_set(error, "out of memory");
	free(names);
	return names && (rest || !*dropped) ? 0 : -1;
}

int osp_world_open(const struct osp_world_files *files, struct osp_world *world,
		   struct osp_error *error)
{
	struct osp_topology *topology = NULL;
	bool by_files = files->state || files->free_list;
	int result;

	memset(world, 0, sizeof(*world));
	if (files->free_list && (files->state || !files->topology))
		return osp_error_set(error, "--free goes with --topology, and not with --state");
	osp_progress_begin(by_files ? "reading files" : "asking slurmctld");
	result = by_files ? open_files(files, world, &topology, error)
			  : open_slurm(files, world, &topology, error);
	osp_copy_clean(world->unasked, sizeof(world->unasked), osp_topology_unasked(topology));
	if (result == 0 && world->from_slurm && topology)
		result = find_reserved_places(world->snapshot, topology, &world->reserved_places,
					      error);
	if (result == 0 && world->from_slurm && topology)
		result = drop_old_places(world->snapshot, &topology, &world->old_places, error);
	if (result == 0 && topology) {
		world->topology = osp_snapshot_rebase(world->snapshot, topology, error);
		world->all_places = world->topology;
		if (!world->topology || leave_reserved_out(world, error))
			result = -1;
	}
	osp_topology_free(topology);
	osp_progress_end();
	return result;
}

void osp_world_close(struct osp_world *world)
{
	osp_topology_free(world->topology);
	osp_topology_free(world->without_reserved);
	osp_snapshot_free(world->snapshot);
	osp_config_free(world->config);
	free(world->reserved_places);
	memset(world, 0, sizeof(*world));
}
