/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * import_csv.c - tables of hosts and their switches
 *
 * A table has one host per line and the switches above it, in columns. The columns' names say which
 * is which; otherwise the top layer comes first. Real tables number their switches anew under each
 * parent ("S14" under P10 and under P12 are two switches), so the path from the top identifies a
 * switch: if a layer's bare names are ambiguous, all switches of that layer are named PARENT/NAME
 * ("P10/S14"), see import_names.c.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/topology/csv.h"
#include "lib/topology/pages.h"
#include "lib/base/name_table.h"
#include "lib/base/text.h"
#include "lib/topology/import_private.h"

/* The fields of a line with the host and its switches. */
struct columns {
	uint32_t field_count; /* of the header, and of every line */
	int line, column;     /* of the header's column of hosts */
	uint32_t host;
	uint32_t switches[OSP_CSV_FIELDS_MAX]; /* top layer first */
	uint32_t switch_count;
	const char *names[OSP_CSV_FIELDS_MAX]; /* the header's fields, copied */
};

static int refuse_field(const struct osp_csv *csv, uint32_t field, struct osp_error *error,
			const char *format, ...) __attribute__((format(printf, 4, 5)));

static int refuse_field(const struct osp_csv *csv, uint32_t field, struct osp_error *error,
			const char *format, ...)
{
	char text[OSP_ERROR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return osp_error_at(error, csv->file, csv->fields[field].line, csv->fields[field].column,
			    "%s", text);
}

/* --- the header ------------------------------------------------------------------------------- */

static int take_names(struct osp_import *import, const struct osp_csv *csv, struct columns *columns,
		      struct osp_error *error)
{
	columns->field_count = csv->field_count;
	for (uint32_t i = 0; i < csv->field_count; i++) {
		const char *name = csv->fields[i].text;

		if (!*name)
			return refuse_field(csv, i, error, "a column without a name");
		for (uint32_t before = 0; before < i; before++) {
			if (!strcmp(columns->names[before], name))
				return refuse_field(csv, i, error, "column '%.64s' is there twice",
						    name);
		}
		if (osp_import_copy(import, name, &columns->names[i]))
			return osp_import_no_memory(error);
	}
	if (csv->field_count < 2)
		return refuse_field(csv, 0, error,
				    "a header with a column of hosts and one for each layer of "
				    "switches is expected, not '%.64s' alone",
				    csv->fields[0].text);
	return 0;
}

static int find_column(const struct osp_csv *csv, const struct columns *columns, const char *name,
		       uint32_t *column, struct osp_error *error)
{
	const char *nearest;
	char all[200] = "";

	for (uint32_t i = 0; i < columns->field_count; i++) {
		if (!strcmp(columns->names[i], name)) {
			*column = i;
			return 0;
		}
	}
	nearest = osp_nearest_word(name, columns->names, columns->field_count);
	if (nearest)
		return osp_error_at(error, csv->file, csv->fields[0].line, csv->fields[0].column,
				    "there is no column '%.64s'; did you mean %.64s?", name,
				    nearest);
	for (uint32_t i = 0; i < columns->field_count; i++) {
		size_t used = strlen(all);

		snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", columns->names[i]);
	}
	return osp_error_at(error, csv->file, csv->fields[0].line, csv->fields[0].column,
			    "there is no column '%.64s' (%s)", name, all);
}

/* Usual names of columns of hosts and of switches, with the height of the switches. */
static const struct {
	const char *name;
	uint32_t height; /* 0: hosts */
} known_columns[] = {
	{"host", 0},   {"hostname", 0},	  {"node", 0},	      {"nodename", 0}, {"server", 0},
	{"nvlink", 1}, {"leaf", 2},	  {"tor", 2},	      {"rack", 2},     {"spine", 3},
	{"pod", 3},    {"superspine", 4}, {"super-spine", 4}, {"core", 4},
};

/* The levels of these heights. */
static const char *const known_levels[] = {NULL, "nvlink", "leaf", "spine", "core"};

#define KNOWN_COLUMNS (sizeof(known_columns) / sizeof(known_columns[0]))
#define HIGHEST	      4

/*
 * Returns the height that a column's name gives: "Leaf", "leaf_switch" and "leaf switch" are
 * leaves. -1: the name says nothing.
 */
static int height_of(const char *name)
{
	for (size_t i = 0; i < KNOWN_COLUMNS; i++) {
		size_t length = strlen(known_columns[i].name);

		if (strncasecmp(name, known_columns[i].name, length) == 0 &&
		    (!name[length] || strchr("_ -", name[length])))
			return (int)known_columns[i].height;
	}
	return -1;
}

/*
 * Finds the column of hosts: the one whose name says so, else the first. Returns whether a name
 * says so.
 */
static bool find_hosts(const struct columns *columns, uint32_t *host)
{
	uint32_t found = 0;

	*host = 0;
	for (uint32_t i = 0; i < columns->field_count; i++)
		if (height_of(columns->names[i]) == 0 && !found++)
			*host = i;
	if (found != 1)
		*host = 0;
	return found == 1;
}

/*
 * Orders the other columns, top layer first by their names. Returns false if the names do not give
 * the order; the columns then keep theirs.
 */
static bool order_switches(const struct columns *columns, uint32_t host, uint32_t *order)
{
	uint32_t at[HIGHEST + 1] = {0}, seen[HIGHEST + 1] = {0}, count = 0;
	bool reported = true;

	for (uint32_t i = 0; i < columns->field_count; i++) {
		int height = height_of(columns->names[i]);

		if (i == host)
			continue;
		order[count++] = i;
		reported = reported && height > 0 && !seen[height]++;
		if (height > 0)
			at[height] = i;
	}
	if (count == 1 || !reported)
		return count == 1;
	count = 0;
	for (uint32_t height = HIGHEST; height > 0; height--)
		if (seen[height])
			order[count++] = at[height];
	return true;
}

/* Returns whether a column has the name of another level than the one that it becomes. */
static bool becomes_another(const struct osp_import *import, const struct columns *columns)
{
	for (uint32_t i = 0; i < columns->switch_count; i++) {
		int height = height_of(columns->names[columns->switches[i]]);

		if (!import->options.level_names && height > 0 &&
		    strcmp(known_levels[height],
			   osp_import_level_name(import, columns->switch_count - i)) != 0)
			return true;
	}
	return false;
}

/* Returns whether each column of switches has the name of the level that it becomes. */
static bool all_agree(const struct osp_import *import, const struct columns *columns)
{
	for (uint32_t i = 0; i < columns->switch_count; i++)
		if (strcasecmp(columns->names[columns->switches[i]],
			       osp_import_level_name(import, columns->switch_count - i)) != 0)
			return false;
	return true;
}

/* Warns how the columns are taken. */
static int warn_of_columns(struct osp_import *import, const struct osp_csv *csv,
			   const struct columns *columns, struct osp_error *error)
{
	char all[300] = "";

	for (uint32_t i = 0; i < columns->switch_count; i++) {
		size_t used = strlen(all);

		snprintf(all + used, sizeof(all) - used, "%s%s as %s", i ? ", " : "",
			 columns->names[columns->switches[i]],
			 osp_import_level_name(import, columns->switch_count - i));
	}
	return osp_import_warn(import, error,
			       "%s: column %.64s is taken for the hosts and, top layer first, %s "
			       "for their switches; %s can say otherwise",
			       csv->file, columns->names[columns->host], all,
			       import->options.csv_columns ? "--levels" : "--columns and --levels");
}

/* Takes the columns by the header's names. Warns how it takes them if the names do not say. */
static int take_by_names(struct osp_import *import, const struct osp_csv *csv,
			 struct columns *columns, struct osp_error *error)
{
	bool hosts_reported = find_hosts(columns, &columns->host);
	bool order_reported = order_switches(columns, columns->host, columns->switches);

	columns->switch_count = columns->field_count - 1;
	return hosts_reported && ((order_reported && !becomes_another(import, columns)) ||
				  all_agree(import, columns))
		       ? 0
		       : warn_of_columns(import, csv, columns, error);
}

/* Refuses an order of columns that contradicts their names. */
static int check_asked_order(const struct osp_csv *csv, const struct columns *columns,
			     struct osp_error *error)
{
	for (uint32_t i = 0; i < columns->switch_count; i++)
		for (uint32_t below = i + 1; below < columns->switch_count; below++) {
			const char *upper = columns->names[columns->switches[i]];
			const char *lower = columns->names[columns->switches[below]];

			if (height_of(upper) > 0 && height_of(upper) < height_of(lower))
				return osp_error_at(error, csv->file, csv->fields[0].line,
						    csv->fields[0].column,
						    "--columns: the host's column and then the top "
						    "layer first are expected, but %.64s comes "
						    "before %.64s, which is above it",
						    upper, lower);
		}
	return 0;
}

/* Finds the columns that the user asked for. */
static int take_asked(struct osp_import *import, const struct osp_csv *csv, struct columns *columns,
		      size_t count, struct osp_error *error)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t *column = i ? &columns->switches[i - 1] : &columns->host;

		if (find_column(csv, columns, import->options.csv_columns[i], column, error))
			return -1;
	}
	columns->switch_count = (uint32_t)count - 1;
	if (check_asked_order(csv, columns, error))
		return -1;
	return becomes_another(import, columns) ? warn_of_columns(import, csv, columns, error) : 0;
}

