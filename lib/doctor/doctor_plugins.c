/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_plugins.c - rules about our plugins: found, first, of the right version, trusted */
#include "onespine_config.h"
#include "lib/doctor/doctor_private.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/text.h"
#include "lib/policy/gang_license.h"

#define SLURM_23_02 0x170200

/* --- PluginDir -------------------------------------------------------------------------------- */

static bool is_ours(const struct osp_doctor_facts *facts, const char *path, size_t length)
{
	while (length > 1 && path[length - 1] == '/')
		length--;
	return (strlen(facts->shadow_dir) == length &&
		memcmp(facts->shadow_dir, path, length) == 0) ||
	       (strlen(facts->plugin_dir) == length &&
		memcmp(facts->plugin_dir, path, length) == 0);
}

/* Returns whether the path is a directory of PluginDir that is not on this host. */
static bool is_missing(const struct osp_doctor_facts *facts, const char *path, size_t length)
{
	while (length > 1 && path[length - 1] == '/')
		length--;
	for (size_t i = 0; i < facts->folder_count; i++) {
		const struct osp_plugin_folder *folder = &facts->folders[i];

		if (!folder->exists && strlen(folder->path) == length &&
		    memcmp(folder->path, path, length) == 0)
			return true;
	}
	return false;
}

/* Returns PluginDir as it should be: our folders first, then those of `value` (NULL: Slurm's own
 * directory) that are on this host. The caller frees it with free(); NULL if memory ran out. */
static char *wanted_plugin_dir(const struct osp_doctor_facts *facts, const char *value)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_printf(&text, "%s:%s", facts->shadow_dir, facts->plugin_dir);
	for (const char *at = value ? value : facts->slurm_plugins; *at; at += *at == ':') {
		size_t length = strcspn(at, ":");

		if (length && !is_ours(facts, at, length) && !is_missing(facts, at, length)) {
			osp_text_add(&text, ":");
			osp_text_add_bytes(&text, at, length);
		}
		at += length;
	}
	return osp_text_take(&text);
}

static void cure_plugin_dir(struct osp_diagnosis *diagnosis)
{
	char *value = wanted_plugin_dir(
		diagnosis->facts, osp_slurm_conf_value(diagnosis->facts->conf, "PluginDir", NULL));

	if (value)
		osp_cure_setting(diagnosis, "PluginDir", value);
	else
		diagnosis->findings->failed = true;
	free(value);
}

/* Returns the first directory with a select_cons_tres.so, or NULL. */
static const struct osp_plugin_folder *first_select(const struct osp_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->folder_count; i++)
		if (facts->folders[i].select.state != OSP_PLUGIN_ABSENT)
			return &facts->folders[i];
	return NULL;
}

static bool finds_shadow(const struct osp_doctor_facts *facts)
{
	const struct osp_plugin_folder *first = first_select(facts);

	return first && first->select.state == OSP_PLUGIN_OURS;
}

void osp_rule_folders(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	for (size_t i = 0; i < facts->folder_count; i++) {
		if (facts->folders[i].exists)
			continue;
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "PluginDir names %s, which is not on this host: no command and no daemon "
			 "of Slurm works here",
			 facts->folders[i].path);
		osp_cure(diagnosis,
			 "install Onespine here, or take the directory out of PluginDir");
	}
}

/* Checks the names in PluginDir. Hosts without slurmctld need the same PluginDir, but not the
 * shadow in it. */
static void check_names(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	bool shadow = false, plugins = false;

	for (size_t i = 0; i < facts->folder_count; i++) {
		const char *path = facts->folders[i].path;

		shadow |= strcmp(path, facts->shadow_dir) == 0 ||
			  facts->folders[i].select.state == OSP_PLUGIN_OURS;
		plugins |= strcmp(path, facts->plugin_dir) == 0 ||
			   facts->folders[i].job_submit.state == OSP_PLUGIN_OURS;
	}
	if (shadow && plugins)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "PluginDir does not name Onespine's folders: the file differs from slurmctld's");
	cure_plugin_dir(diagnosis);
}

void osp_rule_plugin_dir(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const struct osp_plugin_folder *first = first_select(facts);

	if (!facts->controller) {
		check_names(diagnosis);
		return;
	}
	if (finds_shadow(facts))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "slurmctld would load %s%s, not Onespine's shadow: gangs would be placed anywhere",
		 first ? first->path : "no select_cons_tres.so",
		 first ? "/select_cons_tres.so" : " at all");
	if (osp_cure_lacking(diagnosis, OSP_PART_PLACEMENT))
		return;
	if (!facts->installed) {
		osp_cure(diagnosis,
			 "install Onespine with its shadow (configure --with-slurm-source): "
			 "%s/select_cons_tres.so is not there",
			 facts->shadow_dir);
		return;
	}
	cure_plugin_dir(diagnosis);
}

