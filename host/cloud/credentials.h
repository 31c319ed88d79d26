/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * credentials.h - the keys that sign calls of AWS, found as the SDKs find them
 *
 * In this order (botocore/credentials.py): the environment (AWS_ACCESS_KEY_ID,
 * AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN); the shared files (AWS_SHARED_CREDENTIALS_FILE,
 * AWS_CONFIG_FILE, profile AWS_PROFILE); the container's endpoint
 * (AWS_CONTAINER_CREDENTIALS_RELATIVE_URI or ..._FULL_URI); the instance's metadata service,
 * version 2 (not with AWS_EC2_METADATA_DISABLED=true). A profile that gets its keys by a role,
 * single sign-on or a program is refused, not skipped: the next source would be another identity.
 * One thread.
 */
#ifndef OSP_CREDENTIALS_H
#define OSP_CREDENTIALS_H

#include <stdint.h>

#include "host/cloud/http.h"
#include "lib/base/error.h"
#include "lib/cloud/profile.h"

struct osp_credentials {
	char key_id[OSP_KEY_BYTES];
	char secret[OSP_KEY_BYTES];
	char token[OSP_TOKEN_BYTES]; /* "" for none */
	int64_t expires_s;	     /* 0: never */
	const char *source;	     /* in words: "the instance's role" */
};

/*
 * Finds the keys. Returns 0, or -1 with `error` set: no source has keys (all are named), or a
 * source has broken ones.
 */
int osp_credentials_find(struct osp_http *http, struct osp_credentials *credentials,
			 struct osp_error *error);

/*
 * Finds the region: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or the instance's. Returns 0, or
 * -1 with `error` set.
 */
int osp_region_find(struct osp_http *http, char region[OSP_REGION_BYTES], struct osp_error *error);

#endif
