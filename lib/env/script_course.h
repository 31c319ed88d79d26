/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * script_course.h - how long each setting of a script is in force, and whether a program gets it
 *
 * For script.c, which tells it each command in the order of the text. It sets `gone` and `doubt` of
 * the settings, and takes back `own` (lib/env/env_lint.h).
 *
 * Any thread, any daemon: no shared state.
 */
#ifndef OSP_SCRIPT_COURSE_H
#define OSP_SCRIPT_COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/env/env_lint.h"
#include "lib/env/script_flow.h"

#define OSP_COURSE_HIDDEN_MAX 64       /* names that one command hides; more are not followed */
#define OSP_COURSE_ENDS_MAX   20000    /* names that a script hides or ends */
#define OSP_COURSE_LOOKS_MAX  50000000 /* at settings that are hidden from a program */

struct osp_setting_course;

/* Begins zeroed. */
struct osp_courses {
	struct osp_flow flow;
	struct osp_setting_course *list; /* of each setting */
	uint32_t count, room;
	size_t starts; /* programs so far */
	size_t ends;   /* names that were hidden or ended so far */
	size_t looks;  /* at settings that were hidden so far */
	struct osp_course_hidden {
		const char *name; /* NULL: all variables */
		const char *but;  /* and these not, of all: names between commas */
		size_t before;	  /* of the settings before this one */
		bool lasts;	  /* for the rest of the text, not for one command */
	} hidden[OSP_COURSE_HIDDEN_MAX];
	size_t hidden_count;
	size_t before; /* settings before the command that is in no other */
	struct osp_course_within {
		size_t setting;
		uint32_t subshell;
		bool doubt;		 /* that may end there */
		bool applied;		 /* and a program there may not have got */
	} within[OSP_COURSE_HIDDEN_MAX]; /* settings that end within a subshell only */
	size_t within_count;
};

enum osp_course_end { OSP_COURSE_UNSET, OSP_COURSE_UNEXPORTED };

/* Begins the newest setting. `lasts`: it is for the commands after its own too. Returns 0, or -1 if
 * memory ran out. */
int osp_course_begin(struct osp_courses *courses, struct osp_setting *setting, bool lasts);

/* Ends the newest setting, which never takes effect. */
void osp_course_void(struct osp_courses *courses, struct osp_setting *settings);

/* Ends the settings of a variable in the function of the present command. */
void osp_course_end(struct osp_courses *courses, struct osp_setting *settings, const char *name,
		    size_t name_bytes, enum osp_course_end how);

/* Exports the settings of a variable so far, also those that were no longer exported. */
void osp_course_export(struct osp_courses *courses, struct osp_setting *settings, const char *name,
		       size_t name_bytes);

/* Hides the settings of a variable so far from the programs of the present command; `lasts`: from
 * those after it too, to the end of the text (osp_course_reveal()). `name` must outlive it. */
void osp_course_hide(struct osp_courses *courses, const char *name, bool lasts);

/* Hides the settings of all variables so far from the programs of the present command, but of those
 * that `but` names between commas, and of those that pass everywhere. `but` must outlive it. */
void osp_course_hide_all(struct osp_courses *courses, const char *but);

/* Hides again what was, to the end of the text. */
void osp_course_hide_again(struct osp_courses *courses, const struct osp_course_hidden *hidden);

/* Takes back what was hidden since there were `count` of it; `all`: also what lasts. */
void osp_course_reveal(struct osp_courses *courses, size_t count, bool all);

/* Notes that the newest setting reaches programs from which all is hidden. */
void osp_course_passes(struct osp_courses *courses);

/* Notes that a loop ended, so that what its body set after a program may reach that in the next
 * round; 0: none did. */
void osp_course_loop(struct osp_courses *courses, const struct osp_setting *settings,
		     uint32_t loop);

/* Notes that the present command starts a program. */
void osp_course_start(struct osp_courses *courses, struct osp_setting *settings);

/* Notes that a block was a subshell, so that what it ended goes on after it; 0: none was. */
void osp_course_part(struct osp_courses *courses, struct osp_setting *settings, uint32_t block);

enum osp_course_stand { OSP_COURSE_STANDS_NOT, OSP_COURSE_MAY_STAND, OSP_COURSE_STANDS };

/* Returns whether a setting of the variable is in force at the present command; `exported`: one
 * that programs get. */
enum osp_course_stand osp_course_stands(const struct osp_courses *courses,
					const struct osp_setting *settings, const char *name,
					bool exported);

/* Returns whether the variable of a setting may still have its value at the present command. */
enum osp_course_stand osp_course_setting(const struct osp_courses *courses, size_t setting);

/* Notes that the present command may start a program that the script does not name, which counts
 * only for settings that a subshell would take along. */
void osp_course_may_start(struct osp_courses *courses);

/* Notes the end of a command that is in no other. */
void osp_course_command_ends(struct osp_courses *courses);

/* Notes the end of the script. */
void osp_course_finish(const struct osp_courses *courses, struct osp_setting *settings);

void osp_courses_free(struct osp_courses *courses);

#endif
