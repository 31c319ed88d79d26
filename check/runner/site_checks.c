/* SPDX-License-Identifier: GPL-2.0-or-later */
/* site_checks.c - a site's own checks: programs in a folder of root's */
#include "onespine_config.h"
#include "check/runner/site_checks.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/base/site_program.h"
#include "lib/base/hash.h"

#define FOLDER_CHECK	 "00-folder"
#define DEFAULT_S	 20
#define SLACK_MS	 3000 /* to begin the program and to end it, in addition to its own time */
#define BUDGET_MARGIN_MS 500  /* a result that is not reported by the budget's end is lost */
#define EXIT_WARN	 2
#define EXIT_SKIP	 77
#define GPUS_BYTES	 1024

static const char explains[] = "A program of this site's own (checks.d/NN-name). Onespine runs it "
			       "as root, one after the other in the order of their names, with "
			       "PATH, SLURM_JOB_ID and CUDA_VISIBLE_DEVICES alone, and takes its "
			       "exit status: 0 PASS, 1 FAIL, 2 WARN, 77 SKIP, anything else or no "
			       "end in time (site_check_s of the thresholds) ERROR. The first "
			       "line that it writes says why. Its author knows what it cannot "
			       "see.";
static const char cures[] = "Do as its first line says. `checks: {NAME: comment}` in the site's "
			    "thresholds.yaml lets it fail nothing, off leaves it out.";

/* --- in the child ----------------------------------------------------------------------------- */

unsigned int osp_site_check_ms(const struct osp_check_context *context)
{
	const struct osp_limit *limit = osp_check_limit(context, OSP_LIMIT_SITE_CHECK_S, NULL);
	unsigned int own_ms = (unsigned int)(limit ? limit->value : DEFAULT_S) * 1000;

	return context->deadline_most_ms && context->deadline_most_ms < own_ms
		       ? context->deadline_most_ms
		       : own_ms;
}

/* Writes "0-2,5" as CUDA takes it: "0,1,2,5". UUIDs stay as they are. */
static void write_gpus(const char *list, char *text, size_t text_bytes)
{
	size_t length = 0;

	*text = '\0';
	while (*list && length < text_bytes) {
		size_t word = strcspn(list, ",");
		unsigned int first, last;

		if (isdigit((unsigned char)*list) && sscanf(list, "%u-%u", &first, &last) == 2)
			for (; first <= last && length < text_bytes; first++)
				length += (size_t)snprintf(text + length, text_bytes - length,
							   "%s%u", length ? "," : "", first);
		else
			length += (size_t)snprintf(text + length, text_bytes - length, "%s%.*s",
						   length ? "," : "", (int)word, list);
		list += word + (list[word] == ',');
	}
}

/* Reads the job's number if slurmd set one; a Prolog's environment is slurmd's. */
static bool job_number(const char **job)
{
	*job = getenv("SLURM_JOB_ID");
	return *job && **job && strspn(*job, "0123456789") == strlen(*job);
}

static void run_program(const struct osp_check_context *context, uint64_t until_ms,
			struct osp_site_said *said)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	char job[64], gpus[GPUS_BYTES + 32], list[GPUS_BYTES];
	char *environment[4] = {path};
	size_t count = 1;
	const char *number;

	if (job_number(&number)) {
		snprintf(job, sizeof(job), "SLURM_JOB_ID=%.20s", number);
		environment[count++] = job;
	}
	if (context->gpus) {
		write_gpus(context->gpus, list, sizeof(list));
		snprintf(gpus, sizeof(gpus), "CUDA_VISIBLE_DEVICES=%s", list);
		environment[count++] = gpus;
	}
	osp_site_program_run(context->check->program, environment, until_ms, said);
}

/* Reports the program's line as "says WORDS". The word before it keeps any of its words from being
 * read as a check's name (lib/health/reason.h). */
static void report_found(struct osp_check_context *context, enum osp_verdict verdict,
			 const struct osp_site_said *said)
{
	char value[OSP_WORD_BYTES];

	if (*said->line)
		snprintf(value, sizeof(value), "says %.58s", said->line);
	else
		snprintf(value, sizeof(value), "exit %d", said->code);
	osp_result_add(context, verdict, OSP_CURE_ASK, "", value, NULL, NULL, "%s",
		       *said->line ? said->line : "it says nothing");
}

