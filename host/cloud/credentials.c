/* SPDX-License-Identifier: GPL-2.0-or-later */
/* credentials.c - finds the keys that sign calls of AWS, and the region */
#define _GNU_SOURCE /* strptime, timegm */

#include "host/cloud/credentials.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/text.h"

#define FILE_BYTES_MAX	   ((size_t)1024 * 1024)
#define METADATA_BYTES_MAX ((size_t)64 * 1024)
/* A hop limit of 1 makes the PUT of a container hang; SDKs give it a second. */
#define METADATA_CONNECT_MS 1000
#define METADATA_TOTAL_MS   2000
#define METADATA_TRIES	    2
#define METADATA_TTL_S	    "21600" /* the longest */

enum found { FOUND, NOT_HERE, BROKEN };

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static enum found copy(char *to, size_t bytes, const char *value, const char *what,
		       struct osp_error *error)
{
	if (strlen(value) >= bytes || strpbrk(value, "\r\n")) {
		osp_error_set(error, "%s is longer than %zu bytes or has a line's end in it", what,
			      bytes - 1);
		return BROKEN;
	}
	strcpy(to, value);
	return FOUND;
}

static enum found set_keys(struct osp_credentials *credentials, const char *key_id,
			   const char *secret, const char *token, const char *source,
			   struct osp_error *error)
{
	if (!key_id || !secret) {
		osp_error_set(error, "%s has only the %s of a key pair, not its %s", source,
			      key_id ? "id" : "secret key", key_id ? "secret key" : "id");
		return BROKEN;
	}
	credentials->source = source;
	if (copy(credentials->key_id, sizeof(credentials->key_id), key_id, "a key's id", error) ||
	    copy(credentials->secret, sizeof(credentials->secret), secret, "a secret key", error) ||
	    copy(credentials->token, sizeof(credentials->token), token ? token : "",
		 "a session token", error))
		return BROKEN;
	return FOUND;
}

static enum found from_environment(struct osp_credentials *credentials, struct osp_error *error)
{
	const char *key_id = environment("AWS_ACCESS_KEY_ID");
	const char *secret = environment("AWS_SECRET_ACCESS_KEY");

	if (!key_id && !secret)
		return NOT_HERE;
	return set_keys(credentials, key_id, secret, environment("AWS_SESSION_TOKEN"),
			"the environment", error);
}

/* --- shared files ----------------------------------------------------------------------------- */

/*
 * Finds the path that `variable` names, or ~/.aws/NAME. Returns false if there is no home, or the
 * path is too long.
 */
static bool shared_path(const char *variable, const char *name, char *path, size_t path_bytes)
{
	const char *named = environment(variable), *home = environment("HOME");

	if (named)
		return (size_t)snprintf(path, path_bytes, "%s", named) < path_bytes;
	return home && (size_t)snprintf(path, path_bytes, "%s/.aws/%s", home, name) < path_bytes;
}

static int read_shared(const char *variable, const char *name, bool config,
		       struct osp_profile *profile, struct osp_error *error)
{
	const char *section = environment("AWS_PROFILE");
	char path[4096];
	size_t bytes;
	char *text;
	int rc;

	if (!shared_path(variable, name, path, sizeof(path)))
		return 0;
	text = osp_read_file(path, FILE_BYTES_MAX, &bytes);
	if (!text)
		return 0;
	rc = osp_profile_read(path, text, bytes, config, section ? section : "default", profile,
			      error);
	free(text);
	return rc;
}

static int read_profile(struct osp_profile *profile, struct osp_error *error)
{
	memset(profile, 0, sizeof(*profile));
	if (read_shared("AWS_SHARED_CREDENTIALS_FILE", "credentials", false, profile, error))
		return -1;
	return read_shared("AWS_CONFIG_FILE", "config", true, profile, error);
}

static enum found from_files(struct osp_credentials *credentials, struct osp_error *error)
{
	const char *named = environment("AWS_PROFILE");
	struct osp_profile profile;

	if (read_profile(&profile, error))
		return BROKEN;
	if (named && !profile.found) {
		osp_error_set(error, "AWS_PROFILE=%.64s: neither shared file has that profile",
			      named);
		return BROKEN;
	}
	if (profile.key_id[0] || profile.secret[0])
		return set_keys(credentials, profile.key_id[0] ? profile.key_id : NULL,
				profile.secret[0] ? profile.secret : NULL, profile.token,
				"the shared files", error);
	if (profile.unsupported[0]) {
		osp_error_set(
			error,
			"profile %.64s gets its keys by %s, which is not supported; give keys, "
			"or run where the instance's role has the permission",
			named ? named : "default", profile.unsupported);
		return BROKEN;
	}
	return NOT_HERE;
}

/* --- answers in JSON -------------------------------------------------------------------------- */

/* Reads a time: "2026-11-22T20:00:00Z". 0: it cannot be read. */
static int64_t time_of(const char *text)
{
	struct tm utc = {0};

	if (!text || !strptime(text, "%Y-%m-%dT%H:%M:%S", &utc))
		return 0;
	return (int64_t)timegm(&utc);
}

