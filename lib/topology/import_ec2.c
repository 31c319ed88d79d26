/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_ec2.c - pages of describe-instance-topology and describe-capacity-reservation-topology
 *
 * Keys that we do not use are ignored, because EC2 adds some now and then. NetworkNodes are listed
 * top first; the last one is directly above the instance.
 */
#include <string.h>

#include "lib/base/document.h"
#include "lib/topology/pages.h"
#include "lib/topology/import_private.h"

/* A page during reading. */
struct reading {
	struct osp_import *import;
	const struct osp_document *document;
	const struct osp_page *page;
	const char *file;
	struct osp_error *error; /* its places are in the page */
};

static struct osp_place_in_file place_of(const struct reading *reading,
					 const struct osp_value *value)
{
	struct osp_place_in_file place = {reading->file, osp_page_line(reading->page, value->line),
					  value->column};

	return place;
}

/* Returns how many layers of the network are above instances of a type. */
static uint32_t layers_of_type(const char *type)
{
	static const char *const four[] = {"p6-b200", "p6-b300"};

	for (size_t i = 0; i < sizeof(four) / sizeof(four[0]); i++) {
		if (!strncmp(type, four[i], strlen(four[i])))
			return 4;
	}
	return 3;
}

/*
 * Copies the list to the host, bottom first. Without a list, or with an empty one, the host gets
 * none.
 */
static int take_switches(const struct reading *reading, const struct osp_value *list,
			 struct osp_import_host *host)
{
	struct osp_import *import = reading->import;
	uint32_t i;

	if (!list)
		return 0;
	if (osp_need_type(reading->document, list, OSP_VALUE_LIST, reading->error))
		return -1;
	if (list->child_count > OSP_IMPORT_LAYERS_MAX)
		return osp_document_error(reading->document, list, reading->error,
					  "%zu network nodes; 1 to %d are expected",
					  list->child_count, OSP_IMPORT_LAYERS_MAX);
	if (!list->child_count)
		return 0;
	host->switches =
		osp_arena_take(&import->arena, list->child_count * sizeof(*host->switches));
	if (!host->switches)
		return osp_import_no_memory(reading->error);
	i = host->switch_count = (uint32_t)list->child_count;
	for (const struct osp_value *v = list->first; v; v = v->next) {
		const char *name;

		if (osp_value_string(reading->document, v, &name, reading->error))
			return -1;
		if (osp_import_copy(import, name, &host->switches[--i]))
			return osp_import_no_memory(reading->error);
	}
	return 0;
}

/* Takes what instances and reservations have in common. */
static int take_host(const struct reading *reading, const struct osp_value *map, const char *id_key,
		     const char *zone_key, struct osp_import_host *host)
{
	struct osp_import *import = reading->import;
	const char *id, *zone_id, *zone_name;

	if (osp_need_word(reading->document, map, id_key, &id, reading->error) ||
	    osp_may_word(reading->document, map, zone_key, &zone_id, reading->error) ||
	    osp_may_word(reading->document, map, "AvailabilityZone", &zone_name, reading->error))
		return -1;
	if (osp_import_copy(import, id, &host->id) ||
	    osp_import_copy(import, zone_id, &host->zone_id) ||
	    osp_import_copy(import, zone_name, &host->zone_name))
		return osp_import_no_memory(reading->error);
	host->place = place_of(reading, osp_value_get(map, id_key));
	return take_switches(reading, osp_value_get(map, "NetworkNodes"), host);
}

static int take_instance(const struct reading *reading, const struct osp_value *map,
			 struct osp_import_host *host)
{
	const char *block;

	host->what = "instance";
	host->layer = 1;
	if (take_host(reading, map, "InstanceId", "ZoneId", host) ||
	    osp_may_word(reading->document, map, "CapacityBlockId", &block, reading->error))
		return -1;
	/* what AWS's examples print for none */
	if (block && !strcmp(block, "null"))
		block = NULL;
	if (osp_import_copy(reading->import, block, &host->block))
		return osp_import_no_memory(reading->error);
	return 0;
}

/* Takes a reservation. Its list may lack lower layers, so it is counted from the top. */
static int take_capacity(const struct reading *reading, const struct osp_value *map,
			 struct osp_import_host *host)
{
	const char *type;
	uint32_t layers;

	host->what = "capacity reservation";
	host->holds_many = true;
	host->reserved = true;
	if (take_host(reading, map, "CapacityReservationId", "AvailabilityZoneId", host) ||
	    osp_need_word(reading->document, map, "InstanceType", &type, reading->error))
		return -1;
	layers = layers_of_type(type);
	if (host->switch_count > layers)
		return osp_document_error(reading->document, osp_value_get(map, "NetworkNodes"),
					  reading->error,
					  "%u network nodes, but %.64s has %u layers",
					  host->switch_count, type, layers);
	host->layer = layers - host->switch_count + 1;
	return 0;
}

static uint32_t lowest_layer(const struct osp_import_instance *instance)
{
	uint32_t layers = instance->reserved_type ? layers_of_type(instance->reserved_type) : 0;
	uint32_t count = (uint32_t)instance->switch_count;

	if (instance->lowest_layer)
		return instance->lowest_layer;
	return layers > count ? layers - count + 1 : 1;
}

