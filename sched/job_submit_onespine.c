/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_submit_onespine.c - what slurmctld calls for every job submitted or changed
 *
 * Reads what the user asked, lets the shadow merge it with policy and judge it, and writes what
 * came out where the shadow and the user see it. Decides nothing. Fails closed: without the shadow
 * init() fails, and that stops slurmctld. From 23.11 on Slurm calls job_submit() in several threads
 * at once; nothing here changes after init() but what a thread
 * remembers of the components that it was shown (job_describe.c).
 */
#include "onespine_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>

#include "lib/base/clean.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/policy/conflict.h"
#include "lib/policy/effective.h"
#include "lib/policy/gang_license.h"
#include "lib/policy/note.h"
#include "lib/policy/request.h"
#include "lib/policy/request_parts.h"
#include "sched/gang_comment.h"
#include "sched/job_describe.h"
#include "sched/job_env.h"
#include "sched/job_hold.h"
#include "sched/job_hold_launched.h"
#include "sched/job_origin.h"
#include "sched/job_spares.h"
#include "sched/job_submit_onespine.h"
#include "sched/job_unsafe.h"
#include "sched/seam_client.h"
#include "sched/slurm_exports.h"

#define EXPORTED       __attribute__((visibility("default")))
#define SENTENCE_BYTES (OSP_ERROR_TEXT_BYTES + 448) /* with the names of variables */
#define LEVEL_VARIABLE "ONESPINE_LEVEL="
#define NO_MEMORY      "slurmctld has no memory for this gang"

EXPORTED const char plugin_name[] = "Onespine " PACKAGE_VERSION " job submit plugin";
EXPORTED const char plugin_type[] = "job_submit/onespine";
EXPORTED uint32_t plugin_version = SLURM_VERSION_NUMBER; /* sched/seam_client.c may change it */

/* Set once by init(), before any job. */
static const struct osp_seam *seam;
static bool holding; /* sched/job_hold.h */

/* Looks for the shadow where this plugin was built for another micro release of Slurm. */
static const struct osp_seam *hold(char *sentence, size_t sentence_bytes)
{
	const struct osp_seam *found;
	char ignored[SENTENCE_BYTES];

	osp_slurm_differs(osp_slurm_built, osp_slurm_running, sentence, sentence_bytes);
	if (osp_seam_find(ignored, sizeof(ignored)))
		return NULL;
	found = osp_hold_begin(osp_slurm_built, osp_slurm_running, sentence, sentence_bytes);
	holding = found != NULL;
	return found;
}

EXPORTED int init(void)
{
	char sentence[SENTENCE_BYTES] = "";

	seam = osp_slurm_built ? hold(sentence, sizeof(sentence))
			       : osp_seam_find(sentence, sizeof(sentence));
	if (!seam) {
		slurm_error("onespine: %s", sentence);
		return SLURM_ERROR;
	}
	if (holding) {
		slurm_error(
			"onespine: Slurm was updated and Onespine was not: Slurm places jobs by "
			"itself, and every gang waits for license " OSP_GANG_LICENSE
			". Install Onespine built for this Slurm and start slurmctld again");
		osp_hold_launched_begin();
	}
	return SLURM_SUCCESS;
}

/* --- refusing --------------------------------------------------------------------------------- */

/* Hands `sentence` to the user, after what another plugin may have said. */
static void print_to_user(char **err_msg, const char *sentence)
{
	char *reported;
	size_t bytes;

	if (!err_msg)
		return;
	bytes = (*err_msg ? strlen(*err_msg) + 1 : 0) + strlen(sentence) + 1;
	reported = slurm_xcalloc(1, bytes, true, true, __FILE__, __LINE__, __func__);
	if (!reported)
		return;
	snprintf(reported, bytes, "%s%s%s", *err_msg ? *err_msg : "", *err_msg ? "\n" : "",
		 sentence);
	slurm_xfree((void **)err_msg);
	*err_msg = reported;
}

/*
 * Logs the sentence, with the user's own characters made harmless: a user must not forge a line of
 * slurmctld's log. Returns `rc`.
 */
static int refuse(char **err_msg, uint32_t uid, const char *sentence, int rc)
{
	char clean[SENTENCE_BYTES];

	osp_copy_clean(clean, sizeof(clean), sentence);
	slurm_info("onespine: refused user %u: %s", uid, clean);
	print_to_user(err_msg, clean);
	return rc;
}

