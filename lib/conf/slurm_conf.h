/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_conf.h - slurm.conf with the files that it includes, as Slurm reads it
 *
 * Keys in any case, comments, joined lines, quotes and "Include FILE" (relative to the file that
 * says it; %c is ClusterName) as in Slurm's parse_config.c. Every line is kept, in order, with its
 * place; no key is judged. Where Slurm would refuse the file, so does this.
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
	bool starts_line; /* the word that Slurm knows the line by */
};

/* One file that was read. */
struct osp_slurm_file {
	const char *path;
	const char *name;    /* as its Include line says it; the path itself for the first */
	const char *said_in; /* the file with the Include line; NULL for the first */
	int said_line;
};

struct osp_slurm_conf;

/* Returns a malloc'd, terminated text, or NULL with `error` set. */
typedef char *osp_slurm_read_f(void *context, const char *path, size_t *text_bytes,
			       struct osp_error *error);

/*
 * Reads `path` and what it includes through `read`. NULL with `error` set where a file cannot be
 * read, a line is none, files include each other in a circle, or memory ran out.
 */
struct osp_slurm_conf *osp_slurm_conf_read(const char *path, osp_slurm_read_f *read, void *context,
					   struct osp_error *error);
void osp_slurm_conf_free(struct osp_slurm_conf *conf); /* NULL is allowed */

/* The last line that starts with `key` (any case), which is the one that counts where Slurm takes
 * one; NULL if there is none. */
const struct osp_slurm_word *osp_slurm_conf_find(const struct osp_slurm_conf *conf,
						 const char *key);

/* The value of osp_slurm_conf_find(), or `otherwise`. */
const char *osp_slurm_conf_value(const struct osp_slurm_conf *conf, const char *key,
				 const char *otherwise);

/* The same as a number; `otherwise` too where the value is none. INFINITE and UNLIMITED are
 * UINT32_MAX. */
uint32_t osp_slurm_conf_number(const struct osp_slurm_conf *conf, const char *key,
			       uint32_t otherwise);

/* All words, in order. */
const struct osp_slurm_word *osp_slurm_conf_words(const struct osp_slurm_conf *conf, size_t *count);

/* Another word of the line that `word` starts, as Nodes of PartitionName; NULL. */
const char *osp_slurm_conf_of_line(const struct osp_slurm_conf *conf,
				   const struct osp_slurm_word *word, const char *key);

/*
 * Where a node is: NodeAddr of the line that names it, else NodeHostname, else its name. NULL if no
 * line names it, or one that is no list of as many addresses as names. Valid until the next call
 * with this `buffer`.
 */
const char *osp_slurm_conf_address(const struct osp_slurm_conf *conf, const char *node,
				   char *buffer, size_t buffer_bytes);

const struct osp_slurm_file *osp_slurm_conf_files(const struct osp_slurm_conf *conf, size_t *count);

/*
 * Whether the comma-separated `list` (NULL: empty) has `word` (any case). With `value` (may be
 * NULL) "word=VALUE" counts too, and VALUE, cut at `value_bytes`, is written there.
 */
bool osp_slurm_list_has(const char *list, const char *word, char *value, size_t value_bytes);

#endif