static int choose_columns(struct osp_import *import, const struct osp_csv *csv,
			  struct columns *columns, struct osp_error *error)
{
	const char *const *asked = import->options.csv_columns;
	size_t count = asked ? import->options.csv_column_count : columns->field_count;

	if (count < 2)
		return osp_error_set(error,
				     "a column of hosts and at least one of switches are needed");
	if (count - 1 > OSP_IMPORT_LAYERS_MAX)
		return osp_error_at(error, csv->file, csv->fields[0].line, csv->fields[0].column,
				    "%zu columns of switches; at most %d are expected", count - 1,
				    OSP_IMPORT_LAYERS_MAX);
	return asked ? take_asked(import, csv, columns, count, error)
		     : take_by_names(import, csv, columns, error);
}

/* Keeps the header for osp_import_check_columns(). */
static int keep_header(struct osp_import *import, const struct osp_csv *csv,
		       const struct columns *columns)
{
	const struct osp_csv_field *field = &csv->fields[columns->host];
	const char **names = osp_arena_take(&import->arena, columns->switch_count * sizeof(*names));

	if (!names)
		return -1;
	for (uint32_t i = 0; i < columns->switch_count; i++)
		names[i] = columns->names[columns->switches[i]];
	import->csv_names = names;
	import->csv_host = columns->names[columns->host];
	import->csv_place = (struct osp_place_in_file){csv->file, field->line, field->column};
	return 0;
}

