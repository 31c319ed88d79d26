/* SPDX-License-Identifier: GPL-2.0-or-later */
/* render_text.c - the map for a terminal */
#include "tools/picture/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/policy/waiting.h"
#include "lib/policy/sentences.h"
#include "host/slurm/gang.h"

#define JOBS_SHOWN	24
#define GANGS_SHOWN	8
#define WIDE_ROW_NODES	32 /* rows up to this long get cells of two columns */
#define LINE_CELLS	64 /* longer rows go on in the next line */
#define BOX_GAP_COLUMNS 2
#define ENTRY_GAP	3

#define RESET		"\033[0m"
#define DIM		"\033[2m"
#define BOLD		"\033[1m"

static const uint8_t job_colours[OSP_MAP_COLOURS] = {33, 37,  172, 97,	71, 175,
						     74, 130, 25,  143, 30, 209};

/* One line of cells inside a box. */
struct segment {
	uint32_t domain; /* names the row; OSP_NO_DOMAIN: nothing to name */
	bool continues;	 /* the row of the line before */
	uint32_t first_rank;
	uint32_t end_rank;
};

struct page {
	const struct osp_map *map;
	const struct osp_map_style *style;
	struct osp_text *text;
	struct segment *segments;
	uint32_t *first_segment; /* of each box, and the end */
	uint32_t cell_columns;
	uint32_t label_columns;
	uint32_t inner_columns; /* of a box, without its frame */
	uint32_t boxes_a_line;
};

static void add_colour(const struct page *page, const char *escape)
{
	if (page->style->colours)
		osp_text_add(page->text, escape);
}

static void add_repeated(struct osp_text *text, const char *string, uint32_t count)
{
	while (count--)
		osp_text_add(text, string);
}

/* --- cells ------------------------------------------------------------------------------------ */

static const char *state_colour(enum osp_slurm_node_state state)
{
	switch (state) {
	case OSP_NODE_IDLE:
		return "\033[32m";
	case OSP_NODE_DOWN:
		return "\033[1;31m";
	case OSP_NODE_DRAINING:
	case OSP_NODE_DRAINED:
		return "\033[33m";
	case OSP_NODE_RESERVED:
	case OSP_NODE_MAINTENANCE:
		return "\033[35m";
	default:
		return DIM;
	}
}

static void add_job_mark(const struct page *page, const struct osp_map_job *job)
{
	if (page->style->colours)
		osp_text_printf(page->text, "\033[1;38;5;231;48;5;%um", job_colours[job->colour]);
	osp_text_add_bytes(page->text, &job->mark, 1);
	add_colour(page, RESET);
}

static void add_cell(const struct page *page, uint32_t node)
{
	uint32_t job = osp_map_job_of(page->map, node);
	enum osp_slurm_node_state state = page->map->world->snapshot->nodes[node].state;
	char mark = osp_map_mark(page->map, node);

	if (page->style->colours && job != OSP_MAP_NO_JOB)
		osp_text_printf(page->text, "\033[1;38;5;231;48;5;%um",
				job_colours[page->map->jobs[job].colour]);
	else
		add_colour(page, state_colour(state));
	osp_text_add_bytes(page->text, &mark, 1);
	if (page->cell_columns > 1)
		osp_text_add(page->text, " ");
	add_colour(page, RESET);
}

/* Does a level below the row's change between these neighbours? They are drawn apart then. */
static bool apart(const struct page *page, uint32_t rank, uint32_t next)
{
	const struct osp_topology *topology = page->map->world->topology;
	uint32_t level = page->map->row_level ? page->map->row_level : page->map->box_level;

	return level > 1 &&
	       osp_topology_domain_of(topology, osp_topology_node_at_rank(topology, rank), 1) !=
		       osp_topology_domain_of(topology, osp_topology_node_at_rank(topology, next),
					      1);
}

/* Columns of the segment's cells; with `print` also prints them. */
static uint32_t segment_cells(const struct page *page, const struct segment *segment, bool print)
{
	uint32_t rank = osp_map_next_cell(page->map, segment->first_rank, segment->end_rank);
	uint32_t columns = 0;

	while (rank < segment->end_rank) {
		uint32_t next = osp_map_next_cell(page->map, rank + 1, segment->end_rank);

		if (print)
			add_cell(page, osp_topology_node_at_rank(page->map->world->topology, rank));
		columns += page->cell_columns;
		if (next < segment->end_rank && apart(page, rank, next)) {
			columns++;
			if (print)
				osp_text_add(page->text, " ");
		}
		rank = next;
	}
	return columns;
}

