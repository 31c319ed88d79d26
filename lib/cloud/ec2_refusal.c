/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ec2_refusal.c - what EC2's refusals and times mean, and how to write a form
 *
 * The codes are those of botocore's retry handler and of cloud-provider-aws
 * (pkg/providers/v1/topology.go).
 */
#define _GNU_SOURCE /* strptime, timegm */
#include <ctype.h>
#include <string.h>
#include <time.h>

#include "lib/base/text.h"
#include "lib/cloud/ec2_answer.h"

struct meaning {
	const char *code;
	enum osp_ec2_refusal refusal;
};

static const struct meaning meanings[] = {
	{"RequestLimitExceeded", OSP_EC2_TRY_LATER},
	{"Throttling", OSP_EC2_TRY_LATER},
	{"ThrottlingException", OSP_EC2_TRY_LATER},
	{"ThrottledException", OSP_EC2_TRY_LATER},
	{"RequestThrottled", OSP_EC2_TRY_LATER},
	{"RequestThrottledException", OSP_EC2_TRY_LATER},
	{"TooManyRequestsException", OSP_EC2_TRY_LATER},
	{"BandwidthLimitExceeded", OSP_EC2_TRY_LATER},
	{"LimitExceededException", OSP_EC2_TRY_LATER},
	{"SlowDown", OSP_EC2_TRY_LATER},
	{"PriorRequestNotComplete", OSP_EC2_TRY_LATER},
	{"EC2ThrottledException", OSP_EC2_TRY_LATER},
	{"InternalError", OSP_EC2_TRY_LATER},
	{"InternalFailure", OSP_EC2_TRY_LATER},
	{"Unavailable", OSP_EC2_TRY_LATER},
	{"ServiceUnavailable", OSP_EC2_TRY_LATER},
	{"RequestTimeout", OSP_EC2_TRY_LATER},
	{"UnauthorizedOperation", OSP_EC2_DENIED},
	{"AccessDenied", OSP_EC2_DENIED},
	{"AccessDeniedException", OSP_EC2_DENIED},
	{"OptInRequired", OSP_EC2_DENIED},
	{"InvalidClientTokenId", OSP_EC2_NO_IDENTITY},
	{"UnrecognizedClientException", OSP_EC2_NO_IDENTITY},
	{"ExpiredToken", OSP_EC2_NO_IDENTITY},
	{"ExpiredTokenException", OSP_EC2_NO_IDENTITY},
	{"MissingAuthenticationToken", OSP_EC2_NO_IDENTITY},
	{"IncompleteSignature", OSP_EC2_NO_IDENTITY},
	{"AuthFailure", OSP_EC2_CLOCK},
	{"RequestExpired", OSP_EC2_CLOCK},
	{"RequestTimeTooSkewed", OSP_EC2_CLOCK},
	{"SignatureDoesNotMatch", OSP_EC2_CLOCK},
	{"RequestInTheFuture", OSP_EC2_CLOCK},
	{"InvalidSignatureException", OSP_EC2_CLOCK},
	{"InvalidInstanceID.NotFound", OSP_EC2_UNKNOWN_ID},
	{"InvalidInstanceID.Malformed", OSP_EC2_UNKNOWN_ID},
	{"InvalidInstanceId.NotFound", OSP_EC2_UNKNOWN_ID},
	{"InvalidCapacityReservationId.NotFound", OSP_EC2_UNKNOWN_ID},
	{"InvalidCapacityReservationId.Malformed", OSP_EC2_UNKNOWN_ID},
	{"UnsupportedOperation", OSP_EC2_UNSUPPORTED},
	{"InvalidAction", OSP_EC2_UNSUPPORTED},
	{"InvalidNextToken", OSP_EC2_STALE_TOKEN},
	{"InvalidPaginationToken", OSP_EC2_STALE_TOKEN},
};

enum osp_ec2_refusal osp_ec2_refusal(long status, const char *code)
{
	static const long later[] = {429, 500, 502, 503, 504, 509};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (!strcmp(code, meanings[i].code))
			return meanings[i].refusal;
	}
	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
		if (status == later[i])
			return OSP_EC2_TRY_LATER;
	}
	return OSP_EC2_OTHER;
}

bool osp_ec2_names_id(const char *message, const char *id)
{
	size_t count = strlen(id);

	for (const char *at = strstr(message, id); count && at; at = strstr(at + 1, id)) {
		bool begins = at == message || !isalnum((unsigned char)at[-1]);

		if (begins && !isalnum((unsigned char)at[count]))
			return true;
	}
	return false;
}

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.' || c == '~';
}

size_t osp_form_bytes(const char *value)
{
	size_t count = 0;

	for (; *value; value++)
		count += is_plain(*value) ? 1 : 3;
	return count;
}

char *osp_form_write(char *to, const char *value)
{
	static const char digits[] = "0123456789ABCDEF";

	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (is_plain(*value)) {
			*to++ = *value;
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	*to = '\0';
	return to;
}

int64_t osp_ec2_time(const char *text)
{
	struct tm utc = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);

	if (!rest)
		return 0;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	return strcmp(rest, "Z") ? 0 : (int64_t)timegm(&utc);
}

int64_t osp_ec2_count(const char *text)
{
	uint32_t count;

	return osp_read_number(&text, INT32_MAX, &count) && !*text ? (int64_t)count : -1;
}

/* States of a reservation that has not begun and may. Others but "active" hold nothing any more. */
static const char *const coming_states[] = {"scheduled", "pending", "payment-pending", "assessing",
					    "delayed"};

static bool is_coming(const char *state)
{
	for (size_t i = 0; i < sizeof(coming_states) / sizeof(*coming_states); i++) {
		if (!strcmp(state, coming_states[i]))
			return true;
	}
	return false;
}

int64_t osp_ec2_free(const struct osp_ec2_record *record, int64_t now_s)
{
	int64_t total = osp_ec2_count(record->total_count), ends_s = osp_ec2_time(record->ends);
	int64_t available = osp_ec2_count(record->available_count);
	bool is_active = !strcmp(record->state, "active");

	if (total < 0 && (available < 0 || !is_active))
		return -1;
	if (ends_s && ends_s <= now_s)
		return 0;
	if (is_active)
		return available >= 0 ? available : total;
	return is_coming(record->state) || !*record->state ? total : 0;
}
