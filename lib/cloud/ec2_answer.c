/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ec2_answer.c - reads EC2's XML into records, element by element */
#include "lib/cloud/ec2_answer.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/bind/expat_position.h"

#define DEPTH_MAX  32
#define PATH_BYTES 512

struct reading {
	XML_Parser parser;
	const char *name;
	struct osp_error *error;
	bool failed;
	size_t most;
	osp_ec2_record_f *call;
	void *context;
	struct osp_ec2_answer *answer;
	struct osp_ec2_record record;
	char path[PATH_BYTES]; /* "/instanceSet/item/instanceId": without the first element */
	size_t lengths[DEPTH_MAX];
	size_t depth;
	char text[OSP_EC2_TOKEN_BYTES]; /* of the current element */
	size_t text_bytes;
};

/* A record ends with the element of this path. */
struct shape {
	const char *path;
	enum osp_ec2_kind kind;
};

static const struct shape shapes[] = {
	{"/instanceSet/item", OSP_EC2_INSTANCE},
	{"/reservationSet/item/instancesSet/item", OSP_EC2_INSTANCE},
	{"/capacityReservationSet/item", OSP_EC2_RESERVATION},
	{"/networkInterfaceSet/item", OSP_EC2_INTERFACE},
	{"/securityGroupRuleSet/item", OSP_EC2_GROUP_RULE},
	{"/placementGroupSet/item", OSP_EC2_PLACEMENT},
};

#define KIND(kind) (1u << (kind))
#define ANY_KIND   (~0u)

struct field {
	const char *element; /* below the record */
	size_t offset;	     /* in it */
	unsigned int kinds;  /* that have it */
};

#define FIELD_OF(kinds, element, member)                                                           \
	{                                                                                          \
		element, offsetof(struct osp_ec2_record, member), kinds                            \
	}
#define FIELD(element, member) FIELD_OF(ANY_KIND, element, member)

static const struct field fields[] = {
	FIELD("/instanceId", id),
	FIELD("/instanceType", type),
	FIELD("/availabilityZone", zone_name),
	FIELD("/zoneId", zone_id),
	FIELD("/availabilityZoneId", zone_id),
	FIELD("/capacityBlockId", block),
	FIELD("/state", state),
	FIELD("/instanceState/name", state),
	FIELD("/privateIpAddress", address),
	FIELD("/launchTime", launched),
	FIELD("/totalInstanceCount", total_count),
	FIELD("/availableInstanceCount", available_count),
	FIELD("/placement/availabilityZone", zone_name),
	FIELD("/placement/groupName", placement),
	FIELD("/instanceLifecycle", lifecycle),
	FIELD("/instanceMatchCriteria", match),
	FIELD("/startDate", starts),
	FIELD("/endDate", ends),
	FIELD_OF(KIND(OSP_EC2_INSTANCE), "/capacityReservationId", reservation),
	FIELD_OF(KIND(OSP_EC2_RESERVATION), "/capacityReservationId", id),
	FIELD("/networkInterfaceId", id),
	FIELD("/interfaceType", interface_type),
	FIELD("/attachment/instanceId", instance),
	FIELD("/securityGroupRuleId", id),
	FIELD_OF(KIND(OSP_EC2_GROUP_RULE), "/groupId", group),
	FIELD("/referencedGroupInfo/groupId", peer),
	FIELD("/ipProtocol", protocol),
	FIELD("/isEgress", egress),
	FIELD_OF(KIND(OSP_EC2_PLACEMENT), "/groupName", id),
	FIELD("/strategy", strategy),
};

/* Refuses the answer at the current place. */
static void refuse(struct reading *reading, const char *text)
{
	if (!reading->failed)
		osp_error_at(reading->error, reading->name, (int)OSP_XML_LINE(reading->parser),
			     (int)OSP_XML_COLUMN(reading->parser) + 1, "%s", text);
	reading->failed = true;
	XML_StopParser(reading->parser, XML_FALSE);
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
	struct reading *reading = data;
	size_t used = strlen(reading->path);

	(void)attributes;
	if (reading->failed)
		return;
	reading->text_bytes = 0;
	if (reading->depth == DEPTH_MAX || used + strlen(name) + 2 > PATH_BYTES) {
		refuse(reading, "elements nested deeper than any answer of EC2");
		return;
	}
	reading->lengths[reading->depth++] = used;
	if (reading->depth == 1)
		snprintf(reading->answer->root, sizeof(reading->answer->root), "%.*s",
			 (int)sizeof(reading->answer->root) - 1, name);
	else
		snprintf(reading->path + used, PATH_BYTES - used, "/%s", name);
}

static void XMLCALL on_text(void *data, const XML_Char *text, int count)
{
	struct reading *reading = data;

	if (reading->failed)
		return;
	if (reading->text_bytes + (size_t)count >= sizeof(reading->text)) {
		refuse(reading, "a value longer than any of EC2's");
		return;
	}
	memcpy(reading->text + reading->text_bytes, text, (size_t)count);
	reading->text_bytes += (size_t)count;
}

static void XMLCALL on_entity(void *data, const XML_Char *name, int is_parameter,
			      const XML_Char *value, int value_bytes, const XML_Char *base,
			      const XML_Char *system_id, const XML_Char *public_id,
			      const XML_Char *notation)
{
	(void)name, (void)is_parameter, (void)value, (void)value_bytes;
	(void)base, (void)system_id, (void)public_id, (void)notation;
	refuse(data, "entity declarations are not allowed here");
}

