/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurmctld.c - a slurmctld that is not there, around the shadow */
#include "tests/fake/slurmctld.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hostlist.h"
#include "src/common/assoc_mgr.h"
#include "src/common/run_in_daemon.h"
#include "src/common/slurm_protocol_pack.h"
#include "src/slurmctld/reservation.h"

struct fake_slurm fake_slurm;

/* --- what slurmctld defines ------------------------------------------------------------------- */

bitstr_t *avail_node_bitmap, *cg_node_bitmap, *idle_node_bitmap, *rs_node_bitmap;
bitstr_t *OSP_POWERED_DOWN_NODES;
part_record_t *default_part_loc;
osp_list_t *job_list;
time_t last_job_update, control_time;
slurmctld_config_t slurmctld_config;
__typeof__(slurmctld_primary) slurmctld_primary;

static part_record_t *partitions[8];
static size_t partition_count;

static int has_id(void *item, void *key)
{
	return ((job_record_t *)item)->job_id == *(uint32_t *)key;
}

static job_record_t *newest_job;

/* As slurmctld's it takes no lock: it is called while job_list is walked. */
job_record_t *find_job_record(uint32_t job_id)
{
	job_record_t *job = job_list ? newest_job : NULL;

	while (job && job->job_id != job_id)
		job = job->job_next;
	return job;
}

part_record_t *find_part_record(char *name)
{
	for (size_t i = 0; i < partition_count; i++) {
		if (!strcmp(partitions[i]->name, name))
			return partitions[i];
	}
	return NULL;
}

static pthread_rwlock_t node_lock = PTHREAD_RWLOCK_INITIALIZER;

void lock_slurmctld(slurmctld_lock_t levels)
{
	if (++fake_slurm.locks == fake_slurm.ends_at_lock)
		slurmctld_config.shutdown_time = time(NULL);
	if (fake_slurm.at_lock)
		fake_slurm.at_lock(fake_slurm.locks);
	if (levels.node == WRITE_LOCK)
		pthread_rwlock_wrlock(&node_lock);
	else if (levels.node == READ_LOCK)
		pthread_rwlock_rdlock(&node_lock);
}

void unlock_slurmctld(slurmctld_lock_t levels)
{
	if (levels.node)
		pthread_rwlock_unlock(&node_lock);
	if (fake_slurm.at_unlock)
		fake_slurm.at_unlock(fake_slurm.locks);
}

/* As Slurm, that puts a job back at once that has no processes. */
static int requeue(job_record_t *job)
{
	if (fake_slurm.requeue_rc)
		return fake_slurm.requeue_rc;
	if (!job->details->requeue)
		return ESLURM_DISABLED;
	fake_slurm.requeues++;
	job->job_state = JOB_PENDING;
	FREE_NULL_BITMAP(job->node_bitmap);
	return SLURM_SUCCESS;
}

#if OSP_SLURM_AT_LEAST(25, 11)
int job_requeue_internal(uid_t uid, job_record_t *job, bool preempt, uint32_t flags)
{
	(void)uid, (void)preempt, (void)flags;
	return requeue(job);
}
#else
int job_requeue(uid_t uid, uint32_t job_id, slurm_msg_t *message, bool preempt, uint32_t flags)
{
	(void)uid, (void)message, (void)preempt, (void)flags;
	return requeue(find_job_record(job_id));
}
#endif

/* --- what Slurm says of its records to clients ------------------------------------------------ */

static const void *packed[SHADOW_RECORDS];

void pack_job(job_record_t *job, uint16_t flags, buf_t *buffer, uint16_t version, uid_t uid,
	      bool has_lock)
{
	(void)flags, (void)buffer, (void)version, (void)uid, (void)has_lock;
	if (fake_slurm.faults)
		raise(SIGSEGV);
	packed[SHADOW_JOB] = job;
	packed[SHADOW_DETAILS] = job->details;
}

void pack_part(part_record_t *partition, buf_t *buffer, uint16_t version)
{
	(void)buffer, (void)version;
	if (fake_slurm.faults)
		raise(SIGBUS);
	packed[SHADOW_PARTITION] = partition;
}

static void pack_node(const char *name)
{
	const node_record_t *node;

	if (fake_slurm.faults)
		raise(SIGSEGV);
	for (int i = 0; i < node_record_count; i++) {
		node = node_record_table_ptr[i];
		if (!node || strcmp(node->name, name) != 0)
			continue;
		packed[SHADOW_NODE] = node;
		packed[SHADOW_CONFIG] = node->config_ptr;
	}
}

