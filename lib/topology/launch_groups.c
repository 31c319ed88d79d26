/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch_groups.c - which nodes are launched into which capacity reservation */
#include "lib/topology/launch_groups.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/room.h"

#define BLANKS " \t\n"
#define ID     "cr-"

struct reading {
	struct osp_launch_groups *groups;
	struct osp_error *error;
};

static int add_node(const char *name, void *context)
{
	struct reading *reading = context;
	struct osp_launch_groups *groups = reading->groups;
	const char *copy;

	if (osp_launch_groups_of(groups, name) != OSP_NAME_ABSENT)
		return osp_error_set(reading->error, "node %.64s is there twice", name);
	copy = osp_arena_copy(&groups->arena, name, strlen(name));
	if (!copy ||
	    osp_make_room((void **)&groups->names, &groups->name_room, groups->name_count,
			  sizeof(*groups->names)) ||
	    osp_name_table_add(&groups->nodes, 0, copy, (uint32_t)groups->count))
		return osp_error_set(reading->error, "out of memory");
	groups->names[groups->name_count++] = copy;
	return 0;
}

static bool is_reservation(const char *id, size_t bytes)
{
	size_t first = strlen(ID);

	return bytes > first && !strncmp(id, ID, first) &&
	       first + strspn(id + first, "0123456789abcdef") == bytes;
}

/* Reads "cr-0123=NODES". */
static int read_group(struct reading *reading, char *word)
{
	struct osp_launch_groups *groups = reading->groups;
	size_t bytes = strcspn(word, "=");

	if (!word[bytes] || !word[bytes + 1] || !is_reservation(word, bytes))
		return osp_error_set(reading->error,
				     "a capacity reservation and its nodes, as "
				     "cr-0123=gpu-[1-4], are expected, not '%.80s'",
				     word);
	word[bytes] = '\0';
	for (size_t i = 0; i < groups->count; i++) {
		if (!strcmp(groups->reservations[i], word))
			return osp_error_set(reading->error, "%.80s is there twice", word);
	}
	if (groups->count == OSP_LAUNCH_GROUPS_MAX)
		return osp_error_set(reading->error, "at most %d groups are expected",
				     OSP_LAUNCH_GROUPS_MAX);
	groups->reservations[groups->count] = word;
	if (osp_hostlist_expand(word + bytes + 1, add_node, reading, reading->error))
		return -1;
	groups->count++;
	return 0;
}

int osp_launch_groups_read(const char *text, struct osp_launch_groups *groups,
			   struct osp_error *error)
{
	struct reading reading = {.groups = groups, .error = error};
	char *words, *word;

	*groups = (struct osp_launch_groups){.nodes = OSP_NAME_TABLE_INIT};
	if (!text)
		return 0;
	words = osp_arena_copy(&groups->arena, text, strlen(text));
	if (!words)
		return osp_error_set(error, "out of memory");
	while ((word = strsep(&words, BLANKS))) {
		if (*word && read_group(&reading, word))
			return -1;
	}
	return 0;
}

void osp_launch_groups_free(struct osp_launch_groups *groups)
{
	osp_name_table_free(&groups->nodes);
	free(groups->names);
	osp_arena_free(&groups->arena);
}

const char *osp_launch_groups_node(const struct osp_launch_groups *groups, uint32_t number)
{
	return number < groups->name_count ? groups->names[number] : NULL;
}

uint32_t osp_launch_groups_of(const struct osp_launch_groups *groups, const char *node)
{
	return osp_name_table_find(&groups->nodes, 0, node);
}
