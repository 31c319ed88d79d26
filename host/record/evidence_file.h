/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * evidence_file.h - files of what checks saw, of root's alone, never more than
 * lib/health/evidence.h allows
 *
 * Everything is done by a child of its own that is not waited for longer than a deadline: a shared
 * folder may hang. One thread.
 */
#ifndef OSP_EVIDENCE_FILE_H
#define OSP_EVIDENCE_FILE_H

#include "lib/base/error.h"
#include "lib/health/evidence.h"

/*
 * Keeps `json` in `folder`, which is made where only it is missing, mode 0700; files are 0600.
 * `evidence` says of what; its `saw` and `random` are set here. 1: kept, its name in `name` (of
 * OSP_EVIDENCE_NAME_BYTES); 0: the same is kept already; -1 with `error` set: the folder is not
 * root's alone, is full of what is graver, does not answer in `deadline_ms`, or takes no file.
 */
int osp_evidence_save(const char *folder, struct osp_evidence *evidence, const char *json,
		      unsigned int deadline_ms, char *name, struct osp_error *error);

#endif
