/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setup.h - changes of Slurm's files: planned, shown, made, recorded and taken back
 *
 * A plan is a list of whole files to create and of lines to add at a file's end, in the order in
 * which they are made. Before the first of them is made the whole plan is written beside slurm.conf
 * (onespine.setup), so that what is there after a crash can be taken back too. Taking back removes
 * exactly the bytes that were added, wherever they are by then, and refuses before the first
 * change when a file that we created was edited since. A file that we only began may be edited: it
 * is never written again, and taking back removes it only while it is as it was begun.
 *
 * One thread. Every file is written whole or not at all, with its owner, mode and labels.
 */
#ifndef OSP_SETUP_H
#define OSP_SETUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "host/slurm/slurm_files.h"

#define OSP_CHANGES_MAX 8

enum osp_change_kind {
	OSP_CHANGE_CREATE, /* the whole file */
	OSP_CHANGE_ADD,	   /* at the end of a file that is there */
	OSP_CHANGE_BEGIN,  /* a first version of a file that is the administrator's from then on */
};

struct osp_change {
	enum osp_change_kind kind;
	char *path;
	char *text;
	uint64_t at; /* OSP_CHANGE_ADD: the file's size before */
};

struct osp_plan {
	struct osp_change changes[OSP_CHANGES_MAX];
	size_t count;
	bool head; /* made for the host of slurmctld */
};

/* Takes `path` and `text` over, also when it fails. Returns 0, or -1 when one of them is NULL. */
int osp_plan_add(struct osp_plan *plan, enum osp_change_kind kind, char *path, char *text,
		 uint64_t at);
void osp_plan_free(struct osp_plan *plan);
bool osp_plans_equal(const struct osp_plan *a, const struct osp_plan *b);

/* Returns the record's path beside slurm.conf. To be freed; NULL when memory ran out. */
char *osp_record_path(const char *conf_path);

/* Reads the record; 1, 0 if there is none, -1 with `error` set. */
int osp_plan_load(const char *record_path, struct osp_plan *plan, struct osp_error *error);

/*
 * Lays over each file what it is without the plan's changes, so that others can look at it as if
 * nothing had been done. The texts are to be freed with osp_overlays_free(). -1 with `error` set.
 */
int osp_plan_without(const struct osp_plan *plan, struct osp_overlays *overlays,
		     struct osp_error *error);

/* Does the same with the changes made. `before` is what lies there without them. */
int osp_plan_with(const struct osp_plan *plan, const struct osp_overlays *before,
		  struct osp_overlays *overlays, struct osp_error *error);
void osp_overlays_free(struct osp_overlays *overlays);

/* Returns whether every change is in place, byte for byte. */
bool osp_plan_holds(const struct osp_plan *plan);

/* Makes the changes, record first; takes back what was made where one fails. The files get owner,
 * group and mode of `like`; scripts are executable. */
int osp_plan_make(const struct osp_plan *plan, const char *record_path, const char *like,
		  struct osp_error *error);

/* Returns whether a file that was created or begun is still as it was written. */
bool osp_change_unedited(const struct osp_change *change);

/* Returns -1 with `error` set when a file that we created was edited since. */
int osp_plan_unedited(const struct osp_plan *plan, struct osp_error *error);

/* Takes the changes back, last one first, the record last. */
int osp_plan_undo(const struct osp_plan *plan, const char *record_path, struct osp_error *error);

/* Makes [{"path": .., "what": "created" | "added" | "begun", "text": ..}] */
json_t *osp_plan_json(const struct osp_plan *plan);

#endif