#if OSP_SLURM_AT_LEAST(24, 5)
buf_t *pack_one_node(uint16_t flags, uid_t uid, char *name, uint16_t version)
{
	(void)flags, (void)uid, (void)version;
	pack_node(name);
	return init_buf(BUF_SIZE);
}
#else
void pack_one_node(char **bytes, int *count, uint16_t flags, uid_t uid, char *name,
		   uint16_t version)
{
	(void)flags, (void)uid, (void)version;
	pack_node(name);
	*bytes = xmalloc(*count = 16);
}
#endif

/* Copies a field into what clients get. */
static void show(const struct shadow_field *field, void *description)
{
	const char *from = (const char *)packed[field->of] + field->offset;
	char *to = (char *)description + field->shown_offset, *text;
	bitstr_t *set;
	int32_t *ranges;

	switch (field->kind) {
	case SHADOW_TEXT:
	case SHADOW_OWN_TEXT:
		memcpy(&text, from, sizeof(text));
		text = xstrdup(text);
		memcpy(to, &text, sizeof(text));
		break;
	case SHADOW_SET:
	case SHADOW_OWN_SET:
		memcpy(&set, from, sizeof(set));
		ranges = set ? bitstr2inx(set) : NULL;
		memcpy(to, &ranges, sizeof(ranges));
		break;
	default:
		memcpy(to, from,
		       field->bytes < field->shown_bytes ? field->bytes : field->shown_bytes);
	}
}

static void *describe(size_t bytes, enum shadow_record first, enum shadow_record last)
{
	void *description = xmalloc(bytes);
	struct shadow_field field;

	for (size_t i = 0; (field = shadow_fields[i]).of < SHADOW_RECORDS; i++) {
		if (field.of >= first && field.of <= last)
			show(&field, description);
	}
	if (fake_slurm.at_description)
		fake_slurm.at_description(first, description);
	return description;
}

static void free_description(void *description, enum shadow_record first, enum shadow_record last)
{
	struct shadow_field field;
	void *pointer;

	for (size_t i = 0; description && (field = shadow_fields[i]).of < SHADOW_RECORDS; i++) {
		if (field.of < first || field.of > last || field.kind == SHADOW_NUMBER ||
		    field.kind == SHADOW_END || field.kind == SHADOW_OWN_NUMBER)
			continue;
		memcpy(&pointer, (char *)description + field.shown_offset, sizeof(pointer));
		xfree(pointer);
	}
	xfree(description);
}

void assoc_mgr_lock(assoc_mgr_lock_t *locks)
{
	assert_int_equal(locks->qos, READ_LOCK);
	fake_slurm.qos_locks++;
}

void assoc_mgr_unlock(assoc_mgr_lock_t *locks)
{
	(void)locks;
	fake_slurm.qos_locks--;
}

/* Slurm's own want its plugins (22.05). */
void slurm_free_job_info_msg(job_info_msg_t *jobs)
{
	if (jobs)
		free_description(jobs->job_array, SHADOW_JOB, SHADOW_DETAILS);
	xfree(jobs);
}

void slurm_free_node_info_msg(node_info_msg_t *nodes)
{
	if (nodes)
		free_description(nodes->node_array, SHADOW_NODE, SHADOW_CONFIG);
	xfree(nodes);
}

void slurm_free_partition_info_msg(partition_info_msg_t *said)
{
	if (said)
		free_description(said->partition_array, SHADOW_PARTITION, SHADOW_PARTITION);
	xfree(said);
}

int unpack_msg(slurm_msg_t *message, buf_t *buffer)
{
	job_info_msg_t *jobs;
	node_info_msg_t *nodes;
	partition_info_msg_t *partitions_said;
	const job_record_t *job;

	(void)buffer;
	if (fake_slurm.unpack_rc)
		return fake_slurm.unpack_rc;
	switch (message->msg_type) {
	case RESPONSE_JOB_INFO:
		message->data = jobs = xmalloc(sizeof(*jobs));
		jobs->record_count = 1;
		jobs->job_array = describe(sizeof(*jobs->job_array), SHADOW_JOB, SHADOW_DETAILS);
		job = packed[SHADOW_JOB];
		jobs->job_array->time_limit =
			job->part_ptr->max_time + fake_slurm.reads_another_partition;
		break;
	case RESPONSE_NODE_INFO:
		message->data = nodes = xmalloc(sizeof(*nodes));
		nodes->record_count = fake_slurm.hides_nodes ? 0 : 1;
		if (!fake_slurm.hides_nodes)
			nodes->node_array =
				describe(sizeof(*nodes->node_array), SHADOW_NODE, SHADOW_CONFIG);
		break;
	default:
		assert_int_equal(message->msg_type, RESPONSE_PARTITION_INFO);
		message->data = partitions_said = xmalloc(sizeof(*partitions_said));
		partitions_said->record_count = 1;
		partitions_said->partition_array =
			describe(sizeof(*partitions_said->partition_array), SHADOW_PARTITION,
				 SHADOW_PARTITION);
	}
	return SLURM_SUCCESS;
}

