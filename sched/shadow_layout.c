/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_layout.c - are Slurm's records laid out as in the headers of this build?
 *
 * Slurm loads a plugin of its own version, to the micro, but a version says nothing of a patch or
 * of an option of configure. Slurm's allocator knows how large each record really is, and records
 * carry marks; both are compared with the headers'. Then Slurm's own functions read the fields
 * (shadow_readback.c). The compiler checks that the headers have the members that we read and
 * write, with their types.
 */
#include "sched/shadow.h"

#include <stdio.h>

#define FIELD_IS(record, field, type)                                                              \
	_Static_assert(__builtin_types_compatible_p(__typeof__(((record *)NULL)->field), type),    \
		       #record "." #field " is no " #type)

FIELD_IS(job_record_t, admin_comment, char *);
FIELD_IS(job_record_t, best_switch, bool);
FIELD_IS(job_record_t, bit_flags, uint64_t);
FIELD_IS(job_record_t, end_time, time_t);
FIELD_IS(job_record_t, job_id, uint32_t);
FIELD_IS(job_record_t, last_sched_eval, time_t);
FIELD_IS(job_record_t, node_bitmap, bitstr_t *);
FIELD_IS(job_record_t, part_ptr, part_record_t *);
FIELD_IS(job_record_t, priority, uint32_t);
FIELD_IS(job_record_t, spank_job_env, char **);
FIELD_IS(job_record_t, spank_job_env_size, uint32_t);
FIELD_IS(job_record_t, start_time, time_t);
FIELD_IS(job_record_t, state_reason, uint32_t);
FIELD_IS(job_record_t, time_min, uint32_t);
FIELD_IS(job_record_t, total_cpus, uint32_t);
FIELD_IS(job_record_t, user_id, uint32_t);
FIELD_IS(job_record_t, details->begin_time, time_t);
FIELD_IS(job_record_t, details->exc_node_bitmap, bitstr_t *);
FIELD_IS(job_record_t, details->exc_nodes, char *);
FIELD_IS(job_record_t, details->min_cpus, uint32_t);
FIELD_IS(job_record_t, details->min_nodes, uint32_t);
FIELD_IS(job_record_t, details->ntasks_per_node, uint16_t);
FIELD_IS(job_record_t, details->num_tasks, uint32_t);
FIELD_IS(job_record_t, details->overcommit, uint8_t);
FIELD_IS(job_record_t, details->pn_min_memory, uint64_t);
FIELD_IS(job_record_t, details->req_node_bitmap, bitstr_t *);
FIELD_IS(job_record_t, details->req_nodes, char *);
FIELD_IS(job_record_t, details->submit_time, time_t);
FIELD_IS(node_record_t, config_ptr, config_record_t *);
FIELD_IS(node_record_t, cpus_efctv, uint16_t);
FIELD_IS(node_record_t, name, char *);
FIELD_IS(node_record_t, node_state, uint32_t);
FIELD_IS(part_record_t, max_share, uint16_t);
FIELD_IS(part_record_t, name, char *);
FIELD_IS(part_record_t, node_bitmap, bitstr_t *);

/* volatile, so that a test can change a size in the file. */
const volatile struct shadow_layout shadow_layout = {
	.node_bytes = sizeof(node_record_t),
	.config_bytes = sizeof(config_record_t),
	.partition_bytes = sizeof(part_record_t),
	.job_bytes = sizeof(job_record_t),
	.details_bytes = sizeof(*((job_record_t *)NULL)->details),
};

/* Returns the size of a record. xsize() takes no pointer to const in any release; it only reads. */
static uint64_t bytes_of(const void *record)
{
	return xsize((void *)(uintptr_t)record);
}

static bool is(const char *what, uint64_t bytes, uint64_t built, bool marked, char *why,
	       size_t why_bytes)
{
	if (bytes == built && marked)
		return true;
	if (bytes != built)
		snprintf(why, why_bytes, "a %s has %llu bytes and not %llu", what,
			 (unsigned long long)bytes, (unsigned long long)built);
	else
		snprintf(why, why_bytes, "a %s has its mark elsewhere", what);
	return false;
}

bool shadow_layout_fits_job(const job_record_t *job, char *why, size_t why_bytes)
{
	return is("job", bytes_of(job), shadow_layout.job_bytes, job->magic == JOB_MAGIC, why,
		  why_bytes) &&
	       (!job->details ||
		is("job's details", bytes_of(job->details), shadow_layout.details_bytes,
		   job->details->magic == DETAILS_MAGIC, why, why_bytes));
}

static bool fits_node(node_record_t *node, char *why, size_t why_bytes)
{
	return is("node", bytes_of(node), shadow_layout.node_bytes, node->magic == NODE_MAGIC, why,
		  why_bytes) &&
	       is("node's configuration", bytes_of(node->config_ptr), shadow_layout.config_bytes,
		  node->config_ptr->magic == CONFIG_MAGIC, why, why_bytes) &&
	       shadow_reads_back_node(node, why, why_bytes);
}

static bool fits_partition(part_record_t *partition, char *why, size_t why_bytes)
{
	return is("partition", bytes_of(partition), shadow_layout.partition_bytes,
		  partition->magic == PART_MAGIC, why, why_bytes) &&
	       shadow_reads_back_partition(partition, why, why_bytes);
}

static node_record_t *first_node(void)
{
	node_record_t *node = NULL;

	for (int i = 0; i < node_record_count && !node; i++)
		node = node_record_table_ptr[i];
	return node;
}

/* Returns the default partition, or one of the first node's; NULL: there is none. */
static part_record_t *any_partition(void)
{
	const node_record_t *node = first_node();

	if (default_part_loc)
		return default_part_loc;
	return node && node->part_cnt ? node->part_pptr[0] : NULL;
}

#if OSP_HAVE_JOB_RECORD_CREATE

/* Looks at an empty job record before any job exists. */
static bool fits_new_job(char *why, size_t why_bytes)
{
	part_record_t *partition = any_partition();
	job_record_t *job = job_record_create();
	bool fits = shadow_layout_fits_job(job, why, why_bytes) &&
		    (!partition || shadow_reads_back_job(job, partition, why, why_bytes));

	if (fits)
		job_record_delete(job);
	return fits;
}

#else

/* Zeroes after a job of ours, in case Slurm's has more bytes and it looks at these. */
#define MORE_BYTES 4096

/* Has the fields of a job of ours read back. */
static bool reads_back(part_record_t *partition, char *why, size_t why_bytes)
{
	job_record_t *job = xmalloc(sizeof(*job) + MORE_BYTES);
	bool fits;

	job->magic = JOB_MAGIC;
	job->details = xmalloc(sizeof(*job->details) + MORE_BYTES);
	job->details->magic = DETAILS_MAGIC;
	fits = shadow_reads_back_job(job, partition, why, why_bytes);
	if (fits) {
		xfree(job->details);
		xfree(job);
	}
	return fits;
}

/* Compares the first job that slurmctld has read from its saved state, as Slurm's library makes
 * none; if there is none, shadow_layout_fits_job() compares the first that comes. */
static bool fits_new_job(char *why, size_t why_bytes)
{
	part_record_t *partition = any_partition();
	job_record_t *job = job_list ? list_peek(job_list) : NULL;

	return (!partition || reads_back(partition, why, why_bytes)) &&
	       (!job || shadow_layout_fits_job(job, why, why_bytes));
}

#endif

bool shadow_layout_fits(char *why, size_t why_bytes)
{
	node_record_t *node = first_node();
	part_record_t *partition = any_partition();

	if (node && !fits_node(node, why, why_bytes))
		return false;
	if (partition && !fits_partition(partition, why, why_bytes))
		return false;
	return fits_new_job(why, why_bytes);
}
