/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - the table of sources */
#include "host/source/source.h"

#include <string.h>

static const struct osp_source sources[] = {
#ifdef OSP_HAVE_CLOUD
	{"ec2", osp_source_ec2, NULL},
#else
	{"ec2", NULL, "curl and expat"},
#endif
	{"infiniband", osp_source_infiniband, NULL},
	{"nvlink", osp_source_nvlink, NULL},
	{"topograph", osp_source_topograph, NULL},
};

#define COUNT (sizeof(sources) / sizeof(sources[0]))

const struct osp_source *osp_source_find(const char *name)
{
	for (size_t i = 0; i < COUNT; i++) {
		if (!strcmp(name, sources[i].name))
			return &sources[i];
	}
	return NULL;
}

void osp_source_answer_clear(struct osp_source_answer *answer)
{
	osp_topology_free(answer->topology);
	osp_text_free(&answer->warnings);
	osp_text_free(&answer->kept);
	memset(answer, 0, sizeof(*answer));
}

int osp_source_finish(struct osp_import *import, struct osp_source_answer *answer,
		      struct osp_error *error)
{
	answer->topology = osp_import_finish(import, error);
	for (size_t i = 0; i < osp_import_warning_count(import); i++)
		osp_text_printf(&answer->warnings, "%s\n", osp_import_warning(import, i));
	return answer->topology ? 0 : -1;
}