/* --- the environment -------------------------------------------------------------------------- */

/*
 * Reads our variables, and drops those of the gang from within which this job was submitted. -1,
 * with the sentence: one is too long. Of a list that is too long the user is told that the rest was
 * not read, for a wish may be there.
 */
static int read_environment(job_desc_msg_t *job, struct osp_our_environment *ours, char **err_msg,
			    char *sentence, size_t sentence_bytes)
{
	static const char *const inherited[] = {
		LEVEL_VARIABLE,	    "ONESPINE_DOMAIN=", "ONESPINE_LEAF=",
		"ONESPINE_LEAVES=", OSP_SPARES_MARK,	NULL};

	osp_job_env_read(job->environment, &job->env_size, inherited, ours);
	if (ours->too_long) {
		snprintf(sentence, sentence_bytes, "%s: its value has %zu KiB or more",
			 ours->too_long, OSP_ENVIRONMENT_VALUE_BYTES_MAX / 1024);
		return -1;
	}
	if (!ours->cut)
		return 0;
	snprintf(sentence, sentence_bytes,
		 "onespine: the environment has %u variables, of which the first %d were read: "
		 "what ONESPINE_GANG and others say behind them counts for nothing, so give "
		 "--gang as an option",
		 ours->entries, OSP_ENVIRONMENT_ENTRIES_MAX);
	print_to_user(err_msg, sentence);
	return 0;
}

/* --- the request ------------------------------------------------------------------------------ */

/* Returns the value of an option. Slurm writes "(null)" for one that was given without a value. */
static const char *option_value(const char *value)
{
	return strcmp(value, "(null)") != 0 ? value : "";
}

/*
 * Returns the value of an option: as it was given, else as its variable says; NULL if neither. Sets
 * *given if the option was.
 */
static const char *value_of(const job_desc_msg_t *job, const struct osp_our_environment *ours,
			    enum osp_job_option_id id, bool *given)
{
	const struct osp_job_option *option = osp_job_option(id);
	char name[96];
	const char *value;

	snprintf(name, sizeof(name), "%s=", option->entry);
	value = osp_job_env_find(job->spank_job_env, job->spank_job_env_size, name);
	*given |= value != NULL;
	return value ? value : ours->values[id];
}

/* Reads --gang-domains, --gang-segment, --gang-layout and --gang-keep, which make a gang too. */
static int read_parts(const job_desc_msg_t *job, const struct osp_our_environment *ours,
		      struct osp_request *request, struct osp_error *error)
{
	bool asked = request->asked != OSP_GANG_OPTION_NONE, given = false;
	const struct osp_parts_asked parts = {
		.domains = value_of(job, ours, OSP_JOB_GANG_DOMAINS, &given),
		.segments = value_of(job, ours, OSP_JOB_GANG_SEGMENT, &given),
		.layout = value_of(job, ours, OSP_JOB_GANG_LAYOUT, &given),
		.keep = value_of(job, ours, OSP_JOB_GANG_KEEP, &given),
	};

	/* --gang=off holds, whatever the environment says of a gang */
	if (request->asked == OSP_GANG_OPTION_OFF && request->origin == OSP_FROM_OPTION && !given)
		return 0;
	if (!asked && osp_parts_are_asked(&parts))
		request->origin = given ? OSP_FROM_OPTION : OSP_FROM_ENVIRONMENT;
	return osp_request_add_parts(request, &parts, error);
}

/*
 * Reads the request: the option goes before the environment, which also arrives without SPANK, as
 * from slurmrestd.
 */
static int read_request(const job_desc_msg_t *job, const struct osp_our_environment *ours,
			struct osp_request *request, char *sentence, size_t sentence_bytes)
{
	struct osp_error error = {.text = ""};
	const char *value =
		osp_job_env_find(job->spank_job_env, job->spank_job_env_size, OSP_SPANK_GANG);

	memset(request, 0, sizeof(*request));
	request->origin = OSP_FROM_OPTION;
	request->relax_s = -1;
	if (!value) {
		request->origin = OSP_FROM_ENVIRONMENT;
		value = ours->values[OSP_JOB_GANG];
	}
	if (!value) {
		request->asked = OSP_GANG_OPTION_NONE;
		request->origin = OSP_FROM_POLICY;
	}
	if ((!value || osp_request_parse(option_value(value), request, &error) == 0) &&
	    read_parts(job, ours, request, &error) == 0)
		return 0;
	snprintf(sentence, sentence_bytes, "%s", error.text);
	return -1;
}

