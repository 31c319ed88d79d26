/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_words.h - the words of --from and watch.from: which sources a watch asks
 *
 * "ec2", "infiniband,nvlink", "ec2,topograph:/etc/slurm/topograph.yaml". Any thread: no shared
 * state.
 */
#ifndef OSP_SOURCE_WORDS_H
#define OSP_SOURCE_WORDS_H

#include <stddef.h>

#include "lib/base/error.h"

#define OSP_SOURCES_MAX	      4
#define OSP_SOURCE_FILE_BYTES 256

struct osp_source_words {
	const char *names[OSP_SOURCES_MAX]; /* static strings */
	/* what each reads; "" if it reads no file */
	char files[OSP_SOURCES_MAX][OSP_SOURCE_FILE_BYTES];
	size_t count;
};

/*
 * Reads names separated by commas, of which topograph has its file. Refuses a name that is none
 * (with the nearest one), a file that is missing, or given to a source that reads none, or no
 * whole path, a source that is there twice, and nvlink beside more than one other. Whether a build
 * has a source is not asked. Returns 0, or -1 with `error` set, which begins with the wrong word.
 */
int osp_source_words_read(const char *text, struct osp_source_words *words,
			  struct osp_error *error);

#endif