static void report_exit(struct osp_check_context *context, const struct osp_site_said *said)
{
	const char *colon = *said->line ? ": " : "";

	switch (said->code) {
	case EXIT_SUCCESS:
		osp_result_pass(context, "%s", *said->line ? said->line : "exit 0");
		break;
	case EXIT_FAILURE:
		report_found(context, OSP_VERDICT_FAIL, said);
		break;
	case EXIT_WARN:
		report_found(context, OSP_VERDICT_WARN, said);
		break;
	case EXIT_SKIP:
		osp_result_skip(context, "%s", *said->line ? said->line : "exit 77");
		break;
	default:
		osp_result_error(context, "", "exit %d%s%s", said->code, colon, said->line);
	}
}

static void report_said(struct osp_check_context *context, const struct osp_site_said *said,
			uint64_t time_ms)
{
	const char *colon = *said->line ? ": " : "";

	switch (said->end) {
	case OSP_SITE_EXIT:
		report_exit(context, said);
		break;
	case OSP_SITE_SIGNAL:
		osp_result_error(context, "", "ended by signal %d%s%s", said->code, colon,
				 said->line);
		break;
	case OSP_SITE_LATE:
		osp_result_error(context, "", "no end within %llu ms%s%s",
				 (unsigned long long)time_ms, colon, said->line);
		break;
	case OSP_SITE_UNRUN:
		osp_result_error(context, "", "no process: %s", strerror(said->code));
	}
}

static void run_site_check(struct osp_check_context *context)
{
	uint64_t now_ms = osp_now_ms();
	uint64_t until_ms = now_ms + osp_site_check_ms(context);
	struct osp_site_said said;

	if (geteuid() != 0) {
		osp_result_skip(context, "a site's own checks are run for root only");
		return;
	}
	if (context->check->refused) {
		osp_result_error(context, "", "%s", context->check->refused);
		return;
	}
	if (context->until_ms && until_ms + BUDGET_MARGIN_MS > context->until_ms)
		until_ms = context->until_ms - BUDGET_MARGIN_MS;
	if (until_ms <= now_ms) {
		osp_result_error(context, "", "no time: the budget ends before it could");
		return;
	}
	run_program(context, until_ms, &said);
	report_said(context, &said, until_ms - now_ms);
}

/* --- finding ---------------------------------------------------------------------------------- */

