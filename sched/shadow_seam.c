/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_seam.c - what job_submit asks of the shadow
 *
 * These functions are called in threads that hold Slurm's locks for reading jobs, nodes and
 * partitions (proc_req.c); from 24.11 on in several at a time. What scheduling calls change is read
 * under shadow_lock; the placement scratch has a mutex of its own.
 */
#include "sched/shadow.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "src/slurmctld/reservation.h"

#include "lib/policy/effective.h"
#include "lib/policy/note.h"
#include "lib/policy/sentences.h"
#include "sched/seam.h"
#include "sched/shadow_could.h"

static pthread_mutex_t seam_mutex = PTHREAD_MUTEX_INITIALIZER;

#define PARTITION_WORDS_BYTES 224

/* --- the policy in force ---------------------------------------------------------------------- */

static const char *partition_name(const char *asked, char *buffer, size_t buffer_bytes)
{
	if (asked && *asked) {
		snprintf(buffer, buffer_bytes, "%.*s", (int)strcspn(asked, ","), asked);
		return buffer;
	}
	return default_part_loc ? default_part_loc->name : NULL;
}

/*
 * Returns the least number of nodes that it needs in one of its partitions; 0 if no partition is
 * known.
 */
static uint32_t least_needed(const struct osp_seam_job *job)
{
	const char *list = job->partition ? job->partition : "";
	const part_record_t *partition = *list ? NULL : shadow_partition_named(NULL);
	uint32_t least = partition ? shadow_nodes_needed(job, partition) : 0, nodes;
	char *name;

	while ((name = shadow_next_name(&list))) {
		partition = shadow_partition_named(name);
		free(name);
		nodes = partition ? shadow_nodes_needed(job, partition) : least;
		if (!least || nodes < least)
			least = nodes;
	}
	return least;
}

/* Returns the job's size. A component counts with the others in its partition; the size of a job
 * that expands another is unknown. */
static struct osp_size size_of(const struct osp_seam_job *job)
{
	struct osp_size size = {.least_nodes = least_needed(job), .most_nodes = job->max_nodes};

	if (job->shape.heterogeneous)
		size.least_nodes += job->nodes_beside;
	if (job->shape.heterogeneous || job->shape.expands)
		size.most_nodes = 0;
	return size;
}

/* Formats "partition gpu", or "its partition" if there are several, or no default. */
static const char *partition_words(const char *partition, char words[PARTITION_WORDS_BYTES])
{
	if (partition)
		snprintf(words, PARTITION_WORDS_BYTES, "partition %.200s", partition);
	else
		strcpy(words, "its partition");
	return words;
}

/* Refuses a looser request: if users may not turn a gang off, they may not loosen it either. */
static int check_loosening(const struct osp_policy *policy, const struct osp_effective *effective,
			   const char *partition, char *sentence, size_t sentence_bytes)
{
	char words[PARTITION_WORDS_BYTES];

	if (!osp_policy_promises(policy) || !shadow_looser_than_policy(policy, effective))
		return 0;
	snprintf(sentence, sentence_bytes,
		 "%s holds its jobs to one %s; ask for --gang=%s or a level below it%s%s",
		 partition_words(partition, words), policy->level, policy->level,
		 shadow_sooner_than_policy(policy, effective) ? ", without @TIME" : "",
		 effective->domains_max > 1 ? ", without --gang-domains" : "");
	return -1;
}

/* Refuses a level whose domains cross the one that a partition promises. */
static int check_crossing(const char *partitions, const struct osp_effective *effective,
			  char *sentence, size_t sentence_bytes)
{
	struct osp_error error = {.text = ""};

	if (!shadow_state.topology || !osp_topology_overlay_count(shadow_state.topology) ||
	    !osp_policy_crosses(shadow_state.config, partitions, shadow_state.topology,
				effective->level, &error))
		return 0;
	snprintf(sentence, sentence_bytes, "%s; ask for another level, or for other partitions",
		 error.text);
	return -1;
}

