/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ec2_call.h - one call of EC2: signed, repeated if that helps, refused in words
 *
 * For ec2.c, which asks page by page. One thread.
 */
#ifndef OSP_EC2_CALL_H
#define OSP_EC2_CALL_H

#include "host/cloud/credentials.h"
#include "lib/cloud/ec2_answer.h"

struct osp_ec2 {
	struct osp_http *http;
	struct osp_credentials credentials;
	int64_t fetched_s;	/* when the credentials were */
	int64_t clock_offset_s; /* to be added to this machine's clock */
	char region[OSP_REGION_BYTES];
	char endpoint[OSP_ENDPOINT_BYTES];
	int64_t last_ms;	  /* when the last call of a topology action began; monotonic */
	bool own_signer;	  /* curl signs no token */
	struct osp_error unasked; /* why it does not say where instances are; "": it may */
	bool answers_places;	  /* it has answered DescribeInstanceTopology, or a probe */
	bool answers_addresses;	  /* the same of DescribeInstances */
};

enum osp_ec2_outcome {
	OSP_EC2_ANSWERED,
	OSP_EC2_UNKNOWN_IDS,  /* answer->message names them */
	OSP_EC2_TOKEN_IS_OLD, /* the caller begins with the first page */
	OSP_EC2_CALL_FAILED,  /* this call; `error` is set */
	OSP_EC2_ALL_FAIL,     /* and each further call would; `error` is set */
};

/* Sends `form` ("Action=...&Version=2016-11-15&..."), whose action is `action`. With
 * OSP_EC2_ANSWERED `record` has had all records. */
enum osp_ec2_outcome osp_ec2_call(struct osp_ec2 *ec2, const char *action, const char *form,
				  size_t most, osp_ec2_record_f *record, void *context,
				  struct osp_ec2_answer *answer, struct osp_error *error);

#endif
