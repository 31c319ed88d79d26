/* SPDX-License-Identifier: GPL-2.0-or-later */
/* seam_client.c - job_submit's end of the seam: is the shadow in use, and is this the Slurm for
 * which we were built */
#include "onespine_config.h"

#include "sched/seam_client.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <slurm/slurm.h>

#include "lib/base/error.h"
#include "sched/slurm_exports.h"

#define NOT_SAFE "gangs would be placed anywhere, so slurmctld does not start"

/* The plugin's own; defined in another file, so that no compiler folds its value. */
extern uint32_t plugin_version;

uint32_t osp_slurm_built, osp_slurm_running;

struct version_words {
	char text[32];
};

/* Formats a version: 0x160508 is "22.05.8". */
static struct version_words version_words(uint32_t version)
{
	struct version_words words;

	snprintf(words.text, sizeof(words.text), "%u.%02u.%u", SLURM_VERSION_MAJOR(version),
		 SLURM_VERSION_MINOR(version), SLURM_VERSION_MICRO(version));
	return words;
}

/*
 * Returns whether select/cons_tres is in use. Another select plugin would take the call for a job's
 * record.
 */
static bool is_cons_tres(void)
{
	return &slurm_conf && slurm_conf.select_type &&
	       !strcmp(slurm_conf.select_type, "select/cons_tres");
}

const struct osp_seam *osp_seam_find(char *sentence, size_t sentence_bytes)
{
	struct osp_seam_call call = {.cookie = {OSP_SEAM_COOKIE_0, OSP_SEAM_COOKIE_1}};

	if (!is_cons_tres() || !select_g_job_begin ||
	    select_g_job_begin((struct job_record *)&call) != OSP_SEAM_ANSWER || !call.seam) {
		snprintf(sentence, sentence_bytes,
			 "Onespine's select_cons_tres.so is not in use, %s: put %s first in "
			 "PluginDir, set SelectType=select/cons_tres and install Onespine built "
			 "for exactly Slurm %s there, or take onespine out of JobSubmitPlugins",
			 NOT_SAFE, OSP_SHADOW_DIR, version_words(plugin_version).text);
		return NULL;
	}
	if (strcmp(call.seam->version, PACKAGE_VERSION) != 0) {
		snprintf(
			sentence, sentence_bytes,
			"job_submit_onespine.so is Onespine %s and select_cons_tres.so is Onespine "
			"%s, %s: install both from one build",
			PACKAGE_VERSION, call.seam->version, NOT_SAFE);
		return NULL;
	}
	return call.seam;
}

/* --- built for another Slurm ------------------------------------------------------------------ */

bool osp_slurm_differs(uint32_t built, uint32_t running, char *sentence, size_t sentence_bytes)
{
	if (built == running)
		return false;
	snprintf(sentence, sentence_bytes,
		 "job_submit_onespine.so was built for Slurm %s and this is Slurm %s, %s: install "
		 "Onespine built for exactly Slurm %s, or take onespine out of JobSubmitPlugins",
		 version_words(built).text, version_words(running).text, NOT_SAFE,
		 version_words(running).text);
	return true;
}

/*
 * Returns the version of one loaded object if it is one of Slurm's plugins, else 0. Slurm's plugins
 * match the Slurm that runs; nothing else there gives its micro version in a layout that never
 * changes.
 */
static uint32_t plugin_version_of(const char *path)
{
	void *object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	const uint32_t *version;
	const char *type;

	if (!object)
		return 0;
	version = dlsym(object, "plugin_version");
	type = dlsym(object, "plugin_type");
	dlclose(object);
	if (!version || !type || !strcmp(type, "spank") || !strcmp(type, "job_submit/onespine"))
		return 0;
	return *version;
}

static uint32_t running_slurm_version(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	struct link_map *object = NULL;
	uint32_t version = 0;

	if (!program || dlinfo(program, RTLD_DI_LINKMAP, &object) != 0)
		return 0;
	for (; object && !version; object = object->l_next) {
		if (object->l_name && object->l_name[0])
			version = plugin_version_of(object->l_name);
	}
	dlclose(program);
	return version;
}

/*
 * Runs before Slurm looks at the version. A plugin for another micro release takes that of the
 * Slurm that runs, so that init() decides; of one for another release, which Slurm refuses in words
 * that do not say what to do, it explains this.
 */
__attribute__((constructor)) static void see_running_slurm(void)
{
	char sentence[OSP_ERROR_TEXT_BYTES];
	uint32_t running;

	if (!dlsym(RTLD_DEFAULT, "slurmctld_config"))
		return;
	running = running_slurm_version();
	if (!running || !osp_slurm_differs(plugin_version, running, sentence, sizeof(sentence)))
		return;
	if (running >> 8 != plugin_version >> 8) {
		slurm_error("onespine: %s", sentence);
		return;
	}
	osp_slurm_built = plugin_version;
	osp_slurm_running = running;
	plugin_version = running;
}
