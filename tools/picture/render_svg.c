/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * render_svg.c - the map as an SVG picture
 *
 * Small fabrics: a square with a letter and a tooltip for each node. Large ones: squares drawn as
 * dashed lines, one path a colour, so that 8,192 nodes are some 50 KB. Above that, a square for
 * each row. All numbers are whole: the same map gives the same bytes.
 */
#include "lib/base/text.h"
#include "tools/picture/map.h"

#include <stdlib.h>
#include <string.h>

#include "tools/picture/svg.h"
#include "host/slurm/gang.h"

#define PICTURE_WIDTH	   1240
#define MARGIN		   24
#define BOX_GAP		   14
#define BOX_PADDING	   10
#define HEADER		   24 /* of a box */
#define GROUP_HEADER	   26
#define LINE_CELLS	   64
#define LEGEND_LINE	   20
#define TITLE_LETTER_WIDTH 10
#define LETTER_WIDTH	   7 /* of text of 11 px, on average */
#define JOBS_SHOWN	   30
#define JOB_COLUMN	   396

#define SQUARES_MAX	   1024	 /* nodes: up to here squares of their own */
#define DASHES_MAX	   16384 /* nodes: up to here dashes; above, a square a row */

/* Sides of a dash. */
#define DASH_LEAST 5
#define DASH_MOST  9

/* What a dash can be: a job's colour, or a node's state. */
#define LOOK_COUNT (OSP_MAP_COLOURS + OSP_NODE_STATE_COUNT)

static const char *const job_fill[OSP_MAP_COLOURS] = {
	"#3b7dd8", "#2a9d8f", "#e09f3e", "#8e6bbf", "#5aa845", "#d977a8",
	"#45aed1", "#a97142", "#274b82", "#a3ab2f", "#0b7a75", "#f4845f",
};

static const struct {
	const char *fill;
	const char *ink;
} state_fill[OSP_NODE_STATE_COUNT] = {
	[OSP_NODE_IDLE] = {"#d3e8da", "#7d9a87"},
	[OSP_NODE_PARTLY] = {"#9fb0c3", "#ffffff"},
	[OSP_NODE_BUSY] = {"#9fb0c3", "#ffffff"},
	[OSP_NODE_COMPLETING] = {"#9fb0c3", "#ffffff"},
	[OSP_NODE_POWERED_DOWN] = {"#e4e9ef", "#7c8a9b"},
	[OSP_NODE_POWERING_UP] = {"#fdf0c4", "#9a7b16"},
	[OSP_NODE_POWERING_DOWN] = {"#e4e9ef", "#7c8a9b"},
	[OSP_NODE_RESERVED] = {"#cdb9ee", "#4f3585"},
	[OSP_NODE_MAINTENANCE] = {"#cdb9ee", "#4f3585"},
	[OSP_NODE_DRAINING] = {"#4c5766", "#ffffff"},
	[OSP_NODE_DRAINED] = {"#4c5766", "#ffffff"},
	[OSP_NODE_DOWN] = {"#c62f2f", "#ffffff"},
	[OSP_NODE_UNKNOWN] = {"#ffffff", "#8a97a8"},
};

struct picture {
	const struct osp_map *map;
	struct osp_text body;
	struct osp_text dashes[LOOK_COUNT];
	int cell; /* side of a square */
	int step; /* from one to the next */
	int label_width;
	int box_width;
	int boxes_a_line; /* at most */
	int width;	  /* of what was drawn so far */
	int x;		  /* of the box being drawn */
	int y;
	bool squares;	/* each node a square of its own */
	bool rows_only; /* each row one */
};

/* Computes the width: the picture is as wide as what is in it. */
static void reach(struct picture *picture, int x)
{
	if (x > picture->width)
		picture->width = x;
}

static void add_label(struct osp_text *text, int x, int y, const char *look, const char *string)
{
	osp_text_printf(text, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, look);
	osp_text_add_escaped(text, string);
	osp_text_add(text, "</text>\n");
}

/* --- measures --------------------------------------------------------------------------------- */

static const char *row_name(const struct picture *picture, const struct osp_map_row *row)
{
	if (!picture->map->row_level)
		return "";
	if (row->domain == OSP_NO_DOMAIN)
		return "?";
	return osp_topology_domain(picture->map->world->topology, row->domain)->name;
}

static int lines_of(uint32_t cells)
{
	return (int)((cells + LINE_CELLS - 1) / LINE_CELLS);
}

