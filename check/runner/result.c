/* SPDX-License-Identifier: GPL-2.0-or-later */
/* result.c - how a check reports its results, and the words for them */
#include "check/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clean.h"
#include "lib/base/text.h"

static const char *const cure_names[] = {
	[OSP_CURE_NONE] = "",
	[OSP_CURE_ASK] = "ask",
	[OSP_CURE_RESET_GPU] = "reset gpu",
	[OSP_CURE_REBOOT] = "reboot",
	[OSP_CURE_REPLACE] = "replace",
};

const char *osp_cure_name(enum osp_cure cure)
{
	return cure_names[cure];
}

static void report_words(struct osp_check_context *context, struct osp_result *result,
			 const char *format, va_list arguments)
{
	char why[OSP_WHY_BYTES];

	vsnprintf(why, sizeof(why), format, arguments);
	osp_copy_clean(result->why, sizeof(result->why), why);
	context->report(context, result);
}

void osp_result_add(struct osp_check_context *context, enum osp_verdict verdict, enum osp_cure cure,
		    const char *subject, const char *value, const char *limit, const char *source,
		    const char *why_format, ...)
{
	struct osp_result result = {.verdict = verdict, .cure = cure};
	va_list arguments;

	osp_copy_clean(result.subject, sizeof(result.subject), subject);
	osp_copy_clean(result.value, sizeof(result.value), value);
	osp_copy_clean(result.limit, sizeof(result.limit), limit);
	osp_copy_clean(result.source, sizeof(result.source), source);
	va_start(arguments, why_format);
	report_words(context, &result, why_format, arguments);
	va_end(arguments);
}

void osp_result_pass(struct osp_check_context *context, const char *value_format, ...)
{
	struct osp_result result = {.verdict = OSP_VERDICT_PASS};
	char value[OSP_WORD_BYTES];
	va_list arguments;

	va_start(arguments, value_format);
	vsnprintf(value, sizeof(value), value_format, arguments);
	va_end(arguments);
	osp_copy_clean(result.value, sizeof(result.value), value);
	context->report(context, &result);
}

void osp_result_skip(struct osp_check_context *context, const char *why_format, ...)
{
	struct osp_result result = {.verdict = OSP_VERDICT_SKIP};
	va_list arguments;

	va_start(arguments, why_format);
	report_words(context, &result, why_format, arguments);
	va_end(arguments);
}

void osp_result_error(struct osp_check_context *context, const char *subject,
		      const char *why_format, ...)
{
	struct osp_result result = {.verdict = OSP_VERDICT_ERROR};
	va_list arguments;

	osp_copy_clean(result.subject, sizeof(result.subject), subject);
	va_start(arguments, why_format);
	report_words(context, &result, why_format, arguments);
	va_end(arguments);
}

void osp_result_speed(struct osp_check_context *context, const char *subject, const char *what,
		      double value, const char *unit, enum osp_limit_id least,
		      enum osp_limit_id physics)
{
	osp_result_speed_among(context, 0, subject, what, value, unit, least, physics);
}

/* Excludes the speed of a unit from judgement that others or its own ways make slow, and takes over
 * the doubt of the unit. */
static void doubt_unit(const struct osp_unit *unit, struct osp_speed *speed, bool copies)
{
	const char *why = !unit->whole			 ? "this is a part of a GPU"
			  : unit->busy			 ? "other programs use the GPU"
			  : copies && unit->confidential ? "copies are encrypted"
							 : NULL;

	if (!*speed->doubt)
		snprintf(speed->doubt, sizeof(speed->doubt), "%s", unit->doubt);
	if (!why)
		return;
	speed->judged = false;
	snprintf(speed->doubt, sizeof(speed->doubt), "%s", why);
}

