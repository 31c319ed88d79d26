/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thresholds.h - what a healthy node may show, and how much a check counts
 *
 * etc/thresholds.yaml is built into the command; a site's own file says only what differs:
 *
 *	limits:                                   # of every node
 *	  temperature_c: {value: 90, source: "..."}
 *	models:                                   # by the first words of the GPU's name in NVML
 *	  NVIDIA H200:
 *	    nvlinks: {value: 18, source: "..."}
 *	  NVIDIA H100 80GB HBM3:
 *	    hbm_gbps: {value: 2400, unproven: true, source: "..."}
 *	nodes:                                    # by the machine's name (DMI product_name)
 *	  p5.48xlarge:
 *	    efa_devices: 32                       # short for {value: 32}
 *	checks:
 *	  all: comment                            # enforce | comment | log | off
 *	  clock: off
 *	  50-nhc: comment                       # a site's own, even if it does not exist
 *	unproven: warn                            # or fail: the effect of unproven limits
 *
 * The node's own limit overrides its model's (the longest name that fits), and that overrides the
 * limit of every node; in one place the file read last wins. Strict: an unknown word, a key given
 * twice, or a value that physics forbids refuses the whole file with line and column. A limit
 * without a source has the place in the file as its source.
 *
 * A limit is marked unproven if its measurement has never run on that hardware: a speed below it
 * only warns, unless the file says `unproven: fail`. A site that gives its own limit without the
 * mark has proven it.
 *
 * A table is filled by one thread, then only read. lib/ rules: no logging, any daemon.
 */
#ifndef OSP_THRESHOLDS_H
#define OSP_THRESHOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_THRESHOLDS_FILE_BYTES_MAX ((size_t)1024 * 1024)
#define OSP_CHECK_NAMES_MAX	      64
#define OSP_SITE_CHECKS_MAX	      32 /* a site's own */
#define OSP_SITE_CHECK_NAME_BYTES     32

enum osp_limit_id {
	OSP_LIMIT_BOOT_SETTLE_S,  /* how long after boot a missing part may still appear */
	OSP_LIMIT_FABRIC_GRACE_S, /* the same for the NVLink fabric */
	OSP_LIMIT_GPUS,
	OSP_LIMIT_ECC_UNCORRECTED, /* volatile: since the driver was loaded */
	OSP_LIMIT_ECC_CORRECTED,
	OSP_LIMIT_SRAM_UNCORRECTED, /* over the GPU's life */
	OSP_LIMIT_ROW_REMAPS,	    /* rows remapped for uncorrectable errors */
	OSP_LIMIT_RETIRED_PAGES,
	OSP_LIMIT_RETIRED_PAGES_WARN,
	OSP_LIMIT_TEMPERATURE_C,
	OSP_LIMIT_NVLINKS,
	OSP_LIMIT_NVLINK_CRC_PER_S,
	OSP_LIMIT_PCIE_GENERATION,
	OSP_LIMIT_PCIE_WIDTH,
	OSP_LIMIT_EFA_DEVICES,
	OSP_LIMIT_IB_PORTS,
	OSP_LIMIT_IB_RATE_GBPS,
	OSP_LIMIT_NEURON_DEVICES,
	OSP_LIMIT_CORES,
	OSP_LIMIT_NUMA_NODES,
	OSP_LIMIT_MEMORY_GIB,
	OSP_LIMIT_OPEN_FILES,
	OSP_LIMIT_FREE_PERCENT,
	OSP_LIMIT_MOUNT_ANSWER_MS,
	OSP_LIMIT_CLOCK_ERROR_MS,
	OSP_LIMIT_NVLINK_MBPS, /* of one link, one way, in MB/s */
	OSP_LIMIT_IB_FLAPS,    /* links going down in a day */
	OSP_LIMIT_LOCAL_DISKS,
	OSP_LIMIT_HUGE_PAGES,
	/* how far below the median of its peers a GPU warns, each followed by how far below it
	 * fails; 0: not compared (lib/health/speed.h) */
	OSP_LIMIT_HBM_BEHIND_PERCENT,
	OSP_LIMIT_HBM_FAR_BEHIND_PERCENT,
	OSP_LIMIT_COMPUTE_BEHIND_PERCENT,
	OSP_LIMIT_COMPUTE_FAR_BEHIND_PERCENT,
	OSP_LIMIT_HOST_COPY_BEHIND_PERCENT,
	OSP_LIMIT_HOST_COPY_FAR_BEHIND_PERCENT,
	OSP_LIMIT_PEER_BEHIND_PERCENT,
	OSP_LIMIT_PEER_FAR_BEHIND_PERCENT,
	/* speeds that a model must reach, each followed by what its hardware cannot exceed */
	OSP_LIMIT_HBM_GBPS,
	OSP_LIMIT_HBM_PEAK_GBPS,
	OSP_LIMIT_HOST_COPY_GBPS,
	OSP_LIMIT_HOST_COPY_PEAK_GBPS,
	OSP_LIMIT_PEER_GBPS,
	OSP_LIMIT_PEER_PEAK_GBPS,
	OSP_LIMIT_BF16_TFLOPS,
	OSP_LIMIT_BF16_PEAK_TFLOPS,
	OSP_LIMIT_ALL_REDUCE_GBPS,
	OSP_LIMIT_ALL_REDUCE_PEAK_GBPS,
	/* between nodes: bus bandwidth that all GPUs of several nodes must reach together, and what
	 * a node's adapters cannot exceed one way */
	OSP_LIMIT_GANG_ALL_REDUCE_GBPS,
	OSP_LIMIT_NETWORK_PEAK_GBPS,
	OSP_LIMIT_SITE_CHECK_S, /* time limit of each of a site's own checks */
	OSP_LIMIT_COUNT
};

