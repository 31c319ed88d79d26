/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_gate.c - rules about what Slurm must do for the gate: nothing of a user runs before every
 * node is proven */
#include "lib/doctor/doctor_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* slurm/src/common/read_config.h and slurm.conf(5) */
#define BATCH_START_TIMEOUT_DEFAULT_S 10
#define MESSAGE_TIMEOUT_DEFAULT_S     10
#define MESSAGE_TIMEOUT_COUNTED_S     100 /* slurmctld/job_mgr.c: no more than this counts */
#define GATE_MAKES_SURE_S	      8	  /* OSP_CONTROLLER_SAVED_MS (host/slurm/controller.h) */
#define CRED_EXPIRE_DEFAULT_S	      120
#define CRED_EXPIRE_SLOW_S	      100 /* ParallelCluster sets 70 */
#define REQUEUE_DELAY_SINCE	      0x190b00

void osp_rule_gate_config(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const struct osp_doctor_gate *gate = &facts->gate;
	char words[sizeof(struct osp_error) + 32];

	if (facts->thresholds_error) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "thresholds.yaml is refused, so the gate checks nothing: %s",
			 osp_error_format(facts->thresholds_error, words, sizeof(words)));
		osp_cure(diagnosis, "put it right; onespine config check reads it again");
	}
	if (!gate->config_exists || gate->config_roots)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "%s is not root's alone, so the gate takes its defaults instead",
		 facts->config_path);
	osp_cure(diagnosis, "chown root %s && chmod go-w %s", facts->config_path,
		 facts->config_path);
}

/* Judges the key where it is used, on a node, and what others may read everywhere. */
void osp_rule_gate_key(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->gate_key_file || (facts->gate_key_missing && !facts->node))
		return;
	if (facts->gate_key_hidden) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "only root sees whether the gate can use the keys in %s",
			 facts->gate_key_file);
		osp_cure(diagnosis, "run onespine doctor as root");
		return;
	}
	if (!facts->gate_key_wrong)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "%s: the nodes cannot send each other what their checks found",
		 facts->gate_key_wrong);
	if (!facts->controller)
		osp_cure(diagnosis, "copy it from the host of slurmctld or from another node, "
				    "readable by root alone");
	else
		osp_cure(diagnosis,
			 "%sonespine gate key new --key-file=%s, then copy it to all nodes, "
			 "readable by root alone",
			 facts->gate_key_missing ? "" : "remove it, then ", facts->gate_key_file);
}

static void check_script(struct osp_diagnosis *diagnosis, const char *key, const char *name,
			 const char *without)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const struct osp_slurm_word *word = osp_slurm_conf_find(facts->conf, key);
	char path[1024];

	osp_find(diagnosis, OSP_DOCTOR_WRONG, "no %s runs the gate: %s", key, without);
	if (!word) {
		snprintf(path, sizeof(path), "%s/%s", facts->plugin_dir, name);
		osp_cure_setting(diagnosis, key, path);
		return;
	}
	osp_cure(diagnosis, "have %s (%s:%d) run %s/%s too, and end where that fails", word->value,
		 word->file, word->line, facts->plugin_dir, name);
}

static void check_call(struct osp_diagnosis *diagnosis, enum osp_gate_call call, const char *key,
		       const char *name)
{
	if (call != OSP_GATE_CALLED_FORMERLY)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "%s runs the gate as 'onespine gate %s', which release 0.4 no longer has", key,
		 name);
	osp_cure(diagnosis, "write %s %s instead", diagnosis->facts->gate.program, name);
}

static void check_broken(struct osp_diagnosis *diagnosis, const struct osp_gate_broken *broken,
			 const char *key, const char *without)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	bool is_gate = strcmp(broken->program, facts->gate.program) == 0;

	/* a host of slurmctld alone names for the nodes what it need not have */
	if (is_gate && facts->lacks & OSP_PART_GATE && !facts->node)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG, "%s runs %s (%s), which %s: %s", key, broken->program,
		 broken->file, broken->exists ? "is not executable" : "is not on this host",
		 without);
	if (broken->exists)
		osp_cure(diagnosis, "chmod a+x %s", broken->program);
	else if (!is_gate || !osp_cure_lacking(diagnosis, OSP_PART_GATE))
		osp_cure(diagnosis, "install it, or have %s name what is there: the gate is %s",
			 broken->file, diagnosis->facts->gate.program);
}

void osp_rule_prolog(struct osp_diagnosis *diagnosis)
{
	static const char no_prolog[] = "nodes are not proven before a job";
	static const char no_epilog[] = "what a node suffered in a job is not on record";
	const struct osp_doctor_gate *gate = &diagnosis->facts->gate;

	if (gate->prolog_broken.program)
		check_broken(diagnosis, &gate->prolog_broken, "Prolog", no_prolog);
	else if (!gate->prolog)
		check_script(diagnosis, "Prolog", "prolog", no_prolog);
	if (gate->epilog_broken.program)
		check_broken(diagnosis, &gate->epilog_broken, "Epilog", no_epilog);
	else if (!gate->epilog)
		check_script(diagnosis, "Epilog", "epilog", no_epilog);
	check_call(diagnosis, gate->prolog, "Prolog", "prolog");
	check_call(diagnosis, gate->epilog, "Epilog", "epilog");
}