/* Lines that the box needs, and into *longest its longest line, in cells. */
static int box_lines(const struct picture *picture, const struct osp_map_box *box, int *longest,
		     int *label)
{
	uint32_t rank = box->first_rank;
	struct osp_map_row row;
	int lines = 0;
	uint32_t rows = 0;

	while (osp_map_next_row(picture->map, box, rank, &row)) {
		int cells = (int)(row.count.nodes < LINE_CELLS ? row.count.nodes : LINE_CELLS);
		int name = (int)strlen(row_name(picture, &row));

		rank = row.end_rank;
		rows++;
		lines += lines_of(row.count.nodes);
		*longest = cells > *longest && !picture->rows_only ? cells : *longest;
		*label = name > *label ? name : *label;
	}
	if (!picture->rows_only)
		return lines;
	if ((int)rows > *longest)
		*longest = (int)(rows < LINE_CELLS ? rows : LINE_CELLS);
	return lines_of(rows);
}

static void choose_size(struct picture *picture)
{
	uint32_t nodes = picture->map->count.nodes;

	picture->rows_only = nodes > DASHES_MAX;
	picture->squares = nodes <= SQUARES_MAX;
	picture->cell = nodes <= 64 ? 26 : nodes <= 256 ? 18 : 16;
	if (!picture->squares)
		picture->cell = picture->rows_only ? 10 : DASH_LEAST;
	picture->step = picture->cell + (picture->squares ? 3 : 1);
}

static void measure(struct picture *picture)
{
	const struct osp_map *map = picture->map;
	int longest = 0;
	int label = 0;
	int header = 0;
	uint32_t i;

	choose_size(picture);
	for (i = 0; i < map->box_count; i++) {
		int name = (int)strlen(osp_map_box_name(map, &map->boxes[i])) + 18;

		box_lines(picture, &map->boxes[i], &longest, &label);
		header = name > header ? name : header;
	}
	if (picture->squares && label)
		picture->label_width = label * LETTER_WIDTH + 8;
	/* Where the box's header is wider than its dashes, these may grow. */
	while (!picture->squares && picture->cell < DASH_MOST &&
	       longest * (picture->step + 1) <= header * LETTER_WIDTH) {
		picture->cell++;
		picture->step++;
	}
	picture->box_width = longest * picture->step + picture->label_width;
	if (picture->box_width < header * LETTER_WIDTH)
		picture->box_width = header * LETTER_WIDTH;
	picture->box_width += 2 * BOX_PADDING;
	picture->boxes_a_line =
		(PICTURE_WIDTH - 2 * MARGIN + BOX_GAP) / (picture->box_width + BOX_GAP);
	if (picture->boxes_a_line < 1)
		picture->boxes_a_line = 1;
}

/* --- cells ------------------------------------------------------------------------------------ */

static void add_tooltip(struct picture *picture, uint32_t node)
{
	const struct osp_map *map = picture->map;
	const struct osp_state_node *state = &map->world->snapshot->nodes[node];
	uint32_t job = osp_map_job_of(map, node);
	struct osp_text words = OSP_TEXT_INIT;

	osp_text_printf(&words, "%s: ", state->name);
	if (job != OSP_MAP_NO_JOB)
		osp_map_job_words(map, &map->jobs[job], &words);
	else
		osp_text_add(&words, osp_map_state_words(state->state));
	if (job == OSP_MAP_NO_JOB && state->reason)
		osp_text_printf(&words, " (%s)", state->reason);
	osp_text_add(&picture->body, "<title>");
	osp_text_add_escaped(&picture->body, words.data ? words.data : "");
	osp_text_add(&picture->body, "</title>");
	osp_text_free(&words);
}

static void add_square(struct picture *picture, uint32_t node, int x, int y)
{
	const struct osp_map *map = picture->map;
	enum osp_slurm_node_state state = map->world->snapshot->nodes[node].state;
	uint32_t job = osp_map_job_of(map, node);
	char mark[2] = {osp_map_mark(map, node), '\0'};

	osp_text_add(&picture->body, "<g>");
	add_tooltip(picture, node);
	osp_text_printf(
		&picture->body,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" fill=\"%s\"/>", x, y,
		picture->cell, picture->cell, picture->cell / 6,
		job != OSP_MAP_NO_JOB ? job_fill[map->jobs[job].colour] : state_fill[state].fill);
	if (picture->squares && *mark != '.')
		osp_text_printf(&picture->body,
				"<text x=\"%d\" y=\"%d\" class=\"m\" fill=\"%s\">%s</text>",
				x + picture->cell / 2, y + picture->cell / 2 + 4,
				job != OSP_MAP_NO_JOB ? "#ffffff" : state_fill[state].ink, mark);
	osp_text_add(&picture->body, "</g>\n");
}

