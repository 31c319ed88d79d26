/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.h - what a check, or a whole node, came to
 *
 * One scale for a check's results (check/check.h), for what is kept of them and for a node's report
 * to its gang (lib/gate/gate.h). Gate messages carry the number and JSON carries the name, so
 * neither may change.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_VERDICT_H
#define OSP_VERDICT_H

#include <stdbool.h>

/* From the least to the gravest. */
enum osp_verdict {
	OSP_VERDICT_SKIP,   /* nothing of the kind here, or it cannot be found out */
	OSP_VERDICT_PASS,   /* healthy */
	OSP_VERDICT_WARN,   /* worth a look; a user can bring it about, or nothing breaks yet */
	OSP_VERDICT_ERROR,  /* the check itself broke: says nothing about the node */
	OSP_VERDICT_FAIL,   /* the node must not carry a job */
	OSP_VERDICT_SILENT, /* of a gang's node only: did not report, and its Prolog may never end
			     */
	OSP_VERDICT_COUNT
};

/* Names a verdict: "PASS" ...; "?" if it is none. */
const char *osp_verdict_name(enum osp_verdict verdict);

/* Finds the verdict that `name` is. False, and `verdict` as it was, if it is none. */
bool osp_verdict_find(const char *name, enum osp_verdict *verdict);

#endif
