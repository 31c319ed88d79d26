/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_node.c - rules about environment and binding, whose absence fails no job and so goes
 * unnoticed */
#include "onespine_config.h"
#include "lib/base/text.h"
#include "lib/doctor/doctor_private.h"

void osp_rule_node_part(struct osp_diagnosis *diagnosis)
{
	const char *why = diagnosis->facts->node_part_error;

	if (!why)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "steps on this host get no environment and no binding: %s", why);
	osp_cure(diagnosis, "install what is missing, or Onespine again");
}

void osp_rule_site_rules(struct osp_diagnosis *diagnosis)
{
	const struct osp_error *error = diagnosis->facts->rules_error;
	char words[sizeof(struct osp_error) + 32];

	if (!error)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "rules and node types are refused, so no job gets our settings: %s",
		 osp_error_format(error, words, sizeof(words)));
	osp_cure(diagnosis, "put it right; onespine env reads it again");
}

/* Warns if nothing confines a job to its part of a node, because its cores are then unknown
 * (spank/binding.c). */
void osp_rule_confined(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const char *plugins = osp_slurm_conf_value(facts->conf, "TaskPlugin", "task/none");
	bool cgroup = osp_setting_has(diagnosis, "TaskPlugin", "task/cgroup") ||
		      osp_setting_has(diagnosis, "TaskPlugin", "cgroup");

	if (!facts->binds || facts->lacks & OSP_PART_ENVIRONMENT ||
	    (cgroup && facts->cores_confined) ||
	    osp_setting_has(diagnosis, "TaskPlugin", "task/affinity") ||
	    osp_setting_has(diagnosis, "TaskPlugin", "affinity"))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "TaskPlugin is %s%s: a job that shares a node is not bound, as nothing says which "
		 "cores are its own",
		 plugins, cgroup ? ", and cgroup.conf has no ConstrainCores=yes" : "");
	osp_cure_setting(diagnosis, "TaskPlugin", "task/affinity,task/cgroup");
}

/* The gate accepts a message only from a port below this (gate/gate_peer.c). */
#define ROOTS_PORTS 1024

void osp_rule_free_ports(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->first_free_port_known || facts->first_free_port >= ROOTS_PORTS)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "net.ipv4.ip_unprivileged_port_start is %u: users can send from ports below %d, "
		 "which the gate takes for root's; a MUNGE credential of root is still checked "
		 "before "
		 "them",
		 facts->first_free_port, ROOTS_PORTS);
	osp_cure(diagnosis,
		 "sysctl -w net.ipv4.ip_unprivileged_port_start=%d, and in /etc/sysctl.d",
		 ROOTS_PORTS);
}

/* Warns if users can write to the kernel's log; check/base/kmsg.h says how such records look. */
void osp_rule_forged_log(struct osp_diagnosis *diagnosis)
{
	if (!diagnosis->facts->users_netfilter_logged)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "net.netfilter.nf_log_all_netns is 1: users' netfilter rules, in network "
		 "namespaces of their own, write to the kernel's log; no record that looks like "
		 "theirs counts as an XID, also that of a program which calls itself so");
	osp_cure(diagnosis, "sysctl -w net.netfilter.nf_log_all_netns=0, and in /etc/sysctl.d");
}

void osp_rule_hangs(struct osp_diagnosis *diagnosis)
{
	if (!diagnosis->facts->hangs_unknowable)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "neither /proc/pressure nor kernel.task_delayacct is there to read: a driver that "
		 "hangs cannot be distinguished from a check that others keep waiting, so a hang "
		 "drains no node");
	osp_cure(diagnosis, "boot with psi=1, or sysctl -w kernel.task_delayacct=1, and in "
			    "/etc/sysctl.d");
}

void osp_rule_rechecks_left(struct osp_diagnosis *diagnosis)
{
	uint32_t count = diagnosis->facts->rechecks_left;
	const char *nodes = diagnosis->facts->running.trials;

	if (nodes) {
		osp_find(diagnosis, OSP_DOCTOR_WRONG,
			 "slurmctld has reservations of rechecks that have ended, and no job gets "
			 "these nodes: %s",
			 nodes);
		osp_cure(diagnosis, "onespine recheck takes them over, and checks the nodes anew");
	}
	if (!count)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WRONG,
		 "a recheck that was killed has left %u node%s inside reservations of root's",
		 count, osp_plural_s(count));
	osp_cure(diagnosis, "onespine recheck takes over what is left");
}

/* Warns about GPUs that start late; from then on no check counts that as an error of its own
 * (check/base/gpu_starts.h). */
void osp_rule_gpu_start(struct osp_diagnosis *diagnosis)
{
	const char *gpus = diagnosis->facts->late_gpus;

	if (!gpus)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "%s did not start within the time of a check, three times or more since this host "
		 "booted",
		 gpus);
	osp_cure(diagnosis, "start nvidia-persistenced at boot, or nvidia-smi -pm 1, so that the "
			    "driver keeps the GPUs awake; if persistence is on, reboot");
}
