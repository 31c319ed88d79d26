/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bind_svg.c - a binding plan as an SVG picture
 *
 * A box for each NUMA node: its cores as squares with the number of the task that has them, and
 * the GPUs and NICs near it, in the colour of their task. The table (bind_show.c) has a line a
 * task, so it does not show the cores that stay free. All numbers are whole: the same plan gives
 * the same bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/picture/bind.h"
#include "lib/base/text.h"
#include "tools/picture/svg.h"

#define MARGIN	     24
#define BOX_GAP	     14
#define BOX_PADDING  12
#define HEADER	     26 /* of a box */
#define CELL	     26
#define STEP	     28 /* from one cell to the next */
#define CELLS_A_LINE 16
#define CHIP_WIDTH   148 /* of a GPU or NIC; three a line */
#define CHIP_HEIGHT  22
#define CHIP_STEP    (CHIP_HEIGHT + 4)
#define CHIPS_A_LINE 3
#define BOX_WIDTH    (2 * BOX_PADDING + CELLS_A_LINE * STEP)
#define BOXES_A_LINE 2
#define WIDTH	     (2 * MARGIN + BOXES_A_LINE * BOX_WIDTH + BOX_GAP)
#define LINE	     18
#define LINE_LETTERS 148 /* of text of 11 px in WIDTH */
#define TASKS_SHOWN  64
#define COLOURS	     12
#define FREE_FILL    "#e4e9ef"
#define FREE_INK     "#7c8a9b"

static const char *const fills[COLOURS] = {
	"#3b7dd8", "#2a9d8f", "#c77f1f", "#8e6bbf", "#4b8f3a", "#c2578c",
	"#2b8fb3", "#a97142", "#274b82", "#7d8520", "#0b7a75", "#d2602f",
};

struct picture {
	const struct osp_bind_view *view;
	struct osp_text body;
	int y;
};

static void add_label(struct picture *picture, int x, int y, const char *look, const char *words)
{
	osp_text_printf(&picture->body, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, look);
	osp_text_add_escaped(&picture->body, words);
	osp_text_add(&picture->body, "</text>\n");
}

/* --- who has it ------------------------------------------------------------------------------- */

struct owner {
	int first; /* the first task that has it, or -1 */
	int more;  /* how many others have it too */
};

static struct owner owner_of_core(const struct osp_bind_view *view,
				  const struct osp_machine_core *core)
{
	struct owner owner = {-1, 0};
	uint32_t task;

	for (task = 0; task < view->plan->task_count; task++) {
		if (!osp_core_has_any(core, view->plan->tasks[task].cpus))
			continue;
		owner.more += owner.first >= 0;
		owner.first = owner.first < 0 ? (int)task : owner.first;
	}
	return owner;
}

static struct owner owner_of_device(const struct osp_bind_view *view, uint32_t number, bool gpu)
{
	struct owner owner = {-1, 0};
	uint32_t task;

	for (task = 0; task < view->plan->task_count; task++) {
		const struct osp_bind_task *entry = &view->plan->tasks[task];

		if (!hwloc_bitmap_isset(gpu ? entry->gpus : entry->nics, number))
			continue;
		owner.more += owner.first >= 0;
		owner.first = owner.first < 0 ? (int)task : owner.first;
	}
	return owner;
}

static const char *fill_of(struct owner owner)
{
	return owner.first < 0 ? FREE_FILL : fills[owner.first % COLOURS];
}

/* --- cores ------------------------------------------------------------------------------------ */

static void add_threads(struct osp_text *text, const struct osp_machine_core *core)
{
	hwloc_bitmap_t cpus = hwloc_bitmap_alloc();

	for (uint32_t i = 0; cpus && i < core->cpu_count; i++)
		text->failed |= hwloc_bitmap_set(cpus, core->cpus[i]) != 0;
	if (cpus)
		osp_bind_add_list(text, cpus);
	text->failed |= !cpus;
	hwloc_bitmap_free(cpus);
}

