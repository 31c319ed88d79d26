/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_extra.c - the last verdict in the Extra field of a node of Slurm */
#include "host/slurm/node_extra.h"

#include <errno.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "check/base/pass_store.h"
#include "check/base/root.h"
#include "host/files.h"
#include "host/slurm/cluster_state.h"
#include "host/slurm/extra_text.h"

#define NOTE	   "extra"
#define NOTE_BYTES 2048

/* Answers of the child beside Slurm's errors, which are above 1000 and below 10000. */
enum { CHILD_DONE, CHILD_NOT_JSON = 20000, CHILD_NO_NODE };

/* --- in the child ----------------------------------------------------------------------------- */

struct put {
	const char *node;
	json_t *mine; /* the last verdict; NULL: the instance is reported */
	const char *instance;
};

static int update_node(const char *node, char *extra)
{
	update_node_msg_t update;
	char name[256];

	snprintf(name, sizeof(name), "%s", node);
	slurm_init_update_node_msg(&update);
	update.node_names = name;
	update.extra = extra;
	errno = 0;
	if (slurm_update_node(&update) == SLURM_SUCCESS)
		return CHILD_DONE;
	return errno ? errno : SLURM_ERROR;
}

/* Makes what is reported, and says under which key; NULL when memory ran out. The instance is
 * reported with the boot that Slurm has for the node: after another one it says nothing. */
static json_t *reported(const struct put *put, const node_info_t *info, const char **key)
{
	*key = put->mine ? OSP_EXTRA_KEY : OSP_EXTRA_INSTANCE_KEY;
	if (put->mine)
		return json_incref(put->mine);
	return json_pack("{s:s,s:I}", "id", put->instance, "boot", (json_int_t)info->boot_time);
}

static int merge_and_update(const struct put *put, const node_info_t *info)
{
	char *merged = NULL;
	const char *key;
	json_t *mine = reported(put, info, &key);
	int state = mine ? osp_extra_merge(info->extra, key, mine, &merged, NULL) : -1;

	if (state > 0)
		state = update_node(put->node, merged);
	else
		state = state < 0 ? CHILD_NOT_JSON : CHILD_DONE;
	json_decref(mine);
	free(merged);
	return state;
}

static int put_in_child(const void *argument)
{
	const struct put *put = argument;
	node_info_msg_t *answer = NULL;
	char name[256];
	int state = CHILD_NO_NODE;

	osp_slurm_begin();
	snprintf(name, sizeof(name), "%s", put->node);
	errno = 0;
	if (slurm_load_node_single(&answer, name, SHOW_ALL) != SLURM_SUCCESS)
		return errno ? errno : SLURM_ERROR;
	if (answer->record_count == 1 && answer->node_array[0].name)
		state = merge_and_update(put, &answer->node_array[0]);
	slurm_free_node_info_msg(answer);
	return state;
}

/* --- in the parent ---------------------------------------------------------------------------- */

static bool note_path(const char *root, char *path, size_t path_bytes)
{
	return osp_root_path(root, path, path_bytes, "%s/" NOTE, &OSP_RUN_DIR[1]);
}

static int run_child(const struct put *put, unsigned int deadline_ms, struct osp_error *error)
{
	struct osp_guard guard;
	int state = 0;

	if (osp_guard_start(&guard, put_in_child, put) < 0)
		return osp_error_set(error, "no child process: %s", strerror(errno));
	switch (osp_guard_collect(&guard, osp_now_ms() + deadline_ms, &state)) {
	case 1:
		break;
	case 0:
		return osp_error_set(error, "slurmctld does not answer within %u ms", deadline_ms);
	default:
		return osp_error_set(error, "Slurm's library found no configuration");
	}
	if (state == CHILD_DONE)
		return 0;
	if (state == CHILD_NOT_JSON)
		return osp_extra_merge("-", OSP_EXTRA_KEY, NULL, NULL, error);
	if (state == CHILD_NO_NODE)
		return osp_error_set(error, "Slurm has no node %s", put->node);
	return osp_error_set(error, "%s", slurm_strerror(state));
}

int osp_extra_put(const char *root, const char *node, json_t *mine, unsigned int deadline_ms,
		  struct osp_error *error)
{
	char *text = json_dumps(mine, JSON_COMPACT | JSON_SORT_KEYS);
	const struct put put = {node, mine, NULL};
	char path[PATH_MAX], noted[NOTE_BYTES];
	int state = 0;

	if (!text)
		return osp_error_set(error, "out of memory");
	if (!osp_root_read(root, noted, sizeof(noted), "%s/" NOTE, &OSP_RUN_DIR[1]) ||
	    strcmp(noted, text) != 0) {
		state = run_child(&put, deadline_ms, error);
		/* Without the note slurmctld is asked again next time: no harm. */
		osp_run_folder_make(root);
		if (!state && note_path(root, path, sizeof(path)))
			osp_write_output(path, text, strlen(text), NULL);
	}
	free(text);
	return state;
}

int osp_extra_put_instance(const char *node, const char *instance, unsigned int deadline_ms,
			   struct osp_error *error)
{
	const struct put put = {node, NULL, instance};

	return run_child(&put, deadline_ms, error);
}
