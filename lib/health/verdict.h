/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verdict.h - the result of a check, or of a whole node
 *
 * One scale for a check's results (check/check.h), for the history of checks and for a node's
 * report to its gang (lib/gate/gate.h). Gate messages carry the number and JSON carries the name,
 * so neither may change.
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_VERDICT_H
#define OSP_VERDICT_H

#include <stdbool.h>

/* From the least to the gravest. */
enum osp_verdict {
	OSP_VERDICT_SKIP,   /* nothing of the kind is here, or it cannot be found out */
	OSP_VERDICT_PASS,   /* healthy */
	OSP_VERDICT_WARN,   /* worth a look: a user can cause it, or nothing is broken yet */
	OSP_VERDICT_ERROR,  /* the check itself broke, which says nothing about the node */
	OSP_VERDICT_FAIL,   /* the node must not carry a job */
	OSP_VERDICT_SILENT, /* only of a gang's node: no report, and its Prolog may never end */
	OSP_VERDICT_COUNT
};

/* Names a verdict: "PASS" ...; "?" if it is none. */
const char *osp_verdict_name(enum osp_verdict verdict);

/* Finds the verdict of that name. Returns false and leaves `verdict` unchanged if there is none. */
bool osp_verdict_find(const char *name, enum osp_verdict *verdict);

#endif
