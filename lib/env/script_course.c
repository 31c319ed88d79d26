/* SPDX-License-Identifier: GPL-2.0-or-later */
/* script_course.c - how long each setting of a script is in force, and whether a program gets it */
#include "lib/env/script_course.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/room.h"

struct osp_setting_course {
	uint32_t block;
	bool lasts;
	bool ended;	     /* it is unset, set anew or no longer exported */
	bool unexported;     /* the last of these */
	bool may_have_ended; /* a branch ended it */
	bool hidden;	     /* a program was started without it */
	bool passes;	     /* it is not hidden with all others */
	bool looped;	     /* it may reach a program in a loop's next round */
	size_t first_starts; /* the programs that were started before it */
	size_t starts;	     /* these, and those without it */
	uint32_t ended_in;   /* the block that ended it, if no program had got it */
	size_t last_starts;  /* if it ended: the programs that were started before that */
};

int osp_course_begin(struct osp_courses *courses, struct osp_setting *setting, bool lasts)
{
	if (osp_make_room((void **)&courses->list, &courses->room, courses->count,
			  sizeof(*courses->list)))
		return -1;
	courses->list[courses->count++] =
		(struct osp_setting_course){.block = osp_flow_block(&courses->flow),
					    .lasts = lasts,
					    .first_starts = courses->starts,
					    .starts = courses->starts};
	if (osp_flow_may_not_run(&courses->flow, courses->list[courses->count - 1].block))
		setting->doubt = OSP_DOUBT_BRANCH;
	return courses->flow.failed ? -1 : 0;
}

void osp_course_void(struct osp_courses *courses, struct osp_setting *settings)
{
	courses->list[courses->count - 1].ended = true;
	settings[courses->count - 1].gone = true;
}

static bool is_named(const struct osp_setting *setting, const char *name, size_t name_bytes)
{
	return !strncmp(setting->name, name, name_bytes) && !setting->name[name_bytes];
}

/* Returns whether the setting is in force, and each program so far was started before or without
 * it. */
static bool is_unused(const struct osp_courses *courses, const struct osp_setting_course *course)
{
	return !course->ended && course->starts == courses->starts;
}

/* Ends a setting for the rest of a subshell in which it is not; `doubt`: it may be ended there. */
static void end_within(struct osp_courses *courses, size_t index, uint32_t subshell, bool doubt)
{
	if (courses->within_count < OSP_COURSE_HIDDEN_MAX)
		courses->within[courses->within_count++] = (struct osp_course_within){
			.setting = index, .subshell = subshell, .doubt = doubt};
}

/* Ends one setting, or casts doubt on it, because of a command in `block`. */
static void end_one(struct osp_courses *courses, size_t index, struct osp_setting *setting,
		    uint32_t block, enum osp_course_end how)
{
	const struct osp_flow *flow = &courses->flow;
	struct osp_setting_course *course = &courses->list[index];
	bool unused = is_unused(courses, course);
	uint32_t subshell = osp_flow_subshell(flow, block), sure = osp_flow_as_sure(flow, block);

	if (!osp_flow_together(flow, course->block, block))
		return;
	if (subshell && !osp_flow_within(flow, course->block, subshell)) {
		end_within(courses, index, subshell, sure != subshell);
	} else if (osp_flow_within(flow, course->block, sure)) {
		course->ended = true;
		course->ended_in = unused ? block : 0;
		course->last_starts = courses->starts;
		course->unexported = how == OSP_COURSE_UNEXPORTED;
		setting->gone = unused && !course->looped;
		if (unused && course->looped && setting->doubt == OSP_DOUBT_NONE)
			setting->doubt = OSP_DOUBT_REPLACED;
	} else if (osp_flow_within(flow, sure, course->block)) {
		course->may_have_ended = true;
		if (unused && setting->doubt == OSP_DOUBT_NONE)
			setting->doubt = OSP_DOUBT_REPLACED;
	}
}

void osp_course_end(struct osp_courses *courses, struct osp_setting *settings, const char *name,
		    size_t name_bytes, enum osp_course_end how)
{
	uint32_t block;

	if (courses->flow.at.piped || courses->flow.at.apart ||
	    courses->ends++ >= OSP_COURSE_ENDS_MAX)
		return;
	block = osp_flow_block(&courses->flow);
	for (size_t i = 0; i < courses->count; i++) {
		const struct osp_setting_course *course = &courses->list[i];

		if (course->lasts && !course->ended && is_named(&settings[i], name, name_bytes))
			end_one(courses, i, &settings[i], block, how);
	}
}

void osp_course_export(struct osp_courses *courses, struct osp_setting *settings, const char *name,
		       size_t name_bytes)
{
	for (size_t i = 0; i < courses->count; i++) {
		struct osp_setting_course *course = &courses->list[i];

		if (!is_named(&settings[i], name, name_bytes))
			continue;
		settings[i].own = false;
		if (!course->unexported)
			continue;
		course->ended = course->unexported = false;
		settings[i].gone = false;
	}
}

