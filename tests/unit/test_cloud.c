/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of EC2's answers and of AWS's shared files, and how a call is signed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/text.h"
#include "lib/cloud/ec2_answer.h"
#include "lib/cloud/profile.h"
#include "lib/cloud/sigv4.h"

/* FIPS 180-4's examples, and every length around a block's end against the bytewise sum. */
static void sha256_is_fips(void **state)
{
	static const struct {
		const char *text;
		const char *digest;
	} cases[] = {
		{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
	};
	uint8_t digest[OSP_SHA256_BYTES];
	char text[2 * OSP_SHA256_BYTES + 1];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		osp_sha256(cases[i].text, strlen(cases[i].text), digest);
		for (size_t d = 0; d < sizeof(digest); d++)
			snprintf(text + 2 * d, 3, "%02x", digest[d]);
		assert_string_equal(text, cases[i].digest);
	}
}

/* AWS's own suite: post-x-www-form-urlencoded. */
static void a_post_is_signed_as_aws_signs_it(void **state)
{
	struct osp_sigv4 request = {.key_id = "AKIDEXAMPLE",
				    .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
				    .region = "us-east-1",
				    .service = "service",
				    .host = "example.amazonaws.com",
				    .content_type = "application/x-www-form-urlencoded",
				    .body = "Param1=value1",
				    .time_s = 1440938160};
	char date[OSP_SIGV4_DATE_BYTES], words[OSP_SIGV4_BYTES], secret[400];

	(void)state;
	assert_int_equal(osp_sigv4_sign(&request, date, words), 0);
	assert_string_equal(date, "20150830T123600Z");
	assert_string_equal(
		words,
		"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
		"SignedHeaders=content-type;host;x-amz-date, "
		"Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a");
	request.token = "a token";
	assert_int_equal(osp_sigv4_sign(&request, date, words), 0);
	assert_non_null(strstr(words, "x-amz-date;x-amz-security-token"));
	memset(secret, 'x', sizeof(secret) - 1);
	secret[sizeof(secret) - 1] = '\0';
	request.secret = secret;
	assert_int_equal(osp_sigv4_sign(&request, date, words), -1);
}

static int print_record(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct osp_text *text = context;

	(void)error;
	osp_text_printf(text, "%s %s %s %s/%s %s %s %s %s/%s:",
			record->kind == OSP_EC2_INSTANCE ? "instance" : "reservation", record->id,
			record->type, record->zone_name, record->zone_id, record->block,
			record->state, record->address, record->total_count,
			record->available_count);
	for (size_t i = 0; i < record->node_count; i++)
		osp_text_printf(text, " %s", record->nodes[i]);
	osp_text_add(text, "\n");
	return 0;
}

static void expect_answer(const char *xml, const char *expected)
{
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_error error = {.text = ""};
	struct osp_ec2_answer answer;
	char *result;

	if (osp_ec2_read("a", xml, strlen(xml), 3, print_record, &text, &answer, &error))
		osp_text_printf(&text, "%s", error.line > 0 ? error.text : "no place");
	else
		osp_text_printf(&text, "next '%s' code '%s' message '%s'", answer.token,
				answer.code, answer.message);
	result = osp_text_take(&text);
	assert_string_equal(result, expected);
	free(result);
}

static void records_are_read(void **state)
{
	(void)state;
	expect_answer("<DescribeInstanceTopologyResponse xmlns=\"u\"><requestId>r</requestId>\n"
		      " <instanceSet><item><instanceId>i-1</instanceId>\n"
		      "  <instanceType> p5.48xlarge\n</instanceType><new><more>x</more></new>"
		      "<networkNodeSet><item>nn-1</item><item>nn-2</item></networkNodeSet>"
		      "<availabilityZone>a</availabilityZone><zoneId>z</zoneId>"
		      "<capacityBlockId>cb&amp;1</capacityBlockId></item>"
		      "<item><instanceId>i-2</instanceId><capacityBlockId>null</capacityBlockId>"
		      "<networkNodeSet/></item></instanceSet><nextToken>t/+=</nextToken>"
		      "</DescribeInstanceTopologyResponse>",
		      "instance i-1 p5.48xlarge a/z cb&1   /: nn-1 nn-2\n"
		      "instance i-2  /    /:\n"
		      "next 't/+=' code '' message ''");
	expect_answer("<R><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId>"
		      "<instanceState><code>16</code><name>running</name></instanceState>"
		      "<privateIpAddress>10.0.0.1</privateIpAddress><networkInterfaceSet><item>"
		      "<privateIpAddress>10.9.9.9</privateIpAddress></item></networkInterfaceSet>"
		      "</item></instancesSet></item></reservationSet></R>",
		      "instance i-1  /  running 10.0.0.1 /:\nnext '' code '' message ''");
	expect_answer("<R><capacityReservationSet><item><capacityReservationId>cr-1"
		      "</capacityReservationId><state>active</state><availabilityZoneId>z"
		      "</availabilityZoneId><totalInstanceCount>16</totalInstanceCount>"
		      "<availableInstanceCount>4</availableInstanceCount></item>"
		      "</capacityReservationSet></R>",
		      "reservation cr-1  /z  active  16/4:\nnext '' code '' message ''");
	expect_answer("<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>no"
		      "</Message></Error></Errors></Response>",
		      "next '' code 'UnauthorizedOperation' message 'no'");
}

