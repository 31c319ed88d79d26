/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source.h - whoever can be asked where nodes are: one table
 *
 * `onespine topology discover` and the watch ask through it. One thread.
 */
#ifndef OSP_SOURCE_H
#define OSP_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "host/slurm/node_list.h"
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/topology/readers.h"
#include "lib/topology/report.h"

/* A question to a source. */
struct osp_source_question {
	const struct osp_node_list *nodes; /* names, and what sources know them by */
	const struct osp_topology
		*previous;	   /* the last good answer, or NULL: places that a call that fails
						leaves out are taken from it */
	const char *adapters;	   /* as osp_import_options has it */
	const char *file;	   /* that the source reads, of one that reads a file */
	const char *launch_groups; /* watch.launch_groups of onespine.yaml; NULL: none */
	const char *reports;	   /* FILE.reports (host/report/listen.h); NULL: there is none */
	const char *unasked;	   /* of the answer before; NULL: nothing was known against it */
};

/* A source's answer. */
struct osp_source_answer {
	struct osp_topology *topology;
	struct osp_text warnings; /* a line each */
	struct osp_text kept;	  /* nodes whose place is the previous one, a line each */
	/* Why the source cannot say where a node is that starts now (osp_topology_unasked()). It
	   keeps the question's words if this answer did not find out; "": nothing is known against
	   it. Also set without an answer. */
	char unasked[OSP_UNASKED_BYTES];
	bool answers; /* the source itself said that it can */
};

typedef int osp_source_f(const struct osp_source_question *question,
			 struct osp_source_answer *answer, struct osp_error *error);

struct osp_source {
	const char *name;
	osp_source_f *ask; /* 0, or -1 with `error` set; the caller frees what is in `answer` either
			      way */
	const char *needs; /* what this build lacks where `ask` is NULL */
};

/* Returns the source of that name, which this build may lack; NULL if there is none. */
const struct osp_source *osp_source_find(const char *name);

void osp_source_answer_clear(struct osp_source_answer *answer);

/* Finishes the import, and moves its warnings to the answer. 0, or -1 with `error` set. */
int osp_source_finish(struct osp_import *import, struct osp_source_answer *answer,
		      struct osp_error *error);

/*
 * Adds the level nvlink to an answer, of what nodes reported; a level of that name which the
 * answer has is left out. If the domains do not nest in its levels, it is beside the tree, and a
 * warning names one and counts those that cross. Returns 0, or -1 with `error` set.
 */
int osp_nvlink_add(const struct osp_source_question *question, struct osp_source_answer *answer,
		   struct osp_error *error);

/*
 * Returns the nodes that run and have not reported since they booted, as a hostlist, to be freed;
 * NULL: none. In `crossing` is why what nodes reported makes no level nvlink in
 * question->previous, the topology in force; that domains cross is no reason.
 */
char *osp_reports_judge(const struct osp_source_question *question, struct osp_error *crossing);

/* The sources. */
osp_source_f osp_source_ec2;
osp_source_f osp_source_infiniband;
osp_source_f osp_source_nvlink;
osp_source_f osp_source_topograph;

#endif