static void hide(struct osp_courses *courses, struct osp_course_hidden hidden)
{
	hidden.before = courses->count;
	if (courses->hidden_count < OSP_COURSE_HIDDEN_MAX && courses->ends++ < OSP_COURSE_ENDS_MAX)
		courses->hidden[courses->hidden_count++] = hidden;
}

void osp_course_hide(struct osp_courses *courses, const char *name, bool lasts)
{
	hide(courses, (struct osp_course_hidden){.name = name, .lasts = lasts});
}

void osp_course_hide_all(struct osp_courses *courses, const char *but)
{
	hide(courses, (struct osp_course_hidden){.but = but});
}

void osp_course_hide_again(struct osp_courses *courses, const struct osp_course_hidden *hidden)
{
	if (courses->hidden_count == OSP_COURSE_HIDDEN_MAX)
		return;
	courses->hidden[courses->hidden_count] = *hidden;
	courses->hidden[courses->hidden_count++].lasts = true;
}

void osp_course_reveal(struct osp_courses *courses, size_t count, bool all)
{
	size_t kept = count;

	for (size_t i = count; i < courses->hidden_count && !all; i++) {
		if (courses->hidden[i].lasts)
			courses->hidden[kept++] = courses->hidden[i];
	}
	if (kept < courses->hidden_count)
		courses->hidden_count = kept;
}

void osp_course_passes(struct osp_courses *courses)
{
	courses->list[courses->count - 1].passes = true;
}

/* Notes that the program about to start does not get the setting. */
static void miss_start(struct osp_setting_course *course)
{
	course->starts++;
	course->hidden = true;
}

/* Returns whether the name is one of those between commas. */
static bool is_listed(const char *list, const char *name)
{
	size_t length, name_bytes = strlen(name);

	for (; *list; list += length + (list[length] == ',')) {
		length = strcspn(list, ",");
		if (length == name_bytes && !strncmp(list, name, length))
			return true;
	}
	return false;
}

/* Notes that the program about to start does not get the settings that are hidden from it. */
static void start_without(struct osp_courses *courses, const struct osp_setting *settings,
			  const struct osp_course_hidden *hidden)
{
	courses->looks += hidden->before;
	for (size_t i = 0; i < hidden->before && courses->looks < OSP_COURSE_LOOKS_MAX; i++) {
		struct osp_setting_course *course = &courses->list[i];

		if (!(course->lasts || i >= courses->before) || !is_unused(courses, course))
			continue;
		if (hidden->name ? !strcmp(settings[i].name, hidden->name)
				 : !course->passes && !(hidden->but &&
							is_listed(hidden->but, settings[i].name)))
			miss_start(course);
	}
}

/* Notes that a program gets the setting, or may not, if it is in a subshell that may end it. */
static void doubt_within(struct osp_courses *courses, struct osp_course_within *one,
			 struct osp_setting *setting, bool inside)
{
	if (inside && is_unused(courses, &courses->list[one->setting]) &&
	    setting->doubt == OSP_DOUBT_NONE) {
		setting->doubt = OSP_DOUBT_REPLACED;
		one->applied = true;
	} else if (!inside && one->applied && !courses->list[one->setting].ended) {
		setting->doubt = OSP_DOUBT_NONE;
	}
}

/* Notes the same of settings that ended in a subshell around the program. */
static void start_within(struct osp_courses *courses, struct osp_setting *settings)
{
	size_t kept = 0;

	courses->ends += courses->within_count;
	for (size_t i = 0; i < courses->within_count && courses->ends < OSP_COURSE_ENDS_MAX; i++) {
		struct osp_course_within one = courses->within[i];
		struct osp_setting_course *course = &courses->list[one.setting];
		bool inside = osp_flow_within(&courses->flow, courses->flow.at.block, one.subshell);

		if (one.doubt)
			doubt_within(courses, &one, &settings[one.setting], inside);
		if (!inside)
			continue; /* that subshell has ended */
		courses->within[kept++] = one;
		if (!one.doubt && is_unused(courses, course))
			miss_start(course);
	}
	courses->within_count = kept;
}

void osp_course_start(struct osp_courses *courses, struct osp_setting *settings)
{
	for (size_t i = 0; i < courses->hidden_count; i++)
		start_without(courses, settings, &courses->hidden[i]);
	start_within(courses, settings);
	courses->flow.starts = ++courses->starts;
	osp_flow_note_start(&courses->flow, courses->starts);
}

void osp_course_part(struct osp_courses *courses, struct osp_setting *settings, uint32_t block)
{
	if (!block || courses->ends++ >= OSP_COURSE_ENDS_MAX)
		return;
	for (size_t i = 0; i < courses->count; i++) {
		struct osp_setting_course *course = &courses->list[i];

		if (!course->ended_in ||
		    !osp_flow_within(&courses->flow, course->ended_in, block) ||
		    osp_flow_within(&courses->flow, course->block, block))
			continue;
		/* what started in the block since then was without it */
		*course = (struct osp_setting_course){.block = course->block,
						      .lasts = course->lasts,
						      .passes = course->passes,
						      .looped = course->looped,
						      .first_starts = course->first_starts,
						      .hidden = course->starts != courses->starts,
						      .starts = courses->starts};
		settings[i].gone = false;
	}
}

