/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - AWS's shared files: ~/.aws/credentials and ~/.aws/config
 *
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html: sections "[name]" (in the
 * config file "[profile name]", but "[default]"), lines "key = value", comments with # or ;, and
 * indented lines that belong to a key above, which are passed over.
 *
 * Any thread: no shared state, no allocation.
 */
#ifndef OSP_PROFILE_H
#define OSP_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"

#define OSP_KEY_BYTES	   256
#define OSP_TOKEN_BYTES	   8192
#define OSP_REGION_BYTES   64
#define OSP_ENDPOINT_BYTES 512

struct osp_profile {
	bool found; /* the section is there */
	char key_id[OSP_KEY_BYTES];
	char secret[OSP_KEY_BYTES];
	char token[OSP_TOKEN_BYTES];
	char region[OSP_REGION_BYTES];
	char unsupported[OSP_KEY_BYTES]; /* a key by which keys are got that this program does not
					    know: role_arn, sso_session, credential_process; "" for
					    none */
};

/* Adds what `text` says of the profile `name` to `profile`, if it holds nothing yet. `config`: it
 * is the config file. 0, or -1 with the place in `error`: no section, no "key = value", a value
 * that is too long. */
int osp_profile_read(const char *file, const char *text, size_t text_bytes, bool config,
		     const char *name, struct osp_profile *profile, struct osp_error *error);

#endif