/*
 * Judges what a job asks for, when it is submitted and when it is changed. Returns SLURM_SUCCESS
 * with the request in force in `effective`, or the error with the sentence. Advice that nobody
 * asked for stops no job.
 */
static int judge(const struct osp_seam_job *job, const struct osp_request *request,
		 struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	bool by_policy;
	struct osp_shape shape = job->shape;

	if (seam->resolve(job, request, effective, sentence, sentence_bytes))
		return ESLURM_REQUESTED_NODE_CONFIG_UNAVAILABLE;
	by_policy = effective->origin == OSP_FROM_POLICY;
	if (effective->if_large)
		shape.heterogeneous = false; /* its other components may be as small */
	if (effective->mode == OSP_MODE_OFF ||
	    !osp_conflict_find(&shape,
			       effective->if_large ? OSP_CONFLICTS_THAT_SPLIT : OSP_CONFLICTS_ALL,
			       effective, sentence, sentence_bytes))
		return SLURM_SUCCESS;
	if (effective->mode == OSP_MODE_ENFORCE || !by_policy)
		return ESLURM_NOT_SUPPORTED;
	effective->mode = OSP_MODE_OFF;
	return SLURM_SUCCESS;
}

/* --- what comes out --------------------------------------------------------------------------- */

static void write_note(job_desc_msg_t *job, const struct osp_effective *effective)
{
	char words[OSP_GANG_COMMENT_BYTES];
	struct osp_note note = {.gang = osp_gang_comment(effective, words, sizeof(words))};
	char *merged = osp_note_merge(job->admin_comment, &note);
	char *comment = merged ? osp_slurm_strdup(merged) : NULL;

	free(merged);
	if (!comment)
		return; /* the shadow writes it again */
	slurm_xfree((void **)&job->admin_comment);
	job->admin_comment = comment;
}

/*
 * Returns whether the request is stored. A job that may become a gang is looked at when its nodes
 * are known. An `off` from the environment is stored, because nothing else keeps it.
 */
static bool is_to_be_stored(const struct osp_request *request,
			    const struct osp_effective *effective)
{
	if (effective->mode == OSP_MODE_OFF)
		return request->asked == OSP_GANG_OPTION_OFF &&
		       request->origin == OSP_FROM_ENVIRONMENT;
	return !effective->if_large;
}

/*
 * Stores the gang for the shadow. Returns -1 if memory runs out before the shadow would know of it.
 */
static int write_gang(job_desc_msg_t *job, const struct osp_effective *effective)
{
	char value[OSP_EFFECTIVE_BYTES];

	osp_effective_format(effective, value, sizeof(value));
	if (osp_job_env_append(&job->spank_job_env, &job->spank_job_env_size, OSP_EFFECTIVE, value))
		return -1;
	if (effective->mode == OSP_MODE_OFF)
		return 0;
	write_note(job, effective);
	/* onespine.so asks where a batch job was placed only if it finds this variable */
	if (job->environment && job->env_size)
		osp_job_env_append(&job->environment, &job->env_size, LEVEL_VARIABLE,
				   effective->level);
	return 0;
}

/* Tells the user that a launcher that sorts nodes by their names must be given the order that keeps
 * groups together. Slurm itself numbers nodes by their names. */
static void report_order(const struct osp_effective *effective, char **err_msg)
{
	char sentence[SENTENCE_BYTES + OSP_REQUEST_BYTES];

	if (effective->mode == OSP_MODE_OFF || !effective->reordered_gpus)
		return;
	snprintf(sentence, sizeof(sentence),
		 "onespine: --gang-keep=%s holds for ranks in the order of onespine hosts "
		 "--layout=%s --keep=%s --gpus-per-node=%u; srun in the job and "
		 "ONESPINE_NODE_RANK have it, launchers that sort hosts do not "
		 "(doc/placement.md)",
		 effective->keep, effective->layout, effective->keep, effective->reordered_gpus);
	print_to_user(err_msg, sentence);
}

