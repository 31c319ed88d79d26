/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_readback.c - does Slurm itself read each field where this build writes it?
 *
 * The shadow writes a value of its own into each field of a record, lets Slurm describe the record
 * as for `scontrol show` (pack_job(), pack_one_node(), pack_part()), reads the description with
 * Slurm's library into the public structures of slurm.h, and compares. What it wrote into a node
 * and a partition is taken back before anybody else can see it: slurmctld is starting, and holds
 * its locks. A job is one that nobody else knows.
 *
 * Where a number lies in which Slurm has a pointer, its functions fault. That is caught, so that
 * slurmctld says why it does not start.
 *
 * doc/slurm-versions.md names the fields that Slurm describes to nobody.
 */
#include "sched/shadow.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "src/common/assoc_mgr.h"
#include "src/common/pack.h"
#include "src/common/slurm_protocol_defs.h"
#include "src/common/slurm_protocol_pack.h"

#define FIELD(what, record, member, description, shown, of_kind)                                   \
	{                                                                                          \
		.offset = offsetof(record, member), .bytes = sizeof(((record *)NULL)->member),     \
		.shown_offset = offsetof(description, shown),                                      \
		.shown_bytes = sizeof(((description *)NULL)->shown), .of = what, .kind = of_kind,  \
		.name = #member,                                                                   \
	}

#define JOB_FIELD(member, shown, kind)                                                             \
	FIELD(SHADOW_JOB, job_record_t, member, slurm_job_info_t, shown, kind)
#define DETAIL(member, shown, kind)                                                                \
	FIELD(SHADOW_DETAILS, __typeof__(*((job_record_t *)NULL)->details), member,                \
	      slurm_job_info_t, shown, kind)
#define NODE_FIELD(member, shown, kind)                                                            \
	FIELD(SHADOW_NODE, node_record_t, member, node_info_t, shown, kind)
#define CONFIG_FIELD(member, shown, kind)                                                          \
	FIELD(SHADOW_CONFIG, config_record_t, member, node_info_t, shown, kind)
#define PARTITION_FIELD(member, shown, kind)                                                       \
	FIELD(SHADOW_PARTITION, part_record_t, member, partition_info_t, shown, kind)

