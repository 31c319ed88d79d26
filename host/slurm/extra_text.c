/* SPDX-License-Identifier: GPL-2.0-or-later */
/* extra_text.c - reads and writes the text of a node's Extra field */
#include "host/slurm/extra_text.h"

#include <string.h>

#include "lib/topology/place_age.h"

int osp_extra_merge(const char *extra, const char *key, json_t *mine, char **merged,
		    struct osp_error *error)
{
	json_t *all = extra && *extra ? json_loads(extra, 0, NULL) : json_object();
	int state = 1;

	if (!json_is_object(all)) {
		json_decref(all);
		return osp_error_set(error, "Extra holds something that is no JSON object; it is "
					    "left alone");
	}
	if (json_equal(json_object_get(all, key), mine)) {
		state = 0;
	} else {
		json_object_set(all, key, mine);
		*merged = json_dumps(all, JSON_COMPACT);
		if (!*merged)
			state = osp_error_set(error, "out of memory");
	}
	json_decref(all);
	return state;
}

const char *osp_extra_instance(const char *extra, int64_t boot_s, char *buffer, size_t buffer_bytes)
{
	json_t *all = extra && *extra ? json_loads(extra, 0, NULL) : NULL;
	const json_t *reported = json_object_get(all, OSP_EXTRA_INSTANCE_KEY);
	const char *id = json_string_value(json_object_get(reported, "id"));
	int64_t reported_s = json_integer_value(json_object_get(reported, "boot"));
	bool holds = id && *id && strlen(id) < buffer_bytes && osp_boot_is_same(reported_s, boot_s);

	if (holds)
		strcpy(buffer, id);
	json_decref(all);
	return holds ? buffer : NULL;
}
