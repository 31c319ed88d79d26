/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_list.c - asks slurmctld for its nodes' addresses, instances and boots */
#include "onespine_config.h"

#include "host/slurm/node_list.h"

#include <arpa/inet.h>
#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/files.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/node_instance.h"
#include "host/slurm_compat.h"
#include "lib/topology/readers.h"

static const char *copy(struct osp_node_list *list, const char *word)
{
	word = word ? word : "";
	return osp_arena_copy(&list->arena, word, strlen(word));
}

static int take(struct osp_node_list *list, const node_info_t *info)
{
	struct osp_listed_node *node = &list->nodes[list->count];
	const char *address = info->node_addr;
	char instance[OSP_INSTANCE_BYTES];

	if (!info->name)
		return 0;
	if (address && !strcmp(address, info->name))
		address = NULL;
	node->name = copy(list, info->name);
	node->address = copy(list, address);
	node->instance_id = copy(list, osp_listed_instance(info, instance, sizeof(instance)));
	node->slurm_topology = copy(list, OSP_NODE_TOPOLOGY(info));
	node->boot_s = (int64_t)info->boot_time;
	node->runs = !osp_is_asleep(info->node_state) &&
		     (info->node_state & NODE_STATE_BASE) != NODE_STATE_FUTURE;
	node->between = info->node_state &
			(NODE_STATE_POWERING_UP | NODE_STATE_POWERING_DOWN | NODE_STATE_POWER_DOWN);
	node->is_launched = info->node_state & NODE_STATE_CLOUD;
	list->count++;
	return node->name && node->address && node->instance_id && node->slurm_topology ? 0 : -1;
}

enum osp_place_age osp_listed_place_age(const struct osp_topology *topology,
					const struct osp_listed_node *node)
{
	const struct osp_node_note *note = osp_topology_note_of(topology, node->name);

	return osp_place_age(osp_place_boot_s(note), node->boot_s, node->runs);
}

int osp_node_list_load(struct osp_node_list *list, struct osp_error *error)
{
	node_info_msg_t *message = NULL;
	int rc = 0;

	memset(list, 0, sizeof(*list));
	if (!osp_slurm_configured())
		return osp_error_set(error,
				     "no slurm.conf found; --nodes gives ids their node names");
	osp_slurm_begin();
	errno = 0;
	if (slurm_load_node(0, &message, SHOW_ALL) != SLURM_SUCCESS)
		return osp_error_set(error, "slurmctld does not report its nodes: %s",
				     slurm_strerror(errno));
	list->nodes =
		osp_arena_take(&list->arena, (message->record_count + 1) * sizeof(*list->nodes));
	for (uint32_t i = 0; list->nodes && !rc && i < message->record_count; i++)
		rc = take(list, &message->node_array[i]);
	slurm_free_node_info_msg(message);
	return list->nodes && !rc ? 0 : osp_error_set(error, "out of memory");
}

/* Returns whether an id is an address. A GUID has colons too, but is none. */
static bool is_ip_address(const char *id)
{
	struct in6_addr address;

	return strspn(id, "0123456789.") == strlen(id) || strstr(id, "::") ||
	       inet_pton(AF_INET6, id, &address) == 1;
}

int osp_node_list_read(const char *path, struct osp_node_list *list, struct osp_error *error)
{
	struct osp_name_map *map = NULL;
	const char *id, *node;
	size_t bytes;
	char *text = osp_read_input(path, OSP_TOPOLOGY_FILE_BYTES_MAX, &bytes, error);

	memset(list, 0, sizeof(*list));
	list->of_map = true;
	if (text)
		map = osp_read_adapter_map(osp_input_name(path), text, bytes, error);
	free(text);
	if (!map)
		return -1;
	list->nodes =
		osp_arena_take(&list->arena, (osp_name_map_count(map) + 1) * sizeof(*list->nodes));
	for (uint32_t i = 0; list->nodes && osp_name_map_entry(map, i, &id, &node); i++) {
		bool is_address = is_ip_address(id);
		struct osp_listed_node *entry = &list->nodes[list->count++];

		*entry = (struct osp_listed_node){
			.name = osp_arena_copy(&list->arena, node, strlen(node)),
			.address = "",
			.instance_id = "",
			.slurm_topology = "",
			.runs = true};
		id = osp_arena_copy(&list->arena, id, strlen(id));
		*(is_address ? &entry->address : &entry->instance_id) = id;
		if (!id || !entry->name)
			list->count = 0;
	}
	osp_name_map_free(map);
	return list->count ? 0
			   : osp_error_set(error, "%s: no node in this map", osp_input_name(path));
}

void osp_node_list_free(struct osp_node_list *list)
{
	osp_arena_free(&list->arena);
	memset(list, 0, sizeof(*list));
}