static int read_header(struct osp_import *import, struct osp_csv *csv, struct columns *columns,
		       struct osp_error *error)
{
	int rc = osp_csv_next(csv, error);

	if (rc <= 0)
		return rc ? rc : osp_error_at(error, csv->file, 0, 0, "no header line in this CSV");
	if (take_names(import, csv, columns, error) || choose_columns(import, csv, columns, error))
		return -1;
	columns->line = csv->fields[columns->host].line;
	columns->column = csv->fields[columns->host].column;
	if (import->csv_layers && import->csv_layers != columns->switch_count)
		return osp_error_at(error, csv->file, csv->fields[0].line, csv->fields[0].column,
				    "%u layers of switches here, but %u in the CSV before",
				    columns->switch_count, import->csv_layers);
	if (!import->csv_names && keep_header(import, csv, columns))
		return osp_import_no_memory(error);
	import->csv_layers = columns->switch_count;
	return 0;
}

/* --- the lines -------------------------------------------------------------------------------- */

/* Returns whether two names are alike but for their numbers, and have some: "node-1", "node-2". */
static bool are_of_one_kind(const char *a, const char *b)
{
	static const char digits[] = "0123456789";
	bool numbered = false;

	while (*a || *b) {
		size_t here = strspn(a, digits), there = strspn(b, digits);

		if (!here != !there)
			return false;
		numbered = numbered || here;
		a += here;
		b += there;
		if (*a != *b)
			return false;
		if (*a) {
			a++;
			b++;
		}
	}
	return numbered;
}