/* --- versions --------------------------------------------------------------------------------- */

uint32_t osp_doctor_slurm(const struct osp_plugin_folder *folders, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (folders[i].select.state == OSP_PLUGIN_OTHERS && folders[i].select.version)
			return folders[i].select.version;
	return 0;
}

/* Returns the installed Slurm's version, from Slurm's own plugin; if that cannot be found, the
 * version that this build is for. */
static uint32_t installed_slurm(const struct osp_doctor_facts *facts)
{
	uint32_t slurm = osp_doctor_slurm(facts->folders, facts->folder_count);

	return slurm ? slurm : facts->slurm;
}

static bool has_license(const struct osp_doctor_facts *facts)
{
	return osp_gang_license_holds(osp_slurm_conf_value(facts->conf, "Licenses", NULL));
}

/* Returns the version that the first job_submit_onespine.so was built for; 0 if there is none. */
static uint32_t job_submit_built(const struct osp_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->folder_count; i++)
		if (facts->folders[i].job_submit.state == OSP_PLUGIN_OURS)
			return facts->folders[i].job_submit.version;
	return 0;
}

/* Returns whether slurmctld starts, and gangs wait: with a job_submit for another micro release,
 * where onespine.yaml says so and slurm.conf has the license (sched/job_hold.h). */
static bool would_hold(const struct osp_doctor_facts *facts, uint32_t slurm)
{
	uint32_t built = job_submit_built(facts);

	return built != slurm && built >> 8 == slurm >> 8 && osp_gang_license_is_kept(slurm) &&
	       facts->holds_gangs && has_license(facts);
}

/* Warns that a build for the installed Slurm is kept that is newer, or fits its package better. */
static void warn_of_rebuilt(struct osp_diagnosis *diagnosis, const char *folder, const char *name,
			    const char *installed)
{
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "%s/%s is not the build for Slurm %s that is kept beside it and comes first",
		 folder, name, installed);
	osp_cure(diagnosis, "as root run onespine doctor --before-start, which puts that in place, "
			    "and start slurmctld again");
}

static void compare_version(struct osp_diagnosis *diagnosis, const char *folder, const char *name,
			    const struct osp_plugin_file *plugin, bool kept)
{
	char ours[OSP_SLURM_VERSION_BYTES], installed[OSP_SLURM_VERSION_BYTES];
	uint32_t slurm = installed_slurm(diagnosis->facts);

	if (plugin->state == OSP_PLUGIN_BROKEN) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG, "%s/%s is no plugin that Slurm can load",
			 folder, name);
		osp_cure(diagnosis, "install Onespine again");
		return;
	}
	osp_slurm_version_words(plugin->version, ours);
	osp_slurm_version_words(slurm, installed);
	if (plugin->state == OSP_PLUGIN_OURS && plugin->version == slurm && kept)
		warn_of_rebuilt(diagnosis, folder, name, installed);
	if (plugin->state != OSP_PLUGIN_OURS || plugin->version == slurm)
		return;
	/* no reason against a start: jobs that are no gangs run */
	if ((!kept || diagnosis->facts->before_start) && would_hold(diagnosis->facts, slurm))
		osp_find(diagnosis,
			 diagnosis->facts->before_start ? OSP_DOCTOR_WARNING : OSP_DOCTOR_WRONG,
			 "%s/%s was built for Slurm %s, and Slurm %s is installed: gangs wait for "
			 "license " OSP_GANG_LICENSE ", and other jobs run as without Onespine",
			 folder, name, ours, installed);
	else
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "%s/%s was built for Slurm %s, and Slurm %s is installed, which passes it "
			 "over",
			 folder, name, ours, installed);
	if (kept)
		osp_cure(
			diagnosis,
			"as root run onespine doctor --before-start, which puts the kept build for "
			"Slurm %s in place, and start slurmctld",
			installed);
	else
		osp_cure(diagnosis, "install Onespine built for exactly Slurm %s%s", installed,
			 would_hold(diagnosis->facts, slurm) ? ", and start slurmctld again" : "");
}