/* Checks that the preferred level is below the one to which the job is held. */
static int check_prefer(const struct osp_effective *effective, int level, int held_to,
			char *sentence, size_t sentence_bytes)
{
	int prefer = osp_sentence_find_level(shadow_state.topology, effective->prefer, sentence,
					     sentence_bytes);

	if (prefer < 0)
		return -1;
	if (prefer < level &&
	    !osp_topology_below(shadow_state.topology, (uint32_t)prefer, (uint32_t)level))
		snprintf(sentence, sentence_bytes,
			 "--gang=%s,prefer: its partition already holds gangs to one %s, which is "
			 "beside the tree, so that no %s lies in it; ask for --gang=%s",
			 effective->prefer, effective->level, effective->prefer, effective->level);
	else if (prefer >= level)
		snprintf(sentence, sentence_bytes,
			 "--gang=%s,prefer: its partition already holds gangs to one %s, and %s is "
			 "no level below; ask for --gang=%s",
			 effective->prefer, effective->level, effective->prefer,
			 held_to > 0 && prefer > held_to ? effective->level : effective->prefer);
	else
		return 0;
	return -1;
}

static int check_level(const struct osp_effective *effective, int held_to, char *sentence,
		       size_t sentence_bytes)
{
	int level;

	if (!shadow_state.topology) {
		snprintf(sentence, sentence_bytes,
			 "no fabric topology is in force here, so no gang can be placed; tell your "
			 "administrator%s",
			 effective->way_out == OSP_WAY_LEAVE_OUT ? ", or submit without --gang"
			 : effective->way_out == OSP_WAY_OFF	 ? ", or submit with --gang=off"
								 : "");
		return -1;
	}
	level = osp_sentence_find_level(shadow_state.topology, effective->level, sentence,
					sentence_bytes);
	if (level < 0)
		return -1;
	return *effective->prefer
		       ? check_prefer(effective, level, held_to, sentence, sentence_bytes)
		       : 0;
}

/*
 * Returns the setting in slurm.conf that keeps a job from being made smaller before it starts, or
 * NULL.
 */
static const char *shrink_obstacle(void)
{
	if (xstrcasestr(slurm_conf.sched_params, "disable_job_shrink"))
		return "SchedulerParameters has disable_job_shrink";
	if (xstrcasestr(slurm_conf.slurmctld_params, "enable_stepmgr"))
		return "SlurmctldParameters has enable_stepmgr";
	if (slurm_conf.prolog_flags & OSP_PROLOG_FLAG_RUN_IN_JOB)
		return "PrologFlags has RunInJob";
	if (!(slurm_conf.prolog_flags & PROLOG_FLAG_ALLOC))
		return "PrologFlags lacks Alloc";
	return NULL;
}

/*
 * Checks that the partition can have spares: the gate releases them before the job starts, so
 * without a gate there are none.
 */
static int check_spares(const struct osp_seam_job *job, const char *partition, char *sentence,
			size_t sentence_bytes)
{
	const struct osp_gate_policy *gate = osp_config_gate(shadow_state.config, partition);
	const char *obstacle = shrink_obstacle();
	const part_record_t *part = shadow_partition_named(partition);
	char words[PARTITION_WORDS_BYTES], asked[64];

	if (job->segment_spares)
		snprintf(asked, sizeof(asked), "%u/segment, %u in all", job->segment_spares,
			 job->spares);
	else
		snprintf(asked, sizeof(asked), "%u", job->spares);
	if (gate->depth == OSP_GATE_OFF)
		snprintf(sentence, sentence_bytes,
			 "%s has no gate that would release spare nodes: leave out "
			 "--gang-spares",
			 partition_words(partition, words));
	else if (job->spares > gate->spares_max)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares=%s: %s allows %u spare node%s to a job; %s", asked,
			 partition_words(partition, words), gate->spares_max,
			 osp_plural_s(gate->spares_max),
			 gate->spares_max ? "ask for no more" : "leave it out");
	else if (part && part->max_share == 0)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares cannot work in partition %s: it gives whole nodes "
			 "(OverSubscribe=EXCLUSIVE), and Slurm does not give them back whole; "
			 "leave it out, or choose another partition",
			 part->name);
	else if (obstacle)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares cannot work here: in slurm.conf %s; leave it out",
			 obstacle);
	else
		return 0;
	return -1;
}

