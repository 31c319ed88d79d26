/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shadow_gang.c - one gang: what it asks for, which nodes it may have, what its AdminComment says
 */
#include "sched/shadow.h"

#include <string.h>

#include "lib/layout/gang_start.h"
#include "lib/policy/note.h"
#include "lib/policy/sentences.h"
#include "sched/gang_comment.h"

#define WAITS "waits: "

static int find_level(struct shadow_gang *gang, uint32_t min_nodes, char *why, size_t why_bytes)
{
	const struct osp_topology *topology = shadow_state.topology;
	int level = osp_sentence_find_level(topology, gang->effective.level, why, why_bytes);

	if (level < 0)
		return -1;
	gang->level = (uint32_t)level;
	gang->relaxed = shadow_is_relaxed(gang->job, &gang->effective);
	if (shadow_in_parts(&gang->effective))
		return shadow_parts_begin(gang, min_nodes, why, why_bytes);
	if (gang->relaxed)
		gang->level = osp_topology_relaxed(topology, gang->level);
	level = *gang->effective.prefer ? osp_topology_level(topology, gang->effective.prefer) : 0;
	if (level > 0 && osp_topology_below(topology, (uint32_t)level, gang->level))
		gang->prefer_level = (uint32_t)level;
	return 0;
}

/* --- its size --------------------------------------------------------------------------------- */

static uint32_t divide_up(uint64_t a, uint64_t b)
{
	uint64_t quotient = b ? a / b + (a % b != 0) : 0;

	return quotient > UINT32_MAX ? UINT32_MAX : (uint32_t)quotient;
}

/*
 * Returns the most of a resource that a node has. If the resource is in no account, reads each
 * node's own record.
 */
static uint64_t most_on_a_node(const struct osp_nodeset *usable, uint32_t gres_id)
{
	int index = shadow_count_gres(gres_id);
	uint64_t most = index >= 0 ? shadow_count_largest(usable).gres[index] : 0;

	for (uint32_t n = osp_nodeset_next(usable, 0); index < 0 && n < usable->place_count;
	     n = osp_nodeset_next(usable, n + 1)) {
		const node_record_t *node = node_record_table_ptr[n];
		uint64_t has = node ? shadow_node_gres(node, gres_id) : 0;

		if (has > most)
			most = has;
	}
	return most;
}

struct gres_size {
	const struct osp_nodeset *usable;
	uint32_t nodes;
};

static int gres_total_needs(void *item, void *context)
{
	gres_state_t *state = item;
	gres_job_state_t *need = state->gres_data;
	struct gres_size *size = context;
	uint32_t nodes;

	if (!need || !need->gres_per_job)
		return 0;
	nodes = divide_up(need->gres_per_job, most_on_a_node(size->usable, state->plugin_id));
	if (nodes > size->nodes)
		size->nodes = nodes;
	return 0;
}

/* Returns the most CPUs that the job could have on a node. With --core-spec these may include CPUs
 * that are kept for the system, which are in no
 * account: at most all. */
static uint64_t most_cpus_on_a_node(const struct shadow_gang *gang)
{
	const struct osp_nodeset *usable = gang->usable;
	uint64_t most = 0;

	if (gang->job->details->core_spec == NO_VAL16)
		return shadow_count_largest(usable).cpus;
	for (uint32_t n = osp_nodeset_next(usable, 0); n < usable->place_count;
	     n = osp_nodeset_next(usable, n + 1)) {
		const node_record_t *node = node_record_table_ptr[n];

		if (node && node->cpus > most)
			most = node->cpus;
	}
	return most;
}

/*
 * Returns the least number of nodes: for -n 96, --gpus=96 and the like min_nodes is 1, and Slurm
 * computes the size inside. An estimate only orders the domains.
 */
static uint32_t least_nodes(const struct shadow_gang *gang, uint32_t min_nodes)
{
	const job_record_t *job = gang->job;
	const __typeof__(*job->details) *details = job->details;
	struct gres_size size = {gang->usable, shadow_least_nodes(job, min_nodes)};
	uint32_t nodes;

	if (details->min_cpus > size.nodes && !details->overcommit) {
		nodes = divide_up(details->min_cpus, most_cpus_on_a_node(gang));
		if (nodes > size.nodes)
			size.nodes = nodes;
	}
	if (job->gres_list_req)
		list_for_each(job->gres_list_req, gres_total_needs, &size);
	return size.nodes;
}

