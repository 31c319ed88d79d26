/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fresh.h - says whether an earlier pass of this node still holds
 *
 * A node that has passed need not be checked again before each job. A pass holds while nothing has
 * happened that could make it wrong: the node was not booted since, its driver, its GPUs and the
 * rules are the same, the kernel logged no XID, no counter of hardware errors grew, and the pass is
 * no older than policy allows. Anything that cannot be found out makes it stale: the price is one
 * more check.
 *
 * Ages count by the clock since boot, which nobody sets. A lost record of the kernel might have
 * been an XID, so a pass does not outlive one (a program that floods the log gains nothing).
 *
 * Any thread, any daemon: no shared state; only functions that say so allocate.
 */
#ifndef OSP_FRESH_H
#define OSP_FRESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"

enum osp_depth { OSP_DEPTH_PASSIVE, OSP_DEPTH_QUICK, OSP_DEPTH_FULL };
#define OSP_DEPTH_COUNT 3
extern const char *const osp_depth_names[OSP_DEPTH_COUNT];
const char *osp_depth_name(enum osp_depth depth); /* "quick" */

#define OSP_COUNTER_SUBJECT_BYTES 64
#define OSP_COUNTER_NAME_BYTES	  32
#define OSP_STATE_GPUS_MAX	  64
#define OSP_STATE_COUNTERS_MAX	  4096
#define OSP_UUID_BYTES		  64
#define OSP_PASS_FILE_BYTES_MAX	  ((size_t)1024 * 1024)
#define OSP_WINDOW_S		  86400 /* counters are also kept as they were up to a day ago */

/* A number that only grows while the node is up. */
struct osp_counter {
	char subject[OSP_COUNTER_SUBJECT_BYTES]; /* a GPU's UUID, "mlx5_0:1", "neuron0" */
	char name[OSP_COUNTER_NAME_BYTES];	 /* "ecc_uncorrected", "link_downed" */
	bool fault; /* it counts faults of hardware: no pass outlives a new one */
	uint64_t value;
	uint64_t window; /* in a pass: the value at the start of the window; else unused */
};

/* The state of a node that a pass depends on. */
struct osp_node_state {
	int64_t time_s;	   /* wall clock, for people */
	uint64_t uptime_s; /* since boot, sleep included */
	char boot_id[40];  /* the kernel's; "" is unknown */
	char driver[OSP_UUID_BYTES];
	char rules[OSP_UUID_BYTES];		       /* version and thresholds of the judgement */
	char gpus[OSP_STATE_GPUS_MAX][OSP_UUID_BYTES]; /* UUIDs in the order of the PCI bus */
	unsigned int gpu_numbers[OSP_STATE_GPUS_MAX];  /* "gpu3" is 3; not kept with a pass */
	size_t gpu_count;
	bool whole;	    /* these are all GPUs of the node */
	bool log_known;	    /* the kernel's records could be read */
	uint64_t log_first; /* sequence number of the first remaining record */
	uint64_t log_next;  /* of the next record */
	uint64_t xids;	    /* of those left: sequence number of the last XID plus 1; 0: none */
	struct osp_counter *counters; /* in any order; owned */
	size_t counter_count;
};

struct osp_pass {
	enum osp_depth depth;
	struct osp_node_state state;
	uint64_t window_uptime_s; /* when the counters' windows began */
};

enum osp_freshness {
	OSP_FRESH,
	OSP_STALE_NONE,	 /* there is no pass */
	OSP_STALE_DEPTH, /* it was less deep than requested */
	OSP_STALE_BOOT,	 /* booted since, or the boot is unknown */
	OSP_STALE_DRIVER,
	OSP_STALE_RULES, /* other thresholds or another version of ours */
	OSP_STALE_GPUS,	 /* a requested GPU was not among those that passed */
	OSP_STALE_AGE,	 /* older than its time to live */
	OSP_STALE_XID,
	OSP_STALE_LOG,	   /* records of the kernel were lost, or cannot be read */
	OSP_STALE_COUNTER, /* a counter of faults grew, or cannot be read any more */
};

/*
 * Returns whether `pass` (NULL: none) holds for a node whose present state is `now`, if `depth` is
 * requested and a pass lives `live_s` seconds (0: no pass ever holds). `now->gpus` are the
 * requested GPUs: each must be among those that passed, and if they are the whole node, their
 * number must be the same. Counters of other GPUs do not count. `words` (may be NULL) gets the
 * reason why not, in a few words: "an XID since", "neuron0 mem_ecc_uncorrected 0 -> 2".
 */
enum osp_freshness osp_fresh(const struct osp_pass *pass, const struct osp_node_state *now,
			     enum osp_depth depth, uint64_t live_s, char *words,
			     size_t words_bytes);

/* --- states and counters ---------------------------------------------------------------------- */

void osp_node_state_clear(struct osp_node_state *state); /* frees and empties it */

/* Adds a counter (texts are cut to their fields). Returns false if memory ran out or there are too
 * many. */
bool osp_node_state_count(struct osp_node_state *state, const char *subject, const char *name,
			  uint64_t value, bool fault);

const struct osp_counter *osp_counter_find(const struct osp_node_state *state, const char *subject,
					   const char *name);

/*
 * Tells how much a counter has grown since the pass, and since its window began (either may be
 * NULL). Returns false if the pass has no such counter, or it was reset since.
 */
bool osp_counter_growth(const struct osp_pass *pass, const char *subject, const char *name,
			uint64_t value, uint64_t *since_pass, uint64_t *since_window);

/*
 * Makes the pass of a node that has just passed. `before` (or NULL) is its last one: its window
 * continues if it is of the same boot and younger than OSP_WINDOW_S. Takes over `state`, which is
 * empty afterwards.
 */
void osp_pass_make(struct osp_pass *pass, const struct osp_pass *before, enum osp_depth depth,
		   struct osp_node_state *state);
void osp_pass_clear(struct osp_pass *pass);

/* --- as a file -------------------------------------------------------------------------------- */

/* Writes JSON on lines of its own; marks `text` failed if memory runs out. */
void osp_pass_write(const struct osp_pass *pass, struct osp_text *text);

/* Reads a pass, strictly. Returns 0, or -1 with `error` set and `pass` empty. */
int osp_pass_read(const char *file, const char *text, size_t text_bytes, struct osp_pass *pass,
		  struct osp_error *error);

#endif
