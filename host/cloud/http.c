/* SPDX-License-Identifier: GPL-2.0-or-later */
/* http.c - asks by HTTP, over libcurl */
#include "host/cloud/http.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"

struct osp_http {
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
	struct osp_http *http = calloc(1, sizeof(*http));

	if (http && !curl_global_init(CURL_GLOBAL_DEFAULT))
		http->curl = curl_easy_init();
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
	curl_easy_cleanup(http->curl);
	osp_text_free(&http->body);
	free(http);
}

bool osp_http_signs_tokens(void)
{
	return curl_version_info(CURLVERSION_NOW)->version_num >= 0x075600;
}

static void set_protocols(CURL *curl)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

static void set_answers(struct osp_http *http)
{
	curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, http);
	curl_easy_setopt(http->curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(http->curl, CURLOPT_HEADERDATA, http);
	curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->words);
}

static void set_request(CURL *curl, const struct osp_http_request *request)
{
	curl_easy_setopt(curl, CURLOPT_URL, request->url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, request->connect_ms);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, request->total_ms);
	set_protocols(curl);
	if (request->direct)
		curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	if (request->body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(request->body));
	} else if (strcmp(request->method, "GET") != 0) {
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
	}
	if (request->signer) {
		curl_easy_setopt(curl, CURLOPT_AWS_SIGV4, request->signer);
		curl_easy_setopt(curl, CURLOPT_USERNAME, request->key_id);
		curl_easy_setopt(curl, CURLOPT_PASSWORD, request->secret);
	}
}

static int set_headers(CURL *curl, const struct osp_http_request *request, struct curl_slist **list)
{
	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		struct curl_slist *longer = curl_slist_append(*list, request->headers[i]);

		if (!longer)
			return -1;
		*list = longer;
	}
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, *list);
	return 0;
}

static int ask(struct osp_http *http, const struct osp_http_request *request,
	       struct osp_error *error)
{
	CURLcode code = curl_easy_perform(http->curl);

	if (code == CURLE_OK)
		return 0;
	if (http->body.failed)
		return osp_error_set(error, "out of memory");
	if (http->too_large)
		return osp_error_set(error, "%.200s answers with more than %zu MiB", request->url,
				     OSP_HTTP_BYTES_MAX >> 20);
	return osp_error_set(error, "%.200s: %s", request->url,
			     http->words[0] ? http->words : curl_easy_strerror(code));
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
	curl_easy_reset(http->curl);
	set_request(http->curl, request);
	set_answers(http);
	if (set_headers(http->curl, request, &headers))
		rc = osp_error_set(error, "out of memory");
	else
		rc = ask(http, request, error);
	curl_slist_free_all(headers);
	if (rc)
		return -1;
	curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer->status);
	osp_text_add(&http->body, "");
	answer->body = http->body.data ? http->body.data : http->words;
	answer->body_bytes = http->body.length_bytes;
	if (http->date[0])
		answer->date_s = (int64_t)curl_getdate(http->date, NULL);
	if (answer->date_s < 0)
		answer->date_s = 0;
	return 0;
}
