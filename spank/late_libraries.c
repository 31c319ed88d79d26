/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * late_libraries.c - libyaml and expat, opened when the first file is read
 *
 * Most steps read none: the node and the rules are kept, and a file of comments needs no parser.
 * Two more libraries would be mapped in each slurmstepd, and copied by each of its forks. So this
 * object defines their functions itself, which open the library and call it. lib/ calls them and
 * knows nothing of this.
 *
 * If a library cannot be opened, no parser is made, as when memory runs out, and the log says why.
 */
#include "onespine_config.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <yaml.h>

#include <slurm/spank.h>

#ifdef OSP_HAVE_EXPAT
#include "lib/bind/expat_position.h"
#endif

#define YAML_LIBRARY  "libyaml-0.so.2"
#define EXPAT_LIBRARY "libexpat.so.1"

struct function {
	const char *name;
	void *place; /* the address of a pointer to it */
};

/*
 * Opens a library. Returns false if it or a function is missing; the log then says so. The library
 * is never closed: it may leave something that is called later.
 */
static bool open_library(const char *library, const struct function *functions, size_t count)
{
	void *object = dlopen(library, RTLD_LAZY | RTLD_LOCAL);

	for (size_t i = 0; i < count; i++) {
		void *found = object ? dlsym(object, functions[i].name) : NULL;

		if (!found) {
			slurm_error("onespine: %s: %s", library, dlerror());
			return false;
		}
		*(void **)functions[i].place = found;
	}
	return true;
}

/* --- libyaml ---------------------------------------------------------------------------------- */

static struct {
	__typeof__(yaml_parser_initialize) *initialize;
	__typeof__(yaml_parser_delete) *delete;
	__typeof__(yaml_parser_set_input_string) *set_input_string;
	__typeof__(yaml_parser_set_encoding) *set_encoding;
	__typeof__(yaml_parser_parse) *parse;
	__typeof__(yaml_event_delete) *delete_event;
} yaml;

int yaml_parser_initialize(yaml_parser_t *parser)
{
	static const struct function functions[] = {
		{"yaml_parser_delete", &yaml.delete},
		{"yaml_parser_set_input_string", &yaml.set_input_string},
		{"yaml_parser_set_encoding", &yaml.set_encoding},
		{"yaml_parser_parse", &yaml.parse},
		{"yaml_event_delete", &yaml.delete_event},
		{"yaml_parser_initialize", &yaml.initialize},
	};

	if (!yaml.initialize &&
	    !open_library(YAML_LIBRARY, functions, sizeof(functions) / sizeof(functions[0])))
		return 0;
	return yaml.initialize(parser);
}

void yaml_parser_delete(yaml_parser_t *parser)
{
	yaml.delete(parser);
}

void yaml_parser_set_input_string(yaml_parser_t *parser, const unsigned char *input, size_t size)
{
	yaml.set_input_string(parser, input, size);
}

void yaml_parser_set_encoding(yaml_parser_t *parser, yaml_encoding_t encoding)
{
	yaml.set_encoding(parser, encoding);
}

int yaml_parser_parse(yaml_parser_t *parser, yaml_event_t *event)
{
	return yaml.parse(parser, event);
}

void yaml_event_delete(yaml_event_t *event)
{
	yaml.delete_event(event);
}

/* --- expat ------------------------------------------------------------------------------------ */

#ifdef OSP_HAVE_EXPAT

#define WORDS(name)	   #name
#define NAME_OF(expansion) WORDS(expansion)

static struct {
	__typeof__(XML_ParserCreate) *create;
	__typeof__(XML_ParserFree) *free;
	__typeof__(XML_SetUserData) *set_user_data;
	__typeof__(XML_SetElementHandler) *set_element_handler;
	__typeof__(XML_SetEntityDeclHandler) *set_entity_handler;
	__typeof__(XML_Parse) *parse;
	__typeof__(XML_StopParser) *stop;
	__typeof__(XML_GetErrorCode) *get_error;
	__typeof__(XML_ErrorString) *error_string;
	__typeof__(OSP_XML_LINE) *get_line;
	__typeof__(OSP_XML_COLUMN) *get_column;
} expat;

XML_Parser XML_ParserCreate(const XML_Char *encoding)
{
	static const struct function functions[] = {
		{"XML_ParserFree", &expat.free},
		{"XML_SetUserData", &expat.set_user_data},
		{"XML_SetElementHandler", &expat.set_element_handler},
		{"XML_SetEntityDeclHandler", &expat.set_entity_handler},
		{"XML_Parse", &expat.parse},
		{"XML_StopParser", &expat.stop},
		{"XML_GetErrorCode", &expat.get_error},
		{"XML_ErrorString", &expat.error_string},
		{NAME_OF(OSP_XML_LINE), &expat.get_line},
		{NAME_OF(OSP_XML_COLUMN), &expat.get_column},
		{"XML_ParserCreate", &expat.create},
	};

	if (!expat.create &&
	    !open_library(EXPAT_LIBRARY, functions, sizeof(functions) / sizeof(functions[0])))
		return NULL;
	return expat.create(encoding);
}

void XML_ParserFree(XML_Parser parser)
{
	if (parser)
		expat.free(parser);
}

void XML_SetUserData(XML_Parser parser, void *data)
{
	expat.set_user_data(parser, data);
}

void XML_SetElementHandler(XML_Parser parser, XML_StartElementHandler start,
			   XML_EndElementHandler end)
{
	expat.set_element_handler(parser, start, end);
}

void XML_SetEntityDeclHandler(XML_Parser parser, XML_EntityDeclHandler handler)
{
	expat.set_entity_handler(parser, handler);
}

enum XML_Status XML_Parse(XML_Parser parser, const char *text, int bytes, int is_last)
{
	return expat.parse(parser, text, bytes, is_last);
}

enum XML_Status XML_StopParser(XML_Parser parser, XML_Bool resumable)
{
	return expat.stop(parser, resumable);
}

enum XML_Error XML_GetErrorCode(XML_Parser parser)
{
	return expat.get_error(parser);
}

const XML_LChar *XML_ErrorString(enum XML_Error code)
{
	return expat.error_string(code);
}

osp_xml_position OSP_XML_LINE(XML_Parser parser)
{
	return expat.get_line(parser);
}

osp_xml_position OSP_XML_COLUMN(XML_Parser parser)
{
	return expat.get_column(parser);
}

#endif
