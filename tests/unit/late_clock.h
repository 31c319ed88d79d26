/* SPDX-License-Identifier: GPL-2.0-or-later */
/* late_clock.h - time() as late as a test wants it, in a program that is linked with --wrap=time */
#ifndef OSP_TESTS_LATE_CLOCK_H
#define OSP_TESTS_LATE_CLOCK_H

#include <time.h>

static time_t late_s; /* how much later it is */

time_t __real_time(time_t *now);
time_t __wrap_time(time_t *now);

time_t __wrap_time(time_t *now)
{
	time_t later = __real_time(NULL) + late_s;

	if (now)
		*now = later;
	return later;
}

#endif
