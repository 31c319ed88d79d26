/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2.c - asks EC2 page by page, and keeps what came if one fails */
#include "host/cloud/ec2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cloud/ec2_call.h"
#include "lib/base/text.h"

#define VERSION		  "2016-11-15"
#define IDS_A_CALL	  100 /* the most of DescribeInstanceTopology */
#define RESERVATIONS_MOST 10
#define ADDRESSES_A_CALL  200 /* values of a filter */
#define RECORDS_A_PAGE	  1000
#define PAGES_MAX	  1000

struct osp_ec2 *osp_ec2_open(struct osp_error *error)
{
	const char *endpoint = getenv("AWS_ENDPOINT_URL_EC2");
	const char *ignore = getenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS");
	struct osp_ec2 *ec2 = calloc(1, sizeof(*ec2));

	if (!ec2) {
		osp_error_set(error, "out of memory");
		return NULL;
	}
	ec2->http = osp_http_open(error);
	ec2->own_signer = ec2->http && !osp_http_signs_tokens(ec2->http);
	if (!ec2->http || osp_region_find(ec2->http, ec2->region, error) ||
	    osp_credentials_find(ec2->http, &ec2->credentials, error)) {
		osp_ec2_close(ec2);
		return NULL;
	}
	if (!endpoint || !*endpoint)
		endpoint = getenv("AWS_ENDPOINT_URL");
	if (endpoint && *endpoint && !(ignore && !strcmp(ignore, "true")))
		snprintf(ec2->endpoint, sizeof(ec2->endpoint), "%s", endpoint);
	else
		snprintf(ec2->endpoint, sizeof(ec2->endpoint), "https://ec2.%s.amazonaws.com%s/",
			 ec2->region, strncmp(ec2->region, "cn-", 3) ? "" : ".cn");
	if (strstr(ec2->endpoint, "://"))
		return ec2;
	osp_error_set(error, "AWS_ENDPOINT_URL=%.200s: an URL with http:// or https:// is expected",
		      ec2->endpoint);
	osp_ec2_close(ec2);
	return NULL;
}

void osp_ec2_close(struct osp_ec2 *ec2)
{
	if (!ec2)
		return;
	osp_http_close(ec2->http);
	free(ec2);
}

const char *osp_ec2_region(const struct osp_ec2 *ec2)
{
	return ec2->region;
}

const char *osp_ec2_unasked(const struct osp_ec2 *ec2)
{
	return ec2->unasked.text[0] ? ec2->unasked.text : NULL;
}

bool osp_ec2_answers(const struct osp_ec2 *ec2, bool addresses)
{
	return ec2->answers_places && (!addresses || ec2->answers_addresses);
}

static void probe(struct osp_ec2 *ec2, const char *action)
{
	char form[128];
	struct osp_ec2_answer answer;
	struct osp_error ignored = {.text = ""};

	snprintf(form, sizeof(form), "Action=%s&Version=" VERSION "&DryRun=true", action);
	(void)osp_ec2_call(ec2, action, form, 0, NULL, NULL, &answer, &ignored);
}

void osp_ec2_probe(struct osp_ec2 *ec2, bool addresses)
{
	probe(ec2, "DescribeInstanceTopology");
	if (addresses)
		probe(ec2, "DescribeInstances");
}

/* --- forms ------------------------------------------------------------------------------------ */

static void add_value(struct osp_text *form, const char *value)
{
	char *written = malloc(osp_form_bytes(value) + 1);

	if (written) {
		osp_form_write(written, value);
		osp_text_add(form, written);
	}
	form->failed = form->failed || !written;
	free(written);
}

/* A question: an action, and the name of its ids. */
struct question {
	const char *action;
	const char *id_name; /* "InstanceId": numbered from 1 */
	const char *rest;    /* of the form */
	size_t most;	     /* ids a call */
	bool answers_some;   /* an answer to all of its ids has some record */
};

/* One call's ids; those that EC2 does not know are NULL. */
struct batch {
	struct osp_ec2 *ec2;
	const struct question *question;
	const char **ids;
	size_t count;
	const struct osp_ec2_listener *listener;
	struct osp_ec2_gaps *gaps;
	struct osp_error *error;
};

static char *write_form(const struct batch *batch, const char *token)
{
	struct osp_text form = OSP_TEXT_INIT;
	size_t number = 0;

	osp_text_printf(&form, "Action=%s&Version=" VERSION "%s", batch->question->action,
			batch->question->rest);
	for (size_t i = 0; i < batch->count; i++) {
		if (!batch->ids[i])
			continue;
		osp_text_printf(&form, "&%s.%zu=", batch->question->id_name, ++number);
		add_value(&form, batch->ids[i]);
	}
	if (*token) {
		osp_text_add(&form, "&NextToken=");
		add_value(&form, token);
	}
	return osp_text_take(&form);
}