/* Copies an instance of an answer that is no file. */
static int copy_instance(struct osp_import *import, const struct osp_import_instance *from,
			 struct osp_import_host *host)
{
	host->reserved = from->reserved_type;
	host->what = host->reserved ? "reserved node" : "instance";
	host->layer = lowest_layer(from);
	host->switch_count = (uint32_t)from->switch_count;
	host->switches =
		osp_arena_take(&import->arena, (from->switch_count + 1) * sizeof(*host->switches));
	if (!host->switches)
		return -1;
	for (size_t i = 0; i < from->switch_count; i++) {
		if (osp_import_copy(import, from->switches[i],
				    &host->switches[from->switch_count - 1 - i]))
			return -1;
	}
	host->note.boot_s = from->note.boot_s;
	return osp_import_copy(import, from->id, &host->id) ||
			       osp_import_copy(import, from->zone_id, &host->zone_id) ||
			       osp_import_copy(import, from->zone_name, &host->zone_name) ||
			       osp_import_copy(import, from->block, &host->block) ||
			       osp_import_copy(import, from->note.source, &host->note.source) ||
			       osp_import_copy(import, from->note.instance_id,
					       &host->note.instance_id)
		       ? -1
		       : 0;
}

int osp_import_instance(struct osp_import *import, const struct osp_import_instance *instance,
			struct osp_error *error)
{
	struct osp_place_in_file place = {instance->where, 0, 0};
	struct osp_import_host *host;

	if (osp_import_set_kind(import, OSP_IMPORT_EC2, instance->where, error))
		return -1;
	if (instance->switch_count > OSP_IMPORT_LAYERS_MAX)
		return osp_error_at(error, instance->where, 0, 0,
				    "%zu network nodes of %.64s; 1 to %d are expected",
				    instance->switch_count, instance->id, OSP_IMPORT_LAYERS_MAX);
	if (lowest_layer(instance) + instance->switch_count > OSP_IMPORT_LAYERS_MAX + 1)
		return osp_error_at(error, instance->where, 0, 0,
				    "%zu network nodes of %.64s from layer %u on; %d layers are "
				    "expected",
				    instance->switch_count, instance->id, lowest_layer(instance),
				    OSP_IMPORT_LAYERS_MAX);
	if (osp_import_copy(import, instance->where, &place.file))
		return osp_import_no_memory(error);
	host = osp_import_add_host(import, &place, error);
	if (!host)
		return -1;
	return copy_instance(import, instance, host) ? osp_import_no_memory(error) : 0;
}

typedef int take_f(const struct reading *reading, const struct osp_value *map,
		   struct osp_import_host *host);

static int take_list(const struct reading *reading, const struct osp_value *list, take_f *take)
{
	if (osp_need_type(reading->document, list, OSP_VALUE_LIST, reading->error))
		return -1;
	for (const struct osp_value *v = list->first; v; v = v->next) {
		struct osp_place_in_file place = place_of(reading, v);
		struct osp_import_host *host;

		if (osp_need_type(reading->document, v, OSP_VALUE_MAP, reading->error))
			return -1;
		host = osp_import_add_host(reading->import, &place, reading->error);
		if (!host || take(reading, v, host))
			return -1;
	}
	return 0;
}

static int take_page(const struct reading *reading)
{
	const struct osp_value *root = osp_document_root(reading->document);
	const struct osp_value *instances = osp_value_get(root, "Instances");
	const struct osp_value *reservations = osp_value_get(root, "CapacityReservations");
	const struct osp_value *token = osp_value_get(root, "NextToken");

	if (!instances && !reservations)
		return osp_document_error(reading->document, root, reading->error,
					  "neither Instances nor CapacityReservations here, as "
					  "describe-instance-topology prints");
	reading->import->page_count++;
	if (token && (token->type != OSP_VALUE_SCALAR || token->text[0])) {
		reading->import->token_count++;
		reading->import->token_place = place_of(reading, token);
	}
	if (instances && take_list(reading, instances, take_instance))
		return -1;
	return reservations ? take_list(reading, reservations, take_capacity) : 0;
}

static int read_page(struct osp_import *import, const char *file, const struct osp_page *page,
		     struct osp_error *error)
{
	struct osp_error inside = {0};
	struct reading reading = {import, NULL, page, file, &inside};
	struct osp_document *document =
		osp_document_read(file, page->text, page->text_bytes, &inside);
	int rc;

	reading.document = document;
	rc = document ? take_page(&reading) : -1;
	osp_document_free(document);
	if (rc)
		osp_page_error(page, &inside, error);
	return rc;
}

static int read_pages(struct osp_import *import, const char *file, const char *text,
		      size_t text_bytes, struct osp_error *error)
{
	enum osp_file_kind kind = osp_file_kind(text, text_bytes);
	struct osp_pages pages;
	struct osp_page page;

	if (kind != OSP_FILE_EC2_TOPOLOGY && kind != OSP_FILE_JSON && kind != OSP_FILE_OTHER)
		return osp_refuse_kind(file, "answer of EC2's describe-instance-topology", kind,
				       error);
	osp_pages_start(&pages, file, text, text_bytes);
	while (osp_pages_next(&pages, &page)) {
		if (read_page(import, file, &page, error))
			return -1;
	}
	return 0;
}

int osp_import_ec2(struct osp_import *import, const char *file, const char *text, size_t text_bytes,
		   struct osp_error *error)
{
	uint32_t host_count = import->host_count, page_count = import->page_count;
	uint32_t token_count = import->token_count;
	struct osp_place_in_file token_place = import->token_place;
	const char *name;

	if (osp_import_set_kind(import, OSP_IMPORT_EC2, file, error))
		return -1;
	if (text_bytes > OSP_TOPOLOGY_FILE_BYTES_MAX)
		return osp_error_at(error, file, 0, 0, "larger than %zu bytes",
				    OSP_TOPOLOGY_FILE_BYTES_MAX);
	if (osp_import_copy(import, file, &name))
		return osp_import_no_memory(error);
	if (!read_pages(import, name, text, text_bytes, error))
		return 0;
	import->host_count = host_count;
	import->page_count = page_count;
	import->token_count = token_count;
	import->token_place = token_place;
	return -1;
}
