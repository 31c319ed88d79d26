/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speed.h - judges a measured speed
 *
 * Each speed is compared with what is known about its model, and with the median of its peers: GPUs
 * of the same model and node, measured in the same way. Healthy GPUs of one kind differ (by 8 % on
 * average and 22 % at most in compute under power limits: Sinha et al., "Not All GPUs Are Created
 * Equal", SC22). So a GPU that is behind its peers but above its limit is reported and fails
 * nothing, unless it is so far behind that no such spread explains it. A speed that physics forbids
 * is a broken measurement and judges nothing else. tests/unit/test_speed_errors.c counts both kinds
 * of errors. Pure functions; any thread, any daemon.
 */
#ifndef OSP_SPEED_H
#define OSP_SPEED_H

#include <stdbool.h>
#include <stddef.h>

enum osp_speed_verdict {
	OSP_SPEED_WELL,
	OSP_SPEED_ALONE,      /* nothing to compare it with: shown, not judged */
	OSP_SPEED_IMPOSSIBLE, /* above what the hardware can do, or not above 0 */
	OSP_SPEED_BEHIND,     /* behind its peers, as a healthy GPU may be: a warning */
	OSP_SPEED_FAR_BEHIND, /* farther behind them than healthy GPUs are: a failure */
	OSP_SPEED_SLOW_LIMIT, /* below what its model must reach: a failure */
};

#define OSP_SPEED_SAMPLES_MAX 512
#define OSP_SPEED_NO_PEERS    (-1) /* a group whose samples have no peers */

struct osp_speed_sample {
	double value;
	double least;	/* of its model; 0: unknown */
	double physics; /* of its model; 0: unknown */
	bool judged;	/* false: neither judged nor a peer of others */
	int group;	/* only samples of one group are peers */
};

/* How far, in per cent, a speed may be below the median of its peers; 0: not compared. */
struct osp_speed_tolerance {
	unsigned int behind;
	unsigned int far;
};

/* The other judged and possible samples of a sample's group. */
struct osp_speed_peers {
	double median; /* 0 if there are none */
	size_t count;
};

/* Per cent above the physical peak that clocks and timers may explain. */
#define OSP_SPEED_PHYSICS_PERCENT 5

/* How often a speed is measured if it was slow the first time, and how often it must be slow. */
#define OSP_SPEED_ROUNDS 3
#define OSP_SPEED_SLOW	 2

/*
 * Judges `count` samples of one kind, at most OSP_SPEED_SAMPLES_MAX (the others are ALONE).
 * `verdicts` and `peers` have room for each. A sample that is not judged is OSP_SPEED_ALONE or
 * OSP_SPEED_IMPOSSIBLE.
 */
void osp_speed_judge(const struct osp_speed_sample *samples, size_t count,
		     const struct osp_speed_tolerance *tolerance, enum osp_speed_verdict *verdicts,
		     struct osp_speed_peers *peers);

/* Judges one more sample of the kind, against the peers of its first one. */
enum osp_speed_verdict osp_speed_judge_one(const struct osp_speed_sample *sample,
					   const struct osp_speed_peers *peers,
					   const struct osp_speed_tolerance *tolerance);

/* The rounds of one speed. */
struct osp_speed_rounds {
	unsigned int count;	      /* in which it was measured */
	unsigned int slow;	      /* in which it was slow in any way */
	unsigned int failing;	      /* in which it was slow enough to fail */
	enum osp_speed_verdict worst; /* the gravest verdict that says slow; else the first */
};

/* Counts one more round. */
void osp_speed_count(struct osp_speed_rounds *rounds, enum osp_speed_verdict verdict);

/* Returns the conclusion of the rounds: OSP_SPEED_FAR_BEHIND and OSP_SPEED_SLOW_LIMIT fail,
 * OSP_SPEED_BEHIND warns, and none of them is returned for a speed that was slow only once. */
enum osp_speed_verdict osp_speed_conclude(const struct osp_speed_rounds *rounds);

#endif