static int look_of(const struct osp_map *map, uint32_t node)
{
	uint32_t job = osp_map_job_of(map, node);

	return job != OSP_MAP_NO_JOB
		       ? map->jobs[job].colour
		       : OSP_MAP_COLOURS + (int)map->world->snapshot->nodes[node].state;
}

static const char *fill_of_look(int look)
{
	return look < OSP_MAP_COLOURS ? job_fill[look] : state_fill[look - OSP_MAP_COLOURS].fill;
}

/* Draws a run of `cells` nodes of one look as one dashed line. */
static void add_dashes(struct picture *picture, int look, int x, int y, int cells)
{
	if (cells)
		osp_text_printf(&picture->dashes[look], "M%d %dh%d", x, y,
				cells * picture->step - 1);
}

/* Draws the nodes of a row, LINE_CELLS a line; returns how many lines. */
static int add_row_nodes(struct picture *picture, const struct osp_map_row *row, int x, int y)
{
	const struct osp_map *map = picture->map;
	uint32_t rank = osp_map_next_cell(map, row->first_rank, row->end_rank);
	int cells = 0;
	int run = 0;
	int run_look = 0;

	for (; rank < row->end_rank; rank = osp_map_next_cell(map, rank + 1, row->end_rank)) {
		uint32_t node = osp_topology_node_at_rank(map->world->topology, rank);
		int column = cells % LINE_CELLS;
		int line = cells / LINE_CELLS;
		int look = look_of(map, node);

		cells++;
		if (picture->squares) {
			add_square(picture, node, x + column * picture->step,
				   y + line * picture->step);
			continue;
		}
		if (run && (look != run_look || column == 0)) {
			add_dashes(picture, run_look,
				   x + ((cells - 1 - run) % LINE_CELLS) * picture->step,
				   y + (cells - 1 - run) / LINE_CELLS * picture->step, run);
			run = 0;
		}
		run_look = look;
		run++;
	}
	add_dashes(picture, run_look, x + ((cells - run) % LINE_CELLS) * picture->step,
		   y + (cells - run) / LINE_CELLS * picture->step, run);
	return lines_of((uint32_t)cells);
}

static void add_row_title(struct picture *picture, const struct osp_map_row *row)
{
	osp_text_add_escaped(&picture->body, row_name(picture, row));
	osp_text_printf(&picture->body, ": %u of %u free</title></rect>\n", row->count.free,
			row->count.nodes);
}

/* Draws one square for a whole row: the bluer, the more of it is in use; in its job's colour, if
 * jobs were asked for. */
static void add_row_square(struct picture *picture, const struct osp_map_row *row, int x, int y)
{
	uint32_t used = row->count.nodes - row->count.free;
	uint32_t job = picture->map->limited ? osp_map_row_job(picture->map, row) : OSP_MAP_NO_JOB;

	if (job != OSP_MAP_NO_JOB) {
		osp_text_printf(&picture->body,
				"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" "
				"fill=\"%s\"><title>",
				x, y, picture->cell, picture->cell,
				job_fill[picture->map->jobs[job].colour]);
		add_row_title(picture, row);
		return;
	}

	osp_text_printf(&picture->body,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"2\" fill=\"%s\" "
			"fill-opacity=\"%u%%\"><title>",
			x, y, picture->cell, picture->cell,
			row->count.out == row->count.nodes ? state_fill[OSP_NODE_DOWN].fill
							   : job_fill[0],
			10 + (uint32_t)((uint64_t)used * 90 / row->count.nodes));
	add_row_title(picture, row);
}

/* --- boxes ------------------------------------------------------------------------------------ */

static void add_frame(struct picture *picture, const struct osp_map_box *box, int height)
{
	struct osp_text free_words = OSP_TEXT_INIT;

	osp_text_printf(
		&picture->body,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\" class=\"b\"/>\n",
		picture->x, picture->y, picture->box_width, height);
	add_label(&picture->body, picture->x + BOX_PADDING, picture->y + 18, "n",
		  osp_map_box_name(picture->map, box));
	osp_text_printf(&free_words, "%u of %u free", box->count.free, box->count.nodes);
	add_label(&picture->body, picture->x + picture->box_width - BOX_PADDING, picture->y + 18,
		  "f", free_words.data ? free_words.data : "");
	osp_text_free(&free_words);
}

