/* SPDX-License-Identifier: GPL-2.0-or-later */
/* in_control_here.c - whether the slurmctld of this host is in control */
#include "onespine_config.h"
#include "host/slurm/in_control_here.h"

#include <errno.h>
#include <limits.h>
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/slurm/cluster_state.h"
#include "host/slurm_compat.h"
#include "lib/topology/in_control.h"

/* Returns whether that slurmctld answers; one that stands by does too. */
static bool answers(uint32_t index, void *unused)
{
	(void)unused;
	return slurm_ping((int)index) == SLURM_SUCCESS;
}

static int judge(const slurm_conf_t *conf, const char *host, char other[OSP_CONTROLLER_HOST_BYTES],
		 struct osp_error *error)
{
	uint32_t index = 0;

	switch (osp_in_control((const char *const *)conf->control_machine, conf->control_cnt, host,
			       answers, NULL, &index)) {
	case OSP_CONTROL_OTHER:
		snprintf(other, OSP_CONTROLLER_HOST_BYTES, "%s", conf->control_machine[index]);
		return 0;
	case OSP_CONTROL_SILENT:
		return osp_error_set(error, "the slurmctld of this host does not answer");
	case OSP_CONTROL_HERE:
		break;
	}
	return 0;
}

int osp_in_control_here(char other[OSP_CONTROLLER_HOST_BYTES], struct osp_error *error)
{
	char host[HOST_NAME_MAX + 1] = "";
	slurm_conf_t *conf = NULL;
	int rc;

	*other = '\0';
	if (!osp_slurm_configured())
		return 0;
	osp_slurm_begin();
	errno = 0;
	if (slurm_load_ctl_conf(0, &conf) != SLURM_SUCCESS)
		return osp_error_set(error, "slurmctld does not report its configuration: %s",
				     slurm_strerror(errno));
	gethostname(host, sizeof(host) - 1);
	rc = judge(conf, host, other, error);
	OSP_SLURM_CONF_FREE(conf);
	return rc;
}
