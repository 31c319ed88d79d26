/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gate_node.c - the environment of a process that looks at this node, and the node's lock */
#include "onespine_config.h"
#include "gate/gate_node.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "check/check.h"
#include "check/base/pass_store.h"
#include "check/base/root.h"
#include "gate/gate_loop.h"

#define LOCK_FILE    "run/onespine/gate.lock"
#define LOCK_TRY_MS  10
#define LOCK_MOST_MS 5000

/* --- environment ------------------------------------------------------------------------------ */

/* What a test has put in place of the node goes along; on a node there is none of it. */
static const char *const test_variables[] = {
	"ONESPINE_TEST_ROOT",	"ONESPINE_TEST_DEADLINE_MS", "LD_LIBRARY_PATH",
	"LD_PRELOAD",		"ONESPINE_FAKE_NVML",	     "ONESPINE_FAKE_CUDA",
	"ONESPINE_FAKE_SYSTEM", "ONESPINE_FAKE_MARK",
};

#define TEST_VARIABLES (sizeof(test_variables) / sizeof(test_variables[0]))

/* What the node's history says of the run, and whose MPS is believed: slurmd's own words, none of
 * the user's. */
static const char *const own_variables[] = {"SLURMD_NODENAME", "SLURM_JOB_ID", "SLURM_JOB_UID",
					    "SLURM_SCRIPT_CONTEXT", "SLURM_CONF"};

#define OWN_VARIABLES (sizeof(own_variables) / sizeof(own_variables[0]))

static size_t keep_variables(char **environment, size_t count, const char *const *names,
			     size_t name_count)
{
	for (size_t i = 0; i < name_count; i++) {
		const char *value = getenv(names[i]);

		if (value && asprintf(&environment[count], "%s=%s", names[i], value) > 0)
			count++;
	}
	return count;
}

char **osp_gate_environment(const struct osp_gate_job *job)
{
	static char path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
	static char *environment[TEST_VARIABLES + OWN_VARIABLES + 2];
	size_t count = 0;

	if (*environment)
		return environment;
	environment[count++] = path;
	count = keep_variables(environment, count, own_variables, OWN_VARIABLES);
	if (*job->root)
		keep_variables(environment, count, test_variables, TEST_VARIABLES);
	return environment;
}

/* --- the lock --------------------------------------------------------------------------------- */

/* Opens the lock in a folder that is root's alone: nobody else can hold it. */
static int open_lock(const struct osp_gate_job *job, int flags)
{
	char path[OSP_PATH_BYTES];

	if (!osp_root_path(job->root, path, sizeof(path), LOCK_FILE))
		return -1;
	osp_run_folder_make(job->root);
	return open(path, O_RDWR | O_CREAT | O_NOFOLLOW | flags, 0600);
}

int osp_gate_lock_wait(const struct osp_gate_job *job, bool alone, uint32_t budget_ms)
{
	uint32_t most_ms = budget_ms / 4 < LOCK_MOST_MS ? budget_ms / 4 : LOCK_MOST_MS;
	uint64_t begun_ms = osp_now_ms(), waited_ms;
	int file = open_lock(job, 0);
	int kind = alone ? LOCK_EX : LOCK_SH;

	if (file < 0 || flock(file, kind | LOCK_NB) == 0)
		return file;
	osp_gate_log(job, "waits for the check of another job on this node");
	while ((waited_ms = osp_now_ms() - begun_ms) < most_ms) {
		usleep(LOCK_TRY_MS * 1000);
		if (flock(file, kind | LOCK_NB) == 0)
			return file;
	}
	osp_gate_log(job, "goes on beside it after %u ms", most_ms);
	close(file);
	return -1;
}

int osp_gate_lock_look(const struct osp_gate_job *job)
{
	int file = open_lock(job, O_CLOEXEC);

	if (file < 0 || flock(file, LOCK_SH | LOCK_NB) == 0)
		return file;
	close(file);
	return -1;
}
