/* SPDX-License-Identifier: GPL-2.0-or-later */
/* thresholds_file.c - the limits in force: the built-in ones, and the site's own file over them */
#include "host/record/thresholds_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/files.h"

/* Returns the path of the site's own file, or NULL if it has none. */
static const char *site_file(const char *root, char *path, size_t path_bytes)
{
	snprintf(path, path_bytes, "%s%s/thresholds.yaml", root, OSP_SITE_DIR);
	return access(path, F_OK) == 0 ? path : NULL;
}

static int add_file(struct osp_thresholds *thresholds, const char *path, const char *const *names,
		    struct osp_error *error)
{
	size_t length;
	char *text = osp_read_input(path, OSP_THRESHOLDS_FILE_BYTES_MAX, &length, error);
	int state;

	if (!text)
		return -1;
	state = osp_thresholds_add(thresholds, osp_input_name(path), text, length, names,
				   osp_check_count, error);
	free(text);
	return state;
}

struct osp_thresholds *osp_thresholds_in_force(const char *path, const char *root,
					       struct osp_error *error)
{
	struct osp_thresholds *thresholds = osp_thresholds_new();
	const char *names[OSP_CHECK_NAMES_MAX];
	char site[4096];
	int state;

	if (!thresholds)
		return NULL;
	osp_check_names(names);
	state = osp_thresholds_add(thresholds, "thresholds.yaml (built in)", osp_thresholds_builtin,
				   strlen(osp_thresholds_builtin), names, osp_check_count, error);
	if (!path)
		path = site_file(root, site, sizeof(site));
	if (!state && path)
		state = add_file(thresholds, path, names, error);
	if (state) {
		osp_thresholds_free(thresholds);
		return NULL;
	}
	return thresholds;
}

int osp_thresholds_hash_in_force(const char *root, uint64_t *hash, struct osp_error *error)
{
	char site[4096], *text;
	const char *path = site_file(root, site, sizeof(site));
	size_t length;

	*hash = osp_thresholds_hash_text(0, osp_thresholds_builtin, strlen(osp_thresholds_builtin));
	if (!path)
		return 0;
	text = osp_read_input(path, OSP_THRESHOLDS_FILE_BYTES_MAX, &length, error);
	if (!text)
		return -1;
	*hash = osp_thresholds_hash_text(*hash, text, length);
	free(text);
	return 0;
}
