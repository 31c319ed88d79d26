/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_unit.c - Slurm's own Topology= of a node */
#include "lib/topology/slurm_unit.h"

#include <stdlib.h>
#include <string.h>

/* Longer names end slurmctld's reading of topology.conf. */
#define SWITCH_BYTES_MAX 64

/* What parts the words of Topology=, or begins a list of switches. */
#define NOT_IN_NAMES ":,[]=\"'#"

static bool is_name(const char *name, size_t length)
{
	if (!length || length > SWITCH_BYTES_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] <= ' ' || strchr(NOT_IN_NAMES, name[i]))
			return false;
	}
	return true;
}

bool osp_slurm_unit_root(const char *root)
{
	size_t length = strcspn(root, ":");

	return root[length] && is_name(root, length) &&
	       is_name(root + length + 1, strlen(root + length + 1));
}

static int add_domain(const struct osp_topology *topology, uint32_t number, struct osp_text *path,
		      struct osp_error *error)
{
	const struct osp_domain *domain = osp_topology_domain(topology, number);

	if (!is_name(domain->name, strlen(domain->name)))
		return osp_error_set(error,
				     "%s %.80s cannot be a switch of Slurm's: 1 to %d bytes "
				     "without space and " NOT_IN_NAMES " are expected",
				     osp_topology_level_name(topology, domain->level), domain->name,
				     SWITCH_BYTES_MAX);
	osp_text_printf(path, ":%s", domain->name);
	return 0;
}

/* Adds the places in topologies other than that of `root`. */
static void add_others(const char *current, const char *root, struct osp_text *unit)
{
	size_t own = strcspn(root, ":");

	while (*current) {
		size_t length = strcspn(current, ",");

		if (length && (strcspn(current, ":,") != own || strncmp(current, root, own) != 0)) {
			osp_text_add(unit, ",");
			osp_text_add_bytes(unit, current, length);
		}
		current += length + (current[length] == ',');
	}
}

int osp_slurm_unit(const struct osp_topology *topology, uint32_t node, const char *root,
		   const char *current, struct osp_text *unit, struct osp_error *error)
{
	int leaf = osp_topology_level(topology, "leaf");
	uint32_t lowest = leaf > 0 ? (uint32_t)leaf : 1;
	struct osp_text wanted = OSP_TEXT_INIT;
	char *text;
	int rc = 0;

	if (!osp_topology_level_count(topology) ||
	    osp_topology_domain_of(topology, node, lowest) == OSP_NO_DOMAIN)
		return 0;
	osp_text_add(&wanted, root);
	for (uint32_t level = osp_topology_level_count(topology); level >= lowest && !rc; level--) {
		uint32_t domain = osp_topology_domain_of(topology, node, level);

		if (domain != OSP_NO_DOMAIN)
			rc = add_domain(topology, domain, &wanted, error);
	}
	add_others(current, root, &wanted);
	text = osp_text_take(&wanted);
	if (!text && !rc)
		rc = osp_error_set(error, "out of memory");
	if (!rc && strcmp(text, current) != 0)
		osp_text_add(unit, text);
	free(text);
	return rc;
}
