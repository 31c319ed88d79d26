/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bind_cpus.c - CPU numbers as Linux lists them */
#include <ctype.h>

#include "lib/bind/bind_machine.h"

/* Reads a number of at most OSP_CPU_MOST. Returns -1 if there is none, -2 if it is larger. */
static int take_number(const char **at)
{
	int value = 0;

	if (!isdigit((unsigned char)**at))
		return -1;
	for (; isdigit((unsigned char)**at); (*at)++) {
		value = value * 10 + (**at - '0');
		if (value > OSP_CPU_MOST)
			return -2;
	}
	return value;
}

static int refuse(const char *list, const char *at, const char *what, struct osp_error *error)
{
	return osp_error_at(error, NULL, 0, (int)(at - list) + 1, "%s in a list of CPUs", what);
}

int osp_machine_parse_cpus(const char *list, hwloc_bitmap_t cpus, struct osp_error *error)
{
	const char *at = list;

	for (;;) {
		const char *start = at;
		int first = take_number(&at);
		int last = first;

		if (first >= 0 && *at == '-') {
			at++;
			last = take_number(&at);
		}
		if (first == -2 || last == -2)
			return refuse(list, start, "a number above 65535", error);
		if (first < 0 || last < 0)
			return refuse(list, at, "a number is missing", error);
		if (last < first)
			return refuse(list, start, "a range that runs backwards", error);
		if (hwloc_bitmap_set_range(cpus, (unsigned int)first, last))
			return osp_error_set(error, "out of memory");
		if (*at != ',')
			break;
		at++;
	}
	return *at ? refuse(list, at, "something that is no number, range or comma", error) : 0;
}
