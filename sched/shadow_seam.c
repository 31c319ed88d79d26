/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_seam.c - what job_submit asks of the shadow
 *
 * Called in threads that hold Slurm's locks for reading jobs, nodes and partitions (proc_req.c);
 * from 24.11 on several at a time. What scheduling calls change is read under shadow_lock; the
 * placement scratch has a mutex of its own.
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/policy/note.h"
#include "lib/policy/words.h"
#include "sched/seam.h"

static pthread_mutex_t seam_mutex = PTHREAD_MUTEX_INITIALIZER;

/* --- where it could ever run ----------------------------------------------------------------- */

static struct osp_nodeset *nodes_named(const char *names)
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

static part_record_t *partition_named(const char *name)
{
	char *copy;
	part_record_t *partition;

	if (!name)
		return default_part_loc;
	copy = xstrdup(name);
	partition = find_part_record(copy);
	xfree(copy);
	return partition;
}

/* One question "could it ever run?"; freed with clear_question(). */
struct question {
	struct osp_place_input input;
	struct osp_nodeset *usable;
	struct osp_nodeset *required;
};

static void clear_question(struct question *question)
{
	free(question->usable);
	free(question->required);
}

static int ask(struct question *question, const struct osp_seam_job *job,
	       const part_record_t *partition, const struct osp_effective *effective, int level)
{
	struct osp_nodeset *excluded;

	memset(question, 0, sizeof(*question));
	question->usable = osp_nodeset_new(shadow_state.node_count);
	if (!question->usable)
		return -1;
	shadow_from_bitmap(question->usable, partition->node_bitmap);
	excluded = job->excluded_nodes ? nodes_named(job->excluded_nodes) : NULL;
	if (excluded)
		osp_nodeset_and_not(question->usable, excluded);
	free(excluded);
	if (job->required_nodes)
		question->required = nodes_named(job->required_nodes);
	question->input = (struct osp_place_input){
		.level = (uint32_t)level,
		.need_nodes = job->min_nodes ? job->min_nodes : 1,
		.want_nodes = job->min_nodes ? job->min_nodes : 1,
		.usable = question->usable,
		.required = question->required,
	};
	if (question->required &&
	    osp_nodeset_count(question->required) > question->input.need_nodes)
		question->input.need_nodes = question->input.want_nodes =
			osp_nodeset_count(question->required);
	if (!effective->mix_kinds && shadow_state.kind_count > 1) {
		question->input.kind = shadow_state.kind;
		question->input.kind_count = shadow_state.kind_count;
	}
	return 0;
}

/* The lowest level above that would hold the gang, 0 for none. */
static uint32_t next_level_that_fits(struct osp_place_input input)
{
	uint32_t candidate_count, domain_count;

	while (++input.level <= osp_topology_level_count(shadow_state.topology)) {
		osp_place_order(shadow_state.seam_place, &input, &candidate_count, &domain_count);
		if (candidate_count)
			return input.level;
	}
	return 0;
}

static int could_run(const struct question *question, const char *partition, char *sentence,
		     size_t sentence_bytes)
{
	const struct osp_place_domain *domains;
	uint32_t candidate_count, domain_count, next_level;

	domains = osp_place_order(shadow_state.seam_place, &question->input, &candidate_count,
				  &domain_count);
	if (candidate_count)
		return 0;
	next_level = next_level_that_fits(question->input);
	domains = osp_place_order(shadow_state.seam_place, &question->input, &candidate_count,
				  &domain_count);
	osp_words_never(shadow_state.topology, &question->input, domains, domain_count, partition,
			next_level, sentence, sentence_bytes);
	return -1;
}

/* A name in "a,b,c", copied; *list moves on. NULL at the end. */
static char *next_name(const char **list)
{
	size_t length = strcspn(*list, ",");
	char *name = length ? strndup(*list, length) : NULL;

	*list += length + ((*list)[length] == ',');
	return name;
}