#if OSP_SLURM_AT_LEAST(23, 2)
int create_resv(resv_desc_msg_t *wanted, char **err_msg)
#else
int create_resv(resv_desc_msg_t *wanted)
#endif
{
	struct fake_reservation *made = &fake_slurm.reservation;

#if OSP_SLURM_AT_LEAST(23, 2)
	(void)err_msg;
#endif
	if (fake_slurm.reserve_rc)
		return fake_slurm.reserve_rc;
	if (made->name[0])
		return ESLURM_RESERVATION_NAME_DUP;
	fake_slurm.reservations++;
	snprintf(made->name, sizeof(made->name), "%s", wanted->name);
	snprintf(made->nodes, sizeof(made->nodes), "%s", wanted->node_list);
	snprintf(made->users, sizeof(made->users), "%s", wanted->users);
	made->flags = wanted->flags;
	made->start = wanted->start_time;
	made->end = wanted->end_time;
	return SLURM_SUCCESS;
}

int delete_resv(reservation_name_msg_t *which)
{
	if (strcmp(fake_slurm.reservation.name, which->name))
		return ESLURM_RESERVATION_INVALID;
	memset(&fake_slurm.reservation, 0, sizeof(fake_slurm.reservation));
	return SLURM_SUCCESS;
}

slurmctld_resv_t *find_resv_name(char *name)
{
	static slurmctld_resv_t found;

	found.part_ptr = fake_slurm.reservation.partition;
	found.flags = fake_slurm.reservation.flags;
	return strcmp(fake_slurm.reservation.name, name) ? NULL : &found;
}

int validate_job_resv(job_record_t *job)
{
	return strcmp(fake_slurm.reservation.name, job->resv_name) ? ESLURM_RESERVATION_INVALID
								   : fake_slurm.enter_rc;
}

int update_node(update_node_msg_t *wanted, uid_t uid)
{
	size_t length = strlen(fake_slurm.powered_down);

	(void)uid;
	assert_int_equal(wanted->node_state, NODE_STATE_POWER_DOWN);
	snprintf(fake_slurm.powered_down + length, sizeof(fake_slurm.powered_down) - length, "%s;",
		 wanted->node_names);
	return SLURM_SUCCESS;
}

int srun_user_message(job_record_t *job, char *message)
{
	assert_non_null(job);
	fake_slurm.user_messages++;
	snprintf(fake_slurm.user_message, sizeof(fake_slurm.user_message), "%s", message);
	return SLURM_SUCCESS;
}

void queue_job_scheduler(void)
{
	fake_slurm.schedules++;
}

bool validate_operator(uid_t uid)
{
	(void)uid;
	return fake_slurm.is_operator;
}

static void free_license(void *item)
{
	licenses_t *license = item;

	xfree(license->name);
	xfree(license);
}

/* Takes any words but "unknown". */
static osp_list_t *validate(const char *words, bool *valid)
{
	osp_list_t *list = list_create(free_license);
	char *copy = xstrdup(words), *rest = copy, *word;

	*valid = !strstr(words, "unknown");
	while ((word = strsep(&rest, ",;"))) {
		licenses_t *license = xmalloc(sizeof(*license));

		license->name = xstrndup(word, strcspn(word, ":="));
		list_append(list, license);
	}
	xfree(copy);
	if (!*valid)
		FREE_NULL_LIST(list);
	return list;
}

#if OSP_SLURM_AT_LEAST(26, 5)
osp_list_t *license_validate(char *words, bool configured, bool existing, bool hres,
			     uint64_t *counts, bool *valid, bool *fuzzy)
{
	(void)configured, (void)existing, (void)hres, (void)counts, (void)fuzzy;
	return validate(words, valid);
}
#elif OSP_SLURM_AT_LEAST(25, 5)
osp_list_t *license_validate(char *words, bool configured, bool existing, bool hres,
			     uint64_t *counts, bool *valid)
{
	(void)configured, (void)existing, (void)hres, (void)counts;
	return validate(words, valid);
}
#else
osp_list_t *license_validate(char *words, bool configured, bool existing, uint64_t *counts,
			     bool *valid)
{
	(void)configured, (void)existing, (void)counts;
	return validate(words, valid);
}
#endif

/* Counts as Slurm does; fake_slurm_log() has what was given back. */
int license_job_return(job_record_t *job)
{
	licenses_t *license = list_peek(job->license_list);

	info("%d of the licenses given back, first %s", list_count(job->license_list),
	     license->name);
	return SLURM_SUCCESS;
}

int license_update(char *words)
{
	info("licenses are now %s", words);
	return SLURM_SUCCESS;
}

