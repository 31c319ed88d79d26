/* SPDX-License-Identifier: GPL-2.0-or-later */
/* in_control.c - which of several slurmctlds is in control */
#include "lib/topology/in_control.h"

#include <string.h>

/* Compares as Slurm finds its own host (slurmctld/controller.c): by the whole name, or by the
 * part before the first dot. */
static bool is_here(const char *name, const char *host)
{
	size_t length = strcspn(host, ".");

	return name &&
	       (!strcmp(name, host) || (strlen(name) == length && !strncmp(name, host, length)));
}

enum osp_control osp_in_control(const char *const *names, uint32_t count, const char *host,
				osp_answers_f *answers, void *context, uint32_t *other)
{
	uint32_t own = 0;

	while (own < count && !is_here(names[own], host))
		own++;
	if (count < 2 || own == count)
		return OSP_CONTROL_HERE;
	for (uint32_t i = 0; i < own; i++) {
		if (!answers(i, context))
			continue;
		*other = i;
		return OSP_CONTROL_OTHER;
	}
	return answers(own, context) ? OSP_CONTROL_HERE : OSP_CONTROL_SILENT;
}