static void add_box(struct picture *picture, const struct osp_map_box *box, int height)
{
	int x = picture->x + BOX_PADDING + picture->label_width;
	int y = picture->y + HEADER + 4;
	uint32_t rank = box->first_rank;
	struct osp_map_row row;
	int cells = 0;

	add_frame(picture, box, height);
	while (osp_map_next_row(picture->map, box, rank, &row)) {
		rank = row.end_rank;
		if (picture->rows_only) {
			add_row_square(picture, &row, x + cells % LINE_CELLS * picture->step,
				       y + cells / LINE_CELLS * picture->step);
			cells++;
			continue;
		}
		if (picture->label_width)
			add_label(&picture->body, picture->x + BOX_PADDING,
				  y + picture->cell / 2 + 4, "l", row_name(picture, &row));
		y += add_row_nodes(picture, &row, x, y) * picture->step;
	}
}

static int box_height(const struct picture *picture, const struct osp_map_box *box)
{
	int longest = 0;
	int label = 0;

	return HEADER + 4 + box_lines(picture, box, &longest, &label) * picture->step +
	       BOX_PADDING - 2;
}

/* Draws the boxes [first, end) side by side, all as high as the highest. */
static void add_line_of_boxes(struct picture *picture, uint32_t first, uint32_t end)
{
	int height = 0;
	uint32_t i;

	for (i = first; i < end; i++) {
		int needed = box_height(picture, &picture->map->boxes[i]);

		height = needed > height ? needed : height;
	}
	picture->x = MARGIN;
	for (i = first; i < end; i++) {
		add_box(picture, &picture->map->boxes[i], height);
		picture->x += picture->box_width + BOX_GAP;
	}
	reach(picture, picture->x - BOX_GAP);
	picture->y += height + BOX_GAP;
}

static void add_group_header(struct picture *picture, const struct osp_map_box *box)
{
	struct osp_text path = OSP_TEXT_INIT;

	osp_map_path(picture->map, box, &path);
	if (path.length_bytes) {
		add_label(&picture->body, MARGIN, picture->y + 14, "g", path.data);
		picture->y += GROUP_HEADER;
	}
	osp_text_free(&path);
}

static void add_all_boxes(struct picture *picture)
{
	const struct osp_map *map = picture->map;
	uint32_t first = 0;

	while (first < map->box_count) {
		uint32_t group_end = osp_map_group_end(map, first);
		uint32_t a_line =
			osp_map_even_lines(group_end - first, (uint32_t)picture->boxes_a_line);

		add_group_header(picture, &map->boxes[first]);
		for (; first < group_end; first += a_line)
			add_line_of_boxes(picture, first,
					  first + a_line < group_end ? first + a_line : group_end);
		first = group_end;
	}
}

static void add_all_dashes(struct picture *picture)
{
	int look;

	osp_text_printf(&picture->body,
			"<g fill=\"none\" stroke-width=\"%d\" stroke-dasharray=\"%d 1\" "
			"transform=\"translate(0 %d.%d)\">\n",
			picture->cell, picture->cell, picture->cell / 2, picture->cell % 2 * 5);
	for (look = 0; look < LOOK_COUNT; look++) {
		if (picture->dashes[look].data)
			osp_text_printf(&picture->body, "<path stroke=\"%s\" d=\"%s\"/>\n",
					fill_of_look(look), picture->dashes[look].data);
		if (picture->dashes[look].failed)
			picture->body.failed = true;
		osp_text_free(&picture->dashes[look]);
	}
	osp_text_add(&picture->body, "</g>\n");
}

/* --- legend ----------------------------------------------------------------------------------- */

static void add_swatch(struct picture *picture, int x, const char *fill, const char *ink, char mark,
		       const char *words)
{
	osp_text_printf(&picture->body,
			"<rect x=\"%d\" y=\"%d\" width=\"14\" height=\"14\" rx=\"2\" fill=\"%s\"/>",
			x, picture->y, fill);
	if (mark && mark != '.')
		osp_text_printf(&picture->body,
				"<text x=\"%d\" y=\"%d\" class=\"m\" fill=\"%s\">%c</text>", x + 7,
				picture->y + 11, ink, mark);
	add_label(&picture->body, x + 20, picture->y + 11, "l", words);
	reach(picture, x + 20 + (int)strlen(words) * LETTER_WIDTH);
}

static void add_state_legend(struct picture *picture)
{
	int x = MARGIN;
	int state;

	for (state = 0; state < OSP_NODE_STATE_COUNT; state++) {
		struct osp_text words = OSP_TEXT_INIT;
		uint32_t count = osp_map_legend_count(picture->map, state);
		char mark = osp_map_state_mark(state);
		int width;

		if (!count)
			continue;
		osp_text_printf(&words, "%s (%u)", osp_map_state_words(state), count);
		width = 20 + (int)words.length_bytes * LETTER_WIDTH + 16;
		if (x > MARGIN && x + width > PICTURE_WIDTH - MARGIN) {
			x = MARGIN;
			picture->y += LEGEND_LINE;
		}
		add_swatch(picture, x, state_fill[state].fill, state_fill[state].ink, mark,
			   words.data ? words.data : "");
		x += width;
		osp_text_free(&words);
	}
	picture->y += LEGEND_LINE + 6;
}

