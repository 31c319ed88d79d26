/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor_private.h - what the files of the doctor's rules share
 *
 * For the .c files of lib/doctor only.
 */
#ifndef OSP_DOCTOR_PRIVATE_H
#define OSP_DOCTOR_PRIVATE_H

#include "lib/doctor/doctor.h"

/* The state while rules are judged: `rule_*` add their findings. */
struct osp_diagnosis {
	const struct osp_doctor_facts *facts;
	struct osp_doctor_findings *findings;
	const char *rule;
};

typedef void osp_rule_f(struct osp_diagnosis *diagnosis);

/* Adds a finding; one of the calls below sets its cure. */
void osp_find(struct osp_diagnosis *diagnosis, enum osp_doctor_finding_level level,
	      const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Sets the cure of the finding just added, in words. */
void osp_cure(struct osp_diagnosis *diagnosis, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Sets the cure to "KEY=VALUE" in slurm.conf: a line of its own if there is none, else a change of
 * the existing line. */
void osp_cure_setting(struct osp_diagnosis *diagnosis, const char *key, const char *value);

/* Does the same so that KEY's comma-separated list also has `word`. */
void osp_cure_list(struct osp_diagnosis *diagnosis, const char *key, const char *word);

/* Sets the cure to the installation of the part's package if this host lacks it. Returns false if
 * it does not. */
bool osp_cure_lacking(struct osp_diagnosis *diagnosis, enum osp_part part);

/* Writes "22.05.8" to `buffer`, which it returns. */
#define OSP_SLURM_VERSION_BYTES 32
const char *osp_slurm_version_words(uint32_t version, char *buffer);

/* Returns whether a comma-separated setting of slurm.conf has the word. */
bool osp_setting_has(const struct osp_diagnosis *diagnosis, const char *key, const char *word);

/* doctor_plugins.c */
osp_rule_f osp_rule_folders;
osp_rule_f osp_rule_plugin_dir;
osp_rule_f osp_rule_shadow_version;
osp_rule_f osp_rule_select_type;
osp_rule_f osp_rule_job_submit;
osp_rule_f osp_rule_without_match;
osp_rule_f osp_rule_spank;
osp_rule_f osp_rule_trusted;
osp_rule_f osp_rule_readable;
/* doctor_cluster.c */
osp_rule_f osp_rule_configless;
osp_rule_f osp_rule_config;
osp_rule_f osp_rule_topology;
osp_rule_f osp_rule_obeyed;
osp_rule_f osp_rule_places;
osp_rule_f osp_rule_report_key;
osp_rule_f osp_rule_asleep;
osp_rule_f osp_rule_backup;
osp_rule_f osp_rule_node_rank;
osp_rule_f osp_rule_backfill;
osp_rule_f osp_rule_munge;
osp_rule_f osp_rule_munge_key;
osp_rule_f osp_rule_gate_key;
osp_rule_f osp_rule_running;
/* doctor_node.c */
osp_rule_f osp_rule_free_ports;
osp_rule_f osp_rule_forged_log;
osp_rule_f osp_rule_hangs;
osp_rule_f osp_rule_rechecks_left;
osp_rule_f osp_rule_node_part;
osp_rule_f osp_rule_site_rules;
osp_rule_f osp_rule_confined;
osp_rule_f osp_rule_gpu_start;
/* doctor_gate.c */
osp_rule_f osp_rule_gate_config;
osp_rule_f osp_rule_prolog;
osp_rule_f osp_rule_prolog_flags;
osp_rule_f osp_rule_prolog_time;
osp_rule_f osp_rule_prolog_hold;
osp_rule_f osp_rule_requeue_delay;
osp_rule_f osp_rule_spares;
/* doctor_clustermgtd.c */
osp_rule_f osp_rule_clustermgtd;
/* doctor_cloud.c */
osp_rule_f osp_rule_cloud_calls;
osp_rule_f osp_rule_cloud_nodes;
osp_rule_f osp_rule_cloud_efa;
osp_rule_f osp_rule_cloud_zones;
osp_rule_f osp_rule_cloud_placement;
osp_rule_f osp_rule_cloud_reservations;
osp_rule_f osp_rule_cloud_storage;

#endif