/* volatile, so that a test can change an offset in the file. */
const volatile struct shadow_field shadow_fields[] = {
	JOB_FIELD(admin_comment, admin_comment, SHADOW_TEXT),
	JOB_FIELD(array_job_id, array_job_id, SHADOW_NUMBER),
	JOB_FIELD(batch_flag, batch_flag, SHADOW_NUMBER),
	JOB_FIELD(bit_flags, bitflags, SHADOW_NUMBER),
	JOB_FIELD(cpus_per_tres, cpus_per_tres, SHADOW_TEXT),
	JOB_FIELD(end_time, end_time, SHADOW_END),
#if OSP_HAVE_EXTRA_CONSTRAINTS
	JOB_FIELD(extra, extra, SHADOW_TEXT),
#endif
	JOB_FIELD(group_id, group_id, SHADOW_NUMBER),
	JOB_FIELD(het_job_id, het_job_id, SHADOW_NUMBER),
	JOB_FIELD(het_job_offset, het_job_offset, SHADOW_NUMBER),
#if OSP_JOB_ID_IS_SHOWN
	JOB_FIELD(job_id, job_id, SHADOW_NUMBER),
#endif
	JOB_FIELD(last_sched_eval, last_sched_eval, SHADOW_NUMBER),
	JOB_FIELD(licenses, licenses, SHADOW_TEXT),
	JOB_FIELD(mcs_label, mcs_label, SHADOW_TEXT),
	JOB_FIELD(node_bitmap, node_inx, SHADOW_SET),
	JOB_FIELD(partition, partition, SHADOW_TEXT),
	JOB_FIELD(preempt_time, preempt_time, SHADOW_NUMBER),
	JOB_FIELD(priority, priority, SHADOW_NUMBER),
	JOB_FIELD(reboot, reboot, SHADOW_NUMBER),
	JOB_FIELD(req_switch, req_switch, SHADOW_NUMBER),
	JOB_FIELD(resv_name, resv_name, SHADOW_TEXT),
	JOB_FIELD(start_protocol_ver, start_protocol_ver, SHADOW_NUMBER),
	JOB_FIELD(start_time, start_time, SHADOW_NUMBER),
	JOB_FIELD(state_desc, state_desc, SHADOW_TEXT),
	JOB_FIELD(state_reason, state_reason, SHADOW_NUMBER),
	JOB_FIELD(time_min, time_min, SHADOW_NUMBER),
	JOB_FIELD(tres_bind, tres_bind, SHADOW_TEXT),
	JOB_FIELD(tres_per_job, tres_per_job, SHADOW_TEXT),
	JOB_FIELD(tres_per_node, tres_per_node, SHADOW_TEXT),
	JOB_FIELD(tres_per_socket, tres_per_socket, SHADOW_TEXT),
	JOB_FIELD(tres_per_task, tres_per_task, SHADOW_TEXT),
	JOB_FIELD(user_id, user_id, SHADOW_NUMBER),
	DETAIL(begin_time, eligible_time, SHADOW_NUMBER),
	DETAIL(contiguous, contiguous, SHADOW_NUMBER),
	DETAIL(core_spec, core_spec, SHADOW_NUMBER),
	DETAIL(cpus_per_task, cpus_per_task, SHADOW_NUMBER),
	DETAIL(dependency, dependency, SHADOW_TEXT),
	DETAIL(exc_node_bitmap, exc_node_inx, SHADOW_SET),
	DETAIL(exc_nodes, exc_nodes, SHADOW_TEXT),
	DETAIL(features, features, SHADOW_TEXT),
	DETAIL(max_cpus, max_cpus, SHADOW_NUMBER),
	DETAIL(max_nodes, max_nodes, SHADOW_NUMBER),
	DETAIL(min_cpus, num_cpus, SHADOW_NUMBER),
	DETAIL(min_nodes, num_nodes, SHADOW_NUMBER),
	DETAIL(ntasks_per_node, ntasks_per_node, SHADOW_NUMBER),
	DETAIL(ntasks_per_tres, ntasks_per_tres, SHADOW_NUMBER),
	DETAIL(num_tasks, num_tasks, SHADOW_NUMBER),
	DETAIL(pn_min_cpus, pn_min_cpus, SHADOW_NUMBER),
	DETAIL(pn_min_memory, pn_min_memory, SHADOW_NUMBER),
	DETAIL(prefer, prefer, SHADOW_TEXT),
	DETAIL(req_node_bitmap, req_node_inx, SHADOW_SET),
	DETAIL(req_nodes, req_nodes, SHADOW_TEXT),
	DETAIL(requeue, requeue, SHADOW_NUMBER),
	DETAIL(submit_time, submit_time, SHADOW_NUMBER),
	NODE_FIELD(boot_time, boot_time, SHADOW_NUMBER),
	NODE_FIELD(cpus_efctv, cpus_efctv, SHADOW_NUMBER),
	NODE_FIELD(last_busy, last_busy, SHADOW_NUMBER),
	NODE_FIELD(mem_spec_limit, mem_spec_limit, SHADOW_NUMBER),
	NODE_FIELD(name, name, SHADOW_OWN_TEXT),
	NODE_FIELD(node_state, node_state, SHADOW_OWN_NUMBER),
	CONFIG_FIELD(weight, weight, SHADOW_NUMBER),
	PARTITION_FIELD(cr_type, cr_type, SHADOW_NUMBER),
	PARTITION_FIELD(max_share, max_share, SHADOW_NUMBER),
	PARTITION_FIELD(name, name, SHADOW_OWN_TEXT),
	PARTITION_FIELD(node_bitmap, node_inx, SHADOW_OWN_SET),
	PARTITION_FIELD(preempt_mode, preempt_mode, SHADOW_NUMBER),
	PARTITION_FIELD(priority_tier, priority_tier, SHADOW_NUMBER),
	{.of = SHADOW_RECORDS},
};

