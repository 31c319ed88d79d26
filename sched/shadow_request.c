/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_request.c - what a job is held to: its own request, and what the policy promises
 *
 * This is computed anew in each call, because scontrol update, a reconfigure and the end of another
 * job change it.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/base/hostlist.h"
#include "lib/base/hash.h"
#include "lib/policy/effective.h"
#include "lib/policy/request_parts.h"

/* --- its size and shape ----------------------------------------------------------------------- */

uint32_t shadow_least_nodes(const job_record_t *job, uint32_t min_nodes)
{
	const __typeof__(*job->details) *details = job->details;
	uint32_t tasks = details->num_tasks != NO_VAL ? details->num_tasks : 0;

	return osp_least_nodes(min_nodes ? min_nodes : 1, tasks, details->ntasks_per_node);
}

uint32_t shadow_most_nodes(const job_record_t *job)
{
	uint32_t most = job->details->max_nodes;

	return most < NO_VAL && !OSP_MOST_IS_OF_TASKS(job->bit_flags) ? most : 0;
}

/* Returns whether no `nodes` of these nodes have so many CPUs. Stops at the first node that is
 * large enough. */
static bool cpus_need_more(bitstr_t *bitmap, uint64_t cpus, uint64_t nodes)
{
	int last = bitmap ? bit_fls(bitmap) : -1;
	bool any = false;

	for (int n = last < 0 ? 0 : bit_ffs(bitmap); n <= last; n++) {
		const node_record_t *node = bit_test(bitmap, n) ? node_record_table_ptr[n] : NULL;

		if (!node)
			continue;
		any = true;
		if (node->cpus * nodes >= cpus)
			return false;
	}
	return any;
}

/* Tells the same for GPUs, of which each node may have another number. */
static bool gpus_need_more(bitstr_t *bitmap, const struct osp_gpus_wanted *gpus, uint64_t nodes)
{
	uint32_t gpu = gpus->in_all ? gres_build_id("gpu") : 0;
	int last = bitmap && gpus->in_all ? bit_fls(bitmap) : -1;
	bool any = false;

	for (int n = last < 0 ? 0 : bit_ffs(bitmap); n <= last; n++) {
		const node_record_t *node = bit_test(bitmap, n) ? node_record_table_ptr[n] : NULL;

		if (!node)
			continue;
		any = true;
		if (osp_gpus_least_nodes(gpus, shadow_node_gres(node, gpu)) <= nodes)
			return false;
	}
	return any;
}

bool shadow_needs_more_nodes(bitstr_t *bitmap, uint64_t cpus, const struct osp_gpus_wanted *gpus,
			     uint32_t nodes)
{
	return cpus_need_more(bitmap, cpus, nodes) || gpus_need_more(bitmap, gpus, nodes);
}

static struct osp_gpus_wanted gpus_of(const job_record_t *job)
{
	uint32_t tasks = job->details->num_tasks;
	const struct osp_gpus_said said = {.per_job = job->tres_per_job,
					   .per_node = job->tres_per_node,
					   .per_task = job->tres_per_task,
					   .tasks = tasks != NO_VAL ? tasks : 0};
	struct osp_gpus_wanted gpus;

	osp_gpus_read(&gpus, &said);
	return gpus;
}

void shadow_job_shape(const job_record_t *job, struct osp_shape *shape)
{
	const __typeof__(*job->details) *details = job->details;

	*shape = (struct osp_shape){
		.heterogeneous = job->het_job_id != 0,
		.switches = job->req_switch != 0,
		.segment = OSP_RECORD_SEGMENT(details) != 0,
		.segment_flags = OSP_RECORD_SEGMENT_FLAGS(job),
		.contiguous = details->contiguous != 0,
		.exclusive_topo = OSP_RECORD_EXCLUSIVE_TOPO(details),
		.expands = details->expanding_jobid != 0 ||
			   osp_dependency_expands(details->dependency),
		.features = details->features,
		.prefer = details->prefer,
	};
}

static struct osp_size own_size(const job_record_t *job)
{
	return (struct osp_size){
		.least_nodes = shadow_least_nodes(job, job->details->min_nodes),
		.most_nodes = shadow_most_nodes(job),
	};
}