/* What doctor --cloud asks for: each kind takes its own fields of those that are named alike. */
static int print_kind(const struct osp_ec2_record *record, void *context, struct osp_error *error)
{
	struct osp_text *text = context;

	(void)error;
	osp_text_printf(text, "%d %s|%s %s %s|%s %s|%s|%s %s %s %s|%s:", (int)record->kind,
			record->id, record->placement, record->reservation, record->lifecycle,
			record->instance, record->interface_type, record->match, record->group,
			record->peer, record->protocol, record->egress, record->strategy);
	for (size_t i = 0; i < record->group_count; i++)
		osp_text_printf(text, " %s", record->groups[i]);
	osp_text_add(text, "\n");
	return 0;
}

static void records_of_each_kind_are_read(void **state)
{
	const char *xml =
		"<R><reservationSet><item><instancesSet><item><instanceId>i-1</"
		"instanceId><placement>"
		"<groupName>pg</groupName><groupId>pg-0</groupId></"
		"placement><capacityReservationId>"
		"cr-1</capacityReservationId><instanceLifecycle>spot</"
		"instanceLifecycle><groupSet><item>"
		"<groupId>sg-0</groupId></item></groupSet></item></instancesSet></item></"
		"reservationSet>"
		"<capacityReservationSet><item><capacityReservationId>cr-2</capacityReservationId>"
		"<instanceMatchCriteria>open</instanceMatchCriteria></item></"
		"capacityReservationSet>"
		"<networkInterfaceSet><item><networkInterfaceId>eni</"
		"networkInterfaceId><interfaceType>"
		"efa</interfaceType><attachment><instanceId>i-1</instanceId></"
		"attachment><groupSet><item>"
		"<groupId>sg-1</groupId></item><item><groupId>sg-2</groupId></item></groupSet></"
		"item>"
		"</networkInterfaceSet><securityGroupRuleSet><item><securityGroupRuleId>sgr"
		"</securityGroupRuleId><groupId>sg-1</groupId><isEgress>true</"
		"isEgress><ipProtocol>-1"
		"</ipProtocol><referencedGroupInfo><groupId>sg-2</groupId></referencedGroupInfo></"
		"item>"
		"</securityGroupRuleSet><placementGroupSet><item><groupName>pg</"
		"groupName><strategy>"
		"cluster</strategy><groupId>pg-0</groupId></item></placementGroupSet></R>";
	struct osp_text text = OSP_TEXT_INIT;
	struct osp_ec2_answer answer;
	struct osp_error error;
	char *result;

	(void)state;
	assert_int_equal(osp_ec2_read("a", xml, strlen(xml), 5, print_kind, &text, &answer, &error),
			 0);
	result = osp_text_take(&text);
	assert_string_equal(result, "0 i-1|pg cr-1 spot| ||   |:\n"
				    "1 cr-2|  | |open|   |:\n"
				    "2 eni|  |i-1 efa||   |: sg-1 sg-2\n"
				    "3 sgr|  | ||sg-1 sg-2 -1 true|:\n"
				    "4 pg|  | ||   |cluster:\n");
	free(result);
}

static void what_is_hostile_is_refused(void **state)
{
	struct osp_text text = OSP_TEXT_INIT;
	char *xml;

	(void)state;
	expect_answer("", "not well-formed XML: no element found");
	expect_answer("<R><instanceSet><item></item></instanceSet></R>", "a record without its id");
	expect_answer(
		"<R><instanceSet><item><instanceId>1</instanceId></item><item><instanceId>2"
		"</instanceId></item><item><instanceId>3</instanceId></item><item><instanceId>4"
		"</instanceId></item></instanceSet></R>",
		"instance 1  /    /:\ninstance 2  /    /:\ninstance 3  /    /:\n"
		"more records than were asked for");
	expect_answer("<!DOCTYPE R [<!ENTITY a \"b\">]><R>&a;</R>",
		      "entity declarations are not allowed here");
	for (int i = 0; i < 40; i++)
		osp_text_add(&text, "<a>");
	xml = osp_text_take(&text);
	expect_answer(xml, "elements nested deeper than any answer of EC2");
	free(xml);
	osp_text_add(&text, "<R><instanceSet><item><networkNodeSet>");
	for (int i = 0; i < 14; i++)
		osp_text_add(&text, "<item>n</item>");
	xml = osp_text_take(&text);
	expect_answer(xml, "more network nodes than any fabric has layers");
	free(xml);
	osp_text_add(&text, "<R><instanceSet><item><instanceId>");
	for (int i = 0; i < 256; i++)
		osp_text_add(&text, "x");
	osp_text_add(&text, "</instanceId></item></instanceSet></R>");
	xml = osp_text_take(&text);
	expect_answer(xml, "a value longer than any of EC2's");
	free(xml);
}

