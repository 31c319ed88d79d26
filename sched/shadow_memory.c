/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_memory.c - what a call leaves for the next one, under Slurm's node write lock: the advice,
 * and who was told why it waits, in AdminComment and on the terminal of srun or salloc
 *
 * What is remembered of gangs that are placed, lib/choose remembers.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/base/hash.h"
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

/* --- who was told why it waits ---------------------------------------------------------------- */

/* Each change of an AdminComment makes Slurm pack all jobs anew for whoever asks, so words that
 * backfill's plans change from cycle to cycle are written no more often. */
#define TOLD_FOR_S 300
#define TOLD_MAX   4096

/* When the last of the jobs with that number, modulo TOLD_MAX, was told. */
static int64_t told_s[TOLD_MAX];

bool shadow_is_to_be_told(const job_record_t *job, int64_t now_s)
{
	int64_t last_s = told_s[shadow_lasting_id(job) % TOLD_MAX];

	if (!job->admin_comment || !strstr(job->admin_comment, "; waits: "))
		return true;
	return now_s >= last_s + TOLD_FOR_S || now_s < last_s;
}

void shadow_told_waiting(const job_record_t *job, int64_t now_s)
{
	told_s[shadow_lasting_id(job) % TOLD_MAX] = now_s;
}

/* --- whose srun or salloc was told ------------------------------------------------------------ */

#define HEARD_FOR_S 60
#define HEARD_MAX   1024

/* What the client of the last job with that number, modulo HEARD_MAX, was sent. */
static struct {
	uint32_t job_id;
	uint64_t words;
	int64_t at_s;
} heard[HEARD_MAX];

void shadow_tell_client(job_record_t *job, const char *words, int64_t now_s)
{
	__typeof__(heard[0]) *last = &heard[job->job_id % HEARD_MAX];
	uint64_t hash = osp_hash_words(OSP_HASH_START, words);
	bool soon = now_s < last->at_s + HEARD_FOR_S && now_s >= last->at_s;
	char line[3 * OSP_WORDS_BYTES + 16];

	if (job->batch_flag || !job->other_port || soon ||
	    (last->job_id == job->job_id && last->words == hash))
		return;
	last->job_id = job->job_id;
	last->words = hash;
	last->at_s = now_s;
	snprintf(line, sizeof(line), "onespine: %s", words);
	srun_user_message(job, line);
}
