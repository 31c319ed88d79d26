/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speed.h - is a measured speed right?
 *
 * First each against the best of its kind on the same node, then against what is known of the
 * model; what physics forbids is a broken measurement and judges nothing else. Pure functions; any
 * thread, any daemon.
 */
#ifndef OSP_SPEED_H
#define OSP_SPEED_H

#include <stdbool.h>
#include <stddef.h>

enum osp_speed_verdict {
	OSP_SPEED_WELL,
	OSP_SPEED_ALONE,      /* nothing to compare it with: told, not judged */
	OSP_SPEED_IMPOSSIBLE, /* above what the hardware can, or not above 0 */
	OSP_SPEED_SLOW_PEERS, /* too far below the best of the node */
	OSP_SPEED_SLOW_LIMIT, /* below what its model must reach */
};

struct osp_speed_sample {
	double value;
	double least;	/* of its model; 0: none is known */
	double physics; /* of its model; 0: none is known */
	bool judged;	/* false: it counts neither for itself nor as another's peer */
};

/* Room above the physical peak that clocks and timers may explain, per cent. */
#define OSP_SPEED_PHYSICS_PERCENT 5

/*
 * Judges `count` samples of one kind; `percent` (0 to 99) is how far below the best one may be.
 * `verdicts` has room for each; a sample that is not judged is OSP_SPEED_ALONE, or
 * OSP_SPEED_IMPOSSIBLE. The best is one that leaves no more than half of the others slow: when
 * nearly all are behind one, it is that one which stands out. Returns it, 0 where there is none.
 */
double osp_speed_judge(const struct osp_speed_sample *samples, size_t count, unsigned int percent,
		       enum osp_speed_verdict *verdicts);

/* One more sample of the kind, against the best of the first round. `peers`: how many judged
 * samples the first round had. */
enum osp_speed_verdict osp_speed_judge_one(const struct osp_speed_sample *sample, double best,
					   size_t peers, unsigned int percent);

#endif
