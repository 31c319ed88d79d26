/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.h - a topology that keeps itself true
 *
 * Slurm's nodes are looked at every few seconds. The sources are asked when `interval_s` have
 * passed since they last were, and at once when a node runs that did not, has booted anew or is
 * another instance. If a question failed, or a node that booted a short time ago has no place in
 * the answer yet, they are asked again after growing pauses of up to `interval_s`. A node that is
 * another instance than the one that was placed loses its place before they are asked: nothing is
 * known of it. While another host's slurmctld is in control nobody is asked and nothing is
 * written; they are asked at once when this host's takes control. The ends of Capacity Blocks are
 * kept after each question, whatever became of it, and Slurm's Topology= by what is in force then;
 * reservations that launches have left are deleted at each look.
 * With `report_port` the watch also hears what nodes report of themselves, and keeps it in
 * FILE.reports; if a source goes by that, it is asked when a node has reported something new. With
 * another source beside it, both are asked at once, and for later reports after growing pauses of
 * up to a fifth of `interval_s`. Each change, and once each refusal and each warning of an answer,
 * is a line on standard output, for the journal.
 *
 * One thread; ends at SIGTERM or SIGINT.
 */
#ifndef OSP_WATCH_H
#define OSP_WATCH_H

#include "host/slurm/in_control_here.h"
#include "host/source/several.h"
#include "lib/topology/compare.h"

/* Reads who is asked about into a list that the caller frees; 0, or -1 with `error` set. */
typedef int osp_watch_nodes_f(struct osp_node_list *list, void *context, struct osp_error *error);

/* Keeps Slurm's reservations for the blocks that `nodes` run in, of which `topology` (NULL: none)
 * is in force, with a line of `said` for each change. Returns 0, or -1 with `error` set. */
typedef int osp_watch_ends_f(const struct osp_topology *topology, const struct osp_node_list *nodes,
			     struct osp_text *said, struct osp_error *error);

/* Sets `other` to the host whose slurmctld is in control if that of this host stands by, else to
 * "". Returns 0, or -1 with `error` set. */
typedef int osp_watch_control_f(char other[OSP_CONTROLLER_HOST_BYTES], struct osp_error *error);

/* Keeps Slurm's own Topology= of `nodes` as `topology` has it, below `root`, with a line of `said`
 * for what changes. Returns 0, or -1 with `error` set. */
typedef int osp_watch_slurm_f(const char *root, const struct osp_topology *topology,
			      const struct osp_node_list *nodes, struct osp_text *said,
			      struct osp_error *error);

/* Deletes reservations that launches have left, with a line of `said` for each. Returns 0, or -1
 * with `error` set. */
typedef int osp_watch_left_f(struct osp_text *said, struct osp_error *error);

struct osp_watch {
	const struct osp_sources *sources;
	const char *path; /* of the topology */
	const char *adapters;
	const char *launch_groups; /* as osp_source_question has it */
	osp_watch_nodes_f *nodes;
	void *context;
	osp_watch_control_f *control; /* NULL: this host's slurmctld is taken to be in control */
	bool compare_all; /* every node that had a place counts: the list has no boots */
	int interval_s;
	int look_s; /* between two looks at Slurm's nodes */
	struct osp_topology_guard guard;
	osp_watch_ends_f *block_ends; /* NULL: they are left alone */
	bool block_ends_once;	      /* until it succeeds, and no more then */
	const char *slurm_root;	      /* NULL: Slurm's Topology= is left alone */
	osp_watch_slurm_f *slurm_topology;
	osp_watch_left_f *launch_left; /* NULL: Slurm alone removes them */
	uint32_t report_port; /* nodes are heard there (host/report/listen.h); 0: they are not */
	const char *report_key_file; /* of the keys that seal reports; "": MUNGE does */
	const char *munge_socket;    /* "" for the default */
	const char *reports;	     /* FILE.reports */
	bool asks_reports;	     /* a source goes by the reports: it is asked when one is new */
};

/* Watches until a signal ends it. Returns 0, or -1 with `error` set if it cannot begin. */
int osp_watch_run(const struct osp_watch *watch, struct osp_error *error);

#endif