static int fits_partition(const struct osp_seam_job *job, const char *name,
			  const struct osp_effective *effective, int level, char *sentence,
			  size_t sentence_bytes)
{
	part_record_t *partition = partition_named(name);
	struct question question;
	int rc = 0;

	if (!partition || !partition->node_bitmap)
		return 0; /* Slurm itself will say what is wrong with it */
	if (ask(&question, job, partition, effective, level) == 0)
		rc = could_run(&question, partition->name, sentence, sentence_bytes);
	clear_question(&question);
	return rc;
}

/* Fits one of its partitions, or says why it fits none (the last one's sentence). */
static int fits_anywhere(const struct osp_seam_job *job, const struct osp_effective *effective,
			 int level, char *sentence, size_t sentence_bytes)
{
	const char *list = job->partition;
	char *name;
	int rc = -1;

	if (!list || !*list)
		return fits_partition(job, NULL, effective, level, sentence, sentence_bytes);
	while (rc != 0 && (name = next_name(&list))) {
		rc = fits_partition(job, name, effective, level, sentence, sentence_bytes);
		free(name);
	}
	return rc;
}

/* --- the policy in force --------------------------------------------------------------------- */

static const char *partition_name(const char *asked, char *buffer, size_t buffer_bytes)
{
	if (asked && *asked) {
		snprintf(buffer, buffer_bytes, "%.*s", (int)strcspn(asked, ","), asked);
		return buffer;
	}
	return default_part_loc ? default_part_loc->name : NULL;
}

/* The first partition's policy, in the strictest mode of all that are named. */
static struct osp_policy policy_of(const struct osp_seam_job *job, const char *first)
{
	struct osp_policy policy = *osp_config_policy(shadow_state.config, first);
	const char *list = job->partition ? job->partition : "";
	char *name;

	while ((name = next_name(&list))) {
		const struct osp_policy *other = osp_config_policy(shadow_state.config, name);

		if (other->mode > policy.mode)
			policy.mode = other->mode;
		policy.allow_off = policy.allow_off && other->allow_off;
		free(name);
	}
	return policy;
}

/* Where users may not turn a gang off they may not loosen it either. */
static int check_loosening(const struct osp_policy *policy, const struct osp_effective *effective,
			   const char *partition, char *sentence, size_t sentence_bytes)
{
	if (!policy->gang_always || policy->allow_off ||
	    !shadow_looser_than_policy(policy, effective))
		return 0;
	snprintf(sentence, sentence_bytes,
		 "partition %s holds its jobs to one %s; ask for --gang=%s or a level below it%s",
		 partition ? partition : "?", policy->level, policy->level,
		 shadow_sooner_than_policy(policy, effective) ? ", without @TIME" : "");
	return -1;
}

static int check_level(const struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	if (!shadow_state.topology) {
		snprintf(sentence, sentence_bytes,
			 "no fabric topology is in force here, so no gang can be placed; tell your "
			 "administrator, or submit without --gang");
		return -1;
	}
	if (osp_topology_level(shadow_state.topology, effective->level) < 1) {
		osp_words_no_level(shadow_state.topology, effective->level, sentence,
				   sentence_bytes);
		return -1;
	}
	return 0;
}

/* What of slurm.conf keeps a job from being made smaller before it starts, or NULL. */
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

/* Spares are released by the gate before the job starts; where it cannot, there are none. */
static int check_spares(const struct osp_seam_job *job, const char *partition, char *sentence,
			size_t sentence_bytes)
{
	const struct osp_gate_policy *gate = osp_config_gate(shadow_state.config, partition);
	const char *obstacle = shrink_obstacle();
	const part_record_t *part = partition_named(partition);

	if (gate->depth == OSP_GATE_OFF)
		snprintf(sentence, sentence_bytes,
			 "partition %s has no gate that would release spare nodes: leave out "
			 "--gang-spares",
			 partition ? partition : "?");
	else if (job->spares > gate->spares_max)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares=%u: partition %s allows %u spare node%s to a job",
			 job->spares, partition ? partition : "?", gate->spares_max,
			 gate->spares_max == 1 ? "" : "s");
	else if (part && part->max_share == 0)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares cannot work in partition %s: it gives whole nodes "
			 "(OverSubscribe=EXCLUSIVE), and Slurm does not give them back whole",
			 part->name);
	else if (obstacle)
		snprintf(sentence, sentence_bytes,
			 "--gang-spares cannot work here: in slurm.conf %s; leave it out",
			 obstacle);
	else
		return 0;
	return -1;
}

