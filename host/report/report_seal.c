/* SPDX-License-Identifier: GPL-2.0-or-later */
/* report_seal.c - reports that only root can have made, and that only one user can open */
#include "onespine_config.h"
#include "host/report/report_seal.h"

#include <munge.h>
#include <stdlib.h>

static munge_ctx_t open_munge(const char *socket, munge_err_t *state)
{
	munge_ctx_t munge = munge_ctx_create();

	*state = munge ? EMUNGE_SUCCESS : EMUNGE_NO_MEMORY;
	if (*state == EMUNGE_SUCCESS && *socket)
		*state = munge_ctx_set(munge, MUNGE_OPT_SOCKET, socket);
	return munge;
}

int osp_report_seal(const char *socket, const struct osp_text *report, uid_t reader,
		    struct osp_text *sealed, struct osp_error *error)
{
	char *credential = NULL;
	munge_err_t state;
	munge_ctx_t munge = open_munge(socket, &state);
	int rc = 0;

	if (state == EMUNGE_SUCCESS)
		state = munge_ctx_set(munge, MUNGE_OPT_UID_RESTRICTION, reader);
	if (state == EMUNGE_SUCCESS)
		state = munge_ctx_set(munge, MUNGE_OPT_TTL, OSP_REPORT_LIFE_S);
	if (state == EMUNGE_SUCCESS)
		state = munge_encode(&credential, munge, report->data, (int)report->length_bytes);
	if (state == EMUNGE_SUCCESS)
		osp_text_add(sealed, credential);
	else
		rc = osp_error_set(error, "MUNGE: %s", munge_strerror(state));
	free(credential);
	if (munge)
		munge_ctx_destroy(munge);
	return rc;
}

char *osp_report_open(const char *socket, const char *sealed, uid_t maker, size_t *report_bytes)
{
	void *inside = NULL;
	int inside_bytes = 0;
	uid_t uid = (uid_t)-1;
	gid_t gid;
	munge_err_t state;
	munge_ctx_t munge = open_munge(socket, &state);

	if (state == EMUNGE_SUCCESS)
		state = munge_decode(sealed, munge, &inside, &inside_bytes, &uid, &gid);
	if (munge)
		munge_ctx_destroy(munge);
	if (state == EMUNGE_SUCCESS && (uid == 0 || uid == maker) && inside_bytes > 0) {
		*report_bytes = (size_t)inside_bytes;
		return inside;
	}
	free(inside);
	return NULL;
}
