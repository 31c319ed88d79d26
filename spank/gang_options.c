/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_options.c - what the user asks slurmctld and the gate for: --gang, the options beside it,
 * and their variables */
#include "spank/gang_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/policy/request.h"
#include "lib/policy/request_parts.h"
#include "lib/policy/spares.h"
#include "spank/options.h"
#include "spank/command_line.h"

/* The options that were given; Slurm keeps the strings that it passes only for a while. */
static struct {
	bool given;
	struct osp_request request;
	bool domains_given;
	bool segment_given;
	bool layout_given;
	bool keep_given;
	bool spares_given;
	bool check_given;
	char by_variable[160]; /* the names of those that variables gave */
} option;

static bool inside_allocation(void)
{
	return spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID");
}

/* Returns the value. Slurm passes an option without a value from salloc to srun as "(null)". */
static const char *plain_value(const char *value)
{
	return value && strcmp(value, "(null)") != 0 ? value : "";
}

/* --- --gang ----------------------------------------------------------------------------------- */

/* Warns of a word that Slurm will take for a script or a command; sbatch opens its script before it
 * passes any option. */
static void warn_of_level_apart(void)
{
	struct osp_command_line own;
	const char *level;

	osp_command_line_read(&own);
	level = osp_command_line_level_apart(own.words, own.count);
	if (level)
		slurm_error("onespine: '--gang %s' asks for a gang and runs a file called %s; type "
			    "--gang=%s",
			    level, level, level);
	osp_command_line_free(&own);
}

static int take_gang(int val, const char *value, int remote)
{
	struct osp_error error = {.text = ""};

	(void)val;
	if (remote)
		return 0;
	if (osp_request_parse(plain_value(value), &option.request, &error) == 0) {
		option.given = true;
		return 0;
	}
	if (inside_allocation())
		return 0;
	slurm_error("%s", error.text);
	return -1;
}

/* --- --gang-domains, --gang-segment, --gang-layout, --gang-keep ------------------------------- */

/* Reports a value that cannot be. `name` is the option, or the variable that gave the value, which
 * the error does not name. Returns -1. */
static int refuse(const char *name, const struct osp_error *error)
{
	bool by_variable = strncmp(name, "--", 2) != 0;

	slurm_error("%s%s%s", by_variable ? name : "", by_variable ? ": " : "", error->text);
	return -1;
}

static int check_domains(const char *name, const char *value)
{
	struct osp_error error = {.text = ""};
	uint32_t domains;

	if (osp_request_take_domains(value, &domains, &error) == 0)
		return 0;
	return refuse(name, &error);
}

static int check_segment(const char *name, const char *value)
{
	struct osp_error error = {.text = ""};
	char segments[OSP_SEGMENTS_BYTES];

	if (osp_request_take_segments(value, segments, &error) == 0)
		return 0;
	return refuse(name, &error);
}

static int check_layout(const char *name, const char *value)
{
	struct osp_error error = {.text = ""};
	char layout[OSP_LAYOUT_TEXT_BYTES];

	if (osp_request_take_layout(value, layout, &error) == 0)
		return 0;
	return refuse(name, &error);
}

static int check_keep(const char *name, const char *value)
{
	struct osp_error error = {.text = ""};
	char keep[OSP_KEEP_BYTES];

	if (osp_request_take_keep(value, keep, &error) == 0)
		return 0;
	return refuse(name, &error);
}

static int take_domains(int val, const char *value, int remote)
{
	(void)val;
	if (remote || inside_allocation())
		return 0;
	option.domains_given = true;
	return check_domains("--gang-domains", plain_value(value));
}

static int take_segment(int val, const char *value, int remote)
{
	(void)val;
	if (remote || inside_allocation())
		return 0;
	option.segment_given = true;
	return check_segment("--gang-segment", plain_value(value));
}

static int take_layout(int val, const char *value, int remote)
{
	(void)val;
	if (remote || inside_allocation())
		return 0;
	option.layout_given = true;
	return check_layout("--gang-layout", plain_value(value));
}

static int take_keep(int val, const char *value, int remote)
{
	(void)val;
	if (remote || inside_allocation())
		return 0;
	option.keep_given = true;
	return check_keep("--gang-keep", plain_value(value));
}

/* --- --gang-spares ---------------------------------------------------------------------------- */

/*
 * Checks a number of spares. An srun that makes its own allocation may have none: it has asked for
 * its step on all nodes before the gate releases any, and would wait for ever.
 */
static int check_spares(const char *name, const char *value)
{
	struct osp_error error = {.text = ""};
	struct osp_spares spares;

	if (osp_spares_parse(value, &spares)) {
		osp_error_set(&error,
			      "%s=%.80s: how many spare nodes is expected, a number, or K/segment",
			      name, value);
		slurm_error("%s", error.text);
		return -1;
	}
	if (!spares.count || spank_context() != S_CTX_LOCAL)
		return 0;
	slurm_error("%s: srun would wait for the spare nodes that the gate releases; submit with "
		    "sbatch, or use salloc and srun inside it",
		    name);
	return -1;
}