/* --- its nodes -------------------------------------------------------------------------------- */

static struct osp_nodeset *set_of_bitmap(bitstr_t *bitmap)
{
	struct osp_nodeset *set = bitmap ? osp_nodeset_new(shadow_state.node_count) : NULL;

	if (set)
		shadow_from_bitmap(set, bitmap);
	return set;
}

bool shadow_shares_nodes(const job_record_t *job)
{
	return job->part_ptr && (job->part_ptr->max_share & ~SHARED_FORCE) > 1;
}

/* Returns whether the job takes whole nodes. OverSubscribe=EXCLUSIVE makes every job one of whole
 * nodes, FORCE none: there --exclusive shares like any other (_get_job_node_req() in
 * job_test.c). */
static bool takes_whole_nodes(const job_record_t *job)
{
	uint16_t share = job->part_ptr ? job->part_ptr->max_share : 1;

	return !share || (OSP_WANTS_WHOLE_NODES(job->details) && !(share & SHARED_FORCE));
}

/* Returns nodes that are free of jobs and on which Slurm starts nothing yet: RUN_NOW is not offered
 * them, but backfill is (backfill.c). */
static struct osp_nodeset *settling_nodes(void)
{
	struct osp_nodeset *settling = set_of_bitmap(cg_node_bitmap);
	struct osp_nodeset *booting = set_of_bitmap(rs_node_bitmap);

	if (settling && booting)
		osp_nodeset_or(settling, booting);
	free(booting);
	return settling;
}

/* Returns those of them that hang. */
static struct osp_nodeset *stuck_nodes(int64_t now_s)
{
	struct osp_nodeset *stuck = set_of_bitmap(cg_node_bitmap);

	for (uint32_t n = stuck ? osp_nodeset_next(stuck, 0) : 0; stuck && n < stuck->place_count;
	     n = osp_nodeset_next(stuck, n + 1)) {
		const node_record_t *node = node_record_table_ptr[n];

		if (!node || !shadow_node_hangs(node, now_s))
			osp_nodeset_remove(stuck, n);
	}
	return stuck;
}

static bool keep_idle(struct osp_nodeset *nodes)
{
	struct osp_nodeset *other = set_of_bitmap(idle_node_bitmap);

	if (!other)
		return false;
	osp_nodeset_and(nodes, other);
	if (cg_node_bitmap) {
		shadow_from_bitmap(other, cg_node_bitmap);
		osp_nodeset_and_not(nodes, other);
	}
	free(other);
	return true;
}

static void look_at_sharing(struct shadow_gang *gang)
{
	gang->counts = gang->whole_nodes || !shadow_shares_nodes(gang->job);
	gang->lies_over = gang->counts && !gang->whole_nodes && shadow_may_lie_over(gang->job);
	gang->free_is_certain = gang->counts && !gang->lies_over;
}

struct osp_nodeset *shadow_gang_free_among(const struct shadow_gang *gang,
					   const struct osp_nodeset *nodes)
{
	struct osp_nodeset *found = osp_nodeset_copy(nodes);

	if (found && gang->whole_nodes && !keep_idle(found)) {
		free(found);
		return NULL;
	}
	if (found && gang->counts)
		shadow_count_keep_free(&gang->need, found);
	return found;
}

int shadow_gang_count_free(struct shadow_gang *gang)
{
	if (!gang->free)
		gang->free = shadow_gang_free_among(gang, gang->usable);
	return gang->free ? 0 : -1;
}

