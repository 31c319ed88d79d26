/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report.h - what a node says of its own place in the fabric
 *
 * A report is lines of printable ASCII, each "KEY VALUE":
 *
 *	onespine-report 1
 *	challenge 000102030405060708090a0b0c0d0e0f
 *	node gpu-1
 *	boot 1700000000
 *	instance i-0abc
 *	nvlink 5e797fc6-0f46-421a-8724-0e102c0f723c.4
 *	neuron 4.7
 *	leaf 0xfc6a1c0300ee1000
 *
 * The first line is the version. The challenge is that of the connection, so a report that was
 * recorded is none. `boot` is when the node booted by its own clock, in seconds since 1970. Of the
 * other keys a value "-" says that the node has none; one that is missing says that the node could
 * not find out. `nvlink` is the cluster UUID and the clique of all its GPUs, `neuron` the size of
 * its UltraServer and that server's number, `leaf` the GUID of a switch that its InfiniBand
 * adapters are on, several times. Keys that are not known are passed over: a later release may say
 * more.
 *
 * Any thread: no state.
 */
#ifndef OSP_REPORT_H
#define OSP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"

#define OSP_REPORT_NAME_BYTES	   128 /* of a node, with its end */
#define OSP_REPORT_WORD_BYTES	   64
#define OSP_REPORT_LEAVES_MAX	   16
#define OSP_REPORT_CHALLENGE_BYTES 16
#define OSP_REPORT_BYTES_MAX	   2048 /* sealed, it fits into OSP_REPORT_SEALED_MAX */
#define OSP_REPORT_SEALED_MAX	   4096

#define OSP_REPORT_NONE		   "-" /* a value: the node has none */

struct osp_place_report {
	char node[OSP_REPORT_NAME_BYTES];
	int64_t boot_s;
	/* "" if the node could not find out, OSP_REPORT_NONE if it has none */
	char instance[OSP_REPORT_WORD_BYTES];
	char nvlink[OSP_REPORT_WORD_BYTES];
	char neuron[OSP_REPORT_WORD_BYTES];
	bool leaves_known;
	uint32_t leaf_count;
	uint64_t leaves[OSP_REPORT_LEAVES_MAX]; /* ascending, each once */
	uint8_t challenge[OSP_REPORT_CHALLENGE_BYTES];
};

/* Appends the report's lines. */
void osp_report_write(const struct osp_place_report *report, struct osp_text *text);

/* Returns the name of the domain of level nvlink that the node says to be in: its NVLink domain,
 * else its UltraServer as "neuron-4.7" (in `buffer`); NULL: it is in none, or does not know. */
const char *osp_report_domain(const struct osp_place_report *report,
			      char buffer[OSP_REPORT_WORD_BYTES + 8]);

/* Reads a report. Returns 0, or -1 with `error` set. */
int osp_report_read(const char *text, size_t text_bytes, struct osp_place_report *report,
		    struct osp_error *error);

/* Adds a leaf, in its order; one that is there already is not added. Returns false if there is no
 * room. */
bool osp_report_add_leaf(struct osp_place_report *report, uint64_t guid);

/* Makes a word fit for a report: NULL and "" give "", and so does what is too long or has a byte
 * that is no printable ASCII or is a blank. Returns `to`. */
const char *osp_report_word(char to[OSP_REPORT_WORD_BYTES], const char *word);

/* Writes an NVLink domain's name: "5e797fc6-0f46-421a-8724-0e102c0f723c.4". A cluster UUID of
 * zeroes is none: OSP_REPORT_NONE. */
void osp_report_nvlink(char to[OSP_REPORT_WORD_BYTES], const uint8_t uuid[16], uint32_t clique);

/*
 * Reads from what `smpquery -D nodeinfo 0,1` prints which device is behind an adapter's port.
 * Returns 1 with its GUID if that is a switch, 0 if it is another device or nothing, -1 if this is
 * no such text.
 */
int osp_smp_switch(const char *text, uint64_t *guid);

#endif