static int is_partition(void *item, void *key)
{
	return item == key;
}

bool shadow_may_choose(const job_record_t *job, const part_record_t *partition)
{
	return IS_JOB_PENDING(job) && job->part_ptr_list && list_count(job->part_ptr_list) > 1 &&
	       list_find_first(job->part_ptr_list, is_partition, (void *)partition);
}

bool shadow_is_beside(const job_record_t *job, const job_record_t *component)
{
	return component->details && (component->part_ptr == job->part_ptr ||
				      shadow_may_choose(component, job->part_ptr));
}

struct components {
	const job_record_t *job;
	struct osp_size size;
	bool unlimited;
};

static int add_component(void *item, void *context)
{
	const job_record_t *component = item;
	struct components *all = context;
	struct osp_size own;

	if (!shadow_is_beside(all->job, component))
		return 0;
	own = own_size(component);
	all->size.least_nodes += own.least_nodes;
	all->size.most_nodes += own.most_nodes;
	all->unlimited |= !own.most_nodes;
	return 0;
}

/*
 * Replaces the size by that of all components in the job's partition. If their ranges only may make
 * a gang together, it is open, as job_submit judges it: they are placed together, or stay small.
 */
static void add_components(const job_record_t *job, uint32_t from_nodes, struct osp_size *size)
{
	const job_record_t *leader = find_job_record(job->het_job_id);
	struct components all = {.job = job};

	if (!leader || !leader->het_job_list)
		return;
	list_for_each(leader->het_job_list, add_component, &all);
	if (all.unlimited || all.size.most_nodes >= from_nodes)
		all.size.most_nodes = 0;
	if (all.size.least_nodes)
		*size = all.size;
}

static struct osp_size size_of(const job_record_t *job, uint32_t from_nodes)
{
	const __typeof__(*job->details) *details = job->details;
	struct osp_size size = own_size(job);
	bitstr_t *nodes = job->part_ptr ? job->part_ptr->node_bitmap : NULL;
	struct osp_gpus_wanted gpus = gpus_of(job);

	if (job->het_job_id) {
		add_components(job, from_nodes, &size);
	} else if (!size.most_nodes && size.least_nodes < from_nodes &&
		   shadow_needs_more_nodes(nodes, details->overcommit ? 0 : details->min_cpus,
					   &gpus, from_nodes - 1)) {
		size.least_nodes = from_nodes;
	}
	return size;
}

/* --- the request ------------------------------------------------------------------------------ */

const char *shadow_spank_value(const job_record_t *job, const char *prefix)
{
	size_t length = strlen(prefix);

	for (uint32_t i = 0; i < job->spank_job_env_size; i++) {
		const char *entry = job->spank_job_env[i];

		if (entry && !strncmp(entry, prefix, length))
			return entry + length;
	}
	return NULL;
}

struct osp_nodeset *shadow_nodes_named(const char *names)
{
	struct osp_nodeset *set = NULL;
	bitstr_t *bitmap = NULL;
	char *copy = xstrdup(names);

	if (OSP_NODE_NAMES_TO_BITMAP(copy, &bitmap) == SLURM_SUCCESS && bitmap) {
		set = osp_nodeset_new(shadow_state.node_count);
		if (set)
			shadow_from_bitmap(set, bitmap);
	}
	FREE_NULL_BITMAP(bitmap);
	xfree(copy);
	return set;
}

char *shadow_node_names(const struct osp_nodeset *nodes)
{
	uint32_t count = osp_nodeset_count(nodes), i = 0;
	const char **names = calloc((size_t)count + 1, sizeof(*names));
	char *text = NULL;

	for (uint32_t n = osp_nodeset_next(nodes, 0); names && n < nodes->place_count;
	     n = osp_nodeset_next(nodes, n + 1)) {
		if (node_record_table_ptr[n])
			names[i++] = node_record_table_ptr[n]->name;
	}
	if (i)
		text = osp_hostlist_compact(names, i);
	free(names);
	return text;
}

