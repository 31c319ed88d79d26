/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spank/asked.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/policy/request.h"

/* Under these names the options' values travel to slurmctld and to the gate. */
#define GANG_ENTRY	"_SLURM_SPANK_OPTION_onespine_gang"
#define SPARES_ENTRY	GANG_ENTRY "_spares"
#define CHECK_ENTRY	GANG_ENTRY "_check"

#define SPARES_VARIABLE "ONESPINE_GANG_SPARES"
#define CHECK_VARIABLE	"ONESPINE_GANG_CHECK"

/* What came with the options; Slurm keeps the strings that it hands out only for a while. */
static struct {
	bool given;
	struct osp_request request;
	bool spares_given;
	bool check_given;
} option;

static bool inside_allocation(void)
{
	return spank_context() == S_CTX_LOCAL && getenv("SLURM_JOB_ID");
}

/* Slurm hands an option without a value from salloc to srun as "(null)". */
static const char *plain_value(const char *value)
{
	return value && strcmp(value, "(null)") != 0 ? value : "";
}

/* --- --gang ------------------------------------------------------------------------------------- */

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

/* --- --gang-spares ------------------------------------------------------------------------------ */

/*
 * A number, and not for an srun that makes its own allocation: that has asked for its step on all
 * nodes before the gate releases any, and would wait for ever.
 */
static int check_spares(const char *name, const char *value)
{
	unsigned long number;
	char *end;

	number = strtoul(value, &end, 10);
	if (*end || *value < '0' || *value > '9') {
		slurm_error("%s=%s: how many spare nodes is expected, a number", name, value);
		return -1;
	}
	if (!number || spank_context() != S_CTX_LOCAL)
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

/* --- --gang-check ------------------------------------------------------------------------------- */

static int check_depth(const char *name, const char *value)
{
	static const char *const depths[] = {"off", "passive", "quick"};
	const char *nearest;

	for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
		if (!strcmp(value, depths[i]))
			return 0;
	nearest = osp_nearest_word(value, depths, sizeof(depths) / sizeof(depths[0]));
	slurm_error("%s=%s: off, passive or quick is expected%s%s%s", name, value,
		    nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
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

/* --- all of them -------------------------------------------------------------------------------- */

static char gang_name[] = "gang", gang_argument[] = "LEVEL[@TIME]",
	    gang_usage[] = "all nodes on one spine (or one LEVEL), or wait",
	    spares_name[] = "gang-spares", spares_argument[] = "K",
	    spares_usage[] = "allocate K nodes more, keep the best when all were checked",
	    check_name[] = "gang-check", check_argument[] = "off|passive|quick",
	    check_usage[] = "how deep nodes are checked before the job starts; never less than the "
			    "site's minimum";

static struct spank_option options[] = {
	{.name = gang_name,
	 .arginfo = gang_argument,
	 .usage = gang_usage,
	 .has_arg = 2,
	 .cb = take_gang},
	{.name = spares_name,
	 .arginfo = spares_argument,
	 .usage = spares_usage,
	 .has_arg = 1,
	 .cb = take_spares},
	{.name = check_name,
	 .arginfo = check_argument,
	 .usage = check_usage,
	 .has_arg = 1,
	 .cb = take_check},
};

int osp_asked_register(spank_t spank)
{
	memset(&option, 0, sizeof(option));
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (spank_option_register(spank, &options[i]) == ESPANK_SUCCESS)
			continue;
		slurm_error("onespine: the option --%s cannot be added", options[i].name);
		return -1;
	}
	return 0;
}

/* --- the environment ---------------------------------------------------------------------------- */

static int send(spank_t spank, const char *entry, const char *variable, const char *value)
{
	if (spank_job_control_setenv(spank, entry, value, 1) == ESPANK_SUCCESS)
		return 0;
	slurm_error("onespine: %s cannot be sent to slurmctld", variable);
	return -1;
}

static int send_gang(spank_t spank)
{
	const char *value = getenv(OSP_GANG_VARIABLE);
	struct osp_request request = {.asked = OSP_ASKED_NOTHING};
	struct osp_error error = {.text = ""};

	if (option.given || !value)
		return 0;
	if (send(spank, GANG_ENTRY, OSP_GANG_VARIABLE, value))
		return -1;
	if (osp_request_parse(value, &request, &error)) {
		slurm_error(OSP_GANG_VARIABLE ": %s", error.text);
		return -1;
	}
	option.request = request;
	return 0;
}

static int send_other(spank_t spank, bool given, const char *entry, const char *variable,
		      int (*check)(const char *name, const char *value))
{
	const char *value = getenv(variable);

	if (given || !value)
		return 0;
	if (send(spank, entry, variable, value))
		return -1;
	return check(variable, value);
}

int osp_asked_send(spank_t spank)
{
	if (inside_allocation())
		return 0;
	if (send_gang(spank) ||
	    send_other(spank, option.spares_given, SPARES_ENTRY, SPARES_VARIABLE, check_spares) ||
	    send_other(spank, option.check_given, CHECK_ENTRY, CHECK_VARIABLE, check_depth))
		return -1;
	return 0;
}

bool osp_asked_gang(void)
{
	return option.request.asked == OSP_ASKED_GANG;
}