/* --- boxes ------------------------------------------------------------------------------------ */

static void cut_row(struct page *page, const struct osp_map_row *row, uint32_t *count)
{
	uint32_t rank = row->first_rank;

	while (rank < row->end_rank) {
		struct segment *segment = &page->segments[(*count)++];
		uint32_t cells = 0;

		segment->domain = row->domain;
		segment->continues = rank != row->first_rank;
		segment->first_rank = rank;
		while (rank < row->end_rank && cells++ < LINE_CELLS)
			rank = osp_map_next_cell(page->map, rank + 1, row->end_rank);
		segment->end_rank = rank;
	}
}

static const char *segment_label(const struct page *page, const struct segment *segment)
{
	if (segment->continues || !page->map->row_level)
		return "";
	if (segment->domain == OSP_NO_DOMAIN)
		return "?";
	return osp_topology_domain(page->map->world->topology, segment->domain)->name;
}

static void cut_boxes(struct page *page)
{
	const struct osp_map *map = page->map;
	uint32_t longest = 0;
	uint32_t count = 0;
	uint32_t i;

	for (i = 0; i < map->box_count; i++) {
		const struct osp_map_box *box = &map->boxes[i];
		uint32_t rank = box->first_rank;
		struct osp_map_row row;

		page->first_segment[i] = count;
		while (osp_map_next_row(map, box, rank, &row)) {
			longest = row.count.nodes > longest ? row.count.nodes : longest;
			cut_row(page, &row, &count);
			rank = row.end_rank;
		}
	}
	page->first_segment[map->box_count] = count;
	page->cell_columns = longest <= WIDE_ROW_NODES ? 2 : 1;
}

static uint32_t header_columns(const struct page *page, const struct osp_map_box *box)
{
	char buffer[64];

	return (uint32_t)(strlen(osp_map_box_name(page->map, box)) +
			  (size_t)snprintf(buffer, sizeof(buffer), "-  %u of %u free -",
					   box->count.free, box->count.nodes) +
			  1);
}

static void measure(struct page *page)
{
	uint32_t widest = 0;
	uint32_t i;

	page->label_columns = 0;
	page->inner_columns = 0;
	for (i = 0; i < page->first_segment[page->map->box_count]; i++) {
		const struct segment *segment = &page->segments[i];
		uint32_t label = (uint32_t)strlen(segment_label(page, segment));
		uint32_t cells = segment_cells(page, segment, false);

		page->label_columns = label > page->label_columns ? label : page->label_columns;
		widest = cells > widest ? cells : widest;
	}
	page->inner_columns = widest + 1;
	if (page->label_columns)
		page->inner_columns += page->label_columns + 2;
	if (page->cell_columns == 1)
		page->inner_columns++;
	for (i = 0; i < page->map->box_count; i++) {
		uint32_t header = header_columns(page, &page->map->boxes[i]) + 1;

		page->inner_columns = header > page->inner_columns ? header : page->inner_columns;
	}
	page->boxes_a_line = (page->style->columns + BOX_GAP_COLUMNS) /
			     (page->inner_columns + 2 + BOX_GAP_COLUMNS);
	if (page->boxes_a_line == 0)
		page->boxes_a_line = 1;
}

static void add_top(const struct page *page, const struct osp_map_box *box)
{
	bool utf8 = page->style->utf8;
	uint32_t filled = header_columns(page, box);

	add_colour(page, DIM);
	osp_text_add(page->text, utf8 ? "╭─" : "+-");
	add_colour(page, RESET BOLD);
	osp_text_printf(page->text, " %s ", osp_map_box_name(page->map, box));
	add_colour(page, RESET DIM);
	add_repeated(page->text, utf8 ? "─" : "-", page->inner_columns - filled);
	add_colour(page, RESET);
	osp_text_printf(page->text, " %u of %u free ", box->count.free, box->count.nodes);
	add_colour(page, DIM);
	osp_text_add(page->text, utf8 ? "─╮" : "-+");
	add_colour(page, RESET);
}

static void add_bottom(const struct page *page)
{
	bool utf8 = page->style->utf8;

	add_colour(page, DIM);
	osp_text_add(page->text, utf8 ? "╰" : "+");
	add_repeated(page->text, utf8 ? "─" : "-", page->inner_columns);
	osp_text_add(page->text, utf8 ? "╯" : "+");
	add_colour(page, RESET);
}

