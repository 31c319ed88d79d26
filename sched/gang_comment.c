/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gang_comment.c - a gang's request as AdminComment says it */
#include "sched/gang_comment.h"

#include <stdio.h>
#include <string.h>

#include "lib/policy/note.h"

const char *osp_gang_comment(const struct osp_effective *effective, char *buffer,
			     size_t buffer_bytes)
{
	struct osp_request request = {.asked = OSP_GANG_OPTION_ON, .relax_s = effective->relax_s};
	char words[OSP_REQUEST_BYTES];

	memcpy(request.level, effective->level, sizeof(request.level));
	request.domains_max = effective->domains_max;
	memcpy(request.segments, effective->segments, sizeof(request.segments));
	memcpy(request.layout, effective->layout, sizeof(request.layout));
	memcpy(request.keep, effective->keep, sizeof(request.keep));
	memcpy(request.prefer, effective->prefer, sizeof(request.prefer));
	snprintf(buffer, buffer_bytes, "%s%s",
		 effective->mode == OSP_MODE_ADVISE ? OSP_NOTE_ADVISE : "",
		 osp_request_format(&request, words, sizeof(words)));
	return buffer;
}
