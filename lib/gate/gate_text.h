/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gate_text.h - the texts that people read about a gate: its progress and its findings
 *
 * srun's standard error, AdminComment and `onespine why` have the same texts. Any thread, any
 * daemon: no shared state.
 */
#ifndef OSP_GATE_TEXT_H
#define OSP_GATE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gate/gate.h"

#define OSP_GATE_WORDS_BYTES 480

/* Starts of a job that its gates have stopped. */
struct osp_gate_stops {
	uint32_t all;
	uint32_t slow; /* of these, starts in which slowness had a part */
};

/*
 * Writes "checking 64 nodes: 61 passed, 2 running, 1 failed (gpu-17: gpu3 ecc 12 uncorrectable > 0;
 * replace)". Reports with rank OSP_GATE_NOBODY have not arrived yet. Returns `buffer`.
 */
const char *osp_gate_progress(const struct osp_gate_gang *gang,
			      const struct osp_gate_report *reports, char *buffer,
			      size_t buffer_bytes);

/*
 * Writes the piece "gate=" of AdminComment: "stopped 2 starts, 1 slow; of 4 nodes, 1 failed; ...",
 * without counts that are 0. Returns `buffer`.
 */
const char *osp_gate_note(const struct osp_gate_stops *stops, const char *says, char *buffer,
			  size_t buffer_bytes);

/* Reads those counts from the piece; returns 0 for anything else, NULL included. */
struct osp_gate_stops osp_gate_stopped(const char *note);

#endif