static void refusals_have_a_meaning(void **state)
{
	(void)state;
	assert_int_equal(osp_ec2_refusal(503, "RequestLimitExceeded"), OSP_EC2_TRY_LATER);
	assert_int_equal(osp_ec2_refusal(503, ""), OSP_EC2_TRY_LATER);
	assert_int_equal(osp_ec2_refusal(403, "UnauthorizedOperation"), OSP_EC2_DENIED);
	assert_int_equal(osp_ec2_refusal(400, "RequestExpired"), OSP_EC2_CLOCK);
	assert_int_equal(osp_ec2_refusal(400, "ExpiredToken"), OSP_EC2_NO_IDENTITY);
	assert_int_equal(osp_ec2_refusal(400, "InvalidInstanceID.NotFound"), OSP_EC2_UNKNOWN_ID);
	assert_int_equal(osp_ec2_refusal(400, "UnsupportedOperation"), OSP_EC2_UNSUPPORTED);
	assert_int_equal(osp_ec2_refusal(400, "InvalidNextToken"), OSP_EC2_STALE_TOKEN);
	assert_int_equal(osp_ec2_refusal(400, "NoSuchThing"), OSP_EC2_OTHER);
	assert_true(osp_ec2_names_id("The instance IDs 'i-1, i-23' do not exist", "i-23"));
	assert_false(osp_ec2_names_id("The instance IDs 'i-1, i-23' do not exist", "i-2"));
	assert_true(osp_ec2_names_id("i-22 i-2", "i-2"));
}

static void forms_are_written(void **state)
{
	char to[32];

	(void)state;
	assert_int_equal(osp_form_bytes("a b/+=~"), 15);
	assert_ptr_equal(osp_form_write(to, "a b/+=~"), to + 15);
	assert_string_equal(to, "a%20b%2F%2B%3D~");
}

static void profiles_are_read(void **state)
{
	static const char credentials[] =
		"# comment\r\n[default]\naws_access_key_id=A\n"
		"aws_secret_access_key = B = C\n[x]\naws_session_token=T\n";
	static const char config[] = "[default]\nregion=r1\n[profile x]\nregion = r2\n"
				     "s3 =\n  region = no\nrole_arn = arn\n[x]\nregion = r3\n";
	struct osp_profile profile = {.found = false};
	struct osp_error error = {.text = ""};

	(void)state;
	assert_int_equal(osp_profile_read("f", credentials, strlen(credentials), false, "default",
					  &profile, &error),
			 0);
	assert_int_equal(
		osp_profile_read("f", config, strlen(config), true, "default", &profile, &error),
		0);
	assert_string_equal(profile.key_id, "A");
	assert_string_equal(profile.secret, "B = C");
	assert_string_equal(profile.token, "");
	assert_string_equal(profile.region, "r1");
	memset(&profile, 0, sizeof(profile));
	osp_profile_read("f", config, strlen(config), true, "x", &profile, &error);
	assert_true(profile.found);
	assert_string_equal(profile.region, "r2");
	assert_string_equal(profile.unsupported, "role_arn");
	assert_int_equal(
		osp_profile_read("f", "[x]\n\nnonsense\n", 14, true, "x", &profile, &error), 0);
	assert_int_equal(
		osp_profile_read("f", "[x]\n\nnonsense\n", 14, false, "x", &profile, &error), -1);
	assert_int_equal(error.line, 3);
	assert_string_equal(error.text, "KEY = VALUE or [SECTION] is expected");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sha256_is_fips),
		cmocka_unit_test(a_post_is_signed_as_aws_signs_it),
		cmocka_unit_test(records_are_read),
		cmocka_unit_test(records_of_each_kind_are_read),
		cmocka_unit_test(what_is_hostile_is_refused),
		cmocka_unit_test(refusals_have_a_meaning),
		cmocka_unit_test(forms_are_written),
		cmocka_unit_test(profiles_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
