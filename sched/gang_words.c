/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sched/gang_words.h"

#include <stdio.h>
#include <string.h>

const char *osp_gang_words(const struct osp_effective *effective, char *buffer, size_t buffer_bytes)
{
	struct osp_request request = {.asked = OSP_ASKED_GANG, .relax_s = effective->relax_s};
	char words[OSP_GANG_WORDS_BYTES];

	memcpy(request.level, effective->level, sizeof(request.level));
	snprintf(buffer, buffer_bytes, "%s%s", effective->mode == OSP_MODE_ADVISE ? "advise " : "",
		 osp_request_format(&request, words, sizeof(words)));
	return buffer;
}
