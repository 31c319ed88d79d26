/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forge.c - a SPANK plugin of a user's own, in a plugstack.conf of his own: puts its arguments, NAME=VALUE
 * each, into the environment that slurmd gives to Prolog and Epilog. For tests alone.
 */
#include <stdio.h>
#include <string.h>

#include <slurm/spank.h>

/* The release under test may be another than that of the headers here. */
const char plugin_name[] = "forge";
const char plugin_type[] = "spank";
const unsigned int plugin_version = FAKE_SLURM_VERSION;
const unsigned int spank_plugin_version = 1;

int slurm_spank_init_post_opt(spank_t spank, int count, char **arguments)
{
	char name[256];

	if (spank_remote(spank))
		return 0;
	for (int i = 0; i < count; i++) {
		const char *value = strchr(arguments[i], '=');

		if (!value)
			return -1;
		snprintf(name, sizeof(name), "%.*s", (int)(value - arguments[i]), arguments[i]);
		if (spank_job_control_setenv(spank, name, value + 1, 1) != ESPANK_SUCCESS)
			return -1;
	}
	return 0;
}
