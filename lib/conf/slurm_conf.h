/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_conf.h - slurm.conf with the files that it includes, as Slurm reads it
 *
 * Keys in any case, comments, joined lines, quotes and "Include FILE" (relative to the file with
 * that line; %c is ClusterName) as in Slurm's parse_config.c. Every line is kept, in order, with
 * its place; no key is judged. A file that Slurm would refuse is refused here too.
 *
 * Any thread; reads no file itself.
 */
#ifndef OSP_SLURM_CONF_H
#define OSP_SLURM_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_SLURM_CONF_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define OSP_SLURM_CONF_FILES_MAX 256

/* One Key=Value. Strings live as long as the configuration. */
struct osp_slurm_word {
	const char *key;   /* as written */
	const char *value; /* without quotes */
	const char *file;
	int line;
	bool starts_line; /* the first word of its line, by which Slurm knows the line */
};

/* One file that was read. */
struct osp_slurm_file {
	const char *path;
	const char *name;    /* as in its Include line; the path itself for the first */
	const char *said_in; /* the file with the Include line; NULL for the first */
	int said_line;
};

struct osp_slurm_conf;

/* Reads a file. Returns a malloc'd, terminated text, or NULL with `error` set. */
typedef char *osp_slurm_read_f(void *context, const char *path, size_t *text_bytes,
			       struct osp_error *error);

/*
 * Reads `path` and the files that it includes through `read`. Returns NULL with `error` set if a
 * file cannot be read, a line is not valid, files include each other in a circle, or memory ran
 * out.
 */
struct osp_slurm_conf *osp_slurm_conf_read(const char *path, osp_slurm_read_f *read, void *context,
					   struct osp_error *error);
void osp_slurm_conf_free(struct osp_slurm_conf *conf); /* NULL is allowed */

/*
 * Returns the last line that starts with `key` (any case), which is the one that counts if Slurm
 * takes one; NULL if there is none.
 */
const struct osp_slurm_word *osp_slurm_conf_find(const struct osp_slurm_conf *conf,
						 const char *key);

/* Returns the value of osp_slurm_conf_find(), or `otherwise`. */
const char *osp_slurm_conf_value(const struct osp_slurm_conf *conf, const char *key,
				 const char *otherwise);

/*
 * Returns the value as a number; `otherwise` also if the value is no number. INFINITE and UNLIMITED
 * are UINT32_MAX.
 */
uint32_t osp_slurm_conf_number(const struct osp_slurm_conf *conf, const char *key,
			       uint32_t otherwise);

/* Returns all words, in order. */
const struct osp_slurm_word *osp_slurm_conf_words(const struct osp_slurm_conf *conf, size_t *count);

/*
 * Returns the value of another word of the line that `word` starts, such as Nodes of PartitionName;
 * NULL if there is none.
 */
const char *osp_slurm_conf_of_line(const struct osp_slurm_conf *conf,
				   const struct osp_slurm_word *word, const char *key);

/*
 * Returns the same of a NodeName line, or else what the last NodeName=DEFAULT line before it says.
 */
const char *osp_slurm_conf_of_node_line(const struct osp_slurm_conf *conf,
					const struct osp_slurm_word *word, const char *key);

/*
 * Returns the address of a node: NodeAddr of the line that names it, else NodeHostname, else its
 * name. Returns NULL if no line names it, or if that list has fewer addresses than names. Valid
 * until the next call with this `buffer`.
 */
const char *osp_slurm_conf_address(const struct osp_slurm_conf *conf, const char *node,
				   char *buffer, size_t buffer_bytes);

/*
 * Returns the value of `key` in the line that names the node, else in the last line of DEFAULT
 * before that; NULL if neither has it. `unknown` if no line names the node.
 */
const char *osp_slurm_conf_of_node(const struct osp_slurm_conf *conf, const char *node,
				   const char *key, const char *unknown);

const struct osp_slurm_file *osp_slurm_conf_files(const struct osp_slurm_conf *conf, size_t *count);

/*
 * Returns whether the comma-separated `list` (NULL: empty) has `word` (any case). With `value` (may
 * be NULL) "word=VALUE" counts too, and VALUE, cut at `value_bytes`, is written there.
 */
bool osp_slurm_list_has(const char *list, const char *word, char *value, size_t value_bytes);

#endif
