/* SPDX-License-Identifier: GPL-2.0-or-later */
/* job_hold.c - gangs wait where Slurm was updated and no shadow fits it yet */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "onespine_config.h"

#include "sched/job_hold.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/policy/config.h"
#include "lib/policy/gang_license.h"
#include "lib/policy/promise.h"
#include "lib/topology/follow.h"
#include "sched/job_describe.h"
#include "sched/job_env.h"
#include "sched/seam_client.h"
#include "sched/slurm_exports.h"

#define RELEASE_OF(version) ((version) >> 8)
#define SLURM_25_11	    0x190b
#define NO_MEMORY	    "slurmctld has no memory for this gang"
/* With it Slurm takes jobs that ask for more licenses than there are (job_mgr.c). */
#define TAKES_MORE "allow_zero_lic"
#define UNTIL	   "until Onespine built for this Slurm is installed"

/* The policy as it was when slurmctld began; a reconfigure begins another process, or, up to 23.02,
 * changes none of it. Written by osp_hold_begin() only. */
static struct osp_config *config;

/* --- what judges jobs in place of the shadow -------------------------------------------------- */

/* Returns what any partition promises, because nothing here knows which one Slurm will take. */
static struct osp_policy policy_of_any(void)
{
	struct osp_policy policy = *osp_config_policy(config, NULL);
	int line;

	for (size_t i = 0; i < osp_config_partition_count(config); i++)
		osp_policy_add(&policy,
			       osp_config_policy(config, osp_config_partition(config, i, &line)),
			       NULL);
	return policy;
}

/* Resolves without the fabric: what only the shadow can judge, it judges when it is back. */
static int resolve(const struct osp_seam_job *job, const struct osp_request *request,
		   struct osp_effective *effective, char *sentence, size_t sentence_bytes)
{
	const struct osp_policy policy =
		job->partition ? osp_policy_of_list(config, job->partition, NULL) : policy_of_any();
	const struct osp_size size = {
		.least_nodes = osp_least_nodes(job->min_nodes, job->tasks, job->tasks_per_node),
		.most_nodes = job->shape.heterogeneous || job->shape.expands ? 0 : job->max_nodes,
	};
	struct osp_error error = {.text = ""};

	if (osp_request_resolve(request, &policy, job->partition, &size, effective, &error)) {
		snprintf(sentence, sentence_bytes, "%s", error.text);
		return -1;
	}
	if (effective->mode != OSP_MODE_ENFORCE)
		return 0;
	if (!slurm_conf.sched_params || !strcasestr(slurm_conf.sched_params, TAKES_MORE)) {
		snprintf(sentence, sentence_bytes, "no gang is taken " UNTIL);
		return -1;
	}
	if (job->shape.heterogeneous) {
		snprintf(sentence, sentence_bytes,
			 "no heterogeneous job that may be a gang is taken " UNTIL);
		return -1;
	}
	if (*effective->layout || job->segment_spares) {
		snprintf(sentence, sentence_bytes,
			 "a layout and spares in each segment cannot be judged " UNTIL
			 "; submit it then, or say --gang-segment=LEVEL:N");
		return -1;
	}
	return 0;
}

static int set(struct job_record *job, uid_t uid, const struct osp_request *request, char *sentence,
	       size_t sentence_bytes)
{
	(void)job, (void)uid, (void)request;
	snprintf(sentence, sentence_bytes, "what a gang asks for cannot be changed " UNTIL);
	return ESLURM_NOT_SUPPORTED;
}

static bool describe(struct job_record *job, const char *partition, struct osp_seam_job *described,
		     struct osp_request *request)
{
	(void)job, (void)partition, (void)described, (void)request;
	return false;
}

static int merge(struct job_record *job, char *sentence, size_t sentence_bytes)
{
	(void)job;
	snprintf(sentence, sentence_bytes, "no job is expanded " UNTIL);
	return -1;
}

static const char *admin_comment(const struct job_record *job)
{
	(void)job;
	return NULL;
}

static const struct osp_seam hold = {
	PACKAGE_VERSION, resolve, set, describe, merge, admin_comment,
};

/* --- whether gangs are held ------------------------------------------------------------------- */

/* Reads onespine.yaml beside slurm.conf; a missing one has the defaults. Returns NULL with
 * `error` set if it is wrong, or others may write it. */
static struct osp_config *read_config(struct osp_error *error)
{
	const char *conf = slurm_conf.slurm_conf ? slurm_conf.slurm_conf : "";
	const char *slash = strrchr(conf, '/');
	struct osp_config *found;
	struct osp_file_mark mark;
	char path[PATH_MAX], *text;
	size_t bytes = 0;

