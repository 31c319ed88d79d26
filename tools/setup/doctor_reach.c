/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_reach.c - what is there, and whether it reaches those who need it */
#include "onespine_config.h"
#include "tools/setup/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/env/catalogue.h"
#include "lib/env/rules.h"
#include "lib/topology/readers.h"
#include "host/files.h"
#include "host/record/thresholds_file.h"
#include "host/slurm/fabric.h"

#define NOBODY 65534 /* of no group: what any user may */

/* --- who may read what ------------------------------------------------------------------------ */

static bool become(const struct passwd *user)
{
	if (user)
		return initgroups(user->pw_name, user->pw_gid) == 0 && setgid(user->pw_gid) == 0 &&
		       setuid(user->pw_uid) == 0;
	return setgroups(0, NULL) == 0 && setgid(NOBODY) == 0 && setuid(NOBODY) == 0;
}

/* Returns what the kernel says, with access lists and root squash, of a user; NULL is any user.
 * Only root can ask. */
static bool may_read(const char *path, const struct passwd *user)
{
	int status = 0;
	pid_t child;

	if (geteuid() != 0 || access(path, F_OK) < 0)
		return true;
	fflush(NULL);
	child = fork();
	if (child == 0)
		_exit(become(user) && access(path, R_OK) < 0 && errno == EACCES);
	return child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status) ||
	       WEXITSTATUS(status) == 0;
}

static void check_readable(struct osp_doctor *doctor, const char *path, const struct passwd *user)
{
	struct osp_doctor_facts *facts = &doctor->facts;
	const size_t room = sizeof(doctor->unread) / sizeof(doctor->unread[0]);

	if (!path || !*path || facts->unread_count == room || may_read(path, user))
		return;
	doctor->unread[facts->unread_count++] = (struct osp_unread_file){
		.path = path,
		.slurm_user = user ? osp_doctor_keep(doctor, strdup(user->pw_name)) : NULL,
	};
}

static void check_included(struct osp_doctor *doctor, const struct passwd *user)
{
	size_t count;
	const struct osp_slurm_file *files = osp_slurm_conf_files(doctor->conf, &count);

	for (size_t i = 1; i < count; i++)
		check_readable(doctor, files[i].path, user);
}

static void gather_readable(struct osp_doctor *doctor)
{
	const struct osp_doctor_facts *facts = &doctor->facts;
	uid_t uid = osp_slurm_user(doctor->conf);
	const struct passwd *user = uid ? getpwuid(uid) : NULL;

	doctor->facts.unread = doctor->unread;
	if (facts->controller && user) {
		check_included(doctor, user);
		check_readable(doctor, facts->config_path, user);
		check_readable(doctor, facts->topology_path, user);
		check_readable(doctor, OSP_SHADOW_DIR "/select_cons_tres.so", user);
		check_readable(doctor, OSP_PLUGIN_DIR "/job_submit_onespine.so", user);
	}
	/* A site that keeps slurm.conf itself from some users means it. */
	if (!may_read(facts->conf_path, NULL))
		return;
	check_included(doctor, NULL);
	check_readable(doctor, facts->plugstack_path, NULL);
	if (facts->spank.named && strcmp(facts->spank.file, facts->plugstack_path) != 0)
		check_readable(doctor, facts->spank.file, NULL);
	if (facts->spank.named && *facts->spank.path == '/')
		check_readable(doctor, facts->spank.path, NULL);
}

/* --- steps ------------------------------------------------------------------------------------ */

#ifdef OSP_HAVE_HWLOC
static void gather_node_part(struct osp_doctor *doctor)
{
	void *object;

	/* if there is a plugin of ours that would load it */
	if (doctor->facts.spank.plugin.state != OSP_PLUGIN_OURS ||
	    doctor->facts.lacks & OSP_PART_ENVIRONMENT)
		return;
	object = dlopen(OSP_PLUGIN_DIR "/onespine_node.so", RTLD_LAZY | RTLD_LOCAL);
	if (object)
		dlclose(object);
	else
		doctor->facts.node_part_error = osp_doctor_keep(doctor, strdup(dlerror()));
}

static bool binds(const struct osp_config *config)
{
	bool any = osp_config_policy(config, NULL)->bind != OSP_BIND_OFF;
	size_t count = osp_config_partition_count(config);
	int line;

	for (size_t i = 0; i < count; i++)
		any |= osp_config_policy(config, osp_config_partition(config, i, &line))->bind !=
		       OSP_BIND_OFF;
	return any;
}