static int resolve_locked(const struct osp_seam_job *job, const struct osp_request *request,
			  struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	struct osp_error error = {0};
	struct osp_policy policy;
	char buffer[256];
	const char *partition = partition_name(job->partition, buffer, sizeof(buffer));
	int rc;

	if (job->spares && check_spares(job, partition, sentence, sentence_bytes))
		return -1;
	policy = policy_of(job, partition);
	if (osp_request_resolve(request, &policy, partition, job->min_nodes, effective, &error)) {
		snprintf(sentence, sentence_bytes, "%s", error.text);
		return -1;
	}
	if (effective->mode == OSP_MODE_OFF)
		return 0;
	rc = check_level(effective, sentence, sentence_bytes);
	if (rc == 0 && effective->mode == OSP_MODE_ENFORCE)
		rc = check_loosening(&policy, effective, partition, sentence, sentence_bytes);
	if (rc == 0 && effective->mode == OSP_MODE_ENFORCE)
		rc = fits_anywhere(job, effective,
				   osp_topology_level(shadow_state.topology, effective->level),
				   sentence, sentence_bytes);
	if (rc != 0 && effective->mode == OSP_MODE_ADVISE) {
		effective->mode = OSP_MODE_OFF;
		rc = 0;
	}
	return rc;
}

static int resolve(const struct osp_seam_job *job, const struct osp_request *request,
		   struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	int rc;

	sentence[0] = '\0';
	pthread_rwlock_rdlock(&shadow_lock);
	pthread_mutex_lock(&seam_mutex);
	if (shadow_state.config) {
		rc = resolve_locked(job, request, effective, sentence, sentence_bytes);
	} else {
		snprintf(sentence, sentence_bytes, "Onespine has not read its policy yet");
		rc = -1;
	}
	pthread_mutex_unlock(&seam_mutex);
	pthread_rwlock_unlock(&shadow_lock);
	return rc;
}

/* --- onespine set ---------------------------------------------------------------------------- */

/* Writes OSP_EFFECTIVE into the record's spank_job_env, in place of an older one. */
static void write_effective(job_record_t *job, const struct osp_effective *effective)
{
	char value[160];
	size_t prefix = strlen(OSP_EFFECTIVE);
	char *entry = NULL;
	uint32_t at;

	osp_effective_format(effective, value, sizeof(value));
	entry = xstrdup_printf("%s%s", OSP_EFFECTIVE, value);
	for (at = 0; at < job->spank_job_env_size; at++) {
		if (job->spank_job_env[at] &&
		    !strncmp(job->spank_job_env[at], OSP_EFFECTIVE, prefix))
			break;
	}
	if (at == job->spank_job_env_size) {
		/* one more than the size: readers of other releases expect a NULL at the end */
		xrecalloc(job->spank_job_env, at + 2, sizeof(char *));
		job->spank_job_env_size = at + 1;
	}
	xfree(job->spank_job_env[at]);
	job->spank_job_env[at] = entry;
}

static int set_checked(job_record_t *job, const struct osp_request *request, char *sentence,
		       size_t sentence_bytes)
{
	struct osp_seam_job asked = {
		.partition = job->partition,
		.required_nodes = job->details->req_nodes,
		.excluded_nodes = job->details->exc_nodes,
		.min_nodes = shadow_least_nodes(job, job->details->min_nodes),
	};
	struct osp_effective effective;

	if (resolve(&asked, request, &effective, sentence, sentence_bytes) != 0)
		return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
	effective.origin = OSP_FROM_SET;
	write_effective(job, &effective);
	if (effective.mode != OSP_MODE_OFF) {
		shadow_gang_says(job, &effective, NULL, NULL, "set: not looked at yet");
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
	if (!job || job->magic != JOB_MAGIC || !job->details) {
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

const struct osp_seam shadow_seam = {
	.version = OSP_VERSION,
	.resolve = resolve,
	.set = set,
};