/* --- pages ------------------------------------------------------------------------------------ */

static enum osp_ec2_outcome ask_page(const struct batch *batch, const char *token,
				     struct osp_ec2_answer *answer, struct osp_error *error)
{
	char *form = write_form(batch, token);
	enum osp_ec2_outcome outcome;

	if (!form) {
		osp_error_set(error, "out of memory");
		return OSP_EC2_ALL_FAIL;
	}
	outcome = osp_ec2_call(batch->ec2, batch->question->action, form, RECORDS_A_PAGE,
			       batch->listener->record, batch->listener->context, answer, error);
	free(form);
	return outcome;
}

static size_t count_ids(const struct batch *batch)
{
	size_t count = 0;

	for (size_t i = 0; i < batch->count; i++)
		count += batch->ids[i] != NULL;
	return count;
}

/* Judges an answer by its records. Of instances that run, one without any says nothing. */
static enum osp_ec2_outcome judge_records(const struct batch *batch, size_t records,
					  struct osp_error *error)
{
	size_t asked = count_ids(batch);

	if (records || !batch->question->answers_some)
		return OSP_EC2_ANSWERED;
	osp_error_set(
		error, "EC2's answer to %s says nothing of the %zu instance%s that %s asked about",
		batch->question->action, asked, osp_plural_s(asked), asked == 1 ? "was" : "were");
	return OSP_EC2_CALL_FAILED;
}

/* Asks for all pages of one call. If a token has expired, it begins again, and `record` may get an
 * instance a second time; the import takes each once. */
static enum osp_ec2_outcome ask_pages(const struct batch *batch, struct osp_ec2_answer *answer,
				      struct osp_error *error)
{
	char token[OSP_EC2_TOKEN_BYTES] = "";
	enum osp_ec2_outcome outcome;
	size_t records = 0;

	for (int page = 0; page < PAGES_MAX; page++) {
		outcome = ask_page(batch, token, answer, error);
		if (outcome == OSP_EC2_TOKEN_IS_OLD && *token) {
			token[0] = '\0';
			continue;
		}
		records += answer->record_count;
		if (outcome == OSP_EC2_ANSWERED && !answer->token[0])
			return judge_records(batch, records, error);
		if (outcome != OSP_EC2_ANSWERED)
			return outcome;
		if (!strcmp(token, answer->token)) {
			osp_error_set(error, "EC2 gives the same NextToken of %s twice",
				      batch->question->action);
			return OSP_EC2_CALL_FAILED;
		}
		strcpy(token, answer->token);
	}
	osp_error_set(error, "EC2 answers %s with more than %d pages", batch->question->action,
		      PAGES_MAX);
	return OSP_EC2_CALL_FAILED;
}

/*
 * Takes out the ids that a refusal names. Returns how many are left; `dropped` is how many were
 * taken out.
 */
static size_t drop_unknown(const struct batch *batch, const char *message, size_t *dropped)
{
	size_t left = 0;

	*dropped = 0;
	for (size_t i = 0; i < batch->count; i++) {
		if (batch->ids[i] && osp_ec2_names_id(message, batch->ids[i])) {
			batch->ids[i] = NULL;
			++*dropped;
		}
		left += batch->ids[i] != NULL;
	}
	return left;
}

static void miss(const struct batch *batch, struct osp_error *error)
{
	if (!batch->gaps->failed_calls++)
		batch->gaps->first = *error;
	for (size_t i = 0; i < batch->count && batch->listener->missed; i++) {
		if (batch->ids[i])
			batch->listener->missed(batch->ids[i], batch->listener->context);
	}
}

/* Asks one call. Returns 0 even if this call alone failed. */
static int ask_batch(const struct batch *batch)
{
	struct osp_ec2_answer answer;
	size_t dropped;

	for (;;) {
		struct osp_error error = {.text = ""};
		enum osp_ec2_outcome outcome = ask_pages(batch, &answer, &error);

		if (outcome == OSP_EC2_ANSWERED)
			return 0;
		if (outcome == OSP_EC2_ALL_FAIL) {
			*batch->error = error;
			return -1;
		}
		if (outcome == OSP_EC2_UNKNOWN_IDS) {
			size_t left = drop_unknown(batch, answer.message, &dropped);

			batch->gaps->unknown_ids += (uint32_t)dropped;
			if (!left)
				return 0;
			if (dropped)
				continue;
		}
		if (!error.text[0])
			osp_error_set(&error, "EC2 refuses %s: %s: %.200s", batch->question->action,
				      answer.code, answer.message);
		miss(batch, &error);
		return 0;
	}
}