int shadow_gang_begin(struct shadow_gang *gang, job_record_t *job,
		      const struct osp_effective *effective, bitstr_t *bitmap, uint32_t min_nodes,
		      uint32_t req_nodes, char *why, size_t why_bytes)
{
	memset(gang, 0, sizeof(*gang));
	gang->job = job;
	gang->effective = *effective;
	if (!shadow_state.topology) {
		snprintf(why, why_bytes,
			 "waits: no fabric topology is in force; the administrator finds the "
			 "reason in slurmctld's log");
		return -1;
	}
	snprintf(why, why_bytes, "waits: slurmctld is short of memory");
	gang->whole_nodes = takes_whole_nodes(job);
	shadow_need(job, gang->whole_nodes, shadow_shares_nodes(job), &gang->need);
	gang->usable = set_of_bitmap(bitmap);
	if (!gang->usable)
		return -1;
	look_at_sharing(gang);
	gang->boot = set_of_bitmap(OSP_POWERED_DOWN_NODES);
	gang->settling = settling_nodes();
	gang->stuck = stuck_nodes(time(NULL));
	if (job->details->req_node_bitmap) {
		gang->required = set_of_bitmap(job->details->req_node_bitmap);
		if (!gang->required)
			return -1;
	}
	gang->need_nodes = least_nodes(gang, min_nodes);
	gang->exact_size = gang->need_nodes == min_nodes;
	gang->want_nodes = req_nodes > gang->need_nodes ? req_nodes : gang->need_nodes;
	if (min_nodes > shadow_state.largest_gang)
		shadow_state.largest_gang = min_nodes;
	return find_level(gang, min_nodes, why, why_bytes);
}

/* Takes the nodes of old places out of `nodes`; those of reserved places stay with `launches`. */
static void drop_old(struct osp_nodeset *nodes, bool launches)
{
	const struct osp_nodeset *old = shadow_state.old_places;

	for (uint32_t n = osp_nodeset_next(old, 0); n < old->place_count;
	     n = osp_nodeset_next(old, n + 1)) {
		if (!launches || !shadow_place_is_reserved(n))
			osp_nodeset_remove(nodes, n);
	}
}

static bool may_launch(const struct shadow_gang *gang)
{
	return gang->level && !gang->in_parts && shadow_launch_may(gang->job, &gang->effective);
}

void shadow_gang_drop_old_places(struct shadow_gang *gang)
{
	uint32_t usable = osp_nodeset_count(gang->usable);
	bool launches = may_launch(gang);

	if (launches && shadow_gang_count_free(gang) == 0)
		gang->unlaunched = shadow_launch_unlaunched(gang);
	drop_old(gang->usable, launches);
	if (gang->free)
		drop_old(gang->free, launches);
	gang->old_places = usable - osp_nodeset_count(gang->usable);
}

void shadow_gang_clear(struct shadow_gang *gang)
{
	free(gang->usable);
	free(gang->free);
	free(gang->boot);
	free(gang->required);
	free(gang->settling);
	free(gang->stuck);
	free(gang->unlaunched);
	memset(gang, 0, sizeof(*gang));
}

/* Drops the nodes of reservations that have begun, except the job's own: with FLEX it may have
 * nodes outside that too. */
static void drop_reserved(const job_record_t *job, struct osp_nodeset *nodes)
{
	bitstr_t *own = job->resv_ptr ? job->resv_ptr->node_bitmap : NULL;

	for (uint32_t n = osp_nodeset_next(shadow_state.reserved, 0); n < nodes->place_count;
	     n = osp_nodeset_next(shadow_state.reserved, n + 1)) {
		if (!own || !bit_test(own, n))
			osp_nodeset_remove(nodes, n);
	}
}

/* Nodes with the features that --constraint asks for, by Slurm's own bitmaps. */
struct featured {
	struct osp_nodeset *all; /* nodes with every feature */
	struct osp_nodeset *any; /* nodes with at least one */
	bool only_and;
	bool known;
};

static int add_feature(void *item, void *context)
{
	const job_feature_t *feature = item;
	struct featured *to = context;
	struct osp_nodeset *has = set_of_bitmap(feature->node_bitmap_avail);

	to->known &= has != NULL;
	if (has) {
		osp_nodeset_and(to->all, has);
		osp_nodeset_or(to->any, has);
	}
	to->only_and &= feature->op_code == FEATURE_OP_AND || feature->op_code == FEATURE_OP_END;
	free(has);
	return to->known ? 0 : -1;
}

/* Drops nodes that --constraint certainly rules out: with "a|b" those that have neither. */
static void keep_featured(const job_record_t *job, struct osp_nodeset *nodes)
{
	struct featured found = {.only_and = true, .known = true};

	if (!job->details->feature_list)
		return;
	found.all = osp_nodeset_copy(nodes);
	found.any = osp_nodeset_new(shadow_state.node_count);
	if (found.all && found.any) {
		list_for_each(job->details->feature_list, add_feature, &found);
		if (found.known)
			osp_nodeset_and(nodes, found.only_and ? found.all : found.any);
	}
	free(found.all);
	free(found.any);
}