static int take_spares(int val, const char *value, int remote)
{
	(void)val;
	if (remote || inside_allocation())
		return 0;
	option.spares_given = true;
	return check_spares("--gang-spares", plain_value(value));
}

/* --- --gang-check ----------------------------------------------------------------------------- */

static int check_depth(const char *name, const char *value)
{
	static const char *const depths[] = {"off", "passive", "quick"};
	struct osp_error error = {.text = ""};
	const char *nearest;

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		if (!strcmp(value, depths[i]))
			return 0;
	nearest = osp_nearest_word(value, depths, sizeof(depths) / sizeof(depths[0]));
	osp_error_set(&error, "%s=%.80s: off, passive or quick is expected%s%s%s", name, value,
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	slurm_error("%s", error.text);
	return -1;
}

static int take_check(int val, const char *value, int remote)
{
	(void)val;
	if (remote || inside_allocation())
		return 0;
	option.check_given = true;
	return check_depth("--gang-check", plain_value(value));
}

/* --- all of them ------------------------------------------------------------------------------ */

int osp_gang_options_register(spank_t spank)
{
	memset(&option, 0, sizeof(option));
	if (spank_context() == S_CTX_LOCAL || spank_context() == S_CTX_ALLOCATOR)
		warn_of_level_apart();
	if (osp_option_register(spank, OSP_JOB_GANG, take_gang) ||
	    osp_option_register(spank, OSP_JOB_GANG_DOMAINS, take_domains) ||
	    osp_option_register(spank, OSP_JOB_GANG_SEGMENT, take_segment) ||
	    osp_option_register(spank, OSP_JOB_GANG_LAYOUT, take_layout) ||
	    osp_option_register(spank, OSP_JOB_GANG_KEEP, take_keep) ||
	    osp_option_register(spank, OSP_JOB_GANG_SPARES, take_spares))
		return -1;
	return osp_option_register(spank, OSP_JOB_GANG_CHECK, take_check);
}

/* --- the environment -------------------------------------------------------------------------- */

static int send(spank_t spank, const struct osp_job_option *row, const char *value)
{
	if (spank_job_control_setenv(spank, row->entry, value, 1) == ESPANK_SUCCESS)
		return 0;
	slurm_error("onespine: %s cannot be sent to slurmctld", row->variable);
	return -1;
}

/* Sends a variable's value, and the names of all options that variables gave, so far: for words
 * alone, so no failure. */
static int send_by_variable(spank_t spank, const struct osp_job_option *row, const char *value)
{
	size_t used = strlen(option.by_variable);

	snprintf(option.by_variable + used, sizeof(option.by_variable) - used, "%s%s",
		 used ? " " : "", row->name);
	(void)spank_job_control_setenv(spank, OSP_SPANK_BY_VARIABLE, option.by_variable, 1);
	return send(spank, row, value);
}

static int send_gang(spank_t spank)
{
	const char *value = getenv(OSP_GANG_VARIABLE);
	struct osp_request request = {.asked = OSP_GANG_OPTION_NONE};
	struct osp_error error = {.text = ""};

	if (option.given || !value)
		return 0;
	if (send_by_variable(spank, osp_job_option(OSP_JOB_GANG), value))
		return -1;
	if (osp_request_parse(value, &request, &error))
		return refuse(OSP_GANG_VARIABLE, &error);
	option.request = request;
	return 0;
}

static int send_other(spank_t spank, bool given, enum osp_job_option_id id,
		      int (*check)(const char *name, const char *value))
{
	const struct osp_job_option *row = osp_job_option(id);
	const char *value = getenv(row->variable);

	if (given || !value)
		return 0;
	if (send_by_variable(spank, row, value))
		return -1;
	return check(row->variable, value);
}

/* Asks for the line that says where a salloc's gang was placed. sbatch has the same context, and no
 * terminal that waits. */
static void ask_for_place(spank_t spank)
{
	if (spank_context() == S_CTX_ALLOCATOR &&
	    (osp_gang_options_want_gang() || (!option.given && getenv(OSP_GANG_VARIABLE))))
		(void)spank_job_control_setenv(spank, OSP_SPANK_SALLOC, "gang", 1);
}

int osp_gang_options_send(spank_t spank)
{
	if (inside_allocation())
		return 0;
	option.by_variable[0] = '\0';
	ask_for_place(spank);
	if (send_gang(spank) ||
	    send_other(spank, option.domains_given, OSP_JOB_GANG_DOMAINS, check_domains) ||
	    send_other(spank, option.segment_given, OSP_JOB_GANG_SEGMENT, check_segment) ||
	    send_other(spank, option.layout_given, OSP_JOB_GANG_LAYOUT, check_layout) ||
	    send_other(spank, option.keep_given, OSP_JOB_GANG_KEEP, check_keep) ||
	    send_other(spank, option.spares_given, OSP_JOB_GANG_SPARES, check_spares) ||
	    send_other(spank, option.check_given, OSP_JOB_GANG_CHECK, check_depth))
		return -1;
	return 0;
}

bool osp_gang_options_want_gang(void)
{
	return option.request.asked == OSP_GANG_OPTION_ON || option.domains_given ||
	       option.segment_given || option.layout_given;
}
