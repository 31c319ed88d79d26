/* SPDX-License-Identifier: GPL-2.0-or-later */
/* source.c - the table of sources */
#include "host/source/source.h"

#include <string.h>

static const struct osp_source sources[] = {
#ifdef OSP_HAVE_CLOUD
	{"ec2", osp_source_ec2, NULL, false},
#else
	{"ec2", NULL, "curl and expat", false},
#endif
	{"infiniband", osp_source_infiniband, NULL, false},
	{"nvlink", osp_source_nvlink, NULL, false},
	{"topograph", osp_source_topograph, NULL, true},
};

#define COUNT (sizeof(sources) / sizeof(sources[0]))

const struct osp_source *osp_source_find(const char *name, struct osp_error *error)
{
	const char *names[COUNT], *nearest;

	for (size_t i = 0; i < COUNT; i++) {
		names[i] = sources[i].name;
		if (strcmp(name, names[i]) != 0)
			continue;
		if (sources[i].ask)
			return &sources[i];
		osp_error_set(error, "--from=%s: this build was configured without %s", name,
			      sources[i].needs);
		return NULL;
	}
	nearest = osp_nearest_word(name, names, COUNT);
	osp_error_set(error, "--from=%.40s: not one of ec2,infiniband,nvlink,topograph%s%s%s", name,
		      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
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