/* Removes blanks around a value, which are only formatting. */
static const char *trim(struct reading *reading)
{
	char *start = reading->text;

	while (reading->text_bytes && isspace((unsigned char)start[reading->text_bytes - 1]))
		reading->text_bytes--;
	start[reading->text_bytes] = '\0';
	while (isspace((unsigned char)*start))
		start++;
	return start;
}

static void keep(struct reading *reading, char *to, const char *value)
{
	if (strlen(value) >= OSP_EC2_VALUE_BYTES)
		refuse(reading, "a value longer than any of EC2's");
	else
		strcpy(to, value);
}

static void end_record(struct reading *reading, enum osp_ec2_kind kind)
{
	struct osp_ec2_record *record = &reading->record;

	record->kind = kind;
	if (!strcmp(record->block, "null"))
		record->block[0] = '\0';
	if (reading->answer->record_count++ == reading->most)
		refuse(reading, "more records than were asked for");
	else if (!record->id[0])
		refuse(reading, "a record without its id");
	else if (reading->call && reading->call(record, reading->context, reading->error)) {
		reading->failed = true;
		XML_StopParser(reading->parser, XML_FALSE);
	}
	memset(record, 0, sizeof(*record));
}

static void add_node(struct reading *reading, const char *value)
{
	struct osp_ec2_record *record = &reading->record;

	if (record->node_count == OSP_EC2_NODES_MAX)
		refuse(reading, "more network nodes than any fabric has layers");
	else
		keep(reading, record->nodes[record->node_count++], value);
}

static void add_group(struct reading *reading, const char *value)
{
	struct osp_ec2_record *record = &reading->record;

	if (record->group_count == OSP_EC2_GROUPS_MAX)
		refuse(reading, "more security groups than an interface may have");
	else
		keep(reading, record->groups[record->group_count++], value);
}

static void take_field(struct reading *reading, enum osp_ec2_kind kind, const char *element,
		       const char *value)
{
	if (!strcmp(element, "/networkNodeSet/item")) {
		add_node(reading, value);
		return;
	}
	if (kind == OSP_EC2_INTERFACE && !strcmp(element, "/groupSet/item/groupId")) {
		add_group(reading, value);
		return;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (fields[i].kinds & KIND(kind) && !strcmp(element, fields[i].element))
			keep(reading, (char *)&reading->record + fields[i].offset, value);
	}
}

/* Takes an element that belongs to no record. */
static void take_of_answer(struct reading *reading, const char *value)
{
	struct osp_ec2_answer *answer = reading->answer;

	if (!strcmp(reading->path, "/nextToken"))
		snprintf(answer->token, sizeof(answer->token), "%s", value);
	else if (!strcmp(reading->path, "/Errors/Error/Code"))
		keep(reading, answer->code, value);
	else if (!strcmp(reading->path, "/Errors/Error/Message"))
		snprintf(answer->message, sizeof(answer->message), "%.*s",
			 (int)sizeof(answer->message) - 1, value);
}

static void take_element(struct reading *reading)
{
	const char *value = trim(reading);

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		size_t count = strlen(shapes[i].path);

		if (strncmp(reading->path, shapes[i].path, count) != 0)
			continue;
		if (!reading->path[count])
			end_record(reading, shapes[i].kind);
		else if (reading->path[count] == '/')
			take_field(reading, shapes[i].kind, reading->path + count, value);
		return;
	}
	take_of_answer(reading, value);
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
	struct reading *reading = data;

	(void)name;
	if (reading->failed)
		return;
	take_element(reading);
	reading->path[reading->lengths[--reading->depth]] = '\0';
	reading->text_bytes = 0;
}

static int report_parser_error(struct reading *reading)
{
	enum XML_Error code = XML_GetErrorCode(reading->parser);

	if (reading->failed)
		return -1;
	if (code == XML_ERROR_NO_MEMORY)
		return osp_error_set(reading->error, "out of memory");
	reading->answer->cut = true;
	return osp_error_at(reading->error, reading->name, (int)OSP_XML_LINE(reading->parser),
			    (int)OSP_XML_COLUMN(reading->parser) + 1, "not well-formed XML: %s",
			    XML_ErrorString(code));
}

int osp_ec2_read(const char *name, const char *text, size_t text_bytes, size_t most,
		 osp_ec2_record_f *record, void *context, struct osp_ec2_answer *answer,
		 struct osp_error *error)
{
	struct reading reading = {.name = name,
				  .error = error,
				  .most = most,
				  .call = record,
				  .context = context,
				  .answer = answer};
	int rc = 0;

	memset(answer, 0, sizeof(*answer));
	if (text_bytes > (size_t)64 * 1024 * 1024)
		return osp_error_at(error, name, 0, 0, "larger than 64 MiB");
	reading.parser = XML_ParserCreate(NULL);
	if (!reading.parser)
		return osp_error_set(error, "out of memory");
	XML_SetUserData(reading.parser, &reading);
	XML_SetElementHandler(reading.parser, on_start, on_end);
	XML_SetCharacterDataHandler(reading.parser, on_text);
	XML_SetEntityDeclHandler(reading.parser, on_entity);
	if (XML_Parse(reading.parser, text, (int)text_bytes, XML_TRUE) != XML_STATUS_OK)
		rc = report_parser_error(&reading);
	XML_ParserFree(reading.parser);
	return rc || reading.failed ? -1 : 0;
}