static const char *member(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static enum found take_json(struct osp_credentials *credentials,
			    const struct osp_http_answer *answer, const char *source,
			    struct osp_error *error)
{
	json_error_t ignored;
	json_t *object = answer->body_bytes > METADATA_BYTES_MAX
				 ? NULL
				 : json_loadb(answer->body, answer->body_bytes, 0, &ignored);
	const char *code = member(object, "Code");
	enum found found = BROKEN;

	if (!object || !member(object, "AccessKeyId"))
		osp_error_set(error, "%s answers with no keys%s%.64s", source, code ? ": " : "",
			      code ? code : "");
	else if (code && strcmp(code, "Success") != 0)
		osp_error_set(error, "%s answers with Code %.64s", source, code);
	else
		found = set_keys(credentials, member(object, "AccessKeyId"),
				 member(object, "SecretAccessKey"), member(object, "Token"), source,
				 error);
	if (found == FOUND)
		credentials->expires_s = time_of(member(object, "Expiration"));
	json_decref(object);
	return found;
}

/* --- container -------------------------------------------------------------------------------- */

/*
 * Returns whether keys may come from that URL: by http only if the SDKs allow it, because the
 * answer holds keys.
 */
static bool is_allowed(const char *url)
{
	static const char *const hosts[] = {"127.0.0.1",     "localhost",      "[::1]",
					    "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
	size_t count;

	if (!strncasecmp(url, "https://", 8))
		return true;
	if (strncasecmp(url, "http://", 7) != 0)
		return false;
	url += 7;
	count = *url == '[' ? strcspn(url, "]") + 1 : strcspn(url, ":/");
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		if (strlen(hosts[i]) == count && !strncmp(url, hosts[i], count))
			return true;
	}
	return false;
}

/* Writes the Authorization header; "" for none. */
static int read_authorization(char *header, size_t header_bytes, struct osp_error *error)
{
	const char *file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *value = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	size_t bytes;
	char *text = NULL;

	header[0] = '\0';
	if (file) {
		text = osp_read_file(file, METADATA_BYTES_MAX, &bytes);
		if (!text)
			return osp_error_set(error,
					     "%.200s: cannot be read (AWS_CONTAINER_"
					     "AUTHORIZATION_TOKEN_FILE)",
					     file);
		text[strcspn(text, "\r\n")] = '\0';
		value = text;
	}
	if (value)
		snprintf(header, header_bytes, "Authorization: %s", value);
	free(text);
	return 0;
}

static enum found from_container(struct osp_http *http, struct osp_credentials *credentials,
				 struct osp_error *error)
{
	static const char source[] = "the container's endpoint";
	const char *relative = environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *full = environment("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	char url[2048], authorization[OSP_TOKEN_BYTES];
	const char *headers[] = {authorization, NULL};
	struct osp_http_request request = {.method = "GET",
					   .url = url,
					   .connect_ms = METADATA_CONNECT_MS,
					   .total_ms = METADATA_TOTAL_MS,
					   .direct = true};
	struct osp_http_answer answer;

	if (!relative && !full)
		return NOT_HERE;
	snprintf(url, sizeof(url), "%s%s", relative ? "http://169.254.170.2" : "",
		 relative ? relative : full);
	if (!is_allowed(url)) {
		osp_error_set(
			error,
			"AWS_CONTAINER_CREDENTIALS_FULL_URI=%.200s: keys are fetched by https "
			"or from this machine only",
			url);
		return BROKEN;
	}
	if (read_authorization(authorization, sizeof(authorization), error))
		return BROKEN;
	request.headers = authorization[0] ? headers : NULL;
	if (osp_http_ask(http, &request, &answer, error))
		return BROKEN;
	if (answer.status != 200) {
		osp_error_set(error, "%s answers with HTTP status %ld", source, answer.status);
		return BROKEN;
	}
	return take_json(credentials, &answer, source, error);
}

/* --- the instance's metadata ------------------------------------------------------------------ */

struct metadata {
	struct osp_http *http;
	char token[OSP_KEY_BYTES];
};

static int ask_metadata(struct metadata *metadata, const char *method, const char *path,
			const char *header, struct osp_http_answer *answer, struct osp_error *error)
{
	const char *endpoint = environment("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	const char *headers[] = {header, NULL};
	char url[1024];
	struct osp_http_request request = {.method = method,
					   .url = url,
					   .headers = headers,
					   .connect_ms = METADATA_CONNECT_MS,
					   .total_ms = METADATA_TOTAL_MS,
					   .direct = true};
	size_t used;

	snprintf(url, sizeof(url), "%.512s", endpoint ? endpoint : "http://169.254.169.254");
	used = strlen(url);
	while (used && url[used - 1] == '/')
		used--;
	snprintf(url + used, sizeof(url) - used, "/latest/%s", path);
	return osp_http_ask(metadata->http, &request, answer, error);
}

static int new_token(struct metadata *metadata, struct osp_error *error)
{
	struct osp_http_answer answer;

	if (ask_metadata(metadata, "PUT", "api/token",
			 "X-aws-ec2-metadata-token-ttl-seconds: " METADATA_TTL_S, &answer, error))
		return -1;
	if (answer.status != 200 || !answer.body_bytes ||
	    answer.body_bytes >= sizeof(metadata->token) || strpbrk(answer.body, "\r\n"))
		return osp_error_set(error,
				     "the instance's metadata service gives no token (HTTP status "
				     "%ld)",
				     answer.status);
	strcpy(metadata->token, answer.body);
	return 0;
}

/* Asks for `path`, with a new token if the old one has expired. */
static int get_metadata(struct metadata *metadata, const char *path, struct osp_http_answer *answer,
			struct osp_error *error)
{
	char header[OSP_KEY_BYTES + 32];

	for (int i = 0; i < METADATA_TRIES; i++) {
		if (!metadata->token[0] && new_token(metadata, error))
			return -1;
		snprintf(header, sizeof(header), "X-aws-ec2-metadata-token: %s", metadata->token);
		if (ask_metadata(metadata, "GET", path, header, answer, error))
			return -1;
		if (answer->status != 401)
			return 0;
		metadata->token[0] = '\0';
	}
	return 0;
}

static bool metadata_is_off(void)
{
	const char *off = environment("AWS_EC2_METADATA_DISABLED");

	return off && !strcasecmp(off, "true");
}

static enum found from_instance(struct osp_http *http, struct osp_credentials *credentials,
				struct osp_error *error)
{
	static const char list[] = "meta-data/iam/security-credentials/";
	struct metadata metadata = {.http = http};
	struct osp_http_answer answer;
	struct osp_error unreachable = {.text = ""};
	char path[sizeof(list) + OSP_KEY_BYTES];

	if (metadata_is_off() || get_metadata(&metadata, list, &answer, &unreachable))
		return NOT_HERE;
	if (answer.status == 404) {
		osp_error_set(error, "this instance has no role; give it one, or keys by the "
				     "environment or the shared files");
		return BROKEN;
	}
	if (answer.status != 200 || !answer.body_bytes || answer.body_bytes >= OSP_KEY_BYTES) {
		osp_error_set(
			error,
			"the instance's metadata service does not report its role (HTTP status "
			"%ld)",
			answer.status);
		return BROKEN;
	}
	snprintf(path, sizeof(path), "%s%.*s", list, (int)strcspn(answer.body, "\r\n"),
		 answer.body);
	if (get_metadata(&metadata, path, &answer, error))
		return BROKEN;
	if (answer.status != 200) {
		osp_error_set(error, "the instance's role has no keys (HTTP status %ld)",
			      answer.status);
		return BROKEN;
	}
	return take_json(credentials, &answer, "the instance's role", error);
}

/* --- in order --------------------------------------------------------------------------------- */

int osp_credentials_find(struct osp_http *http, struct osp_credentials *credentials,
			 struct osp_error *error)
{
	enum found found;

	memset(credentials, 0, sizeof(*credentials));
	found = from_environment(credentials, error);
	if (found == NOT_HERE)
		found = from_files(credentials, error);
	if (found == NOT_HERE)
		found = from_container(http, credentials, error);
	if (found == NOT_HERE)
		found = from_instance(http, credentials, error);
	if (found == NOT_HERE)
		return osp_error_set(error,
				     "no AWS credentials: neither AWS_ACCESS_KEY_ID in the "
				     "environment, nor a profile in ~/.aws, nor a container's "
				     "endpoint, nor an instance's metadata service that answers");
	return found == FOUND ? 0 : -1;
}

static bool is_region(const char *text, size_t length)
{
	if (!length || length >= OSP_REGION_BYTES)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-", text[i]))
			return false;
	}
	return true;
}

/*
 * Takes a region only if it looks like one, because it becomes part of a host's name: not "us
 * east".
 */
static int take_region(const char *value, const char *what, char region[OSP_REGION_BYTES],
		       struct osp_error *error)
{
	if (!is_region(value, strlen(value)))
		return osp_error_set(error, "%s=%.64s: a region as us-west-2 is expected", what,
				     value);
	strcpy(region, value);
	return 0;
}

int osp_region_find(struct osp_http *http, char region[OSP_REGION_BYTES], struct osp_error *error)
{
	static const char *const names[] = {"AWS_REGION", "AWS_DEFAULT_REGION"};
	struct metadata metadata = {.http = http};
	struct osp_error unreachable = {.text = ""};
	struct osp_http_answer answer;
	struct osp_profile profile;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (environment(names[i]))
			return take_region(environment(names[i]), names[i], region, error);
	}
	if (read_profile(&profile, error))
		return -1;
	if (profile.region[0])
		return take_region(profile.region, "region in ~/.aws", region, error);
	if (!metadata_is_off() &&
	    !get_metadata(&metadata, "meta-data/placement/region", &answer, &unreachable) &&
	    answer.status == 200)
		return take_region(answer.body, "the metadata service's region", region, error);
	return osp_error_set(error,
			     "no AWS region: neither AWS_REGION, nor a region in the profile, "
			     "nor an instance's metadata service that answers");
}