static void gather_binding(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	char *path = osp_path_beside(doctor->facts.conf_path, "cgroup.conf");
	struct osp_error ignored = {.text = ""};
	struct osp_slurm_conf *conf = NULL;

	if (path && access(path, F_OK) == 0)
		conf = osp_load_slurm_conf(path, question->overlays, &ignored);
	if (conf)
		doctor->facts.cores_confined =
			strcasecmp(osp_slurm_conf_value(conf, "ConstrainCores", "no"), "yes") == 0;
	doctor->facts.binds =
		doctor->config && binds(doctor->config) &&
		osp_slurm_list_has(osp_slurm_conf_value(doctor->conf, "GresTypes", NULL), "gpu",
				   NULL, 0);
	osp_slurm_conf_free(conf);
	free(path);
}
#else
static void gather_node_part(struct osp_doctor *doctor)
{
	(void)doctor;
}

static void gather_binding(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	(void)question;
	(void)doctor;
}
#endif

static void gather_rules(struct osp_doctor *doctor)
{
	struct osp_error *error = &doctor->rules_error;
	struct osp_catalogue *catalogue = NULL;
	struct osp_rule_set *rules = NULL;

	if (access(OSP_DATA_DIR "/rules", F_OK) != 0)
		return; /* not installed: said elsewhere */
	rules = osp_rules_read(OSP_DATA_DIR, OSP_SITE_DIR, error);
	if (rules)
		catalogue = osp_catalogue_read(OSP_DATA_DIR, OSP_SITE_DIR, error);
	if (!catalogue)
		doctor->facts.rules_error = error;
	osp_rules_free(rules);
	osp_catalogue_free(catalogue);
}

static void gather_thresholds(struct osp_doctor *doctor)
{
	const char *root = getenv("ONESPINE_TEST_ROOT");
	struct osp_thresholds *thresholds =
		osp_thresholds_in_force(NULL, root ? root : "", &doctor->thresholds_error);

	if (!thresholds)
		doctor->facts.thresholds_error = &doctor->thresholds_error;
	osp_thresholds_free(thresholds);
}

/* --- what slurmctld has taken ----------------------------------------------------------------- */

/* Its copy's path where `path` (absent: empty) is refused or differs from that; NULL if not, or if
 * it cannot be read. sched/shadow_files.c keeps the copies. */
static const char *other_copy(struct osp_doctor *doctor, const char *path, const char *name,
			      size_t limit_bytes, bool refused)
{
	const char *folder = osp_slurm_conf_value(doctor->conf, "StateSaveLocation", "/var/spool");
	size_t bytes = 0, copy_bytes = 0;
	char *copy_path = NULL, *copy, *text;
	bool other;

	if (asprintf(&copy_path, "%s/onespine_%s", folder, name) < 0)
		return NULL;
	copy = osp_read_file(copy_path, limit_bytes, &copy_bytes);
	text = osp_read_file(path, limit_bytes, &bytes);
	other = copy && (refused || text || errno == ENOENT) &&
		(refused || bytes != copy_bytes || (bytes && memcmp(text, copy, bytes) != 0));
	free(copy);
	free(text);
	if (other)
		return osp_doctor_keep(doctor, copy_path);
	free(copy_path);
	return NULL;
}

static void gather_copies(struct osp_doctor *doctor)
{
	const char *folder = osp_slurm_conf_value(doctor->conf, "StateSaveLocation", "/var/spool");
	struct osp_doctor_facts *facts = &doctor->facts;

	facts->copies_hidden = access(folder, X_OK) < 0 && errno == EACCES;
	facts->config_copy = other_copy(doctor, facts->config_path, "config",
					OSP_CONFIG_FILE_BYTES_MAX, facts->config_error);
	facts->topology_copy = other_copy(doctor, facts->topology_path, "topology",
					  OSP_TOPOLOGY_FILE_BYTES_MAX, facts->topology_error);
}

void osp_doctor_gather_reach(const struct osp_doctor_question *question, struct osp_doctor *doctor)
{
	gather_readable(doctor);
	gather_node_part(doctor);
	gather_binding(question, doctor);
	gather_rules(doctor);
	gather_thresholds(doctor);
	if (doctor->facts.controller)
		gather_copies(doctor);
}