/* Tells the user what the segments leave of a domain. */
static void report_left(const struct osp_effective *effective, char **err_msg)
{
	char sentence[OSP_LEFT_BYTES + 16];

	if (effective->mode == OSP_MODE_OFF || !effective->left[0])
		return;
	snprintf(sentence, sizeof(sentence), "onespine: %s", effective->left);
	print_to_user(err_msg, sentence);
}

/* Tells the user what its spares make of the segments. */
static void report_spares(const struct osp_seam_job *job, const struct osp_effective *effective,
			  char **err_msg)
{
	char sentence[OSP_SEGMENTS_BYTES + 160];

	if (effective->mode == OSP_MODE_OFF || !job->segment_spares)
		return;
	snprintf(sentence, sizeof(sentence),
		 "onespine: with %u spare node%s in each it is placed as %u nodes in segments %s; "
		 "%u are released when all are checked",
		 job->segment_spares, osp_plural_s(job->segment_spares), job->min_nodes,
		 effective->segments, job->spares);
	print_to_user(err_msg, sentence);
}

/*
 * Stores the spares for the gate. Returns -1 if memory runs out before the gate would know of them.
 */
static int write_spares(job_desc_msg_t *job, uint32_t spares, uint32_t segment_spares)
{
	char value[16], in_segment[16];

	if (!spares)
		return 0;
	snprintf(value, sizeof(value), "%u", spares);
	snprintf(in_segment, sizeof(in_segment), "%u", segment_spares);
	if (osp_job_env_append(&job->spank_job_env, &job->spank_job_env_size, OSP_EFFECTIVE_SPARES,
			       value) ||
	    (segment_spares && osp_job_env_append(&job->spank_job_env, &job->spank_job_env_size,
						  OSP_EFFECTIVE_SEGMENT_SPARES, in_segment)))
		return -1;
	/* onespine.so looks which nodes stayed only if it finds this variable */
	if (job->environment && job->env_size)
		return osp_job_env_append(&job->environment, &job->env_size, OSP_SPARES_MARK,
					  value);
	return 0;
}

/* Drops entries that only we may write, for the shadow and the gate. slurmd puts SPANK_ before
 * every name that does not have it, so a user could bring the longer name. */
static void drop_forged(job_desc_msg_t *job)
{
	static const char *const names[] = {
		OSP_EFFECTIVE,	      OSP_EFFECTIVE_SPARES, OSP_EFFECTIVE_SEGMENT_SPARES,
		OSP_LAUNCHED_IN_VAIN, OSP_LAUNCHED_NODES,   OSP_PLACED_INSTANCES,
		OSP_PREEMPTS,	      OSP_UNKNOWN_GPUS,	    OSP_EFFECTIVE_SEGMENTS,
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char longer[64];

		snprintf(longer, sizeof(longer), "SPANK_%s", names[i]);
		osp_job_env_drop(job->spank_job_env, &job->spank_job_env_size, names[i]);
		osp_job_env_drop(job->spank_job_env, &job->spank_job_env_size, longer);
	}
}

static bool is_probe(const job_desc_msg_t *job)
{
	const char *value =
		osp_job_env_find(job->spank_job_env, job->spank_job_env_size, OSP_SPANK_GANG);

	return value && !strcmp(value, OSP_GANG_PROBE);
}

static void describe(const job_desc_msg_t *job, struct osp_seam_job *described)
{
	osp_job_describe(job, described);
	described->shape.heterogeneous = job->het_job_offset != NO_VAL;
	described->nodes_beside = osp_job_nodes_before(job);
}

/*
 * Finds the segments of a layout whose segments shall have spares, for the nodes that stay. A job
 * that is held to none has spares of the job. Returns SLURM_SUCCESS, or the error with the
 * sentence.
 */
static int find_segments(const job_desc_msg_t *job, struct osp_request *request,
			 struct osp_spares *spares, char *sentence, size_t sentence_bytes)
{
	struct osp_seam_job described = {.spares = 0};
	struct osp_effective effective;
	int rc;

	if (!spares->per_segment || !*request->layout)
		return SLURM_SUCCESS;
	describe(job, &described);
	rc = judge(&described, request, &effective, sentence, sentence_bytes);
	if (rc)
		return rc;
	if (effective.mode == OSP_MODE_OFF)
		spares->per_segment = false;
	else
		memcpy(request->segments, effective.segments, sizeof(request->segments));
	return SLURM_SUCCESS;
}

