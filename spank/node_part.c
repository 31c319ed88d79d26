/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "onespine_config.h"
#include "spank/node_part.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <slurm/slurm.h>

#include "lib/base/environment.h"
#include "lib/env/env_same.h"
#include "lib/env/node_software.h"
#include "lib/env/rules_kept.h"
#include "lib/policy/config.h"
#include "lib/policy/node_policy.h"
#include "spank/node_step.h"
#include "spank/told.h"

#define CACHE "/run/onespine"

/* For `onespine bind run` in a task's children. */
#define TOPOLOGY_VARIABLE "ONESPINE_TOPOLOGY"

static struct osp_node_step step;
static const char *topology;

/* --- words ------------------------------------------------------------------------------------ */

void osp_node_say(const char *format, ...)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *words = NULL, *rest, *line;
	va_list list;
	int length;

	va_start(list, format);
	length = vasprintf(&words, format, list);
	va_end(list);
	if (length < 0)
		return;
	for (rest = words; (line = strsep(&rest, "\n")) && (*line || rest);)
		osp_text_printf(&text, "onespine:%s%s\n", *line ? " " : "", line);
	if (!text.failed && text.data)
		(void)!write(STDERR_FILENO, text.data, text.length_bytes);
	osp_text_free(&text);
	free(words);
}

bool osp_node_is_first_task(char *const *environment)
{
	const char *rank = osp_environment_value(environment, "SLURM_PROCID");

	return rank && !strcmp(rank, "0");
}

/* A mount of another namespace has a number of its own, which Linux tells from 5.8 on. */
static struct osp_node_root look_at_root(void)
{
	struct osp_node_root root = {.known = false};
	struct stat status;
#ifdef STATX_MNT_ID
	struct statx more;

	if (!statx(AT_FDCWD, "/", 0, STATX_INO | STATX_MNT_ID, &more) &&
	    (more.stx_mask & STATX_MNT_ID))
		return (struct osp_node_root){
			.known = true,
			.device = makedev(more.stx_dev_major, more.stx_dev_minor),
			.inode = more.stx_ino,
			.mount = more.stx_mnt_id};
#endif
	if (stat("/", &status))
		return root;
	root.device = status.st_dev;
	root.inode = status.st_ino;
	root.known = !stat("/proc/self/ns/mnt", &status);
	root.mount = root.known ? status.st_ino : 0;
	return root;
}

bool osp_node_in_container(const struct osp_node_step *the_step)
{
	struct osp_node_root root = look_at_root();

	return root.inode &&
	       (root.device != the_step->root.device || root.inode != the_step->root.inode);
}

static void take_error(const struct osp_error *error)
{
	if (!step.error[0])
		osp_error_format(error, step.error, sizeof(step.error));
}

/* --- policy ----------------------------------------------------------------------------------- */

/* onespine.yaml: as said, or the node's. */
static int find_config(const struct osp_node_arguments *arguments, struct osp_node_policy *policy,
		       struct osp_error *error)
{
	const char *conf = getenv("SLURM_CONF");

	if (!arguments->config)
		return osp_node_policy_read(conf ? conf : "/etc/slurm/slurm.conf",
					    arguments->site ? arguments->site : OSP_SITE_DIR,
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
	struct osp_config *config = NULL;

	if (find_config(arguments, &found, error) >= 0)
		config = osp_config_read(found.file, found.text ? found.text : "", found.text_bytes,
					 error);
	osp_node_policy_free(&found);
	return config;
}

/* What the user did not say, policy says. A wrong file says nothing, and is told of. */
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

/* It lies where only root may make one, and is made the first time. */
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
 * Slurm takes 256 KiB, cleared, for each variable that it or we set, about twenty in a task. Once one such
 * block was freed glibc would keep the next on its heap and clear them by hand, page for page, in this
 * process and again in each task; where the threshold is set, be it to what it is, the kernel gives zeros.
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
	step.rules = osp_rules_know(&source, step.known, step.tells_environment, &error);
	if (step.rules)
		step.asks_near_nics = osp_rules_ask(step.rules, OSP_FACT_NEAR_NICS);
	else
		take_error(&error);
}