enum osp_check_mode {
	OSP_CHECK_OFF,	   /* not run */
	OSP_CHECK_LOG,	   /* run and shown */
	OSP_CHECK_COMMENT, /* a failure is reported with its reason, but fails nothing */
	OSP_CHECK_ENFORCE,
};

struct osp_limit {
	int64_t value;
	const char *source; /* of the value */
	bool unproven;	    /* its measurement has never run on this hardware */
	bool of_site;	    /* it is not of the first text of the table, the built-in one */
};

struct osp_thresholds;

/* Returns an empty table: no limits, every check enforced. NULL if memory ran out. */
struct osp_thresholds *osp_thresholds_new(void);
void osp_thresholds_free(struct osp_thresholds *thresholds); /* NULL is allowed */

/* Returns whether this may name a check of a site's own (check/runner/site_checks.h): two digits,
 * '-', then letters, digits, '-' and '_', at most OSP_SITE_CHECK_NAME_BYTES - 1 in all. No check of
 * ours has such a name. */
bool osp_site_check_named(const char *name);

/*
 * Adds one file's text, which overrides what is there. `check_names` (at most OSP_CHECK_NAMES_MAX;
 * they must outlive the table) are the words allowed under "checks", beside names of a site's own.
 * Returns 0, or -1 with `error` set; the table may then only be freed.
 */
int osp_thresholds_add(struct osp_thresholds *thresholds, const char *file, const char *text,
		       size_t text_bytes, const char *const *check_names, size_t check_count,
		       struct osp_error *error);

/*
 * Returns the limit in force, or NULL if none is known. `model` (the GPU's name) and `node` (the
 * machine's) may be NULL. Lives as long as the table.
 */
const struct osp_limit *osp_thresholds_limit(const struct osp_thresholds *thresholds,
					     enum osp_limit_id id, const char *model,
					     const char *node);

enum osp_check_mode osp_thresholds_mode(const struct osp_thresholds *thresholds, const char *check);

/* Returns whether a speed below a limit that is marked unproven fails; by default it warns. */
bool osp_thresholds_unproven_fails(const struct osp_thresholds *thresholds);

/*
 * Return a hash (FNV-1a) of the texts that were added to a table, or of texts one after the other,
 * beginning with 0. The texts are not parsed, so the same limits in other words have another hash.
 */
uint64_t osp_thresholds_hash(const struct osp_thresholds *thresholds);
uint64_t osp_thresholds_hash_text(uint64_t hash, const char *text, size_t text_bytes);

const char *osp_check_mode_name(enum osp_check_mode mode);

#endif
