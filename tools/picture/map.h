/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map.h - the fabric as a picture: which job is where, for the renderers
 *
 * A box is a domain of the spine level (of the second level if none is named so), a row inside
 * it a domain one level lower, a cell a node. Boxes, rows and cells come in fabric order. The same
 * input gives the same picture. One thread.
 */
#ifndef OSP_MAP_H
#define OSP_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "host/slurm/fabric.h"
#include "host/slurm/gang.h"

#define OSP_MAP_COLOURS 12
#define OSP_MAP_NO_JOB	UINT32_MAX

/* Up to this many nodes each has a cell in the terminal; above, each row has one. */
#define OSP_MAP_CELLS_MAX 1024

/* Jobs that are named where a row is one cell: the largest, or the first of those asked for. */
#define OSP_MAP_LARGEST	  10
#define OSP_MAP_NAMED_MAX 24

/* What the picture is to show. NULL: no limit. */
struct osp_map_asked {
	const char *partitions; /* "gpu,debug": their nodes alone */
	const char *jobs;	/* "1201,1202_3": these alone, of an array all tasks */
	const char *user;	/* this user's alone */
};

struct osp_map_job {
	const struct osp_state_job *job;
	uint32_t node_count; /* shown */
	uint32_t beside; /* its first shown node whose cell another job has; or OSP_MAP_NO_JOB */
	char mark;	 /* letter or digit; '#' when they have run out */
	uint8_t colour;	 /* differs between the jobs of a box while there are enough */
	bool gang;
};

struct osp_map_count {
	uint32_t nodes;
	uint32_t free;
	uint32_t busy; /* with a job, completing or changing power */
	uint32_t out;  /* reserved, drained, down, unknown */
};

struct osp_map_box {
	uint32_t domain; /* OSP_NO_DOMAIN: nodes whose box is unknown */
	uint32_t parent; /* the nearest known domain above */
	uint32_t first_rank;
	uint32_t end_rank;
	struct osp_map_count count;
};

struct osp_map_row {
	uint32_t domain; /* OSP_NO_DOMAIN: unknown, or no level below the box's */
	uint32_t first_rank;
	uint32_t end_rank;
	struct osp_map_count count;
};

struct osp_map {
	const struct osp_world *world;
	struct osp_map_asked asked;
	bool limited; /* to jobs that were asked for, by number or user */
	uint32_t box_level;
	uint32_t row_level; /* 0: nodes are in the box itself */
	struct osp_nodeset *shown;
	uint32_t *job_of_node; /* index in jobs, or OSP_MAP_NO_JOB */
	struct osp_map_job
		*jobs; /* gangs first, the largest first; of more than OSP_MAP_CELLS_MAX nodes the
				     largest first */
	uint32_t job_count;
	uint32_t named_count; /* the first jobs: where a row is one cell only these are named */
	uint32_t gang_count;
	struct osp_map_box *boxes;
	uint32_t box_count;
	struct osp_map_count count;
	uint32_t states[OSP_NODE_STATE_COUNT]; /* nodes shown in each state */
	/* Why a gang waits, into `buffer`; NULL: what the scheduler wrote last. */
	const char *(*why)(const struct osp_world *world, struct osp_state_job *job,
			   const struct osp_gang *gang, char *buffer, size_t buffer_bytes);
	uint32_t hidden; /* nodes shown, in use by jobs that are not: not asked for, or PrivateData
			  */
};

/* Makes the picture of what is asked for. 0, or -1 with `error` set (no such partition; a job that
 * has no nodes now); osp_map_clear() in either case. The strings of `asked` must outlive the
 * map. */
int osp_map_make(const struct osp_world *world, const struct osp_map_asked *asked,
		 struct osp_map *map, struct osp_error *error);
void osp_map_clear(struct osp_map *map);

/* Finds the row of `box` that begins at or after `rank`; false when there is none. */
bool osp_map_next_row(const struct osp_map *map, const struct osp_map_box *box, uint32_t rank,
		      struct osp_map_row *row);

/* Boxes below one parent are a group: the end of the group that begins at box `first`. */
uint32_t osp_map_group_end(const struct osp_map *map, uint32_t first);

/* Returns how many go on a line, so that `count` things fill as few lines of at most `most`
 * evenly. */
uint32_t osp_map_even_lines(uint32_t count, uint32_t most);

/* Returns the first node shown at or after `rank` and before `end`, by rank; `end` when there is
 * none. */
uint32_t osp_map_next_cell(const struct osp_map *map, uint32_t rank, uint32_t end);

/* Returns what is in a node's cell: its job (or OSP_MAP_NO_JOB) and a letter for either. */
uint32_t osp_map_job_of(const struct osp_map *map, uint32_t node);
char osp_map_mark(const struct osp_map *map, uint32_t node);
char osp_map_state_mark(enum osp_slurm_node_state state);
const char *osp_map_state_words(enum osp_slurm_node_state state);

/* Returns how many nodes the legend counts for a state: where jobs hide a state, those that no job
 * shown has. */
uint32_t osp_map_legend_count(const struct osp_map *map, enum osp_slurm_node_state state);

/* --- jobs (map_jobs.c) ------------------------------------------------------------------------ */

/* Returns whether the job is one of those asked for by number and user. */
bool osp_map_wants(const struct osp_map_asked *asked, const struct osp_state_job *job);

/* Returns whether there is such a user (NULL: nobody in particular). 0, or -1 with `error` set. */
int osp_map_check_user(const struct osp_snapshot *snapshot, const char *user,
		       struct osp_error *error);

/* Fails unless each job asked for has nodes now: -1 with `error` set. */
int osp_map_check_jobs(const struct osp_snapshot *snapshot, const struct osp_map_asked *asked,
		       struct osp_error *error);

/* Returns the named job whose mark is in a row that is one cell: the one with the most of its
 * nodes, if jobs were asked for; else only one with more than half of them. OSP_MAP_NO_JOB:
 * none. */
uint32_t osp_map_row_job(const struct osp_map *map, const struct osp_map_row *row);

/* Adds "s01 (256), s02 (12) and 3 more": the boxes where the job's nodes are; adds nothing if
 * memory runs out. */
void osp_map_job_where(const struct osp_map *map, const struct osp_map_job *job,
		       struct osp_text *text);

/* Returns whether a pending job may run in a partition that is shown. */
bool osp_map_concerns(const struct osp_map *map, const struct osp_state_job *job);

/* Adds "zone use1-az4, core nn-1": the levels above a box, top first; "" for none. */
void osp_map_path(const struct osp_map *map, const struct osp_map_box *box, struct osp_text *text);
const char *osp_map_box_name(const struct osp_map *map, const struct osp_map_box *box);
/* Adds "16 nodes: 9 busy, 5 free, 2 out" */
void osp_map_summary(const struct osp_map *map, struct osp_text *text);
/* Adds "1201 train of alice, gang=spine, 12 nodes, ends in 3h05m" */
void osp_map_job_words(const struct osp_map *map, const struct osp_map_job *job,
		       struct osp_text *text);

/* --- renderers -------------------------------------------------------------------------------- */

struct osp_map_style {
	uint32_t columns;
	bool utf8;
	bool colours;
};

/* Renders it for a terminal (render_text.c). */
void osp_map_text(const struct osp_map *map, const struct osp_map_style *style,
		  struct osp_text *text);

/* Renders it as SVG (render_svg.c). */
void osp_map_svg(const struct osp_map *map, struct osp_text *text);

#endif
