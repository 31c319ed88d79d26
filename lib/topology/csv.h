/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * csv.h - comma-separated values, field by field
 *
 * RFC 4180: fields in double quotes may hold commas, line ends and doubled quotes; lines end in LF
 * or CR LF. Beyond it, a UTF-8 mark at the start, empty lines, and blanks around a field without
 * quotes are ignored. Inside lib/ only. One thread per reader.
 */
#ifndef OSP_CSV_H
#define OSP_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

#define OSP_CSV_FIELDS_MAX 256

struct osp_csv_field {
	const char *text; /* terminated, until the next line is read */
	int line;
	int column;
};

struct osp_csv {
	const char *file;
	const char *text;
	size_t text_bytes;
	size_t at;
	int line;
	int column;
	char *buffer; /* the fields of the line, one after the other */
	size_t buffer_room;
	struct osp_csv_field fields[OSP_CSV_FIELDS_MAX];
	uint32_t field_count;
};

void osp_csv_start(struct osp_csv *csv, const char *file, const char *text, size_t text_bytes);
void osp_csv_end(struct osp_csv *csv);

/*
 * Reads the next line that is not empty into `fields`. Returns 1; 0 if there is none; -1 with
 * `error` set.
 */
int osp_csv_next(struct osp_csv *csv, struct osp_error *error);

#endif
