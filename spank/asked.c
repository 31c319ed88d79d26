/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spank/asked.h"

#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
#include "lib/request.h"

/* Under this name the option's value travels to slurmctld; OSP_SPANK_GANG with its '=' there. */
#define GANG_ENTRY "_SLURM_SPANK_OPTION_onespine_gang"

/* What came with --gang; Slurm keeps the strings that it hands out only for a while. */
static struct {
	bool given;
	struct osp_request request;
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

static int take_option(int val, const char *value, int remote)
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

int osp_asked_register(spank_t spank)
{
	static char name[] = "gang", argument[] = "LEVEL[@TIME]",
		    usage[] = "all nodes on one spine (or one LEVEL), or wait";
	struct spank_option gang = {
		.name = name,
		.arginfo = argument,
		.usage = usage,
		.has_arg = 2,
		.cb = take_option,
	};

	memset(&option, 0, sizeof(option));
	if (spank_option_register(spank, &gang) == ESPANK_SUCCESS)
		return 0;
	slurm_error("onespine: the option --gang cannot be added");
	return -1;
}

int osp_asked_send(spank_t spank)
{
	const char *value = getenv(OSP_GANG_VARIABLE);
	struct osp_request request = {.asked = OSP_ASKED_NOTHING};
	struct osp_error error = {.text = ""};

	if (option.given || !value || inside_allocation())
		return 0;
	if (spank_job_control_setenv(spank, GANG_ENTRY, value, 1) != ESPANK_SUCCESS) {
		slurm_error("onespine: " OSP_GANG_VARIABLE " cannot be sent to slurmctld");
		return -1;
	}
	if (osp_request_parse(value, &request, &error)) {
		slurm_error(OSP_GANG_VARIABLE ": %s", error.text);
		return -1;
	}
	option.request = request;
	return 0;
}

bool osp_asked_gang(void)
{
	return option.request.asked == OSP_ASKED_GANG;
}
