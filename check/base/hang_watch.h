/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hang_watch.h - what may have kept a child from answering (lib/health/hang.h judges)
 *
 * Inside check/ only. One thread.
 */
#ifndef OSP_HANG_WATCH_H
#define OSP_HANG_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/health/hang.h"

/* The waits of a process, and the node's pressure, at the start of a try. */
struct osp_hang_start {
	unsigned int waited_ms;
	unsigned int delayed_ms;
	bool delay_known;
	uint64_t io_us;
	uint64_t memory_us;
	bool pressure_known;
};

/* Reads the start of a try: the pressure below `root`, and the waits of `child`. */
struct osp_hang_start osp_hang_begin(const char *root, pid_t child);

/* Adds what has grown since `start`, while the child still exists. The `first` try also sets which
 * signs are known. */
void osp_hang_add(const char *root, pid_t child, const struct osp_hang_start *start, bool first,
		  struct osp_hang_signs *signs);

/* Returns whether this host reports pressure or delays at all, so that a hang can be judged. */
bool osp_hang_can_be_judged(const char *root);

/* Writes why the hang says nothing about the node, with what is known of it; "" for OSP_HANG_STUCK.
 * `value` is a word for it. */
void osp_hang_words(enum osp_hang hang, const struct osp_hang_signs *signs, const char **value,
		    char *why, size_t why_bytes);

#endif
