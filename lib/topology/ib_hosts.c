/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ib_hosts.c - finds the host of each InfiniBand adapter
 *
 * By a map from GUIDs or host names to nodes, or else by the description that rdma-ndd sets, host
 * and adapter in two words ("node1 mlx5_0"). Nothing else is a host's name: not the vendor's text
 * of an adapter that no host has named, not "localhost", and not a name that two adapters with the
 * same description share.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/base/glob.h"
#include "lib/base/room.h"
#include "lib/topology/ib_fabric.h"
#include "lib/topology/name_map.h"

#define WORD_BYTES 72 /* a description has at most 64 bytes */

enum { TAG_HOST, TAG_ADAPTER };

struct naming {
	struct osp_import *import;
	struct osp_error *error;
	struct osp_name_table table; /* hosts, and adapters as "HOST ADAPTER" */
	uint32_t nameless;	     /* adapters without a host's name */
	uint32_t ambiguous;	     /* names that two hosts have */
	uint32_t unknown;	     /* hosts' adapters that the map does not name */
	const struct osp_ib_device *first_nameless;
	const struct osp_ib_device *first_ambiguous;
	const struct osp_ib_device *first_unknown;
};

/* Returns whether a device is a switch's own adapter for SHARP; every switch has one, spines
 * too. */
static bool is_aggregation(const struct osp_ib_device *device)
{
	return strstr(device->description, "Aggregation Node") != NULL;
}

static bool is_host_name(const char *word, size_t length)
{
	if (!length || length >= WORD_BYTES || (length == 9 && !strncasecmp(word, "localhost", 9)))
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!isalnum((unsigned char)word[i]) && !strchr("-._", word[i]))
			return false;
	}
	return isalnum((unsigned char)word[0]);
}

/* Returns whether a word is an adapter's name: it has a digit, as in mlx5_0, HCA-1, hfi1_0. */
static bool is_adapter_name(const char *word, size_t length)
{
	bool digit = false;

	for (size_t i = 0; i < length; i++)
		digit = digit || isdigit((unsigned char)word[i]);
	return digit && length < WORD_BYTES;
}

/* Splits "node1 mlx5_0". Returns false for anything else. Both buffers have WORD_BYTES. */
static bool split_description(const char *description, char *host, char *adapter)
{
	const char *first = description + strspn(description, " ");
	size_t first_bytes = strcspn(first, " ");
	const char *second = first + first_bytes + strspn(first + first_bytes, " ");
	size_t second_bytes = strcspn(second, " ");

	if (second[second_bytes + strspn(second + second_bytes, " ")] ||
	    !is_host_name(first, first_bytes) || !is_adapter_name(second, second_bytes))
		return false;
	snprintf(host, WORD_BYTES, "%.*s", (int)first_bytes, first);
	snprintf(adapter, WORD_BYTES, "%.*s", (int)second_bytes, second);
	return true;
}

#define HEX "0123456789abcdefABCDEF"

bool osp_is_guid(const char *word)
{
	const char *digits = word + (strncmp(word, "0x", 2) ? 0 : 2);
	size_t count = strspn(digits, HEX);

	if (count == 4 && strlen(word) == strlen("e09d:7303:0085:8d88")) {
		for (size_t at = 0; word[at]; at++) {
			if (at % 5 == 4 ? word[at] != ':' : !strchr(HEX, word[at]))
				return false;
		}
		return true;
	}
	return !digits[count] && (digits > word ? count > 0 && count <= 16 : count == 16);
}

/* Returns the map's entry for an adapter: by its GUID in each form, then by its host. */
static const struct osp_name_entry *
find_in_map(const struct osp_name_map *map, const struct osp_ib_device *device, const char *host)
{
	const char *digits = device->name + 2;
	const struct osp_name_entry *entry;
	char guid[WORD_BYTES];

	snprintf(guid, sizeof(guid), "0x%s", digits);
	entry = osp_name_map_find(map, guid);
	if (!entry)
		entry = osp_name_map_find(map, digits);
	if (!entry) { /* as sysfs writes it */
		snprintf(guid, sizeof(guid), "%.4s:%.4s:%.4s:%s", digits, digits + 4, digits + 8,
			 digits + 12);
		entry = osp_name_map_find(map, guid);
	}
	if (!entry) { /* without leading zeroes, as sharp_cmd writes it */
		snprintf(guid, sizeof(guid), "0x%s", digits + strspn(digits, "0"));
		entry = osp_name_map_find(map, guid);
	}
	if (!entry && host)
		entry = osp_name_map_find(map, host);
	return entry;
}

static int find_host(struct naming *naming, const char *name, const struct osp_ib_device *device,
		     uint32_t *index)
{
	struct osp_ib_fabric *fabric = naming->import->ib;
	const char *copy;

	*index = osp_name_table_find(&naming->table, TAG_HOST, name);
	if (*index != OSP_NAME_ABSENT)
		return 0;
	*index = fabric->host_count;
	if (osp_import_copy(naming->import, name, &copy) ||
	    osp_make_room((void **)&fabric->hosts, &fabric->host_room, *index,
			  sizeof(*fabric->hosts)) ||
	    osp_name_table_add(&naming->table, TAG_HOST, copy, *index))
		return osp_import_no_memory(naming->error);
	fabric->hosts[fabric->host_count++] = (struct osp_ib_host){copy, device->place, false};
	return 0;
}

