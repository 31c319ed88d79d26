/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor.c - the table of rules, and its findings */
#include "onespine_config.h"
#include "lib/doctor/doctor_private.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/room.h"
#include "lib/base/text.h"

/* When a rule applies. */
enum when {
	ON_CONTROLLER = 1,  /* only on a host of slurmctld */
	BEFORE_START = 2,   /* also before slurmctld starts */
	FOR_GATE = 4,	    /* only if the gate is on */
	FOR_CLOUD = 8,	    /* only if a cloud was asked */
	FOR_PLACEMENT = 16, /* only if the site takes placement */
};

static const struct rule {
	const char *name;
	unsigned int when;
	osp_rule_f *judge;
	const char *explanation;
} rules[] = {
	{"folders", BEFORE_START, osp_rule_folders,
	 "every directory of PluginDir is there: Slurm's commands and daemons fail without"},
	{"plugin-dir", FOR_PLACEMENT | BEFORE_START, osp_rule_plugin_dir,
	 "PluginDir finds our select_cons_tres.so before Slurm's own"},
	{"shadow-version", FOR_PLACEMENT | ON_CONTROLLER | BEFORE_START, osp_rule_shadow_version,
	 "our plugins are built for exactly the Slurm that is installed"},
	{"select-type", FOR_PLACEMENT | BEFORE_START, osp_rule_select_type,
	 "SelectType is select/cons_tres"},
	{"job-submit", FOR_PLACEMENT | BEFORE_START, osp_rule_job_submit,
	 "JobSubmitPlugins has onespine, which stops a slurmctld that cannot enforce"},
	{"without-match", FOR_PLACEMENT, osp_rule_without_match,
	 "slurm.conf has the license that holds gangs when Slurm is updated before Onespine"},
	{"spank", 0, osp_rule_spank, "plugstack.conf names onespine.so, which takes --gang"},
	{"trusted", 0, osp_rule_trusted, "nobody but root and SlurmUser can write what they obey"},
	{"readable", 0, osp_rule_readable, "users and slurmctld can read what they need"},
	{"configless", 0, osp_rule_configless, "what slurmctld sends to others holds our lines"},
	{"config", ON_CONTROLLER, osp_rule_config, "onespine.yaml is valid"},
	{"topology", FOR_PLACEMENT | ON_CONTROLLER, osp_rule_topology,
	 "onespine.topology is right and has the nodes of slurm.conf"},
	{"obeyed", FOR_PLACEMENT | ON_CONTROLLER, osp_rule_obeyed,
	 "slurmctld has taken our files as they are now"},
	{"places", FOR_PLACEMENT | ON_CONTROLLER, osp_rule_places,
	 "the cloud is asked where nodes are, and no node that runs has booted since"},
	{"asleep", FOR_PLACEMENT | ON_CONTROLLER, osp_rule_asleep,
	 "somebody wakes powered-down nodes where every larger job is a gang"},
	{"backup", FOR_PLACEMENT | ON_CONTROLLER, osp_rule_backup,
	 "two slurmctlds share StateSaveLocation, where the last good topology lies"},
	{"node-rank", FOR_PLACEMENT, osp_rule_node_rank,
	 "TopologyParam does not order ranks another way"},
	{"backfill", FOR_PLACEMENT, osp_rule_backfill,
	 "backfill looks far enough ahead for a gang"},
	{"munge", FOR_GATE, osp_rule_munge, "MUNGE, which signs the gate's messages, answers"},
	{"munge-key", 0, osp_rule_munge_key, "MUNGE keeps its key from users (CVE-2026-25506)"},
	{"gate-key", FOR_GATE, osp_rule_gate_key,
	 "the gate's own keys can be used, if Slurm has no MUNGE"},
	{"report-key", 0, osp_rule_report_key, "nodes and the watch have the key of reports"},
	{"gate-config", FOR_GATE, osp_rule_gate_config,
	 "the gate obeys onespine.yaml on every node"},
	{"prolog", FOR_GATE, osp_rule_prolog,
	 "slurmd's Prolog and Epilog run the gate, and can be executed"},
	{"prolog-flags", FOR_GATE, osp_rule_prolog_flags,
	 "PrologFlags holds the batch script back until every node's gate is through"},
	{"prolog-time", FOR_GATE, osp_rule_prolog_time,
	 "Slurm's time limits leave the gate its budget"},
	{"prolog-hold", FOR_GATE, osp_rule_prolog_hold,
	 "a Prolog that fails all the same does not hold the job"},
	{"requeue-delay", FOR_GATE, osp_rule_requeue_delay,
	 "a job that the gate requeues starts again soon"},
	{"spares", FOR_GATE, osp_rule_spares,
	 "a job may be shrunk, so that spares can be released"},
	{"node-part", 0, osp_rule_node_part,
	 "onespine_node.so, which sets environment and binding, can be loaded"},
	{"rules", 0, osp_rule_site_rules, "the site's rules and node types are valid"},
	{"confined", 0, osp_rule_confined, "jobs that share a node can be bound"},
	{"ports", FOR_GATE, osp_rule_free_ports,
	 "ports below 1024 are root's, as the gate's messages need it"},
	{"kernel-log", FOR_GATE, osp_rule_forged_log,
	 "no user's netfilter rules write to the kernel's log, which reports errors of GPUs"},
	{"hangs", FOR_GATE, osp_rule_hangs,
	 "the kernel reports a check that hangs from one that others keep waiting"},
	{"recheck", 0, osp_rule_rechecks_left, "no recheck that was killed has left a node"},
	{"clustermgtd", FOR_GATE, osp_rule_clustermgtd,
	 "what a failed node knows is saved before ParallelCluster's clustermgtd ends it"},
	{"gpu-start", 0, osp_rule_gpu_start, "this host's GPUs start before a check gives up"},
	{"cloud-calls", FOR_CLOUD, osp_rule_cloud_calls,
	 "this host may ask EC2 what Onespine asks it"},
	{"cloud-nodes", FOR_CLOUD, osp_rule_cloud_nodes,
	 "EC2 knows an instance for every node that runs"},
	{"cloud-efa", FOR_CLOUD, osp_rule_cloud_efa,
	 "a security group lets all EFA traffic of a partition pass, in and out"},
	{"cloud-zones", FOR_CLOUD, osp_rule_cloud_zones, "a partition's nodes lie in one zone"},
	{"cloud-placement", FOR_CLOUD, osp_rule_cloud_placement,
	 "a partition's instances with EFA share a cluster placement group or a capacity block"},
	{"cloud-reservation", FOR_CLOUD, osp_rule_cloud_reservations,
	 "capacity reservations are active, targeted, and the ones that were meant"},
	{"cloud-storage", FOR_CLOUD, osp_rule_cloud_storage,
	 "Lustre file systems lie in the zone of the nodes"},
	{"running", 0, osp_rule_running, "the slurmctld that runs has read all this"},
};

