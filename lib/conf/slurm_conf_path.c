/* SPDX-License-Identifier: GPL-2.0-or-later */
/* slurm_conf_path.c - where slurm.conf is on a host if SLURM_CONF is not set */
#include "lib/conf/slurm_conf_path.h"

#include <unistd.h>

const char *osp_slurm_conf_candidate(size_t index)
{
	static const char *const paths[] = {
		"/etc/slurm/slurm.conf",
		"/etc/slurm-llnl/slurm.conf",
		"/opt/slurm/etc/slurm.conf",
		"/usr/local/etc/slurm.conf",
		"/run/slurm/conf/slurm.conf",
		"/var/spool/slurmd/conf-cache/slurm.conf",
		"/var/spool/slurm/conf-cache/slurm.conf",
		"/var/lib/slurm/slurmd/conf-cache/slurm.conf",
	};

	return index < sizeof(paths) / sizeof(paths[0]) ? paths[index] : NULL;
}

const char *osp_slurm_conf_first(void)
{
	const char *path;
	size_t i = 0;

	while ((path = osp_slurm_conf_candidate(i++)) && access(path, F_OK) < 0)
		;
	return path;
}
