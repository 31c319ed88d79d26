/* SPDX-License-Identifier: GPL-2.0-or-later */
/* history_policy.c - the section `history:` of onespine.yaml: the history of checks */
#include "lib/health/history_policy.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const osp_history_keys[OSP_HISTORY_KEY_COUNT] = {
	"folder",   "shared",	   "file_mib", "files",
	"textfile", "slurm_extra", "strikes",  "strike_days",
};

void osp_history_policy_default(struct osp_history_policy *policy)
{
	*policy = (struct osp_history_policy){
		.folder = "/var/lib/onespine/history",
		.file_mib = 16,
		.files = 4,
		.slurm_extra = true,
		.strikes = 3,
		.strike_days = 30,
	};
}

struct reading {
	const struct osp_document *document;
	struct osp_error *error;
};

static int take_number(const struct reading *reading, const struct osp_value *value, int64_t least,
		       int64_t most, uint32_t *to)
{
	int64_t number;

	if (osp_value_integer(reading->document, value, least, most, &number, reading->error))
		return -1;
	*to = (uint32_t)number;
	return 0;
}

/* Reads a whole path, or off. */
static int take_folder(const struct reading *reading, const struct osp_value *value,
		       const char **to)
{
	const char *path;

	if (osp_value_string(reading->document, value, &path, reading->error))
		return -1;
	if (!value->quoted && !strcasecmp(path, "off"))
		*to = NULL;
	else if (*path == '/')
		*to = path;
	else
		return osp_document_error(reading->document, value, reading->error,
					  "%s: off or a path that starts with / is expected, not "
					  "'%.40s'",
					  value->key, path);
	return 0;
}

static int take_key(const struct reading *reading, const struct osp_value *value,
		    enum osp_history_key key, struct osp_history_policy *policy)
{
	switch (key) {
	case OSP_HISTORY_KEY_FOLDER:
		return take_folder(reading, value, &policy->folder);
	case OSP_HISTORY_KEY_SHARED:
		return take_folder(reading, value, &policy->shared);
	case OSP_HISTORY_KEY_FILE_MIB:
		return take_number(reading, value, 1, 1024, &policy->file_mib);
	case OSP_HISTORY_KEY_FILES:
		return take_number(reading, value, 0, 100, &policy->files);
	case OSP_HISTORY_KEY_TEXTFILE:
		return take_folder(reading, value, &policy->textfile);
	case OSP_HISTORY_KEY_SLURM_EXTRA:
		return osp_value_bool(reading->document, value, &policy->slurm_extra,
				      reading->error);
	case OSP_HISTORY_KEY_STRIKES:
		return take_number(reading, value, 1, 1000, &policy->strikes);
	case OSP_HISTORY_KEY_STRIKE_DAYS:
		return take_number(reading, value, 1, 3650, &policy->strike_days);
	case OSP_HISTORY_KEY_COUNT:
		break;
	}
	return 0;
}

int osp_history_policy_read(const struct osp_document *document, const struct osp_value *map,
			    struct osp_history_policy *policy, int lines[OSP_HISTORY_KEY_COUNT],
			    struct osp_error *error)
{
	const struct reading reading = {document, error};

	if (osp_value_only_keys(document, map, osp_history_keys, OSP_HISTORY_KEY_COUNT, error))
		return -1;
	for (int key = 0; key < OSP_HISTORY_KEY_COUNT; key++) {
		const struct osp_value *value = osp_value_get(map, osp_history_keys[key]);

		if (!value)
			continue;
		if (take_key(&reading, value, (enum osp_history_key)key, policy))
			return -1;
		lines[key] = value->line;
	}
	return 0;
}

bool osp_history_key_is_word(enum osp_history_key key)
{
	return key == OSP_HISTORY_KEY_FOLDER || key == OSP_HISTORY_KEY_SHARED ||
	       key == OSP_HISTORY_KEY_TEXTFILE;
}

const char *osp_history_policy_word(const struct osp_history_policy *policy,
				    enum osp_history_key key, char *buffer, size_t buffer_bytes)
{
	const char *folder = key == OSP_HISTORY_KEY_FOLDER   ? policy->folder
			     : key == OSP_HISTORY_KEY_SHARED ? policy->shared
							     : policy->textfile;
	uint32_t number = key == OSP_HISTORY_KEY_FILE_MIB  ? policy->file_mib
			  : key == OSP_HISTORY_KEY_FILES   ? policy->files
			  : key == OSP_HISTORY_KEY_STRIKES ? policy->strikes
							   : policy->strike_days;

	if (osp_history_key_is_word(key))
		return folder ? folder : "off";
	if (key == OSP_HISTORY_KEY_SLURM_EXTRA)
		return policy->slurm_extra ? "true" : "false";
	snprintf(buffer, buffer_bytes, "%u", number);
	return buffer;
}
