/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_setup.c - `onespine setup`: adds Onespine's lines to Slurm's files, and removes them
 *
 * Lines that slurm.conf lacks altogether go into a file of ours that it includes, beside it and by
 * its bare name, so that slurmctld sends it to configless hosts, too. Settings that differ (another
 * PluginDir, another SelectType) a person has to change. As long as slurmctld would not start or
 * not enforce with the result, nothing is changed.
 */
#include "onespine_config.h"
#include "tools/command/command.h"
#include "tools/command/setup_report.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/own_lock.h"
#include "lib/policy/node_policy.h"
#include "tools/setup/unit_file.h"
#include "host/files.h"
#include "host/record/secrets_file.h"

#define LOCK_FILE ".onespine.setup.lock"
#define ADDED	  "# added by onespine setup; onespine setup --undo takes it out\n"

/* --- composing -------------------------------------------------------------------------------- */

/* Returns whether a finding remains with our lines added that forbids any change. */
static bool stops_slurmctld(const struct osp_doctor_finding *finding)
{
	static const char *const names[] = {"slurm-conf",     "folders",     "plugin-dir",
					    "shadow-version", "select-type", "job-submit"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (finding->level == OSP_DOCTOR_WRONG && strcmp(finding->name, names[i]) == 0)
			return true;
	return false;
}

static bool must_not_change(const struct osp_doctor_findings *findings)
{
	for (uint32_t i = 0; i < findings->count; i++)
		if (stops_slurmctld(&findings->items[i]))
			return true;
	return false;
}

/* Adds the lines, starting on a new line. */
static int add_to(struct setup *setup, char *path, const char *lines)
{
	struct osp_text text = OSP_TEXT_INIT;
	size_t bytes = 0;
	char *old = osp_read_overlaid(&setup->before, path, OSP_SLURM_CONF_BYTES_MAX, &bytes,
				      &setup->error);

	if (!old) {
		free(path);
		return -1;
	}
	if (bytes && old[bytes - 1] != '\n')
		osp_text_add(&text, "\n");
	osp_text_printf(&text, "%s%s\n", ADDED, lines);
	free(old);
	return osp_plan_add(&setup->plan, OSP_CHANGE_ADD, path, osp_text_take(&text), bytes);
}

static bool is_there(const struct setup *setup, const char *path)
{
	for (size_t i = 0; i < setup->before.count; i++)
		if (strcmp(setup->before.items[i].path, path) == 0)
			return setup->before.items[i].text != NULL;
	return access(path, F_OK) == 0;
}

static bool is_configless(const struct osp_doctor *doctor)
{
	return osp_slurm_list_has(osp_slurm_conf_value(doctor->conf, "SlurmctldParameters", NULL),
				  "enable_configless", NULL, 0);
}

static int plan_plugstack(struct setup *setup, const struct osp_doctor *doctor)
{
	const char *path = doctor->facts.plugstack_path;
	static const char line[] = "required " OSP_PLUGIN_DIR "/onespine.so";
	char *folder, *file = NULL;
	int result;

	if (doctor->facts.spank.named || doctor->facts.lacks & OSP_PART_SPANK)
		return 0;
	folder = is_configless(doctor) ? NULL : osp_plugstack_folder(path);
	if (folder && asprintf(&file, "%s/onespine.conf", folder) < 0)
		file = NULL;
	if (!folder && is_there(setup, path)) {
		result = add_to(setup, strdup(path), line);
	} else {
		char *text = NULL;

		if (asprintf(&text, "%s%s\n", ADDED, line) < 0)
			text = NULL;
		result = osp_plan_add(&setup->plan, OSP_CHANGE_CREATE, folder ? file : strdup(path),
				      text, 0);
	}
	free(folder);
	return result;
}

/* Adds a script to the folder whose scripts ParallelCluster's Prolog and Epilog run. */
static int plan_script(struct setup *setup, const char *name)
{
	char *folder = osp_scripts_folder(setup->conf_path, name);
	char *path = NULL, *text = NULL;

	if (!folder)
		return 0;
	if (asprintf(&path, "%s/50_onespine", folder) < 0)
		path = NULL;
	free(folder);
	if (asprintf(&text, "#!/bin/sh\n" ADDED "exec " OSP_PLUGIN_DIR "/%s\n", name) < 0)
		text = NULL;
	return osp_plan_add(&setup->plan, OSP_CHANGE_CREATE, path, text, 0);
}

static int plan_scripts(struct setup *setup, const struct osp_doctor *doctor)
{
	const struct osp_doctor_gate *gate = &doctor->facts.gate;
	int result = 0;

	if (gate->on && !gate->prolog && osp_slurm_conf_find(doctor->conf, "Prolog"))
		result = plan_script(setup, "prolog");
	if (!result && gate->on && !gate->epilog && osp_slurm_conf_find(doctor->conf, "Epilog"))
		result = plan_script(setup, "epilog");
	return result;
}

/* Returns how onespine.yaml begins: with a gate, and with the capacity reservations into which
 * ParallelCluster launches nodes, a line each. NULL when memory ran out. */
static char *begun_text(const struct setup *setup, const struct osp_doctor_facts *facts, bool gate)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_add(&text, !gate	     ? SETUP_BEGUN_WITHOUT
			    : setup->no_gate ? SETUP_BEGUN_OFF
					     : SETUP_BEGUN_LOG);
	if (facts->fleet_groups && *facts->fleet_groups)
		osp_text_add(&text, SETUP_BEGUN_FLEET);
	for (const char *at = facts->fleet_groups; at && *at; at += strspn(at, " ")) {
		int length = (int)strcspn(at, " ");

		osp_text_printf(&text, "    %.*s\n", length, at);
		at += length;
	}
	return osp_text_take(&text);
}