struct osp_nodeset *shadow_gang_prospects_but_extra(const struct shadow_gang *gang)
{
	const job_record_t *job = gang->job;
	bool in_reservation = job->resv_ptr && job->resv_ptr->node_bitmap &&
			      !(job->resv_ptr->flags & RESERVE_FLAG_FLEX);
	struct osp_nodeset *nodes = NULL, *excluded, *own;

	if (job->part_ptr)
		nodes = set_of_bitmap(job->part_ptr->node_bitmap);
	if (!nodes)
		return osp_nodeset_copy(gang->usable);
	if (in_reservation) {
		own = set_of_bitmap(job->resv_ptr->node_bitmap);
		if (own)
			osp_nodeset_and(nodes, own);
		free(own);
	}
	osp_nodeset_and(nodes, shadow_state.up);
	if (!in_reservation)
		drop_reserved(job, nodes);
	excluded = set_of_bitmap(job->details->exc_node_bitmap);
	if (excluded)
		osp_nodeset_and_not(nodes, excluded);
	free(excluded);
	drop_old(nodes, may_launch(gang));
	keep_featured(job, nodes);
	osp_nodeset_or(nodes, gang->usable);
	return nodes;
}

struct osp_nodeset *shadow_gang_prospects(const struct shadow_gang *gang)
{
	struct osp_nodeset *nodes = shadow_gang_prospects_but_extra(gang);

	if (nodes && !shadow_extra_drop(gang->job, nodes)) {
		free(nodes);
		return NULL;
	}
	if (nodes)
		osp_nodeset_or(nodes, gang->usable);
	return nodes;
}

struct osp_nodeset *shadow_gang_able(const struct shadow_gang *gang)
{
	struct osp_nodeset *nodes = shadow_gang_prospects(gang);

	if (nodes)
		shadow_count_keep_able(&gang->need, nodes);
	return nodes;
}

struct osp_place_input shadow_gang_input(const struct shadow_gang *gang)
{
	struct osp_place_input input = {
		.level = gang->level,
		.need_nodes = gang->need_nodes,
		.want_nodes = gang->want_nodes,
		.free_only = gang->free_is_certain,
		.usable = gang->usable,
		.free = gang->free,
		.boot = gang->boot,
		.required = gang->required,
		.weight = shadow_state.weights_differ ? shadow_state.weight : NULL,
		.largest_gang = shadow_state.largest_gang,
		.zoned = shadow_state.topology,
	};

	if (!gang->effective.mix_kinds && shadow_state.kind_count > 1) {
		input.kind = shadow_state.kind;
		input.kind_count = shadow_state.kind_count;
	}
	return input;
}

/* --- its AdminComment ------------------------------------------------------------------------- */

/* Writes our part of the job's AdminComment. `note` comes without the request. */
static void write_note(job_record_t *job, const struct osp_effective *effective,
		       struct osp_note *note)
{
	char gang[OSP_GANG_COMMENT_BYTES];
	char *comment;

	note->gang = osp_gang_comment(effective, gang, sizeof(gang));
	comment = osp_note_merge(job->admin_comment, note);
	if (comment && xstrcmp(comment, job->admin_comment)) {
		xfree(job->admin_comment);
		job->admin_comment = xstrdup(comment);
		last_job_update = time(NULL);
	}
	free(comment);
}

bool shadow_gang_says(job_record_t *job, const struct osp_effective *effective, const char *says)
{
	struct osp_note note = {.says = says};

	write_note(job, effective, &note);
	return strncmp(says, WAITS, strlen(WAITS)) || shadow_print_to_client(job, says, time(NULL));
}