/* A list is too much to ask for. */
int license_job_test(job_record_t *job, time_t when, bool reboot)
{
	(void)when, (void)reboot;
	return job->license_list ? SLURM_ERROR : SLURM_SUCCESS;
}

void set_job_prio(job_record_t *job)
{
	job->priority = 4711;
}

#if OSP_SLURM_AT_LEAST(24, 11)
bool license_list_overlap(osp_list_t *list_1, osp_list_t *list_2)
{
	return list_1 == list_2;
}
#endif

/* --- what the shadow would find in Slurm's library, and a test wants to see ------------------- */

static char log_text[16384];

static void add_to_log(const char *prefix, const char *format, va_list arguments)
{
	size_t length = strlen(log_text);

	snprintf(log_text + length, sizeof(log_text) - length, "%s", prefix);
	length = strlen(log_text);
	vsnprintf(log_text + length, sizeof(log_text) - length, format, arguments);
	length = strlen(log_text);
	if (length + 1 < sizeof(log_text))
		memcpy(log_text + length, "\n", 2);
}

int slurm_error(const char *format, ...);
void slurm_fatal(const char *format, ...) __attribute__((noreturn));
void slurm_log_var(const log_level_t level, const char *format, ...);
int slurm_get_log_level(void);

int slurm_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_to_log("error: ", format, arguments);
	va_end(arguments);
	return SLURM_ERROR;
}

void slurm_fatal(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add_to_log("fatal: ", format, arguments);
	va_end(arguments);
	longjmp(fake_slurm.at_fatal, 1);
}

void slurm_log_var(const log_level_t level, const char *format, ...)
{
	va_list arguments;

	(void)level;
	va_start(arguments, format);
	add_to_log("", format, arguments);
	va_end(arguments);
}

int slurm_get_log_level(void)
{
	return LOG_LEVEL_DEBUG5;
}

const char *fake_slurm_log(void)
{
	static char taken[sizeof(log_text)];

	memcpy(taken, log_text, sizeof(taken));
	log_text[0] = '\0';
	return taken;
}

#if OSP_SLURM_AT_LEAST(25, 5)
bool run_in_daemon(uint32_t daemons)
{
	return !fake_slurm.is_client && (daemons & IS_SLURMCTLD);
}
#else
bool running_in_slurmctld(void)
{
	return !fake_slurm.is_client;
}
#endif

static int add_named(const char *name, void *context)
{
	for (int n = 0; n < node_record_count; n++) {
		if (node_record_table_ptr[n] && !strcmp(node_record_table_ptr[n]->name, name)) {
			bit_set(context, n);
			return 0;
		}
	}
	return EINVAL;
}

/* A list in Slurm's notation; as Slurm, with those that it knows where it does not know all. */
static int names_to_bitmap(char *names, bitstr_t **bitmap)
{
	*bitmap = bit_alloc(node_record_count);
	return osp_hostlist_expand(names, add_named, *bitmap, NULL);
}

#if OSP_SLURM_AT_LEAST(24, 11)
int node_name2bitmap(char *names, bool best_effort, bitstr_t **bitmap, hostlist_t **invalid)
{
	(void)best_effort, (void)invalid;
	return names_to_bitmap(names, bitmap);
}
#else
int node_name2bitmap(char *names, bool best_effort, bitstr_t **bitmap)
{
	(void)best_effort;
	return names_to_bitmap(names, bitmap);
}
#endif

/* --- Slurm's own plugin, which dlsym(RTLD_NEXT) finds ----------------------------------------- */

static int answer(void)
{
	return fake_slurm.rc;
}

static int answer_for_job(job_record_t *job)
{
	(void)job;
	return fake_slurm.rc;
}

static int answer_ready(job_record_t *job)
{
	(void)job;
	return READY_NODE_STATE;
}

static int answer_for_pause(job_record_t *job, bool by_a_person)
{
	(void)job, (void)by_a_person;
	return fake_slurm.rc;
}

static int answer_for_resized(job_record_t *job, node_record_t *node)
{
	(void)job, (void)node;
	return fake_slurm.rc;
}

static void answer_nothing(job_record_t *job)
{
	(void)job;
}

static int answer_for_two(job_record_t *from, job_record_t *to)
{
	(void)from, (void)to;
	return fake_slurm.rc;
}

/* The tables of Slurm's plugin, for the test to fill in; and whether a job fits a row of them. */
part_res_record_t *select_part_record;

int job_res_fit_in_row(job_resources_t *resources, part_row_data_t *row)
{
	return !fake_slurm.overlaps || !fake_slurm.overlaps(resources, row);
}

struct ends {
	osp_list_t *ignored;
	time_t end[4096 * 4];
};