static void add_row(const struct page *page, const struct segment *segment)
{
	const char *side = page->style->utf8 ? "│" : "|";
	uint32_t columns = 1;

	add_colour(page, DIM);
	osp_text_add(page->text, side);
	add_colour(page, RESET);
	osp_text_add(page->text, " ");
	if (page->label_columns) {
		osp_text_printf(page->text, "%-*s  ", (int)page->label_columns,
				segment_label(page, segment));
		columns += page->label_columns + 2;
	}
	columns += segment_cells(page, segment, true);
	add_repeated(page->text, " ", page->inner_columns - columns);
	add_colour(page, DIM);
	osp_text_add(page->text, side);
	add_colour(page, RESET);
}

static void add_blank(const struct page *page, uint32_t columns)
{
	add_repeated(page->text, " ", columns);
}

/* Ends a line, without blanks at its end. */
static void end_line(const struct page *page)
{
	struct osp_text *text = page->text;

	while (text->length_bytes && text->data[text->length_bytes - 1] == ' ')
		text->data[--text->length_bytes] = '\0';
	osp_text_add(text, "\n");
}

/* Draws the boxes [first, end), side by side. */
static void add_boxes(const struct page *page, uint32_t first, uint32_t end)
{
	uint32_t lines = 0;
	uint32_t line;
	uint32_t i;

	for (i = first; i < end; i++) {
		uint32_t rows = page->first_segment[i + 1] - page->first_segment[i];

		lines = rows + 2 > lines ? rows + 2 : lines;
	}
	for (line = 0; line < lines; line++) {
		for (i = first; i < end; i++) {
			uint32_t rows = page->first_segment[i + 1] - page->first_segment[i];

			if (i > first)
				add_blank(page, BOX_GAP_COLUMNS);
			if (line == 0)
				add_top(page, &page->map->boxes[i]);
			else if (line <= rows)
				add_row(page, &page->segments[page->first_segment[i] + line - 1]);
			else if (line == rows + 1)
				add_bottom(page);
			else
				add_blank(page, page->inner_columns + 2);
		}
		end_line(page);
	}
}

/* --- one cell a row, for large fabrics -------------------------------------------------------- */

