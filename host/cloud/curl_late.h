/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curl_late.h - libcurl, loaded when the first request is made
 *
 * libcurl brings some 30 libraries along, and only what asks EC2 needs them. Without them the
 * command starts in 1.7 ms of processor time instead of 6.0 (onespine --version, Debian 12).
 */
#ifndef OSP_CURL_LATE_H
#define OSP_CURL_LATE_H

#include <curl/curl.h>

#include "lib/base/error.h"

/* The name that libcurl has had since 7.16 (2006), on every distribution. */
#define OSP_CURL_LIBRARY "libcurl.so.4"

/* Its functions: the name behind curl_, what it returns, its parameters. */
#define OSP_CURL_CALLS(X)                                                                          \
	X(global_init, CURLcode, (long flags))                                                     \
	X(version_info, curl_version_info_data *, (CURLversion age))                               \
	X(getdate, time_t, (const char *text, const time_t *unused))                               \
	X(slist_append, struct curl_slist *, (struct curl_slist * list, const char *text))         \
	X(slist_free_all, void, (struct curl_slist * list))                                        \
	X(easy_init, CURL *, (void))                                                               \
	X(easy_reset, void, (CURL * curl))                                                         \
	X(easy_setopt, CURLcode, (CURL * curl, CURLoption option, ...))                            \
	X(easy_perform, CURLcode, (CURL * curl))                                                   \
	X(easy_getinfo, CURLcode, (CURL * curl, CURLINFO info, ...))                               \
	X(easy_strerror, const char *, (CURLcode code))                                            \
	X(easy_cleanup, void, (CURL * curl))

struct osp_curl {
#define OSP_CURL_MEMBER(name, type, parameters) type(*name) parameters;
	OSP_CURL_CALLS(OSP_CURL_MEMBER)
#undef OSP_CURL_MEMBER
};

/*
 * Returns libcurl's functions, ready for use; the same ones for each call, from any thread. Returns
 * NULL with `error` set if the library is missing, lacks a function or cannot begin. It stays
 * loaded.
 */
const struct osp_curl *osp_curl_load(struct osp_error *error);

#endif
