/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_exclude.c - the nodes that a job does not get again: its suspects and its user's
 * exclusions */
#include "lib/gate/gate_exclude.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hostlist.h"

enum { TAG_SUSPECT, TAG_USERS };

static int add(struct osp_gate_name_list *list, struct osp_name_table *known, uint32_t tag,
	       const char *name)
{
	size_t room = list->room ? 2 * list->room : 64;
	char *copy, **names;

	if (osp_name_table_find(known, tag, name) != OSP_NAME_ABSENT)
		return 0;
	if (list->count == list->room) {
		names = realloc(list->names, room * sizeof(*names));
		if (!names)
			return -1;
		list->names = names;
		list->room = room;
	}
	copy = strdup(name);
	if (!copy || osp_name_table_add(known, tag, copy, (uint32_t)list->count)) {
		free(copy);
		return -1;
	}
	list->names[list->count++] = copy;
	return 0;
}

int osp_gate_exclude_suspect(struct osp_gate_exclusion *exclusion, const char *name)
{
	return add(&exclusion->suspects, &exclusion->known, TAG_SUSPECT, name);
}

static int add_suspect(const char *name, void *context)
{
	return osp_gate_exclude_suspect(context, name);
}

int osp_gate_exclude_suspects(struct osp_gate_exclusion *exclusion, const char *list,
			      struct osp_error *error)
{
	return osp_hostlist_expand(list, add_suspect, exclusion, error);
}

/* Returns the index of a name that is still a suspect, or OSP_NAME_ABSENT. */
static uint32_t suspect_at(const struct osp_gate_exclusion *exclusion, const char *name)
{
	uint32_t at = osp_name_table_find(&exclusion->known, TAG_SUSPECT, name);

	return at != OSP_NAME_ABSENT && at >= exclusion->forgotten ? at : OSP_NAME_ABSENT;
}

static int add_users(const char *name, void *context)
{
	struct osp_gate_exclusion *exclusion = context;

	if (suspect_at(exclusion, name) != OSP_NAME_ABSENT)
		return 0;
	return add(&exclusion->users, &exclusion->known, TAG_USERS, name);
}

int osp_gate_exclude_users(struct osp_gate_exclusion *exclusion, const char *list)
{
	return osp_hostlist_expand(list, add_users, exclusion, NULL);
}

const char *const *osp_gate_exclude_left(const struct osp_gate_exclusion *exclusion, size_t *count)
{
	*count = exclusion->suspects.count - exclusion->forgotten;
	return *count ? (const char *const *)exclusion->suspects.names + exclusion->forgotten
		      : NULL;
}

struct count {
	const struct osp_gate_exclusion *exclusion;
	bool *gives; /* by suspect: if it is forgotten, the partition has one node more */
	uint32_t left;
};

static int count_node(const char *name, void *context)
{
	struct count *count = context;
	uint32_t at;

	if (osp_name_table_find(&count->exclusion->known, TAG_USERS, name) != OSP_NAME_ABSENT)
		return 0;
	at = suspect_at(count->exclusion, name);
	if (at == OSP_NAME_ABSENT)
		count->left++;
	else
		count->gives[at] = true;
	return 0;
}

int osp_gate_exclude_fit(struct osp_gate_exclusion *exclusion, const char *partition,
			 uint32_t needed, size_t *given_back)
{
	struct count count = {.exclusion = exclusion};
	size_t at = exclusion->forgotten;
	int code;

	*given_back = 0;
	count.gives = calloc(exclusion->suspects.count + 1, sizeof(*count.gives));
	if (!count.gives)
		return -1;
	code = osp_hostlist_expand(partition, count_node, &count, NULL);
	for (; !code && count.left < needed && at < exclusion->suspects.count; at++)
		count.left += count.gives[at];
	free(count.gives);
	if (code)
		return -1;
	*given_back = at - exclusion->forgotten;
	exclusion->forgotten = at;
	return 0;
}

char *osp_gate_exclude_write(const struct osp_gate_exclusion *exclusion)
{
	size_t left, users = exclusion->users.count;
	const char *const *suspects = osp_gate_exclude_left(exclusion, &left);
	const char **all = malloc((users + left + 1) * sizeof(*all));
	char *list;

	if (!all)
		return NULL;
	for (size_t i = 0; i < users; i++)
		all[i] = exclusion->users.names[i];
	for (size_t i = 0; i < left; i++)
		all[users + i] = suspects[i];
	list = osp_hostlist_compact(all, users + left);
	free(all);
	return list;
}

static void free_list(struct osp_gate_name_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->names[i]);
	free(list->names);
}

void osp_gate_exclude_free(struct osp_gate_exclusion *exclusion)
{
	osp_name_table_free(&exclusion->known);
	free_list(&exclusion->suspects);
	free_list(&exclusion->users);
	memset(exclusion, 0, sizeof(*exclusion));
}