static bool is_listed(osp_list_t *list, job_record_t *job)
{
	return list && list_find_first(list, has_id, &job->job_id);
}

static int note_end(void *item, void *context)
{
	job_record_t *job = item;
	struct ends *ends = context;

	if (!IS_JOB_RUNNING(job) || !job->node_bitmap || is_listed(ends->ignored, job))
		return 0;
	for (int n = 0; n < node_record_count; n++) {
		if (bit_test(job->node_bitmap, n) && job->end_time > ends->end[n])
			ends->end[n] = job->end_time;
	}
	return 0;
}

/* The node of the bitmap that is idle first, the lowest of those; -1: none. */
static int first_idle(bitstr_t *bitmap, const time_t *end)
{
	int best = -1;

	for (int n = 0; n < node_record_count; n++) {
		if (bit_test(bitmap, n) && (best < 0 || end[n] < end[best]))
			best = n;
	}
	return best;
}

static int note_preempted(void *item, void *context)
{
	list_append(*(osp_list_t **)context, item);
	return 0;
}

#if OSP_SLURM_AT_LEAST(25, 5)
int topology_g_get(topology_data_t type, char *name, void *data)
{
	(void)name;
#elif OSP_SLURM_AT_LEAST(24, 5)
int topology_g_get(topology_data_t type, void *data)
{
#endif
#if OSP_SLURM_AT_LEAST(24, 5)
	assert_int_equal(type, TOPO_DATA_EXCLUSIVE_TOPO);
	*(int *)data = fake_slurm.exclusive_topo;
	return SLURM_SUCCESS;
}
#endif

/* What limits are held against: of whole nodes all processors, if it is asked when the job starts,
 * and from 24.11.4 on the nodes where it does not start yet (_job_test() in job_test.c). */
static void leave_marks(job_record_t *job, bitstr_t *nodes, uint16_t mode)
{
	job->total_cpus = 0;
	if (mode == SELECT_MODE_TEST_ONLY)
		return;
	for (int n = 0; n < node_record_count; n++) {
		if (bit_test(nodes, n))
			job->total_cpus += node_record_table_ptr[n]->cpus_efctv;
	}
	if (mode == SELECT_MODE_RUN_NOW)
		return;
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(job->node_bitmap_preempt);
	job->node_bitmap_preempt = bit_copy(nodes);
#endif
}

int fake_job_test(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes, uint32_t max_nodes,
		  uint32_t req_nodes, uint16_t mode, osp_list_t *candidates, osp_list_t **preempted,
		  OSP_JOB_TEST_TAIL_PARAMETERS)
{
	static struct ends ends;
	uint32_t want = req_nodes > min_nodes ? req_nodes : min_nodes, picked = 0;
	bitstr_t *chosen = bit_alloc(node_record_count);
	time_t now = time(NULL), start = now;
	const struct osp_job_test_tail tail = {OSP_JOB_TEST_TAIL_VALUES};

	(void)tail;
	want = want > max_nodes ? max_nodes : want;
	memset(&ends, 0, sizeof(ends));
	ends.ignored = candidates;
	if (mode != SELECT_MODE_TEST_ONLY)
		list_for_each(job_list, note_end, &ends);
	for (int n; picked < want && (n = first_idle(bitmap, ends.end)) >= 0; picked++) {
		time_t end = ends.end[n];

		if (end > now && (mode == SELECT_MODE_RUN_NOW || (job->bit_flags & TEST_NOW_ONLY)))
			break;
		start = end > start ? end : start;
		bit_set(chosen, n);
		bit_clear(bitmap, n);
	}
	bit_copybits(bitmap, chosen);
	FREE_NULL_BITMAP(chosen);
	job->priority = picked < min_nodes ? 0 : job->priority; /* as one path of Slurm's does */
	if (picked < min_nodes)
		return SLURM_ERROR;
	leave_marks(job, bitmap, mode);
	if (mode == SELECT_MODE_WILL_RUN)
		job->start_time = start;
	if (candidates && preempted) {
		*preempted = list_create(NULL);
		list_for_each(candidates, note_preempted, preempted);
	}
	return SLURM_SUCCESS;
}

static int counted_job_test(job_record_t *job, bitstr_t *bitmap, uint32_t min_nodes,
			    uint32_t max_nodes, uint32_t req_nodes, uint16_t mode,
			    osp_list_t *candidates, osp_list_t **preempted,
			    OSP_JOB_TEST_TAIL_PARAMETERS)
{
	osp_job_test_f *test = fake_slurm.job_test ? fake_slurm.job_test : fake_job_test;

	fake_slurm.tests++;
	fake_slurm.last_mode = mode;
	fake_slurm.last_candidates = candidates ? list_count(candidates) : -1;
	return test(job, bitmap, min_nodes, max_nodes, req_nodes, mode, candidates, preempted,
		    OSP_JOB_TEST_TAIL_VALUES);
}

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

/* Shows how long the questions to Slurm would have taken. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = __real_clock_gettime(clock, now);
	time_t late_ms = (time_t)fake_slurm.tests * fake_slurm.test_ms + fake_slurm.late_ms;

	if (rc != 0 || clock != CLOCK_MONOTONIC)
		return rc;
	now->tv_sec += late_ms / 1000;
	now->tv_nsec += late_ms % 1000 * 1000000;
	if (now->tv_nsec >= 1000000000) {
		now->tv_sec++;
		now->tv_nsec -= 1000000000;
	}
	return rc;
}

void *__real_dlsym(void *handle, const char *name);
void *__wrap_dlsym(void *handle, const char *name);

/* Compares without strcmp(), which AddressSanitizer intercepts: its start asks __wrap_dlsym() for
 * the real one. */
__attribute__((no_sanitize("address", "undefined"))) static bool is_name(const char *a,
									 const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* What the shadow asks for is the fake's; what a sanitizer asks for is real. */
__attribute__((no_sanitize("address", "undefined"))) void *__wrap_dlsym(void *handle,
									const char *name)
{
	static const struct {
		const char *name;
		void *function;
	} functions[] = {
		{"init", (void *)answer},
		{"fini", (void *)answer},
		{"select_p_node_init", (void *)answer},
		{"select_p_job_begin", (void *)answer_for_job},
		{"select_p_job_ready", (void *)answer_ready},
		{"select_p_select_nodeinfo_set", (void *)answer_for_job},
		{"select_p_reconfigure", (void *)answer},
		{"select_p_job_fini", (void *)answer_for_job},
		{"select_p_job_suspend", (void *)answer_for_pause},
		{"select_p_job_resume", (void *)answer_for_pause},
		{"select_p_job_resized", (void *)answer_for_resized},
		{"select_p_job_expand", (void *)answer_for_two},
		{"select_p_job_mem_reduce", (void *)answer_nothing},
		{"select_p_job_test", (void *)counted_job_test},
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (is_name(functions[i].name, name))
			return fake_slurm.lacks && is_name(fake_slurm.lacks, name)
				       ? NULL
				       : functions[i].function;
	}
	return __real_dlsym(handle, name);
}

/* --- nodes and partitions --------------------------------------------------------------------- */

static char folder[64];

bitstr_t *fake_bitmap(uint32_t first, uint32_t count)
{
	bitstr_t *bitmap = bit_alloc(node_record_count);

	for (uint32_t n = first; n < first + count; n++)
		bit_set(bitmap, (int)n);
	return bitmap;
}

static void free_gres(void *item)
{
	gres_state_t *state = item;

	xfree(state->gres_data);
	xfree(state->gres_name);
	xfree(state);
}

void fake_add_gres(osp_list_t *list, const char *name, void *data)
{
	gres_state_t *state = xmalloc(sizeof(*state));

	state->gres_name = xstrdup(name);
	state->plugin_id = gres_build_id(state->gres_name);
	state->gres_data = data;
	list_append(list, state);
}

osp_list_t *fake_node_gres(const char *name, uint64_t count)
{
	gres_node_state_t *has = xmalloc(sizeof(*has));
	osp_list_t *list = list_create(free_gres);

	has->gres_cnt_avail = count;
	fake_add_gres(list, name, has);
	return list;
}

osp_list_t *fake_job_gres(const char *name, uint64_t per_node, uint64_t per_job)
{
	gres_job_state_t *asked = xmalloc(sizeof(*asked));
	osp_list_t *list = list_create(free_gres);

	asked->gres_per_node = per_node;
	asked->gres_per_job = per_job;
	fake_add_gres(list, name, asked);
	return list;
}

static node_record_t *make_node(uint32_t n)
{
	node_record_t *node = xmalloc(sizeof(*node));

	node->magic = NODE_MAGIC;
	node->name = xstrdup_printf("n%u", n + 1);
	node->cpus = node->cpus_efctv = 8;
	node->real_memory = 1000;
	node->node_state = NODE_STATE_IDLE;
	node->gres_list = fake_node_gres("gpu", 8);
	node->config_ptr = xmalloc(sizeof(*node->config_ptr));
	node->config_ptr->magic = CONFIG_MAGIC;
	node->config_ptr->weight = 1;
	return node;
}

static void free_node(node_record_t *node)
{
	if (!node)
		return;
	FREE_NULL_LIST(node->gres_list);
	xfree(node->name);
	if (node->config_ptr) {
		xfree(node->config_ptr->feature);
		xfree(node->config_ptr->gres);
		xfree(node->config_ptr);
	}
	xfree(node);
}

part_record_t *fake_partition(const char *name, uint32_t first, uint32_t count)
{
	part_record_t *partition = xmalloc(sizeof(*partition));

	partition->magic = PART_MAGIC;
	partition->name = xstrdup(name);
	partition->max_share = 1;
	partition->max_nodes = INFINITE;
	partition->node_bitmap = fake_bitmap(first, count);
	assert_true(partition_count < sizeof(partitions) / sizeof(partitions[0]));
	partitions[partition_count++] = partition;
	return partition;
}

void fake_slurm_begin(uint32_t node_count)
{
	memset(&fake_slurm, 0, sizeof(fake_slurm));
	slurmctld_config.shutdown_time = 0;
	slurmctld_primary = 1;
	control_time = last_node_update = 0;
	log_text[0] = '\0';
	strcpy(folder, "/tmp/onespine-unit.XXXXXX");
	assert_non_null(mkdtemp(folder));
	assert_int_equal(mkdir(fake_slurm_path("state"), 0700), 0);
	slurm_conf.slurm_conf = xstrdup(fake_slurm_path("slurm.conf"));
	slurm_conf.state_save_location = xstrdup(fake_slurm_path("state"));
	slurm_conf.prolog_flags = PROLOG_FLAG_ALLOC;
	slurm_conf.select_type_param = 0;
	slurm_conf.debug_flags = 0;
	node_record_count = (int)node_count;
	node_record_table_ptr = xcalloc(node_count + 1, sizeof(*node_record_table_ptr));
	for (uint32_t n = 0; n < node_count; n++)
		node_record_table_ptr[n] = make_node(n);
	avail_node_bitmap = fake_bitmap(0, node_count);
	idle_node_bitmap = fake_bitmap(0, node_count);
	cg_node_bitmap = fake_bitmap(0, 0);
	rs_node_bitmap = fake_bitmap(0, 0);
	OSP_POWERED_DOWN_NODES = fake_bitmap(0, 0);
	job_list = list_create(NULL);
	partition_count = 0;
	default_part_loc = fake_partition("gpu", 0, node_count);
}

static void free_partitions(void)
{
	for (size_t i = 0; i < partition_count; i++) {
		FREE_NULL_BITMAP(partitions[i]->node_bitmap);
		xfree(partitions[i]->name);
		xfree(partitions[i]);
	}
	partition_count = 0;
	default_part_loc = NULL;
}

static void free_job(job_record_t *job)
{
	for (uint32_t i = 0; i < job->spank_job_env_size; i++)
		xfree(job->spank_job_env[i]);
	xfree(job->spank_job_env);
	free_job_resources(&job->job_resrcs);
	xfree(job->resv_name);
	xfree(job->resp_host);
	FREE_NULL_BITMAP(job->node_bitmap);
#if OSP_HAVE_NODE_BITMAP_PREEMPT
	FREE_NULL_BITMAP(job->node_bitmap_preempt);
#endif
	FREE_NULL_LIST(job->gres_list_req);
	FREE_NULL_LIST(job->gres_list_alloc);
	FREE_NULL_LIST(job->het_job_list);
	FREE_NULL_LIST(job->part_ptr_list);
	xfree(job->admin_comment);
	xfree(job->partition);
	if (job->details) {
		FREE_NULL_BITMAP(job->details->req_node_bitmap);
		FREE_NULL_BITMAP(job->details->exc_node_bitmap);
		for (uint32_t i = 0; i < job->details->env_cnt; i++)
			xfree(job->details->env_sup[i]);
		xfree(job->details->env_sup);
		xfree(job->details);
	}
	xfree(job);
}

void fake_slurm_end(void)
{
	job_record_t *job;

	while ((job = list_pop(job_list)))
		free_job(job);
	FREE_NULL_LIST(job_list);
	newest_job = NULL;
	select_part_record = NULL;
	free_partitions();
	FREE_NULL_BITMAP(avail_node_bitmap);
	FREE_NULL_BITMAP(idle_node_bitmap);
	FREE_NULL_BITMAP(cg_node_bitmap);
	FREE_NULL_BITMAP(rs_node_bitmap);
	FREE_NULL_BITMAP(OSP_POWERED_DOWN_NODES);
	for (int n = 0; n < node_record_count; n++)
		free_node(node_record_table_ptr[n]);
	xfree(node_record_table_ptr);
	node_record_count = 0;
	xfree(slurm_conf.slurm_conf);
	xfree(slurm_conf.state_save_location);
	for (size_t i = 0; i < 6; i++) {
		static const char *const files[] = {"onespine.yaml",
						    "onespine.topology",
						    "state/onespine_config",
						    "state/onespine_topology",
						    "state",
						    ""};

		remove(fake_slurm_path(files[i]));
	}
}

/* --- jobs ------------------------------------------------------------------------------------- */

job_record_t *fake_job(uint32_t id, uint32_t nodes)
{
	job_record_t *job = xmalloc(sizeof(*job));

	job->magic = JOB_MAGIC;
	job->job_id = id;
	job->user_id = 1000;
	job->priority = 100;
	job->job_state = JOB_PENDING;
	job->part_ptr = default_part_loc;
	job->partition = xstrdup(default_part_loc->name);
	job->details = xmalloc(sizeof(*job->details));
	job->details->magic = DETAILS_MAGIC;
	job->details->min_nodes = nodes;
	job->details->max_nodes = nodes;
	job->details->num_tasks = NO_VAL;
	job->details->pn_min_cpus = 1;
	job->details->min_cpus = nodes;
	job->details->whole_node = 1;
	job->details->core_spec = NO_VAL16;
	list_append(job_list, job);
	job->job_next = newest_job;
	newest_job = job;
	return job;
}

#if OSP_SLURM_AT_LEAST(26, 5)
void slurm_job_state_set_flag(job_record_t *job, uint32_t flag, const char *function)
{
	(void)function;
	job->job_state |= flag;
}
#elif OSP_SLURM_AT_LEAST(23, 11)
	void job_state_set_flag(job_record_t * job, uint32_t flag)
	{
		job->job_state |= flag;
	}
#endif

void fake_job_runs(job_record_t *job, uint32_t first, uint32_t count, time_t end)
{
	job_resources_t *resources = xmalloc(sizeof(*resources));

	job->job_state = JOB_RUNNING;
	job->end_time = end;
	job->start_time = time(NULL) - 60;
	FREE_NULL_BITMAP(job->node_bitmap);
	job->node_bitmap = fake_bitmap(first, count);
	resources->nhosts = count;
	resources->node_bitmap = fake_bitmap(first, count);
	resources->cpus = xcalloc(count, sizeof(*resources->cpus));
	for (uint32_t i = 0; i < count; i++)
		resources->cpus[i] = 8;
	free_job_resources(&job->job_resrcs);
	job->job_resrcs = resources;
	bit_and_not(idle_node_bitmap, job->node_bitmap);
}

void fake_job_option(job_record_t *job, const char *entry)
{
	xrecalloc(job->spank_job_env, job->spank_job_env_size + 2, sizeof(char *));
	job->spank_job_env[job->spank_job_env_size++] = xstrdup(entry);
}

/* --- files, and the shadow's state ------------------------------------------------------------ */

const char *fake_slurm_path(const char *name)
{
	static char path[sizeof(folder) + 64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

void fake_slurm_file(const char *name, const char *text)
{
	int file;

	unlink(fake_slurm_path(name));
	if (!text)
		return;
	file = open(fake_slurm_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	close(file);
}

static void write_topology(uint32_t node_count, uint32_t leaf_nodes)
{
	uint32_t leaves = node_count / leaf_nodes;
	char *text = xstrdup(
		"{\"onespine-topology\": 1, \"levels\": [\"leaf\", \"spine\"], \"domains\": [");

	for (uint32_t spine = 0; spine < (leaves + 1) / 2; spine++)
		xstrfmtcat(text, "{\"level\": \"spine\", \"name\": \"s%u\"},", spine + 1);
	for (uint32_t leaf = 0; leaf < leaves; leaf++)
		xstrfmtcat(text,
			   "%s{\"level\": \"leaf\", \"name\": \"l%u\", \"in\": \"s%u\", \"nodes\": "
			   "\"n[%u-%u]\"}",
			   leaf ? "," : "", leaf + 1, leaf / 2 + 1, leaf * leaf_nodes + 1,
			   (leaf + 1) * leaf_nodes);
	xstrcat(text, "]}");
	fake_slurm_file("onespine.topology", text);
	xfree(text);
}

void fake_shadow_begin(uint32_t node_count, uint32_t leaf_nodes, const char *config)
{
	fake_slurm_begin(node_count);
	write_topology(node_count, leaf_nodes);
	fake_slurm_file("onespine.yaml", config);
	shadow_slurm_job_test = counted_job_test;
	shadow_state_load();
	shadow_count_again();
	assert_null(strstr(fake_slurm_log(), "looking for the last good"));
}

const char *fake_leaf_of_first(void)
{
	uint32_t domain = osp_topology_domain_of(shadow_state.topology, 0, 1);

	return domain == OSP_NO_DOMAIN ? "none"
				       : osp_topology_domain(shadow_state.topology, domain)->name;
}

void fake_shadow_end(void)
{
	shadow_state_free();
	fake_slurm_end();
}