/* Says where the gang is: `domain` may be NULL. */
static void say_placed(job_record_t *job, const struct osp_effective *effective, const char *domain,
		       const struct osp_gang_start *start, char *says, size_t says_bytes)
{
	struct osp_note note = {.domain = domain, .says = says};
	size_t length = strlen(says);

	if (start->small_first)
		snprintf(says + length, says_bytes - length,
			 "; ranks begin in the smaller segment, where %s is", start->small_first);
	shadow_order_note(start, &note);
	/* in mode advise Slurm placed the gang, and its ranks stay Slurm's */
	if (effective->mode == OSP_MODE_ENFORCE && shadow_order_ranks(job, start))
		note.ranks = OSP_NOTE_SLURM_RANKS;
	shadow_note_segments(job, effective);
	write_note(job, effective, &note);
	shadow_print_placed(job, says, time(NULL));
	free((char *)note.leaves);
	free((char *)note.order);
}

/* Takes our part out of the job's AdminComment, if it has one. */
static void clear_note(job_record_t *job)
{
	static const struct osp_note nothing = {.gang = NULL};
	struct osp_note found;
	char *comment;

	if (!job->admin_comment || !osp_note_find(job->admin_comment, &found))
		return;
	comment = found.gang ? osp_note_merge(job->admin_comment,
					      found.gate || found.log || found.suspects ? &nothing
											: NULL)
			     : NULL;
	osp_note_free_pieces(&found);
	if (!comment)
		return;
	xfree(job->admin_comment);
	job->admin_comment = *comment ? xstrdup(comment) : NULL;
	last_job_update = time(NULL);
	free(comment);
}

static uint32_t domain_of_all(const struct osp_nodeset *nodes, uint32_t level)
{
	const struct osp_topology *topology = shadow_state.topology;
	uint32_t first = osp_nodeset_next(nodes, 0);
	uint32_t domain;

	if (!level || first >= nodes->place_count)
		return OSP_NO_DOMAIN;
	domain = osp_topology_domain_of(topology, first, level);
	for (uint32_t n = first; n < nodes->place_count; n = osp_nodeset_next(nodes, n + 1)) {
		if (osp_topology_domain_of(topology, n, level) != domain)
			return OSP_NO_DOMAIN;
	}
	return domain;
}

/*
 * Returns the domain that all its nodes share on the lowest level, from the preferred one to its
 * own, or the one above if relaxed; none if the place of a node does not hold. *anywhere: it is
 * relaxed from the top level, so no domain has to be shared.
 */
static uint32_t domain_reached(const job_record_t *job, const struct osp_effective *effective,
			       const struct osp_nodeset *nodes, bool *anywhere)
{
	int level = osp_topology_level(shadow_state.topology, effective->level);
	int least = *effective->prefer
			    ? osp_topology_level(shadow_state.topology, effective->prefer)
			    : level;
	bool known = shadow_places_hold(nodes);
	uint32_t domain = OSP_NO_DOMAIN, relaxed;

	*anywhere = false;
	if (level < 1)
		return OSP_NO_DOMAIN;
	/* the level preferred may be gone, or beside the tree since */
	if (least < 1 ||
	    !osp_topology_below(shadow_state.topology, (uint32_t)least, (uint32_t)level))
		least = level;
	for (int i = least; known && i <= level && domain == OSP_NO_DOMAIN; i++)
		domain = domain_of_all(nodes, (uint32_t)i);
	if (domain != OSP_NO_DOMAIN || !shadow_is_relaxed(job, effective))
		return domain;
	relaxed = osp_topology_relaxed(shadow_state.topology, (uint32_t)level);
	*anywhere = !relaxed;
	return *anywhere || !known ? OSP_NO_DOMAIN : domain_of_all(nodes, relaxed);
}

/* Says where a gang in segments or in several domains is. */
static void say_parts(job_record_t *job, const struct osp_effective *effective,
		      const struct osp_nodeset *nodes, uint32_t level)
{
	const struct osp_topology *topology = shadow_state.topology;
	const char *advice = shadow_advice(shadow_lasting_id(job));
	char says[2 * OSP_SENTENCE_BYTES + 128];
	struct osp_gang_start start;
	uint32_t domain_count;
	char *domains = shadow_parts_domains(nodes, level, &domain_count);
	size_t length;

	shadow_order_start(job, effective, nodes, &start);
	osp_sentence_parts_placed(topology, level, domain_count, domains, osp_nodeset_count(nodes),
				  start.leaf_count, effective->segments, says, sizeof(says));
	length = strlen(says);
	if (effective->mode == OSP_MODE_ADVISE && advice)
		snprintf(says + length, sizeof(says) - length, "; %s", advice);
	/* a list that does not fit is left out whole */
	say_placed(job, effective,
		   domains && strlen(domains) < OSP_NOTE_BYTES_MAX / 8 ? domains : NULL, &start,
		   says, sizeof(says));
	osp_gang_start_clear(&start);
	free(domains);
}

