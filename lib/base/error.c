/* SPDX-License-Identifier: GPL-2.0-or-later */
/* error.c - what went wrong, in words, with the place in the file */
#include "lib/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clean.h"

void osp_error_clear(struct osp_error *error)
{
	if (error)
		memset(error, 0, sizeof(*error));
}

static int set_place(struct osp_error *error, const char *file, int line, int column,
		     const char *format, va_list args)
{
	if (!error || error->text[0])
		return -1;
	snprintf(error->file, sizeof(error->file), "%s", file ? file : "");
	error->line = line;
	error->column = column;
	vsnprintf(error->text, sizeof(error->text), format, args);
	osp_clean(error->text); /* it may quote a user's word */
	return -1;
}

int osp_error_set(struct osp_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_place(error, NULL, 0, 0, format, args);
	va_end(args);
	return -1;
}

int osp_error_at(struct osp_error *error, const char *file, int line, int column,
		 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_place(error, file, line, column, format, args);
	va_end(args);
	return -1;
}

int osp_error_byte(struct osp_error *error, int column, unsigned char byte, const char *where)
{
	return byte == ' ' || byte == '\t'
		       ? osp_error_at(error, NULL, 0, column,
				      "a blank is not allowed %s; leave it out", where)
		       : osp_error_at(error, NULL, 0, column, "the byte 0x%02x is not allowed %s",
				      byte, where);
}

const char *osp_error_format(const struct osp_error *error, char *buffer, size_t buffer_bytes)
{
	char place[OSP_ERROR_FILE_BYTES + 32] = "";

	if (error->file[0] && error->line > 0 && error->column > 0)
		snprintf(place, sizeof(place), "%s:%d:%d: ", error->file, error->line,
			 error->column);
	else if (error->file[0] && error->line > 0)
		snprintf(place, sizeof(place), "%s:%d: ", error->file, error->line);
	else if (error->file[0])
		snprintf(place, sizeof(place), "%s: ", error->file);
	snprintf(buffer, buffer_bytes, "%s%s", place, error->text);
	return osp_clean(buffer); /* the file's name may need it */
}