/*
 * Gives the license of gangs to a gang, and to no other job. Returns -1 with the sentence. When a
 * heterogeneous job is submitted, Slurm takes licenses of its leader alone; the shadow gives the
 * license to the other components when it looks at them.
 */
static int settle_license(job_desc_msg_t *job, const char *before,
			  const struct osp_effective *effective, char *sentence,
			  size_t sentence_bytes)
{
	bool follows = job->het_job_offset != NO_VAL && job->het_job_offset > 0;

	if (effective->mode == OSP_MODE_ENFORCE && follows)
		return 0;
	if (effective->mode == OSP_MODE_ENFORCE)
		return osp_job_license_add(job, before, sentence, sentence_bytes);
	return osp_job_license_is_asked(job, sentence, sentence_bytes) ? -1 : 0;
}

/* Refuses what a job asks for. Names the variables that asked for it. */
static int refuse_request(const job_desc_msg_t *job, const struct osp_our_environment *ours,
			  uint32_t uid, const char *sentence, int rc, char **err_msg)
{
	char words[SENTENCE_BYTES];

	return refuse(err_msg, uid, osp_job_origin_add(job, ours, sentence, words, sizeof(words)),
		      rc);
}

EXPORTED int job_submit(job_desc_msg_t *job, uint32_t submit_uid, char **err_msg)
{
	struct osp_seam_job described = {.spares = 0};
	struct osp_request request;
	struct osp_effective effective;
	char sentence[SENTENCE_BYTES] = "";
	struct osp_our_environment ours;
	struct osp_spares asked;
	uint32_t spares;
	int rc;

	if (is_probe(job))
		return EINVAL;
	if (osp_job_is_unsafe(job, NO_VAL, sentence, sizeof(sentence)))
		return refuse(err_msg, submit_uid, sentence, ESLURM_INVALID_NODE_COUNT);
	if (!osp_job_env_fits_prolog(job->spank_job_env, job->spank_job_env_size, sentence,
				     sizeof(sentence)))
		return refuse(err_msg, submit_uid, sentence, EINVAL);
	drop_forged(job);
	if (read_environment(job, &ours, err_msg, sentence, sizeof(sentence)))
		return refuse(err_msg, submit_uid, sentence, EINVAL);
	if (read_request(job, &ours, &request, sentence, sizeof(sentence)) ||
	    osp_job_spares_read(job, ours.values[OSP_JOB_GANG_SPARES], &asked, sentence,
				sizeof(sentence)))
		return refuse_request(job, &ours, submit_uid, sentence, EINVAL, err_msg);
	rc = find_segments(job, &request, &asked, sentence, sizeof(sentence));
	if (rc)
		return refuse_request(job, &ours, submit_uid, sentence, rc, err_msg);
	if (osp_job_spares_in_segments(job, &asked, &request, &spares, sentence, sizeof(sentence)))
		return refuse_request(job, &ours, submit_uid, sentence, EINVAL, err_msg);
	if (spares && osp_job_spares_add(job, spares, sentence, sizeof(sentence)))
		return refuse_request(job, &ours, submit_uid, sentence, ESLURM_NOT_SUPPORTED,
				      err_msg);
	described.segment_spares = asked.per_segment ? asked.count : 0;
	if (write_spares(job, spares, described.segment_spares))
		return refuse(err_msg, submit_uid, NO_MEMORY, ENOMEM);
	describe(job, &described);
	described.spares = spares;
	rc = judge(&described, &request, &effective, sentence, sizeof(sentence));
	if (rc)
		return refuse_request(job, &ours, submit_uid, sentence, rc, err_msg);
	if (settle_license(job, NULL, &effective, sentence, sizeof(sentence)))
		return refuse(err_msg, submit_uid, sentence, ESLURM_INVALID_LICENSES);
	if (!is_to_be_stored(&request, &effective))
		return SLURM_SUCCESS;
	if (write_gang(job, &effective))
		return refuse(err_msg, submit_uid, NO_MEMORY, ENOMEM);
	report_order(&effective, err_msg);
	report_left(&effective, err_msg);
	report_spares(&described, &effective, err_msg);
	return SLURM_SUCCESS;
}

/* --- onespine set, scontrol update ------------------------------------------------------------ */

/*
 * Handles `onespine set`, which sends an update with the option in spank_job_env[]; Slurm itself
 * ignores that.
 */
