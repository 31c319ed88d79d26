/* SPDX-License-Identifier: GPL-2.0-or-later */
/* config_names.c - finds levels, partitions and nodes of onespine.yaml that do not exist */
#include "lib/policy/config_names.h"

#include <string.h>
#include <strings.h>

#include "lib/base/name_table.h"
#include "lib/base/text.h"
#include "lib/topology/launch_groups.h"

/* How a finding is reported. */
struct reporting {
	const char *path; /* of onespine.yaml */
	osp_config_wrong_f *report;
	void *context;
};

static void refuse_level(const struct osp_topology *topology, const char *topology_path,
			 struct osp_config_place place, const char *level,
			 const struct reporting *reporting)
{
	const char *names[OSP_LEVELS_MAX], *nearest;
	uint32_t count = osp_topology_last_level(topology);
	struct osp_text all = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};

	for (uint32_t i = 0; i < count; i++) {
		names[i] = osp_topology_level_name(topology, i + 1);
		osp_text_printf(&all, "%s%s", i ? ", " : "", names[i]);
	}
	nearest = osp_nearest_word(level, names, count);
	osp_error_at(&error, reporting->path, place.line, place.column,
		     "the topology %s has no level '%s'%s%s%s%s", topology_path, level,
		     nearest ? "; did you mean " : "; its levels are ",
		     nearest	? nearest
		     : all.data ? all.data
				: "",
		     nearest ? "?" : "", place.line ? "" : " ('level: spine' is the default)");
	reporting->report(&error, reporting->context);
	osp_text_free(&all);
}

static void refuse_above_zone(const struct osp_topology *topology, const char *topology_path,
			      struct osp_config_place place, const char *level,
			      const struct reporting *reporting)
{
	struct osp_error error = {.text = ""};

	osp_error_at(&error, reporting->path, place.line, place.column,
		     "in the topology %s level '%s' is above the zones, and several zones never "
		     "form one gang; say %s or a level below",
		     topology_path, level,
		     osp_topology_level_name(topology, osp_topology_zone_level(topology)));
	reporting->report(&error, reporting->context);
}

void osp_config_check_levels(const struct osp_config *config, const struct osp_topology *topology,
			     const char *topology_path, const char *path,
			     osp_config_wrong_f *report, void *context)
{
	const struct osp_policy *defaults = osp_config_policy(config, NULL);
	const struct reporting reporting = {path, report, context};
	size_t count = osp_config_partition_count(config);

	for (size_t i = 0; i <= count; i++) {
		const char *name = i < count ? osp_config_partition(config, i, NULL) : NULL;
		const struct osp_policy *policy = osp_config_policy(config, name);
		int level = osp_topology_level(topology, policy->level);
		bool above = level > 0 && osp_topology_above_zone(topology, (uint32_t)level);

		if (level > 0 && !above)
			continue;
		if (name && strcmp(policy->level, defaults->level) == 0)
			continue;
		if (above)
			refuse_above_zone(topology, topology_path,
					  osp_config_level_place(config, i), policy->level,
					  &reporting);
		else
			refuse_level(topology, topology_path, osp_config_level_place(config, i),
				     policy->level, &reporting);
	}
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

void osp_config_check_partitions(const struct osp_config *config, const char *const *names,
				 size_t count, const char *path, osp_config_wrong_f *report,
				 void *context)
{
	for (size_t i = 0; i < osp_config_partition_count(config); i++) {
		struct osp_error error = {.text = ""};
		struct osp_config_place place = osp_config_partition_place(config, i);
		const char *name = osp_config_partition(config, i, NULL), *nearest;

		if (is_among(name, names, count))
			continue;
		nearest = osp_nearest_word(name, names, count);
		osp_error_at(&error, path, place.line, place.column,
			     "Slurm has no partition %s%s%s%s", name,
			     nearest ? "; did you mean " : "", nearest ? nearest : "",
			     nearest ? "?" : "");
		report(&error, context);
	}
}

/* Writes the finding: the first of `lacking` nodes. */
static void refuse_node(const char *node, uint32_t lacking, const char *nearest,
			struct osp_config_place place, const struct reporting *reporting)
{
	struct osp_error error = {.text = ""};

	if (lacking == 1)
		osp_error_at(&error, reporting->path, place.line, place.column,
			     "launch_groups: Slurm has no node %.64s%s%.64s%s", node,
			     nearest ? "; did you mean " : "", nearest ? nearest : "",
			     nearest ? "?" : "");
	else
		osp_error_at(&error, reporting->path, place.line, place.column,
			     "launch_groups: Slurm has none of %u nodes here, the first being "
			     "%.64s%s%.64s%s",
			     lacking, node, nearest ? "; did you mean " : "",
			     nearest ? nearest : "", nearest ? "?" : "");
	reporting->report(&error, reporting->context);
}

static void check_nodes(const struct osp_launch_groups *groups, const char *const *names,
			size_t count, struct osp_config_place place,
			const struct reporting *reporting)
{
	struct osp_name_table table = OSP_NAME_TABLE_INIT;
	const char *first = NULL, *node;
	uint32_t lacking = 0;
	bool whole = true;

	for (size_t i = 0; i < count && whole; i++)
		whole = !osp_name_table_add(&table, 0, names[i], 0);
	for (uint32_t i = 0; whole && (node = osp_launch_groups_node(groups, i)); i++) {
		if (osp_name_table_find(&table, 0, node) != OSP_NAME_ABSENT)
			continue;
		if (!lacking++)
			first = node;
	}
	if (lacking)
		refuse_node(first, lacking, osp_nearest_word(first, names, count), place,
			    reporting);
	osp_name_table_free(&table);
}

void osp_config_check_launch_nodes(const struct osp_config *config, const char *const *names,
				   size_t count, const char *path, osp_config_wrong_f *report,
				   void *context)
{
	const struct reporting reporting = {path, report, context};
	struct osp_launch_groups groups;

	if (!osp_launch_groups_read(osp_config_watch(config)->launch_groups, &groups, NULL))
		check_nodes(&groups, names, count, osp_config_launch_groups_place(config),
			    &reporting);
	osp_launch_groups_free(&groups);
}
