/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_state.c - the topology and the policy in force, laid over Slurm's nodes
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/text.h"
#include "lib/policy/config_names.h"
#include "lib/policy/node_policy.h"
#include "lib/topology/kind.h"

/* More kinds of node than any cluster has; further kinds share the last number, so they may mix
 * with each other. */
#define KINDS_MAX 64

/* How many nodes are looked at again in one second: about 1 ms. */
#define REFRESH_NODES 4096

struct shadow_state shadow_state;
pthread_rwlock_t shadow_lock = PTHREAD_RWLOCK_INITIALIZER;

static uint64_t node_names_hash;
static char kind_names[KINDS_MAX][OSP_KIND_BYTES];

/* --- Slurm's nodes --------------------------------------------------------------------------- */

/* Returns a hash of the nodes' names in order, with the places that have no node. */
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
	osp_chooser_free(shadow_state.chooser);
	shadow_plans_forget();
	shadow_extra_forget();
	shadow_count_free();
	osp_place_free(shadow_state.place);
	osp_place_free(shadow_state.seam_place);
	osp_cut_free(shadow_state.cut);
	osp_cut_free(shadow_state.seam_cut);
	osp_topology_free(shadow_state.topology);
	free(shadow_state.kind);
	free(shadow_state.weight);
	free(shadow_state.up);
	free(shadow_state.reserved);
	free(shadow_state.place_boot_s);
	free(shadow_state.old_places);
	shadow_state.place_boot_s = NULL;
	shadow_state.old_places = NULL;
	shadow_state.up = NULL;
	shadow_state.reserved = NULL;
	shadow_state.chooser = NULL;
	shadow_state.place = NULL;
	shadow_state.seam_place = NULL;
	shadow_state.cut = NULL;
	shadow_state.seam_cut = NULL;
	shadow_state.topology = NULL;
	shadow_state.kind = NULL;
	shadow_state.weight = NULL;
	shadow_state.node_count = 0;
	shadow_state.kind_count = 0;
}

static bool is_placed(const struct osp_topology *topology, uint32_t node)
{
	for (uint32_t level = 1; level <= osp_topology_last_level(topology); level++) {
		if (osp_topology_domain_of(topology, node, level) != OSP_NO_DOMAIN)
			return true;
	}
	return false;
}

char *shadow_topology_words(const struct osp_topology *topology)
{
	uint32_t nodes = osp_topology_node_count(topology), outside = 0, first, count;
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t level = 1; level <= osp_topology_last_level(topology); level++) {
		osp_topology_level_domains(topology, level, &first, &count);
		osp_text_printf(&text, "%s%s%s %u", level > 1 ? ", " : "",
				osp_topology_is_overlay(topology, level) ? "beside the tree " : "",
				osp_topology_level_name(topology, level), count);
	}
	for (uint32_t n = 0; n < nodes; n++)
		outside += osp_topology_node_name(topology, n)[0] && !is_placed(topology, n);
	osp_text_printf(&text, "; %u of Slurm's %u nodes are not in it and run no gang", outside,
			nodes);
	return osp_text_take(&text);
}

void shadow_report_topology(const char *before, const char *words)
{
	info("onespine: %sthe topology in force has %s", before, words ? words : "");
}

void shadow_fabric_free(struct shadow_fabric *fabric)
{
	osp_place_free(fabric->place);
	osp_place_free(fabric->seam_place);
	osp_cut_free(fabric->cut);
	osp_cut_free(fabric->seam_cut);
	osp_topology_free(fabric->topology);
	free(fabric->place_boot_s);
	memset(fabric, 0, sizeof(*fabric));
}

bool shadow_fabric_lay(struct shadow_fabric *fabric, const struct osp_topology *read,
		       const char *const *names, uint32_t count, struct osp_error *wrong)
{
	memset(fabric, 0, sizeof(*fabric));
	fabric->topology = osp_topology_rebase(read, names, count, wrong);
	if (!fabric->topology)
		return false;
	fabric->place = osp_place_new(fabric->topology, KINDS_MAX);
	fabric->seam_place = osp_place_new(fabric->topology, KINDS_MAX);
	fabric->cut = osp_cut_new(fabric->topology);
	fabric->seam_cut = osp_cut_new(fabric->topology);
	fabric->place_boot_s = shadow_places_boots(fabric->topology);
	if (fabric->place && fabric->seam_place && fabric->cut && fabric->seam_cut &&
	    fabric->place_boot_s)
		return true;
	osp_error_set(wrong, "out of memory");
	shadow_fabric_free(fabric);
	return false;
}

/* Lays the topology that was read over Slurm's nodes. */
static bool lay_fabric(void)
{
	const char **names = calloc((size_t)node_record_count + 1, sizeof(*names));
	struct shadow_fabric fabric = {.topology = NULL};
	struct osp_error wrong = {.text = "out of memory"};

	for (int n = 0; names && n < node_record_count; n++)
		names[n] = node_record_table_ptr[n] ? node_record_table_ptr[n]->name : NULL;
	if (names)
		shadow_fabric_lay(&fabric, shadow_state.read, names, (uint32_t)node_record_count,
				  &wrong);
	free(names);
	shadow_state.topology = fabric.topology;
	shadow_state.place = fabric.place;
	shadow_state.seam_place = fabric.seam_place;
	shadow_state.cut = fabric.cut;
	shadow_state.seam_cut = fabric.seam_cut;
	shadow_state.place_boot_s = fabric.place_boot_s;
	if (!fabric.topology)
		error("onespine: cannot lay the topology over Slurm's nodes: %s; gangs wait",
		      wrong.text);
	return fabric.topology != NULL;
}

