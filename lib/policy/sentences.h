/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sentences.h - the sentences that users read: why a gang waits, why it was refused, where it went
 *
 * Used by the shadow, job_submit and the command alike, so that squeue, sbatch and `onespine why`
 * say the same. Any thread, any daemon: no shared state.
 */
#ifndef OSP_SENTENCES_H
#define OSP_SENTENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/place/parts.h"
#include "lib/place/place.h"
#include "lib/place/segments.h"
#include "lib/topology/topology.h"

#define OSP_SENTENCE_BYTES 400

/* Writes the plural of a level's name: "spine", "spines"; "leaf", "leaves"; "box", "boxes". */
const char *osp_sentence_plural(const char *level, char *buffer, size_t buffer_bytes);

/* Says that `count` nodes are left out because their places may be old (lib/topology/place_age.h):
 * "2 nodes are left out: they were powered down or have booted since their places were asked
 * for". */
const char *osp_sentence_old_places(uint32_t count, char *buffer, size_t buffer_bytes);

/* How the sentence begins about a gang whose nodes' places are still unknown. */
#define OSP_SENTENCE_LAUNCHED "launched: "
#define OSP_SENTENCE_IN_VAIN  "launched in vain: "
/* The words of one for which nodes were launched in vain too often, and are launched no more. */
#define OSP_SENTENCE_NO_TRIES "so it waits for nodes whose places are known"

/* Says that a gang starts on nodes some of which do not run: "launched: 4 nodes, 3 of them do not
 * run yet; whether they are on one spine is asked when they run". */
const char *osp_sentence_launches(const char *level, uint32_t nodes, uint32_t unlaunched,
				  char *buffer, size_t buffer_bytes);

/* Says that slurmctld has begun anew without a topology, so that it cannot be asked where the nodes
 * of such a gang are: "launched: no fabric topology is in force, so it is not known whether its
 * nodes are on one spine; in 5m it goes back to the queue; the administrator finds the reason in
 * slurmctld's log". */
const char *osp_sentence_launched_blind(const char *level, int64_t after_s, char *buffer,
					size_t buffer_bytes);

/* Say why it goes back to the queue: "its 4 nodes are on 2 spines"; "the places of 2 nodes were
 * not known 5m after all nodes ran". */
const char *osp_sentence_apart(const char *level, uint32_t nodes, uint32_t domains, char *buffer,
			       size_t buffer_bytes);
const char *osp_sentence_unplaced(uint32_t nodes, int64_t after_s, char *buffer,
				  size_t buffer_bytes);

/* Says how much it cost so far, node minutes rounded up: "launched 2 times in vain (37 node
 * minutes)"; with `last`: "launched 3 times in vain (1 node minute), so it waits for nodes whose
 * places are known". */
const char *osp_sentence_in_vain(uint32_t times, uint64_t node_s, bool last, char *buffer,
				 size_t buffer_bytes);

/* Says why no nodes are launched for a gang: "no nodes are launched, as nobody could say where they
 * are: EC2 denies ..". */
const char *osp_sentence_unasked(const char *words, char *buffer, size_t buffer_bytes);

/* Says that a running gang's nodes are now apart: "moved: since 2026-11-23T14:10:02 3 of its 4
 * nodes are on one spine, and n4 is not". `apart` has the others, in Slurm's notation. */
const char *osp_sentence_moved(const char *level, uint32_t nodes, uint32_t together,
			       const char *apart, const char *when, char *buffer,
			       size_t buffer_bytes);

/* What a job asks for of each of its nodes, as its user wrote it; NULL or "": nothing. */
struct osp_sentence_asked {
	const char *features; /* -C */
	const char *extra;    /* --extra */
};

/*
 * Says why a gang waits, from the answer of osp_place_order() with all nodes in `usable`:
 * "waits: 4 nodes on one spine; nearest: s1 has 3 free of 8 (1 short)"; "waits: 4 nodes on one
 * spine; none has 4 usable: the largest, s1, has 3 (drained, reserved, excluded or too small nodes
 * do not count)"; "waits: 4 nodes on one spine; n1, which the job requires, is in use". `asked` is
 * what `usable` was made with; NULL: nothing.
 */
const char *osp_sentence_waits(const struct osp_topology *topology,
			       const struct osp_place_input *input,
			       const struct osp_sentence_asked *asked,
			       const struct osp_place_domain *domains, uint32_t candidate_count,
			       uint32_t domain_count, char *buffer, size_t buffer_bytes);

/* Says why a gang waits whose @TIME has passed at the top level: "waits: 6 nodes, and any will do
 * by now". */
const char *osp_sentence_anywhere(uint32_t nodes, char *buffer, size_t buffer_bytes);

/* Says that `domain` has free nodes enough, which backfill does not offer the gang: "waits: 2 nodes
 * on one spine; s1 has 3 free, kept for jobs or reservations that come first". */
