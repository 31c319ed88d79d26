/* SPDX-License-Identifier: GPL-2.0-or-later */
/* shadow_processes.c - gives a gang's processes a variable that marks them as of a gang */
#include "sched/shadow.h"

#include <string.h>

#define LEVEL_ENTRY "ONESPINE_LEVEL=" /* spank/placement.h, sched/job_describe.c */

typedef __typeof__(*((job_record_t *)NULL)->details) details_t;

/* Takes the entry out of the list. */
static void forget(details_t *details)
{
	char **list = details->env_sup;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < details->env_cnt; i++) {
		if (list[i] && !strncmp(list[i], LEVEL_ENTRY, strlen(LEVEL_ENTRY)))
			xfree(list[i]);
		else
			list[kept++] = list[i];
	}
	for (uint32_t i = kept; i < details->env_cnt; i++)
		list[i] = NULL;
	details->env_cnt = (__typeof__(details->env_cnt))kept;
}

void shadow_mark_processes(job_record_t *job, const char *level)
{
	details_t *details = job->details;

	if (!details)
		return;
	if (details->env_cnt)
		forget(details);
	if (!level)
		return;
	/* one more than the number, as Slurm's own writers leave it */
	xrecalloc(details->env_sup, details->env_cnt + 2, sizeof(char *));
	details->env_sup[details->env_cnt] = xstrdup_printf(LEVEL_ENTRY "%s", level);
	details->env_cnt++;
}