void shadow_put_entry(job_record_t *job, const char *prefix, const char *value)
{
	char *entry = xstrdup_printf("%s%s", prefix, value);
	size_t length = strlen(prefix);
	uint32_t at;

	for (at = 0; at < job->spank_job_env_size; at++) {
		if (job->spank_job_env[at] && !strncmp(job->spank_job_env[at], prefix, length))
			break;
	}
	if (at == job->spank_job_env_size) {
		/* one more than the size: readers in other releases expect a NULL at the end */
		xrecalloc(job->spank_job_env, at + 2, sizeof(char *));
		job->spank_job_env_size = at + 1;
	}
	xfree(job->spank_job_env[at]);
	job->spank_job_env[at] = entry;
}

static void fall_back_to(const struct osp_policy *policy, struct osp_effective *effective)
{
	*effective = (struct osp_effective){
		.mode = OSP_MODE_ENFORCE, .relax_s = -1, .mix_kinds = policy->mix_kinds};
	snprintf(effective->level, sizeof(effective->level), "%s", policy->level);
}

bool shadow_option(const job_record_t *job, struct osp_request *request, bool *readable)
{
	const char *gang = shadow_spank_value(job, OSP_SPANK_GANG);
	const struct osp_parts_asked asked = {
		.domains = shadow_spank_value(job, OSP_SPANK_GANG_DOMAINS),
		.segments = shadow_spank_value(job, OSP_SPANK_GANG_SEGMENT),
		.layout = shadow_spank_value(job, OSP_SPANK_GANG_LAYOUT),
		.keep = shadow_spank_value(job, OSP_SPANK_GANG_KEEP),
	};

	*readable = true;
	if (!gang && !osp_parts_are_asked(&asked))
		return false;
	if (!gang || !strcmp(gang, "(null)")) /* as Slurm writes an option without a value */
		gang = "";
	*readable = osp_request_parse(gang, request, NULL) == 0 &&
		    osp_request_add_parts(request, &asked, NULL) == 0;
	return true;
}

/*
 * Reads the option of a gang that no job_submit of ours has seen, and applies the policy to it.
 * Nobody can refuse the job here, so a request that is unreadable or not allowed becomes one domain
 * of the policy's level; so does a layout, for which nobody has made segments.
 */
static bool request_from_option(const job_record_t *job, const struct osp_policy *policy,
				struct osp_effective *effective)
{
	struct osp_request request = {.relax_s = -1};
	struct osp_size size = own_size(job);
	bool readable;

	if (!shadow_option(job, &request, &readable))
		return false;
	if (!readable || *request.layout ||
	    osp_request_resolve(&request, policy, NULL, &size, effective, NULL) != 0)
		fall_back_to(policy, effective);
	return true;
}

/*
 * Reads what the job brings itself. A stored request that this release does not understand stays a
 * request.
 */
static bool request_brought(const job_record_t *job, const struct osp_policy *policy,
			    struct osp_effective *effective)
{
	const char *value;

	if (!job->spank_job_env)
		return false;
	value = shadow_spank_value(job, OSP_EFFECTIVE);
	if (!value)
		return request_from_option(job, policy, effective);
	if (osp_effective_parse(value, effective) != 0 && !effective->level[0])
		snprintf(effective->level, sizeof(effective->level), "%s", policy->level);
	if (effective->origin == OSP_FROM_POLICY)
		effective->from_nodes = policy->from_nodes;
	return true;
}

bool shadow_relaxes_farther(const struct osp_policy *policy, const struct osp_effective *effective)
{
	const struct osp_topology *topology = shadow_state.topology;
	bool beside = topology && osp_topology_overlay_count(topology);
	int asked = beside ? osp_topology_level(topology, effective->level) : -1;
	int least = asked > 0 ? osp_topology_level(topology, policy->level) : -1;

	return least > 0 && osp_topology_relaxes_past(topology, (uint32_t)asked, (uint32_t)least);
}

