/* SPDX-License-Identifier: GPL-2.0-or-later */
/* block_end.c - when EC2 takes the instances of a Capacity Block back, and what has to change */
#include "lib/cloud/block_end.h"

#include <string.h>

/* The instance types of which UltraServers consist. */
static const char *const ultraserver_types[] = {"p6e-", "trn2u.", "trn3"};

int64_t osp_block_end_jobs_s(int64_t ends_s, const char *type)
{
	for (size_t i = 0; i < sizeof(ultraserver_types) / sizeof(*ultraserver_types); i++)
		if (!strncmp(type, ultraserver_types[i], strlen(ultraserver_types[i])))
			return ends_s - OSP_BLOCK_END_ULTRASERVER_S;
	return ends_s - OSP_BLOCK_END_S;
}

bool osp_block_end_is_id(const char *id)
{
	size_t digits;

	if (strncmp(id, "cr-", 3) != 0)
		return false;
	digits = strspn(id + 3, "0123456789abcdef");
	return digits >= 1 && digits <= 32 && !id[3 + digits];
}

const char *osp_block_end_of(const char *reservation_name)
{
	const char *id = reservation_name + strlen(OSP_BLOCK_RESERVATION_PREFIX);

	return !strncmp(reservation_name, OSP_BLOCK_RESERVATION_PREFIX,
			strlen(OSP_BLOCK_RESERVATION_PREFIX)) &&
			       osp_block_end_is_id(id)
		       ? id
		       : NULL;
}

static bool is_same_start(int64_t a_s, int64_t b_s, int64_t now_s)
{
	if (a_s <= now_s && b_s <= now_s)
		return true;
	return a_s - b_s <= OSP_BLOCK_END_SLACK_S && b_s - a_s <= OSP_BLOCK_END_SLACK_S;
}

bool osp_block_end_lasts(const struct osp_block_word *word, int64_t now_s)
{
	if (word->nodes_here || word->unanswered)
		return true;
	return word->reported && (!word->ends_s || word->ends_s > now_s);
}

enum osp_block_step osp_block_end_step(const struct osp_block_end *wanted,
				       const struct osp_block_end *reserved, size_t reserved_count,
				       int64_t now_s, size_t *kept)
{
	*kept = SIZE_MAX;
	for (size_t i = 0; i < reserved_count && *kept == SIZE_MAX; i++)
		if (!strcmp(reserved[i].id, wanted->id))
			*kept = i;
	if (*kept == SIZE_MAX)
		return OSP_BLOCK_MAKE;
	if (!is_same_start(reserved[*kept].from_s, wanted->from_s, now_s))
		return reserved[*kept].from_s <= now_s ? OSP_BLOCK_MAKE_ANEW : OSP_BLOCK_CHANGE;
	return strcmp(reserved[*kept].nodes, wanted->nodes) ? OSP_BLOCK_CHANGE : OSP_BLOCK_KEEP;
}

bool osp_block_end_is_left(const struct osp_block_end *reserved, const struct osp_block_end *wanted,
			   size_t wanted_count)
{
	for (size_t i = 0; i < wanted_count; i++)
		if (!strcmp(reserved->id, wanted[i].id))
			return false;
	return true;
}
