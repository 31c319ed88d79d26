/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor.h - the facts that `onespine doctor` and `onespine setup` judge, gathered on this host
 *
 * One thread.
 */
#ifndef OSP_TOOLS_DOCTOR_H
#define OSP_TOOLS_DOCTOR_H

#include <stdbool.h>

#include "lib/doctor/doctor.h"
#include "lib/policy/config.h"
#include "host/slurm/slurm_files.h"

struct osp_doctor_question {
	const char *conf_path;
	const struct osp_overlays *overlays; /* NULL: none */
	bool controller;		     /* true: whether or not this host is a SlurmctldHost */
	bool node;			     /* true: whether or not this host is a node */
	bool before_start;
	bool ask;	/* a running slurmctld */
	bool makes_key; /* the gate's keys, if there is no such file, are about to be made */
};

/* Facts, and what they point at. */
struct osp_doctor {
	struct osp_doctor_facts facts;
	struct osp_slurm_conf *conf;
	struct osp_config *config;
	struct osp_error conf_error, config_error, topology_error, rules_error, thresholds_error;
	struct osp_plugin_folder *folders;
	struct osp_trusted_file *trusted;
	struct osp_unread_file unread[16];
	struct osp_error unknown_names[8];
	char *taken;	   /* lines on plugins that were replaced before the start; NULL: none */
	char *strings[64]; /* to be freed */
	size_t string_count;
};

/* Always succeeds; what cannot be found out stays unknown. */
void osp_doctor_gather(const struct osp_doctor_question *question, struct osp_doctor *doctor);
void osp_doctor_free(struct osp_doctor *doctor);

/* Keeps a malloc'd string until osp_doctor_free(); "" when memory ran out. */
const char *osp_doctor_keep(struct osp_doctor *doctor, char *string);

/* Finds what is there and does not reach those who need it: files that they may not read, a plugin
 * that cannot be loaded, rules that are refused, files that slurmctld has not taken. */
void osp_doctor_gather_reach(const struct osp_doctor_question *question, struct osp_doctor *doctor);

/* Finds nodes that nobody wakes: those of State=CLOUD that may be powered down, with no
 * place that stays, in partitions whose policy makes gangs of jobs and launches nothing for them.
 * Needs facts.node_count. */
void osp_doctor_gather_dynamic(struct osp_doctor *doctor, const struct osp_topology *topology);

/* Finds into which capacity reservations ParallelCluster launches nodes, in one line, and what
 * onespine.yaml says of that. `root` comes before each path. */
void osp_doctor_gather_fleet(struct osp_doctor *doctor, const char *root);

/* Looks at the munged of this host, if Slurm uses it. Runs munged, and zcat or rpm for the
 * changelog of its package. */
void osp_doctor_gather_munge(struct osp_doctor *doctor);

/* Asks the slurmctld in force, in a process of its own: libslurm ends the one that it is in where
 * slurm.conf is wrong. `cluster`: osp_cluster_folder()'s; `topology_path`: of the topology in
 * force, NULL: not compared. Strings are to be freed. */
void osp_doctor_ask(const char *conf_path, const char *cluster, const char *topology_path,
		    struct osp_running *running);

#endif