const char *osp_sentence_kept(const struct osp_topology *topology,
			      const struct osp_place_input *input,
			      const struct osp_place_domain *domain, char *buffer,
			      size_t buffer_bytes);

/* Says that one domain has `free_nodes` nodes free, but Slurm does not start the gang there:
 * "waits: one spine has 4 nodes free, but Slurm cannot start the job there now (memory, cores,
 * GPUs, licenses, a limit or TopologyPlugin)". */
const char *osp_sentence_not_started(const char *level, uint32_t free_nodes, char *buffer,
				     size_t buffer_bytes);

/* Says why components of a heterogeneous job wait although Slurm would give them nodes of several
 * domains: "waits: the 2 components in partition gpu are held to one spine together, and no spine
 * has room for all of them now". */
const char *osp_sentence_components(const char *level, uint32_t count, const char *partition,
				    char *buffer, size_t buffer_bytes);

/*
 * Says why a gang can never run in `partition`: "12 nodes on one spine asked for; the largest spine
 * of partition gpu has 8 (nn-3f..); ask for --gang=core or 8 nodes". `domains` are ordered with all
 * nodes of the partition; the caller finds `next_level`, the next level up that would hold the gang
 * (0 = none). `excludes`: the job's --exclude leaves out some of the partition's.
 */
const char *osp_sentence_never(const struct osp_topology *topology,
			       const struct osp_place_input *input,
			       const struct osp_place_domain *domains, uint32_t domain_count,
			       const char *partition, bool excludes, uint32_t next_level,
			       char *buffer, size_t buffer_bytes);

/*
 * Says why a gang in segments or in several domains waits, from a judgement that does not fit:
 * "waits: 64 nodes on at most 2 spines in segments leaf:16; 4 whole segments of 16 nodes needed, 3
 * free". `ever`: it would fit if all usable nodes were free. `place` (NULL: unknown) says whether
 * nodes are required or of several kinds.
 */
const char *osp_sentence_segments_wait(const struct osp_topology *topology,
				       const struct osp_cut_input *input,
				       const struct osp_place_input *place,
				       const struct osp_cut_answer *answer, bool ever, char *buffer,
				       size_t buffer_bytes);

/* Says that nodes are free for it, though Slurm does not start it there. */
const char *osp_sentence_segments_not_started(char *buffer, size_t buffer_bytes);

/*
 * Says why a gang in segments or in several domains can never run in `partition`, from a judgement
 * with all its nodes: "64 nodes on at most 2 spines in segments leaf:16 asked for; with all nodes
 * of partition gpu free there are 3 whole segments of 16 nodes where 4 are needed; ask for 48
 * nodes, smaller segments or a larger --gang-domains". It names only what `instead` says would
 * help.
 */
const char *osp_sentence_segments_never(const struct osp_topology *topology,
					const struct osp_cut_input *input,
					const struct osp_place_input *place,
					const struct osp_cut_answer *answer,
					const struct osp_parts_instead *instead,
					const char *partition, char *buffer, size_t buffer_bytes);

/*
 * Says what the segments of a gang of `nodes` nodes leave of a full domain: "segments nvlink:16
 * leave 2 of 18 nodes in each full nvlink to others; the last segment of nvlink:16 has 8 nodes".
 * "" if they fill the largest domain of each level, or the gang takes fewer than one holds, and all
 * segments are whole.
 */
const char *osp_sentence_segments_left(const struct osp_topology *topology,
				       const struct osp_segments *segments, uint32_t nodes,
				       char *buffer, size_t buffer_bytes);

/* Says where such a gang went: "placed: 64 nodes in 2 domains of spine, 4 leaves, in segments
 * leaf:16"; in one domain, as osp_sentence_placed() does. `domains` is its name. */
const char *osp_sentence_parts_placed(const struct osp_topology *topology, uint32_t level,
				      uint32_t domain_count, const char *domains, uint32_t nodes,
				      uint32_t leaves, const char *segments, char *buffer,
				      size_t buffer_bytes);

/* Says where a gang went: "placed: 12 nodes on spine s3, 2 leaves". */
const char *osp_sentence_placed(const struct osp_topology *topology, uint32_t domain,
				uint32_t nodes, uint32_t leaves, char *buffer, size_t buffer_bytes);

/* Says that there is no such level, and which one `name` may mean: "there is no level 'spin' in
 * this fabric; did you mean spine? (leaf, spine, core, zone)". */
const char *osp_sentence_no_level(const struct osp_topology *topology, const char *name,
				  char *buffer, size_t buffer_bytes);

/*
 * Finds the level of that name, at which a gang can be asked for. Returns it, or -1 with
 * osp_sentence_no_level()'s words in `buffer`, or that it is above the zones: "level region is
 * above the zones, and several zones never form one gang; ask for --gang=zone or a level below".
 */
int osp_sentence_find_level(const struct osp_topology *topology, const char *name, char *buffer,
			    size_t buffer_bytes);

#endif
