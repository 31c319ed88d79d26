/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_munge.c - which munged this host has, and whether it keeps its key from users */
#include "onespine_config.h"
#include "tools/setup/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/base/process.h"
#include "host/source/run_program.h"

#define LIMIT_S		10
#define CHANGELOG_BYTES (4 << 20)
#define CVE		"CVE-2026-25506"

/* Returns what a program prints, to be freed; NULL if it fails. */
static char *printed_by(const char *const *argv)
{
	struct osp_program_output output = {.text = NULL};
	struct osp_error error;

	if (osp_run_program(argv, LIMIT_S, CHANGELOG_BYTES, &output, &error) == 0)
		return output.text;
	free(output.text);
	return NULL;
}

/* Returns the number in "munge-0.5.15 (2022-06-22)". */
static char *version(void)
{
	static const char *const argv[] = {"munged", "--version", NULL};
	char *text = printed_by(argv), number[32] = "";

	if (text)
		sscanf(text, "munge-%31[0-9.]", number);
	free(text);
	return *number ? strdup(number) : NULL;
}

/* Returns the fix, "", or NULL, as struct osp_doctor_facts has it. */
static const char *fix(void)
{
	static const char *const changelogs[][4] = {
		{"zcat", "/usr/share/doc/munge/changelog.Debian.gz", NULL},
		{"rpm", "-q", "--changelog", "munge"},
	};
	bool read = false;

	for (size_t i = 0; i < sizeof(changelogs) / sizeof(changelogs[0]); i++) {
		const char *const argv[] = {changelogs[i][0], changelogs[i][1], changelogs[i][2],
					    changelogs[i][3], NULL};
		char *text = printed_by(argv);
		bool named = text && strstr(text, CVE);

		read |= text != NULL;
		free(text);
		if (named)
			return CVE;
	}
	return read ? NULL : "";
}

/* Returns whether it is a process of munged whose program is no longer the file of that name. Any
 * user can have one of that name, but munged runs as a user of the system. */
static bool is_outdated(const char *process)
{
	char path[64], program[4096];
	const char *name;
	unsigned int uid;
	ssize_t bytes;

	if (!osp_process_uid("", (unsigned int)strtoul(process, NULL, 10), &uid) ||
	    uid >= OSP_UID_MIN)
		return false;
	if (snprintf(path, sizeof(path), "/proc/%.20s/exe", process) < 0)
		return false;
	bytes = readlink(path, program, sizeof(program) - 1);
	if (bytes <= 0)
		return false;
	program[bytes] = '\0';
	name = strrchr(program, '/');
	return name && !strcmp(name, "/munged (deleted)");
}

static uint32_t outdated(void)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	uint32_t found = 0;

	while (processes && !found && (entry = readdir(processes))) {
		if (strspn(entry->d_name, "0123456789") == strlen(entry->d_name) &&
		    is_outdated(entry->d_name))
			found = (uint32_t)strtoul(entry->d_name, NULL, 10);
	}
	if (processes)
		closedir(processes);
	return found;
}

void osp_doctor_gather_munge(struct osp_doctor *doctor)
{
	const char *auth = osp_slurm_conf_value(doctor->conf, "AuthType", "auth/munge");
	struct osp_doctor_facts *facts = &doctor->facts;
	char *number = strcmp(auth, "auth/munge") ? NULL : version();

	if (!number)
		return;
	facts->munge_version = osp_doctor_keep(doctor, number);
	facts->munge_fix = fix();
	facts->munge_outdated = outdated();
}