static void add_fill(const struct page *page, const struct osp_map_count *count)
{
	static const char *const blocks[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	uint32_t used = count->nodes - count->free;
	uint32_t steps = page->style->utf8 ? 8 : 10;
	/* Something in use is never drawn as nothing, something free never as all. */
	uint32_t step = (uint32_t)(((uint64_t)used * steps + count->nodes - 1) / count->nodes);

	if (step == steps && used < count->nodes)
		step--;
	add_colour(page, count->out ? "\033[33m" : used ? "\033[34m" : "\033[32m");
	if (count->out == count->nodes)
		osp_text_add(page->text, "x");
	else if (page->style->utf8)
		osp_text_add(page->text, blocks[step]);
	else
		osp_text_printf(page->text, "%c", ".123456789#"[step]);
	add_colour(page, RESET);
}

/* Prints a row's cell: the mark of a job that is named, else how much of the row is in use. */
static void add_row_cell(const struct page *page, const struct osp_map_row *row)
{
	uint32_t job = osp_map_row_job(page->map, row);

	if (job == OSP_MAP_NO_JOB)
		add_fill(page, &row->count);
	else
		add_job_mark(page, &page->map->jobs[job]);
}

struct entry_widths {
	uint32_t name;
	uint32_t cells;
	uint32_t number;
};

/* Adds "s01  ▇█▆..  12 free  3 out": the box's cells from `rank` on, at most LINE_CELLS; returns
 * where the next line goes on. */
static uint32_t add_entry(const struct page *page, const struct osp_map_box *box, uint32_t rank,
			  const struct entry_widths *widths)
{
	bool begins = rank == box->first_rank;
	struct osp_map_row row;
	uint32_t cells = 0;

	add_colour(page, BOLD);
	osp_text_printf(page->text, "%-*s  ", (int)widths->name,
			begins ? osp_map_box_name(page->map, box) : "");
	add_colour(page, RESET);
	while (cells < widths->cells && osp_map_next_row(page->map, box, rank, &row)) {
		add_row_cell(page, &row);
		rank = row.end_rank;
		cells++;
	}
	add_blank(page, widths->cells - cells);
	if (begins)
		osp_text_printf(page->text, "  %*u free", (int)widths->number, box->count.free);
	else
		add_blank(page, widths->number + 7);
	if (begins && box->count.out)
		osp_text_printf(page->text, "  %*u out", (int)widths->number, box->count.out);
	else
		add_blank(page, widths->number + 6);
	return rank;
}

static uint32_t digits(uint32_t number)
{
	uint32_t count = 1;

	while (number /= 10)
		count++;
	return count;
}

static void measure_entries(struct page *page, struct entry_widths *widths)
{
	uint32_t i;

	memset(widths, 0, sizeof(*widths));
	for (i = 0; i < page->map->box_count; i++) {
		const struct osp_map_box *box = &page->map->boxes[i];
		uint32_t name = (uint32_t)strlen(osp_map_box_name(page->map, box));
		uint32_t number = digits(box->count.nodes);
		uint32_t rank = box->first_rank;
		struct osp_map_row row;
		uint32_t cells = 0;

		while (cells < LINE_CELLS && osp_map_next_row(page->map, box, rank, &row)) {
			rank = row.end_rank;
			cells++;
		}
		widths->name = name > widths->name ? name : widths->name;
		widths->cells = cells > widths->cells ? cells : widths->cells;
		widths->number = number > widths->number ? number : widths->number;
	}
	page->boxes_a_line = (page->style->columns + ENTRY_GAP) /
			     (widths->name + widths->cells + 2 * widths->number + 15 + ENTRY_GAP);
	if (page->boxes_a_line == 0)
		page->boxes_a_line = 1;
}

static void add_entries(const struct page *page, uint32_t first, uint32_t end,
			const struct entry_widths *widths)
{
	uint32_t ranks[256];
	bool more = true;
	uint32_t i;

	if (end - first > 256)
		end = first + 256;
	for (i = first; i < end; i++)
		ranks[i - first] = page->map->boxes[i].first_rank;
	while (more) {
		more = false;
		for (i = first; i < end; i++) {
			const struct osp_map_box *box = &page->map->boxes[i];

			if (i > first)
				add_blank(page, ENTRY_GAP);
			ranks[i - first] = add_entry(page, box, ranks[i - first], widths);
			more = more || ranks[i - first] < box->end_rank;
		}
		end_line(page);
	}
}

/* --- the page --------------------------------------------------------------------------------- */

static void add_path(const struct page *page, const struct osp_map_box *box)
{
	struct osp_text path = OSP_TEXT_INIT;

	osp_map_path(page->map, box, &path);
	if (path.length_bytes) {
		add_colour(page, BOLD);
		osp_text_add(page->text, path.data);
		add_colour(page, RESET);
		osp_text_add(page->text, "\n");
	}
	osp_text_free(&path);
}

/* Boxes of one parent are together below its name. */
static void add_groups(struct page *page, const struct entry_widths *widths)
{
	const struct osp_map *map = page->map;
	uint32_t first = 0;

	while (first < map->box_count) {
		uint32_t group_end = osp_map_group_end(map, first);
		uint32_t a_line = osp_map_even_lines(group_end - first, page->boxes_a_line);

		osp_text_add(page->text, "\n");
		add_path(page, &map->boxes[first]);
		for (; first < group_end; first += a_line) {
			uint32_t end = first + a_line < group_end ? first + a_line : group_end;

			if (widths)
				add_entries(page, first, end, widths);
			else
				add_boxes(page, first, end);
		}
		first = group_end;
	}
}

static void add_state_legend(const struct page *page)
{
	const char *gap = "";
	int state;

	osp_text_add(page->text, "\n");
	for (state = 0; state < OSP_NODE_STATE_COUNT; state++) {
		uint32_t count = osp_map_legend_count(page->map, state);
		char mark = osp_map_state_mark(state);

		if (!count)
			continue;
		osp_text_add(page->text, gap);
		gap = "   ";
		add_colour(page, state_colour(state));
		osp_text_add_bytes(page->text, &mark, 1);
		add_colour(page, RESET);
		osp_text_printf(page->text, " %s (%u)", osp_map_state_words(state), count);
	}
	if (page->map->job_count)
		osp_text_printf(page->text, "%sletters and digits: jobs", gap);
	osp_text_add(page->text, "\n");
}

static void add_fill_legend(const struct page *page)
{
	char plural[64];
	const char *level = osp_topology_level_name(page->map->world->topology,
						    page->map->row_level ? page->map->row_level
									 : page->map->box_level);

	osp_text_printf(page->text, "\na cell for each of the %s: ",
			osp_sentence_plural(level, plural, sizeof(plural)));
	osp_text_add(page->text,
		     page->style->utf8
			     ? "· all free, ▁ to ▇ partly in use, █ none free, x all out\n"
			     : ". all free, 1 to 9 partly in use, # none free, x all out\n");
	if (!page->map->named_count)
		return;
	if (page->map->limited)
		osp_text_printf(page->text, "a letter: a %s with nodes of this job\n", level);
	else
		osp_text_printf(page->text, "a letter: a %s of which this job has more than half\n",
				level);
}

/* Prints the first `most` jobs, a line each; with `where` also the boxes that each is in. */
static void add_jobs(const struct page *page, uint32_t most, bool where)
{
	uint32_t shown = page->map->job_count < most ? page->map->job_count : most;
	uint32_t i;

	for (i = 0; i < shown; i++) {
		const struct osp_map_job *job = &page->map->jobs[i];

		add_job_mark(page, job);
		osp_text_add(page->text, "  ");
		osp_map_job_words(page->map, job, page->text);
		if (where) {
			osp_text_add(page->text, "; on ");
			osp_map_job_where(page->map, job, page->text);
		}
		osp_text_add(page->text, "\n");
	}
	if (page->map->job_count > shown)
		osp_text_printf(page->text, "   and %u more %s\n", page->map->job_count - shown,
				page->map->job_count - shown == 1 ? "job" : "jobs");
}

static void add_waiting_gang(const struct page *page, struct osp_state_job *job,
			     const struct osp_gang *gang)
{
	const struct osp_map *map = page->map;
	char buffer[OSP_WAITING_BYTES];
	const char *why = map->why ? map->why(map->world, job, gang, buffer, sizeof(buffer))
				   : gang->note.says;

	osp_text_printf(page->text, "   %s%s%s%s%s, gang=%s, %u node%s%s%s\n", job->label,
			job->name ? " " : "", job->name ? job->name : "", job->user ? " of " : "",
			job->user ? job->user : "", gang->note.gang, job->node_count,
			osp_plural_s(job->node_count), why && *why ? "; " : "", why ? why : "");
}

static void add_waiting(const struct page *page)
{
	const struct osp_snapshot *snapshot = page->map->world->snapshot;
	uint32_t count = 0;
	uint32_t i;

	for (i = 0; i < snapshot->job_count; i++) {
		struct osp_state_job *job = &snapshot->jobs[i];
		struct osp_gang gang;

		if (job->phase != OSP_JOB_PENDING || !osp_map_concerns(page->map, job) ||
		    !osp_map_wants(&page->map->asked, job) || !osp_gang_of(job, &gang))
			continue;
		if (count++ == 0)
			osp_text_add(page->text, "\nwaiting\n");
		if (count <= GANGS_SHOWN)
			add_waiting_gang(page, job, &gang);
		osp_gang_clear(&gang);
	}
	if (count > GANGS_SHOWN)
		osp_text_printf(page->text, "   and %u more gangs\n", count - GANGS_SHOWN);
}

static void add_cells(struct page *page)
{
	uint32_t nodes = page->map->count.nodes;

	/* No row has more lines than nodes. */
	page->segments = calloc((size_t)nodes + 1, sizeof(*page->segments));
	page->first_segment = calloc((size_t)page->map->box_count + 1, sizeof(uint32_t));
	if (page->segments && page->first_segment) {
		cut_boxes(page);
		measure(page);
		add_groups(page, NULL);
		add_state_legend(page);
		add_jobs(page, JOBS_SHOWN, false);
	} else {
		page->text->failed = true;
	}
	free(page->segments);
	free(page->first_segment);
}

void osp_map_text(const struct osp_map *map, const struct osp_map_style *style,
		  struct osp_text *text)
{
	struct page page = {.map = map, .style = style, .text = text};
	struct entry_widths widths;

	osp_map_summary(map, text);
	osp_text_add(text, "\n");
	if (map->count.nodes <= OSP_MAP_CELLS_MAX) {
		add_cells(&page);
	} else {
		measure_entries(&page, &widths);
		add_groups(&page, &widths);
		add_fill_legend(&page);
		add_jobs(&page, map->named_count, true);
	}
	add_waiting(&page);
}