/* Adds what it preferred and did not get. */
static void add_missed(const struct osp_effective *effective, uint32_t domain, char *says,
		       size_t says_bytes)
{
	const struct osp_topology *topology = shadow_state.topology;
	size_t length = strlen(says);
	int prefer = *effective->prefer ? osp_topology_level(topology, effective->prefer) : 0;

	if (prefer > 0 && (domain == OSP_NO_DOMAIN ||
			   osp_topology_domain(topology, domain)->level > (uint32_t)prefer))
		snprintf(says + length, says_bytes - length, "; no %s could take it then",
			 effective->prefer);
}

static void say_where(job_record_t *job, const struct osp_effective *effective,
		      const struct osp_nodeset *nodes, uint32_t domain)
{
	const struct osp_topology *topology = shadow_state.topology;
	const char *advice = shadow_advice(shadow_lasting_id(job));
	struct shadow_in_vain in_vain = shadow_launched_in_vain(job);
	char says[2 * OSP_SENTENCE_BYTES + 128], vain[128];
	struct osp_gang_start start;
	size_t length;

	shadow_order_start(job, effective, nodes, &start);
	if (domain != OSP_NO_DOMAIN)
		osp_sentence_placed(topology, domain, osp_nodeset_count(nodes), start.leaf_count,
				    says, sizeof(says));
	else if (shadow_in_parts(effective))
		snprintf(says, sizeof(says),
			 "placed: %u nodes that do not keep its segments or its number of %s "
			 "domains",
			 osp_nodeset_count(nodes), effective->level);
	else
		snprintf(says, sizeof(says), "placed: %u nodes in no common %s",
			 osp_nodeset_count(nodes), effective->level);
	add_missed(effective, domain, says, sizeof(says));
	length = strlen(says);
	if (effective->mode == OSP_MODE_ADVISE && advice)
		snprintf(says + length, sizeof(says) - length, "; %s", advice);
	else if (in_vain.times)
		snprintf(says + length, sizeof(says) - length, "; %s",
			 osp_sentence_in_vain(in_vain.times, in_vain.node_s, false, vain,
					      sizeof(vain)));
	say_placed(job, effective,
		   domain == OSP_NO_DOMAIN ? NULL : osp_topology_domain(topology, domain)->name,
		   &start, says, sizeof(says));
	osp_gang_start_clear(&start);
}

void shadow_gang_where(job_record_t *job, const struct osp_effective *effective,
		       const struct osp_nodeset *nodes)
{
	bool anywhere;

	say_where(job, effective, nodes, domain_reached(job, effective, nodes, &anywhere));
}

bool shadow_gang_together(const job_record_t *job, const struct osp_effective *effective,
			  const struct osp_nodeset *nodes)
{
	uint32_t level;
	bool anywhere;

	if (shadow_in_parts(effective))
		return shadow_parts_kept(job, effective, nodes, &level);
	/* several zones form no gang, whatever level the policy gives; what has started stays */
	if (IS_JOB_PENDING(job) && !osp_topology_in_one_zone(shadow_state.topology, nodes))
		return false;
	return domain_reached(job, effective, nodes, &anywhere) != OSP_NO_DOMAIN || anywhere;
}

struct siblings {
	const job_record_t *job;
	struct osp_nodeset *all;
	struct osp_nodeset *own;
};

static int add_sibling(void *item, void *context)
{
	const job_record_t *job = item;
	struct siblings *siblings = context;

	if (job == siblings->job || !IS_JOB_RUNNING(job) || !job->node_bitmap ||
	    !shadow_is_beside(siblings->job, job))
		return 0;
	shadow_from_bitmap(siblings->own, job->node_bitmap);
	osp_nodeset_or(siblings->all, siblings->own);
	return 0;
}

/* Returns the nodes that a job takes, with those of a heterogeneous job's other components that
 * already run in its partition. */
