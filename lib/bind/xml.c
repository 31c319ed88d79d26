/* SPDX-License-Identifier: GPL-2.0-or-later */
/* xml.c - reads XML element by element, with places for errors */
#include "onespine_config.h"

#include "lib/bind/xml.h"

#include <ctype.h>
#include <string.h>

#ifdef OSP_HAVE_EXPAT
#include "lib/bind/expat_position.h"

struct osp_xml {
	XML_Parser parser;
	const struct osp_xml_handler *handler;
	void *context;
	const char *file;
	struct osp_error *error;
	bool failed;
};

/* Returns the column, in bytes, where the element begins, from 1. */
static int column_of(const struct osp_xml *xml)
{
	return (int)OSP_XML_COLUMN(xml->parser) + 1;
}

int osp_xml_fail(struct osp_xml *xml, const char *text)
{
	if (!xml->failed)
		osp_error_at(xml->error, xml->file, osp_xml_line(xml), column_of(xml), "%s", text);
	xml->failed = true;
	XML_StopParser(xml->parser, XML_FALSE);
	return -1;
}

int osp_xml_line(const struct osp_xml *xml)
{
	return (int)OSP_XML_LINE(xml->parser);
}

static void XMLCALL on_start(void *data, const XML_Char *name, const XML_Char **attributes)
{
	struct osp_xml *xml = data;

	if (!xml->failed && xml->handler && xml->handler->start)
		xml->handler->start(xml, name, attributes, xml->context);
}

static void XMLCALL on_end(void *data, const XML_Char *name)
{
	struct osp_xml *xml = data;

	(void)name;
	if (!xml->failed && xml->handler && xml->handler->end)
		xml->handler->end(xml, xml->context);
}

/* Refuses entities, which could grow without bound or name files. */
static void XMLCALL on_entity(void *data, const XML_Char *name, int is_parameter,
			      const XML_Char *value, int value_bytes, const XML_Char *base,
			      const XML_Char *system_id, const XML_Char *public_id,
			      const XML_Char *notation)
{
	(void)name, (void)is_parameter, (void)value, (void)value_bytes;
	(void)base, (void)system_id, (void)public_id, (void)notation;
	osp_xml_fail(data, "entity declarations are not allowed here");
}

static int report_parser_error(struct osp_xml *xml)
{
	enum XML_Error code = XML_GetErrorCode(xml->parser);

	if (xml->failed)
		return -1;
	if (code == XML_ERROR_NO_MEMORY)
		return osp_error_set(xml->error, "out of memory");
	return osp_error_at(xml->error, xml->file, osp_xml_line(xml), column_of(xml),
			    "not well-formed XML: %s", XML_ErrorString(code));
}

int osp_xml_parse(const char *file, const char *text, size_t text_bytes,
		  const struct osp_xml_handler *handler, void *context, struct osp_error *error)
{
	struct osp_xml xml = {.handler = handler, .context = context, .file = file, .error = error};
	int rc = 0;

	if (text_bytes > OSP_XML_BYTES_MAX)
		return osp_error_at(error, file, 0, 0, "larger than %d MiB",
				    (int)(OSP_XML_BYTES_MAX >> 20));
	xml.parser = XML_ParserCreate(NULL);
	if (!xml.parser)
		return osp_error_set(error, "out of memory");
	XML_SetUserData(xml.parser, &xml);
	XML_SetElementHandler(xml.parser, on_start, on_end);
	XML_SetEntityDeclHandler(xml.parser, on_entity);
	if (XML_Parse(xml.parser, text, (int)text_bytes, XML_TRUE) != XML_STATUS_OK)
		rc = report_parser_error(&xml);
	XML_ParserFree(xml.parser);
	return rc;
}

#else

int osp_xml_parse(const char *file, const char *text, size_t text_bytes,
		  const struct osp_xml_handler *handler, void *context, struct osp_error *error)
{
	(void)text, (void)text_bytes, (void)context;
	if (!handler)
		return 0;
	return osp_error_at(
		error, file, 0, 0,
		"this build reads no XML of NCCL: expat was not found when it was configured");
}

int osp_xml_fail(struct osp_xml *xml, const char *text)
{
	(void)xml, (void)text;
	return -1;
}

int osp_xml_line(const struct osp_xml *xml)
{
	(void)xml;
	return 0;
}

#endif

/* Returns the end of what begins at `at` with `opening`, or NULL if something else does. */
static const char *skip(const char *at, const char *end, const char *opening, const char *closing)
{
	const char *found;

	if ((size_t)(end - at) < strlen(opening) || memcmp(at, opening, strlen(opening)) != 0)
		return NULL;
	found = memmem(at, (size_t)(end - at), closing, strlen(closing));
	return found ? found + strlen(closing) : end;
}

void osp_xml_first_element(const char *text, size_t text_bytes, char *name, size_t name_bytes)
{
	const char *end = text + text_bytes;
	const char *next;
	size_t length = 0;

	*name = '\0';
	for (;;) {
		text = memchr(text, '<', (size_t)(end - text));
		if (!text)
			return;
		next = skip(text, end, "<!--", "-->");
		if (!next)
			next = skip(text, end, "<?", "?>");
		if (!next)
			next = skip(text, end, "<!", ">");
		if (!next)
			break;
		text = next;
	}
	for (text++; text < end && isalnum((unsigned char)*text) && length + 1 < name_bytes; text++)
		name[length++] = *text;
	name[length] = '\0';
}
