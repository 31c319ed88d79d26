/* SPDX-License-Identifier: GPL-2.0-or-later */
/* hang.c - distinguishes a check that is stuck from one that is kept from its work */
#include "lib/health/hang.h"

#define PARDONED_PART 5 /* of the limit */

enum osp_hang osp_hang_judge(const struct osp_hang_signs *signs, unsigned int limit_ms)
{
	unsigned int most_ms = limit_ms / PARDONED_PART;

	if (signs->waited_ms > most_ms)
		return OSP_HANG_STARVED;
	if (signs->pressure_known && (signs->io_ms > most_ms || signs->memory_ms > most_ms))
		return OSP_HANG_PRESSED;
	if (signs->delay_known && signs->delayed_ms > most_ms)
		return OSP_HANG_PRESSED;
	return signs->pressure_known || signs->delay_known ? OSP_HANG_STUCK : OSP_HANG_UNKNOWN;
}
