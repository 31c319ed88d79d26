/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ec2_answer.h - reads EC2's answers, which are XML
 *
 * Reads those of DescribeInstanceTopology, DescribeCapacityReservationTopology, DescribeInstances,
 * DescribeCapacityReservations, DescribeNetworkInterfaces, DescribeSecurityGroupRules,
 * DescribePlacementGroups, and the answer that refuses any of them. Element names are the
 * locationNames of the service's model (2016-11-15). Unused elements are ignored, because EC2 adds
 * some now and then. An answer is hostile until it is read: entities are refused, as are an element
 * deeper than 32, a value longer than OSP_EC2_VALUE_BYTES, and more records than were asked for.
 *
 * Any thread: no shared state. Memory does not grow with the answer.
 */
#ifndef OSP_EC2_ANSWER_H
#define OSP_EC2_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_EC2_VALUE_BYTES 256
#define OSP_EC2_TOKEN_BYTES 4096
#define OSP_EC2_NODES_MAX   13 /* as many layers as an import takes */
#define OSP_EC2_GROUPS_MAX  16 /* security groups of an interface: EC2's quota is at most 16 */

enum osp_ec2_kind {
	OSP_EC2_INSTANCE,
	OSP_EC2_RESERVATION,
	OSP_EC2_INTERFACE,
	OSP_EC2_GROUP_RULE,
	OSP_EC2_PLACEMENT,
};

/* One of these. A string is "" if the answer does not say it, or the kind has no such value. */
struct osp_ec2_record {
	enum osp_ec2_kind kind;
	char id[OSP_EC2_VALUE_BYTES];
	char type[OSP_EC2_VALUE_BYTES];
	char zone_name[OSP_EC2_VALUE_BYTES];
	char zone_id[OSP_EC2_VALUE_BYTES];
	char block[OSP_EC2_VALUE_BYTES]; /* CapacityBlockId; "" for the word null too */
	char state[OSP_EC2_VALUE_BYTES];
	char address[OSP_EC2_VALUE_BYTES]; /* private */
	char launched[OSP_EC2_VALUE_BYTES];
	char total_count[OSP_EC2_VALUE_BYTES];		    /* instances of a reservation */
	char available_count[OSP_EC2_VALUE_BYTES];	    /* of these, the free ones */
	char nodes[OSP_EC2_NODES_MAX][OSP_EC2_VALUE_BYTES]; /* network nodes, top first */
	size_t node_count;
	char placement[OSP_EC2_VALUE_BYTES];	  /* placement group's name, of an instance */
	char reservation[OSP_EC2_VALUE_BYTES];	  /* that an instance runs in */
	char lifecycle[OSP_EC2_VALUE_BYTES];	  /* "capacity-block", "spot" */
	char match[OSP_EC2_VALUE_BYTES];	  /* of a reservation: "open" or "targeted" */
	char starts[OSP_EC2_VALUE_BYTES];	  /* of a reservation, osp_ec2_time() */
	char ends[OSP_EC2_VALUE_BYTES];		  /* "" for one without an end */
	char instance[OSP_EC2_VALUE_BYTES];	  /* that an interface is attached to */
	char interface_type[OSP_EC2_VALUE_BYTES]; /* "interface", "efa", "efa-only" */
	char groups[OSP_EC2_GROUPS_MAX][OSP_EC2_VALUE_BYTES]; /* an interface's security groups */
	size_t group_count;
	char group[OSP_EC2_VALUE_BYTES];    /* the security group of a rule */
	char peer[OSP_EC2_VALUE_BYTES];	    /* the group that a rule lets through */
	char protocol[OSP_EC2_VALUE_BYTES]; /* of a rule: "-1" is all */
	char egress[OSP_EC2_VALUE_BYTES];   /* of a rule: "true" or "false" */
	char strategy[OSP_EC2_VALUE_BYTES]; /* of a placement group: "cluster", "spread" */
};

struct osp_ec2_answer {
	char root[64];			 /* its first element: "DescribeInstancesResponse"; cut */
	char token[OSP_EC2_TOKEN_BYTES]; /* of the next page; "" for none */
	char code[OSP_EC2_VALUE_BYTES];	 /* of a refusal: "UnauthorizedOperation"; "" for none */
	char message[1024];		 /* cut */
	size_t record_count;
	bool cut; /* it was not well-formed XML: cut short, or no XML; asking again may help */
};

/* Called for each record; -1 (with its `error` set) stops the reading. */
typedef int osp_ec2_record_f(const struct osp_ec2_record *record, void *context,
			     struct osp_error *error);

/* Reads one answer of at most `most` records. `name` is its name in errors ("answer of
 * DescribeInstances"). Returns 0, or -1 with `error` set. `record` may be NULL. */
int osp_ec2_read(const char *name, const char *text, size_t text_bytes, size_t most,
		 osp_ec2_record_f *record, void *context, struct osp_ec2_answer *answer,
		 struct osp_error *error);

/* --- what a refusal means --------------------------------------------------------------------- */

enum osp_ec2_refusal {
	OSP_EC2_TRY_LATER,   /* throttled, or an error of EC2's */
	OSP_EC2_DENIED,	     /* the action is not allowed */
	OSP_EC2_NO_IDENTITY, /* wrong or expired keys */
	OSP_EC2_CLOCK,	     /* the signature's time or keys: the answer's Date shows which */
	OSP_EC2_UNKNOWN_ID,  /* of one of the ids; the message names it */
	OSP_EC2_UNSUPPORTED, /* not available in this region */
	OSP_EC2_STALE_TOKEN, /* of a page: begin again */
	OSP_EC2_OTHER,
};

/* Finds the refusal by HTTP status and the answer's code ("" if it could not be read). */
enum osp_ec2_refusal osp_ec2_refusal(long status, const char *code);

/* Reads a time, "2026-11-22T20:00:00.000Z", into seconds since 1970; 0 if it cannot be read. */
int64_t osp_ec2_time(const char *text);

/* Reads a count of instances; -1 if it is none. */
int64_t osp_ec2_count(const char *text);

/* Returns how many instances of a reservation nobody uses; all of them if EC2 does not report it,
 * and before the reservation is active: of a block EC2 may count none as free then. None of one
 * that has ended at `now_s`, or is in a state from which it does not become active. -1 if EC2 does
 * not even report their number. */
int64_t osp_ec2_free(const struct osp_ec2_record *record, int64_t now_s);

/* Returns whether a refusal's message names the id as a word of its own. */
bool osp_ec2_names_id(const char *message, const char *id);

/* Return the size of a form's value in %-notation, and write the value; `to` has room for it and a
 * zero. */
size_t osp_form_bytes(const char *value);
char *osp_form_write(char *to, const char *value);

#endif