/* Checks the spares in each of the job's partitions, because it may run in any of them. */
static int check_spares_everywhere(const struct osp_seam_job *job, char *sentence,
				   size_t sentence_bytes)
{
	const char *list = job->partition ? job->partition : "";
	char *name;
	int rc = 0;

	if (!*list)
		return check_spares(job, default_part_loc ? default_part_loc->name : NULL, sentence,
				    sentence_bytes);
	while (rc == 0 && (name = shadow_next_name(&list))) {
		rc = check_spares(job, name, sentence, sentence_bytes);
		free(name);
	}
	return rc;
}

/* Returns the highest level for which a job may ask; 0: any. */
static int held_to_level(const struct osp_policy *policy)
{
	return shadow_state.topology && osp_policy_promises(policy)
		       ? osp_topology_level(shadow_state.topology, policy->level)
		       : 0;
}

/* Says what its segments leave of a domain. */
static void say_left(const struct osp_seam_job *job, struct osp_effective *effective)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_topology_level(topology, effective->level);
	struct osp_segments segments;

	effective->left[0] = '\0';
	if (*effective->segments && level > 0 &&
	    osp_segments_parse(effective->segments, topology, (uint32_t)level, &segments, NULL) ==
		    0)
		osp_sentence_segments_left(topology, &segments, job->min_nodes, effective->left,
					   sizeof(effective->left));
}

static int resolve_locked(const struct osp_seam_job *job, const struct osp_request *request,
			  struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	struct osp_error error = {0};
	struct osp_policy policy;
	struct osp_size size;
	char buffer[256];
	const char *partition = partition_name(job->partition, buffer, sizeof(buffer));
	int rc, held_to;

	if (job->spares && check_spares_everywhere(job, sentence, sentence_bytes))
		return -1;
	policy = osp_policy_of_list(shadow_state.config,
				    job->partition && *job->partition ? job->partition : partition,
				    shadow_state.topology);
	if (policy.gang_always)
		size = size_of(job);
	else
		size = (struct osp_size){job->min_nodes, job->max_nodes};
	if (osp_request_resolve(request, &policy, partition, &size, effective, &error)) {
		snprintf(sentence, sentence_bytes, "%s", error.text);
		return -1;
	}
	if (effective->mode == OSP_MODE_OFF || effective->if_large)
		return 0;
	/* the policy's time, which it did not ask for, would break what the policy promises */
	if (request->relax_s == -1 && osp_policy_promises(&policy) &&
	    shadow_relaxes_farther(&policy, effective))
		effective->relax_s = -1;
	held_to = held_to_level(&policy);
	rc = check_level(effective, held_to, sentence, sentence_bytes);
	if (rc == 0)
		rc = shadow_groups_translate(job, shadow_partition_named(partition), effective,
					     sentence, sentence_bytes);
	if (rc == 0 && effective->mode == OSP_MODE_ENFORCE)
		rc = check_crossing(job->partition && *job->partition ? job->partition : partition,
				    effective, sentence, sentence_bytes);
	if (rc == 0 && effective->mode == OSP_MODE_ENFORCE)
		rc = check_loosening(&policy, effective, partition, sentence, sentence_bytes);
	if (rc == 0 && job->segment_spares && !shadow_in_parts(effective))
		rc = shadow_spares_are_apart(job, &(struct osp_parts){.domains_max = 1}, sentence,
					     sentence_bytes);
	if (rc == 0 && effective->mode == OSP_MODE_ENFORCE)
		rc = shadow_fits_anywhere(
			job, effective, osp_topology_level(shadow_state.topology, effective->level),
			held_to, sentence, sentence_bytes);
	if (rc == 0)
		say_left(job, effective);
	if (rc != 0 && effective->mode == OSP_MODE_ADVISE) {
		effective->mode = OSP_MODE_OFF;
		rc = 0;
	}
	return rc;
}

