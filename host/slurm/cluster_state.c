/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cluster_state.c - a snapshot of the running cluster, through libslurm as the calling user */
#include "onespine_config.h"

#include "host/slurm/cluster_state.h"

#include <errno.h>
#include <pwd.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/document.h"
#include "lib/conf/slurm_conf_path.h"
#include "lib/policy/promise.h"
#include "lib/policy/waiting.h"
#include "lib/topology/kind.h"
#include "lib/topology/topology_yaml.h"
#include "host/output.h"
#include "host/slurm_compat.h"

/* What a cloud or rebooting node's flags say beside its base state. */
#define POWER_FLAGS                                                                                \
	(NODE_STATE_POWERED_DOWN | NODE_STATE_POWERING_UP | NODE_STATE_POWERING_DOWN |             \
	 NODE_STATE_POWER_DOWN | NODE_STATE_POWER_UP | NODE_STATE_POWER_DRAIN)
#define REBOOT_FLAGS (NODE_STATE_REBOOT_REQUESTED | NODE_STATE_REBOOT_ISSUED)

/* Exported by libslurm, declared in none of its installed headers; each release has one of them. */
const char *slurm_job_reason_string(int reason) __attribute__((weak));
const char *slurm_job_state_reason_string(int reason) __attribute__((weak));

int32_t slurm_bit_set_count(void *bitmap) __attribute__((weak));

static bool inside_libslurm;

/* Replaces exit(1), which libslurm calls if it finds no configuration; 1 would be an answer. */
static void exit_as_unable(void)
{
	if (inside_libslurm)
		_exit(OSP_EXIT_UNABLE);
}

void osp_slurm_begin(void)
{
	static bool begun;

	if (begun)
		return;
	begun = true;
	atexit(exit_as_unable);
	inside_libslurm = true;
	slurm_init(NULL);
	inside_libslurm = false;
}

bool osp_slurm_configured(void)
{
	const char *named = getenv("SLURM_CONF");
	const char *path;
	size_t i = 0;

	if (named)
		return *named;
	while ((path = osp_slurm_conf_candidate(i++)))
		if (access(path, R_OK) == 0)
			return true;
	return false;
}

/* Returns 0, or -1 with `error` set, for the `result` of a call of libslurm. */
static int slurm_failed(int result, const char *what, struct osp_error *error)
{
	int cause = errno;

	if (result == SLURM_SUCCESS)
		return 0;
	return osp_error_set(error, "slurmctld does not report %s: %s", what,
			     slurm_strerror(cause));
}

static int load_conf(slurm_conf_t **conf, struct osp_error *error)
{
	int result;

	osp_slurm_begin();
	inside_libslurm = true;
	errno = 0;
	result = slurm_load_ctl_conf(0, conf);
	inside_libslurm = false;
	return slurm_failed(result, "its configuration", error);
}

char *osp_slurm_conf_path(struct osp_error *error)
{
	const char *named = getenv("SLURM_CONF");
	slurm_conf_t *conf;
	char *path;

	if (named && *named) {
		path = strdup(named);
	} else {
		if (load_conf(&conf, error) < 0)
			return NULL;
		path = strdup(conf->slurm_conf ? conf->slurm_conf : osp_slurm_conf_candidate(0));
		OSP_SLURM_CONF_FREE(conf);
	}
	if (!path)
		osp_error_set(error, "out of memory");
	return path;
}

#if HAVE_DECL_SLURM_LOAD_TOPO_CONFIG
/* Takes the kind from a topology.yaml: with one, slurmctld goes on reporting TopologyPlugin,
 * which means nothing then. */
static void take_yaml_kind(struct osp_slurm_topology *topology)
{
	topo_config_response_msg_t *response = NULL;
	struct osp_document *document = NULL;
	struct osp_error ignored;
	const char *kind = NULL;

	inside_libslurm = true;
	if (slurm_load_topo_config(&response) != SLURM_SUCCESS)
		response = NULL;
	inside_libslurm = false;
	if (response && response->config)
		document = osp_document_read("topology.yaml", response->config,
					     strlen(response->config), &ignored);
	if (document)
		kind = osp_topology_yaml_kind(document, &ignored);
	if (kind)
		snprintf(topology->plugin, sizeof(topology->plugin), "topology/%s", kind);
	osp_document_free(document);
	slurm_free_topo_config_msg(response);
}
#else
static void take_yaml_kind(struct osp_slurm_topology *topology)
{
	(void)topology;
}
#endif