static void add_core(struct picture *picture, const struct osp_machine_core *core, int x, int y)
{
	const struct osp_bind_view *view = picture->view;
	struct owner owner = owner_of_core(view, core);
	bool barred = !osp_core_has_any(core, view->allowed);

	osp_text_add(&picture->body, "<g><title>CPUs ");
	add_threads(&picture->body, core);
	if (owner.first >= 0)
		osp_text_printf(&picture->body, ": task %d", owner.first);
	if (owner.more)
		osp_text_printf(&picture->body, " and %d more", owner.more);
	osp_text_printf(&picture->body,
			"%s</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" %s",
			barred ? ": may not be used" : "", x, y, CELL, CELL,
			barred ? "class=\"x\"/>" : "");
	if (!barred)
		osp_text_printf(&picture->body, "fill=\"%s\"/>", fill_of(owner));
	if (owner.first >= 0)
		osp_text_printf(&picture->body, "<text x=\"%d\" y=\"%d\" class=\"m\">%d%s</text>",
				x + CELL / 2, y + CELL / 2 + 4, owner.first, owner.more ? "+" : "");
	osp_text_add(&picture->body, "</g>\n");
}

static int lines_of(uint32_t count, int a_line)
{
	return (int)(count + (uint32_t)a_line - 1) / a_line;
}

static void add_cores(struct picture *picture, uint32_t domain, int x, int y)
{
	const struct osp_machine *machine = picture->view->machine;
	int place = 0;
	uint32_t i;

	for (i = 0; i < machine->core_count; i++) {
		if (machine->cores[i].domain != domain)
			continue;
		add_core(picture, &machine->cores[i], x + place % CELLS_A_LINE * STEP,
			 y + place / CELLS_A_LINE * STEP);
		place++;
	}
}

/* --- GPUs and NICs ---------------------------------------------------------------------------- */

/* Returns whether the device is near this domain first of all. `domain` may be the count: near
 * none. */
static bool is_home(const struct osp_machine *machine, const struct osp_machine_device *device,
		    uint32_t domain)
{
	uint32_t i;

	for (i = 0; i < machine->domain_count; i++)
		if (hwloc_bitmap_intersects(machine->domains[i].cpus, device->cpus))
			return i == domain;
	return domain == machine->domain_count;
}

static uint32_t count_devices(const struct osp_machine *machine, uint32_t domain, bool gpu)
{
	uint32_t all = gpu ? machine->gpu_count : machine->nic_count;
	uint32_t count = 0, i;

	for (i = 0; i < all; i++)
		count += is_home(machine, gpu ? &machine->gpus[i] : &machine->nics[i], domain);
	return count;
}

static void chip_words(const struct osp_machine_device *device, uint32_t number, bool gpu,
		       char *words, size_t bytes)
{
	const char *id = device->bus_id;

	if (strncmp(id, "0000:", 5) == 0)
		id += 5;
	if (gpu)
		snprintf(words, bytes, "GPU %u  %s", number, id);
	else
		snprintf(words, bytes, "NIC %.16s", *device->name ? device->name : id);
}

static void add_chip(struct picture *picture, uint32_t number, bool gpu, int x, int y)
{
	const struct osp_bind_view *view = picture->view;
	const struct osp_machine_device *device =
		gpu ? &view->machine->gpus[number] : &view->machine->nics[number];
	struct owner owner = owner_of_device(view, number, gpu);
	char words[64];

	chip_words(device, number, gpu, words, sizeof(words));
	osp_text_printf(&picture->body, "<g><title>%s ", device->bus_id);
	osp_text_add_escaped(&picture->body, device->name);
	osp_text_printf(&picture->body,
			"</title><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"%d\" "
			"fill=\"%s\"/>",
			x, y, CHIP_WIDTH - 6, CHIP_HEIGHT, gpu ? 3 : CHIP_HEIGHT / 2,
			fill_of(owner));
	osp_text_printf(&picture->body, "<text x=\"%d\" y=\"%d\" class=\"%s\">",
			x + (CHIP_WIDTH - 6) / 2, y + CHIP_HEIGHT / 2 + 4,
			owner.first < 0 ? "o" : "m");
	osp_text_add_escaped(&picture->body, words);
	osp_text_printf(&picture->body, "%s</text></g>\n", owner.more ? " +" : "");
}