bool shadow_looser_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective)
{
	const struct osp_topology *topology = shadow_state.topology;
	int least, asked;

	if (!topology)
		return false;
	if (effective->domains_max > 1)
		return true;
	if (shadow_sooner_than_policy(policy, effective))
		return true;
	least = osp_topology_level(topology, policy->level);
	if (least < 1) /* the fabric has changed: it has no such level now */
		return strcmp(effective->level, policy->level) != 0;
	asked = osp_topology_level(topology, effective->level);
	return asked > 0 && !osp_topology_nests(topology, (uint32_t)asked, (uint32_t)least, NULL);
}

bool shadow_sooner_than_policy(const struct osp_policy *policy,
			       const struct osp_effective *effective)
{
	return effective->relax_s >= 0 &&
	       (policy->relax_s < 0 || effective->relax_s < policy->relax_s ||
		shadow_relaxes_farther(policy, effective));
}

/* Makes the request that the policy makes of a job that asks for nothing. */
static bool request_of_policy(const job_record_t *job, const struct osp_policy *policy,
			      struct osp_effective *effective)
{
	static const struct osp_request nothing = {.asked = OSP_GANG_OPTION_NONE, .relax_s = -1};
	struct osp_size size = size_of(job, policy->from_nodes);
	char sentence[OSP_ERROR_TEXT_BYTES];
	struct osp_shape shape;

	if (osp_request_resolve(&nothing, policy, NULL, &size, effective, NULL) != 0 ||
	    effective->mode == OSP_MODE_OFF)
		return false;
	if (effective->mode == OSP_MODE_ENFORCE)
		return true;
	shadow_job_shape(job, &shape); /* nobody asked for advice that nobody could follow */
	return !osp_conflict_find(&shape, OSP_CONFLICTS_ALL, effective, sentence, sizeof(sentence));
}

/*
 * Applies the policy to a job. It may have come under the policy without job_submit: it was pending
 * when the policy was switched on, scontrol update moved or enlarged it, or its size shows only
 * now. If users may not turn a gang off, the policy has the last word; otherwise the job's request
 * has.
 */
static bool hold_to_policy(const job_record_t *job, const struct osp_policy *policy,
			   struct osp_effective *effective, bool brought)
{
	bool promises = osp_policy_promises(policy);
	struct osp_effective least;

	if (!policy->gang_always || policy->mode == OSP_MODE_OFF || (brought && !promises))
		return brought;
	if (brought && effective->mode == OSP_MODE_ENFORCE &&
	    !shadow_looser_than_policy(policy, effective))
		return true;
	if (!request_of_policy(job, policy, &least))
		return brought;
	*effective = least;
	return true;
}

/*
 * Returns the policy of the partition in which the job runs; if it may run in several, what these
 * promise together. Levels that cross cannot be promised together: then that of the partition which
 * it is tried in.
 */
static struct osp_policy policy_of(const job_record_t *job)
{
	const char *list = job->partition ? job->partition : "";

	struct osp_policy policy;

	if (job->part_ptr && !strchr(list, ','))
		return *osp_config_policy(shadow_state.config, job->part_ptr->name);
	policy = osp_policy_of_list(shadow_state.config, list, shadow_state.topology);
	if (job->part_ptr && shadow_state.topology &&
	    osp_topology_overlay_count(shadow_state.topology) &&
	    osp_policy_crosses(shadow_state.config, list, shadow_state.topology, policy.level,
			       NULL))
		return *osp_config_policy(shadow_state.config, job->part_ptr->name);
	return policy;
}

/* Returns whether a policy made this request, and the policy in force makes its own: the job may
 * have been moved to another partition, or the policy changed. A job that has started keeps it. */
static bool is_made_anew(const job_record_t *job, const struct osp_effective *effective)
{
	return effective->origin == OSP_FROM_POLICY && !effective->unread[0] && IS_JOB_PENDING(job);
}

bool shadow_gang_request(job_record_t *job, struct osp_effective *effective)
{
	struct osp_policy policy;
	bool brought;

	if (!shadow_state.config)
		return false;
	policy = policy_of(job);
	brought = request_brought(job, &policy, effective) && !is_made_anew(job, effective);
	return hold_to_policy(job, &policy, effective, brought) && effective->mode != OSP_MODE_OFF;
}