void osp_rule_prolog_flags(struct osp_diagnosis *diagnosis)
{
	static const struct {
		const char *flag;
		const char *without;
	} wanted[] = {
		{"Alloc", "nodes are checked when the first task comes to them, not at the start"},
		{"DeferBatch", "a batch script starts while other nodes are still being checked"},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (osp_setting_has(diagnosis, "PrologFlags", wanted[i].flag))
			continue;
		osp_find(diagnosis, OSP_DOCTOR_WRONG, "PrologFlags lacks %s: %s", wanted[i].flag,
			 wanted[i].without);
		if (osp_slurm_conf_find(diagnosis->facts->conf, "PrologFlags")) {
			osp_cure_list(diagnosis, "PrologFlags", wanted[i].flag);
			continue;
		}
		osp_cure_setting(diagnosis, "PrologFlags", "Alloc,DeferBatch");
		break; /* one line sets both */
	}
	if (osp_setting_has(diagnosis, "PrologFlags", "RunInJob")) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "PrologFlags has RunInJob: checks would run inside the job's own cgroup");
		osp_cure(diagnosis, "take RunInJob out of PrologFlags");
	}
	if (osp_setting_has(diagnosis, "PrologFlags", "NoHold")) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "PrologFlags has NoHold: salloc gives its shell while nodes are being "
			 "checked, with spares still among them");
		osp_cure(diagnosis, "take NoHold out of PrologFlags");
	}
	if (osp_setting_has(diagnosis, "PrologFlags", "Serial")) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "PrologFlags has Serial: gangs that share nodes can wait for each other's "
			 "Prolog until the gate's budget is spent");
		osp_cure(diagnosis, "take Serial out of PrologFlags");
	}
}

void osp_rule_prolog_time(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	uint32_t budget_s = facts->gate.budget_s;
	uint32_t longest_s = budget_s + GATE_MAKES_SURE_S;
	uint32_t batch_s = osp_slurm_conf_number(facts->conf, "BatchStartTimeout",
						 BATCH_START_TIMEOUT_DEFAULT_S);
	uint32_t message_s =
		osp_slurm_conf_number(facts->conf, "MessageTimeout", MESSAGE_TIMEOUT_DEFAULT_S);
	uint32_t prolog_s = osp_slurm_conf_number(facts->conf, "PrologEpilogTimeout", UINT32_MAX);
	char value[32];

	if (message_s > MESSAGE_TIMEOUT_COUNTED_S)
		message_s = MESSAGE_TIMEOUT_COUNTED_S;
	if (batch_s + message_s <= longest_s) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "BatchStartTimeout (%u s) and MessageTimeout (%u s) together are no "
			 "longer than the gate's budget (%u s) and %u s more: slurmctld would take "
			 "a job that is being checked for lost",
			 batch_s, message_s, budget_s, GATE_MAKES_SURE_S);
		snprintf(value, sizeof(value), "%u", budget_s + 60);
		osp_cure_setting(diagnosis, "BatchStartTimeout", value);
	}
	if (prolog_s <= longest_s) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "PrologEpilogTimeout (%u s) ends a Prolog within the gate's budget (%u "
			 "s) and %u s more, and drains the node for it",
			 prolog_s, budget_s, GATE_MAKES_SURE_S);
		snprintf(value, sizeof(value), "%u", budget_s + 60);
		osp_cure_setting(diagnosis, "PrologEpilogTimeout", value);
	}
}

void osp_rule_prolog_hold(struct osp_diagnosis *diagnosis)
{
	if (osp_setting_has(diagnosis, "SchedulerParameters", "nohold_on_prolog_fail"))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "SchedulerParameters lacks nohold_on_prolog_fail: where a Prolog fails all the "
		 "same (slurmd killed, disk full) the job is held for ever");
	osp_cure_list(diagnosis, "SchedulerParameters", "nohold_on_prolog_fail");
}

/* Judges the delay of a requeue. From 25.11 on, the delay of SchedulerParameters overrides the
 * credentials' life (_requeue_delay() of slurmctld/job_mgr.c), and shortens nothing else. */
void osp_rule_requeue_delay(struct osp_diagnosis *diagnosis)
{
	const struct osp_slurm_conf *conf = diagnosis->facts->conf;
	bool settable = diagnosis->facts->slurm >= REQUEUE_DELAY_SINCE;
	unsigned long delay_s = CRED_EXPIRE_DEFAULT_S;
	const char *source = "cred_expire";
	char value[32];

	if (osp_slurm_list_has(osp_slurm_conf_value(conf, "AuthInfo", NULL), "cred_expire", value,
			       sizeof(value)))
		delay_s = strtoul(value, NULL, 10);
	if (settable && osp_slurm_list_has(osp_slurm_conf_value(conf, "SchedulerParameters", NULL),
					   "requeue_delay", value, sizeof(value))) {
		delay_s = strtoul(value, NULL, 10);
		source = "requeue_delay";
	}
	if (delay_s <= CRED_EXPIRE_SLOW_S)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "a job that the gate puts back starts again only after %s (%lu s) and a second",
		 source, delay_s);
	if (settable)
		osp_cure_list(diagnosis, "SchedulerParameters", "requeue_delay=5");
	else
		osp_cure_list(diagnosis, "AuthInfo", "cred_expire=70");
}

void osp_rule_spares(struct osp_diagnosis *diagnosis)
{
	if (!diagnosis->facts->gate.spares_max)
		return;
	if (osp_setting_has(diagnosis, "SchedulerParameters", "disable_job_shrink")) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "SchedulerParameters has disable_job_shrink: spares cannot be released");
		osp_cure(diagnosis, "take it out, or set gate: spares: 0 in onespine.yaml");
	}
	if (osp_setting_has(diagnosis, "SlurmctldParameters", "enable_stepmgr")) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "SlurmctldParameters has enable_stepmgr: steps would still count the "
			 "spares that were released");
		osp_cure(diagnosis, "take it out, or set gate: spares: 0 in onespine.yaml");
	}
}