static int ask(struct osp_ec2 *ec2, const struct question *question, const char *const *ids,
	       size_t count, const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
	       struct osp_error *error)
{
	const char *some[ADDRESSES_A_CALL];
	struct batch batch = {ec2, question, some, 0, listener, gaps, error};

	for (size_t i = 0; i < count; i += question->most) {
		batch.count = count - i < question->most ? count - i : question->most;
		memcpy(some, ids + i, batch.count * sizeof(*some));
		if (ask_batch(&batch))
			return -1;
	}
	return 0;
}

int osp_ec2_instance_topology(struct osp_ec2 *ec2, const char *const *ids, size_t count,
			      const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			      struct osp_error *error)
{
	static const struct question question = {"DescribeInstanceTopology", "InstanceId", "",
						 IDS_A_CALL, true};

	return ask(ec2, &question, ids, count, listener, gaps, error);
}

int osp_ec2_reservation_topology(struct osp_ec2 *ec2, const char *const *ids, size_t count,
				 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
				 struct osp_error *error)
{
	static const struct question question = {"DescribeCapacityReservationTopology",
						 "CapacityReservationId", "", RESERVATIONS_MOST,
						 false};

	return ask(ec2, &question, ids, count, listener, gaps, error);
}

int osp_ec2_reservations(struct osp_ec2 *ec2, const char *const *ids, size_t count,
			 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			 struct osp_error *error)
{
	static const struct question question = {"DescribeCapacityReservations",
						 "CapacityReservationId", "", IDS_A_CALL, false};

	return ask(ec2, &question, ids, count, listener, gaps, error);
}

int osp_ec2_instances_at(struct osp_ec2 *ec2, const char *const *addresses, size_t count,
			 const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			 struct osp_error *error)
{
	static const struct question question = {
		"DescribeInstances", "Filter.2.Value",
		"&MaxResults=1000&Filter.1.Name=instance-state-name&Filter.1.Value.1=running"
		"&Filter.2.Name=private-ip-address",
		ADDRESSES_A_CALL, false};

	return ask(ec2, &question, addresses, count, listener, gaps, error);
}

int osp_ec2_instances(struct osp_ec2 *ec2, const char *const *ids, size_t count,
		      const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
		      struct osp_error *error)
{
	static const struct question question = {
		"DescribeInstances", "Filter.2.Value",
		"&MaxResults=1000&Filter.1.Name=instance-state-name&Filter.1.Value.1=running"
		"&Filter.2.Name=instance-id",
		ADDRESSES_A_CALL, false};

	return ask(ec2, &question, ids, count, listener, gaps, error);
}

int osp_ec2_interfaces_of(struct osp_ec2 *ec2, const char *const *instances, size_t count,
			  const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			  struct osp_error *error)
{
	static const struct question question = {
		"DescribeNetworkInterfaces", "Filter.1.Value",
		"&MaxResults=1000&Filter.1.Name=attachment.instance-id", ADDRESSES_A_CALL, false};

	return ask(ec2, &question, instances, count, listener, gaps, error);
}

int osp_ec2_interfaces_at(struct osp_ec2 *ec2, const char *const *addresses, size_t count,
			  const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			  struct osp_error *error)
{
	static const struct question question = {
		"DescribeNetworkInterfaces", "Filter.1.Value",
		"&MaxResults=1000&Filter.1.Name=addresses.private-ip-address", ADDRESSES_A_CALL,
		false};

	return ask(ec2, &question, addresses, count, listener, gaps, error);
}

int osp_ec2_group_rules(struct osp_ec2 *ec2, const char *const *groups, size_t count,
			const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			struct osp_error *error)
{
	static const struct question question = {"DescribeSecurityGroupRules", "Filter.1.Value",
						 "&MaxResults=1000&Filter.1.Name=group-id",
						 ADDRESSES_A_CALL, false};

	return ask(ec2, &question, groups, count, listener, gaps, error);
}

int osp_ec2_placement_groups(struct osp_ec2 *ec2, const char *const *names, size_t count,
			     const struct osp_ec2_listener *listener, struct osp_ec2_gaps *gaps,
			     struct osp_error *error)
{
	static const struct question question = {"DescribePlacementGroups", "Filter.1.Value",
						 "&Filter.1.Name=group-name", ADDRESSES_A_CALL,
						 false};

	return ask(ec2, &question, names, count, listener, gaps, error);
}
