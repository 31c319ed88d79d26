/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence_file.h - files of what checks saw, for root alone, never more than lib/health/evidence.h
 * allows
 *
 * A child process does everything, and is waited for only until a deadline: a shared folder may
 * hang. One thread.
 */
#ifndef OSP_EVIDENCE_FILE_H
#define OSP_EVIDENCE_FILE_H

#include "lib/base/error.h"
#include "lib/health/evidence.h"

/*
 * Keeps `json` in `folder`, mode 0700; files are 0600. The folder is made if only its last part is
 * missing. `evidence` says what it is about; its `saw` and `random` are set here. Returns 1 if it
 * is kept, with its name in `name` (of OSP_EVIDENCE_NAME_BYTES); 0 if the same is kept already; -1
 * with `error` set: the folder is not root's alone, is full of graver evidence, does not answer
 * within `deadline_ms`, or takes no file.
 */
int osp_evidence_save(const char *folder, struct osp_evidence *evidence, const char *json,
		      unsigned int deadline_ms, char *name, struct osp_error *error);

#endif