/* The step's first node is the one that speaks, and says a thing once a job. */
static bool first_to_tell(spank_t spank, const struct osp_node_arguments *arguments,
			  enum osp_told_what what)
{
	uint32_t job_id = 0, node = 1;

	return spank_get_item(spank, S_JOB_NODEID, &node) == ESPANK_SUCCESS && node == 0 &&
	       spank_get_item(spank, S_JOB_ID, &job_id) == ESPANK_SUCCESS &&
	       !osp_told(folder_of(arguments), job_id, what);
}

static bool tells_environment(spank_t spank, const struct osp_node_arguments *arguments)
{
	if (step.modes.env == OSP_ENV_OFF)
		return false;
	return first_to_tell(spank, arguments,
			     step.modes.env == OSP_ENV_EXPLAIN ? OSP_TOLD_EXPLAINED
							       : OSP_TOLD_WARNED);
}

static void begin(spank_t spank, const struct osp_node_arguments *arguments,
		  const struct osp_modes *modes)
{
	osp_node_forget(step.known);
	osp_rules_free(step.rules);
	osp_environment_forget(&step);
	osp_binding_forget(&step);
	free(step.environment);
	memset(&step, 0, sizeof(step));
	step.modes = *modes;
	topology = arguments->topology;
	if (spank_get_item(spank, S_JOB_STEPID, &step.step_id) != ESPANK_SUCCESS)
		return;
	step.has_tasks_only = step.step_id < SLURM_MAX_NORMAL_STEP_ID;
	take_policy(spank, arguments);
	step.tells_environment = tells_environment(spank, arguments);
	if (step.modes.env != OSP_ENV_OFF || step.modes.bind != OSP_BIND_OFF)
		know_node(arguments);
	step.root = look_at_root();
	if (step.error[0])
		slurm_error("onespine: %s", step.error);
	step.tells_error = step.error[0] && first_to_tell(spank, arguments, OSP_TOLD_ERROR);
}

/* --- as the user ------------------------------------------------------------------------------ */

static void find_software(char *const *environment)
{
	struct osp_search search = {.root = ""};

	search.library_path = osp_environment_value(environment, "LD_LIBRARY_PATH");
	search.virtual_env = osp_environment_value(environment, "VIRTUAL_ENV");
	osp_node_software_own(&search, &step.software);
	for (int i = 0; i < OSP_FACT_COUNT; i++) {
		if (!step.software.facts[i].known)
			step.software.facts[i] = step.known->software.facts[i];
	}
}

static bool binds(void)
{
	return step.modes.bind != OSP_BIND_OFF && step.has_tasks_only;
}

/* As it is by now: setting a variable may move it. */
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
	if (step.rules) {
		find_software(environment);
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
	step.files = look_at_root();
}

/* Whether files are those that were there when the step was decided. */
static bool sees_same_files(void)
{
	struct osp_node_root root = look_at_root();

	return root.known && step.files.known && root.device == step.files.device &&
	       root.inode == step.files.inode && root.mount == step.files.mount;
}

static void task(spank_t spank)
{
	char **environment = environment_of(spank);
	bool bound = false, first, same, tells;

	if (!environment)
		return;
	first = osp_node_is_first_task(environment);
	if (step.tells_error && first)
		osp_node_say("%s; %s", step.error,
			     !step.known || (!step.rules && step.modes.env != OSP_ENV_OFF)
				     ? "the job runs without our settings"
				     : "it counts as empty");
	if (!step.known || !has_accelerators(step.known)) {
		if (step.known && step.modes.env == OSP_ENV_EXPLAIN && step.tells_environment &&
		    first)
			osp_node_say(
				"this node has no accelerators that are known: nothing is set");
		return;
	}
	same = step.environment && osp_env_is_same(step.environment, environment, step.rules);
	if (binds())
		bound = osp_binding_apply(spank, &step, environment, same);
	tells = step.tells_environment && first;
	if (step.rules && (tells || !same || !step.decided.facts || step.decided.bound != bound ||
			   !sees_same_files()))
		osp_environment_set(spank, &step, environment, bound, tells);
}

#pragma GCC visibility push(default)

extern const struct osp_node_part osp_node_part;
const struct osp_node_part osp_node_part = {VERSION, begin, user, task};

#pragma GCC visibility pop
