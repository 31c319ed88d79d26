/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ec2.h - questions to EC2 about its fabric and the instances on it; no call changes anything
 *
 * Calls are POSTs of forms, signed (credentials.h), to AWS_ENDPOINT_URL_EC2, else AWS_ENDPOINT_URL,
 * else the region's own. A topology call names 100 ids, and one call is made a second: EC2 allows
 * one a second for the whole account and region (a bucket of 1, refilled by 1 a second). A
 * throttled call is repeated after growing pauses; a call that fails because of a wrong clock is
 * repeated once with the answer's Date, and one that fails because of expired keys once with new
 * keys. An id that EC2 does not know is left out of its call.
 *
 * If a call fails in the end, the answers of the other calls count: the failed calls are counted,
 * and the text of the first failure is kept. A failure of every call (no credentials, no
 * permission, no such region) ends the question.
 *
 * One thread.
 */
#ifndef OSP_EC2_H
#define OSP_EC2_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/cloud/ec2_answer.h"

struct osp_ec2;

/* Finds keys and region. Returns NULL with `error` set if that fails. */
struct osp_ec2 *osp_ec2_open(struct osp_error *error);
void osp_ec2_close(struct osp_ec2 *ec2); /* NULL is allowed */

const char *osp_ec2_region(const struct osp_ec2 *ec2);

/*
 * Returns why EC2 refused calls that are needed to learn any instance's place, if only an
 * administrator can change that: "EC2 denies DescribeInstanceTopology to ..: its policy must allow
 * .."; NULL: it refused none.
 */
const char *osp_ec2_unasked(const struct osp_ec2 *ec2);

/*
 * Returns whether EC2 has answered DescribeInstanceTopology, or a probe of it, and with `addresses`
 * DescribeInstances too. Without that NULL of osp_ec2_unasked() says nothing.
 */
bool osp_ec2_answers(const struct osp_ec2 *ec2, bool addresses);

/*
 * Has EC2 say whether it would answer DescribeInstanceTopology (DryRun), and with `addresses`
 * DescribeInstances, for osp_ec2_unasked(). What else goes wrong says nothing.
 */
void osp_ec2_probe(struct osp_ec2 *ec2, bool addresses);

/* What is missing. */
struct osp_ec2_gaps {
	uint32_t failed_calls;	/* nobody knows more about their ids now */
	uint32_t unknown_ids;	/* EC2 does not know them: gone, or another account's */
	struct osp_error first; /* of the failed calls */
};

/* Takes an id of a failed call. */
typedef void osp_ec2_missed_f(const char *id, void *context);

struct osp_ec2_listener {
	osp_ec2_record_f *record;
	osp_ec2_missed_f *missed; /* may be NULL */
	void *context;
};

/* Asks DescribeInstanceTopology of `ids`. Returns 0, even if calls have failed (`gaps`), or -1 with
 * `error` set. */
int osp_ec2_instance_topology(struct osp_ec2 *ec2, const char *const *ids, size_t count,
			      const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			      struct osp_error *error);

/* Ask DescribeCapacityReservationTopology, 10 ids a call, and DescribeCapacityReservations, which
 * says how many instances each holds. */
int osp_ec2_reservation_topology(struct osp_ec2 *ec2, const char *const *ids, size_t count,
				 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
				 struct osp_error *error);
int osp_ec2_reservations(struct osp_ec2 *ec2, const char *const *ids, size_t count,
			 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			 struct osp_error *error);

/* Ask DescribeNetworkInterfaces of those attached to these instances, or with one of these private
 * addresses. */
int osp_ec2_interfaces_of(struct osp_ec2 *ec2, const char *const *instances, size_t count,
			  const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			  struct osp_error *error);
int osp_ec2_interfaces_at(struct osp_ec2 *ec2, const char *const *addresses, size_t count,
			  const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			  struct osp_error *error);

/* Asks DescribeSecurityGroupRules of these groups, by id. */
int osp_ec2_group_rules(struct osp_ec2 *ec2, const char *const *groups, size_t count,
			const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			struct osp_error *error);

/* Asks DescribePlacementGroups of these names. */
int osp_ec2_placement_groups(struct osp_ec2 *ec2, const char *const *names, size_t count,
			     const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			     struct osp_error *error);

/*
 * Ask DescribeInstances of those that run: with one of these ids, or one of these private
 * addresses.
 */
int osp_ec2_instances(struct osp_ec2 *ec2, const char *const *ids, size_t count,
		      const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
		      struct osp_error *error);
int osp_ec2_instances_at(struct osp_ec2 *ec2, const char *const *addresses, size_t count,
			 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			 struct osp_error *error);

#endif