static int set_request(const char *value, struct job_record *record, uint32_t uid, char **err_msg)
{
	struct osp_request request = {.origin = OSP_FROM_SET, .relax_s = -1};
	struct osp_error error = {.text = ""};
	char sentence[SENTENCE_BYTES] = "";
	int rc;

	if (osp_request_parse(option_value(value), &request, &error))
		return refuse(err_msg, uid, error.text, EINVAL);
	rc = seam->set(record, uid, &request, sentence, sizeof(sentence));
	if (rc)
		return refuse(err_msg, uid, sentence, rc > 0 ? rc : ESLURM_NOT_SUPPORTED);
	return SLURM_SUCCESS;
}

/* Returns whether the change would end slurmctld, with the sentence. */
static bool is_unsafe_change(const job_desc_msg_t *job, struct job_record *record, char *sentence,
			     size_t sentence_bytes)
{
	struct osp_seam_job described = {.spares = 0};
	struct osp_request request;
	uint32_t least_nodes = NO_VAL;

	if (job->max_nodes != NO_VAL && seam->describe(record, NULL, &described, &request))
		least_nodes = described.min_nodes;
	return osp_job_is_unsafe(job, least_nodes, sentence, sentence_bytes);
}

/* Judges a pending job as it would be after the change; what a change leaves out stays as it is. */
static int judge_change(job_desc_msg_t *job, struct job_record *record, uint32_t uid,
			char **err_msg)
{
	struct osp_seam_job described, unchanged = {.spares = 0};
	struct osp_effective effective;
	struct osp_request request;
	char sentence[SENTENCE_BYTES] = "";
	uint32_t nodes;
	int rc;

	if ((!osp_job_describe(job, &unchanged) && !job->licenses) ||
	    !seam->describe(record, unchanged.partition, &described, &request))
		return SLURM_SUCCESS;
	nodes = described.min_nodes;
	osp_job_describe(job, &described);
	rc = judge(&described, &request, &effective, sentence, sizeof(sentence));
	if (!rc && settle_license(job, described.licenses, &effective, sentence, sizeof(sentence)))
		rc = ESLURM_INVALID_LICENSES;
	if (rc)
		return refuse(err_msg, uid, sentence, rc);
	if (described.min_nodes != nodes)
		report_left(&effective, err_msg);
	return SLURM_SUCCESS;
}

/* Keeps our part of an administrator's new AdminComment: where the gang is, and what its steps read
 * from there, stays. */
static void keep_note(job_desc_msg_t *job, const struct job_record *record)
{
	char *kept = job->admin_comment
			     ? osp_note_keep(seam->admin_comment(record), job->admin_comment)
			     : NULL;
	char *comment = kept ? osp_slurm_strdup(kept) : NULL;

	free(kept);
	if (!comment)
		return;
	slurm_xfree((void **)&job->admin_comment);
	job->admin_comment = comment;
}

static int modify(job_desc_msg_t *job, struct job_record *record, uint32_t uid, char **err_msg)
{
	const char *value =
		osp_job_env_find(job->spank_job_env, job->spank_job_env_size, OSP_SPANK_GANG);
	char sentence[SENTENCE_BYTES] = "";

	if (!record)
		return SLURM_SUCCESS;
	if (is_unsafe_change(job, record, sentence, sizeof(sentence)))
		return refuse(err_msg, uid, sentence, ESLURM_INVALID_NODE_COUNT);
	keep_note(job, record);
	if (value)
		return set_request(value, record, uid, err_msg);
	if (!job->min_nodes && seam->merge(record, sentence, sizeof(sentence)))
		return refuse(err_msg, uid, sentence, ESLURM_NOT_SUPPORTED);
	if (holding && osp_hold_change(job, sentence, sizeof(sentence)))
		return refuse(err_msg, uid, sentence, ESLURM_NOT_SUPPORTED);
	return judge_change(job, record, uid, err_msg);
}

/*
 * Judges a change. If a changed partition has no account, Slurm returns errno, which nobody has set
 * since (job_mgr.c, _retrieve_new_assoc): without accounting that is the rule, and Slurm would
 * refuse the change for a call of long before. So errno is cleared.
 */
EXPORTED int job_modify(OSP_JOB_MODIFY_PARAMETERS(job, record, uid, err_msg))
{
	int rc = modify(job, record, uid, OSP_JOB_MODIFY_MESSAGE(err_msg));

	errno = 0;
	return rc;
}
