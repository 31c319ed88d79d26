/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sigv4.h - AWS's signature version 4 of a POST, for curl older than 7.86, which leaves the session
 * token unsigned
 *
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html. The
 * path is "/", there is no query, and the signed headers are content-type, host, x-amz-date and,
 * with a token, x-amz-security-token.
 *
 * Any thread: no shared state, no allocation.
 */
#ifndef OSP_SIGV4_H
#define OSP_SIGV4_H

#include <stddef.h>
#include <stdint.h>

#define OSP_SHA256_BYTES 32

void osp_sha256(const void *bytes, size_t count, uint8_t digest[OSP_SHA256_BYTES]);

struct osp_sigv4 {
	const char *key_id;
	const char *secret;
	const char *token; /* NULL: none */
	const char *region;
	const char *service;
	const char *host; /* as in the Host header, with its port if that is not the usual one */
	const char *content_type;
	const char *body;
	int64_t time_s; /* since 1970 */
};

#define OSP_SIGV4_DATE_BYTES 17	 /* "20150830T123600Z" */
#define OSP_SIGV4_BYTES	     512 /* of the Authorization header's value */

/* Writes the values of x-amz-date and Authorization. Returns 0, or -1 if a word is too long. */
int osp_sigv4_sign(const struct osp_sigv4 *request, char date[OSP_SIGV4_DATE_BYTES],
		   char authorization[OSP_SIGV4_BYTES]);

#endif
