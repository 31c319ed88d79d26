/* SPDX-License-Identifier: GPL-2.0-or-later */
/* node_part.c - what a second object, onespine_node.so, does for onespine.so in slurmstepd */
#include "onespine_config.h"
#include "spank/node_part.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "lib/base/environment.h"
#include "lib/conf/slurm_conf_path.h"
#include "lib/cache/env_same.h"
#include "lib/env/node_software.h"
#include "lib/cache/rules_image.h"
#include "lib/policy/config.h"
#include "lib/policy/node_policy.h"
#include "spank/node_step.h"
#include "spank/reported.h"

#define CACHE "/run/onespine"

/* Read by `onespine bind run` in a task's children. */
#define TOPOLOGY_VARIABLE "ONESPINE_TOPOLOGY"

static struct osp_node_step step;
static const char *topology;

static void take_error(const struct osp_error *error)
{
	if (!step.error[0])
		osp_error_format(error, step.error, sizeof(step.error));
}

/* --- policy ----------------------------------------------------------------------------------- */

/*
 * Finds onespine.yaml: the one given, or the node's. `conf`: slurm.conf's path. Returns 1, 0 if
 * there is none, or -1.
 */
static int find_config(const struct osp_node_arguments *arguments, const char *conf,
		       struct osp_node_policy *policy, struct osp_error *error)
{
	if (!arguments->config)
		return osp_node_policy_read(conf, arguments->site ? arguments->site : OSP_SITE_DIR,
					    policy, error);
	policy->text =
		osp_read_file(arguments->config, OSP_CONFIG_FILE_BYTES_MAX, &policy->text_bytes);
	policy->file = strdup(arguments->config);
	if (policy->text || errno == ENOENT)
		return policy->text ? 1 : 0;
	return osp_error_at(error, arguments->config, 0, 0, "cannot be read: %s", strerror(errno));
}

static struct osp_config *read_config(const struct osp_node_arguments *arguments,
				      struct osp_error *error)
{
	struct osp_node_policy found = {.file = NULL};
	const char *conf = getenv("SLURM_CONF");
	struct osp_config *config = NULL;
	int result;

	if (!conf)
		conf = osp_slurm_conf_first();
	if (!conf)
		conf = osp_slurm_conf_candidate(0);
	result = find_config(arguments, conf, &found, error);
	if (result > 0 && osp_policy_trusted(found.file, conf, error))
		result = -1;
	if (result >= 0)
		config = osp_config_read(found.file, found.text ? found.text : "", found.text_bytes,
					 error);
	osp_node_policy_free(&found);
	return config;
}

/* Takes from policy what the user did not say. A wrong file says nothing, and is reported. */
static void take_policy(spank_t spank, const struct osp_node_arguments *arguments)
{
	struct osp_error error = {.text = ""};
	const struct osp_policy *policy;
	struct osp_config *config;
	char partition[256] = "";

	if (step.modes.env_said && step.modes.bind_said)
		return;
	(void)spank_getenv(spank, "SLURM_JOB_PARTITION", partition, sizeof(partition));
	config = read_config(arguments, &error);
	if (!config) {
		take_error(&error);
		config = osp_config_read("", "", 0, NULL);
	}
	if (!config)
		return;
	policy = osp_config_policy(config, partition);
	if (!step.modes.env_said)
		step.modes.env = policy->env;
	if (!step.modes.bind_said)
		step.modes.bind = policy->bind;
	osp_config_free(config);
}

/* --- as root ---------------------------------------------------------------------------------- */

/* Returns the folder for what is kept. Only root can make one there; it is made the first time. */
static const char *folder_of(const struct osp_node_arguments *arguments)
{
	return arguments->cache ? arguments->cache : CACHE;
}

static struct osp_node_source source_of(const struct osp_node_arguments *arguments)
{
	return (struct osp_node_source){
		.root = arguments->root ? arguments->root : "",
		.topology = arguments->topology,
		.data = arguments->data ? arguments->data : OSP_DATA_DIR,
		.site = arguments->site ? arguments->site : OSP_SITE_DIR,
		.folder = folder_of(arguments),
	};
}

static bool has_accelerators(const struct osp_node_known *known)
{
	return known->gpus > 0 || known->type_gpus > 0 || known->machine->gpu_count ||
	       known->hardware.facts[OSP_FACT_VENDOR].known;
}

/*
 * Keeps glibc from reusing large blocks. Slurm takes 256 KiB, cleared, for each variable that it or
 * we set, about twenty in a task. After one such block was freed, glibc would keep the next on its
 * heap and clear it by hand, page for page, in this process and again in each task. If the
 * threshold is set, even to its default, the kernel gives zeros.
 */