int osp_cluster_topology(struct osp_slurm_topology *topology, struct osp_error *error)
{
	slurm_conf_t *conf;

	if (!osp_slurm_configured())
		return osp_error_set(error, "no slurm.conf found");
	if (load_conf(&conf, error) < 0)
		return -1;
	snprintf(topology->plugin, sizeof(topology->plugin), "%s",
		 conf->topology_plugin ? conf->topology_plugin : "none");
	snprintf(topology->param, sizeof(topology->param), "%s",
		 conf->topology_param ? conf->topology_param : "");
	snprintf(topology->version, sizeof(topology->version), "%s",
		 conf->version ? conf->version : "");
	OSP_SLURM_CONF_FREE(conf);
	take_yaml_kind(topology);
	return 0;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static enum osp_slurm_node_state power_state(uint32_t state)
{
	if (state & (NODE_STATE_POWERING_DOWN | NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN))
		return OSP_NODE_POWERING_DOWN;
	if (state & NODE_STATE_POWERING_UP)
		return OSP_NODE_POWERING_UP;
	return OSP_NODE_POWERED_DOWN;
}

static enum osp_slurm_node_state node_state(uint32_t state)
{
	uint32_t base = state & NODE_STATE_BASE;
	bool has_job = base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED ||
		       state & NODE_STATE_COMPLETING;

	if (base == NODE_STATE_DOWN || base == NODE_STATE_ERROR || state & NODE_STATE_INVALID_REG)
		return OSP_NODE_DOWN;
	if (state & (NODE_STATE_DRAIN | NODE_STATE_FAIL))
		return has_job ? OSP_NODE_DRAINING : OSP_NODE_DRAINED;
	if (state & NODE_STATE_COMPLETING)
		return OSP_NODE_COMPLETING;
	if (base == NODE_STATE_ALLOCATED)
		return OSP_NODE_BUSY;
	if (base == NODE_STATE_MIXED)
		return OSP_NODE_PARTLY;
	if (state & NODE_STATE_MAINT)
		return OSP_NODE_MAINTENANCE;
	if (state & NODE_STATE_RES)
		return OSP_NODE_RESERVED;
	if (state & REBOOT_FLAGS)
		return OSP_NODE_POWERING_DOWN;
	if (state & POWER_FLAGS)
		return power_state(state);
	if (state & NODE_STATE_NO_RESPOND)
		return OSP_NODE_DOWN;
	return base == NODE_STATE_IDLE ? OSP_NODE_IDLE : OSP_NODE_UNKNOWN;
}

/* Counts the GPUs of "gpu:h100:8(S:0-1)" and other resources, with commas. */
static uint32_t gpus_of_node(const char *gres)
{
	char words[256] = "gres:";
	size_t length = strlen(words);
	bool inside = false;

	for (; gres && *gres && length + 6 < sizeof(words); gres++) {
		inside = *gres == '(' || (inside && *gres != ')');
		if (inside || *gres == ')')
			continue;
		words[length++] = *gres;
		if (*gres == ',') {
			memcpy(words + length, "gres:", 5);
			length += 5;
		}
	}
	words[length] = '\0';
	return (uint32_t)osp_gpus_asked(words);
}

/* Notes what jobs have of the node. */
static void add_taken(const node_info_t *info, struct osp_state_node *node)
{
#ifdef HAVE_STRUCT_NODE_INFO_ALLOC_MEMORY
	node->memory_taken_mib = info->alloc_memory;
	node->cpus_taken = info->alloc_cpus;
#else
	uint16_t cpus = 0;

	slurm_get_select_nodeinfo(info->select_nodeinfo, SELECT_NODEDATA_MEM_ALLOC,
				  NODE_STATE_ALLOCATED, &node->memory_taken_mib);
	slurm_get_select_nodeinfo(info->select_nodeinfo, SELECT_NODEDATA_SUBCNT,
				  NODE_STATE_ALLOCATED, &cpus);
	node->cpus_taken = cpus;
#endif
	node->gpus_taken = gpus_of_node(info->gres_used);
}

static void add_node(struct osp_snapshot *snapshot, const node_info_t *info)
{
	struct osp_state_node *node = osp_snapshot_add_node(snapshot);
	char kind[OSP_KIND_BYTES];

	if (!node)
		return;
	node->name = osp_snapshot_string(snapshot, info->name);
	node->kind = osp_snapshot_string(
		snapshot, osp_kind_of(info->gres, info->features, kind, sizeof(kind)));
	if (!node->kind)
		node->kind = "";
	node->reason = osp_snapshot_string(snapshot, info->reason);
	node->features = osp_snapshot_string(snapshot, info->features);
	node->weight = info->weight;
	node->state = node_state(info->node_state);
	node->reserved = info->node_state & (NODE_STATE_RES | NODE_STATE_MAINT);
	node->asleep = osp_is_asleep(info->node_state);
	node->silent = node->state < OSP_NODE_RESERVED && !osp_is_up(info->node_state);
	node->cloud = info->node_state & NODE_STATE_CLOUD;
	node->cpus = info->cpus_efctv ? info->cpus_efctv : info->cpus; /* without CoreSpecCount */
	node->gpus = gpus_of_node(info->gres);
	if (info->real_memory > info->mem_spec_limit)
		node->memory_mib = info->real_memory - info->mem_spec_limit;
	add_taken(info, node);
	node->boot_s = (int64_t)info->boot_time;
}

/* Loads the nodes. `with_taken`: with the GPUs that jobs have of them; slurmctld holds its lock on
 * nodes longer for these. */
static int load_nodes(struct osp_snapshot *snapshot, bool with_taken, struct osp_error *error)
{
	node_info_msg_t *message = NULL;
	int result;
	uint32_t i;

	inside_libslurm = true;
	errno = 0;
	result = slurm_load_node(0, &message,
				 with_taken ? SHOW_ALL | SHOW_MIXED | SHOW_DETAIL
					    : SHOW_ALL | SHOW_MIXED);
	inside_libslurm = false;
	if (slurm_failed(result, "its nodes", error) < 0)
		return -1;
	for (i = 0; i < message->record_count; i++)
		if (message->node_array[i].name)
			add_node(snapshot, &message->node_array[i]);
	slurm_free_node_info_msg(message);
	return 0;
}

/* Returns a limit of minutes in seconds; 0 if it is unknown. */
static int64_t limit_of(uint32_t minutes)
{
	if (minutes == INFINITE)
		return UINT32_MAX;
	return minutes == NO_VAL ? 0 : (int64_t)minutes * 60;
}

/* Notes what memory a job of the partition has that names none (_job_create(), job_mgr.c). */
static void fill_memory(const slurm_conf_t *conf, const partition_info_t *info,
			struct osp_state_partition *partition)
{
	uint16_t counted = info->cr_type ? info->cr_type : conf->select_type_param;
	uint64_t memory_mib = info->def_mem_per_cpu ? info->def_mem_per_cpu : conf->def_mem_per_cpu;

	partition->counts_memory = counted & OSP_SELECT_MEMORY;
	partition->memory_per_cpu = memory_mib & MEM_PER_CPU;
	partition->memory_per_gpu = info->job_defaults_list || conf->job_defaults_list;
	memory_mib &= ~MEM_PER_CPU;
	partition->memory_mib = memory_mib ? memory_mib : OSP_MEMORY_ALL;
}

static int load_partitions(struct osp_snapshot *snapshot, const slurm_conf_t *conf,
			   struct osp_error *error)
{
	partition_info_msg_t *message = NULL;
	int result;
	uint32_t i;

	inside_libslurm = true;
	errno = 0;
	result = slurm_load_partitions(0, &message, SHOW_ALL);
	inside_libslurm = false;
	if (slurm_failed(result, "its partitions", error) < 0)
		return -1;
	for (i = 0; i < message->record_count; i++) {
		const partition_info_t *info = &message->partition_array[i];
		struct osp_state_partition *partition = osp_snapshot_add_partition(snapshot);

		if (!partition)
			break;
		partition->name = osp_snapshot_string(snapshot, info->name);
		partition->nodes_text = osp_snapshot_string(snapshot, info->nodes);
		partition->is_default = info->flags & PART_FLAG_DEFAULT;
		partition->up = info->state_up & PARTITION_SCHED;
		partition->limit_s = limit_of(info->default_time == NO_VAL ? info->max_time
									   : info->default_time);
		partition->limit_most_s = limit_of(info->max_time);
		partition->nodes_least = info->min_nodes;
		partition->nodes_most = info->max_nodes;
		fill_memory(conf, info, partition);
	}
	slurm_free_partition_info_msg(message);
	return 0;
}

/* --- jobs ------------------------------------------------------------------------------------- */

static const char *job_state_word(uint32_t state)
{
	static const char *const words[JOB_END] = {
		[JOB_PENDING] = "PENDING",     [JOB_RUNNING] = "RUNNING",
		[JOB_SUSPENDED] = "SUSPENDED", [JOB_COMPLETE] = "COMPLETED",
		[JOB_CANCELLED] = "CANCELLED", [JOB_FAILED] = "FAILED",
		[JOB_TIMEOUT] = "TIMEOUT",     [JOB_NODE_FAIL] = "NODE_FAIL",
		[JOB_PREEMPTED] = "PREEMPTED", [JOB_BOOT_FAIL] = "BOOT_FAIL",
		[JOB_DEADLINE] = "DEADLINE",   [JOB_OOM] = "OUT_OF_MEMORY",
	};
	uint32_t base = state & JOB_STATE_BASE;

	if (state & JOB_COMPLETING)
		return "COMPLETING";
	if (base == JOB_RUNNING && state & JOB_CONFIGURING)
		return "CONFIGURING";
	return base < JOB_END && words[base] ? words[base] : "UNKNOWN";
}

static enum osp_job_phase job_phase(uint32_t state)
{
	uint32_t base = state & JOB_STATE_BASE;

	if (state & JOB_COMPLETING)
		return OSP_JOB_COMPLETING;
	if (base == JOB_PENDING)
		return OSP_JOB_PENDING;
	if (base == JOB_RUNNING)
		return OSP_JOB_RUNNING;
	return base == JOB_SUSPENDED ? OSP_JOB_SUSPENDED : OSP_JOB_ENDED;
}

static const char *job_label(const slurm_job_info_t *info, char *buffer, size_t buffer_bytes)
{
	if (info->array_job_id && info->array_task_str)
		snprintf(buffer, buffer_bytes, "%u_[%s]", info->array_job_id, info->array_task_str);
	else if (info->array_job_id && info->array_task_id != NO_VAL)
		snprintf(buffer, buffer_bytes, "%u_%u", info->array_job_id, info->array_task_id);
	else if (info->het_job_id)
		snprintf(buffer, buffer_bytes, "%u+%u", info->het_job_id, info->het_job_offset);
	else
		snprintf(buffer, buffer_bytes, "%u", info->job_id);
	return buffer;
}

static const char *user_of(const slurm_job_info_t *info, char *buffer, size_t buffer_bytes)
{
	struct passwd *entry;

	if (info->user_name && *info->user_name)
		return info->user_name;
	entry = getpwuid(info->user_id);
	snprintf(buffer, buffer_bytes, "%u", info->user_id);
	return entry ? entry->pw_name : buffer;
}

/* Turns "gres:gpu:8" and, from 23.11 on, "gres/gpu:8", with commas, into the words that --gres
 * takes. */
static const char *gres_words(const char *tres, char *buffer, size_t buffer_bytes)
{
	size_t length = 0;

	for (; tres && *tres && length + 1 < buffer_bytes; tres++) {
		if (!strncmp(tres, "gres", 4) && (tres[4] == ':' || tres[4] == '/'))
			tres += 5;
		buffer[length++] = *tres;
	}
	buffer[length] = '\0';
	return buffer;
}

static uint32_t divide_up(uint64_t a, uint64_t b)
{
	return (uint32_t)(b ? a / b + (a % b != 0) : a);
}

static uint64_t memory_of_job(const slurm_job_info_t *info, uint32_t cpus)
{
	uint64_t memory_mib = info->pn_min_memory & ~MEM_PER_CPU;

	if (info->mem_per_tres && *info->mem_per_tres)
		return OSP_MEMORY_UNKNOWN;
	if (!memory_mib)
		return OSP_MEMORY_ALL;
	return info->pn_min_memory & MEM_PER_CPU ? memory_mib * cpus : memory_mib;
}

/* Returns how many tasks each node of a job that waits has at least: --ntasks-per-node is only a
 * limit if -n asks for fewer than all. */
static uint32_t least_tasks(const slurm_job_info_t *info)
{
	uint64_t per_node = info->ntasks_per_node;
	uint64_t most = info->max_nodes == NO_VAL ? 0 : info->max_nodes;
	uint64_t nodes = info->num_nodes > most ? info->num_nodes : most;

	if (!per_node || per_node >= INFINITE16 || info->num_tasks == NO_VAL ||
	    info->num_tasks < per_node * nodes)
		return 1;
	return (uint32_t)per_node;
}

/* Reads what a job that waits needs of each node at least, as slurmctld counts it for a gang
 * (shadow_need()). */
static void fill_need(const slurm_job_info_t *info, struct osp_state_job *job)
{
	uint64_t gpus = osp_gpus_asked(info->tres_per_node);
	uint64_t of_tasks = osp_gpus_asked(info->tres_per_task) * least_tasks(info);

	if (of_tasks > gpus)
		gpus = of_tasks;
	if (!gpus && osp_gpus_asked(info->tres_per_job))
		gpus = 1;
	job->cpus = info->pn_min_cpus ? info->pn_min_cpus : 1;
	job->gpus = gpus > UINT32_MAX ? UINT32_MAX : (uint32_t)gpus;
	job->memory_mib = memory_of_job(info, job->cpus);
}

/* Reads what a job has on each node: Slurm says what it is in all. */
static void fill_share(const slurm_job_info_t *info, struct osp_state_job *job)
{
	uint64_t per_task = osp_gpus_asked(info->tres_per_task);
	uint64_t gpus = osp_gpus_asked(info->tres_per_job);

	if (job->phase == OSP_JOB_PENDING) {
		fill_need(info, job);
		return;
	}
	if (!gpus && per_task && info->num_tasks != NO_VAL)
		gpus = per_task * info->num_tasks;
	job->cpus = divide_up(info->num_cpus, info->num_nodes);
	job->gpus = (uint32_t)osp_gpus_asked(info->tres_per_node);
	if (!job->gpus)
		job->gpus = divide_up(gpus, info->num_nodes);
	job->memory_mib = memory_of_job(info, job->cpus);
}

/* Returns whether jobs of others may be hidden from the caller: root and SlurmUser see all.
 * Operators see all too, but only the accounting knows them. */
static bool hides_jobs(const slurm_conf_t *conf)
{
	uid_t caller = getuid();

	return conf->private_data & PRIVATE_DATA_JOBS && caller && caller != conf->slurm_user_id;
}

/* Returns whether Slurm gives a job only nodes that fit its --extra. */
static bool obeys_extra(const slurm_conf_t *conf)
{
	return conf->sched_params && strcasestr(conf->sched_params, "extra_constraints");
}

/* Returns the job's --extra if that is so. */
static const char *extra_of(const slurm_conf_t *conf, const slurm_job_info_t *info)
{
	return obeys_extra(conf) ? OSP_JOB_INFO_EXTRA(info) : NULL;
}

static void fill_job(struct osp_snapshot *snapshot, const slurm_conf_t *conf,
		     const slurm_job_info_t *info, struct osp_state_job *job)
{
	char buffer[256];

	job->id = info->job_id;
	job->label = osp_snapshot_string(snapshot, job_label(info, buffer, sizeof(buffer)));
	job->name = osp_snapshot_string(snapshot, info->name);
	job->user = osp_snapshot_string(snapshot, user_of(info, buffer, sizeof(buffer)));
	job->partition = osp_snapshot_string(snapshot, info->partition);
	job->state = osp_snapshot_string(snapshot, job_state_word(info->job_state));
	job->admin_comment = osp_snapshot_string(snapshot, info->admin_comment);
	job->nodes_text = osp_snapshot_string(snapshot, info->nodes);
	job->required_nodes = osp_snapshot_string(snapshot, info->req_nodes);
	job->excluded_nodes = osp_snapshot_string(snapshot, info->exc_nodes);
	job->reservation = osp_snapshot_string(snapshot, info->resv_name);
	job->features = osp_snapshot_string(snapshot, info->features);
	job->extra = osp_snapshot_string(snapshot, extra_of(conf, info));
	job->licenses = osp_snapshot_string(snapshot, info->licenses);
	job->dependency = osp_snapshot_string(snapshot, info->dependency);
	job->gres = osp_snapshot_string(snapshot,
					gres_words(info->tres_per_node, buffer, sizeof(buffer)));
	job->phase = job_phase(info->job_state);
	job->whole_nodes = !info->shared;
	job->node_count = info->num_nodes;
	job->node_most = info->max_nodes == NO_VAL || OSP_MOST_IS_OF_TASKS(info->bitflags)
				 ? 0
				 : info->max_nodes;
	fill_share(info, job);
	if (info->array_bitmap && slurm_bit_set_count)
		job->tasks = (uint32_t)slurm_bit_set_count(info->array_bitmap);
	job->restarts = info->restart_cnt;
	job->is_batch = info->batch_flag;
	job->requeues = info->requeue;
	job->submit_s = info->submit_time;
	job->eligible_s = info->eligible_time;
	job->evaluated_s = info->last_sched_eval;
	job->start_s = info->start_time;
	job->end_s = info->end_time;
	job->limit_s = limit_of(info->time_limit);
	if (info->time_limit == INFINITE && osp_job_on_nodes(job))
		job->end_s = 0;
}

static int load_jobs(struct osp_snapshot *snapshot, const slurm_conf_t *conf,
		     struct osp_error *error)
{
	job_info_msg_t *message = NULL;
	int result;
	uint32_t i;

	inside_libslurm = true;
	errno = 0;
	result = slurm_load_jobs(0, &message, SHOW_ALL);
	inside_libslurm = false;
	if (slurm_failed(result, "its jobs", error) < 0)
		return -1;
	for (i = 0; i < message->record_count; i++) {
		struct osp_state_job *job = osp_snapshot_add_job(snapshot);

		if (!job)
			break;
		fill_job(snapshot, conf, &message->job_array[i], job);
	}
	slurm_free_job_info_msg(message);
	return 0;
}

/*
 * Returns Slurm's word for why the job waits or ended so; NULL if there is none or memory ran out.
 * The words that squeue shows say more of some: a job whose Prolog failed is not held by its
 * owner, though the word is JobHeldUser.
 */
static const char *reason_word(struct osp_snapshot *snapshot, slurm_job_info_t *info)
{
	const char *word = NULL;

	if (info->state_desc && osp_waiting_has_words(info->state_desc))
		return osp_snapshot_string(snapshot, info->state_desc);
	if (slurm_job_state_reason_string)
		word = slurm_job_state_reason_string((int)info->state_reason);
	else if (slurm_job_reason_string)
		word = slurm_job_reason_string((int)info->state_reason);
	if (!word || strcmp(word, "None") == 0)
		return NULL;
	return osp_snapshot_string(snapshot, word);
}

int osp_cluster_job_reason(struct osp_snapshot *snapshot, struct osp_state_job *job,
			   struct osp_error *error)
{
	job_info_msg_t *message = NULL;
	int result;
	uint32_t i;

	osp_slurm_begin();
	inside_libslurm = true;
	errno = 0;
	result = slurm_load_job(&message, job->id, SHOW_ALL);
	if (result == SLURM_SUCCESS) {
		for (i = 0; i < message->record_count; i++)
			if (message->job_array[i].job_id == job->id)
				job->reason = reason_word(snapshot, &message->job_array[i]);
		slurm_free_job_info_msg(message);
	}
	inside_libslurm = false;
	return slurm_failed(result, "the job", error);
}

/* --- reservations ----------------------------------------------------------------------------- */

/* Adds those of whole nodes. Where a user may not see them there are none. */
static void load_reservations(struct osp_snapshot *snapshot)
{
	reserve_info_msg_t *message = NULL;
	int result;

	inside_libslurm = true;
	result = slurm_load_reservations(0, &message);
	inside_libslurm = false;
	if (result != SLURM_SUCCESS || !message)
		return;
	for (uint32_t i = 0; i < message->record_count; i++) {
		const reserve_info_t *info = &message->reservation_array[i];
		struct osp_state_reservation *reservation;

		if (!info->name || !info->node_list || !*info->node_list || info->core_spec_cnt)
			continue;
		reservation = osp_snapshot_add_reservation(snapshot);
		if (!reservation)
			break;
		reservation->name = osp_snapshot_string(snapshot, info->name);
		reservation->nodes_text = osp_snapshot_string(snapshot, info->node_list);
		reservation->start_s = info->start_time;
		reservation->end_s = info->end_time;
		reservation->others_too =
			info->flags & (RESERVE_FLAG_FLEX | RESERVE_FLAG_ANY_NODES);
		reservation->maint = info->flags & RESERVE_FLAG_MAINT;
		reservation->overlap = info->flags & RESERVE_FLAG_OVERLAP;
	}
	slurm_free_reservation_info_msg(message);
}

/* Gives pending jobs that name no limit that of their partition. */
static void default_limits(struct osp_snapshot *snapshot)
{
	for (uint32_t i = 0; i < snapshot->job_count; i++) {
		struct osp_state_job *job = &snapshot->jobs[i];
		const struct osp_state_partition *partition;

		if (job->limit_s || !job->partition)
			continue;
		partition = osp_snapshot_find_partition(snapshot, job->partition);
		job->limit_s = partition ? partition->limit_s : 0;
	}
}

/* --- all of it -------------------------------------------------------------------------------- */

static struct osp_snapshot *load(bool with_jobs, struct osp_error *error)
{
	struct osp_snapshot *snapshot = osp_snapshot_new();
	slurm_conf_t *conf = NULL;

	if (!snapshot) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	snapshot->time_s = time(NULL);
	if (load_conf(&conf, error) < 0 || load_nodes(snapshot, with_jobs, error) < 0 ||
	    load_partitions(snapshot, conf, error) < 0 ||
	    (with_jobs && load_jobs(snapshot, conf, error) < 0)) {
		osp_snapshot_free(snapshot);
		snapshot = NULL;
	} else {
		snapshot->cluster = osp_snapshot_string(snapshot, conf->cluster_name);
		snapshot->hides_jobs = hides_jobs(conf);
		snapshot->has_extra = OSP_HAVE_EXTRA_CONSTRAINTS;
		snapshot->obeys_extra = obeys_extra(conf);
		snapshot->requeues = conf->job_requeue;
		if (with_jobs) {
			load_reservations(snapshot);
			default_limits(snapshot);
		}
		if (osp_snapshot_finish(snapshot, error) < 0) {
			osp_snapshot_free(snapshot);
			snapshot = NULL;
		}
	}
	if (conf)
		OSP_SLURM_CONF_FREE(conf);
	return snapshot;
}

struct osp_snapshot *osp_cluster_state(struct osp_error *error)
{
	return load(true, error);
}

struct osp_snapshot *osp_cluster_nodes(struct osp_error *error)
{
	return load(false, error);
}
