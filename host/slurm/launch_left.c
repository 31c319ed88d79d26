/* SPDX-License-Identifier: GPL-2.0-or-later */
/* launch_left.c - reservations that a launch has left */
#include "onespine_config.h"

#include "host/slurm/launch_left.h"

#include <errno.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/slurm/cluster_state.h"
#include "lib/conf/slurm_conf.h"
#include "lib/place/launch.h"

#define PREFIX OSP_LAUNCH_RESERVATION
/* A reservation that lacks one of these is somebody's own. */
#define FLAGS                                                                                      \
	(RESERVE_FLAG_FLEX | RESERVE_FLAG_IGN_JOBS | RESERVE_FLAG_PURGE_COMP |                     \
	 RESERVE_FLAG_NO_HOLD_JOBS)

/* What is done with each of these reservations; 0, or -1 with `error` set. */
typedef int left_f(const char *name, struct osp_text *text, struct osp_error *error);

/* Returns the job of a reservation that slurmctld has made for a launch; 0 of any other. */
static uint32_t job_of(const reserve_info_t *record)
{
	const char *digits;
	unsigned long job;
	char *end;

	if (!record->name || strncmp(record->name, PREFIX, strlen(PREFIX)) != 0 ||
	    (record->flags & FLAGS) != FLAGS)
		return 0;
	digits = record->name + strlen(PREFIX);
	job = strtoul(digits, &end, 10);
	return *digits >= '1' && *digits <= '9' && !*end && job < UINT32_MAX ? (uint32_t)job : 0;
}

/* Returns whether the job has the reservation, and has not ended; -1 with `error` set. */
static int is_used(uint32_t job, const char *name, struct osp_error *error)
{
	job_info_msg_t *message = NULL;
	int used = 0;

	errno = 0;
	if (slurm_load_job(&message, job, SHOW_ALL) != SLURM_SUCCESS)
		return errno == ESLURM_INVALID_JOB_ID
			       ? 0
			       : osp_error_set(error, "slurmctld does not report job %u: %s", job,
					       slurm_strerror(errno));
	for (uint32_t i = 0; i < message->record_count && !used; i++) {
		const slurm_job_info_t *record = &message->job_array[i];

		/* a job may have several */
		used = osp_slurm_list_has(record->resv_name, name, NULL, 0) &&
		       (record->job_state & JOB_STATE_BASE) < JOB_COMPLETE;
	}
	slurm_free_job_info_msg(message);
	return used;
}

static int for_each(left_f *f, struct osp_text *text, struct osp_error *error)
{
	reserve_info_msg_t *message = NULL;
	int rc = 0, failed = 0;

	osp_slurm_begin();
	errno = 0;
	if (slurm_load_reservations(0, &message) != SLURM_SUCCESS)
		return osp_error_set(error, "slurmctld does not report its reservations: %s",
				     slurm_strerror(errno));
	for (uint32_t i = 0; !rc && i < message->record_count; i++) {
		const reserve_info_t *record = &message->reservation_array[i];
		uint32_t job = job_of(record);
		int used = job ? is_used(job, record->name, error) : 1;

		rc = used < 0 ? -1 : 0;
		if (!used && f(record->name, text, error))
			failed = -1; /* this one alone */
	}
	slurm_free_reservation_info_msg(message);
	return rc ? rc : failed;
}

static int name_it(const char *name, struct osp_text *text, struct osp_error *error)
{
	(void)error;
	osp_text_printf(text, "%s%s", text->length_bytes ? "," : "", name);
	return 0;
}

static int delete_it(const char *name, struct osp_text *text, struct osp_error *error)
{
	reservation_name_msg_t message = {.name = (char *)name};

	errno = 0;
	if (slurm_delete_reservation(&message) == SLURM_SUCCESS)
		osp_text_printf(text, "reservation %s deleted: no gang waits with it\n", name);
	else if (errno != ESLURM_RESERVATION_INVALID && /* slurmctld was quicker */
		 errno != ESLURM_RESERVATION_BUSY)	/* another job of the owner has it */
		return osp_error_set(error,
				     "reservation %s, with which no gang waits, cannot be "
				     "deleted: %s",
				     name, slurm_strerror(errno));
	return 0;
}

int osp_launch_left(struct osp_text *names, struct osp_error *error)
{
	return for_each(name_it, names, error);
}

int osp_launch_left_delete(struct osp_text *said, struct osp_error *error)
{
	return for_each(delete_it, said, error);
}