void osp_rule_shadow_version(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	for (size_t i = 0; i < facts->folder_count; i++) {
		const struct osp_plugin_folder *folder = &facts->folders[i];

		compare_version(diagnosis, folder->path, "select_cons_tres.so", &folder->select,
				folder->select_kept);
		compare_version(diagnosis, folder->path, "job_submit_onespine.so",
				&folder->job_submit, folder->job_submit_kept);
	}
}

/* Reports that the slurmctld that runs holds every gang, though the installed build fits. */
static void check_held_now(struct osp_diagnosis *diagnosis)
{
	const char *count = diagnosis->facts->running.gang_licenses;

	if (!count || diagnosis->facts->running.probe != OSP_PROBE_OURS ||
	    would_hold(diagnosis->facts, installed_slurm(diagnosis->facts)) ||
	    !osp_gang_license_holds(count))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "slurmctld offers %s of licenses, so every gang waits: its records are not as in "
		 "the headers of the shadow's build (its log names the difference), or it was "
		 "started before that build was installed",
		 count);
	osp_cure(diagnosis, "build Onespine with the source that this Slurm was built from, its "
			    "patches included, and start slurmctld again");
}

void osp_rule_without_match(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const char *licenses;
	char *with;

	check_held_now(diagnosis);
	if (!facts->holds_gangs || has_license(facts))
		return;
	licenses = osp_slurm_conf_value(facts->conf, "Licenses", NULL);
	with = osp_gang_license_only(licenses);
	if (!with)
		diagnosis->findings->failed = true;
	if (osp_gang_license_is_in(licenses))
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "slurm.conf does not offer one license " OSP_GANG_LICENSE
			 ", so it holds no gang: when Slurm is updated before Onespine, slurmctld "
			 "does not start");
	else
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "slurm.conf has no license " OSP_GANG_LICENSE
			 ": when Slurm is updated before Onespine, slurmctld does not start");
	osp_cure_setting(diagnosis, "Licenses", with ? with : "");
	free(with);
	if (!diagnosis->findings->failed)
		diagnosis->findings->items[diagnosis->findings->count - 1].setup_writes = true;
}

/* --- slurm.conf ------------------------------------------------------------------------------- */

void osp_rule_select_type(struct osp_diagnosis *diagnosis)
{
	/* slurm/src/common/read_config.h: the default was select/linear up to 22.05 */
	const char *otherwise = installed_slurm(diagnosis->facts) < SLURM_23_02
					? "select/linear"
					: "select/cons_tres";
	const char *value = osp_slurm_conf_value(diagnosis->facts->conf, "SelectType", otherwise);

	if (strcasecmp(value, "select/cons_tres") == 0 || strcasecmp(value, "cons_tres") == 0)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "SelectType is %s: Onespine places gangs with select/cons_tres only", value);
	osp_cure_setting(diagnosis, "SelectType", "select/cons_tres");
	if (!diagnosis->findings->failed) {
		/* That change loses running jobs, so no file of ours may make it. */
		diagnosis->findings->items[diagnosis->findings->count - 1].line = NULL;
	}
}

/* Warns about a plugin after ours: ours has decided before it changes a job's partition or number
 * of nodes. */
static void check_last(struct osp_diagnosis *diagnosis)
{
	const struct osp_slurm_word *word =
		osp_slurm_conf_find(diagnosis->facts->conf, "JobSubmitPlugins");
	const char *at = strcasestr(word->value, "onespine") + strlen("onespine");

	at += strspn(at, ", ");
	if (!*at)
		return;
	osp_find(
		diagnosis, OSP_DOCTOR_WARNING,
		"JobSubmitPlugins has %s after onespine: what that changes in a job, its partition "
		"or its nodes, no policy of ours sees",
		at);
	osp_cure(diagnosis, "%s:%d: put onespine last", word->file, word->line);
}

void osp_rule_job_submit(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!osp_setting_has(diagnosis, "JobSubmitPlugins", "onespine") &&
	    !osp_setting_has(diagnosis, "JobSubmitPlugins", "job_submit/onespine")) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "JobSubmitPlugins lacks onespine: no policy holds, and nothing stops a "
			 "slurmctld that cannot enforce");
		osp_cure_list(diagnosis, "JobSubmitPlugins", "onespine");
		return;
	}
	if (!facts->before_start)
		check_last(diagnosis);
	/* if the shadow is not found either, PluginDir's own finding has the cure */
	if (!facts->controller || (facts->installed && !finds_shadow(facts)))
		return;
	for (size_t i = 0; i < facts->folder_count; i++)
		if (facts->folders[i].job_submit.state != OSP_PLUGIN_ABSENT)
			return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "JobSubmitPlugins has onespine, and no directory of PluginDir has "
		 "job_submit_onespine.so: slurmctld will not start");
	if (!osp_cure_lacking(diagnosis, OSP_PART_PLACEMENT))
		osp_cure(diagnosis, "have PluginDir name %s, where Onespine is installed",
			 facts->plugin_dir);
}