static void keep_large_blocks_apart(void)
{
#ifdef M_MMAP_THRESHOLD
	(void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

static void know_node(const struct osp_node_arguments *arguments)
{
	struct osp_node_source source = source_of(arguments);
	struct osp_error error = {.text = ""};

	step.known = osp_node_know(&source, &error);
	if (!step.known)
		take_error(&error);
	if (!step.known || !has_accelerators(step.known))
		return;
	keep_large_blocks_apart();
	if (step.modes.env == OSP_ENV_OFF)
		return;
	step.rules = osp_rules_know(&source, step.known, step.reports_environment, &error);
	if (step.rules)
		step.asks_near_nics = osp_rules_ask(step.rules, OSP_FACT_NEAR_NICS);
	else
		take_error(&error);
}

/* Returns whether this node is to say it: the step's first node does, once a job. */
static bool first_to_report(spank_t spank, const struct osp_node_arguments *arguments,
			    enum osp_reported what)
{
	uint32_t job_id = 0, node = 1;

	return spank_get_item(spank, S_JOB_NODEID, &node) == ESPANK_SUCCESS && node == 0 &&
	       spank_get_item(spank, S_JOB_ID, &job_id) == ESPANK_SUCCESS &&
	       !osp_was_reported(folder_of(arguments), job_id, what);
}

static bool reports_environment(spank_t spank, const struct osp_node_arguments *arguments)
{
	if (step.modes.env == OSP_ENV_OFF)
		return false;
	return first_to_report(spank, arguments,
			       step.modes.env == OSP_ENV_EXPLAIN ? OSP_REPORTED_EXPLAINED
								 : OSP_REPORTED_WARNED);
}

static void begin(spank_t spank, const struct osp_node_arguments *arguments,
		  const struct osp_modes *modes)
{
	osp_node_forget(step.known);
	osp_rules_free(step.rules);
	osp_environment_forget(&step);
	osp_own_files_free(&step.own);
	osp_binding_forget(&step);
	free(step.environment);
	memset(&step, 0, sizeof(step));
	step.modes = *modes;
	topology = arguments->topology;
	if (spank_get_item(spank, S_JOB_STEPID, &step.step_id) != ESPANK_SUCCESS)
		return;
	step.has_tasks_only = step.step_id < SLURM_MAX_NORMAL_STEP_ID;
	take_policy(spank, arguments);
	step.reports_environment = reports_environment(spank, arguments);
	if (step.modes.env != OSP_ENV_OFF || step.modes.bind != OSP_BIND_OFF)
		know_node(arguments);
	step.root = osp_node_look_at_root();
	if (step.error[0])
		slurm_error("onespine: %s", step.error);
	step.reports_error = step.error[0] && first_to_report(spank, arguments, OSP_REPORTED_ERROR);
}

/* --- as the user ------------------------------------------------------------------------------ */

/*
 * Reads the user's own files. Returns false if what they say is unknown; then nothing of it may be
 * set otherwise.
 */
static bool find_software(char *const *environment)
{
	if (!osp_own_files_read(environment, &step.software, &step.own))
		return false;
	for (int i = 0; i < OSP_FACT_COUNT; i++) {
		if (!step.software.facts[i].known)
			step.software.facts[i] = step.known->software.facts[i];
	}
	return true;
}

/* Leaves the environment as it is. The user caused that: a task says so, slurmd's log does not. */
static void leave_environment(void)
{
	osp_rules_free(step.rules);
	step.rules = NULL;
	step.left_environment = true;
}

static bool binds(void)
{
	return step.modes.bind != OSP_BIND_OFF && step.has_tasks_only;
}

/* Returns the environment as it is by now: setting a variable may move it. */
static char **environment_of(spank_t spank)
{
	char **environment = NULL;

	return spank_get_item(spank, S_JOB_ENV, &environment) == ESPANK_SUCCESS ? environment
										: NULL;
}

static void user(spank_t spank)
{
	char **environment = environment_of(spank);

	if (!step.known || !has_accelerators(step.known) || !environment)
		return;
	if (step.rules && !find_software(environment))
		leave_environment();
	if (step.rules) {
		osp_environment_prepare(spank, &step, environment,
					binds() && !step.modes.bound_with[0]);
	}
	if (topology)
		spank_setenv(spank, TOPOLOGY_VARIABLE, topology, 1);
	environment = environment_of(spank);
	if (!environment)
		return;
	if (binds() && !step.modes.bound_with[0])
		osp_binding_prepare(spank, &step, environment);
	step.environment = osp_env_remember(environment);
	step.files = osp_node_look_at_root();
}

/* Returns whether the files are those that were there when the step was decided. */
static bool sees_same_files(void)
{
	struct osp_node_root root = osp_node_look_at_root();

	return root.known && step.files.known && root.device == step.files.device &&
	       root.inode == step.files.inode && root.mount == step.files.mount;
}

static void task(spank_t spank)
{
	char **environment = environment_of(spank);
	bool bound = false, first, same, reports;

	if (!environment)
		return;
	first = osp_node_is_first_task(environment);
	if (step.reports_error && first)
		osp_node_say("%s; %s", step.error,
			     !step.known || (!step.rules && step.modes.env != OSP_ENV_OFF)
				     ? "the job runs without our settings"
				     : "it counts as empty");
	if (!step.known || !has_accelerators(step.known)) {
		if (step.known && step.modes.env == OSP_ENV_EXPLAIN && step.reports_environment &&
		    first)
			osp_node_say(
				"this node has no accelerators that are known: nothing is set");
		return;
	}
	if (step.left_environment && first)
		osp_node_say(
			"the folders of LD_LIBRARY_PATH or VIRTUAL_ENV, or NCCL's file, do not "
			"answer within %d ms: the environment is left as it is",
			OSP_SOFTWARE_MS_MAX);
	same = step.environment && osp_env_is_same(step.environment, environment, step.rules);
	if (binds())
		bound = osp_binding_apply(spank, &step, environment, same);
	reports = step.reports_environment && first;
	if (step.rules && (reports || !same || !step.decided.facts || step.decided.bound != bound ||
			   !sees_same_files()))
		osp_environment_set(spank, &step, environment, bound, reports);
}

#pragma GCC visibility push(default)

extern const struct osp_node_part osp_node_part;
const struct osp_node_part osp_node_part = {VERSION, begin, user, task};

#pragma GCC visibility pop