/*
 * Begins onespine.yaml if a gate is switched on for the first time, or --no-gate keeps it off, so
 * that no nodes are drained before people have seen what the gate would do; and with the capacity
 * reservations of ParallelCluster's nodes. If the file exists, or an earlier setup has switched the
 * gate on without it, the settings in force stay.
 */
static int plan_policy(struct setup *setup, const struct osp_doctor *doctor)
{
	const struct osp_change *begun = setup_find_change(&setup->old, OSP_CHANGE_BEGIN);
	const struct osp_doctor_gate *gate = &doctor->facts.gate;
	bool there = access(doctor->facts.config_path, F_OK) == 0;
	const char *fleet = doctor->facts.fleet_groups;
	bool begins = gate->on && !gate->prolog;

	if (setup->no_gate && gate->on && there)
		return osp_error_set(&setup->error,
				     "--no-gate: %s is there, so say it in it: defaults: {gate: "
				     "{depth: off}}; nothing was changed",
				     doctor->facts.config_path);
	if (begun)
		return osp_plan_add(&setup->plan, OSP_CHANGE_BEGIN, strdup(begun->path),
				    strdup(begun->text), 0);
	if (!setup->head || (!begins && (!fleet || !*fleet)) || setup->old.count || there)
		return 0;
	return osp_plan_add(&setup->plan, OSP_CHANGE_BEGIN, strdup(doctor->facts.config_path),
			    begun_text(setup, &doctor->facts, begins), 0);
}

/* Adds onespine.yaml, for nodes that get slurm.conf from slurmctld. */
static void add_policy(const struct osp_overlays *overlays, const struct osp_doctor *doctor,
		       struct osp_text *text)
{
	struct osp_error ignored = {.text = ""};
	size_t bytes = 0;
	char *yaml;

	if (!is_configless(doctor) || !doctor->facts.config_exists || doctor->facts.config_error)
		return;
	yaml = osp_read_overlaid(overlays, doctor->facts.config_path, OSP_CONFIG_FILE_BYTES_MAX,
				 &bytes, &ignored);
	if (!yaml)
		return;
	osp_text_add(text, "# onespine.yaml, for nodes that slurmctld sends this file to:\n");
	osp_node_policy_hide(yaml, bytes, text);
	free(yaml);
}

