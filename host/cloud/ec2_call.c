/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_call.c - makes one call of EC2 */
#include "host/cloud/ec2_call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/cloud/sigv4.h"

#define CONTENT_TYPE "application/x-www-form-urlencoded; charset=utf-8"
/* A page of 100 takes EC2 a second or two; SDKs wait 60 s for either. */
#define CONNECT_MS 5000
#define TOTAL_MS   30000
/* Pauses of 1, 2, 4 and 8 s, each lengthened by up to half of itself, so that many callers do not
 * come together. */
#define TRIES	       5
#define FIRST_PAUSE_MS 1000
/* A name that does not resolve is a region that does not exist; half an answer may be a proxy's. */
#define SHORT_TRIES 2
/* One a second fills the topology actions' bucket. */
#define TOPOLOGY_PAUSE_MS 1000
/*
 * botocore fetches new keys from 10 minutes before they expire, but not more often than once a
 * minute.
 */
#define EXPIRES_SOON_S 600
#define FETCH_PAUSE_S  60
/* EC2 takes a signature for 5 minutes; a smaller difference does not explain a refusal. */
#define CLOCK_WRONG_S 60

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_ms(int64_t ms)
{
	struct timespec rest = {ms / 1000, ms % 1000 * 1000000};

	while (ms > 0 && nanosleep(&rest, &rest) && errno == EINTR)
		;
}

/* Waits until the topology actions' bucket has one again. */
static void keep_pace(struct osp_ec2 *ec2, const char *action)
{
	if (!strstr(action, "Topology"))
		return;
	if (ec2->last_ms)
		pause_ms(ec2->last_ms + TOPOLOGY_PAUSE_MS - now_ms());
	ec2->last_ms = now_ms();
}

static int refresh(struct osp_ec2 *ec2, bool expired, struct osp_error *error)
{
	const struct osp_credentials *held = &ec2->credentials;
	int64_t now = (int64_t)time(NULL) + ec2->clock_offset_s;

	if (!expired && (!held->expires_s || now + EXPIRES_SOON_S < held->expires_s ||
			 now < ec2->fetched_s + FETCH_PAUSE_S))
		return 0;
	ec2->fetched_s = now;
	return osp_credentials_find(ec2->http, &ec2->credentials, error);
}

/* --- one try ---------------------------------------------------------------------------------- */

/* The signature's headers, made here if curl would leave the token out or use the wrong time. */
struct signature {
	char host[OSP_ENDPOINT_BYTES + 8];
	char date[OSP_SIGV4_DATE_BYTES + 16];
	char authorization[OSP_SIGV4_BYTES + 32];
};

static int sign(const struct osp_ec2 *ec2, const char *form, struct signature *signature,
		struct osp_error *error)
{
	const char *host = strstr(ec2->endpoint, "://") + 3;
	char only[OSP_ENDPOINT_BYTES], date[OSP_SIGV4_DATE_BYTES], words[OSP_SIGV4_BYTES];
	struct osp_sigv4 request = {
		.key_id = ec2->credentials.key_id,
		.secret = ec2->credentials.secret,
		.token = ec2->credentials.token[0] ? ec2->credentials.token : NULL,
		.region = ec2->region,
		.service = "ec2",
		.host = only,
		.content_type = CONTENT_TYPE,
		.body = form,
		.time_s = (int64_t)time(NULL) + ec2->clock_offset_s,
	};

	snprintf(only, sizeof(only), "%.*s", (int)strcspn(host, "/"), host);
	if (osp_sigv4_sign(&request, date, words))
		return osp_error_set(error, "the keys are longer than any of AWS's");
	snprintf(signature->host, sizeof(signature->host), "Host: %s", only);
	snprintf(signature->date, sizeof(signature->date), "X-Amz-Date: %s", date);
	snprintf(signature->authorization, sizeof(signature->authorization), "Authorization: %s",
		 words);
	return 0;
}

static int try_once(struct osp_ec2 *ec2, const char *form, struct osp_http_answer *answer,
		    struct osp_error *error)
{
	char signer[OSP_REGION_BYTES + 32], token[OSP_TOKEN_BYTES + 32];
	struct signature signature;
	const char *headers[6] = {"Content-Type: " CONTENT_TYPE};
	struct osp_http_request request = {.method = "POST",
					   .url = ec2->endpoint,
					   .headers = headers,
					   .body = form,
					   .connect_ms = CONNECT_MS,
					   .total_ms = TOTAL_MS};
	size_t count = 1;