/* Returns since when the job could have run: its submission, or when its dependencies and --begin
 * let it. */
static time_t pending_since(const job_record_t *job)
{
	time_t submitted = job->details->submit_time, eligible = job->details->begin_time;

	return eligible > submitted ? eligible : submitted;
}

bool shadow_is_relaxed(const job_record_t *job, const struct osp_effective *effective)
{
	return effective->relax_s >= 0 && time(NULL) - pending_since(job) >= effective->relax_s;
}

/* --- what it asks for, as a number ------------------------------------------------------------ */

static uint64_t hash_words_of(uint64_t hash, const char *words)
{
	return osp_hash_words(hash, words ? words : "");
}

static uint64_t hash_partition(uint64_t hash, const part_record_t *partition)
{
	if (!partition)
		return hash;
	hash = hash_words_of(hash, partition->name);
	return osp_hash_mix(hash, (uint64_t)partition->max_share << 16 | partition->cr_type);
}

static uint64_t hash_sizes(uint64_t hash, const __typeof__(*((job_record_t *)0)->details) *details)
{
	const uint64_t sizes[] = {
		details->min_cpus,	  details->max_cpus,	details->min_nodes,
		details->max_nodes,	  details->pn_min_cpus, details->pn_min_memory,
		details->cpus_per_task,	  details->num_tasks,	details->ntasks_per_node,
		details->ntasks_per_tres, details->core_spec,	details->share_res,
		details->whole_node,	  details->overcommit,	details->contiguous,
		details->task_dist,
	};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		hash = osp_hash_mix(hash, sizes[i]);
	if (details->mc_ptr)
		hash = osp_hash_bytes(hash, details->mc_ptr, sizeof(*details->mc_ptr));
	return hash;
}

/* Returns those of the job's flags that Slurm's plugin heeds when it chooses nodes (job_test.c,
 * eval_nodes.c, gres_*.c). */
static uint64_t flags_that_choose(const job_record_t *job)
{
	uint64_t flags = GRES_DISABLE_BIND | GRES_ENFORCE_BIND | SPREAD_JOB | USE_MIN_NODES |
			 JOB_CPUS_SET | JOB_MEM_SET;

#ifdef GRES_ONE_TASK_PER_SHARING
	flags |= GRES_ONE_TASK_PER_SHARING;
#endif
#ifdef GRES_MULT_TASKS_PER_SHARING
	flags |= GRES_MULT_TASKS_PER_SHARING;
#endif
#ifdef GRES_ALLOW_TASK_SHARING
	flags |= GRES_ALLOW_TASK_SHARING;
#endif
	return job->bit_flags & flags;
}

/* Adds who asks: nodes may be for one user or one label alone. */
static uint64_t hash_owner(uint64_t hash, const job_record_t *job)
{
	hash = osp_hash_mix(hash, (uint64_t)job->user_id << 32 | job->group_id);
	hash = hash_words_of(hash, job->mcs_label);
	return hash_words_of(hash, job->resv_name);
}

uint64_t shadow_request_hash(const job_record_t *job)
{
	const char *const lists[] = {job->tres_per_job,	      job->tres_per_node,
				     job->tres_per_socket,    job->tres_per_task,
				     job->cpus_per_tres,      job->mem_per_tres,
				     job->details->features,  job->tres_bind,
				     job->details->req_nodes, shadow_extra(job)};
	uint64_t hash = hash_sizes(hash_partition(OSP_HASH_START, job->part_ptr), job->details);

	hash = osp_hash_mix(hash_owner(hash, job), flags_that_choose(job));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		hash = hash_words_of(hash, lists[i]);
	return hash ? hash : 1;
}

uint64_t shadow_choice_of(const job_record_t *job)
{
	uint64_t hash = OSP_HASH_START;

	if (job->part_ptr && job->part_ptr->name)
		hash = osp_hash_words(hash, job->part_ptr->name);
	hash = osp_hash_mix(osp_hash_mix(hash, job->resv_ptr ? job->resv_ptr->resv_id : 0),
			    job->qos_id);
	return hash_words_of(hash, job->details->features_use);
}