static int plan_slurm_conf(struct setup *setup, const struct osp_doctor *doctor,
			   const struct osp_doctor_findings *findings)
{
	char *piece = osp_doctor_piece(findings);
	struct osp_text policy = OSP_TEXT_INIT;
	char *text = NULL;

	if (setup->head)
		add_policy(&setup->before, doctor, &policy);
	if (piece && !*piece && !policy.length_bytes) {
		free(piece);
		return 0;
	}
	if (piece && !policy.failed &&
	    asprintf(&text,
		     "# What Onespine needs in slurm.conf; made by onespine setup, which writes it "
		     "anew\n# where needed. Not for your own lines.\n%s%s",
		     piece, policy.data ? policy.data : "") < 0)
		text = NULL;
	free(piece);
	osp_text_free(&policy);
	if (osp_plan_add(&setup->plan, OSP_CHANGE_CREATE,
			 osp_path_beside(setup->conf_path, OSP_PIECE_NAME), text, 0) < 0)
		return -1;
	return add_to(setup, strdup(setup->conf_path), "include " OSP_PIECE_NAME);
}

/* Plans the changes that follow from the findings. */
static int plan_changes(struct setup *setup, const struct osp_doctor *doctor,
			const struct osp_doctor_findings *findings)
{
	int result = plan_plugstack(setup, doctor);

	if (result == 0)
		result = plan_scripts(setup, doctor);
	if (result == 0)
		result = plan_slurm_conf(setup, doctor, findings);
	return result;
}

/* Lays the beginning of onespine.yaml over the files, so that the rest is judged with it. */
static void lay_policy_over(struct setup *setup)
{
	const struct osp_change *begun = setup_find_change(&setup->plan, OSP_CHANGE_BEGIN);
	char *text = begun && access(begun->path, F_OK) < 0 ? strdup(begun->text) : NULL;

	if (text)
		setup->before.items[setup->before.count++] =
			(struct osp_overlay){begun->path, text};
}

/* Plans what should be done, from the files as they are without us. */
static int compose(struct setup *setup)
{
	struct osp_doctor_question question = {
		.conf_path = setup->conf_path,
		.overlays = &setup->before,
		.controller = setup->head,
		.node = !setup->head,
		.makes_key = setup->head && !setup->undo,
	};
	struct osp_doctor_findings findings = OSP_DOCTOR_FINDINGS_INIT;
	struct osp_doctor doctor;
	int result = 0;

	osp_doctor_gather(&question, &doctor);
	if (doctor.conf) {
		setup->plan.head = setup->head;
		result = plan_policy(setup, &doctor);
		lay_policy_over(setup);
		osp_doctor_free(&doctor);
		osp_doctor_gather(&question, &doctor);
	}
	if (!doctor.conf) {
		setup->error = doctor.conf_error;
		result = -1;
	} else {
		if (result == 0)
			result = osp_doctor_judge(&doctor.facts, &findings);
		if (result == 0)
			result = plan_changes(setup, &doctor, &findings);
		if (result < 0 && !*setup->error.text)
			osp_error_set(&setup->error, "out of memory");
	}
	osp_doctor_findings_free(&findings);
	osp_doctor_free(&doctor);
	return result;
}

static bool is_recorded(const struct setup *setup, const char *path)
{
	for (size_t i = 0; i < setup->old.count; i++)
		if (setup->old.changes[i].kind == OSP_CHANGE_CREATE &&
		    strcmp(setup->old.changes[i].path, path) == 0)
			return true;
	return false;
}

/* Refuses a file that somebody else made, which must not be overwritten, or removed by an undo. */
static int check_new(struct setup *setup)
{
	struct stat status;

	for (size_t i = 0; i < setup->plan.count; i++) {
		const struct osp_change *change = &setup->plan.changes[i];

		if (change->kind == OSP_CHANGE_CREATE && !is_recorded(setup, change->path) &&
		    lstat(change->path, &status) == 0)
			return osp_error_at(&setup->error, change->path, 0, 0,
					    "is there already, and onespine setup did not write "
					    "it: move it away first; nothing was changed");
	}
	return 0;
}

/* Judges the files as they will be. */
static int look_ahead(struct setup *setup)
{
	struct osp_doctor_question question = {
		.conf_path = setup->conf_path,
		.overlays = &setup->after,
		.controller = setup->head,
		.node = !setup->head,
		.makes_key = setup->head && !setup->undo,
	};

	if (osp_plan_without(&setup->old, &setup->after, &setup->error) < 0 ||
	    osp_plan_with(&setup->plan, &setup->before, &setup->after, &setup->error) < 0)
		return -1;
	osp_doctor_gather(&question, &setup->doctor);
	if (osp_doctor_judge(&setup->doctor.facts, &setup->findings) < 0)
		return osp_error_set(&setup->error, "out of memory");
	return 0;
}

