/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apply.h - a new answer becomes the topology in force, is held, or changes nothing
 *
 * Beside the topology FILE are FILE.held, the last answer that was held (`onespine topology
 * accept` takes it), and FILE.asked, when each node's place was last asked for: lines "TIME NODES",
 * seconds since 1970 and a list in Slurm's notation. The scheduler reads neither, so an unchanged
 * fabric leaves FILE as it is, byte for byte. One thread.
 */
#ifndef OSP_APPLY_H
#define OSP_APPLY_H

#include <stdint.h>

#include "host/slurm/node_list.h"
#include "lib/base/error.h"
#include "lib/topology/compare.h"

enum osp_applied { OSP_APPLIED_NEW, OSP_APPLIED_UNCHANGED, OSP_APPLIED_HELD, OSP_APPLIED_FAILED };

/* Compares `topology` with what `path` holds over the nodes of `nodes` (NULL: all of them), and
 * writes it there or to FILE.held. `error` says why it is held or failed. `source`: words for
 * people. `guard` NULL: nothing is held. */
enum osp_applied osp_apply_topology(const char *path, const struct osp_topology *topology,
				    const char *source, const struct osp_node_list *nodes,
				    const struct osp_topology_guard *guard,
				    struct osp_topology_change *change, struct osp_error *error);

/* Counts what `after` changes of `before`, over the nodes of `nodes` (NULL: all of them) that could
 * not have changed and of which `also` (NULL: all) says yes. Two nodes that claim the same instance
 * do not count: one of the claims is wrong. 0, or -1 with `error` set. */
int osp_apply_compare(const struct osp_topology *before, const struct osp_topology *after,
		      const struct osp_node_list *nodes, osp_counts_f *also, void *context,
		      struct osp_topology_change *change, struct osp_error *error);

/* Writes FILE.held. 0, or -1 with `error` set. */
int osp_apply_hold(const char *path, const struct osp_topology *topology, const char *source,
		   struct osp_error *error);

/* Returns "FILE.held"; NULL if memory ran out. To be freed. */
char *osp_apply_held_path(const char *path);

/* Returns "FILE.reports", what nodes reported (host/report/listen.h); NULL if memory ran out. To be
 * freed. */
char *osp_reports_path(const char *path);

/*
 * Notes in the topology at `path`, if there is one, why its source cannot be asked
 * (osp_topology_unasked()); "": it can. What cannot be written is noted by the next answer.
 */
void osp_apply_unasked(const char *path, const char *unasked, const char *source);

/* Puts FILE.held in FILE's place. */
enum osp_applied osp_apply_held(const char *path, struct osp_error *error);

/* Notes in FILE.asked that the places of `topology`'s nodes were asked for at `time_s`; those of
 * `kept` (a line each; NULL: none) when it said before. */
int osp_apply_note_asked(const char *path, const struct osp_topology *topology, const char *kept,
			 int64_t time_s, struct osp_error *error);

/* Reads FILE.asked: when each of `topology`'s nodes was last asked about, by node; 0 if it does not
 * say, and for all if there is no such file. -1 with `error` set if it cannot be read. */
int osp_apply_read_asked(const char *path, const struct osp_topology *topology, int64_t *asked_s,
			 struct osp_error *error);

/*
 * Lists the nodes whose places age (lib/topology/place_age.h) and which FILE.asked has from an
 * earlier question than the last one, or not at all: they were kept while calls about them failed.
 * Returns a hostlist, to be freed, and the time of the oldest, 0 if that is unknown; NULL: there
 * are none, or it cannot be read.
 */
char *osp_apply_list_kept(const char *path, const struct osp_topology *topology, int64_t *oldest_s);

#endif