/* Completes a speed that has its value, group, limits and doubt, and reports it. */
static void report_speed(struct osp_check_context *context, struct osp_speed speed,
			 const char *subject, const char *what, const char *unit)
{
	const struct osp_unit *of = context->unit ? context->unit : context->units;

	speed.judged = true;
	if (context->unit) {
		subject = of->subject;
		doubt_unit(of, &speed, false);
		snprintf(speed.held, sizeof(speed.held), "%s", of->held);
	} else {
		for (size_t i = 0; i < context->unit_count && speed.judged; i++)
			doubt_unit(&context->units[i], &speed, true);
	}
	osp_copy_clean(speed.subject, sizeof(speed.subject), subject);
	osp_copy_clean(speed.what, sizeof(speed.what), what);
	osp_copy_clean(speed.unit, sizeof(speed.unit), unit);
	osp_copy_clean(speed.model, sizeof(speed.model), of ? of->model : "");
	context->report_speed(context, &speed);
}

void osp_result_speed_among(struct osp_check_context *context, int group, const char *subject,
			    const char *what, double value, const char *unit,
			    enum osp_limit_id least, enum osp_limit_id physics)
{
	struct osp_speed speed = {
		.value = value, .group = group, .least = least, .physics = physics};

	report_speed(context, speed, subject, what, unit);
}

void osp_result_speed_doubted(struct osp_check_context *context, const char *doubt,
			      const char *what, double value, const char *unit,
			      enum osp_limit_id least, enum osp_limit_id physics)
{
	struct osp_speed speed = {.value = value, .least = least, .physics = physics};

	osp_copy_clean(speed.doubt, sizeof(speed.doubt), doubt);
	report_speed(context, speed, NULL, what, unit);
}

void osp_result_figure(struct osp_check_context *context, const char *subject, const char *name,
		       double value)
{
	struct osp_figure figure = {.value = value};

	if (!context->report_figure || !isfinite(value))
		return;
	osp_copy_clean(figure.subject, sizeof(figure.subject), subject);
	osp_copy_clean(figure.name, sizeof(figure.name), name);
	context->report_figure(context, &figure);
}

const struct osp_limit *osp_check_limit(const struct osp_check_context *context,
					enum osp_limit_id id, const char *model)
{
	return osp_thresholds_limit(context->thresholds, id, model, context->node);
}

/* --- the run as a whole ----------------------------------------------------------------------- */

enum osp_verdict osp_run_verdict(const struct osp_run *run, bool reported)
{
	enum osp_check_mode least = reported ? OSP_CHECK_COMMENT : OSP_CHECK_ENFORCE;
	enum osp_verdict verdict = OSP_VERDICT_SKIP;

	for (size_t i = 0; i < run->count; i++)
		if (run->outcomes[i].mode >= least && run->outcomes[i].verdict > verdict)
			verdict = run->outcomes[i].verdict;
	return verdict;
}

/* Returns the failure that needs the gravest cure; enforced ones first. */
static const struct osp_result *gravest(const struct osp_run *run, const struct osp_check **check)
{
	const struct osp_result *found = NULL;
	enum osp_check_mode mode = OSP_CHECK_COMMENT;

	for (size_t i = 0; i < run->count; i++) {
		const struct osp_outcome *outcome = &run->outcomes[i];

		for (size_t n = 0; outcome->mode >= mode && n < outcome->result_count; n++) {
			const struct osp_result *result = &outcome->results[n];

			if (result->verdict != OSP_VERDICT_FAIL ||
			    (found && outcome->mode == mode && result->cure <= found->cure))
				continue;
			found = result;
			mode = outcome->mode;
			*check = outcome->check;
		}
	}
	return found;
}

const char *osp_run_reason(const struct osp_run *run, char *buffer, size_t buffer_bytes)
{
	const struct osp_check *check = NULL;
	const struct osp_result *result = gravest(run, &check);

	*buffer = '\0';
	if (result)
		snprintf(buffer, buffer_bytes, "onespine: %s%s%s %s%s%s; %s", result->subject,
			 *result->subject ? " " : "", check->name, result->value,
			 *result->limit ? " " : "", result->limit,
			 osp_cure_name(result->cure ? result->cure : OSP_CURE_ASK));
	return buffer;
}
