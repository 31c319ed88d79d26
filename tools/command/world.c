/* SPDX-License-Identifier: GPL-2.0-or-later */
/* world.c - what a command looks at: --state, --topology and --free, or else Slurm */
#include "tools/command/world.h"

#include "lib/policy/sentences.h"

static int open_world(const struct osp_call *call, bool may_lack, struct osp_world *world,
		      struct osp_error *error)
{
	const struct osp_world_files files = {
		.state = call->values[OSP_OPTION_STATE],
		.topology = call->values[OSP_OPTION_TOPOLOGY],
		.free_list = call->values[OSP_OPTION_FREE],
		.may_lack_topology = may_lack,
	};

	return osp_world_open(&files, world, error);
}

int osp_call_world(const struct osp_call *call, struct osp_world *world, struct osp_error *error)
{
	return open_world(call, false, world, error);
}

int osp_call_world_without_topology(const struct osp_call *call, struct osp_world *world,
				    struct osp_error *error)
{
	return open_world(call, true, world, error);
}

void osp_report_old_places(const struct osp_world *world, struct osp_text *text, json_t *root)
{
	char words[OSP_SENTENCE_BYTES];

	if (!world->old_places)
		return;
	if (text)
		osp_text_printf(text, "%s\n",
				osp_sentence_old_places(world->old_places, words, sizeof(words)));
	if (root)
		json_object_set_new(root, "old_places", json_integer(world->old_places));
}