#define RULE_COUNT (sizeof(rules) / sizeof(rules[0]))

/* --- findings --------------------------------------------------------------------------------- */

/* Returns a copy in the findings' arena; "" with `failed` set if memory ran out. */
static const char *keep(struct osp_doctor_findings *findings, const char *format, va_list arguments)
{
	char *words = NULL;
	int length = vasprintf(&words, format, arguments);
	const char *copy =
		length < 0 ? NULL : osp_arena_copy(&findings->arena, words, (size_t)length);

	if (length >= 0)
		free(words);
	if (!copy)
		findings->failed = true;
	return copy ? copy : "";
}

void osp_find(struct osp_diagnosis *diagnosis, enum osp_doctor_finding_level level,
	      const char *format, ...)
{
	struct osp_doctor_findings *findings = diagnosis->findings;
	struct osp_doctor_finding *finding;
	va_list arguments;

	if (osp_make_room((void **)&findings->items, &findings->room, findings->count,
			  sizeof(*findings->items))) {
		findings->failed = true;
		return;
	}
	finding = &findings->items[findings->count++];
	*finding = (struct osp_doctor_finding){.name = diagnosis->rule, .level = level, .cure = ""};
	va_start(arguments, format);
	finding->sentence = keep(findings, format, arguments);
	va_end(arguments);
}

static struct osp_doctor_finding *last_finding(struct osp_diagnosis *diagnosis)
{
	struct osp_doctor_findings *findings = diagnosis->findings;

	return findings->failed || !findings->count ? NULL : &findings->items[findings->count - 1];
}