/* Refuses a table whose header is a host as the first line below is. */
static int check_header(const struct osp_csv *csv, const struct columns *columns,
			struct osp_error *error)
{
	const char *header = columns->names[columns->host];
	const char *first = columns->host < csv->field_count ? csv->fields[columns->host].text : "";

	return are_of_one_kind(header, first)
		       ? osp_error_at(error, csv->file, columns->line, columns->column,
				      "a header line that names the columns, such as "
				      "host,spine,leaf, is expected: '%.64s' looks like a host, as "
				      "'%.64s' below it",
				      header, first)
		       : 0;
}

/* Counts the top layers whose cells are filled in; the cells below must then be empty. */
static int count_known(const struct osp_csv *csv, const struct columns *columns, uint32_t *known,
		       struct osp_error *error)
{
	uint32_t count = columns->switch_count;

	*known = 0;
	while (*known < count && csv->fields[columns->switches[*known]].text[0])
		(*known)++;
	for (uint32_t i = *known; i < count; i++) {
		if (csv->fields[columns->switches[i]].text[0])
			return refuse_field(csv, columns->switches[*known], error,
					    "no %.64s here, but a switch below it: only the lowest "
					    "layers may be unknown",
					    columns->names[columns->switches[*known]]);
	}
	return 0;
}

static int take_line(struct osp_import *import, const struct osp_csv *csv,
		     const struct columns *columns, struct osp_error *error)
{
	const struct osp_csv_field *field = &csv->fields[columns->host];
	struct osp_place_in_file place = {csv->file, field->line, field->column};
	struct osp_import_host *host;
	uint32_t known;

	if (csv->field_count != columns->field_count)
		return osp_error_at(error, csv->file, csv->fields[0].line, csv->fields[0].column,
				    "%u fields; the header has %u", csv->field_count,
				    columns->field_count);
	if (!*field->text)
		return refuse_field(csv, columns->host, error, "a host's name is missing");
	if (count_known(csv, columns, &known, error))
		return -1;
	host = osp_import_add_host(import, &place, error);
	if (!host)
		return -1;
	host->what = "host";
	host->layer = columns->switch_count - known + 1;
	host->switch_count = known;
	host->switches = osp_arena_take(&import->arena, (known + 1) * sizeof(*host->switches));
	if (!host->switches || osp_import_copy(import, field->text, &host->id))
		return osp_import_no_memory(error);
	for (uint32_t i = 0; i < known; i++) {
		field = &csv->fields[columns->switches[known - 1 - i]];
		if (osp_import_copy(import, field->text, &host->switches[i]))
			return osp_import_no_memory(error);
	}
	return 0;
}

static int read_table(struct osp_import *import, struct osp_csv *csv, struct osp_error *error)
{
	struct columns columns;
	bool first = true;
	int rc;

	memset(&columns, 0, sizeof(columns));
	if (read_header(import, csv, &columns, error))
		return -1;
	while ((rc = osp_csv_next(csv, error)) > 0) {
		if ((first && check_header(csv, &columns, error)) ||
		    take_line(import, csv, &columns, error))
			return -1;
		first = false;
	}
	return rc;
}

int osp_import_csv(struct osp_import *import, const char *file, const char *text, size_t text_bytes,
		   struct osp_error *error)
{
	enum osp_file_kind kind = osp_file_kind(text, text_bytes);
	uint32_t host_count = import->host_count, layers = import->csv_layers;
	struct osp_csv csv;
	const char *name;
	int rc;

	if (osp_import_set_kind(import, OSP_IMPORT_CSV, file, error))
		return -1;
	if (text_bytes > OSP_TOPOLOGY_FILE_BYTES_MAX)
		return osp_error_at(error, file, 0, 0, "larger than %zu bytes",
				    OSP_TOPOLOGY_FILE_BYTES_MAX);
	if (kind != OSP_FILE_CSV && kind != OSP_FILE_OTHER)
		return osp_refuse_kind(file, "CSV of hosts and switches", kind, error);
	if (osp_import_copy(import, file, &name))
		return osp_import_no_memory(error);
	osp_csv_start(&csv, name, text, text_bytes);
	rc = read_table(import, &csv, error);
	osp_csv_end(&csv);
	if (rc) {
		import->host_count = host_count;
		import->csv_layers = layers;
	}
	return rc;
}