#define FIELDS_MAX (sizeof(shadow_fields) / sizeof(shadow_fields[0]))
#define SET_BITS   64

static const char *const record_names[SHADOW_RECORDS] = {
	[SHADOW_JOB] = "job's",	    [SHADOW_DETAILS] = "job's",		[SHADOW_NODE] = "node's",
	[SHADOW_CONFIG] = "node's", [SHADOW_PARTITION] = "partition's",
};

/* The records that one description is of, and what their fields held. */
struct readback {
	void *record[SHADOW_RECORDS]; /* NULL: not of this description */
	uint64_t before[FIELDS_MAX];
	char texts[FIELDS_MAX][16];
	bitstr_t *sets[FIELDS_MAX];
};

/* Returns whether a field is one of the records, and copies it. */
static bool field_at(const struct readback *readback, size_t i, struct shadow_field *field)
{
	*field = shadow_fields[i];
	return field->of < SHADOW_RECORDS && readback->record[field->of];
}

/*
 * Returns a number for a field, which no other field of its size has. Times are in the twenty-third
 * century, because Slurm describes no start in the past, and no end before start and time limit.
 */
static uint64_t number_for(size_t i, const struct shadow_field *field)
{
	if (field->kind == SHADOW_END)
		return (UINT64_C(1) << 34) + i;
	return (field->bytes == 1   ? 100
		: field->bytes == 2 ? 1000
		: field->bytes == 4 ? 40000
				    : UINT64_C(1) << 33) +
	       i;
}

static uint64_t number_in(const void *from, size_t bytes)
{
	uint64_t number = 0;

	memcpy(&number, from, bytes); /* both machines that we build for begin with the low byte */
	return number;
}

/* Writes a value of its own into each field of the records. */
static void write_fields(struct readback *readback)
{
	struct shadow_field field;
	const void *pointer;
	uint64_t value;

	for (size_t i = 0; i < FIELDS_MAX; i++) {
		if (!field_at(readback, i, &field))
			continue;
		char *place = (char *)readback->record[field.of] + field.offset;

		memcpy(&readback->before[i], place, field.bytes);
		snprintf(readback->texts[i], sizeof(readback->texts[i]), "onespine %zu", i);
		if (field.kind == SHADOW_NUMBER || field.kind == SHADOW_END) {
			value = number_for(i, &field);
			memcpy(place, &value, field.bytes);
		} else if (field.kind == SHADOW_TEXT) {
			pointer = readback->texts[i];
			memcpy(place, &pointer, sizeof(pointer));
		} else if (field.kind == SHADOW_SET) {
			readback->sets[i] = bit_alloc(SET_BITS);
			bit_set(readback->sets[i], (bitoff_t)(i % SET_BITS));
			memcpy(place, &readback->sets[i], sizeof(readback->sets[i]));
		}
	}
}

static void restore_fields(struct readback *readback)
{
	struct shadow_field field;

	for (size_t i = 0; i < FIELDS_MAX; i++) {
		if (!field_at(readback, i, &field))
			continue;
		memcpy((char *)readback->record[field.of] + field.offset, &readback->before[i],
		       field.bytes);
		FREE_NULL_BITMAP(readback->sets[i]);
	}
}

/* Returns whether Slurm's list of a set's ranges begins with this member; -1: the set is empty. */
static bool begins_with(const int32_t *ranges, int64_t first)
{
	return first < 0 ? !ranges || ranges[0] < 0 : ranges && ranges[0] == first;
}

