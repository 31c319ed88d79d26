/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * textfile.h - the last run as Prometheus reads it, for node_exporter's textfile collector
 *
 * One thread.
 */
#ifndef OSP_TEXTFILE_H
#define OSP_TEXTFILE_H

#include "host/record/history_line.h"

/* Writes FOLDER/onespine.prom anew by renaming, if only root may write there. A child process does
 * it, and is waited for at most `deadline_ms`. Returns -1 with `error` set if that fails. */
int osp_textfile_save(const char *folder, const struct osp_history_entry *entry,
		      unsigned int deadline_ms, struct osp_error *error);

#endif
