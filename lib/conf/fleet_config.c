/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet_config.c - into which capacity reservations ParallelCluster launches its nodes */
#include "lib/conf/fleet_config.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/document.h"

/* Returns what a compute resource says of its reservation; NULL if it says nothing. */
static const struct osp_value *id_of(const struct osp_value *resource)
{
	return resource->type == OSP_VALUE_MAP ? osp_value_get(resource, "CapacityReservationId")
					       : NULL;
}

/* Returns the reservation of a compute resource; NULL if it has none, or several. */
static const char *reservation_of(const struct osp_value *resource)
{
	const struct osp_value *id = id_of(resource);

	return id && id->type == OSP_VALUE_SCALAR && id->text[0] ? id->text : NULL;
}

static bool has_several(const struct osp_value *resource)
{
	const struct osp_value *id = id_of(resource);

	return id && id->type == OSP_VALUE_LIST;
}

/* Returns whether a NodeName's value is of these nodes: "q-dy-p5-[1-4]" or "q-dy-p5-1". */
static bool is_of(const char *value, const char *queue, const char *kind, const char *resource)
{
	char prefix[512];
	int length = snprintf(prefix, sizeof(prefix), "%s-%s-%s-", queue, kind, resource);
	const char *number;

	if (length >= (int)sizeof(prefix) || strncmp(value, prefix, (size_t)length) != 0)
		return false;
	number = value + length;
	return *number && strspn(number, "0123456789[]-,") == strlen(number);
}

static void add_nodes(const struct osp_slurm_conf *conf, const char *id, const char *queue,
		      const char *resource, bool *begun, struct osp_text *groups)
{
	static const char *const kinds[] = {"st", "dy"};
	size_t count;
	const struct osp_slurm_word *words = osp_slurm_conf_words(conf, &count);

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < count; i++) {
			if (!words[i].starts_line || strcasecmp(words[i].key, "NodeName") != 0 ||
			    !is_of(words[i].value, queue, kinds[k], resource))
				continue;
			if (*begun)
				osp_text_printf(groups, ",%s", words[i].value);
			else
				osp_text_printf(groups, "%s=%s", id, words[i].value);
			*begun = true;
		}
	}
}

/* Returns whether a compute resource before this one has the same reservation. */
static bool was_before(const struct osp_value *root, const struct osp_value *resource)
{
	for (const struct osp_value *queue = root->first; queue; queue = queue->next) {
		for (const struct osp_value *other = queue->first; other; other = other->next) {
			if (other == resource)
				return false;
			if (reservation_of(other) &&
			    !strcmp(reservation_of(other), reservation_of(resource)))
				return true;
		}
	}
	return false;
}

/* Adds the nodes of every compute resource with this one's reservation. */
static void add_group(const struct osp_value *root, const struct osp_value *resource,
		      const struct osp_slurm_conf *conf, struct osp_text *groups)
{
	const char *id = reservation_of(resource);
	bool begun = false;

	for (const struct osp_value *queue = root->first; queue; queue = queue->next) {
		for (const struct osp_value *other = queue->first; other; other = other->next) {
			if (reservation_of(other) && !strcmp(reservation_of(other), id))
				add_nodes(conf, id, queue->key, other->key, &begun, groups);
		}
	}
	if (begun)
		osp_text_add(groups, "\n");
}

static int need_map(const struct osp_document *document, const struct osp_value *value,
		    struct osp_error *error)
{
	return value->type == OSP_VALUE_MAP
		       ? 0
		       : osp_document_error(document, value, error, "a map is expected here");
}

int osp_fleet_launch_groups(const char *file, const char *text, size_t bytes,
			    const struct osp_slurm_conf *conf, struct osp_text *groups,
			    bool *several, struct osp_error *error)
{
	struct osp_document *document = osp_document_read(file, text, bytes, error);
	const struct osp_value *root = document ? osp_document_root(document) : NULL;
	int rc = document ? need_map(document, root, error) : -1;

	*several = false;
	for (const struct osp_value *queue = rc ? NULL : root->first; queue && !rc;
	     queue = queue->next)
		rc = need_map(document, queue, error);
	for (const struct osp_value *queue = rc ? NULL : root->first; queue; queue = queue->next) {
		for (const struct osp_value *resource = queue->first; resource;
		     resource = resource->next) {
			*several |= has_several(resource);
			if (reservation_of(resource) && !was_before(root, resource))
				add_group(root, resource, conf, groups);
		}
	}
	osp_document_free(document);
	return rc;
}