	snprintf(token, sizeof(token), "X-Amz-Security-Token: %s", ec2->credentials.token);
	if (ec2->credentials.token[0])
		headers[count++] = token;
	if (ec2->clock_offset_s || (ec2->own_signer && ec2->credentials.token[0])) {
		if (sign(ec2, form, &signature, error))
			return -1;
		headers[count++] = signature.host;
		headers[count++] = signature.date;
		headers[count++] = signature.authorization;
	} else {
		snprintf(signer, sizeof(signer), "aws:amz:%s:ec2", ec2->region);
		request.signer = signer;
		request.key_id = ec2->credentials.key_id;
		request.secret = ec2->credentials.secret;
	}
	return osp_http_ask(ec2->http, &request, answer, error);
}

/* --- what a refusal leads to ------------------------------------------------------------------ */

/* The state of a call that may take several tries. */
struct trying {
	struct osp_ec2 *ec2;
	const char *action;
	const char *form;
	int failures; /* a pause may heal these */
	bool clock_set;
	bool keys_fetched;
	struct osp_error *error;
};

/* Notes a refusal that only an administrator can change, if no place can be asked for without the
 * action. What follows it in EC2's own words may be long. */
static void note_unasked(const struct trying *trying, const char *words)
{
	if (!strcmp(trying->action, "DescribeInstanceTopology") ||
	    !strcmp(trying->action, "DescribeInstances"))
		osp_error_set(&trying->ec2->unasked, "%s", words);
}

/* Notes that EC2 takes such calls. It judges keys and permission before ids and DryRun. */
static void note_answers(struct osp_ec2 *ec2, const char *action, enum osp_ec2_outcome outcome,
			 const struct osp_ec2_answer *answer)
{
	if (outcome != OSP_EC2_ANSWERED && outcome != OSP_EC2_UNKNOWN_IDS &&
	    strcmp(answer->code, "DryRunOperation") != 0)
		return;
	ec2->answers_places |= !strcmp(action, "DescribeInstanceTopology");
	ec2->answers_addresses |= !strcmp(action, "DescribeInstances");
}

static enum osp_ec2_outcome refuse_all(const struct trying *trying,
				       const struct osp_ec2_answer *answer, const char *words)
{
	note_unasked(trying, words);
	osp_error_set(trying->error, "%s (%s: %.160s)", words, answer->code, answer->message);
	return OSP_EC2_ALL_FAIL;
}

static enum osp_ec2_outcome denied(const struct trying *trying, const struct osp_ec2_answer *answer)
{
	char words[OSP_ERROR_TEXT_BYTES];

	snprintf(words, sizeof(words),
		 "EC2 denies %s to %s: its policy must allow ec2:%s on resource *", trying->action,
		 trying->ec2->credentials.source, trying->action);
	return refuse_all(trying, answer, words);
}

static enum osp_ec2_outcome no_identity(const struct trying *trying,
					const struct osp_ec2_answer *answer)
{
	char words[OSP_ERROR_TEXT_BYTES];

	snprintf(words, sizeof(words), "EC2 does not take the keys of %s",
		 trying->ec2->credentials.source);
	return refuse_all(trying, answer, words);
}

/*
 * Sets the clock by the answer. Returns true if the difference explains the refusal; the next try
 * is signed by the answer's clock.
 */
static bool set_clock(struct trying *trying, const struct osp_http_answer *http)
{
	int64_t offset = http->date_s - (int64_t)time(NULL);

	if (trying->clock_set || !http->date_s ||
	    llabs(offset - trying->ec2->clock_offset_s) < CLOCK_WRONG_S)
		return false;
	trying->clock_set = true;
	trying->ec2->clock_offset_s = offset;
	return true;
}

static bool fetch_keys(struct trying *trying)
{
	if (trying->keys_fetched)
		return false;
	trying->keys_fetched = true;
	return !refresh(trying->ec2, true, trying->error);
}

/* Waits before the next try. Returns false if there is none. */
static bool wait_longer(struct trying *trying)
{
	int64_t pause = (int64_t)FIRST_PAUSE_MS << trying->failures;

	if (++trying->failures == TRIES)
		return false;
	pause_ms(pause + (int64_t)(rand() % (int)(pause / 2)));
	return true;
}

static enum osp_ec2_outcome failed(const struct trying *trying, long status,
				   const struct osp_ec2_answer *answer)
{
	osp_error_set(trying->error, "EC2 refuses %s%s: %s%s%.160s (HTTP status %ld)",
		      trying->action, trying->failures ? " again and again" : "",
		      answer->code[0] ? answer->code : "no code", answer->message[0] ? ": " : "",
		      answer->message, status);
	return OSP_EC2_CALL_FAILED;
}