static bool is_shown(const struct readback *readback, size_t i, const struct shadow_field *field,
		     const void *description)
{
	const char *shown = (const char *)description + field->shown_offset;
	const void *pointer = NULL;
	bitstr_t *own;
	char *text;

	if (field->kind == SHADOW_NUMBER || field->kind == SHADOW_END)
		return number_in(shown, field->shown_bytes) == number_for(i, field);
	if (field->kind == SHADOW_OWN_NUMBER)
		return number_in(shown, field->shown_bytes) == readback->before[i];
	memcpy(&pointer, shown, sizeof(pointer));
	if (field->kind == SHADOW_TEXT)
		return pointer && !strcmp(pointer, readback->texts[i]);
	if (field->kind == SHADOW_SET)
		return begins_with(pointer, (int64_t)(i % SET_BITS));
	if (field->kind == SHADOW_OWN_SET) {
		memcpy(&own, &readback->before[i], sizeof(own));
		return begins_with(pointer, own ? bit_ffs(own) : -1);
	}
	memcpy(&text, &readback->before[i], sizeof(text));
	return pointer && text && !strcmp(pointer, text);
}

/* Compares what Slurm says of the records with what is in them. */
static bool compare(const struct readback *readback, const void *description, char *why,
		    size_t why_bytes)
{
	struct shadow_field field;

	for (size_t i = 0; i < FIELDS_MAX; i++) {
		if (!field_at(readback, i, &field) || is_shown(readback, i, &field, description))
			continue;
		snprintf(why, why_bytes, "it reads a %s %s elsewhere", record_names[field.of],
			 field.name);
		return false;
	}
	return true;
}

/* Frees the texts of a description: Slurm's own function leaves two of them on 22.05, admin_comment
 * and prefer (slurm_free_job_info_members() in slurm_protocol_defs.c). */
static void free_texts(const struct readback *readback, void *description)
{
	struct shadow_field field;
	char *text, *place;

	for (size_t i = 0; i < FIELDS_MAX; i++) {
		if (!field_at(readback, i, &field) || field.kind != SHADOW_TEXT)
			continue;
		place = (char *)description + field.shown_offset;
		memcpy(&text, place, sizeof(text));
		xfree(text); /* sets it to NULL */
		memcpy(place, &text, sizeof(text));
	}
}

/* --- Slurm's functions, whose faults are caught ----------------------------------------------- */

static sigjmp_buf before_fault;
static pthread_t looking;

/* Catches a fault of this thread; one in another thread ends slurmctld, as without this. */
static void at_fault(int number)
{
	if (pthread_equal(pthread_self(), looking))
		siglongjmp(before_fault, 1);
	signal(number, SIG_DFL);
	raise(number);
}

