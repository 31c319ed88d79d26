/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_node.c - rules about environment and binding, which fail no job and so would be missed by none */
#include "onespine_config.h"
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

/* spank/binding.c: where nothing confines a job to its part of a node, its cores are not known. */
void osp_rule_confined(struct osp_diagnosis *diagnosis)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;
	const char *plugins = osp_slurm_conf_value(facts->conf, "TaskPlugin", "task/none");
	bool cgroup = osp_setting_has(diagnosis, "TaskPlugin", "task/cgroup") ||
		      osp_setting_has(diagnosis, "TaskPlugin", "cgroup");

	if (!facts->binds || (cgroup && facts->cores_confined) ||
	    osp_setting_has(diagnosis, "TaskPlugin", "task/affinity") ||
	    osp_setting_has(diagnosis, "TaskPlugin", "affinity"))
		return;
	osp_find(diagnosis, OSP_DOCTOR_WARNING,
		 "TaskPlugin is %s%s: a job that shares a node is not bound, as nothing says which "
		 "cores are its own",
		 plugins, cgroup ? ", and cgroup.conf has no ConstrainCores=yes" : "");
	osp_cure_setting(diagnosis, "TaskPlugin", "task/affinity,task/cgroup");
}
