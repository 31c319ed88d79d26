/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_clustermgtd.c - rules about nodes that ParallelCluster's clustermgtd ends
 * (lib/conf/clustermgtd.h) */
#include "lib/doctor/doctor_private.h"

#include "lib/conf/clustermgtd.h"

/* SuspendExcStates came with 23.02 (slurm.conf(5)); before, Slurm powers any idle node down. */
#define SUSPEND_EXC_STATES_SINCE 0x170200

static void check_without(struct osp_diagnosis *diagnosis)
{
	if (!diagnosis->facts->gate.quarantine)
		return;
	if (osp_has_clustermgtd(diagnosis->facts->conf)) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "gates keep nodes in quarantine instead of draining them, though "
			 "clustermgtd ends no drained node here (terminate_drain_nodes)");
		osp_cure(diagnosis, "leave gate: quarantine out of %s",
			 diagnosis->facts->config_path);
		return;
	}
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "%s has gate: quarantine, which does nothing here: nobody ends drained nodes",
		 diagnosis->facts->config_path);
	osp_cure(diagnosis, "leave it out; a node that failed is drained, and stays so");
}

/* Reports files that are lost with a node that is ended. */
static void check_evidence(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_gate *gate = &diagnosis->facts->gate;

	if (!gate->evidence_local && gate->history_shared)
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "clustermgtd ends the instance of a drained node, and %s with it",
		 gate->evidence_local && !gate->history_shared ? "its evidence and history go"
		 : gate->evidence_local			       ? "its evidence goes"
							       : "its history goes");
	osp_cure(diagnosis,
		 "set gate: evidence and history: shared in %s to folders of root's that "
		 "all nodes mount",
		 diagnosis->facts->config_path);
}

/* Checks that something lets nodes go: also those that an earlier policy put into quarantine. */
static void check_recheck(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const char *kept = facts->running.quarantined;

	if (facts->recheck_enabled && !facts->gate.quarantine && !kept) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "onespine-recheck.timer has nothing to do: clustermgtd ends the instance "
			 "of a drained node before it could be checked again");
		osp_cure(diagnosis, "systemctl disable --now onespine-recheck.timer");
	}
	if (!facts->recheck_enabled && facts->controller && (facts->gate.quarantine || kept)) {
		osp_find(diagnosis, OSP_DOCTOR_WARNING,
			 "nodes stay in quarantine after their %u hours%s%s: "
			 "onespine-recheck.timer, "
			 "which lets them go, is not enabled",
			 facts->gate.quarantine_h, kept ? ", now " : "", kept ? kept : "");
		osp_cure(diagnosis, "systemctl enable --now onespine-recheck.timer");
	}
}

/* Reports that Slurm powers a dynamic node down that was idle for SuspendTime, reserved or not. */
static void check_suspend(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!facts->gate.quarantine || !facts->dynamic_node ||
	    osp_setting_has(diagnosis, "SuspendExcStates", "RESERVED"))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "a dynamic node in quarantine, like %s, is powered down after SuspendTime",
		 facts->dynamic_node);
	if (facts->slurm >= SUSPEND_EXC_STATES_SINCE)
		osp_cure(diagnosis, "SuspendExcStates=RESERVED in CustomSlurmSettings");
	else
		osp_cure(diagnosis, "Slurm can except reserved nodes from 23.02 on; before, only "
				    "static nodes stay in quarantine");
}

void osp_rule_clustermgtd(struct osp_diagnosis *diagnosis)
{
	if (!diagnosis->facts->ends_drained) {
		check_without(diagnosis);
		return;
	}
	check_evidence(diagnosis);
	check_recheck(diagnosis);
	check_suspend(diagnosis);
}