/* Makes room for what else is kept of the nodes of a fabric that has been laid. */
static bool make_room_for_nodes(void)
{
	shadow_state.chooser =
		osp_chooser_new(shadow_state.topology, shadow_state.place, shadow_state.cut);
	shadow_state.kind = calloc(shadow_state.node_count, sizeof(*shadow_state.kind));
	shadow_state.weight = calloc(shadow_state.node_count, sizeof(*shadow_state.weight));
	shadow_state.up = osp_nodeset_new(shadow_state.node_count);
	shadow_state.reserved = osp_nodeset_new(shadow_state.node_count);
	shadow_state.old_places = osp_nodeset_new(shadow_state.node_count);
	if (!shadow_state.chooser || !shadow_state.kind || !shadow_state.weight ||
	    !shadow_state.up || !shadow_state.reserved || !shadow_state.old_places) {
		error("onespine: out of memory for %d nodes; gangs wait", node_record_count);
		return false;
	}
	shadow_count_lay(shadow_state.node_count);
	return true;
}

static void lay_read_over_nodes(void)
{
	char *words;

	if (!shadow_state.read || node_record_count <= 0)
		return;
	shadow_state.node_count = (uint32_t)node_record_count;
	if (!lay_fabric() || !make_room_for_nodes()) {
		forget_nodes();
		return;
	}
	words = shadow_topology_words(shadow_state.topology);
	shadow_report_topology("", words);
	free(words);
}

/*
 * Lays the topology over changed nodes. The new chooser inherits which jobs are already preempted,
 * so that none are preempted elsewhere.
 */
static void lay_over_nodes(void)
{
	struct osp_chooser *chooser = shadow_state.chooser;
	struct osp_topology *topology = shadow_state.topology;

	shadow_state.chooser = NULL;
	shadow_state.topology = NULL;
	forget_nodes();
	lay_read_over_nodes();
	if (chooser && shadow_state.chooser)
		osp_chooser_inherit(shadow_state.chooser, chooser);
	osp_chooser_free(chooser);
	osp_topology_free(topology);
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
	if (osp_is_up(node->node_state))
		osp_nodeset_add(shadow_state.up, n);
	if (node->node_state & (NODE_STATE_RES | NODE_STATE_MAINT))
		osp_nodeset_add(shadow_state.reserved, n);
	if (!shadow_place_holds(n))
		osp_nodeset_add(shadow_state.old_places, n);
}

/* The weight and kind of one configuration record, looked up once for all its nodes. */
struct config_look {
	const config_record_t *config;
	uint16_t kind;
	uint32_t weight;
};

static void refresh_one_node(uint32_t n, const node_record_t *node, struct config_look *look)
{
	refresh_one_state(n, node);
	shadow_count_node(n, node);
	if (node->config_ptr != look->config) {
		look->config = node->config_ptr;
		look->kind = kind_number(look->config);
		look->weight = look->config->weight;
	}
	shadow_state.kind[n] = look->kind;
	shadow_state.weight[n] = look->weight;
}

/* Returns whether two nodes differ in weight. Places without a node weigh 0. */
static bool find_other_weight(void)
{
	const uint32_t *weight = shadow_state.weight;
	uint32_t first = 0;

	while (first < shadow_state.node_count && !node_record_table_ptr[first])
		first++;
	for (uint32_t n = first; n < shadow_state.node_count; n++) {
		if (weight[n] != weight[first] && node_record_table_ptr[n])
			return true;
	}
	return false;
}

/* Looks at `count` nodes from `first` on; returns the number of the one after them. */
static uint32_t refresh_nodes(uint32_t first, uint32_t count)
{
	struct config_look look = {0};
	uint32_t end =
		count < shadow_state.node_count - first ? first + count : shadow_state.node_count;

	for (uint32_t n = first; n < end; n++) {
		const node_record_t *node = node_record_table_ptr[n];

		osp_nodeset_remove(shadow_state.up, n);
		osp_nodeset_remove(shadow_state.reserved, n);
		osp_nodeset_remove(shadow_state.old_places, n);
		if (node && node->config_ptr)
			refresh_one_node(n, node, &look);
	}
	shadow_state.weights_differ = find_other_weight();
	return end;
}

static void refresh_all_nodes(void)
{
	shadow_state.kind_count = 0;
	refresh_nodes(0, shadow_state.node_count);
}