/* --- doing ------------------------------------------------------------------------------------ */

static const char *done_words(const struct setup *setup)
{
	return setup->undo ? (setup->dry_run ? "would remove" : "removed")
			   : (setup->dry_run ? "would write" : "wrote");
}

static int change_unit(struct setup *setup)
{
	int done;

	if (!setup->head || !setup->unit_path ||
	    (!setup->undo && !osp_takes_part(&setup->doctor.facts, OSP_PART_PLACEMENT)))
		return 0;
	done = osp_unit_file(setup->unit_path, setup->undo, setup->dry_run, &setup->error);
	if (done > 0)
		setup->unit = done_words(setup);
	return done < 0 ? -1 : 0;
}

/* Changes logrotate's file, on each host that may run slurmd. */
static int change_rotation(struct setup *setup)
{
	int done;

	if (setup->call->values[OSP_OPTION_LOGIN] || !setup->rotation_path)
		return 0;
	done = osp_rotation_file(setup->rotation_path, setup->undo, setup->dry_run, &setup->error);
	if (done > 0)
		setup->rotation = done_words(setup);
	return done < 0 ? -1 : 0;
}

/* Makes the gate's keys if it needs some (lib/gate/secrets.h). They stay when all else is taken
 * back: other keys than those on the nodes would be worth nothing. */
static int make_key(struct setup *setup)
{
	const struct osp_doctor_facts *facts = &setup->doctor.facts;
	struct osp_secrets secrets = {.count = 0};
	int rc = 0;

	if (!setup->head || !facts->gate.on || !facts->gate_key_file || !facts->gate_key_missing)
		return 0;
	setup->key = done_words(setup);
	if (!setup->dry_run)
		rc = osp_secrets_add_new(&secrets, NULL, &setup->error) ||
				     osp_secrets_save(facts->gate_key_file, &secrets, &setup->error)
			     ? -1
			     : 0;
	osp_secrets_forget(&secrets);
	return rc;
}

static int run_undo(struct setup *setup)
{
	/* The drop-in is removed first and added last: without our lines it keeps slurmctld from
	 * starting. */
	const struct osp_change *begun = setup_find_change(&setup->old, OSP_CHANGE_BEGIN);

	setup->kept = begun && setup_edited(begun);
	if (osp_plan_unedited(&setup->old, &setup->error) < 0 || change_unit(setup) < 0 ||
	    change_rotation(setup) < 0)
		return osp_say_error(&setup->error);
	if (!setup->dry_run && osp_plan_undo(&setup->old, setup->record_path, &setup->error) < 0)
		return osp_say_error(&setup->error);
	return setup_report(setup, &setup->old, false, OSP_EXIT_YES);
}

/* Reads Slurm's files again after they are written. */
static int check_written(struct setup *setup)
{
	struct osp_slurm_conf *conf = osp_load_slurm_conf(setup->conf_path, NULL, &setup->error);
	struct osp_error ignored = {.text = ""};

	osp_slurm_conf_free(conf);
	if (conf && osp_plan_holds(&setup->plan))
		return 0;
	osp_error_set(&setup->error, "%s is not as it was written; all was taken back",
		      setup->conf_path);
	(void)osp_plan_undo(&setup->plan, setup->record_path, &ignored);
	return -1;
}

static int make_changes(struct setup *setup)
{
	if (setup->old.count && osp_plan_undo(&setup->old, setup->record_path, &setup->error) < 0)
		return -1;
	if (!setup->plan.count)
		return 0;
	if (osp_plan_make(&setup->plan, setup->record_path, setup->conf_path, &setup->error) < 0)
		return -1;
	return check_written(setup);
}

