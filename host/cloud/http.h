/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http.h - one HTTP request after the other, over libcurl
 *
 * Only http and https, no redirects, certificates checked, an answer of at most OSP_HTTP_BYTES_MAX.
 * One thread a connection.
 */
#ifndef OSP_HTTP_H
#define OSP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_HTTP_BYTES_MAX ((size_t)32 * 1024 * 1024)

struct osp_http;

struct osp_http_request {
	const char *method; /* "GET", "PUT" or "POST" */
	const char *url;
	const char *const *headers; /* "Name: value", ended by NULL; NULL: none */
	const char *body;	    /* of a POST */
	const char *signer;	    /* "aws:amz:REGION:SERVICE"; NULL: unsigned */
	const char *key_id;
	const char *secret;
	long connect_ms;
	long total_ms;
	bool direct; /* never through a proxy, for a link-local address */
};

struct osp_http_answer {
	long status; /* 0: there was none */
	char *body;  /* terminated; it belongs to the connection, until its next request */
	size_t body_bytes;
	int64_t date_s; /* of the Date header; 0: none */
};

/* Loads libcurl. Returns NULL with `error` set, also if it is missing. */
struct osp_http *osp_http_open(struct osp_error *error);
void osp_http_close(struct osp_http *http); /* NULL is allowed */

/*
 * Sends a request. Returns 0 with an answer of any status, or -1 with `error` set: no connection, a
 * limit reached.
 */
int osp_http_ask(struct osp_http *http, const struct osp_http_request *request,
		 struct osp_http_answer *answer, struct osp_error *error);

/*
 * Returns whether this curl signs a session token's header: from 7.86 on (lib/http_aws_sigv4.c,
 * 29c4aa0).
 */
bool osp_http_signs_tokens(const struct osp_http *http);

#endif