/* Returns the reservation's partition, or NULL. Slurm takes it if the job names no partition
 * (_get_job_parts() in job_mgr.c). */
static const char *partition_of_reservation(const char *name)
{
	char *copy = name && *name ? xstrdup(name) : NULL;
	const slurmctld_resv_t *reservation = copy ? find_resv_name(copy) : NULL;

	xfree(copy);
	return reservation && reservation->part_ptr ? reservation->part_ptr->name : NULL;
}

static int resolve(const struct osp_seam_job *asked, const struct osp_request *request,
		   struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	char *partitions = asked->partition ? shadow_each_once(asked->partition) : NULL;
	struct osp_seam_job job = *asked;
	int rc;

	if (partitions)
		job.partition = partitions;
	else if (!asked->partition)
		job.partition = partition_of_reservation(asked->reservation);
	sentence[0] = '\0';
	pthread_rwlock_rdlock(&shadow_lock);
	pthread_mutex_lock(&seam_mutex);
	if (shadow_state.config) {
		rc = resolve_locked(&job, request, effective, sentence, sentence_bytes);
	} else {
		snprintf(sentence, sentence_bytes,
			 "Onespine has not read its policy yet; submit again in a moment, and tell "
			 "your administrator if that stays so");
		rc = -1;
	}
	pthread_mutex_unlock(&seam_mutex);
	pthread_rwlock_unlock(&shadow_lock);
	free(partitions);
	return rc;
}

/* --- onespine set ----------------------------------------------------------------------------- */

static void write_effective(job_record_t *job, const struct osp_effective *effective)
{
	char value[OSP_EFFECTIVE_BYTES];

	osp_effective_format(effective, value, sizeof(value));
	shadow_put_entry(job, OSP_EFFECTIVE, value);
}

static bool is_sound(const job_record_t *job)
{
	return job && job->magic == JOB_MAGIC && job->details;
}

/* Returns the number of this entry, as job_submit has written it; 0: there is none. */
static uint32_t number_of(const job_record_t *job, const char *entry)
{
	const char *number = shadow_spank_value(job, entry);

	return number ? (uint32_t)strtoul(number, NULL, 10) : 0;
}

uint32_t shadow_spares(const job_record_t *job)
{
	return number_of(job, OSP_EFFECTIVE_SPARES);
}

uint32_t shadow_segment_spares(const job_record_t *job)
{
	return number_of(job, OSP_EFFECTIVE_SEGMENT_SPARES);
}

struct others {
	const job_record_t *job;
	const part_record_t *partition;
	uint32_t nodes;
};

static int add_other(void *item, void *context)
{
	const job_record_t *component = item;
	struct others *others = context;

	if (component != others->job && component->details &&
	    component->part_ptr == others->partition &&
	    !shadow_may_choose(component, others->partition))
		others->nodes += shadow_least_nodes(component, component->details->min_nodes);
	return 0;
}

/* Returns how many nodes those other components of its heterogeneous job take at least that can
 * only be in this partition. */
static uint32_t nodes_beside(const job_record_t *job, const part_record_t *partition)
{
	const job_record_t *leader = job->het_job_id ? find_job_record(job->het_job_id) : NULL;
	struct others others = {.job = job, .partition = partition};

	if (partition && leader && leader->het_job_list)
		list_for_each(leader->het_job_list, add_other, &others);
	return others.nodes;
}

