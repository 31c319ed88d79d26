/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_exports.h - what Slurm's library exports to its plugins and no installed header declares
 *
 * Only for plugins that are built from the installed headers (job_submit); the shadow includes
 * Slurm's own. The same in every release from 22.05 to 26.05 (common/xmalloc.h, slurm/spank.h,
 * interfaces/select.h).
 */
#ifndef OSP_SLURM_EXPORTS_H
#define OSP_SLURM_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include <slurm/slurm.h>

struct job_record;

/*
 * Slurm's allocator: everything in a job_desc_msg_t comes from it. With `may_fail` it returns NULL
 * if memory runs out; without, the process ends. `file`, `line` and `function` are for its log.
 */
void *slurm_xcalloc(size_t count, size_t size, bool clear, bool may_fail, const char *file,
		    int line, const char *function);
void *slurm_xrecalloc(void **item, size_t count, size_t size, bool clear, bool may_fail,
		      const char *file, int line, const char *function);
void slurm_xfree(void **item); /* sets *item to NULL */

void slurm_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void slurm_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* slurm.conf as slurmctld has read it. Weak, as below. */
extern slurm_conf_t slurm_conf __attribute__((weak));

/* Since when this slurmctld is in control; 0: another one is, or none yet. Weak too. */
extern time_t control_time __attribute__((weak));

/* Calls select_p_job_begin() of the select plugin in use. Weak: only slurmctld has one. */
int select_g_job_begin(struct job_record *job) __attribute__((weak));

#endif
