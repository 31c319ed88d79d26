/* SPDX-License-Identifier: GPL-2.0-or-later */
/* setup_report.h - one run of `onespine setup`, and what it prints */
#ifndef OSP_SETUP_REPORT_H
#define OSP_SETUP_REPORT_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "tools/command/command.h"
#include "tools/setup/doctor.h"
#include "tools/setup/setup.h"

/* How setup begins onespine.yaml: with the gate that only reports, without a gate, or without a
 * word of it; and before ParallelCluster's capacity reservations. */
#define SETUP_BEGUN_WITHOUT                                                                        \
	"# How gangs are placed and nodes are checked: man onespine.yaml has every key. onespine " \
	"setup\n# began this file and never writes it again.\n"
#define SETUP_BEGUN SETUP_BEGUN_WITHOUT "defaults:\n  gate:\n"
#define SETUP_BEGUN_LOG                                                                            \
	SETUP_BEGUN                                                                                \
	"    # log: a node that fails its checks is only reported, in the gate's log. "            \
	"drain: it "                                                                               \
	"is\n    # taken out, with the reason, and the job goes on elsewhere.\n"                   \
	"    failure: log\n"
#define SETUP_BEGUN_OFF SETUP_BEGUN "    # no node is checked before a job starts\n    depth: off\n"
#define SETUP_BEGUN_FLEET                                                                          \
	"watch:\n  # into which capacity reservations ParallelCluster launches nodes; "            \
	"unlaunched: "                                                                             \
	"launch uses it\n  launch_groups: >-\n"

struct setup {
	const struct osp_call *call;
	char *conf_path;
	char *record_path;
	bool head;
	bool fetched;
	bool dry_run;
	bool undo;
	bool no_gate;
	bool kept;  /* the file that was begun was edited, so undo leaves it */
	int folder; /* the folder of slurm.conf; -1: not open */
	int lock;
	struct osp_plan old;		     /* the recorded plan */
	struct osp_plan plan;		     /* the wanted plan */
	struct osp_overlays before;	     /* the files without the recorded changes */
	struct osp_overlays after;	     /* the files with the plan */
	struct osp_doctor doctor;	     /* the facts with the plan */
	struct osp_doctor_findings findings; /* what is left for a person to do */
	const char *unit;		     /* what was done to the drop-in; NULL: nothing */
	char *unit_path;
	const char *rotation; /* what was done to logrotate's file; NULL: nothing */
	char *rotation_path;
	const char *key; /* what was done to the gate's keys; NULL: nothing */
	struct osp_error error;
};

/* Returns the plan's first change of that kind; NULL if it has none. */
const struct osp_change *setup_find_change(const struct osp_plan *plan, enum osp_change_kind kind);

/* Returns whether the change's file is there and is no longer as setup wrote it. */
bool setup_edited(const struct osp_change *change);

/*
 * Prints what was done, as text or JSON, and what is left for a person. `made` is what was changed,
 * or would be; `blocked` says that nothing may be changed yet. Returns `status`, or OSP_EXIT_NO if
 * an undo leaves lines that a person wrote.
 */
int setup_report(const struct setup *setup, const struct osp_plan *made, bool blocked, int status);

#endif
