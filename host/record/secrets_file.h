/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * secrets_file.h - a file of keys (lib/gate/secrets.h) on this host, the gate's or the reports'
 *
 * One thread.
 */
#ifndef OSP_SECRETS_FILE_H
#define OSP_SECRETS_FILE_H

#include "lib/base/error.h"
#include "lib/gate/secrets.h"

/* Where it is unless onespine.yaml says otherwise. */
#define OSP_SECRETS_PATH    OSP_SITE_DIR "/gate.key"   /* the gates' */
#define OSP_REPORT_KEY_PATH OSP_SITE_DIR "/report.key" /* of what nodes report to the watch */

/*
 * Reads it; a link is followed. Returns 0, or -1 with `error` set: it is missing or no regular
 * file, belongs to another user than the caller's, others may read or write it, or it is not as
 * lib/gate/secrets.h says. Free *secrets with osp_secrets_forget().
 */
int osp_secrets_load(const char *path, struct osp_secrets *secrets, struct osp_error *error);

/* Replaces the whole file or leaves it as it was; a new one is readable by the caller alone from
 * its first moment on. Returns 0, or -1 with `error` set. */
int osp_secrets_save(const char *path, const struct osp_secrets *secrets, struct osp_error *error);

/* Adds a key of random bytes as osp_secrets_add() does, by that name or, if it is NULL, by the
 * day's. */
int osp_secrets_add_new(struct osp_secrets *secrets, const char *name, struct osp_error *error);

#endif