/* Returns whether another setting of the variable replaces this one in each round of the loop
 * before the loop starts a program. */
static bool begins_round(const struct osp_courses *courses, const struct osp_setting *settings,
			 size_t index, uint32_t loop)
{
	const struct osp_flow *flow = &courses->flow;
	size_t starts = osp_flow_starts_before(flow, loop);

	for (size_t i = 0; i < index; i++) {
		const struct osp_setting_course *one = &courses->list[i];

		if (one->lasts && osp_flow_within(flow, one->block, loop) &&
		    one->first_starts <= starts && !settings[i].fallback && !settings[i].adds &&
		    !strcmp(settings[i].name, settings[index].name) &&
		    osp_flow_in_each_round(flow, one->block, loop))
			return true;
	}
	return false;
}

void osp_course_loop(struct osp_courses *courses, const struct osp_setting *settings, uint32_t loop)
{
	if (!loop || osp_flow_starts_before(&courses->flow, loop) == courses->starts ||
	    courses->ends++ >= OSP_COURSE_ENDS_MAX)
		return;
	for (size_t i = 0; i < courses->count; i++) {
		struct osp_setting_course *course = &courses->list[i];

		if (!course->lasts || course->looped || !is_unused(courses, course) ||
		    !osp_flow_lasts_to(&courses->flow, course->block, loop) ||
		    courses->ends++ >= OSP_COURSE_ENDS_MAX)
			continue;
		course->looped = !begins_round(courses, settings, i, loop);
	}
}

/* Returns whether a subshell around the block ended the setting, or may have. */
static bool ended_within(const struct osp_courses *courses, size_t setting, uint32_t block)
{
	for (size_t i = 0; i < courses->within_count; i++) {
		if (courses->within[i].setting == setting &&
		    osp_flow_within(&courses->flow, block, courses->within[i].subshell))
			return true;
	}
	return courses->within_count == OSP_COURSE_HIDDEN_MAX;
}

enum osp_course_stand osp_course_stands(const struct osp_courses *courses,
					const struct osp_setting *settings, const char *name,
					bool exported)
{
	uint32_t block = courses->flow.at.block;
	enum osp_course_stand stand = OSP_COURSE_STANDS_NOT;

	for (size_t i = 0; i < courses->count; i++) {
		const struct osp_setting_course *course = &courses->list[i];
		uint32_t subshell;

		if (!(course->lasts || (exported && i >= courses->before)) || course->ended ||
		    strcmp(settings[i].name, name) != 0 || (exported && settings[i].own) ||
		    !osp_flow_together(&courses->flow, course->block, block))
			continue;
		subshell = osp_flow_subshell(&courses->flow, course->block);
		if (subshell && !osp_flow_within(&courses->flow, block, subshell))
			continue; /* it ended with that */
		if (settings[i].doubt != OSP_DOUBT_REPLACED && !course->may_have_ended &&
		    !ended_within(courses, i, block) &&
		    osp_flow_within(&courses->flow, block,
				    osp_flow_as_sure(&courses->flow, course->block)))
			return OSP_COURSE_STANDS;
		stand = OSP_COURSE_MAY_STAND;
	}
	return stand;
}

enum osp_course_stand osp_course_setting(const struct osp_courses *courses, size_t setting)
{
	const struct osp_setting_course *course = &courses->list[setting];

	if (course->ended && !course->unexported)
		return OSP_COURSE_STANDS_NOT;
	return course->may_have_ended ? OSP_COURSE_MAY_STAND : OSP_COURSE_STANDS;
}

void osp_course_may_start(struct osp_courses *courses)
{
	osp_flow_note_start(&courses->flow, courses->starts + 1);
}

void osp_course_command_ends(struct osp_courses *courses)
{
	courses->hidden_count = 0;
	courses->before = courses->count;
}

/* Returns whether each program that the script starts gets the setting. */
static bool is_everywhere(const struct osp_courses *courses,
			  const struct osp_setting_course *course,
			  const struct osp_setting *setting)
{
	if (!courses->starts || setting->doubt != OSP_DOUBT_NONE || course->starts)
		return false;
	if (!course->lasts)
		return courses->starts == 1;
	return !course->may_have_ended &&
	       (!course->ended || course->last_starts == courses->starts) &&
	       osp_flow_last_start(&courses->flow, course->block, courses->starts) ==
		       courses->starts;
}

void osp_course_finish(const struct osp_courses *courses, struct osp_setting *settings)
{
	for (size_t i = 0; i < courses->count; i++) {
		const struct osp_setting_course *course = &courses->list[i];

		settings[i].everywhere = is_everywhere(courses, course, &settings[i]);
		if (!(course->hidden && is_unused(courses, course)) &&
		    !(course->lasts &&
		      osp_flow_starts_none(&courses->flow, course->block, course->starts)))
			continue;
		settings[i].gone |= !course->looped;
		if (course->looped && settings[i].doubt == OSP_DOUBT_NONE)
			settings[i].doubt = OSP_DOUBT_REPLACED;
	}
}

void osp_courses_free(struct osp_courses *courses)
{
	osp_flow_free(&courses->flow);
	free(courses->list);
}