static struct osp_nodeset *nodes_taken(const job_record_t *job)
{
	struct osp_nodeset *nodes = shadow_state.topology ? set_of_bitmap(job->node_bitmap) : NULL;
	const job_record_t *leader = job->het_job_id ? find_job_record(job->het_job_id) : NULL;
	struct siblings siblings = {.job = job, .all = nodes};

	if (!nodes || !leader || !leader->het_job_list)
		return nodes;
	siblings.own = osp_nodeset_new(shadow_state.node_count);
	if (siblings.own)
		list_for_each(leader->het_job_list, add_sibling, &siblings);
	free(siblings.own);
	return nodes;
}

/*
 * Makes Slurm wait for all nodes. Slurm begins a batch job as soon as its first node is up, unless
 * this is set, or the job is given nodes of State=CLOUD that do not run. The processes of a gang
 * must begin when all its nodes are up: the gate would wait in vain for one that still boots, and
 * suspect it.
 */
static void wait_for_all_nodes(job_record_t *job, const struct osp_effective *effective)
{
	if (effective->mode == OSP_MODE_ENFORCE)
		job->wait_all_nodes = 1;
}

/* Returns whether there are fewer nodes than a policy makes gangs of. */
static bool is_small(const struct osp_effective *effective, const struct osp_nodeset *nodes)
{
	return effective->origin == OSP_FROM_POLICY &&
	       osp_nodeset_count(nodes) < effective->from_nodes;
}

/* Answers if the nodes are unknown. Without a fabric nobody knows where nodes are; a job too small
 * for a gang may be anywhere. */
static int started_without_nodes(const job_record_t *job, const struct osp_effective *effective)
{
	bool small = !shadow_state.topology && !job->het_job_id &&
		     effective->origin == OSP_FROM_POLICY &&
		     (uint32_t)bit_set_count(job->node_bitmap) < effective->from_nodes;

	return effective->mode == OSP_MODE_ENFORCE && !small ? SLURM_ERROR : SLURM_SUCCESS;
}

int shadow_gang_started(job_record_t *job)
{
	struct osp_effective effective;
	struct osp_nodeset *nodes;
	uint32_t domain = OSP_NO_DOMAIN, level = 0;
	bool anywhere = false, astray = false, in_parts, kept = false, launched;

	if (!job->node_bitmap)
		return SLURM_SUCCESS;
	if (!shadow_gang_request(job, &effective)) {
		clear_note(job);
		shadow_mark_processes(job, NULL);
		return SLURM_SUCCESS;
	}
	nodes = nodes_taken(job);
	if (!nodes)
		return started_without_nodes(job, &effective);
	in_parts = shadow_in_parts(&effective);
	if (in_parts)
		kept = shadow_parts_kept(job, &effective, nodes, &level);
	else
		domain = domain_reached(job, &effective, nodes, &anywhere);
	if (is_small(&effective, nodes))
		clear_note(job);
	else
		astray = effective.mode == OSP_MODE_ENFORCE &&
			 (in_parts ? !kept : domain == OSP_NO_DOMAIN && !anywhere);
	launched = astray && shadow_launch_begins(job, &effective, nodes);
	astray = astray && !launched;
	if (!launched && !astray)
		shadow_launch_not_needed(job);
	shadow_mark_processes(job, !is_small(&effective, nodes) && (kept || domain != OSP_NO_DOMAIN)
					   ? effective.level
					   : NULL);
	if (!astray && !is_small(&effective, nodes)) {
		wait_for_all_nodes(job, &effective);
		shadow_note_instances(job, effective.mode == OSP_MODE_ENFORCE);
	}
	if (astray && in_parts)
		error("onespine: %pJ was given nodes that do not keep its segments or its number "
		      "of %s domains; it goes back to the queue",
		      job, effective.level);
	else if (astray)
		error("onespine: %pJ was given nodes in no common %s; it goes back to the queue",
		      job, effective.level);
	else if (kept)
		say_parts(job, &effective, nodes, level);
	else if (!launched && !is_small(&effective, nodes))
		say_where(job, &effective, nodes, domain);
	free(nodes);
	return astray ? SLURM_ERROR : SLURM_SUCCESS;
}