/* --- the lines against the header --------------------------------------------------------- */

/* Tags of two neighbouring columns, the upper and the lower. */
enum { TAG_UPPER, TAG_LOWER };

struct pair {
	struct osp_name_table table; /* for each switch, the first host below it */
	uint32_t layer;		     /* of the lower column, from 0 */
	uint32_t lowers;	     /* a single one may have the same name under each parent */
	uint32_t shared; /* a host whose lower switch is below two upper ones; 0: none */
	bool single;	 /* each upper switch has one lower switch */
};

/* Returns the switch of that column above a host; NULL: not known. */
static const char *above(const struct osp_import_host *host, uint32_t layer)
{
	uint32_t lowest = host->layer - 1;

	return layer >= lowest && layer - lowest < host->switch_count
		       ? host->switches[layer - lowest]
		       : NULL;
}

static int meet(struct osp_import *import, struct pair *pair, uint32_t index)
{
	const char *upper = above(&import->hosts[index], pair->layer + 1);
	const char *lower = above(&import->hosts[index], pair->layer);
	uint32_t first;

	if (!upper || !lower)
		return 0;
	first = osp_name_table_find(&pair->table, TAG_UPPER, upper);
	if (first == OSP_NAME_ABSENT) {
		if (osp_name_table_add(&pair->table, TAG_UPPER, upper, index))
			return -1;
	} else if (strcmp(above(&import->hosts[first], pair->layer), lower) != 0) {
		pair->single = false;
	}
	first = osp_name_table_find(&pair->table, TAG_LOWER, lower);
	if (first == OSP_NAME_ABSENT) {
		pair->lowers++;
		return osp_name_table_add(&pair->table, TAG_LOWER, lower, index);
	}
	if (strcmp(above(&import->hosts[first], pair->layer + 1), upper) != 0)
		pair->shared = index;
	return 0;
}

static int refuse_swapped(const struct osp_import *import, const struct pair *pair,
			  struct osp_error *error)
{
	uint32_t count = import->csv_layers, at = count - 2 - pair->layer;
	const char *upper = import->csv_names[at], *lower = import->csv_names[at + 1];
	char as_is[200] = "", swapped[200] = "", cure[300];

	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = i == at ? at + 1 : i == at + 1 ? at : i;

		snprintf(as_is + strlen(as_is), sizeof(as_is) - strlen(as_is), ",%s",
			 import->csv_names[i]);
		snprintf(swapped + strlen(swapped), sizeof(swapped) - strlen(swapped), ",%s",
			 import->csv_names[other]);
	}
	if (height_of(upper) > 0 && height_of(lower) > 0) /* the header says so, and is wrong */
		snprintf(cure, sizeof(cure), "swap these two names in the header");
	else
		snprintf(cure, sizeof(cure), "say --columns=%.64s%s", import->csv_host, swapped);
	return osp_error_at(
		error, import->csv_place.file, import->csv_place.line, import->csv_place.column,
		"%.32s is taken for the layer above %.32s, but each %.32s has one %.32s, "
		"and %.32s %.32s is below several: %.280s, or --columns=%.32s%s if names "
		"of %.32s mean something only below their %.32s",
		upper, lower, upper, lower, lower, above(&import->hosts[pair->shared], pair->layer),
		cure, import->csv_host, as_is, lower, upper);
}

int osp_import_check_columns(struct osp_import *import, struct osp_error *error)
{
	int rc = 0;

	for (uint32_t layer = 0;
	     !rc && !import->options.csv_columns && layer + 1 < import->csv_layers; layer++) {
		struct pair pair = {.layer = layer, .single = true};

		for (uint32_t i = 0; !rc && i < import->host_count; i++)
			rc = meet(import, &pair, i) ? osp_import_no_memory(error) : 0;
		if (!rc && pair.single && pair.shared && pair.lowers > 1)
			rc = refuse_swapped(import, &pair, error);
		osp_name_table_free(&pair.table);
	}
	return rc;
}
