/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * job_env.h - the "NAME=value" lists of a job request: environment[] and spank_job_env[]
 *
 * A list is Slurm's memory: an array of `count` strings that Slurm frees. It may be NULL whatever
 * the count says, and may hold NULL strings. `name` ends in '='. Any thread; two threads never
 * share a list.
 */
#ifndef OSP_JOB_ENV_H
#define OSP_JOB_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/policy/job_options.h"

/* Returns the value of the first entry of that name, or NULL. It lives as long as the entry. */
const char *osp_job_env_find(char *const *list, uint32_t count, const char *name);

/* Removes and frees every entry of that name; the order of the others stays. */
void osp_job_env_drop(char **list, uint32_t *count, const char *name);

/*
 * What a submission's environment[] says in the variables of options (lib/policy/job_options.h),
 * from one reading of the list. A user may send a million variables of a megabyte: behind the
 * first OSP_ENVIRONMENT_ENTRIES_MAX nothing is read, and of each no more than says whether it is
 * one of ours, with at most OSP_ENVIRONMENT_VALUE_BYTES_MAX of our own ones' values.
 */
#define OSP_ENVIRONMENT_ENTRIES_MAX	65536
#define OSP_ENVIRONMENT_VALUE_BYTES_MAX ((size_t)64 * 1024)

struct osp_our_environment {
	/* of the first of its name; NULL: there is none, or it is an option of steps */
	const char *values[OSP_JOB_OPTION_COUNT];
	const char *too_long; /* the name of one with a longer value, which is not in values */
	uint32_t entries;     /* the length of the whole list */
	bool cut;	      /* more than were read */
};

/* Reads the list. Drops and frees what it reads of the names in `dropped`, which ends in NULL;
 * each begins with "ONESPINE_" and ends in '='. The values live as long as their entries. */
void osp_job_env_read(char **list, uint32_t *count, const char *const *dropped,
		      struct osp_our_environment *ours);

/* Adds an entry at the end. Returns 0, or -1 with the list unchanged if memory runs out. */
int osp_job_env_append(char ***list, uint32_t *count, const char *name, const char *value);

/*
 * slurmd hands spank_job_env[] to Prolog and Epilog, and Slurm looks at no length. Linux starts no
 * program with a string of 128 KiB (MAX_ARG_STRLEN), or with more than a quarter of the stack's
 * limit in all (2 MiB by default): then the Prolog fails, and slurmctld drains a healthy node for
 * each try. slurmd also compares each name with each other one, so that very many keep it busy, and
 * the node COMPLETING, for minutes. These are far above what SPANK plugins need, and far below
 * that.
 */
#define OSP_PROLOG_ENTRIES_MAX	   1024
#define OSP_PROLOG_ENTRY_BYTES_MAX ((size_t)64 * 1024)
#define OSP_PROLOG_BYTES_MAX	   ((size_t)256 * 1024)

/* Returns whether a list is within these limits; if not, *sentence says to the user what is too
 * large. Reads no further than the limits. */
bool osp_job_env_fits_prolog(char *const *list, uint32_t count, char *sentence,
			     size_t sentence_bytes);

/* Returns a copy in Slurm's memory, or NULL if memory runs out. */
char *osp_slurm_strdup(const char *string);

#endif
