/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_memory.c - what one call remembers for a later one, under Slurm's node write lock
 *
 * Nothing here outlives slurmctld, and nothing has to: a preemption that is forgotten may begin
 * again elsewhere, and advice is only told.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/policy/words.h"

/* Jobs whose preemption has begun, and where; the oldest is overwritten. */
#define STICKY_MAX 256

/* A preemption is over when its jobs had this long to end: KillWait (default 30 s) and
 * MessageTimeout (10 s) several times over. */
#define STICKY_S 300

struct sticky {
	uint32_t job_id;
	uint32_t domain;
	time_t since;
};

static struct sticky sticky_table[STICKY_MAX];
static size_t sticky_next;

uint32_t shadow_sticky_domain(uint32_t job_id)
{
	time_t now = time(NULL);

	for (size_t i = 0; i < STICKY_MAX; i++) {
		if (sticky_table[i].job_id == job_id && now - sticky_table[i].since < STICKY_S)
			return sticky_table[i].domain;
	}
	return OSP_NO_DOMAIN;
}

void shadow_sticky_forget(uint32_t job_id)
{
	for (size_t i = 0; i < STICKY_MAX; i++) {
		if (sticky_table[i].job_id == job_id)
			sticky_table[i].job_id = 0;
	}
}

void shadow_sticky_clear(void)
{
	memset(sticky_table, 0, sizeof(sticky_table));
}

void shadow_sticky_remember(uint32_t job_id, uint32_t domain)
{
	if (shadow_sticky_domain(job_id) == domain)
		return;
	shadow_sticky_forget(job_id);
	sticky_table[sticky_next] = (struct sticky){job_id, domain, time(NULL)};
	sticky_next = (sticky_next + 1) % STICKY_MAX;
}

/* What enforcing would have done with the last job that was only advised. */
static struct {
	uint32_t job_id;
	char words[OSP_WORDS_BYTES + 64];
} advice;

void shadow_advice_remember(uint32_t job_id, const char *words)
{
	advice.job_id = job_id;
	snprintf(advice.words, sizeof(advice.words), "%s", words);
}

const char *shadow_advice(uint32_t job_id)
{
	return advice.job_id == job_id && advice.words[0] ? advice.words : NULL;
}
