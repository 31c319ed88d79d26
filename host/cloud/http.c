/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http.c - asks by HTTP, over libcurl */
#include "host/cloud/http.h"

#include <stdlib.h>
#include <string.h>

#include "host/cloud/curl_late.h"
#include "lib/base/text.h"

struct osp_http {
	const struct osp_curl *calls;
	CURL *curl;
	struct osp_text body;
	bool too_large;
	char date[64];
	char words[CURL_ERROR_SIZE];
};

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
	struct osp_http *http = context;

	if (http->body.length_bytes + size * count > OSP_HTTP_BYTES_MAX) {
		http->too_large = true;
		return 0;
	}
	osp_text_add_bytes(&http->body, bytes, size * count);
	return http->body.failed ? 0 : size * count;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
	struct osp_http *http = context;
	size_t all = size * count, length = all;

	if (all < 6 || strncasecmp(bytes, "Date:", 5) != 0)
		return all;
	while (length > 5 && (bytes[length - 1] == '\r' || bytes[length - 1] == '\n'))
		length--;
	length -= 5;
	if (length >= sizeof(http->date))
		return all;
	memcpy(http->date, bytes + 5, length);
	http->date[length] = '\0';
	return all;
}

struct osp_http *osp_http_open(struct osp_error *error)
{
	const struct osp_curl *calls = osp_curl_load(error);
	struct osp_http *http;

	if (!calls)
		return NULL;
	http = calloc(1, sizeof(*http));
	if (http) {
		http->calls = calls;
		http->curl = calls->easy_init();
	}
	if (http && http->curl)
		return http;
	osp_error_set(error, "out of memory");
	free(http);
	return NULL;
}

void osp_http_close(struct osp_http *http)
{
	if (!http)
		return;
	http->calls->easy_cleanup(http->curl);
	osp_text_free(&http->body);
	free(http);
}

bool osp_http_signs_tokens(const struct osp_http *http)
{
	return http->calls->version_info(CURLVERSION_NOW)->version_num >= 0x075600;
}

/* Sets one option. `value` has the type that the option wants: nothing checks it. */
#define SET(http, option, value) (http)->calls->easy_setopt((http)->curl, option, value)

static void set_protocols(struct osp_http *http)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	SET(http, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	SET(http, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void set_answers(struct osp_http *http)
{
	SET(http, CURLOPT_WRITEFUNCTION, on_body);
	SET(http, CURLOPT_WRITEDATA, http);
	SET(http, CURLOPT_HEADERFUNCTION, on_header);
	SET(http, CURLOPT_HEADERDATA, http);
	SET(http, CURLOPT_ERRORBUFFER, http->words);
}

static void set_request(struct osp_http *http, const struct osp_http_request *request)
{
	SET(http, CURLOPT_URL, request->url);
	SET(http, CURLOPT_NOSIGNAL, 1L);
	SET(http, CURLOPT_CONNECTTIMEOUT_MS, request->connect_ms);
	SET(http, CURLOPT_TIMEOUT_MS, request->total_ms);
	set_protocols(http);
	if (request->direct)
		SET(http, CURLOPT_NOPROXY, "*");
	if (request->body) {
		SET(http, CURLOPT_POSTFIELDS, request->body);
		SET(http, CURLOPT_POSTFIELDSIZE, (long)strlen(request->body));
	} else if (strcmp(request->method, "GET") != 0) {
		SET(http, CURLOPT_CUSTOMREQUEST, request->method);
	}
	if (request->signer) {
		SET(http, CURLOPT_AWS_SIGV4, request->signer);
		SET(http, CURLOPT_USERNAME, request->key_id);
		SET(http, CURLOPT_PASSWORD, request->secret);
	}
}

static int set_headers(struct osp_http *http, const struct osp_http_request *request,
		       struct curl_slist **list)
{
	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		struct curl_slist *longer = http->calls->slist_append(*list, request->headers[i]);

		if (!longer)
			return -1;
		*list = longer;
	}
	SET(http, CURLOPT_HTTPHEADER, *list);
	return 0;
}

static int ask(struct osp_http *http, const struct osp_http_request *request,
	       struct osp_error *error)
{
	CURLcode code = http->calls->easy_perform(http->curl);

	if (code == CURLE_OK)
		return 0;
	if (http->body.failed)
		return osp_error_set(error, "out of memory");
	if (http->too_large)
		return osp_error_set(error, "%.200s answers with more than %zu MiB", request->url,
				     OSP_HTTP_BYTES_MAX >> 20);
	return osp_error_set(error, "%.200s: %s", request->url,
			     http->words[0] ? http->words : http->calls->easy_strerror(code));
}

int osp_http_ask(struct osp_http *http, const struct osp_http_request *request,
		 struct osp_http_answer *answer, struct osp_error *error)
{
	struct curl_slist *headers = NULL;
	int rc;

	memset(answer, 0, sizeof(*answer));
	osp_text_free(&http->body);
	http->too_large = false;
	http->date[0] = http->words[0] = '\0';
	http->calls->easy_reset(http->curl);
	set_request(http, request);
	set_answers(http);
	if (set_headers(http, request, &headers))
		rc = osp_error_set(error, "out of memory");
	else
		rc = ask(http, request, error);
	http->calls->slist_free_all(headers);
	if (rc)
		return -1;
	http->calls->easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	osp_text_add(&http->body, "");
	answer->body = http->body.data ? http->body.data : http->words;
	answer->body_bytes = http->body.length_bytes;
	if (http->date[0])
		answer->date_s = (int64_t)http->calls->getdate(http->date, NULL);
	if (answer->date_s < 0)
		answer->date_s = 0;
	return 0;
}
