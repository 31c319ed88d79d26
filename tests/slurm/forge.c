/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * forge.c - a SPANK plugin of a user's own, in a plugstack.conf of his own: puts its arguments,
 * NAME=VALUE each, into the environment that slurmd gives to Prolog and Epilog; NAME=@N is N
 * letters. For tests alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <slurm/spank.h>

/* The release under test may be another than that of the headers here. */
const char plugin_name[] = "forge";
const char plugin_type[] = "spank";
const unsigned int plugin_version = FAKE_SLURM_VERSION;
const unsigned int spank_plugin_version = 1;

static int put(spank_t spank, const char *name, const char *value)
{
	size_t count = *value == '@' ? strtoul(value + 1, NULL, 10) : 0;
	char *letters = NULL;
	spank_err_t rc;

	if (count) {
		letters = calloc(1, count + 1);
		if (!letters)
			return -1;
		memset(letters, 'x', count);
	}
	rc = spank_job_control_setenv(spank, name, letters ? letters : value, 1);
	free(letters);
	return rc == ESPANK_SUCCESS ? 0 : -1;
}

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
		if (put(spank, name, value + 1))
			return -1;
	}
	return 0;
}