static const char *keep_words(struct osp_doctor_findings *findings, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *keep_words(struct osp_doctor_findings *findings, const char *format, ...)
{
	const char *copy;
	va_list arguments;

	va_start(arguments, format);
	copy = keep(findings, format, arguments);
	va_end(arguments);
	return copy;
}

void osp_cure(struct osp_diagnosis *diagnosis, const char *format, ...)
{
	struct osp_doctor_finding *finding = last_finding(diagnosis);
	va_list arguments;

	if (!finding)
		return;
	va_start(arguments, format);
	finding->cure = keep(diagnosis->findings, format, arguments);
	va_end(arguments);
}

void osp_cure_setting(struct osp_diagnosis *diagnosis, const char *key, const char *value)
{
	const struct osp_slurm_word *word = osp_slurm_conf_find(diagnosis->facts->conf, key);
	struct osp_doctor_finding *finding = last_finding(diagnosis);

	if (!finding)
		return;
	if (word) {
		osp_cure(diagnosis, "%s:%d: %s=%s instead of %s", word->file, word->line, key,
			 value, word->value);
		return;
	}
	finding->line = keep_words(diagnosis->findings, "%s=%s", key, value);
	osp_cure(diagnosis, "%s: %s=%s", diagnosis->facts->conf_path, key, value);
}

/* Adds the words of a list except those that set what `word` (name=value) sets: for Slurm the first
 * one counts. */
static void add_other_words(struct osp_text *list, const char *value, const char *word)
{
	size_t name = strcspn(word, "=");

	while (*value) {
		size_t length = strcspn(value, ",");

		if (!word[name] || length <= name || strncasecmp(value, word, name + 1) != 0)
			osp_text_printf(list, "%.*s,", (int)length, value);
		value += length;
		value += strspn(value, ",");
	}
}

void osp_cure_list(struct osp_diagnosis *diagnosis, const char *key, const char *word)
{
	const char *value = osp_slurm_conf_value(diagnosis->facts->conf, key, NULL);
	struct osp_text list = OSP_TEXT_INIT;

	if (value && strcasecmp(value, "none") != 0)
		add_other_words(&list, value, word);
	osp_text_add(&list, word);
	if (list.failed)
		diagnosis->findings->failed = true;
	else
		osp_cure_setting(diagnosis, key, list.data);
	osp_text_free(&list);
}

bool osp_setting_has(const struct osp_diagnosis *diagnosis, const char *key, const char *word)
{
	return osp_slurm_list_has(osp_slurm_conf_value(diagnosis->facts->conf, key, NULL), word,
				  NULL, 0);
}

const char *osp_slurm_version_words(uint32_t version, char *buffer)
{
	snprintf(buffer, OSP_SLURM_VERSION_BYTES, "%u.%02u.%u", version >> 16, version >> 8 & 255,
		 version & 255);
	return buffer;
}

/* --- judging ---------------------------------------------------------------------------------- */

static bool applies(const struct rule *rule, const struct osp_doctor_facts *facts)
{
	if (rule->when & ON_CONTROLLER && !facts->controller)
		return false;
	if (rule->when & FOR_GATE && !facts->gate.on)
		return false;
	if (rule->when & FOR_CLOUD && !facts->cloud)
		return false;
	if (rule->when & FOR_PLACEMENT && !osp_takes_part(facts, OSP_PART_PLACEMENT))
		return false;
	return rule->when & BEFORE_START || !facts->before_start;
}

static void no_conf(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	char words[sizeof(struct osp_error) + 32];

	diagnosis->rule = "slurm-conf";
	osp_find(diagnosis, OSP_DOCTOR_WRONG, "slurm.conf cannot be read: %s",
		 facts->conf_error ? osp_error_format(facts->conf_error, words, sizeof(words))
				   : "there is none");
	osp_cure(diagnosis, "Slurm refuses such a file too: put it right first");
}

int osp_doctor_judge(const struct osp_doctor_facts *facts, struct osp_doctor_findings *findings)
{
	struct osp_diagnosis diagnosis = {.facts = facts, .findings = findings};

	findings->looked_at++;
	if (!facts->conf) {
		no_conf(&diagnosis);
		return findings->failed ? -1 : 0;
	}
	for (size_t i = 0; i < RULE_COUNT; i++) {
		if (!applies(&rules[i], facts))
			continue;
		diagnosis.rule = rules[i].name;
		rules[i].judge(&diagnosis);
		findings->looked_at++;
	}
	return findings->failed ? -1 : 0;
}

void osp_doctor_findings_free(struct osp_doctor_findings *findings)
{
	osp_arena_free(&findings->arena);
	free(findings->items);
	*findings = (struct osp_doctor_findings)OSP_DOCTOR_FINDINGS_INIT;
}

uint32_t osp_doctor_count(const struct osp_doctor_findings *findings,
			  enum osp_doctor_finding_level level)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < findings->count; i++)
		count += findings->items[i].level == level;
	return count;
}

char *osp_doctor_piece(const struct osp_doctor_findings *findings)
{
	struct osp_text text = OSP_TEXT_INIT;

	for (uint32_t i = 0; i < findings->count; i++) {
		const struct osp_doctor_finding *finding = &findings->items[i];

		if ((finding->level == OSP_DOCTOR_WRONG || finding->setup_writes) && finding->line)
			osp_text_printf(&text, "%s\n", finding->line);
	}
	return osp_text_take(&text);
}

const char *osp_doctor_rule(size_t index, const char **explanation)
{
	if (index >= RULE_COUNT)
		return NULL;
	*explanation = rules[index].explanation;
	return rules[index].name;
}
