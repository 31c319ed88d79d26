/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.h - reads AWS's shared files: ~/.aws/credentials and ~/.aws/config
 *
 * https://docs.aws.amazon.com/sdkref/latest/guide/file-format.html: sections "[name]" (in the
 * config file "[profile name]", but "[default]"), lines "key = value", comments with # or ;, and
 * indented lines that belong to the key above, which are ignored.
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
	bool found; /* the section exists */
	char key_id[OSP_KEY_BYTES];
	char secret[OSP_KEY_BYTES];
	char token[OSP_TOKEN_BYTES];
	char region[OSP_REGION_BYTES];
	char unsupported[OSP_KEY_BYTES]; /* a key for another way to get credentials, which this
					    program does not support: role_arn, sso_session,
					    credential_process; "" for none */
};

/* Adds to `profile` the values of the profile `name` in `text` that it does not have yet. `config`:
 * the text is of the config file. Returns 0, or -1 with the place in `error`: a line without "key =
 * value", or a value that is too long. */
int osp_profile_read(const char *file, const char *text, size_t text_bytes, bool config,
		     const char *name, struct osp_profile *profile, struct osp_error *error);

#endif