	snprintf(path, sizeof(path), "%.*sonespine.yaml", slash ? (int)(slash + 1 - conf) : 0,
		 conf);
	mark = osp_file_mark(path);
	text = mark.distrust ? NULL : osp_read_file(path, OSP_CONFIG_FILE_BYTES_MAX, &bytes);
	if (mark.distrust || (!text && errno != ENOENT)) {
		osp_error_at(error, path, 0, 0, "%s",
			     mark.distrust ? mark.distrust : strerror(errno));
		return NULL;
	}
	found = osp_config_read(path, text ? text : "", bytes, error);
	free(text);
	return found;
}

static void append(char *sentence, size_t sentence_bytes, const char *words)
{
	size_t length = strlen(sentence);

	if (length < sentence_bytes)
		snprintf(sentence + length, sentence_bytes - length, "%s", words);
}

const struct osp_seam *osp_hold_begin(uint32_t built, uint32_t running, char *sentence,
				      size_t sentence_bytes)
{
	struct osp_error error = {.text = ""};
	char words[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 64];

	if (built == running || RELEASE_OF(built) != RELEASE_OF(running))
		return NULL;
	if (!osp_gang_license_is_kept(running)) {
		append(sentence, sentence_bytes,
		       "; it cannot hold gangs: this Slurm leaves a job that is put back no "
		       "licenses");
		return NULL;
	}
	if (!osp_gang_license_holds(slurm_conf.licenses)) {
		append(sentence, sentence_bytes,
		       "; with Licenses=" OSP_GANG_LICENSE_SETTING
		       " in slurm.conf it would start, and hold gangs");
		return NULL;
	}
	osp_config_free(config);
	config = read_config(&error);
	if (!config) {
		char wrong[OSP_ERROR_TEXT_BYTES + OSP_ERROR_FILE_BYTES + 32];

		snprintf(words, sizeof(words), "; it cannot hold gangs: %s",
			 osp_error_format(&error, wrong, sizeof(wrong)));
		append(sentence, sentence_bytes, words);
		return NULL;
	}
	return osp_config_holds(config) ? &hold : NULL;
}

int osp_hold_change(const job_desc_msg_t *job, char *sentence, size_t sentence_bytes)
{
	struct osp_seam_job changed = {.spares = 0};
	const struct osp_policy policy = policy_of_any();

	/* 25.11.7 holds a job that is put back, and it has no licenses when it is let go */
	if (RELEASE_OF(osp_slurm_running) == SLURM_25_11 && job->priority == INFINITE) {
		snprintf(sentence, sentence_bytes, "no job that is held is released " UNTIL);
		return -1;
	}
	if (job->licenses) {
		snprintf(sentence, sentence_bytes, "licenses cannot be changed " UNTIL);
		return -1;
	}
	if (osp_job_describe(job, &changed) && osp_policy_promises(&policy)) {
		snprintf(sentence, sentence_bytes,
			 "where a job may run cannot be changed " UNTIL
			 ", because a partition here promises gangs");
		return -1;
	}
	return 0;
}

/* --- the license ------------------------------------------------------------------------------ */

/* Returns whether --tres-per-task (24.05 and later) names it: "license/onespine:3". */
static bool is_in_tres(const char *tres)
{
	static const char name[] = "license/" OSP_GANG_LICENSE;
	const char *at = tres;

	while (at && (at = strcasestr(at, name)) != NULL) {
		at += strlen(name);
		if (!*at || strchr(":=,", *at))
			return true;
	}
	return false;
}

bool osp_job_license_is_asked(const job_desc_msg_t *job, char *sentence, size_t sentence_bytes)
{
	if (!osp_gang_license_is_in(slurm_conf.licenses) ||
	    (!osp_gang_license_is_in(job->licenses) && !is_in_tres(job->tres_per_task)))
		return false;
	snprintf(sentence, sentence_bytes,
		 "license " OSP_GANG_LICENSE " is for gangs, which take it by themselves");
	return true;
}

int osp_job_license_add(job_desc_msg_t *job, const char *before, char *sentence,
			size_t sentence_bytes)
{
	char *with, *copy;
	int rc;

	if (!osp_gang_license_is_in(slurm_conf.licenses))
		return 0;
	rc = osp_gang_license_add(job->licenses ? job->licenses : before, &with);
	if (rc == -1) {
		snprintf(sentence, sentence_bytes,
			 "a gang's licenses cannot be alternatives (|) here: ask for those that it "
			 "takes (a,b)");
		return -1;
	}
	if (rc == 0 && !with)
		return 0;
	copy = with ? osp_slurm_strdup(with) : NULL;
	free(with);
	if (!copy) {
		snprintf(sentence, sentence_bytes, NO_MEMORY);
		return -1;
	}
	slurm_xfree((void **)&job->licenses);
	job->licenses = copy;
	return 0;
}