/* Draws the GPUs, then the NICs near a domain; returns the y below them. */
static int add_chips(struct picture *picture, uint32_t domain, int x, int y)
{
	const struct osp_machine *machine = picture->view->machine;
	int kind;

	for (kind = 1; kind >= 0; kind--) {
		bool gpu = kind == 1;
		uint32_t all = gpu ? machine->gpu_count : machine->nic_count;
		int place = 0;
		uint32_t i;

		for (i = 0; i < all; i++) {
			if (!is_home(machine, gpu ? &machine->gpus[i] : &machine->nics[i], domain))
				continue;
			add_chip(picture, i, gpu, x + place % CHIPS_A_LINE * CHIP_WIDTH,
				 y + place / CHIPS_A_LINE * CHIP_STEP);
			place++;
		}
		y += lines_of((uint32_t)place, CHIPS_A_LINE) * CHIP_STEP;
	}
	return y;
}

static int chips_height(const struct osp_machine *machine, uint32_t domain)
{
	return (lines_of(count_devices(machine, domain, true), CHIPS_A_LINE) +
		lines_of(count_devices(machine, domain, false), CHIPS_A_LINE)) *
	       CHIP_STEP;
}

/* --- boxes ------------------------------------------------------------------------------------ */

static int box_height(const struct osp_machine *machine, uint32_t domain)
{
	int cores = lines_of(machine->domains[domain].core_count, CELLS_A_LINE) * STEP;

	return HEADER + cores + 6 + chips_height(machine, domain) + BOX_PADDING;
}

static void add_frame(struct picture *picture, int x, int width, int height, const char *name,
		      const char *words)
{
	osp_text_printf(&picture->body,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"8\" "
			"class=\"b\"/>\n",
			x, picture->y, width, height);
	add_label(picture, x + BOX_PADDING, picture->y + 18, "n", name);
	add_label(picture, x + width - BOX_PADDING, picture->y + 18, "f", words);
}

static void add_box(struct picture *picture, uint32_t domain, int x, int height)
{
	const struct osp_machine_domain *entry = &picture->view->machine->domains[domain];
	struct osp_text words = OSP_TEXT_INIT;
	char name[32] = "no NUMA node";
	int y = picture->y + HEADER;

	if (entry->os_index != OSP_NO_MEMORY)
		snprintf(name, sizeof(name), "NUMA node %u", entry->os_index);
	osp_text_add(&words, "CPUs ");
	osp_bind_add_list(&words, entry->cpus);
	add_frame(picture, x, BOX_WIDTH, height, name, words.failed ? "" : words.data);
	osp_text_free(&words);
	add_cores(picture, domain, x + BOX_PADDING, y);
	y += lines_of(entry->core_count, CELLS_A_LINE) * STEP + 6;
	add_chips(picture, domain, x + BOX_PADDING, y);
}

static void add_boxes(struct picture *picture)
{
	const struct osp_machine *machine = picture->view->machine;
	uint32_t domain;

	for (domain = 0; domain < machine->domain_count; domain += BOXES_A_LINE) {
		int height = 0;
		uint32_t i;

		for (i = domain; i < machine->domain_count && i < domain + BOXES_A_LINE; i++)
			if (box_height(machine, i) > height)
				height = box_height(machine, i);
		for (i = domain; i < machine->domain_count && i < domain + BOXES_A_LINE; i++)
			add_box(picture, i, MARGIN + (int)(i - domain) * (BOX_WIDTH + BOX_GAP),
				height);
		picture->y += height + BOX_GAP;
	}
	if (chips_height(machine, machine->domain_count)) {
		int height = HEADER + chips_height(machine, machine->domain_count) + BOX_PADDING;

		add_frame(picture, MARGIN, BOX_WIDTH, height, "near no known NUMA node", "");
		add_chips(picture, machine->domain_count, MARGIN + BOX_PADDING,
			  picture->y + HEADER);
		picture->y += height + BOX_GAP;
	}
}