static int run_setup(struct setup *setup)
{
	static const struct osp_plan nothing;
	bool done, blocked;
	int status;

	/* The host of slurmctld has done it for all hosts that share its files. */
	if (!setup->head && setup->old.head)
		setup->plan = setup->old;
	else if (!setup->fetched && (compose(setup) < 0 || check_new(setup) < 0))
		return osp_say_error(&setup->error);
	if (look_ahead(setup) < 0)
		return osp_say_error(&setup->error);
	blocked = must_not_change(&setup->findings);
	done = osp_plans_equal(&setup->old, &setup->plan) && osp_plan_holds(&setup->old);
	status = osp_doctor_count(&setup->findings, OSP_DOCTOR_WRONG) ? OSP_EXIT_NO : OSP_EXIT_YES;
	if (blocked)
		return setup_report(setup, &nothing, true, OSP_EXIT_NO);
	if ((!done && !setup->dry_run && make_changes(setup) < 0) || change_unit(setup) < 0 ||
	    change_rotation(setup) < 0 || make_key(setup) < 0)
		return osp_say_error(&setup->error);
	return setup_report(setup, done ? &nothing : &setup->plan, false, status);
}

/* --- the command ------------------------------------------------------------------------------ */

static int check_options(const struct osp_call *call, struct osp_error *error)
{
	int roles = !!call->values[OSP_OPTION_HEAD] + !!call->values[OSP_OPTION_NODE] +
		    !!call->values[OSP_OPTION_LOGIN];

	if (roles != 1)
		return osp_error_set(error,
				     "onespine setup needs one of --head, --node and --login");
	return 0;
}

/*
 * Locks the folder, so that one setup runs at a time. A user who may not write there changes
 * nothing, and the first write says so.
 */
static int lock_folder(struct setup *setup)
{
	char *folder = osp_path_beside(setup->conf_path, ".");
	int error;

	setup->folder = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	free(folder);
	if (setup->folder < 0)
		return osp_error_at(&setup->error, setup->conf_path, 0, 0, "its folder: %s",
				    strerror(errno));
	if (setup->dry_run)
		return 0;
	error = osp_own_lock(setup->folder, LOCK_FILE, 0, &setup->lock);
	if (error == EWOULDBLOCK)
		return osp_error_at(&setup->error, setup->conf_path, 0, 0,
				    "another onespine setup is at work");
	if (error && error != EACCES && error != EROFS)
		return osp_error_at(
			&setup->error, setup->conf_path, 0, 0, "its folder: " LOCK_FILE ": %s",
			error == EPERM ? "it is not this user's own file" : strerror(error));
	return 0;
}

static int open_setup(struct setup *setup)
{
	const char *units = setup->call->values[OSP_OPTION_UNITS];

	if (check_options(setup->call, &setup->error) < 0)
		return -1;
	setup->conf_path = osp_find_slurm_conf(&setup->error);
	if (!setup->conf_path)
		return -1;
	setup->record_path = osp_record_path(setup->conf_path);
	if (!setup->record_path)
		return osp_error_set(&setup->error, "out of memory");
	setup->fetched = osp_slurm_conf_fetched(setup->conf_path);
	setup->unit_path = osp_unit_path(units);
	setup->rotation_path = osp_rotation_path(setup->call->values[OSP_OPTION_LOGROTATE]);
	if (lock_folder(setup) < 0 ||
	    osp_plan_load(setup->record_path, &setup->old, &setup->error) < 0)
		return -1;
	return osp_plan_without(&setup->old, &setup->before, &setup->error);
}

static void close_setup(struct setup *setup)
{
	if (!setup->head && setup->old.head)
		setup->plan = (struct osp_plan){.count = 0};
	osp_own_lock_end(setup->folder, LOCK_FILE, setup->lock);
	if (setup->folder >= 0)
		close(setup->folder);
	osp_doctor_findings_free(&setup->findings);
	osp_doctor_free(&setup->doctor);
	osp_overlays_free(&setup->before);
	osp_overlays_free(&setup->after);
	osp_plan_free(&setup->old);
	osp_plan_free(&setup->plan);
	free(setup->conf_path);
	free(setup->record_path);
	free(setup->unit_path);
	free(setup->rotation_path);
}

int osp_run_setup(const struct osp_call *call)
{
	struct setup setup = {
		.call = call,
		.head = call->values[OSP_OPTION_HEAD],
		.dry_run = call->values[OSP_OPTION_DRY_RUN],
		.undo = call->values[OSP_OPTION_UNDO],
		.no_gate = call->values[OSP_OPTION_NO_GATE],
		.folder = -1,
		.lock = -1,
	};
	int status;

	if (open_setup(&setup) < 0)
		status = osp_say_error(&setup.error);
	else
		status = setup.undo ? run_undo(&setup) : run_setup(&setup);
	close_setup(&setup);
	return status;
}