void shadow_state_refresh(time_t now)
{
	static time_t refreshed;
	static uint32_t next_node;

	if (!shadow_state.topology || now == refreshed)
		return;
	refreshed = now;
	pthread_rwlock_wrlock(&shadow_lock);
	if (shadow_state.places_changed)
		shadow_places_look_at_old();
	shadow_state.places_changed = false;
	if (shadow_state.node_count <= REFRESH_NODES) {
		refresh_all_nodes();
	} else {
		next_node = next_node < shadow_state.node_count ? next_node : 0;
		next_node = refresh_nodes(next_node, REFRESH_NODES);
	}
	pthread_rwlock_unlock(&shadow_lock);
}

static void exchange_fabrics(struct shadow_fabric *fabric)
{
	struct shadow_fabric old = {shadow_state.topology,   shadow_state.place,
				    shadow_state.seam_place, shadow_state.cut,
				    shadow_state.seam_cut,   shadow_state.place_boot_s};

	if (shadow_state.chooser)
		osp_chooser_change_fabric(shadow_state.chooser, fabric->topology, fabric->place,
					  fabric->cut);
	shadow_state.topology = fabric->topology;
	shadow_state.place = fabric->place;
	shadow_state.seam_place = fabric->seam_place;
	shadow_state.cut = fabric->cut;
	shadow_state.seam_cut = fabric->seam_cut;
	shadow_state.place_boot_s = fabric->place_boot_s;
	shadow_state.places_changed = true;
	*fabric = old;
}

/* Puts a fabric in force if there was none. */
static bool begin_fabric(struct shadow_fabric *fabric)
{
	uint32_t count = osp_topology_node_count(fabric->topology);

	forget_nodes();
	if (count != (uint32_t)node_record_count)
		return false;
	shadow_state.node_count = count;
	exchange_fabrics(fabric);
	if (!make_room_for_nodes()) {
		forget_nodes();
		return false;
	}
	refresh_all_nodes();
	return true;
}

static void exchange_read(struct shadow_exchange *other)
{
	struct osp_topology *read = shadow_state.read;

	shadow_state.generation++;
	shadow_state.read = other->read;
	other->read = read;
}

bool shadow_state_exchange(struct shadow_exchange *other)
{
	if (other->generation != shadow_state.generation)
		return false;
	if (shadow_state.topology &&
	    osp_topology_node_count(other->fabric.topology) != shadow_state.node_count)
		return false;
	if (shadow_state.topology)
		exchange_fabrics(&other->fabric);
	else if (!begin_fabric(&other->fabric))
		return false;
	exchange_read(other);
	return true;
}

/* Returns whether both allow launches, or both forbid them for the same reason. Otherwise waiting
 * gangs are looked at again. */
static bool launches_alike(const struct osp_topology *a, const struct osp_topology *b)
{
	return !xstrcmp(osp_topology_unasked(a), osp_topology_unasked(b));
}

bool shadow_state_exchange_read(struct shadow_exchange *other)
{
	if (other->generation != shadow_state.generation || !shadow_state.topology ||
	    !osp_topology_same_fabric(shadow_state.topology, other->fabric.topology) ||
	    !launches_alike(shadow_state.read, other->read) ||
	    !shadow_places_same(other->fabric.place_boot_s))
		return false;
	exchange_read(other);
	return true;
}

/* Logs a wrong name. A name that nobody wrote, the default level's, is no error: a fabric of leaves
 * alone is whole. */
static void log_wrong(const struct osp_error *wrong, void *context)
{
	char words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];

	(void)context;
	osp_error_format(wrong, words, sizeof(words));
	if (wrong->line)
		error("onespine: %s", words);
	else
		info("onespine: %s", words);
}

/* Logs names in the policy that mean nothing here: gangs that would go by them are refused, or
 * placed by the defaults. */
static void log_unknown_names(void)
{
	const struct osp_config *config = shadow_state.config;

	if (shadow_state.read)
		osp_config_check_levels(config, shadow_state.read, osp_config_topology(config),
					OSP_CONFIG_NAME, log_wrong, NULL);
	for (size_t i = 0; i < osp_config_partition_count(config); i++) {
		int line;
		const char *name = osp_config_partition(config, i, &line);

		if (!find_part_record((char *)name))
			error("onespine: %s:%d: Slurm has no partition %s", OSP_CONFIG_NAME, line,
			      name);
	}
}

void shadow_state_load(void)
{
	const struct osp_config *before = shadow_state.config;
	uint64_t hash;
	bool changed;

	pthread_rwlock_wrlock(&shadow_lock);
	if (!shadow_state.config)
		shadow_remove_unfinished_copies();
	shadow_load_config();
	changed = shadow_load_topology();
	if (shadow_state.config && (changed || shadow_state.config != before))
		log_unknown_names();
	hash = hash_node_names();
	if (changed || hash != node_names_hash ||
	    shadow_state.node_count != (uint32_t)node_record_count) {
		node_names_hash = hash;
		shadow_state.generation++;
		lay_over_nodes();
	}
	if (shadow_state.topology)
		refresh_all_nodes();
	pthread_rwlock_unlock(&shadow_lock);
}

void shadow_state_free(void)
{
	pthread_rwlock_wrlock(&shadow_lock);
	forget_nodes();
	shadow_forget_files();
	pthread_rwlock_unlock(&shadow_lock);
}