/* Returns false if the function faulted. */
static bool without_fault(void (*function)(void *), void *context)
{
	struct sigaction ours = {.sa_handler = at_fault}, segv, bus;
	volatile bool ends = false;

	sigemptyset(&ours.sa_mask);
	looking = pthread_self();
	sigaction(SIGSEGV, &ours, &segv);
	sigaction(SIGBUS, &ours, &bus);
	if (sigsetjmp(before_fault, 1) == 0) {
		function(context);
		ends = true;
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	return ends;
}

/* What is to be packed, and where. */
struct packing {
	void *record;
	buf_t *buffer;
};

static void pack_the_job(void *context)
{
	struct packing *packing = context;

	pack32(1, packing->buffer);
	pack_time(0, packing->buffer);
	pack_time(0, packing->buffer);
	pack_job(packing->record, 0, packing->buffer, SLURM_PROTOCOL_VERSION, 0, true);
}

static void pack_the_node(void *context)
{
	struct packing *packing = context;

	packing->buffer = OSP_PACK_ONE_NODE(((node_record_t *)packing->record)->name);
}

static void pack_the_partition(void *context)
{
	struct packing *packing = context;

	pack32(1, packing->buffer);
	pack_time(0, packing->buffer);
	pack_part(packing->record, packing->buffer, SLURM_PROTOCOL_VERSION);
}

/* Reads what Slurm has packed for a client. NULL: Slurm's own library cannot. Frees the buffer. */
static void *unpack(uint16_t type, buf_t *buffer)
{
	slurm_msg_t message;
	int rc;

	slurm_msg_t_init(&message);
	message.msg_type = type;
	message.protocol_version = SLURM_PROTOCOL_VERSION;
	set_buf_offset(buffer, 0);
	rc = unpack_msg(&message, buffer);
	free_buf(buffer);
	return rc == SLURM_SUCCESS ? message.data : NULL;
}

/* Returns what Slurm says of a record; NULL with `why`: nothing that can be read. */
static void *describe(struct packing packing, void (*pack)(void *), uint16_t type, const char *what,
		      char *why, size_t why_bytes)
{
	void *info = NULL;

	if (without_fault(pack, &packing)) {
		info = unpack(type, packing.buffer);
		if (!info)
			snprintf(why, why_bytes, "its own library cannot read what it says of a %s",
				 what);
	} else {
		snprintf(why, why_bytes, "it faults when it reads a %s as this build writes it",
			 what);
		FREE_NULL_BUFFER(packing.buffer); /* the fault was in reading the record */
	}
	return info;
}

bool shadow_reads_back_job(job_record_t *job, part_record_t *partition, char *why, size_t why_bytes)
{
	struct readback readback = {
		.record = {[SHADOW_JOB] = job, [SHADOW_DETAILS] = job->details}};
	assoc_mgr_lock_t locks = {.qos = READ_LOCK};
	const struct packing packing = {job, init_buf(BUF_SIZE)};
	job_info_msg_t *info;
	bool fits;

	write_fields(&readback);
	job->part_ptr = partition;
	job->time_limit = NO_VAL; /* Slurm names the partition's instead */
	assoc_mgr_lock(&locks);
	info = describe(packing, pack_the_job, RESPONSE_JOB_INFO, "job", why, why_bytes);
	assoc_mgr_unlock(&locks);
	fits = info && compare(&readback, info->job_array, why, why_bytes);
	if (fits && info->job_array[0].time_limit != partition->max_time) {
		snprintf(why, why_bytes, "it reads a job's part_ptr elsewhere");
		fits = false;
	}
	if (info)
		free_texts(&readback, info->job_array);
	slurm_free_job_info_msg(info);
	job->part_ptr = NULL;
	restore_fields(&readback);
	return fits;
}

bool shadow_reads_back_node(node_record_t *node, char *why, size_t why_bytes)
{
	struct readback readback = {
		.record = {[SHADOW_NODE] = node, [SHADOW_CONFIG] = node->config_ptr}};
	const struct packing packing = {.record = node};
	node_info_msg_t *info;
	bool fits;

	write_fields(&readback);
	info = describe(packing, pack_the_node, RESPONSE_NODE_INFO, "node", why, why_bytes);
	/* a node that is in no use yet is described to nobody */
	fits = info &&
	       (info->record_count == 0 || compare(&readback, info->node_array, why, why_bytes));
	slurm_free_node_info_msg(info);
	restore_fields(&readback);
	return fits;
}

bool shadow_reads_back_partition(part_record_t *partition, char *why, size_t why_bytes)
{
	struct readback readback = {.record = {[SHADOW_PARTITION] = partition}};
	const struct packing packing = {partition, init_buf(BUF_SIZE)};
	partition_info_msg_t *info;
	bool fits;

	write_fields(&readback);
	info = describe(packing, pack_the_partition, RESPONSE_PARTITION_INFO, "partition", why,
			why_bytes);
	fits = info && compare(&readback, info->partition_array, why, why_bytes);
	slurm_free_partition_info_msg(info);
	restore_fields(&readback);
	return fits;
}
