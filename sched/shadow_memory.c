/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_memory.c - the advice of a call for the next one, under Slurm's node write lock
 *
 * What is remembered of gangs that are placed, lib/choose remembers.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/policy/words.h"

uint32_t shadow_lasting_id(const job_record_t *job)
{
	return job->array_job_id ? job->array_job_id : job->job_id;
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
