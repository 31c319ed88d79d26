/* SPDX-License-Identifier: GPL-2.0-or-later */
/* empty.c - a SPANK plugin that does nothing: what Slurm takes for any */
#include <slurm/spank.h>

#pragma GCC visibility push(default)

SPANK_PLUGIN(empty, 1)

spank_f slurm_spank_init;

#pragma GCC visibility pop

int slurm_spank_init(spank_t spank, int count, char **arguments)
{
	(void)spank;
	(void)count;
	(void)arguments;
	return 0;
}
