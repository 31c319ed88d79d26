/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_map.c - `onespine map`: the fabric as a picture */
#include "tools/command/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/picture/map.h"
#include "host/files.h"
#include "host/slurm/ask.h"
#include "host/slurm/cluster_state.h"
#include "tools/command/why_story.h"
#include "tools/command/world.h"

#define COLUMNS_LEAST	40
#define COLUMNS_MOST	1000
#define COLUMNS_DEFAULT 100

static uint32_t terminal_columns(void)
{
	struct winsize size;

	if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
	    size.ws_col >= COLUMNS_LEAST)
		return size.ws_col;
	return COLUMNS_DEFAULT;
}

static int choose_columns(const struct osp_call *call, uint32_t *columns, struct osp_error *error)
{
	const char *value = call->values[OSP_OPTION_WIDTH];
	unsigned long number;
	char *end;

	*columns = terminal_columns();
	if (!value)
		return 0;
	errno = 0;
	number = strtoul(value, &end, 10);
	if (errno || *end || *value < '0' || *value > '9' || number < COLUMNS_LEAST ||
	    number > COLUMNS_MOST)
		return osp_error_set(error, "--width=%.40s: a number of columns from %d to %d",
				     value, COLUMNS_LEAST, COLUMNS_MOST);
	*columns = (uint32_t)number;
	return 0;
}

static int write_svg(const struct osp_map *map, const char *path)
{
	struct osp_text text = OSP_TEXT_INIT;

	osp_map_svg(map, &text);
	return osp_save_text(&text, path);
}

/* Says why a job waits, as `onespine why` does. */
static const char *why_waits(const struct osp_world *world, struct osp_state_job *job,
			     const struct osp_gang *gang, char *buffer, size_t buffer_bytes)
{
	struct osp_error ignored = {.text = ""};
	struct osp_story story;

	if (world->from_slurm)
		(void)osp_cluster_job_reason(world->snapshot, job, &ignored);
	(void)osp_story_of(world, job, gang, &story, &ignored);
	snprintf(buffer, buffer_bytes, "%s", story.words);
	osp_story_clear(&story);
	return buffer;
}

static int draw(const struct osp_call *call, struct osp_map *map, uint32_t columns)
{
	struct osp_map_style style = {columns, osp_output_utf8(), osp_output_colours()};
	struct osp_text text = OSP_TEXT_INIT;

	map->why = why_waits;
	if (call->values[OSP_OPTION_SVG])
		return write_svg(map, call->values[OSP_OPTION_SVG]);
	osp_map_text(map, &style, &text);
	osp_report_kept_places(call, map->world, &text, NULL);
	return osp_print_text(&text, OSP_EXIT_YES);
}

int osp_run_map(const struct osp_call *call)
{
	const struct osp_map_asked asked = {
		.partitions = call->values[OSP_OPTION_PARTITION],
		.jobs = call->values[OSP_OPTION_MAP_JOB],
		.user = call->values[OSP_OPTION_MAP_USER],
	};
	struct osp_error error = {.text = ""};
	struct osp_world world = {.snapshot = NULL};
	struct osp_map map = {.world = NULL};
	uint32_t columns;
	int status;

	if (choose_columns(call, &columns, &error) < 0 ||
	    osp_call_world(call, &world, &error) < 0 ||
	    osp_ask_partitions(&world, asked.partitions, &error) < 0)
		status = osp_say_error(&error);
	else if (call->values[OSP_OPTION_JSON])
		status = osp_print_json(osp_snapshot_to_json(world.snapshot, world.topology),
					OSP_EXIT_YES);
	else if (osp_map_make(&world, &asked, &map, &error) < 0)
		status = osp_say_error(&error);
	else
		status = draw(call, &map, columns);
	osp_map_clear(&map);
	osp_world_close(&world);
	return status;
}