/* --- plugstack.conf --------------------------------------------------------------------------- */

/* Judges a plugstack.conf without onespine.so. Policy alone can make gangs, so a site may lack
 * the package. */
static void check_no_spank(struct osp_diagnosis *diagnosis, const char *file)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!(facts->lacks & OSP_PART_SPANK)) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "%s does not name onespine.so: sbatch, salloc and srun here do not know "
			 "--gang",
			 file);
		osp_cure(diagnosis, "%s: required %s/onespine.so", file, facts->plugin_dir);
		return;
	}
	if (!osp_takes_part(facts, OSP_PART_PLACEMENT))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "sbatch, salloc and srun here do not know --gang: only policy makes gangs");
	(void)osp_cure_lacking(diagnosis, OSP_PART_SPANK);
}

void osp_rule_spank(struct osp_diagnosis *diagnosis)
{
	const struct osp_spank_line *spank = &diagnosis->facts->spank;
	const char *file = spank->file ? spank->file : diagnosis->facts->plugstack_path;
	char built[OSP_SLURM_VERSION_BYTES], installed[OSP_SLURM_VERSION_BYTES];
	uint32_t slurm = installed_slurm(diagnosis->facts);

	if (!spank->named) {
		check_no_spank(diagnosis, file);
		return;
	}
	if (spank->plugin.state != OSP_PLUGIN_OURS) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG, "%s:%d names %s, which %s", file, spank->line,
			 spank->path,
			 spank->plugin.state == OSP_PLUGIN_ABSENT ? "is not on this host"
								  : "is not Onespine's plugin");
		if (!osp_cure_lacking(diagnosis, OSP_PART_SPANK))
			osp_cure(diagnosis, "%s:%d: required %s/onespine.so", file, spank->line,
				 diagnosis->facts->plugin_dir);
	} else if (spank->plugin.version >> 8 != slurm >> 8) {
		osp_slurm_version_words(spank->plugin.version, built);
		osp_slurm_version_words(slurm, installed);
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "%s was built for Slurm %s, and Slurm %s is installed, which passes it "
			 "over",
			 spank->path, built, installed);
		osp_cure(diagnosis, "install Onespine built for exactly Slurm %s", installed);
	}
	if (!spank->required) {
		osp_find(
			diagnosis, OSP_DOCTOR_WARNING,
			"%s:%d says optional: where onespine.so cannot be loaded --gang is unknown "
			"without a word",
			file, spank->line);
		osp_cure(diagnosis, "%s:%d: required instead of optional", file, spank->line);
	}
}

/* Returns whether the path is that of onespine.yaml or the topology. */
static bool is_policy(const struct osp_doctor_facts *facts, const char *path)
{
	return (facts->config_path && strcmp(path, facts->config_path) == 0) ||
	       (facts->topology_path && strcmp(path, facts->topology_path) == 0);
}

void osp_rule_trusted(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	for (size_t i = 0; i < facts->trusted_count; i++) {
		const struct osp_trusted_file *file = &facts->trusted[i];

		if (!file->exists || file->safe)
			continue;
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 is_policy(facts, file->path)
				 ? "%s can be written by others than root and SlurmUser, so "
				   "slurmctld does not obey it"
				 : "%s can be written by others than root and SlurmUser, who obey "
				   "it",
			 file->path);
		osp_cure(diagnosis, "chown root %s && chmod go-w %s%s", file->path, file->path,
			 is_policy(facts, file->path) ? " && scontrol reconfigure" : "");
	}
}

void osp_rule_readable(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	for (size_t i = 0; i < facts->unread_count; i++) {
		const struct osp_unread_file *file = &facts->unread[i];

		if (file->slurm_user)
			osp_find(diagnosis, OSP_DOCTOR_WRONG,
				 "slurmctld, which runs as %s, cannot read %s", file->slurm_user,
				 file->path);
		else
			osp_find(diagnosis, OSP_DOCTOR_WRONG,
				 "users cannot read %s: their sbatch, salloc and srun fail, or do "
				 "not know --gang",
				 file->path);
		osp_cure(diagnosis, "chmod a+r %s, and a+x for the folders that it is in",
			 file->path);
	}
}
