/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place_age.c - whether a node is still where its source said */
#include "lib/topology/place_age.h"

#include <stddef.h>
#include <string.h>

static bool is_within(int64_t a_s, int64_t b_s, int64_t slack_s)
{
	return a_s > b_s ? a_s - b_s <= slack_s : b_s - a_s <= slack_s;
}

bool osp_boot_is_same(int64_t a_s, int64_t b_s)
{
	return a_s == b_s || (a_s > 0 && b_s > 0 && is_within(a_s, b_s, OSP_BOOT_SLACK_S));
}

int64_t osp_boot_steady(int64_t noted_s, int64_t boot_s)
{
	return noted_s > 0 && boot_s > 0 && is_within(noted_s, boot_s, OSP_BOOT_SLACK_S / 2)
		       ? noted_s
		       : boot_s;
}

bool osp_source_is_cloud(const char *source)
{
	static const char *const clouds[] = {"ec2"};

	for (size_t i = 0; i < sizeof(clouds) / sizeof(clouds[0]); i++) {
		if (!strcmp(source, clouds[i]))
			return true;
	}
	return false;
}

/* Returns whether a node's own report is a part of what the source reported: "nvlink",
 * "infiniband+nvlink". */
static bool is_reported(const char *source)
{
	const char *own = strrchr(source, '+');

	return !strcmp(own ? own + 1 : source, "nvlink");
}

bool osp_place_ages(const struct osp_node_note *note)
{
	return note && (osp_source_is_cloud(note->source) ||
			!strcmp(note->source, OSP_SOURCE_RESERVATION) ||
			(note->boot_s > 0 &&
			 (!strcmp(note->source, "topograph") || is_reported(note->source))));
}

bool osp_file_knows_boot(int64_t written_s, int64_t boot_s)
{
	return boot_s > 0 && written_s > boot_s;
}

int64_t osp_place_boot_s(const struct osp_node_note *note)
{
	if (note && !strcmp(note->source, OSP_SOURCE_RESERVATION))
		return OSP_BOOT_UNLAUNCHED;
	return note && note->boot_s > 0 && osp_place_ages(note) ? note->boot_s : 0;
}

enum osp_place_age osp_place_age(int64_t place_boot_s, int64_t boot_s, bool runs)
{
	if (!place_boot_s || (!runs && place_boot_s == OSP_BOOT_UNLAUNCHED))
		return OSP_PLACE_HOLDS;
	if (!runs)
		return OSP_PLACE_ASLEEP;
	if (boot_s <= 0)
		return OSP_PLACE_NO_BOOT;
	return osp_boot_is_same(place_boot_s, boot_s) ? OSP_PLACE_HOLDS : OSP_PLACE_REBOOTED;
}

const char *osp_place_age_words(enum osp_place_age age)
{
	static const char *const words[] = {
		[OSP_PLACE_HOLDS] = "holds",
		[OSP_PLACE_ASLEEP] = "does not run",
		[OSP_PLACE_NO_BOOT] = "has not registered",
		[OSP_PLACE_REBOOTED] = "rebooted",
	};

	return words[age];
}
