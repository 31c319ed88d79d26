/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ask.h - the placement question that `fit` and `why` put to lib/place/place.h
 *
 * One thread.
 */
#ifndef OSP_ASK_H
#define OSP_ASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/place/place.h"
#include "host/slurm/fabric.h"

/* What is asked. Strings may be NULL. */
struct osp_fit_question {
	const char *partitions;	    /* with commas; NULL: all nodes */
	bool of_several;	    /* `partitions` is one of those that the user named */
	const char *required_nodes; /* hostlists */
	const char *excluded_nodes;
	const char *features; /* as --constraint has them */
	uint32_t level;	      /* 0: any nodes at all */
	uint32_t need_nodes;
	uint32_t want_nodes;
	const char *reservation; /* the job's: its nodes are usable, and others are not */
	int64_t limit_s;	 /* how long it may run, so that it ends before a later one */
	bool every_node;	 /* whatever their state: could it ever run? */
	bool reserved_is_out;	 /* nodes that a later reservation keeps from it are not usable */
	bool on_its_way_is_out;	 /* nor nodes that are powering up or down, jobs on them or not */
	bool any_size;		 /* nodes with too few processors, GPUs or memory are usable, too */
	bool mix_kinds;
	bool shares; /* it takes so much of each node, and others may have the rest */
	uint32_t cpus;
	uint32_t gpus;
	uint32_t gpus_in_all; /* of the whole gang, in any shares; 0: not said */
	uint64_t memory_mib;  /* or OSP_MEMORY_..; 0 where Slurm hands out none */
};

struct osp_enough {
	uint32_t domain;
	uint16_t kind;
	int64_t from_s;
};

/* What a gang that shares nodes takes of each. */
struct osp_amount_asked {
	uint32_t cpus;
	uint32_t gpus;
	uint64_t memory_mib; /* or OSP_MEMORY_.. */
};

struct osp_fit_answer {
	struct osp_place_input input;
	const char *features; /* the question's */
	struct osp_place *place;
	const struct osp_place_domain *domains; /* candidates first; in `place` */
	uint32_t candidate_count;
	uint32_t domain_count;
	struct osp_nodeset *chosen; /* nodes it would get now; empty: it would not start */
	bool partly;		    /* nodes that other jobs leave enough of are among the free */
	bool shares;		    /* the question's, with what it takes of each node */
	struct osp_amount_asked takes;
	/* When each domain (and kind) has enough nodes by the ends of the jobs that run, ordered by
	 * number; those that no end helps are left out. */
	struct osp_enough *enough;
	uint32_t enough_count;
	/* what `input` points to */
	struct osp_nodeset *usable;
	struct osp_nodeset *free;
	struct osp_nodeset *boot;
	struct osp_nodeset *within; /* nodes that it could have, whatever their state */
	struct osp_nodeset *required;
	uint32_t *weight;
	uint16_t *kind;
	const char **kind_names; /* by kind; the snapshot's */
};

/* Returns 0, or -1 with `error` set. osp_answer_clear() in either case. `question->level` is at
 * least 1. */
int osp_ask(const struct osp_world *world, const struct osp_fit_question *question,
	    struct osp_fit_answer *answer, struct osp_error *error);
void osp_answer_clear(struct osp_fit_answer *answer);

/* Returns whether jobs leave so much of a node's memory, as far as it is known what is asked
 * for. */
bool osp_has_memory(const struct osp_state_node *node, uint64_t asked_mib);

/* Returns the level of that name; -1 with the nearest right one in `error`. */
int osp_ask_level(const struct osp_world *world, const char *name, struct osp_error *error);

/* Adds the nodes of one or several partitions to `set`. Returns 0, or -1 with `error` set. */
int osp_ask_add_partitions(const struct osp_world *world, const char *names,
			   struct osp_nodeset *set, struct osp_error *error);

/* Returns the partition of that name (NULL: the default one, or none); -1 with the nearest in
 * `error`. */
int osp_ask_partition(const struct osp_world *world, const char *name, struct osp_error *error);

/* Returns 0 if there are all of these partitions, as osp_ask_partition() does for one. */
int osp_ask_partitions(const struct osp_world *world, const char *names, struct osp_error *error);

/* Writes the first `most` domains as a table. */
void osp_answer_table(const struct osp_world *world, const struct osp_fit_answer *answer,
		      uint32_t most, struct osp_text *text);
json_t *osp_answer_to_json(const struct osp_world *world, const struct osp_fit_answer *answer,
			   uint32_t most);

/*
 * Writes the nodes of `set` leaf by leaf, a line each: "  leaf nn-1: 8 nodes gpu-[1-8]". False when
 * memory ran out.
 */
bool osp_leaves_text(const struct osp_world *world, const struct osp_nodeset *set,
		     struct osp_text *text);
/* Makes [{"leaf": .., "count": .., "nodes": ..}] */
json_t *osp_leaves_to_json(const struct osp_world *world, const struct osp_nodeset *set);

#endif
