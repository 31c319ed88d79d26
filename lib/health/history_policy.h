/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * history_policy.h - the section `history:` of onespine.yaml: the history of checks
 *
 *	history:
 *	  folder: /var/lib/onespine/history  # on the node; off: nothing is kept there
 *	  shared: off		# a folder that all nodes mount: nodes get replaced
 *	  file_mib: 16		# of one file; a full one is set aside
 *	  files: 4		# how many of these are kept
 *	  textfile: off		# the folder of node_exporter's textfile collector
 *	  slurm_extra: true	# the last verdict in the node's Extra field
 *	  strikes: 3		# this many make a lemon
 *	  strike_days: 30	# within so many days
 *
 * Folders are whole paths. Every key has a default. Any thread.
 */
#ifndef OSP_HISTORY_POLICY_H
#define OSP_HISTORY_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/document.h"
#include "lib/base/error.h"

enum osp_history_key {
	OSP_HISTORY_KEY_FOLDER,
	OSP_HISTORY_KEY_SHARED,
	OSP_HISTORY_KEY_FILE_MIB,
	OSP_HISTORY_KEY_FILES,
	OSP_HISTORY_KEY_TEXTFILE,
	OSP_HISTORY_KEY_SLURM_EXTRA,
	OSP_HISTORY_KEY_STRIKES,
	OSP_HISTORY_KEY_STRIKE_DAYS,
	OSP_HISTORY_KEY_COUNT
};

extern const char *const osp_history_keys[OSP_HISTORY_KEY_COUNT];

struct osp_history_policy {
	const char *folder;   /* NULL: off */
	const char *shared;   /* NULL: off */
	const char *textfile; /* NULL: off */
	uint32_t file_mib;
	uint32_t files;
	bool slurm_extra;
	uint32_t strikes;
	uint32_t strike_days;
};

/* Sets the built-in values. */
void osp_history_policy_default(struct osp_history_policy *policy);

/* Overrides `policy` with the values of `map`, and sets the line of each given key in `lines`.
 * Strings belong to the document. Returns 0, or -1 with `error` set. */
int osp_history_policy_read(const struct osp_document *document, const struct osp_value *map,
			    struct osp_history_policy *policy, int lines[OSP_HISTORY_KEY_COUNT],
			    struct osp_error *error);

/* Returns the value of one key in words, as in the file; `buffer` holds numbers. */
const char *osp_history_policy_word(const struct osp_history_policy *policy,
				    enum osp_history_key key, char *buffer, size_t buffer_bytes);

/* Returns whether its value is a word (quoted in JSON) and no number or flag. */
bool osp_history_key_is_word(enum osp_history_key key);

#endif
