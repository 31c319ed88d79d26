/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import.c - what the readers of several files share: the hosts read so far, warnings
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/room.h"
#include "lib/base/text.h"
#include "lib/topology/ib_fabric.h"
#include "lib/topology/import_private.h"

struct osp_import *osp_import_new(const struct osp_import_options *options)
{
	struct osp_import *import = calloc(1, sizeof(*import));

	if (import && options)
		import->options = *options;
	return import;
}

void osp_import_free(struct osp_import *import)
{
	if (!import)
		return;
	osp_ib_fabric_free(import->ib);
	osp_arena_free(&import->arena);
	free(import->hosts);
	free(import->warnings);
	free(import);
}

const char *osp_import_where(const struct osp_place_in_file *place, char *buffer,
			     size_t buffer_bytes)
{
	if (place->line)
		snprintf(buffer, buffer_bytes, "%.255s:%d", place->file, place->line);
	else
		snprintf(buffer, buffer_bytes, "%.255s", place->file);
	return buffer;
}

int osp_import_no_memory(struct osp_error *error)
{
	return osp_error_set(error, "out of memory");
}

int osp_import_copy(struct osp_import *import, const char *string, const char **copy)
{
	*copy = string ? osp_arena_copy(&import->arena, string, strlen(string)) : NULL;
	return string && !*copy ? -1 : 0;
}

struct osp_import_host *osp_import_add_host(struct osp_import *import,
					    const struct osp_place_in_file *place,
					    struct osp_error *error)
{
	struct osp_import_host *host;

	if (import->host_count == OSP_NODES_MAX) {
		osp_error_at(error, place->file, place->line, place->column, "more than %d hosts",
			     OSP_NODES_MAX);
		return NULL;
	}
	if (osp_make_room((void **)&import->hosts, &import->host_room, import->host_count,
			  sizeof(*import->hosts))) {
		osp_import_no_memory(error);
		return NULL;
	}
	host = &import->hosts[import->host_count++];
	memset(host, 0, sizeof(*host));
	host->place = *place;
	return host;
}

int osp_import_warn(struct osp_import *import, struct osp_error *error, const char *format, ...)
{
	char text[OSP_ERROR_TEXT_BYTES];
	const char *copy;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (osp_import_copy(import, text, &copy) ||
	    osp_make_room((void **)&import->warnings, &import->warning_room, import->warning_count,
			  sizeof(*import->warnings)))
		return osp_import_no_memory(error);
	import->warnings[import->warning_count++] = copy;
	return 0;
}

int osp_import_missing(struct osp_import *import, const struct osp_place_in_file *place,
		       struct osp_error *error, const char *format, ...)
{
	char text[OSP_ERROR_TEXT_BYTES], where[OSP_IMPORT_WHERE_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (import->options.allow_missing)
		return osp_import_warn(import, error, "%s: %.200s; left out",
				       osp_import_where(place, where, sizeof(where)), text);
	return osp_error_at(error, place->file, place->line, place->column,
			    "%.400s; --allow-missing keeps the rest", text);
}

int osp_import_set_kind(struct osp_import *import, enum osp_import_kind kind, const char *file,
			struct osp_error *error)
{
	if (import->finished)
		return osp_error_at(error, file, 0, 0, "this import is finished already");
	if (import->kind != OSP_IMPORT_NOTHING && import->kind != kind)
		return osp_error_at(error, file, 0, 0,
				    "files of two sources do not mix in one import");
	import->kind = kind;
	return 0;
}

void osp_import_source(struct osp_import *import, const char *source)
{
	import->source = source;
}

size_t osp_import_warning_count(const struct osp_import *import)
{
	return import->warning_count;
}

const char *osp_import_warning(const struct osp_import *import, size_t index)
{
	return import->warnings[index];
}

const char *osp_import_level_name(const struct osp_import *import, uint32_t layer)
{
	const struct osp_import_options *options = &import->options;

	if (!options->level_names)
		return osp_default_level_name(layer);
	return layer <= options->level_name_count ? options->level_names[layer - 1] : "layer";
}

int osp_import_check_levels(struct osp_import *import, uint32_t layer_count,
			    struct osp_error *error)
{
	const struct osp_import_options *options = &import->options;
	size_t count = options->level_name_count;

	if (!options->level_names || count == layer_count)
		return 0;
	if (count < layer_count)
		return osp_error_set(error, "the fabric has %u layers, but only %zu %s",
				     layer_count, count,
				     count == 1 ? "level name is given" : "level names are given");
	if (import->kind == OSP_IMPORT_CSV)
		return osp_error_set(error, "%u column%s of switches, but %zu level names",
				     layer_count, osp_plural_s(layer_count), count);
	return osp_import_warn(import, error, "no level is called %s: the fabric has %u layer%s",
			       options->level_names[layer_count], layer_count,
			       osp_plural_s(layer_count));
}