static void describe_job(const job_record_t *job, struct osp_seam_job *described)
{
	const __typeof__(*job->details) *details = job->details;

	*described = (struct osp_seam_job){
		.partition = job->partition,
		.required_nodes = details->req_nodes,
		.excluded_nodes = details->exc_nodes,
		.min_nodes = details->min_nodes,
		.max_nodes = shadow_most_nodes(job),
		.tasks = details->num_tasks != NO_VAL ? details->num_tasks : 0,
		.tasks_per_node = details->ntasks_per_node,
		.cpus = details->overcommit ? 0 : details->min_cpus,
		.tres_per_job = job->tres_per_job,
		.tres_per_node = job->tres_per_node,
		.tres_per_task = job->tres_per_task,
		.licenses = job->licenses,
		.nodes_beside = nodes_beside(job, job->part_ptr),
		.spares = shadow_spares(job),
		.segment_spares = shadow_segment_spares(job),
	};
	shadow_job_shape(job, &described->shape);
}

static int set_checked(job_record_t *job, const struct osp_request *request, char *sentence,
		       size_t sentence_bytes)
{
	struct osp_seam_job asked;
	struct osp_effective effective;

	describe_job(job, &asked);
	if (resolve(&asked, request, &effective, sentence, sentence_bytes) != 0)
		return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
	effective.origin = OSP_FROM_SET;
	if (effective.mode != OSP_MODE_OFF &&
	    osp_conflict_find(&asked.shape, OSP_CONFLICTS_ALL, &effective, sentence,
			      sentence_bytes))
		return ESLURM_NOT_SUPPORTED;
	write_effective(job, &effective);
	if (effective.mode == OSP_MODE_ENFORCE)
		shadow_license_carry(job);
	if (effective.mode != OSP_MODE_OFF) {
		shadow_gang_says(job, &effective, "set: not looked at yet");
	} else {
		char *comment = osp_note_merge(job->admin_comment, NULL);

		xfree(job->admin_comment);
		job->admin_comment = comment && *comment ? xstrdup(comment) : NULL;
		free(comment);
		last_job_update = time(NULL);
	}
	return 0;
}

static int set(struct job_record *record, uid_t uid, const struct osp_request *request,
	       char *sentence, size_t sentence_bytes)
{
	job_record_t *job = record;

	sentence[0] = '\0';
	if (!is_sound(job)) {
		snprintf(sentence, sentence_bytes, "there is no such job any more");
		return ESLURM_INVALID_JOB_ID;
	}
	if (job->user_id != uid && !validate_operator(uid)) {
		snprintf(sentence, sentence_bytes,
			 "job %u is not yours; its owner or an operator may change its gang",
			 job->job_id);
		return ESLURM_ACCESS_DENIED;
	}
	if (!IS_JOB_PENDING(job)) {
		snprintf(sentence, sentence_bytes,
			 "job %u is not pending; a gang can be changed only before it starts",
			 job->job_id);
		return ESLURM_JOB_NOT_PENDING;
	}
	return set_checked(job, request, sentence, sentence_bytes);
}

/* --- scontrol update -------------------------------------------------------------------------- */