/* --- reasons ---------------------------------------------------------------------------------- */

/* Draws a sentence broken at blanks; the first line begins at the y of its swatch. */
static void add_words(struct picture *picture, int x, const char *words, const char *look)
{
	int letters = LINE_LETTERS - (x - MARGIN) / 7;

	while (*words) {
		int length = (int)strlen(words);
		char line[LINE_LETTERS + 1];

		if (length > letters) {
			length = letters;
			while (length > 0 && words[length] != ' ')
				length--;
			length = length ? length : letters;
		}
		snprintf(line, sizeof(line), "%.*s", length, words);
		add_label(picture, x, picture->y + 11, look, line);
		picture->y += LINE;
		words += length;
		words += *words == ' ';
	}
}

static void add_reasons(struct picture *picture)
{
	const struct osp_bind_plan *plan = picture->view->plan;
	uint32_t shown = plan->task_count < TASKS_SHOWN ? plan->task_count : TASKS_SHOWN;
	char more[64];
	uint32_t i;

	picture->y += 4;
	for (i = 0; i < shown; i++) {
		osp_text_printf(&picture->body,
				"<rect x=\"%d\" y=\"%d\" width=\"30\" height=\"14\" rx=\"3\" "
				"fill=\"%s\"/><text x=\"%d\" y=\"%d\" class=\"m\">%u</text>\n",
				MARGIN, picture->y, fills[i % COLOURS], MARGIN + 15,
				picture->y + 11, i);
		add_words(picture, MARGIN + 38, plan->tasks[i].reason, "l");
	}
	if (plan->task_count > shown) {
		snprintf(more, sizeof(more), "and %u more tasks", plan->task_count - shown);
		add_words(picture, MARGIN + 38, more, "l");
	}
	picture->y += 8;
	add_words(picture, MARGIN,
		  "A square is a core, by the number of its task. +: others have it too; grey: "
		  "given to none; dashed: may not be used.",
		  "g");
	for (i = 0; i < plan->note_count; i++)
		add_words(picture, MARGIN, plan->notes[i], "g");
}

/* --- the picture ------------------------------------------------------------------------------ */

static const char style[] = "<style>\n"
			    "text{font-family:'DejaVu Sans',Verdana,sans-serif;font-size:11px}\n"
			    ".t{font-size:16px;font-weight:bold;fill:#1d2733}\n"
			    ".g{fill:#66758a}\n"
			    ".b{fill:#ffffff;stroke:#d3dbe5}\n"
			    ".x{fill:#ffffff;stroke:#b9c4d1;stroke-dasharray:3 3}\n"
			    ".n{font-size:12px;font-weight:bold;fill:#1d2733}\n"
			    ".f{text-anchor:end;fill:#66758a}\n"
			    ".l{fill:#3d4a5c}\n"
			    ".m{text-anchor:middle;font-weight:bold;fill:#ffffff}\n"
			    ".o{text-anchor:middle;fill:" FREE_INK "}\n"
			    "</style>\n";

void osp_bind_svg(const struct osp_bind_view *view, struct osp_text *text)
{
	struct picture picture = {.view = view, .body = OSP_TEXT_INIT, .y = MARGIN};
	struct osp_text title = OSP_TEXT_INIT;
	const char *name = strrchr(view->source, '/');

	osp_text_printf(&title, "%u task%s on %s: ", view->plan->task_count,
			osp_plural_s(view->plan->task_count), name ? name + 1 : view->source);
	osp_bind_summary(view, &title);
	add_label(&picture, MARGIN, picture.y + 14, "t", title.failed ? "" : title.data);
	picture.y += 34;
	add_boxes(&picture);
	add_reasons(&picture);
	picture.y += MARGIN - 6;
	osp_svg_write(text, &title, style, WIDTH, picture.y, &picture.body);
	osp_text_free(&picture.body);
	osp_text_free(&title);
}