static enum osp_ec2_outcome unsupported(const struct trying *trying,
					const struct osp_ec2_answer *answer)
{
	char words[OSP_ERROR_TEXT_BYTES];

	snprintf(words, sizeof(words), "region %s has no %s", trying->ec2->region, trying->action);
	return refuse_all(trying, answer, words);
}

/* Decides what to do about a refusal; *again: ask once more. */
static enum osp_ec2_outcome refused(struct trying *trying, const struct osp_http_answer *http,
				    const struct osp_ec2_answer *answer, bool *again)
{
	*again = false;
	switch (osp_ec2_refusal(http->status, answer->code)) {
	case OSP_EC2_TRY_LATER:
		*again = wait_longer(trying);
		break;
	case OSP_EC2_DENIED:
		return denied(trying, answer);
	case OSP_EC2_CLOCK:
		*again = set_clock(trying, http);
		return *again ? OSP_EC2_CALL_FAILED : no_identity(trying, answer);
	case OSP_EC2_NO_IDENTITY:
		*again = fetch_keys(trying);
		return *again ? OSP_EC2_CALL_FAILED : no_identity(trying, answer);
	case OSP_EC2_UNKNOWN_ID:
		return OSP_EC2_UNKNOWN_IDS;
	case OSP_EC2_UNSUPPORTED:
		return unsupported(trying, answer);
	case OSP_EC2_STALE_TOKEN:
		return OSP_EC2_TOKEN_IS_OLD;
	case OSP_EC2_OTHER:
		break;
	}
	return *again ? OSP_EC2_CALL_FAILED : failed(trying, http->status, answer);
}

/* Returns whether it answers the action, and is not a page of something between EC2 and us. */
static bool is_answer_to(const char *action, const struct osp_ec2_answer *answer)
{
	size_t length = strlen(action);

	return !strncmp(answer->root, action, length) && !strcmp(answer->root + length, "Response");
}

/* Reads an answer of status 200. Half an answer says nothing: only a whole one is passed on. */
static enum osp_ec2_outcome accept_answer(struct trying *trying, const struct osp_http_answer *http,
					  size_t most, osp_ec2_record_f *record, void *context,
					  struct osp_ec2_answer *answer, bool *again)
{
	struct osp_error words = {.text = ""};
	char name[96], formatted[OSP_ERROR_TEXT_BYTES];

	*again = false;
	snprintf(name, sizeof(name), "EC2's answer to %s", trying->action);
	if (!osp_ec2_read(name, http->body, http->body_bytes, most, NULL, NULL, answer, &words) &&
	    !is_answer_to(trying->action, answer))
		osp_error_set(&words, "%s is <%s>, and not <%sResponse>: not from EC2", name,
			      answer->root, trying->action);
	if (!words.text[0])
		return osp_ec2_read(name, http->body, http->body_bytes, most, record, context,
				    answer, trying->error)
			       ? OSP_EC2_ALL_FAIL
			       : OSP_EC2_ANSWERED;
	*again = answer->cut && trying->failures < SHORT_TRIES - 1 && wait_longer(trying);
	if (!*again)
		osp_error_set(trying->error, "%s",
			      osp_error_format(&words, formatted, sizeof(formatted)));
	return OSP_EC2_CALL_FAILED;
}

enum osp_ec2_outcome osp_ec2_call(struct osp_ec2 *ec2, const char *action, const char *form,
				  size_t most, osp_ec2_record_f *record, void *context,
				  struct osp_ec2_answer *answer, struct osp_error *error)
{
	struct trying trying = {.ec2 = ec2, .action = action, .form = form, .error = error};
	enum osp_ec2_outcome outcome;
	bool again;

	do {
		struct osp_error unreachable = {.text = ""}, ignored = {.text = ""};
		struct osp_http_answer http;

		if (refresh(ec2, false, error))
			return OSP_EC2_ALL_FAIL;
		keep_pace(ec2, action);
		memset(answer, 0, sizeof(*answer));
		if (try_once(ec2, form, &http, &unreachable)) {
			again = trying.failures < SHORT_TRIES - 1 && wait_longer(&trying);
			outcome = OSP_EC2_ALL_FAIL;
			if (!again)
				osp_error_set(error, "EC2 cannot be reached in region %s: %.300s",
					      ec2->region, unreachable.text);
		} else if (http.status == 200) {
			outcome = accept_answer(&trying, &http, most, record, context, answer,
						&again);
		} else {
			osp_ec2_read("", http.body, http.body_bytes, 0, NULL, NULL, answer,
				     &ignored);
			outcome = refused(&trying, &http, answer, &again);
		}
	} while (again);
	note_answers(ec2, action, outcome, answer);
	return outcome;
}