/* Reads the request as the user last gave it. The policy makes a request of its own again. */
static bool request_of(const job_record_t *job, struct osp_request *request)
{
	const char *stored = shadow_spank_value(job, OSP_EFFECTIVE);
	bool readable;
	struct osp_effective effective = {.origin = OSP_FROM_OPTION};

	*request = (struct osp_request){
		.asked = OSP_GANG_OPTION_NONE, .origin = OSP_FROM_POLICY, .relax_s = -1};
	if (stored && osp_effective_parse(stored, &effective) != 0)
		return false;
	if (effective.origin == OSP_FROM_OPTION && shadow_option(job, request, &readable)) {
		request->origin = OSP_FROM_OPTION;
		/* the layout as it was completed, and segments with their spares: what is stored is
		 * not written anew */
		if (*effective.layout)
			memcpy(request->layout, effective.layout, sizeof(request->layout));
		if (*effective.layout || shadow_segment_spares(job))
			memcpy(request->segments, effective.segments, sizeof(request->segments));
		return readable;
	}
	if (!stored || effective.origin == OSP_FROM_POLICY)
		return true;
	request->origin = effective.origin;
	request->asked = effective.mode == OSP_MODE_OFF ? OSP_GANG_OPTION_OFF : OSP_GANG_OPTION_ON;
	memcpy(request->level, effective.level, sizeof(request->level));
	request->domains_max = effective.domains_max;
	memcpy(request->segments, effective.segments, sizeof(request->segments));
	memcpy(request->layout, effective.layout, sizeof(request->layout));
	memcpy(request->keep, effective.keep, sizeof(request->keep));
	memcpy(request->prefer, effective.prefer, sizeof(request->prefer));
	request->relax_s = effective.relax_s < 0 ? OSP_RELAX_NEVER : effective.relax_s;
	return true;
}

static bool describe(struct job_record *record, const char *partition,
		     struct osp_seam_job *described, struct osp_request *request)
{
	const job_record_t *job = record;

	if (!is_sound(job) || !IS_JOB_PENDING(job) || !request_of(job, request))
		return false;
	describe_job(job, described);
	if (partition)
		described->nodes_beside = nodes_beside(job, find_part_record((char *)partition));
	return true;
}

/* Tells to what the job that grows is held with so many nodes. */
static bool held_when_grown(job_record_t *job, uint32_t nodes, struct osp_effective *effective)
{
	static const struct osp_request nothing = {.asked = OSP_GANG_OPTION_NONE, .relax_s = -1};
	const struct osp_policy *policy;
	struct osp_size size = {nodes, nodes};

	if (shadow_gang_request(job, effective) && !effective->if_large)
		return effective->mode == OSP_MODE_ENFORCE;
	if (!shadow_state.config)
		return false;
	policy = osp_config_policy(shadow_state.config, job->partition);
	return osp_policy_promises(policy) &&
	       osp_request_resolve(&nothing, policy, NULL, &size, effective, NULL) == 0 &&
	       effective->mode == OSP_MODE_ENFORCE;
}

static int merge(struct job_record *record, char *sentence, size_t sentence_bytes)
{
	job_record_t *job = record, *grown;
	struct osp_effective effective;
	struct osp_nodeset *nodes, *own;
	int rc = 0;

	if (!is_sound(job) || !job->details->expanding_jobid || !job->node_bitmap)
		return 0;
	grown = find_job_record(job->details->expanding_jobid);
	if (!is_sound(grown) || !grown->node_bitmap || !shadow_state.topology)
		return 0;
	nodes = osp_nodeset_new(shadow_state.node_count);
	own = osp_nodeset_new(shadow_state.node_count);
	if (nodes && own) {
		shadow_from_bitmap(nodes, grown->node_bitmap);
		shadow_from_bitmap(own, job->node_bitmap);
		osp_nodeset_or(nodes, own);
		if (held_when_grown(grown, osp_nodeset_count(nodes), &effective) &&
		    !shadow_gang_together(grown, &effective, nodes))
			rc = -1;
	}
	if (rc)
		snprintf(sentence, sentence_bytes,
			 "job %u is a gang on %s %s, and with the nodes of job %u it would not be",
			 grown->job_id,
			 shadow_in_parts(&effective) ? "segments or domains of" : "one",
			 effective.level, job->job_id);
	free(nodes);
	free(own);
	return rc;
}

static const char *admin_comment(const struct job_record *record)
{
	const job_record_t *job = record;

	return is_sound(job) ? job->admin_comment : NULL;
}

const struct osp_seam shadow_seam = {
	.version = OSP_VERSION,
	.resolve = resolve,
	.set = set,
	.describe = describe,
	.merge = merge,
	.admin_comment = admin_comment,
};
