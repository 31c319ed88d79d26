/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_stopped.c - remembers at which node a pass over nodes stopped, so that the next call goes
 * on there
 *
 * A pass over many nodes takes many cycles of backfill, which may be minutes apart.
 */
#include "sched/shadow.h"

#if OSP_ONE_NODE_ADDS_UP

/* If the table is full, a new entry replaces the oldest one. */
#define STOPPED_MAX   1024
#define STOPPED_FOR_S 1800

static struct stopped {
	uint64_t asked; /* 0: not in use */
	int64_t at_s;
	struct shadow_stopped where;
} stopped[STOPPED_MAX];

static struct stopped *find(uint64_t asked)
{
	int64_t since_s = time(NULL) - STOPPED_FOR_S;

	for (int i = 0; i < STOPPED_MAX; i++) {
		if (stopped[i].asked == asked && stopped[i].at_s > since_s)
			return &stopped[i];
	}
	return NULL;
}

static struct stopped *longest_ago(void)
{
	struct stopped *found = &stopped[0];

	for (int i = 1; i < STOPPED_MAX; i++) {
		if (stopped[i].at_s < found->at_s)
			found = &stopped[i];
	}
	return found;
}

bool shadow_stopped_at(uint64_t asked, struct shadow_stopped *where)
{
	const struct stopped *found = find(asked);

	if (found)
		*where = found->where;
	return found != NULL;
}

bool shadow_stopped_take(uint64_t asked, struct shadow_stopped *where)
{
	struct stopped *found = find(asked);

	if (!found)
		return false;
	*where = found->where;
	*found = (struct stopped){.asked = 0};
	return true;
}

void shadow_stopped_note(uint64_t asked, const struct shadow_stopped *where)
{
	struct stopped *found = find(asked);

	*(found ? found : longest_ago()) = (struct stopped){asked, time(NULL), *where};
}

#endif
