/* SPDX-License-Identifier: GPL-2.0-or-later */
/* doctor_parts.c - the parts of Onespine that a site may take each alone, by their packages */
#include "onespine_config.h"
#include "lib/doctor/doctor_private.h"

#include <string.h>
#include <strings.h>

#include "lib/base/text.h"

enum hosts { SLURMCTLDS = 1, NODES = 2, OTHERS = 4, ANY = SLURMCTLDS | NODES | OTHERS };

static const struct {
	enum osp_part part;
	const char *package;
	const char *without; /* on a host that lacks it */
	unsigned int hosts;  /* where it has something to do */
} parts[] = {
	{OSP_PART_PLACEMENT, "onespine-placement", "gangs are not placed", SLURMCTLDS},
	{OSP_PART_SPANK, "onespine-spank", "sbatch, salloc and srun do not know --gang", ANY},
	{OSP_PART_GATE, "onespine-gate", "nodes are not checked before a job", SLURMCTLDS | NODES},
	{OSP_PART_ENVIRONMENT, "onespine-environment", "steps get no environment and no binding",
	 NODES},
};

#define PART_COUNT (sizeof(parts) / sizeof(parts[0]))

static bool names_placement(const struct osp_doctor_facts *facts)
{
	const char *list = osp_slurm_conf_value(facts->conf, "JobSubmitPlugins", NULL);

	if (osp_slurm_list_has(list, "onespine", NULL, 0) ||
	    osp_slurm_list_has(list, "job_submit/onespine", NULL, 0))
		return true;
	for (size_t i = 0; i < facts->folder_count; i++)
		if (strcmp(facts->folders[i].path, facts->shadow_dir) == 0 ||
		    strcmp(facts->folders[i].path, facts->plugin_dir) == 0)
			return true;
	return false;
}

bool osp_takes_part(const struct osp_doctor_facts *facts, enum osp_part part)
{
	if (!(facts->lacks & part))
		return true;
	switch (part) {
	case OSP_PART_PLACEMENT:
		return names_placement(facts);
	case OSP_PART_SPANK:
		return facts->spank.named;
	case OSP_PART_GATE:
		return facts->gate.prolog || facts->gate.epilog;
	case OSP_PART_ENVIRONMENT:
		break; /* nothing names it */
	}
	return false;
}

bool osp_cure_lacking(struct osp_diagnosis *diagnosis, enum osp_part part)
{
	const struct osp_doctor_facts *facts = diagnosis->facts;

	if (!(facts->lacks & part))
		return false;
	for (size_t i = 0; i < PART_COUNT; i++)
		if (parts[i].part == part)
			osp_cure(diagnosis, "install the package %s on this host",
				 parts[i].package);
	return true;
}

char *osp_doctor_lacking(const struct osp_doctor_facts *facts)
{
	unsigned int hosts = (facts->controller ? SLURMCTLDS : 0) | (facts->node ? NODES : 0);
	struct osp_text text = OSP_TEXT_INIT;

	osp_text_add(&text, "");
	for (size_t i = 0; i < PART_COUNT; i++) {
		if (!(facts->lacks & parts[i].part) || !(parts[i].hosts & (hosts ? hosts : OTHERS)))
			continue;
		if (osp_takes_part(facts, parts[i].part))
			continue; /* a finding says what is named but is not here */
		osp_text_printf(&text, "%s%s (%s)", text.length_bytes ? ", " : "", parts[i].package,
				parts[i].without);
	}
	return osp_text_take(&text);
}