/*
 * Notes an adapter's description. Two adapters that are both called "ubuntu mlx5_0" are in two
 * hosts of one name.
 */
static int note_adapter(struct naming *naming, uint32_t host, const struct osp_ib_device *device)
{
	struct osp_ib_host *of = &naming->import->ib->hosts[host];
	uint32_t before = osp_name_table_find(&naming->table, TAG_ADAPTER, device->description);

	if (before == OSP_NAME_ABSENT)
		return osp_name_table_add(&naming->table, TAG_ADAPTER, device->description, host)
			       ? osp_import_no_memory(naming->error)
			       : 0;
	if (!of->ambiguous && !naming->ambiguous++)
		naming->first_ambiguous = device;
	of->ambiguous = true;
	return 0;
}

static int name_by_map(struct naming *naming, struct osp_ib_device *device, const char *host)
{
	const struct osp_name_map *map = naming->import->options.map;
	const struct osp_name_entry *entry = find_in_map(map, device, host);

	if (!entry) {
		if (!naming->unknown++)
			naming->first_unknown = device;
		return 0;
	}
	if (entry->node_count > 1)
		return osp_error_at(naming->error, osp_name_map_file(map), entry->line, 0,
				    "adapter %s is in one node, not %u", device->name,
				    entry->node_count);
	return find_host(naming, entry->nodes[0], device, &device->host);
}

/*
 * Names an adapter's host without its domain, because Slurm's names usually have none; a map may
 * use names as they are.
 */
static int name_by_description(struct naming *naming, struct osp_ib_device *device, char *host)
{
	host[strcspn(host, ".")] = '\0';
	if (find_host(naming, host, device, &device->host))
		return -1;
	return note_adapter(naming, device->host, device);
}

static int name_adapter(struct naming *naming, struct osp_ib_device *device)
{
	const struct osp_import_options *options = &naming->import->options;
	char host[WORD_BYTES], adapter[WORD_BYTES];
	bool named = split_description(device->description, host, adapter);

	if (is_aggregation(device) || !device->linked)
		return 0;
	if (named && options->adapters && !osp_glob_matches(options->adapters, adapter))
		return 0;
	if (named && osp_import_copy(naming->import, adapter, &device->adapter))
		return osp_import_no_memory(naming->error);
	if (options->map)
		return name_by_map(naming, device, named ? host : NULL);
	if (named)
		return name_by_description(naming, device, host);
	if (!naming->nameless++)
		naming->first_nameless = device;
	return 0;
}

static int report(struct naming *naming, uint32_t count, const struct osp_ib_device *first,
		  const char *one, const char *many)
{
	char where[OSP_IMPORT_WHERE_BYTES];

	if (!count)
		return 0;
	return osp_import_warn(naming->import, naming->error,
			       "%s: %u %s, the first being %s '%.64s'; left out",
			       osp_import_where(&first->place, where, sizeof(where)), count,
			       count == 1 ? one : many, first->name, first->description);
}

static int report_all(struct naming *naming)
{
	if (report(naming, naming->nameless, naming->first_nameless,
		   "channel adapter without a host's name (a map by GUID would name it)",
		   "channel adapters without a host's name (a map by GUID would name them)") ||
	    report(naming, naming->ambiguous, naming->first_ambiguous,
		   "name is the name of two hosts, whose adapters call themselves the same",
		   "names are each the name of two hosts, whose adapters call themselves the same"))
		return -1;
	if (naming->import->options.map_of_slurm)
		return report(naming, naming->unknown, naming->first_unknown,
			      "channel adapter belongs to no node of Slurm",
			      "channel adapters belong to no node of Slurm");
	return report(naming, naming->unknown, naming->first_unknown,
		      "channel adapter is not in the map", "channel adapters are not in the map");
}

/* Removes the host from all adapters of hosts whose name two hosts have. */
static void drop_ambiguous(struct osp_ib_fabric *fabric)
{
	for (uint32_t i = 0; i < fabric->device_count; i++) {
		struct osp_ib_device *device = &fabric->devices[i];

		if (device->host != OSP_IB_NO_HOST && fabric->hosts[device->host].ambiguous)
			device->host = OSP_IB_NO_HOST;
	}
}

static int name_all(struct naming *naming)
{
	struct osp_ib_fabric *fabric = naming->import->ib;

	for (uint32_t i = 0; i < fabric->device_count; i++) {
		if (fabric->devices[i].type == OSP_IB_ADAPTER &&
		    name_adapter(naming, &fabric->devices[i]))
			return -1;
	}
	drop_ambiguous(fabric);
	return report_all(naming);
}

int osp_ib_name_hosts(struct osp_import *import, struct osp_error *error)
{
	struct naming naming = {.import = import, .error = error, .table = OSP_NAME_TABLE_INIT};
	int rc = name_all(&naming);

	osp_name_table_free(&naming.table);
	return rc;
}