static bool is_roots_alone(const struct stat *status)
{
	return status->st_uid == 0 && !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Returns why the program may not be run; NULL if it may. */
static const char *why_refused(int folder, const char *name, struct stat *status)
{
	if (fstatat(folder, name, status, AT_SYMLINK_NOFOLLOW) < 0)
		return "it cannot be looked at";
	if (!S_ISREG(status->st_mode))
		return "not run: a link or no file (a script of two lines can run what lies "
		       "elsewhere)";
	if (!is_roots_alone(status))
		return "not run: it must be root's, and nobody else may write it";
	if (!(status->st_mode & S_IXUSR))
		return "not run: it is not executable (chmod +x; checks: {NAME: off} in "
		       "thresholds.yaml turns it off)";
	return NULL;
}

static uint64_t stamp(uint64_t hash, const char *name, const struct stat *status)
{
	hash = osp_hash_words(hash, name);
	hash = osp_hash_mix(hash, (uint64_t)status->st_ino);
	hash = osp_hash_mix(hash, (uint64_t)status->st_size);
	hash = osp_hash_mix(hash, (uint64_t)status->st_mode << 32 | status->st_uid);
	hash = osp_hash_mix(hash, (uint64_t)status->st_mtim.tv_sec);
	return osp_hash_mix(hash, (uint64_t)status->st_mtim.tv_nsec);
}

/* Fills one check. `why` is NULL if the program may be run. `path` is the folder. */
static void fill(struct osp_site_check *into, const char *path, const char *name, const char *why)
{
	snprintf(into->name, sizeof(into->name), "%s", name);
	snprintf(into->program, sizeof(into->program), "%.*s/%s",
		 (int)(sizeof(into->program) - sizeof(into->name) - 1), path, into->name);
	snprintf(into->measures, sizeof(into->measures), "this site's own: %s", into->program);
	snprintf(into->refused, sizeof(into->refused), "%s", why ? why : "");
	into->check = (struct osp_check){.name = into->name,
					 .depth = OSP_DEPTH_PASSIVE,
					 .group = OSP_GROUP_SITE,
					 .worst = OSP_VERDICT_FAIL,
					 .deadline_ms = SLACK_MS,
					 .measures = into->measures,
					 .explains = explains,
					 .cures = cures,
					 .run = run_site_check,
					 .program = into->program,
					 .refused = why ? into->refused : NULL};
}

static int compare_names(const void *one, const void *other)
{
	return strcmp(one, other);
}

typedef char site_name[OSP_SITE_CHECK_NAME_BYTES];

/* Reads the names of programs, sorted. One more than the limit is enough to know that there are too
 * many. */
static size_t read_names(DIR *folder, site_name *names, size_t most)
{
	struct dirent *entry;
	size_t count = 0;

	while ((entry = readdir(folder)))
		if (count < most && osp_site_check_named(entry->d_name) &&
		    strcmp(entry->d_name, FOLDER_CHECK) != 0)
			snprintf(names[count++], sizeof(*names), "%.*s",
				 OSP_SITE_CHECK_NAME_BYTES - 1, entry->d_name);
	qsort(names, count, sizeof(*names), compare_names);
	return count;
}

static void find_programs(DIR *folder, const char *path, struct osp_site_checks *found)
{
	site_name names[OSP_SITE_CHECKS_MAX + 1];
	size_t count = read_names(folder, names, OSP_SITE_CHECKS_MAX + 1);
	char why[OSP_WHY_BYTES];

	if (count > OSP_SITE_CHECKS_MAX) {
		snprintf(why, sizeof(why), "none is run: at most %d are expected in %.160s",
			 OSP_SITE_CHECKS_MAX, path);
		fill(&found->checks[found->count++], path, FOLDER_CHECK, why);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		struct stat status = {.st_size = 0};
		const char *refused = why_refused(dirfd(folder), names[i], &status);

		fill(&found->checks[found->count++], path, names[i], refused);
		found->stamp = stamp(found->stamp, names[i], &status);
	}
}

/* Opens the folder. Returns NULL if it is missing, or with `why` if something is wrong with it. */
static DIR *open_folder(const char *path, char *why, size_t why_bytes)
{
	int file = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	DIR *folder = NULL;

	*why = '\0';
	if (file < 0) {
		if (errno != ENOENT && geteuid() == 0)
			snprintf(why, why_bytes, "none is run: %.160s cannot be opened: %s", path,
				 strerror(errno));
		return NULL;
	}
	if (fstat(file, &status) < 0 || !is_roots_alone(&status))
		snprintf(why, why_bytes,
			 "none is run: %.160s must be root's, and nobody else may write it", path);
	else
		folder = fdopendir(file);
	if (!folder)
		close(file);
	return folder;
}

int osp_site_checks_find(const char *root, const char *site, struct osp_site_checks *found,
			 struct osp_error *error)
{
	char path[OSP_PATH_BYTES], why[OSP_WHY_BYTES];
	DIR *folder;

	memset(found, 0, sizeof(*found));
	if (snprintf(path, sizeof(path), "%s%s/%s", root, site, OSP_SITE_CHECKS_FOLDER) >=
	    (int)sizeof(path))
		return 0;
	folder = open_folder(path, why, sizeof(why));
	if (!folder && !*why)
		return 0;
	found->checks = calloc(OSP_SITE_CHECKS_MAX, sizeof(*found->checks));
	if (found->checks && folder)
		find_programs(folder, path, found);
	else if (found->checks)
		fill(&found->checks[found->count++], path, FOLDER_CHECK, why);
	if (folder)
		closedir(folder);
	return found->checks ? 0 : osp_error_set(error, "out of memory");
}

void osp_site_checks_free(struct osp_site_checks *found)
{
	free(found->checks);
	memset(found, 0, sizeof(*found));
}
