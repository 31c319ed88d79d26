/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_rows.c - reads which jobs Slurm's plugin counts from its own tables
 *
 * select/cons_tres has rows for each partition, and in a row jobs that share no processor
 * (part_data.c). If a job fits no row when it is added (job_resources.c: "job overflow: could not
 * find idle resources"), it runs, and its processors count as free until it is added again. That
 * happens after a person suspended it, others started on its processors, and it was resumed, and
 * after a restart, when another of the jobs may be the one that fits no more. A job of another
 * partition has other rows, so both are in some, and the processors that they share count once.
 */
#include "sched/shadow.h"

#include <stdlib.h>

/* The jobs of all rows by address, for questions about many jobs; NULL: none were listed. */
static const job_resources_t **listed;
static size_t listed_count;

static part_res_record_t *first_table(void)
{
	return &select_part_record ? select_part_record : NULL;
}

static const part_res_record_t *table_of(const part_record_t *partition)
{
	const part_res_record_t *table = partition ? first_table() : NULL;

	while (table && table->part_ptr != partition)
		table = table->next;
	return table;
}

static int by_address(const void *a, const void *b)
{
	uintptr_t one = (uintptr_t) * (const job_resources_t *const *)a;
	uintptr_t other = (uintptr_t) * (const job_resources_t *const *)b;

	return (one > other) - (one < other);
}

/* Writes the jobs of all rows to `jobs`, unless it is NULL. Returns how many they are. */
static size_t jobs_of_rows(const job_resources_t **jobs)
{
	size_t count = 0;

	for (const part_res_record_t *table = first_table(); table; table = table->next) {
		for (uint32_t r = 0; table->row && r < table->num_rows; r++) {
			const part_row_data_t *row = &table->row[r];

			for (uint32_t i = 0; jobs && i < row->num_jobs; i++)
				jobs[count + i] = row->job_list[i];
			count += row->num_jobs;
		}
	}
	return count;
}

void shadow_rows_list(void)
{
	shadow_rows_forget();
	listed = calloc(jobs_of_rows(NULL) + 1, sizeof(*listed));
	if (!listed)
		return;
	listed_count = jobs_of_rows(listed);
	qsort(listed, listed_count, sizeof(*listed), by_address);
}

void shadow_rows_forget(void)
{
	free(listed);
	listed = NULL;
	listed_count = 0;
}

/* A job that was just added is the last one of its row. */
static bool row_has(const part_row_data_t *row, const job_resources_t *resources)
{
	for (uint32_t i = row->num_jobs; i--;) {
		if (row->job_list[i] == resources)
			return true;
	}
	return false;
}

static bool table_has(const part_res_record_t *table, const job_resources_t *resources)
{
	for (uint32_t r = 0; table->row && r < table->num_rows; r++) {
		if (row_has(&table->row[r], resources))
			return true;
	}
	return false;
}

bool shadow_rows_say(const job_record_t *job, bool *counts)
{
	const job_resources_t *resources = job->job_resrcs;
	const part_res_record_t *table = resources ? table_of(job->part_ptr) : NULL;

	if (!table)
		return false;
	*counts = listed ? bsearch(&resources, listed, listed_count, sizeof(*listed), by_address) !=
				   NULL
			 : table_has(table, resources);
	return true;
}

/* Returns how many rows of a table hold a processor that the job has too. */
static uint32_t rows_in_the_way(const part_res_record_t *table, job_resources_t *resources)
{
	uint32_t rows = 0;

	for (uint32_t r = 0; table->row && r < table->num_rows; r++)
		rows += !job_res_fit_in_row(resources, &table->row[r]);
	return rows;
}

bool shadow_rows_overlap(const job_record_t *job)
{
	const part_res_record_t *own = job->job_resrcs ? table_of(job->part_ptr) : NULL;

	for (part_res_record_t *table = own ? first_table() : NULL; table; table = table->next) {
		/* of its own partition one row is the job's */
		if (rows_in_the_way(table, job->job_resrcs) > (table == own))
			return true;
	}
	return false;
}