static void add_job_legend(struct picture *picture)
{
	const struct osp_map *map = picture->map;
	uint32_t shown = map->job_count < JOBS_SHOWN ? map->job_count : JOBS_SHOWN;
	int columns = (PICTURE_WIDTH - 2 * MARGIN) / JOB_COLUMN;
	uint32_t i;

	for (i = 0; i < shown; i++) {
		const struct osp_map_job *job = &map->jobs[i];
		struct osp_text words = OSP_TEXT_INIT;

		if (i && i % (uint32_t)columns == 0)
			picture->y += LEGEND_LINE;
		osp_map_job_words(map, job, &words);
		add_swatch(picture, MARGIN + (int)(i % (uint32_t)columns) * JOB_COLUMN,
			   job_fill[job->colour], "#ffffff", job->mark,
			   words.data ? words.data : "");
		osp_text_free(&words);
	}
	if (shown)
		picture->y += LEGEND_LINE;
	if (map->job_count > shown) {
		struct osp_text words = OSP_TEXT_INIT;

		osp_text_printf(&words, "and %u more job%s", map->job_count - shown,
				osp_plural_s(map->job_count - shown));
		add_label(&picture->body, MARGIN, picture->y + 11, "l",
			  words.data ? words.data : "");
		picture->y += LEGEND_LINE;
		osp_text_free(&words);
	}
}

/* Draws a line for each job that a large map names. Its colour may be another job's too, its place
 * is not. */
static void add_named_jobs(struct picture *picture)
{
	const struct osp_map *map = picture->map;

	for (uint32_t i = 0; i < map->named_count; i++) {
		struct osp_text words = OSP_TEXT_INIT;

		osp_map_job_words(map, &map->jobs[i], &words);
		osp_text_add(&words, "; on ");
		osp_map_job_where(map, &map->jobs[i], &words);
		add_swatch(picture, MARGIN, job_fill[map->jobs[i].colour], "", 0,
			   words.data ? words.data : "");
		picture->y += LEGEND_LINE;
		osp_text_free(&words);
	}
}

static void add_legend(struct picture *picture)
{
	const char *words = "A colour is a job; jobs beside each other in a box differ in colour.";

	if (picture->rows_only)
		words = "The darker a square, the more of its nodes are in use; red: all are out.";
	picture->y += 6;
	if (!picture->rows_only)
		add_state_legend(picture);
	if (picture->squares) {
		add_job_legend(picture);
		return;
	}
	add_label(&picture->body, MARGIN, picture->y + 11, "l", words);
	picture->y += LEGEND_LINE;
	add_named_jobs(picture);
}

/* --- the picture ------------------------------------------------------------------------------ */

static const char style[] = "<style>\n"
			    "text{font-family:'DejaVu Sans',Verdana,sans-serif;font-size:11px}\n"
			    ".t{font-size:16px;font-weight:bold;fill:#1d2733}\n"
			    ".g{font-size:12px;fill:#66758a}\n"
			    ".b{fill:#ffffff;stroke:#d3dbe5}\n"
			    ".n{font-size:12px;font-weight:bold;fill:#1d2733}\n"
			    ".f{text-anchor:end;fill:#66758a}\n"
			    ".l{fill:#3d4a5c}\n"
			    ".m{text-anchor:middle;font-weight:bold}\n"
			    "</style>\n";

void osp_map_svg(const struct osp_map *map, struct osp_text *text)
{
	struct picture picture = {.map = map, .body = OSP_TEXT_INIT, .y = MARGIN};
	struct osp_text title = OSP_TEXT_INIT;

	measure(&picture);
	osp_map_summary(map, &title);
	add_label(&picture.body, MARGIN, picture.y + 14, "t", title.data ? title.data : "");
	reach(&picture, MARGIN + (int)title.length_bytes * TITLE_LETTER_WIDTH);
	picture.y += 34;
	add_all_boxes(&picture);
	if (!picture.squares && !picture.rows_only)
		add_all_dashes(&picture);
	add_legend(&picture);
	picture.width += MARGIN;
	picture.y += MARGIN - 6;
	osp_svg_write(text, &title, style, picture.width, picture.y, &picture.body);
	osp_text_free(&picture.body);
	osp_text_free(&title);
}
